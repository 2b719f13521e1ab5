//! The trend of a benchmark over its revisions: its changes, their sizes, and the commits that may
//! have caused them.
//!
//! The points are runs, so a run of many processes counts once. [`levels`] detects changes of
//! level. The size of a change is the Hodges-Lehmann ratio of the runs before and after it, with an
//! interval widened for the correlation of successive runs. Its position is given as a confidence
//! set ([`change_points::places`]). A change among runs of one commit is attributed to the machine,
//! not the code. A steady rise or fall has no single position and is reported as creep ([`creep`]).

use super::creep::{self, Creep};
use super::levels;
use super::runs_needed::Question;
use super::short_level::{self, ShortLevel};
use super::size::size_of_dependent;
use super::{Blessing, Point, Revision, Series, in_order};
use crate::comparison::Effect;
use crate::policy;
use crate::verdict::Verdict;
use assay_data::code;
use assay_data::{Better, Finding, Severity};
use assay_stats::change_points::{self, Levels};
use assay_stats::descriptive;

/// Number of powers of two for which positions are computed, so that up to 1,024 changes can share
/// the error.
const SHARED: usize = 11;

/// A stretch of runs between two changes, or between a change and an end of the series.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Index of the first run.
    pub from: usize,
    /// One past the index of the last run.
    pub to: usize,
    /// Median of the runs.
    pub median: f64,
}

/// A change between two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Best estimate of the index of the first run after the change.
    pub index: usize,
    /// Index of the earliest run that may be the first after the change.
    pub earliest: usize,
    /// Index of the latest run that may be the first after the change.
    pub latest: usize,
    /// Level after the change divided by the level before; `None` if a value is zero or negative.
    pub ratio: Option<Effect>,
    /// Level after the change minus the level before.
    pub shift: Effect,
    /// `Faster` for an improvement, `Slower` for a worsening.
    pub verdict: Verdict,
    /// p-value of a change at least this clear in a series of this length.
    pub p: f64,
    /// The first level accepted at or after this change, if any.
    pub accepted: Option<Blessing>,
    /// `earliest` and `latest` if the error is shared by 1, 2, 4, … changes.
    pub(super) shared: Vec<(usize, usize)>,
}

/// A series with its changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// The series, in the order of its revisions.
    pub series: Series,
    /// The parts between the changes, in order; one more than there are changes.
    pub parts: Vec<Part>,
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// Stretches that rise or fall steadily, in order.
    pub creeps: Vec<Creep>,
    /// A different level at one end of the series, with too few runs to count as a change.
    pub short: Option<ShortLevel>,
    /// Confidence of the intervals and of the positions of changes.
    pub confidence: f64,
    /// Findings about the trend.
    pub findings: Vec<Finding>,
}

impl Trend {
    /// Returns the last commit that is certainly before a change and the first that is certainly
    /// after it. Either is `None` if its run has no revision.
    pub fn between(&self, change: &Change) -> (Option<&Revision>, Option<&Revision>) {
        let of = |index: usize| self.series.points.get(index).and_then(|p| p.revision.as_ref());
        (change.earliest.checked_sub(1).and_then(of), of(change.latest))
    }

    /// Returns the number of commits that may have caused a change; `None` if unknown.
    pub fn commits(&self, change: &Change) -> Option<u64> {
        commits_between(self.between(change))
    }

    /// Marks as accepted all changes up to the run at which a level was accepted. O(blessings ·
    /// runs).
    #[must_use]
    pub fn accepting(mut self, blessings: &[Blessing]) -> Self {
        let name = &self.series.benchmark.name;
        let own = blessings.iter().filter(|blessing| blessing.is_of(name));
        let mut own: Vec<(usize, &Blessing)> =
            own.map(|blessing| (blessing.place(&self.series.points), blessing)).collect();
        own.sort_by_key(|(place, blessing)| (*place, blessing.blessed));
        for change in &mut self.changes {
            let first = own.iter().find(|(place, _)| *place >= change.index);
            change.accepted = first.map(|(_, blessing)| (*blessing).clone());
        }
        self
    }

    /// Returns the values of all runs, in order.
    pub fn values(&self) -> Vec<f64> {
        self.series.points.iter().map(|point| point.result.centre).collect()
    }
}

/// Returns the number of commits after the first revision, up to and including the second; `None`
/// if unknown.
pub(super) fn commits_between(
    (before, after): (Option<&Revision>, Option<&Revision>),
) -> Option<u64> {
    after?.ordinal?.checked_sub(before?.ordinal?)
}

/// Detects changes in a series. O(n log n) per change.
pub fn trend(mut series: Series, confidence: f64) -> Trend {
    in_order(&mut series.points);
    let values: Vec<f64> = series.points.iter().map(|point| point.result.centre).collect();
    let (mut edges, found) = levels::edges(&values, policy::LEVEL_CHANGED);
    let creeps = creep::take(&values, &mut edges, series.metric.better, confidence);
    let part = |pair: &[usize]| Part {
        from: pair[0],
        to: pair[1],
        median: descriptive::median(&values[pair[0]..pair[1]]),
    };
    let parts = edges.windows(2).map(part).collect();
    let changes: Vec<Change> = edges
        .windows(3)
        .filter_map(|edge| change(&values, edge, &found, series.metric.better, confidence))
        .collect();
    // The ends of a creep also look like different levels.
    let creeps_at = |edge: usize| creeps.iter().any(|creep| creep.from == edge || creep.to == edge);
    let short = short_level::find(&values, &edges, series.metric.better, confidence)
        .filter(|short| !creeps_at(if short.is_first { 0 } else { values.len() }));
    let mut trend = Trend { series, parts, changes, creeps, short, confidence, findings: vec![] };
    trend.findings = findings(&trend);
    trend
}

fn change(
    values: &[f64],
    edge: &[usize],
    found: &Levels,
    better: Better,
    confidence: f64,
) -> Option<Change> {
    let &[from, index, to] = edge else { return None };
    let near = &values[from..to];
    let sharing = (0..SHARED).map(|doubled| 1.0 - (1.0 - confidence) / f64::from(1 << doubled));
    let sharing: Vec<f64> = sharing.collect();
    let places = change_points::places(near, index - from, found.lag1, &sharing);
    let shared: Vec<(usize, usize)> =
        places.into_iter().map(|(first, last)| (from + first, from + last)).collect();
    let &(earliest, latest) = shared.first()?;
    // The autocorrelation time, from the correlation that was used to locate the change.
    let time = (1.0 + found.lag1) / (1.0 - found.lag1);
    let size =
        size_of_dependent((&values[from..index], &values[index..to]), time, better, confidence)?;
    let p =
        found.changes.iter().find(|change| change.index == index).map_or(1.0, |change| change.p);
    Some(Change {
        index,
        earliest,
        latest,
        ratio: size.ratio,
        shift: size.shift,
        verdict: size.verdict,
        p,
        accepted: None,
        shared,
    })
}

fn findings(trend: &Trend) -> Vec<Finding> {
    let runs = trend.series.points.len();
    let mut findings = Vec::new();
    findings.extend(Question::Change.finding(&trend.series.benchmark.label(), runs));
    findings.extend(trend.creeps.iter().map(|creep| creep::finding(&trend.series, creep)));
    findings.extend(trend.short.iter().map(|short| short_level::finding(&trend.series, short)));
    let commit = |point: &Point| point.revision.as_ref().map(|revision| revision.commit.clone());
    for change in &trend.changes {
        let around = &trend.series.points[change.index - 1..=change.index];
        let [before, after] = [commit(&around[0]), commit(&around[1])];
        let (first, last) = trend.between(change);
        let same = first.zip(last).is_some_and(|(a, b)| a.commit == b.commit);
        if before.is_some() && before == after && same {
            findings.push(without_commit(&around[1]));
        }
    }
    findings
}

pub(super) fn without_commit(point: &Point) -> Finding {
    let name = point.revision.as_ref().map_or("-", Revision::short);
    let message = format!(
        "a change lies between two runs of the same commit, {name}: the machine or the environment changed, not the code"
    );
    Finding::new(code::CHANGED_WITHOUT_COMMIT, message)
}

/// Returns the finding that a benchmark is missing from `runs` later runs. `last` names the last
/// revision that contained it.
pub fn vanished(benchmark: &str, last: &str, runs: u64) -> Finding {
    let message = format!(
        "{benchmark} is gone: it was last measured at {last}, and {} of the same benchmarks {} it",
        if runs == 1 { "a later run".to_owned() } else { format!("{runs} later runs") },
        if runs == 1 { "lacks" } else { "lack" }
    );
    Finding::new(code::BENCHMARKS_MISSING, message)
        .at(Severity::Warning)
        .about(benchmark)
        .with("runs", runs as f64)
}

/// Returns the finding that the repository no longer connects the commits around a change: either
/// `lost` is missing or, if `lost` is `None`, the commits are on two branches.
pub fn commit_gone(lost: Option<&Revision>, before: &Revision, after: &Revision) -> Finding {
    let why = match lost {
        Some(lost) => format!("commit {} is no longer in this repository", lost.short()),
        None => format!("commit {} does not lead to {}", before.short(), after.short()),
    };
    let message = format!(
        "{why}: its history was rewritten, or this is another clone; the change is located by the commits as they were"
    );
    Finding::new(code::COMMITS_MISSING, message).at(Severity::Warning)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;
    use crate::history::{Benchmark, RunSummary};
    use assay_data::Metric;
    use assay_stats::resampling::Stream;

    /// Runs with these values; `per_commit` successive runs share a commit.
    fn series(values: &[f64], per_commit: usize) -> Series {
        let point = |(place, &centre): (usize, &f64)| {
            let ordinal = (place / per_commit) as u64;
            let revision = Revision {
                commit: format!("c{ordinal}"),
                ordinal: Some(10 * ordinal),
                ..Revision::default()
            };
            let result = RunSummary { n: 9, units: 9, centre, interval: None };
            Point {
                recording: String::new(),
                started: place as i64,
                revision: Some(revision),
                result,
            }
        };
        Series {
            benchmark: Benchmark { name: "b".to_owned(), ..Benchmark::default() },
            metric: Metric::wall(),
            machine: String::new(),
            // The input order is irrelevant.
            points: values.iter().enumerate().map(point).rev().collect(),
        }
    }

    fn noise(random: &mut Stream, runs: usize, at: usize, size: f64) -> Vec<f64> {
        (0..runs)
            .map(|i| (0.02 * random.normal() + if i < at { 0.0 } else { size }).exp())
            .collect()
    }

    #[test]
    fn a_change_is_found_with_its_size_and_between_its_commits_and_none_where_there_is_none() {
        let mut random = Stream::new(1, 0);
        let (mut found, mut held, mut covered, mut false_ones) = (0, 0, 0, 0);
        for _ in 0..100 {
            let with = trend(series(&noise(&mut random, 60, 30, 0.05), 1), 0.95);
            if let [change] = with.changes.as_slice() {
                found += 1;
                held += usize::from((change.earliest..=change.latest).contains(&30));
                let interval = change.ratio.unwrap().interval.unwrap();
                covered += usize::from(interval.contains(0.05_f64.exp()));
                assert_eq!(change.verdict, Verdict::Slower);
            }
            let without = trend(series(&noise(&mut random, 60, 60, 0.0), 1), 0.95);
            false_ones += usize::from(!without.changes.is_empty());
        }
        assert!(
            found >= 95 && held >= found - 8 && covered >= found - 10,
            "{found} {held} {covered}"
        );
        assert!(false_ones <= 3, "{false_ones}");
    }

    #[test]
    fn the_size_of_a_change_is_held_where_successive_runs_are_correlated() {
        for phi in [0.0, 0.5] {
            let (mut found, mut held) = (0_u32, 0_u32);
            for number in 0..400 {
                let mut random = Stream::new(47, number);
                let mut state = random.normal();
                let mut value = |run: usize| {
                    state = phi * state + f64::sqrt(1.0 - phi * phi) * random.normal();
                    (0.015 * state + if run < 40 { 0.0 } else { 0.05 }).exp()
                };
                let values: Vec<f64> = (0..60).map(&mut value).collect();
                let changes = trend(series(&values, 1), 0.95).changes;
                let nearest = changes.iter().min_by_key(|change| change.index.abs_diff(40));
                let Some(change) = nearest.filter(|change| change.index.abs_diff(40) < 10) else {
                    continue;
                };
                found += 1;
                let interval = change.ratio.and_then(|ratio| ratio.interval);
                held += u32::from(interval.is_some_and(|i| i.contains(0.05_f64.exp())));
            }
            let share = f64::from(held) / f64::from(found);
            assert!(found >= 330 && share >= 0.93, "{phi}: {share} of {found}");
        }
    }

    #[test]
    fn a_change_lies_after_the_last_run_that_is_surely_before_it() {
        let values: Vec<f64> = (0..40)
            .map(|i| f64::from(i * 7 % 5) / 100.0 + if i < 20 { 1.0 } else { 2.0 })
            .collect();
        let found = trend(series(&values, 1), 0.95);
        let [change] = found.changes.as_slice() else { unreachable!("{:?}", found.changes) };
        assert_eq!(change.index, 20);
        let (before, after) = found.between(change);
        let (before, after) = (before.unwrap().ordinal.unwrap(), after.unwrap().ordinal.unwrap());
        assert!(before <= 190 && after >= 200);
        assert_eq!(found.commits(change), Some(after - before));
        assert_eq!(
            found.parts.iter().map(|p| (p.from, p.to)).collect::<Vec<_>>(),
            [(0, 20), (20, 40)]
        );
        assert!(found.findings.is_empty());
    }

    #[test]
    fn trifles_are_left_out_and_few_runs_are_said() {
        let values: Vec<f64> = (0..40).map(|i| if i < 20 { 1.0 } else { 1.005 }).collect();
        assert!(trend(series(&values, 1), 0.95).changes.is_empty());
        let few = trend(series(&values[..7], 1), 0.95);
        assert_eq!(few.findings[0].code, "TOO_FEW_RUNS");
        assert_eq!(few.findings[0].number("more"), Some(3.0));
        assert!(trend(series(&[], 1), 0.95).changes.is_empty());
    }

    #[test]
    fn a_change_within_one_commit_is_one_of_the_machine() {
        let values: Vec<f64> = (0..60)
            .map(|i| f64::from(i * 7 % 5) / 100.0 + if i < 25 { 1.0 } else { 2.0 })
            .collect();
        let codes = |per_commit| -> Vec<String> {
            let found = trend(series(&values, per_commit), 0.95);
            found.findings.into_iter().map(|finding| finding.code).collect()
        };
        assert_eq!(codes(60), ["CHANGED_WITHOUT_COMMIT"]);
        assert!(codes(1).is_empty());
    }
}
