//! The first page: how much there is of each state, what is queued, the projects with their newest version, the last builds.

use super::state::{Part, Sum, bar};
use super::{Around, Frame, Line, Row, minute, rows};
use crate::names::clean;
use crate::number;
use askama::Template;
use assay_analysis::farm::State;

/// One version among many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionLine {
    /// Its name.
    pub name: String,
    /// When it was published, RFC 3339.
    pub time: String,
    /// Targets by the state of the last build on them.
    pub states: Vec<Sum>,
}

/// One project among many.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectLine {
    /// Whose it is.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Builds of it in all.
    pub builds: Vec<Sum>,
    /// The newest version that was tested.
    pub newest: Option<VersionLine>,
    /// When its last build was added, RFC 3339.
    pub last: Option<String>,
}

/// What the first page is made of.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// What all pages share.
    pub frame: &'a Frame,
    /// Builds in all.
    pub builds: &'a [Sum],
    /// Jobs that nobody has, and that a node has.
    pub queued: (u64, u64),
    /// Where counting jobs ends: so many stand for "or more".
    pub most: u64,
    /// The projects.
    pub projects: &'a [ProjectLine],
    /// What to ask for more of them with.
    pub next: Option<&'a str>,
    /// The last builds of all projects.
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

/// The page.
///
/// # Errors
/// When the template can't be filled, which would be a bug.
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

/// What targets came to, in a few words: `fails on 2 of 7`, `passes on 7`.
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
