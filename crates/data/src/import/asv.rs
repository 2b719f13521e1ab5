//! Reads results of airspeed velocity (asv): its files (`results/MACHINE/COMMIT-ENVIRONMENT.json`)
//! and the output of `asv run`.
//!
//! The repetitions of a timing are observations if they were kept (`--record-samples`); otherwise,
//! their median is a summary. All other kinds of benchmarks have one value. The name of a benchmark
//! begins with its kind. The figure after `±` is half the width of an interval and is not read. The
//! file contains the values of parameters but not their names, so parameters are numbered.

use super::json::{self, At, Number};
use super::number::Conversion;
use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part};
use crate::finding::shared::benchmark_error;
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use crate::read_error::quoted_start;
use crate::samples::{Metric, Outcome, Summary};
use crate::unit::Unit;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

const EXPECTED: &str = "asv's results: `{\"result_columns\": [\"result\", \"params\", …], \"results\": {\"a.time_b\": […]}, …}`";

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json() && has("\"result_columns\"") && has("\"commit_hash\"") && has("\"results\"")
}

pub(super) fn recognise_text(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| result(line).is_some())
}

/// A benchmark's entry in the list of benchmarks that a store keeps along with the results.
#[derive(Debug, Default, Deserialize)]
pub(super) struct BenchmarkEntry {
    #[serde(default)]
    param_names: Vec<String>,
    unit: Option<String>,
}

/// Information about a run besides its values.
#[derive(Debug, Default)]
pub(super) struct AsvRun {
    /// Start of the first benchmark, in milliseconds since 1970.
    pub(super) started: Option<i64>,
    /// The name of the asv environment in which the run was made.
    pub(super) environment: Option<String>,
}

#[derive(Deserialize)]
struct File {
    commit_hash: Option<String>,
    env_name: Option<String>,
    #[serde(default)]
    params: Map<String, Value>,
    result_columns: Vec<String>,
    results: BTreeMap<String, At<Vec<Value>>>,
}

/// Returns the metric of a benchmark, which depends on its kind.
fn metric(benchmark: &str) -> Metric {
    let own = benchmark.rsplit('.').next().unwrap_or(benchmark);
    match own.split('_').next().unwrap_or_default() {
        "mem" => Metric::lower("mem", Unit::Byte),
        "peakmem" => Metric::lower("peakmem", Unit::Byte),
        "track" => Metric::lower("track", Unit::One),
        _ => Metric::wall(),
    }
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    read_of_store(input, context, &HashMap::new()).map(|(part, _)| part)
}

/// Reads a run from a store, where `described` contains the descriptions of its benchmarks.
pub(super) fn read_of_store(
    input: Input,
    context: &Context<'_>,
    described: &HashMap<String, BenchmarkEntry>,
) -> Result<(Part, AsvRun), ImportError> {
    let file: File = json::read(input, EXPECTED, PhantomData)?;
    let mut recorder = Recorder::new(context, "asv");
    for (name, value) in &file.params {
        match name.as_str() {
            "machine" => recorder.fact("hostname", value.clone()),
            "cpu" => recorder.fact("cpu_model", value.clone()),
            "os" | "arch" => recorder.fact(name, value.clone()),
            _ => recorder.fact(&format!("asv.{name}"), value.clone()),
        }
    }
    if let Some(commit) = &file.commit_hash {
        recorder.fact("git_commit", commit.clone());
    }
    let mut about = AsvRun { environment: file.env_name, ..AsvRun::default() };
    let times = |name: &&String| metric(name).name == "wall";
    let (first, rest): (Vec<_>, Vec<_>) = file.results.iter().partition(|(name, _)| times(name));
    for (name, row) in first.into_iter().chain(rest) {
        let columns = &file.result_columns;
        let known = described.get(name);
        let taken =
            json::at_line(row.line, || take(&mut recorder, name, columns, &row.value, known));
        taken.map_err(|problem| recorder.at(row.line, format!("`{name}`: {problem}")))?;
        let began = column::<f64>(columns, &row.value, "started_at").ok().flatten();
        let began = began.filter(|began| began.is_finite()).map(|began| began as i64);
        about.started = about.started.into_iter().chain(began).min();
    }
    Ok((recorder.finish("results of asv without a value")?, about))
}

/// Deserializes the cell of a row in the column `name`. Returns `None` if the cell is missing or
/// null.
fn column<T: serde::de::DeserializeOwned>(
    columns: &[String],
    row: &[Value],
    name: &str,
) -> Result<Option<T>, String> {
    let place = columns.iter().position(|column| column == name);
    let Some(value) = place.and_then(|place| row.get(place)) else { return Ok(None) };
    let read = serde_json::from_value::<Option<T>>(value.clone());
    read.map_err(|problem| format!("`{name}`: {problem}; expected {EXPECTED}"))
}

fn take(
    recorder: &mut Recorder<'_>,
    name: &str,
    columns: &[String],
    row: &[Value],
    described: Option<&BenchmarkEntry>,
) -> Result<(), String> {
    let params: Vec<Vec<String>> = column(columns, row, "params")?.unwrap_or_default();
    let results: Option<Vec<Number>> = column(columns, row, "result")?;
    let samples: Vec<Option<Vec<Number>>> = column(columns, row, "samples")?.unwrap_or_default();
    let repeats: Vec<Option<u64>> = column(columns, row, "stats_repeat")?.unwrap_or_default();
    let Some(results) = results else {
        recorder.finding(benchmark_error(name, "failed"));
        return Ok(());
    };
    let mut metric = metric(name);
    let conversion = Conversion::from_symbol(
        described.and_then(|of| of.unit.as_deref()).filter(|_| metric.name == "track"),
    );
    if metric.name == "track" {
        metric.unit = conversion.unit.clone();
    }
    for (index, result) in results.iter().enumerate() {
        // The last parameter varies fastest.
        let mut rest = index;
        let mut values: Vec<&str> = Vec::with_capacity(params.len());
        for list in params.iter().rev().filter(|list| !list.is_empty()) {
            values.push(list[rest % list.len()].trim_matches('\''));
            rest /= list.len();
        }
        values.reverse();
        let full = match values.is_empty() {
            true => name.to_owned(),
            false => format!("{name}({})", values.join(", ")),
        };
        let Some(value) = result.finite().map(|value| conversion.to_base(value)) else {
            recorder.finding(benchmark_error(&full, "failed, or was skipped"));
            continue;
        };
        let numbered = values.iter().enumerate();
        let parameters: Vec<_> = numbered
            .map(|(place, value)| (name_of(described, place), (*value).to_owned()))
            .collect();
        let benchmark = recorder.benchmark(&full, Some(name), &parameters);
        let known = recorder.metric(&metric)?;
        let taken = samples.get(index).and_then(Option::as_ref).filter(|taken| !taken.is_empty());
        if let Some(taken) = taken {
            for sample in taken {
                recorder.observe(benchmark, &[], Outcome::Ok, &[(known, sample.0)])?;
            }
        } else if let Some(count) = repeats.get(index).copied().flatten() {
            recorder.summary(Summary {
                subject: benchmark,
                metric: metric.name.clone(),
                median: Some(value),
                count: Some(count),
                ..Summary::default()
            });
        } else {
            recorder.observe(benchmark, &[], Outcome::Ok, &[(known, value)])?;
        }
    }
    Ok(())
}

/// Returns the name of a parameter according to the list of benchmarks, or its number if the name
/// is not known.
fn name_of(described: Option<&BenchmarkEntry>, place: usize) -> String {
    let known = described.and_then(|of| of.param_names.get(place)).cloned();
    known.filter(|name| !name.is_empty()).unwrap_or_else(|| (place + 1).to_string())
}

/// Parses `[ 35.00%] ··· a.TimeSuite.time_keys    11.1±0.01μs` into the benchmark and its result.
fn result(line: &str) -> Option<(&str, &str)> {
    let (share, rest) = line.strip_prefix('[')?.split_once("%] ··· ")?;
    plain(share.trim())?;
    let (name, result) = rest.trim().split_once(' ')?;
    let kinds = ["time_", "timeraw_", "mem_", "peakmem_", "track_"];
    let own = name.rsplit('.').next()?;
    let is_known = kinds.iter().any(|kind| own.starts_with(kind)) && !name.starts_with("Running");
    is_known.then_some((name, result.trim()))
}

pub(super) fn read_text(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "asv");
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        let Some((name, text)) = result(line.text) else { continue };
        if ["failed", "n/a", "skipped", "timed out"].contains(&text) {
            recorder.finding(benchmark_error(name, text));
            continue;
        }
        if text == "ok" {
            let problem = "has a table of parameters, which is not supported; the results in JSON have all values";
            recorder.finding(benchmark_error(name, problem));
            continue;
        }
        let metric = metric(name);
        let value = figure(text, &metric.unit).filter(|_| line.ended);
        let Some(value) = value else {
            let problem = format!(
                "`{}` is not a result of `{}`; expected something like `11.1±0.01μs`",
                quoted_start(text),
                quoted_start(name)
            );
            return Err(recorder.at(line.number, problem));
        };
        let taken = summarise(&mut recorder, name, metric, value);
        taken.map_err(|problem| recorder.at(line.number, problem))?;
    }
    recorder.finish("what `asv run` prints, without a result")
}

/// Records a printed value as a summary, because it is a rounded median. If several environments
/// were measured, a name occurs more than once, and a number is appended to it.
fn summarise(
    recorder: &mut Recorder<'_>,
    plain: &str,
    metric: Metric,
    value: f64,
) -> Result<(), String> {
    let mut name = plain.to_owned();
    let mut times = 1;
    while recorder.find(&name).is_some() {
        times += 1;
        name = format!("{plain} #{times}");
    }
    let subject = recorder.benchmark(&name, None, &[]);
    recorder.metric(&metric)?;
    let (metric, median) = (metric.name, Some(value));
    recorder.summary(Summary { subject, metric, median, ..Summary::default() });
    Ok(())
}

/// Parses `11.1±0.01μs`, `24.8M` or `42` into a number in the base unit.
fn figure(text: &str, unit: &Unit) -> Option<f64> {
    let number = text.split('±').next()?;
    let digits = |text: &str| text.trim_end_matches(char::is_alphabetic).len();
    let behind = &text[digits(text)..];
    let number = number[..digits(number)].trim();
    let symbol = match (unit, behind) {
        (Unit::Second, "μs" | "µs") => "us",
        (Unit::Second, "m") => "min",
        (Unit::Second, other) => other,
        (Unit::Byte, "") => "B",
        (Unit::Byte, "k") => "kB",
        (Unit::Byte, "M") => "MB",
        (Unit::Byte, "G") => "GB",
        _ if behind.is_empty() => return plain(number),
        _ => return None,
    };
    let conversion = Conversion::from_symbol(Some(symbol));
    let value = conversion.read_plain(number)?;
    (conversion.unit == *unit && value >= 0.0).then_some(value)
}
