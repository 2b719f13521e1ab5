//! Measures, after the timing, how sensitive the benchmarks are to the functions that changed
//! (`bench --sensitivity`). Runs in which each call of one function is delayed by a known time
//! alternate with runs without a delay, in programs that are otherwise the same.
//! [`assay_analysis::sensitivity`] evaluates the times.

use super::delayed::delayable;
use super::executed::{Executed, Key, Touched, Tree};
use super::{Benchmarks, Side};
use crate::output;
use crate::run_error::RunError;
use assay_analysis::sensitivity::{Sensitivity, are_visible, finding, is_visible};
use assay_analysis::{Analysis, Comparison};
use assay_data::{Finding, Severity, code};
use assay_harness::Effort;
use assay_harness::executed::SourceLine;

/// Number of pairs of runs without and with a delay.
const PAIRS: usize = 6;
/// Maximum number of functions examined on each side. The longest of the changed functions are
/// chosen.
const MOST_FUNCTIONS: usize = 5;
/// Shortest and longest delay of a call, in nanoseconds. The delay grows tenfold until it visibly
/// lengthens an iteration.
const DELAYS: [u64; 2] = [1_000, 1_000_000_000];
/// Longest delay, as a multiple of the time of an iteration. A function that is called less than
/// once in five hundred iterations is therefore not timed.
const MOST_TIMES: f64 = 100.0;
/// Time, in seconds, that a delayed process may take beyond twice its undelayed time. If its
/// iterations have not become longer by then, the calls are outside the timed part.
const MOST_SECONDS: f64 = 1.0;

/// A program in which one function can be delayed.
struct Delayable<'a> {
    side: Side,
    tree: &'a Tree,
    /// Where the function begins.
    function: SourceLine,
    /// Number that identifies the function in the program.
    number: usize,
}

/// Times of an iteration in seconds, as pairs without and with a delay of each call, and that delay
/// in nanoseconds.
type Pairs = (Vec<[f64; 2]>, u64);

impl Benchmarks<'_> {
    /// Measures how sensitive the benchmarks are to each changed function that they execute, and
    /// keeps the findings. `seconds` is the measuring time of a process. Calls `telling(done,
    /// total)` with the number of benchmarks, each counted once per function.
    ///
    /// # Errors
    ///
    /// Fails if the user interrupts. A program that fails yields no finding.
    pub fn sense(
        &mut self,
        executed: &Executed,
        analysis: &Analysis,
        seconds: f64,
        telling: &mut dyn FnMut(usize, usize),
    ) -> Result<(), RunError> {
        for side in 1..self.catalogue.sides.len() {
            let of_side = executed.touched.iter().filter(|own| own.side == side);
            let touched: Vec<&Touched> = of_side.take(MOST_FUNCTIONS).collect();
            let Some(Some(tree)) = executed.trees.get(side).filter(|_| !touched.is_empty()) else {
                continue;
            };
            let functions: Vec<&Key> = touched.iter().map(|own| &own.key).collect();
            let own = &self.catalogue.sides[side];
            let Some(program) = delayable(own, tree, &functions, self.asker) else {
                self.sensitivity.push(not_built(&own.name));
                continue;
            };
            let all: usize = touched.iter().map(|own| own.benchmarks.len()).sum();
            let mut done = 0;
            for (number, own) in touched.into_iter().enumerate() {
                let Some(function) = place(tree, &own.key) else { continue };
                let delayable = Delayable { side: program.clone(), tree, function, number };
                let mut known = Vec::new();
                for &benchmark in &own.benchmarks {
                    telling(done, all);
                    done += 1;
                    let measured = self.pairs(&delayable, (benchmark, side), seconds, analysis)?;
                    let name = &self.catalogue.benchmarks[benchmark].name;
                    let comparison = self.comparison(analysis, benchmark, side);
                    known.extend(measured.map(|(pairs, delay)| {
                        Sensitivity::new(name, &pairs, delay as f64 * 1e-9, comparison)
                    }));
                }
                if !known.is_empty() {
                    self.sensitivity.push(finding(&own.name, &known));
                }
            }
        }
        Ok(())
    }

    /// Returns the comparison of a benchmark on a side.
    fn comparison<'a>(
        &self,
        analysis: &'a Analysis,
        benchmark: usize,
        side: usize,
    ) -> Option<&'a Comparison> {
        let unit = self.units.iter().find(|unit| unit.benchmarks.contains(&benchmark))?;
        let row = unit.benchmarks.iter().position(|own| *own == benchmark)?;
        let (_, _, subjects) = unit.on.iter().find(|(own, ..)| *own == side)?;
        let name = &self.declared.subjects[subjects[row]].name;
        analysis.comparisons.iter().find(|own| analysis.subjects[own.of].name == *name)
    }

    /// Measures a benchmark without a delay and with the smallest one that is visible in its time.
    /// The list is empty if no delay is visible. Returns `None` if a run fails.
    fn pairs(
        &mut self,
        program: &Delayable<'_>,
        (benchmark, side): (usize, usize),
        seconds: f64,
        analysis: &Analysis,
    ) -> Result<Option<Pairs>, RunError> {
        let metric = &analysis.metrics[analysis.primary].name;
        let mut time = |delay| self.delayed(program, (benchmark, side), seconds, (delay, metric));
        let Some((undelayed, base)) = time(0)? else { return Ok(None) };
        let [mut chosen, longest] = DELAYS;
        let longest = longest.min((undelayed * 1e9 * MOST_TIMES) as u64);
        loop {
            let Some((delayed, seconds)) = time(chosen)? else { return Ok(None) };
            if is_visible(undelayed, delayed) {
                let mut pairs = Vec::with_capacity(PAIRS);
                for pair in 0..PAIRS {
                    let (one, other) = if pair % 2 == 0 { (0, chosen) } else { (chosen, 0) };
                    let (Some((one, _)), Some((other, _))) = (time(one)?, time(other)?) else {
                        return Ok(None);
                    };
                    pairs.push(if pair % 2 == 0 { [one, other] } else { [other, one] });
                }
                // The run that made the delay visible may have been slow for another reason.
                if are_visible(&pairs, chosen as f64 * 1e-9) {
                    return Ok(Some((pairs, chosen)));
                }
            }
            if chosen * 10 > longest || seconds > 2.0 * base + MOST_SECONDS {
                return Ok(Some((Vec::new(), chosen)));
            }
            chosen *= 10;
        }
    }

    /// Runs a benchmark with this delay of each call. Returns the value of the metric and the
    /// duration of the process in seconds; `None` if the run fails.
    fn delayed(
        &mut self,
        program: &Delayable<'_>,
        (benchmark, side): (usize, usize),
        seconds: f64,
        (delay, metric): (u64, &str),
    ) -> Result<Option<(f64, f64)>, RunError> {
        let Some(name) = &self.catalogue.benchmarks[benchmark].on[side] else { return Ok(None) };
        let driver = &self.catalogue.drivers[side];
        let scratch = self.asker.directory().map_err(|e| RunError::Reading(output::told(&e)))?;
        let request = driver.measure(name, Effort::Seconds(seconds), &scratch);
        let function = (&program.function, program.number);
        let language = program.tree.language;
        let request = language.delaying(request, &scratch, function, delay);
        let ran = self.asker.ask(&program.side, &request, &scratch)?;
        let own = ran.reading(&**driver, name);
        let value = own.and_then(|own| own.values.into_iter().find(|(own, _)| own.name == metric));
        Ok(value.map(|(_, value)| (value, ran.result.wall_seconds)))
    }
}

/// Returns the finding that a side has no program in which functions can be delayed.
fn not_built(side: &str) -> Finding {
    let message = format!(
        "the smallest slowdown of the changed functions that would be found is unknown: {side} does not build with delays"
    );
    Finding::new(code::CODE_CHANGED, message).at(Severity::Warning)
}

/// Returns the position at which a function begins.
fn place(tree: &Tree, (file, name): &Key) -> Option<SourceLine> {
    let own = tree.files.get(file)?.iter().find(|own| own.name == *name)?;
    Some(SourceLine { file: tree.root.join(file).display().to_string(), line: own.lines.0 })
}
