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
        acf: Vec<Option<f64>> = correlation.acf.iter().copied().map(Some).collect(),
        /// 1.96/√n, which independent values rarely exceed.
        #[serde(rename = "bound_1.96")]
        bound: Option<f64> = Some(correlation.bound),
        /// The same with the exact quantile.
        bound_qnorm: Option<f64> = Some(correlation.bound_exact),
        /// The largest absolute autocorrelation.
        max_abs: Option<f64> = Some(correlation.max_abs()),
        /// How many exceed `bound_1.96`.
        #[serde(rename = "n_outside_1.96")]
        n_outside: Option<usize> = correlation.outside(),
    }
}

view! {
    /// The largest autocorrelation at the lags that R takes by itself.
    DefaultLags of (correlation: &SerialCorrelation) {
        /// The largest lag.
        lag_max: usize = correlation.default_lags,
        /// The largest absolute autocorrelation.
        max_abs: Option<f64> = Some(correlation.default_max),
    }
}

view! {
    /// The Ljung-Box test.
    LjungBox of (found: &found::LjungBox) {
        /// The statistic.
        #[serde(rename = "Q")]
        q: Option<f64> = Some(found.q),
        /// Its degrees of freedom: the lags.
        df: usize = found.lags,
        /// The p-value.
        p: Option<f64> = Some(found.p),
    }
}

view! {
    /// The test of runs above and below the median.
    Runs of (p: &SeriesSummary) {
        /// Number of runs.
        runs: usize = p.correlation.runs.runs,
        /// Values above the median.
        n_above: usize = p.correlation.runs.above,
        /// Values below the median.
        n_below: usize = p.correlation.runs.below,
        /// The number that independent values have on average; `null` where all are equal.
        expected: Option<f64> = Some(p.correlation.runs.expected),
        /// By how many standard deviations there are more.
        z: Option<f64> = Some(p.correlation.runs.z),
        /// Two-sided p-value.
        p_two: Option<f64> = Some(p.correlation.runs.p),
    }
}

view! {
    /// The changes of a series.
    ChangePoints of (found: &found::ChangePoints) {
        /// The changes, in the order of the series.
        points: Vec<Change> = found.points.iter().map(Change::of).collect(),
        /// Their places are known to within so many values.
        within: usize = found.group,
    }
}

view! {
    /// A change of a series.
    Change of (point: &ChangePoint) {
        /// Index of the first value after it; the first value of the series is 0.
        index: usize = point.index,
        /// The median before.
        before: Option<f64> = Some(point.before),
        /// The median after.
        after: Option<f64> = Some(point.after),
    }
}

view! {
    /// How a series came to rest.
    SteadyState of (found: &found::SteadyState, tolerance: f64) {
        /// How it came to its steady state.
        label: SteadyStateLabel = (&found.label).into(),
        /// Index of the first value of the steady part; `null` without one.
        begins: Option<usize> = found.begins,
        /// Medians of parts that differ by no more than this fraction count as equal.
        tolerance: Option<f64> = Some(tolerance),
        /// The parts between changes, in the order of the series.
        parts: Vec<Part> = found.parts.iter().map(Part::of).collect(),
    }
}

words! {
    /// How a series came to its steady state.
    SteadyStateLabel from SteadyLabel {
        /// It was steady all the time.
        Source::Flat => Flat,
        /// It was worse at first.
        Source::WarmUp => WarmUp,
        /// It was better at some time before.
        Source::Slowdown => Slowdown,
        /// It still changed in its last quarter.
        Source::NoSteadyState => NoSteadyState,
    }
}

view! {
    /// A part of a series between two changes.
    Part of (part: &found::Part) {
        /// Index of its first value.
        start: usize = part.start,
        /// Index after its last value.
        end: usize = part.end,
        /// Median of its values.
        median: Option<f64> = Some(part.median),
    }
}

view! {
    /// A rhythm: every `period`-th value differs.
    Periodic of (found: &found::Periodic) {
        /// After how many values it returns.
        period: usize = found.period,
        /// Index of the first such value; the first value of the series is 0.
        first: usize = found.first,
        /// The median of these values − that of the others.
        excess: Option<f64> = Some(found.excess),
        /// How many standard errors their mean rank lies from that of the others.
        z: Option<f64> = Some(found.z),
        /// How many values at the end of the series were looked at: 10,000 at most.
        values: usize = found.values,
    }
}
