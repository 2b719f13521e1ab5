//! The pages of a history: an overview, a page per benchmark, two runs side by side, and the
//! machines over time. All functions are pure and return strings.
//!
//! The output has many files because a year of five hundred benchmarks is too much for one. The
//! pages can be read from a disk or from a server. A page read from a disk can't fetch anything, so
//! the data are scripts, one per series, all written by one function of [`data`]. Without scripts,
//! the pages still show all levels, changes and the last runs. Nothing is loaded from elsewhere.
//! Content from outside is escaped by the template or by [`data`] and can't run, because the pages
//! forbid all scripts except their own files. Nothing is decided here.

mod benchmark;
pub mod data;
mod index;
mod machines;
mod names;
mod overview;

pub use benchmark::{BenchmarkPage, benchmark};
pub use index::{Index, Measured};
pub use machines::{MachineStates, machines};
pub(crate) use names::encoded;
pub use names::file_names;
pub use overview::{EVENTS, Overview, Row, overview};

use crate::history::date;
use askama::Template;
use assay_data::Metric;

/// Name of the directory of the benchmark pages.
pub const BENCHMARKS: &str = "benchmarks";
/// Name of the directory of the data files.
pub const DATA: &str = "data";
/// Name of the directory of the style sheet and the scripts.
pub const ASSETS: &str = "assets";

/// The files that are the same on every site, with their names within [`ASSETS`].
pub const SHARED: [(&str, &str); 3] = [
    (
        "site.css",
        concat!(
            include_str!("../templates/style.css"),
            include_str!("../assets/uplot.css"),
            include_str!("../templates/site/site.css")
        ),
    ),
    (
        "uplot.js",
        concat!(
            include_str!("../assets/uplot.js"),
            "\n/*\n",
            include_str!("../assets/LICENSE-uPlot.txt"),
            "\n*/\n"
        ),
    ),
    ("site.js", include_str!("../templates/site/site.js")),
];

/// Content security policy, which allows scripts and styles only from adjacent files, and images
/// only as `data:` URLs. Not every browser counts adjacent files as "self" when a page is read from
/// a disk.
pub const POLICY: &str = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src data:; base-uri 'none'; form-action 'none'";

/// Properties shared by all pages of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Name of the project.
    pub project: String,
    /// Name of the program that generated the pages.
    pub tool: String,
    /// Address of the site to which these pages belong, on the same server.
    pub part_of: Option<String>,
    /// Time of generation, in milliseconds since 1970.
    pub made: i64,
    /// Identifier shared by all data files of these pages and by no others.
    pub stamp: String,
}

/// The properties of a page that its template needs.
struct Around<'a> {
    title: String,
    project: String,
    tool: &'a str,
    part_of: Option<&'a str>,
    made: String,
    stamp: &'a str,
    /// Relative path from the page to the root directory: empty or `../`.
    up: &'static str,
    policy: &'static str,
}

impl<'a> Around<'a> {
    fn of(frame: &'a Frame, title: &str, up: &'static str) -> Self {
        let project = crate::names::clean(&frame.project);
        let title = if title.is_empty() {
            format!("{project}: history")
        } else {
            format!("{title} · {project}")
        };
        Self {
            title,
            project,
            tool: &frame.tool,
            part_of: frame.part_of.as_deref(),
            made: date(frame.made),
            stamp: &frame.stamp,
            up,
            policy: POLICY,
        }
    }
}

#[derive(Template)]
#[template(path = "site/compare.html")]
struct Compare<'a> {
    around: Around<'a>,
}

/// Renders the page on which any two runs can be shown side by side.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn compare(frame: &Frame) -> Result<String, askama::Error> {
    Compare { around: Around::of(frame, "Two runs", "") }.render()
}

/// Returns the name of a metric, with its unit if the values don't show it.
pub(crate) fn metric_name(metric: &Metric) -> String {
    crate::names::clean(&crate::label::label(metric))
}
