//! Classical tests of ranks and of distribution functions, as JSON.

use super::intervals::{ExactIntervals, Intervals, PValues};
use crate::json::values::{Interval, view};
use assay_analysis::battery as found;
use assay_analysis::coverage::{Method, Situation};

/// Returns the name that R uses for the method.
fn method(exact: bool) -> &'static str {
    if exact { "exact" } else { "asymptotic" }
}

view! {
    /// The Mann-Whitney test (Wilcoxon's rank-sum test) of two samples.
    MannWhitney of (test: &found::MannWhitney) {
        /// Number of pairs in which the side is larger than the reference; ties count half. R calls
        /// it `W`.
        #[serde(rename = "U_of")]
        u_of: Option<f64> => test.u.0,
        /// Number of pairs in which the reference is larger than the side; ties count half.
        #[serde(rename = "U_against")]
        u_against: Option<f64> => test.u.1,
        /// True if two values are equal, within a sample or between samples.
        ties: bool,
        /// Name of the result that R reports: `exact` (fewer than 50 values in each sample and no
        /// ties) or `asymptotic`.
        r_default: &'static str = method(test.exact.is_some()),
        /// p-values from the exact distribution; `null` if R does not use it for this data.
        exact: Option<PValues>,
        /// p-values from the normal approximation corrected for ties, with continuity correction.
        asymptotic: PValues,
        /// p-values from the normal approximation corrected for ties, without continuity
        /// correction.
        asymptotic_nocorrect: PValues,
        /// Standardized statistic (z), with continuity correction.
        z_corrected: Option<f64> => test.z.0,
        /// Standardized statistic (z), without continuity correction.
        z: Option<f64> => test.z.1,
        /// log₁₀ of `p_two` in `asymptotic`. It is finite even if `p_two` is 0.
        log10_p_two_corrected: Option<f64> => test.log10_p_two,
    }
}

view! {
    /// The Hodges-Lehmann estimate of the shift between two samples. R computes the estimate and
    /// the large-sample intervals with an absolute tolerance of 1e-4, which is too coarse for times
    /// in seconds. They are exact here.
    HodgesLehmann of (found: &found::ShiftEstimate, situation: Option<Situation>) {
        /// Median of all differences between a value of the side and a value of the reference.
        estimate_exact: Option<f64> => found.estimate,
        /// Shift with intervals from the exact distribution; `null` if R does not use it for this
        /// data.
        exact: Option<ExactShift> =
            found.exact.as_ref().map(|all| ExactShift::of(found, all, situation)),
        /// Shift with intervals from the normal approximation; `null` if neither sample varies.
        asymptotic: Option<AsymptoticShift> =
            found.asymptotic.as_ref().map(|all| AsymptoticShift::of(found, all, situation)),
    }
}

view! {
    /// A shift between two samples, with intervals from the exact distribution.
    ExactShift of (
        found: &found::ShiftEstimate,
        all: &[(f64, found::Interval, f64)],
        situation: Option<Situation>
    ) {
        /// Median of all differences between a value of the side and a value of the reference.
        estimate: Option<f64>,
        /// Two-sided intervals.
        #[serde(flatten)]
        intervals: ExactIntervals = ExactIntervals::of(all, situation, Method::ShiftExact),
        /// One-sided intervals.
        #[serde(flatten)]
        one_sided: OneSided => found.exact_one_sided,
    }
}

view! {
    /// A shift between two samples, with intervals from the normal approximation.
    AsymptoticShift of (
        found: &found::ShiftEstimate,
        all: &found::Intervals,
        situation: Option<Situation>
    ) {
        /// Estimate of the shift, equal to `estimate_exact`. R searches for a root instead, which
        /// may be anywhere between the two middle differences.
        estimate_root: Option<f64> => found.estimate,
        /// Two-sided intervals.
        #[serde(flatten)]
        intervals: Intervals = Intervals::of(all, situation, Method::ShiftAsymptotic),
        /// One-sided intervals.
        #[serde(flatten)]
        one_sided: OneSided => found.asymptotic_one_sided,
        /// Ranks of the two differences that are the ends of `ci95`, counted from 1 in ascending
        /// order.
        k95: Option<[u64; 2]> = found.k95.map(Into::into),
    }
}

view! {
    /// One-sided 95 % intervals.
    OneSided of (both: &Option<(found::Interval, found::Interval)>) {
        /// One-sided 95 % interval with an upper end only.
        less95: Option<Interval> = both.map(|(less, _)| less.into()),
        /// One-sided 95 % interval with a lower end only.
        greater95: Option<Interval> = both.map(|(_, greater)| greater.into()),
    }
}

view! {
    /// Wilcoxon's signed-rank test of paired differences, or of one sample about 0.
    SignedRanks of (ranks: &found::SignedRanks, situation: Option<Situation>) {
        /// Number of values that are not 0.
        n_used: usize,
        /// Sum of the ranks of the positive values.
        #[serde(rename = "V")]
        v: Option<f64>,
        /// True if two values have equal absolute values.
        ties: bool,
        /// True if a value is 0.
        zeros: bool,
        /// Results from the exact distribution; `null` if there are ties, zeros, or 50 or more
        /// values.
        exact: Option<ExactRanks> =
            ranks.exact.as_ref().map(|exact| ExactRanks::of(exact, ranks.estimate, situation)),
        /// p-values from the normal approximation, with continuity correction.
        asymptotic: PValues,
        /// p-values from the normal approximation, without continuity correction.
        asymptotic_nocorrect: PValues,
        /// Pseudo-median of the values other than 0, with its large-sample intervals.
        asymptotic_ci: RankIntervals = RankIntervals::of(ranks, situation),
        /// Median of all Walsh averages, including those of zeros.
        pseudomedian_exact_all: Option<f64> => ranks.pseudomedian,
        /// Rank-biserial correlation: share of positive ranks minus share of negative ranks.
        rank_biserial: Option<f64>,
    }
}

view! {
    /// Results of the signed-rank test from the exact distribution.
    ExactRanks of (exact: &found::ExactRanks, estimate: f64, situation: Option<Situation>) {
        /// The p-values.
        #[serde(flatten)]
        p: PValues,
        /// The pseudo-median.
        estimate: Option<f64> = Some(estimate),
        /// Intervals of the pseudo-median.
        #[serde(flatten)]
        intervals: ExactIntervals =
            ExactIntervals::of(&exact.intervals, situation, Method::PseudoMedianExact),
    }
}

view! {
    /// A pseudo-median with its large-sample intervals.
    RankIntervals of (ranks: &found::SignedRanks, situation: Option<Situation>) {
        /// The pseudo-median.
        estimate: Option<f64>,
        /// Intervals of the pseudo-median.
        #[serde(flatten)]
        intervals: Intervals =
            Intervals::of(&ranks.asymptotic_ci, situation, Method::PseudoMedianAsymptotic),
    }
}

view! {
    /// The Brunner-Munzel test. If the samples do not overlap, only the probability is known.
    BrunnerMunzel of (test: &found::Placements, situation: Option<Situation>) {
        /// P(of < against) + ½ P(of = against).
        p_of_less_against_plus_half_ties: Option<f64> => test.p_less,
        /// The test statistic.
        stat: Option<f64> => test.statistic,
        /// Degrees of freedom.
        df: Option<f64>,
        /// Standard error of the estimated probability.
        se: Option<f64> => test.standard_error,
        /// The p-values.
        #[serde(flatten)]
        p: PValues,
        /// Intervals of the estimated probability.
        #[serde(flatten)]
        intervals: Intervals = Intervals::of(&test.intervals, situation, Method::BrunnerMunzel),
    }
}

view! {
    /// The two-sample Kolmogorov-Smirnov test.
    KolmogorovSmirnov of (test: &found::KolmogorovSmirnov) {
        /// Largest distance between the two empirical distribution functions.
        #[serde(rename = "D")]
        d: Option<f64>,
        /// p-value of `D`.
        p_two: Option<f64>,
        /// Name of the method: `exact` for n·m < 10000, otherwise `asymptotic`.
        method: &'static str = method(test.exact),
        /// Largest distance by which the side's distribution function is below that of the
        /// reference.
        #[serde(rename = "D_minus")]
        d_minus: Option<f64>,
        /// p-value of `D_minus`.
        p_less: Option<f64>,
        /// Largest distance by which the side's distribution function is above that of the
        /// reference.
        #[serde(rename = "D_plus")]
        d_plus: Option<f64>,
        /// p-value of `D_plus`.
        p_greater: Option<f64>,
        /// Large-sample p-value of `D`, given for any sample size.
        p_two_asymptotic: Option<f64>,
    }
}

view! {
    /// Effect sizes of a difference.
    EffectSize of (sizes: &found::EffectSize) {
        /// P(of > against) + ½ P(of = against).
        a12: Option<f64>,
        /// Cliff's delta: 2 · `a12` − 1.
        cliffs_delta: Option<f64>,
        /// Difference of the means, divided by the pooled standard deviation.
        cohen_d: Option<f64>,
        /// Cohen's d, corrected for its bias.
        hedges_g_exact: Option<f64> => sizes.hedges_g,
        /// Difference of the means, divided by the standard deviation of the reference.
        glass_delta_sd_against: Option<f64> => sizes.glass_delta,
    }
}
