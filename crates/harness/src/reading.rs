//! Results of one run of a program for one benchmark, with one value per metric.
//!
//! If a harness gives several values within one run (samples of criterion, rounds of
//! pytest-benchmark), the run's value is their mean, weighted by iterations if these are known. The
//! iterations of one process are not independent of each other, so a run counts as one observation.
//! If a harness gives only a summary, its mean is used, or its median if there is no mean.

use assay_data::code::{BENCHMARK_FAILED, Code, WARM_UP};
use assay_data::import::{self, ImportOptions};
use assay_data::samples::{ITERATIONS, PER_ITERATION};
use assay_data::{Metric, ParameterValue, Samples};
use std::collections::{BTreeMap, BTreeSet};

use crate::error::{HarnessError, tail};
use crate::reply::{Answer, Reply};

/// Result of one run of one benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Full name of the benchmark.
    pub benchmark: String,
    /// Name of the benchmark without its parameters, if the harness states it.
    pub label: Option<String>,
    /// Names and values of the benchmark's parameters.
    pub parameters: Vec<(String, ParameterValue)>,
    /// Total number of iterations in the run, if known.
    pub iterations: Option<f64>,
    /// Metrics with their values per iteration. Values are finite and in base units.
    pub values: Vec<(Metric, f64)>,
    /// Error message of the benchmark; `None` if it did not fail.
    pub error: Option<String>,
    /// True if the iterations were still getting faster when they were measured.
    pub is_cold: bool,
    /// Time in seconds by which this run is longer than later ones, for example because of its
    /// warm-up.
    pub once_seconds: f64,
    /// CPU time divided by elapsed time during the measurement; `None` if the harness does not
    /// measure both.
    pub busy_cpus: Option<f64>,
}

/// Metrics of Go that are counts, and are therefore equal if the same work is done.
const COUNTS_OF_GO: [&str; 2] = ["B/op", "allocs/op"];

/// Returns true if the metric is a count per iteration, which is expected to be the same in every
/// run.
fn is_count(metric: &str) -> bool {
    metric.ends_with(PER_ITERATION) || COUNTS_OF_GO.contains(&metric)
}

impl Reading {
    /// Returns the names of the counters whose values are given per iteration, without the suffix
    /// that marks them.
    pub fn divided(&self) -> impl Iterator<Item = &str> {
        self.values.iter().filter_map(|(metric, _)| metric.name.strip_suffix(PER_ITERATION))
    }

    /// Returns true if the benchmark was measured without an error.
    pub fn has_values(&self) -> bool {
        self.error.is_none() && !self.values.is_empty()
    }

    /// Divides the counters named in `totals` by the number of iterations, unless this was already
    /// done. A single run cannot always show that a counter is a total, since zero calls in a
    /// million iterations are also zero per iteration. Other runs of the suite can.
    pub fn divide(&mut self, totals: &BTreeSet<String>) {
        let Some(iterations) = self.iterations else { return };
        let own: Vec<String> = self.divided().map(str::to_owned).collect();
        // If there is a value per iteration, the total is redundant.
        self.values.retain(|(metric, _)| !own.contains(&metric.name));
        for (metric, value) in &mut self.values {
            if totals.contains(&metric.name) {
                metric.name += PER_ITERATION;
                metric.exact = true;
                *value /= iterations;
            }
        }
    }
}

/// Parses an answer with the importers.
///
/// # Errors
/// [`HarnessError::Garbage`] if the answer cannot be parsed, or [`HarnessError::NoAnswer`] if it is
/// missing.
pub(crate) fn imported(reply: &Reply, harness: &'static str) -> Result<Samples, HarnessError> {
    imported_or_said(reply, harness, || tail(&reply.errors, &reply.output))
}

/// Parses an answer with the importers. If that fails, `said` extracts the program's message from
/// its output.
pub(crate) fn imported_or_said(
    reply: &Reply,
    harness: &'static str,
    said: impl FnOnce() -> Option<String>,
) -> Result<Samples, HarnessError> {
    let garbage = |error: import::ImportError| HarnessError::Garbage {
        harness,
        why: error.to_string(),
        said: said(),
    };
    let options = ImportOptions::default();
    match &reply.answer {
        Answer::Directory(path) => import::load(&[path], &options).map_err(garbage),
        Answer::Output | Answer::File(_) => {
            import::load_bytes(reply.bytes()?, "its answer", &options).map_err(garbage)
        }
    }
}

/// Returns the readings of all benchmarks in the samples of one run. Takes O(observations ×
/// metrics) time.
pub(crate) fn readings(samples: &Samples) -> Vec<Reading> {
    let iterations = samples.metric_index(ITERATIONS);
    let reading = |(subject, own): (usize, &assay_data::Subject)| {
        let counts: BTreeMap<usize, f64> = iterations
            .map(|metric| samples.series(subject, metric))
            .map(|series| series.observations.into_iter().zip(series.values).collect())
            .unwrap_or_default();
        let mut values = Vec::new();
        for (metric, known) in samples.metrics.iter().enumerate() {
            if Some(metric) == iterations {
                continue;
            }
            let series = samples.series(subject, metric);
            let weights: Option<Vec<f64>> =
                series.observations.iter().map(|index| counts.get(index).copied()).collect();
            let weights = weights.unwrap_or_else(|| vec![1.0; series.values.len()]);
            let whole: f64 = weights.iter().sum();
            if whole > 0.0 {
                let sum: f64 = series.values.iter().zip(&weights).map(|(v, w)| v * w).sum();
                values.push((known.clone(), sum / whole));
            }
        }
        for summary in samples.summaries.iter().filter(|s| s.subject == subject) {
            let known = samples.metric_index(&summary.metric).map(|m| samples.metrics[m].clone());
            if let (Some(known), Some(value)) = (known, summary.location())
                && values.iter().all(|(metric, _)| metric.name != known.name)
            {
                values.push((known, value));
            }
        }
        values.retain(|(_, value)| value.is_finite());
        // A metric that is marked as exact but varies is compared like any other.
        values.iter_mut().for_each(|(metric, _)| metric.exact |= is_count(&metric.name));
        let all: f64 = counts.values().sum();
        Reading {
            benchmark: own.name.clone(),
            label: samples.row_of(own).label.clone(),
            parameters: own.parameters.clone(),
            iterations: (all > 0.0).then_some(all),
            error: message_of(samples, BENCHMARK_FAILED, &own.name),
            is_cold: message_of(samples, WARM_UP, &own.name).is_some(),
            once_seconds: 0.0,
            busy_cpus: None,
            values,
        }
    };
    let mut found: Vec<Reading> = samples.subjects.iter().enumerate().map(reading).collect();
    // A benchmark that only reported an error is not a subject of the samples.
    for finding in samples.findings.iter().filter(|f| f.is(BENCHMARK_FAILED)) {
        let Some(name) = &finding.subject else { continue };
        if found.iter().all(|reading| reading.benchmark != *name) {
            found.push(Reading {
                benchmark: name.clone(),
                error: Some(finding.message.clone()),
                ..Reading::default()
            });
        }
    }
    found
}

/// Sets the number of iterations of each reading, for harnesses whose result data does not contain
/// it. `counts` has one number per reading, in order. If the lengths differ, it is unknown which
/// number belongs to which reading, and none is set.
pub(crate) fn add_iterations(found: &mut [Reading], counts: impl Iterator<Item = u64>) {
    let counts: Vec<u64> = counts.collect();
    if counts.len() == found.len() {
        for (reading, count) in found.iter_mut().zip(counts) {
            reading.iterations = Some(count as f64);
        }
    }
}

/// Returns the message of the finding with this code about the benchmark `name`, if any.
fn message_of(samples: &Samples, code: &Code, name: &str) -> Option<String> {
    let is = |f: &&assay_data::Finding| f.is(code) && f.subject.as_deref() == Some(name);
    samples.findings.iter().find(is).map(|finding| finding.message.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::Unit;

    fn reading(values: &[(&str, f64)]) -> Reading {
        let metric = |name| Metric { exact: is_count(name), ..Metric::lower(name, Unit::One) };
        let values = values.iter().map(|(name, value)| (metric(name), *value)).collect();
        Reading { iterations: Some(100.0), values, ..Reading::default() }
    }

    #[test]
    fn totals_that_one_run_tells_are_divided_in_all() {
        let told = reading(&[("reallocs/iteration", 2.0), ("reallocs", 200.0), ("size", 7.0)]);
        let totals: BTreeSet<String> = told.divided().map(str::to_owned).collect();
        let mut silent = reading(&[("reallocs", 0.0), ("size", 7.0)]);
        silent.divide(&totals);
        assert_eq!(silent, reading(&[("reallocs/iteration", 0.0), ("size", 7.0)]));
        let mut both = told.clone();
        both.divide(&totals);
        assert_eq!(both, reading(&[("reallocs/iteration", 2.0), ("size", 7.0)]));
    }
}
