//! Size and shape of a series, as JSON: descriptive statistics, modes, distributions, outliers and
//! a histogram.

use crate::json::values::{view, words};
use assay_analysis::series_summary as found;

view! {
    /// Descriptive statistics of a series. Quantiles are interpolated as by R's `quantile(x, p)`
    /// (type 7).
    Descriptives of (d: &found::Descriptives) {
        /// Number of values.
        n: usize,
        /// The smallest value.
        min: Option<f64>,
        /// The largest value.
        max: Option<f64>,
        /// The sum.
        sum: Option<f64>,
        /// Arithmetic mean.
        mean: Option<f64>,
        /// Standard deviation with n − 1.
        sd: Option<f64>,
        /// Variance with n − 1.
        var: Option<f64>,
        /// The median.
        median: Option<f64>,
        /// 25 % quantile.
        p25: Option<f64>,
        /// 50 % quantile: the median.
        p50: Option<f64> => d.median,
        /// 75 % quantile.
        p75: Option<f64>,
        /// 90 % quantile.
        p90: Option<f64>,
        /// 95 % quantile.
        p95: Option<f64>,
        /// 99 % quantile.
        p99: Option<f64>,
        /// 99.9 % quantile.
        p999: Option<f64>,
        /// Median absolute deviation. R: `mad(x, constant = 1)`.
        mad_raw: Option<f64>,
        /// Median absolute deviation, scaled so that it estimates the standard deviation of normal
        /// values. R: `mad(x)`.
        mad_normal: Option<f64>,
        /// Interquartile range. R: `IQR(x)`.
        iqr: Option<f64>,
        /// Coefficient of variation: `sd` / `mean`.
        cv: Option<f64>,
        /// Standard error of the mean: `sd` / √n.
        sem: Option<f64>,
        /// Geometric mean; `null` if a value is zero or negative.
        geomean: Option<f64>,
        /// Mean without the lowest and the highest 10 %. R: `mean(x, trim = 0.1)`.
        trimmed_mean_10: Option<f64>,
        /// Skewness. R: `e1071::skewness(x, type = 1)`.
        skewness_g1: Option<f64> => d.skewness.plain,
        /// Skewness, adjusted. R: `e1071::skewness(x, type = 2)`.
        #[serde(rename = "skewness_G1")]
        skewness_adjusted: Option<f64> => d.skewness.adjusted,
        /// Skewness b₁. R: `e1071::skewness(x, type = 3)`.
        skewness_b1: Option<f64> => d.skewness.by_sd,
        /// Excess kurtosis. R: `e1071::kurtosis(x, type = 1)`.
        kurtosis_excess_g2: Option<f64> => d.kurtosis_excess.plain,
        /// Excess kurtosis, adjusted. R: `e1071::kurtosis(x, type = 2)`.
        #[serde(rename = "kurtosis_excess_G2")]
        kurtosis_excess_adjusted: Option<f64> => d.kurtosis_excess.adjusted,
        /// Excess kurtosis b₂. R: `e1071::kurtosis(x, type = 3)`.
        kurtosis_excess_b2: Option<f64> => d.kurtosis_excess.by_sd,
    }
}

view! {
    /// Bandwidths for a kernel density estimate. A bandwidth is `null` if the values do not allow
    /// it.
    Bandwidths of (found: &found::Bandwidths) {
        /// Silverman's rule of thumb. R: `bw.nrd0(x)`.
        nrd0: Option<f64>,
        /// Scott's rule. R: `bw.nrd(x)`.
        nrd: Option<f64>,
        /// The Sheather-Jones method that solves an equation. R: `bw.SJ(x)`.
        sj_ste: Option<f64>,
        /// The Sheather-Jones method with direct plug-in. R: `bw.SJ(x, method = "dpi")`.
        sj_dpi: Option<f64>,
    }
}

view! {
    /// A mode, where values cluster.
    Mode of (mode: &found::Mode) {
        /// The position of the highest density.
        at: Option<f64>,
        /// Position of the valley below the mode; `null` for the lowest mode.
        from: Option<f64>,
        /// Position of the valley above the mode; `null` for the highest mode.
        to: Option<f64>,
        /// The share of the values between the valleys.
        share: Option<f64>,
    }
}

view! {
    /// A known distribution with the best-fitting parameters.
    FittedDistribution of (found: &found::Distribution) {
        /// The family of the distribution.
        distribution: DistributionKind => found.kind,
        /// Mean of the distribution; for `lognormal`, mean of the logarithms.
        mean: Option<f64>,
        /// Standard deviation of the distribution; for `lognormal`, standard deviation of the
        /// logarithms.
        sd: Option<f64>,
        /// The largest distance between the distribution functions.
        #[serde(rename = "D")]
        d: Option<f64> => found.distance,
    }
}

words! {
    /// Families of distributions.
    DistributionKind from found::DistributionKind {
        /// Fitted by mean and standard deviation.
        Source::Normal => Normal,
        /// Fitted by mean and standard deviation of the logarithms.
        Source::Lognormal => Lognormal,
        /// Fitted by the mean.
        Source::Exponential => Exponential,
    }
}

view! {
    /// Skewness and kurtosis, and the excess kurtosis of known distributions with that skewness.
    Tails of (found: &found::Tails) {
        /// Skewness of the values, adjusted for bias.
        skewness: Option<f64>,
        /// Excess kurtosis of the values, adjusted for bias.
        kurtosis_excess: Option<f64> => found.kurtosis,
        /// Excess kurtosis of the lognormal distribution.
        lognormal_kurtosis_excess: Option<f64> => found.lognormal_kurtosis,
        /// Excess kurtosis of the gamma distribution.
        gamma_kurtosis_excess: Option<f64> => found.gamma_kurtosis,
    }
}

view! {
    /// Values far outside the quartiles.
    Outliers of (found: &found::Outliers) {
        /// Values more than 1.5 interquartile ranges outside the quartiles.
        inner: Fence = Fence::of(found.inner, found.beyond_inner),
        /// Values more than 3 interquartile ranges outside the quartiles.
        outer: Fence = Fence::of(found.outer, found.beyond_outer),
        /// The values outside the outer bounds, farthest first: at most ten.
        farthest: Vec<Outlier>,
    }
}

view! {
    /// Two bounds, and the numbers of values outside of them.
    Fence of (bounds: (f64, f64), beyond: (usize, usize)) {
        /// The lower bound.
        lower: Option<f64> => bounds.0,
        /// The upper bound.
        upper: Option<f64> => bounds.1,
        /// Number of values below the lower bound.
        below: usize => beyond.0,
        /// Number of values above the upper bound.
        above: usize => beyond.1,
    }
}

view! {
    /// A value far outside.
    Outlier of (found: &(usize, f64)) {
        /// Index of the value in the series, counted from 0.
        index: usize => found.0,
        /// The value.
        value: Option<f64> => found.1,
    }
}

view! {
    /// A value that occurs several times.
    RepeatedValue of (found: &found::RepeatedValue, n: usize) {
        /// The value.
        value: Option<f64>,
        /// Number of occurrences.
        count: usize,
        /// Number of occurrences as a share of all values.
        share: Option<f64> = Some(found.count as f64 / n as f64),
    }
}

view! {
    /// Counts of values in bins of equal width.
    Histogram of (shape: &found::Shape) {
        /// Lower end of the first bin.
        low: Option<f64>,
        /// Upper end of the last bin.
        high: Option<f64>,
        /// Number of values below the first bin.
        below: usize,
        /// Number of values above the last bin.
        above: usize,
        /// Number of values in each of 240 bins; empty if all values are equal.
        counts: Vec<u32>,
        /// Bandwidth of the density shown in plots; `null` if there is none.
        bandwidth: Option<f64>,
    }
}
