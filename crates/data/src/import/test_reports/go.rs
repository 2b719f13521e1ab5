//! The output of `go test -json`: events, one JSON object per line.
//!
//! Names are unique in the stream, so a repeated name is another run of the test, as with `go test
//! -count 5`. A stream with results of benchmarks is read like `go test -bench`, even if tests
//! precede the first of these results.

use super::{Status, Tests};
use crate::import::go_bench;
use crate::import::json::{self, Number};
use crate::import::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

pub(in crate::import) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.first.starts_with('{')
        && has("\"Action\":")
        && (has("\"Test\":") || has("\"Package\":") || has("\"Output\":"))
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
    /// The package that could not be built, in the event of a package that failed for that reason.
    failed_build: Option<String>,
}

/// State of a running Go test.
#[derive(Default)]
struct RunningTest {
    began: Option<Moment>,
    /// Output of the test, which is kept only if failures are to be explained.
    said: String,
    /// Time at which the test continued after waiting.
    resumed: Option<Moment>,
    /// True if the test waited for other tests. The time from its start to its end is then not its
    /// duration.
    paused: bool,
    has_subtests: bool,
    /// True if a subtest failed.
    has_failed_below: bool,
    /// True if the benchmark printed a result.
    has_result: bool,
}

/// Reads `go test -json`.
pub(in crate::import) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut tests = GoTests::new(context)?;
    let mut benchmarks = context.tests.is_none().then(|| go_bench::Reader::new(context));
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        // Tests may print other lines in between, even JSON, and may leave the line before an event
        // unterminated.
        let is_object = line.text.trim_start().starts_with('{');
        if is_object && (line.text.contains("\"Action\"") || !line.ended) {
            let place = (context.file, line.number);
            let event: GoEvent = json::read_text(line.text, place, EXPECTED, PhantomData)?;
            if let Some(benchmarks) = &mut benchmarks {
                benchmarks_event(benchmarks, &event, line.number)?;
            }
            let added = tests.event(event);
            added.map_err(|problem| tests.tests.recorder.at(line.number, problem))?;
        } else if let Some(benchmarks) = &mut benchmarks {
            benchmarks.line("", line.text, line.number, line.ended)?;
        }
    }
    match benchmarks.filter(go_bench::Reader::has_results) {
        Some(benchmarks) => benchmarks.finish(),
        None => tests.finish(),
    }
}

const EXPECTED: &str =
    "an event of `go test -json`: `{\"Action\": …, \"Package\": …, \"Output\": …}`";

/// Passes an event to the reader of benchmarks. Of a test, only the outcome is passed on, because
/// its other output may look like a result.
fn benchmarks_event(
    benchmarks: &mut go_bench::Reader<'_>,
    event: &GoEvent,
    line: u64,
) -> Result<(), ImportError> {
    if let Some(time) = &event.time {
        benchmarks.started(time);
    }
    let is_of_test = event.test.as_ref().is_some_and(|name| !is_benchmark(name));
    let is_relevant = |text: &&String| {
        !is_of_test || text.trim_start().starts_with("--- ") || text.starts_with("panic: ")
    };
    match event.output.as_ref().filter(is_relevant) {
        Some(text) => benchmarks.output(&event.package, text, line),
        None => Ok(()),
    }
}

/// Gathers the tests of the stream. A test with subtests only groups them, and is listed only if it
/// failed although its subtests passed. `Elapsed` has a resolution of only 10 ms, so durations are
/// computed from the times of the events, unless the test waited for others.
struct GoTests<'a> {
    tests: Tests<'a>,
    running: HashMap<String, RunningTest>,
    packages: Packages,
    has_started: bool,
}

impl<'a> GoTests<'a> {
    fn new(context: &'a Context<'a>) -> Result<Self, ImportError> {
        let tests = Tests::new(context, "go test -json")?;
        let (running, packages) = Default::default();
        Ok(Self { tests, running, packages, has_started: false })
    }

    /// Processes an event.
    ///
    /// # Errors
    /// Returns an error if the observations would take too much memory.
    fn event(&mut self, event: GoEvent) -> Result<(), String> {
        let Self { tests, running, packages, has_started } = self;
        if let Some(time) = event.time.as_ref().filter(|_| !std::mem::replace(has_started, true)) {
            tests.recorder.started(time);
        }
        let at = event.time.as_deref().and_then(moment);
        let Some(test) = &event.test else {
            packages.event(&event, at, tests);
            if matches!(event.action.as_str(), "pass" | "fail") {
                end_benchmarks(running, &event, tests)?;
            }
            // The tests of this package are unknown. If tests are kept individually, the package
            // counts as a failed test; otherwise it is left out, because it has no time to compare.
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
                each_holder(running, &event.package, test, |holder| holder.has_subtests = true);
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
            // A benchmark that passes has no other event for its end. It prints a result for each
            // repetition.
            "output" if is_benchmark(test) && is_result(event.output.as_deref()) => {
                let Some(known) = running.get_mut(&name) else { return Ok(()) };
                let span = at.zip(known.began);
                (known.began, known.has_result) = (at, true);
                let seconds = span.map(|(end, begin)| end.since(begin).max(0.0));
                tests.observe(&name, seconds, Status::Passed)?;
                tests.more(|own| {
                    own.file = Some(event.package.clone());
                    own.span = span.map(|(end, begin)| (begin.since_1970(), end.since_1970()));
                });
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
                    each_holder(running, &event.package, test, |holder| {
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
                // A test with subtests gets no time, because its time is that of the subtests.
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
    }

    fn finish(mut self) -> Result<Part, ImportError> {
        self.tests.all_broken(self.running.into_keys());
        self.tests.finish("what `go test` prints, without the end of any test or benchmark")
    }
}

/// At the event for the end of a package, ends its benchmarks. Those that pass have no event of
/// their own.
fn end_benchmarks(
    running: &mut HashMap<String, RunningTest>,
    event: &GoEvent,
    tests: &mut Tests<'_>,
) -> Result<(), String> {
    let is_of_package = |name: &String| {
        let test = name.strip_prefix(&event.package).and_then(|rest| rest.strip_prefix(": "));
        test.is_some_and(is_benchmark)
    };
    let ended = running.extract_if(|name, _| is_of_package(name));
    let without_result = ended.filter(|(_, own)| !own.has_result && !own.has_subtests);
    let mut names: Vec<String> = without_result.map(|(name, _)| name).collect();
    names.sort_unstable();
    for name in &names {
        match event.action.as_str() {
            "pass" => tests.observe(name, None, Status::Passed)?,
            _ => tests.broken(name),
        }
    }
    Ok(())
}

fn is_benchmark(test: &str) -> bool {
    test.starts_with("Benchmark")
}

/// Returns true if output ends with the numbers of a benchmark.
fn is_result(output: Option<&str>) -> bool {
    output
        .is_some_and(|text| text.ends_with('\n') && text.contains('\t') && text.contains(" ns/op"))
}

/// Calls a function for each running test that contains this one. Every slash is tried, because the
/// names of subtests follow a slash and may contain slashes themselves.
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

/// The packages of a run of Go tests: when each of them ran, and which failed although none of its
/// tests did.
#[derive(Default)]
struct Packages {
    began: HashMap<String, f64>,
    /// Packages with a failed test.
    failed: HashSet<String>,
    /// Output of compilers and `go vet` for packages that could not be built.
    builds: HashMap<String, String>,
}

impl Packages {
    /// Collects build output, and returns that of a package if the event means that it could not be
    /// built.
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
    fn event(&mut self, event: &GoEvent, at: Option<Moment>, tests: &mut Tests<'_>) {
        let at = at.map(Moment::since_1970);
        let package = &event.package;
        match event.action.as_str() {
            "start" => {
                self.began.extend(at.map(|at| (package.clone(), at)));
            }
            "pass" | "fail" | "skip" => {
                // If individual tests are kept, a package that could not be built is one of them.
                let is_listed = event.failed_build.is_some() && tests.kept.is_some();
                if event.action == "fail" && !is_listed && !self.failed.contains(package) {
                    tests.broken(package);
                }
                let span = at.zip(self.began.remove(package));
                if let (Some(kept), Some((end, began))) = (tests.kept, span) {
                    kept.borrow_mut().groups.push((package.clone(), began, end));
                }
            }
            _ => {}
        }
    }
}

/// Parses a time such as `2026-11-21T02:23:09.097574815Z` or `…+02:00` into the preceding midnight
/// and the seconds since then. A single number would not be precise to the microsecond.
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

/// A point in time: the seconds from 1970 to the preceding midnight, and the seconds since that
/// midnight.
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
