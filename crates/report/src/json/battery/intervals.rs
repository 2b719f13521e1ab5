//! Intervals and p-values of classical tests, as JSON.

use crate::json::values::{Coverage, Interval, NamedValues, view};
use assay_analysis::battery as found;
use assay_analysis::coverage::{Method, Situation};
use serde::Serialize;

/// Intervals at 90, 95 and 99 % as `ci90`, `ci95` and `ci99`, and at another requested confidence
/// such as `ci97.5`. An interval that could not be computed is `null`.
pub(crate) type Levels = NamedValues<Option<Interval>>;

/// Intervals of one estimate at several confidence levels.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Intervals {
    /// The intervals, by name.
    #[serde(flatten)]
    pub levels: Levels,
    /// Simulated coverage of intervals of this kind; `null` if it equals their confidence.
    pub coverage: Option<Coverage>,
}

impl Intervals {
    /// Returns the intervals with the simulated coverage of `method` for this kind of data. Without
    /// a `situation`, the kind of data is unknown and the coverage is omitted.
    pub(crate) fn of(all: &found::Intervals, situation: Option<Situation>, method: Method) -> Self {
        let levels = all.iter().map(|(confidence, i)| (key(*confidence), i.map(Interval::from)));
        let coverage = situation.and_then(|s| s.warning(method)).map(Coverage::from);
        Self { levels: levels.collect(), coverage }
    }
}

view! {
    /// Intervals from an exact distribution, which allows only certain confidence levels.
    ExactIntervals of (
        all: &[(f64, found::Interval, f64)],
        situation: Option<Situation>,
        method: Method
    ) {
        /// The intervals.
        #[serde(flatten)]
        intervals: Intervals = Intervals::of(
            &all.iter().map(|(confidence, found, _)| (*confidence, Some(*found))).collect(),
            situation,
            method,
        ),
        /// Achieved confidence of each interval, in the order of the intervals. It is lower than
        /// the requested confidence if the samples are too small.
        conf_level_achieved: Vec<Option<f64>> =
            all.iter().map(|(confidence, _, achieved)| Some(achieved.min(*confidence))).collect(),
    }
}

/// Returns the key of the interval at a confidence level, such as `ci95` or `ci97.5`.
pub(crate) fn key(confidence: f64) -> String {
    format!("ci{}", (confidence * 1e8).round() / 1e6)
}

view! {
    /// p-values against three alternatives: a difference, a smaller side and a larger side. Values
    /// below about 1e-308 are written as 0.
    PValues of (p: &found::PValues) {
        /// Two-sided p-value.
        p_two: Option<f64> => p.two,
        /// One-sided p-value for the alternative that the side is smaller than the reference.
        p_less: Option<f64> => p.less,
        /// One-sided p-value for the alternative that the side is larger than the reference.
        p_greater: Option<f64> => p.greater,
    }
}
