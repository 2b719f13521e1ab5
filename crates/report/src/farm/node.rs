//! The page of a node: whether it gets work, what it can test on, how far it is to be believed (its calibrations), what it did last.

use super::{Around, Frame, Line, Row, minute, rows};
use crate::html::short_time;
use crate::names::clean;
use crate::number;
use askama::Template;

/// What an A/A run of a node came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// When, RFC 3339.
    pub time: String,
    /// Share of A/A comparisons that were called different.
    pub false_alarms: f64,
    /// How many.
    pub comparisons: u64,
    /// The smallest effect that it would see, as a ratio above 1.
    pub detects: f64,
    /// Whether it may vote.
    pub is_fit: bool,
    /// Why not.
    pub reason: String,
}

/// What the page of a node is made of.
#[derive(Clone, Copy, Debug)]
pub struct NodePage<'a> {
    /// What all pages share.
    pub frame: &'a Frame,
    /// Its name.
    pub name: &'a str,
    /// What runs there.
    pub tool: &'a str,
    /// When it was last heard of, RFC 3339.
    pub seen: &'a str,
    /// Seconds that its clock is ahead.
    pub clock_ahead: f64,
    /// Why it gets no leases.
    pub drained: Option<&'a str>,
    /// What people call its targets.
    pub targets: &'a [String],
    /// The jobs that it has.
    pub jobs: &'a [i64],
    /// Its calibrations, the last first.
    pub calibrations: &'a [Calibration],
    /// Its last builds.
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
    calibrations: Vec<Shown>,
    builds: Vec<Row>,
}

struct Shown {
    when: String,
    alarms: String,
    comparisons: String,
    detects: String,
    tone: &'static str,
    said: String,
}

/// A clock that is off by less than this is not talked of, s.
const CLOCK: f64 = 2.0;

/// The page.
///
/// # Errors
/// When the template can't be filled, which would be a bug.
pub fn node(of: &NodePage<'_>) -> Result<String, askama::Error> {
    let (tone, said) = match (of.drained, of.calibrations.first()) {
        (Some(reason), _) => ("bad", format!("drained: {reason}")),
        (None, Some(last)) if !last.is_fit => {
            ("bad", format!("may not vote on speed: {}", last.reason))
        }
        (None, Some(last)) => {
            ("good", format!("detects changes of {} and more", number::percent(last.detects - 1.0)))
        }
        (None, None) => {
            ("unsure", "was never calibrated: its benchmarks are believed as they come".to_owned())
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
        about: clean(&format!("{}, last heard of {}{clock}", of.tool, minute(of.seen))),
        targets: of.targets.iter().map(|name| clean(name)).collect(),
        jobs: of.jobs.iter().map(|id| (of.frame.link(&["jobs", &id.to_string()]), *id)).collect(),
        calibrations: of.calibrations.iter().map(Shown::of).collect(),
        builds: rows(of.frame, of.latest),
    }
    .render()
}

impl Shown {
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
