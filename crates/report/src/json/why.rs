//! Why one side takes longer, as JSON: the causes with their numbers, and the evidence.

use super::Head;
use super::finding::Finding;
use super::values::{Estimate, Verdict, view, words};
use crate::why::{WhyReport, sentence};
use assay_analysis::why as found;

view! {
    /// The explanation of a difference.
    Reasons of (report: &WhyReport<'_>, file: &str) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("why"),
        /// Path of the record.
        file: String => file,
        /// The answer in one sentence, for people.
        sentence: String = sentence(report),
        /// Verdict on the difference. If it has no direction, `causes` is empty.
        verdict: Verdict => report.why.comparison.decision.verdict,
        /// Name of the subject that the verdict is about.
        of: String => report.analysis.subjects[report.why.comparison.of].name,
        /// Name of the reference.
        against: String => report.analysis.subjects[report.why.comparison.against].name,
        /// The metric that decides.
        metric: String => report.analysis.metrics[report.why.comparison.metric].name,
        /// Base unit of the metric.
        unit: String => report.analysis.metrics[report.why.comparison.metric].unit,
        /// `of` / `against`; `null` if a value is zero or negative.
        ratio: Option<Estimate> => report.why.comparison.ratio,
        /// `of` − `against`, in the unit.
        shift: Estimate => report.why.comparison.shift,
        /// The causes that the numbers support, most likely first; empty if no part explains the
        /// difference.
        causes: Vec<Reason> = report.why.causes.iter().map(|own| Reason::of(own, report)).collect(),
        /// The time that is divided into `parts`.
        whole: WholeTime => report.why.whole,
        /// Parts of the difference in time, largest share first; empty if they were not recorded.
        parts: Vec<TimePart> => report.why.parts,
        /// The sampled functions, largest share first; empty without `--measure`.
        functions: Vec<FunctionReason> => report.why.functions,
        /// Changes of the metrics other than the time and its parts.
        changes: Vec<MetricChange> = report.why.changes.iter().map(|own| MetricChange::of(own, report)).collect(),
        /// The inputs in which the sides differ, if they are recorded.
        inputs: Vec<InputChange> => report.why.inputs,
        /// Findings about the record and the sampled runs.
        findings: Vec<Finding> =
            report.analysis.findings.iter().chain(report.findings).map(Finding::of).collect(),
    }
}

view! {
    /// A cause of a difference.
    Reason of (cause: &found::Cause, report: &WhyReport<'_>) {
        /// Kind of cause.
        kind: ReasonKind,
        /// Name of the function or metric; `null` for other kinds of causes.
        name: Option<String> = name(report, &cause.kind),
        /// The part of the time that the cause explains; `null` if it does not refer to a part.
        part: Option<PartWord> = part(cause).as_ref().map(PartWord::from),
        /// Share of the difference that the cause may explain, which is the share of its part or
        /// function; `null` for other kinds of causes.
        share: Option<Estimate>,
        /// Share of the change in processor time that the number of instructions explains, as a
        /// ratio of logarithms; `null` for other kinds of causes.
        explains: Option<Estimate> = explains(&cause.kind),
    }
}

view! {
    /// A part of the time.
    TimePart of (part: &found::Part) {
        /// Name of the part.
        name: PartWord,
        /// Mean difference from the reference, in seconds.
        seconds: f64,
        /// Share of the difference; `null` if unknown.
        share: Option<Estimate> =
            part.share.map(|share| Estimate::new(share.estimate, Some(share.interval))),
    }
}

view! {
    /// A sampled function.
    FunctionReason of (function: &found::FunctionPart) {
        /// Name of the function.
        name: String,
        /// Mean difference from the reference of the time in the function itself, in seconds; if
        /// the sampler does not measure time, of the number of samples.
        difference: f64 => function.amount,
        /// Share of the difference in processor time; `null` if unknown.
        share: Option<Estimate> =
            function.share.map(|share| Estimate::new(share.estimate, Some(share.interval))),
        /// Whether the function's code differs between the sides.
        code: CodeWord,
    }
}

view! {
    /// The change of a metric other than the parts of the time.
    MetricChange of (change: &found::Change, report: &WhyReport<'_>) {
        /// The metric.
        metric: String => report.analysis.metrics[change.metric].name,
        /// Base unit of the metric.
        unit: String => report.analysis.metrics[change.metric].unit,
        /// Direction of the change.
        direction: DirectionWord,
        /// `of` / `against`; `null` if a value is zero.
        ratio: Option<Estimate>,
        /// `of` − `against`, in the unit.
        shift: Estimate,
    }
}

view! {
    /// An input in which the sides differ.
    InputChange of (input: &found::Input) {
        /// Kind of input.
        kind: InputKind => input,
        /// Names of the variables or settings that differ, or of the file if only one differs;
        /// otherwise empty.
        names: Vec<String> = names(input),
    }
}

words! {
    /// Kinds of causes.
    ReasonKind from found::Kind {
        /// The sides were recorded on different machines.
        Source::Machine(_) => Machine,
        /// The reference, measured twice, differs from itself by at least half as much as the sides
        /// do.
        Source::Floor(_) => Floor,
        /// The code is the same on both sides, but its placement in memory differs.
        Source::Placement => Placement,
        /// The outputs differ.
        Source::Output => Output,
        /// A function.
        Source::Function(_) => Function,
        /// A count that explains a part of the time, such as page faults.
        Source::Count { .. } => Count,
        /// More or fewer instructions.
        Source::Instructions { .. } => Instructions,
        /// The time per instruction changed.
        Source::PerInstruction { .. } => TimePerInstruction,
        /// A part of the time changed for an unknown reason.
        Source::Part(_) => Part,
    }
}

words! {
    /// Times that are divided into parts.
    WholeTime from found::Whole {
        /// Wall time.
        Source::Wall => Wall,
        /// Processor time, because it decides the verdict or because a side uses several processors
        /// in parallel.
        Source::Cpu => Cpu,
        /// Processor time, because the processors were busy and waiting grew in proportion to it.
        Source::Busy => BusyCpu,
    }
}

words! {
    /// Parts of the time.
    PartWord from found::PartName {
        /// Processor time in the program and its libraries.
        Source::User => User,
        /// Processor time in the kernel.
        Source::System => System,
        /// Wall time that is not processor time.
        Source::Waiting => Waiting,
    }
}

words! {
    /// Changes of a function's code.
    CodeWord from found::CodeChange {
        /// The code differs.
        Source::Changed => Changed,
        /// The code is the same.
        Source::Same => Same,
        /// Only one of the sides has the function.
        Source::OnOneSide => OnOneSide,
        /// Unknown.
        Source::Unknown => Unknown,
    }
}

words! {
    /// Directions of a change.
    DirectionWord from found::Direction {
        /// More than for the reference.
        Source::More => More,
        /// Less than for the reference.
        Source::Less => Less,
        /// Any change is smaller than 1 %.
        Source::Unchanged => Unchanged,
        /// Unknown.
        Source::Unknown => Unknown,
    }
}

words! {
    /// Kinds of inputs.
    InputKind from found::Input {
        /// The files of the program.
        Source::Files(_) => Files,
        /// The command line.
        Source::Arguments => Arguments,
        /// Environment variables.
        Source::Environment(_) => Environment,
        /// Settings of the processes.
        Source::Settings(_) => Settings,
        /// The working directory.
        Source::Directory => Directory,
        /// The number of runs measured in parallel.
        Source::Jobs => Jobs,
    }
}

fn name(report: &WhyReport<'_>, kind: &found::Kind) -> Option<String> {
    let metric =
        |change: usize| report.analysis.metrics[report.why.changes[change].metric].name.clone();
    match *kind {
        found::Kind::Function(index) => Some(report.why.functions[index].name.clone()),
        found::Kind::Count { change, .. }
        | found::Kind::Instructions { change, .. }
        | found::Kind::PerInstruction { change, .. } => Some(metric(change)),
        _ => None,
    }
}

fn part(cause: &found::Cause) -> Option<found::PartName> {
    match cause.kind {
        found::Kind::Count { part, .. } | found::Kind::Part(part) => Some(part),
        found::Kind::Instructions { .. } | found::Kind::PerInstruction { .. } => {
            cause.share.map(|_| found::PartName::User)
        }
        _ => None,
    }
}

fn explains(kind: &found::Kind) -> Option<Estimate> {
    match *kind {
        found::Kind::Instructions { explains, .. }
        | found::Kind::PerInstruction { explains, .. } => Some(explains.into()),
        _ => None,
    }
}

fn names(input: &found::Input) -> Vec<String> {
    match input {
        found::Input::Files(name) => name.iter().cloned().collect(),
        found::Input::Environment(names) | found::Input::Settings(names) => names.clone(),
        found::Input::Arguments | found::Input::Directory | found::Input::Jobs => Vec::new(),
    }
}
