//! Determines which test a suite is running, and since when, from what its framework writes while
//! it runs. The caller supplies the current time; what to do about a hanging test is not decided
//! here.
//!
//! Not every framework can be watched. Some write a report only at the end, and results printed to
//! standard output may wait in the program's buffer for an unknown time.

use crate::events::{self, EventLine, OpenEntries, Tail, holds};
use crate::frameworks::crates::crate_that_runs;
use crate::run::{Part, Unfinished};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// A suite that is watched while it runs.
#[derive(Debug)]
pub struct Watch {
    from: ProgressSource,
    /// State of each file; the empty path is standard output.
    known: BTreeMap<PathBuf, EventFile>,
}

/// The source of a framework's progress.
#[derive(Clone, Debug)]
enum ProgressSource {
    /// The events of hooks, in this directory.
    Events(PathBuf),
    /// The events of libtest, one file per program, in this directory.
    Libtest(PathBuf),
    /// The output of `go test -json` on standard output.
    Go,
    /// TAP on standard output, which reports tests that ended but not the running one.
    Tap,
}

/// State of reading a file.
#[derive(Debug, Default)]
struct EventFile {
    /// Number of bytes read, all of them whole lines.
    read: u64,
    open: OpenEntries,
    phase: Option<Part>,
    told: TestProgress,
}

/// Progress of the tests of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestProgress {
    /// Number of tests that ended.
    pub ended: usize,
    /// Tests that failed since the last query: their names and messages.
    pub failed: Vec<(String, Option<String>)>,
    /// The last test that began and has not ended.
    pub running: Option<String>,
}

impl TestProgress {
    fn ended(&mut self, name: &str, failed: bool, message: Option<&str>) {
        self.ended += 1;
        if failed {
            self.failed.push((name.to_owned(), message.map(str::to_owned)));
        }
    }
}

/// A test or span that has run for longer than the time limit.
#[derive(Clone, Debug, PartialEq)]
pub struct HangingTest {
    /// The test or span.
    pub what: Unfinished,
    /// The running test: the one that hangs, or the one that waits for the hanging span.
    pub test: Option<String>,
    /// The shared code, such as a fixture, that began last within `what`, if it has not ended.
    pub within: Option<String>,
    /// Duration so far, in seconds.
    pub seconds: f64,
    /// Time of the observation.
    pub at: f64,
}

/// An event of libtest.
#[derive(Deserialize)]
struct OfLibtest {
    #[serde(rename = "type")]
    kind: String,
    event: String,
    #[serde(default)]
    name: String,
}

/// An event of `go test`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct OfGo {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
}

impl Watch {
    /// Watches hooks that write to this directory.
    pub(crate) fn events(directory: PathBuf) -> Self {
        Self::new(ProgressSource::Events(directory))
    }

    /// Watches libtest programs whose events are in this directory.
    pub(crate) fn libtest(directory: PathBuf) -> Self {
        Self::new(ProgressSource::Libtest(directory))
    }

    /// Watches `go test -json`.
    pub(crate) fn go() -> Self {
        Self::new(ProgressSource::Go)
    }

    /// Watches a program that prints TAP.
    pub(crate) fn tap() -> Self {
        Self::new(ProgressSource::Tap)
    }

    fn new(from: ProgressSource) -> Self {
        Self { from, known: BTreeMap::new() }
    }

    /// Returns true if the running test can be known, not only the tests that ended.
    pub fn sees_running(&self) -> bool {
        !matches!(self.from, ProgressSource::Tap)
    }

    /// Reads new events and returns the test or setup that, at time `now`, has taken longer than
    /// `limit` seconds; `output` reads standard output from an offset. Anything that cannot be read
    /// is retried next time. O(new events).
    pub fn hung(
        &mut self,
        now: f64,
        limit: f64,
        output: &dyn Fn(u64) -> Vec<u8>,
    ) -> Option<HangingTest> {
        self.look(now, output);
        self.known.values().find_map(|known| known.hung(now, limit))
    }

    /// Like [`hung`](Self::hung), but returns the progress; each failure is returned once. O(new
    /// events + running tests).
    pub fn progress(&mut self, now: f64, output: &dyn Fn(u64) -> Vec<u8>) -> TestProgress {
        self.look(now, output);
        let mut all = TestProgress::default();
        for known in self.known.values_mut() {
            all.ended += known.told.ended;
            all.failed.append(&mut known.told.failed);
            let running = known.open.0.iter().rev().find(|own| !own.beside);
            all.running = running.map(|own| own.name.clone()).or(all.running);
        }
        all
    }

    fn look(&mut self, now: f64, output: &dyn Fn(u64) -> Vec<u8>) {
        match self.from.clone() {
            ProgressSource::Events(directory) => {
                for path in events::files(&directory).unwrap_or_default() {
                    self.known.entry(path.clone()).or_default().events(&path);
                }
            }
            ProgressSource::Libtest(directory) => self.libtest_files(&directory, now),
            ProgressSource::Go => {
                let known = self.known.entry(PathBuf::new()).or_default();
                while known.lines(&output(known.read), |open, told, line| go(open, told, line, now))
                {
                }
            }
            ProgressSource::Tap => {
                let known = self.known.entry(PathBuf::new()).or_default();
                while known.lines(&output(known.read), |_, told, line| tap(told, line)) {}
            }
        }
    }

    fn libtest_files(&mut self, directory: &Path, now: f64) {
        let Ok(entries) = std::fs::read_dir(directory) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|ending| ending == "json") {
                let known = self.known.entry(path.clone()).or_default();
                let bytes = from(&path, known.read);
                if bytes.is_empty() {
                    continue;
                }
                let own = crate_that_runs(&path.with_extension("about"));
                let own = own.map_or(String::new(), |own| format!("{own}: "));
                known.lines(&bytes, |open, told, line| libtest(open, told, line, &own, now));
            }
        }
    }
}

/// Reads a file from an offset to its end.
fn from(path: &Path, place: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(place))?;
        file.read_to_end(&mut bytes)
    });
    // Bytes read before an error are still valid.
    let _read_later = read;
    bytes
}

impl EventFile {
    /// Processes the complete lines of `bytes`; returns true if there were any.
    fn lines(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&mut OpenEntries, &mut TestProgress, &[u8]),
    ) -> bool {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            take(&mut self.open, &mut self.told, line);
        }
        self.read += whole as u64;
        whole > 0
    }

    fn events(&mut self, path: &Path) {
        let take = |open: &mut OpenEntries, told: &mut TestProgress, line: &[u8]| {
            if let Ok(line) = serde_json::from_slice::<EventLine>(line) {
                if let Some((name, failed, message)) = line.ended_test() {
                    told.ended(name, failed, message);
                }
                open.take(&line);
            }
        };
        // Read the tail first: lines that move from it to the file in the meantime are then read
        // from the file.
        let tail = Tail::of(path);
        self.lines(&from(path, self.read), take);
        let Some(tail) = tail else { return };
        self.phase = tail.phase;
        let known =
            self.read.checked_sub(tail.behind).and_then(|known| usize::try_from(known).ok());
        if let Some(new) = known.and_then(|known| tail.bytes.get(known..)) {
            self.lines(new, take);
        }
    }

    fn hung(&self, now: f64, limit: f64) -> Option<HangingTest> {
        let running = &self.open.0;
        let since = |own: &Unfinished| own.began.map(|began| now - began);
        let is_leaf = |own: &Unfinished| {
            !running.iter().any(|other| holds(&own.name, &other.name) || is_part(own, other))
        };
        let is_late = |own: &&Unfinished| since(own).is_some_and(|took| took > limit);
        // Everything else waits for the innermost entry.
        let what = running.iter().filter(|own| is_leaf(own)).rfind(is_late)?;
        let within = running.last().filter(|own| own.beside && *own != what);
        // A test begins just before its fixture: if the fixture is about to be late as well, the
        // fixture is what hangs.
        if within.and_then(since).is_some_and(|took| took > 0.9 * limit) {
            return None;
        }
        let mut tests = running.iter().filter(|own| !own.beside);
        let only = tests.next().filter(|_| tests.next().is_none());
        let test = if what.beside { only } else { Some(what) };
        let phase = only.filter(|_| !what.beside).and(self.phase);
        Some(HangingTest {
            test: test.map(|test| test.name.clone()),
            within: within.map(|own| own.name.clone()),
            seconds: since(what).unwrap_or(limit),
            at: now,
            what: Unfinished { phase, ..what.clone() },
        })
    }
}

/// Returns true if a Go test is a subtest of another.
fn is_part(of: &Unfinished, test: &Unfinished) -> bool {
    test.name.strip_prefix(&of.name).is_some_and(|rest| rest.starts_with('/'))
}

fn began(open: &mut OpenEntries, name: String, now: f64) {
    open.0.push(Unfinished { name, began: Some(now), ..Unfinished::default() });
}

/// Ends a test; the test that contains it continues.
fn ended(open: &mut OpenEntries, name: &str, now: f64) {
    let test = Unfinished { name: name.to_owned(), ..Unfinished::default() };
    open.0.retain(|own| own.name != name);
    for own in open.0.iter_mut().filter(|own| is_part(own, &test)) {
        own.began = Some(now);
    }
}

fn libtest(open: &mut OpenEntries, told: &mut TestProgress, line: &[u8], program: &str, now: f64) {
    let Ok(event) = serde_json::from_slice::<OfLibtest>(line) else { return };
    let name = format!("{program}{}", event.name);
    match (event.kind.as_str(), event.event.as_str()) {
        ("test", "started") => began(open, name, now),
        // libtest also reports slow tests.
        ("test", "timeout") => {}
        ("test", came) => {
            ended(open, &name, now);
            told.ended(&name, came == "failed", None);
        }
        _ => {}
    }
}

fn go(open: &mut OpenEntries, told: &mut TestProgress, line: &[u8], now: f64) {
    let Ok(event) = serde_json::from_slice::<OfGo>(line) else { return };
    let Some(test) = event.test else { return };
    let name = format!("{}: {test}", event.package);
    match event.action.as_str() {
        // A test that is paused until other parallel tests have ended is not running.
        "run" | "cont" => began(open, name, now),
        "pause" => ended(open, &name, now),
        came @ ("pass" | "fail" | "skip") => {
            ended(open, &name, now);
            told.ended(&name, came == "fail", None);
        }
        _ => {}
    }
}

/// Parses a line of TAP; only top-level results count, not those of subtests.
fn tap(told: &mut TestProgress, line: &[u8]) {
    let line = String::from_utf8_lossy(line);
    let (passed, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => match line.strip_prefix("ok") {
            Some(rest) => (true, rest),
            None => return,
        },
    };
    if !rest.starts_with(' ') {
        return;
    }
    let name = rest.trim().trim_start_matches(|c: char| c.is_ascii_digit());
    let name = name.trim_start().trim_start_matches("- ");
    let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
    let directive = directive.to_ascii_lowercase();
    let is_expected = directive.starts_with("todo") || directive.starts_with("skip");
    told.ended(name, !passed && !is_expected, None);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::fs;

    fn none(_: u64) -> Vec<u8> {
        Vec::new()
    }

    fn name(hung: Option<HangingTest>) -> Option<String> {
        hung.map(|hung| hung.what.name)
    }

    #[test]
    fn events_tell_what_runs_since_when_and_only_what_is_new_is_read() {
        let room = tempfile::tempdir().unwrap();
        let file = room.path().join("7.jsonl");
        let write = |text: &str| fs::write(&file, text).unwrap();
        let mut watch = Watch::events(room.path().to_owned());
        assert_eq!(watch.hung(9.0, 1.0, &none), None);
        let open = "{\"open\":\"group_setup\",\"group\":\"A\",\"at\":1.0}\n";
        write(open);
        assert_eq!(watch.hung(1.5, 1.0, &none), None);
        assert_eq!(name(watch.hung(2.5, 1.0, &none)).unwrap(), "group setup of A");
        // An incomplete line is read once it is complete.
        write(&format!("{open}{{\"start\":\"A: x\",\"at\":2.0}}\n{{\"test\":\"A"));
        let hung = watch.hung(3.5, 1.0, &none).unwrap();
        assert_eq!((hung.test.as_deref(), hung.seconds), (Some("A: x"), 1.5));
        write(&format!(
            "{open}{{\"start\":\"A: x\",\"at\":2.0}}\n{{\"test\":\"A: x\",\"end\":2.5}}\n"
        ));
        assert_eq!(watch.hung(9.0, 1.0, &none), None);
    }

    #[test]
    fn what_is_not_written_yet_stands_in_the_tail_with_the_phase() {
        let room = tempfile::tempdir().unwrap();
        let first = "{\"assay_tests\":1,\"framework\":\"x\",\"process\":7}\n";
        fs::write(room.path().join("7.jsonl"), first).unwrap();
        let tail = |behind: usize, phase: char, lines: &str| {
            let text = format!("{behind:018}{phase}\n{lines}\0\0\0");
            fs::write(room.path().join("7.tail"), text).unwrap();
        };
        let mut watch = Watch::events(room.path().to_owned());
        tail(first.len(), 'b', "{\"start\":\"A: x\",\"at\":2.0}\n");
        let hung = watch.hung(3.5, 1.0, &none).unwrap();
        assert_eq!((hung.what.name.as_str(), hung.what.phase), ("A: x", Some(Part::Body)));
        let run = events::read(room.path()).unwrap().unwrap();
        assert_eq!(run.unfinished, [Unfinished { process: 0, ..hung.what }]);
        // Lines that are already in the file are not processed twice.
        let whole = format!("{first}{{\"start\":\"A: x\",\"at\":2.0}}\n");
        fs::write(room.path().join("7.jsonl"), &whole).unwrap();
        assert_eq!(events::read(room.path()).unwrap().unwrap().unfinished.len(), 1);
        tail(whole.len(), ' ', "{\"test\":\"A: x\",\"begin\":2,\"end\":3}\n");
        assert_eq!(watch.hung(9.0, 1.0, &none), None);
        assert_eq!(events::read(room.path()).unwrap().unwrap().tests.len(), 1);
    }

    #[test]
    fn a_fixture_that_hangs_is_told_with_the_test_that_waits_for_it() {
        let mut known = EventFile::default();
        let lines = concat!(
            "{\"start\":\"a.py::t\",\"at\":1.0}\n",
            "{\"open\":\"fixture\",\"group\":\"a.py\",\"name\":\"base\",\"at\":1.5}\n"
        );
        known.lines(lines.as_bytes(), |open, _, line| {
            open.take(&serde_json::from_slice(line).unwrap());
        });
        let hung = known.hung(4.0, 1.0).unwrap();
        assert_eq!(hung.what.name, "fixture base of a.py");
        assert_eq!(hung.test.as_deref(), Some("a.py::t"));
        // Only the test is late, but the fixture is about to be, and is what hangs.
        assert_eq!(known.hung(2.49, 1.0), None);
        // The fixture began too late to count as hanging, but it is where the test is.
        let hung = known.hung(2.25, 1.0).unwrap();
        assert_eq!(hung.what.name, "a.py::t");
        assert_eq!(hung.within.as_deref(), Some("fixture base of a.py"));
    }

    #[test]
    fn tests_with_parts_have_the_time_of_none_of_them() {
        let text = RefCell::new(String::new());
        let mut watch = Watch::go();
        let mut add = |action: &str, test: &str, now: f64| {
            let line =
                format!("{{\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"{test}\"}}\n");
            text.borrow_mut().push_str(&line);
            let output = |from: u64| text.borrow().as_bytes()[from as usize..].to_vec();
            name(watch.hung(now, 1.0, &output))
        };
        add("run", "T", 1.0);
        add("run", "T/a", 1.5);
        assert_eq!(add("pass", "T/a", 2.25), None);
        add("run", "T/b", 2.5);
        assert_eq!(add("output", "T/b", 4.0).unwrap(), "p: T/b");
        assert_eq!(add("pause", "T/b", 4.5), None);
        assert_eq!(add("pass", "T", 9.0), None);
    }

    #[test]
    fn programs_of_libtest_tell_each_in_a_file() {
        let room = tempfile::tempdir().unwrap();
        let mut watch = Watch::libtest(room.path().to_owned());
        let started = "{ \"type\": \"test\", \"event\": \"started\", \"name\": \"a::b\" }\n";
        fs::write(room.path().join("1.json"), started).unwrap();
        fs::write(room.path().join("1.about"), "1.5 - /deps/own-0123abc\n").unwrap();
        assert_eq!(watch.hung(1.0, 1.0, &none), None);
        assert_eq!(name(watch.hung(2.5, 1.0, &none)).unwrap(), "own: a::b");
        let ok =
            "{ \"type\": \"test\", \"name\": \"a::b\", \"event\": \"ok\", \"exec_time\": 1 }\n";
        fs::write(room.path().join("1.json"), format!("{started}{ok}")).unwrap();
        assert_eq!(watch.hung(9.0, 1.0, &none), None);
    }
}
