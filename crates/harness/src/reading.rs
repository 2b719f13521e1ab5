//! What one run of a program found of one benchmark: one value for every metric.
//!
//! Where a harness gives several values within one run (samples of criterion, rounds of pytest-benchmark) their mean is the run's
//! value, weighted by iterations where these are known: the iterations of one process are not independent of each other, and
//! the mean of all of them is what the process took. Of a summary its mean is taken, or its median where there is no mean.

use assay_data::finding::shared::BENCHMARK_ERROR;
use assay_data::import::{self, ImportOptions};
use assay_data::samples::{ITERATIONS, PER_ITERATION};
use assay_data::{Metric, ParameterValue, Samples};
use std::collections::{BTreeMap, BTreeSet};

use crate::driver::{Answer, Reply};
use crate::error::{HarnessError, tail};

/// What one run found of one benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Its full name.
    pub benchmark: String,
    /// Its name without parameters, where the harness says.
    pub label: Option<String>,
    /// Its parameters.
    pub parameters: Vec<(String, ParameterValue)>,
    /// How often it repeated its work, where the harness says: in all, over the run.
    pub iterations: Option<f64>,
    /// Its metrics with their values, finite, in base units; per iteration.
    pub values: Vec<(Metric, f64)>,
    /// What the benchmark said when it gave up.
    pub error: Option<String>,
}

/// Counts of Go that the same work repeats.
const COUNTS_OF_GO: [&str; 2] = ["B/op", "allocs/op"];

/// Whether a metric counts what one iteration does, which it does the same way every time.
fn is_count(metric: &str) -> bool {
    metric.ends_with(PER_ITERATION) || COUNTS_OF_GO.contains(&metric)
}

impl Reading {
    /// The counters that this reading gives per iteration, by the names that the benchmark gives them.
    pub fn divided(&self) -> impl Iterator<Item = &str> {
        self.values.iter().filter_map(|(metric, _)| metric.name.strip_suffix(PER_ITERATION))
    }

    /// Divides the counters of these names by the iterations, where that was not done: a single run can't always say that a
    /// counter is a total (no call in a million iterations is none in each), other runs of the same suite can.
    pub fn divide(&mut self, totals: &BTreeSet<String>) {
        let Some(iterations) = self.iterations else { return };
        let own: Vec<String> = self.divided().map(str::to_owned).collect();
        // Beside its quotient the total says nothing.
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

/// Reads an answer by the importers.
///
/// # Errors
/// [`HarnessError::Garbage`] with what the importer says; [`HarnessError::NoAnswer`].
pub(crate) fn imported(reply: &Reply, harness: &'static str) -> Result<Samples, HarnessError> {
    imported_or_said(reply, harness, || tail(&reply.errors, &reply.output))
}

/// The same for harnesses of which it is known where in their output the words stand that say what went wrong.
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

/// The readings of all benchmarks in samples of one run. O(observations × metrics).
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
        // Where they vary after all, they are compared as any other values are.
        values.iter_mut().for_each(|(metric, _)| metric.exact |= is_count(&metric.name));
        let all: f64 = counts.values().sum();
        Reading {
            benchmark: own.name.clone(),
            label: samples.row_of(own).label.clone(),
            parameters: own.parameters.clone(),
            iterations: (all > 0.0).then_some(all),
            error: error_of(samples, &own.name),
            values,
        }
    };
    let mut found: Vec<Reading> = samples.subjects.iter().enumerate().map(reading).collect();
    // One that gave nothing but its error is no subject.
    for finding in samples.findings.iter().filter(|f| f.code == BENCHMARK_ERROR) {
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

/// Gives readings the iterations that only the text of an answer has: one number for each benchmark, in the order of the readings.
/// Where there are more or fewer of them nobody knows which is whose, and none is given.
pub(crate) fn add_iterations(found: &mut [Reading], counts: impl Iterator<Item = u64>) {
    let counts: Vec<u64> = counts.collect();
    if counts.len() == found.len() {
        for (reading, count) in found.iter_mut().zip(counts) {
            reading.iterations = Some(count as f64);
        }
    }
}

fn error_of(samples: &Samples, name: &str) -> Option<String> {
    let is =
        |f: &&assay_data::Finding| f.code == BENCHMARK_ERROR && f.subject.as_deref() == Some(name);
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
