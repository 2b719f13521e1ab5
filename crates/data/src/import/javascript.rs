//! JSON of JavaScript benchmark tools: `vitest bench` (`--outputJson`, since version 5
//! `--reporter=json`), tinybench's tasks (`{name, result}`), and mitata's `format: 'json'`.
//!
//! These tools sort the samples, if they keep them at all, so the order, which would show
//! dependence and warm-up, is lost. Each benchmark is therefore read as a summary: the mean and, if
//! stated, the standard deviation and the count. Times are in milliseconds in vitest and tinybench,
//! and in nanoseconds in mitata.

use super::recorder::{MAX_JOINED_NAME, Recorder};
use super::test_reports::{has_benchmark, short_paths};
use super::{Context, Head, ImportError, Part, json};
use crate::finding::shared::benchmark_error;
use crate::input::Input;
use crate::samples::{Metric, Summary};
use json::Number;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::marker::PhantomData;

const EXPECTED_VITEST: &str = "results of `vitest bench`: `{\"files\": [{\"groups\": [{\"fullName\": …, \"benchmarks\": […]}]}]}`, or since version 5 `{\"testResults\": [{\"assertionResults\": [{\"benchmarks\": […]}]}]}`";
const EXPECTED_TINYBENCH: &str =
    "tinybench's tasks: `[{\"name\": …, \"result\": {\"latency\": {\"mean\": …}}}, …]`";
const EXPECTED_MITATA: &str =
    "mitata's results: `{\"benchmarks\": [{\"alias\": …, \"runs\": [{\"stats\": …}]}], …}`";

pub(super) fn recognise_vitest(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json()
        && (has("\"files\"") && has("\"groups\"") && has("\"benchmarks\"")
            || has("\"testResults\"") && has_benchmark(head))
}

pub(super) fn recognise_tinybench(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.text.trim_start().starts_with('[')
        && has("\"result\"")
        // Before version 3 the statistics were in the result itself.
        && (has("\"latency\"") || has("\"hz\"") && has("\"period\""))
}

pub(super) fn recognise_mitata(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json() && has("\"runs\"") && has("\"stats\"") && (has("\"alias\"") || has("\"layout\""))
}

/// Makes names distinct, by appending a number if a name occurs again.
struct Names(HashMap<String, usize>);

impl Names {
    fn free(&mut self, name: &str) -> String {
        let times = self.0.entry(name.to_owned()).or_default();
        *times += 1;
        if *times > 1 { format!("{name} #{times}") } else { name.to_owned() }
    }
}

struct Reader<'a> {
    recorder: Recorder<'a>,
    names: Names,
}

impl<'a> Reader<'a> {
    fn new(context: &'a Context<'a>, tool: &str) -> Self {
        Self { recorder: Recorder::new(context, tool), names: Names(HashMap::new()) }
    }

    /// Adds a benchmark. `per_second` is how many of the tool's time units are in one second.
    fn add(
        &mut self,
        name: &str,
        parameters: &[(String, String)],
        statistics: &Statistics,
        per_second: f64,
    ) -> Result<(), String> {
        if name.len() > MAX_JOINED_NAME {
            return Err(format!("a name of {} bytes", name.len()));
        }
        let name = self.names.free(name);
        let of = |number: Option<Number>| number.map(|number| number.0 / per_second);
        let mean = of(statistics.mean);
        let count = statistics.count;
        if count == Some(0) || mean.is_none_or(|mean| !mean.is_finite()) {
            let place = mean.and_then(json::line_of);
            let place = place.map(|line| format!(" ({})", self.recorder.place(line)));
            let problem = format!("has no time{}", place.unwrap_or_default());
            self.recorder.finding(benchmark_error(&name, &problem));
            return Ok(());
        }
        let subject = self.recorder.benchmark(&name, None, parameters);
        let metric = Metric::wall();
        self.recorder.metric(&metric)?;
        self.recorder.summary(Summary {
            subject,
            metric: metric.name,
            count,
            mean,
            // The tools write 0 for a single sample.
            sd: of(statistics.sd).filter(|_| count != Some(1)),
            median: of(statistics.median.or(statistics.p50)),
            min: of(statistics.min),
            max: of(statistics.max),
            standard_error: None,
        });
        Ok(())
    }
}

/// Statistics of a benchmark. mitata and the other tools use different keys.
#[derive(Default, Deserialize)]
struct Statistics {
    /// Name of the benchmark, which vitest writes next to the statistics. Empty for other tools.
    #[serde(default)]
    name: String,
    #[serde(default, alias = "avg", deserialize_with = "json::known_time")]
    mean: Option<Number>,
    sd: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    median: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    p50: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    min: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    max: Option<Number>,
    #[serde(rename = "samplesCount", alias = "sampleCount")]
    count: Option<u64>,
}

/// Results of `vitest bench`: `files` until version 4, `testResults` since version 5.
#[derive(Deserialize)]
struct Vitest {
    #[serde(default)]
    files: Vec<VitestFile>,
    #[serde(default, rename = "testResults")]
    reports: Vec<VitestReport>,
}

#[derive(Deserialize)]
struct VitestFile {
    groups: Vec<VitestGroup>,
}

#[derive(Deserialize)]
struct VitestGroup {
    #[serde(rename = "fullName")]
    full_name: String,
    benchmarks: Vec<Statistics>,
}

/// The results of one test file.
#[derive(Deserialize)]
struct VitestReport {
    #[serde(rename = "name")]
    path: String,
    #[serde(default)]
    status: String,
    #[serde(rename = "assertionResults")]
    tests: Vec<VitestTest>,
}

#[derive(Deserialize)]
struct VitestTest {
    #[serde(rename = "fullName")]
    full_name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    benchmarks: Vec<VitestComparison>,
}

/// Benchmarks that a test compared with each other, or a single one.
#[derive(Deserialize)]
struct VitestComparison {
    name: String,
    tasks: Vec<VitestTask>,
}

#[derive(Deserialize)]
struct VitestTask {
    name: String,
    latency: Statistics,
    /// True for the result of an earlier run.
    #[serde(default, rename = "fromStore")]
    is_earlier: bool,
}

pub(super) fn read_vitest(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let file: Vitest = json::read(input, EXPECTED_VITEST, PhantomData)?;
    let mut reader = Reader::new(context, "vitest");
    for group in file.files.iter().flat_map(|file| &file.groups) {
        for benchmark in &group.benchmarks {
            let name = format!("{} > {}", group.full_name, benchmark.name);
            let added = reader.add(&name, &[], benchmark, 1e3);
            added.map_err(|problem| reader.recorder.whole_file(problem))?;
        }
    }
    let paths: Vec<&str> = file.reports.iter().map(|report| report.path.as_str()).collect();
    for (report, path) in file.reports.iter().zip(short_paths(&paths)) {
        // A file that can't be loaded has no tests.
        if report.status == "failed" && report.tests.iter().all(|test| test.status != "failed") {
            reader.recorder.finding(benchmark_error(&path, "failed"));
        }
        for test in &report.tests {
            if test.status == "failed" {
                let name = format!("{path} > {}", test.full_name);
                reader.recorder.finding(benchmark_error(&name, "failed"));
            }
            for comparison in &test.benchmarks {
                for task in comparison.tasks.iter().filter(|task| !task.is_earlier) {
                    let name = format!("{path} > {} > {}", comparison.name, task.name);
                    let added = reader.add(&name, &[], &task.latency, 1e3);
                    added.map_err(|problem| reader.recorder.whole_file(problem))?;
                }
            }
        }
    }
    reader.recorder.finish("results of vitest without a benchmark")
}

#[derive(Deserialize)]
struct Task {
    name: String,
    result: Option<TaskResult>,
}

/// Result of a task. Before version 3 of tinybench the statistics are here, not in `latency`.
#[derive(Deserialize)]
struct TaskResult {
    latency: Option<Statistics>,
    #[serde(default, deserialize_with = "json::some_time")]
    mean: Option<Number>,
    sd: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    min: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    max: Option<Number>,
    samples: Option<Vec<IgnoredAny>>,
    #[serde(rename = "runtimeVersion")]
    runtime_version: Option<Value>,
    runtime: Option<Value>,
}

impl TaskResult {
    fn statistics(self) -> Statistics {
        let Self { mean, sd, min, max, samples, .. } = self;
        let count = samples.map(|samples| samples.len() as u64);
        self.latency.unwrap_or(Statistics { mean, sd, min, max, count, ..Statistics::default() })
    }
}

pub(super) fn read_tinybench(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut reader = Reader::new(context, "tinybench");
    let tasks = json::each(|task: Task| {
        let result = task.result.as_ref();
        for (name, value) in [
            ("tinybench.runtime", result.and_then(|r| r.runtime.as_ref())),
            ("tinybench.runtime_version", result.and_then(|r| r.runtime_version.as_ref())),
        ] {
            if let Some(value) = value {
                reader.recorder.fact(name, value.clone());
            }
        }
        let statistics = task.result.map(TaskResult::statistics).unwrap_or_default();
        reader.add(&task.name, &[], &statistics, 1e3)
    });
    json::read(input, EXPECTED_TINYBENCH, tasks)?;
    reader.recorder.finish("tasks of tinybench without a result")
}

#[derive(Deserialize)]
struct Mitata {
    benchmarks: Vec<Trial>,
    context: Option<MitataContext>,
}

#[derive(Deserialize)]
struct MitataContext {
    arch: Option<Value>,
    version: Option<Value>,
    runtime: Option<Value>,
    cpu: Option<Cpu>,
    /// The many samples of an empty function, which are not needed.
    #[serde(rename = "noop")]
    _noop: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Cpu {
    name: Option<Value>,
}

#[derive(Deserialize)]
struct Trial {
    runs: Vec<MitataRun>,
}

#[derive(Deserialize)]
struct MitataRun {
    name: String,
    #[serde(default)]
    args: Map<String, Value>,
    stats: Option<Statistics>,
}

pub(super) fn read_mitata(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let file: Mitata = json::read(input, EXPECTED_MITATA, PhantomData)?;
    let mut reader = Reader::new(context, "mitata");
    if let Some(told) = file.context {
        let cpu = told.cpu.and_then(|cpu| cpu.name);
        let facts = [
            ("cpu_model", cpu),
            ("mitata.arch", told.arch),
            ("mitata.runtime", told.runtime),
            ("mitata.runtime_version", told.version),
        ];
        for (name, value) in facts {
            if let Some(value) = value {
                reader.recorder.fact(name, value);
            }
        }
    }
    let none = Statistics::default();
    for run in file.benchmarks.iter().flat_map(|trial| &trial.runs) {
        let parameters: Vec<_> =
            run.args.iter().map(|(name, value)| (name.clone(), json::text_of(value))).collect();
        let statistics = run.stats.as_ref().unwrap_or(&none);
        let added = reader.add(&run.name, &parameters, statistics, 1e9);
        added.map_err(|problem| reader.recorder.whole_file(problem))?;
    }
    reader.recorder.finish("results of mitata without a run")
}
