//! Describes one series: location, spread, precision, dependence.
//!
//! Outliers are counted but never removed.

use crate::policy;
use crate::recording::Recording;
use assay_data::ParameterValue;
use assay_stats::{Interval, descriptive, merged, order, signs, trend};

/// The description of one metric of one subject. Values are in the metric's base unit.
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
    /// Sample standard deviation (divisor n − 1); NaN for one value.
    pub standard_deviation: f64,
    /// Median.
    pub median: f64,
    /// Confidence interval of the median, between two of the values: order statistics for the
    /// effective number of values. `None` if there are too few
    /// ([`Description::no_median_interval`]).
    pub median_interval: Option<Interval>,
    /// Autocorrelation time of the signs of the deviations from the median, at least 1.
    pub time_of_signs: f64,
    /// Requested confidence of the median's interval.
    pub confidence: f64,
    /// Quantiles (type 7) at 5, 25, 75, 95 and 99 %.
    pub quantiles: Quantiles,
    /// Number of values more than three interquartile ranges beyond the quartiles. They are kept.
    pub outliers: usize,
    /// Smallest difference between distinct values; `None` if all are equal.
    pub clock_step: Option<f64>,
    /// Autocorrelation time of the ranks, at least 1.
    pub autocorrelation_time: f64,
    /// Rank autocorrelation at lag 1.
    pub lag1: f64,
    /// Shift from the first to the last third of the values, in the metric's unit; `None` if it may
    /// be due to chance.
    pub drift: Option<f64>,
}

/// The quantiles of a series that a description contains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    /// The 5 % quantile.
    pub p5: f64,
    /// The 25 % quantile.
    pub p25: f64,
    /// The 75 % quantile.
    pub p75: f64,
    /// The 95 % quantile.
    pub p95: f64,
    /// The 99 % quantile.
    pub p99: f64,
}

/// One subject with the descriptions of its metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectSummary {
    /// Index of the subject's side in the analysis.
    pub side: usize,
    /// Index of the subject's row in the analysis.
    pub row: usize,
    /// Name of the subject.
    pub name: String,
    /// Command line of the subject, if it is a command.
    pub command: Option<String>,
    /// Names and values of the parameters of a scan.
    pub parameters: Vec<(String, ParameterValue)>,
    /// Index of the subject that this one is compared with; `None` for a reference.
    pub against: Option<usize>,
    /// Number of observations.
    pub observations: usize,
    /// Number of failed observations.
    pub failures: usize,
    /// Number of observations that hit the time limit.
    pub timeouts: usize,
    /// One description per metric; `None` for a metric without values.
    pub metrics: Vec<Option<Description>>,
}

/// Histograms of several series over one common range.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Lower end of the first bin, which also counts smaller values.
    pub low: f64,
    /// Upper end of the last bin, which also counts larger values.
    pub high: f64,
    /// Counts per series and bin.
    pub counts: Vec<Vec<u32>>,
}

impl Description {
    /// Describes a series in its order of measurement. `None` if it is empty. O(n log n).
    pub fn of(values: &[f64], confidence: f64) -> Option<Self> {
        Self::of_recording(&Recording::of(values), confidence)
    }

    /// Like [`Self::of`], for a series that is already sorted. O(n).
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
            median_interval: median_interval(sorted, recording.time_of_signs, confidence),
            time_of_signs: recording.time_of_signs,
            confidence,
            quantiles: Quantiles { p5: at(0.05), p25, p75, p95: at(0.95), p99: at(0.99) },
            outliers,
            clock_step: descriptive::smallest_gap(sorted),
            autocorrelation_time: tau,
            lag1: recording.lag1,
            drift: drift(recording),
        })
    }

    /// Returns the effective number of independent values.
    pub fn effective(&self) -> f64 {
        self.n as f64 / self.autocorrelation_time
    }

    /// Returns the effective number of independent values for the median.
    pub fn effective_of_median(&self) -> f64 {
        self.n as f64 / self.time_of_signs
    }

    /// Returns the reason why the median has no interval; `None` if it has one.
    pub fn no_median_interval(&self) -> Option<NoMedianInterval> {
        if self.median_interval.is_some() {
            return None;
        }
        Some(match order::fewest_values(self.confidence) {
            fewest if (self.n as u64) < fewest => NoMedianInterval::TooFew,
            _ => NoMedianInterval::TooDependent,
        })
    }

    /// Returns true if the interval of the median is valid only for independent values, because up
    /// to twelve values are too few to estimate dependence.
    pub fn assumes_independence(&self) -> bool {
        self.median_interval.is_some() && self.n <= signs::UNKNOWN_TO && self.min < self.max
    }
}

/// The reason why a median has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMedianInterval {
    /// There are too few values for any pair of order statistics to reach the confidence.
    TooFew,
    /// Successive values are so dependent that the effective number of values is too small.
    TooDependent,
}

/// Returns the interval of the median of ascending values, given the autocorrelation time of their
/// signs.
pub(crate) fn median_interval(
    sorted: &[f64],
    time_of_signs: f64,
    confidence: f64,
) -> Option<Interval> {
    let found = order::median_interval_of_effective(sorted, confidence, time_of_signs);
    found.map(|(interval, _achieved)| interval)
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
    /// Counts several ascending series in `bins` bins of equal width, from their common 1 %
    /// quantile to their common 99 % quantile, so that one stall does not squeeze all other values
    /// into the first bin. `None` if there are no values or no bins. O(n).
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
    fn an_interval_of_the_median_lies_within_the_data_or_there_is_none() {
        let of = |values: &[f64]| Description::of(values, 0.95).expect("there are values");
        // One value twenty times the others, with similar neighbors by chance.
        let found = of(&[1.0, 2.0, 3.0, 100.0, 2.0, 1.5]);
        assert_eq!(found.median_interval, Some(Interval { lower: 1.0, upper: 100.0 }));
        assert!(found.assumes_independence());
        for n in 1..60 {
            let rising: Vec<f64> = (0..n).map(f64::from).collect();
            let found = of(&rising);
            assert_eq!(found.median_interval.is_some(), (6..=12).contains(&n), "{n}: {found:?}");
            let reason = match n {
                ..6 => Some(NoMedianInterval::TooFew),
                6..=12 => None,
                _ => Some(NoMedianInterval::TooDependent),
            };
            assert_eq!(found.no_median_interval(), reason, "{n}");
            assert_eq!(found.assumes_independence(), (6..=12).contains(&n), "{n}");
        }
        // Constant values need no assumption.
        assert!(!of(&[3.0; 8]).assumes_independence());
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
