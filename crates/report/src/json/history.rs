//! The contents of a store of runs, and changes to it, as JSON.

use super::Head;
use super::finding::Finding;
use super::values::{Estimate, Verdict, view, words};
use crate::history::{
    EventsReport, GateReport, Log, Shown, TrendReport, rfc3339, sentence_of_events,
    sentence_of_gate, sentence_of_trend,
};
use assay_analysis::history::{self, Compared, RunResult, events, gate, trend};
use serde::Serialize;
use serde_json::{Map, Value};

view! {
    /// Runs that are kept.
    RunList of (log: &Log<'_>, store: &str) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("history"),
        /// The file or the database that keeps them.
        store: String = store.to_owned(),
        /// The project.
        project: String = log.project.to_owned(),
        /// How many runs of it there are.
        total: u64 = log.total,
        /// Those that were asked for, the latest first.
        runs: Vec<Run> = log.runs.iter().map(Run::of).collect(),
    }
}

view! {
    /// A run that is kept, without what it holds.
    Run of (run: &history::Run) {
        /// The SHA-256 that it is known by; any beginning that no other has will do.
        run: String = run.digest.clone(),
        /// When it was measured, RFC 3339.
        measured: String = rfc3339(run.started),
        /// The revision; `null` where it is not known.
        revision: Option<Revision> = run.revision.as_ref().map(Revision::of),
        /// Whether the tree had changes that are in no commit.
        changed: bool = run.changed,
        /// The machine's name.
        machine: String = run.machine.clone(),
        /// What the machine is known by.
        fingerprint: String = run.fingerprint.clone(),
        /// The file that it was read from.
        source: String = run.source.clone(),
        /// Tool and version that measured.
        tool: Option<String> = run.tool.clone(),
        /// The command line that measured.
        argv: Vec<String> = run.argv.clone(),
        /// The metric that decides.
        primary: Option<String> = run.metric.clone(),
        /// Number of results: one for each metric of each benchmark.
        results: u64 = run.results,
        /// The worst verdict of its comparisons; `null` where nothing was compared.
        verdict: Option<String> = run.verdict.clone(),
    }
}

view! {
    /// A revision with its place in the history of its repository.
    Revision of (revision: &history::Revision) {
        /// The full name of the commit, or what the user called it.
        commit: String = revision.commit.clone(),
        /// The first parent.
        parent: Option<String> = revision.parent.clone(),
        /// How many commits lead to it by first parents.
        ordinal: Option<u64> = revision.ordinal,
        /// When it was committed, RFC 3339.
        committed: Option<String> =
            revision.time.map(|seconds| rfc3339(seconds.saturating_mul(1000))),
    }
}

view! {
    /// One run with what stands beside its samples.
    RunContents of (shown: &Shown<'_>) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("history"),
        /// The run.
        run: Run = Run::of(shown.run),
        /// One for each metric of each benchmark.
        results: Vec<KeptResult> = shown.contents.results.iter().map(KeptResult::of).collect(),
        /// The comparisons of the metric that decides, as they were when the run was added.
        comparisons: Vec<KeptComparison> =
            shown.contents.comparisons.iter().map(KeptComparison::of).collect(),
        /// What was found, without evidence and advice.
        findings: Vec<Finding> = shown.contents.findings.iter().map(Finding::of).collect(),
    }
}

view! {
    /// One metric of one benchmark in a run.
    KeptResult of (result: &RunResult) {
        /// The benchmark, as it is called now.
        benchmark: String = result.benchmark.name.clone(),
        /// Its parameters.
        parameters: Map<String, Value> = super::parameters(&result.benchmark.parameters),
        /// The place of its side among several that are no revisions; 0: the reference, or the only one.
        role: usize = result.benchmark.role,
        /// The metric.
        metric: String = result.metric.name.clone(),
        /// Base unit of the numbers.
        unit: String = result.metric.unit.symbol().to_owned(),
        /// Number of values.
        n: u64 = result.summary.n,
        /// Processes (or builds) that they come from.
        units: u64 = result.summary.units,
        /// The median, over processes of their medians; its interval is that within the run, at 95 %.
        centre: Estimate = Estimate::new(result.summary.centre, result.summary.interval),
    }
}

view! {
    /// A comparison in a run.
    KeptComparison of (compared: &Compared) {
        /// What the verdict is about.
        of: String = compared.subject.clone(),
        /// What it was compared with.
        against: String = compared.reference.clone(),
        /// The verdict.
        verdict: String = compared.verdict.clone(),
        /// Its ratio to the reference.
        ratio: Option<Estimate> = compared.ratio.map(Into::into),
    }
}

/// What was changed in a store, or written from it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreChange {
    /// Layout and verb.
    #[serde(flatten)]
    pub head: Head,
    /// The file or the database that keeps the runs.
    pub store: String,
    /// The project.
    pub project: String,
    /// Every run that was added, removed or exported.
    pub runs: Vec<ChangedRun>,
    /// Other names of benchmarks, old to new, where those were asked for.
    pub aliases: Vec<[String; 2]>,
    /// Levels that were accepted as normal, where those were asked for.
    pub blessings: Vec<Blessing>,
    /// Runs that could not be read, of a damaged store.
    pub lost: u64,
}

impl StoreChange {
    /// A change of nothing yet.
    pub fn new(store: &str, project: &str) -> Self {
        let (store, project) = (store.to_owned(), project.to_owned());
        let head = Head::of("history");
        let (runs, aliases, blessings) = (Vec::new(), Vec::new(), Vec::new());
        Self { head, store, project, runs, aliases, blessings, lost: 0 }
    }
}

view! {
    /// A level that was accepted as normal.
    Blessing of (blessing: &history::Blessing) {
        /// The benchmark; `null`: all.
        benchmark: Option<String> = blessing.benchmark.clone(),
        /// The run from which on it holds.
        run: String = blessing.run.clone(),
        /// When that was measured, RFC 3339.
        measured: String = rfc3339(blessing.started),
        /// When it was accepted, RFC 3339.
        accepted: String = rfc3339(blessing.blessed),
        /// Why; may be empty.
        reason: String = blessing.reason.clone(),
    }
}

/// A run that was added, removed or exported.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedRun {
    /// What it is known by; of a damaged store, as much as is left of it; empty while it waits, and where there is none.
    pub run: String,
    /// `added`, `known` (it was there), `waiting` (for a server that is gone), `not read` (of a store of another tool), `failed` (of a backfill), `removed`, `would be removed` or `exported`.
    pub done: &'static str,
    /// The file that it was read from, or written to; of a backfill, the revision.
    pub file: String,
}

view! {
    /// A benchmark over its revisions.
    Trends of (reports: &[TrendReport<'_>]) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("history"),
        /// One for each metric, machine and set of parameters that was asked for.
        trends: Vec<Trend> = reports.iter().map(Trend::of).collect(),
    }
}

view! {
    /// One metric of one benchmark on one machine, over its revisions.
    Trend of (report: &TrendReport<'_>) {
        /// The answer in one sentence. For people.
        sentence: String = sentence_of_trend(report.trend),
        /// The benchmark.
        benchmark: String = report.trend.series.benchmark.name.clone(),
        /// Its parameters.
        parameters: Map<String, Value> = super::parameters(&report.trend.series.benchmark.parameters),
        /// The place of its side among several that are no revisions; 0: the reference, or the only one.
        role: usize = report.trend.series.benchmark.role,
        /// The metric.
        metric: String = report.trend.series.metric.name.clone(),
        /// Base unit of the numbers.
        unit: String = report.trend.series.metric.unit.symbol().to_owned(),
        /// The machine.
        machine: String = report.trend.series.machine.clone(),
        /// Confidence of intervals and places.
        confidence: f64 = report.trend.confidence,
        /// The runs, in the order of their revisions.
        runs: Vec<TrendRun> = report.trend.series.points.iter().map(TrendRun::of).collect(),
        /// The changes, in their order.
        changes: Vec<TrendChange> = report.trend.changes.iter().zip(report.narrow)
            .map(|(change, narrow)| TrendChange::of(report.trend, change, narrow.as_deref())).collect(),
        /// What to know about it.
        findings: Vec<Finding> = report.trend.findings.iter().map(Finding::of).collect(),
    }
}

view! {
    /// One run of a benchmark.
    TrendRun of (point: &history::Point) {
        /// The beginning of what it is known by.
        run: String = point.recording.clone(),
        /// When it was measured, RFC 3339.
        measured: String = rfc3339(point.started),
        /// The revision.
        revision: Option<Revision> = point.revision.as_ref().map(Revision::of),
        /// Number of values.
        n: u64 = point.result.n,
        /// The median, with its interval within the run.
        centre: Estimate = Estimate::new(point.result.centre, point.result.interval),
    }
}

view! {
    /// A change of a benchmark.
    TrendChange of (trend: &trend::Trend, change: &trend::Change, narrow: Option<&str>) {
        /// `slower` for the worse, `faster` for the better.
        verdict: Verdict = (&change.verdict).into(),
        /// Index of the first run after it, as it fits best.
        index: usize = change.index,
        /// Index of the earliest run that may be the first after it.
        earliest: usize = change.earliest,
        /// Index of the latest run that may be the first after it.
        latest: usize = change.latest,
        /// After / before; `null` where a value is zero or negative.
        ratio: Option<Estimate> = change.ratio.map(Into::into),
        /// After - before.
        shift: Estimate = change.shift.into(),
        /// The last commit that is before it.
        after_commit: Option<String> = trend.between(change).0.map(|r| r.commit.clone()),
        /// The first commit that has it.
        up_to_commit: Option<String> = trend.between(change).1.map(|r| r.commit.clone()),
        /// How many commits it may be, by first parents.
        commits: Option<u64> = trend.commits(change),
        /// The chance of finding anything so clear in a series of as many runs that didn't change.
        p: f64 = change.p,
        /// The accepted level that its new one belongs to; `null` where nobody accepted it.
        accepted: Option<Blessing> = change.accepted.as_ref().map(Blessing::of),
        /// A command line that narrows it.
        narrow: Option<String> = narrow.map(str::to_owned),
    }
}

view! {
    /// What happened to a project: the changes of all its series, those of one cause together.
    Happenings of (report: &EventsReport<'_>) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("history"),
        /// The answer in one sentence. For people.
        sentence: String = sentence_of_events(report),
        /// The project.
        project: String = report.project.to_owned(),
        /// How many series were looked at: one for each benchmark and machine.
        series: usize = report.events.series,
        /// How many of them have enough runs for a change to be detected.
        with_enough_runs: usize = report.events.enough,
        /// The machines.
        machines: Vec<String> = report.events.machines.clone(),
        /// Confidence of intervals and places.
        confidence: f64 = report.events.confidence,
        /// The events, the latest first.
        events: Vec<Event> = report.events.events.iter().zip(report.narrow)
            .map(|(event, narrow)| Event::of(event, narrow.as_deref())).collect(),
        /// What to know about it.
        findings: Vec<Finding> = report.events.findings.iter().map(Finding::of).collect(),
    }
}

view! {
    /// Changes that may lie at one place.
    Event of (event: &events::Event, narrow: Option<&str>) {
        /// The machine.
        machine: String = event.machine.clone(),
        /// When the first run that surely has it was measured, RFC 3339.
        measured: String = rfc3339(event.after.started),
        /// How many series got worse.
        worse: usize = event.ways().0,
        /// How many got better.
        better: usize = event.ways().1,
        /// Whether all of its changes were accepted.
        accepted: bool = event.accepted().is_some(),
        /// The last commit that is before all of its changes.
        after_commit: Option<String> = event.between().0.map(|r| r.commit.clone()),
        /// The first commit that has them all.
        up_to_commit: Option<String> = event.between().1.map(|r| r.commit.clone()),
        /// How many commits it may be, by first parents.
        commits: Option<u64> = event.commits(),
        /// A command line that narrows it.
        narrow: Option<String> = narrow.map(str::to_owned),
        /// The series, the largest change first.
        changes: Vec<EventChange> = event.moved.iter().map(EventChange::of).collect(),
    }
}

view! {
    /// A series that an event moved.
    EventChange of (moved: &events::Moved) {
        /// The benchmark.
        benchmark: String = moved.benchmark.name.clone(),
        /// Its parameters.
        parameters: Map<String, Value> = super::parameters(&moved.benchmark.parameters),
        /// The place of its side among several that are no revisions; 0: the reference, or the only one.
        role: usize = moved.benchmark.role,
        /// The metric.
        metric: String = moved.metric.name.clone(),
        /// Base unit of the numbers.
        unit: String = moved.metric.unit.symbol().to_owned(),
        /// `slower` for the worse, `faster` for the better.
        verdict: Verdict = (&moved.change.verdict).into(),
        /// After / before; `null` where a value is zero or negative.
        ratio: Option<Estimate> = moved.change.ratio.map(Into::into),
        /// After - before.
        shift: Estimate = moved.change.shift.into(),
        /// The chance of finding anything so clear in a series of as many runs that didn't change.
        p: f64 = moved.change.p,
        /// The accepted level that its new one belongs to; `null` where nobody accepted it.
        accepted: Option<Blessing> = moved.change.accepted.as_ref().map(Blessing::of),
    }
}

view! {
    /// A run beside what is normal.
    Gated of (report: &GateReport<'_>) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("gate"),
        /// The worst standing of all benchmarks; what is better than normal counts as normal.
        verdict: Standing = (&report.gate.standing()).into(),
        /// The answer in one sentence. For people.
        sentence: String = sentence_of_gate(report),
        /// The project.
        project: String = report.project.to_owned(),
        /// The file or run that was judged.
        run: String = report.run.to_owned(),
        /// The machine.
        machine: String = report.machine.to_owned(),
        /// How sure all answers together are.
        confidence: f64 = report.gate.asked.confidence,
        /// The smallest worsening that is reported.
        threshold: f64 = report.gate.asked.threshold,
        /// The worsening that has to be detectable.
        detect: f64 = report.gate.asked.detect,
        /// The benchmarks.
        benchmarks: Vec<GatedBenchmark> = report.gate.judged.iter().map(GatedBenchmark::of).collect(),
        /// What to know about it.
        findings: Vec<Finding> = report.gate.findings.iter().map(Finding::of).collect(),
    }
}

words! {
    /// Where a run stands beside what is normal.
    Standing from gate::Standing {
        /// As ever.
        Source::Normal => Normal,
        /// Better than ever.
        Source::Better => Better,
        /// Not known: a worsening that matters could not have been seen.
        Source::Inconclusive => Inconclusive,
        /// Worse.
        Source::Worse => Worse,
    }
}

view! {
    /// One benchmark beside what is normal.
    GatedBenchmark of (judged: &gate::Judged) {
        /// The benchmark.
        benchmark: String = judged.benchmark.name.clone(),
        /// Its parameters.
        parameters: Map<String, Value> = super::parameters(&judged.benchmark.parameters),
        /// The place of its side among several that are no revisions; 0: the reference, or the only one.
        role: usize = judged.benchmark.role,
        /// The metric.
        metric: String = judged.metric.name.clone(),
        /// Base unit of the numbers.
        unit: String = judged.metric.unit.symbol().to_owned(),
        /// Where it stands.
        standing: Standing = (&judged.standing).into(),
        /// The median of this run.
        now: f64 = judged.now,
        /// What is normal, with the range in which one run is, at its share of the error.
        normal: Option<Estimate> = judged.normal.map(|normal| Estimate {
            estimate: Some(normal),
            lower: judged.range.map(|(lower, _)| lower),
            upper: judged.range.map(|(_, upper)| upper),
        }),
        /// This run (or where `together`, the median of the last three) / normal.
        ratio: Option<f64> = judged.ratio,
        /// Whether it took the last three runs to see it.
        together: bool = judged.together,
        /// True if this run is worse alone and no other run confirms it yet: `standing` is then `inconclusive`.
        stands_out: bool = judged.stands_out,
        /// Runs that are normal.
        runs: usize = judged.runs,
        /// Standard deviation between runs, as a fraction.
        spread: Option<f64> = judged.spread,
        /// The worsening that is found within three runs in 80 %.
        detectable: Option<f64> = judged.detectable,
        /// So many more runs make `detect` detectable; `null` where it is, or no number would.
        more_runs: Option<usize> = judged.more_runs,
        /// p-value of "not worse", adjusted over all benchmarks.
        p: Option<f64> = judged.p,
        /// The last normal revision; `null` where normal runs have none.
        last_normal: Option<Revision> = judged.last_normal.as_ref().map(Revision::of),
        /// What a fresh run says of the alarm; `null` without an alarm, or where it was not asked for (`--confirm`).
        confirmation: Option<Confirmation> = judged.confirmation.as_ref().map(Confirmation::of),
    }
}

view! {
    /// A fresh run of the last normal revision and the new one by turns, about one alarm.
    Confirmation of (found: &gate::Confirmation) {
        /// What became of the alarm.
        outcome: ConfirmationOutcome = (&found.outcome()).into(),
        /// The last normal revision; `null` where it is not known.
        against: Option<String> = found.against.clone(),
        /// The new revision; `null` where it is not known.
        revision: Option<String> = found.revision.clone(),
        /// The verdict of the fresh run; `null` where there was none.
        verdict: Option<Verdict> = found.fresh.as_ref().ok().map(|fresh| (&fresh.verdict).into()),
        /// New / last normal in the fresh run.
        ratio: Option<Estimate> = found.fresh.as_ref().ok().and_then(|fresh| fresh.ratio).map(Into::into),
        /// Why there was no fresh run; `null` where there was one.
        why: Option<String> = found.fresh.as_ref().err().cloned(),
    }
}

words! {
    /// What became of an alarm.
    ConfirmationOutcome from gate::Outcome {
        /// The fresh run finds it worse, too: the alarm stands.
        Source::Confirmed => Confirmed,
        /// The fresh run does not: it is no alarm.
        Source::NotConfirmed => NotConfirmed,
        /// There was no fresh run: the alarm stands.
        Source::NotMeasured => NotMeasured,
    }
}
