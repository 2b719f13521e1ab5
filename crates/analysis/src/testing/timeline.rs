//! The timeline of one run of a suite by process: the tests that ran at the same time, and the
//! critical path. The run is the one whose duration is nearest to the median.

use super::{PARTS, PHASES};
use assay_data::Samples;
use assay_data::samples::{BEGAN, BySubject, ENDED, SPANS, WORKER};
use std::collections::BTreeMap;

/// Tolerance for times, which are reported in microseconds: an activity that ends no later than
/// this after the start of another counts as ended before it.
const TOLERANCE: f64 = 1e-5;

/// The timeline of a run. Times are in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Number of the run, counted from 1.
    pub run: usize,
    /// Duration of the run.
    pub wall: f64,
    /// Lanes that ran in parallel. A process that started after another had ended shares its lane.
    pub lanes: Vec<Lane>,
}

/// Processes that run one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// Numbers of the lane's processes.
    pub processes: Vec<usize>,
    /// Number of tests that the lane ran.
    pub tests: usize,
    /// Bars, in order of their start within each process.
    pub bars: Vec<Bar>,
    /// Maximum number of tests that one process ran at the same time (threads).
    pub depth: usize,
    /// True if this lane ended last, so that the run waited for it.
    pub critical: bool,
}

/// An activity of a process over an interval of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The activity.
    pub of: BarOf,
    /// Start of the activity.
    pub began: f64,
    /// End of the activity.
    pub ended: f64,
    /// Duration of the setup at the start of the activity, in seconds.
    pub setup: f64,
    /// Duration of the teardown at the end of the activity, in seconds.
    pub teardown: f64,
    /// Row within the lane, counted from 0. Tests that one process runs in parallel use several
    /// rows.
    pub row: usize,
    /// True if the activity is on the critical path.
    pub critical: bool,
}

/// The activity of a bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarOf {
    /// A test.
    Test {
        /// Name of the test.
        name: String,
        /// True if the test failed in this run.
        failed: bool,
    },
    /// An activity other than a test: one of [`PARTS`].
    Part(&'static str),
}

/// Returns the timeline of the run whose time is nearest to `median`, for a side with these
/// subjects, of which `whole` is the whole suite. `None` if no timestamps were reported. O(n log
/// n).
pub(super) fn of(
    samples: &Samples,
    by_subject: &BySubject<'_>,
    (subjects, whole): (&[usize], usize),
    median: f64,
) -> Option<Timeline> {
    let began = samples.metric_index(BEGAN)?;
    let metric = samples.metric_index("wall")?;
    let runs: Vec<(u32, f64)> = by_subject.series(whole, metric).collect();
    let nearest = (0..runs.len())
        .min_by(|&a, &b| far(runs[a].1, median).total_cmp(&far(runs[b].1, median)))?;
    let (observation, wall) = runs[nearest];
    let (_, block) = by_subject.block(observation)?;
    let mut processes: BTreeMap<usize, Vec<Bar>> = BTreeMap::new();
    for &subject in subjects.iter().filter(|&&subject| subject != whole) {
        let own = by_subject.observations(subject).iter().copied();
        let Some(own) =
            own.into_iter().find(|&o| by_subject.block(o).is_some_and(|(_, b)| b == block))
        else {
            continue;
        };
        let Some(seen) = samples.observation(own as usize) else { continue };
        let value = |name: &str| -> Option<f64> {
            samples.metric_index(name).map(|m| seen.values[m]).filter(|value| value.is_finite())
        };
        let Some(from) = Some(seen.values[began]).filter(|value| value.is_finite()) else {
            continue;
        };
        let Some(took) = value("wall") else { continue };
        let ended = value(ENDED).unwrap_or(from + took).max(from);
        let name = samples.row_of(&samples.subjects[subject]).name.clone();
        let failed = seen.outcome != assay_data::Outcome::Ok;
        processes.entry(number(value(WORKER))).or_default().push(Bar {
            setup: value(PHASES[0]).unwrap_or(0.0).clamp(0.0, ended - from),
            teardown: value(PHASES[2]).unwrap_or(0.0).clamp(0.0, ended - from),
            ..bar(BarOf::Test { name, failed }, from, ended)
        });
    }
    let list = |name: &str| -> &[f64] {
        let is_it = |own: &&assay_data::Inner| {
            (own.subject, own.block) == (whole, block) && own.metric == name
        };
        samples.inner.iter().find(is_it).map_or(&[], |own| own.values.as_slice())
    };
    let [parts, workers, begins, ends] = SPANS.map(list);
    for (((&part, &worker), &from), &to) in parts.iter().zip(workers).zip(begins).zip(ends) {
        // Skips processes that ran no test. In other tools' recordings, process numbers are
        // arbitrary.
        let (Some(&part), Some(bars)) =
            (PARTS.get(number(Some(part))), processes.get_mut(&number(Some(worker))))
        else {
            continue;
        };
        bars.push(bar(BarOf::Part(part), from, to.max(from)));
    }
    let mut lanes = lanes(processes);
    mark_critical(&mut lanes);
    (!lanes.is_empty()).then_some(Timeline { run: nearest + 1, wall, lanes })
}

fn far(value: f64, median: f64) -> f64 {
    (value - median).abs()
}

fn number(value: Option<f64>) -> usize {
    value.filter(|value| *value >= 0.0).map_or(0, |value| value as usize)
}

fn bar(of: BarOf, began: f64, ended: f64) -> Bar {
    Bar { of, began, ended, setup: 0.0, teardown: 0.0, row: 0, critical: false }
}

/// Arranges processes in lanes. A process that starts after another has ended continues its lane,
/// as when a limited number of packages runs in parallel.
fn lanes(processes: BTreeMap<usize, Vec<Bar>>) -> Vec<Lane> {
    let mut each: Vec<(usize, f64, Lane)> = Vec::new();
    for (process, mut bars) in processes {
        bars.sort_by(|a, b| a.began.total_cmp(&b.began).then(b.ended.total_cmp(&a.ended)));
        let depth = set_rows(&mut bars);
        let heard_of = bars.iter().find(|bar| !is_start(bar)).or(bars.first());
        let began = heard_of.map_or(0.0, |bar| bar.began);
        let tests = bars.iter().filter(|bar| matches!(bar.of, BarOf::Test { .. })).count();
        each.push((
            process,
            began,
            Lane { processes: vec![process], tests, bars, depth, critical: false },
        ));
    }
    each.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let mut lanes: Vec<Lane> = Vec::new();
    for (_, began, own) in each {
        let is_free = |lane: &&mut Lane| last(lane) <= began + TOLERANCE;
        match lanes.iter_mut().find(is_free) {
            Some(lane) => {
                lane.processes.extend(own.processes);
                lane.tests += own.tests;
                lane.depth = lane.depth.max(own.depth);
                // The startup of the process may extend back to the start of the run, when other
                // processes used the lane.
                let free = last(lane);
                lane.bars.extend(own.bars.into_iter().filter_map(|bar| match is_start(&bar) {
                    true => (bar.ended > free).then(|| Bar { began: bar.began.max(free), ..bar }),
                    false => Some(bar),
                }));
            }
            None => lanes.push(own),
        }
    }
    lanes
}

/// Returns true if the bar is the time before the framework starts reporting.
fn is_start(bar: &Bar) -> bool {
    bar.of == BarOf::Part(PARTS[0])
}

fn last(lane: &Lane) -> f64 {
    lane.bars.iter().map(|bar| bar.ended).fold(f64::NEG_INFINITY, f64::max)
}

/// Assigns the tests of one process to rows: each test goes to the first free row. Other activities
/// are in the first row, on top of the test in which they occur. Returns the number of rows.
fn set_rows(bars: &mut [Bar]) -> usize {
    let mut free: Vec<f64> = Vec::new();
    for bar in bars.iter_mut().filter(|bar| matches!(bar.of, BarOf::Test { .. })) {
        let row = free.iter().position(|&free| free <= bar.began + TOLERANCE);
        bar.row = row.unwrap_or(free.len());
        match row {
            Some(row) => free[row] = bar.ended,
            None => free.push(bar.ended),
        }
    }
    free.len().max(1)
}

/// Marks the critical path. Starts with the bar that ended last, and repeatedly goes back to the
/// bar in its lane that ended last before the current one began.
fn mark_critical(lanes: &mut [Lane]) {
    let Some(lane) = lanes.iter_mut().max_by(|a, b| last(a).total_cmp(&last(b))) else { return };
    lane.critical = true;
    let mut by_end: Vec<usize> = (0..lane.bars.len()).collect();
    by_end.sort_by(|&a, &b| lane.bars[b].ended.total_cmp(&lane.bars[a].ended));
    let mut until = f64::INFINITY;
    for index in by_end {
        let bar = &mut lane.bars[index];
        if bar.ended <= until + TOLERANCE {
            bar.critical = true;
            until = until.min(bar.began);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str, began: f64, ended: f64) -> Bar {
        bar(BarOf::Test { name: name.to_owned(), failed: false }, began, ended)
    }

    fn critical(lanes: &[Lane]) -> Vec<String> {
        let named = |bar: &Bar| match &bar.of {
            BarOf::Test { name, .. } => name.clone(),
            BarOf::Part(part) => (*part).to_owned(),
        };
        lanes.iter().flat_map(|l| &l.bars).filter(|bar| bar.critical).map(named).collect()
    }

    #[test]
    fn packages_share_lanes_and_workers_have_their_own() {
        let processes = BTreeMap::from([
            (0, vec![test("a", 0.25, 2.0)]),
            (1, vec![test("b", 0.5, 1.0)]),
            (2, vec![test("c", 1.0, 4.0)]),
            (3, vec![bar(BarOf::Part("boot"), 0.0, 2.25), test("d", 2.25, 2.5)]),
        ]);
        let mut lanes = lanes(processes);
        let of: Vec<&[usize]> = lanes.iter().map(|lane| lane.processes.as_slice()).collect();
        assert_eq!(of, [&[0, 3][..], &[1, 2]]);
        // The startup of the fourth process is shown only from the time at which the lane is free.
        let seen: Vec<(f64, f64)> = lanes[0].bars.iter().map(|b| (b.began, b.ended)).collect();
        assert_eq!(seen, [(0.25, 2.0), (2.0, 2.25), (2.25, 2.5)]);
        mark_critical(&mut lanes);
        assert!(!lanes[0].critical && lanes[1].critical);
        assert_eq!(critical(&lanes), ["b", "c"]);
    }

    #[test]
    fn threads_stand_in_rows_and_the_critical_path_leads_through_those_that_were_waited_for() {
        let mut bars = vec![test("a", 0.0, 1.0), test("b", 0.0, 3.0), test("c", 1.0, 2.0)];
        bars.push(test("d", 3.0, 4.0));
        bars.push(bar(BarOf::Part("hooks"), 2.0, 2.5));
        let mut lanes = lanes(BTreeMap::from([(0, bars)]));
        assert_eq!((lanes.len(), lanes[0].depth, lanes[0].tests), (1, 2, 4));
        mark_critical(&mut lanes);
        assert_eq!(critical(&lanes), ["b", "d"]);
    }

    #[test]
    fn distances_have_no_sign_and_what_is_no_number_is_the_first() {
        assert_eq!((far(3.0, 5.0), far(5.0, 3.0)), (2.0, 2.0));
        assert_eq!([Some(3.7), Some(-1.0), Some(f64::NAN), None].map(number), [3, 0, 0, 0]);
    }
}
