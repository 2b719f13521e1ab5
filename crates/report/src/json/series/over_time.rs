//! Behavior of a series over time, as JSON: autocorrelation, runs, changes, steady state and
//! periodicity.

use crate::json::values::{view, words};
use assay_analysis::series_summary::{self as found, SerialCorrelation, SeriesSummary};
use assay_analysis::series_summary::{ChangePoint, SteadyLabel};

view! {
    /// Autocorrelations of a series.
    Autocorrelation of (correlation: &SerialCorrelation) {
        /// The largest lag: 30, or n − 1 if that is less.
        lag_max: usize = correlation.acf.len(),
        /// The autocorrelations at the lags 1 to `lag_max`.
        acf: Vec<Option<f64>>,
        /// 1.96/√n, a bound that independent values rarely exceed.
        #[serde(rename = "bound_1.96")]
        bound: Option<f64>,
        /// Like `bound_1.96`, but with the exact normal quantile instead of 1.96.
        bound_qnorm: Option<f64> => correlation.bound_exact,
        /// The largest absolute autocorrelation.
        max_abs: Option<f64> => correlation.max_abs(),
        /// Number of lags at which the absolute autocorrelation exceeds `bound_1.96`.
        #[serde(rename = "n_outside_1.96")]
        n_outside: Option<usize> = correlation.outside(),
    }
}

view! {
    /// The largest autocorrelation at R's default lags.
    DefaultLags of (correlation: &SerialCorrelation) {
        /// The largest lag.
        lag_max: usize => correlation.default_lags,
        /// The largest absolute autocorrelation.
        max_abs: Option<f64> => correlation.default_max,
    }
}

view! {
    /// The Ljung-Box test.
    LjungBox of (found: &found::LjungBox) {
        /// The statistic.
        #[serde(rename = "Q")]
        q: Option<f64>,
        /// Degrees of freedom: the number of lags.
        df: usize => found.lags,
        /// The p-value.
        p: Option<f64>,
    }
}

view! {
    /// The test of runs above and below the median.
    Runs of (p: &SeriesSummary) {
        /// Number of runs.
        runs: usize => p.correlation.runs.runs,
        /// Number of values above the median.
        n_above: usize => p.correlation.runs.above,
        /// Number of values below the median.
        n_below: usize => p.correlation.runs.below,
        /// Expected number of runs for independent values; `null` if all values are equal.
        expected: Option<f64> => p.correlation.runs.expected,
        /// Difference of the number of runs from the expected number, in standard deviations.
        z: Option<f64> => p.correlation.runs.z,
        /// Two-sided p-value.
        p_two: Option<f64> => p.correlation.runs.p,
    }
}

view! {
    /// The change points of a series.
    ChangePoints of (found: &found::ChangePoints) {
        /// The change points, in the order of the series.
        points: Vec<Change>,
        /// Uncertainty of their positions, in values.
        within: usize => found.group,
    }
}

view! {
    /// A change point of a series.
    Change of (point: &ChangePoint) {
        /// Index of the first value after the change, from 0.
        index: usize,
        /// Median before the change.
        before: Option<f64>,
        /// Median after the change.
        after: Option<f64>,
    }
}

view! {
    /// The steady state of a series.
    SteadyState of (found: &found::SteadyState, tolerance: f64) {
        /// The kind of steady state.
        label: SteadyStateLabel,
        /// Index of the first value of the steady part, counted from 0; `null` if there is no
        /// steady state.
        begins: Option<usize>,
        /// Relative difference up to which the medians of two parts count as equal.
        tolerance: Option<f64> => tolerance,
        /// The parts between change points, in the order of the series.
        parts: Vec<Part>,
    }
}

words! {
    /// Kinds of steady states.
    SteadyStateLabel from SteadyLabel {
        /// The series was steady from the start.
        Source::Flat => Flat,
        /// The series was worse at the start.
        Source::WarmUp => WarmUp,
        /// The series was better at some earlier time.
        Source::Slowdown => Slowdown,
        /// The series was still changing in its last quarter.
        Source::NoSteadyState => NoSteadyState,
    }
}

view! {
    /// A part of a series between two change points.
    Part of (part: &found::Part) {
        /// Index of the first value of the part, counted from 0.
        start: usize,
        /// One past the index of the last value of the part, counted from 0.
        end: usize,
        /// Median of the values of the part.
        median: Option<f64>,
    }
}

view! {
    /// A periodic pattern: every `period`-th value differs.
    Periodic of (found: &found::Periodic) {
        /// The period, in values.
        period: usize,
        /// Index of the first differing value, counted from 0.
        first: usize,
        /// Median of the differing values minus that of the others, in the unit.
        excess: Option<f64>,
        /// Difference of the mean rank of the differing values from that of all values, in standard
        /// errors.
        z: Option<f64>,
        /// Number of values that were examined, at the end of the series: at most 10,000.
        values: usize,
    }
}
