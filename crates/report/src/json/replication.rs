//! A run and its repetition as JSON: whether the old result was confirmed, and the new run in full.

use super::values::{Estimate, Scale, Verdict, view, words};
use super::{Decision, Head, Meta, of_analysis, parameters};
use crate::replication::{ReplicationReport, in_units, sentence};
use assay_analysis::Interval;
use assay_analysis::replication as found;
use assay_data::Metric;
use serde_json::{Map, Value};

view! {
    /// A recorded run, and what became of its result when it was repeated.
    Repetition of (report: &ReplicationReport<'_>, meta: &Meta) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("repeat"),
        /// What became of the old result: the worst of `results`.
        replication: ReplicationStatus = (&report.replication.status()).into(),
        /// Every comparison of the primary metric then and now; where nothing was compared, the median of every command.
        results: Vec<Replicated> =
            report.replication.results.iter().map(|r| Replicated::of(report, r)).collect(),
        /// In what the two runs differ (machine, settings, files of the programs), one sentence each.
        differences: Vec<String> = report.differences.to_vec(),
        /// The run that was repeated.
        repeated: Repeated = Repeated::of(report),
        /// The new run.
        now: Decision = of_analysis(report.now, meta),
    }
}

view! {
    /// The run that was repeated.
    Repeated of (report: &ReplicationReport<'_>) {
        /// Its file.
        file: String = report.file.to_owned(),
        /// When it began (RFC 3339), or `null`.
        started: Option<String> = report.then.started.clone(),
    }
}

view! {
    /// A result then and now. Ratios are given as such, everything else in the unit.
    Replicated of (report: &ReplicationReport<'_>, result: &found::Replicated) {
        /// Name of the side that it is about.
        of: String = side(report, result.of),
        /// Name of the side that is the reference; `null` for a median.
        against: Option<String> = result.against.map(|subject| side(report, subject)),
        /// The parameters of the side by name.
        parameters: Map<String, Value> = parameters(&report.now.subjects[result.of].parameters),
        /// The parameters of the reference; `null` for a median.
        against_parameters: Option<Map<String, Value>> =
            result.against.map(|subject| parameters(&report.now.subjects[subject].parameters)),
        /// The metric.
        metric: String = metric(report).name.clone(),
        /// Its base unit.
        unit: String = metric(report).unit.symbol().to_owned(),
        /// What became of it.
        status: ReplicationStatus = (&result.status).into(),
        /// Why.
        reason: ReplicationReason = (&result.reason).into(),
        /// The same in words. For people.
        sentence: String = sentence(report, result),
        /// Which effect decided.
        scale: Scale = (&result.scale).into(),
        /// The first run.
        then: RunResult = RunResult::of(result, result.then),
        /// The second run.
        now: RunResult = RunResult::of(result, result.now),
        /// now / then on the scale `ratio`, else now − then, with an interval that has the uncertainty of both runs. The sizes agree
        /// where that interval contains no change, or lies within the threshold.
        change: Estimate = size(result, result.change, result.change_interval),
        /// The new effect as a multiple of the old one, of logarithms on the scale `ratio`; `null` where that had no direction.
        effect_ratio: Option<f64> = result.effect_ratio,
    }
}

view! {
    /// What one run found.
    RunResult of (result: &found::Replicated, run: found::RunResult) {
        /// Its size.
        #[serde(flatten)]
        size: Estimate = size(result, run.estimate, run.interval),
        /// Its verdict; `null` for a median.
        verdict: Option<Verdict> = run.verdict.as_ref().map(Verdict::from),
        /// True where the direction is known, but not that the difference exceeds the threshold.
        possibly_below_threshold: bool = run.possibly_below_threshold,
    }
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

fn side(report: &ReplicationReport<'_>, subject: usize) -> String {
    report.now.sides[report.now.subjects[subject].side].name.clone()
}

fn metric<'a>(report: &ReplicationReport<'a>) -> &'a Metric {
    &report.now.metrics[report.now.primary]
}

/// Converts a size from the scale of a result to the metric's unit.
fn size(result: &found::Replicated, estimate: f64, interval: Option<Interval>) -> Estimate {
    let of = |on_scale| in_units(result, on_scale);
    let ends = interval.map(|i| Interval { lower: of(i.lower), upper: of(i.upper) });
    Estimate::new(of(estimate), ends)
}
