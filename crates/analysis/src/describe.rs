//! One series by itself: how large, how spread, how sure, how dependent.
//!
//! Nothing here compares; nothing removes outliers, it only counts them.

use crate::policy;
use crate::recording::Recording;
use assay_data::ParameterValue;
use assay_stats::{Interval, descriptive, groups, merged, order, trend};

/// Groups whose medians are asked where values are correlated too much for order statistics.
const GROUPS: usize = 8;

/// What is known of one metric of one subject. Values are in the metric's base unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Number of values.
    pub n: usize,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation, n − 1; NaN for one value.
    pub standard_deviation: f64,
    /// Median.
    pub median: f64,
    /// Interval of the median by order statistics, widened by the autocorrelation time; `None` when there are too few values.
    pub median_interval: Option<Interval>,
    /// Confidence of that interval as asked for.
    pub confidence: f64,
    /// Quantiles (type 7) at 5, 25, 75, 95 and 99 %.
    pub quantiles: Quantiles,
    /// Values farther than three interquartile ranges outside the quartiles. Counted, kept.
    pub outliers: usize,
    /// Smallest gap between distinct values; `None` when all are equal.
    pub clock_step: Option<f64>,
    /// Autocorrelation time of the ranks, at least 1.
    pub autocorrelation_time: f64,
    /// Rank autocorrelation at lag 1.
    pub lag1: f64,
    /// Drift from the first to the last third, where it is larger than chance allows.
    pub drift: Option<f64>,
}

/// Some quantiles of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    /// 5 %.
    pub p5: f64,
    /// 25 %.
    pub p25: f64,
    /// 75 %.
    pub p75: f64,
    /// 95 %.
    pub p95: f64,
    /// 99 %.
    pub p99: f64,
}

/// One subject with the description of each of its metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectSummary {
    /// Index of its side, among those of the analysis.
    pub side: usize,
    /// Index of its row, among those of the analysis.
    pub row: usize,
    /// Name.
    pub name: String,
    /// The command line, for commands.
    pub command: Option<String>,
    /// Parameters of a scan with their values.
    pub parameters: Vec<(String, ParameterValue)>,
    /// Index of the subject that it is compared with; `None` for a reference.
    pub against: Option<usize>,
    /// Number of observations.
    pub observations: usize,
    /// How many failed.
    pub failures: usize,
    /// How many hit the time limit.
    pub timeouts: usize,
    /// One description per metric; `None` where there are no values.
    pub metrics: Vec<Option<Description>>,
}

/// Counts of several series over one common range, for the small pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Lower end of the first bin; smaller values are counted in it.
    pub low: f64,
    /// Upper end of the last bin; larger values are counted in it.
    pub high: f64,
    /// Counts per series and bin.
    pub counts: Vec<Vec<u32>>,
}

impl Description {
    /// Describes a series in its order of measurement; `None` for an empty one. O(n log n).
    pub fn of(values: &[f64], confidence: f64) -> Option<Self> {
        Self::of_recording(&Recording::of(values), confidence)
    }

    /// The same of a series that was sorted before; O(n).
    pub fn of_recording(recording: &Recording<'_>, confidence: f64) -> Option<Self> {
        let (values, sorted) = (&recording.in_order, &recording.sorted);
        let (&min, &max) = sorted.first().zip(sorted.last())?;
        let at = |p| descriptive::quantile_sorted(sorted, p);
        let (p25, p75) = (at(0.25), at(0.75));
        let fence = 3.0 * (p75 - p25);
        let below = sorted.partition_point(|&v| v < p25 - fence);
        let outliers = below + sorted.len() - sorted.partition_point(|&v| v <= p75 + fence);
        let tau = recording.autocorrelation_time;
        Some(Self {
            n: values.len(),
            min,
            max,
            mean: descriptive::mean(values),
            standard_deviation: descriptive::standard_deviation(values),
            median: at(0.5),
            median_interval: median_interval(values, sorted, tau, confidence),
            confidence,
            quantiles: Quantiles { p5: at(0.05), p25, p75, p95: at(0.95), p99: at(0.99) },
            outliers,
            clock_step: descriptive::smallest_gap(sorted),
            autocorrelation_time: tau,
            lag1: recording.lag1,
            drift: drift(recording),
        })
    }

    /// Effective number of independent values.
    pub fn effective(&self) -> f64 {
        self.n as f64 / self.autocorrelation_time
    }
}

/// The interval of the median of values whose autocorrelation time is `tau`: by order statistics, widened for that time; where the values
/// are correlated so much that none of them is far enough out, the t interval over the medians of eight consecutive groups (of six or seven
/// values, the values themselves). `None` for fewer values than any pair of order statistics needs. `sorted`: the same values, ascending.
/// O(n).
pub(crate) fn median_interval(
    in_order: &[f64],
    sorted: &[f64],
    tau: f64,
    confidence: f64,
) -> Option<Interval> {
    let by_order = order::median_interval_with_tau(sorted, confidence, tau);
    by_order.map(|(interval, _achieved)| interval).or_else(|| {
        order::median_interval(sorted, confidence)?;
        let medians = groups::group_medians(in_order, GROUPS.min(in_order.len()));
        groups::t_interval(&medians, confidence)
    })
}

fn drift(recording: &Recording<'_>) -> Option<f64> {
    let values = &recording.in_order;
    if values.len() < policy::DRIFT_FROM {
        return None;
    }
    let z = recording.with_time * ((values.len() - 1) as f64).sqrt();
    (z.abs() > policy::DRIFT_Z).then(|| trend::shift_between_thirds(values))?
}

impl Histogram {
    /// Counts series, each ascending, in `bins` equal bins from their common 1 % to their common 99 % quantile, so that one stall
    /// does not squeeze everything into the first bin; `None` without values. O(n).
    pub fn of(series: &[&[f64]], bins: usize) -> Option<Self> {
        if series.iter().all(|values| values.is_empty()) || bins == 0 {
            return None;
        }
        let low = merged::quantile(series, 0.01);
        let high = merged::quantile(series, 0.99);
        let width = (high - low) / bins as f64;
        let bin_of = |v: f64| {
            if width > 0.0 {
                (((v - low) / width).max(0.0) as usize).min(bins - 1)
            } else {
                bins / 2
            }
        };
        let counts = series
            .iter()
            .map(|values| {
                let mut counts = vec![0; bins];
                values.iter().for_each(|&v| counts[bin_of(v)] += 1);
                counts
            })
            .collect();
        Some(Self { low, high, counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_described_without_an_interval() {
        let one = Description::of(&[3.0], 0.95).expect("there is a value");
        assert_eq!((one.median, one.median_interval), (3.0, None));
        assert!(one.standard_deviation.is_nan());
    }

    #[test]
    fn from_six_values_on_the_median_has_an_interval_however_they_depend_on_each_other() {
        for n in 6..60 {
            let rising: Vec<f64> = (0..n).map(f64::from).collect();
            let found = Description::of(&rising, 0.95).and_then(|d| d.median_interval);
            assert!(found.is_some_and(|i| i.contains(f64::from(n - 1) / 2.0)), "{n}: {found:?}");
        }
    }

    #[test]
    fn a_stall_is_counted_and_kept() {
        let mut values: Vec<f64> =
            (0..50).map(|i| 2.0 + f64::from((i * 7) % 50) / 1000.0).collect();
        values.push(50.0);
        let found = Description::of(&values, 0.95).expect("there are values");
        assert_eq!((found.outliers, found.n, found.max), (1, 51, 50.0));
    }

    #[test]
    fn a_rise_over_time_is_a_drift() {
        let rising: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i) / 100.0).collect();
        let drift = Description::of(&rising, 0.95).and_then(|d| d.drift);
        assert!(drift.is_some_and(|d| d > 0.2));
    }

    #[test]
    fn equal_values_fill_the_middle_bin() {
        let histogram = Histogram::of(&[&[5.0, 5.0], &[5.0]], 7).expect("there are values");
        assert_eq!(histogram.counts[0][3], 2);
        assert_eq!(histogram.counts[1][3], 1);
    }
}
