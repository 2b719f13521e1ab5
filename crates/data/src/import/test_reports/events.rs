//! Test reports that consist of events, one JSON object per line: libtest's JSON (`cargo test`,
//! nextest) and pytest-reportlog.

use super::{Status, Tests};
use crate::import::json::{self, Number};
use crate::import::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::marker::PhantomData;

pub(in crate::import) fn recognise_libtest(head: &Head<'_>) -> bool {
    let is_event = |line: &str| {
        let plain: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        plain.starts_with("{\"type\":\"suite\",\"event\":")
            || plain.starts_with("{\"type\":\"test\",\"event\":")
    };
    head.first.starts_with('{') && (is_event(head.first) || is_event(head.second))
}

pub(in crate::import) fn recognise_reportlog(head: &Head<'_>) -> bool {
    head.first.starts_with('{') && head.first.contains("\"$report_type\"")
}

/// Passes every event of a file to `event`. Tests may print other lines in between, even JSON, and
/// may leave the line before an event unterminated. `within` returns the part of a line that is an
/// event.
fn each<T: for<'de> Deserialize<'de>>(
    input: Input,
    context: &Context<'_>,
    expected: &str,
    within: impl Fn(&str) -> Option<&str>,
    mut event: impl FnMut(T) -> Result<(), String>,
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        let Some(text) = within(line.text) else { continue };
        let place = (context.file, line.number);
        let read: T = json::read_text(text, place, expected, PhantomData)?;
        event(read).map_err(|problem| {
            let place = crate::read_error::FilePosition {
                file: context.file.to_owned(),
                line: line.number,
                column: None,
            };
            crate::read_error::ReadError::Line { place, problem }
        })?;
    }
    Ok(())
}

/// Returns the line if it is an object with this key.
fn object_with<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let is_object = line.trim_start().starts_with('{');
    (is_object && line.contains(key)).then_some(line)
}

fn log_event(line: &str) -> Option<&str> {
    object_with(line, "\"$report_type\"")
}

#[derive(Deserialize)]
struct LibtestEvent {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    event: String,
    #[serde(default)]
    name: String,
    #[serde(default, deserialize_with = "json::some_time")]
    exec_time: Option<Number>,
    stdout: Option<String>,
    reason: Option<String>,
}

/// Reads libtest's JSON, as written by
/// `cargo test -- -Zunstable-options --format json --report-time` and
/// `cargo nextest run --message-format libtest-json`.
pub(in crate::import) fn read_libtest(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "libtest")?;
    let expected = "events of libtest: `{\"type\": \"test\", \"event\": \"ok\", \"name\": …}`";
    // Every start of a binary adds a list. The first one is for tests that end before any start.
    let mut binaries: Vec<Binary> = vec![Binary::new()];
    // Tests in progress. Nextest runs several binaries at once.
    let mut running: BTreeSet<String> = BTreeSet::new();
    each(input, context, expected, libtest_event, |event: LibtestEvent| {
        if let (Some(kept), "suite", Some(time)) =
            (tests.kept, event.kind.as_str(), event.exec_time.and_then(Number::finite))
        {
            kept.borrow_mut().groups.push((String::new(), 0.0, time));
        }
        let (name, retries) = attempts(&event.name);
        let status = match (event.kind.as_str(), event.event.as_str()) {
            ("test", "ok") => Status::Passed,
            ("test", "failed") => Status::Failed,
            ("test", "ignored") => Status::Skipped,
            ("test", "started") => {
                running.insert(name.to_owned());
                return Ok(());
            }
            ("suite", "started") => {
                // A test of `cargo test` that has not ended before the next binary starts never
                // ends.
                tests.all_broken(running.extract_if(.., |name| !is_of_nextest(name)));
                binaries.push(Binary::new());
                return Ok(());
            }
            // Among others, `timeout` events are ignored. They mean that a test has been running
            // for a minute, not that it ended.
            _ => return Ok(()),
        };
        running.remove(name);
        let is_explained = tests.kept.is_some() && status == Status::Failed;
        let ended = EndedTest {
            name: name.to_owned(),
            seconds: event.exec_time.map(|time| time.0),
            status,
            message: event.stdout.or(event.reason).filter(|_| is_explained),
            retries,
        };
        if let Some(binary) = binaries.last_mut() {
            binary.push(ended);
        }
        Ok(())
    })?;
    if binaries[0].is_empty() {
        binaries.remove(0);
    }
    let added = add_binaries(&mut tests, &binaries);
    added.map_err(|problem| tests.recorder.whole_file(problem))?;
    tests.all_broken(running.into_iter());
    tests.finish(
        "events without times of tests; enable them: `-- -Zunstable-options --report-time` (benchmarks are read from the text that `cargo bench` prints)",
    )
}

/// The tests of one run of a test binary, in the order in which they ended.
type Binary = Vec<EndedTest>;

struct EndedTest {
    name: String,
    seconds: Option<f64>,
    status: Status,
    message: Option<String>,
    retries: u32,
}

/// Adds the tests of all binaries. `cargo test` does not name the binaries. If the whole sequence
/// of binaries repeats, the suite was run several times; otherwise, equal names are different
/// tests. The names of nextest are unique.
fn add_binaries(tests: &mut Tests<'_>, binaries: &[Binary]) -> Result<(), String> {
    let per_run = if tests.kept.is_some() { binaries.len() } else { binaries_per_run(binaries) };
    for run in binaries.chunks(per_run.max(1)) {
        tests.begin_run();
        for test in run.iter().flatten() {
            if is_of_nextest(&test.name) {
                tests.observe(&test.name, test.seconds, test.status)?;
            } else {
                tests.add(&test.name, test.seconds, test.status)?;
            }
            tests.more(|own| {
                own.message.clone_from(&test.message);
                own.retries = test.retries;
            });
        }
    }
    Ok(())
}

/// Returns true for the name of a nextest test, `CRATE::BINARY$TEST`.
fn is_of_nextest(name: &str) -> bool {
    name.contains('$')
}

/// Returns the number of binaries in one run: the smallest number after which all binaries repeat,
/// with the same tests.
fn binaries_per_run(binaries: &[Binary]) -> usize {
    let names: Vec<HashSet<&str>> =
        binaries.iter().map(|tests| tests.iter().map(|test| &*test.name).collect()).collect();
    let count = names.len();
    let repeats = |&period: &usize| {
        count.is_multiple_of(period) && (period..count).all(|at| names[at] == names[at % period])
    };
    (1..count).find(repeats).unwrap_or(count)
}

/// Returns the part of a line that is an event of libtest: from `{ "type": "test"`, or another of
/// its types, to the end.
fn libtest_event(line: &str) -> Option<&str> {
    line.match_indices('{').map(|(at, _)| &line[at..]).find(|rest| {
        let mut plain = rest.chars().filter(|c| !c.is_whitespace());
        let mut has = |text: &str| text.chars().all(|c| plain.next() == Some(c));
        has("{\"type\":\"") && {
            let kind: String = plain.take_while(|c| *c != '"').collect();
            ["suite", "test", "bench", "report"].contains(&&*kind)
        }
    })
}

/// Splits the name of a nextest test from the number of the attempt, which
/// follows a `#` if there were several. Returns the name and the number of attempts before the last
/// one.
fn attempts(name: &str) -> (&str, u32) {
    let counted = name.rsplit_once('#').filter(|(test, _)| is_of_nextest(test));
    let counted = counted.and_then(|(test, times)| Some((test, times.parse::<u32>().ok()?)));
    counted.map_or((name, 0), |(test, times)| (test, times.saturating_sub(1)))
}

#[derive(Deserialize)]
struct LogEvent {
    #[serde(rename = "$report_type")]
    kind: String,
    #[serde(default)]
    nodeid: String,
    #[serde(default)]
    when: String,
    #[serde(default)]
    outcome: String,
    wasxfail: Option<serde_json::Value>,
    #[serde(default, deserialize_with = "json::some_time")]
    duration: Option<Number>,
    pytest_version: Option<String>,
}

/// The reports so far of a test, or of an attempt of pytest-rerunfailures.
#[derive(Default)]
struct OpenTest {
    seconds: f64,
    status: Status,
    /// True if this attempt failed and another one follows.
    is_rerun: bool,
}

/// Reads pytest-reportlog. The time of a test includes its setup and teardown. Only its last attempt
/// counts.
pub(in crate::import) fn read_reportlog(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "pytest")?;
    let mut open: HashMap<String, OpenTest> = HashMap::new();
    let mut retries: HashMap<String, u32> = HashMap::new();
    let expected =
        "pytest-reportlog's reports: `{\"$report_type\": \"TestReport\", \"nodeid\": …}`";
    each(input, context, expected, log_event, |event: LogEvent| {
        if let Some(version) = &event.pytest_version {
            tests.recorder.tool(&format!("pytest {version}"));
            tests.begin_run();
        }
        if event.kind == "CollectReport" && event.outcome == "failed" {
            tests.broken(&event.nodeid);
        }
        if event.kind != "TestReport" {
            return Ok(());
        }
        let test = open.entry(event.nodeid.clone()).or_default();
        test.seconds += event.duration.and_then(Number::finite).unwrap_or(0.0);
        match event.outcome.as_str() {
            "failed" => test.status = Status::Failed,
            "rerun" => test.is_rerun = true,
            "skipped" if event.wasxfail.is_none() && test.status == Status::Passed => {
                test.status = Status::Skipped;
            }
            _ => {}
        }
        if event.when != "teardown" {
            return Ok(());
        }
        let ended = open.remove(&event.nodeid).unwrap_or_default();
        if ended.is_rerun {
            *retries.entry(event.nodeid).or_default() += 1;
            return Ok(());
        }
        tests.observe(&event.nodeid, Some(ended.seconds), ended.status)?;
        tests.more(|own| own.retries = retries.remove(&event.nodeid).unwrap_or_default());
        Ok(())
    })?;
    tests.all_broken(open.into_keys());
    tests.finish("reports of no test")
}
