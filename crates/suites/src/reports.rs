//! Converts reports of frameworks to runs. They are read by the importers that also read a user's
//! report files.

use crate::asking::Answer;
use crate::error::SuiteError;
use crate::run::{Process, Run, Test, TestStatus, Unfinished};
use assay_data::import::{self, ImportError};
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
        Ok(bytes) if bytes.is_empty() => Err(SuiteError::NoReport { said: answer.message() }),
        Ok(bytes) => of_bytes(bytes, &path.display().to_string()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(SuiteError::NoReport { said: answer.message() })
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

/// Parses the report in a command's output; `None` if there is none. XML may have other lines
/// before and after it, such as those of `npm test`.
///
/// # Errors
/// If there is a report that cannot be parsed.
pub(crate) fn printed(output: &[u8]) -> Result<Option<TestResults>, SuiteError> {
    let bytes = text_of(output).into_bytes();
    const NAME: &str = "(standard output)";
    let xml = xml_within(&bytes).map(<[u8]>::to_vec);
    let first = match import::read_tests(bytes, NAME) {
        Ok(results) => return Ok(Some(results)),
        Err(error) => error,
    };
    let is_unknown = matches!(first, ImportError::Unknown { .. });
    let error = match xml {
        Some(xml) => match import::read_tests(xml, NAME) {
            Ok(results) => return Ok(Some(results)),
            Err(second) if is_unknown => second,
            Err(_) => first,
        },
        None if is_unknown => return Ok(None),
        None => first,
    };
    Err(SuiteError::Garbage { what: NAME.to_owned(), why: error.to_string() })
}

/// Converts output to text. UTF-16 is recognized by its byte order mark. Anything else is read as
/// UTF-8, and invalid bytes are replaced, since other output of the program may have another
/// encoding.
fn text_of(output: &[u8]) -> String {
    let of_units = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest.chunks_exact(2).map(|own| unit([own[0], own[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match output {
        [0xff, 0xfe, rest @ ..] => of_units(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => of_units(rest, u16::from_be_bytes),
        _ => String::from_utf8_lossy(output).into_owned(),
    }
}

/// Returns the part of a text from the first line that begins like JUnit's XML to the last end of a
/// suite; `None` if there is no such line.
fn xml_within(bytes: &[u8]) -> Option<&[u8]> {
    let text = std::str::from_utf8(bytes).ok()?;
    let begins = |line: &str| {
        let line = line.trim_start();
        line.starts_with("<?xml") || line.starts_with("<testsuite")
    };
    let mut at = 0;
    let first = text.split_inclusive('\n').find_map(|line| {
        at += line.len();
        begins(line).then(|| at - line.len())
    })?;
    let text = &text[first..];
    let ends = ["</testsuites>", "</testsuite>"];
    let end = ends.iter().filter_map(|end| Some(text.rfind(end)? + end.len())).max();
    Some(&text.as_bytes()[..end.unwrap_or(text.len())])
}

/// Converts a report to a run. `framework` is the name used if the report does not contain one that
/// begins with it.
pub(crate) fn run(results: TestResults, framework: &str, answer: &Answer<'_>) -> Run {
    let known = results.tool.clone().filter(|tool| tool.to_lowercase().starts_with(framework));
    let moment = |since_1970: f64| since_1970 - answer.since_1970;
    // If a report has times for groups (packages), the groups are what runs in parallel.
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
        output: test.output.clone(),
        retries: test.retries,
        ..Test::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_found_among_other_lines_and_an_error_in_it_is_told() {
        let xml = "<?xml version=\"1.0\"?>\n<testsuite><testcase name=\"a\"><failure/></testcase></testsuite>";
        let around = format!("> x@1.0.0 test\n> mocha\n\n{xml}\nDone in 2 s\n");
        for text in [xml, &around] {
            let tests = printed(text.as_bytes()).unwrap().unwrap().tests;
            assert_eq!((tests.len(), tests[0].status), (1, TestStatus::Failed));
        }
        let refused = |bytes: &[u8]| printed(bytes).unwrap_err().to_string();
        assert!(refused(b"npm\n<testsuite><testcase name=\"a\">").contains("breaks off"));
        assert!(
            refused(b"<testsuite><testcase time=\"1\"/></testsuite>").contains("without a name")
        );
        let wide = "1..1\nnot ok 1 a\n".encode_utf16();
        let little: Vec<u8> = wide.clone().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = wide.flat_map(u16::to_be_bytes).collect();
        for bytes in [[b"\xff\xfe", &little[..]].concat(), [b"\xfe\xff", &big[..]].concat()] {
            assert_eq!(printed(&bytes).unwrap().unwrap().tests[0].status, TestStatus::Failed);
        }
        assert!(printed(b"all is well\n").unwrap().is_none());
    }
}
