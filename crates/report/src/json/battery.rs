//! All classical tests as JSON: the additions of `--all` to a report.
//!
//! Keys are those of the R session that serves as the reference (`p_two`, `ci95`, `U_of`), so that
//! R users recognize them. Missing results are `null`, and `reasons` says why. Nothing is computed
//! here.

mod groups;
pub(crate) mod intervals;
mod means;
mod ranks;

pub use groups::GroupTests;
pub(crate) use ranks::SignedRanks;

use super::values::{Interval, NamedValues, view, words};
use assay_analysis::battery::{self as found, Computed};
use assay_analysis::coverage::Method;
use means::{EquivalenceTest, RatioOfMeans, StudentT, TTest, VarianceTest};
use ranks::{BrunnerMunzel, EffectSize, HodgesLehmann, KolmogorovSmirnov, MannWhitney};
use serde::Serialize;

/// Every classical test of two series, with the numbers that R computes for the same data. `of` and
/// `against` are the values of the side and of its reference, as in `t.test(of, against)`. For
/// blocks, they are the values of the complete blocks. The verdict does not come from these tests.
/// A test without a result is `null`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairTests {
    /// Student's t-test, assuming equal variances. R: `t.test(of, against, var.equal = TRUE)`.
    pub t_pooled: Option<TTest>,
    /// Welch's t-test. R: `t.test(of, against)`.
    pub t_welch: Option<TTest>,
    /// Student's t-test of the paired differences. R: `t.test(of, against, paired = TRUE)`.
    pub t_paired: Option<StudentT>,
    /// The Mann-Whitney test (Wilcoxon's rank-sum test). R: `wilcox.test(of, against)`.
    pub mann_whitney: Option<MannWhitney>,
    /// The Hodges-Lehmann shift with its intervals. R: `wilcox.test(of, against, conf.int = TRUE)`.
    pub hodges_lehmann: Option<HodgesLehmann>,
    /// The ratio, from the shift of the logarithms; needs positive values. R: `exp()` of
    /// `wilcox.test(log(of), log(against), conf.int = TRUE)`.
    pub ratio_hodges_lehmann_log: Option<HodgesLehmann>,
    /// Wilcoxon's signed-rank test of the paired differences. R: `wilcox.test(of, against, paired =
    /// TRUE, conf.int = TRUE)`.
    pub wilcoxon_signed_rank: Option<SignedRanks>,
    /// The Brunner-Munzel test of whether one side tends to be smaller. R: `brunnermunzel.test(of,
    /// against)` of the package `brunnermunzel`.
    pub brunner_munzel: Option<BrunnerMunzel>,
    /// The two-sample Kolmogorov-Smirnov test. R: `ks.test(of, against)`.
    pub ks_two_sample: Option<KolmogorovSmirnov>,
    /// Effect sizes.
    pub effect_size: Option<EffectSize>,
    /// The F test for the ratio of the variances. R: `var.test(of, against)`.
    pub f_test_variance: Option<VarianceTest>,
    /// Equivalence of the means within 1 % of the reference's mean. R: `t.test(of, against, mu = -margin,
    /// alternative = "greater")`, and `mu = margin` with `"less"`.
    pub tost_welch_1pct_of_mean_against: Option<EquivalenceTest>,
    /// Equivalence of the means within 5 % of the reference's mean.
    pub tost_welch_5pct_of_mean_against: Option<EquivalenceTest>,
    /// Equivalence of the means within the threshold of the plan.
    pub tost_welch_threshold: Option<EquivalenceTest>,
    /// Ratio of the means; needs positive values.
    pub ratio_of_means: Option<RatioOfMeans>,
    /// Results that hold at every look, for blocks with positive values.
    pub anytime: Option<AnytimeValid>,
    /// How the values are paired; `null` if they are not.
    pub paired_by: Option<PairedBy>,
    /// Reasons for missing answers, by the key of the test.
    pub reasons: NamedValues<String>,
}

words! {
    /// The ways in which values can be paired.
    PairedBy from found::Pairing {
        /// Paired by block.
        Source::Blocks => Blocks,
        /// Paired by order, for recordings of the same length.
        Source::Order => Order,
    }
}

view! {
    /// Results that hold at every look, no matter when the run is stopped.
    AnytimeValid of (found: &found::Anytime) {
        /// Significance level, which is 1 − the confidence level.
        level: f64,
        /// log₁₀ of the e-value of the sign e-process, against the hypothesis that each side is
        /// faster equally often.
        sign_log10_e: Option<f64>,
        /// True if the e-value has reached 1/`level`.
        rejects: bool,
        /// Asymptotic confidence sequence for the geometric mean of the per-block ratios; `null` if
        /// there are fewer than 20 blocks.
        mean_ratio: Option<Interval>,
        /// Confidence sequence of the median of the per-block ratios, for any distribution; `null`
        /// if there are too few blocks.
        median_ratio: Option<Interval>,
    }
}

/// Tests that have a result but no p-value if all values are equal.
const WITHOUT_P: [&str; 4] = ["mann_whitney", "brunner_munzel", "f_test_variance", "effect_size"];

/// Collects the results of tests, and the reasons for missing ones.
#[derive(Default)]
struct Reasons(Vec<(String, String)>);

impl Reasons {
    fn answer<T, V>(
        &mut self,
        key: &str,
        found: &Computed<T>,
        show: impl Fn(&T) -> V,
    ) -> Option<V> {
        match found {
            Ok(found) => Some(show(found)),
            Err(missing) => {
                self.add(key, missing.words());
                None
            }
        }
    }

    /// Records the reason for a test, replacing any earlier one.
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
        let (both, pairs) = (Some(tests.situation), tests.situation_of_pairs);
        let welch = tests.t_welch.as_ref().ok();
        let ci90 = welch.and_then(|welch| means::at(&welch.intervals, 0.9));
        macro_rules! answer {
            ($key:ident, $show:expr) => {
                answer!($key = $key, $show)
            };
            ($key:ident = $source:ident, $show:expr) => {
                reasons.answer(stringify!($key), &tests.$source, $show)
            };
        }
        let t = |method| move |means: &found::Means| TTest::of(means, both, method);
        let shift = |found: &found::ShiftEstimate| HodgesLehmann::of(found, both);
        let within = |index: usize| {
            move |all: &[found::Equivalence; 3]| EquivalenceTest::of(&all[index], ci90)
        };
        let mut all = Self {
            tost_welch_1pct_of_mean_against: answer!(
                tost_welch_1pct_of_mean_against = tost,
                within(0)
            ),
            tost_welch_5pct_of_mean_against: answer!(
                tost_welch_5pct_of_mean_against = tost,
                within(1)
            ),
            tost_welch_threshold: answer!(tost_welch_threshold = tost, within(2)),
            t_pooled: answer!(t_pooled, t(Method::PooledT)),
            t_welch: answer!(t_welch, t(Method::Welch)),
            t_paired: answer!(t_paired, |means| StudentT::of(means, pairs, Method::MeanT)),
            mann_whitney: answer!(mann_whitney, MannWhitney::of),
            hodges_lehmann: answer!(hodges_lehmann, shift),
            ratio_hodges_lehmann_log: answer!(ratio_hodges_lehmann_log, shift),
            wilcoxon_signed_rank: answer!(wilcoxon_signed_rank, |r| SignedRanks::of(r, pairs)),
            brunner_munzel: answer!(brunner_munzel, |test| BrunnerMunzel::of(test, both)),
            ks_two_sample: answer!(ks_two_sample, KolmogorovSmirnov::of),
            effect_size: answer!(effect_size, EffectSize::of),
            f_test_variance: answer!(f_test_variance, VarianceTest::of),
            ratio_of_means: answer!(ratio_of_means, |ratio| RatioOfMeans::of(ratio, both)),
            anytime: answer!(anytime, AnytimeValid::of),
            paired_by: tests.pairing.as_ref().map(PairedBy::from),
            reasons: NamedValues(Vec::new()),
        };
        if tests.all_equal {
            WITHOUT_P.into_iter().for_each(|key| reasons.add(key, "all observations are equal"));
        }
        all.reasons = NamedValues(reasons.0);
        all
    }
}
