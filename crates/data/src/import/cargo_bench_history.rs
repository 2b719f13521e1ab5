//! Reads a run as cargo-bench-history stores it
//! (`objects/ENGINE/TRIPLE/MACHINE/COMMIT/clean.json`), plain or gzip-compressed, in schemas 1 to
//! 5.
//!
//! The file has an estimate of every metric, sometimes with a deviation and an interval. Intervals
//! are not read, because their confidence is not stated. Each estimate is a summary.

use super::json::{self, Number};
use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::samples::{Metric, Summary};
use crate::unit::Unit;
use serde::Deserialize;
use std::marker::PhantomData;

const EXPECTED: &str = "a run of cargo-bench-history: `{\"schema_version\": …, \"context\": {…}, \"results\": [{\"id\": …, \"metrics\": […]}, …]}`";
/// Latest known schema.
const KNOWN: u64 = 5;

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json() && has("\"schema_version\"") && has("\"tool_version\"") && has("\"toolchain\"")
}

#[derive(Deserialize)]
struct File {
    schema_version: u64,
    context: RunContext,
    results: Vec<Case>,
}

#[derive(Deserialize)]
struct RunContext {
    #[serde(alias = "observation")]
    observed_at: Option<String>,
    #[serde(default)]
    git: Git,
    #[serde(default)]
    toolchain: Toolchain,
    tool_version: Option<String>,
    machine: Option<Machine>,
}

#[derive(Default, Deserialize)]
struct Git {
    commit: Option<String>,
    branch: Option<String>,
    #[serde(default)]
    dirty: bool,
}

#[derive(Default, Deserialize)]
struct Toolchain {
    target_triple: Option<String>,
    rustc_version: Option<String>,
}

#[derive(Deserialize)]
struct Machine {
    fingerprint: Option<String>,
    #[serde(default)]
    processor_models: Vec<String>,
}

#[derive(Deserialize)]
struct Case {
    id: Id,
    metrics: Vec<HistoryValue>,
}

#[derive(Deserialize)]
struct Id {
    segments: Vec<String>,
}

#[derive(Deserialize)]
struct HistoryValue {
    kind: String,
    value: Number,
    std_dev: Option<Number>,
}

/// Returns the metric for a kind of measurement, and the number by which its values are divided to
/// convert them to base units.
fn metric(kind: &str) -> (Metric, f64) {
    match kind {
        "wall_time" => (Metric::wall(), 1e9),
        "processor_time" => (Metric::lower("cpu", Unit::Second), 1e9),
        kind if kind.ends_with("_bytes") => (Metric::lower(kind, Unit::Byte), 1.0),
        kind => (Metric::lower(kind, Unit::One), 1.0),
    }
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let file: File = json::read(input, EXPECTED, PhantomData)?;
    if file.schema_version > KNOWN {
        return Err(ImportError::NewerFormat {
            file: context.file.to_owned(),
            format: "a run of cargo-bench-history",
            version: file.schema_version.to_string(),
            known: "5",
        });
    }
    let about = file.context;
    let version = about.tool_version.unwrap_or_default();
    let mut recorder = Recorder::new(context, format!("cargo-bench-history {version}").trim_end());
    if let Some(time) = &about.observed_at {
        recorder.started(time);
    }
    let machine = about.machine.as_ref();
    let facts = [
        ("git_commit", about.git.commit),
        ("git_branch", about.git.branch),
        ("hostname", machine.and_then(|machine| machine.fingerprint.clone())),
        ("cpu_model", machine.map(|m| m.processor_models.join(", ")).filter(|m| !m.is_empty())),
        ("arch", about.toolchain.target_triple.filter(|triple| !triple.is_empty())),
        ("rustc", about.toolchain.rustc_version),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            recorder.fact(name, value);
        }
    }
    recorder.fact("git_dirty", about.git.dirty);
    for case in &file.results {
        let name = case.id.segments.join("/");
        for measured in &case.metrics {
            let taken = take(&mut recorder, &name, measured);
            taken.map_err(|problem| recorder.whole_file(format!("`{name}`: {problem}")))?;
        }
    }
    recorder.finish("a run without results")
}

fn take(recorder: &mut Recorder<'_>, name: &str, measured: &HistoryValue) -> Result<(), String> {
    let (metric, divisor) = metric(&measured.kind);
    recorder.metric(&metric)?;
    let subject = recorder.benchmark(name, None, &[]);
    let in_base = |number: Number| number.finite().map(|number| number / divisor);
    recorder.summary(Summary {
        subject,
        metric: metric.name,
        mean: in_base(measured.value),
        sd: measured.std_dev.and_then(in_base),
        ..Summary::default()
    });
    Ok(())
}
