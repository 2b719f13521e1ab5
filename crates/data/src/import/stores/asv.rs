//! asv's results: `results/benchmarks.json`, and `results/MACHINE/COMMIT-ENVIRONMENT.json` for each
//! run.
//!
//! `benchmarks.json` has the names of parameters and the units of tracked values. A machine may
//! have measured a commit in several environments (versions of Python and of packages). The
//! environment becomes an additional parameter, so that each environment has a separate history.

use super::{RunStore, Runs, StoredRun, files, name_of, whole, with_context};
use crate::import::{ImportError, ImportOptions, asv, json};
use crate::input::Input;
use crate::samples::ParameterValue;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::path::Path;

const EXPECTED: &str = "asv's list of benchmarks: `{\"a.time_b\": {\"param_names\": […], …}, …}`";

/// Name of the parameter for the environment.
const ENVIRONMENT: &str = "environment";

/// Descriptions of the benchmarks, by name.
pub(super) type Benchmarks = HashMap<String, asv::BenchmarkEntry>;

pub(super) fn open(directory: &Path) -> Result<Option<RunStore>, ImportError> {
    let list = directory.join("benchmarks.json");
    if !list.is_file() {
        return Ok(None);
    }
    let found = files(directory, 1, |path| {
        let is_beside = |name: &str| path.with_file_name(name).is_file();
        name_of(path).ends_with(".json")
            && name_of(path) != "machine.json"
            && is_beside("machine.json")
    });
    if found.is_empty() {
        return Ok(None);
    }
    let known: HashMap<String, Value> = json::read(Input::open(&list)?, EXPECTED, PhantomData)?;
    // The list also contains its version, which is not a benchmark.
    let described = known
        .into_iter()
        .filter_map(|(name, of)| Some((name, asv::BenchmarkEntry::deserialize(of).ok()?)));
    Ok(Some(RunStore { tool: "asv", runs: Runs::Asv(found, described.collect()) }))
}

pub(super) fn read(
    path: &Path,
    benchmarks: &Benchmarks,
    options: &ImportOptions,
) -> Result<StoredRun, ImportError> {
    let source = path.display().to_string();
    // All files have the same label, so that the samples of a run depend only on its contents.
    let label = "asv";
    let (part, about) = with_context(path, label, options, |input, context| {
        asv::read_of_store(input, context, benchmarks)
    })?;
    let mut samples = whole(part, &source, label, options)?;
    if let Some(environment) = about.environment {
        for subject in &mut samples.subjects {
            let value = ParameterValue::from(environment.as_str());
            subject.parameters.push((ENVIRONMENT.to_owned(), value));
        }
    }
    Ok(StoredRun { source, samples, started: about.started })
}
