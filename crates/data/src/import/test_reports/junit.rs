//! JUnit's XML, which nearly every test framework writes in a dialect of its own: Surefire, Gradle, pytest, rspec, jest, vitest, node,
//! nextest, gotestsum, ctest, GoogleTest, Catch2, minitest.
//!
//! A test is called by its class and its own name, unless one is the beginning of the other; below groups within a suite (node) by those.
//! `<failure>` and `<error>` mean that it failed; `<skipped>`, or a status that says so, that it did not run, except for pytest's `xfail`, which
//! ran and failed as expected.

use super::{Status, Tests};
use crate::import::xml::{Tag, Xml, attributes};
use crate::import::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::number::{self, Marks};
use std::borrow::Cow;

pub(in crate::import) fn recognise(head: &Head<'_>) -> bool {
    head.text.trim_start().starts_with('<')
        && ["<testsuites", "<testsuite ", "<testsuite\n", "<testsuite\r", "<testsuite>"]
            .iter()
            .any(|root| head.text.contains(root))
}

/// A test whose element is open.
struct Case {
    name: String,
    seconds: Option<f64>,
    status: Status,
    message: Option<String>,
    file: Option<String>,
    line: u64,
}

pub(in crate::import) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "JUnit XML")?;
    let mut xml = Xml::new(input.into_reader(), context.file);
    // Names of the suites that are open, and the test.
    let mut suites: Vec<String> = Vec::new();
    let mut case: Option<Case> = None;
    let mut has_started = false;
    loop {
        let depth = xml.depth();
        let Some(tag) = xml.next()? else { break };
        match tag {
            Tag::Open { name: "testsuites" | "testsuite", text } if case.is_none() => {
                if depth == 0 {
                    tests.begin_run();
                    suites.clear();
                }
                let mut own = String::new();
                for (key, value) in attributes(text) {
                    match key {
                        "name" => own = value.into_owned(),
                        // It is the sum of its tests, and not read; but it shows what marks mean.
                        "time" => context.marks.see(value.trim()),
                        "timestamp" if !has_started && !value.starts_with("0001") => {
                            tests.recorder.started(&value);
                            has_started = true;
                        }
                        "hostname" if !value.is_empty() => {
                            tests.recorder.fact("hostname", value.into_owned());
                        }
                        _ => {}
                    }
                }
                suites.push(own);
            }
            Tag::Open { name: "testcase", text } if case.is_none() => {
                let opened =
                    opened(text, &suites, context.marks).map_err(|problem| xml.wrong(problem))?;
                case = Some(Case { line: xml.line(), ..opened });
            }
            Tag::Open { name, text } => {
                let Some(case) = &mut case else { continue };
                match name {
                    "failure" | "error" => {
                        case.status = Status::Failed;
                        let message = attributes(text).find(|(key, _)| *key == "message");
                        let message = message.map(|(_, message)| message.into_owned());
                        case.message = case.message.take().or(message);
                    }
                    "skipped" if case.status == Status::Passed && !is_expected_failure(text) => {
                        case.status = Status::Skipped;
                    }
                    _ => {}
                }
            }
            Tag::Close { name: "testcase", .. } => {
                if let Some(Case { name, seconds, status, message, file, line }) = case.take() {
                    let added = tests.add(&name, seconds, status);
                    added.map_err(|problem| tests.recorder.at(line, problem))?;
                    tests.more(|test| (test.message, test.file) = (message, file));
                }
            }
            Tag::Close { name: "testsuites" | "testsuite", .. } if case.is_none() => {
                suites.pop();
            }
            Tag::Close { .. } => {}
        }
    }
    tests.finish("tests without times (`<testcase time=\"…\">`)")
}

fn is_expected_failure(text: &str) -> bool {
    attributes(text).any(|(key, value)| key == "type" && value == "pytest.xfail")
}

fn opened(text: &str, suites: &[String], marks: &Marks) -> Result<Case, String> {
    let (mut name, mut class) = (Cow::Borrowed(""), Cow::Borrowed(""));
    let (mut seconds, mut file) = (None, None);
    let mut status = Status::Passed;
    for (key, value) in attributes(text) {
        match key {
            "name" => name = value,
            "classname" => class = value,
            "time" => seconds = time(&value, marks)?,
            "file" => file = Some(value.into_owned()),
            "status" | "result" => match &*value {
                "notrun" | "disabled" | "skipped" | "suppressed" | "ignored" => {
                    status = Status::Skipped;
                }
                "fail" | "failed" => status = Status::Failed,
                _ => {}
            },
            _ => {}
        }
    }
    let groups = match class.trim() {
        // Node's, of every test.
        "" | "test" => {
            let inner = suites.get(1..).unwrap_or_default().iter();
            inner.filter(|own| !own.is_empty()).cloned().collect::<Vec<_>>().join(": ")
        }
        class => class.to_owned(),
    };
    let name = name.trim();
    let name = match (groups.as_str(), name) {
        (groups, "") => groups.to_owned(),
        ("", name) => name.to_owned(),
        (groups, name) if name.starts_with(groups) => name.to_owned(),
        (groups, name) => format!("{groups}: {name}"),
    };
    if name.is_empty() {
        return Err("`<testcase>` without a name".to_owned());
    }
    Ok(Case { name, seconds, status, message: None, file, line: 0 })
}

/// The seconds of a `time` attribute; `None` if it is empty. Surefire groups digits with commas; other tools use the user's locale.
fn time(text: &str, marks: &Marks) -> Result<Option<f64>, String> {
    let plain = text.trim();
    if plain.is_empty() {
        return Ok(None);
    }
    match marks.read(plain).or_else(|| number::plain(plain)) {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(format!("`time=\"{}\"`; expected seconds", crate::excerpt::excerpt(text))),
    }
}
