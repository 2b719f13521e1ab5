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
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("bisect"),
        /// Outcome of the search.
        outcome: SearchOutcome => report.found.outcome,
        /// Verdict on the bad commit against the good one: `slower` for worse, `faster` for better;
        /// `null` if they were not measured.
        verdict: Option<Verdict> = report.found.ends.as_ref().map(|ends| (&ends.verdict).into()),
        /// The answer in one sentence. For people.
        sentence: String = sentence(report),
        /// The measured command or benchmark.
        measured: String => report.what,
        /// The metric that decides.
        metric: String => report.metric.name,
        /// Base unit of the numbers.
        unit: String => report.metric.unit,
        /// The good commit.
        good: Option<BisectedCommit> => report.commits.first(),
        /// The bad commit.
        bad: Option<BisectedCommit> => report.commits.last(),
        /// Number of commits that may have caused the change: those after the good one up to the
        /// bad one, by first parents.
        commits: usize = report.commits.len().saturating_sub(1),
        /// Bad / good; `null` if unknown or if a value is zero or negative.
        ends_ratio: Option<Estimate> = report.found.ends.as_ref().and_then(ratio_of_ends),
        /// Bad − good, if differences decide.
        ends_shift: Option<Estimate> = report.found.ends.as_ref().and_then(shift_of_ends),
        /// The commit that caused the change, or the last of several, if the others could not be
        /// measured; `null` if none was found.
        commit: Option<BisectedCommit> = place_found(report).and_then(|c| report.commits.get(c.at)).map(BisectedCommit::of),
        /// The commit before the change that it was compared with; `null` if none was found.
        after: Option<BisectedCommit> = place_found(report).and_then(|c| report.commits.get(c.after)).map(BisectedCommit::of),
        /// `commit` / `after`; `null` if none was found, or if a value is zero or negative.
        ratio: Option<Estimate> = change(report, Scale::Ratio),
        /// `commit` − `after`, if differences decide.
        shift: Option<Estimate> = change(report, Scale::Shift),
        /// Probability that this is the commit.
        probability: Option<f64> = place_found(report).map(|c| c.probability),
        /// Number of blocks that contain both.
        direct_blocks: Option<usize> = place_found(report).and(report.found.best).map(|(_, pair)| pair.blocks),
        /// All commits that may have caused the change, most probable first.
        candidates: Vec<BisectCandidate> = candidates(report),
        /// Commits that could not be measured.
        skipped: Vec<SkippedCommit> = report.skipped.iter().map(|s| SkippedCommit::of(report, s)).collect(),
        /// Probability that a commit must reach, and confidence of all intervals.
        confidence: f64 => report.found.confidence,
        /// Number of measured commits.
        built: usize => report.found.measured,
        /// Number of runs.
        runs: usize => report.found.runs,
        /// Number of blocks.
        blocks: usize => report.found.blocks,
        /// Standard deviation of a single run: of logarithms if ratios are compared, otherwise in
        /// the unit.
        noise: Option<f64> = report.found.known.as_ref().map(|known| known.noise),
        /// Standard deviation between builds of the same commit, on the same scale.
        build_noise: Option<f64> = report.found.known.as_ref().map(|known| known.own),
        /// Estimated number of further blocks needed; `null` if unknown.
        blocks_left: Option<f64> => report.found.blocks_left,
        /// A command that continues the search; `null` if nothing is left to do.
        next: Option<String>,
        /// Findings about the search.
        findings: Vec<Finding>,
    }
}

words! {
    /// Outcome of a search.
    SearchOutcome from bisect::Outcome {
        /// The commit was found.
        Source::Found => Found,
        /// The good and the bad commit do not differ by the threshold.
        Source::Unchanged => Unchanged,
        /// It is unknown whether the two commits differ.
        Source::EndsUnknown => EndsUnknown,
        /// The two commits differ, but the commit that caused it is unknown.
        Source::Unplaced => Unplaced,
    }
}

view! {
    /// A commit.
    BisectedCommit of (commit: &Commit) {
        /// Full ID of the commit.
        commit: String,
        /// Time of the commit, RFC 3339.
        committed: String = rfc3339(commit.time.saturating_mul(1000)),
        /// The first line of its message.
        subject: String,
    }
}

view! {
    /// A commit that may have caused the change.
    BisectCandidate of (commit: &Commit, after: &Commit, chance: f64) {
        /// Full ID of the commit.
        commit: String,
        /// The last commit before it that could be measured.
        after: String => after.commit,
        /// The first line of its message.
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
        /// The reason.
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
