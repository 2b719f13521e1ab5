//! Reports of frameworks as runs: what they say of each test, read by the importers that read a user's file, too.

use crate::asking::Answer;
use crate::error::SuiteError;
use crate::run::{Process, Run, Test, TestStatus, Unfinished};
use assay_data::import;
use assay_data::test_results::{TestResult, TestResults};
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Reads the report in a file that the run left.
///
/// # Errors
/// When it is not there, or can't be read.
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

/// Reads a report.
///
/// # Errors
/// When it can't be read.
pub(crate) fn of_bytes(bytes: Vec<u8>, name: &str) -> Result<TestResults, SuiteError> {
    import::read_tests(bytes, name)
        .map_err(|error| SuiteError::Garbage { what: name.to_owned(), why: error.to_string() })
}

/// A report as a run. `framework` is what it is called where the report doesn't say.
pub(crate) fn run(results: TestResults, framework: &str, answer: &Answer<'_>) -> Run {
    let known = results.tool.clone().filter(|tool| tool.to_lowercase().starts_with(framework));
    let moment = |since_1970: f64| since_1970 - answer.since_1970;
    // What runs beside one another are the groups (packages) of a report that has their times.
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

/// A name that no other test of the run has: of several of one name those after the first are numbered.
pub(crate) fn unique(names: &mut HashSet<String>, name: String) -> String {
    let mut own = name.clone();
    let mut times = 1;
    while !names.insert(own.clone()) {
        times += 1;
        own = format!("{name} #{times}");
    }
    own
}

/// A test of a report.
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
