//! pyperf's JSON: values of several worker processes, with the process as a level.
//!
//! A value is the time of one loop iteration, because pyperf has already divided by the number of
//! loops. Warm-ups are left out, and so are runs that only calibrate, which have no values.
//! Metadata are inherited by a benchmark from the file, and by a run from its benchmark. The peak
//! memory of a process is a single value, which is recorded with the first value of that process.
//! The layout is that of version 1.0, as written by pyperf 1 and 2.

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::input::Input;
use crate::samples::{Metric, Outcome};
use crate::unit::Unit;
use json::{At, Number, text_of};
use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::marker::PhantomData;

const EXPECTED: &str =
    "pyperf's results: `{\"benchmarks\": [{\"runs\": [{\"values\": […]}, …]}, …]}`";

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json()
        && has("\"benchmarks\"")
        && has("\"runs\"")
        && (has("\"values\"") || has("\"warmups\""))
}

#[derive(Deserialize)]
struct File {
    version: Option<Value>,
    #[serde(default)]
    metadata: Map<String, Value>,
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Benchmark {
    #[serde(default)]
    metadata: Map<String, Value>,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    #[serde(default)]
    metadata: Map<String, Value>,
    #[serde(default)]
    values: Values,
}

/// The values of a process, and the first negative one with its line. A negative time is an error,
/// but the unit may come after the values.
#[derive(Default)]
struct Values {
    numbers: Vec<Number>,
    negative: Option<At<f64>>,
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut values = Self::default();
        json::each(|At { value, line }: At<Number>| {
            if value.0 < 0.0 && values.negative.is_none() {
                values.negative = Some(At { value: value.0, line });
            }
            values.numbers.push(value);
            Ok(())
        })
        .deserialize(deserializer)?;
        Ok(values)
    }
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let file: File = json::read(input, EXPECTED, PhantomData)?;
    if let Some(version) = &file.version
        && text_of(version).split('.').next() != Some("1")
    {
        return Err(ImportError::NewerFormat {
            file: context.file.to_owned(),
            format: "pyperf's JSON",
            version: text_of(version),
            known: "version 1",
        });
    }
    let mut recorder = Recorder::new(context, "pyperf");
    // If a file has one benchmark, or several with the same facts, the facts are in the file's
    // metadata, otherwise in each benchmark's.
    let first = file.benchmarks.first().map(|benchmark| &benchmark.metadata);
    facts(file.metadata.iter().chain(first.into_iter().flatten()), &mut recorder);
    for (place, benchmark) in file.benchmarks.iter().enumerate() {
        let known = |name: &str| benchmark.metadata.get(name).or_else(|| file.metadata.get(name));
        let unnamed = || {
            if file.benchmarks.len() == 1 {
                context.label.to_owned()
            } else {
                format!("benchmark {}", place + 1)
            }
        };
        let name = known("name").map_or_else(unnamed, text_of);
        let unit = known("unit").map_or_else(|| "second".to_owned(), text_of);
        if let Some(At { value, line }) =
            benchmark.runs.iter().find_map(|run| run.values.negative.as_ref())
            && unit == "second"
        {
            let problem = format!("`{name}`: a time of {value}; a time cannot be negative");
            return Err(recorder.at(*line, problem));
        }
        take(&mut recorder, &name, &unit, benchmark, &known)
            .map_err(|problem| recorder.whole_file(format!("`{name}`: {problem}")))?;
    }
    recorder.finish("calibration runs, without a value")
}

fn take<'f>(
    recorder: &mut Recorder<'_>,
    name: &str,
    unit: &str,
    benchmark: &'f Benchmark,
    known: &dyn Fn(&str) -> Option<&'f Value>,
) -> Result<(), String> {
    let metric = match unit {
        "second" => Metric::wall(),
        "byte" => Metric::lower("memory", Unit::Byte),
        "integer" => Metric::lower("value", Unit::One),
        other => Metric::lower("value", Unit::from(other.to_owned())),
    };
    let metric = recorder.metric(&metric)?;
    let subject = recorder.benchmark(name, None, &[]);
    recorder.subject_mut(subject).command = known("command").map(text_of);
    let measured = benchmark.runs.iter().filter(|run| !run.values.numbers.is_empty());
    for (process, run) in (0..).zip(measured) {
        // Metadata common to all runs (all metadata if there is a single run) are in the benchmark
        // or the file.
        let peak = ["command_max_rss", "mem_max_rss"];
        let peak = peak.iter().find_map(|key| run.metadata.get(*key).or_else(|| known(key)));
        let peak = peak.and_then(Value::as_f64);
        let peak = peak
            .map(|bytes| recorder.metric(&Metric::lower("max_rss", Unit::Byte)).map(|m| (m, bytes)))
            .transpose()?;
        for (iteration, value) in (0..).zip(&run.values.numbers) {
            let first = peak.filter(|_| iteration == 0);
            let values: Vec<_> = [(metric, value.0)].into_iter().chain(first).collect();
            recorder.observe(subject, &[process, iteration], Outcome::Ok, &values)?;
        }
    }
    Ok(())
}

/// Records facts about the machine under their plain names, and others with the tool's name as a
/// prefix. Paths are left out, because they may identify a person.
fn facts<'m>(metadata: impl Iterator<Item = (&'m String, &'m Value)>, recorder: &mut Recorder<'_>) {
    for (name, value) in metadata {
        match name.as_str() {
            "hostname" => recorder.fact("hostname", value.clone()),
            "cpu_model_name" => recorder.fact("cpu_model", value.clone()),
            "cpu_count" => recorder.fact("cpus_online", value.clone()),
            "load_avg_1min" => recorder.fact("load_1m", value.clone()),
            "platform" => recorder.fact("os", value.clone()),
            "perf_version" => recorder.tool(&format!("pyperf {}", text_of(value))),
            "date" => recorder.started(&text_of(value)),
            "name" | "unit" | "command" | "python_executable" => {}
            other => recorder.fact(&format!("pyperf.{other}"), value.clone()),
        }
    }
}
