//! The home page: number of builds by state, the queue, the projects with their newest version, and
//! the latest builds.

use super::state::{Part, Sum, bar};
use super::{Around, Frame, Line, Row, minute, rows};
use crate::names::clean;
use crate::number;
use askama::Template;
use assay_analysis::farm::State;

/// A version in a list of versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionLine {
    /// Name of the version.
    pub name: String,
    /// Publication time, as RFC 3339.
    pub time: String,
    /// Number of targets by the state of their last build.
    pub states: Vec<Sum>,
}

/// A project in a list of projects.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectLine {
    /// Owner of the project.
    pub owner: String,
    /// Name of the project.
    pub name: String,
    /// Total number of builds by state.
    pub builds: Vec<Sum>,
    /// The newest tested version.
    pub newest: Option<VersionLine>,
    /// Time at which the project's last build was added, as RFC 3339.
    pub last: Option<String>,
}

/// The input of the home page.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// Total number of builds by state.
    pub builds: &'a [Sum],
    /// Number of waiting jobs, and number of jobs assigned to a node.
    pub queued: (u64, u64),
    /// Limit up to which jobs are counted. A count that reaches it means "this many or more".
    pub most: u64,
    /// The projects.
    pub projects: &'a [ProjectLine],
    /// Cursor for the next page of projects.
    pub next: Option<&'a str>,
    /// The latest builds of all projects.
    pub latest: &'a [Line],
}

#[derive(Template)]
#[template(path = "farm/home.html")]
struct Page {
    around: Around,
    about: String,
    sums: Vec<Part>,
    projects: Vec<Project>,
    more: Option<String>,
    builds: Vec<Row>,
}

struct Project {
    link: String,
    name: String,
    newest: String,
    tone: &'static str,
    said: String,
    sums: Vec<Part>,
    builds: String,
    last: String,
}

/// Renders the home page.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn home(of: &Home<'_>) -> Result<String, askama::Error> {
    let jobs = |n: u64| {
        let more = if n >= of.most { " or more" } else { "" };
        format!("{}{more}", number::grouped(n))
    };
    let about = format!(
        "{} builds; {} jobs queued, {} running",
        number::grouped(total(of.builds)),
        jobs(of.queued.0),
        jobs(of.queued.1)
    );
    Page {
        around: Around::of(of.frame, "assay farm"),
        about,
        sums: bar(of.builds),
        projects: of.projects.iter().map(|project| Project::of(of.frame, project)).collect(),
        more: of
            .next
            .map(|next| format!("{}?after={}", of.frame.link(&[]), crate::site::encoded(next))),
        builds: rows(of.frame, of.latest),
    }
    .render()
}

fn total(sums: &[Sum]) -> u64 {
    sums.iter().fold(0, |all, (_, count)| all.saturating_add(*count))
}

impl Project {
    fn of(frame: &Frame, line: &ProjectLine) -> Self {
        let states = line.newest.as_ref().map_or(&[][..], |newest| &newest.states);
        let (tone, said) = newest(states);
        Self {
            link: frame.of_project(&line.owner, &line.name),
            name: clean(&format!("{}/{}", line.owner, line.name)),
            newest: line
                .newest
                .as_ref()
                .map_or_else(String::new, |newest| super::version(&newest.name)),
            tone,
            said,
            sums: bar(states),
            builds: number::grouped(total(&line.builds)),
            last: line.last.as_deref().map_or_else(String::new, minute),
        }
    }
}

/// Returns the results on the targets as a tone and a few words, such as `fails on 2 of 7`.
pub(super) fn newest(states: &[Sum]) -> (&'static str, String) {
    let of =
        |state: State| states.iter().filter(|(s, _)| *s == state).map(|(_, n)| *n).sum::<u64>();
    let (passed, failed) = (of(State::Passed), of(State::Failed));
    let tested = passed + failed;
    let broken = of(State::InstallFailed) + of(State::TimedOut) + of(State::Errored);
    match (tested, failed, broken) {
        (0, _, 0) if of(State::NotTested) > 0 => ("unsure", "no test ran".to_owned()),
        (0, _, 0) => ("unsure", "not tested yet".to_owned()),
        (_, 1.., _) => ("bad", format!("fails on {failed} of {tested}")),
        (_, 0, 1..) => ("bad", format!("can't be tested on {broken}")),
        (1, ..) => ("good", "passes on 1 target".to_owned()),
        _ => ("good", format!("passes on {passed} targets")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_targets_came_to_is_said_in_a_few_words() {
        assert_eq!(newest(&[(State::NotTested, 1)]), ("unsure", "no test ran".to_owned()));
        assert_eq!(newest(&[(State::Infrastructure, 1)]), ("unsure", "not tested yet".to_owned()));
        assert_eq!(newest(&[(State::Passed, 2), (State::NotTested, 1)]).0, "good");
    }
}
