//! Queries on a history: the recorded runs of one project across its revisions, as provided by a
//! store.
//!
//! A run is the outermost level: however many values it contains, it has one [`RunSummary`] per
//! benchmark and metric, and the variation between runs is estimated from runs. Trend and gate
//! therefore need no samples, and a store of a million results needs only a few numbers for each.
//! This module is independent of how runs are stored and revisions are looked up.

mod blessing;
pub mod creep;
pub mod events;
pub mod gate;
mod levels;
mod run;
mod runs_needed;
mod short_level;
mod size;
mod slower;
mod spread;
mod summary;
pub mod trend;

pub use blessing::{Blessing, last_of as last_blessing};
pub use run::{Compared, Contents, Run, RunResult, Vanished, short_digest};
pub use short_level::ShortLevel;
pub use slower::slower_tests;
pub use summary::{Summarised, machine_name, of_samples};

use crate::checks::{MACHINE_FACTS, RUNNER};
use assay_data::{Environment, Metric, ParameterValue};
use assay_stats::Interval;

/// A revision and its position in the history of its repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// Full hash of the commit, or the user's name for the revision.
    pub commit: String,
    /// Hash of the parent commit, if known.
    pub parent: Option<String>,
    /// Number of commits that lead to this one along first parents; `None` if no repository
    /// provides it.
    pub ordinal: Option<u64>,
    /// Time of the commit in seconds since 1970, if known.
    pub time: Option<i64>,
}

impl Revision {
    /// Returns the display name: for a commit, its first ten digits.
    pub fn short(&self) -> &str {
        short(&self.commit)
    }
}

/// Returns the first ten digits of a commit, or any other name unchanged.
pub fn short(commit: &str) -> &str {
    let is_commit = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { &commit[..10] } else { commit }
}

/// The identity of a benchmark across runs of its project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Benchmark {
    /// The row's name, or the side's if the row has none (for commands).
    pub name: String,
    /// Names and values of the parameters.
    pub parameters: Vec<(String, ParameterValue)>,
    /// Index of the side if a run measured several sides of one revision; 0 for the reference or a
    /// single side.
    pub role: usize,
}

impl Benchmark {
    /// Returns the name, with those parameter values that it does not contain, and the side's index
    /// unless it is the reference.
    pub fn label(&self) -> String {
        let mut label = self.name.clone();
        for (name, value) in &self.parameters {
            if is_stated(&self.name, name, value.as_str()) {
                continue;
            }
            label += &format!(" {name}={}", value.as_str());
        }
        if self.role > 0 {
            label += &format!(" (side {})", self.role + 1);
        }
        label
    }
}

/// Returns true if the name of a benchmark contains the value of a parameter:
/// `BenchmarkSort/n=16-8` contains `n=16` and, in Go's notation, `gomaxprocs=8`.
fn is_stated(benchmark: &str, parameter: &str, value: &str) -> bool {
    let mut words = benchmark.split(' ');
    let of_go = words.next().unwrap_or_default();
    let (parts, processors) = match of_go.rsplit_once('-') {
        Some((parts, digits)) if digits.parse::<u32>().is_ok() => (parts, Some(digits)),
        _ => (of_go, None),
    };
    let pair = format!("{parameter}={value}");
    let is_unnamed = parameter.parse::<usize>().is_ok();
    parameter == "gomaxprocs" && processors == Some(value)
        || words.any(|word| word == pair)
        || parts.split('/').skip(1).any(|part| part == pair || is_unnamed && part == value)
}

/// Summary of one metric of one benchmark in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Number of values.
    pub n: u64,
    /// Number of units of the outermost level (processes, builds) that the values come from; the
    /// number of values if no level was recorded.
    pub units: u64,
    /// The median of the units' medians, or the recorded mean if there is only a summary.
    pub centre: f64,
    /// The 95 % interval of the center within the run, if there are enough units.
    pub interval: Option<Interval>,
}

/// One run in a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Identifier of the run: the beginning of its digest.
    pub recording: String,
    /// Start of the run in milliseconds since 1970.
    pub started: i64,
    /// The measured revision, if known.
    pub revision: Option<Revision>,
    /// Summary of the benchmark in this run.
    pub result: RunSummary,
}

/// All runs of one metric of one benchmark on one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// The metric.
    pub metric: Metric,
    /// Display name of the machine.
    pub machine: String,
    /// The runs, in any order.
    pub points: Vec<Point>,
}

/// Returns the facts that identify a machine. Times are not compared if any of these facts differs.
pub fn fingerprint_facts(environment: &Environment) -> Vec<(&'static str, String)> {
    let told = |fact: &'static str| {
        let value = environment.facts.get(fact)?;
        Some((fact, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
    };
    // Runs without this fact used the launcher, which was the only runner then.
    let is_usual = |fact: &(&str, String)| fact.0 == RUNNER && fact.1 == "launcher";
    MACHINE_FACTS.into_iter().filter_map(told).filter(|fact| !is_usual(fact)).collect()
}

/// Numeric facts worth tracking over time: the state of a machine before a run, and the results of
/// its last calibration.
const STATE_FACTS: [&str; 8] = [
    "calibrated_wall_60s",
    "calibrated_cpu_60s",
    "load_1m",
    "processes_running",
    "cpu_share",
    "steal_share",
    "clock_cost_seconds",
    "thermal_throttle_count",
];

/// Returns the numeric facts about the state of a machine, in base units.
pub fn machine_state(environment: &Environment) -> Vec<(&'static str, f64)> {
    let known = |fact: &'static str| Some((fact, environment.number(fact)?));
    STATE_FACTS.into_iter().filter_map(known).filter(|(_, value)| value.is_finite()).collect()
}

/// Sorts runs by measured revision: by the position of the revision in the history if all have one,
/// since committers' clocks can go back; otherwise by the time of the commit, or of the run. Runs
/// of one revision are sorted by time. O(n log n).
pub fn in_order(points: &mut [Point]) {
    let placed = points.iter().all(|p| p.revision.as_ref().is_some_and(|r| r.ordinal.is_some()));
    points.sort_by_cached_key(|point| {
        let revision = point.revision.as_ref();
        let committed = revision.and_then(|revision| revision.time);
        let ordinal = revision.and_then(|revision| revision.ordinal).filter(|_| placed);
        let time = committed.map_or(point.started, |seconds| seconds.saturating_mul(1000));
        (ordinal, time, point.started)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(commit: &str, ordinal: Option<u64>, time: i64, started: i64) -> Point {
        let revision =
            Revision { commit: commit.to_owned(), parent: None, ordinal, time: Some(time) };
        let result = RunSummary { n: 1, units: 1, centre: 1.0, interval: None };
        Point { recording: commit.to_owned(), started, revision: Some(revision), result }
    }

    #[test]
    fn the_place_in_the_history_counts_more_than_any_clock() {
        let order = |points: &mut Vec<Point>| {
            in_order(points);
            points.iter().map(|p| p.recording.clone()).collect::<String>()
        };
        // The clock of b's committer was slow; c was measured first.
        let mut points =
            vec![point("c", Some(3), 30, 1), point("b", Some(2), 5, 9), point("a", Some(1), 10, 8)];
        assert_eq!(order(&mut points), "abc");
        // Without a place, only the time is available.
        points.push(point("d", None, 7, 2));
        assert_eq!(order(&mut points), "bdac");
    }

    #[test]
    fn a_commit_is_cut_and_a_name_is_not() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(short(commit), "0123456789");
        assert_eq!(
            short("release of last year, in full length, of 50 letters"),
            "release of last year, in full length, of 50 letters"
        );
    }

    #[test]
    fn a_label_tells_parameters_and_other_sides() {
        let parameters = vec![("n".to_owned(), ParameterValue::from("64".to_owned()))];
        let benchmark = Benchmark { name: "Sort".to_owned(), parameters, role: 1 };
        assert_eq!(benchmark.label(), "Sort n=64 (side 2)");
    }

    #[test]
    fn a_label_does_not_repeat_what_a_name_states() {
        let label = |name: &str, parameters: &[(&str, &str)]| {
            let own = |(name, value): &(&str, &str)| {
                ((*name).to_owned(), ParameterValue::from((*value).to_owned()))
            };
            let parameters = parameters.iter().map(own).collect();
            Benchmark { name: name.to_owned(), parameters, role: 0 }.label()
        };
        let sort = [("n", "16"), ("1", "sorted"), ("gomaxprocs", "8"), ("pkg", "x")];
        let name = "BenchmarkSort/n=16/sorted-8";
        assert_eq!(label(name, &sort), format!("{name} pkg=x"));
        let name = "BenchmarkSort/n=16/sorted-8 pkg=x";
        assert_eq!(label(name, &sort), name);
        assert_eq!(label("BenchmarkA-2", &[("gomaxprocs", "2")]), "BenchmarkA-2");
        assert_eq!(label("BenchmarkA-2", &[("gomaxprocs", "1")]), "BenchmarkA-2 gomaxprocs=1");
        assert_eq!(label("Sort-16", &[("n", "16")]), "Sort-16 n=16");
    }
}
