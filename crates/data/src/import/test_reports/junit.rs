//! JUnit XML, of which nearly every test framework writes a different dialect: Surefire, Gradle,
//! pytest, rspec, jest, vitest, node, nextest, gotestsum, ctest, GoogleTest, Catch2, minitest.
//!
//! A test is named after its class and its own name, unless its name begins with that of the class.
//! If tests have no class (node), the groups that contain the test are used instead. `<failure>`
//! and `<error>` mean that the test failed. `<skipped>`, or a corresponding status, means that it
//! did not run, except for pytest's `xfail`, which ran and failed as expected. ctest also writes
//! `notrun` for tests that it could not start (no program, no required file, a failed fixture).
//! Those have failed, as ctest itself reports. Failed attempts before the last one
//! (`<flakyFailure>`, `<rerunFailure>`) are counted as retries. If a whole suite failed, or if a
//! report declares failures without naming any failed test, an error is recorded for the report as
//! a whole. node leaves out tests that contain others, but counts them in comments.

use super::{Status, Tests};
use crate::import::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::number::{self, Marks};
use crate::xml::{Tag, Xml, attributes, unescaped};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

pub(in crate::import) fn recognise(head: &Head<'_>) -> bool {
    head.text.trim_start().starts_with('<')
        && ["<testsuites", "<testsuite ", "<testsuite\n", "<testsuite\r", "<testsuite>"]
            .iter()
            .any(|root| head.text.contains(root))
}

/// Lowercase values of a test's `status` or `result` that mean failure. `xpass` is an unexpected
/// pass in Qt Test.
const FAILED: [&str; 15] = [
    "fail",
    "failed",
    "failure",
    "error",
    "errored",
    "broken",
    "aborted",
    "crash",
    "crashed",
    "killed",
    "interrupted",
    "timeout",
    "timedout",
    "timed_out",
    "xpass",
];

/// Number of bytes kept of a message that is the text of an element.
const MAX_MESSAGE: usize = 4096;
/// Number of bytes kept of the outputs of all tests.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// A `<testsuite>` or `<testsuites>` element.
#[derive(Default)]
struct Suite {
    name: String,
    host: String,
}

impl Suite {
    fn name(&self) -> &str {
        &self.name
    }

    fn host(&self) -> &str {
        &self.host
    }
}

/// A `<testcase>` element.
struct Case {
    name: String,
    /// The innermost suite.
    suite: Rc<Suite>,
    seconds: Option<f64>,
    status: Status,
    message: Option<String>,
    output: Option<String>,
    file: Option<String>,
    line: u64,
    /// True if the status of the test is `notrun`.
    is_not_run: bool,
    /// Number of failed attempts before the last one.
    retries: u32,
}

/// Number of failures that a report declares, to be compared with the failed tests that it lists.
#[derive(Default)]
struct FailureCount {
    /// The largest number of failures and errors declared by a suite.
    declared: u64,
    /// Number of failed or cancelled tests according to node's comments.
    commented: u64,
    /// Number of failed tests.
    failed: u64,
}

impl FailureCount {
    /// Adds the number of a comment such as `fail 2`.
    fn see(&mut self, comment: &str) {
        if let Some(("fail" | "cancelled", count)) = comment.split_once(' ') {
            self.commented += count.parse().unwrap_or(0);
        }
    }

    /// Returns an error if the report counts failures that it does not name.
    fn fault(&self) -> Option<String> {
        if self.commented > self.failed {
            return Some(format!(
                "the report counts {} failed tests and names {}; node leaves out tests that contain others",
                self.commented, self.failed
            ));
        }
        let failures = if self.declared == 1 { "failure" } else { "failures" };
        (self.declared > 0 && self.failed == 0).then(|| {
            format!("the report counts {} {failures}, but names no test that failed", self.declared)
        })
    }
}

pub(in crate::import) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "JUnit XML")?;
    let mut xml = Xml::new(input.into_reader(), context.file);
    // The open suites.
    let mut suites: Vec<Rc<Suite>> = Vec::new();
    let mut cases: Vec<Case> = Vec::new();
    let mut case: Option<Case> = None;
    let mut has_started = false;
    let mut counted = FailureCount::default();
    let mut room_for_output = MAX_OUTPUT;
    loop {
        let depth = xml.depth();
        let Some(tag) = xml.next_tag()? else { break };
        match tag {
            Tag::Open { name: "testsuites" | "testsuite", text } if case.is_none() => {
                if depth == 0 {
                    tests.begin_run();
                    suites.clear();
                }
                let mut own = Suite::default();
                let mut declared = 0;
                for (key, value) in attributes(text) {
                    match key {
                        "name" => own.name = value.into_owned(),
                        "failures" | "errors" => declared += value.trim().parse().unwrap_or(0),
                        // The total time of the tests is not read, but it shows the meaning of
                        // points and commas in the file.
                        "time" => context.marks.see(value.trim()),
                        "timestamp" if !has_started && !value.starts_with("0001") => {
                            tests.recorder.started(&value);
                            has_started = true;
                        }
                        "hostname" if !value.is_empty() => {
                            own.host = value.clone().into_owned();
                            tests.recorder.fact("hostname", value.into_owned());
                        }
                        _ => {}
                    }
                }
                suites.push(Rc::new(own));
                counted.declared = counted.declared.max(declared);
            }
            Tag::Open { name: "testcase", text } if case.is_none() => {
                let time = |text: &str| tests.time(time(text, context.marks));
                let opened = opened(text, &suites, time).map_err(|problem| xml.wrong(problem))?;
                case = Some(Case { line: xml.line(), ..opened });
            }
            Tag::Open { name, text } => {
                let message = || {
                    let message = attributes(text).find(|(key, _)| *key == "message");
                    message.map(|(_, message)| message.into_owned()).filter(|own| !own.is_empty())
                };
                let Some(case) = &mut case else {
                    if matches!(name, "failure" | "error") && !suites.is_empty() {
                        tests.fault(of_suite(&suites, message()));
                    }
                    continue;
                };
                match name {
                    "failure" | "error" => {
                        case.status = Status::Failed;
                        case.message = case.message.take().or(message());
                    }
                    "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError" => {
                        case.retries += 1;
                        case.message = case.message.take().or(message());
                    }
                    "skipped" if case.is_not_run && could_not_start(text) => {
                        (case.status, case.seconds) = (Status::Failed, None);
                        case.message = case.message.take().or(message());
                    }
                    "skipped" if case.status == Status::Passed && !is_expected_failure(text) => {
                        case.status = Status::Skipped;
                    }
                    _ => {}
                }
            }
            Tag::Close { name: "testcase", .. } => {
                if let Some(case) = case.take() {
                    counted.failed += u64::from(case.status == Status::Failed);
                    cases.push(case);
                }
            }
            Tag::Close { name: "testsuites" | "testsuite", .. } if case.is_none() => {
                suites.pop();
                if suites.is_empty() {
                    add_all(&mut tests, std::mem::take(&mut cases))?;
                }
            }
            // Some dialects have the message as text only.
            Tag::Close { name: "failure" | "error", before } => {
                if let Some(case) = case.as_mut().filter(|case| case.message.is_none()) {
                    let said = before.trim();
                    let said = unescaped(&said[..said.floor_char_boundary(MAX_MESSAGE)]);
                    case.message = Some(said.into_owned()).filter(|said| !said.is_empty());
                }
            }
            Tag::Close { name: "system-out", before } => {
                if let Some(case) = case.as_mut().filter(|_| before.len() <= room_for_output) {
                    room_for_output -= before.len();
                    case.output = Some(unescaped(before).into_owned());
                }
            }
            Tag::Comment { text } if case.is_none() && depth == 1 => counted.see(text),
            Tag::Close { .. } | Tag::Comment { .. } => {}
        }
    }
    add_all(&mut tests, cases)?;
    if let Some(fault) = counted.fault().filter(|_| !tests.has_fault()) {
        tests.fault(fault);
    }
    tests.finish("tests without times (`<testcase time=\"…\">`)")
}

/// Adds the tests of a report. If several suites have a test of the same name, it is distinguished
/// by the host (the browser in Playwright's reports) or, if the hosts are equal, by the name of the
/// suite.
fn add_all(tests: &mut Tests<'_>, cases: Vec<Case>) -> Result<(), ImportError> {
    let cases = last_attempts(cases);
    // For each name, the first suite with such a test, and whether other suites differ from it in
    // their hosts and in their names.
    let mut suites: HashMap<&str, (&Suite, bool, bool)> = HashMap::new();
    for Case { name, suite, .. } in &cases {
        let (first, hosts_differ, names_differ) =
            suites.entry(name).or_insert((suite, false, false));
        *hosts_differ |= first.host != suite.host;
        *names_differ |= first.name != suite.name;
    }
    let addition = |case: &Case| match suites[&*case.name] {
        (_, true, _) => Some(Suite::host as fn(&Suite) -> &str),
        (_, _, true) => Some(Suite::name as fn(&Suite) -> &str),
        _ => None,
    };
    let additions: Vec<_> = cases.iter().map(addition).collect();
    for (case, addition) in cases.into_iter().zip(additions) {
        let name = match addition.map(|of| of(&case.suite)).filter(|own| !own.is_empty()) {
            Some(own) => format!("{} [{own}]", case.name),
            None => case.name,
        };
        let added = tests.add(&name, case.seconds, case.status);
        added.map_err(|problem| tests.recorder.at(case.line, problem))?;
        tests.more(|test| {
            (test.message, test.output) = (case.message, case.output);
            (test.file, test.retries) = (case.file, case.retries);
        });
    }
    Ok(())
}

/// Keeps the last attempt of every test of pytest-rerunfailures, which writes a test for each
/// attempt. Failed attempts have no `<failure>`.
fn last_attempts(cases: Vec<Case>) -> Vec<Case> {
    let mut kept: Vec<Case> = Vec::with_capacity(cases.len());
    for mut case in cases {
        let is_again = |last: &mut Case| {
            case.suite.name == "pytest"
                && Rc::ptr_eq(&last.suite, &case.suite)
                && (&last.name, last.status) == (&case.name, Status::Passed)
        };
        if let Some(failed) = kept.pop_if(is_again) {
            case.retries = failed.retries + 1;
        }
        kept.push(case);
    }
    kept
}

/// Returns the error message for the innermost named suite, which failed as a whole.
fn of_suite(suites: &[Rc<Suite>], message: Option<String>) -> String {
    let named = suites.iter().map(|suite| &suite.name).rev().find(|own| !own.is_empty());
    let suite = named.map_or("a suite".to_owned(), |own| format!("the suite `{own}`"));
    match message {
        Some(message) => format!("{suite} failed: {message}"),
        None => format!("{suite} failed as a whole"),
    }
}

/// Returns true if ctest gives a reason why it could not start the test, as opposed to a skip that
/// was requested.
fn could_not_start(text: &str) -> bool {
    let message = attributes(text).find(|(key, _)| *key == "message");
    message.is_some_and(|(_, why)| {
        !why.trim().is_empty() && !why.starts_with("SKIP_") && &*why != "Disabled"
    })
}

fn is_expected_failure(text: &str) -> bool {
    attributes(text).any(|(key, value)| key == "type" && value == "pytest.xfail")
}

fn opened(
    text: &str,
    suites: &[Rc<Suite>],
    time: impl Fn(&str) -> Result<Option<f64>, String>,
) -> Result<Case, String> {
    let (mut name, mut class) = (Cow::Borrowed(""), Cow::Borrowed(""));
    let (mut seconds, mut file) = (None, None);
    let mut status = Status::Passed;
    let mut is_not_run = false;
    for (key, value) in attributes(text) {
        match key {
            "name" => name = value,
            "classname" => class = value,
            "time" => seconds = time(&value)?,
            "file" => file = Some(value.into_owned()),
            // A test may have both attributes. For GoogleTest, `status` states whether the test
            // ran.
            "status" | "result" if status != Status::Failed => match &*value.to_ascii_lowercase() {
                "notrun" => (status, is_not_run) = (Status::Skipped, true),
                "disabled" | "skipped" | "suppressed" | "ignored" => {
                    status = Status::Skipped;
                }
                own if FAILED.contains(&own) => status = Status::Failed,
                _ => {}
            },
            _ => {}
        }
    }
    let groups = match class.trim() {
        // node gives every test the class name `test`.
        "" | "test" => {
            let inner = suites.get(1..).unwrap_or_default().iter();
            let names = inner.map(|suite| &*suite.name).filter(|own| !own.is_empty());
            names.collect::<Vec<_>>().join(": ")
        }
        class => class.to_owned(),
    };
    let name = name.trim();
    let name = match (groups.as_str(), name) {
        (groups, "") => groups.to_owned(),
        ("", name) => name.to_owned(),
        (groups, name) if begins_with(name, groups) => name.to_owned(),
        (groups, name) => format!("{groups}: {name}"),
    };
    if name.is_empty() {
        return Err("`<testcase>` without a name".to_owned());
    }
    let (message, output, line, retries) = Default::default();
    let suite = suites.last().cloned().unwrap_or_default();
    Ok(Case { name, suite, seconds, status, message, output, file, line, is_not_run, retries })
}

/// Returns true if a name begins with `words` and no word continues after it: `test_suite` does not
/// begin with `test_s`.
fn begins_with(name: &str, words: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    name.strip_prefix(words)
        .is_some_and(|rest| !(words.ends_with(is_of_word) && rest.starts_with(is_of_word)))
}

/// Parses a `time` attribute into seconds, or `None` if it is empty. Surefire groups digits with
/// commas, and other tools use the user's locale.
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
