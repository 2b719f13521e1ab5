//! The page of a build: its result with the reason, how to repeat it, its benchmarks, its machine
//! and its log. Also the page of a job that has no build yet, which shows the log as it is written.

use super::state::Marked;
use super::{Around, Frame, Line, Row, log, rows};
use crate::html::short_time;
use crate::names::clean;
use crate::number;
use askama::Template;
use assay_analysis::farm::Facts;
use assay_data::Unit;

/// Maximum number of failed tests named.
const FAILURES: usize = 50;
/// Maximum number of comparisons on the page.
const COMPARED: usize = 200;

/// A benchmark's result in a build, compared with the base version.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Name of the metric.
    pub metric: String,
    /// The verdict reached by the run itself.
    pub verdict: String,
    /// Ratio of the version's value to the base version's.
    pub ratio: f64,
    /// Lower end of the 95 % interval of the ratio.
    pub lower: f64,
    /// Upper end of the 95 % interval of the ratio.
    pub upper: f64,
    /// Number of observations per side.
    pub n: u64,
}

/// One attempt at a job by a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Node to which the job was assigned.
    pub node: String,
    /// Start time, as RFC 3339.
    pub began: String,
    /// End time, as RFC 3339; `None` if the attempt is still running.
    pub ended: Option<String>,
    /// Outcome of the attempt; `None` if the attempt is still running.
    pub how: Option<String>,
}

/// The input of a build's page.
#[derive(Clone, Copy, Debug)]
pub struct BuildPage<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// Summary of the build.
    pub line: &'a Line,
    /// Facts about the target.
    pub facts: &'a Facts,
    /// Test framework that reported the tests.
    pub framework: Option<&'a str>,
    /// Number of skipped tests.
    pub skipped: u64,
    /// Number of assertions; `None` if they were not counted.
    pub assertions: Option<u64>,
    /// Names of failed tests.
    pub failures: &'a [String],
    /// A command that repeats the build.
    pub repeat: &'a str,
    /// The version with which a `bench` build was compared, if any.
    pub base: Option<&'a str>,
    /// Results of the build's benchmarks.
    pub compared: &'a [Compared],
    /// True if the samples of the build are stored.
    pub has_samples: bool,
    /// All attempts at the build's job.
    pub leases: &'a [Lease],
    /// Other builds of this version on this target.
    pub others: &'a [Line],
    /// The end of the build's log.
    pub log: &'a [u8],
    /// Number of log bytes before the part shown.
    pub log_before: u64,
    /// Number of log bytes that were not stored.
    pub log_cut: u64,
}

/// A log in the form that templates take.
struct Log {
    /// True if there is no log.
    is_empty: bool,
    /// Output of [`log::html`], which is the only text here that is already markup.
    html: String,
    link: String,
    before: String,
    cut: String,
    /// Address from which the rest of the log can be followed; `None` if nothing is being written.
    follow: Option<String>,
}

/// One benchmark of a build as a row. All targets are shown on the benchmark's own page.
struct ComparedRow {
    link: String,
    name: String,
    metric: String,
    change: String,
    verdict: String,
    n: String,
}

struct AttemptRow {
    node: String,
    link: String,
    began: String,
    said: String,
}

#[derive(Template)]
#[template(path = "farm/build.html")]
struct Page {
    around: Around,
    id: i64,
    mark: Marked,
    tone: &'static str,
    said: String,
    about: Vec<(&'static str, String)>,
    project: String,
    project_link: String,
    node: String,
    node_link: String,
    version: String,
    target: String,
    facts: Vec<(String, String)>,
    failures: Vec<String>,
    more_failures: String,
    repeat: String,
    base: String,
    compared: Vec<ComparedRow>,
    samples: Option<String>,
    leases: Vec<AttemptRow>,
    others: Vec<Row>,
    log: Log,
}

/// Renders the page of a build.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn build(of: &BuildPage<'_>) -> Result<String, askama::Error> {
    let line = of.line;
    let id = line.id.to_string();
    let path = |last: &str| of.frame.link(&["api", "v1", "builds", &id, last]);
    let mark = Marked::of(line.state);
    let more = of.failures.len().saturating_sub(FAILURES);
    Page {
        around: Around::of(of.frame, &format!("Build {id} · {}/{}", line.owner, line.project)),
        id: line.id,
        mark,
        tone: tone(line),
        said: said(line),
        about: about(of),
        project: clean(&format!("{}/{}", line.owner, line.project)),
        project_link: of.frame.of_project(&line.owner, &line.project),
        node: clean(&line.node),
        node_link: of.frame.link(&["nodes", &line.node]),
        version: clean(&line.version),
        target: clean(&line.target),
        facts: of.facts.iter().map(|(name, value)| (clean(name), clean(value))).collect(),
        failures: of.failures.iter().take(FAILURES).map(|name| clean(name)).collect(),
        more_failures: if more == 0 {
            String::new()
        } else {
            format!("and {} more", number::grouped(more as u64))
        },
        repeat: clean(of.repeat),
        base: clean(of.base.unwrap_or("")),
        compared: of.compared.iter().take(COMPARED).map(|one| compared(of, one)).collect(),
        samples: of.has_samples.then(|| path("samples")),
        leases: of.leases.iter().map(|lease| AttemptRow::of(of.frame, lease)).collect(),
        others: rows(of.frame, of.others),
        log: Log {
            is_empty: of.log.is_empty(),
            html: log::html(of.log, 1),
            link: path("log"),
            before: before(of.log_before),
            cut: if of.log_cut == 0 {
                String::new()
            } else {
                format!(
                    "The log was too long to keep: {} are missing at its end.",
                    bytes(of.log_cut)
                )
            },
            follow: None,
        },
    }
    .render()
}

fn bytes(bytes: u64) -> String {
    number::value(bytes as f64, &Unit::Byte)
}

/// Returns a note on the part of a log, in bytes, that precedes the part shown.
fn before(log: u64) -> String {
    match log {
        0 => String::new(),
        log => format!("This is its end; {} before it are in the whole log.", bytes(log)),
    }
}

fn tone(line: &Line) -> &'static str {
    use assay_analysis::farm::State;
    match line.state {
        State::Passed => "good",
        State::Failed | State::Errored | State::InstallFailed | State::TimedOut => "bad",
        State::NotTested | State::Infrastructure | State::Lost => "unsure",
    }
}

fn said(line: &Line) -> String {
    let word = Marked::of(line.state).word;
    match line.said() {
        said if said.is_empty() => word.to_owned(),
        said => format!("{word}: {said}"),
    }
}

fn about(of: &BuildPage<'_>) -> Vec<(&'static str, String)> {
    let line = of.line;
    let mut about = vec![
        ("kind", clean(&line.kind)),
        ("added", short_time(&line.added)),
        ("took", number::duration(line.seconds)),
    ];
    about.extend(of.framework.map(|framework| ("framework", clean(framework))));
    if line.tests > 0 {
        let skipped = if of.skipped > 0 {
            format!(", {} skipped", number::grouped(of.skipped))
        } else {
            String::new()
        };
        about.push((
            "tests",
            format!(
                "{}, {} failed{skipped}",
                number::grouped(line.tests),
                number::grouped(line.failed)
            ),
        ));
    }
    about.extend(of.assertions.map(|n| ("assertions", number::grouped(n))));
    about
}

fn compared(page: &BuildPage<'_>, of: &Compared) -> ComparedRow {
    let Line { owner, project, .. } = page.line;
    ComparedRow {
        link: super::benchmark::link(page.frame, owner, project, &of.benchmark, &of.metric),
        name: clean(&of.benchmark),
        metric: clean(&of.metric),
        change: number::change(of.ratio, Some((of.lower, of.upper))),
        verdict: clean(&of.verdict),
        n: number::grouped(of.n),
    }
}

impl AttemptRow {
    fn of(frame: &Frame, lease: &Lease) -> Self {
        let said = match (&lease.ended, lease.how.as_deref()) {
            (None, _) => "runs".to_owned(),
            (Some(ended), how) => {
                format!("{} {}", how.unwrap_or("ended").replace('_', " "), short_time(ended))
            }
        };
        Self {
            node: clean(&lease.node),
            link: frame.link(&["nodes", &lease.node]),
            began: short_time(&lease.began),
            said: clean(&said),
        }
    }
}

/// The input of a job's page.
#[derive(Clone, Copy, Debug)]
pub struct JobPage<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// Job number.
    pub id: i64,
    /// Owner of the project.
    pub owner: &'a str,
    /// Project name.
    pub project: &'a str,
    /// Version.
    pub version: &'a str,
    /// Kind of job: `test` or `bench`.
    pub kind: &'a str,
    /// State of the job: `queued`, `leased`, `done` or `cancelled`.
    pub progress: &'a str,
    /// Summary of the build that ended the job.
    pub build: Option<&'a Line>,
    /// All attempts at the job.
    pub leases: &'a [Lease],
    /// The end of the job's log, as written so far.
    pub log: &'a [u8],
    /// Number of log bytes before the part shown.
    pub log_before: u64,
    /// Path, relative to the root, from which the log can be followed; `None` if nothing is being
    /// written.
    pub follow: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "farm/job.html")]
struct JobSummary {
    around: Around,
    id: i64,
    symbol: &'static str,
    tone: &'static str,
    said: String,
    project: String,
    project_link: String,
    version: String,
    kind: String,
    build_link: Option<String>,
    leases: Vec<AttemptRow>,
    log: Log,
}

/// Renders the page of a job.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn job(of: &JobPage<'_>) -> Result<String, askama::Error> {
    // Once the job has ended, its result is shown as on the page of its build.
    let (symbol, tone, said) = match (of.build, of.progress) {
        (Some(line), _) => (Marked::of(line.state).symbol, tone(line), said(line)),
        (None, "leased") => ("", "", "runs".to_owned()),
        (None, "queued") => ("", "", "queued".to_owned()),
        (None, other) => ("", "unsure", clean(other)),
    };
    JobSummary {
        around: Around::of(of.frame, &format!("Job {} · {}/{}", of.id, of.owner, of.project)),
        id: of.id,
        symbol,
        tone,
        said,
        project: clean(&format!("{}/{}", of.owner, of.project)),
        project_link: of.frame.of_project(of.owner, of.project),
        version: clean(of.version),
        kind: clean(of.kind),
        build_link: of.build.map(|line| of.frame.of_build(line.id)),
        leases: of.leases.iter().map(|lease| AttemptRow::of(of.frame, lease)).collect(),
        log: Log {
            is_empty: of.log.is_empty(),
            html: log::html(of.log, 1),
            link: of.frame.link(&["api", "v1", "jobs", &of.id.to_string(), "log"]),
            before: before(of.log_before),
            cut: String::new(),
            follow: of.follow.map(|path| format!("{}{path}", of.frame.root)),
        },
    }
    .render()
}
