//! What is left of a command in hyperfine's JSON where its runs were taken out: mean, standard deviation, median and extremes.
//!
//! hyperfine writes the runs always; people's scripts drop them, since they are most of a file. How many there were is reported by the
//! lists that stand beside them (1.x) or by the summary itself (2.x). It makes no summaries of runs that are there.

use super::super::json::Number;
use super::super::recorder::Recorder;
use super::{KNOWN, declared};
use crate::samples::{Metric, Summary};
use crate::unit::Unit;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What is known of one metric: all of it by 2.x, and by 1.x without unit and count.
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
    /// With each number converted.
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

/// Hands over the summary of a command of 1.x, if it has one: of its wall time, and the means of user and system time.
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

/// Hands over the summaries of a command of 2.x, that of the metric `primary` first, since it decides.
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
