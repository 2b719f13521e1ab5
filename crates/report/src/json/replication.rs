//! A recorded run and its repetition as JSON: whether the new run confirms the old result, and the
//! new run in full.

use super::values::{Estimate, Scale, Verdict, view, words};
use super::{Decision, Head, Meta, parameters};
use crate::replication::{ReplicationReport, in_units, sentence};
use assay_analysis::Interval;
use assay_analysis::replication as found;
use assay_data::Metric;
use serde_json::{Map, Value};

view! {
    /// A recorded run, compared with its repetition.
    Repetition of (report: &ReplicationReport<'_>, meta: &Meta) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("repeat"),
        /// Status of the old result: the worst status in `results`.
        replication: ReplicationStatus => report.replication.status(),
        /// Every comparison of the primary metric, in both runs. If nothing was compared, the
        /// median of every command.
        results: Vec<Replicated> =
            report.replication.results.iter().map(|r| Replicated::of(r, report)).collect(),
        /// Differences between the two runs in machine, settings or program files, one sentence
        /// each.
        differences: Vec<String>,
        /// The run that was repeated.
        repeated: Repeated => report,
        /// The new run.
        now: Decision = Decision::of(report.now, meta),
    }
}

view! {
    /// The run that was repeated.
    Repeated of (report: &ReplicationReport<'_>) {
        /// Path of the sample file.
        file: String,
        /// Start of the run (RFC 3339); `null` if unknown.
        started: Option<String> => report.then.started,
    }
}

view! {
    /// A result in both runs. On the scale `ratio`, values are ratios; otherwise they are in the
    /// metric's unit.
    Replicated of (result: &found::Replicated, report: &ReplicationReport<'_>) {
        /// Name of the side.
        of: String = side(report, result.of),
        /// Name of the reference side; `null` for a median.
        against: Option<String> = result.against.map(|subject| side(report, subject)),
        /// Parameters of the side, by name.
        parameters: Map<String, Value> => report.now.subjects[result.of].parameters,
        /// Parameters of the reference side, by name; `null` for a median.
        against_parameters: Option<Map<String, Value>> =
            result.against.map(|subject| parameters(&report.now.subjects[subject].parameters)),
        /// The metric.
        metric: String = metric(report).name.clone(),
        /// Base unit of the metric.
        unit: String = metric(report).unit.symbol().to_owned(),
        /// Status of the result.
        status: ReplicationStatus,
        /// The reason for the status.
        reason: ReplicationReason,
        /// The result in words, for people.
        sentence: String = sentence(report, result),
        /// The scale on which the effect was decided.
        scale: Scale,
        /// The first run.
        then: RunResult = RunResult::of(result.then, result),
        /// The second run.
        now: RunResult = RunResult::of(result.now, result),
        /// now / then on the scale `ratio`, otherwise now − then. The interval includes the
        /// uncertainty of both runs; the sizes agree if it contains no change or lies within the
        /// threshold.
        change: Estimate = size(result, result.change, result.change_interval),
        /// The new effect as a multiple of the old one, computed from logarithms on the scale
        /// `ratio`; `null` if the old effect had no direction.
        effect_ratio: Option<f64>,
    }
}

view! {
    /// The result of one run.
    RunResult of (run: found::RunResult, result: &found::Replicated) {
        /// Size of the result.
        #[serde(flatten)]
        size: Estimate = size(result, run.estimate, run.interval),
        /// Verdict of the run; `null` for a median.
        verdict: Option<Verdict>,
        /// True if the direction is known but the difference may be smaller than the threshold.
        possibly_below_threshold: bool,
    }
}

words! {
    /// Statuses of a repeated result.
    ReplicationStatus from found::Status {
        /// The verdicts are the same, and the sizes agree.
        Source::Confirmed => Confirmed,
        /// It is unknown whether the result is the same.
        Source::Unknown => Unknown,
        /// The sizes differ, but the verdicts do not contradict each other.
        Source::NotConfirmed => NotConfirmed,
        /// The two results cannot both be true.
        Source::Contradicted => Contradicted,
    }
}

words! {
    /// Reasons for a status.
    ReplicationReason from found::Reason {
        /// The verdicts are the same, and the sizes agree.
        Source::Same => Same,
        /// The size differs from what the first run predicts.
        Source::OtherSize => OtherSize,
        /// The runs found differences in opposite directions.
        Source::OtherDirection => OtherDirection,
        /// The first run found a difference that matters, and the second did not.
        Source::Gone => Gone,
        /// The second run found a difference that matters, and the first did not.
        Source::New => New,
        /// One run found a difference that may be too small to matter, and the other found none
        /// that matters.
        Source::BothSmall => BothSmall,
        /// The second run has no verdict, but the sizes agree.
        Source::OpenNow => OpenNow,
        /// The first run had no verdict, but the sizes agree.
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
    let of = |on_scale| in_units(result.scale, on_scale);
    let ends = interval.map(|i| Interval { lower: of(i.lower), upper: of(i.upper) });
    Estimate::new(of(estimate), ends)
}
