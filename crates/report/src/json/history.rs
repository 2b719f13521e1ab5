//! The contents of a history of runs, and changes to it, as JSON.

use super::Head;
use super::finding::Finding;
use super::values::{Estimate, Verdict, view, words};
use crate::history::{
    EventsReport, GateReport, Log, ShownRun, TrendReport, rfc3339, sentence_of_events,
    sentence_of_gate, sentence_of_trend,
};
use assay_analysis::history::{self, Compared, RunResult, events, gate, trend};
use serde::Serialize;
use serde_json::{Map, Value};

view! {
    /// List of runs in the history.
    RunList of (log: &Log<'_>, store: &str) {
        /// Version of the JSON layout, and the verb that wrote it.
        #[serde(flatten)]
        head: Head = Head::of("history"),
        /// File or database that contains the history.
        store: String => store,
        /// Name of the project.
        project: String,
        /// Total number of runs of the project.
        total: u64,
        /// The listed runs, latest first.
        runs: Vec<Run>,
    }
}

view! {
    /// A run in the history, without its measurements.
    Run of (run: &history::Run) {
        /// SHA-256 digest that identifies the run. Any unambiguous prefix can be used instead.
        run: String => run.digest,
        /// Time of the measurement, RFC 3339.
        measured: String = rfc3339(run.started),
        /// The measured revision; `null` if unknown.
        revision: Option<Revision>,
        /// True if the working tree had uncommitted changes.
        changed: bool,
        /// Name of the machine.
        machine: String,
        /// Fingerprint that identifies the machine.
        fingerprint: String,
        /// Path of the file from which the run was read.
        source: String,
        /// Name and version of the tool that measured the run.
        tool: Option<String>,
        /// Command line of the measurement.
        argv: Vec<String>,
        /// Name of the primary metric.
        primary: Option<String> => run.metric,
        /// Number of results: one for each metric of each benchmark.
        results: u64,
        /// The worst verdict of the run's comparisons; `null` if nothing was compared.
        verdict: Option<String>,
    }
}

view! {
    /// A revision with its position in the history of its repository.
    Revision of (revision: &history::Revision) {
        /// The full commit id, or the name that the user gave to the revision.
        commit: String,
        /// Commit id of the first parent.
        parent: Option<String>,
        /// Number of commits that lead to this revision, counted along first parents.
        ordinal: Option<u64>,
        /// Time of the commit, RFC 3339.
        committed: Option<String> =
            revision.time.map(|seconds| rfc3339(seconds.saturating_mul(1000))),
    }
}

view! {
    /// A run with the results, comparisons and findings stored with it.
    RunContents of (shown: &ShownRun<'_>) {
        /// Version of the JSON layout, and the subcommand that wrote the output.
        #[serde(flatten)]
        head: Head = Head::of("history"),
        /// The run itself, without its results.
        run: Run,
        /// The results, one for each metric of each benchmark.
        results: Vec<KeptResult> => shown.contents.results,
        /// The comparisons of the primary metric, as decided when the run was added to the history.
        comparisons: Vec<KeptComparison> => shown.contents.comparisons,
        /// The findings of the run, without evidence and advice.
        findings: Vec<Finding> => shown.contents.findings,
    }
}

view! {
    /// The values of one metric of one benchmark in a run, summarized.
    KeptResult of (result: &RunResult) {
        /// Current name of the benchmark.
        benchmark: String => result.benchmark.name,
        /// Parameters of the benchmark.
        parameters: Map<String, Value> => result.benchmark.parameters,
        /// Index of the side (program) to which the result belongs, if the run compares several
        /// sides that are not revisions of one program; 0 is the reference, or the only side.
        role: usize => result.benchmark.role,
        /// Name of the metric.
        metric: String => result.metric.name,
        /// Base unit of the values.
        unit: String => result.metric.unit,
        /// Number of values.
        n: u64 => result.summary.n,
        /// Number of processes (or builds) that produced the values.
        units: u64 => result.summary.units,
        /// The median; for several processes, the median of their medians. The interval is the 95 %
        /// confidence interval within this run.
        centre: Estimate = Estimate::new(result.summary.centre, result.summary.interval),
    }
}

view! {
    /// A comparison stored with a run.
    KeptComparison of (compared: &Compared) {
        /// Name of the side that the verdict is about.
        of: String => compared.subject,
        /// Name of the side used as the reference.
        against: String => compared.reference,
        /// The verdict.
        verdict: String,
        /// Ratio of the compared side to the reference.
        ratio: Option<Estimate>,
    }
}

/// Changes made to a history, or runs exported from it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreChange {
    /// Version of the JSON layout, and the subcommand that wrote the output.
    #[serde(flatten)]
    pub head: Head,
    /// Path of the file, or address of the database, that contains the history.
    pub store: String,
    /// Name of the project.
    pub project: String,
    /// Every run that was added, removed or exported.
    pub runs: Vec<ChangedRun>,
    /// Renamed benchmarks as pairs of old and new name, if requested.
    pub aliases: Vec<[String; 2]>,
    /// Levels accepted as normal, if requested.
    pub blessings: Vec<Blessing>,
    /// Number of runs of a damaged history that could not be read.
    pub lost: u64,
}

impl StoreChange {
    /// Returns a report of changes that contains no runs yet.
    pub fn new(store: &str, project: &str) -> Self {
        let (store, project) = (store.to_owned(), project.to_owned());
        let head = Head::of("history");
        let (runs, aliases, blessings) = (Vec::new(), Vec::new(), Vec::new());
        Self { head, store, project, runs, aliases, blessings, lost: 0 }
    }
}

view! {
    /// A level of a benchmark that was accepted as normal.
    Blessing of (blessing: &history::Blessing) {
        /// Name of the benchmark; `null` if the level was accepted for all benchmarks.
        benchmark: Option<String>,
        /// Identifier of the first run at the accepted level.
        run: String,
        /// Time at which that run was measured, RFC 3339.
        measured: String = rfc3339(blessing.started),
        /// Time of the acceptance, RFC 3339.
        accepted: String = rfc3339(blessing.blessed),
        /// Reason for accepting the level; may be empty.
        reason: String,
    }
}

/// A run that was added, removed or exported.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedRun {
    /// SHA-256 that identifies the run. For a damaged history, the part of it that is still
    /// readable. Empty for a run that waits for a server, and if nothing of it is left.
    pub run: String,
    /// What was done with the run: `added`, `known` (it was already in the history), `waiting` (for
    /// a server that cannot be reached), `not read` (from the history of another tool), `failed`
    /// (in a backfill), `removed`, `would be removed` or `exported`.
    pub done: &'static str,
    /// Path of the file that the run was read from or written to; for a backfill, the revision.
    pub file: String,
}

view! {
    /// The results of a benchmark over its revisions.
    Trends of (reports: &[TrendReport<'_>]) {
        /// Version of the JSON layout, and the subcommand that wrote the output.
        #[serde(flatten)]
        head: Head = Head::of("history"),
        /// The trends, one for each requested metric, machine and set of parameters.
        trends: Vec<Trend> => reports,
    }
}

view! {
    /// One metric of one benchmark on one machine, over its revisions.
    Trend of (report: &TrendReport<'_>) {
        /// The answer in one sentence, for people to read.
        sentence: String = sentence_of_trend(report.trend),
        /// Name of the benchmark.
        benchmark: String => report.trend.series.benchmark.name,
        /// Parameters of the benchmark.
        parameters: Map<String, Value> => report.trend.series.benchmark.parameters,
        /// Index of the side (program) to which the trend belongs, if the runs compare several
        /// sides that are not revisions of one program; 0 is the reference, or the only side.
        role: usize => report.trend.series.benchmark.role,
        /// Name of the metric.
        metric: String => report.trend.series.metric.name,
        /// Base unit of the values.
        unit: String => report.trend.series.metric.unit,
        /// Name of the machine.
        machine: String => report.trend.series.machine,
        /// Confidence level of the intervals and of the commit ranges.
        confidence: f64 => report.trend.confidence,
        /// The runs, in the order of their revisions.
        runs: Vec<TrendRun> => report.trend.series.points,
        /// The detected changes, in the order of the revisions.
        changes: Vec<TrendChange> = report.trend.changes.iter().zip(report.narrow)
            .map(|(change, narrow)| TrendChange::of(change, report.trend, narrow.as_deref())).collect(),
        /// Findings about the trend.
        findings: Vec<Finding> => report.trend.findings,
    }
}

view! {
    /// One run of a benchmark in a trend.
    TrendRun of (point: &history::Point) {
        /// A prefix of the run's SHA-256.
        run: String => point.recording,
        /// Time of the measurement, RFC 3339.
        measured: String = rfc3339(point.started),
        /// The measured revision; `null` if unknown.
        revision: Option<Revision>,
        /// Number of values.
        n: u64 => point.result.n,
        /// The median, with its confidence interval within the run.
        centre: Estimate = Estimate::new(point.result.centre, point.result.interval),
    }
}

view! {
    /// A change in the level of a benchmark.
    TrendChange of (change: &trend::Change, trend: &trend::Trend, narrow: Option<&str>) {
        /// `slower` if the benchmark got worse, `faster` if it got better.
        verdict: Verdict,
        /// Most likely index of the first run after the change.
        index: usize,
        /// Earliest possible index of the first run after the change, at the confidence of the
        /// trend.
        earliest: usize,
        /// Latest possible index of the first run after the change, at the confidence of the trend.
        latest: usize,
        /// Level after the change divided by the level before it; `null` if a value is zero or
        /// negative.
        ratio: Option<Estimate>,
        /// Level after the change minus the level before it.
        shift: Estimate,
        /// Last commit known to be before the change; `null` if unknown.
        after_commit: Option<String> = trend.between(change).0.map(|r| r.commit.clone()),
        /// First commit known to be after the change; `null` if unknown.
        up_to_commit: Option<String> = trend.between(change).1.map(|r| r.commit.clone()),
        /// Number of commits that may have caused the change, counted along first parents; `null`
        /// if unknown.
        commits: Option<u64> = trend.commits(change),
        /// p-value: the probability that an equally long series without any change would appear to
        /// have a change at least this clear.
        p: f64,
        /// The accepted level to which the new level belongs; `null` if it was not accepted.
        accepted: Option<Blessing>,
        /// Command line that narrows the range of commits; `null` if there is none.
        narrow: Option<String> => narrow,
    }
}

view! {
    /// Changes of all series of a project, grouped by probable cause.
    Happenings of (report: &EventsReport<'_>) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("history"),
        /// The answer in one sentence. For people.
        sentence: String = sentence_of_events(report),
        /// The project.
        project: String,
        /// Number of examined series: one for each benchmark and machine.
        series: usize => report.events.series,
        /// Number of series with enough runs to detect a change.
        with_enough_runs: usize => report.events.enough,
        /// The machines.
        machines: Vec<String> => report.events.machines,
        /// Confidence of the intervals and of the commit ranges.
        confidence: f64 => report.events.confidence,
        /// The events, latest first.
        events: Vec<Event> = report.events.events.iter().zip(report.narrow)
            .map(|(event, narrow)| Event::of(event, narrow.as_deref())).collect(),
        /// Findings about the events.
        findings: Vec<Finding> => report.events.findings,
    }
}

view! {
    /// Changes that may have the same commit as their cause.
    Event of (event: &events::Event, narrow: Option<&str>) {
        /// The machine.
        machine: String,
        /// Time at which the first run certainly after it was measured, RFC 3339.
        measured: String = rfc3339(event.after.started),
        /// Number of series that got worse.
        worse: usize => event.ways().0,
        /// Number of series that got better.
        better: usize => event.ways().1,
        /// True if all of its changes were accepted.
        accepted: bool = event.accepted().is_some(),
        /// The last commit before all of its changes.
        after_commit: Option<String> = event.between().0.map(|r| r.commit.clone()),
        /// The first commit after all of its changes.
        up_to_commit: Option<String> = event.between().1.map(|r| r.commit.clone()),
        /// Number of commits that may have caused it, by first parents.
        commits: Option<u64> = event.commits(),
        /// A command line that narrows the range of commits.
        narrow: Option<String> => narrow,
        /// The changes of its series, largest first.
        changes: Vec<EventChange> => event.moved,
    }
}

view! {
    /// The change of a series at an event.
    EventChange of (moved: &events::Moved) {
        /// The benchmark.
        benchmark: String => moved.benchmark.name,
        /// Parameters of the benchmark.
        parameters: Map<String, Value> => moved.benchmark.parameters,
        /// Index of its side, if there are several that are not revisions; 0 is the reference, or
        /// the only side.
        role: usize => moved.benchmark.role,
        /// The metric.
        metric: String => moved.metric.name,
        /// Base unit of the numbers.
        unit: String => moved.metric.unit,
        /// `slower` for a change for the worse, `faster` for one for the better.
        verdict: Verdict => moved.change.verdict,
        /// After / before; `null` if a value is zero or negative.
        ratio: Option<Estimate> => moved.change.ratio,
        /// After − before.
        shift: Estimate => moved.change.shift,
        /// Probability of finding so clear a change in a series of as many runs without one.
        p: f64 => moved.change.p,
        /// The accepted level that the new one belongs to; `null` if it was not accepted.
        accepted: Option<Blessing> => moved.change.accepted,
    }
}

view! {
    /// A run, judged against the normal runs of the history.
    Gated of (report: &GateReport<'_>) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("gate"),
        /// The worst standing of all benchmarks; `better` counts as `normal`.
        verdict: Standing => report.gate.standing(),
        /// The answer in one sentence. For people.
        sentence: String = sentence_of_gate(report),
        /// The project.
        project: String,
        /// The judged file or run.
        run: String,
        /// The machine.
        machine: String,
        /// Confidence of all answers together.
        confidence: f64 => report.gate.asked.confidence,
        /// The smallest reported worsening.
        threshold: f64 => report.gate.asked.threshold,
        /// The worsening that must be detectable.
        detect: f64 => report.gate.asked.detect,
        /// The benchmarks.
        benchmarks: Vec<GatedBenchmark> => report.gate.judged,
        /// Findings about the run.
        findings: Vec<Finding> => report.gate.findings,
    }
}

words! {
    /// A run compared with normal runs.
    Standing from gate::Standing {
        /// Within the normal range.
        Source::Normal => Normal,
        /// Better than normal.
        Source::Better => Better,
        /// Unknown: a worsening that matters could not have been detected.
        Source::Inconclusive => Inconclusive,
        /// Worse than normal.
        Source::Worse => Worse,
    }
}

view! {
    /// One benchmark, judged against normal runs.
    GatedBenchmark of (judged: &gate::Judged) {
        /// The benchmark.
        benchmark: String => judged.benchmark.name,
        /// Parameters of the benchmark.
        parameters: Map<String, Value> => judged.benchmark.parameters,
        /// Index of its side, if there are several that are not revisions; 0 is the reference, or
        /// the only side.
        role: usize => judged.benchmark.role,
        /// The metric.
        metric: String => judged.metric.name,
        /// Base unit of the numbers.
        unit: String => judged.metric.unit,
        /// Standing of the benchmark.
        standing: Standing,
        /// The median of this run.
        now: f64,
        /// The normal level, with the range that a single run may have, at its share of the error.
        normal: Option<Estimate> = judged.normal.map(|normal| Estimate {
            estimate: Some(normal),
            lower: judged.range.map(|(lower, _)| lower),
            upper: judged.range.map(|(_, upper)| upper),
        }),
        /// This run / normal; if `together`, the median of the last three runs / normal.
        ratio: Option<f64>,
        /// True if the last three runs together were needed to detect it.
        together: bool,
        /// True if only this run is worse and no other run confirms it yet; `standing` is then
        /// `inconclusive`.
        stands_out: bool,
        /// Number of normal runs.
        runs: usize,
        /// Standard deviation between runs, as a fraction of the level.
        spread: Option<f64>,
        /// The worsening that is detected within three runs with a probability of 80 %.
        detectable: Option<f64>,
        /// Number of further runs that make `detect` detectable; `null` if it already is, or if no
        /// number of runs is enough.
        more_runs: Option<usize>,
        /// p-value of "not worse", adjusted over all benchmarks.
        p: Option<f64>,
        /// The last normal revision; `null` if normal runs have no revision.
        last_normal: Option<Revision>,
        /// Result of a fresh run that checks the alarm; `null` without an alarm, or without
        /// `--confirm`.
        confirmation: Option<Confirmation>,
    }
}

view! {
    /// A fresh run that measures the last normal revision and the new one alternately, to check one
    /// alarm.
    Confirmation of (found: &gate::Confirmation) {
        /// The result.
        outcome: ConfirmationOutcome => found.outcome(),
        /// The last normal revision; `null` if unknown.
        against: Option<String>,
        /// The new revision; `null` if unknown.
        revision: Option<String>,
        /// The verdict of the fresh run; `null` without one.
        verdict: Option<Verdict> = found.fresh.as_ref().ok().map(|fresh| (&fresh.verdict).into()),
        /// New / last normal in the fresh run.
        ratio: Option<Estimate> = found.fresh.as_ref().ok().and_then(|fresh| fresh.ratio).map(Into::into),
        /// The reason for a missing fresh run; otherwise `null`.
        why: Option<String> => found.fresh.as_ref().err(),
    }
}

words! {
    /// Results of checking an alarm.
    ConfirmationOutcome from gate::Outcome {
        /// The fresh run also finds it worse, so the alarm is kept.
        Source::Confirmed => Confirmed,
        /// The fresh run does not find it worse, so the alarm is dropped.
        Source::NotConfirmed => NotConfirmed,
        /// There was no fresh run, so the alarm is kept.
        Source::NotMeasured => NotMeasured,
    }
}
