//! The course of a series over time as JSON: autocorrelation, runs, changes, a steady state,
//! periodicity.

use crate::json::values::{view, words};
use assay_analysis::series_summary::{self as found, SerialCorrelation, SeriesSummary};
use assay_analysis::series_summary::{ChangePoint, SteadyLabel};

view! {
    /// Autocorrelations of a series.
    Autocorrelation of (correlation: &SerialCorrelation) {
        /// The largest lag: 30, or n − 1.
        lag_max: usize = correlation.acf.len(),
        /// The autocorrelations at the lags 1 to `lag_max`.
        acf: Vec<Option<f64>>,
        /// 1.96/√n, a bound that independent values rarely exceed.
        #[serde(rename = "bound_1.96")]
        bound: Option<f64>,
        /// The same bound with the exact quantile.
        bound_qnorm: Option<f64> => correlation.bound_exact,
        /// The largest absolute autocorrelation.
        max_abs: Option<f64> => correlation.max_abs(),
        /// Number of lags that exceed `bound_1.96`.
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
        /// Values above the median.
        n_above: usize => p.correlation.runs.above,
        /// Values below the median.
        n_below: usize => p.correlation.runs.below,
        /// Expected number of runs for independent values; `null` if all are equal.
        expected: Option<f64> => p.correlation.runs.expected,
        /// Difference from the expected number, in standard deviations.
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
        /// The median before the change.
        before: Option<f64>,
        /// The median after the change.
        after: Option<f64>,
    }
}

view! {
    /// The steady state of a series.
    SteadyState of (found: &found::SteadyState, tolerance: f64) {
        /// The kind of steady state.
        label: SteadyStateLabel,
        /// Index of the first value of the steady part, from 0; `null` without one.
        begins: Option<usize>,
        /// Medians of parts that differ by at most this fraction count as equal.
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
        /// The series was better at an earlier time.
        Source::Slowdown => Slowdown,
        /// The series still changed in its last quarter.
        Source::NoSteadyState => NoSteadyState,
    }
}

view! {
    /// A part of a series between two change points.
    Part of (part: &found::Part) {
        /// Index of its first value, from 0.
        start: usize,
        /// Index after its last value, from 0.
        end: usize,
        /// Median of its values.
        median: Option<f64>,
    }
}

view! {
    /// A periodic pattern: every `period`-th value differs.
    Periodic of (found: &found::Periodic) {
        /// The period, in values.
        period: usize,
        /// Index of the first such value, from 0.
        first: usize,
        /// The median of these values − the median of the others.
        excess: Option<f64>,
        /// Distance of their mean rank from that of the others, in standard errors.
        z: Option<f64>,
        /// Number of examined values, from the end of the series: at most 10,000.
        values: usize,
    }
}
