//! Stores the durations of tests over days, in one file of JSON lines in the user's cache for each
//! project and command. The durations only serve to report tests that became slower, so unreadable
//! lines are skipped, and a failure to write is reported once.

use assay_analysis::history::slower_tests;
use assay_data::{Finding, private};
use assay_measure::directories::cache_directory;
use assay_suites::coverage::sum;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Minimum time between two stored runs, in milliseconds.
const APART: i64 = 600_000;
/// Size in bytes beyond which the older half of the runs is dropped.
const LONGEST: u64 = 8 << 20;
/// Duration in seconds of the shortest test that is stored. For shorter ones, most of the time is
/// overhead of the clock and the framework.
const QUICKEST: f64 = 0.001;

/// A line of the file: a run in which all tests passed.
#[derive(Deserialize, Serialize)]
struct Run {
    /// Start of the run, in milliseconds since 1970.
    at: i64,
    /// Duration of each test, in seconds.
    tests: BTreeMap<String, f64>,
}

/// The stored durations of one project and command.
pub(crate) struct Times {
    path: Option<PathBuf>,
    last: Option<i64>,
    told: BTreeSet<String>,
    is_refused: bool,
}

impl Times {
    /// Returns the stored durations of a command in a directory.
    pub fn of(top: &Path, command: &[OsString]) -> Self {
        let mut key = top.as_os_str().as_bytes().to_vec();
        for word in command {
            key.push(0);
            key.extend(word.as_bytes());
        }
        let path = cache_directory()
            .map(|cache| cache.join("watch").join(format!("{:016x}.jsonl", sum(&key))));
        Self { path, last: None, told: BTreeSet::new(), is_refused: false }
    }

    /// Stores the durations of a complete, passing run that started at `at`, in milliseconds since
    /// 1970. Returns findings about tests that became slower and were not reported before. Also
    /// returns a message the first time that the durations cannot be stored.
    pub fn keep<'a>(
        &mut self,
        at: i64,
        tests: impl Iterator<Item = (&'a String, f64)>,
    ) -> (Vec<Finding>, Option<String>) {
        // The system clock may go back.
        if self.last.is_some_and(|last| (at - last).abs() < APART) {
            return (Vec::new(), None);
        }
        let Some(path) = self.path.clone() else { return (Vec::new(), None) };
        let tests = tests.filter(|(_, seconds)| *seconds >= QUICKEST);
        let run = Run { at, tests: tests.map(|(name, own)| (name.clone(), own)).collect() };
        let mut runs = read(&path);
        let newest = runs.iter().map(|run| run.at).filter(|own| *own <= at).max();
        self.last = Some(newest.filter(|own| at - own < APART).unwrap_or(at));
        if self.last != Some(at) {
            return (self.new_ones(&runs, at), None);
        }
        let written = write(&path, &run);
        runs.push(run);
        let refused = written.err().filter(|_| !std::mem::replace(&mut self.is_refused, true));
        let refused = refused.map(|error| {
            format!(
                "{}: {error}; so it is not known which tests get slower over days",
                path.display()
            )
        });
        (self.new_ones(&runs, at), refused)
    }

    fn new_ones(&mut self, runs: &[Run], now: i64) -> Vec<Finding> {
        let Some(last) = runs.last() else { return Vec::new() };
        let mut times: BTreeMap<String, Vec<(i64, f64)>> = BTreeMap::new();
        for run in runs {
            for (name, seconds) in &run.tests {
                // Tests that no longer exist are ignored.
                if last.tests.contains_key(name) {
                    times.entry(name.clone()).or_default().push((run.at, *seconds));
                }
            }
        }
        let found = slower_tests(&times, now);
        let told = &mut self.told;
        let mut is_new = |own: &Finding| told.insert(own.subject.clone().unwrap_or_default());
        found.into_iter().filter(|own| is_new(own)).collect()
    }
}

fn read(path: &Path) -> Vec<Run> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut runs: Vec<Run> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    runs.sort_by_key(|run| run.at);
    runs
}

/// Appends a line for a run. It is written in a single call, because two processes may write at the
/// same time.
fn write(path: &Path, run: &Run) -> std::io::Result<()> {
    if let Some(above) = path.parent() {
        private::directory(above)?;
    }
    if fs::metadata(path).is_ok_and(|file| file.len() > LONGEST) {
        let runs = read(path);
        let mut text = Vec::new();
        for run in &runs[runs.len() / 2..] {
            serde_json::to_writer(&mut text, run)?;
            text.push(b'\n');
        }
        private::replace(path, &text)?;
    }
    let mut line = serde_json::to_vec(run)?;
    line.push(b'\n');
    private::options().append(true).create(true).open(path)?.write_all(&line)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use std::fs::OpenOptions;

    fn times(path: &Path) -> Times {
        Times { path: Some(path.to_owned()), last: None, told: BTreeSet::new(), is_refused: false }
    }

    #[test]
    fn a_test_that_got_slower_is_told_once_from_what_earlier_sessions_kept() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("deep/a.jsonl");
        let names = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let mut told = Vec::new();
        for run in 0..100_i64 {
            let wobble = (run * 7919 % 101) as f64 / 2000.0;
            let level = if run < 60 { 0.2 } else { 0.3 };
            let of = [(&names[0], 0.2 + wobble), (&names[1], level + wobble), (&names[2], 1e-5)];
            // A killed process leaves a partial line.
            if run == 30 {
                let mut file = OpenOptions::new().append(true).open(&path).unwrap();
                file.write_all(b"{\"at\":3,\n").unwrap();
            }
            let (found, refused) = times(&path).keep(run * APART * 10, of.into_iter());
            assert_eq!(refused, None);
            told.push(found.into_iter().map(|finding| finding.message).collect::<Vec<_>>());
        }
        assert!(told[..60].iter().all(Vec::is_empty), "{told:?}");
        let last = &told[99];
        assert!(last.len() == 1 && last[0].starts_with("`b` got "), "{last:?}");
        assert_eq!(read(&path).len(), 100);
        // At most one run in ten minutes is stored, and nothing is reported twice.
        let mut times = times(&path);
        let of = || [(&names[0], 0.2), (&names[1], 0.3)].into_iter();
        assert_eq!(times.keep(1_000 * APART, of()).0.len(), 1);
        assert!(times.keep(1_000 * APART + 5, of()).0.is_empty());
        assert!(times.keep(1_002 * APART, of()).0.is_empty());
        assert_eq!(read(&path).len(), 102);
    }

    #[test]
    fn what_can_not_be_kept_is_said_once() {
        let room = tempfile::tempdir().unwrap();
        let file = room.path().join("file");
        fs::write(&file, "").unwrap();
        let mut times = times(&file.join("a.jsonl"));
        let name = "a".to_owned();
        let mut keep = |at: i64| times.keep(at * APART, [(&name, 1.0)].into_iter()).1;
        assert!(keep(1).unwrap().contains("a.jsonl"));
        assert_eq!(keep(3), None);
    }
}
