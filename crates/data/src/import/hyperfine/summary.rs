//! The statistics of a command in hyperfine's JSON from which the runs were removed: mean, standard
//! deviation, median and extremes.
//!
//! hyperfine always writes the runs, but scripts drop them because they make up most of a file. The
//! number of runs is the length of the lists next to them (1.x) or part of the summary itself
//! (2.x). If the runs are present, the statistics are not read.

use super::super::json::Number;
use super::super::recorder::Recorder;
use crate::declared_unit::DeclaredUnit;
use crate::samples::{Metric, Summary};
use crate::unit::{Unit, unit_of_symbol};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Metrics with different names in hyperfine: its name and ours.
pub(super) const KNOWN: [(&str, &str); 5] = [
    ("time_wall_clock", "wall"),
    ("time_cpu", "cpu"),
    ("time_user", "user"),
    ("time_system", "system"),
    ("memory_peak_resident", "max_rss"),
];

/// Statistics of one metric. In 1.x the file itself lacks the unit and the number of runs.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Reported {
    pub unit: String,
    pub count: Option<u64>,
    pub mean: Option<Number>,
    pub stddev: Option<Number>,
    pub median: Option<Number>,
    pub min: Option<Number>,
    pub max: Option<Number>,
}

impl Reported {
    /// Returns the summary with each number converted.
    fn summary(&self, convert: impl Fn(f64) -> f64) -> Summary {
        let of = |number: Option<Number>| number.and_then(Number::finite).map(&convert);
        Summary {
            count: self.count,
            mean: of(self.mean),
            sd: of(self.stddev),
            median: of(self.median),
            min: of(self.min),
            max: of(self.max),
            ..Summary::default()
        }
    }
}

/// Records the summaries of a command of 1.x, if there are any: that of the wall time, and the
/// means of user and system time.
pub(super) fn of_1(
    recorder: &mut Recorder<'_>,
    subject: usize,
    wall: &Reported,
    parts: [(&str, Option<Number>); 2],
) -> Result<(), String> {
    let summary = wall.summary(|value| value);
    if summary.location().is_none() {
        return Ok(());
    }
    hand_over(recorder, subject, &Metric::wall(), summary)?;
    for (name, mean) in parts {
        if let Some(mean) = mean.and_then(Number::finite) {
            let summary = Summary { count: wall.count, mean: Some(mean), ..Summary::default() };
            hand_over(recorder, subject, &Metric::lower(name, Unit::Second), summary)?;
        }
    }
    Ok(())
}

/// Records the summaries of a command of 2.x. That of the metric `primary` comes first, which makes
/// it the deciding metric.
pub(super) fn of_2(
    recorder: &mut Recorder<'_>,
    subject: usize,
    told: &BTreeMap<String, Reported>,
    primary: &str,
) -> Result<(), String> {
    let chosen = told.get_key_value(primary).into_iter();
    for (theirs, one) in chosen.chain(told.iter().filter(|(name, _)| *name != primary)) {
        let declared = declared(&one.unit);
        let summary = one.summary(|value| declared.to_base(value));
        if summary.location().is_some() {
            let ours = KNOWN.iter().find(|(name, _)| name == theirs);
            let ours = ours.map_or(theirs.as_str(), |known| known.1);
            hand_over(recorder, subject, &Metric::lower(ours, declared.unit), summary)?;
        }
    }
    Ok(())
}

fn hand_over(
    recorder: &mut Recorder<'_>,
    subject: usize,
    metric: &Metric,
    summary: Summary,
) -> Result<(), String> {
    recorder.metric(metric)?;
    recorder.summary(Summary { subject, metric: metric.name.clone(), ..summary });
    Ok(())
}

/// Returns the unit denoted by a symbol in 2.x. An unknown unit is kept unchanged.
pub(super) fn declared(symbol: &str) -> DeclaredUnit {
    let (factor, unit) =
        unit_of_symbol(symbol).unwrap_or_else(|| (1.0, Unit::from(symbol.to_owned())));
    DeclaredUnit { unit, factor }
}
