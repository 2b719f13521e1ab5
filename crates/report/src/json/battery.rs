//! Every classical test as JSON: what `--all` adds to a report.
//!
//! Keys are those of the R session that the tests are held to (`p_two`, `ci95`, `U_of`), so that whoever knows R finds the way.
//! What has no answer is `null`, and `reasons` says why. Nothing is computed here.

use super::values::{Coverage, Interval, Named};
use assay_analysis::battery::{
    self as found, ChiSquaredTest, FTest, Found, Intervals, Pairing as FoundPairing,
};
use assay_analysis::coverage::{Method, Situation};
use schemars::JsonSchema;
use serde::Serialize;

/// Intervals at 90, 95 and 99 % as `ci90`, `ci95` and `ci99`, and at another confidence that was asked for (`ci97.5`). `null`
/// where there is none.
pub(crate) type Levels = Named<Option<Interval>>;

/// Every classical test of two series, with R's numbers for the same data: `of` and `against` stand for the values of the side
/// and of the reference, as in `t.test(of, against)`; in blocks they are the values of the complete blocks. The verdict does not
/// come from these tests. A test without an answer is `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PairTests {
    /// Student's t, one variance for both. R: `t.test(of, against, var.equal = TRUE)`.
    pub t_pooled: Option<TTest>,
    /// Welch's t. R: `t.test(of, against)`.
    pub t_welch: Option<TTest>,
    /// Student's t of the differences of pairs. R: `t.test(of, against, paired = TRUE)`.
    pub t_paired: Option<TPaired>,
    /// Mann-Whitney (Wilcoxon's rank sum). R: `wilcox.test(of, against)`.
    pub mann_whitney: Option<MannWhitney>,
    /// The shift with its intervals. R: `wilcox.test(of, against, conf.int = TRUE)`.
    pub hodges_lehmann: Option<HodgesLehmann>,
    /// The same of logarithms, turned back into ratios; needs positive values. R: `exp()` of
    /// `wilcox.test(log(of), log(against), conf.int = TRUE)`.
    pub ratio_hodges_lehmann_log: Option<HodgesLehmann>,
    /// Signed ranks of the differences of pairs. R: `wilcox.test(of, against, paired = TRUE, conf.int = TRUE)`.
    pub wilcoxon_signed_rank: Option<SignedRanks>,
    /// Whether one tends to be smaller. R: `brunnermunzel.test(of, against)` of the package `brunnermunzel`.
    pub brunner_munzel: Option<BrunnerMunzel>,
    /// Two-sample Kolmogorov-Smirnov. R: `ks.test(of, against)`.
    pub ks_two_sample: Option<KolmogorovSmirnov>,
    /// Sizes of the difference.
    pub effect_size: Option<EffectSize>,
    /// Ratio of the variances. R: `var.test(of, against)`.
    pub f_test_variance: Option<VarianceTest>,
    /// Equivalence of the means within 1 % of the reference's mean. R: `t.test(of, against, mu = -margin,
    /// alternative = "greater")`, and `mu = margin` with `"less"`.
    pub tost_welch_1pct_of_mean_against: Option<EquivalenceTest>,
    /// The same within 5 %.
    pub tost_welch_5pct_of_mean_against: Option<EquivalenceTest>,
    /// The same within the threshold of the plan.
    pub tost_welch_threshold: Option<EquivalenceTest>,
    /// Ratio of the means; needs positive values.
    pub ratio_of_means: Option<RatioOfMeans>,
    /// What stays true however often one looks, of blocks of positive values.
    pub anytime: Option<AnytimeValid>,
    /// How values were paired; `null`: not at all.
    pub paired_by: Option<PairedBy>,
    /// For each test without an answer, by its key, why.
    pub reasons: Named<String>,
}

/// How values were paired.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PairedBy {
    /// By blocks.
    Blocks,
    /// Recordings of the same length: first with first.
    Order,
}

/// p-values against a difference, against a smaller and against a larger side. Below about 1e-308 they are 0.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PValues {
    /// Two-sided.
    pub p_two: Option<f64>,
    /// Against a smaller side.
    pub p_less: Option<f64>,
    /// Against a larger side.
    pub p_greater: Option<f64>,
}

/// Student's t of differences.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TPaired {
    /// Mean of the differences.
    pub diff: Option<f64>,
    /// The statistic.
    pub t: Option<f64>,
    /// Its degrees of freedom.
    pub df: Option<f64>,
    /// Standard error of `diff`.
    pub stderr: Option<f64>,
    #[serde(flatten)]
    pub p: PValues,
    #[serde(flatten)]
    pub intervals: Levels,
    /// How often such intervals hold; `null` where they hold as often as they promise.
    pub coverage: Option<Coverage>,
}

/// A t test of two samples.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TTest {
    /// Mean of the side.
    pub mean_of: Option<f64>,
    /// Mean of the reference.
    pub mean_against: Option<f64>,
    /// Difference of the means.
    pub diff: Option<f64>,
    /// The statistic.
    pub t: Option<f64>,
    /// Its degrees of freedom.
    pub df: Option<f64>,
    /// Standard error of `diff`.
    pub stderr: Option<f64>,
    #[serde(flatten)]
    pub p: PValues,
    #[serde(flatten)]
    pub intervals: Levels,
    /// The common standard deviation; `null` where the variances may differ.
    pub pooled_sd: Option<f64>,
    /// Half of `ci99`.
    pub half_width99: Option<f64>,
    /// `diff` in % of `mean_against`.
    pub rel_diff_pct_of_against: Option<f64>,
    /// `half_width99` in % of `mean_against`.
    pub rel_half_width99_pct_of_against: Option<f64>,
    /// How often such intervals hold; `null` where they hold as often as they promise.
    pub coverage: Option<Coverage>,
}

/// The rank sum test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MannWhitney {
    /// R's `W`: pairs in which the side is larger, ties half.
    #[serde(rename = "U_of")]
    pub u_of: Option<f64>,
    /// The other way round.
    #[serde(rename = "U_against")]
    pub u_against: Option<f64>,
    /// Whether two of all values are equal.
    pub ties: bool,
    /// Which of the two R reports: `exact` (fewer than 50 values each, no ties) or `asymptotic`.
    pub r_default: &'static str,
    /// p-values of the exact distribution; `null` where R does not use it.
    pub exact: Option<PValues>,
    /// p-values of the normal distribution corrected for ties, with continuity correction.
    pub asymptotic: PValues,
    /// The same without continuity correction.
    pub asymptotic_nocorrect: PValues,
    /// The statistic in standard deviations, with continuity correction.
    pub z_corrected: Option<f64>,
    /// The same without.
    pub z: Option<f64>,
    /// log₁₀ of the `p_two` of `asymptotic`, also where that is 0.
    pub log10_p_two_corrected: Option<f64>,
}

/// The shift between two samples. R finds estimate and ends of the large-sample intervals with an absolute tolerance of 1e-4,
/// too coarse for times in seconds; here they are exact.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HodgesLehmann {
    /// The median of all differences.
    pub estimate_exact: Option<f64>,
    /// By the exact distribution; `null` where R does not use it.
    pub exact: Option<ExactShift>,
    /// By the normal distribution; `null` where neither sample varies.
    pub asymptotic: Option<AsymptoticShift>,
}

/// A shift with the intervals of the exact distribution.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExactShift {
    /// The median of all differences.
    pub estimate: Option<f64>,
    #[serde(flatten)]
    pub intervals: Levels,
    /// The confidence of each interval in their order: less than asked for where the samples are too small.
    pub conf_level_achieved: Vec<Option<f64>>,
    /// One-sided 95 % interval below.
    pub less95: Option<Interval>,
    /// One-sided 95 % interval above.
    pub greater95: Option<Interval>,
    /// How often such intervals hold; `null` where they hold as often as they promise.
    pub coverage: Option<Coverage>,
}

/// A shift with the intervals of the normal distribution.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AsymptoticShift {
    /// The same as `estimate_exact`; R searches a root, which may lie anywhere between the two middle differences.
    pub estimate_root: Option<f64>,
    #[serde(flatten)]
    pub intervals: Levels,
    /// One-sided 95 % interval below.
    pub less95: Option<Interval>,
    /// One-sided 95 % interval above.
    pub greater95: Option<Interval>,
    /// Which two of the differences, in ascending order from 1, are the ends of `ci95`.
    pub k95: Option<[u64; 2]>,
    /// How often such intervals hold; `null` where they hold as often as they promise.
    pub coverage: Option<Coverage>,
}

/// Wilcoxon's signed ranks, of differences or of one sample about 0.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SignedRanks {
    /// Differences that are not 0.
    pub n_used: usize,
    /// Sum of the ranks of the positive ones.
    #[serde(rename = "V")]
    pub v: Option<f64>,
    /// Whether two differences are equally far from 0.
    pub ties: bool,
    /// Whether a difference is 0.
    pub zeros: bool,
    /// By the exact distribution; `null` with ties, zeros, or 50 values and more.
    pub exact: Option<ExactRanks>,
    /// p-values of the normal distribution, with continuity correction.
    pub asymptotic: PValues,
    /// The same without.
    pub asymptotic_nocorrect: PValues,
    /// Pseudo-median without the zeros, and its large-sample intervals.
    pub asymptotic_ci: RankIntervals,
    /// Median of all Walsh averages, zeros kept.
    pub pseudomedian_exact_all: Option<f64>,
    /// Share of positive rank minus share of negative rank.
    pub rank_biserial: Option<f64>,
}

/// The signed-rank test by the exact distribution.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExactRanks {
    #[serde(flatten)]
    pub p: PValues,
    /// The pseudo-median.
    pub estimate: Option<f64>,
    #[serde(flatten)]
    pub intervals: Levels,
    /// The confidence of each interval in their order: less than asked for where the samples are too small.
    pub conf_level_achieved: Vec<Option<f64>>,
    /// How often such intervals hold; `null` where they hold as often as they promise.
    pub coverage: Option<Coverage>,
}

/// A pseudo-median with its large-sample intervals.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankIntervals {
    /// The pseudo-median.
    pub estimate: Option<f64>,
    #[serde(flatten)]
    pub intervals: Levels,
    /// How often such intervals hold; `null` where they hold as often as they promise.
    pub coverage: Option<Coverage>,
}

/// The Brunner-Munzel test. Without overlap only the share is known.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BrunnerMunzel {
    /// P(of < against) + ½ P(of = against).
    pub p_of_less_against_plus_half_ties: Option<f64>,
    /// The statistic.
    pub stat: Option<f64>,
    /// Its degrees of freedom.
    pub df: Option<f64>,
    /// Its standard error.
    pub se: Option<f64>,
    #[serde(flatten)]
    pub p: PValues,
    #[serde(flatten)]
    pub intervals: Levels,
    /// How often such intervals hold; `null` where they hold as often as they promise.
    pub coverage: Option<Coverage>,
}

/// The two-sample Kolmogorov-Smirnov test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KolmogorovSmirnov {
    /// The largest distance of the distribution functions.
    #[serde(rename = "D")]
    pub d: Option<f64>,
    /// p-value of `D`.
    pub p_two: Option<f64>,
    /// How: `exact` below n·m = 10000, else `asymptotic`.
    pub method: &'static str,
    /// By how much the side's distribution function lies below at most.
    #[serde(rename = "D_minus")]
    pub d_minus: Option<f64>,
    /// p-value of `D_minus`.
    pub p_less: Option<f64>,
    /// By how much the side's distribution function lies above at most.
    #[serde(rename = "D_plus")]
    pub d_plus: Option<f64>,
    /// p-value of `D_plus`.
    pub p_greater: Option<f64>,
    /// The large-sample p-value of `D`, whatever the sizes.
    pub p_two_asymptotic: Option<f64>,
}

/// Sizes of a difference.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EffectSize {
    /// P(of > against) + ½ P(of = against).
    pub a12: Option<f64>,
    /// Twice that minus 1.
    pub cliffs_delta: Option<f64>,
    /// Difference of the means over the pooled standard deviation.
    pub cohen_d: Option<f64>,
    /// The same without its bias.
    pub hedges_g_exact: Option<f64>,
    /// Difference of the means over the standard deviation of the reference.
    pub glass_delta_sd_against: Option<f64>,
}

/// The F test of two variances.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VarianceTest {
    /// var(of) / var(against).
    #[serde(rename = "F")]
    pub f: Option<f64>,
    /// Degrees of freedom of the numerator.
    pub df1: Option<f64>,
    /// Degrees of freedom of the denominator.
    pub df2: Option<f64>,
    /// Two-sided p-value.
    pub p_two: Option<f64>,
}

/// Two one-sided Welch tests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EquivalenceTest {
    /// Half of the range that counts as equivalent.
    pub margin: Option<f64>,
    /// Statistic of the lower test.
    pub t_lower: Option<f64>,
    /// Its p-value.
    pub p_lower: Option<f64>,
    /// Statistic of the upper test.
    pub t_upper: Option<f64>,
    /// Its p-value.
    pub p_upper: Option<f64>,
    /// Degrees of freedom of both.
    pub df: Option<f64>,
    /// The larger of their p-values; below 0.05 exactly when `ci90` lies within ± `margin`.
    pub p_tost: Option<f64>,
    /// Welch's 90 % interval.
    pub ci90: Option<Interval>,
}

/// Ratio of two means.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RatioOfMeans {
    /// mean(of) / mean(against).
    pub ratio: Option<f64>,
    /// Fieller's intervals, one variance for both; infinite ends where every ratio is possible.
    pub fieller_pooled: RatioIntervals,
    /// Delta method on the logarithm, two variances, normal quantiles.
    pub delta_log_unpooled_z: RatioIntervals,
}

/// Intervals of a ratio.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RatioIntervals {
    #[serde(flatten)]
    pub intervals: Levels,
    /// How often such intervals hold; `null` where they hold as often as they promise.
    pub coverage: Option<Coverage>,
}

/// What holds at every look, whenever one stops.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnytimeValid {
    /// 1 − the confidence.
    pub level: f64,
    /// log₁₀ of the e-value of the sign e-process against "either is the faster as often as the other".
    pub sign_log10_e: Option<f64>,
    /// Whether it has reached 1/`level`.
    pub rejects: bool,
    /// Asymptotic confidence sequence of the geometric mean of the per-block ratios; `null` below 20 blocks.
    pub mean_ratio: Option<Interval>,
    /// Confidence sequence of their median, whatever their distribution; `null` where the blocks are too few.
    pub median_ratio: Option<Interval>,
}

/// The tests of all series that have values together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GroupTests {
    /// R: `kruskal.test`.
    pub kruskal_wallis: Option<KruskalWallis>,
    /// R: `oneway.test(var.equal = TRUE)`.
    pub anova_oneway: Option<VarianceRatio>,
    /// R: `oneway.test`.
    pub anova_welch: Option<VarianceRatio>,
    /// Analysis of variance of the distances from the medians. R: `leveneTest` of the package `car`.
    pub levene_median: Option<VarianceRatio>,
    /// R: `fligner.test`.
    pub fligner_killeen: Option<FlignerKilleen>,
    /// Two-sided p-values of every pair, by the names with a bar between. R: `pairwise.wilcox.test(exact = FALSE)`.
    pub pairwise_mann_whitney_asymptotic: Pairwise,
}

/// The Kruskal-Wallis test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KruskalWallis {
    /// The statistic.
    #[serde(rename = "H")]
    pub h: Option<f64>,
    /// Its degrees of freedom.
    pub df: Option<f64>,
    /// The p-value.
    pub p: Option<f64>,
}

/// The Fligner-Killeen test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FlignerKilleen {
    /// The statistic.
    #[serde(rename = "X2")]
    pub x2: Option<f64>,
    /// Its degrees of freedom.
    pub df: Option<f64>,
    /// The p-value.
    pub p: Option<f64>,
}

/// An F test of several groups.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VarianceRatio {
    /// The statistic.
    #[serde(rename = "F")]
    pub f: Option<f64>,
    /// Degrees of freedom of the numerator.
    pub df1: Option<f64>,
    /// Degrees of freedom of the denominator.
    pub df2: Option<f64>,
    /// The p-value.
    pub p: Option<f64>,
}

/// p-values of every pair.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pairwise {
    /// Not adjusted.
    pub raw: Named<Option<f64>>,
    /// Adjusted by Holm.
    pub holm: Named<Option<f64>>,
    /// Adjusted by Benjamini and Hochberg.
    pub bh: Named<Option<f64>>,
    /// Adjusted by Benjamini and Yekutieli.
    pub by: Named<Option<f64>>,
    /// Adjusted by Hochberg.
    pub hochberg: Named<Option<f64>>,
    /// Adjusted by Bonferroni.
    pub bonferroni: Named<Option<f64>>,
}

/// Tests that have an answer where all values are equal, if not a p-value.
const WITHOUT_P: [&str; 4] = ["mann_whitney", "brunner_munzel", "f_test_variance", "effect_size"];

/// Collects the answers of tests, and why there is none.
#[derive(Default)]
struct Reasons(Vec<(String, String)>);

impl Reasons {
    fn answer<T, V>(&mut self, key: &str, found: &Found<T>, show: impl Fn(&T) -> V) -> Option<V> {
        match found {
            Ok(found) => Some(show(found)),
            Err(missing) => {
                self.add(key, missing.words());
                None
            }
        }
    }

    /// One reason for each test; the last one counts.
    fn add(&mut self, key: &str, reason: &str) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => reason.clone_into(known),
            None => self.0.push((key.to_owned(), reason.to_owned())),
        }
    }
}

impl From<&found::PairTests> for PairTests {
    fn from(tests: &found::PairTests) -> Self {
        let mut reasons = Reasons::default();
        let both = Some(tests.situation);
        let pairs = tests.situation_of_pairs;
        let welch = tests.t_welch.as_ref().ok();
        let ci90 = welch.and_then(|welch| at(&welch.intervals, 0.9));
        let mut tost = |index: usize, name: &str| {
            let key = format!("tost_welch_{name}");
            reasons.answer(&key, &tests.tost, |all| equivalence(&all[index], ci90))
        };
        let tost = [
            tost(0, "1pct_of_mean_against"),
            tost(1, "5pct_of_mean_against"),
            tost(2, "threshold"),
        ];
        let [within_1, within_5, within_threshold] = tost;
        let r = &mut reasons;
        let t = |method| move |means: &found::Means| t_test(means, both, method);
        let shift = |found: &found::ShiftEstimate| hodges_lehmann(found, both);
        let all = Self {
            t_pooled: r.answer("t_pooled", &tests.t_pooled, t(Method::PooledT)),
            t_welch: r.answer("t_welch", &tests.t_welch, t(Method::Welch)),
            t_paired: r.answer("t_paired", &tests.t_paired, |means| t_paired(means, pairs)),
            mann_whitney: r.answer("mann_whitney", &tests.mann_whitney, mann_whitney),
            hodges_lehmann: r.answer("hodges_lehmann", &tests.hodges_lehmann, shift),
            ratio_hodges_lehmann_log: r.answer(
                "ratio_hodges_lehmann_log",
                &tests.ratio_hodges_lehmann_log,
                shift,
            ),
            wilcoxon_signed_rank: r.answer(
                "wilcoxon_signed_rank",
                &tests.wilcoxon_signed_rank,
                |found| signed_ranks(found, pairs),
            ),
            brunner_munzel: r.answer("brunner_munzel", &tests.brunner_munzel, |found| {
                brunner_munzel(found, both)
            }),
            ks_two_sample: r.answer("ks_two_sample", &tests.ks_two_sample, kolmogorov),
            effect_size: r.answer("effect_size", &tests.effect_size, effect_size),
            f_test_variance: r.answer("f_test_variance", &tests.f_test_variance, |v| {
                VarianceTest {
                    f: Some(v.f),
                    df1: Some(v.df.0),
                    df2: Some(v.df.1),
                    p_two: Some(v.p_two),
                }
            }),
            tost_welch_1pct_of_mean_against: within_1,
            tost_welch_5pct_of_mean_against: within_5,
            tost_welch_threshold: within_threshold,
            ratio_of_means: r.answer("ratio_of_means", &tests.ratio_of_means, |ratio| {
                let held = |intervals, method| RatioIntervals {
                    intervals: levels(intervals),
                    coverage: coverage(both, method),
                };
                RatioOfMeans {
                    ratio: Some(ratio.ratio),
                    fieller_pooled: held(&ratio.fieller, Method::Fieller),
                    delta_log_unpooled_z: held(&ratio.delta_log, Method::DeltaLog),
                }
            }),
            anytime: r.answer("anytime", &tests.anytime, |found| AnytimeValid {
                level: found.level,
                sign_log10_e: Some(found.sign_log10_e),
                rejects: found.rejects,
                mean_ratio: found.mean_ratio.map(Interval::from),
                median_ratio: found.median_ratio.map(Interval::from),
            }),
            paired_by: tests.pairing.map(|pairing| match pairing {
                FoundPairing::Blocks => PairedBy::Blocks,
                FoundPairing::Order => PairedBy::Order,
            }),
            reasons: Named(Vec::new()),
        };
        if tests.all_equal {
            WITHOUT_P.into_iter().for_each(|key| reasons.add(key, "all observations are equal"));
        }
        Self { reasons: Named(reasons.0), ..all }
    }
}

/// How often intervals of a method held in such a situation; `null` where they keep what they promise.
fn coverage(situation: Option<Situation>, method: Method) -> Option<Coverage> {
    situation?.warning(method).map(Coverage::from)
}

/// The key of the interval at a confidence: `ci95`, `ci97.5`.
fn key(confidence: f64) -> String {
    format!("ci{}", (confidence * 1e8).round() / 1e6)
}

fn levels(all: &Intervals) -> Levels {
    all.iter().map(|(confidence, found)| (key(*confidence), found.map(Interval::from))).collect()
}

fn at(all: &Intervals, confidence: f64) -> Option<found::Interval> {
    all.iter().find(|(known, _)| (known - confidence).abs() < 1e-9).and_then(|(_, found)| *found)
}

/// Exact intervals, and the confidence that each really has where that is less than asked for.
fn achieved(all: &[(f64, found::Interval, f64)]) -> (Levels, Vec<Option<f64>>) {
    let interval = |&(confidence, found, _): &(f64, found::Interval, f64)| {
        (key(confidence), Some(Interval::from(found)))
    };
    let really = all.iter().map(|(confidence, _, achieved)| Some(achieved.min(*confidence)));
    (all.iter().map(interval).collect(), really.collect())
}

impl From<found::PValues> for PValues {
    fn from(p: found::PValues) -> Self {
        Self { p_two: Some(p.two), p_less: Some(p.less), p_greater: Some(p.greater) }
    }
}

fn t_paired(means: &found::Means, situation: Option<Situation>) -> TPaired {
    TPaired {
        diff: Some(means.test.estimate),
        t: Some(means.test.t),
        df: Some(means.test.df),
        stderr: Some(means.test.standard_error),
        p: means.p.into(),
        intervals: levels(&means.intervals),
        coverage: coverage(situation, Method::MeanT),
    }
}

fn t_test(means: &found::Means, situation: Option<Situation>, method: Method) -> TTest {
    TTest {
        mean_of: Some(means.means.0),
        mean_against: Some(means.means.1),
        diff: Some(means.test.estimate),
        t: Some(means.test.t),
        df: Some(means.test.df),
        stderr: Some(means.test.standard_error),
        p: means.p.into(),
        intervals: levels(&means.intervals),
        pooled_sd: means.pooled_sd,
        half_width99: Some(means.half_width99),
        rel_diff_pct_of_against: Some(means.difference_percent),
        rel_half_width99_pct_of_against: Some(means.half_width99_percent),
        coverage: coverage(situation, method),
    }
}

/// How R would have done it.
fn method(exact: bool) -> &'static str {
    if exact { "exact" } else { "asymptotic" }
}

fn mann_whitney(test: &found::MannWhitney) -> MannWhitney {
    MannWhitney {
        u_of: Some(test.u.0),
        u_against: Some(test.u.1),
        ties: test.ties,
        r_default: method(test.exact.is_some()),
        exact: test.exact.map(PValues::from),
        asymptotic: test.asymptotic.into(),
        asymptotic_nocorrect: test.asymptotic_nocorrect.into(),
        z_corrected: Some(test.z.0),
        z: Some(test.z.1),
        log10_p_two_corrected: Some(test.log10_p_two),
    }
}

fn hodges_lehmann(found: &found::ShiftEstimate, situation: Option<Situation>) -> HodgesLehmann {
    let sides = |both: Option<(found::Interval, found::Interval)>| {
        (both.map(|(less, _)| less.into()), both.map(|(_, greater)| greater.into()))
    };
    HodgesLehmann {
        estimate_exact: Some(found.estimate),
        exact: found.exact.as_ref().map(|all| {
            let (less95, greater95) = sides(found.exact_one_sided);
            let (intervals, conf_level_achieved) = achieved(all);
            ExactShift {
                estimate: Some(found.estimate),
                intervals,
                conf_level_achieved,
                less95,
                greater95,
                coverage: coverage(situation, Method::ShiftExact),
            }
        }),
        asymptotic: found.asymptotic.as_ref().map(|all| {
            let (less95, greater95) = sides(found.asymptotic_one_sided);
            AsymptoticShift {
                estimate_root: Some(found.estimate),
                intervals: levels(all),
                less95,
                greater95,
                k95: found.k95.map(|(lower, upper)| [lower, upper]),
                coverage: coverage(situation, Method::ShiftAsymptotic),
            }
        }),
    }
}

fn signed_ranks(ranks: &found::SignedRanks, situation: Option<Situation>) -> SignedRanks {
    SignedRanks {
        n_used: ranks.n_used,
        v: Some(ranks.v),
        ties: ranks.ties,
        zeros: ranks.zeros,
        exact: ranks.exact.as_ref().map(|exact| {
            let (intervals, conf_level_achieved) = achieved(&exact.intervals);
            ExactRanks {
                p: exact.p.into(),
                estimate: Some(ranks.estimate),
                intervals,
                conf_level_achieved,
                coverage: coverage(situation, Method::PseudoMedianExact),
            }
        }),
        asymptotic: ranks.asymptotic.into(),
        asymptotic_nocorrect: ranks.asymptotic_nocorrect.into(),
        asymptotic_ci: RankIntervals {
            estimate: Some(ranks.estimate),
            intervals: levels(&ranks.asymptotic_ci),
            coverage: coverage(situation, Method::PseudoMedianAsymptotic),
        },
        pseudomedian_exact_all: Some(ranks.pseudomedian),
        rank_biserial: Some(ranks.rank_biserial),
    }
}

fn brunner_munzel(test: &found::Placements, situation: Option<Situation>) -> BrunnerMunzel {
    BrunnerMunzel {
        p_of_less_against_plus_half_ties: Some(test.p_less),
        stat: Some(test.statistic),
        df: Some(test.df),
        se: Some(test.standard_error),
        p: test.p.into(),
        intervals: levels(&test.intervals),
        coverage: coverage(situation, Method::BrunnerMunzel),
    }
}

fn kolmogorov(test: &found::KolmogorovSmirnov) -> KolmogorovSmirnov {
    KolmogorovSmirnov {
        d: Some(test.d),
        p_two: Some(test.p_two),
        method: method(test.exact),
        d_minus: Some(test.d_minus),
        p_less: Some(test.p_less),
        d_plus: Some(test.d_plus),
        p_greater: Some(test.p_greater),
        p_two_asymptotic: Some(test.p_two_asymptotic),
    }
}

fn effect_size(sizes: &found::EffectSize) -> EffectSize {
    EffectSize {
        a12: Some(sizes.a12),
        cliffs_delta: Some(sizes.cliffs_delta),
        cohen_d: Some(sizes.cohen_d),
        hedges_g_exact: Some(sizes.hedges_g),
        glass_delta_sd_against: Some(sizes.glass_delta),
    }
}

fn equivalence(test: &found::Equivalence, ci90: Option<found::Interval>) -> EquivalenceTest {
    EquivalenceTest {
        margin: Some(test.margin),
        t_lower: Some(test.t_lower),
        p_lower: Some(test.p_lower),
        t_upper: Some(test.t_upper),
        p_upper: Some(test.p_upper),
        df: Some(test.df),
        p_tost: Some(test.p()),
        ci90: ci90.map(Interval::from),
    }
}

impl From<&found::GroupTests> for GroupTests {
    fn from(groups: &found::GroupTests) -> Self {
        let chi =
            |test: Option<ChiSquaredTest>| test.map(|t| (Some(t.statistic), Some(t.df), Some(t.p)));
        Self {
            kruskal_wallis: chi(groups.kruskal_wallis).map(|(h, df, p)| KruskalWallis { h, df, p }),
            anova_oneway: groups.anova_oneway.map(VarianceRatio::from),
            anova_welch: groups.anova_welch.map(VarianceRatio::from),
            levene_median: groups.levene_median.map(VarianceRatio::from),
            fligner_killeen: chi(groups.fligner_killeen).map(|(x2, df, p)| FlignerKilleen {
                x2,
                df,
                p,
            }),
            pairwise_mann_whitney_asymptotic: (&groups.pairwise).into(),
        }
    }
}

impl From<FTest> for VarianceRatio {
    fn from(test: FTest) -> Self {
        Self { f: Some(test.f), df1: Some(test.df1), df2: Some(test.df2), p: Some(test.p) }
    }
}

impl From<&found::Pairwise> for Pairwise {
    fn from(all: &found::Pairwise) -> Self {
        let named = |p: &[f64]| -> Named<Option<f64>> {
            let names = all.pairs.iter().map(|(first, second)| format!("{first}|{second}"));
            names.zip(p.iter().copied().map(Some)).collect()
        };
        Self {
            raw: named(&all.raw),
            holm: named(&all.holm),
            bh: named(&all.bh),
            by: named(&all.by),
            hochberg: named(&all.hochberg),
            bonferroni: named(&all.bonferroni),
        }
    }
}
