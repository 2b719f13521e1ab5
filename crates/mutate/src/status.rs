//! Test commands that report only their exit status, as those of many C programs do. Such a command
//! counts as one test, which passes with status 0. A program that exits early with status 0 has not
//! passed: its output then lacks the last lines that it prints without a change.

use assay_data::test_results::TestStatus;
use assay_measure::Outcome;
use assay_suites::run::{Run, Test};
use std::ffi::OsString;

/// The framework's name in results.
const NAME: &str = "exit status";

/// Judges a command by its exit status.
#[derive(Debug)]
pub(crate) struct ByStatus {
    /// The command in one line.
    name: String,
    /// The lines that the command prints without a change, once everything is built.
    lines: Vec<String>,
}

impl ByStatus {
    /// Creates the judge from the command and its output without a change.
    pub fn new(argv: &[OsString], output: &[u8]) -> Self {
        let words: Vec<_> = argv.iter().map(|word| word.to_string_lossy()).collect();
        Self { name: words.join(" "), lines: lines(output) }
    }

    /// Returns the result of a run; `None` if the code may not have been built at all.
    pub fn run(&self, outcome: Outcome, output: &[u8], errors: &[u8]) -> Option<Run> {
        let (status, message) = match outcome {
            Outcome::Exited(0) if self.is_cut(output) => {
                let message = "it ended with status 0 before the last lines of its output";
                (TestStatus::Failed, Some(message.to_owned()))
            }
            Outcome::Exited(0) => (TestStatus::Passed, None),
            _ if has_complaint(output) || has_complaint(errors) => return None,
            other => (TestStatus::Failed, Some(format!("it {other}"))),
        };
        let test = Test { name: self.name.clone(), status, message, ..Test::default() };
        Some(Run { framework: NAME.to_owned(), tests: vec![test], ..Run::default() })
    }

    /// Returns true if `output` ends in the middle of what is printed without a change.
    fn is_cut(&self, output: &[u8]) -> bool {
        let told = lines(output);
        (1..self.lines.len()).any(|count| {
            let begin = &self.lines[..count];
            told.ends_with(begin) && !told.contains(&self.lines[count])
        }) && !told.ends_with(&self.lines)
    }
}

/// Returns the trimmed lines. Empty lines and messages of `make` itself are left out: `make`
/// reports leaving a directory however its program ended.
fn lines(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !is_of_make(line)).map(str::to_owned).collect()
}

/// Returns true for `make: …` and `make[1]: …`.
fn is_of_make(line: &str) -> bool {
    let Some((who, _)) = line.split_once(": ") else { return false };
    let name = who.split_once('[').map_or(who, |(name, _)| name);
    ["make", "gmake"].contains(&name)
}

/// Returns true if a compiler or linker reports an error.
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
        // A different output counts as complete.
        assert_eq!(status(ended, b"./t\none\n2\nok\n", b""), Some(TestStatus::Passed));
        assert_eq!(status(Outcome::Exited(2), b"./t\n", b""), Some(TestStatus::Failed));
        assert_eq!(status(Outcome::Exited(2), b"", b"m.c:1:1: error: no\n"), None);
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
}
