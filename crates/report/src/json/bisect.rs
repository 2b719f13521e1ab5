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
    /// Which commit brought a change.
    Bisection of (report: &BisectReport<'_>) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("bisect"),
        /// How it ended.
        outcome: SearchOutcome = (&report.found.outcome).into(),
        /// The bad commit against the good one: `slower` for the worse, `faster` for the better; `null` where they were not measured.
        verdict: Option<Verdict> = report.found.ends.as_ref().map(|ends| (&ends.verdict).into()),
        /// The answer in one sentence. For people.
        sentence: String = sentence(report),
        /// The command or benchmark.
        measured: String = report.what.to_owned(),
        /// The metric that decides.
        metric: String = report.metric.name.clone(),
        /// Base unit of the numbers.
        unit: String = report.metric.unit.symbol().to_owned(),
        /// The good commit.
        good: Option<BisectedCommit> = report.commits.first().map(BisectedCommit::of),
        /// The bad commit.
        bad: Option<BisectedCommit> = report.commits.last().map(BisectedCommit::of),
        /// How many commits may have brought the change: those after the good one up to the bad one, by first parents.
        commits: usize = report.commits.len().saturating_sub(1),
        /// Bad / good; `null` where it is not known or a value is zero or negative.
        ends_ratio: Option<Estimate> = report.found.ends.as_ref().and_then(ratio_of_ends),
        /// Bad - good, where that decides.
        ends_shift: Option<Estimate> = report.found.ends.as_ref().and_then(shift_of_ends),
        /// The commit that brought the change, or the last of several of which the others could not be measured; `null` unless it was found.
        commit: Option<BisectedCommit> = place_found(report).and_then(|c| report.commits.get(c.at)).map(BisectedCommit::of),
        /// The commit before the change that it was compared with; `null` unless it was found.
        after: Option<BisectedCommit> = place_found(report).and_then(|c| report.commits.get(c.after)).map(BisectedCommit::of),
        /// `commit` / `after`; `null` unless it was found, or where a value is zero or negative.
        ratio: Option<Estimate> = change(report, Scale::Ratio),
        /// `commit` - `after`, where that decides.
        shift: Option<Estimate> = change(report, Scale::Shift),
        /// How probable it is that this is the commit.
        probability: Option<f64> = place_found(report).map(|c| c.probability),
        /// Blocks that hold both.
        direct_blocks: Option<usize> = place_found(report).and(report.found.best).map(|(_, pair)| pair.blocks),
        /// All commits that may have brought it, the most probable first.
        candidates: Vec<BisectCandidate> = candidates(report),
        /// Commits that could not be measured.
        skipped: Vec<SkippedCommit> = report.skipped.iter().map(|s| SkippedCommit::of(report, s)).collect(),
        /// How probable a commit must be, and the confidence of all intervals.
        confidence: f64 = report.found.confidence,
        /// How many commits were measured.
        built: usize = report.found.measured,
        /// How many runs there were.
        runs: usize = report.found.runs,
        /// In how many blocks.
        blocks: usize = report.found.blocks,
        /// Standard deviation of what a run differs by: of logarithms where ratios are compared, else in the unit.
        noise: Option<f64> = report.found.known.as_ref().map(|known| known.noise),
        /// Standard deviation of what builds differ by themselves, on the same scale.
        build_noise: Option<f64> = report.found.known.as_ref().map(|known| known.own),
        /// About how many blocks more it takes; `null` where that can't be said.
        blocks_left: Option<f64> = report.found.blocks_left,
        /// A command that goes on; `null` where nothing is left to do.
        next: Option<String> = report.next.map(str::to_owned),
        /// What to know about it.
        findings: Vec<Finding> = report.findings.iter().map(Finding::of).collect(),
    }
}

words! {
    /// How a search ended.
    SearchOutcome from bisect::Outcome {
        /// A commit is established.
        Source::Found => Found,
        /// The good and the bad commit do not differ by the threshold.
        Source::Unchanged => Unchanged,
        /// Whether they differ is not known.
        Source::EndsUnknown => EndsUnknown,
        /// They differ, and which commit brought it is not known.
        Source::Unplaced => Unplaced,
    }
}

view! {
    /// A commit.
    BisectedCommit of (commit: &Commit) {
        /// Its full name.
        commit: String = commit.commit.clone(),
        /// When it was committed, RFC 3339.
        committed: String = rfc3339(commit.time.saturating_mul(1000)),
        /// The first line of its message.
        subject: String = commit.subject.clone(),
    }
}

view! {
    /// A commit that may have brought the change.
    BisectCandidate of (commit: &Commit, after: &Commit, chance: f64) {
        /// Its full name.
        commit: String = commit.commit.clone(),
        /// The last commit before it that could be measured.
        after: String = after.commit.clone(),
        /// The first line of its message.
        subject: String = commit.subject.clone(),
        /// How probable it is.
        probability: f64 = chance,
    }
}

view! {
    /// A commit that could not be measured.
    SkippedCommit of (report: &BisectReport<'_>, skipped: &(usize, String)) {
        /// Its full name.
        commit: Option<String> = report.commits.get(skipped.0).map(|c| c.commit.clone()),
        /// Why.
        why: String = skipped.1.clone(),
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
