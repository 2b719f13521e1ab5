//! Seeded simulations of projects with known changes, and malformed input.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use super::*;
use crate::history::RunSummary;
use crate::history::trend::trend;
use assay_data::Unit;
use assay_stats::resampling::Stream;

const RUNS: usize = 100;

fn point(run: usize, centre: f64) -> Point {
    let revision = Revision {
        commit: format!("c{run}"),
        ordinal: Some(10 * run as u64),
        time: Some(1000 * run as i64),
        ..Revision::default()
    };
    Point {
        recording: format!("r{run}"),
        started: 1_000_000 * run as i64,
        revision: Some(revision),
        result: RunSummary { n: 9, units: 9, centre, interval: None },
    }
}

/// Returns a series with the given steps, each a pair of run and size.
fn series(random: &mut Stream, name: &str, deviation: f64, steps: &[(usize, f64)]) -> Series {
    let level = |run| steps.iter().filter(|(at, _)| run >= *at).map(|(_, size)| size).sum::<f64>();
    let points =
        (0..RUNS).map(|run| point(run, (deviation * random.normal() + level(run)).exp())).collect();
    let benchmark = Benchmark { name: name.to_owned(), ..Benchmark::default() };
    Series { benchmark, metric: Metric::wall(), machine: "m".to_owned(), points }
}

fn gathered(all: impl IntoIterator<Item = Series>) -> Events {
    let mut gathering = Gathering::default();
    all.into_iter().for_each(|series| gathering.add(&trend(series, 0.95)));
    gathering.finish()
}

fn names(event: &Event) -> Vec<&str> {
    event.moved.iter().map(|moved| moved.benchmark.name.as_str()).collect()
}

#[test]
fn one_cause_is_one_event_and_lies_where_all_its_changes_may() {
    let mut random = Stream::new(1, 0);
    let mut all: Vec<Series> = Vec::new();
    for number in 0..10 {
        // Ten series change at run 40, and five of them again at run 70, for the better.
        let later = if number < 5 { vec![(70, -0.05)] } else { vec![] };
        let size = 0.04 + 0.01 * number as f64;
        let steps = [vec![(40, size)], later].concat();
        all.push(series(&mut random, &format!("b{number}"), 0.01, &steps));
    }
    for number in 10..40 {
        all.push(series(&mut random, &format!("b{number}"), 0.01, &[]));
    }
    let found = gathered(all);
    let [later, first] = found.events.as_slice() else { unreachable!("{:?}", found.events) };
    assert_eq!((first.ways(), later.ways()), ((10, 0), (0, 5)));
    assert_eq!(names(first)[0], "b9");
    for (event, at) in [(first, 40), (later, 70)] {
        let (before, after) = event.between();
        let of = |r: Option<&Revision>| r.unwrap().ordinal.unwrap() / 10;
        assert!(of(before) < at && at <= of(after), "{event:?}");
        assert!(event.commits().unwrap() <= 30);
    }
    assert_eq!((found.series, found.enough, found.findings.len()), (40, 40, 0));
    assert_eq!(found.days, Some((0, 99_000_000)));
}

#[test]
fn of_many_changes_with_one_cause_none_is_an_event_of_its_own_and_its_place_is_held() {
    let (mut one, mut held) = (0, 0);
    for seed in 0..20 {
        let mut random = Stream::new(12, seed);
        let all = (0..60).map(|n| series(&mut random, &n.to_string(), 0.012, &[(50, 0.05)]));
        let found = gathered(all.collect::<Vec<_>>());
        one += usize::from(found.events.len() == 1);
        let largest = found.events.iter().max_by_key(|event| event.moved.len()).unwrap();
        let (before, after) = largest.between();
        let of = |r: Option<&Revision>| r.unwrap().ordinal.unwrap() / 10;
        held += usize::from(of(before) < 50 && 50 <= of(after));
    }
    assert!(one >= 17 && held >= 18, "{one} {held}");
}

#[test]
fn of_many_series_without_a_change_hardly_anything_is_told() {
    let (mut looks, mut told) = (0, 0);
    for seed in 0..20 {
        let mut random = Stream::new(2, seed);
        let all = (0..150).map(|number| series(&mut random, &number.to_string(), 0.05, &[]));
        let all: Vec<Series> = all.collect();
        looks += 1;
        let found = gathered(all);
        told += usize::from(!found.events.is_empty() || !found.findings.is_empty());
    }
    assert!(told <= 3, "{told} of {looks}");
}

#[test]
fn places_that_no_run_is_common_to_are_several_events_and_machines_have_their_own() {
    let mut random = Stream::new(3, 0);
    let here = series(&mut random, "a", 0.005, &[(40, 0.2)]);
    let near = series(&mut random, "b", 0.005, &[(50, 0.2)]);
    let elsewhere = Series { machine: "other".to_owned(), ..here.clone() };
    let found = gathered([here, near, elsewhere]);
    let told: Vec<(&str, &str)> =
        found.events.iter().map(|event| (names(event)[0], event.machine.as_str())).collect();
    assert_eq!(told, [("b", "m"), ("a", "m"), ("a", "other")]);
    assert_eq!(found.machines, ["m", "other"]);
}

#[test]
fn a_change_belongs_to_the_nearest_of_the_places_it_may_lie_at() {
    let known = |name: &str, before: usize, best: usize, after: usize| {
        let mut random = Stream::new(4, 0);
        let of = trend(series(&mut random, name, 0.001, &[(best, 0.1)]), 0.95);
        let change = of.changes[0].clone();
        let moved = Moved { benchmark: of.series.benchmark, metric: of.series.metric, change };
        let around = vec![(point(before, 1.0), point(after, 1.0))];
        LocatedChange { machine: String::new(), moved, best: point(best, 1.0), around }
    };
    let all = vec![known("x", 10, 12, 14), known("y", 30, 32, 34), known("wide", 8, 30, 40)];
    let events = events_of_machine(all);
    let told: Vec<Vec<&str>> = events.iter().map(names).collect();
    assert_eq!(told.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    assert!(told[1].contains(&"wide") && told[1].contains(&"y"));
    assert_eq!((&*events[1].before.recording, &*events[1].after.recording), ("r30", "r34"));
}

#[test]
fn clocks_that_go_back_do_not_move_an_event() {
    let mut random = Stream::new(5, 0);
    let mut all: Vec<Series> =
        (0..3).map(|n| series(&mut random, &n.to_string(), 0.01, &[(60, 0.1)])).collect();
    let straight = gathered(all.clone());
    for series in &mut all {
        for point in &mut series.points {
            point.started = -point.started;
            let revision = point.revision.as_mut().unwrap();
            revision.time = revision.time.map(|time| -time);
        }
    }
    let back = gathered(all);
    assert_eq!(straight.events.len(), 1);
    let commits = |found: &Events| {
        let (before, after) = found.events[0].between();
        [before, after].map(|revision| revision.unwrap().commit.clone())
    };
    assert_eq!(commits(&straight), commits(&back));
    assert_eq!(back.events[0].moved.len(), 3);
}

#[test]
fn runs_without_revisions_have_events_by_their_time() {
    let mut random = Stream::new(6, 0);
    let all: Vec<Series> = (0..3)
        .map(|n| {
            let mut series = series(&mut random, &n.to_string(), 0.01, &[(60, 0.1)]);
            // One series lacks only a few revisions.
            let lost = |place: usize| n < 2 || place.is_multiple_of(7);
            let points = series.points.iter_mut().enumerate();
            points.filter(|(place, _)| lost(*place)).for_each(|(_, point)| point.revision = None);
            series
        })
        .collect();
    let found = gathered(all);
    let moved: usize = found.events.iter().map(|event| event.moved.len()).sum();
    assert_eq!(moved, 3);
    let event = &found.events[0];
    assert_eq!((event.commits(), event.is_of_the_machine()), (None, false));
    assert!(event.before.started < 60_000_000 && event.after.started >= 60_000_000, "{event:?}");
}

#[test]
fn an_event_between_runs_of_one_commit_is_the_machines() {
    let mut random = Stream::new(7, 0);
    let all = (0..4).map(|n| {
        let mut series = series(&mut random, &n.to_string(), 0.01, &[(60, 0.1)]);
        for point in &mut series.points {
            let place = point.revision.as_ref().unwrap().ordinal.unwrap() / 10;
            let commit = if (40..80).contains(&place) { 40 } else { place };
            point.revision = self::point(commit as usize, 1.0).revision;
        }
        series
    });
    let found = gathered(all.collect::<Vec<_>>());
    assert!(found.events.len() == 1 && found.events[0].is_of_the_machine(), "{found:?}");
    assert_eq!(found.findings[0].code, "CHANGED_WITHOUT_COMMIT");
}

#[test]
fn what_creeps_and_what_has_few_runs_is_said_once_for_all() {
    let mut random = Stream::new(8, 0);
    let slowly = |run: usize| (0.08 * run as f64 / RUNS as f64).exp();
    let mut all: Vec<Series> = (0..3)
        .map(|n| {
            let mut series = series(&mut random, &format!("slow{n}"), 0.01, &[]);
            series
                .points
                .iter_mut()
                .enumerate()
                .for_each(|(run, p)| p.result.centre *= slowly(run));
            series
        })
        .collect();
    for n in 0..4 {
        let mut new = series(&mut random, &format!("new{n}"), 0.01, &[]);
        new.points.truncate(3 + n);
        all.push(new);
    }
    let found = gathered(all);
    let codes: Vec<&str> = found.findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["CREEP", "CREEP", "CREEP", "TOO_FEW_RUNS"]);
    assert!(found.events.is_empty());
    assert_eq!((found.series, found.enough), (7, 3));
    assert_eq!(
        found.findings[3].message,
        "4 of 7 series have fewer than 10 runs on one machine: a change cannot be detected there"
    );
}

#[test]
fn a_unit_that_changed_makes_no_event_and_is_said() {
    let mut random = Stream::new(9, 0);
    let seconds = series(&mut random, "a", 0.01, &[]);
    let mut bytes = series(&mut random, "a", 0.01, &[]);
    bytes.metric = Metric { unit: Unit::Byte, ..seconds.metric.clone() };
    bytes.points.iter_mut().for_each(|point| point.result.centre *= 1e9);
    let (kept, finding) = of_one_metric(vec![bytes.clone(), seconds.clone()]);
    assert_eq!(kept, [bytes]);
    let finding = finding.unwrap();
    assert_eq!(finding.code, "RUNS_LEFT_OUT");
    assert!(finding.message.starts_with("wall of a was recorded in s before, and is in B now"));
    assert!(gathered(kept).events.is_empty());
    assert_eq!(of_one_metric(vec![seconds]).1, None);
    assert_eq!(of_one_metric(Vec::new()), (Vec::new(), None));
}

/// A level accepted at a run, for one benchmark or for all.
fn blessing(benchmark: Option<&str>, run: usize) -> Blessing {
    let (run, started, blessed) = (format!("r{run}"), 1_000_000 * run as i64, 0);
    let benchmark = benchmark.map(str::to_owned);
    Blessing { benchmark, run, started, blessed, reason: "meant".to_owned() }
}

#[test]
fn an_event_is_accepted_where_all_of_its_changes_are_and_only_up_to_the_run_that_was() {
    let mut random = Stream::new(10, 0);
    let all: Vec<Series> = ["a", "b"]
        .iter()
        .map(|name| series(&mut random, name, 0.005, &[(40, 0.2), (70, -0.1)]))
        .collect();
    let with = |blessings: &[Blessing]| {
        let mut gathering = Gathering::default();
        for series in &all {
            gathering.add(&trend(series.clone(), 0.95).accepting(blessings));
        }
        let found = gathering.finish();
        let accepted = |event: &Event| {
            let of = event.moved.iter().filter(|moved| moved.change.accepted.is_some()).count();
            (of, event.accepted().map(|blessing| blessing.run.clone()))
        };
        // The later event is listed first.
        found.events.iter().map(accepted).collect::<Vec<_>>()
    };
    let at = |run: usize| Some(format!("r{run}"));
    assert_eq!(with(&[]), [(0, None), (0, None)]);
    assert_eq!(with(&[blessing(None, 41)]), [(0, None), (2, at(41))]);
    assert_eq!(with(&[blessing(Some("a"), 41)]), [(0, None), (1, None)]);
    let both = [blessing(Some("a"), 45), blessing(Some("b"), 45), blessing(None, 99)];
    assert_eq!(with(&both), [(2, at(99)), (2, at(45))]);
    // A level accepted before the change does not accept it.
    assert_eq!(with(&[blessing(None, 39)]), [(0, None), (0, None)]);
    // If the named run is not among the runs of this machine, the time of the acceptance is used.
    let elsewhere = Blessing { run: "other".to_owned(), ..blessing(None, 60) };
    assert_eq!(with(&[elsewhere]), [(0, None), (2, Some("other".to_owned()))]);
}

#[test]
fn series_that_end_on_another_level_for_few_runs_are_said_once() {
    let mut random = Stream::new(11, 0);
    let end = |random: &mut Stream, name: &str| series(random, name, 0.005, &[(97, 0.2)]);
    let mut all: Vec<Series> =
        (0..20).map(|n| series(&mut random, &n.to_string(), 0.005, &[])).collect();
    all.push(end(&mut random, "one"));
    let found = gathered(all.clone());
    let [finding] = found.findings.as_slice() else { unreachable!("{:?}", found.findings) };
    assert!(found.events.is_empty() && finding.message.contains("the last 3 runs of one"));
    all.push(end(&mut random, "two"));
    let found = gathered(all);
    let [finding] = found.findings.as_slice() else { unreachable!("{:?}", found.findings) };
    assert_eq!((finding.code.as_str(), finding.number("more")), ("TOO_FEW_RUNS", Some(2.0)));
    assert!(finding.message.starts_with("2 of 22 series, one among them, "), "{}", finding.message);
}
