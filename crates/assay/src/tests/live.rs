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
    /// True if failures are printed as they happen.
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

    /// Notes the start of a run.
    pub fn begins(&mut self) {
        self.run += 1;
    }

    /// Notes the end of a complete run.
    pub fn ended(&mut self, tests: usize, seconds: f64) {
        self.last = Some((tests, seconds));
    }

    /// Shows the progress of a run after `seconds`.
    pub fn take(&mut self, told: &TestProgress, seconds: f64) {
        for (name, message) in &told.failed {
            if self.says && self.failed.len() < MOST_FAILURES && self.failed.insert(name.clone()) {
                let why = message
                    .as_deref()
                    .map_or_else(String::new, |message| format!(": {}", first_lines(message)));
                self.line.say(&format!("failed: {name}{why}"));
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
    const MOST: usize = 200;
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_trace = |line: &&str| line.starts_with("stack backtrace:") || line.starts_with("note: ");
    let lines = lines.take_while(|line| !is_trace(line));
    let text = lines.take(5).collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
