//! Reads Criterion's files: a directory such as `target/criterion`, any part of it, or one
//! `sample.json`.
//!
//! A sample is the total time of a number of iterations. The number grows from sample to sample in
//! linear sampling, and is constant in flat sampling. In both cases, a value is the sample's time
//! divided by its iterations, which are stored along with it. For each benchmark, the directory
//! `new` is read, which holds the last run. A baseline is given by its name, as in
//! `target/criterion/before`. That directory does not exist, but every benchmark has a directory
//! with this name. If a directory itself contains a `sample.json`, only that is read. Times are
//! assumed to be in nanoseconds, which is correct unless a benchmark has a custom measurement; the
//! file does not show that. The layouts are those of 0.3 to 0.8.

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::input::Input;
use crate::read_error::ReadError;
use crate::samples::{Better, ITERATIONS, Metric, Outcome};
use crate::unit::Unit;
use json::Number;
use serde::Deserialize;
use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

const EXPECTED: &str =
    "criterion's samples: `{\"sampling_mode\": …, \"iters\": […], \"times\": […]}`";
const EXPECTED_NAMES: &str = "criterion's names of a benchmark: `{\"full_id\": …, …}`";

/// Name of the file with the values of one run of one benchmark.
const SAMPLE: &str = "sample.json";
/// Name of the directory that holds the last run of a benchmark.
const LAST_RUN: &str = "new";
/// Maximum depth of directories, so that a wrong path does not lead to a walk of the whole disk.
const MAX_DEPTH: usize = 12;
/// Maximum number of directories read.
const MAX_DIRECTORIES: usize = 20_000;
/// Maximum number of directories searched to find out whether a path that does not exist names a
/// baseline. A partial search suffices, because most benchmarks have every baseline.
const MAX_LOOKED_INTO: usize = 500;

#[derive(Deserialize)]
struct Sample {
    sampling_mode: Option<String>,
    iters: Vec<Number>,
    #[serde(deserialize_with = "json::times")]
    times: Vec<Number>,
}

#[derive(Deserialize)]
struct Names {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
    full_id: Option<String>,
}

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    // A long list of iterations may extend beyond the head.
    head.is_json() && has("\"iters\"") && (has("\"times\"") || has("\"sampling_mode\""))
}

/// Reads one `sample.json`, which does not name its benchmark.
pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "criterion");
    let mode = add(&mut recorder, input, context.label, None)?;
    record_mode(&mut recorder, mode);
    recorder.finish("no samples")
}

/// Returns true if a path is a directory or names a baseline in one, which [`read_directory`]
/// reads.
pub(super) fn is_directory(path: &Path) -> bool {
    path.is_dir() || baseline_in(path).is_some()
}

/// Splits a path that does not exist into a directory and the name of a baseline in it, or returns
/// `None` if there is no such baseline.
fn baseline_in(path: &Path) -> Option<(&Path, &str)> {
    let parent = path.parent().filter(|parent| parent.is_dir())?;
    let name = path.file_name()?.to_str()?;
    let is_baseline = || runs(parent, name, MAX_LOOKED_INTO).is_ok_and(|found| !found.is_empty());
    (!path.exists() && is_baseline()).then_some((parent, name))
}

/// Reads every benchmark below a directory.
///
/// # Errors
/// Returns an error if there is no benchmark, or if a file is damaged.
pub(super) fn read_directory(path: &Path, context: &Context<'_>) -> Result<Part, ImportError> {
    let (root, run) = baseline_in(path).unwrap_or((path, LAST_RUN));
    let found = if path.join(SAMPLE).is_file() {
        vec![path.to_path_buf()]
    } else {
        runs(root, run, MAX_DIRECTORIES)?
    };
    if found.is_empty() {
        return Err(ImportError::Directory { file: context.file.to_owned() });
    }
    let mut recorder = Recorder::new(context, "criterion");
    let mut modes: Vec<String> = Vec::new();
    for directory in found {
        let names = directory.join("benchmark.json");
        let names: Option<Names> = names
            .is_file()
            .then(|| json::read(Input::open(&names)?, EXPECTED_NAMES, PhantomData))
            .transpose()?;
        let place = directory.parent().unwrap_or(root);
        let unnamed = place.strip_prefix(root).unwrap_or(place).display().to_string();
        let unnamed = if unnamed.is_empty() { context.label.to_owned() } else { unnamed };
        let input = Input::open(&directory.join(SAMPLE))?;
        let mode = add(&mut recorder, input, &unnamed, names.as_ref())?;
        modes.extend(mode.filter(|mode| !modes.contains(mode)));
    }
    record_mode(&mut recorder, (!modes.is_empty()).then(|| modes.join(", ")));
    recorder.finish("no samples")
}

/// Returns the directories below `root` that are called `run` and contain samples, ordered by path.
/// At most `most` directories are searched.
fn runs(root: &Path, run: &str, most: usize) -> Result<Vec<PathBuf>, ReadError> {
    let mut found = Vec::new();
    let mut waiting = vec![(root.to_path_buf(), 0)];
    let mut seen = 0;
    while let Some((directory, depth)) = waiting.pop() {
        seen += 1;
        let failed = |source| ReadError::Io { file: directory.display().to_string(), source };
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Symbolic links are not followed, because they may form cycles.
            if !entry.file_type().map_err(failed)?.is_dir() {
                continue;
            }
            let path = entry.path();
            let has_samples = path.join(SAMPLE).is_file();
            if has_samples && entry.file_name().to_str() == Some(run) {
                found.push(path);
            } else if !has_samples && depth < MAX_DEPTH && seen + waiting.len() < most {
                waiting.push((path, depth + 1));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Adds one run of one benchmark, and returns its sampling mode if the file states it.
fn add(
    recorder: &mut Recorder<'_>,
    input: Input,
    unnamed: &str,
    names: Option<&Names>,
) -> Result<Option<String>, ImportError> {
    let file = input.file.clone();
    let sample: Sample = json::read(input, EXPECTED, PhantomData)?;
    let problem = |problem: String| ImportError::Content { file: file.clone(), problem };
    if sample.iters.len() != sample.times.len() {
        return Err(problem(format!(
            "{} numbers in `iters` and {} in `times`; expected equally many",
            sample.iters.len(),
            sample.times.len()
        )));
    }
    let name = names.map_or_else(|| unnamed.to_owned(), Names::full);
    let label = names.map(Names::label);
    let value = names.and_then(|names| names.value_str.clone());
    let parameters: Vec<_> = value.into_iter().map(|value| ("1".to_owned(), value)).collect();
    let subject = recorder.benchmark(&name, label.as_deref(), &parameters);
    let wall = recorder.metric(&Metric::wall()).map_err(problem)?;
    let iterations = Metric { better: Better::Higher, ..Metric::lower(ITERATIONS, Unit::One) };
    let iterations = recorder.metric(&iterations).map_err(problem)?;
    for (iters, time) in sample.iters.iter().zip(&sample.times) {
        let values = [(wall, time.0 / iters.0 / 1e9), (iterations, iters.0)];
        recorder.observe(subject, &[], Outcome::Ok, &values).map_err(problem)?;
    }
    Ok(sample.sampling_mode)
}

impl Names {
    fn full(&self) -> String {
        self.full_id.clone().unwrap_or_else(|| {
            let parts = [Some(&self.group_id), self.function_id.as_ref(), self.value_str.as_ref()];
            parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("/")
        })
    }

    /// Returns the name of the benchmark without the value of its parameter.
    fn label(&self) -> String {
        let function = self.function_id.as_ref();
        function.map_or_else(|| self.group_id.clone(), |f| format!("{}/{f}", self.group_id))
    }
}

fn record_mode(recorder: &mut Recorder<'_>, mode: Option<String>) {
    if let Some(mode) = mode {
        recorder.fact("criterion.sampling_mode", mode);
    }
}
