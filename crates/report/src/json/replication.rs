//! A run and its repetition as JSON: whether the old result was confirmed, and the new run in full.

use super::values::{Estimate, Scale, Verdict, view, words};
use super::{Decision, Head, Meta, parameters};
use crate::replication::{ReplicationReport, in_units, sentence};
use assay_analysis::Interval;
use assay_analysis::replication as found;
use assay_data::Metric;
use serde_json::{Map, Value};

view! {
    /// A recorded run, with the results of repeating it.
    Repetition of (report: &ReplicationReport<'_>, meta: &Meta) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("repeat"),
        /// Status of the old result: the worst in `results`.
        replication: ReplicationStatus => report.replication.status(),
        /// Every comparison of the primary metric in both runs; if nothing was compared, the median
        /// of every command.
        results: Vec<Replicated> =
            report.replication.results.iter().map(|r| Replicated::of(r, report)).collect(),
        /// Differences between the two runs (machine, settings, program files), one sentence each.
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
        /// Start of the run (RFC 3339), or `null`.
        started: Option<String> => report.then.started,
    }
}

view! {
    /// A result in both runs. Ratios are given as ratios, everything else in the unit.
    Replicated of (result: &found::Replicated, report: &ReplicationReport<'_>) {
        /// Name of the side.
        of: String = side(report, result.of),
        /// Name of the reference side; `null` for a median.
        against: Option<String> = result.against.map(|subject| side(report, subject)),
        /// Parameters of the side, by name.
        parameters: Map<String, Value> => report.now.subjects[result.of].parameters,
        /// Parameters of the reference, by name; `null` for a median.
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
        /// The result in words. For people.
        sentence: String = sentence(report, result),
        /// The scale of the effect that decided.
        scale: Scale,
        /// The first run.
        then: RunResult = RunResult::of(result.then, result),
        /// The second run.
        now: RunResult = RunResult::of(result.now, result),
        /// now / then on the scale `ratio`, otherwise now − then, with an interval that includes
        /// the uncertainty of both runs. The sizes agree if that interval contains no change, or is
        /// within the threshold.
        change: Estimate = size(result, result.change, result.change_interval),
        /// The new effect as a multiple of the old one, of logarithms on the scale `ratio`; `null`
        /// if the old one had no direction.
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
        /// True if the direction is known, but the difference may be smaller than the threshold.
        possibly_below_threshold: bool,
    }
}

words! {
    /// Statuses of a repeated result.
    ReplicationStatus from found::Status {
        /// The result is the same.
        Source::Confirmed => Confirmed,
        /// One of the runs is too uncertain.
        Source::Unknown => Unknown,
        /// The results differ, but do not exclude each other.
        Source::NotConfirmed => NotConfirmed,
        /// The results exclude each other.
        Source::Contradicted => Contradicted,
    }
}

words! {
    /// Reasons for a status.
    ReplicationReason from found::Reason {
        /// The verdict is the same, and the sizes agree.
        Source::Same => Same,
        /// The size is outside the range that the first run predicts.
        Source::OtherSize => OtherSize,
        /// Faster then, slower now, or vice versa.
        Source::OtherDirection => OtherDirection,
        /// There was a difference that mattered, and there is none now.
        Source::Gone => Gone,
        /// There was no difference that mattered, and there is one now.
        Source::New => New,
        /// One run found a difference that may be too small to matter, and the other found none
        /// that matters.
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
    let of = |on_scale| in_units(result.scale, on_scale);
    let ends = interval.map(|i| Interval { lower: of(i.lower), upper: of(i.upper) });
    Estimate::new(of(estimate), ends)
}
