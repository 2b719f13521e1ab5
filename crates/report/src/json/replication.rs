//! A run and its repetition as JSON: whether the old result was confirmed, and the new run in full.

use super::values::{Estimate, Scale, Verdict, words};
use super::{Decision, Head, Meta, of_analysis};
use crate::replication::{ReplicationReport, in_units, sentence};
use assay_analysis::Interval;
use assay_analysis::replication as found;
use schemars::JsonSchema;
use serde::Serialize;

/// A recorded run, and what became of its result when it was repeated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Repetition {
    #[serde(flatten)]
    head: Head,
    /// What became of the old result: the worst of `results`.
    pub replication: ReplicationStatus,
    /// Every comparison of the primary metric then and now; where nothing was compared, the median of every command.
    pub results: Vec<Replicated>,
    /// In what the two runs differ (machine, settings, files of the programs), one sentence each.
    pub differences: Vec<String>,
    /// The run that was repeated.
    pub repeated: Repeated,
    /// The new run.
    pub now: Decision,
}

/// The run that was repeated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Repeated {
    /// Its file.
    pub file: String,
    /// When it began (RFC 3339), or `null`.
    pub started: Option<String>,
}

/// A result then and now. Ratios are given as such, everything else in the unit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Replicated {
    /// Name of the side that it is about.
    pub of: String,
    /// Name of the reference; `null` for a median.
    pub against: Option<String>,
    /// The metric.
    pub metric: String,
    /// Its base unit.
    pub unit: String,
    /// What became of it.
    pub status: ReplicationStatus,
    /// Why.
    pub reason: ReplicationReason,
    /// The same in words. For people.
    pub sentence: String,
    /// Which effect decided.
    pub scale: Scale,
    /// The first run.
    pub then: RunResult,
    /// The second run.
    pub now: RunResult,
    /// now / then on the scale `ratio`, else now − then, with an interval that has the uncertainty of both runs. The sizes agree
    /// where that interval contains no change, or lies within the threshold.
    pub change: Estimate,
    /// The new effect as a multiple of the old one, of logarithms on the scale `ratio`; `null` where that had no direction.
    pub effect_ratio: Option<f64>,
}

/// What one run found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunResult {
    #[serde(flatten)]
    pub size: Estimate,
    /// Its verdict; `null` for a median.
    pub verdict: Option<Verdict>,
    /// True where the direction is known, but not that the difference exceeds the threshold.
    pub possibly_below_threshold: bool,
}

words! {
    /// What became of a result.
    ReplicationStatus from found::Status {
        /// The same again.
        Source::Confirmed => Confirmed,
        /// One of the runs does not know enough.
        Source::Unknown => Unknown,
        /// Not the same, though the two do not exclude each other.
        Source::NotConfirmed => NotConfirmed,
        /// Both can't be true of the same thing.
        Source::Contradicted => Contradicted,
    }
}

words! {
    /// Why a result has its status.
    ReplicationReason from found::Reason {
        /// The same verdict, and the sizes agree.
        Source::Same => Same,
        /// The size is not the one that the first run predicts.
        Source::OtherSize => OtherSize,
        /// Faster then, slower now, or the other way round.
        Source::OtherDirection => OtherDirection,
        /// A difference that mattered then, none now.
        Source::Gone => Gone,
        /// No difference that mattered then, one now.
        Source::New => New,
        /// A difference that may be too small to matter, and none that matters.
        Source::BothSmall => BothSmall,
        /// The second run has no verdict, but its size agrees.
        Source::OpenNow => OpenNow,
        /// The first run had no verdict.
        Source::OpenThen => OpenThen,
        /// One of the runs has no interval.
        Source::NoInterval => NoInterval,
        /// One run was decided on ratios and the other on differences.
        Source::OtherScale => OtherScale,
    }
}

/// A repetition in full.
pub fn of_replication(report: &ReplicationReport<'_>, meta: &Meta) -> Repetition {
    Repetition {
        head: Head::of("repeat"),
        replication: (&report.replication.status()).into(),
        results: report.replication.results.iter().map(|r| replicated(report, r)).collect(),
        differences: report.differences.to_vec(),
        repeated: Repeated { file: report.file.to_owned(), started: report.then.started.clone() },
        now: of_analysis(report.now, meta),
    }
}

fn replicated(report: &ReplicationReport<'_>, result: &found::Replicated) -> Replicated {
    let name = |subject: usize| report.now.subjects[subject].name.clone();
    let metric = &report.now.metrics[report.now.primary];
    let size = |estimate: f64, interval: Option<Interval>| {
        let ends = |i: Interval| Interval {
            lower: in_units(result, i.lower),
            upper: in_units(result, i.upper),
        };
        Estimate::new(in_units(result, estimate), interval.map(ends))
    };
    let run = |run: found::RunResult| RunResult {
        size: size(run.estimate, run.interval),
        verdict: run.verdict.as_ref().map(Verdict::from),
        possibly_below_threshold: run.possibly_below_threshold,
    };
    Replicated {
        of: name(result.of),
        against: result.against.map(name),
        metric: metric.name.clone(),
        unit: metric.unit.symbol().to_owned(),
        status: (&result.status).into(),
        reason: (&result.reason).into(),
        sentence: sentence(report, result),
        scale: (&result.scale).into(),
        then: run(result.then),
        now: run(result.now),
        change: size(result.change, result.change_interval),
        effect_ratio: result.effect_ratio,
    }
}
