//! What every harness must be able to do, and the words in which it is asked.

use crate::error::HarnessError;
use crate::reading::Reading;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How much a run of a benchmark does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// The harness finds the number of iterations that take about so many seconds.
    Seconds(f64),
    /// Exactly so many iterations. Only asked of drivers that [pin](Driver::pins).
    Iterations(u64),
    /// The least that the harness can do: to see that the benchmark is not broken.
    Once,
}

/// Where the answer of a run lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// On its standard output.
    #[default]
    Output,
    /// In this file, which the run makes.
    File(PathBuf),
    /// In this directory, which the run fills.
    Directory(PathBuf),
}

/// What is added to the user's command for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Put directly behind the program (`-m pytest`, `-r shim.rb`), before the user's own arguments: only interpreters need it.
    pub before: Vec<OsString>,
    /// Put behind the user's own arguments.
    pub args: Vec<OsString>,
    /// Variables.
    pub env: Vec<(String, String)>,
    /// Variables that hold options of an interpreter (`RUBYOPT`): behind what the user has in them, with a blank between.
    pub options: Vec<(String, String)>,
    /// Files with their text that the program finds when it starts. Whoever runs it writes them, with the directories above
    /// them, after emptying the scratch directory, in which they are.
    pub files: Vec<(PathBuf, String)>,
    /// Where the answer will be.
    pub answer: Answer,
}

impl Request {
    /// With these arguments, answered on standard output.
    pub fn with<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Self {
        Self { args: args.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// The same with one more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// The same with one more variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// The same with one more file.
    #[must_use]
    pub fn file(mut self, path: PathBuf, text: impl Into<String>) -> Self {
        self.files.push((path, text.into()));
        self
    }

    /// The same, answered elsewhere.
    #[must_use]
    pub fn answered_in(self, answer: Answer) -> Self {
        Self { answer, ..self }
    }
}

/// What came of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// What it wrote to standard output.
    pub output: Vec<u8>,
    /// What it wrote to standard error, or the end of that.
    pub errors: Vec<u8>,
    /// Whether it ended with status 0.
    pub success: bool,
    /// The answer, where it is elsewhere.
    pub answer: Answer,
    /// The program's own output, independent of its arguments; filled by [`Driver::own_words`].
    pub own: Vec<u8>,
}

impl Reply {
    /// The lines of standard output without the program's own. A line that differs from an own line only in digits (a time, a process
    /// number) counts as own, too. Output without a line feed precedes the first line of the harness, and output after that
    /// is a separate line.
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

    /// Standard output as text; what is no UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// The bytes of the answer: of the file where it is one, else of standard output.
    ///
    /// # Errors
    /// [`HarnessError::NoAnswer`] when the file was not made, or can't be read.
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

/// A line with all its numbers, decimal or hexadecimal, made the same.
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

/// A harness, as a program of its showed it.
pub trait Driver: std::fmt::Debug {
    /// Its name as people know it, with the version where the program says, as in `Google Benchmark 1.7`.
    fn name(&self) -> String;

    /// Whether one run can be held to one benchmark. Where it can't, every run measures all of them.
    fn isolates(&self) -> bool {
        true
    }

    /// Whether the number of iterations can be given: the same work for every side, which differs only in how long it takes.
    fn pins(&self) -> bool;

    /// How to have the benchmarks listed. `scratch` is an empty directory for the files of this request.
    fn list(&self, scratch: &Path) -> Request;

    /// A request that lists no benchmark, so that the program prints only its own output. `None` if the
    /// harness's output is recognisable without it.
    fn own_words(&self, _scratch: &Path) -> Option<Request> {
        None
    }

    /// The names of the benchmarks, in the program's order, as [`Driver::read`] will give them.
    ///
    /// # Errors
    /// When the answer is none of this harness.
    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError>;

    /// How to have one benchmark measured by one run, once (all of them where the driver does not [isolate](Driver::isolates)).
    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request;

    /// What a run found: one reading for every benchmark in the answer.
    ///
    /// # Errors
    /// When the answer is none of this harness, or is cut off.
    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError>;

    /// Whether the program's symbol of this name is the function that this benchmark measures. Where names don't show it, none is.
    fn is_code_of(&self, _benchmark: &str, _symbol: &str) -> bool {
        false
    }

    /// What makes the times of such a build larger than they had to be, where the answer of a run says. It is measured all the same.
    fn debug_build(&self, _reply: &Reply) -> Option<String> {
        None
    }
}
