//! Facts about the machine and the library in a file of Google Benchmark, and findings about them.

use super::super::recorder::Recorder;
use crate::export::google_context::{COUNTERS, FIELDS, OF_MACHINE};
use crate::samples::Metric;
use crate::{Action, Finding, Severity};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Records the object `context` of a JSON file. Entries added by the benchmark's author keep their
/// name, prefixed with the tool's.
pub(super) fn record(context: &Map<String, Value>, recorder: &mut Recorder<'_>) {
    for (name, value) in context {
        match (name.as_str(), value) {
            ("date", Value::String(date)) => recorder.started(date),
            ("host_name", _) => recorder.fact("hostname", value.clone()),
            ("num_cpus", _) => recorder.fact("cpus_online", value.clone()),
            ("mhz_per_cpu", _) => recorder.fact("cpu_mhz", value.clone()),
            ("load_avg", Value::Array(loads)) => {
                if let Some(load) = loads.first() {
                    recorder.fact("load_1m", load.clone());
                }
            }
            ("executable", Value::String(path)) => executable(path, recorder),
            ("library_version", Value::String(version)) => {
                recorder.tool(&format!("Google Benchmark {}", version.trim_start_matches('v')));
            }
            ("library_build_type", Value::String(build)) => build_type(build, recorder),
            ("cpu_scaling_enabled", Value::Bool(enabled)) => scaling(*enabled, recorder),
            (COUNTERS, _) => {}
            _ if OF_MACHINE.contains(&name.as_str()) => recorder.fact(name, value.clone()),
            _ => recorder.fact(&format!("google_benchmark.{name}"), value.clone()),
        }
    }
}

/// Returns the metrics of the counters by name if our own exporter wrote the file. The counters in
/// such a file are not totals.
pub(super) fn counters(context: &Map<String, Value>) -> Option<HashMap<String, Metric>> {
    let told = context.get(COUNTERS)?.as_object()?.iter();
    let metrics = told.filter_map(|(counter, told)| {
        let metric = Metric::deserialize(told).ok()?;
        // A metric with its own field is not a counter.
        (!FIELDS.contains(&metric.name.as_str())).then(|| (counter.clone(), metric))
    });
    Some(metrics.collect())
}

/// Records the measured program without its directories, which may identify its owner.
pub(super) fn executable(path: &str, recorder: &mut Recorder<'_>) {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    recorder.fact("google_benchmark.executable", name);
}

/// Records the build type of the library, which may differ from that of the measured code.
pub(super) fn build_type(build: &str, recorder: &mut Recorder<'_>) {
    recorder.fact("google_benchmark.library_build_type", build);
    if build.eq_ignore_ascii_case("debug") {
        recorder.finding(
            Finding::new(crate::code::DEBUG_BUILD, "the Google Benchmark library was built without NDEBUG, so its own part of every time is larger")
            .advise(Action::text("link a library that was built with -DNDEBUG; it matters for benchmarks of nanoseconds, and only if the sides differ in it")),
        );
    }
}

/// Records whether the CPU frequency followed the load.
pub(super) fn scaling(enabled: bool, recorder: &mut Recorder<'_>) {
    recorder.fact("google_benchmark.cpu_scaling_enabled", enabled);
    if enabled {
        recorder.finding(
            Finding::new(
                crate::code::CPU_FREQUENCY,
                "the CPU frequency followed the load while Google Benchmark measured",
            )
            .at(Severity::Warning)
            .advise(Action::run(
                "measure again with a fixed frequency",
                "cpupower frequency-set --governor performance",
            )),
        );
    }
}
