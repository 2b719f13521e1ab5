//! The result of a search for the commit that caused a change, as JSON.

use super::Head;
use super::finding::Finding;
use super::values::{Estimate, Verdict, view, words};
use crate::bisect::{BisectReport, Commit, sentence};
use crate::history::rfc3339;
use assay_analysis::Interval;
use assay_analysis::bisect;
use assay_analysis::verdict::{Decision, Scale};

view! {
    /// Result of a search for the commit that changed a metric.
    Bisection of (report: &BisectReport<'_>) {
        /// Version of the JSON layout, and the verb that wrote it.
        #[serde(flatten)]
        head: Head = Head::of("bisect"),
        /// Outcome of the search for the commit.
        outcome: SearchOutcome => report.found.outcome,
        /// Verdict on the bad commit against the good one: `slower` for worse, `faster` for better;
        /// `null` if the two were not measured.
        verdict: Option<Verdict> = report.found.ends.as_ref().map(|ends| (&ends.verdict).into()),
        /// The answer in one sentence, for human readers.
        sentence: String = sentence(report),
        /// Description of the measured command or benchmark.
        measured: String => report.what,
        /// Name of the metric that decides the search.
        metric: String => report.metric.name,
        /// Base unit of the metric.
        unit: String => report.metric.unit,
        /// The commit that is known to be good.
        good: Option<BisectedCommit> => report.commits.first(),
        /// The commit that is known to be bad.
        bad: Option<BisectedCommit> => report.commits.last(),
        /// Number of commits that may have caused the change: those after the good commit, up to
        /// and including the bad one, along first parents.
        commits: usize = report.commits.len().saturating_sub(1),
        /// Ratio of the bad to the good commit; `null` if it is unknown or if a value is zero or
        /// negative.
        ends_ratio: Option<Estimate> = report.found.ends.as_ref().and_then(ratio_of_ends),
        /// Difference of the bad minus the good commit; `null` if ratios decide.
        ends_shift: Option<Estimate> = report.found.ends.as_ref().and_then(shift_of_ends),
        /// The commit that caused the change; `null` if none was found. If some commits could not
        /// be measured, it is the last of several that may have caused the change.
        commit: Option<BisectedCommit> = place_found(report).and_then(|c| report.commits.get(c.at)).map(BisectedCommit::of),
        /// The commit before the change with which `commit` was compared; `null` if none was found.
        after: Option<BisectedCommit> = place_found(report).and_then(|c| report.commits.get(c.after)).map(BisectedCommit::of),
        /// Ratio of `commit` to `after`; `null` if no commit was found, or if a value is zero or
        /// negative.
        ratio: Option<Estimate> = change(report, Scale::Ratio),
        /// Difference of `commit` minus `after`; `null` if ratios decide.
        shift: Option<Estimate> = change(report, Scale::Shift),
        /// Probability that `commit` caused the change; `null` if none was found.
        probability: Option<f64> = place_found(report).map(|c| c.probability),
        /// Number of blocks that contain both `commit` and `after`; `null` if no commit was found.
        direct_blocks: Option<usize> = place_found(report).and(report.found.best).map(|(_, pair)| pair.blocks),
        /// All commits that may have caused the change, most probable first.
        candidates: Vec<BisectCandidate> = candidates(report),
        /// Commits that could not be measured, with the reasons.
        skipped: Vec<SkippedCommit> = report.skipped.iter().map(|s| SkippedCommit::of(report, s)).collect(),
        /// Probability that a commit must reach to be reported as the cause. It is also the
        /// confidence of all intervals.
        confidence: f64 => report.found.confidence,
        /// Number of commits that were built and measured.
        built: usize => report.found.measured,
        /// Total number of runs.
        runs: usize => report.found.runs,
        /// Total number of blocks (groups of runs that are compared with each other).
        blocks: usize => report.found.blocks,
        /// Standard deviation of a single run. If ratios are compared, it is that of the
        /// logarithms; otherwise it is in the metric's unit.
        noise: Option<f64> = report.found.known.as_ref().map(|known| known.noise),
        /// Standard deviation between builds of one commit, on the same scale as `noise`.
        build_noise: Option<f64> = report.found.known.as_ref().map(|known| known.own),
        /// Estimated number of further blocks needed; `null` if unknown.
        blocks_left: Option<f64> => report.found.blocks_left,
        /// Command that continues the search; `null` if nothing is left to do.
        next: Option<String>,
        /// Findings about the search.
        findings: Vec<Finding>,
    }
}

words! {
    /// Outcome of a search for a commit.
    SearchOutcome from bisect::Outcome {
        /// The commit that caused the change was found.
        Source::Found => Found,
        /// The good and the bad commit differ by less than the threshold.
        Source::Unchanged => Unchanged,
        /// It is unknown whether the good and the bad commit differ.
        Source::EndsUnknown => EndsUnknown,
        /// The good and the bad commit differ, but it is unknown which commit caused the
        /// difference.
        Source::Unplaced => Unplaced,
    }
}

view! {
    /// A commit of the search, as shown by the repository.
    BisectedCommit of (commit: &Commit) {
        /// Full ID of the commit.
        commit: String,
        /// Time of the commit, RFC 3339.
        committed: String = rfc3339(commit.time.saturating_mul(1000)),
        /// First line of the commit message.
        subject: String,
    }
}

view! {
    /// A commit that may have caused the change.
    BisectCandidate of (commit: &Commit, after: &Commit, chance: f64) {
        /// Full ID of the commit.
        commit: String,
        /// Full ID of the last commit before this one that could be measured.
        after: String => after.commit,
        /// First line of the commit message.
        subject: String,
        /// Probability that this commit caused the change.
        probability: f64 = chance,
    }
}

view! {
    /// A commit that could not be measured.
    SkippedCommit of (report: &BisectReport<'_>, skipped: &(usize, String)) {
        /// Full ID of the commit.
        commit: Option<String> = report.commits.get(skipped.0).map(|c| c.commit.clone()),
        /// The reason why the commit could not be measured.
        why: String => skipped.1,
    }
}

fn place_found(report: &BisectReport<'_>) -> Option<bisect::Candidate> {
    let is_found = report.found.outcome == bisect::Outcome::Found;
    report.found.best.filter(|_| is_found).map(|(best, _)| best)
}

fn candidates(report: &BisectReport<'_>) -> Vec<BisectCandidate> {
    let of = |candidate: &bisect::Candidate| {
        let commit = report.commits.get(candidate.at)?;
        let after = report.commits.get(candidate.after)?;
        Some(BisectCandidate::of(commit, after, candidate.probability))
    };
    report.found.candidates.iter().filter_map(of).collect()
}

fn on(scale: Scale, estimate: f64, interval: Option<Interval>) -> Estimate {
    match scale {
        Scale::Shift => Estimate::new(estimate, interval),
        Scale::Ratio => {
            let ratio = |i: Interval| Interval { lower: i.lower.exp(), upper: i.upper.exp() };
            Estimate::new(estimate.exp(), interval.map(ratio))
        }
    }
}

fn ratio_of_ends(ends: &Decision) -> Option<Estimate> {
    (ends.scale == Scale::Ratio).then(|| on(ends.scale, ends.estimate, ends.interval))
}

fn shift_of_ends(ends: &Decision) -> Option<Estimate> {
    (ends.scale == Scale::Shift).then(|| on(ends.scale, ends.estimate, ends.interval))
}

fn change(report: &BisectReport<'_>, scale: Scale) -> Option<Estimate> {
    place_found(report)?;
    let (_, pair) = report.found.best?;
    (report.found.scale == scale).then(|| on(scale, pair.estimate, pair.interval))
}
