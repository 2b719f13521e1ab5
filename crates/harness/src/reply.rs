//! The answer of a benchmark program after a run.

use crate::error::HarnessError;
use std::path::PathBuf;

/// Location of a run's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// On the program's standard output.
    #[default]
    Output,
    /// In this file, which the run creates.
    File(PathBuf),
    /// In this directory, which the run fills.
    Directory(PathBuf),
}

/// The output of one run, and the location of its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error, or the last part of it.
    pub errors: Vec<u8>,
    /// True if the run ended with status 0.
    pub success: bool,
    /// Location of the answer.
    pub answer: Answer,
    /// What the program itself prints regardless of its arguments: the output of a run of
    /// [`Driver::own_words`](crate::Driver::own_words).
    pub own: Vec<u8>,
}

impl Reply {
    /// Returns the lines of standard output that the harness printed, without the program's own. A
    /// line that differs from one of the program's own only in numbers (a time, a process ID) also
    /// counts as the program's own. Text that the program prints before the harness, without a line
    /// feed, is removed from the harness's first line; text that it prints afterwards is a separate
    /// line.
    pub(crate) fn lines_of_harness(&self) -> Vec<String> {
        let text = self.text();
        let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        let own = String::from_utf8_lossy(&self.own).into_owned();
        let mut glued = Vec::new();
        for line in own.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match lines.iter().position(|other| shape(other) == shape(line)) {
                Some(at) => drop(lines.remove(at)),
                None => glued.push(line),
            }
        }
        for line in glued {
            let begins = |begun: &str| lines.iter().position(|other| other.starts_with(begun));
            let after = lines.iter().rposition(|other| line.ends_with(other));
            let begun = after.map_or(line, |at| &line[..line.len() - lines[at].len()]);
            if let Some(at) = begins(begun).filter(|_| !begun.trim().is_empty()) {
                lines[at] = lines[at][begun.len()..].trim_start();
                if let Some(after) = after.filter(|after| *after != at) {
                    lines.remove(after);
                }
            }
        }
        let owned = |lines: Vec<&str>| -> Vec<String> {
            let lines = lines.into_iter().map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect()
        };
        let found = owned(lines);
        // The program ignores the filter: its own output is unknown.
        if found.is_empty() { owned(text.lines().collect()) } else { found }
    }

    /// Returns standard output as text, with invalid UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// Returns the bytes of the answer: those of the file if the answer is in one, otherwise those
    /// of standard output.
    ///
    /// # Errors
    /// [`HarnessError::NoAnswer`] if the file was not created, or cannot be read.
    pub fn bytes(&self) -> Result<Vec<u8>, HarnessError> {
        match &self.answer {
            Answer::Output | Answer::Directory(_) => Ok(self.output.clone()),
            Answer::File(path) => std::fs::read(path).map_err(|source| HarnessError::NoAnswer {
                path: path.clone(),
                source,
                said: crate::error::tail(&self.errors, &self.output),
            }),
        }
    }
}

/// Returns a line in which all numbers, decimal or hexadecimal, are replaced by the same text.
fn shape(line: &str) -> String {
    let mut shape = String::with_capacity(line.len());
    for c in line.chars() {
        match c.is_ascii_hexdigit() {
            true if shape.ends_with('0') => {}
            true => shape.push('0'),
            false => shape.push(c),
        }
    }
    shape
}
