//! Events of a project: the changes of all its series, with changes that have a common cause merged
//! into one event.
//!
//! A change is only known to have come between two runs. Changes on one machine whose ranges have a
//! position in common are one event, and there are as few events as possible: the smallest set of
//! positions that explains all changes (the ends of those ranges that contain no earlier end). Each
//! change belongs to the position nearest to its best fit, and the range of an event is the
//! intersection of its changes' ranges. Confidence sets of positions share their error: among the
//! changes of a machine for grouping, and among those of an event for its range. Otherwise, of a
//! hundred changes with one cause, about five of the 95 % sets would miss its position. As a
//! consequence, two causes that no series separates are one event, and a poorly located change is
//! not a separate event.
//!
//! All series share the error: on average, at most a share of [`policy::EVENTS_ERROR`] of the
//! events and creeping series shown is false (Benjamini and Hochberg), counting at least as many
//! tests as series. If nothing changed, the probability of any event is at most this share. The
//! p-value of an event combines those of its changes by Simes' rule, so a cause that moved many
//! series counts once and does not lead to further false events. A single series viewed separately
//! may show more.

use super::creep::Creep;
use super::runs_needed::{self, Question};
use super::short_level::{self, ShortLevel};
use super::trend::{Change, Trend, commits_between, without_commit};
use super::{Benchmark, Blessing, Point, Revision, Series, in_order};
use crate::policy;
use crate::verdict::Verdict;
use assay_data::code;
use assay_data::{Finding, Metric};
use assay_stats::adjust;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A series moved by an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// The metric.
    pub metric: Metric,
    /// The change of the series. Its indices refer to the runs of this series.
    pub change: Change,
}

impl Moved {
    /// Returns the size of the change, by which series are sorted.
    fn weight(&self) -> f64 {
        self.change.ratio.map_or(0.0, |ratio| ratio.estimate.ln().abs())
    }
}

/// Changes at a common position, which are attributed to one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The machine on which the series were measured.
    pub machine: String,
    /// The series that changed, largest change first.
    pub moved: Vec<Moved>,
    /// The last run that is certainly before the change.
    pub before: Point,
    /// The first run that is certainly after the change.
    pub after: Point,
}

impl Event {
    /// Returns the last commit certainly before the event, and the first certainly after it; each
    /// is `None` if its run has no revision.
    pub fn between(&self) -> (Option<&Revision>, Option<&Revision>) {
        (self.before.revision.as_ref(), self.after.revision.as_ref())
    }

    /// Returns the number of commits that may have caused the event; `None` if unknown.
    pub fn commits(&self) -> Option<u64> {
        commits_between(self.between())
    }

    /// Returns the number of series that got worse, and the number that got better.
    pub fn ways(&self) -> (usize, usize) {
        let better = self.moved.iter().filter(|m| m.change.verdict == Verdict::Faster).count();
        (self.moved.len() - better, better)
    }

    /// Returns the p-value of the event (Simes, "An improved Bonferroni procedure", 1986).
    fn chance(&self) -> f64 {
        let mut chances: Vec<f64> = self.moved.iter().map(|moved| moved.change.p).collect();
        chances.sort_by(f64::total_cmp);
        let count = chances.len() as f64;
        chances.iter().enumerate().map(|(i, p)| p * count / (i + 1) as f64).fold(1.0, f64::min)
    }

    /// Returns the accepted level if all changes were accepted. If their levels differ, returns
    /// that of the largest change.
    pub fn accepted(&self) -> Option<&Blessing> {
        let all = self.moved.iter().all(|moved| moved.change.accepted.is_some());
        self.moved.first().filter(|_| all)?.change.accepted.as_ref()
    }

    /// Returns true if the event is between runs of one commit, which therefore can't have caused
    /// it.
    pub fn is_of_the_machine(&self) -> bool {
        matches!(self.between(), (Some(before), Some(after)) if before.commit == after.commit)
    }
}

/// The events of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Events {
    /// The events, latest first.
    pub events: Vec<Event>,
    /// Number of series examined.
    pub series: usize,
    /// Number of series with enough runs to detect a change.
    pub enough: usize,
    /// Names of the machines.
    pub machines: Vec<String>,
    /// Start of the first and of the last run in milliseconds since 1970; `None` if there are no
    /// runs.
    pub days: Option<(i64, i64)>,
    /// Confidence of the intervals, and of the positions of changes.
    pub confidence: f64,
    /// Findings about the project.
    pub findings: Vec<Finding>,
}

/// Accumulates changes series by series. Series without changes are only counted.
#[derive(Clone, Debug, Default)]
pub struct Gathering {
    found: Vec<LocatedChange>,
    creeps: Vec<(f64, Vec<Finding>)>,
    /// Series whose first or last few runs are at another level, with their names and individual
    /// findings.
    short: Vec<(String, ShortLevel, Finding)>,
    findings: Vec<Finding>,
    series: usize,
    enough: usize,
    machines: BTreeSet<String>,
    days: Option<(i64, i64)>,
    confidence: f64,
}

#[derive(Clone, Debug)]
struct LocatedChange {
    machine: String,
    moved: Moved,
    best: Point,
    /// The last run before the change and the first after it. There is one pair for each number of
    /// changes (1, 2, 4, …) that share the error.
    around: Vec<(Point, Point)>,
}

impl LocatedChange {
    /// Returns the runs around the change if `changes` changes share the error.
    fn around(&self, changes: usize) -> &(Point, Point) {
        let doubled = changes.max(1).next_power_of_two().trailing_zeros() as usize;
        &self.around[doubled.min(self.around.len() - 1)]
    }
}

impl Gathering {
    /// Adds a series. O(runs).
    pub fn add(&mut self, trend: &Trend) {
        let Series { benchmark, metric, machine, points } = &trend.series;
        self.series += 1;
        self.enough += usize::from(points.len() >= Question::Change.fewest());
        self.machines.insert(machine.clone());
        self.confidence = trend.confidence;
        for started in points.iter().map(|point| point.started) {
            let (first, last) = self.days.unwrap_or((started, started));
            self.days = Some((first.min(started), last.max(started)));
        }
        for change in &trend.changes {
            let of = |&(earliest, latest): &(usize, usize)| {
                Some((points.get(earliest.checked_sub(1)?)?.clone(), points.get(latest)?.clone()))
            };
            let around: Option<Vec<(Point, Point)>> = change.shared.iter().map(of).collect();
            let best = points.get(change.index).cloned();
            let Some((best, around)) = best.zip(around).filter(|(_, a)| !a.is_empty()) else {
                continue;
            };
            let (benchmark, metric) = (benchmark.clone(), metric.clone());
            let moved = Moved { benchmark, metric, change: change.clone() };
            self.found.push(LocatedChange { machine: machine.clone(), moved, best, around });
        }
        let creeps = trend.findings.iter().filter(|finding| finding.is(code::CREEP));
        let least = |p: f64, creep: &Creep| p.min(creep.p);
        if !trend.creeps.is_empty() {
            let p = trend.creeps.iter().fold(1.0, least);
            self.creeps.push((p, creeps.cloned().collect()));
        }
        if let Some(short) = &trend.short {
            let said = short_level::finding(&trend.series, short);
            self.short.push((trend.series.benchmark.label(), short.clone(), said));
        }
    }

    /// Returns the finding about series that begin or end on another level for a few runs. These
    /// tests share a separate error.
    fn short_levels(&self) -> Option<Finding> {
        let mut chances: Vec<f64> = self.short.iter().map(|(_, short, _)| short.p).collect();
        chances.resize(self.series, 1.0);
        let adjusted = adjust::benjamini_hochberg(&chances);
        let sure = self.short.iter().zip(adjusted).filter(|(_, p)| *p <= policy::EVENTS_ERROR);
        let sure: Vec<&(String, ShortLevel, Finding)> = sure.map(|(short, _)| short).collect();
        if let [(_, _, alone)] = sure.as_slice() {
            return Some(alone.clone());
        }
        let sure: Vec<(&str, &ShortLevel)> =
            sure.into_iter().map(|(name, short, _)| (name.as_str(), short)).collect();
        short_level::finding_of_several(&sure, self.series)
    }

    /// Adds further findings.
    pub fn note(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    /// Computes the events. O(changes · (log changes + events)).
    pub fn finish(mut self) -> Events {
        let short = self.short_levels();
        let mut machines: BTreeMap<String, Vec<LocatedChange>> = BTreeMap::new();
        for found in self.found.drain(..) {
            machines.entry(found.machine.clone()).or_default().push(found);
        }
        let all: Vec<Event> = machines.into_values().flat_map(events_of_machine).collect();
        let chances = all.iter().map(Event::chance).chain(self.creeps.iter().map(|(p, _)| *p));
        let mut chances: Vec<f64> = chances.collect();
        // A series without changes also counts as a test.
        chances.resize(chances.len().max(self.series), 1.0);
        let adjusted = adjust::benjamini_hochberg(&chances);
        let is_sure = |place: usize| adjusted[place] <= policy::EVENTS_ERROR;
        let creeps = self.creeps.into_iter().enumerate();
        let creeps = creeps.filter(|(place, _)| is_sure(all.len() + place));
        let mut findings: Vec<Finding> = creeps.flat_map(|(_, (_, found))| found).collect();
        let events = all.into_iter().enumerate().filter(|(place, _)| is_sure(*place));
        let mut events: Vec<Event> = events.map(|(_, event)| event).collect();
        latest_first(&mut events);
        let of_machine = events.iter().filter(|event| event.is_of_the_machine());
        findings.extend(of_machine.map(|event| without_commit(&event.after)));
        findings.extend(short);
        findings.append(&mut self.findings);
        let few = self.series - self.enough;
        findings.extend((few > 0).then(|| runs_needed::finding_of_several(few, self.series)));
        Events {
            events,
            series: self.series,
            enough: self.enough,
            machines: self.machines.into_iter().collect(),
            days: self.days,
            confidence: self.confidence,
            findings,
        }
    }
}

/// Sorts events by the first run after them, latest first. Runs are in the order of revisions
/// rather than time, since clocks can go back.
fn latest_first(events: &mut [Event]) {
    let mut points: Vec<Point> = events.iter().map(|event| event.after.clone()).collect();
    let places = places(&mut points);
    events.sort_by_key(|event| std::cmp::Reverse(places.get(&key(&event.after)).copied()));
}

/// Returns the key of a run, which includes the revision because one run may have measured several.
fn key(point: &Point) -> (String, Option<String>) {
    (point.recording.clone(), point.revision.as_ref().map(|revision| revision.commit.clone()))
}

/// Returns the index of each run in the order of measured revisions.
fn places(points: &mut Vec<Point>) -> HashMap<(String, Option<String>), usize> {
    in_order(points);
    points.dedup_by_key(|point| key(point));
    points.iter().enumerate().map(|(place, point)| (key(point), place)).collect()
}

/// Groups the changes of one machine into events.
fn events_of_machine(found: Vec<LocatedChange>) -> Vec<Event> {
    let all = found.len();
    let runs = |found: &LocatedChange| {
        let ends = found.around.iter().flat_map(|(before, after)| [before.clone(), after.clone()]);
        ends.chain([found.best.clone()]).collect::<Vec<Point>>()
    };
    let mut points: Vec<Point> = found.iter().flat_map(runs).collect();
    let places = places(&mut points);
    let place = |point: &Point| places.get(&key(point)).copied().unwrap_or_default();
    // The change came with one of the runs after `before`, up to and including `after`. The order
    // may differ between series if some runs lack revisions.
    let reach_of = |(before, after): &(Point, Point)| {
        let (before, after) = (place(before), place(after));
        (before.min(after), before.max(after).max(before.min(after) + 1))
    };
    let reach = |found: &LocatedChange| reach_of(found.around(all));
    let mut reaches: Vec<(usize, usize, usize)> =
        found.iter().map(|found| (reach(found).1, reach(found).0, place(&found.best))).collect();
    reaches.sort_unstable();
    // The end of each range that contains no earlier end, and the best fit of that change.
    let mut stabs: Vec<(usize, usize)> = Vec::new();
    for &(after, before, best) in &reaches {
        if stabs.last().is_none_or(|(last, _)| *last <= before) {
            stabs.push((after, best));
        }
    }
    let mut groups: BTreeMap<usize, Vec<LocatedChange>> = BTreeMap::new();
    for found in found {
        let ((before, after), best) = (reach(&found), place(&found.best));
        let own = stabs.iter().filter(|(stab, _)| (before + 1..=after).contains(stab));
        let nearest = own.min_by_key(|(_, other)| other.abs_diff(best));
        let nearest = nearest.map_or(after, |(stab, _)| *stab);
        groups.entry(nearest).or_default().push(found);
    }
    let event = |mut group: Vec<LocatedChange>| {
        let common = |changes: usize| {
            let ends = || group.iter().map(|found| found.around(changes));
            let before = ends().max_by_key(|ends| reach_of(ends).0)?;
            let after = ends().min_by_key(|ends| reach_of(ends).1)?;
            let is_one = reach_of(before).0 < reach_of(after).1;
            is_one.then(|| (before.0.clone(), after.1.clone()))
        };
        let (before, after) = common(group.len()).or_else(|| common(all))?;
        group.sort_by(|a, b| b.moved.weight().total_cmp(&a.moved.weight()));
        let machine = group.first()?.machine.clone();
        let moved = group.into_iter().map(|found| found.moved).collect();
        Some(Event { machine, moved, before, after })
    };
    groups.into_values().filter_map(event).collect()
}

/// Keeps the series with the same metric as the first series, which was measured last. A metric
/// whose unit changed has two series, which are never compared. The older one is dropped, with a
/// finding.
pub fn of_one_metric(mut series: Vec<Series>) -> (Vec<Series>, Option<Finding>) {
    let Some(metric) = series.first().map(|series| series.metric.clone()) else {
        return (series, None);
    };
    let changed = series.iter().find_map(|s| unit_changed(&s.benchmark, &s.metric, &metric));
    series.retain(|series| series.metric == metric);
    (series, changed)
}

/// Returns the finding that a metric's unit changed; `None` if it did not.
pub fn unit_changed(benchmark: &Benchmark, was: &Metric, is: &Metric) -> Option<Finding> {
    let other = was.name == is.name && was.unit != is.unit;
    other.then(|| super::gate::unit_changed(&benchmark.label(), is, &was.unit))
}

#[cfg(test)]
mod tests;
