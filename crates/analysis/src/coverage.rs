//! Actual coverage of the tool's intervals, and a warning if it is below nominal.
//!
//! Every method was simulated on six kinds of synthetic data and four sample sizes ([`simulation`];
//! `cargo run --release -p assay-analysis --example interval_coverage` generates the table used
//! here and in `docs/concepts/deciding.md`). The simple rules of [`Traits::of`] classify the given
//! data; the worst of the matching kinds counts. Intervals are never changed.

pub(crate) mod findings;
pub mod page;
pub mod simulation;

use crate::policy;
use assay_stats::{autocorrelation, descriptive, dip};

/// The simulated nominal confidence.
pub const NOMINAL: f64 = 0.95;
/// The simulated sample sizes, per side if there are two.
pub const SIZES: [usize; 4] = [5, 20, 100, 1000];

/// Maximum number of values used to determine the shape.
const MOST_VALUES: usize = 4096;

const TABLE: &str = include_str!("coverage/table.csv");

/// A kind of simulated data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Normal.
    Normal,
    /// Lognormal, the logarithm with standard deviation ½.
    Lognormal,
    /// Two normal distributions, six standard deviations apart, 60 and 40 %.
    Bimodal,
    /// Student's t with three degrees of freedom.
    HeavyTail,
    /// Normal, in steps of half a standard deviation.
    Ties,
    /// Normal, autoregressive with coefficient ½.
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

    /// The name used in the table and in JSON.
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

    /// The kind in words, for a message about values.
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

/// A simulated method for an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Student's interval of the mean.
    MeanT,
    /// Student's interval of the mean, using the effective number of values.
    MeanWidened,
    /// Order statistics for the median.
    MedianOrder,
    /// Order statistics for the median, using the effective number of values shown by the signs
    /// about the median: the interval that is displayed.
    MedianWidened,
    /// Signed ranks for the pseudo-median, exact distribution.
    PseudoMedianExact,
    /// Signed ranks for the pseudo-median, normal distribution, as in R.
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
    /// Shift between two samples, exact Mann-Whitney distribution.
    ShiftExact,
    /// Shift between two samples, normal distribution, as in R.
    ShiftAsymptotic,
    /// Shift between two recordings as used for the verdict: placements, widened by the
    /// autocorrelation time.
    Recordings,
    /// Difference of two means, unequal variances (Welch).
    Welch,
    /// Difference of two means, pooled variance.
    PooledT,
    /// Ratio of two means, Fieller.
    Fieller,
    /// Ratio of two means, delta method on the logarithm.
    DeltaLog,
    /// P(A < B) + ½ P(A = B), Brunner and Munzel.
    BrunnerMunzel,
    /// Differences within blocks as used for the verdict: signed ranks, or groups if the difference
    /// drifts.
    Blocks,
    /// Difference of two medians, order statistics.
    QuantileP50,
    /// Difference of two 90 % quantiles, order statistics.
    QuantileP90,
}

impl Method {
    /// All methods with their names in the table and in JSON, in the order of the table.
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

    /// The name used in the table and in JSON.
    pub fn name(self) -> &'static str {
        Method::ALL.iter().find(|(method, _)| *method == self).map_or("", |(_, name)| name)
    }
}

/// Traits of values that are not normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// The skewness is beyond ±1.
    pub skewed: bool,
    /// The dip test finds more than one mode at 1 %.
    pub several_modes: bool,
    /// At least 0.5 % of the values are more than three interquartile ranges beyond the quartiles.
    pub heavy_tail: bool,
    /// Fewer than half of the values are distinct.
    pub ties: bool,
    /// Successive values are correlated: the effective number is below three quarters of the actual
    /// one.
    pub dependent: bool,
    /// There are too few values to determine shape or correlation: the values may be of any kind.
    pub unseen: bool,
}

impl Traits {
    /// Determines the traits of finite values in their order of measurement. With fewer than 20
    /// values, only `unseen` is set. With more than 4,096, the shape is determined from that many
    /// evenly spaced ones. O(n log n).
    pub fn of(values: &[f64]) -> Self {
        Self::with_time(values, autocorrelation::autocorrelation_time(values))
    }

    /// Like [`Self::of`], with a known autocorrelation time. O(4,096 log 4,096) at most, plus one
    /// pass.
    pub fn with_time(values: &[f64], autocorrelation_time: f64) -> Self {
        let unseen = values.len() < policy::SHAPE_FROM;
        let dependent = autocorrelation_time > 4.0 / 3.0;
        Self { dependent, unseen, ..Self::of_shape(values) }
    }

    /// Determines the shape alone: `dependent` and `unseen` are false; below 20 values, all traits
    /// are false.
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
            // In stepped values, each step would be a mode.
            several_modes: !ties && dip::dip(&sorted).is_some_and(|dip| dip.p < 0.01),
            heavy_tail: outside >= 0.005 * n,
            ties,
            dependent: false,
            unseen: false,
        }
    }

    /// Traits of either of two samples.
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

    /// The simulated kinds these values resemble; always includes normal.
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
    /// Nominal coverage: 0.95.
    pub nominal: f64,
    /// Simulated coverage, interpolated between the two nearest sizes.
    pub simulated: f64,
    /// The simulated kind of data.
    pub situation: Kind,
}

/// Returns the simulated coverage of `method` for `n` values of a kind; `None` if most experiments
/// gave no interval. Interpolated linearly in ln n between the simulated sizes, constant beyond
/// them.
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
                // If one size has no interval, the other is used.
                (low, high) => high.or(low),
            }
        }
    }
}

/// Returns the warning for a 95 % interval of `method` from `n` values (of the smaller side) with
/// these traits; `None` if its coverage is nominal.
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
    /// The kind of data.
    pub traits: Traits,
}

impl Situation {
    /// The warning for an interval of `method` near 95 %; `None` if its coverage is nominal. See
    /// [`warning`].
    pub fn warning(self, method: Method) -> Option<Optimistic> {
        warning(method, self.n, self.traits)
    }

    /// Description of the trait that lowers coverage for these values, to follow "with".
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
