//! JMH's JSON: all modes, forks and iterations as levels, and the metrics of profilers.
//!
//! Modes `avgt`, `ss` and `sample` give `wall`, and `thrpt` gives `rate`. In mode `sample` the file
//! has a histogram of single times for each iteration. Each of these times is an observation, in
//! order of size. A profiler's metric is read only if it has a value for every iteration. JMH
//! leaves some out (`gc.time` of iterations without a collection), and then it is unknown to which
//! iterations the others belong. The layouts of versions 1.10 to 1.37 are supported.

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::declared_unit::DeclaredUnit;
use crate::input::Input;
use crate::samples::{Better, Metric, Outcome, Summary};
use crate::unit::{Unit, rate_of_symbol, unit_of_symbol};
use json::{At, Number, text_of};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

const EXPECTED: &str =
    "JMH's results: `[{\"benchmark\": …, \"mode\": …, \"primaryMetric\": {…}}, …]`";

/// Maximum number of single times in the histograms of a file, because a few bytes of a histogram
/// can stand for any number of times.
const MAX_TIMES: u64 = 10_000_000;

/// Settings recorded from the first result.
const SETTINGS: [&str; 12] = [
    "jdkVersion",
    "vmName",
    "vmVersion",
    "jvmArgs",
    "forks",
    "threads",
    "warmupIterations",
    "warmupTime",
    "warmupBatchSize",
    "measurementIterations",
    "measurementTime",
    "measurementBatchSize",
];

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json()
        && has("\"benchmark\"")
        && (has("\"jmhVersion\"") || (has("\"primaryMetric\"") && has("\"mode\"")))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcomes {
    benchmark: String,
    mode: String,
    #[serde(default)]
    params: Option<Map<String, Value>>,
    primary_metric: Scores,
    #[serde(default)]
    secondary_metrics: Map<String, Value>,
    /// Versions and settings.
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// One metric. Numbers that are not finite are strings here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scores {
    score: Option<Value>,
    score_unit: String,
    /// Iterations by fork.
    #[serde(default)]
    raw_data: Option<Vec<Vec<At<Value>>>>,
    /// Histograms by fork and iteration.
    #[serde(default)]
    raw_data_histogram: Option<Vec<Vec<Histogram>>>,
}

/// Times of one iteration with their counts.
type Histogram = Vec<(f64, u64)>;

/// The state of the reader.
struct Reader<'c> {
    recorder: Recorder<'c>,
    modes: HashMap<String, String>,
    /// Number of single times in histograms.
    times: u64,
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let recorder = Recorder::new(context, "JMH");
    let mut reader = Reader { recorder, modes: HashMap::new(), times: 0 };
    let take = json::each(|result: Outcomes| reader.take(&result));
    json::read(input, EXPECTED, take)?;
    reader.recorder.finish("results without a score")
}

impl Reader<'_> {
    fn take(&mut self, result: &Outcomes) -> Result<(), String> {
        if self.modes.is_empty() {
            self.settings(&result.others);
        }
        let subject = self.subject(result);
        let place = |problem: String| format!("`{}`: {problem}", result.benchmark);
        let primary = &result.primary_metric;
        let (mut metric, factor) = unit_of(&primary.score_unit);
        metric.name = if metric.unit == Unit::PerSecond { "rate" } else { "wall" }.to_owned();
        let primary_metric = self.recorder.metric(&metric).map_err(place)?;
        if let Some(histograms) = &primary.raw_data_histogram {
            let times = histograms.iter().flatten().flatten();
            let count = times.fold(0u64, |sum, &(_, count)| sum.saturating_add(count));
            self.times = self.times.saturating_add(count);
            if self.times > MAX_TIMES {
                return Err(place(format!(
                    "with its single times, there are {} in this file, more than {MAX_TIMES}; measure in mode avgt, or write several files",
                    self.times
                )));
            }
            let shape: Vec<usize> = histograms.iter().map(Vec::len).collect();
            let secondary = self.secondary(result, &shape).map_err(place)?;
            for (fork, iterations) in (0..).zip(histograms) {
                for (iteration, times) in (0..).zip(iterations) {
                    let singles = times.iter().flat_map(|&(time, count)| {
                        std::iter::repeat_n(factor.to_base(time), count as usize)
                    });
                    for (single, time) in (0..).zip(singles) {
                        let first = at(&secondary, fork, iteration).filter(|_| single == 0u32);
                        let values: Vec<_> =
                            [(primary_metric, time)].into_iter().chain(first).collect();
                        let level = [fork, iteration, single];
                        self.recorder.observe(subject, &level, Outcome::Ok, &values)?;
                    }
                }
            }
            return Ok(());
        }
        let Some(forks) = primary.raw_data.as_ref().filter(|f| f.iter().any(|i| !i.is_empty()))
        else {
            let mean = primary.score.as_ref().and_then(Value::as_f64);
            self.recorder.summary(Summary {
                subject,
                metric: metric.name,
                mean: mean.map(|score| factor.to_base(score)),
                ..Summary::default()
            });
            return Ok(());
        };
        let shape: Vec<usize> = forks.iter().map(Vec::len).collect();
        let secondary = self.secondary(result, &shape).map_err(place)?;
        for (fork, iterations) in (0..).zip(forks) {
            for (iteration, score) in (0..).zip(iterations) {
                let score = factor.to_base(number(score));
                let others = at(&secondary, fork, iteration);
                let values: Vec<_> = [(primary_metric, score)].into_iter().chain(others).collect();
                self.recorder.observe(subject, &[fork, iteration], Outcome::Ok, &values)?;
            }
        }
        Ok(())
    }

    /// Returns the subject, which is named after the method and its parameters. The mode is
    /// appended if the method was measured before in a different mode.
    fn subject(&mut self, result: &Outcomes) -> usize {
        let mut parameters: Vec<(String, String)> =
            result.params.iter().flatten().map(|(k, v)| (k.clone(), text_of(v))).collect();
        if let Some(threads) = result.others.get("threads").filter(|t| t.as_u64() != Some(1)) {
            parameters.push(("threads".to_owned(), text_of(threads)));
        }
        let mut name = result.benchmark.clone();
        for (parameter, value) in &parameters {
            name += &format!(" {parameter}={value}");
        }
        let mode = self.modes.entry(name.clone()).or_insert_with(|| result.mode.clone());
        if *mode != result.mode {
            name += &format!(" ({})", result.mode);
        }
        self.recorder.benchmark(&name, Some(&result.benchmark), &parameters)
    }

    /// Returns the metrics of profilers that have a value for every iteration.
    fn secondary(&mut self, result: &Outcomes, shape: &[usize]) -> Result<Vec<Secondary>, String> {
        let mut secondary = Vec::new();
        for (name, scores) in &result.secondary_metrics {
            // A profiler may add entries of any form.
            let Ok(scores) = Scores::deserialize(scores) else { continue };
            let Some(values) = scores.raw_data else { continue };
            if values.iter().map(Vec::len).ne(shape.iter().copied()) {
                continue;
            }
            let (mut metric, factor) = unit_of(&scores.score_unit);
            // Before 1.36 the names of profilers' metrics began with a dot.
            name.trim_start_matches('·').clone_into(&mut metric.name);
            if ["wall", "rate"].contains(&metric.name.as_str()) {
                metric.name += " (secondary)";
            }
            let metric = self.recorder.metric(&metric)?;
            secondary.push(Secondary { metric, factor, values });
        }
        Ok(secondary)
    }

    fn settings(&mut self, others: &Map<String, Value>) {
        if let Some(version) = others.get("jmhVersion") {
            self.recorder.tool(&format!("JMH {}", text_of(version)));
        }
        for name in SETTINGS {
            if let Some(value) = others.get(name) {
                self.recorder.fact(&format!("jmh.{name}"), value.clone());
            }
        }
    }
}

/// Returns a score. If it is not finite, it is a string in the file, and becomes a missing number.
fn number(score: &At<Value>) -> f64 {
    score.value.as_f64().unwrap_or_else(|| json::at_line(score.line, Number::missing).0)
}

/// A secondary metric, with its values by fork and iteration.
struct Secondary {
    metric: usize,
    factor: DeclaredUnit,
    values: Vec<Vec<At<Value>>>,
}

fn at(secondary: &[Secondary], fork: u32, iteration: u32) -> impl Iterator<Item = (usize, f64)> {
    secondary.iter().map(move |one| {
        let value = &one.values[fork as usize][iteration as usize];
        (one.metric, one.factor.to_base(number(value)))
    })
}

/// Interprets a unit such as `ns/op`, `ops/ms`, `B/op` or `counts`. Returns a metric without a
/// name, and the conversion to its base unit.
fn unit_of(symbol: &str) -> (Metric, DeclaredUnit) {
    let of = |unit: Unit, factor, better| {
        let metric = Metric { better, ..Metric::lower("", unit.clone()) };
        (metric, DeclaredUnit { unit, factor })
    };
    if let Some(factor) = rate_of_symbol(symbol) {
        return of(Unit::PerSecond, factor, Better::Higher);
    }
    let amount = symbol.strip_suffix("/op").unwrap_or(symbol);
    match unit_of_symbol(amount) {
        Some((factor, unit)) => of(unit, factor, Better::Lower),
        None if matches!(amount, "counts" | "#" | "" | "---") => of(Unit::One, 1.0, Better::Lower),
        None => {
            let unit = Unit::from(symbol.to_owned());
            (Metric::of_unit("", unit.clone()), DeclaredUnit { unit, factor: 1.0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn understood(symbol: &str, value: f64) -> (Unit, Better, f64) {
        let (metric, factor) = unit_of(symbol);
        (metric.unit, metric.better, factor.to_base(value))
    }

    #[test]
    fn units_of_times_rates_and_profilers_come_in_base_units() {
        assert_eq!(understood("ns/op", 1500.0), (Unit::Second, Better::Lower, 1.5e-6));
        assert_eq!(understood("s/op", 2.0), (Unit::Second, Better::Lower, 2.0));
        assert_eq!(understood("min/op", 2.0), (Unit::Second, Better::Lower, 120.0));
        assert_eq!(understood("ops/ns", 0.5), (Unit::PerSecond, Better::Higher, 5e8));
        assert_eq!(understood("ops/s", 7.0), (Unit::PerSecond, Better::Higher, 7.0));
        assert_eq!(understood("ops/min", 120.0), (Unit::PerSecond, Better::Higher, 2.0));
        assert_eq!(understood("B/op", 96.5), (Unit::Byte, Better::Lower, 96.5));
        assert_eq!(understood("counts", 3.0), (Unit::One, Better::Lower, 3.0));
        assert_eq!(understood("ms", 35.0), (Unit::Second, Better::Lower, 0.035));
        assert_eq!(understood("MB/sec", 3.0), (Unit::Other("MB/sec".into()), Better::Higher, 3.0));
    }
}
