//! The pages of a farm: the first one, a project with its matrix of versions and targets, a benchmark on all targets, builds as they came, one build with its
//! log, a job that runs, a node. Badges, and the matrix as a screen. Pure functions to strings.
//!
//! Names, reasons and logs are strangers': whatever they hold is shown as text. Templates escape it, control characters are taken out before
//! (`clean`), links are made of encoded parts alone, and colours of a log become classes ([`log`]). The pages forbid all scripts, styles and connections but those
//! of their own server, and say all that they say without scripts; the one script follows logs, searches, copies, and listens to keys. Nothing is decided
//! here, and nothing read: whoever serves the pages hands in what is on them.

mod badge;
mod benchmark;
mod build;
mod home;
pub mod log;
mod matrix;
mod node;
mod project;
mod refused;
mod screen;
mod state;
mod waterfall;

pub use badge::badge;
pub use benchmark::{BenchmarkPage, benchmark};
pub use build::{BuildPage, Compared, JobPage, Lease, build, job};
pub use home::{Home, ProjectLine, VersionLine, home};
pub use matrix::{Matrix, VersionNote};
pub use node::{Calibration, NodePage, node};
pub use project::{JobLine, ProjectPage, matrix_page, project};
pub use refused::refused;
pub use screen::screen;
pub use state::{Marked, Sum};
pub use waterfall::{Waterfall, waterfall};

use crate::html::short_time;
use crate::names::clean;
use crate::number;
use crate::site::encoded;
use assay_analysis::farm::State;

/// Where style and script stand, below the root.
pub const ASSETS: &str = "assets";

/// The files that all pages share, by name within [`ASSETS`], each with the type of its content.
pub const SHARED: [(&str, &str, &str); 2] = [
    (
        "farm.css",
        "text/css; charset=utf-8",
        concat!(include_str!("../templates/style.css"), include_str!("../templates/farm/farm.css")),
    ),
    ("farm.js", "text/javascript; charset=utf-8", include_str!("../templates/farm/farm.js")),
];

/// What scripts, styles, pictures and connections a page may use: its own server's. To be sent as a header, since a page alone can't forbid to be framed.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What all pages share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// By what the pages are made.
    pub tool: String,
    /// Where the farm is, seen from outside: what stands before every path; empty: at the root.
    pub root: String,
}

impl Frame {
    fn link(&self, parts: &[&str]) -> String {
        let mut link = self.root.clone();
        for part in parts {
            link.push('/');
            link += &encoded(part);
        }
        if parts.is_empty() { link + "/" } else { link }
    }

    /// Where the page of a project is.
    pub fn of_project(&self, owner: &str, project: &str) -> String {
        self.link(&[owner, project])
    }

    /// Where a page of the history of its benchmarks is; `place` is its name there, of parts that are safe in any address.
    fn of_history(&self, owner: &str, project: &str, place: &str) -> String {
        format!("{}/history/{place}", self.of_project(owner, project))
    }

    fn of_build(&self, id: i64) -> String {
        self.link(&["builds", &id.to_string()])
    }
}

/// What a template needs of the frame.
struct Around {
    title: String,
    tool: String,
    root: String,
    home: String,
    waterfall: String,
}

impl Around {
    fn of(frame: &Frame, title: &str) -> Self {
        Self {
            title: clean(title),
            tool: clean(&frame.tool),
            root: frame.root.clone(),
            home: frame.link(&[]),
            waterfall: frame.link(&["waterfall"]),
        }
    }
}

/// One build among many.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its number.
    pub id: i64,
    /// Of whose project.
    pub owner: String,
    /// Which.
    pub project: String,
    /// Which version.
    pub version: String,
    /// What people call the target.
    pub target: String,
    /// Who did it.
    pub node: String,
    /// What was to be found out: `test` or `bench`.
    pub kind: String,
    /// The state.
    pub state: State,
    /// What of the machine was at fault.
    pub fault: Option<String>,
    /// Why this state.
    pub reason: String,
    /// When it was added, RFC 3339.
    pub added: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// Tests that ran.
    pub tests: u64,
    /// Of these failed.
    pub failed: u64,
    /// Whether it ended no job.
    pub is_evidence: bool,
}

/// A row of a table of builds.
struct Row {
    link: String,
    id: i64,
    project: String,
    project_link: String,
    version: String,
    target: String,
    node: String,
    node_link: String,
    mark: Marked,
    said: String,
    when: String,
    took: String,
}

impl Row {
    fn of(frame: &Frame, line: &Line) -> Self {
        Self {
            link: frame.of_build(line.id),
            id: line.id,
            project: clean(&format!("{}/{}", line.owner, line.project)),
            project_link: frame.of_project(&line.owner, &line.project),
            version: version(&line.version),
            target: clean(&line.target),
            node: clean(&line.node),
            node_link: frame.link(&["nodes", &line.node]),
            mark: Marked::of(line.state),
            said: line.said(),
            when: minute(&line.added),
            took: number::duration(line.seconds),
        }
    }
}

impl Line {
    /// What came of it, in a few words: `3 of 120 tests failed`.
    fn said(&self) -> String {
        let fault = self.fault.as_ref().map_or_else(String::new, |fault| format!("{fault}: "));
        let said = match (self.state, self.failed) {
            _ if !self.reason.is_empty() => format!("{fault}{}", self.reason),
            (State::Failed, 1..) => {
                format!("{} of {} tests failed", self.failed, number::grouped(self.tests))
            }
            (State::Passed, _) if self.kind == "bench" => "measured".to_owned(),
            (State::Passed, _) if self.tests == 1 => "1 test".to_owned(),
            (State::Passed, _) => format!("{} tests", number::grouped(self.tests)),
            _ => fault.trim_end_matches(": ").to_owned(),
        };
        let evidence = if self.is_evidence { " (came too late)" } else { "" };
        clean(&format!("{said}{evidence}"))
    }
}

/// A version as it is called among many: of a commit its first ten digits.
fn version(name: &str) -> String {
    clean(assay_analysis::history::short(name))
}

/// A time to the minute.
fn minute(time: &str) -> String {
    let time = short_time(time);
    match time.char_indices().nth(16) {
        Some((at, _)) => time[..at].to_owned(),
        None => time,
    }
}

/// Rows of a table of builds.
fn rows(frame: &Frame, lines: &[Line]) -> Vec<Row> {
    lines.iter().map(|line| Row::of(frame, line)).collect()
}
