//! The page of a project: what its newest version came to on all targets, in sentences; the matrix; benchmarks against the base; what is queued; its last builds.

use super::benchmark::SpeedRow;
use super::matrix::{Matrix, Said, Table};
use super::state::{Part, Sum, bar};
use super::{Around, Frame, Line, Row, rows};
use crate::findings::Noted;
use crate::names::clean;
use crate::number;
use askama::Template;

/// So many benchmarks stand on the page of a project.
const BENCHMARKS: usize = 50;
/// So many findings.
const FINDINGS: usize = 20;

/// A job that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    /// Its number.
    pub id: i64,
    /// Which version.
    pub version: String,
    /// `test` or `bench`.
    pub kind: String,
    /// On which target, or what one must be.
    pub target: String,
    /// `queued` or `leased`.
    pub progress: String,
    /// Who has it.
    pub node: Option<String>,
    /// How often it was tried.
    pub attempts: u32,
}

/// What the page of a project is made of.
#[derive(Clone, Copy, Debug)]
pub struct ProjectPage<'a> {
    /// What all pages share.
    pub frame: &'a Frame,
    /// Whose it is.
    pub owner: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Where its versions come from, in words.
    pub origin: &'a str,
    /// Builds of it in all.
    pub builds: &'a [Sum],
    /// Its versions on its targets.
    pub matrix: Matrix<'a>,
    /// What to ask for older versions with.
    pub next: Option<&'a str>,
    /// Where, within the history of its benchmarks, the first page is; `None`: none were kept.
    pub history: Option<&'a str>,
    /// What has not ended.
    pub jobs: &'a [JobLine],
    /// Its last builds.
    pub latest: &'a [Line],
}

/// A project's name, with links.
struct Names {
    title: String,
    link: String,
    matrix_link: String,
    badge: String,
    json: String,
    history: Option<String>,
}

impl Names {
    fn of(page: &ProjectPage<'_>) -> Self {
        let link = page.frame.of_project(page.owner, page.name);
        Self {
            title: clean(&format!("{}/{}", page.owner, page.name)),
            matrix_link: format!("{link}/matrix"),
            badge: format!("{link}/badge.svg"),
            json: page
                .frame
                .link(&["api", "v1", "owners", page.owner, "projects", page.name, "matrix"]),
            link,
            history: page.history.map(|place| page.frame.of_history(page.owner, page.name, place)),
        }
    }
}

#[derive(Template)]
#[template(path = "farm/project.html")]
struct Page {
    around: Around,
    of: Names,
    origin: String,
    said: Vec<Said>,
    findings: Vec<Noted>,
    sums: Vec<Part>,
    matrix: Table,
    older: Option<String>,
    base: String,
    speed: Vec<SpeedRow>,
    more_speed: String,
    jobs: Vec<Job>,
    builds: Vec<Row>,
}

struct Job {
    link: String,
    id: i64,
    version: String,
    kind: String,
    target: String,
    is_running: bool,
    said: String,
}

/// The page of a project.
///
/// # Errors
/// When the template can't be filled, which would be a bug.
pub fn project(of: &ProjectPage<'_>) -> Result<String, askama::Error> {
    let newest = of.matrix.newest();
    let speed =
        newest.map_or_else(Vec::new, |judged| SpeedRow::all(of.frame, of.owner, of.name, judged));
    let more = speed.len().saturating_sub(BENCHMARKS);
    let findings = newest.into_iter().flat_map(|judged| &judged.findings).take(FINDINGS);
    Page {
        around: Around::of(of.frame, &format!("{}/{}", of.owner, of.name)),
        origin: clean(of.origin),
        said: newest.map_or_else(Vec::new, |judged| of.matrix.said(judged)),
        findings: findings.map(|finding| Noted::new(finding, "")).collect(),
        sums: bar(of.builds),
        matrix: of.matrix.table(of.frame),
        older: older(of),
        base: newest.map_or_else(String::new, |judged| base(of, judged)),
        speed: speed.into_iter().take(BENCHMARKS).collect(),
        more_speed: if more == 0 {
            String::new()
        } else {
            format!("and {} more", number::grouped(more as u64))
        },
        jobs: of.jobs.iter().map(|job| Job::of(of.frame, job)).collect(),
        builds: rows(of.frame, of.latest),
        of: Names::of(of),
    }
    .render()
}

/// The versions that the newest one was compared with.
fn base(of: &ProjectPage<'_>, judged: &assay_analysis::farm::Judged) -> String {
    let mut bases: Vec<usize> =
        judged.benchmarks.iter().flat_map(|b| b.on.iter().filter_map(|on| on.base)).collect();
    bases.sort_unstable();
    bases.dedup();
    let name = |place: &usize| of.matrix.project.versions.get(*place).map(|name| clean(name));
    let names: Vec<String> = bases.iter().filter_map(name).collect();
    if names.is_empty() { "an older version".to_owned() } else { crate::words::listed(&names) }
}

fn older(of: &ProjectPage<'_>) -> Option<String> {
    let next = of.next?;
    let link = of.frame.of_project(of.owner, of.name);
    Some(format!("{link}/matrix?after={}", crate::site::encoded(next)))
}

impl Job {
    fn of(frame: &Frame, job: &JobLine) -> Self {
        let tries =
            if job.attempts > 1 { format!(", try {}", job.attempts) } else { String::new() };
        let said = match &job.node {
            Some(node) if job.progress == "leased" => format!("runs on {node}{tries}"),
            _ => format!("{}{tries}", job.progress),
        };
        Self {
            link: frame.link(&["jobs", &job.id.to_string()]),
            id: job.id,
            version: super::version(&job.version),
            kind: clean(&job.kind),
            target: clean(&job.target),
            is_running: job.progress == "leased",
            said: clean(&said),
        }
    }
}

#[derive(Template)]
#[template(path = "farm/matrix_page.html")]
struct MatrixOnly {
    around: Around,
    of: Names,
    said: Vec<Said>,
    matrix: Table,
    older: Option<String>,
}

/// The matrix alone, of whichever versions were asked for.
///
/// # Errors
/// When the template can't be filled, which would be a bug.
pub fn matrix_page(of: &ProjectPage<'_>) -> Result<String, askama::Error> {
    MatrixOnly {
        around: Around::of(of.frame, &format!("{}/{}: matrix", of.owner, of.name)),
        said: of.matrix.newest().map_or_else(Vec::new, |judged| of.matrix.said(judged)),
        matrix: of.matrix.table(of.frame),
        older: older(of),
        of: Names::of(of),
    }
    .render()
}
