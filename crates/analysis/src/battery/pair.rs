//! All classical tests for two samples.

use super::missing::{Computed, Missing};
use super::{Anytime, Intervals, SignedRanks, intervals};
use crate::coverage::{Situation, Traits};
use assay_data::Threshold;
use assay_stats::t_test::{self, TTest};
use assay_stats::two_sample::{
    self, EffectSize, Equivalence, KolmogorovSmirnov, RankSum, VarianceRatio,
};
use assay_stats::{Interval, PValues, descriptive};

/// Equivalence margins, as shares of the reference's mean.
const MARGINS: [f64; 2] = [0.01, 0.05];

/// How values are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// By the block in which both were measured.
    Blocks,
    /// By their position in recordings of the same length.
    Order,
}

/// All tests of a subject against its reference.
#[derive(Clone, Debug, PartialEq)]
pub struct PairTests {
    /// Student's t test with pooled variance.
    pub t_pooled: Computed<Means>,
    /// Welch's t test.
    pub t_welch: Computed<Means>,
    /// Student's t test of the differences.
    pub t_paired: Computed<Means>,
    /// The Mann-Whitney test.
    pub mann_whitney: Computed<MannWhitney>,
    /// The Hodges-Lehmann estimate of the shift with its intervals.
    pub hodges_lehmann: Computed<ShiftEstimate>,
    /// The Hodges-Lehmann estimate of the shift of logarithms, transformed to a ratio.
    pub ratio_hodges_lehmann_log: Computed<ShiftEstimate>,
    /// Wilcoxon's signed-rank test of the paired differences.
    pub wilcoxon_signed_rank: Computed<SignedRanks>,
    /// Brunner and Munzel's test.
    pub brunner_munzel: Computed<Placements>,
    /// The two-sample Kolmogorov-Smirnov test.
    pub ks_two_sample: Computed<KolmogorovSmirnov>,
    /// Effect sizes of the difference.
    pub effect_size: Computed<EffectSize>,
    /// Fisher's F test of equal variances.
    pub f_test_variance: Computed<Variances>,
    /// Equivalence tests of the means, with margins of 1 % and 5 % of the reference's mean, and
    /// with the threshold as margin.
    pub tost: Computed<[Equivalence; 3]>,
    /// The ratio of the means, with its intervals.
    pub ratio_of_means: Computed<Ratio>,
    /// Anytime-valid statements; only for samples in blocks.
    pub anytime: Computed<Anytime>,
    /// How values are paired; `None` if they are not.
    pub pairing: Option<Pairing>,
    /// True if all observations of both samples are equal.
    pub all_equal: bool,
    /// Number and kind of the values of both samples, which determine whether the coverage of
    /// intervals is nominal.
    pub situation: Situation,
    /// Number and kind of the paired differences; `None` if the values are not paired.
    pub situation_of_pairs: Option<Situation>,
}

/// A t test and the quantities derived from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    /// Means of the subject and the reference.
    pub means: (f64, f64),
    /// Difference, standard error, degrees of freedom, and t.
    pub test: TTest,
    /// p-values for the hypothesis of no difference.
    pub p: PValues,
    /// Confidence intervals for the difference.
    pub intervals: Intervals,
    /// Pooled standard deviation, if equal variances are assumed.
    pub pooled_sd: Option<f64>,
    /// Half width of the 99 % interval.
    pub half_width99: f64,
    /// The difference in percent of the reference's mean.
    pub difference_percent: f64,
    /// Half width of the 99 % interval in percent of the reference's mean.
    pub half_width99_percent: f64,
}

/// All forms of the Mann-Whitney test.
#[derive(Clone, Debug, PartialEq)]
pub struct MannWhitney {
    /// Number of pairs of values in which the subject's is larger, with ties counted as half, and
    /// the number of the remaining pairs.
    pub u: (f64, f64),
    /// True if any values are tied.
    pub ties: bool,
    /// Exact p-values; `None` if there are ties, or 50 or more values on either side.
    pub exact: Option<PValues>,
    /// Asymptotic p-values with continuity correction.
    pub asymptotic: PValues,
    /// Asymptotic p-values without continuity correction.
    pub asymptotic_nocorrect: PValues,
    /// z with continuity correction, and without it.
    pub z: (f64, f64),
    /// log₁₀ of the two-sided p-value with continuity correction.
    pub log10_p_two: f64,
}

/// A Hodges-Lehmann estimate with its intervals, for a shift or a ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct ShiftEstimate {
    /// The median of all pairwise differences, exponentiated for a ratio.
    pub estimate: f64,
    /// Exact intervals as (confidence, interval, actual confidence); `None` if there are ties, or
    /// 50 or more values on either side.
    pub exact: Option<Vec<(f64, Interval, f64)>>,
    /// Exact one-sided 95 % intervals: one without a lower bound, then one without an upper bound.
    pub exact_one_sided: Option<(Interval, Interval)>,
    /// Asymptotic intervals; `None` if neither sample varies.
    pub asymptotic: Option<Intervals>,
    /// Asymptotic one-sided 95 % intervals, in the order of `exact_one_sided`.
    pub asymptotic_one_sided: Option<(Interval, Interval)>,
    /// Ranks of the two ends of the asymptotic 95 % interval among all pairwise differences in
    /// ascending order.
    pub k95: Option<(u64, u64)>,
}

/// Brunner and Munzel's test.
#[derive(Clone, Debug, PartialEq)]
pub struct Placements {
    /// P(subject < reference) + ½ P(subject = reference).
    pub p_less: f64,
    /// The test statistic; infinite if the samples do not overlap.
    pub statistic: f64,
    /// Degrees of freedom; NaN if the samples do not overlap.
    pub df: f64,
    /// Standard error of `p_less`.
    pub standard_error: f64,
    /// p-values for the hypothesis that `p_less` is ½.
    pub p: PValues,
    /// Confidence intervals for `p_less`.
    pub intervals: Intervals,
}

/// Fisher's test of equal variances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variances {
    /// Variance of the subject over that of the reference.
    pub f: f64,
    /// Degrees of freedom of the two variances.
    pub df: (f64, f64),
    /// Two-sided p-value.
    pub p_two: f64,
}

/// The ratio of two means with its intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// Mean of the subject over that of the reference.
    pub ratio: f64,
    /// Fieller's intervals with pooled variance; infinite if every ratio is possible.
    pub fieller: Intervals,
    /// Intervals by the delta method on the logarithm, with separate variances and normal
    /// quantiles.
    pub delta_log: Intervals,
}

impl PairTests {
    /// Runs all tests of `other` against `reference`, both in their order of measurement.
    pub(super) fn of(
        reference: &[f64],
        other: &[f64],
        in_blocks: bool,
        threshold: &Threshold,
        (confidence, confidences): (f64, &[f64]),
    ) -> Self {
        let (x, y) = (descriptive::sorted(reference), descriptive::sorted(other));
        let first = x.first().or(y.first());
        let all_equal = first.is_some_and(|v| x.iter().chain(&y).all(|w| w == v));
        let pairing = match (reference.len() == other.len() && !x.is_empty(), in_blocks) {
            (false, _) => None,
            (true, true) => Some(Pairing::Blocks),
            (true, false) => Some(Pairing::Order),
        };
        // The reason why a test that needs variation has no result.
        let lack = if all_equal {
            Missing::AllEqual
        } else if x.len() < 2 || y.len() < 2 {
            Missing::TooFew
        } else {
            Missing::Constant
        };
        let ranks = RankSum::of(&x, &y).ok_or(Missing::TooFew);
        let positive = [x.first(), y.first()].into_iter().flatten().all(|v| *v > 0.0);
        let means = |test: Option<TTest>| {
            test.map(|test| Means::of(test, reference, other, confidences)).ok_or(lack)
        };
        let welch = t_test::welch(reference, other);
        let differences: Vec<f64> = reference.iter().zip(other).map(|(x, y)| y - x).collect();
        let logs = |sorted: &[f64]| sorted.iter().map(|v| v.ln()).collect::<Vec<f64>>();
        Self {
            t_pooled: means(t_test::pooled(reference, other))
                .map(|found| Means { pooled_sd: t_test::pooled_sd(reference, other), ..found }),
            t_welch: means(welch),
            t_paired: match pairing {
                None => Err(Missing::NoPairs),
                Some(_) => means(t_test::paired(reference, other)),
            },
            hodges_lehmann: ranks.and_then(|r| ShiftEstimate::of(&x, &y, &r, confidences)),
            ratio_hodges_lehmann_log: match ranks {
                Ok(_) if !positive => Err(Missing::NotPositive),
                Ok(r) => ShiftEstimate::of(&logs(&x), &logs(&y), &r, confidences)
                    .map(|found| found.exponentiated()),
                Err(missing) => Err(missing),
            },
            wilcoxon_signed_rank: match pairing {
                None => Err(Missing::NoPairs),
                Some(_) => SignedRanks::of(&differences, confidences).ok_or(Missing::TooFew),
            },
            brunner_munzel: two_sample::brunner_munzel(&x, &y)
                .map(|found| Placements {
                    p_less: found.p_y_less,
                    statistic: found.statistic,
                    df: found.df,
                    standard_error: found.standard_error,
                    p: found.p(),
                    intervals: intervals(confidences, |c| found.interval(c)),
                })
                .ok_or(Missing::TooFew),
            ks_two_sample: two_sample::kolmogorov_smirnov(&x, &y).ok_or(Missing::TooFew),
            effect_size: ranks.map(|r| two_sample::effect_size(reference, other, &r)),
            f_test_variance: two_sample::variance_ratio(reference, other)
                .map(|found: VarianceRatio| Variances {
                    f: found.f,
                    df: found.df,
                    p_two: found.p_two(),
                })
                .ok_or(Missing::TooFew),
            tost: welch.as_ref().map(|w| equivalences(w, reference, threshold)).ok_or(lack),
            ratio_of_means: Ratio::of(reference, other, positive, confidences),
            anytime: Anytime::of(reference, other, in_blocks, confidence),
            mann_whitney: ranks.map(|r| MannWhitney::of(&r)),
            situation: Situation {
                n: reference.len().min(other.len()),
                traits: Traits::of(reference).or(Traits::of(other)),
            },
            situation_of_pairs: pairing
                .map(|_| Situation { n: differences.len(), traits: Traits::of(&differences) }),
            pairing,
            all_equal,
        }
    }
}

fn equivalences(welch: &TTest, reference: &[f64], threshold: &Threshold) -> [Equivalence; 3] {
    let mean = descriptive::mean(reference);
    let own = match threshold {
        Threshold::Relative(share) => share * mean,
        Threshold::Absolute { value, .. } => *value,
    };
    let [narrow, wide] = MARGINS.map(|share| share * mean);
    [narrow, wide, own].map(|margin| two_sample::equivalence(welch, margin))
}

impl Means {
    fn of(test: TTest, reference: &[f64], other: &[f64], confidences: &[f64]) -> Self {
        let means = (descriptive::mean(other), descriptive::mean(reference));
        let half_width99 = test.interval(0.99).map_or(f64::NAN, |i| i.half_width());
        Self {
            means,
            test,
            p: test.p(),
            intervals: intervals(confidences, |c| test.interval(c)),
            pooled_sd: None,
            half_width99,
            difference_percent: 100.0 * test.estimate / means.1,
            half_width99_percent: 100.0 * half_width99 / means.1,
        }
    }
}

impl MannWhitney {
    fn of(ranks: &RankSum) -> Self {
        Self {
            u: (ranks.u, ranks.pairs() - ranks.u),
            ties: ranks.ties,
            exact: ranks.exact(),
            asymptotic: ranks.asymptotic(true),
            asymptotic_nocorrect: ranks.asymptotic(false),
            z: (ranks.z(true), ranks.z(false)),
            log10_p_two: ranks.log10_p_two(),
        }
    }
}

impl ShiftEstimate {
    /// Computes the estimate from sorted samples. `ranks`, of the original values, determines
    /// whether the exact distribution applies, since logarithms may be tied even if the values are
    /// not.
    fn of(x: &[f64], y: &[f64], ranks: &RankSum, confidences: &[f64]) -> Computed<Self> {
        let estimate = two_sample::hodges_lehmann(x, y);
        if estimate.is_nan() {
            return Err(Missing::TooFew);
        }
        let exact = ranks.is_exact().then(|| {
            let at = |&c: &f64| {
                two_sample::exact_shift_interval(x, y, c).map(|(i, achieved)| (c, i, achieved))
            };
            confidences.iter().filter_map(at).collect()
        });
        let constant = x.first() == x.last() && y.first() == y.last();
        let normal = |confidence: f64| {
            let interval = || two_sample::mann_whitney_asymptotic_interval(x, y, confidence);
            if constant { None } else { interval() }
        };
        Ok(Self {
            estimate,
            exact_one_sided: exact
                .is_some()
                .then(|| two_sample::exact_shift_interval(x, y, 0.9))
                .flatten()
                .map(|(interval, _)| one_sided(interval)),
            exact,
            asymptotic: (!constant).then(|| intervals(confidences, normal)),
            asymptotic_one_sided: normal(0.9).map(one_sided),
            k95: if constant {
                None
            } else {
                two_sample::mann_whitney_asymptotic_ranks(x, y, 0.95)
            },
        })
    }

    /// Converts results for logarithms to ratios.
    fn exponentiated(self) -> Self {
        let both = |(less, greater): (Interval, Interval)| (exp(less), exp(greater));
        Self {
            estimate: self.estimate.exp(),
            exact: self
                .exact
                .map(|all| all.into_iter().map(|(c, i, achieved)| (c, exp(i), achieved)).collect()),
            exact_one_sided: self.exact_one_sided.map(both),
            asymptotic: self
                .asymptotic
                .map(|all| all.into_iter().map(|(c, i)| (c, i.map(exp))).collect()),
            asymptotic_one_sided: self.asymptotic_one_sided.map(both),
            k95: self.k95,
        }
    }
}

fn exp(interval: Interval) -> Interval {
    Interval { lower: interval.lower.exp(), upper: interval.upper.exp() }
}

/// Returns the two one-sided 95 % intervals implied by a 90 % interval: those of R for the
/// alternatives "less" and "greater".
fn one_sided(of_90: Interval) -> (Interval, Interval) {
    (
        Interval { lower: f64::NEG_INFINITY, upper: of_90.upper },
        Interval { lower: of_90.lower, upper: f64::INFINITY },
    )
}

impl Ratio {
    fn of(reference: &[f64], other: &[f64], positive: bool, confidences: &[f64]) -> Computed<Self> {
        if !positive {
            return Err(Missing::NotPositive);
        }
        if reference.len() < 2 || other.len() < 2 {
            return Err(Missing::TooFew);
        }
        Ok(Self {
            ratio: descriptive::mean(other) / descriptive::mean(reference),
            fieller: intervals(confidences, |c| two_sample::fieller(reference, other, c)),
            delta_log: intervals(confidences, |c| two_sample::delta_log(reference, other, c)),
        })
    }
}
