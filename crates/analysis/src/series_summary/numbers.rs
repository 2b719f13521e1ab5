//! The plain numbers of a summary: descriptive statistics, intervals, dependence, tests of the
//! shape. Each number is the result of one R call.

use crate::policy;
use assay_stats::descriptive::{self, ByDefinition, ROBUST_SD};
use assay_stats::dip::Dip;
use assay_stats::independence::{self, LjungBox, Runs};
use assay_stats::kolmogorov::{self, Distance};
use assay_stats::normality::{self, Fit};
use assay_stats::shapiro_wilk::{self, ShapiroWilk};
use assay_stats::{Interval, binomial, dip, normal, order};

/// Maximum number of lags in a correlogram.
pub(super) const LAGS: usize = 30;
/// Numbers of lags over which Ljung and Box's statistic is computed.
const PORTMANTEAU: [usize; 5] = [1, 5, 10, 20, 30];

/// Descriptive statistics of one sample. A statistic that is undefined is NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the JSON, which says what each is")]
pub struct Descriptives {
    pub n: usize,
    pub min: f64,
    pub max: f64,
    pub sum: f64,
    pub mean: f64,
    pub sd: f64,
    pub var: f64,
    pub median: f64,
    pub p25: f64,
    pub p75: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub p999: f64,
    pub mad_raw: f64,
    pub mad_normal: f64,
    pub iqr: f64,
    pub cv: f64,
    pub sem: f64,
    pub geomean: f64,
    pub trimmed_mean_10: f64,
    pub skewness: ByDefinition,
    pub kurtosis_excess: ByDefinition,
}

impl Descriptives {
    pub(super) fn of(values: &[f64], sorted: &[f64]) -> Self {
        let at = |p| descriptive::quantile_sorted(sorted, p);
        let moments = descriptive::moments(values);
        let (mean, var) = (moments.mean, moments.variance);
        let (sd, mad) = (var.sqrt(), descriptive::median_absolute_deviation_sorted(sorted));
        Self {
            n: values.len(),
            min: at(0.0),
            max: at(1.0),
            sum: descriptive::sum(values),
            mean,
            sd,
            var,
            median: at(0.5),
            p25: at(0.25),
            p75: at(0.75),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            mad_raw: mad,
            mad_normal: mad * ROBUST_SD,
            iqr: descriptive::interquartile_range(sorted),
            cv: sd / mean,
            sem: sd / (values.len() as f64).sqrt(),
            geomean: descriptive::geometric_mean(values),
            trimmed_mean_10: descriptive::trimmed_mean(sorted, 0.1),
            skewness: moments.skewness,
            kurtosis_excess: moments.excess_kurtosis,
        }
    }
}

/// An interval of the median from the order statistics `k` and n + 1 − `k`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianInterval {
    /// The requested confidence level.
    pub confidence: f64,
    /// The interval; `None` if there are too few values for the requested confidence.
    pub interval: Option<Interval>,
    /// Rank of the lower order statistic, counted from 1; 0 if there is no interval.
    pub k: u64,
    /// Actual confidence level; 1 if there is no interval, since then only the whole real line is
    /// wide enough.
    pub coverage: f64,
}

pub(super) fn median_intervals(sorted: &[f64], levels: &[f64]) -> Vec<MedianInterval> {
    let at = |&confidence: &f64| {
        let found = order::median_interval(sorted, confidence);
        let k = binomial::median_interval(sorted.len() as u64, confidence);
        MedianInterval {
            confidence,
            interval: found.map(|(interval, _)| interval),
            k: k.map_or(0, |(k, _)| k),
            coverage: found.map_or(1.0, |(_, coverage)| coverage),
        }
    };
    levels.iter().map(at).collect()
}

/// Serial correlation. For a constant series the autocorrelations are NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct SerialCorrelation {
    /// Autocorrelations at the lags 1 to 30, or to n − 1 if that is less.
    pub acf: Vec<f64>,
    /// 1.96/√n, which 95 % of the autocorrelations of independent values do not exceed in absolute
    /// value.
    pub bound: f64,
    /// Like `bound`, with the exact normal quantile instead of 1.96.
    pub bound_exact: f64,
    /// The default number of lags of R's `acf`.
    pub default_lags: usize,
    /// The largest absolute autocorrelation over `default_lags` lags.
    pub default_max: f64,
    /// Ljung and Box's statistics for several numbers of lags.
    pub ljung_box: Vec<LjungBox>,
    /// The test of runs above and below the median.
    pub runs: Runs,
}

impl SerialCorrelation {
    /// Returns true if the values are correlated beyond chance, by Ljung and Box's statistics and
    /// the runs test together at 5 % (Bonferroni). The autocorrelation time is not a criterion: for
    /// independent values it is often slightly above 1, which widens an interval only a little and
    /// is not worth a finding.
    pub fn is_correlated(&self) -> bool {
        let tests = self.ljung_box.iter().map(|found| found.p).chain([self.runs.p]);
        let least = tests.filter(|p| !p.is_nan()).fold(1.0, f64::min);
        least * ((self.ljung_box.len() + 1) as f64) < policy::DEPENDENCE_LEVEL
    }

    /// Computes the correlation of values in their order of measurement. `sorted` contains the same
    /// values in ascending order.
    pub(super) fn of(values: &[f64], sorted: &[f64]) -> Self {
        let n = values.len();
        let default_lags = independence::default_lags(n);
        let mut acf = independence::acf_or_nan(values, LAGS.max(default_lags));
        let default_max = largest(&acf[..default_lags.min(acf.len())]);
        acf.truncate(LAGS);
        let sums = PORTMANTEAU.iter().filter(|&&lags| lags < n);
        Self {
            ljung_box: sums.map(|&lags| independence::ljung_box(&acf[..lags], n)).collect(),
            bound: independence::acf_bound(n),
            bound_exact: normal::two_sided(0.95) / (n as f64).sqrt(),
            default_lags,
            default_max,
            runs: independence::runs_about(values, descriptive::median_sorted(sorted)),
            acf,
        }
    }

    /// Returns the largest absolute autocorrelation; NaN for a constant series or a single value.
    pub fn max_abs(&self) -> f64 {
        largest(&self.acf)
    }

    /// Returns the number of autocorrelations outside `bound`; `None` for a constant series.
    pub fn outside(&self) -> Option<usize> {
        (!self.max_abs().is_nan()).then(|| self.acf.iter().filter(|r| r.abs() > self.bound).count())
    }
}

fn largest(acf: &[f64]) -> f64 {
    if acf.is_empty() || acf.iter().any(|r| r.is_nan()) {
        return f64::NAN;
    }
    acf.iter().fold(0.0, |most: f64, r| most.max(r.abs()))
}

/// Tests of the shape; `None` if a test is undefined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tests {
    /// Shapiro and Wilk's test; requires 3 to 5000 values, not all equal.
    pub shapiro_wilk: Option<ShapiroWilk>,
    /// Anderson and Darling's test of normality; requires at least 8 values.
    pub anderson_darling: Option<Fit>,
    /// Lilliefors' test of normality; requires at least 5 values.
    pub lilliefors: Option<Fit>,
    /// Distance from the fitted normal distribution.
    pub normal: Option<Distance>,
    /// Distance from the fitted lognormal distribution; for positive values only.
    pub lognormal: Option<Distance>,
    /// Distance from the fitted exponential distribution; for positive values only.
    pub exponential: Option<Distance>,
    /// Test of unimodality.
    pub dip: Option<Dip>,
}

impl Tests {
    pub(super) fn of(sorted: &[f64]) -> Self {
        let (anderson_darling, lilliefors) = normality::anderson_darling_and_lilliefors(sorted);
        Self {
            shapiro_wilk: shapiro_wilk::shapiro_wilk(sorted),
            anderson_darling,
            lilliefors,
            normal: kolmogorov::against_normal(sorted),
            lognormal: kolmogorov::against_lognormal(sorted),
            exponential: kolmogorov::against_exponential(sorted),
            dip: dip::dip(sorted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_that_of_the_sizes_and_none_where_one_is_no_number() {
        assert_eq!(largest(&[0.2, -0.5, 0.4]), 0.5);
        assert!(largest(&[]).is_nan() && largest(&[0.2, f64::NAN]).is_nan());
    }
}
