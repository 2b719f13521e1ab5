//! Runs every benchmark once on every side before anything is recorded, to find broken benchmarks
//! and to learn how long a run takes and how many iterations it has.

use super::{Asker, Catalogue};
use crate::output;
use crate::run_error::RunError;
use assay_harness::{Driver, Effort, Reading, Request};
use assay_measure::Outcome;
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

/// Maximum CPU time beyond the wall time, as a share of the wall time, for a benchmark to count as
/// using a single CPU. It allows for the threads of a garbage collector and a compiler.
const MOST_OVERLAP: f64 = 0.25;

/// Result of trying one benchmark on one side.
#[derive(Clone, Debug, Default)]
pub(crate) struct BenchmarkTrial {
    /// Reading of the benchmark; `None` if it failed, or is not on that side.
    pub reading: Option<Reading>,
    /// Duration of a process in seconds, without work that only the first one does.
    pub seconds: f64,
    /// True if the run used only one CPU at a time.
    pub is_serial: bool,
    /// Why there is no reading, if the run failed.
    pub failure: Option<String>,
}

/// Returns true if a run with this reading used only one CPU at a time, judging by the wall time
/// and CPU time of the process, in seconds.
fn is_serial(reading: &Reading, wall_seconds: f64, cpu_seconds: f64) -> bool {
    if let Some(busy) = reading.busy_cpus {
        return busy <= 1.0 + MOST_OVERLAP;
    }
    let wall = reading.values.iter().find(|(metric, _)| metric.name == "wall");
    let measured = wall.map_or(0.0, |(_, wall)| wall * reading.iterations.unwrap_or(1.0));
    cpu_seconds - wall_seconds <= MOST_OVERLAP * measured
}

/// Returns the request for a run that measures these benchmarks of a program: the only one, or all
/// of them.
pub(super) fn request(
    driver: &dyn Driver,
    names: &[&str],
    (effort, together): (Effort, bool),
    scratch: &Path,
) -> Request {
    let several = together.then(|| driver.measure_several(names, effort, scratch)).flatten();
    let first = names.first().copied().unwrap_or_default();
    several.unwrap_or_else(|| driver.measure(first, effort, scratch))
}

/// Results of all trial runs.
#[derive(Debug)]
pub(crate) struct Trial {
    /// Results for each benchmark of the catalog, by side.
    pub tried: Vec<Vec<BenchmarkTrial>>,
    /// For each side, the reason why its build is slower than necessary, if it is a debug build.
    pub debug_builds: Vec<Option<String>>,
    /// Counters that the trial runs show to be totals over iterations.
    pub totals: BTreeSet<String>,
    /// True if one process of each side measures all benchmarks, although the harness could measure
    /// each one in its own.
    pub together: bool,
}

impl Trial {
    /// Tries these benchmarks on all of their sides: each one in its own process, or, if `together`
    /// is set, all in one. If that process takes too long, each one is tried in its own after all.
    /// Calls `telling(done, total)` with the number of runs.
    ///
    /// # Errors
    /// If nothing can be run at all; a benchmark that fails is a result.
    pub fn of(
        catalogue: &Catalogue,
        benchmarks: &[usize],
        (effort, mut together): (Effort, bool),
        asker: &mut Asker,
        telling: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, RunError> {
        let sides = catalogue.sides.len();
        let mut tried = vec![vec![BenchmarkTrial::default(); sides]; catalogue.benchmarks.len()];
        let mut debug_builds = vec![None; sides];
        let is_one_run = |together: bool| together || !catalogue.isolates();
        let mut runs = if is_one_run(together) { sides } else { benchmarks.len() * sides };
        let mut done = 0;
        for side in 0..sides {
            let driver = &catalogue.drivers[side];
            let own = |&index: &usize| catalogue.benchmarks[index].on[side].as_deref();
            let own_benchmarks = benchmarks.iter().filter(|b| own(b).is_some()).copied();
            let mut groups: VecDeque<Vec<usize>> = if is_one_run(together) {
                VecDeque::from([own_benchmarks.collect()])
            } else {
                own_benchmarks.map(|benchmark| vec![benchmark]).collect()
            };
            while let Some(mut group) = groups.pop_front() {
                telling(done, runs);
                let scratch = asker.directory().map_err(|e| RunError::Reading(output::told(&e)))?;
                let names: Vec<&str> = group.iter().filter_map(own).collect();
                let request = request(driver.as_ref(), &names, (effort, together), &scratch);
                let ran = asker.ask(&catalogue.sides[side], &request, &scratch)?;
                done += 1;
                let mut failed = ran.failure();
                if together && group.len() > 1 && failed.is_some() {
                    // One that breaks the process is found by trying each alone.
                    together = ran.result.outcome != Outcome::TimedOut;
                    let readings = driver.read(&ran.reply).unwrap_or_default();
                    let works = |index: &usize| {
                        let reading = readings.iter().find(|r| own(index) == Some(&r.benchmark));
                        together && reading.is_some_and(Reading::has_values)
                    };
                    let (kept, alone): (Vec<usize>, Vec<usize>) =
                        group.into_iter().partition(works);
                    runs += alone.len();
                    groups.extend(alone.into_iter().map(|index| vec![index]));
                    (group, failed) = (kept, None);
                }
                let (readings, unread) = match driver.read(&ran.reply) {
                    Ok(readings) => (readings, None),
                    Err(error) => (Vec::new(), Some(format!("failed: {error}"))),
                };
                if debug_builds[side].is_none() {
                    debug_builds[side] = driver.debug_build(&ran.reply);
                }
                for index in group {
                    let name = own(&index).unwrap_or_default();
                    let reading = readings.iter().find(|r| r.benchmark == name).cloned();
                    // A benchmark that fails early may be reported under a shorter name.
                    let told = reading.as_ref().or_else(|| match readings.as_slice() {
                        [only] if driver.isolates() => Some(only),
                        _ => None,
                    });
                    let error = told.and_then(|r| Some(format!("failed: {}", r.error.as_ref()?)));
                    let nothing = || match &reading {
                        Some(reading) if reading.values.is_empty() => {
                            Some("gave no value".to_owned())
                        }
                        Some(_) => None,
                        None => Some("was not in the output of its program".to_owned()),
                    };
                    let empty = || unread.clone().or_else(nothing);
                    // The benchmark's own message is more informative than the program's exit
                    // status.
                    let failure = error.or(failed.clone()).or_else(empty);
                    let once = reading.as_ref().map_or(0.0, |reading| reading.once_seconds);
                    let wall = ran.result.wall_seconds;
                    let cpu = ran.result.user_seconds + ran.result.system_seconds;
                    let is_serial = reading.as_ref().is_some_and(|own| is_serial(own, wall, cpu));
                    tried[index][side] = BenchmarkTrial {
                        reading: reading.filter(|_| failure.is_none()),
                        seconds: (ran.result.wall_seconds - once).max(0.0),
                        is_serial,
                        failure,
                    };
                }
            }
        }
        let readings = || tried.iter().flatten().filter_map(|tried| tried.reading.as_ref());
        let totals: BTreeSet<String> =
            readings().flat_map(Reading::divided).map(str::to_owned).collect();
        let mut found = Self { tried, debug_builds, totals, together };
        let readings = found.tried.iter_mut().flatten().filter_map(|tried| tried.reading.as_mut());
        readings.for_each(|reading| reading.divide(&found.totals));
        Ok(found)
    }

    /// Returns the time in seconds that one run of every benchmark on every side takes.
    pub fn seconds(&self) -> f64 {
        self.tried.iter().flatten().map(|tried| tried.seconds).sum()
    }

    /// Multiplies the measuring time of the runs by `share`. `start_seconds` is the duration of a
    /// process that measures nothing.
    pub fn shorten(&mut self, share: f64, start_seconds: f64) {
        for tried in self.tried.iter_mut().flatten() {
            let measuring = (tried.seconds - start_seconds).max(0.0);
            tried.seconds -= measuring * (1.0 - share);
            let iterations = tried.reading.as_mut().and_then(|own| own.iterations.as_mut());
            if let Some(iterations) = iterations {
                *iterations = (*iterations * share).floor().max(1.0);
            }
        }
    }

    /// Returns the number of iterations to use on all sides of a benchmark: the smallest number
    /// that any side took, so that no side takes longer than requested.
    pub fn iterations(&self, benchmark: usize) -> Option<u64> {
        let counts: Option<Vec<f64>> = self.tried[benchmark]
            .iter()
            .filter_map(|tried| tried.reading.as_ref())
            .map(|reading| reading.iterations)
            .collect();
        let fewest = counts?.into_iter().min_by(f64::total_cmp)?;
        (1.0..1e18).contains(&fewest).then_some(fewest as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::{Metric, Unit};

    fn reading(busy_cpus: Option<f64>) -> Reading {
        let values = vec![(Metric::lower("wall", Unit::Second), 0.001)];
        Reading { values, iterations: Some(50.0), busy_cpus, ..Reading::default() }
    }

    #[test]
    fn a_benchmark_that_uses_several_cpus_is_not_serial() {
        let is_serial = |wall: f64, cpu: f64, busy| is_serial(&reading(busy), wall, cpu);
        assert!(is_serial(0.5, 0.5, None));
        // The process as a whole used little more than one CPU, but measuring took only 50 ms of it.
        assert!(!is_serial(0.5, 0.52, None));
        assert!(is_serial(0.5, 0.9, Some(1.05)));
        assert!(!is_serial(0.5, 0.4, Some(1.8)));
    }

    #[test]
    fn shorter_runs_have_fewer_iterations_and_the_same_start() {
        let reading = Some(reading(None));
        let tried = BenchmarkTrial { reading, seconds: 0.9, ..BenchmarkTrial::default() };
        let (debug_builds, totals) = (vec![None], BTreeSet::new());
        let mut trial = Trial { tried: vec![vec![tried]], debug_builds, totals, together: false };
        trial.shorten(0.25, 0.1);
        assert_eq!(trial.iterations(0), Some(12));
        assert!((trial.seconds() - 0.3).abs() < 1e-9, "{}", trial.seconds());
    }
}
