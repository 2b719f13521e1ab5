//! Intervals and p-values of classical tests, as JSON.

use crate::json::values::{Coverage, Interval, NamedValues, view};
use assay_analysis::battery as found;
use assay_analysis::coverage::{Method, Situation};
use serde::Serialize;

/// Intervals at 90, 95 and 99 % as `ci90`, `ci95` and `ci99`, and at another requested confidence
/// (`ci97.5`). `null` if there is no interval.
pub(crate) type Levels = NamedValues<Option<Interval>>;

/// Intervals by their confidence.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Intervals {
    /// The intervals.
    #[serde(flatten)]
    pub levels: Levels,
    /// Simulated coverage of such intervals; `null` if it equals their confidence.
    pub coverage: Option<Coverage>,
}

impl Intervals {
    /// Returns the intervals of a method for this kind of data, `None` if the kind is unknown.
    pub(crate) fn of(all: &found::Intervals, situation: Option<Situation>, method: Method) -> Self {
        let levels = all.iter().map(|(confidence, i)| (key(*confidence), i.map(Interval::from)));
        let coverage = situation.and_then(|s| s.warning(method)).map(Coverage::from);
        Self { levels: levels.collect(), coverage }
    }
}

view! {
    /// Intervals of an exact distribution, which only has certain confidence levels.
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
        /// Achieved confidence of each interval, in order; lower than requested if the samples are
        /// too small.
        conf_level_achieved: Vec<Option<f64>> =
            all.iter().map(|(confidence, _, achieved)| Some(achieved.min(*confidence))).collect(),
    }
}

/// Returns the key of the interval at a confidence: `ci95`, `ci97.5`.
pub(crate) fn key(confidence: f64) -> String {
    format!("ci{}", (confidence * 1e8).round() / 1e6)
}

view! {
    /// p-values against a difference, against a smaller side and against a larger side. Below about
    /// 1e-308 they are 0.
    PValues of (p: &found::PValues) {
        /// Two-sided.
        p_two: Option<f64> => p.two,
        /// Against a smaller side.
        p_less: Option<f64> => p.less,
        /// Against a larger side.
        p_greater: Option<f64> => p.greater,
    }
}
