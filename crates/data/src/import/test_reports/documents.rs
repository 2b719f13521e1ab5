//! Test reports that are one JSON document: those of rspec, jest and vitest, and of
//! pytest-json-report.
//!
//! Consecutive documents are runs of one suite.

use super::{Status, Tests};
use crate::import::json::{self, Number};
use crate::import::{Context, Head, ImportError, Part};
use crate::input::Input;
use serde::Deserialize;
use std::collections::HashMap;

pub(in crate::import) fn recognise_rspec(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json() && has("\"examples\"") && has("\"full_description\"")
}

pub(in crate::import) fn recognise_jest(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json() && has("\"numTotalTests\"") && has("\"testResults\"") && !has_benchmark(head)
}

/// Returns true if any test has benchmarks. Since version 5 of vitest, every test has a list of
/// benchmarks, which is empty for ordinary tests.
pub(in crate::import) fn has_benchmark(head: &Head<'_>) -> bool {
    head.text.split("\"benchmarks\"").skip(1).any(|rest| {
        let begin: String = rest.chars().filter(|c| !c.is_whitespace()).take(3).collect();
        begin == ":[{"
    })
}

pub(in crate::import) fn recognise_pytest(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json() && has("\"exitcode\"") && has("\"created\"") && has("\"summary\"")
}

#[derive(Deserialize)]
struct Rspec {
    version: Option<String>,
    examples: Vec<Example>,
    /// Messages of rspec, including those about errors outside of examples.
    #[serde(default)]
    messages: Vec<String>,
    #[serde(default)]
    summary: RspecSummary,
}

#[derive(Default, Deserialize)]
struct RspecSummary {
    #[serde(default)]
    errors_outside_of_examples_count: u64,
}

#[derive(Deserialize)]
struct Example {
    full_description: String,
    #[serde(default)]
    file_path: String,
    status: String,
    #[serde(default, deserialize_with = "json::some_time")]
    run_time: Option<Number>,
    exception: Option<FailureMessage>,
}

#[derive(Deserialize)]
struct FailureMessage {
    #[serde(default)]
    message: Option<String>,
}

/// Reads `rspec --format json`. Examples are named by their file and their description.
pub(in crate::import) fn read_rspec(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "rspec")?;
    let mut result = Ok(());
    let expected =
        "rspec's results: `{\"examples\": [{\"full_description\": …, \"run_time\": …}, …]}`";
    json::read_all(input, expected, |run: Rspec| {
        tests.begin_run();
        if let Some(version) = &run.version {
            tests.recorder.tool(&format!("rspec {version}"));
        }
        if run.summary.errors_outside_of_examples_count > 0 {
            let count = run.summary.errors_outside_of_examples_count;
            let of_error = |text: &&str| text.starts_with("An error occurred");
            let errors = run.messages.iter().map(|text| text.trim()).filter(of_error);
            let first = errors.map(|text| text.lines().next().unwrap_or_default()).next();
            tests.fault(format!(
                "{count} {} outside of examples{}",
                if count == 1 { "error" } else { "errors" },
                first.map(|text| format!(": {text}")).unwrap_or_default()
            ));
        }
        for example in &run.examples {
            let status = match example.status.as_str() {
                "failed" => Status::Failed,
                "pending" => Status::Skipped,
                _ => Status::Passed,
            };
            let file = example.file_path.trim_start_matches("./");
            let name = joined(file, &example.full_description);
            let added = tests.add(&name, example.run_time.map(|time| time.0), status);
            result = std::mem::replace(&mut result, Ok(())).and(added);
            tests.more(|test| {
                test.file = Some(file.to_owned());
                test.message = example.exception.as_ref().and_then(|said| said.message.clone());
            });
        }
    })?;
    finished(tests, result, "examples without `run_time`")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Jest {
    #[serde(default, rename = "numRuntimeErrorTestSuites")]
    of_jest: Option<u64>,
    test_results: Vec<TestFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TestFile {
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    full_name: String,
    status: String,
    #[serde(default, deserialize_with = "json::some_time")]
    duration: Option<Number>,
    #[serde(default)]
    failure_messages: Vec<String>,
}

/// Reads `jest --json` and `vitest --reporter=json`. Times are in milliseconds, which jest rounds
/// to whole numbers.
pub(in crate::import) fn read_jest(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "vitest")?;
    let mut result = Ok(());
    let expected =
        "results of jest or vitest: `{\"testResults\": [{\"assertionResults\": […]}, …]}`";
    json::read_all(input, expected, |run: Jest| {
        tests.begin_run();
        if run.of_jest.is_some() {
            tests.recorder.tool("jest");
        }
        let files: Vec<&str> = run.test_results.iter().map(|file| file.name.as_str()).collect();
        for (file, short) in run.test_results.iter().zip(short_paths(&files)) {
            // A file that can't be loaded, or whose hooks failed, is a failed test.
            if file.status == "failed"
                && !file.assertion_results.iter().any(|test| test.status == "failed")
            {
                let added = tests.add(&short, None, Status::Failed);
                result = std::mem::replace(&mut result, Ok(())).and(added);
                tests.more(|own| {
                    own.file = Some(file.name.clone());
                    own.message = Some(file.message.clone()).filter(|said| !said.is_empty());
                });
            } else if file.assertion_results.is_empty() && !file.message.is_empty() {
                tests.broken(&short);
            }
            for test in &file.assertion_results {
                let status = match test.status.as_str() {
                    "failed" => Status::Failed,
                    "passed" => Status::Passed,
                    _ => Status::Skipped,
                };
                let seconds = test.duration.map(|time| time.0 / 1e3);
                let added = tests.add(&joined(&short, test.full_name.trim()), seconds, status);
                result = std::mem::replace(&mut result, Ok(())).and(added);
                tests.more(|own| {
                    own.file = Some(file.name.clone());
                    own.message = test.failure_messages.first().cloned();
                });
            }
        }
    })?;
    finished(tests, result, "tests without `duration`")
}

#[derive(Deserialize)]
struct Pytest {
    #[serde(default)]
    tests: Vec<Item>,
    /// Files and classes that were searched for tests.
    #[serde(default)]
    collectors: Vec<Collector>,
}

#[derive(Deserialize)]
struct Collector {
    nodeid: String,
    outcome: String,
}

#[derive(Deserialize)]
struct Item {
    nodeid: String,
    outcome: String,
    setup: Option<Stage>,
    call: Option<Stage>,
    teardown: Option<Stage>,
}

#[derive(Deserialize)]
struct Stage {
    #[serde(default, deserialize_with = "json::some_time")]
    duration: Option<Number>,
    crash: Option<FailureMessage>,
}

/// Reads pytest-json-report. As in pytest's own XML, the time of a test includes its setup and
/// teardown.
pub(in crate::import) fn read_pytest(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "pytest")?;
    let mut result = Ok(());
    let expected = "a report of pytest: `{\"exitcode\": …, \"tests\": [{\"nodeid\": …}, …]}`";
    json::read_all(input, expected, |run: Pytest| {
        tests.begin_run();
        for failed in run.collectors.iter().filter(|collector| collector.outcome == "failed") {
            tests.broken(&failed.nodeid);
        }
        for item in &run.tests {
            let status = match item.outcome.as_str() {
                "failed" | "error" => Status::Failed,
                "skipped" => Status::Skipped,
                _ => Status::Passed,
            };
            let stages = [&item.setup, &item.call, &item.teardown].into_iter().flatten();
            let times: Vec<f64> =
                stages.filter_map(|stage| stage.duration.and_then(Number::finite)).collect();
            let seconds = (!times.is_empty()).then(|| times.iter().sum());
            let added = tests.add(&item.nodeid, seconds, status);
            result = std::mem::replace(&mut result, Ok(())).and(added);
            tests.more(|test| {
                test.file = item.nodeid.split_once("::").map(|(file, _)| file.to_owned());
                let stages = [&item.setup, &item.call, &item.teardown].into_iter().flatten();
                let mut crashes = stages.filter_map(|stage| stage.crash.as_ref());
                test.message = crashes.find_map(|said| said.message.clone());
            });
        }
    })?;
    finished(tests, result, "tests without `duration`")
}

fn finished(
    tests: Tests<'_>,
    result: Result<(), String>,
    holds: &'static str,
) -> Result<Part, ImportError> {
    match result {
        Ok(()) => tests.finish(holds),
        Err(problem) => Err(tests.recorder.whole_file(problem)),
    }
}

fn joined(file: &str, name: &str) -> String {
    if file.is_empty() { name.to_owned() } else { format!("{file}: {name}") }
}

/// Returns the last component of every path, preceded by as many others as are needed to
/// distinguish the paths. The whole path is not used, because a name must not contain the location
/// of the project.
pub(in crate::import) fn short_paths(paths: &[&str]) -> Vec<String> {
    let tail = |path: &str, depth: usize| -> String {
        let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
        parts[parts.len().saturating_sub(depth)..].join("/")
    };
    let mut short: Vec<String> = paths.iter().map(|path| tail(path, 1)).collect();
    for depth in 2..=MOST_PARTS {
        let mut times: HashMap<String, usize> = HashMap::new();
        short.iter().for_each(|name| *times.entry(name.clone()).or_default() += 1);
        if times.len() == short.len() {
            break;
        }
        for (name, path) in short.iter_mut().zip(paths) {
            if times.get(name).is_some_and(|times| *times > 1) {
                *name = tail(path, depth);
            }
        }
    }
    short
}

/// Maximum number of path components in a name.
const MOST_PARTS: usize = 16;
