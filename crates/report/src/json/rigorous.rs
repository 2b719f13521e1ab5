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

/// The four-step check of what may be published. All sizes are shifts, `of` − `against`, in the metric's base unit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rigorous {
    /// The worst status of all chains. It rules what may be published; `verdict` of a comparison stays beside it even where this
    /// is `failed`.
    pub outcome: Option<StepStatus>,
    /// The significance level asked for.
    pub alpha: Option<f64>,
    /// The power asked for.
    pub power: Option<f64>,
    /// The confidence asked for.
    pub confidence: Option<f64>,
    /// How many comparisons share significance and confidence.
    pub shared_by: Option<usize>,
    /// True for a run that looked after every block: level and interval are then those of one look.
    pub looked_often: Option<bool>,
    /// The seed of the resampling.
    pub seed: Option<u64>,
    /// One for every side that is compared; of one command alone, its own.
    pub chains: Vec<Chain>,
}

/// The four steps of one comparison.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chain {
    /// Name of the side that it is about.
    pub of: String,
    /// Name of the side that is the reference; `null` for one command alone.
    pub against: Option<String>,
    /// Name of the row; empty for commands.
    pub row: String,
    /// The parameters of the side by name.
    pub parameters: Map<String, Value>,
    /// The metric.
    pub metric: String,
    /// Its base unit.
    pub unit: String,
    /// Whether the samples were taken in blocks.
    pub paired: bool,
    /// The worst status of its steps.
    pub outcome: StepStatus,
    /// The step that failed, or `null`.
    pub stopped_at: Option<&'static str>,
    /// What one may publish, or why nothing.
    pub sentence: String,
    /// The smallest difference that matters.
    pub threshold: Option<f64>,
    /// Always `validity`, `power`, `test`, `effect`, in this order.
    pub steps: Vec<Step>,
}

words! {
    /// How a step of the check ended.
    StepStatus from Status {
        /// In order.
        Source::Passed => Passed,
        /// In order, if the findings are read with it.
        Source::Warning => Warning,
        /// The check ends here.
        Source::Failed => Failed,
        /// A step before failed, or there is nothing to take the step with.
        Source::NotReached => NotReached,
    }
}

/// A step of the check.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// Its status.
    pub status: StepStatus,
    /// What it found, in words.
    pub line: String,
    /// What speaks against it, and what to know about it, the worst first: `serious` fails the step, `warning` warns.
    pub findings: Vec<Finding>,
    /// What it rests on; `null` where it was not reached.
    pub numbers: Option<Numbers>,
}

/// What a step rests on.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Numbers {
    /// Of `validity`.
    Validity(ValidityNumbers),
    /// Of `power`.
    Power(PowerNumbers),
    /// Of `test`.
    Test(TestNumbers),
    /// Of `effect`.
    Effect(EffectNumbers),
}

view! {
    /// Numbers of `validity`.
    ValidityNumbers of (found: &Validity, names: &[String]) {
        /// The series, the reference first.
        series: Vec<CheckedSeries> = found.series.iter().map(|s| CheckedSeries::of(s, names)).collect(),
        /// The same of the per-block differences; `null` when not taken in blocks.
        differences: Option<CheckedSeries> =
            found.differences.as_ref().map(|d| CheckedSeries::of(d, names)),
        /// The step in which values come.
        clock_step: Option<f64> = Some(found.clock_step),
        /// Rank autocorrelation of successive differences where the difference changed during a run in blocks; otherwise `null`.
        drift_correlation: Option<f64> = found.drifting,
        /// What may have caused autocorrelation.
        causes: Vec<PossibleCause> = found.causes.iter().map(PossibleCause::of).collect(),
    }
}

view! {
    /// One series of values.
    CheckedSeries of (found: &SeriesFound, names: &[String]) {
        /// Its name; `null` for differences.
        name: Option<String> = names.get(found.subject).cloned(),
        /// Number of values.
        n: usize = found.n,
        /// The largest absolute autocorrelation over `lags_r_default` lags. R: `acf(x)`.
        acf_max_abs_r_default: Option<f64> = Some(found.acf_max_r_default),
        /// The lags that R takes by itself.
        lags_r_default: usize = found.lags_r_default,
        /// The largest absolute autocorrelation over 30 lags.
        acf_max_abs_30: Option<f64> = Some(found.acf_max_30),
        /// 1.96/√n.
        acf_bound: Option<f64> = Some(found.acf_bound),
        /// Rank autocorrelation of neighbours.
        rank_lag1: Option<f64> = Some(found.lag1),
        /// How strongly successive values are correlated (1: not at all).
        autocorrelation_time: Option<f64> = Some(found.autocorrelation_time),
        /// How many independent values they are worth.
        effective_sample_size: Option<f64> = Some(found.effective),
        /// The same as a share of `n`.
        ess_per_n: Option<f64> = Some(found.share()),
        /// Change from the first to the last third, where it is more than chance.
        drift: Option<f64> = found.drift,
        /// Skewness.
        skewness_g1: Option<f64> = Some(found.moments.0.plain),
        /// Excess kurtosis.
        kurtosis_g2: Option<f64> = Some(found.moments.1.plain),
        /// How far the values are from normal, lognormal and exponential.
        distributions: Vec<CheckedDistribution> =
            found.distributions.iter().map(CheckedDistribution::of).collect(),
        /// How often it failed.
        failures: usize = found.failures.0,
        /// How often it hit the time limit.
        timeouts: usize = found.failures.1,
    }
}

view! {
    /// The distance of values from a distribution with fitted parameters.
    CheckedDistribution of (found: &DistributionFound) {
        /// `normal`, `lognormal` or `exponential`.
        distribution: &'static str = found.distribution,
        /// The distance of the distribution functions.
        #[serde(rename = "D")]
        d: Option<f64> = Some(found.d),
        /// The p-value that ignores the fitting. R: `ks.test` with fitted parameters.
        p_naive: Option<f64> = Some(found.p_naive),
        /// Whether the distribution is rejected.
        rejected: bool = found.is_rejected(),
    }
}

view! {
    /// What may have caused autocorrelation.
    PossibleCause of (cause: &Cause) {
        /// Which.
        cause: CauseKind = (&cause.kind).into(),
        /// A quote from the recording; `null` where it says nothing.
        evidence: Option<String> = cause.evidence.clone(),
    }
}

words! {
    /// A thing that makes values correlated.
    CauseKind from protocol::CauseKind {
        /// The CPU's frequency was left to follow the load.
        Source::Frequency => FrequencyScaling,
        /// Other work on the machine.
        Source::Neighbours => Neighbours,
        /// The values drift: warming up, leaking, filling a cache.
        Source::Drift => Drift,
    }
}

view! {
    /// Numbers of `power`.
    PowerNumbers of (found: &PowerFound, names: &[String], chain: &Protocol) {
        /// The bootstrapped standard deviation of each side, in blocks of the differences. R: `boot.ci`.
        bootstrap_sd: Vec<BootstrappedSpread> =
            found.spreads.iter().map(|s| BootstrappedSpread::of(s, names)).collect(),
        /// Confidence of its intervals.
        confidence: Option<f64> = Some(found.confidence),
        /// The standard deviation planned with: the largest of all upper ends.
        sd: Option<f64> = Some(found.sd),
        /// The difference planned for: the threshold.
        delta: Option<f64> = Some(chain.threshold),
        /// The share of the significance.
        sig_level: Option<f64> = Some(chain.level_planned()),
        /// The power asked for.
        power: Option<f64> = Some(chain.power_wanted),
        /// Values (or blocks) of each that Student's t needs; `null` without a solution. R: `power.t.test`.
        n_t: Option<f64> = found.n_t,
        /// 1.15 times that, rounded up to a whole number.
        needed: Option<f64> = found.needed,
        /// The same, rounded up to two leading digits.
        planned: Option<f64> = found.planned,
        /// `needed` for ten times the threshold.
        needed_tenfold: Option<f64> = found.needed_tenfold,
        /// Values (or blocks) of each that there are or are worth; for two sides the harmonic mean.
        have: Option<f64> = Some(found.have),
        /// The power that these have for the threshold.
        achieved: Option<f64> = found.power,
        /// The smallest difference that they find with the power asked for.
        detectable: Option<f64> = found.visible,
    }
}

view! {
    /// A bootstrapped standard deviation.
    BootstrappedSpread of (spread: &FoundSpread, names: &[String]) {
        /// Whose.
        name: Option<String> = names.get(spread.subject).cloned(),
        /// The standard deviation.
        t0: Option<f64> = Some(spread.sd),
        /// Its normal interval.
        normal: Option<Interval> = spread.normal.map(Interval::from),
        /// Its basic interval.
        basic: Option<Interval> = spread.basic.map(Interval::from),
        /// Its percentile interval.
        percentile: Option<Interval> = spread.percentile.map(Interval::from),
        /// Number of resamples.
        resamples: usize = spread.resamples,
    }
}

view! {
    /// Numbers of `test`.
    TestNumbers of (found: &TestFound, chain: &Protocol) {
        /// Which test.
        test: TestName = (&found.name).into(),
        /// R's W (pairs in which `of` is larger, ties half), or V.
        statistic: Option<f64> = Some(found.statistic),
        /// Whether the p-value is exact.
        exact: bool = found.exact,
        /// Two-sided p-value that takes the values for independent.
        p_two: Option<f64> = Some(found.p),
        /// Its log₁₀, also where it is 0.
        log10_p_two: Option<f64> = Some(found.log10_p),
        /// The same, made larger for autocorrelation: the one that decides.
        log10_p_decisive: Option<f64> = Some(found.log10_p_decisive),
        /// The level that it was held against.
        level: Option<f64> = Some(level(chain.level)),
        /// Whether it rejects.
        rejects: bool = found.rejects,
    }
}

words! {
    /// The test of a difference.
    TestName from protocol::TestName {
        /// Mann and Whitney's, or Wilcoxon's rank-sum test.
        Source::MannWhitney => MannWhitney,
        /// Wilcoxon's signed-rank test, of blocks.
        Source::SignedRank => WilcoxonSignedRank,
    }
}

view! {
    /// Numbers of `effect`.
    EffectNumbers of (found: &EffectFound, chain: &Protocol) {
        /// The median of all differences `of` − `against`; for blocks the pseudo-median of their differences.
        hodges_lehmann: Option<f64> = Some(found.estimate),
        /// The interval that decides; `null` for too few values.
        interval: Option<Interval> = found.interval.map(Interval::from),
        /// The interval that takes the values for independent, as R gives it.
        classic: Option<Interval> = found.classic.map(Interval::from),
        /// Two-sided level of both.
        level: Option<f64> = Some(level(chain.interval_level)),
        /// Share of pairs (or blocks) in which `of` is better, ties half.
        superiority: Option<f64> = Some(found.superiority()),
        /// Pairs in which it is better.
        better: Option<f64> = Some(found.wins.better),
        /// Pairs in which it is worse.
        worse: Option<f64> = Some(found.wins.worse),
        /// All pairs.
        pairs: Option<f64> = Some(found.wins.of),
        /// Differences of quantiles.
        quantiles: Vec<QuantileShift> = found.quantiles.iter().map(QuantileShift::of).collect(),
    }
}

view! {
    /// The difference of one quantile.
    QuantileShift of (found: &QuantileDifference) {
        /// The share of values below it.
        share: f64 = found.share,
        /// The quantile of the side.
        of: Option<f64> = Some(found.y),
        /// The quantile of the reference.
        against: Option<f64> = Some(found.x),
        /// Their difference.
        difference: Option<f64> = Some(found.difference),
        /// Its interval.
        interval: Option<Interval> = found.interval.map(Interval::from),
    }
}

impl Rigorous {
    /// The chains of an analysis.
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
