//! Reads the files written by the hooks that were loaded into a suite's processes. There is one
//! file per process, with one JSON object per line (version 1; the hooks document the members). A
//! killed process leaves a file without a final line, and possibly with an incomplete line.

mod names;
mod tail;

use crate::error::SuiteError;
use crate::run::{Part, Process, Run, Span, Test, TestStatus, Unfinished};
use crate::seen;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(crate) use tail::Tail;

/// Version of the line format that is supported.
const VERSION: u32 = 1;

/// Maximum number of faults kept for a run.
const MOST_FAULTS: usize = 20;

/// The members of all kinds of lines. Each kind has a member that no other kind has.
#[derive(Deserialize)]
pub(crate) struct EventLine {
    assay_tests: Option<u32>,
    framework: Option<String>,
    framework_version: Option<String>,
    process: Option<u32>,
    parent: Option<u32>,
    worker: Option<String>,
    loaded: Option<f64>,
    span: Option<String>,
    open: Option<String>,
    problem: Option<String>,
    fault: Option<String>,
    started: Option<String>,
    id: Option<String>,
    start: Option<String>,
    at: Option<f64>,
    test: Option<String>,
    group: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    begin: Option<f64>,
    end: Option<f64>,
    status: Option<String>,
    message: Option<String>,
    #[serde(default)]
    retries: u32,
    setup: Option<f64>,
    body: Option<f64>,
    teardown: Option<f64>,
    gc: Option<f64>,
    gc_of: Option<GcTimes>,
    /// Duration of a test whose phases are incomplete, in seconds.
    took: Option<f64>,
    /// True if this is another attempt at the test with this name.
    #[serde(default)]
    again: bool,
    /// True for a failure outside of tests, such as in a hook, in a fixture shared by several
    /// tests, or in a file.
    #[serde(default)]
    beside: bool,
    #[serde(default)]
    causes: BTreeMap<String, Option<f64>>,
    /// Name of a fixture.
    name: Option<String>,
}

impl EventLine {
    /// Returns the name of the test that ended, whether it failed, and its message, or `None` for
    /// other lines.
    pub(crate) fn ended_test(&self) -> Option<(&str, bool, Option<&str>)> {
        let failed = matches!(self.status.as_deref(), Some("failed" | "error"));
        Some((self.test.as_deref()?, failed, self.message.as_deref()))
    }
}

/// Garbage collection time per phase, in seconds.
#[derive(Clone, Copy, Deserialize)]
struct GcTimes {
    #[serde(default)]
    setup: f64,
    #[serde(default)]
    body: f64,
    #[serde(default)]
    teardown: f64,
}

/// Returns the event files of all processes in a directory, sorted by path. Their names are process
/// IDs, so the order of rows is as stable across runs as the order of processes.
///
/// # Errors
/// Returns an error if the directory cannot be read.
pub(crate) fn files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads the event files of all processes in a directory. Returns `None` if there are none.
/// O(bytes).
///
/// # Errors
/// Returns an error if a file cannot be read, or if a line before its last was not written by a
/// hook.
pub fn read(directory: &Path) -> Result<Option<Run>, SuiteError> {
    let paths = match files(directory) {
        Ok(paths) => paths,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(SuiteError::unreadable(directory, source)),
    };
    let mut gathered = EventCollector::default();
    for path in &paths {
        let mut bytes = fs::read(path).map_err(|source| SuiteError::unreadable(path, source))?;
        let tail = Tail::of(path);
        let phase = tail.as_ref().and_then(|tail| tail.phase);
        // If a process was killed after writing its lines but before clearing the tail, the lines
        // are in both places.
        if let Some(tail) = tail.filter(|tail| tail.behind == bytes.len() as u64) {
            bytes.extend(tail.bytes);
        }
        gathered.file(&bytes, phase, path)?;
    }
    Ok(gathered.finish())
}

/// Reads the events of one process from memory. `name` identifies them in errors. Returns `None` if
/// the process did not identify itself. O(bytes).
///
/// # Errors
/// Returns an error if a line before the last was not written by a hook.
pub fn read_bytes(bytes: &[u8], name: &str) -> Result<Option<Run>, SuiteError> {
    let mut gathered = EventCollector::default();
    gathered.file(bytes, None, Path::new(name))?;
    Ok(gathered.finish())
}

/// The tests and spans of a process that have begun but not ended, in the order in which they
/// began.
#[derive(Debug, Default)]
pub(crate) struct OpenEntries(pub Vec<Unfinished>);

impl OpenEntries {
    /// Updates the open tests and spans with the event of a line.
    pub fn take(&mut self, line: &EventLine) {
        let Self(running) = self;
        // Very short spans may have no end line, so a span also ends when a test begins or ends, or
        // when the process ends.
        let is_over = line.start.is_some()
            || line.test.is_some()
            || line.end.is_some() && line.span.is_none();
        if is_over {
            running.retain(|running| !running.beside);
        }
        let began = line.at;
        if let Some(name) = line.start.clone() {
            running.push(Unfinished { name, began, ..Unfinished::default() });
        } else if let Some(span) = &line.open {
            let name = about(span, line);
            running.push(Unfinished { name, began, beside: true, ..Unfinished::default() });
        } else if let Some(name) = &line.test {
            let started = line.started.as_ref().unwrap_or(name);
            running.retain(|own| own.name != *started);
            // The enclosing test continues with its next subtest.
            for own in running.iter_mut().filter(|own| holds(&own.name, name)) {
                own.began = line.end.or(own.began);
            }
        } else if let Some(span) = &line.span {
            let opened = about(span, line);
            running.retain(|own| own.name != opened);
        }
    }

    /// Returns the open entries. If exactly one of them is a test, its phase is set to the last
    /// known phase of the process.
    pub fn in_phase(mut self, phase: Option<Part>) -> Vec<Unfinished> {
        let mut tests = self.0.iter_mut().filter(|own| !own.beside);
        if let (Some(test), None) = (tests.next(), tests.next()) {
            test.phase = phase;
        }
        self.0
    }
}

/// Returns true if `name` is the name of a test that encloses `test`.
pub(crate) fn holds(name: &str, test: &str) -> bool {
    test.strip_prefix(name).is_some_and(|rest| rest.starts_with(": "))
}

#[derive(Default)]
struct EventCollector {
    run: Run,
    /// The name of each test, as the hook reported it.
    names: Vec<String>,
    /// Total duration of the phases of each test in seconds, if known. The framework's work between
    /// phases (failure reports) is not included.
    took: Vec<Option<f64>>,
    /// Processes that ended normally.
    ended: HashSet<u32>,
    /// What the tests used.
    seen: seen::UsageCollector,
    /// Spans outside of tests that are still open at the end of a process's events, with the ID of
    /// its parent process.
    beside: Vec<(Option<u32>, Unfinished)>,
    /// For each worker, the index of its process, the ID of its parent process, and whether it
    /// ended normally.
    workers: Vec<(usize, Option<u32>, bool)>,
}

impl EventCollector {
    fn file(&mut self, bytes: &[u8], phase: Option<Part>, path: &Path) -> Result<(), SuiteError> {
        let process = self.run.processes.len();
        self.seen.next_process();
        let mut own = Process::default();
        let mut open = OpenEntries::default();
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.split_inclusive('\n').enumerate().peekable();
        let mut is_ours = false;
        let (mut own_id, mut parent, mut is_worker) = (None, None, false);
        while let Some((number, text)) = lines.next() {
            if text.trim().is_empty() {
                continue;
            }
            let read = match seen::UsageLine::begins(text) {
                true => serde_json::from_str(text).map(|line| {
                    self.used(line, process);
                    None
                }),
                false => serde_json::from_str(text).map(Some),
            };
            let line: EventLine = match read {
                Ok(Some(line)) => line,
                Ok(None) => continue,
                // The process was killed while writing this line.
                Err(_) if lines.peek().is_none() && !text.ends_with('\n') => break,
                Err(error) => {
                    let why = format!("line {}: {error}", number + 1);
                    return Err(SuiteError::Garbage { what: path.display().to_string(), why });
                }
            };
            if let Some(version) = line.assay_tests {
                if version != VERSION {
                    let why = format!("version {version} of the hooks' lines; expected {VERSION}");
                    return Err(SuiteError::Garbage { what: path.display().to_string(), why });
                }
                is_ours = true;
                (own_id, parent) = (line.process, line.parent);
                is_worker = line.worker.is_some();
                own.began = line.loaded;
                own.name = line
                    .worker
                    .clone()
                    .or(line.process.map(|pid| pid.to_string()))
                    .unwrap_or_default();
                let said = |text: &Option<String>| text.clone().unwrap_or_default();
                let version =
                    format!("{} {}", said(&line.framework), said(&line.framework_version));
                if self.run.framework.is_empty() {
                    version.trim().clone_into(&mut self.run.framework);
                }
                continue;
            }
            open.take(&line);
            self.line(line, process, &mut own);
        }
        self.ended.extend(own_id.filter(|_| own.ended.is_some()));
        if is_worker {
            self.workers.push((process, parent, own.ended.is_some()));
        }
        if is_ours {
            self.run.processes.push(own);
        }
        // Tests that enclose other tests have no end line.
        let tests = &self.run.tests;
        let holds_any = |name: &str| tests.iter().any(|test| holds(name, &test.name));
        let mut unfinished = open.in_phase(phase);
        unfinished.retain(|running| running.beside || !holds_any(&running.name));
        for unfinished in unfinished {
            let unfinished = Unfinished { process, ..unfinished };
            match unfinished.beside {
                true => self.beside.push((parent, unfinished)),
                false => self.run.unfinished.push(unfinished),
            }
        }
        Ok(())
    }

    fn line(&mut self, line: EventLine, process: usize, own: &mut Process) {
        if let Some(problem) = line.problem {
            if !self.run.notes.contains(&problem) {
                self.run.notes.push(problem);
            }
        } else if let Some(fault) = line.fault {
            if self.run.faults.len() < MOST_FAULTS && !self.run.faults.contains(&fault) {
                self.run.faults.push(fault);
            }
        } else if let Some(name) = line.test.clone() {
            let earlier = line.again.then(|| self.attempt(&name, process)).flatten();
            let mut test = self.test(name, line, process);
            if let Some(earlier) = earlier {
                test.retries += earlier.retries + u32::from(earlier.status == TestStatus::Failed);
                test.message = test.message.or(earlier.message);
            }
            self.run.tests.push(test);
        } else if let Some(span) = &line.span {
            let part = match span.as_str() {
                "load" | "collect" => Part::Loading,
                _ => Part::Hooks,
            };
            if let (Some(began), Some(ended)) = (line.begin, line.end) {
                let hook = (part == Part::Hooks).then(|| about(span, &line));
                let group = hook.or_else(|| line.group.clone());
                self.run.spans.push(Span { part, group, began, ended, process });
            }
        } else if let Some(end) = line.end {
            own.ended = Some(end);
        }
    }

    /// Adds what was used by a test of the current process, or by the process outside of tests.
    fn used(&mut self, line: seen::UsageLine, process: usize) {
        let tests = self.run.tests.iter().zip(&self.names).rev();
        let mut tests = tests.take_while(|(test, _)| test.process == process);
        let count = self.run.tests.len();
        self.seen.take(line, |name| {
            let back = tests.position(|(_, own)| own == name)?;
            Some(count - 1 - back)
        });
    }

    /// Removes and returns the previous attempt at a test, which the next attempt replaces.
    fn attempt(&mut self, name: &str, process: usize) -> Option<Test> {
        let place = self.names.iter().rposition(|own| own == name)?;
        // Coverage refers to tests by index, so removing a test must not shift the others.
        if self.run.tests[place].process != process
            || place + 1 != self.names.len() && self.seen.any()
        {
            return None;
        }
        self.names.remove(place);
        self.took.remove(place);
        Some(self.run.tests.remove(place))
    }

    /// Converts the line that ended a test into the test.
    fn test(&mut self, name: String, line: EventLine, process: usize) -> Test {
        let phases = line.setup.zip(line.body).zip(line.teardown);
        let phases = phases.map(|((setup, body), teardown)| setup + body + teardown);
        self.took.push(line.took.or(phases).filter(|took| took.is_finite() && *took >= 0.0));
        self.names.push(name.clone());
        let status = match line.status.as_deref() {
            Some("failed" | "error") => TestStatus::Failed,
            Some("skipped") => TestStatus::Skipped,
            _ => TestStatus::Passed,
        };
        // Differences between times must be finite, as they are with real clocks.
        let is_time = |(began, ended): &(f64, f64)| (ended - began).is_finite();
        let span = line.begin.zip(line.end).filter(is_time);
        let span = span.filter(|_| status != TestStatus::Skipped);
        Test {
            name,
            id: line.id,
            started: line.started,
            group: line.group,
            file: line.file,
            line: line.line,
            began: span.map(|(began, _)| began),
            ended: span.map(|(_, ended)| ended),
            seconds: span.map(|(began, ended)| (ended - began).max(0.0)),
            status,
            message: line.message.filter(|message| !message.is_empty()),
            output: None,
            retries: line.retries,
            setup: line.setup,
            body: line.body,
            teardown: line.teardown,
            gc: line.gc,
            gc_of: line.gc_of.map(|own| [own.setup, own.body, own.teardown]),
            causes: line.causes.into_iter().filter_map(|(k, v)| Some((k, v?))).collect(),
            process,
            beside: line.beside,
        }
    }

    /// Returns the run, or `None` if no process identified itself. Group setup that ran during a
    /// test is subtracted from the test's time.
    fn finish(mut self) -> Option<Run> {
        names::told_apart(&mut self.run.tests, &self.names);
        let tests = &self.run.tests;
        self.run.seen = std::mem::take(&mut self.seen).finish(tests);
        // Workers are killed when everything is done, so if their parent ended normally, nothing is
        // unfinished.
        let Self { beside, ended, run, workers, .. } = &mut self;
        let left =
            beside.drain(..).filter(|(parent, _)| !parent.is_some_and(|id| ended.contains(&id)));
        // A worker counts as crashed if another worker of the same parent ended normally.
        for own in &mut run.unfinished {
            let crashed =
                workers.iter().find(|(process, _, ended)| *process == own.process && !ended);
            own.is_lost = crashed.is_some_and(|(_, parent, _)| {
                workers.iter().any(|(_, other, ended)| other == parent && *ended)
            });
        }
        run.unfinished.extend(left.map(|(_, unfinished)| unfinished));
        let mut hooks: Vec<(usize, f64, f64)> = Vec::new();
        let of_hooks = self.run.spans.iter().filter(|span| span.part == Part::Hooks);
        hooks.extend(of_hooks.map(|span| (span.process, span.began, span.ended)));
        hooks.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (test, took) in self.run.tests.iter_mut().zip(&self.took) {
            let (Some(began), Some(ended)) = (test.began, test.ended) else { continue };
            let from = hooks.partition_point(|&(process, at, _)| {
                process < test.process || (process == test.process && at < began)
            });
            // Nested spans (a fixture used by a fixture) count once.
            let mut covered = began;
            let mut within = 0.0;
            for &(process, from, to) in &hooks[from..] {
                if process != test.process || from >= ended {
                    break;
                }
                within += (to.min(ended) - from.max(covered)).max(0.0);
                covered = covered.max(to);
            }
            if within > 0.0 {
                test.seconds = test.seconds.map(|seconds| (seconds - within).max(0.0));
            }
            test.seconds = test.seconds.map(|seconds| took.map_or(seconds, |own| own.min(seconds)));
        }
        Some(self.run).filter(|run| !run.framework.is_empty())
    }
}

/// Returns the description of an unfinished span outside of tests, such as `group setup of
/// UserTest` or `fixture base of test_a.py`.
fn about(span: &str, line: &EventLine) -> String {
    let name = line.name.as_ref().filter(|_| span.starts_with("fixture"));
    let span: Cow<'_, str> = span.replace('_', " ").into();
    let span = name.map_or(span.clone(), |name| format!("{span} {name}").into());
    line.group.as_deref().map_or_else(|| span.to_string(), |group| format!("{span} of {group}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(files: &[(&str, &str)]) -> Result<Option<Run>, SuiteError> {
        let room = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(room.path().join(name), text).unwrap();
        }
        read(room.path())
    }

    const HEAD: &str = r#"{"assay_tests":1,"framework":"rspec","framework_version":"3.12","language":"ruby","process":7,"parent":1,"worker":null,"loaded":1.0}
"#;

    #[test]
    fn what_tests_used_is_read_under_the_names_that_they_have_in_the_end() {
        let text = format!(
            "{HEAD}{}",
            r#"{"source":"lib/a.rb","number":3}
{"loaded":[3],"imports":{"3":[4]},"opens":["a.yml"]}
{"test":"A: x","begin":2.0,"end":3.0,"status":"passed"}
{"covers":"A: x","blocks":{"3":[12,40]},"spawns":[["ls","-l"]]}
{"test":"A: x","begin":3.0,"end":4.0,"status":"passed"}
{"covers":"A: x","loads":[3]}
{"covers":"nobody","lists":["lib"]}
{"end":5.0}
"#
        );
        let run = written(&[("7.jsonl", &text)]).unwrap().unwrap();
        let seen = &run.seen.processes[0];
        assert_eq!(seen.sources[&3], "lib/a.rb");
        let (first, second) = (&seen.tests[0], &seen.tests[1]);
        assert_eq!((first.0.as_str(), second.0.as_str()), ("A: x", "A: x #2"));
        assert_eq!(first.1.blocks[&3], [12, 40]);
        assert_eq!((first.1.spawns[0].words.len(), &second.1.loads[..]), (2, &[3][..]));
        let outside = (&seen.outside.loads[..], &seen.outside.opens[..], &seen.outside.lists[..]);
        assert_eq!(outside, (&[3][..], &["a.yml".to_owned()][..], &["lib".to_owned()][..]));
        assert_eq!(seen.imports.as_ref().unwrap()[&3], [4]);
        assert!(written(&[("7.jsonl", HEAD)]).unwrap().unwrap().seen.is_empty());
    }

    #[test]
    fn tests_spans_and_the_end_are_read() {
        let text = format!(
            "{HEAD}{}",
            r#"{"span":"load","begin":1.0,"end":2.0}
{"start":"A: x","at":2.0}
{"span":"group_setup","group":"A","begin":2.0,"end":2.5}
{"test":"A: x","group":"A","file":"a.rb","line":3,"begin":2.0,"end":3.0,"status":"failed","message":"no","id":"./a.rb[1:1]","setup":0.25,"body":0.25,"teardown":0,"gc":0.125,"causes":{"sql":4,"redis":null}}
{"test":"A: x","begin":3.0,"end":4.0,"status":"passed"}
{"test":"A: z","status":"skipped"}
{"end":5.0}
"#
        );
        let run = written(&[("7.jsonl", &text), ("other.txt", "x")]).unwrap().unwrap();
        assert_eq!(run.framework, "rspec 3.12");
        let names: Vec<&str> = run.tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, ["A: x", "A: x #2", "A: z"]);
        let first = &run.tests[0];
        assert_eq!((first.seconds, first.setup, first.body), (Some(0.5), Some(0.25), Some(0.25)));
        assert_eq!((first.status, first.message.as_deref()), (TestStatus::Failed, Some("no")));
        assert_eq!(first.causes.len(), 1);
        assert_eq!((run.tests[2].seconds, run.processes[0].ended), (None, Some(5.0)));
        assert!(run.unfinished.is_empty());
    }

    #[test]
    fn an_attempt_takes_the_place_of_the_one_before() {
        let text = format!(
            "{}{}",
            HEAD.replace("\"3.12\"", "null"),
            r#"{"test":"A: x","begin":2.0,"end":3.0,"status":"failed","message":"at first"}
{"test":"A: y","begin":3.0,"end":3.5,"status":"passed"}
{"test":"A: x","begin":4.0,"end":5.0,"status":"passed","again":true}
{"test":"A: z","begin":5.0,"end":7.0,"status":"passed","retries":2,"setup":0.25,"body":0.5,"teardown":0.25}
{"end":7.0}
"#
        );
        let run = written(&[("7.jsonl", &text)]).unwrap().unwrap();
        let told: Vec<_> =
            run.tests.iter().map(|test| (test.name.as_str(), test.retries)).collect();
        assert_eq!(told, [("A: y", 0), ("A: x", 1), ("A: z", 2)]);
        assert_eq!(run.tests[1].message.as_deref(), Some("at first"));
        // The framework's work between phases is not included in the test.
        assert_eq!((run.tests[2].seconds, run.framework.as_str()), (Some(1.0), "rspec"));
    }

    #[test]
    fn tests_of_one_name_in_several_files_are_told_apart_by_these() {
        let of = |name: &str, file: &str| {
            format!(
                "{{\"test\":\"{name}\",\"file\":\"{file}\",\"begin\":2.0,\"end\":3.0,\"status\":\"passed\"}}\n"
            )
        };
        let lines = [
            of("x.test.js: a", "p/x.test.js"),
            of("x.test.js: a", "q/x.test.js"),
            of("x.test.js: a", "p/x.test.js"),
            of("x.test.js: b", "q/x.test.js"),
            of("sum: a", "p/x.mjs"),
            of("sum: a", "p/y.mjs"),
        ];
        let run = written(&[("7.jsonl", &format!("{HEAD}{}", lines.concat()))]).unwrap().unwrap();
        let names: Vec<&str> = run.tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "p/x.test.js: a",
                "q/x.test.js: a",
                "p/x.test.js: a #2",
                "x.test.js: b",
                "p/x.mjs: sum: a",
                "p/y.mjs: sum: a"
            ]
        );
    }

    #[test]
    fn workers_that_are_killed_when_all_is_done_leave_nothing_unfinished() {
        let worker = HEAD.replace("\"process\":7,\"parent\":1", "\"process\":8,\"parent\":7");
        let text = format!(
            "{worker}{}",
            "{\"test\":\"A: x\",\"begin\":2.0,\"end\":3.0,\"status\":\"passed\"}\n{\"open\":\"group_teardown\",\"group\":\"A\",\"at\":3.0}\n"
        );
        let ended = format!("{HEAD}{{\"end\":4.0}}\n");
        let run = written(&[("7.jsonl", &ended), ("8.jsonl", &text)]).unwrap().unwrap();
        assert!(run.unfinished.is_empty() && run.tests.len() == 1);
        let run = written(&[("7.jsonl", HEAD), ("8.jsonl", &text)]).unwrap().unwrap();
        assert_eq!(run.unfinished[0].name, "group teardown of A");
    }

    #[test]
    fn a_test_that_ended_its_worker_has_failed_if_the_others_went_on() {
        let worker = |pid: u32| {
            HEAD.replace("\"process\":7,", &format!("\"process\":{pid},"))
                .replace("\"worker\":null", &format!("\"worker\":\"gw{pid}\""))
        };
        let lost = format!("{}{{\"start\":\"A: x\",\"at\":2.0}}\n", worker(1));
        let other = format!(
            "{}{}",
            worker(2),
            "{\"test\":\"A: y\",\"begin\":2.0,\"end\":3.0,\"status\":\"passed\"}\n"
        );
        let ended = format!("{other}{{\"end\":4.0}}\n");
        let run = written(&[("1.jsonl", &lost), ("2.jsonl", &ended)]).unwrap().unwrap().with_lost();
        let failed = run.tests.iter().find(|test| test.name == "A: x").unwrap();
        assert!(run.unfinished.is_empty() && failed.status == TestStatus::Failed);
        // Neither worker ended normally: the run was ended from outside.
        let run = written(&[("1.jsonl", &lost), ("2.jsonl", &other)]).unwrap().unwrap().with_lost();
        assert_eq!((run.unfinished.len(), run.tests.len()), (1, 1));
        // It was tried again by another worker.
        let again = ended.replace("A: y", "A: x");
        let run = written(&[("1.jsonl", &lost), ("2.jsonl", &again)]).unwrap().unwrap().with_lost();
        assert_eq!((run.unfinished.len(), run.tests.len(), run.tests[0].retries), (0, 1, 1));
    }

    #[test]
    fn a_fault_of_a_process_is_one_of_the_run() {
        let text = format!("{HEAD}{{\"fault\":\"a.py could not be collected\",\"at\":2.0}}\n");
        let run = written(&[("7.jsonl", &text), ("8.jsonl", &text)]).unwrap().unwrap();
        assert_eq!(run.faults, ["a.py could not be collected"]);
        assert!(run.trouble(None).is_some());
    }

    #[test]
    fn a_process_that_was_killed_tells_which_test_ran() {
        let text = format!("{HEAD}{}", "{\"start\":\"A: hangs\",\"at\":2.5}\n{\"test\":\"A: ha");
        let run = written(&[("7.jsonl", &text)]).unwrap().unwrap();
        let name = "A: hangs".to_owned();
        let unfinished = Unfinished { name, began: Some(2.5), ..Unfinished::default() };
        assert_eq!(run.unfinished, [unfinished]);
        assert_eq!(run.tests.len(), 0);
    }

    #[test]
    fn a_framework_may_not_say_its_version() {
        let head = HEAD.replace("\"3.12\"", "null");
        let run = written(&[("1.jsonl", &head)]).unwrap().unwrap();
        assert_eq!(run.framework, "rspec");
    }

    #[test]
    fn no_file_is_nothing_and_garbage_is_an_error() {
        assert_eq!(written(&[]).unwrap(), None);
        assert_eq!(read(Path::new("/nonexistent/x")).unwrap(), None);
        let error =
            written(&[("1.jsonl", &format!("{HEAD}garbage\n{{\"end\":1}}\n"))]).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
        let error = written(&[("1.jsonl", "{\"assay_tests\":2}\n")]).unwrap_err();
        assert!(error.to_string().contains("version 2"), "{error}");
    }

    /// Lines as written by hooks, and some that no hook would write.
    fn lines() -> impl Strategy<Value = String> {
        let time = prop_oneof![Just(2.5), Just(-1e308), Just(1e308), 0.0..9.0];
        let line = (0..8_u8, "[A-C](: [xyé]{1,2})?", time.clone(), time).prop_map(
            |(kind, name, begin, end)| match kind {
                0 => format!(r#"{{"start":"{name}","at":{begin}}}"#),
                1 => format!(r#"{{"span":"group_setup","group":"{name}","begin":{begin},"end":{end}}}"#),
                2 => format!(r#"{{"open":"group_teardown","group":"{name}","at":{begin}}}"#),
                3 => format!(r#"{{"test":"{name}","status":"skipped"}}"#),
                4 => format!(r#"{{"end":{end}}}"#),
                5 => r#"{"problem":"no \n hook"}"#.to_owned(),
                _ => format!(
                    r#"{{"test":"{name}","begin":{begin},"end":{end},"status":"passed","causes":{{"sql":1,"redis":null}}}}"#
                ),
            },
        );
        proptest::collection::vec(line, 0..20).prop_map(|lines| lines.join("\n") + "\n")
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(head in any::<bool>(), bytes in any::<Vec<u8>>()) {
            let all = if head { [HEAD.as_bytes(), &bytes].concat() } else { bytes };
            let _may_be_refused = read_bytes(&all, "any");
        }

        #[test]
        fn a_file_that_is_cut_loses_its_last_line_alone(lines in lines(), at in any::<prop::sample::Index>()) {
            let text = format!("{HEAD}{lines}");
            let cut = &text.as_bytes()[..at.index(text.len() + 1)];
            let end = cut.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let (whole, rest) = cut.split_at(end);
            // A line that is complete except for its newline counts as a line.
            let is_line = serde_json::from_slice::<EventLine>(rest).is_ok();
            let expected = if is_line { [cut, b"\n"].concat() } else { whole.to_vec() };
            prop_assert_eq!(read_bytes(cut, "cut").unwrap(), read_bytes(&expected, "whole").unwrap());
            if let Some(run) = read_bytes(cut, "cut").unwrap() {
                let seconds = run.tests.iter().filter_map(|test| test.seconds);
                prop_assert!(seconds.into_iter().all(|s| s.is_finite() && s >= 0.0));
            }
        }
    }
}
