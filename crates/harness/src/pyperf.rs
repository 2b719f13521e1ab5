//! Driver for pyperf: a script with a `pyperf.Runner`, run in the same way as the worker processes
//! that it would start itself.
//!
//! A worker (`--worker`) runs one task (`--worker-task`) in its own process. It either uses a given
//! number of loops, or searches for that number (`--calibrate-loops`). Tasks have numbers but no
//! names and cannot be listed. Therefore the list is taken from the result of a worker without a
//! task, which runs every benchmark once. A benchmark that is not in the list is measured by
//! running all of them, which is slower but equally correct.
//!
//! A run with a fixed number of loops begins with an untimed value, as pyperf's own runs do by
//! default. In a calibration, the trials serve as the warm-up.

use crate::driver::{Driver, Effort, Language, Request};
use crate::error::{HarnessError, tail};
use crate::program::{Kind, Program};
use crate::reading::{Reading, imported, readings};
use crate::reply::{Answer, Reply};
use assay_data::Metric;
use serde_json::Value;
use std::cell::RefCell;
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "pyperf";

/// A script that uses pyperf.
#[derive(Debug, Default)]
struct Pyperf {
    /// The benchmarks in the order of the script, which determines their task numbers; empty until
    /// the list has been read.
    tasks: RefCell<Vec<Task>>,
}

/// A benchmark in the list.
#[derive(Debug)]
struct Task {
    name: String,
    /// Number of times that the benchmark repeats its work in one loop (pyperf's `inner_loops`).
    inner: f64,
}

/// Recognizes a script that creates a `pyperf.Runner`.
pub(crate) fn looks(program: &Program) -> Option<Box<dyn Driver>> {
    let text = &program.text;
    let imports = text.contains("import pyperf") || text.contains("from pyperf import");
    (program.kind == Kind::Script && imports && text.contains("Runner(")).then(|| assumed(program))
}

/// Recognizes the harness by the program's help text.
pub(crate) fn recognise(program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    (help.contains("--worker-task") && help.contains("--calibrate-loops")).then(|| assumed(program))
}

/// Creates the driver for any script with a `pyperf.Runner`.
pub(crate) fn assumed(_program: &Program) -> Box<dyn Driver> {
    Box::new(Pyperf::default())
}

/// Returns the request for a worker that measures `values` values after `warm_ups` untimed ones.
fn worker(warm_ups: u32, values: u32, scratch: &Path) -> Request {
    let file = scratch.join("result.json");
    Request::with(["--worker"])
        .arg(format!("--warmups={warm_ups}"))
        .arg(format!("--values={values}"))
        .arg(format!("--output={}", file.display()))
        .answered_in(Answer::File(file))
}

impl Driver for Pyperf {
    fn name(&self) -> String {
        "pyperf".to_owned()
    }

    fn executes(&self) -> Option<Language> {
        Some(Language::Python)
    }

    fn pins(&self) -> bool {
        true
    }

    fn list(&self, scratch: &Path) -> Request {
        worker(0, 1, scratch).arg("--loops=1")
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let none = || HarnessError::NoBenchmark { said: tail(&reply.errors, &reply.output) };
        // If a benchmark fails, the file may still contain the results of earlier ones.
        if !reply.success {
            return Err(none());
        }
        let names: Vec<String> = self.read(reply)?.into_iter().map(|r| r.benchmark).collect();
        if names.is_empty() {
            return Err(none());
        }
        let file = parsed(reply)?;
        let tasks = benchmarks(&file).into_iter();
        self.tasks.replace(tasks.map(|own| Task { name: own.name, inner: own.inner }).collect());
        Ok(names)
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        let tasks = self.tasks.borrow();
        let task = tasks.iter().position(|task| task.name == benchmark);
        // A single trial may take long because the machine was busy, but three in a row are
        // unlikely to.
        let values = if matches!(effort, Effort::Seconds(_)) { 3 } else { 1 };
        let warm_ups = u32::from(matches!(effort, Effort::Iterations(_)));
        let mut request = worker(warm_ups, values, scratch);
        if let Some(number) = task {
            request = request.arg(format!("--worker-task={number}"));
        }
        match effort {
            Effort::Iterations(count) | Effort::Counted(count) => {
                let inner = task.map_or(1.0, |number| tasks[number].inner);
                let loops = (count as f64 / inner).round().max(1.0);
                request.arg(format!("--loops={loops}"))
            }
            Effort::Once => request.arg("--loops=1"),
            Effort::Seconds(seconds) => {
                request.arg("--calibrate-loops").arg(format!("--min-time={seconds}"))
            }
        }
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        let file = parsed(reply)?;
        let found = calibrations(&file);
        if !found.is_empty() {
            return Ok(found);
        }
        let mut found = readings(&imported(reply, "pyperf")?);
        for own in benchmarks(&file) {
            let reading = found.iter_mut().find(|reading| reading.benchmark == own.name);
            if let Some(reading) = reading {
                reading.iterations = own.loops.map(|loops| loops * own.inner);
            }
        }
        Ok(found)
    }

    fn debug_build(&self, reply: &Reply) -> Option<String> {
        let file = parsed(reply).ok()?;
        let options = metadata(&file, &Value::Null, "python_config_args")?.as_str()?;
        options
            .contains("--with-pydebug")
            .then(|| "its Python was built for debugging (--with-pydebug)".to_owned())
    }
}

/// Returns the answer as JSON, for data that the importer does not keep. Returns null for invalid
/// JSON, which the importer reports.
fn parsed(reply: &Reply) -> Result<Value, HarnessError> {
    Ok(serde_json::from_slice(&reply.bytes()?).unwrap_or(Value::Null))
}

/// Data about one benchmark in a result file, other than its measured values.
struct PyperfBenchmark<'f> {
    name: String,
    loops: Option<f64>,
    inner: f64,
    runs: &'f [Value],
    /// True if the benchmark's values are in seconds, which is the default.
    timed: bool,
}

/// Returns a metadata entry of a benchmark. If the benchmark does not have it, the file's entry is
/// returned.
fn metadata<'f>(file: &'f Value, benchmark: &'f Value, name: &str) -> Option<&'f Value> {
    let of = |place: &'f Value| place.get("metadata")?.get(name);
    of(benchmark).or_else(|| of(file))
}

fn benchmarks(file: &Value) -> Vec<PyperfBenchmark<'_>> {
    let all = file.get("benchmarks").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let own = |benchmark| {
        let unit = metadata(file, benchmark, "unit").and_then(Value::as_str);
        Some(PyperfBenchmark {
            name: metadata(file, benchmark, "name")?.as_str()?.to_owned(),
            loops: metadata(file, benchmark, "loops").and_then(Value::as_f64),
            inner: metadata(file, benchmark, "inner_loops")
                .and_then(Value::as_f64)
                .filter(|inner| *inner >= 1.0)
                .unwrap_or(1.0),
            runs: benchmark.get("runs")?.as_array()?,
            timed: unit.is_none_or(|unit| unit == "second"),
        })
    };
    all.iter().filter_map(own).collect()
}

/// Returns the results of workers that searched for their number of loops. Such workers have no
/// values. Their trials are listed as warm-ups, each with its number of loops and its time per
/// loop. The last trial is the one that took long enough, and is used as the result.
fn calibrations(file: &Value) -> Vec<Reading> {
    let calibrated = |own: PyperfBenchmark<'_>| {
        let [run] = own.runs else { return None };
        if run.get("values").is_some() {
            return None;
        }
        let last = run.get("warmups")?.as_array()?.last()?;
        let time = last.get(1)?.as_f64()?;
        Some(Reading {
            iterations: Some(own.loops.or_else(|| last.get(0)?.as_f64())? * own.inner),
            benchmark: own.name,
            values: if own.timed { vec![(Metric::wall(), time)] } else { Vec::new() },
            ..Reading::default()
        })
    };
    benchmarks(file).into_iter().filter_map(calibrated).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = r#"{"benchmarks":[
        {"metadata":{"name":"sum","mem_max_rss":19435520},"runs":[{"values":[2.5e-6]}]},
        {"metadata":{"name":"sort","inner_loops":10},"runs":[{"values":[1.5e-6]}]}],
        "metadata":{"loops":1,"unit":"second","perf_version":"2.10.0"},"version":"1.0"}"#;

    const CALIBRATED: &str = r#"{"benchmarks":[{"runs":[{"warmups":[[1,4.5e-6],[2,1e-6],[4,7.5e-7]]}]}],
        "metadata":{"calibrate_loops":4,"loops":4,"name":"sort","unit":"second"},"version":"1.0"}"#;

    fn answered(text: &str, scratch: &Path) -> Reply {
        let file = scratch.join("result.json");
        std::fs::write(&file, text).unwrap();
        Reply { success: true, answer: Answer::File(file), ..Reply::default() }
    }

    fn words(request: &Request) -> String {
        let words: Vec<_> = request.args.iter().map(|arg| arg.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn a_benchmark_is_asked_for_by_its_place_in_the_list() {
        let scratch = tempfile::tempdir().unwrap();
        let driver = Pyperf::default();
        assert!(!words(&driver.measure("sort", Effort::Once, scratch.path())).contains("task"));
        let names = driver.listed(&answered(LISTED, scratch.path())).unwrap();
        assert_eq!(names, ["sum", "sort"]);
        let asked = words(&driver.measure("sort", Effort::Iterations(500), scratch.path()));
        // This benchmark repeats its work ten times per loop, so 500 iterations are 50 loops.
        assert!(asked.contains("--worker-task=1") && asked.ends_with("--loops=50"), "{asked}");
        assert!(asked.contains("--warmups=1 --values=1"), "{asked}");
        let counted = words(&driver.measure("sort", Effort::Counted(500), scratch.path()));
        assert!(counted.contains("--warmups=0") && counted.ends_with("--loops=50"), "{counted}");
    }

    #[test]
    fn values_come_with_memory_and_loops() {
        let scratch = tempfile::tempdir().unwrap();
        let found = Pyperf::default().read(&answered(LISTED, scratch.path())).unwrap();
        assert_eq!((found[0].iterations, found[1].iterations), (Some(1.0), Some(10.0)));
        let values: Vec<_> = found[0].values.iter().map(|(m, v)| (m.name.as_str(), *v)).collect();
        assert_eq!(values, [("wall", 2.5e-6), ("max_rss", 19435520.0)]);
    }

    #[test]
    fn a_calibration_gives_its_loops_and_its_last_trial() {
        let scratch = tempfile::tempdir().unwrap();
        let found = Pyperf::default().read(&answered(CALIBRATED, scratch.path())).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].benchmark.as_str(), found[0].iterations), ("sort", Some(4.0)));
        assert_eq!(found[0].values, [(Metric::wall(), 7.5e-7)]);
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_no_answer() {
        let scratch = tempfile::tempdir().unwrap();
        for text in ["", "Traceback", &LISTED[..60], r#"{"benchmarks": []}"#, "[1, 2]"] {
            let reply = answered(text, scratch.path());
            assert!(Pyperf::default().read(&reply).is_err(), "{text}");
            assert!(Pyperf::default().listed(&reply).is_err(), "{text}");
        }
    }

    #[test]
    fn a_python_that_was_built_for_debugging_is_told() {
        let scratch = tempfile::tempdir().unwrap();
        let debug = LISTED
            .replace("\"loops\":1", r#""loops":1,"python_config_args":"'--with-pydebug' 'X=1'""#);
        let driver = Pyperf::default();
        assert!(driver.debug_build(&answered(&debug, scratch.path())).is_some());
        assert_eq!(driver.debug_build(&answered(LISTED, scratch.path())), None);
    }
}
