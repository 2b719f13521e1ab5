//! Analysis of a test suite's runs without comparison: the parts of the time, the slowest tests,
//! the extra cost of the first test of a run, and tests that fail always or sometimes.
//!
//! Times of parts are means, since only means of parts add up to the mean of the whole. Times of
//! tests are medians, as everywhere else.

mod timeline;

pub use timeline::{Bar, BarOf, Lane, Timeline};

use crate::describe::Description;
use crate::policy;
use assay_data::samples::{NOT_COMPARED, PLACE, RETRIES, TEST_TIME, WHOLE_SUITE, WORKERS};
use assay_data::{Outcome, Samples};
use assay_stats::proportion::wilson_interval;
use assay_stats::{Interval, descriptive};
use std::collections::BTreeMap;

/// Names of the parts of a suite's time, in the order of their recorded numbers. They add up to the
/// whole.
pub const PARTS: [&str; 10] = [
    "boot",
    "loading",
    "hooks",
    "setup",
    "body",
    "teardown",
    "gc",
    "framework",
    "ending",
    "unaccounted",
];

/// Names of the parts that single tests also have.
pub const PHASES: [&str; 4] = ["setup", "body", "teardown", "gc"];

/// Analysis of one side's suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Testing {
    /// Name of the side.
    pub side: String,
    /// Number of runs.
    pub runs: usize,
    /// Duration of the whole suite.
    pub whole: Description,
    /// Tests with times, slowest first.
    pub tests: Vec<TestTime>,
    /// Sorted names of the tests that ran without a reported time.
    pub untimed: Vec<String>,
    /// The known parts of the suite's time.
    pub parts: Vec<PartTime>,
    /// Mean total time of all tests in all processes, in seconds; NaN if unknown.
    pub together: f64,
    /// Mean CPU time of the suite, in seconds; `None` if unknown.
    pub cpu: Option<f64>,
    /// Mean number of processes that ran tests; `None` if unknown.
    pub workers: Option<f64>,
    /// Extra time of the first test of a run, whichever test that is; `None` unless runs with
    /// different orders show it.
    pub first: Option<First>,
    /// Tests that failed, most frequent first.
    pub failing: Vec<Failing>,
    /// Names of the other recorded metrics, which may explain a test's time.
    pub causes: Vec<String>,
    /// Timeline of the run nearest to the median time; `None` if no timestamps were reported.
    pub timeline: Option<Timeline>,
}

impl Testing {
    /// Returns the number of tests that ran, with or without a time.
    pub fn count(&self) -> usize {
        self.tests.len() + self.untimed.len()
    }
}

/// The time of one test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestTime {
    /// Name of the test.
    pub name: String,
    /// Enclosing groups of the test, outermost first: its file, its class.
    pub group: Vec<String>,
    /// Duration of the test in seconds.
    pub time: Description,
    /// Medians of the test's setup, body and teardown, and of garbage collection within them, if
    /// known.
    pub phases: BTreeMap<&'static str, f64>,
    /// Median over runs of the test's share of the whole.
    pub share: f64,
    /// Interval of `share`.
    pub share_interval: Option<Interval>,
    /// Medians of the metrics in [`Testing::causes`], for this test, by name.
    pub causes: BTreeMap<String, f64>,
}

/// A part of the suite's time.
#[derive(Clone, Debug, PartialEq)]
pub struct PartTime {
    /// Name of the part, one of [`PARTS`].
    pub name: &'static str,
    /// Mean over all runs, in seconds. Runs without the part count as 0.
    pub seconds: f64,
    /// Share of the part in the whole time.
    pub share: f64,
    /// Description over the runs that have this part. The medians of the parts do not add up to
    /// that of the whole.
    pub described: Description,
}

/// Extra time of a test that runs first, compared with runs in which it runs later.
#[derive(Clone, Debug, PartialEq)]
pub struct First {
    /// Median over runs, in seconds.
    pub seconds: f64,
    /// Interval of `seconds`.
    pub interval: Interval,
    /// Number of runs whose first test ran later in some other run.
    pub runs: usize,
}

/// A test that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failing {
    /// Name of the test.
    pub name: String,
    /// Number of runs in which the test failed.
    pub failed: u64,
    /// Number of runs in which the test failed first and passed on retry by the framework; not
    /// included in `failed`.
    pub retried: u64,
    /// Number of runs in which the test ran.
    pub runs: u64,
    /// Wilson interval of the failure rate, which includes retried runs.
    pub interval: Option<Interval>,
    /// Number of successive passing runs that would show that the test is fixed; `None` if it fails
    /// in every run.
    pub green_runs: Option<u64>,
    /// Blocks in which the test failed.
    pub failed_in: Vec<u32>,
    /// Blocks in which the test passed, even if only on retry.
    pub passed_in: Vec<u32>,
}

impl Failing {
    /// Returns true if the test fails in every run.
    pub fn always(&self) -> bool {
        self.failed == self.runs
    }

    /// Returns the share of the runs in which the test failed, including those in which it passed
    /// on retry.
    pub fn share(&self) -> f64 {
        (self.failed + self.retried) as f64 / self.runs as f64
    }
}

/// Analyzes the runs of all sides; empty if the samples are not of a test suite. O(n log n).
pub fn of(samples: &Samples, confidence: f64) -> Vec<Testing> {
    let is_suite = samples.rows.iter().any(|row| row.name == WHOLE_SUITE);
    let sides = if is_suite { samples.sides.len() } else { 0 };
    (0..sides).filter_map(|side| of_side(samples, side, confidence)).collect()
}

/// Analyzes the runs of a side; `None` for a side without runs. O(n log n).
pub fn of_side(samples: &Samples, side: usize, confidence: f64) -> Option<Testing> {
    let metric = |name: &str| samples.metric_index(name);
    let wall = metric("wall")?;
    let by_subject = samples.by_subject();
    let block = |observation: u32| by_subject.block(observation).map_or(0, |(_, block)| block);
    let of_side = |subject: &usize| samples.subjects[*subject].side == side;
    let subjects: Vec<usize> = (0..samples.subjects.len()).filter(of_side).collect();
    let is_whole = |subject: usize| samples.row_of(&samples.subjects[subject]).name == WHOLE_SUITE;
    let whole = subjects.iter().copied().find(|&subject| is_whole(subject))?;
    let walls: BTreeMap<u32, f64> =
        by_subject.series(whole, wall).map(|(o, value)| (block(o), value)).collect();
    let times: Vec<f64> = walls.values().copied().collect();
    let described = Description::of(&times, confidence)?;
    let mean_of = |name: &str| -> Option<f64> {
        let values: Vec<f64> = by_subject.series(whole, metric(name)?).map(|(_, v)| v).collect();
        // A part that is missing from a run took no time.
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / times.len() as f64)
    };
    let mean = descriptive::mean(&times);
    let parts = PARTS.iter().filter_map(|&name| {
        let seconds = mean_of(name)?;
        let values: Vec<f64> = by_subject.series(whole, metric(name)?).map(|(_, v)| v).collect();
        let described = Description::of(&values, confidence)?;
        Some(PartTime { name, seconds, share: seconds / mean, described })
    });
    let parts: Vec<PartTime> = parts.collect();
    let known = ["wall", "cpu", "max_rss", TEST_TIME];
    let is_cause =
        |name: &&str| ![&known[..], &NOT_COMPARED, &PARTS].iter().any(|own| own.contains(name));
    let causes: Vec<String> = samples
        .metrics
        .iter()
        .map(|m| m.name.as_str())
        .filter(is_cause)
        .map(str::to_owned)
        .collect();
    let mut tests = Vec::new();
    let (mut untimed, mut failing) = (Vec::new(), Vec::new());
    let mut first: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
    for &subject in subjects.iter().filter(|&&subject| subject != whole) {
        let name = samples.row_of(&samples.subjects[subject]).name.clone();
        let series: Vec<(u32, f64)> =
            by_subject.series(subject, wall).map(|(o, value)| (block(o), value)).collect();
        let values: Vec<f64> = series.iter().map(|&(_, value)| value).collect();
        let outcomes: Vec<(u32, Outcome)> = by_subject
            .observations(subject)
            .iter()
            .map(|&o| (block(o), outcome(samples, o)))
            .collect();
        let again = metric(RETRIES).map_or_else(Vec::new, |retries| {
            by_subject.series(subject, retries).map(|(o, _)| block(o)).collect()
        });
        failing.extend(of_outcomes(name.clone(), &outcomes, &again, confidence));
        let Some(time) = Description::of(&values, confidence) else {
            untimed.extend((!outcomes.is_empty()).then_some(name));
            continue;
        };
        let shares = series.iter().filter_map(|(block, value)| Some(value / walls.get(block)?));
        let shares: Vec<f64> = shares.collect();
        let share = Description::of(&shares, confidence);
        if let Some(place) = metric(PLACE) {
            let places: BTreeMap<u32, f64> =
                by_subject.series(subject, place).map(|(o, value)| (block(o), value)).collect();
            first_costs(&series, &places, &mut first);
        }
        let median_of = |name: &str| {
            let values: Vec<f64> =
                by_subject.series(subject, metric(name)?).map(|(_, v)| v).collect();
            Some(Description::of(&values, confidence)?.median)
        };
        let of_cause = |cause: &String| Some((cause.clone(), median_of(cause)?));
        tests.push(TestTime {
            name: name.clone(),
            group: samples.row_of(&samples.subjects[subject]).group.clone(),
            phases: PHASES.iter().filter_map(|&name| Some((name, median_of(name)?))).collect(),
            share: share.as_ref().map_or(0.0, |share| share.median),
            share_interval: share.and_then(|share| share.median_interval),
            causes: causes.iter().filter_map(of_cause).collect(),
            time,
        });
    }
    untimed.sort();
    tests.sort_by(|a: &TestTime, b| b.time.median.total_cmp(&a.time.median));
    failing.sort_by(|a: &Failing, b| {
        let share = Failing::share;
        share(b).total_cmp(&share(a)).then_with(|| a.name.cmp(&b.name))
    });
    Some(Testing {
        timeline: timeline::of(samples, &by_subject, (&subjects, whole), described.median),
        side: samples.sides[side].name.clone(),
        runs: times.len(),
        whole: described,
        tests,
        untimed,
        parts,
        together: mean_of(TEST_TIME).unwrap_or(f64::NAN),
        cpu: mean_of("cpu"),
        workers: mean_of(WORKERS),
        first: first_of(&first, confidence),
        failing,
        causes,
    })
}

fn outcome(samples: &Samples, observation: u32) -> Outcome {
    samples.observation(observation as usize).map_or(Outcome::Ok, |own| own.outcome)
}

/// For a test that ran first in some of its runs, adds to `first` by block the number of the other
/// runs, and the extra time over them.
fn first_costs(
    series: &[(u32, f64)],
    places: &BTreeMap<u32, f64>,
    first: &mut BTreeMap<u32, (u64, f64)>,
) {
    let is_first = |block: &u32| places.get(block).is_some_and(|place| *place == 0.0);
    let mut later: Vec<f64> =
        series.iter().filter(|(block, _)| !is_first(block)).map(|&(_, value)| value).collect();
    if later.is_empty() {
        return;
    }
    later.sort_by(f64::total_cmp);
    let usual = later[later.len() / 2];
    for &(block, value) in series.iter().filter(|(block, _)| is_first(block)) {
        first.insert(block, (later.len() as u64, value - usual));
    }
}

/// Returns the cost of running first, if it is beyond chance and large enough.
fn first_of(first: &BTreeMap<u32, (u64, f64)>, confidence: f64) -> Option<First> {
    let excess: Vec<f64> = first.values().map(|&(_, excess)| excess).collect();
    let found = Description::of(&excess, confidence)?;
    let interval = found.median_interval.filter(|interval| interval.lower > 0.0)?;
    (found.median >= policy::FIRST_TEST_SECONDS).then_some(First {
        seconds: found.median,
        interval,
        runs: excess.len(),
    })
}

/// Returns a test's failures; `None` if it never failed. `again` lists the blocks in which the
/// framework retried it.
fn of_outcomes(
    name: String,
    outcomes: &[(u32, Outcome)],
    again: &[u32],
    confidence: f64,
) -> Option<Failing> {
    let blocks = |failed: bool| -> Vec<u32> {
        let own = outcomes.iter().filter(|(_, outcome)| (*outcome != Outcome::Ok) == failed);
        own.map(|&(block, _)| block).collect()
    };
    let (failed_in, passed_in) = (blocks(true), blocks(false));
    let (failed, runs) = (failed_in.len() as u64, outcomes.len() as u64);
    let retried = passed_in.iter().filter(|block| again.contains(block)).count() as u64;
    let wrong = failed + retried;
    if wrong == 0 {
        return None;
    }
    let share = wrong as f64 / runs as f64;
    // With fewer runs, passing all of them could be chance.
    let green_runs = (wrong < runs).then(|| ((1.0 - confidence).ln() / (1.0 - share).ln()).ceil());
    Some(Failing {
        name,
        failed,
        retried,
        runs,
        interval: wilson_interval(wrong, runs, confidence),
        green_runs: green_runs.map(|runs| runs as u64),
        failed_in,
        passed_in,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::{Metric, Observation, Row, Subject, Unit};

    /// Runs of a suite of two tests in alternating order; the one that runs first takes a second
    /// longer.
    fn runs() -> Samples {
        let names = ["wall", "boot", "body", "unaccounted", PLACE];
        let metric = |name: &&str| {
            Metric::lower(name, if *name == PLACE { Unit::One } else { Unit::Second })
        };
        let mut samples = Samples::new(names.iter().map(metric).collect());
        let side = samples.side_named("x");
        for name in [WHOLE_SUITE, "a", "b"] {
            samples.rows.push(Row { name: name.to_owned(), ..Row::default() });
            let row = samples.rows.len() - 1;
            samples.add(Subject { side, row, name: name.to_owned(), ..Subject::default() });
        }
        for block in 0..12 {
            let mut add = |subject, outcome, values: [f64; 5]| {
                let (block, values) = (Some(block), values.to_vec());
                samples.push(Observation {
                    subject,
                    block,
                    outcome,
                    values,
                    ..Observation::default()
                });
            };
            let slow =
                |is_first: bool, seconds: f64| if is_first { seconds + 1.0 } else { seconds };
            let nan = f64::NAN;
            let even = block % 2 == 0;
            add(0, Outcome::Exit(1), [10.0, 2.0, 7.0, 1.0, nan]);
            add(1, Outcome::Ok, [slow(even, 4.0), nan, nan, nan, f64::from(!even)]);
            let failed = if block % 3 == 0 { Outcome::Exit(1) } else { Outcome::Ok };
            add(2, failed, [slow(!even, 2.0), nan, nan, nan, f64::from(even)]);
        }
        samples
    }

    #[test]
    fn times_parts_first_costs_and_failures_are_told() {
        let found = of_side(&runs(), 0, 0.95).expect("there are runs");
        assert_eq!((found.runs, found.tests.len(), found.tests[0].name.as_str()), (12, 2, "a"));
        assert!((found.tests[0].share - 0.45).abs() < 1e-9);
        let parts: Vec<_> = found.parts.iter().map(|part| (part.name, part.share)).collect();
        assert_eq!(parts.len(), 3);
        assert!((parts.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-9);
        let first = found.first.expect("whichever comes first is slower");
        assert!((first.seconds - 1.0).abs() < 1e-9 && first.runs == 12);
        assert_eq!(found.failing.len(), 1);
        let flaky = &found.failing[0];
        assert_eq!((flaky.name.as_str(), flaky.failed, flaky.runs), ("b", 4, 12));
        // ln 0.05 / ln (2/3), rounded up.
        assert_eq!(flaky.green_runs, Some(8));
        assert!(!flaky.always());
        assert_eq!(flaky.failed_in, [0, 3, 6, 9]);
    }

    #[test]
    fn a_single_run_has_no_intervals_and_no_first_costs() {
        let mut samples = runs();
        let whole = runs();
        samples = {
            let mut one = Samples::new(samples.metrics.clone());
            (one.sides, one.rows, one.subjects) =
                (whole.sides.clone(), whole.rows.clone(), whole.subjects.clone());
            whole.observations().take(3).for_each(|o| one.push(o));
            one
        };
        let found = of_side(&samples, 0, 0.95).expect("there is a run");
        assert_eq!((found.runs, found.first.clone()), (1, None));
        assert_eq!(found.tests[0].share_interval, None);
        assert!(found.failing[0].always());
        assert_eq!(of_side(&samples, 1, 0.95), None);
    }
}
