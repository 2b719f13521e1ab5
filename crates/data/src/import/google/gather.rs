//! Converts rows of Google Benchmark to samples, and interprets its counters.
//!
//! A counter to which the author gave no flag is a total over all iterations, which is meaningless
//! until it is divided by their number: 8.96 million calls against 9.00 million may merely reflect
//! different numbers of iterations. The file does not record the flags, so they are inferred from
//! the values. For each name of a counter, the first rule that fits its values in all rows of the
//! file applies:
//!
//! 1. A counter that the library itself computes (`items_per_second`, `allocs_per_iter`, …) has the
//!    meaning of its name.
//! 2. A counter that has a fraction in any row is a rate or a mean, and is kept as it is.
//! 3. A counter that is whole in all rows and, in some row of at least a thousand iterations, a
//!    multiple of the iterations (within a thousandth, which setup may add) is a total. It is
//!    divided and called `NAME/iteration`.
//! 4. A counter that is whole in all rows, and in some row occurs together with a total, was most
//!    likely counted in the same way but is too small to show it (two calls in a million
//!    iterations). It is kept both as `NAME` and as `NAME/iteration`, or only as the latter if it
//!    is zero in all rows, because a total of zero is also zero per iteration.
//! 5. Anything else is kept as it is.
//!
//! In a file that our own exporter wrote, all counters are kept as they are, under the metrics that
//! the file names. Aggregates do not state the number of iterations, so their whole-number counters
//! cannot be distinguished from totals and are left out.

use super::super::recorder::Recorder;
use super::super::{ImportError, Part};
use super::names::take_apart;
use super::row::{Counters, Kind, Row};
use crate::finding::shared::{benchmark_error, benchmark_errors};
use crate::list;
use crate::samples::{Better, ITERATIONS, Metric, Outcome, Summary};
use crate::unit::Unit;
use crate::{Action, Finding, Severity};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};

/// Minimum number of iterations at which a count that is a multiple of the iterations is not a
/// coincidence.
const TELLING_ITERATIONS: f64 = 1000.0;
/// Maximum distance of a total from a multiple of the iterations, as a fraction of the iterations.
const PREPARATIONS: f64 = 1e-3;
/// Smallest number of bytes that is considered invalid: more memory than a process can address.
const NO_BYTES: f64 = (1u64 << 44) as f64;
/// Maximum number of findings about individual benchmarks.
const MAX_ERRORS: usize = 100;
/// Suffixes by which aggregates are recognized in files that do not state the kind of a row.
const ENDINGS: [&str; 6] = ["_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"];

/// Properties of a counter's values over all rows.
#[derive(Clone, Copy, Default)]
struct CounterTraits {
    metric: Option<usize>,
    fraction: bool,
    nonzero: bool,
    multiple: bool,
    beside_multiple: bool,
    fraction_in_aggregates: bool,
}

/// The quantity that an aggregate summarizes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum AggregateQuantity {
    Wall,
    Cpu,
    Counter(usize),
}

/// Gathers rows into samples.
pub(super) struct Gatherer<'c> {
    pub recorder: Recorder<'c>,
    pub counters: Counters,
    /// Metrics of the counters by name, if our own exporter wrote the file.
    pub told: Option<HashMap<String, Metric>>,
    seen: Vec<CounterTraits>,
    /// The metrics that every row has: wall time, CPU time and iterations. `None` before the first
    /// row.
    common: Option<[usize; 3]>,
    values: Vec<(usize, f64)>,
    /// For every benchmark, whether it has observations.
    observed: Vec<bool>,
    aggregates: Vec<(AggregateQuantity, Summary)>,
    aggregate_of: HashMap<(usize, AggregateQuantity), usize>,
    complexity: Map<String, Value>,
    labels: Map<String, Value>,
    errors: Vec<(String, String, u64)>,
    error_of: HashMap<String, usize>,
    untrusted: BTreeSet<String>,
    /// A row of unknown kind whose name ends like that of an aggregate, of a benchmark that is not
    /// known yet. The next row shows whether it is an aggregate.
    waiting: Option<Row>,
}

impl<'c> Gatherer<'c> {
    pub(super) fn new(recorder: Recorder<'c>) -> Self {
        Self {
            recorder,
            counters: Counters::default(),
            told: None,
            seen: Vec::new(),
            common: None,
            values: Vec::new(),
            observed: Vec::new(),
            aggregates: Vec::new(),
            aggregate_of: HashMap::new(),
            complexity: Map::new(),
            labels: Map::new(),
            errors: Vec::new(),
            error_of: HashMap::new(),
            untrusted: BTreeSet::new(),
            waiting: None,
        }
    }

    /// Processes one row.
    ///
    /// # Errors
    /// Returns an error if the row has a unit that the library does not use, or if a limit is
    /// exceeded.
    pub(super) fn take(&mut self, row: &Row) -> Result<(), String> {
        self.seen.resize(self.counters.names.len(), CounterTraits::default());
        self.decide_waiting(Some(row.own_name()))?;
        let name = row.own_name();
        match row.kind {
            Kind::Iteration => self.repetition(name, row),
            Kind::Aggregate => self.aggregate(name, &row.aggregate, row),
            Kind::Unknown => match told_by_ending(name) {
                // A fit covers several benchmarks, and is named after the common part of their
                // names.
                Some((base, aggregate @ ("BigO" | "RMS"))) => self.aggregate(base, aggregate, row),
                Some((base, aggregate)) if self.recorder.find(base).is_some() => {
                    self.aggregate(base, aggregate, row)
                }
                Some(_) => {
                    self.waiting = Some(row.clone());
                    Ok(())
                }
                None => self.repetition(name, row),
            },
        }
    }

    /// Processes the waiting row. It is an aggregate if the row named `next` is another aggregate
    /// of the same benchmark.
    fn decide_waiting(&mut self, next: Option<&str>) -> Result<(), String> {
        let Some(row) = self.waiting.take() else { return Ok(()) };
        let name = row.own_name();
        let is_of = |base: &str, aggregate: &str| {
            next.and_then(told_by_ending).is_some_and(|(b, a)| b == base && a != aggregate)
        };
        match told_by_ending(name) {
            Some((base, aggregate)) if is_of(base, aggregate) => {
                self.aggregate(base, aggregate, &row)
            }
            _ => self.repetition(name, &row),
        }
    }

    fn common(&mut self) -> Result<[usize; 3], String> {
        if let Some(common) = self.common {
            return Ok(common);
        }
        let wall = self.recorder.metric(&Metric::wall())?;
        let cpu = self.recorder.metric(&Metric::lower("cpu", Unit::Second))?;
        let iterations = Metric { better: Better::Higher, ..Metric::lower(ITERATIONS, Unit::One) };
        let common = [wall, cpu, self.recorder.metric(&iterations)?];
        self.common = Some(common);
        Ok(common)
    }

    fn benchmark(&mut self, name: &str, label: &str) -> usize {
        if let Some(known) = self.recorder.find(name) {
            return known;
        }
        let (base, parameters) = take_apart(name);
        let benchmark = self.recorder.benchmark(name, Some(base), &parameters);
        self.observed.push(false);
        if !label.is_empty() {
            self.labels.insert(name.to_owned(), label.into());
        }
        benchmark
    }

    fn repetition(&mut self, name: &str, row: &Row) -> Result<(), String> {
        if self.has_failed(name, row) {
            return Ok(());
        }
        let per_second = per_second(&row.time_unit)?;
        let [wall, cpu, iterations] = self.common()?;
        let benchmark = self.benchmark(name, &row.label);
        self.values.clear();
        self.values.extend([
            (wall, row.real_time / per_second),
            (cpu, row.cpu_time / per_second),
            (iterations, row.iterations),
        ]);
        let is_garbage = row.counters.iter().any(|&(counter, value)| {
            value.abs() >= NO_BYTES && is_bytes(&self.counters.names[counter])
        });
        if is_garbage && self.untrusted.len() < MAX_ERRORS {
            self.untrusted.insert(name.to_owned());
        }
        let mut has_multiple = false;
        for &(counter, value) in &row.counters {
            let counter_name = &self.counters.names[counter];
            if is_garbage && is_bytes(counter_name) {
                continue;
            }
            let metric = match self.seen[counter].metric {
                Some(metric) => metric,
                None => self.recorder.metric(&self.metric_of(counter_name))?,
            };
            let seen = &mut self.seen[counter];
            seen.metric = Some(metric);
            self.values.push((metric, value));
            if is_of_library(counter_name) || !value.is_finite() {
                continue;
            }
            seen.fraction |= value.fract() != 0.0;
            seen.nonzero |= value != 0.0;
            let is_multiple = is_multiple(value, row.iterations);
            seen.multiple |= is_multiple;
            has_multiple |= is_multiple;
        }
        if has_multiple {
            row.counters.iter().for_each(|&(counter, _)| self.seen[counter].beside_multiple = true);
        }
        self.observed[benchmark] = true;
        self.recorder.observe(benchmark, &[], Outcome::Ok, &self.values)
    }

    /// Records the error of a failed or skipped benchmark, whose times are zeros. Returns false for
    /// any other row.
    fn has_failed(&mut self, name: &str, row: &Row) -> bool {
        if !row.is_error && !row.is_skipped {
            return false;
        }
        let index = *self.error_of.entry(name.to_owned()).or_insert(self.errors.len());
        if index == self.errors.len() {
            let what = if row.is_error { "ended with an error" } else { "was skipped" };
            self.errors.push((name.to_owned(), format!("{what}: {}", row.message), 0));
        }
        self.errors[index].2 += 1;
        true
    }

    fn aggregate(&mut self, name: &str, aggregate: &str, row: &Row) -> Result<(), String> {
        if self.has_failed(name, row) {
            return Ok(());
        }
        if aggregate == "BigO" || aggregate == "RMS" {
            self.fit(name, row);
            return Ok(());
        }
        if self.recorder.find(name).is_some_and(|known| self.observed[known]) {
            return Ok(());
        }
        let put: fn(&mut Summary, f64) = match aggregate {
            // An aggregate of unstated kind is read as a mean, because compare.py treats it like
            // any other time.
            "mean" | "" => |summary, value| summary.mean = Some(value),
            "median" => |summary, value| summary.median = Some(value),
            "stddev" => |summary, value| summary.sd = Some(value),
            "min" => |summary, value| summary.min = Some(value),
            "max" => |summary, value| summary.max = Some(value),
            _ => return Ok(()),
        };
        let per_second = per_second(&row.time_unit)?;
        self.common()?;
        let benchmark = self.benchmark(name, &row.label);
        // Files of 1.4 give the number of repetitions as the iterations of an aggregate.
        let is_told = !aggregate.is_empty();
        let count = if row.repetitions.is_nan() { row.iterations } else { row.repetitions };
        let count = (is_told && count >= 1.0).then_some(count as u64);
        let times = [
            (AggregateQuantity::Wall, row.real_time / per_second),
            (AggregateQuantity::Cpu, row.cpu_time / per_second),
        ];
        let counters = row
            .counters
            .iter()
            .map(|&(counter, value)| (AggregateQuantity::Counter(counter), value));
        for (of, value) in times.into_iter().chain(counters).filter(|(_, v)| v.is_finite()) {
            if let AggregateQuantity::Counter(counter) = of
                && aggregate != "stddev"
            {
                self.seen[counter].fraction_in_aggregates |= value.fract() != 0.0;
            }
            let next = self.aggregates.len();
            let index = *self.aggregate_of.entry((benchmark, of)).or_insert(next);
            if index == next {
                let summary = Summary { subject: benchmark, count, ..Summary::default() };
                self.aggregates.push((of, summary));
            }
            put(&mut self.aggregates[index].1, value);
        }
        Ok(())
    }

    /// Records as a fact how time grows with the arguments according to the library's fit.
    fn fit(&mut self, name: &str, row: &Row) {
        let of_name = self.complexity.entry(name).or_insert_with(|| Map::new().into());
        let Some(fit) = of_name.as_object_mut() else { return };
        if !row.big_o.is_empty() {
            fit.insert("big_o".to_owned(), row.big_o.as_str().into());
            if !row.time_unit.is_empty() {
                fit.insert("time_unit".to_owned(), row.time_unit.as_str().into());
            }
        }
        for &(key, value) in row.complexity.iter().filter(|(_, value)| value.is_finite()) {
            fit.insert(key.to_owned(), value.into());
        }
    }

    /// Returns the samples. `holds` describes the contents of a file that has none.
    ///
    /// # Errors
    /// Returns an error if there is neither a value nor a summary.
    pub(super) fn finish(mut self, holds: &'static str) -> Result<Part, ImportError> {
        self.decide_waiting(None).map_err(|problem| self.recorder.whole_file(problem))?;
        let divided = self.divide_totals().map_err(|problem| self.recorder.whole_file(problem))?;
        let left_out = self.summaries().map_err(|problem| self.recorder.whole_file(problem))?;
        if !divided.is_empty() {
            self.recorder.finding(counter_totals(
                Severity::Note,
                "totals over all iterations, and are read per iteration",
                &divided,
                "flag them with benchmark::Counter::kAvgIterations",
            ));
        }
        if !left_out.is_empty() {
            self.recorder.finding(counter_totals(
                Severity::Warning,
                "left out: they may be totals over iterations, and aggregates do not contain the number of iterations",
                &left_out,
                "measure without --benchmark_report_aggregates_only",
            ));
        }
        self.report_errors();
        if !self.untrusted.is_empty() {
            let names: Vec<String> = self.untrusted.iter().cloned().collect();
            let message = format!(
                "impossible byte counts of a memory manager are left out for {}",
                listed(&names)
            );
            self.recorder.finding(
                Finding::new(crate::code::NOT_COUNTED, message)
                    .with("benchmarks", names.len() as f64)
                    .advise(Action::text("update Google Benchmark: 1.7.1 wrote such numbers for the first repetition")),
            );
        }
        if !self.complexity.is_empty() {
            self.recorder.fact("google_benchmark.complexity", self.complexity);
        }
        if !self.labels.is_empty() {
            self.recorder.fact("google_benchmark.labels", self.labels);
        }
        self.recorder.finish(holds)
    }

    /// Divides counters that are totals by the iterations, and returns their names.
    fn divide_totals(&mut self) -> Result<Vec<String>, String> {
        let mut divided = Vec::new();
        let (Some([.., iterations]), None) = (self.common, &self.told) else {
            return Ok(divided);
        };
        for (seen, name) in self.seen.iter().zip(&self.counters.names) {
            let is_total = seen.multiple || seen.beside_multiple;
            let (Some(metric), false) = (seen.metric, seen.fraction || is_of_library(name)) else {
                continue;
            };
            if is_total {
                let mut per_iteration = format!("{name}/iteration");
                // An author may have divided a counter and used this name.
                while self.recorder.has_metric(&per_iteration) {
                    per_iteration += " (divided)";
                }
                self.recorder.divide(
                    metric,
                    iterations,
                    &per_iteration,
                    !seen.multiple && seen.nonzero,
                )?;
                divided.push(name.clone());
            }
        }
        Ok(divided)
    }

    /// Records the aggregates of benchmarks without repetitions, and returns the counters that are
    /// left out.
    fn summaries(&mut self) -> Result<Vec<String>, String> {
        let mut left_out = BTreeSet::new();
        for (of, mut summary) in std::mem::take(&mut self.aggregates) {
            if self.observed[summary.subject] {
                continue;
            }
            let metric = match of {
                AggregateQuantity::Wall => Metric::wall(),
                AggregateQuantity::Cpu => Metric::lower("cpu", Unit::Second),
                AggregateQuantity::Counter(counter) => {
                    let name = &self.counters.names[counter];
                    if !is_of_library(name) && !self.seen[counter].fraction_in_aggregates {
                        left_out.insert(name.clone());
                        continue;
                    }
                    self.metric_of(name)
                }
            };
            self.recorder.metric(&metric)?;
            summary.metric = metric.name;
            self.recorder.summary(summary);
        }
        Ok(left_out.into_iter().collect())
    }

    /// Returns the metric of a counter.
    fn metric_of(&self, counter: &str) -> Metric {
        let told = self.told.as_ref().and_then(|told| told.get(counter)).cloned();
        told.unwrap_or_else(|| metric_of(counter))
    }

    fn report_errors(&mut self) {
        let errors = std::mem::take(&mut self.errors);
        for (name, what, times) in errors.iter().take(MAX_ERRORS) {
            self.recorder.finding(benchmark_error(name, what).with("times", *times as f64));
        }
        if errors.len() > MAX_ERRORS {
            let more = errors.len() - MAX_ERRORS;
            let message = format!("{more} more benchmarks ended with an error or were skipped");
            self.recorder.finding(benchmark_errors(&message, more));
        }
    }
}

/// Splits the name of a row into the name of the benchmark and the name of the aggregate.
fn told_by_ending(name: &str) -> Option<(&str, &str)> {
    ENDINGS.iter().find_map(|ending| {
        let base = name.strip_suffix(ending)?;
        Some((base, &name[base.len() + 1..]))
    })
}

/// Returns the finding about counters that are totals, or may be, and how they were treated. `what`
/// completes the sentence `these counters are …`.
fn counter_totals(severity: Severity, what: &str, names: &[String], remedy: &str) -> Finding {
    let message = format!("these counters are {what}: {}", listed(names));
    Finding::new(crate::code::COUNTED_WHOLE, message)
        .at(severity)
        .with("counters", names.len() as f64)
        .advise(Action::text(remedy))
}

/// Returns how many of a time unit are in one second.
fn per_second(unit: &str) -> Result<f64, String> {
    match unit {
        // Files of the first versions always use nanoseconds.
        "ns" | "" => Ok(1e9),
        "us" => Ok(1e6),
        "ms" => Ok(1e3),
        "s" => Ok(1.0),
        other => Err(format!(
            "`{}` is not a `time_unit`; expected ns, us, ms or s",
            crate::excerpt::excerpt(other)
        )),
    }
}

/// Returns true if a count is a multiple of the iterations, apart from the amount added by setup.
fn is_multiple(value: f64, iterations: f64) -> bool {
    let per_iteration = value / iterations;
    iterations >= TELLING_ITERATIONS
        && per_iteration.round() >= 1.0
        && value.fract() == 0.0
        && (per_iteration - per_iteration.round()).abs() <= PREPARATIONS
}

/// Returns true if the library or its memory manager computes the counter.
fn is_of_library(counter: &str) -> bool {
    is_bytes(counter)
        || matches!(counter, "items_per_second" | "bytes_per_second" | "allocs_per_iter")
}

/// Returns true for a count of bytes from a memory manager.
fn is_bytes(counter: &str) -> bool {
    matches!(counter, "max_bytes_used" | "total_allocated_bytes" | "net_heap_growth")
}

fn metric_of(counter: &str) -> Metric {
    let rate = |unit| Metric { better: Better::Higher, ..Metric::lower(counter, unit) };
    match counter {
        "items_per_second" => rate(Unit::PerSecond),
        "bytes_per_second" => rate(Unit::Other("B/s".to_owned())),
        // An author's counter must not be taken for a time.
        "wall" | "cpu" => Metric::lower(&format!("{counter} (counter)"), Unit::One),
        _ if is_bytes(counter) => Metric::lower(counter, Unit::Byte),
        _ => Metric::of_name(counter),
    }
}

/// Joins names for use in a sentence, naming only the first few.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|n| crate::excerpt::excerpt(n)).collect();
    list::counted(&shown, names.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_is_a_multiple_of_many_iterations_but_for_preparations() {
        assert!(is_multiple(1_624_110.0, 270_685.0));
        assert!(is_multiple(1_624_113.0, 270_685.0));
        assert!(!is_multiple(2.0, 270_685.0), "two calls in all");
        assert!(!is_multiple(6.0, 2.0), "chance, with so few iterations");
        assert!(!is_multiple(1_700_000.0, 270_685.0));
        assert!(!is_multiple(541_370.5, 270_685.25));
        assert!(!is_multiple(5.0, 0.0) && !is_multiple(5.0, f64::NAN));
    }
}
