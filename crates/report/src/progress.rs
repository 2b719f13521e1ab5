//! Lines shown while measuring: the machine, once, and the state of the experiment next to the
//! progress bar.
//!
//! They are cheap enough to be built again after every run. The bar itself is drawn by the code
//! that owns the terminal.

use crate::names::{fitted, width};
use crate::number::{self, Column};
use assay_analysis::{Interval, Scale, verdict::Decision};
use assay_data::{Environment, Unit};

mod suite;

pub use suite::{SuiteStanding, suite_plan, suite_status};

/// Separator between the parts of a status.
const GAP: &str = "   ";

/// Returns `machine: 2 cpus, virtual, load 0.1, timer 24 ns`: the known facts in one line.
pub fn machine(environment: &Environment) -> String {
    let mut said = Vec::new();
    if let Some(cpus) = environment.number("cpus_online") {
        said.push(format!("{} cpu{}", number::fixed(cpus, 0), if cpus == 1.0 { "" } else { "s" }));
    }
    let bare = |kind: &str| matches!(kind, "" | "none" | "no");
    let virtual_kind = environment.text("virtualisation").is_some_and(|kind| !bare(kind));
    if virtual_kind || environment.flag("virtualisation") == Some(true) {
        said.push("virtual".to_owned());
    }
    if let Some(load) = environment.number("load_1m") {
        said.push(format!("load {}", number::fixed(load, 1)));
    }
    if let Some(cost) = environment.number("clock_cost_seconds") {
        let column = Column::new(&Unit::Second, &[cost], &[]).with_decimals(0);
        said.push(format!("timer {}", column.with_unit(cost)));
    }
    if said.is_empty() {
        said.push("nothing is known of it".to_owned());
    }
    format!("machine: {}", said.join(", "))
}

/// The state of one subject during measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Name of the subject.
    pub name: String,
    /// Current median of the primary metric, in base units, or `None` if it is unknown.
    pub median: Option<f64>,
    /// Current interval of the median; shown only for a single subject.
    pub interval: Option<Interval>,
    /// Current difference from its reference, or `None` if the subject is itself a reference.
    pub difference: Option<Decision>,
}

/// The state of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Status<'a> {
    /// The subjects; the first is the reference.
    pub subjects: &'a [Standing],
    /// Base unit of the medians.
    pub unit: &'a Unit,
    /// Number of complete blocks.
    pub blocks: u64,
    /// Planned number of blocks, if it was fixed beforehand.
    pub planned_blocks: Option<u64>,
    /// True if further measurements would not change the answer.
    pub settled: bool,
    /// Expected total time until the answer is clear, in seconds, at the current rate and if the
    /// current difference persists. `None` if it is unknown.
    pub clear_in_seconds: Option<f64>,
    /// Seconds since measuring began.
    pub elapsed_seconds: f64,
    /// Time budget, in seconds.
    pub budget_seconds: Option<f64>,
}

/// Returns the status in at most `width_limit` columns, although block and time are always
/// included: `block 42 sort-old 812 ms sort-new 791 ms ratio 0.974 [0.969 … 0.980] clear; 0:38 of
/// 1:00`.
pub fn status(status: &Status<'_>, width_limit: usize, unicode: bool) -> String {
    let spelled = |text: String| if unicode { text } else { crate::layout::ascii(&text) };
    let block = match status.planned_blocks {
        Some(planned) => format!("block {} of {planned}", status.blocks),
        None => format!("block {}", status.blocks),
    };
    let time = match status.budget_seconds {
        Some(budget) => {
            format!("{} of {}", number::clock(status.elapsed_seconds), number::clock(budget))
        }
        None => number::clock(status.elapsed_seconds),
    };
    let left = status.budget_seconds.map_or(f64::INFINITY, |b| b - status.elapsed_seconds);
    let state = match status.clear_in_seconds {
        _ if status.settled => "clear".to_owned(),
        Some(seconds) if seconds <= left => format!("clear in about {}", number::duration(seconds)),
        Some(_) => "not clear within the time".to_owned(),
        None => "not clear yet".to_owned(),
    };
    let difference = match status.subjects {
        [_, only] => only.difference.as_ref().map(|d| differs(d, status.unit)),
        _ => None,
    };
    let medians = medians(status);
    let difference = difference.unwrap_or_default();
    let end = format!("{state}; {time}");
    // From the most complete to the shortest that is still useful.
    let choices = [
        vec![&block, &medians, &difference, &end],
        vec![&block, &difference, &end],
        vec![&block, &medians, &end],
        vec![&block, &end],
        vec![&block, &time],
    ];
    let joined = |parts: &[&String]| {
        let parts: Vec<&str> =
            parts.iter().filter(|part| !part.is_empty()).map(|part| part.as_str()).collect();
        spelled(parts.join(GAP))
    };
    let mut shortest = String::new();
    for parts in &choices {
        shortest = joined(parts);
        if width(&shortest) <= width_limit {
            break;
        }
    }
    shortest
}

/// Returns the state of runs that are taken for a fixed time regardless of the result: `2 of 2: the
/// copy, block 42 0:38 of 1:00`. If that is wider than `width_limit`, only the time is returned.
pub fn span(
    what: &str,
    blocks: u64,
    elapsed_seconds: f64,
    budget_seconds: f64,
    width_limit: usize,
) -> String {
    let time = format!("{} of {}", number::clock(elapsed_seconds), number::clock(budget_seconds));
    let whole = format!("{what} {blocks}{GAP}{time}");
    if width(&whole) <= width_limit { whole } else { time }
}

fn medians(status: &Status<'_>) -> String {
    let names: Vec<String> = status.subjects.iter().map(|s| s.name.clone()).collect();
    let names = fitted(&names, 20, "…");
    let values: Vec<f64> = status.subjects.iter().filter_map(|s| s.median).collect();
    let column = Column::new(status.unit, &values, &[]).with_fewer_digits();
    if let [only] = status.subjects {
        let Some(median) = only.median else { return String::new() };
        return match only.interval {
            Some(i) => {
                let column =
                    Column::new(status.unit, &[median, i.lower, i.upper], &[i.half_width()]);
                let ends = (column.number(i.lower), column.number(i.upper));
                format!("median {} [{} … {}]", column.with_unit(median), ends.0, ends.1)
            }
            None => format!("median {}", column.with_unit(median)),
        };
    }
    let shown = |(name, standing): (&String, &Standing)| {
        Some(format!("{name} {}", column.with_unit(standing.median?)))
    };
    names.iter().zip(status.subjects).filter_map(shown).collect::<Vec<_>>().join(GAP)
}

fn differs(d: &Decision, unit: &Unit) -> String {
    match d.scale {
        Scale::Ratio => {
            let ends = d.interval.map(|i| (i.lower.exp(), i.upper.exp()));
            format!("ratio {}", number::ratio(d.estimate.exp(), ends))
        }
        Scale::Shift => {
            let ends = d.interval.map(|i| [i.lower, i.upper]);
            let values: Vec<f64> = ends.into_iter().flatten().chain([d.estimate]).collect();
            let widths: Vec<f64> = d.interval.map(|i| i.half_width()).into_iter().collect();
            let column = Column::for_amounts(unit, &values, &widths);
            match d.interval {
                Some(i) => format!(
                    "difference {} [{} … {}]",
                    column.with_unit(d.estimate),
                    column.number(i.lower),
                    column.number(i.upper)
                ),
                None => format!("difference {}", column.with_unit(d.estimate)),
            }
        }
    }
}
