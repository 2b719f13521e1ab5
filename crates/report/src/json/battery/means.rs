//! Classical tests of means and variances, as JSON.

use super::intervals::{Intervals, PValues};
use crate::json::values::{Interval, view};
use assay_analysis::battery as found;
use assay_analysis::coverage::{Method, Situation};

/// Returns the interval at this confidence level; `None` if it was not computed.
pub(super) fn at(all: &found::Intervals, confidence: f64) -> Option<found::Interval> {
    all.iter().find(|(known, _)| (known - confidence).abs() < 1e-9).and_then(|(_, found)| *found)
}

view! {
    /// Student's t-test of a mean difference.
    StudentT of (means: &found::Means, situation: Option<Situation>, method: Method) {
        /// The mean difference.
        diff: Option<f64> => means.test.estimate,
        /// The t statistic.
        t: Option<f64> => means.test.t,
        /// Degrees of freedom.
        df: Option<f64> => means.test.df,
        /// Standard error of `diff`.
        stderr: Option<f64> => means.test.standard_error,
        /// The p-values.
        #[serde(flatten)]
        p: PValues,
        /// Intervals of the difference.
        #[serde(flatten)]
        intervals: Intervals = Intervals::of(&means.intervals, situation, method),
    }
}

view! {
    /// A t-test of two independent samples.
    TTest of (means: &found::Means, situation: Option<Situation>, method: Method) {
        /// Mean of the side that is compared.
        mean_of: Option<f64> => means.means.0,
        /// Mean of the reference.
        mean_against: Option<f64> => means.means.1,
        /// The test.
        #[serde(flatten)]
        test: StudentT = StudentT::of(means, situation, method),
        /// Pooled standard deviation; `null` if the test does not assume equal variances.
        pooled_sd: Option<f64>,
        /// Half the width of `ci99`.
        half_width99: Option<f64>,
        /// `diff` in % of `mean_against`.
        rel_diff_pct_of_against: Option<f64> => means.difference_percent,
        /// `half_width99` in % of `mean_against`.
        rel_half_width99_pct_of_against: Option<f64> => means.half_width99_percent,
    }
}

view! {
    /// The F test of two variances.
    VarianceTest of (test: &found::Variances) {
        /// Ratio of the variances: var(of) / var(against).
        #[serde(rename = "F")]
        f: Option<f64>,
        /// Degrees of freedom of the numerator.
        df1: Option<f64> => test.df.0,
        /// Degrees of freedom of the denominator.
        df2: Option<f64> => test.df.1,
        /// Two-sided p-value.
        p_two: Option<f64>,
    }
}

view! {
    /// Test of equivalence by two one-sided Welch tests (TOST).
    EquivalenceTest of (test: &found::Equivalence, welch: Option<found::Interval>) {
        /// Largest difference that counts as equivalent, in either direction.
        margin: Option<f64>,
        /// t statistic of the test against the lower end of the margin.
        t_lower: Option<f64>,
        /// p-value of the test against the lower end of the margin.
        p_lower: Option<f64>,
        /// t statistic of the test against the upper end of the margin.
        t_upper: Option<f64>,
        /// p-value of the test against the upper end of the margin.
        p_upper: Option<f64>,
        /// Degrees of freedom of both tests.
        df: Option<f64>,
        /// The larger of both p-values. It is below 0.05 exactly if `ci90` is within ± `margin`.
        p_tost: Option<f64> => test.p(),
        /// Welch's 90 % interval of the difference.
        ci90: Option<Interval> => welch,
    }
}

view! {
    /// Ratio of two means.
    RatioOfMeans of (found: &found::Ratio, situation: Option<Situation>) {
        /// Ratio of the means: mean(of) / mean(against).
        ratio: Option<f64>,
        /// Fieller's intervals, assuming equal variances. The ends are infinite if the data exclude
        /// no ratio.
        fieller_pooled: Intervals = Intervals::of(&found.fieller, situation, Method::Fieller),
        /// Intervals by the delta method on the logarithm of the ratio, with separate variances and
        /// normal quantiles.
        delta_log_unpooled_z: Intervals =
            Intervals::of(&found.delta_log, situation, Method::DeltaLog),
    }
}
