//! The page of a build: what came of it and why, how to do it again, what its benchmarks came to, what the machine is, its log. And that of a job that has
//! no build yet: its log as it is written.

use super::state::Marked;
use super::{Around, Frame, Line, Row, log, rows};
use crate::html::short_time;
use crate::names::clean;
use crate::number;
use askama::Template;
use assay_analysis::farm::Facts;
use assay_data::Unit;

/// So many tests that failed are named.
const FAILURES: usize = 50;
/// So many comparisons stand on the page.
const COMPARED: usize = 200;

/// What a benchmark came to in a build, against the base.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// The run's own verdict.
    pub verdict: String,
    /// The version's value over the base's.
    pub ratio: f64,
    /// Its interval, 95 %.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// Observations a side.
    pub n: u64,
}

/// One time that a job was given to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// To whom.
    pub node: String,
    /// When, RFC 3339.
    pub began: String,
    /// When it ended; `None`: it runs.
    pub ended: Option<String>,
    /// How it ended.
    pub how: Option<String>,
}

/// What the page of a build is made of.
#[derive(Clone, Copy, Debug)]
pub struct BuildPage<'a> {
    /// What all pages share.
    pub frame: &'a Frame,
    /// The build in short.
    pub line: &'a Line,
    /// What the target is.
    pub facts: &'a Facts,
    /// Which framework said that tests ran.
    pub framework: Option<&'a str>,
    /// Tests that were skipped.
    pub skipped: u64,
    /// Assertions, where they are counted.
    pub assertions: Option<u64>,
    /// Names of tests that failed.
    pub failures: &'a [String],
    /// A command that does the same again.
    pub repeat: &'a str,
    /// The version that a `bench` compared it with.
    pub base: Option<&'a str>,
    /// What its benchmarks came to.
    pub compared: &'a [Compared],
    /// Whether there are samples of it.
    pub has_samples: bool,
    /// How often its job was tried.
    pub leases: &'a [Lease],
    /// Other builds of this version on this target.
    pub others: &'a [Line],
    /// The end of its log.
    pub log: &'a [u8],
    /// Bytes of the log before what is shown.
    pub log_before: u64,
    /// Bytes that were not kept.
    pub log_cut: u64,
}

/// A log as templates take it.
struct Log {
    /// Whether there is nothing of it.
    is_empty: bool,
    /// Made by [`log::html`]: the one text here that is markup already.
    html: String,
    link: String,
    before: String,
    cut: String,
    /// Where it is followed, if it is.
    follow: Option<String>,
}

/// A benchmark of a build; all targets' are on its own page.
struct ComparedRow {
    link: String,
    name: String,
    metric: String,
    change: String,
    verdict: String,
    n: String,
}

struct Tried {
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
    leases: Vec<Tried>,
    others: Vec<Row>,
    log: Log,
}

/// The page of a build.
///
/// # Errors
/// When the template can't be filled, which would be a bug.
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
        leases: of.leases.iter().map(|lease| Tried::of(of.frame, lease)).collect(),
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
                    "The log was longer than what is kept: {} are missing at its end.",
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

/// What is said of the bytes of a log before those that are shown.
fn before(log: u64) -> String {
    match log {
        0 => String::new(),
        log => format!("The end of it; {} before it are in the whole log.", bytes(log)),
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

impl Tried {
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

/// What the page of a job is made of.
#[derive(Clone, Copy, Debug)]
pub struct JobPage<'a> {
    /// What all pages share.
    pub frame: &'a Frame,
    /// Its number.
    pub id: i64,
    /// Whose project.
    pub owner: &'a str,
    /// Which.
    pub project: &'a str,
    /// Which version.
    pub version: &'a str,
    /// `test` or `bench`.
    pub kind: &'a str,
    /// How far it is: `queued`, `leased`, `done`, `cancelled`.
    pub progress: &'a str,
    /// The build that ended it, in short.
    pub build: Option<&'a Line>,
    /// How often it was tried.
    pub leases: &'a [Lease],
    /// The end of its log, as far as it is written.
    pub log: &'a [u8],
    /// Bytes of the log before what is shown.
    pub log_before: u64,
    /// Where its log can be followed, below the root; `None`: nothing is written.
    pub follow: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "farm/job.html")]
struct Job {
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
    leases: Vec<Tried>,
    log: Log,
}

/// The page of a job.
///
/// # Errors
/// When the template can't be filled, which would be a bug.
pub fn job(of: &JobPage<'_>) -> Result<String, askama::Error> {
    // Once it has ended, what it came to is said as on the page of its build.
    let (symbol, tone, said) = match (of.build, of.progress) {
        (Some(line), _) => (Marked::of(line.state).symbol, tone(line), said(line)),
        (None, "leased") => ("", "", "runs".to_owned()),
        (None, "queued") => ("", "", "queued".to_owned()),
        (None, other) => ("", "unsure", clean(other)),
    };
    Job {
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
        leases: of.leases.iter().map(|lease| Tried::of(of.frame, lease)).collect(),
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
