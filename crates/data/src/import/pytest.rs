//! pytest-benchmark's JSON. If the file contains the rounds (`--benchmark-json`,
//! `--benchmark-save-data`), each is an observation; otherwise (`--benchmark-autosave` alone) the
//! statistics are read as a summary.
//!
//! The value of a round is its mean time per call. All rounds ran in one process. The layouts of
//! versions 3 to 5 are supported.

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::input::Input;
use crate::samples::{Better, ITERATIONS, Metric, Outcome, Summary};
use crate::unit::Unit;
use json::{Number, text_of};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::marker::PhantomData;

const EXPECTED: &str =
    "pytest-benchmark's results: `{\"machine_info\": {…}, \"benchmarks\": [{\"stats\": {…}}, …]}`";

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json()
        && ((has("\"machine_info\"") && (has("\"commit_info\"") || has("\"benchmarks\"")))
            || (has("\"fullname\"") && has("\"stats\"") && has("\"rounds\"")))
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    machine_info: Map<String, Value>,
    #[serde(default)]
    commit_info: Option<Map<String, Value>>,
    benchmarks: Vec<Benchmark>,
    datetime: Option<String>,
    version: Option<String>,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    fullname: Option<String>,
    params: Option<Map<String, Value>>,
    param: Option<Value>,
    #[serde(default)]
    extra_info: Option<Map<String, Value>>,
    #[serde(default)]
    options: Option<Map<String, Value>>,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default, deserialize_with = "json::some_time")]
    min: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    max: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    mean: Option<Number>,
    stddev: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    median: Option<Number>,
    rounds: Option<u64>,
    iterations: Option<Number>,
    #[serde(default, deserialize_with = "json::some_times")]
    data: Option<Vec<Number>>,
}

impl Benchmark {
    fn parameters(&self) -> Vec<(String, String)> {
        match (&self.params, &self.param) {
            (Some(params), _) => params.iter().map(|(k, v)| (k.clone(), text_of(v))).collect(),
            (None, Some(param)) => vec![("1".to_owned(), text_of(param))],
            (None, None) => Vec::new(),
        }
    }
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let file: File = json::read(input, EXPECTED, PhantomData)?;
    let version = file.version.as_deref().unwrap_or_default();
    let mut recorder = Recorder::new(context, format!("pytest-benchmark {version}").trim_end());
    if let Some(time) = &file.datetime {
        recorder.started(time);
    }
    machine(&file.machine_info, &mut recorder);
    for (name, value) in file.commit_info.iter().flatten().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "id" => recorder.fact("git_commit", value.clone()),
            other => recorder.fact(&format!("git_{other}"), value.clone()),
        }
    }
    if let Some(options) = file.benchmarks.first().and_then(|first| first.options.as_ref()) {
        for name in ["timer", "disable_gc"] {
            if let Some(value) = options.get(name) {
                recorder.fact(&format!("pytest_benchmark.{name}"), value.clone());
            }
        }
    }
    let mut extra = Map::new();
    for benchmark in &file.benchmarks {
        let name = benchmark.fullname.as_ref().unwrap_or(&benchmark.name);
        if let Some(info) = benchmark.extra_info.as_ref().filter(|info| !info.is_empty()) {
            extra.insert(name.clone(), info.clone().into());
        }
        take(&mut recorder, name, benchmark)
            .map_err(|problem| recorder.whole_file(format!("`{name}`: {problem}")))?;
    }
    if !extra.is_empty() {
        recorder.fact("pytest_benchmark.extra_info", extra);
    }
    recorder.finish("benchmarks without statistics")
}

fn take(recorder: &mut Recorder<'_>, name: &str, benchmark: &Benchmark) -> Result<(), String> {
    let base = name.split('[').next().unwrap_or(name);
    let subject = recorder.benchmark(name, Some(base), &benchmark.parameters());
    let wall = recorder.metric(&Metric::wall())?;
    let stats = &benchmark.stats;
    if let Some(data) = stats.data.as_ref().filter(|data| !data.is_empty()) {
        let metric = Metric { better: Better::Higher, ..Metric::lower(ITERATIONS, Unit::One) };
        let iterations = recorder.metric(&metric)?;
        let calls = stats.iterations.map(|calls| (iterations, calls.0));
        for value in data {
            let values: Vec<_> = [(wall, value.0)].into_iter().chain(calls).collect();
            recorder.observe(subject, &[], Outcome::Ok, &values)?;
        }
        return Ok(());
    }
    let of = |number: Option<Number>| number.and_then(Number::finite);
    recorder.summary(Summary {
        subject,
        metric: "wall".to_owned(),
        count: stats.rounds,
        mean: of(stats.mean),
        // With one round the tool writes 0.
        sd: of(stats.stddev).filter(|_| stats.rounds != Some(1)),
        median: of(stats.median),
        min: of(stats.min),
        max: of(stats.max),
        standard_error: None,
    });
    Ok(())
}

fn machine(info: &Map<String, Value>, recorder: &mut Recorder<'_>) {
    let empty = |value: &Value| value.is_null() || value.as_str().is_some_and(str::is_empty);
    for (name, value) in info.iter().filter(|(_, value)| !empty(value)) {
        match name.as_str() {
            "node" => recorder.fact("hostname", value.clone()),
            "machine" => recorder.fact("arch", value.clone()),
            "system" => recorder.fact("os", value.clone()),
            "release" => recorder.fact("kernel", value.clone()),
            "cpu" => {
                for (theirs, ours) in [("brand_raw", "cpu_model"), ("count", "cpus_online")] {
                    if let Some(value) = value.get(theirs) {
                        recorder.fact(ours, value.clone());
                    }
                }
            }
            other => recorder.fact(&format!("pytest_benchmark.{other}"), value.clone()),
        }
    }
}
