//! Reads BenchmarkDotNet's JSON (`--exporters json`, brief or full): every iteration of the
//! workload if the file has them, and the statistics otherwise.
//!
//! A full file lists measurements with their stages. The results of the workload, with overhead
//! subtracted, are observations, with launches as a level. The file does not show which of them the
//! tool excluded as outliers. Times are in nanoseconds. Brief files and those of old versions have
//! only statistics, which are read as a summary.

use super::json::Number;
use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::finding::shared::benchmark_error;
use crate::input::Input;
use crate::samples::{Better, ITERATIONS, Metric, Outcome, Summary};
use crate::unit::Unit;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

const EXPECTED: &str = "BenchmarkDotNet's results: `{\"Title\": …, \"Benchmarks\": [{\"Method\": …, \"Statistics\": {…}}, …]}`";

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json()
        && (has("\"BenchmarkDotNetVersion\"")
            || has("\"HostEnvironmentInfo\"") && has("\"Benchmarks\"")
            || has("\"Benchmarks\"") && has("\"MethodTitle\""))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct File {
    #[serde(default)]
    host_environment_info: Map<String, Value>,
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Benchmark {
    /// Class, method, job and parameters, as in `Sort.Run: .NET 8.0(Runtime=.NET 8.0) [N=10]`.
    display_info: Option<String>,
    full_name: Option<String>,
    namespace: Option<String>,
    #[serde(rename = "Type")]
    class: Option<String>,
    method: String,
    parameters: Option<String>,
    statistics: Option<Statistics>,
    memory: Option<Memory>,
    #[serde(default)]
    measurements: Vec<Measurement>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Statistics {
    n: Option<u64>,
    #[serde(default, deserialize_with = "json::known_time")]
    mean: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    median: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    min: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    max: Option<Number>,
    standard_deviation: Option<Number>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Memory {
    bytes_allocated_per_operation: Option<Number>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Measurement {
    iteration_mode: Option<String>,
    iteration_stage: Option<String>,
    #[serde(default)]
    launch_index: u32,
    #[serde(default)]
    iteration_index: u32,
    operations: Number,
    #[serde(deserialize_with = "json::time")]
    nanoseconds: Number,
}

impl Benchmark {
    fn name(&self) -> String {
        if let Some(name) = &self.full_name {
            return name.clone();
        }
        let parts = [&self.namespace, &self.class].into_iter().flatten().map(String::as_str);
        let name = parts.chain([self.method.as_str()]).filter(|part| !part.is_empty());
        let name = name.collect::<Vec<_>>().join(".");
        match self.parameters.as_deref().filter(|parameters| !parameters.is_empty()) {
            Some(parameters) => format!("{name}({parameters})"),
            None => name,
        }
    }

    /// Returns the job's name, or its settings if the name was generated (`Job-XKVMPE`) and thus
    /// differs between files.
    fn job(&self) -> Option<&str> {
        let (_, job) = self.display_info.as_deref()?.split_once(": ")?;
        let job = job.split_once(" [").map_or(job, |(job, _)| job).trim();
        let (name, settings) = job.split_once('(').unwrap_or((job, ""));
        let settings = settings.strip_suffix(')').filter(|_| name.starts_with("Job-"));
        Some(settings.unwrap_or(name)).filter(|job| !job.is_empty())
    }

    /// Parses parameters such as `N=10&Kind=a`, where the separator may also be `, `.
    fn parameters(&self) -> Vec<(String, String)> {
        let text = self.parameters.as_deref().unwrap_or_default();
        let pairs = text.split(['&', ',']).filter_map(|pair| pair.trim().split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let file: File = json::read(input, EXPECTED, PhantomData)?;
    let mut recorder = Recorder::new(context, "BenchmarkDotNet");
    for (name, value) in &file.host_environment_info {
        match (name.as_str(), value) {
            ("BenchmarkDotNetVersion", Value::String(version)) => {
                recorder.tool(&format!("BenchmarkDotNet {version}"));
            }
            ("ProcessorName", Value::String(_)) => recorder.fact("cpu_model", value.clone()),
            ("OsVersion", _) => recorder.fact("os", value.clone()),
            ("LogicalCoreCount" | "ProcessorCount", _) => {
                recorder.fact("cpus_online", value.clone())
            }
            ("BenchmarkDotNetCaption" | "ChronometerFrequency" | "JitModules", _)
            | (_, Value::Null) => {}
            _ => recorder.fact(&format!("benchmarkdotnet.{name}"), value.clone()),
        }
    }
    let mut jobs: HashMap<String, HashSet<Option<&str>>> = HashMap::new();
    for benchmark in &file.benchmarks {
        jobs.entry(benchmark.name()).or_default().insert(benchmark.job());
    }
    for benchmark in &file.benchmarks {
        let plain = benchmark.name();
        // Benchmarks that run in several jobs or on several runtimes have the same name.
        let job = benchmark.job().filter(|_| jobs[&plain].len() > 1);
        let plain = job.map_or(plain.clone(), |job| format!("{plain} [{job}]"));
        let mut name = plain.clone();
        let mut times = 1;
        while recorder.find(&name).is_some() {
            times += 1;
            name = format!("{plain} #{times}");
        }
        let taken = take(&mut recorder, &name, job, benchmark);
        taken.map_err(|problem| recorder.whole_file(format!("`{name}`: {problem}")))?;
    }
    recorder.finish("benchmarks without statistics")
}

fn take(
    recorder: &mut Recorder<'_>,
    name: &str,
    job: Option<&str>,
    benchmark: &Benchmark,
) -> Result<(), String> {
    let is_result = |m: &&Measurement| {
        let mode = m.iteration_mode.as_deref().unwrap_or("Workload");
        m.iteration_stage.as_deref() == Some("Result") && (mode == "Workload" || mode == "Result")
    };
    let results: Vec<&Measurement> = benchmark.measurements.iter().filter(is_result).collect();
    let Some(statistics) = &benchmark.statistics else {
        recorder.finding(benchmark_error(name, "has no statistics: it did not finish"));
        return Ok(());
    };
    let job = job.map(|job| ("job".to_owned(), job.to_owned()));
    let parameters: Vec<_> = benchmark.parameters().into_iter().chain(job).collect();
    let subject = recorder.benchmark(name, Some(&benchmark.method), &parameters);
    let wall = recorder.metric(&Metric::wall())?;
    if results.is_empty() {
        let of = |number: Option<Number>| number.and_then(Number::finite).map(|ns| ns / 1e9);
        if let Some(line) = statistics.mean.and_then(|mean| json::line_of(mean.0)) {
            recorder.not_finite(format!("`wall` of `{name}` ({})", recorder.place(line)));
        }
        recorder.summary(Summary {
            subject,
            metric: "wall".to_owned(),
            count: statistics.n,
            mean: of(statistics.mean),
            sd: of(statistics.standard_deviation).filter(|_| statistics.n != Some(1)),
            median: of(statistics.median),
            min: of(statistics.min),
            max: of(statistics.max),
            standard_error: None,
        });
    } else {
        let metric = Metric { better: Better::Higher, ..Metric::lower(ITERATIONS, Unit::One) };
        let iterations = recorder.metric(&metric)?;
        for result in results {
            let time = result.nanoseconds.0 / result.operations.0 / 1e9;
            let level = [result.launch_index, result.iteration_index];
            let values = [(wall, time), (iterations, result.operations.0)];
            recorder.observe(subject, &level, Outcome::Ok, &values)?;
        }
    }
    let bytes = benchmark.memory.as_ref().and_then(|memory| memory.bytes_allocated_per_operation);
    if let Some(bytes) = bytes.and_then(Number::finite) {
        let metric = Metric::lower("allocated", Unit::Byte);
        recorder.metric(&metric)?;
        let summary =
            Summary { subject, metric: metric.name, mean: Some(bytes), ..Summary::default() };
        recorder.summary(summary);
    }
    Ok(())
}
