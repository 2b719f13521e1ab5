//! Reports of tests that are events, a JSON object on each line: `go test -json`, libtest's JSON (`cargo test`, nextest), pytest-reportlog.
//!
//! Names are unique in such a stream, so that a name that comes again is another run of the test, as with `go test -count 5`.

use super::{Status, Tests};
use crate::import::json::{self, Number};
use crate::import::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use serde::Deserialize;
use std::collections::HashMap;
use std::marker::PhantomData;

pub(in crate::import) fn recognise_go(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    // Streams with benchmarks are those of the importer for them.
    head.first.starts_with('{')
        && has("\"Action\":")
        && (has("\"Test\":") || has("\"Package\":"))
        && !has("\"Output\":\"Benchmark")
}

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

/// Reads a JSON object on each line that is one; the tests print between them.
fn each<T: for<'de> Deserialize<'de>>(
    input: Input,
    context: &Context<'_>,
    expected: &str,
    mut event: impl FnMut(T) -> Result<(), String>,
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        if !line.text.trim_start().starts_with('{') {
            continue;
        }
        let place = (context.file, line.number);
        let read: T = json::read_text(line.text, place, expected, PhantomData)?;
        event(read).map_err(|problem| {
            let place = crate::read_error::Place {
                file: context.file.to_owned(),
                line: line.number,
                column: None,
            };
            crate::read_error::ReadError::Line { place, problem }
        })?;
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    time: Option<String>,
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
    #[serde(default, deserialize_with = "json::some_time")]
    elapsed: Option<Number>,
}

/// What is known of a Go test that runs.
#[derive(Default)]
struct Running {
    began: Option<f64>,
    /// Whether it waited for others: then the time from begin to end is not its own.
    paused: bool,
    has_subtests: bool,
}

/// `go test -json`. A test with subtests is what holds them, and not listed itself. `Elapsed` has steps of 10 ms: the times of the events are
/// taken instead, unless the test waited for others.
pub(in crate::import) fn read_go(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "go test -json")?;
    let mut running: HashMap<String, Running> = HashMap::new();
    let mut has_started = false;
    let expected = "events of `go test -json`: `{\"Action\": …, \"Package\": …, \"Test\": …}`";
    each(input, context, expected, |event: GoEvent| {
        if let Some(time) = event.time.as_ref().filter(|_| !has_started) {
            tests.recorder.started(time);
            has_started = true;
        }
        let Some(test) = &event.test else { return Ok(()) };
        let name = format!("{}: {test}", event.package);
        let at = event.time.as_deref().and_then(seconds_of_day);
        match event.action.as_str() {
            "run" => {
                running.insert(name, Running { began: at, ..Running::default() });
                // Names of subtests are behind a slash; one may hold a slash itself.
                for (slash, _) in test.match_indices('/') {
                    let holder = format!("{}: {}", event.package, &test[..slash]);
                    if let Some(holder) = running.get_mut(&holder) {
                        holder.has_subtests = true;
                    }
                }
                Ok(())
            }
            "pause" => {
                if let Some(test) = running.get_mut(&name) {
                    test.paused = true;
                }
                Ok(())
            }
            "pass" | "fail" | "skip" => {
                let known = running.remove(&name).unwrap_or_default();
                if known.has_subtests {
                    return Ok(());
                }
                let status = match event.action.as_str() {
                    "pass" => Status::Passed,
                    "fail" => Status::Failed,
                    _ => Status::Skipped,
                };
                let between = at.zip(known.began).filter(|_| !known.paused);
                let seconds = between.map(|(end, begin)| (end - begin).rem_euclid(DAY));
                tests.observe(&name, seconds.or(event.elapsed.map(|time| time.0)), status)
            }
            _ => Ok(()),
        }
    })?;
    tests.all_broken(running.into_keys());
    tests.finish("events of no test")
}

const DAY: f64 = 86_400.0;

/// Seconds since midnight of a time such as `2026-11-21T02:23:09.097574815Z`.
fn seconds_of_day(time: &str) -> Option<f64> {
    let clock = time.split_once('T')?.1;
    let clock = clock.get(..clock.find(['Z', '+', '-'])?)?;
    let mut parts = clock.split(':');
    let mut part = || parts.next()?.parse::<f64>().ok();
    let (hours, minutes, seconds) = (part()?, part()?, part()?);
    Some(hours * 3600.0 + minutes * 60.0 + seconds)
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
}

/// libtest's JSON, as `cargo test -- -Zunstable-options --format json --report-time` and `cargo nextest run --message-format libtest-json` write it.
pub(in crate::import) fn read_libtest(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "libtest")?;
    let expected = "events of libtest: `{\"type\": \"test\", \"event\": \"ok\", \"name\": …}`";
    each(input, context, expected, |event: LibtestEvent| {
        let status = match event.event.as_str() {
            "ok" => Status::Passed,
            "failed" | "timeout" => Status::Failed,
            "ignored" => Status::Skipped,
            _ => return Ok(()),
        };
        if event.kind != "test" {
            return Ok(());
        }
        tests.observe(&event.name, event.exec_time.map(|time| time.0), status)
    })?;
    tests.finish("events without times; have them written: `-- -Zunstable-options --report-time`")
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

/// pytest-reportlog: a test's time is that of its setup, its body and its teardown.
pub(in crate::import) fn read_reportlog(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "pytest")?;
    let mut open: HashMap<String, (f64, Status)> = HashMap::new();
    let expected =
        "pytest-reportlog's reports: `{\"$report_type\": \"TestReport\", \"nodeid\": …}`";
    each(input, context, expected, |event: LogEvent| {
        if let Some(version) = &event.pytest_version {
            tests.recorder.tool(&format!("pytest {version}"));
            tests.begin_run();
        }
        if event.kind != "TestReport" {
            return Ok(());
        }
        let (seconds, status) = open.entry(event.nodeid.clone()).or_insert((0.0, Status::Passed));
        *seconds += event.duration.and_then(Number::finite).unwrap_or(0.0);
        match event.outcome.as_str() {
            "failed" => *status = Status::Failed,
            "skipped" if event.wasxfail.is_none() && *status == Status::Passed => {
                *status = Status::Skipped;
            }
            _ => {}
        }
        if event.when != "teardown" {
            return Ok(());
        }
        let (seconds, status) = (*seconds, *status);
        open.remove(&event.nodeid);
        tests.observe(&event.nodeid, Some(seconds), status)
    })?;
    tests.all_broken(open.into_keys());
    tests.finish("reports of no test")
}
