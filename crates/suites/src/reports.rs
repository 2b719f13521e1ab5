//! Converts reports of frameworks to runs. They are read by the importers that also read a user's
//! report files.

use crate::asking::Answer;
use crate::error::SuiteError;
use crate::run::{Process, Run, Test, TestStatus, Unfinished};
use assay_data::import;
use assay_data::test_results::{TestResult, TestResults};
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Reads a report file written by a run.
///
/// # Errors
/// If the file does not exist or cannot be read.
pub(crate) fn of_file(path: &Path, answer: &Answer<'_>) -> Result<TestResults, SuiteError> {
    match fs::read(path) {
        Ok(bytes) if bytes.is_empty() => Err(SuiteError::NoReport { said: answer.said() }),
        Ok(bytes) => of_bytes(bytes, &path.display().to_string()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(SuiteError::NoReport { said: answer.said() })
        }
        Err(source) => Err(SuiteError::unreadable(path, source)),
    }
}

/// Parses a report.
///
/// # Errors
/// If it cannot be parsed.
pub(crate) fn of_bytes(bytes: Vec<u8>, name: &str) -> Result<TestResults, SuiteError> {
    import::read_tests(bytes, name)
        .map_err(|error| SuiteError::Garbage { what: name.to_owned(), why: error.to_string() })
}

/// Converts a report to a run. `framework` is the name used if the report does not contain one.
pub(crate) fn run(results: TestResults, framework: &str, answer: &Answer<'_>) -> Run {
    let known = results.tool.clone().filter(|tool| tool.to_lowercase().starts_with(framework));
    let moment = |since_1970: f64| since_1970 - answer.since_1970;
    // If a report has times for groups (packages), these are what runs in parallel.
    let processes: Vec<Process> = results
        .groups
        .iter()
        .map(|(name, began, ended)| Process {
            name: name.clone(),
            began: Some(moment(*began)),
            ended: Some(moment(*ended)),
        })
        .collect();
    let process_of = |test: &TestResult| {
        let group = results.groups.iter().position(|(name, ..)| Some(name) == test.file.as_ref());
        group.unwrap_or(0)
    };
    let tests = results.tests.iter().map(|test| Test {
        began: test.span.map(|(began, _)| moment(began)),
        ended: test.span.map(|(_, ended)| moment(ended)),
        process: process_of(test),
        ..of_result(test)
    });
    Run {
        framework: known.unwrap_or_else(|| framework.to_owned()),
        tests: tests.collect(),
        processes,
        unfinished: results
            .unfinished
            .iter()
            .map(|name| Unfinished { name: name.clone(), ..Unfinished::default() })
            .collect(),
        faults: results.faults.clone(),
        ..Run::default()
    }
}

/// Returns a name that no other test of the run has: duplicates after the first are numbered.
pub(crate) fn unique(names: &mut HashSet<String>, name: String) -> String {
    let mut own = name.clone();
    let mut times = 1;
    while !names.insert(own.clone()) {
        times += 1;
        own = format!("{name} #{times}");
    }
    own
}

/// Converts a test of a report.
pub(crate) fn of_result(test: &TestResult) -> Test {
    Test {
        name: test.name.clone(),
        file: test.file.clone(),
        seconds: test.seconds.filter(|_| test.status != TestStatus::Skipped),
        status: test.status,
        message: test.message.clone(),
        retries: test.retries,
        ..Test::default()
    }
}
