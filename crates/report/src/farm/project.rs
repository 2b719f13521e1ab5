//! The page of a project: the results of its newest version on all targets in sentences, the
//! matrix, the benchmarks compared with the base version, the queue, and the project's latest
//! builds.

use super::benchmark::SpeedRow;
use super::matrix::{Matrix, Table, VersionSentence};
use super::state::{Part, Sum, bar};
use super::{Around, Frame, Line, Row, rows};
use crate::findings::FindingOnPage;
use crate::names::clean;
use crate::number;
use askama::Template;
use assay_data::list;

/// Maximum number of benchmarks on a project's page.
const BENCHMARKS: usize = 50;
/// Maximum number of findings on a project's page.
const FINDINGS: usize = 20;

/// A job that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    /// Job number.
    pub id: i64,
    /// Version.
    pub version: String,
    /// Kind of job: `test` or `bench`.
    pub kind: String,
    /// The job's target, or the requirements that a target must meet.
    pub target: String,
    /// State of the job: `queued` or `leased`.
    pub progress: String,
    /// Node to which the job is assigned, if any.
    pub node: Option<String>,
    /// Number of attempts.
    pub attempts: u32,
}

/// The input of a project's page.
#[derive(Clone, Copy, Debug)]
pub struct ProjectPage<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// Owner of the project.
    pub owner: &'a str,
    /// Name of the project.
    pub name: &'a str,
    /// Where the project's versions come from, in words.
    pub origin: &'a str,
    /// Total number of builds by state.
    pub builds: &'a [Sum],
    /// Versions of the project on its targets.
    pub matrix: Matrix<'a>,
    /// Cursor for older versions.
    pub next: Option<&'a str>,
    /// Path, within the project's benchmark history, of its first page; `None` if no history was
    /// stored.
    pub history: Option<&'a str>,
    /// The jobs that have not ended.
    pub jobs: &'a [JobLine],
    /// Latest builds of the project.
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
    said: Vec<VersionSentence>,
    findings: Vec<FindingOnPage>,
    sums: Vec<Part>,
    matrix: Table,
    older: Option<String>,
    base: String,
    speed: Vec<SpeedRow>,
    more_speed: String,
    jobs: Vec<JobOnPage>,
    builds: Vec<Row>,
}

struct JobOnPage {
    link: String,
    id: i64,
    version: String,
    kind: String,
    target: String,
    is_running: bool,
    said: String,
}

/// Renders the page of a project.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
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
        findings: findings.map(|finding| FindingOnPage::new(finding, "")).collect(),
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
        jobs: of.jobs.iter().map(|job| JobOnPage::of(of.frame, job)).collect(),
        builds: rows(of.frame, of.latest),
        of: Names::of(of),
    }
    .render()
}

/// Returns the versions that the newest one was compared with.
fn base(of: &ProjectPage<'_>, judged: &assay_analysis::farm::Judged) -> String {
    let mut bases: Vec<usize> =
        judged.benchmarks.iter().flat_map(|b| b.on.iter().filter_map(|on| on.base)).collect();
    bases.sort_unstable();
    bases.dedup();
    let name = |place: &usize| of.matrix.project.versions.get(*place).map(|name| clean(name));
    let names: Vec<String> = bases.iter().filter_map(name).collect();
    if names.is_empty() { "an older version".to_owned() } else { list::all(&names) }
}

fn older(of: &ProjectPage<'_>) -> Option<String> {
    let next = of.next?;
    let link = of.frame.of_project(of.owner, of.name);
    Some(format!("{link}/matrix?after={}", crate::site::encoded(next)))
}

impl JobOnPage {
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
    said: Vec<VersionSentence>,
    matrix: Table,
    older: Option<String>,
}

/// Renders only the matrix, for any selection of versions.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
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
