//! Test reports that are events, one JSON object per line: `go test -json`, libtest's JSON
//! (`cargo test`, nextest), pytest-reportlog.
//!
//! Names are unique in such a stream, so that a repeated name is another run of the test, as with
//! `go test -count 5`.

use super::{Status, Tests};
use crate::import::json::{self, Number};
use crate::import::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::marker::PhantomData;

pub(in crate::import) fn recognise_go(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    // Streams with benchmarks are left to their own importer.
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

/// Reads the events. Tests may print other lines in between, even JSON, and may leave the line
/// before an event unterminated. `within` returns the part of a line that is an event.
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

fn go_event(line: &str) -> Option<&str> {
    object_with(line, "\"Action\"")
}

fn log_event(line: &str) -> Option<&str> {
    object_with(line, "\"$report_type\"")
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
    output: Option<String>,
    /// The package that was built, in build events.
    import_path: Option<String>,
    /// In the event of a package that failed because another one could not be built: that other
    /// package.
    failed_build: Option<String>,
}

/// State of a running Go test.
#[derive(Default)]
struct RunningTest {
    began: Option<Moment>,
    /// Output of the test, if failures are to be explained.
    said: String,
    /// Time at which the test continued after waiting.
    resumed: Option<Moment>,
    /// True if the test waited for other tests, so that the time from start to end is not its
    /// duration.
    paused: bool,
    has_subtests: bool,
    /// True if a subtest failed.
    has_failed_below: bool,
}

/// Reads `go test -json`. A test with subtests merely groups them, and is listed only if it failed
/// although its subtests passed. `Elapsed` has a resolution of 10 ms: the times of the events are
/// used instead, unless the test waited for others.
pub(in crate::import) fn read_go(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "go test -json")?;
    let mut running: HashMap<String, RunningTest> = HashMap::new();
    let mut packages = Packages::default();
    let mut has_started = false;
    let expected = "events of `go test -json`: `{\"Action\": …, \"Package\": …, \"Test\": …}`";
    each(input, context, expected, go_event, |event: GoEvent| {
        if let Some(time) = event.time.as_ref().filter(|_| !has_started) {
            tests.recorder.started(time);
            has_started = true;
        }
        let at = event.time.as_deref().and_then(moment);
        let Some(test) = &event.test else {
            packages.event(&event, at, &tests);
            // The tests of this package are unknown, unlike those of other packages. If individual
            // tests are kept, the package counts as a failed test; it has no time to compare.
            if let Some(said) = packages.not_built(&event).filter(|_| tests.kept.is_some()) {
                let took = event.elapsed.map_or(0.0, |time| time.0);
                tests.observe(&event.package, Some(took), Status::Failed)?;
                tests.more(|own| {
                    own.file = Some(event.package.clone());
                    own.message = Some(said).filter(|said| !said.is_empty());
                });
            }
            return Ok(());
        };
        let name = format!("{}: {test}", event.package);
        match event.action.as_str() {
            "run" => {
                running.insert(name, RunningTest { began: at, ..RunningTest::default() });
                each_holder(&mut running, &event.package, test, |holder| {
                    holder.has_subtests = true
                });
                Ok(())
            }
            "pause" => {
                if let Some(test) = running.get_mut(&name) {
                    test.paused = true;
                }
                Ok(())
            }
            // The test waited for other tests, and now runs in parallel with them.
            "cont" => {
                if let Some(test) = running.get_mut(&name).filter(|test| test.resumed.is_none()) {
                    test.resumed = at;
                }
                Ok(())
            }
            "output" => {
                let said = event.output.as_deref().filter(|_| tests.kept.is_some());
                if let (Some(test), Some(said)) = (running.get_mut(&name), said)
                    && test.said.len() < MOST_SAID
                    && !said.trim_start().starts_with(['=', '-'])
                {
                    test.said.push_str(said);
                }
                Ok(())
            }
            "pass" | "fail" | "skip" => {
                let has_failed = event.action == "fail";
                if has_failed {
                    packages.failed.insert(event.package.clone());
                    each_holder(&mut running, &event.package, test, |holder| {
                        holder.has_failed_below = true;
                    });
                }
                let known = running.remove(&name).unwrap_or_default();
                if known.has_subtests && (!has_failed || known.has_failed_below) {
                    return Ok(());
                }
                let status = match event.action.as_str() {
                    "pass" => Status::Passed,
                    "fail" => Status::Failed,
                    _ => Status::Skipped,
                };
                let between = at.zip(known.began).filter(|_| !known.paused);
                let seconds = between.map(|(end, begin)| end.since(begin).max(0.0));
                let seconds = seconds.or(event.elapsed.map(|time| time.0));
                // The time of subtests counts for themselves only.
                tests.observe(&name, seconds.filter(|_| !known.has_subtests), status)?;
                tests.more(|own| {
                    own.file = Some(event.package.clone());
                    let began = if known.paused { known.resumed } else { known.began };
                    let span = at.zip(began);
                    own.span = span.map(|(end, begin)| (begin.since_1970(), end.since_1970()));
                    let said = Some(known.said.trim().to_owned()).filter(|said| !said.is_empty());
                    own.message = said.filter(|_| status == Status::Failed);
                });
                Ok(())
            }
            _ => Ok(()),
        }
    })?;
    tests.all_broken(running.into_keys());
    tests.finish("events of no test")
}

/// Calls a function for each running test that contains this one: the names of subtests follow a
/// slash, and may contain slashes themselves.
fn each_holder(
    running: &mut HashMap<String, RunningTest>,
    package: &str,
    test: &str,
    mut with: impl FnMut(&mut RunningTest),
) {
    for (slash, _) in test.match_indices('/') {
        if let Some(holder) = running.get_mut(&format!("{package}: {}", &test[..slash])) {
            with(holder);
        }
    }
}

/// Maximum number of bytes kept of a test's output.
const MOST_SAID: usize = 4096;

/// The packages of a run of Go tests: when each ran, and which failed before any of its tests did.
#[derive(Default)]
struct Packages {
    began: HashMap<String, f64>,
    /// Packages with a failed test.
    failed: HashSet<String>,
    /// Output of compilers and `go vet` for packages that could not be built.
    builds: HashMap<String, String>,
}

impl Packages {
    /// Returns the build output of a package if the event means that it could not be built.
    fn not_built(&mut self, event: &GoEvent) -> Option<String> {
        if let (Some(what), Some(output)) = (&event.import_path, &event.output) {
            let said = self.builds.entry(what.clone()).or_default();
            // The first line names the package.
            if said.len() < MOST_SAID && !output.starts_with("# ") {
                said.push_str(output);
            }
        }
        let failed = event.failed_build.as_ref().filter(|_| event.action == "fail")?;
        Some(self.builds.get(failed).map_or(String::new(), |said| said.trim().to_owned()))
    }

    /// Processes an event of a package.
    fn event(&mut self, event: &GoEvent, at: Option<Moment>, tests: &Tests<'_>) {
        let Some(kept) = tests.kept else { return };
        let at = at.map(Moment::since_1970);
        let package = &event.package;
        match event.action.as_str() {
            "start" => {
                self.began.extend(at.map(|at| (package.clone(), at)));
            }
            "pass" | "fail" | "skip" => {
                let has_failed = event.action == "fail" && event.failed_build.is_none();
                if has_failed && !self.failed.contains(package) {
                    kept.borrow_mut().unfinished.push(package.clone());
                }
                if let (Some(end), Some(began)) = (at, self.began.remove(package)) {
                    kept.borrow_mut().groups.push((package.clone(), began, end));
                }
            }
            _ => {}
        }
    }
}

/// Parses a time such as `2026-11-21T02:23:09.097574815Z` or `…+02:00` into the preceding midnight
/// and the seconds since then: a single number would lose microseconds.
fn moment(time: &str) -> Option<Moment> {
    let (date, clock) = time.split_once('T')?;
    let (clock, zone) = clock.split_at(clock.find(['Z', '+', '-'])?);
    let numbers = |text: &str, by: char| -> Option<[f64; 3]> {
        let mut parts = text.split(by).map(plain);
        Some([parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0.0))?])
    };
    let [year, month, day] = numbers(date, '-')?;
    let [hours, minutes, seconds] = numbers(clock, ':')?;
    let minutes_off =
        |zone: &str| numbers(zone, ':').map(|[hours, minutes, _]| hours * 60.0 + minutes);
    let offset = match (zone.strip_prefix('+'), zone.strip_prefix('-')) {
        (Some(zone), _) => minutes_off(zone)? * 60.0,
        (None, Some(zone)) => minutes_off(zone)? * -60.0,
        (None, None) => 0.0,
    };
    // Years begin in March, so that the leap day is the last day.
    let (year, month) = if month < 3.0 { (year - 1.0, month + 9.0) } else { (year, month - 3.0) };
    let of_year = ((153.0 * month + 2.0) / 5.0).floor() + day - 1.0;
    let leap = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    let days = year * 365.0 + leap + of_year - 719_468.0;
    Some(Moment {
        midnight: days * DAY - offset,
        seconds: hours * 3600.0 + minutes * 60.0 + seconds,
    })
}

/// A time: the seconds from 1970 to the midnight before it, and the seconds since that midnight.
#[derive(Clone, Copy)]
struct Moment {
    midnight: f64,
    seconds: f64,
}

impl Moment {
    fn since_1970(self) -> f64 {
        self.midnight + self.seconds
    }

    fn since(self, earlier: Self) -> f64 {
        (self.midnight - earlier.midnight) + (self.seconds - earlier.seconds)
    }
}

const DAY: f64 = 86_400.0;

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
    // The tests that were still running at the end, if single tests are kept.
    let mut running: BTreeSet<String> = BTreeSet::new();
    each(input, context, expected, libtest_event, |event: LibtestEvent| {
        if let (Some(kept), "suite", Some(time)) =
            (tests.kept, event.kind.as_str(), event.exec_time.and_then(Number::finite))
        {
            kept.borrow_mut().groups.push((String::new(), 0.0, time));
        }
        if tests.kept.is_some() && event.kind == "test" && event.event == "started" {
            running.insert(event.name.clone());
        }
        let status = match event.event.as_str() {
            "ok" => Status::Passed,
            "failed" => Status::Failed,
            "ignored" => Status::Skipped,
            // A `timeout` means that the test has been running for a minute; it has not ended yet.
            _ => return Ok(()),
        };
        if event.kind != "test" {
            return Ok(());
        }
        let (name, retries) = attempts(&event.name);
        running.remove(name);
        tests.observe(name, event.exec_time.map(|time| time.0), status)?;
        tests.more(|test| {
            test.message = event.stdout.or(event.reason).filter(|_| status == Status::Failed);
            test.retries = retries;
        });
        Ok(())
    })?;
    tests.all_broken(running.into_iter());
    tests.finish("events without times; enable them: `-- -Zunstable-options --report-time`")
}

/// Returns the event of libtest in a line: from `{ "type": "test"`, or another type of libtest's, to
/// the end.
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

/// Splits the name of a nextest test, `CRATE::BINARY$TEST`, from the number of the attempt, which
/// follows a `#` if there were several. Returns the name and the number of attempts before the last
/// one.
fn attempts(name: &str) -> (&str, u32) {
    let counted = name.rsplit_once('#').filter(|(test, _)| test.contains('$'));
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

/// Reads pytest-reportlog. The time of a test includes its setup and teardown.
pub(in crate::import) fn read_reportlog(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut tests = Tests::new(context, "pytest")?;
    let mut open: HashMap<String, (f64, Status)> = HashMap::new();
    let expected =
        "pytest-reportlog's reports: `{\"$report_type\": \"TestReport\", \"nodeid\": …}`";
    each(input, context, expected, log_event, |event: LogEvent| {
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
