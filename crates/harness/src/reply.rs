//! The answer that a benchmark program gives in a run.

use crate::error::HarnessError;
use std::path::PathBuf;

/// Place to which a run writes its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// The program's standard output.
    #[default]
    Output,
    /// A file that the run creates.
    File(PathBuf),
    /// A directory in which the run creates files.
    Directory(PathBuf),
}

/// The output of one run, and the location of its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error, or only its end if it is long.
    pub errors: Vec<u8>,
    /// True if the program exited with status 0.
    pub success: bool,
    /// Place to which the run wrote its answer.
    pub answer: Answer,
    /// Output that the program itself prints regardless of its arguments: the output of the request
    /// [`Driver::own_words`](crate::Driver::own_words).
    pub own: Vec<u8>,
}

impl Reply {
    /// Returns the lines of standard output that the harness printed, without those of the program
    /// itself. A line that differs from one of the program's lines only in numbers (a time, a
    /// process ID) counts as the program's. Text that the program prints before the harness,
    /// without a line feed, is removed from the harness's first line. Text that it prints
    /// afterwards is a separate line.
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
        // If nothing remains, the program ignored the filter, and its own output is unknown.
        if found.is_empty() { owned(text.lines().collect()) } else { found }
    }

    /// Returns standard output as text, with invalid UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// Returns the contents of the answer file, or standard output if the answer is not in a file.
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

/// Returns the line with every decimal or hexadecimal number replaced by `0`, so that lines can be
/// compared without their numbers.
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
