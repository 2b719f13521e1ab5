//! Tests that are judged by an exit status: a command that prints no report, as in many C projects,
//! which counts as one test; and the programs that ctest runs. They pass with status 0. A program
//! that exits early with status 0 has not passed: its output then lacks the last lines that it
//! prints without a change.

use assay_data::list;
use assay_data::test_results::TestStatus;
use assay_measure::Outcome;
use assay_suites::run::{Run, Test};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// The framework's name in results.
const NAME: &str = "exit status";
/// Message about a program that exits early.
const CUT: &str = "it ended with status 0 before the last lines of its output";

/// Judges a command by its exit status.
#[derive(Debug)]
pub(crate) struct ByStatus {
    /// The command in one line.
    name: String,
    /// The lines that the command prints without a change, once everything is built.
    lines: Lines,
}

impl ByStatus {
    /// Creates the judge from the command and its output without a change.
    pub fn new(argv: &[OsString], output: &[u8]) -> Self {
        Self { name: list::line(argv), lines: Lines::of(output) }
    }

    /// Returns the result of a run; `None` if the code may not have been built at all.
    pub fn run(&self, outcome: Outcome, output: &[u8], errors: &[u8]) -> Option<Run> {
        let (status, message) = match outcome {
            Outcome::Exited(0) if self.lines.is_cut_in(output) => {
                (TestStatus::Failed, Some(CUT.to_owned()))
            }
            Outcome::Exited(0) => (TestStatus::Passed, None),
            _ if has_complaint(output) || has_complaint(errors) => return None,
            other => (TestStatus::Failed, Some(format!("it {other}"))),
        };
        let test = Test { name: self.name.clone(), status, message, ..Test::default() };
        Some(Run { framework: NAME.to_owned(), tests: vec![test], ..Run::default() })
    }
}

/// The outputs of tests without a change, by name, for reports that contain them (ctest).
#[derive(Debug, Default)]
pub(crate) struct Outputs(BTreeMap<String, Lines>);

impl Outputs {
    /// Collects the outputs that are the same in all of these runs.
    pub fn of<'r>(runs: impl Iterator<Item = &'r Run>) -> Self {
        let mut own: BTreeMap<String, Option<Lines>> = BTreeMap::new();
        for test in runs.flat_map(|run| &run.tests) {
            let lines = test.output.as_ref().map(|output| Lines::of(output.as_bytes()));
            match own.get_mut(&test.name) {
                Some(before) if *before == lines => {}
                Some(before) => *before = None,
                None => drop(own.insert(test.name.clone(), lines)),
            }
        }
        Self(own.into_iter().filter_map(|(name, lines)| Some((name, lines?))).collect())
    }

    /// Returns the run, in which tests that exited early are marked as failed.
    pub fn held_against(&self, mut run: Run) -> Run {
        for test in run.tests.iter_mut().filter(|test| test.status == TestStatus::Passed) {
            let Some((whole, output)) = self.0.get(&test.name).zip(test.output.as_ref()) else {
                continue;
            };
            if whole.is_cut_in(output.as_bytes()) {
                (test.status, test.message) = (TestStatus::Failed, Some(CUT.to_owned()));
            }
        }
        run
    }
}

/// The trimmed lines of an output. Empty lines and messages of `make` itself are left out: `make`
/// reports leaving a directory regardless of its program's outcome.
#[derive(Debug, Default, PartialEq)]
struct Lines(Vec<String>);

impl Lines {
    fn of(output: &[u8]) -> Self {
        let text = String::from_utf8_lossy(output);
        let lines = text.lines().map(str::trim);
        Self(
            lines.filter(|line| !line.is_empty() && !is_of_make(line)).map(str::to_owned).collect(),
        )
    }

    /// Returns true if `output` ends in the middle of these lines, or has no line.
    fn is_cut_in(&self, output: &[u8]) -> bool {
        let Self(whole) = self;
        let Self(told) = Self::of(output);
        if told.is_empty() {
            return !whole.is_empty();
        }
        (1..whole.len())
            .any(|count| told.ends_with(&whole[..count]) && !told.contains(&whole[count]))
            && !told.ends_with(whole)
    }
}

/// Returns true for `make: …` and `make[1]: …`.
fn is_of_make(line: &str) -> bool {
    let Some((who, _)) = line.split_once(": ") else { return false };
    let name = who.split_once('[').map_or(who, |(name, _)| name);
    ["make", "gmake"].contains(&name)
}

/// Returns true if the output contains an error of a compiler or linker.
fn has_complaint(said: &[u8]) -> bool {
    let said = String::from_utf8_lossy(said);
    crate::arena::COMPLAINTS.iter().any(|own| said.contains(own))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_program_that_ends_before_its_last_lines_has_not_passed() {
        let own = ByStatus::new(&["make".into(), "test".into()], b"./t\none\ntwo\nok\n");
        let status = |outcome, output: &[u8], errors: &[u8]| {
            own.run(outcome, output, errors).map(|run| run.tests[0].status)
        };
        let ended = Outcome::Exited(0);
        assert_eq!(
            status(ended, b"cc -o t t.c\n./t\none\ntwo\nok\n", b""),
            Some(TestStatus::Passed)
        );
        assert_eq!(status(ended, b"./t\none\n", b""), Some(TestStatus::Failed));
        assert_eq!(status(ended, b"cc -o t t.c\n./t\n", b""), Some(TestStatus::Failed));
        // Output that differs from that without a change counts as complete.
        assert_eq!(status(ended, b"./t\none\n2\nok\n", b""), Some(TestStatus::Passed));
        assert_eq!(status(Outcome::Exited(2), b"./t\n", b""), Some(TestStatus::Failed));
        assert_eq!(status(Outcome::Exited(2), b"", b"m.c:1:1: error: no\n"), None);
        assert_eq!(status(ended, b"", b""), Some(TestStatus::Failed));
        assert_eq!(own.run(ended, b"ok", b"").unwrap().tests[0].name, "make test");
        let below =
            b"make[1]: Entering directory '/x'\n./t\none\nok\nmake[1]: Leaving directory '/x'\n";
        let own = ByStatus::new(&["make".into()], below);
        let whole = own.run(ended, below, b"").unwrap();
        let cut = b"make[1]: Entering directory '/x'\n./t\none\nmake[1]: Leaving directory '/x'\n";
        let cut = own.run(ended, cut, b"").unwrap();
        assert_eq!(
            (whole.tests[0].status, cut.tests[0].status),
            (TestStatus::Passed, TestStatus::Failed)
        );
    }

    #[test]
    fn a_test_whose_output_is_cut_has_not_passed_whatever_its_report_says() {
        let run = |outputs: &[(&str, Option<&str>)]| {
            let tests = outputs.iter().map(|(name, output)| Test {
                name: (*name).to_owned(),
                output: output.map(str::to_owned),
                ..Test::default()
            });
            Run { tests: tests.collect(), ..Run::default() }
        };
        let first = run(&[("a", Some("one\ntwo\n")), ("b", Some("at 0x1\nok\n")), ("c", None)]);
        let second = run(&[("a", Some("one\ntwo\n")), ("b", Some("at 0x2\nok\n")), ("c", None)]);
        let whole = Outputs::of([&first, &second].into_iter());
        let failed = |outputs: &[(&str, Option<&str>)]| -> Vec<String> {
            let tests = whole.held_against(run(outputs)).tests.into_iter();
            let failed = tests.filter(|test| test.status == TestStatus::Failed);
            failed.map(|test| test.name).collect()
        };
        assert_eq!(failed(&[("a", Some("one\n")), ("b", Some("at 0x1\n")), ("c", None)]), ["a"]);
        assert_eq!(failed(&[("a", Some("")), ("d", Some(""))]), ["a"]);
        assert!(failed(&[("a", Some("one\n2\n")), ("b", Some("")), ("c", None)]).is_empty());
    }
}
