//! The four-step check as JSON: validity, power, test, effect.

use super::finding::Finding;
use super::parameters;
use super::values::{Interval, level};
use crate::protocol::words::Teller;
use assay_analysis::protocol::{
    DistributionFound, EffectFound, PowerFound, Protocol, QuantileDifference, SeriesFound,
    Spread as FoundSpread, Status, TestFound, Validity,
};
use assay_analysis::{Analysis, Interval as FoundInterval};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The four-step check of what may be published. All sizes are shifts, `of` − `against`, in the metric's base unit; statuses are
/// `passed`, `warning`, `failed`, `not_reached`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Rigorous {
    /// The worst status of all chains. It rules what may be published; `verdict` of a comparison stays beside it even where this
    /// is `failed`.
    pub outcome: Option<&'static str>,
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
    pub outcome: &'static str,
    /// The step that failed, or `null`.
    pub stopped_at: Option<&'static str>,
    /// What one may publish, or why nothing.
    pub sentence: String,
    /// The smallest difference that matters.
    pub threshold: Option<f64>,
    /// Always `validity`, `power`, `test`, `effect`, in this order.
    pub steps: Vec<Step>,
}

/// A step of the check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// Its status.
    pub status: &'static str,
    /// What it found, in words.
    pub line: String,
    /// What speaks against it, and what to know about it, the worst first: `serious` fails the step, `warning` warns.
    pub findings: Vec<Finding>,
    /// What it rests on; `null` where it was not reached.
    pub numbers: Option<Numbers>,
}

/// What a step rests on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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

/// Numbers of `validity`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ValidityNumbers {
    /// The series, the reference first.
    pub series: Vec<CheckedSeries>,
    /// The same of the per-block differences; `null` when not taken in blocks.
    pub differences: Option<CheckedSeries>,
    /// The step in which values come.
    pub clock_step: Option<f64>,
    /// Rank autocorrelation of successive differences where the difference changed during a run in blocks; otherwise `null`.
    pub drift_correlation: Option<f64>,
    /// What may have caused autocorrelation.
    pub causes: Vec<PossibleCause>,
}

/// One series of values.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedSeries {
    /// Its name; `null` for differences.
    pub name: Option<String>,
    /// Number of values.
    pub n: usize,
    /// The largest absolute autocorrelation over `lags_r_default` lags. R: `acf(x)`.
    pub acf_max_abs_r_default: Option<f64>,
    /// The lags that R takes by itself.
    pub lags_r_default: usize,
    /// The largest absolute autocorrelation over 30 lags.
    pub acf_max_abs_30: Option<f64>,
    /// 1.96/√n.
    pub acf_bound: Option<f64>,
    /// Rank autocorrelation of neighbours.
    pub rank_lag1: Option<f64>,
    /// How strongly successive values are correlated (1: not at all).
    pub autocorrelation_time: Option<f64>,
    /// How many independent values they are worth.
    pub effective_sample_size: Option<f64>,
    /// The same as a share of `n`.
    pub ess_per_n: Option<f64>,
    /// Change from the first to the last third, where it is more than chance.
    pub drift: Option<f64>,
    /// Skewness.
    pub skewness_g1: Option<f64>,
    /// Excess kurtosis.
    pub kurtosis_g2: Option<f64>,
    /// How far the values are from normal, lognormal and exponential.
    pub distributions: Vec<CheckedDistribution>,
    /// How often it failed.
    pub failures: usize,
    /// How often it hit the time limit.
    pub timeouts: usize,
}

/// The distance of values from a distribution with fitted parameters.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedDistribution {
    /// `normal`, `lognormal` or `exponential`.
    pub distribution: &'static str,
    /// The distance of the distribution functions.
    #[serde(rename = "D")]
    pub d: Option<f64>,
    /// The p-value that ignores the fitting. R: `ks.test` with fitted parameters.
    pub p_naive: Option<f64>,
    /// Whether the distribution is rejected.
    pub rejected: bool,
}

/// What may have caused autocorrelation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PossibleCause {
    /// `frequency_scaling`, `neighbours` or `drift`.
    pub cause: &'static str,
    /// A quote from the recording; `null` where it says nothing.
    pub evidence: Option<String>,
}

/// Numbers of `power`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PowerNumbers {
    /// The bootstrapped standard deviation of each side, in blocks of the differences. R: `boot.ci`.
    pub bootstrap_sd: Vec<BootstrappedSpread>,
    /// Confidence of its intervals.
    pub confidence: Option<f64>,
    /// The standard deviation planned with: the largest of all upper ends.
    pub sd: Option<f64>,
    /// The difference planned for: the threshold.
    pub delta: Option<f64>,
    /// The share of the significance.
    pub sig_level: Option<f64>,
    /// The power asked for.
    pub power: Option<f64>,
    /// Values (or blocks) of each that Student's t needs; `null` without a solution. R: `power.t.test`.
    pub n_t: Option<f64>,
    /// 1.15 times that, rounded up to a whole number.
    pub needed: Option<f64>,
    /// The same, rounded up to two leading digits.
    pub planned: Option<f64>,
    /// `needed` for ten times the threshold.
    pub needed_tenfold: Option<f64>,
    /// Values (or blocks) of each that there are or are worth; for two sides the harmonic mean.
    pub have: Option<f64>,
    /// The power that these have for the threshold.
    pub achieved: Option<f64>,
    /// The smallest difference that they find with the power asked for.
    pub detectable: Option<f64>,
}

/// A bootstrapped standard deviation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BootstrappedSpread {
    /// Whose.
    pub name: Option<String>,
    /// The standard deviation.
    pub t0: Option<f64>,
    /// Its normal interval.
    pub normal: Option<Interval>,
    /// Its basic interval.
    pub basic: Option<Interval>,
    /// Its percentile interval.
    pub percentile: Option<Interval>,
    /// Number of resamples.
    pub resamples: usize,
}

/// Numbers of `test`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestNumbers {
    /// `mann_whitney` or `wilcoxon_signed_rank` (of blocks).
    pub test: &'static str,
    /// R's W (pairs in which `of` is larger, ties half), or V.
    pub statistic: Option<f64>,
    /// Whether the p-value is exact.
    pub exact: bool,
    /// Two-sided p-value that takes the values for independent.
    pub p_two: Option<f64>,
    /// Its log₁₀, also where it is 0.
    pub log10_p_two: Option<f64>,
    /// The same, made larger for autocorrelation: the one that decides.
    pub log10_p_decisive: Option<f64>,
    /// The level that it was held against.
    pub level: Option<f64>,
    /// Whether it rejects.
    pub rejects: bool,
}

/// Numbers of `effect`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EffectNumbers {
    /// The median of all differences `of` − `against`; for blocks the pseudo-median of their differences.
    pub hodges_lehmann: Option<f64>,
    /// The interval that decides; `null` for too few values.
    pub interval: Option<Interval>,
    /// The interval that takes the values for independent, as R gives it.
    pub classic: Option<Interval>,
    /// Two-sided level of both.
    pub level: Option<f64>,
    /// Share of pairs (or blocks) in which `of` is better, ties half.
    pub superiority: Option<f64>,
    /// Pairs in which it is better.
    pub better: Option<f64>,
    /// Pairs in which it is worse.
    pub worse: Option<f64>,
    /// All pairs.
    pub pairs: Option<f64>,
    /// Differences of quantiles.
    pub quantiles: Vec<QuantileShift>,
}

/// The difference of one quantile.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QuantileShift {
    /// The share of values below it.
    pub share: f64,
    /// The quantile of the side.
    pub of: Option<f64>,
    /// The quantile of the reference.
    pub against: Option<f64>,
    /// Their difference.
    pub difference: Option<f64>,
    /// Its interval.
    pub interval: Option<Interval>,
}

impl Rigorous {
    /// The chains of an analysis.
    pub fn new(analysis: &Analysis, chains: &[Protocol]) -> Self {
        let first = chains.first();
        Self {
            outcome: chains.iter().map(Protocol::outcome).max().map(Status::word),
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
        chain.validity.found.as_ref().map(|f| Numbers::Validity(validity(f, &names))),
        chain.power.found.as_ref().map(|f| Numbers::Power(power(f, &names, chain))),
        chain.test.found.as_ref().map(|f| Numbers::Test(test(f, chain))),
        chain.effect.found.as_ref().map(|f| Numbers::Effect(effect(f, chain))),
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
        outcome: chain.outcome().word(),
        stopped_at: chain.stopped_at().map(|at| chain.steps()[at].0),
        sentence: teller.sentence(),
        threshold: Some(chain.threshold),
        steps: steps
            .map(|(index, ((name, status, found), numbers))| Step {
                name,
                status: status.word(),
                line: teller.line(index),
                findings: found.iter().map(Finding::from).collect(),
                numbers,
            })
            .collect(),
    }
}

fn validity(found: &Validity, names: &[String]) -> ValidityNumbers {
    ValidityNumbers {
        series: found.series.iter().map(|s| series(s, names)).collect(),
        differences: found.differences.as_ref().map(|d| series(d, names)),
        clock_step: Some(found.clock_step),
        drift_correlation: found.drifting,
        causes: found
            .causes
            .iter()
            .map(|cause| PossibleCause {
                cause: cause.kind.word(),
                evidence: cause.evidence.clone(),
            })
            .collect(),
    }
}

fn series(found: &SeriesFound, names: &[String]) -> CheckedSeries {
    let (skewness, kurtosis) = found.moments;
    CheckedSeries {
        name: names.get(found.subject).cloned(),
        n: found.n,
        acf_max_abs_r_default: Some(found.acf_max_r_default),
        lags_r_default: found.lags_r_default,
        acf_max_abs_30: Some(found.acf_max_30),
        acf_bound: Some(found.acf_bound),
        rank_lag1: Some(found.lag1),
        autocorrelation_time: Some(found.autocorrelation_time),
        effective_sample_size: Some(found.effective),
        ess_per_n: Some(found.share()),
        drift: found.drift,
        skewness_g1: Some(skewness.plain),
        kurtosis_g2: Some(kurtosis.plain),
        distributions: found.distributions.iter().map(distribution).collect(),
        failures: found.failures.0,
        timeouts: found.failures.1,
    }
}

fn distribution(found: &DistributionFound) -> CheckedDistribution {
    CheckedDistribution {
        distribution: found.distribution,
        d: Some(found.d),
        p_naive: Some(found.p_naive),
        rejected: found.is_rejected(),
    }
}

fn power(found: &PowerFound, names: &[String], chain: &Protocol) -> PowerNumbers {
    PowerNumbers {
        bootstrap_sd: found.spreads.iter().map(|s| spread(s, names)).collect(),
        confidence: Some(found.confidence),
        sd: Some(found.sd),
        delta: Some(chain.threshold),
        sig_level: Some(chain.level_planned()),
        power: Some(chain.power_wanted),
        n_t: found.n_t,
        needed: found.needed,
        planned: found.planned,
        needed_tenfold: found.needed_tenfold,
        have: Some(found.have),
        achieved: found.power,
        detectable: found.visible,
    }
}

fn spread(spread: &FoundSpread, names: &[String]) -> BootstrappedSpread {
    BootstrappedSpread {
        name: names.get(spread.subject).cloned(),
        t0: Some(spread.sd),
        normal: interval(spread.normal),
        basic: interval(spread.basic),
        percentile: interval(spread.percentile),
        resamples: spread.resamples,
    }
}

fn test(found: &TestFound, chain: &Protocol) -> TestNumbers {
    TestNumbers {
        test: found.name.word(),
        statistic: Some(found.statistic),
        exact: found.exact,
        p_two: Some(found.p),
        log10_p_two: Some(found.log10_p),
        log10_p_decisive: Some(found.log10_p_decisive),
        level: Some(level(chain.level)),
        rejects: found.rejects,
    }
}

fn effect(found: &EffectFound, chain: &Protocol) -> EffectNumbers {
    EffectNumbers {
        hodges_lehmann: Some(found.estimate),
        interval: interval(found.interval),
        classic: interval(found.classic),
        level: Some(level(chain.interval_level)),
        superiority: Some(found.superiority()),
        better: Some(found.wins.better),
        worse: Some(found.wins.worse),
        pairs: Some(found.wins.of),
        quantiles: found.quantiles.iter().map(quantile).collect(),
    }
}

fn quantile(found: &QuantileDifference) -> QuantileShift {
    QuantileShift {
        share: found.share,
        of: Some(found.y),
        against: Some(found.x),
        difference: Some(found.difference),
        interval: interval(found.interval),
    }
}

fn interval(found: Option<FoundInterval>) -> Option<Interval> {
    found.map(Interval::from)
}
