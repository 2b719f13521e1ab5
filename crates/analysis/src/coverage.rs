//! Actual coverage of the tool's intervals, and a warning if it is below nominal.
//!
//! Every method was simulated on six kinds of synthetic data and four sample sizes ([`simulation`];
//! `cargo run --release -p assay-analysis --example interval_coverage` generates the table used
//! here and in `docs/concepts/deciding.md`). The rules of [`Traits::of`] determine the kinds that
//! the given data resemble, of which the one with the lowest coverage counts. Intervals are never
//! changed.

pub(crate) mod findings;
pub mod page;
pub mod simulation;

use crate::policy;
use assay_stats::{autocorrelation, descriptive, dip};

/// Nominal coverage of the simulated intervals.
pub const NOMINAL: f64 = 0.95;
/// The simulated sample sizes, per side if there are two.
pub const SIZES: [usize; 4] = [5, 20, 100, 1000];

/// Maximum number of values from which the shape is determined.
const MOST_VALUES: usize = 4096;

const TABLE: &str = include_str!("coverage/table.csv");

/// A kind of simulated data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Normally distributed values.
    Normal,
    /// Lognormal values. The standard deviation of their logarithm is ½.
    Lognormal,
    /// Two normal distributions with shares of 60 and 40 %, six standard deviations apart.
    Bimodal,
    /// Student's t with three degrees of freedom.
    HeavyTail,
    /// Normally distributed values, rounded to steps of half a standard deviation.
    Ties,
    /// Normally distributed values, autoregressive with coefficient ½.
    Autoregressive,
}

impl Kind {
    /// All kinds, in the order of the table.
    pub const ALL: [Kind; 6] = [
        Kind::Normal,
        Kind::Lognormal,
        Kind::Bimodal,
        Kind::HeavyTail,
        Kind::Ties,
        Kind::Autoregressive,
    ];

    /// Returns the name used in the table and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Normal => "normal",
            Kind::Lognormal => "lognormal",
            Kind::Bimodal => "bimodal",
            Kind::HeavyTail => "heavy_tail",
            Kind::Ties => "ties",
            Kind::Autoregressive => "ar1_0.5",
        }
    }

    /// Returns the kind in words, for a message about values.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Normal => "so few values",
            Kind::Lognormal => "values this skewed",
            Kind::Bimodal => "values with several modes",
            Kind::HeavyTail => "values with so heavy a tail",
            Kind::Ties => "values with so many ties",
            Kind::Autoregressive => "correlated values",
        }
    }
}

/// A simulated method of computing an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Student's interval for the mean.
    MeanT,
    /// Student's interval for the mean, using the effective number of values.
    MeanWidened,
    /// Order statistics for the median.
    MedianOrder,
    /// Order statistics for the median, using the effective number of values shown by the signs
    /// about the median: the interval that is displayed.
    MedianWidened,
    /// Signed ranks for the pseudo-median, with the exact distribution.
    PseudoMedianExact,
    /// Signed ranks for the pseudo-median, with the normal distribution, as in R.
    PseudoMedianAsymptotic,
    /// Signed ranks for the pseudo-median, widened by the autocorrelation time.
    PseudoMedianWidened,
    /// Bootstrap of the mean: normal interval.
    BootstrapMeanNormal,
    /// Bootstrap of the mean: basic interval.
    BootstrapMeanBasic,
    /// Bootstrap of the mean: percentile interval.
    BootstrapMeanPercentile,
    /// Bootstrap of the mean: BCa interval.
    BootstrapMeanBca,
    /// Bootstrap of the standard deviation: normal interval.
    BootstrapSdNormal,
    /// Bootstrap of the standard deviation: basic interval.
    BootstrapSdBasic,
    /// Bootstrap of the standard deviation: percentile interval.
    BootstrapSdPercentile,
    /// Bootstrap of the standard deviation: BCa interval.
    BootstrapSdBca,
    /// Bootstrap of the median: normal interval.
    BootstrapMedianNormal,
    /// Bootstrap of the median: basic interval.
    BootstrapMedianBasic,
    /// Bootstrap of the median: percentile interval.
    BootstrapMedianPercentile,
    /// Bootstrap of the median: BCa interval.
    BootstrapMedianBca,
    /// Stationary bootstrap of the mean.
    BlockBootstrapMean,
    /// Stationary bootstrap of the median.
    BlockBootstrapMedian,
    /// Shift between two samples, with the exact Mann-Whitney distribution.
    ShiftExact,
    /// Shift between two samples, with the normal distribution, as in R.
    ShiftAsymptotic,
    /// Shift between two recordings as used for the verdict: placements, widened by the
    /// autocorrelation time.
    Recordings,
    /// Difference between two means with unequal variances (Welch).
    Welch,
    /// Difference between two means with a pooled variance.
    PooledT,
    /// Ratio of two means, by Fieller's method.
    Fieller,
    /// Ratio of two means, by the delta method on the logarithm.
    DeltaLog,
    /// P(A < B) + ½ P(A = B), by Brunner and Munzel's method.
    BrunnerMunzel,
    /// Differences within blocks as used for the verdict: signed ranks, or groups if the difference
    /// drifts.
    Blocks,
    /// Difference between two medians, by order statistics.
    QuantileP50,
    /// Difference between two 90 % quantiles, by order statistics.
    QuantileP90,
}

impl Method {
    /// All methods, in the order of the table, with their names in the table and in JSON.
    pub const ALL: [(Method, &'static str); 32] = [
        (Method::MeanT, "mean_t"),
        (Method::MeanWidened, "mean_widened"),
        (Method::MedianOrder, "median_order"),
        (Method::MedianWidened, "median_widened"),
        (Method::PseudoMedianExact, "pseudo_median_exact"),
        (Method::PseudoMedianAsymptotic, "pseudo_median_asymptotic"),
        (Method::PseudoMedianWidened, "pseudo_median_widened"),
        (Method::BootstrapMeanNormal, "bootstrap_mean_normal"),
        (Method::BootstrapMeanBasic, "bootstrap_mean_basic"),
        (Method::BootstrapMeanPercentile, "bootstrap_mean_percentile"),
        (Method::BootstrapMeanBca, "bootstrap_mean_bca"),
        (Method::BootstrapSdNormal, "bootstrap_sd_normal"),
        (Method::BootstrapSdBasic, "bootstrap_sd_basic"),
        (Method::BootstrapSdPercentile, "bootstrap_sd_percentile"),
        (Method::BootstrapSdBca, "bootstrap_sd_bca"),
        (Method::BootstrapMedianNormal, "bootstrap_median_normal"),
        (Method::BootstrapMedianBasic, "bootstrap_median_basic"),
        (Method::BootstrapMedianPercentile, "bootstrap_median_percentile"),
        (Method::BootstrapMedianBca, "bootstrap_median_bca"),
        (Method::BlockBootstrapMean, "block_bootstrap_mean"),
        (Method::BlockBootstrapMedian, "block_bootstrap_median"),
        (Method::ShiftExact, "shift_exact"),
        (Method::ShiftAsymptotic, "shift_asymptotic"),
        (Method::Recordings, "recordings"),
        (Method::Welch, "welch"),
        (Method::PooledT, "pooled_t"),
        (Method::Fieller, "fieller"),
        (Method::DeltaLog, "delta_log"),
        (Method::BrunnerMunzel, "brunner_munzel"),
        (Method::Blocks, "blocks"),
        (Method::QuantileP50, "quantile_p50"),
        (Method::QuantileP90, "quantile_p90"),
    ];

    /// Returns the name used in the table and in JSON.
    pub fn name(self) -> &'static str {
        Method::ALL.iter().find(|(method, _)| *method == self).map_or("", |(_, name)| name)
    }
}

/// Traits of values that affect the coverage of their intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// True if the skewness is beyond ±1.
    pub skewed: bool,
    /// True if the dip test finds more than one mode at the 1 % level.
    pub several_modes: bool,
    /// True if at least 0.5 % of the values are more than three interquartile ranges beyond the
    /// quartiles.
    pub heavy_tail: bool,
    /// True if fewer than half of the values are distinct.
    pub ties: bool,
    /// True if successive values are so correlated that their effective number is below three
    /// quarters of the actual one.
    pub dependent: bool,
    /// True if there are too few values to determine their shape or correlation, so that they may
    /// be of any kind.
    pub unseen: bool,
}

impl Traits {
    /// Determines the traits of finite values in their order of measurement. With fewer than 20
    /// values, `unseen` is set and no shape is determined. With more than 4,096, the shape is
    /// determined from at most that many evenly spaced values. O(n log n).
    pub fn of(values: &[f64]) -> Self {
        Self::with_time(values, autocorrelation::autocorrelation_time(values))
    }

    /// Like [`Self::of`], with a known autocorrelation time. O(4,096 log 4,096) at most, plus a
    /// pass over the values.
    pub fn with_time(values: &[f64], autocorrelation_time: f64) -> Self {
        let unseen = values.len() < policy::SHAPE_FROM;
        let dependent = autocorrelation_time > 4.0 / 3.0;
        Self { dependent, unseen, ..Self::of_shape(values) }
    }

    /// Determines the shape alone, so `dependent` and `unseen` are false. With fewer than 20
    /// values, all traits are false.
    pub fn of_shape(values: &[f64]) -> Self {
        if values.len() < policy::SHAPE_FROM {
            return Self::default();
        }
        let stride = values.len().div_ceil(MOST_VALUES);
        let some: Vec<f64> = values.iter().step_by(stride).copied().collect();
        let sorted = descriptive::sorted(&some);
        let n = sorted.len() as f64;
        let (q1, q3) = (
            descriptive::quantile_sorted(&sorted, 0.25),
            descriptive::quantile_sorted(&sorted, 0.75),
        );
        let fence = 3.0 * (q3 - q1);
        let outside = sorted.iter().filter(|v| **v < q1 - fence || **v > q3 + fence).count() as f64;
        let ties = (sorted.chunk_by(|a, b| a == b).count() as f64) < n / 2.0;
        Self {
            skewed: descriptive::skewness(&some).abs() > 1.0,
            // In values with many ties, each step would be a mode.
            several_modes: !ties && dip::dip(&sorted).is_some_and(|dip| dip.p < 0.01),
            heavy_tail: outside >= 0.005 * n,
            ties,
            dependent: false,
            unseen: false,
        }
    }

    /// Returns the traits that either sample has.
    pub fn or(self, other: Self) -> Self {
        Self {
            skewed: self.skewed || other.skewed,
            several_modes: self.several_modes || other.several_modes,
            heavy_tail: self.heavy_tail || other.heavy_tail,
            ties: self.ties || other.ties,
            dependent: self.dependent || other.dependent,
            unseen: self.unseen || other.unseen,
        }
    }

    /// Returns the simulated kinds that these values resemble, always including the normal one.
    pub fn kinds(self) -> impl Iterator<Item = Kind> {
        [
            (true, Kind::Normal),
            (self.skewed || self.unseen, Kind::Lognormal),
            (self.several_modes || self.unseen, Kind::Bimodal),
            (self.heavy_tail || self.unseen, Kind::HeavyTail),
            (self.ties || self.unseen, Kind::Ties),
            (self.dependent || self.unseen, Kind::Autoregressive),
        ]
        .into_iter()
        .filter_map(|(is, kind)| is.then_some(kind))
    }
}

/// An interval whose coverage is below nominal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimistic {
    /// Nominal coverage of the interval.
    pub nominal: f64,
    /// Coverage in the simulation, interpolated between the two nearest sizes.
    pub simulated: f64,
    /// The simulated kind of data with this coverage.
    pub situation: Kind,
}

/// Returns the simulated coverage of `method` for `n` values of a kind; `None` if most experiments
/// gave no interval. Between the simulated sizes, it is interpolated linearly in ln n; beyond them,
/// it is constant.
pub fn simulated(method: Method, kind: Kind, n: usize) -> Option<f64> {
    let head = format!("{},{},", method.name(), kind.name());
    let line = TABLE.lines().find_map(|line| line.strip_prefix(&head))?;
    let cells: Vec<Option<f64>> = line.split(',').map(|cell| cell.parse().ok()).collect();
    let at = |size: usize| cells.get(size).copied().flatten();
    let n = n as f64;
    let above = SIZES.iter().position(|size| n <= *size as f64);
    match above {
        None => at(SIZES.len() - 1),
        Some(0) => at(0),
        Some(above) => {
            let ln = |size: usize| (SIZES[size] as f64).ln();
            let share = (n.ln() - ln(above - 1)) / (ln(above) - ln(above - 1));
            match (at(above - 1), at(above)) {
                (Some(low), Some(high)) => Some(low + share * (high - low)),
                // If one size has no coverage, that of the other is used.
                (low, high) => high.or(low),
            }
        }
    }
}

/// Returns the warning for a 95 % interval by `method` from `n` values (of the smaller side) with
/// these traits; `None` if its coverage is not too low.
pub fn warning(method: Method, n: usize, traits: Traits) -> Option<Optimistic> {
    let worst = traits
        .kinds()
        .filter_map(|kind| Some((kind, simulated(method, kind, n)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (situation, simulated) = worst;
    (simulated < policy::COVERAGE_LEAST).then_some(Optimistic {
        nominal: NOMINAL,
        simulated,
        situation,
    })
}

/// The number and kind of values, which determine the coverage of their intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Number of values, of the smaller side if there are two.
    pub n: usize,
    /// Traits of the values.
    pub traits: Traits,
}

impl Situation {
    /// Returns the warning for an interval by `method` near 95 %; `None` if its coverage is not too
    /// low. See [`warning`].
    pub fn warning(self, method: Method) -> Option<Optimistic> {
        warning(method, self.n, self.traits)
    }

    /// Describes the trait that lowers coverage for these values, to follow "with".
    pub fn words(self, worst: Kind) -> &'static str {
        if self.traits.unseen {
            "so few values, whose distribution and autocorrelation are unknown,"
        } else {
            worst.words()
        }
    }
}

/// Returns true if the simulation, made at 95 %, applies to intervals at this confidence.
pub fn speaks_for(confidence: f64) -> bool {
    (0.9..=0.991).contains(&confidence)
}

#[cfg(test)]
mod tests;
