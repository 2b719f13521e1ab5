//! Breakdown of the time of one run: parts that sum to the total time, and each test's share of it.
//!
//! When several processes run in parallel, the one that finishes last is the critical one: it
//! determines how long the run takes, so the parts describe its time. Shortening the other
//! processes would not shorten the run; their time is included only in the sum over all tests.

use crate::run::{Part, Run, Test};
use std::collections::BTreeSet;

/// A breakdown of the time of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// Seconds of each part, in the order of [`Part::ALL`]; `None` if the framework does not report
    /// it. They sum to the total time.
    pub seconds: [Option<f64>; Part::ALL.len()],
    /// Total duration of all tests in all processes, in seconds.
    pub tests: f64,
    /// Number of processes that ran tests in parallel; 0 if unknown.
    pub workers: usize,
    /// The process that the parts describe, if there are several.
    pub critical: Option<String>,
}

impl Parts {
    /// Returns the seconds of one part.
    pub fn of(&self, part: Part) -> Option<f64> {
        let place = Part::ALL.iter().position(|own| *own == part)?;
        self.seconds[place]
    }

    /// Sets a part, rounded to whole nanoseconds. Timestamps have no finer resolution, and the
    /// rounding errors of their differences would be shown as time.
    fn set(&mut self, part: Part, seconds: f64) {
        if let Some(place) = Part::ALL.iter().position(|own| *own == part) {
            self.seconds[place] = Some((seconds * 1e9).round() / 1e9);
        }
    }
}

/// Computes the parts of a run that lasted from `began` to `ended`. O(n log n).
pub fn of(run: &Run, began: f64, ended: f64) -> Parts {
    let tests = run.tests.iter().filter_map(|test| test.seconds).sum();
    let mut parts = Parts { tests, workers: workers(run).len(), ..Parts::default() };
    let whole = ended - began;
    let critical = critical(run);
    let is_placed = run.tests.iter().any(|test| test.began.is_some()) || !run.spans.is_empty();
    if !is_placed {
        // Only the durations of tests are known; for parallel tests their sum may exceed the total
        // time.
        let is_timed = run.tests.iter().any(|test| test.seconds.is_some());
        let body = if is_timed { tests.min(whole) } else { 0.0 };
        if is_timed {
            parts.set(Part::Body, body);
        }
        parts.set(Part::Unaccounted, whole - body);
        return parts;
    }
    if parts.workers > 1 {
        parts.critical = critical.map(|process| run.processes[process].name.clone());
    }
    let critical = critical.unwrap_or(0);
    let Timeline { in_tests, between, mut of_spans } = timeline(run, critical, began, ended);
    let own = || run.tests.iter().filter(|test| test.process == critical);
    let shared = PhaseTimes::of(own(), in_tests);
    let tells = |of: fn(&Test) -> Option<f64>| own().any(|test| of(test).is_some());
    for (part, seconds, is_told) in [
        (Part::Setup, shared.setup, tells(|test| test.setup)),
        (Part::Teardown, shared.teardown, tells(|test| test.teardown)),
        (Part::Gc, shared.gc, tells(|test| test.gc)),
    ] {
        if is_told {
            parts.set(part, seconds);
        }
    }
    let (body, in_no_phase) = (shared.body, shared.rest);
    of_spans.push((Part::Body, body));
    if own().any(|test| test.body.is_some() && test.began.is_some()) {
        parts.set(Part::Framework, (in_no_phase + between).max(0.0));
    }
    for (part, seconds) in of_spans {
        parts.set(part, parts.of(part).unwrap_or(0.0) + seconds);
    }
    let process = run.processes.get(critical);
    let told = |part: Part| run.spans.iter().any(|span| span.part == part);
    let edges = edges(run, critical);
    // Slightly different clocks may report times before or after the run.
    let within = |moment: f64| moment.clamp(began, ended.max(began));
    if let Some((first, last)) = edges {
        let (first, last) = (within(first), within(last));
        let loaded = process.and_then(|process| process.began).map(within);
        if let Some(began) = loaded.filter(|_| !told(Part::Loading)) {
            parts.set(Part::Loading, (first - began).max(0.0));
        }
        let first = loaded.map_or(first, |own| own.min(first));
        let last =
            process.and_then(|process| process.ended).map_or(last, |own| within(own).max(last));
        if !told(Part::Boot) {
            parts.set(Part::Boot, (first - began).max(0.0));
        }
        parts.set(Part::Ending, (ended - last).max(0.0));
    }
    let sum: f64 = parts.seconds.iter().flatten().sum();
    parts.set(Part::Unaccounted, whole - sum);
    parts
}

/// The time during which tests of a process ran, divided by activity. Values are non-negative and
/// sum to that time.
#[derive(Clone, Copy, Debug, Default)]
struct PhaseTimes {
    setup: f64,
    body: f64,
    teardown: f64,
    gc: f64,
    /// Time in none of the other activities: the framework's work for a test.
    rest: f64,
}

impl PhaseTimes {
    /// Divides the `in_tests` seconds among the phases of these tests. Collector time is subtracted
    /// from the phases in which it ran; if these are unknown, from bodies first, then from setup
    /// and teardown.
    fn of<'a>(tests: impl Iterator<Item = &'a Test>, in_tests: f64) -> Self {
        let mut all = Self::default();
        let known = |seconds: Option<f64>| seconds.unwrap_or(0.0).max(0.0);
        for test in tests {
            let (mut setup, mut teardown) = (known(test.setup), known(test.teardown));
            // If the body is unknown, the time outside of setup and teardown counts as the body.
            let told = test.body.or_else(|| Some(test.seconds? - setup - teardown));
            let mut body = known(told);
            let mut left = known(test.gc);
            let [of_setup, of_body, of_teardown] = test.gc_of.unwrap_or([0.0, left, 0.0]);
            let mut take = |from: &mut f64, gc: f64| {
                let taken = gc.clamp(0.0, from.max(0.0)).min(left);
                *from -= taken;
                left -= taken;
                all.gc += taken;
            };
            take(&mut setup, of_setup);
            take(&mut body, of_body);
            take(&mut teardown, of_teardown);
            if test.gc_of.is_none() {
                take(&mut setup, f64::INFINITY);
                take(&mut teardown, f64::INFINITY);
            }
            all.setup += setup;
            all.body += body;
            all.teardown += teardown;
        }
        // Concurrent tests in one process (threads) overlap: their parts are scaled to the time
        // during which any of them ran.
        let sum = all.setup + all.body + all.teardown + all.gc;
        let scale = if sum > in_tests && sum > 0.0 { in_tests / sum } else { 1.0 };
        let [setup, body, teardown, gc] =
            [all.setup, all.body, all.teardown, all.gc].map(|seconds| seconds * scale);
        let rest = (in_tests - setup - body - teardown - gc).max(0.0);
        Self { setup, body, teardown, gc, rest }
    }
}

/// Returns the processes that ran tests.
fn workers(run: &Run) -> BTreeSet<usize> {
    match run.processes.is_empty() {
        true => BTreeSet::new(),
        false => run.tests.iter().map(|test| test.process).collect(),
    }
}

/// Returns the process with the latest event among those that ran tests.
fn critical(run: &Run) -> Option<usize> {
    let last = |process: &usize| edges(run, *process).map_or(f64::NEG_INFINITY, |(_, last)| last);
    workers(run).into_iter().max_by(|a, b| last(a).total_cmp(&last(b)))
}

/// Returns the times of the first and the last event of a process.
fn edges(run: &Run, process: usize) -> Option<(f64, f64)> {
    let tests = run.tests.iter().filter(|test| test.process == process);
    let tests = tests.filter_map(|test| test.began.zip(test.ended));
    let spans = run.spans.iter().filter(|span| span.process == process);
    let all = tests.chain(spans.map(|span| (span.began, span.ended)));
    all.reduce(|(first, last), (began, ended)| (first.min(began), last.max(ended)))
}

/// Time that a process spent in each activity.
struct Timeline {
    /// Time in tests.
    in_tests: f64,
    /// Time between the first and the last test, outside of tests and spans.
    between: f64,
    /// Time in each kind of span.
    of_spans: Vec<(Part, f64)>,
}

/// Computes the timeline of a process. Group setup that runs during a test counts for the group.
fn timeline(run: &Run, process: usize, began: f64, ended: f64) -> Timeline {
    // Starts and ends of spans. The innermost open span gets the time: the kinds are in the order
    // of parts, and tests come last.
    let mut edges: Vec<(f64, usize, i32)> = Vec::new();
    let mut add = |from: f64, to: f64, kind: usize| {
        let (from, to) = (from.clamp(began, ended), to.clamp(began, ended));
        if to > from {
            edges.extend([(from, kind, 1), (to, kind, -1)]);
        }
    };
    let tests = Part::ALL.len();
    for span in run.spans.iter().filter(|span| span.process == process) {
        let kind = Part::ALL.iter().position(|part| *part == span.part).unwrap_or(tests);
        add(span.began, span.ended, kind);
    }
    for test in run.tests.iter().filter(|test| test.process == process) {
        if let (Some(began), Some(ended)) = (test.began, test.ended) {
            add(began, ended, tests);
        }
    }
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut open, mut seconds) = (vec![0; tests + 1], vec![0.0; tests + 1]);
    let is_last = |place: &(f64, usize, i32)| place.1 == tests;
    let last = edges.iter().rposition(is_last).unwrap_or(0);
    let (mut at, mut between, mut is_tested) = (began, 0.0, false);
    for (place, (time, kind, step)) in edges.into_iter().enumerate() {
        // The innermost kind is the last in the order: hooks within loading count as hooks.
        let current = (0..tests).rev().chain([tests]).find(|&kind| open[kind] > 0);
        if let Some(kind) = current {
            seconds[kind] += time - at;
        } else if is_tested && place <= last {
            between += time - at;
        }
        is_tested |= kind == tests;
        at = time;
        open[kind] += step;
    }
    let of_spans = Part::ALL.iter().zip(&seconds).filter(|(_, seconds)| **seconds > 0.0);
    let of_spans = of_spans.map(|(part, seconds)| (*part, *seconds)).collect();
    Timeline { in_tests: seconds[tests], between, of_spans }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Process, Span};
    use proptest::prelude::*;

    fn test(name: &str, began: f64, seconds: f64) -> Test {
        let name = name.to_owned();
        let ended = Some(began + seconds);
        Test { name, began: Some(began), ended, seconds: Some(seconds), ..Test::default() }
    }

    fn span(part: Part, began: f64, ended: f64) -> Span {
        Span { part, group: None, began, ended, process: 0 }
    }

    fn near(parts: &Parts, part: Part, seconds: f64) {
        let own = parts.of(part).unwrap_or(f64::NAN);
        assert!((own - seconds).abs() < 1e-9, "{part:?}: {own} instead of {seconds}");
    }

    #[test]
    fn all_parts_sum_to_the_whole() {
        let process = Process { name: String::new(), began: Some(1.0), ended: Some(9.5) };
        let mut first = test("a", 4.0, 1.0);
        first.ended = Some(6.0);
        (first.setup, first.teardown, first.gc) = (Some(0.25), Some(0.125), Some(0.0625));
        // Its group is set up during the test, from 4 to 6.
        let run = Run {
            tests: vec![first, test("b", 6.5, 2.0)],
            spans: vec![
                span(Part::Loading, 1.0, 3.0),
                span(Part::Hooks, 4.0, 5.0),
                span(Part::Hooks, 9.0, 9.25),
            ],
            processes: vec![process],
            ..Run::default()
        };
        let parts = of(&run, 0.0, 10.0);
        near(&parts, Part::Boot, 1.0);
        near(&parts, Part::Loading, 2.0);
        near(&parts, Part::Hooks, 1.25);
        near(&parts, Part::Setup, 0.25);
        near(&parts, Part::Body, 3.0 - 0.4375);
        near(&parts, Part::Gc, 0.0625);
        near(&parts, Part::Ending, 0.5);
        near(&parts, Part::Unaccounted, 1.0 + 0.5 + 0.5 + 0.25);
        assert!((parts.seconds.iter().flatten().sum::<f64>() - 10.0).abs() < 1e-9);
        assert!((parts.tests - 3.0).abs() < 1e-9);
    }

    #[test]
    fn what_the_framework_does_for_each_test_is_told_where_bodies_are() {
        let told = |name: &str, began: f64| Test {
            setup: Some(0.25),
            body: Some(0.25),
            teardown: Some(0.125),
            ..test(name, began, 1.0)
        };
        // Between the two tests, half a second is unaccounted for and half a second is a span.
        let run = Run {
            tests: vec![told("a", 2.0), told("b", 4.0)],
            spans: vec![span(Part::Loading, 1.0, 1.5), span(Part::Hooks, 3.5, 4.0)],
            ..Run::default()
        };
        let parts = of(&run, 0.0, 6.0);
        near(&parts, Part::Body, 0.5);
        near(&parts, Part::Framework, 2.0 * 0.375 + 0.5);
        near(&parts, Part::Hooks, 0.5);
        near(&parts, Part::Ending, 1.0);
        near(&parts, Part::Unaccounted, 0.5);
        assert!((parts.seconds.iter().flatten().sum::<f64>() - 6.0).abs() < 1e-9);
        let untold = Run { tests: vec![test("a", 2.0, 1.0), test("b", 4.0, 1.0)], ..run };
        let parts = of(&untold, 0.0, 6.0);
        assert_eq!(parts.of(Part::Framework), None);
        near(&parts, Part::Unaccounted, 1.0);
    }

    #[test]
    fn of_workers_the_one_that_is_heard_of_last_is_critical() {
        let worker = |name: &str| Process { name: name.to_owned(), ..Process::default() };
        let mut slow = test("slow", 1.0, 6.0);
        slow.process = 1;
        let run = Run {
            tests: vec![test("a", 1.0, 2.0), test("b", 3.0, 1.0), slow],
            processes: vec![worker("gw0"), worker("gw1")],
            ..Run::default()
        };
        let parts = of(&run, 0.0, 8.0);
        assert_eq!(parts.critical.as_deref(), Some("gw1"));
        near(&parts, Part::Boot, 1.0);
        near(&parts, Part::Body, 6.0);
        near(&parts, Part::Ending, 1.0);
        near(&parts, Part::Unaccounted, 0.0);
        assert!((parts.tests - 9.0).abs() < 1e-9);
    }

    #[test]
    fn threads_overlap_and_reports_without_moments_know_only_the_tests() {
        let run = Run { tests: vec![test("a", 1.0, 2.0), test("b", 1.0, 2.0)], ..Run::default() };
        let parts = of(&run, 0.0, 4.0);
        near(&parts, Part::Body, 2.0);
        near(&parts, Part::Boot, 1.0);
        let untimed = |mut test: Test| {
            (test.began, test.ended) = (None, None);
            test
        };
        let run = Run { tests: run.tests.into_iter().map(untimed).collect(), ..run };
        let parts = of(&run, 0.0, 10.0);
        near(&parts, Part::Body, 4.0);
        near(&parts, Part::Unaccounted, 6.0);
        assert_eq!(parts.of(Part::Boot), None);
        near(&of(&run, 0.0, 3.0), Part::Unaccounted, 0.0);
    }

    #[test]
    fn the_collector_is_taken_from_the_phase_in_which_it_came() {
        let mut collected = test("a", 1.0, 4.0);
        (collected.setup, collected.body, collected.teardown) = (Some(3.0), Some(0.5), Some(0.25));
        (collected.gc, collected.gc_of) = (Some(2.75), Some([2.5, 0.0, 0.25]));
        let run = Run { tests: vec![collected.clone()], ..Run::default() };
        let parts = of(&run, 0.0, 6.0);
        near(&parts, Part::Setup, 0.5);
        near(&parts, Part::Body, 0.5);
        near(&parts, Part::Teardown, 0.0);
        near(&parts, Part::Gc, 2.75);
        near(&parts, Part::Framework, 0.25);
        near(&parts, Part::Unaccounted, 0.0);
        // With unknown phases no part becomes negative either.
        collected.gc_of = None;
        let parts = of(&Run { tests: vec![collected], ..Run::default() }, 0.0, 6.0);
        near(&parts, Part::Body, 0.0);
        near(&parts, Part::Setup, 0.75);
        near(&parts, Part::Gc, 2.75);
        near(&parts, Part::Unaccounted, 0.0);
    }

    fn any_test() -> impl Strategy<Value = Test> {
        let time = || prop::option::of(0.0..3.0);
        let gc_of = prop::option::of([0.0..2.0, 0.0..2.0, 0.0..2.0]);
        let seconds = (0.0..9.0, 0.0..5.0, 0..2_usize);
        (seconds, (time(), time(), time()), (time(), gc_of)).prop_map(
            |((began, seconds, process), (setup, body, teardown), (gc, gc_of))| {
                let test = test("a", began, seconds);
                Test { setup, body, teardown, gc, gc_of, process, ..test }
            },
        )
    }

    proptest! {
        #[test]
        fn no_part_is_negative_and_they_sum_to_the_whole(
            tests in prop::collection::vec(any_test(), 1..8),
            spans in prop::collection::vec((0.0..9.0, 0.0..3.0, any::<bool>()), 0..4),
            loaded in prop::option::of(-1.0..3.0),
            last in prop::option::of(5.0..20.0),
        ) {
            let span = |(began, seconds, loads): (f64, f64, bool)| {
                span(if loads { Part::Loading } else { Part::Hooks }, began, began + seconds)
            };
            let process = Process { name: String::new(), began: loaded, ended: last };
            let run = Run {
                tests,
                spans: spans.into_iter().map(span).collect(),
                processes: vec![process.clone(), process],
                ..Run::default()
            };
            let parts = of(&run, 0.0, 12.0);
            let known: Vec<f64> = parts.seconds.iter().flatten().copied().collect();
            prop_assert!(known.iter().all(|seconds| *seconds >= -1e-8), "{parts:?}");
            prop_assert!((known.iter().sum::<f64>() - 12.0).abs() < 1e-6, "{parts:?}");
        }
    }
}
