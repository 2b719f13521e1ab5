//! The page of a node: whether the node gets work, its targets, its reliability (calibrations), and
//! its latest builds.

use super::{Around, Frame, Line, Row, minute, rows};
use crate::html::short_time;
use crate::names::clean;
use crate::number;
use askama::Template;

/// The result of an A/A run of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Time of the run, as RFC 3339.
    pub time: String,
    /// Share of A/A comparisons that falsely reported a difference.
    pub false_alarms: f64,
    /// Number of A/A comparisons.
    pub comparisons: u64,
    /// Smallest detectable effect, as a ratio above 1.
    pub detects: f64,
    /// True if the node may vote.
    pub is_fit: bool,
    /// The reason why the node may not vote; empty if it may.
    pub reason: String,
}

/// The input of a node's page.
#[derive(Clone, Copy, Debug)]
pub struct NodePage<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// Name of the node.
    pub name: &'a str,
    /// Name and version of the program that runs on the node.
    pub tool: &'a str,
    /// Time of last contact, as RFC 3339.
    pub seen: &'a str,
    /// Time by which the node's clock is ahead, in seconds.
    pub clock_ahead: f64,
    /// The reason why the node gets no jobs; `None` if it gets jobs.
    pub drained: Option<&'a str>,
    /// Display names of the node's targets.
    pub targets: &'a [String],
    /// Numbers of the jobs assigned to the node.
    pub jobs: &'a [i64],
    /// Calibrations of the node, newest first.
    pub calibrations: &'a [Calibration],
    /// Latest builds of the node.
    pub latest: &'a [Line],
}

#[derive(Template)]
#[template(path = "farm/node.html")]
struct Page {
    around: Around,
    name: String,
    tone: &'static str,
    said: String,
    about: String,
    targets: Vec<String>,
    jobs: Vec<(String, i64)>,
    calibrations: Vec<CalibrationRow>,
    builds: Vec<Row>,
}

struct CalibrationRow {
    when: String,
    alarms: String,
    comparisons: String,
    detects: String,
    tone: &'static str,
    said: String,
}

/// Smallest clock error that is reported, in seconds.
const CLOCK: f64 = 2.0;

/// Renders the page of a node.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn node(of: &NodePage<'_>) -> Result<String, askama::Error> {
    let (tone, said) = match (of.drained, of.calibrations.first()) {
        (Some(reason), _) => ("bad", format!("drained: {reason}")),
        (None, Some(last)) if !last.is_fit => {
            ("bad", format!("its benchmarks do not count: {}", last.reason))
        }
        (None, Some(last)) => {
            ("good", format!("detects changes of {} and more", number::percent(last.detects - 1.0)))
        }
        (None, None) => {
            ("unsure", "was never calibrated: its benchmarks are accepted as they are".to_owned())
        }
    };
    let clock = match of.clock_ahead {
        off if off.abs() < CLOCK || !off.is_finite() => String::new(),
        off if off > 0.0 => format!("; its clock is {} ahead", number::duration(off)),
        off => format!("; its clock is {} behind", number::duration(-off)),
    };
    Page {
        around: Around::of(of.frame, &format!("Node {}", of.name)),
        name: clean(of.name),
        tone,
        said: clean(&said),
        about: clean(&format!("{}, last seen {}{clock}", of.tool, minute(of.seen))),
        targets: of.targets.iter().map(|name| clean(name)).collect(),
        jobs: of.jobs.iter().map(|id| (of.frame.link(&["jobs", &id.to_string()]), *id)).collect(),
        calibrations: of.calibrations.iter().map(CalibrationRow::of).collect(),
        builds: rows(of.frame, of.latest),
    }
    .render()
}

impl CalibrationRow {
    fn of(calibration: &Calibration) -> Self {
        Self {
            when: short_time(&calibration.time),
            alarms: number::percent(calibration.false_alarms),
            comparisons: number::grouped(calibration.comparisons),
            detects: number::percent(calibration.detects - 1.0),
            tone: if calibration.is_fit { "good" } else { "bad" },
            said: if calibration.is_fit {
                "fit".to_owned()
            } else {
                clean(&format!("not fit: {}", calibration.reason))
            },
        }
    }
}
