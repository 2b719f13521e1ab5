//! What a store of runs holds, and what was changed in it, as JSON.

use super::Head;
use super::finding::Finding;
use super::values::{Estimate, view};
use crate::history::{Log, Shown, rfc3339};
use assay_analysis::history::{self, Compared, RunResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

view! {
    /// Runs that are kept.
    RunList of (log: &Log<'_>, store: &str) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("history"),
        /// The file that keeps them.
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoreChange {
    /// Layout and verb.
    #[serde(flatten)]
    pub head: Head,
    /// The file that keeps the runs.
    pub store: String,
    /// The project.
    pub project: String,
    /// Every run that was added, removed or exported.
    pub runs: Vec<ChangedRun>,
    /// Other names of benchmarks, old to new, where those were asked for.
    pub aliases: Vec<[String; 2]>,
    /// Runs that could not be read, of a damaged store.
    pub lost: u64,
}

impl StoreChange {
    /// A change of nothing yet.
    pub fn new(store: &str, project: &str) -> Self {
        let (store, project) = (store.to_owned(), project.to_owned());
        let head = Head::of("history");
        Self { head, store, project, runs: Vec::new(), aliases: Vec::new(), lost: 0 }
    }
}

/// A run that was added, removed or exported.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedRun {
    /// What it is known by; of a damaged store, as much as is left of it.
    pub run: String,
    /// `added`, `known` (it was there), `removed` or `exported`.
    pub done: &'static str,
    /// The file that it was read from, or written to.
    pub file: String,
}
