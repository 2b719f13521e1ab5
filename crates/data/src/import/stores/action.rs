//! The data of github-action-benchmark: `data.js`, or the JSON file of `external-data-json-path`.
//! Every run of a suite has one value per benchmark, with the commit and the time.
//!
//! The output of benchmark tools consists of averages, which are stored as summaries and never as
//! samples. Their stated spread is stored unchanged, because its meaning differs between tools. A
//! user's custom value (`custom…IsBetter`) is an observation.

use crate::import::recorder::Recorder;
use crate::import::single_values::{UnitMetric, rated};
use crate::import::{Context, Head, ImportError, ImportOptions, Part, json};
use crate::input::Input;
use crate::number::Marks;
use crate::read_error::ReadError;
use crate::samples::{Better, Outcome, Summary};
use json::Number;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::marker::PhantomData;
use std::path::Path;

/// Name of the tool.
pub(super) const TOOL: &str = "github-action-benchmark";
const EXPECTED: &str = "github-action-benchmark's data: `{\"entries\": {\"SUITE\": [{\"commit\": {\"id\": …}, \"benches\": […]}, …]}}`";
/// The variable to which `data.js` assigns.
const NAME: &str = "window.BENCHMARK_DATA";
/// The tool's default name of a suite.
const UNNAMED: &str = "Benchmark";
/// Maximum size of a data file, in bytes.
const MOST: u64 = 1 << 28;

#[derive(Deserialize)]
struct Data {
    entries: BTreeMap<String, Vec<Entry>>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    commit: Option<Commit>,
    date: Option<Number>,
    tool: Option<String>,
    benches: Vec<Bench>,
}

#[derive(Debug, Deserialize)]
struct Commit {
    id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Bench {
    name: String,
    value: Number,
    unit: String,
    range: Option<Value>,
}

/// A run of a suite.
#[derive(Debug)]
pub(super) struct Run {
    suite: String,
    entry: Entry,
}

/// Returns the runs of a data file, or `None` if the file does not begin like one.
pub(super) fn runs_of(path: &Path) -> Result<Option<Vec<Run>>, ImportError> {
    if !path.is_file() {
        return Ok(None);
    }
    let input = Input::open(path)?;
    let head = String::from_utf8_lossy(&input.head).into_owned();
    if !is_data(&head) {
        return Ok(None);
    }
    let file = input.file.clone();
    let mut text = String::new();
    let read = input.into_reader().take(MOST).read_to_string(&mut text);
    read.map_err(|source| ReadError::Io { file: file.clone(), source })?;
    let data = parsed(&text, &file)?;
    let runs = data.entries.into_iter().flat_map(|(suite, entries)| {
        entries.into_iter().map(move |entry| Run { suite: suite.clone(), entry })
    });
    Ok(Some(runs.collect()))
}

fn is_data(head: &str) -> bool {
    let begins = head.trim_start_matches('\u{feff}').trim_start();
    let has = |key: &str| head.contains(key);
    let is_json = begins.starts_with('{') && has("\"lastUpdate\"") && has("\"entries\"");
    begins.starts_with(NAME) || is_json
}

/// Parses the value assigned by the script, or the JSON itself.
fn parsed(text: &str, file: &str) -> Result<Data, ImportError> {
    let begin = text.find('{').unwrap_or(0);
    let lines_before = text[..begin].matches('\n').count();
    let value = "\n".repeat(lines_before) + text[begin..].trim_end().trim_end_matches(';');
    let input = Input::of(Cursor::new(value.into_bytes()), file)?;
    json::read(input, EXPECTED, PhantomData)
}

pub(in crate::import) fn recognise(head: &Head<'_>) -> bool {
    is_data(head.text)
}

/// Reads a published history as samples. Every benchmark has one observation per run, in order.
pub(in crate::import) fn read_history(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut text = String::new();
    let read = input.into_reader().take(MOST).read_to_string(&mut text);
    read.map_err(|source| ReadError::Io { file: context.file.to_owned(), source })?;
    let data = parsed(&text, context.file)?;
    let mut recorder = Recorder::new(context, "github-action-benchmark");
    for (suite, entries) in &data.entries {
        for entry in entries {
            let tool = entry.tool.as_deref().unwrap_or_default();
            for bench in &entry.benches {
                let name = name_of(suite, bench);
                let metric = metric_of(bench, tool);
                let known = recorder.metric(&metric.metric);
                let taken = known.and_then(|known| {
                    let subject = recorder.benchmark(&name, None, &[]);
                    let value = metric.conversion.to_base(bench.value.0);
                    recorder.observe(subject, &[], Outcome::Ok, &[(known, value)])
                });
                taken.map_err(|problem| recorder.whole_file(format!("`{name}`: {problem}")))?;
            }
        }
    }
    recorder.finish("a history without values")
}

fn name_of(suite: &str, bench: &Bench) -> String {
    match suite {
        UNNAMED => bench.name.clone(),
        suite => format!("{suite}/{}", bench.name),
    }
}

/// Returns the metric of a value. The name of the tool may imply its direction.
fn metric_of(bench: &Bench, tool: &str) -> UnitMetric {
    let UnitMetric { metric, conversion } = rated(&bench.unit);
    let better = match tool {
        "customSmallerIsBetter" => Some(Better::Lower),
        "customBiggerIsBetter" | "benchmarkjs" | "pytest" => Some(Better::Higher),
        _ => None,
    };
    UnitMetric { metric: metric.directed(better), conversion }
}

/// A run that was read: where it is stored, its values, and its time in milliseconds since 1970.
pub(super) type ReadRun = (String, Part, Option<i64>);

pub(super) fn read(
    path: &Path,
    run: &Run,
    options: &ImportOptions,
) -> Result<ReadRun, ImportError> {
    let Run { suite, entry } = run;
    let file = path.display().to_string();
    let id = entry.commit.as_ref().and_then(|commit| commit.id.as_deref());
    let source = format!("{file}, {suite} of {}", id.unwrap_or("no commit"));
    let marks = &Marks::default();
    let context = Context { options, label: TOOL, file: &source, tests: None, marks };
    let mut recorder = Recorder::new(&context, TOOL);
    if let Some(id) = id {
        recorder.fact("git_commit", id);
    }
    let tool = entry.tool.as_deref().unwrap_or_default();
    recorder.fact("github-action-benchmark.tool", tool);
    let started = entry.date.and_then(Number::finite);
    if let Some(date) = started {
        // The date distinguishes two runs of the same commit that have the same results.
        recorder.fact("github-action-benchmark.date", date);
    }
    let mut ranges = Map::new();
    for bench in &entry.benches {
        let name = name_of(suite, bench);
        let taken = take(&mut recorder, &name, bench, tool);
        taken.map_err(|problem| recorder.whole_file(format!("`{name}`: {problem}")))?;
        if let Some(range) = &bench.range {
            ranges.insert(name, range.clone());
        }
    }
    if !ranges.is_empty() {
        recorder.fact("github-action-benchmark.ranges", ranges);
    }
    let part = recorder.finish("a run without values")?;
    Ok((source, part, started.map(|date| date as i64)))
}

fn take(recorder: &mut Recorder<'_>, name: &str, bench: &Bench, tool: &str) -> Result<(), String> {
    let UnitMetric { metric, conversion } = metric_of(bench, tool);
    let known = recorder.metric(&metric)?;
    let subject = recorder.benchmark(name, None, &[]);
    let value = conversion.to_base(bench.value.0);
    if tool.starts_with("custom") {
        return recorder.observe(subject, &[], Outcome::Ok, &[(known, value)]);
    }
    recorder.summary(Summary {
        subject,
        metric: metric.name,
        mean: Some(value),
        ..Summary::default()
    });
    Ok(())
}
