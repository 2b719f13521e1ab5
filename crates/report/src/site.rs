//! The pages of a history: an overview, a page for each benchmark, two runs side by side, the machines over time. Pure functions to strings.
//!
//! They are many files, because a year of five hundred benchmarks is too much for one; they are read from a disk or from a server alike.
//! A page from a disk may fetch nothing, so data come as scripts, one for each series, each written by one function of [`data`]. Without
//! scripts all levels, changes and the last runs still stand in the page. Nothing is loaded from elsewhere, and what comes from
//! outside is escaped by the template or by [`data`], and can't run: the pages forbid scripts that are not files of theirs.
//! Nothing is decided here.

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

/// Where the page of a benchmark stands.
pub const BENCHMARKS: &str = "benchmarks";
/// Where the data stand.
pub const DATA: &str = "data";
/// Where style and scripts stand.
pub const ASSETS: &str = "assets";

/// The files that all sites share, by name within [`ASSETS`].
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

/// What scripts, styles and pictures a page may use: none but the files beside it. From a disk these are no "self" to every browser.
pub const POLICY: &str = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src data:; base-uri 'none'; form-action 'none'";

/// What all pages of a site share.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The project.
    pub project: String,
    /// By what the pages were made.
    pub tool: String,
    /// The address of what these pages are a part of, on the same server.
    pub part_of: Option<String>,
    /// When they were made, ms since 1970.
    pub made: i64,
    /// What the data of these pages have in common, and no others.
    pub stamp: String,
}

/// What a template needs of the frame.
struct Around<'a> {
    title: String,
    project: String,
    tool: &'a str,
    part_of: Option<&'a str>,
    made: String,
    stamp: &'a str,
    /// What leads from the page to the first one: empty or `../`.
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

/// The page on which any two runs stand side by side.
///
/// # Errors
/// When the template can't be filled, which would be a bug.
pub fn compare(frame: &Frame) -> Result<String, askama::Error> {
    Compare { around: Around::of(frame, "Two runs", "") }.render()
}

/// A metric's name with its unit, where that isn't seen in its values.
pub(crate) fn metric_name(metric: &Metric) -> String {
    crate::names::clean(&crate::label::label(metric))
}
