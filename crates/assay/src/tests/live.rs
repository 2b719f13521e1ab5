//! Live progress of a suite: the number of tests that ended, the running test, and each failure as
//! it happens.

use crate::progress::Line;
use assay_data::Unit;
use assay_report::number;
use assay_report::words::counted;
use assay_suites::watching::TestProgress;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

/// Interval between two checks of a suite, so that a failure is printed within a second.
pub(crate) const EVERY: Duration = Duration::from_millis(400);
/// Maximum number of failures printed during a run; the final screen has all.
const MOST_FAILURES: usize = 20;

/// Prints the progress of suites.
pub(crate) struct Live {
    line: Rc<Line>,
    /// True if failures are printed when they happen.
    says: bool,
    /// Planned number of runs, if fixed.
    runs: Option<u32>,
    /// Number of runs started.
    run: u32,
    /// Number of tests and seconds of the last complete run.
    last: Option<(usize, f64)>,
    /// Names of the failed tests.
    failed: BTreeSet<String>,
}

impl Live {
    pub fn new(line: Rc<Line>, says: bool, runs: Option<u32>) -> Self {
        Self { line, says, runs, run: 0, last: None, failed: BTreeSet::new() }
    }

    /// Counts the start of a run.
    pub fn begins(&mut self) {
        self.run += 1;
    }

    /// Records the number of tests and the duration of a complete run.
    pub fn ended(&mut self, tests: usize, seconds: f64) {
        self.last = Some((tests, seconds));
    }

    /// Shows the progress of a run after `seconds`.
    pub fn take(&mut self, told: &TestProgress, seconds: f64) {
        for (name, message) in &told.failed {
            if self.says && self.failed.len() < MOST_FAILURES && self.failed.insert(name.clone()) {
                match message.as_deref().map(key_lines).unwrap_or_default().as_slice() {
                    [] => self.line.say(&format!("failed: {name}")),
                    [only] => self.line.say(&format!("failed: {name}: {}", only.trim_start())),
                    several => {
                        self.line.say(&format!("failed: {name}"));
                        several.iter().for_each(|line| self.line.say(&format!("  {line}")));
                    }
                }
            }
        }
        if self.line.is_due() {
            let share = self.last.map_or(0.0, |(_, all)| (seconds / all.max(1e-9)).min(0.99));
            self.line.draw(share, self.words(told, seconds));
        }
    }

    /// Returns `run 2 of 20: 41 of 312 tests, 1 failed, 3 s left; user_spec.rb: logs in`.
    fn words(&self, told: &TestProgress, seconds: f64) -> String {
        let run = match self.runs {
            Some(1) => String::new(),
            Some(runs) => format!("run {} of {runs}: ", self.run),
            None => format!("run {}: ", self.run),
        };
        let of = self.last.map_or_else(String::new, |(all, _)| format!(" of {all}"));
        let tests = match of.is_empty() {
            true => counted(told.ended, "test"),
            false => format!("{}{of} tests", told.ended),
        };
        let failed = match self.failed.len() {
            0 => String::new(),
            n => format!(", {n} failed"),
        };
        let second = &Unit::Second;
        let left = match self.last.map(|(_, all)| all - seconds).filter(|left| *left >= 1.0) {
            Some(left) => format!(", {} left", number::rough(left, second)),
            None => format!(", {}", number::rough(seconds, second)),
        };
        let running = told.running.as_ref().map_or_else(String::new, |name| format!("; {name}"));
        format!("{run}{tests}{failed}{left}{running}")
    }
}

/// Returns the beginning of a test's message on one line.
pub(crate) fn first_lines(message: &str) -> String {
    let lines = key_lines(message);
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    shortened(&lines.join(" "))
}

/// Returns the first lines of a test's message without its stack trace, each at most 200 characters
/// long. Their indentation relative to each other stays.
pub(crate) fn key_lines(message: &str) -> Vec<String> {
    const MOST_LINES: usize = 5;
    let lines = message.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let is_trace = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("stack backtrace:") || line.starts_with("note: ")
    };
    let lines: Vec<&str> = lines.take_while(|line| !is_trace(line)).take(MOST_LINES).collect();
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let common = lines.iter().map(indent).min().unwrap_or(0);
    lines.iter().map(|line| shortened(&line[common..])).collect()
}

fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_its_lines_and_their_indentation() {
        let message =
            "\n    assert [1, 2] == [1, 3]\n\n      at index 1: 2 != 3\n    note: run with x";
        assert_eq!(key_lines(message), ["assert [1, 2] == [1, 3]", "  at index 1: 2 != 3"]);
        assert_eq!(first_lines(message), "assert [1, 2] == [1, 3] at index 1: 2 != 3");
        assert!(key_lines("\n \n").is_empty());
        let long = key_lines(&"x".repeat(300));
        assert_eq!(long[0].chars().count(), 201);
    }
}
