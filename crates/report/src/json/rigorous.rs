//! The four-step check as JSON: validity, power, test, effect.

use super::finding::Finding;
use super::parameters;
use super::values::{Interval, level, view, words};
use crate::protocol::words::Teller;
use assay_analysis::Analysis;
use assay_analysis::protocol::{
    self, Cause, DistributionFound, EffectFound, PowerFound, Protocol, QuantileDifference,
    SeriesFound, Spread as FoundSpread, Status, TestFound, Validity,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// The four-step check for publication. All sizes are shifts, `of` − `against`, in the metric's
/// base unit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rigorous {
    /// The worst status of all chains, which determines what may be published. A comparison still
    /// has a `verdict` if this is `failed`.
    pub outcome: Option<StepStatus>,
    /// The requested significance level.
    pub alpha: Option<f64>,
    /// The requested power.
    pub power: Option<f64>,
    /// The requested confidence.
    pub confidence: Option<f64>,
    /// Number of comparisons that share the significance level and the confidence.
    pub shared_by: Option<usize>,
    /// True if the run was evaluated after every block. Levels and intervals are then those of a
    /// single evaluation.
    pub looked_often: Option<bool>,
    /// The seed of the resampling.
    pub seed: Option<u64>,
    /// One chain for every compared side or, if there is only one command, for that command.
    pub chains: Vec<Chain>,
}

/// The four steps of one comparison.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chain {
    /// Name of the side.
    pub of: String,
    /// Name of the reference side; `null` for a single command.
    pub against: Option<String>,
    /// Name of the row; empty for commands.
    pub row: String,
    /// Parameters of the side, by name.
    pub parameters: Map<String, Value>,
    /// The metric.
    pub metric: String,
    /// Base unit of the metric.
    pub unit: String,
    /// True if the samples were taken in blocks.
    pub paired: bool,
    /// The worst status of all steps.
    pub outcome: StepStatus,
    /// The step that failed, or `null`.
    pub stopped_at: Option<&'static str>,
    /// The statement that may be published, or the reason why none may be.
    pub sentence: String,
    /// The smallest difference that matters, in the base unit.
    pub threshold: Option<f64>,
    /// Always `validity`, `power`, `test`, `effect`, in this order.
    pub steps: Vec<Step>,
}

words! {
    /// Statuses of a step.
    StepStatus from Status {
        /// The step passed.
        Source::Passed => Passed,
        /// The step passed, with findings to consider.
        Source::Warning => Warning,
        /// The step failed, and the check ends here.
        Source::Failed => Failed,
        /// An earlier step failed, or the data for this step is missing.
        Source::NotReached => NotReached,
    }
}

/// A step of the check.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// Name of the step.
    pub name: &'static str,
    /// Status of the step.
    pub status: StepStatus,
    /// Result of the step in words.
    pub line: String,
    /// Findings of the step, worst first. A `serious` finding fails the step; a `warning` does not.
    pub findings: Vec<Finding>,
    /// The numbers of the step; `null` if it was not reached.
    pub numbers: Option<Numbers>,
}

/// The numbers behind a step.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Numbers {
    /// Numbers of `validity`.
    Validity(ValidityNumbers),
    /// Numbers of `power`.
    Power(PowerNumbers),
    /// Numbers of `test`.
    Test(TestNumbers),
    /// Numbers of `effect`.
    Effect(EffectNumbers),
}

view! {
    /// Numbers of `validity`.
    ValidityNumbers of (found: &Validity, names: &[String]) {
        /// The series, reference first.
        series: Vec<CheckedSeries> = found.series.iter().map(|s| CheckedSeries::of(s, names)).collect(),
        /// Results for the series of the per-block differences; `null` if the samples were not
        /// taken in blocks.
        differences: Option<CheckedSeries> =
            found.differences.as_ref().map(|d| CheckedSeries::of(d, names)),
        /// Resolution of the values, in the base unit.
        clock_step: Option<f64>,
        /// Rank autocorrelation of successive per-block differences; `null` unless the difference
        /// drifted during the run.
        drift_correlation: Option<f64> => found.drifting,
        /// Possible causes of autocorrelation.
        causes: Vec<PossibleCause>,
    }
}

view! {
    /// One series of values.
    CheckedSeries of (found: &SeriesFound, names: &[String]) {
        /// Name of the series; `null` for differences.
        name: Option<String> => names.get(found.subject),
        /// Number of values.
        n: usize,
        /// The largest absolute autocorrelation over `lags_r_default` lags. R: `acf(x)`.
        acf_max_abs_r_default: Option<f64> => found.acf_max_r_default,
        /// The default number of lags of R's `acf`.
        lags_r_default: usize,
        /// The largest absolute autocorrelation over 30 lags.
        acf_max_abs_30: Option<f64> => found.acf_max_30,
        /// 1.96/√n, which independent values rarely exceed.
        acf_bound: Option<f64>,
        /// Rank autocorrelation at lag 1.
        rank_lag1: Option<f64> => found.lag1,
        /// Autocorrelation time of successive values (1: no correlation).
        autocorrelation_time: Option<f64>,
        /// Effective number of independent values.
        effective_sample_size: Option<f64> => found.effective,
        /// The effective sample size as a share of `n`.
        ess_per_n: Option<f64> => found.share(),
        /// Change from the first to the last third, in the base unit; `null` unless it is larger
        /// than chance.
        drift: Option<f64>,
        /// Skewness.
        skewness_g1: Option<f64> => found.moments.0.plain,
        /// Excess kurtosis.
        kurtosis_g2: Option<f64> => found.moments.1.plain,
        /// Distances of the values from normal, lognormal and exponential distributions.
        distributions: Vec<CheckedDistribution>,
        /// Number of failed runs.
        failures: usize => found.failures.0,
        /// Number of runs that reached the time limit.
        timeouts: usize => found.failures.1,
    }
}

view! {
    /// The distance of values from a distribution with fitted parameters.
    CheckedDistribution of (found: &DistributionFound) {
        /// `normal`, `lognormal` or `exponential`.
        distribution: &'static str,
        /// The largest distance between the distribution functions.
        #[serde(rename = "D")]
        d: Option<f64>,
        /// p-value that treats the fitted parameters as known, and is therefore too large. R:
        /// `ks.test` with fitted parameters.
        p_naive: Option<f64>,
        /// True if the distribution is rejected.
        rejected: bool = found.is_rejected(),
    }
}

view! {
    /// A possible cause of autocorrelation.
    PossibleCause of (cause: &Cause) {
        /// The cause.
        cause: CauseKind => cause.kind,
        /// A quote from the recording; `null` if there is none.
        evidence: Option<String>,
    }
}

words! {
    /// Causes of correlated values.
    CauseKind from protocol::CauseKind {
        /// The CPU's frequency varied with the load.
        Source::Frequency => FrequencyScaling,
        /// Other work on the machine.
        Source::Neighbours => Neighbours,
        /// The values drift because something warms up, leaks memory or fills a cache.
        Source::Drift => Drift,
    }
}

view! {
    /// Numbers of `power`.
    PowerNumbers of (found: &PowerFound, names: &[String], chain: &Protocol) {
        /// Bootstrapped standard deviations of each side, reference first; for blocks, that of the
        /// differences. R: `boot.ci`.
        bootstrap_sd: Vec<BootstrappedSpread> =
            found.spreads.iter().map(|s| BootstrappedSpread::of(s, names)).collect(),
        /// Confidence of the intervals.
        confidence: Option<f64>,
        /// The standard deviation used for planning: the largest of the intervals' upper ends.
        sd: Option<f64>,
        /// The planned difference: the threshold.
        delta: Option<f64> => chain.threshold,
        /// The significance level of this comparison.
        sig_level: Option<f64> => chain.level_planned(),
        /// The requested power.
        power: Option<f64> => chain.power_wanted,
        /// Number of values (or blocks) per side that Student's t-test needs to find the threshold;
        /// `null` if there is no solution. R: `power.t.test`.
        n_t: Option<f64>,
        /// 1.15 times `n_t`, rounded up.
        needed: Option<f64>,
        /// `needed`, rounded up to two significant digits.
        planned: Option<f64>,
        /// `needed` for ten times the threshold.
        needed_tenfold: Option<f64>,
        /// Effective number of values (or blocks) per side. For two sides, the harmonic mean.
        have: Option<f64>,
        /// Power of the available values to find the threshold.
        achieved: Option<f64> => found.power,
        /// The smallest difference that the available values find with the requested power, in the
        /// base unit.
        detectable: Option<f64> => found.visible,
    }
}

view! {
    /// A bootstrapped standard deviation.
    BootstrappedSpread of (spread: &FoundSpread, names: &[String]) {
        /// Name of the series.
        name: Option<String> => names.get(spread.subject),
        /// The standard deviation.
        t0: Option<f64> => spread.sd,
        /// Interval by the normal method.
        normal: Option<Interval>,
        /// Interval by the basic method.
        basic: Option<Interval>,
        /// Interval by the percentile method.
        percentile: Option<Interval>,
        /// Number of resamples.
        resamples: usize,
    }
}

view! {
    /// Numbers of `test`.
    TestNumbers of (found: &TestFound, chain: &Protocol) {
        /// The test that was used.
        test: TestName => found.name,
        /// R's W, the number of pairs in which `of` is larger (ties count half); for blocks, R's V.
        statistic: Option<f64>,
        /// True if the p-value is exact.
        exact: bool,
        /// Two-sided p-value for independent values.
        p_two: Option<f64> => found.p,
        /// log₁₀ of `p_two`, which is known even if `p_two` is 0.
        log10_p_two: Option<f64> => found.log10_p,
        /// log₁₀ of the p-value that decides, which accounts for autocorrelation.
        log10_p_decisive: Option<f64>,
        /// Significance level with which the deciding p-value is compared.
        level: Option<f64> = Some(level(chain.level)),
        /// True if the deciding p-value is below the level.
        rejects: bool,
    }
}

words! {
    /// Tests of a difference.
    TestName from protocol::TestName {
        /// The Mann-Whitney test, also known as Wilcoxon's rank-sum test.
        Source::MannWhitney => MannWhitney,
        /// Wilcoxon's signed-rank test, for blocks.
        Source::SignedRank => WilcoxonSignedRank,
    }
}

view! {
    /// Numbers of `effect`.
    EffectNumbers of (found: &EffectFound, chain: &Protocol) {
        /// The Hodges-Lehmann shift, which is the median of all differences `of` − `against`; for
        /// blocks, the pseudo-median of the per-block differences.
        hodges_lehmann: Option<f64> => found.estimate,
        /// The interval that decides; `null` if there are too few values.
        interval: Option<Interval>,
        /// The interval for independent values, as in R.
        classic: Option<Interval>,
        /// Two-sided level of both intervals.
        level: Option<f64> = Some(level(chain.interval_level)),
        /// Share of pairs (or blocks) in which `of` is better. Ties count half.
        superiority: Option<f64> => found.superiority(),
        /// Number of pairs (or blocks) in which `of` is better.
        better: Option<f64> => found.wins.better,
        /// Number of pairs (or blocks) in which `of` is worse.
        worse: Option<f64> => found.wins.worse,
        /// Total number of pairs (or blocks), including ties.
        pairs: Option<f64> => found.wins.of,
        /// Differences of quantiles.
        quantiles: Vec<QuantileShift>,
    }
}

view! {
    /// The difference of one quantile.
    QuantileShift of (found: &QuantileDifference) {
        /// Share of values below the quantile, such as 0.99 for p99.
        share: f64,
        /// The quantile of the side.
        of: Option<f64> => found.y,
        /// The quantile of the reference.
        against: Option<f64> => found.x,
        /// The difference of the quantiles, `of` − `against`.
        difference: Option<f64>,
        /// Interval of the difference.
        interval: Option<Interval>,
    }
}

impl Rigorous {
    /// Returns the check of an analysis from the chains of its comparisons.
    pub fn new(analysis: &Analysis, chains: &[Protocol]) -> Self {
        let first = chains.first();
        Self {
            outcome: chains.iter().map(Protocol::outcome).max().as_ref().map(StepStatus::from),
            alpha: first.map(|c| c.alpha),
            power: first.map(|c| c.power_wanted),
            confidence: first.map(|c| c.confidence),
            shared_by: first.map(|c| c.shared_by),
            looked_often: first.map(|c| c.looked_often),
            seed: first.map(|c| c.resampling.1),
            chains: chains.iter().map(|c| chain(analysis, c)).collect(),
        }
    }
}

fn chain(analysis: &Analysis, chain: &Protocol) -> Chain {
    let names = analysis.names();
    let teller = Teller::new(analysis, chain, &names);
    let side = |subject: usize| analysis.sides[analysis.subjects[subject].side].name.clone();
    let own = &analysis.subjects[chain.of];
    let numbers = [
        chain.validity.found.as_ref().map(|f| Numbers::Validity(ValidityNumbers::of(f, &names))),
        chain.power.found.as_ref().map(|f| Numbers::Power(PowerNumbers::of(f, &names, chain))),
        chain.test.found.as_ref().map(|f| Numbers::Test(TestNumbers::of(f, chain))),
        chain.effect.found.as_ref().map(|f| Numbers::Effect(EffectNumbers::of(f, chain))),
    ];
    let steps = chain.steps().into_iter().zip(numbers).enumerate();
    Chain {
        of: side(chain.of),
        against: chain.against.map(side),
        row: analysis.rows[own.row].name.clone(),
        parameters: parameters(&own.parameters),
        metric: analysis.metrics[chain.metric].name.clone(),
        unit: analysis.metrics[chain.metric].unit.symbol().to_owned(),
        paired: chain.paired,
        outcome: (&chain.outcome()).into(),
        stopped_at: chain.stopped_at().map(|at| chain.steps()[at].0),
        sentence: teller.sentence(),
        threshold: Some(chain.threshold),
        steps: steps
            .map(|(index, ((name, status, found), numbers))| Step {
                name,
                status: (&status).into(),
                line: teller.line(index),
                findings: found.iter().map(Finding::of).collect(),
                numbers,
            })
            .collect(),
    }
}
