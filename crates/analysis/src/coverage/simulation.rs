//! Seeded coverage experiments on synthetic data for which the truth is known.
//!
//! All methods get the same data of each kind and size: two independent samples of one distribution
//! per experiment, of which methods for one sample use the first. The true ratio is therefore 1,
//! and the true difference is 0. The tool itself must not call this module; it uses the table
//! generated here.

use super::{Kind, Method, NOMINAL};
use crate::paired::{self, Level};
use crate::unpaired;
use assay_stats::bootstrap::{self, Bootstrap, Statistic};
use assay_stats::resampling::Stream;
use assay_stats::signed_rank::{self, SignedRankDistribution, SignedRankTest};
use assay_stats::{
    Interval, dependent, descriptive, groups, normal, order, quantile_difference, signs, t_test,
    two_sample,
};

/// Seed of the table.
pub const SEED: u64 = 20_261_121;
/// Number of experiments per cell.
pub const EXPERIMENTS: u64 = 2000;
/// Number of resamples of a bootstrap.
const RESAMPLES: usize = 999;
/// Number of resamples of the more expensive stationary bootstrap.
const BLOCK_RESAMPLES: usize = 299;

/// Groups of methods that share computations.
pub const GROUPS: [&[Method]; 19] = [
    &[Method::MeanT],
    &[Method::MeanWidened],
    &[Method::MedianOrder, Method::MedianWidened],
    &[Method::PseudoMedianExact],
    &[Method::PseudoMedianAsymptotic],
    &[Method::PseudoMedianWidened],
    &[
        Method::BootstrapMeanNormal,
        Method::BootstrapMeanBasic,
        Method::BootstrapMeanPercentile,
        Method::BootstrapMeanBca,
    ],
    &[
        Method::BootstrapSdNormal,
        Method::BootstrapSdBasic,
        Method::BootstrapSdPercentile,
        Method::BootstrapSdBca,
    ],
    &[
        Method::BootstrapMedianNormal,
        Method::BootstrapMedianBasic,
        Method::BootstrapMedianPercentile,
        Method::BootstrapMedianBca,
    ],
    &[Method::BlockBootstrapMean],
    &[Method::BlockBootstrapMedian],
    &[Method::ShiftExact],
    &[Method::ShiftAsymptotic],
    &[Method::Recordings],
    &[Method::Welch, Method::PooledT],
    &[Method::Fieller, Method::DeltaLog],
    &[Method::BrunnerMunzel],
    &[Method::Blocks],
    &[Method::QuantileP50, Method::QuantileP90],
];

/// Counts of the experiments for one cell of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// Number of experiments that gave an interval.
    pub given: u64,
    /// Number of experiments in which the interval contained the true value.
    pub held: u64,
}

impl CellCounts {
    /// Returns the share of intervals that contained the true value; `None` if fewer than half of
    /// the experiments gave one.
    pub fn coverage(self, experiments: u64) -> Option<f64> {
        (2 * self.given >= experiments && self.given > 0)
            .then(|| self.held as f64 / self.given as f64)
    }
}

/// Simulates one cell for each method of a group. The same arguments give the same cells on every
/// machine.
pub fn cells(group: &[Method], kind: Kind, n: usize, experiments: u64) -> Vec<CellCounts> {
    let truth = Truth::of(kind);
    let mut distribution = SignedRankDistribution::new();
    let mut cells = vec![CellCounts::default(); group.len()];
    for experiment in 0..experiments {
        let mut stream = Stream::new(SEED ^ (n as u64 * 8 + kind as u64), experiment);
        let x = sample(kind, n, &mut stream);
        let y = sample(kind, n, &mut stream);
        let found = intervals(group, &x, &y, experiment, &mut distribution);
        for ((cell, method), interval) in cells.iter_mut().zip(group).zip(found) {
            let Some(interval) = interval else { continue };
            cell.given += 1;
            cell.held += u64::from(interval.contains(truth.of_method(*method)));
        }
    }
    cells
}

fn intervals(
    group: &[Method],
    x: &[f64],
    y: &[f64],
    seed: u64,
    distribution: &mut SignedRankDistribution,
) -> Vec<Option<Interval>> {
    let sorted = || descriptive::sorted(x);
    let both = || (descriptive::sorted(x), descriptive::sorted(y));
    let four = |statistic| {
        let found = bootstrap::bootstrap(x, statistic, RESAMPLES, seed);
        let of =
            |f: fn(&Bootstrap, f64) -> Option<Interval>| found.as_ref().and_then(|b| f(b, NOMINAL));
        vec![
            of(Bootstrap::normal),
            of(Bootstrap::basic),
            of(Bootstrap::percentile),
            of(Bootstrap::bca),
        ]
    };
    let blocks = |statistic: fn(&mut [f64]) -> f64| {
        dependent::block_bootstrap_interval(x, NOMINAL, BLOCK_RESAMPLES, seed, statistic)
    };
    let level = 1.0 - NOMINAL;
    match group[0] {
        Method::BootstrapMeanNormal => return four(Statistic::Mean),
        Method::BootstrapSdNormal => return four(Statistic::StandardDeviation),
        Method::BootstrapMedianNormal => return four(Statistic::Median),
        _ => {}
    }
    group
        .iter()
        .map(|method| match method {
            Method::MeanT => groups::t_interval(x, NOMINAL),
            Method::MeanWidened => dependent::mean_interval(x, NOMINAL),
            Method::MedianOrder => order::median_interval(&sorted(), NOMINAL).map(|i| i.0),
            Method::MedianWidened => {
                order::median_interval_of_effective(&sorted(), NOMINAL, signs::time_of(x))
                    .map(|i| i.0)
            }
            Method::PseudoMedianExact => {
                let k = distribution.critical(x.len(), level)?;
                Some(signed_rank::walsh_interval(&sorted(), k))
            }
            Method::PseudoMedianAsymptotic => SignedRankTest::of(x).asymptotic_interval(NOMINAL),
            Method::PseudoMedianWidened => dependent::pseudo_median_interval(x, NOMINAL),
            Method::BlockBootstrapMean => blocks(dependent::mean_of),
            Method::BlockBootstrapMedian => blocks(dependent::median_of),
            Method::ShiftExact => {
                let (x, y) = both();
                two_sample::mann_whitney_exact_interval(&x, &y, NOMINAL)
            }
            Method::ShiftAsymptotic => {
                let (x, y) = both();
                two_sample::mann_whitney_asymptotic_interval(&x, &y, NOMINAL)
            }
            Method::Recordings => unpaired::shift_interval(x, y, level).0,
            Method::Welch => t_test::welch(x, y)?.interval(NOMINAL),
            Method::PooledT => t_test::pooled(x, y)?.interval(NOMINAL),
            Method::Fieller => two_sample::fieller(x, y, NOMINAL),
            Method::DeltaLog => two_sample::delta_log(x, y, NOMINAL),
            Method::BrunnerMunzel => {
                let (x, y) = both();
                two_sample::brunner_munzel(&x, &y)?.interval(NOMINAL)
            }
            Method::Blocks => {
                let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - x).collect();
                let level = Level { interval: level, groups: level };
                paired::location(&differences, level, distribution).interval
            }
            Method::QuantileP50 | Method::QuantileP90 => {
                let share = if *method == Method::QuantileP50 { 0.5 } else { 0.9 };
                quantile_difference::quantile_differences(x, y, &[share], NOMINAL).first()?.interval
            }
            // Bootstraps are handled in groups of four, above.
            _ => None,
        })
        .collect()
}

/// Draws one series of a kind. The standard deviation is between 6 and 60, depending on the kind.
pub fn sample(kind: Kind, n: usize, stream: &mut Stream) -> Vec<f64> {
    const KEPT: f64 = 0.5;
    let mut last = stream.normal();
    let mut value = || match kind {
        Kind::Normal => 100.0 + 10.0 * stream.normal(),
        Kind::Lognormal => 100.0 * (LOG_SD * stream.normal()).exp(),
        Kind::Bimodal => {
            let upper = stream.uniform() < UPPER_SHARE;
            100.0 + 2.0 * (stream.normal() + if upper { APART } else { 0.0 })
        }
        Kind::HeavyTail => {
            // A normal variable divided by √(χ²/3), where χ² has three degrees of freedom.
            let chi = 2.0 * stream.gamma(1.5);
            100.0 + 5.0 * stream.normal() / (chi / 3.0).sqrt()
        }
        Kind::Ties => 100.0 + STEP * (10.0 * stream.normal() / STEP).round(),
        Kind::Autoregressive => {
            last = KEPT * last + (1.0 - KEPT * KEPT).sqrt() * stream.normal();
            100.0 + 10.0 * last
        }
    };
    (0..n).map(|_| value()).collect()
}

const LOG_SD: f64 = 0.5;
const UPPER_SHARE: f64 = 0.4;
const APART: f64 = 6.0;
const STEP: f64 = 5.0;

/// The true values for one kind of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Mean of the distribution.
    pub mean: f64,
    /// Standard deviation of the distribution.
    pub sd: f64,
    /// Median of the distribution.
    pub median: f64,
    /// Median of the mean of two independent values.
    pub pseudo_median: f64,
}

impl Truth {
    /// Computes the values by formula or, where there is none, by bisection.
    pub fn of(kind: Kind) -> Self {
        let symmetric = |sd: f64| Truth { mean: 100.0, sd, median: 100.0, pseudo_median: 100.0 };
        match kind {
            Kind::Normal | Kind::Autoregressive => symmetric(10.0),
            Kind::HeavyTail => symmetric(5.0 * 3_f64.sqrt()),
            Kind::Ties => {
                let edge = |k: f64| normal::cdf((k + 0.5) * STEP / 10.0);
                let second: f64 = (1..40)
                    .map(f64::from)
                    .map(|k| 2.0 * (k * STEP).powi(2) * (edge(k) - edge(k - 1.0)))
                    .sum();
                symmetric(second.sqrt())
            }
            Kind::Lognormal => {
                let variance = LOG_SD * LOG_SD;
                let mean = 100.0 * (variance / 2.0).exp();
                // P((X + X')/2 ≤ m) is computed as the mean of P(X ≤ 2m − x) over quantiles x of X.
                let grid: Vec<f64> = (0..4000)
                    .map(|i| {
                        100.0 * (LOG_SD * normal::quantile((f64::from(i) + 0.5) / 4000.0)).exp()
                    })
                    .collect();
                let below = |m: f64| {
                    let one = |x: &f64| {
                        let rest = (2.0 * m - x) / 100.0;
                        if rest > 0.0 { normal::cdf(rest.ln() / LOG_SD) } else { 0.0 }
                    };
                    grid.iter().map(one).sum::<f64>() / grid.len() as f64
                };
                Truth {
                    mean,
                    sd: mean * variance.exp_m1().sqrt(),
                    median: 100.0,
                    pseudo_median: halved(below, 100.0, 120.0),
                }
            }
            Kind::Bimodal => {
                let (low, high) = (1.0 - UPPER_SHARE, UPPER_SHARE);
                let one = |z: f64| low * normal::cdf(z) + high * normal::cdf(z - APART);
                let root_two = std::f64::consts::SQRT_2;
                let two = |z: f64| {
                    let of = |modes: f64| normal::cdf((2.0 * z - modes * APART) / root_two);
                    low * low * of(0.0) + 2.0 * low * high * of(1.0) + high * high * of(2.0)
                };
                Truth {
                    mean: 100.0 + 2.0 * high * APART,
                    sd: 2.0 * (1.0 + low * high * APART * APART).sqrt(),
                    median: 100.0 + 2.0 * halved(one, -9.0, 15.0),
                    pseudo_median: 100.0 + 2.0 * halved(two, -9.0, 15.0),
                }
            }
        }
    }

    fn of_method(&self, method: Method) -> f64 {
        match method {
            Method::MeanT
            | Method::MeanWidened
            | Method::BootstrapMeanNormal
            | Method::BootstrapMeanBasic
            | Method::BootstrapMeanPercentile
            | Method::BootstrapMeanBca
            | Method::BlockBootstrapMean => self.mean,
            Method::BootstrapSdNormal
            | Method::BootstrapSdBasic
            | Method::BootstrapSdPercentile
            | Method::BootstrapSdBca => self.sd,
            Method::MedianOrder
            | Method::MedianWidened
            | Method::BootstrapMedianNormal
            | Method::BootstrapMedianBasic
            | Method::BootstrapMedianPercentile
            | Method::BootstrapMedianBca
            | Method::BlockBootstrapMedian => self.median,
            Method::PseudoMedianExact
            | Method::PseudoMedianAsymptotic
            | Method::PseudoMedianWidened => self.pseudo_median,
            Method::ShiftExact
            | Method::ShiftAsymptotic
            | Method::Recordings
            | Method::Welch
            | Method::PooledT
            | Method::Blocks
            | Method::QuantileP50
            | Method::QuantileP90 => 0.0,
            Method::Fieller | Method::DeltaLog => 1.0,
            Method::BrunnerMunzel => 0.5,
        }
    }
}

/// Returns the point at which an increasing function is ½, by bisection between `low` and `high`.
fn halved(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if function(middle) < 0.5 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_where_half_lies_below() {
        assert!((halved(|x| x / 8.0, 0.0, 10.0) - 4.0).abs() < 1e-12);
        assert!((halved(|x| x * x, 0.0, 1.0) - 0.5f64.sqrt()).abs() < 1e-12);
    }
}
