//! Pages of a farm: the home page, a project with its matrix of versions and targets, a benchmark
//! on all targets, the list of builds, a single build with its log, a running job, and a node. Also
//! badges, and the matrix for the terminal. All are pure functions that return strings.
//!
//! Names, reasons and logs are untrusted, and their content is always shown as text. Templates
//! escape it, control characters are removed beforehand (`clean`), links are built only from
//! encoded parts, and colors of a log become classes ([`log`]). The pages forbid all scripts,
//! styles and connections except those of their own server, and show all content without scripts.
//! The only script follows logs, searches, copies text and handles keys. Nothing is decided or read
//! here; the server passes in the content.

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

/// Path of the style sheet and script, relative to the root.
pub const ASSETS: &str = "assets";

/// The files shared by all pages, by name within [`ASSETS`], each with its content type.
pub const SHARED: [(&str, &str, &str); 2] = [
    (
        "farm.css",
        "text/css; charset=utf-8",
        concat!(include_str!("../templates/style.css"), include_str!("../templates/farm/farm.css")),
    ),
    ("farm.js", "text/javascript; charset=utf-8", include_str!("../templates/farm/farm.js")),
];

/// Content security policy: scripts, styles, pictures and connections only from the page's own
/// server. It must be sent as a header, since a page itself can't forbid being framed.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Properties shared by all pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Name of the program that generates the pages.
    pub tool: String,
    /// Prefix of every path, if the farm is not served from the root of its host; empty otherwise.
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

    /// Returns the path of a project's page.
    pub fn of_project(&self, owner: &str, project: &str) -> String {
        self.link(&[owner, project])
    }

    /// Returns the path of a page of a project's benchmark history. `place` is the page's name
    /// within the history and contains only characters that are safe in any address.
    fn of_history(&self, owner: &str, project: &str, place: &str) -> String {
        format!("{}/history/{place}", self.of_project(owner, project))
    }

    fn of_build(&self, id: i64) -> String {
        self.link(&["builds", &id.to_string()])
    }
}

/// The parts of the frame that a template needs.
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

/// A build in a list of builds.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Build number.
    pub id: i64,
    /// Owner of the project.
    pub owner: String,
    /// Project name.
    pub project: String,
    /// Version.
    pub version: String,
    /// Display name of the target.
    pub target: String,
    /// Node that ran the build.
    pub node: String,
    /// Kind of job: `test` or `bench`.
    pub kind: String,
    /// State of the build.
    pub state: State,
    /// The machine's fault, if any.
    pub fault: Option<String>,
    /// Reason for the build's state.
    pub reason: String,
    /// Time at which the build was added, as RFC 3339.
    pub added: String,
    /// Duration of the build, in seconds.
    pub seconds: f64,
    /// Number of tests run.
    pub tests: u64,
    /// Number of failed tests.
    pub failed: u64,
    /// True if the build is kept only as evidence. Such a build did not end its job, because it
    /// came too late or because the job was queued again.
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
    /// Returns the outcome in a few words: `3 of 120 tests failed`.
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

/// Returns the short form of a version, which for a commit is its first ten digits.
fn version(name: &str) -> String {
    clean(assay_analysis::history::short(name))
}

/// Returns a time truncated to the minute.
fn minute(time: &str) -> String {
    let time = short_time(time);
    match time.char_indices().nth(16) {
        Some((at, _)) => time[..at].to_owned(),
        None => time,
    }
}

/// Returns the rows of a table of builds.
fn rows(frame: &Frame, lines: &[Line]) -> Vec<Row> {
    lines.iter().map(|line| Row::of(frame, line)).collect()
}
