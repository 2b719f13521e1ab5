//! The interface of a harness driver: the required operations, and the types of requests and
//! answers.

use crate::error::HarnessError;
use crate::reading::Reading;
use crate::reply::{Answer, Reply};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Amount of work in one run of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// As many iterations as take about this many seconds; the harness determines the number.
    Seconds(f64),
    /// Exactly this many iterations, after the harness's warm-up. Only for drivers that
    /// [pin](Driver::pins) the number of iterations.
    Iterations(u64),
    /// Exactly this many iterations without a warm-up, for counts of the whole process. Only for
    /// drivers that [pin](Driver::pins) the number of iterations.
    Counted(u64),
    /// The smallest amount of work that the harness supports, to check that the benchmark works.
    Once,
}

/// Additions to the user's command for one run, and the location of its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Arguments directly after the program and before the user's own (`-m pytest`, `-r shim.rb`).
    /// Only interpreters need them.
    pub before: Vec<OsString>,
    /// Arguments after the user's own arguments.
    pub args: Vec<OsString>,
    /// Environment variables to set, as pairs of name and value.
    pub env: Vec<(String, String)>,
    /// Environment variables with options of an interpreter (`RUBYOPT`). The options are appended
    /// to the user's value, separated by a space.
    pub options: Vec<(String, String)>,
    /// Environment variables that list directories (`PYTHONPATH`), each with a directory to insert
    /// before the user's directories.
    pub directories: Vec<(String, PathBuf)>,
    /// Files with their contents that must exist when the program starts. The caller empties the
    /// scratch directory, and then creates these files and their parent directories in it.
    pub files: Vec<(PathBuf, String)>,
    /// Place to which the run writes its answer.
    pub answer: Answer,
}

impl Request {
    /// Creates a request with these arguments and an answer on standard output.
    pub fn with<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Self {
        Self { args: args.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Adds an option to an environment variable that holds an interpreter's options.
    #[must_use]
    pub fn option(mut self, variable: &str, option: &str) -> Self {
        match self.options.iter_mut().find(|(name, _)| name == variable) {
            Some((_, own)) => *own += &format!(" {option}"),
            None => self.options.push((variable.to_owned(), option.to_owned())),
        }
        self
    }

    /// Inserts a directory before those listed in an environment variable.
    #[must_use]
    pub fn directory(mut self, variable: &str, directory: PathBuf) -> Self {
        self.directories.insert(0, (variable.to_owned(), directory));
        self
    }

    /// Adds a file that is created before the program starts.
    #[must_use]
    pub fn file(mut self, path: PathBuf, text: impl Into<String>) -> Self {
        self.files.push((path, text.into()));
        self
    }

    /// Sets the location of the answer.
    #[must_use]
    pub fn answered_in(self, answer: Answer) -> Self {
        Self { answer, ..self }
    }
}

/// A language whose programs can report which functions they execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// Ruby.
    Ruby,
    /// Go.
    Go,
}

/// A driver for the programs of a benchmark harness.
pub trait Driver: std::fmt::Debug {
    /// Returns the usual name of the harness, with its version if the program states it, as in
    /// `Catch2 3.7.1`.
    fn name(&self) -> String;

    /// Returns true if a run can be restricted to one benchmark. Otherwise every run measures all
    /// of them.
    fn isolates(&self) -> bool {
        true
    }

    /// Returns true if the number of iterations can be set, so that every side does the same work
    /// and only the time differs.
    fn pins(&self) -> bool;

    /// Returns the length of a turn in seconds, or `None` if two processes cannot measure
    /// alternately ([`Turns`](crate::Turns)).
    fn turn_seconds(&self) -> Option<f64> {
        None
    }

    /// Returns the request for listing the benchmarks. `scratch` is an empty directory for the
    /// files of this request.
    fn list(&self, scratch: &Path) -> Request;

    /// Returns a request that lists no benchmark, so that the program prints only its own output.
    /// `None` if the harness's output can be recognized without it.
    fn own_words(&self, _scratch: &Path) -> Option<Request> {
        None
    }

    /// Returns the names of the benchmarks, in the program's order. They are spelled as in the
    /// results of [`Driver::read`].
    ///
    /// # Errors
    /// If the answer is not from this harness.
    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError>;

    /// Returns the groups of benchmarks that the program itself compares. Within a group, each
    /// benchmark is compared with the first. The groups are known only after [`Driver::listed`].
    fn compared(&self) -> Vec<Vec<String>> {
        Vec::new()
    }

    /// Returns the request for measuring one benchmark in one run. If the driver does not
    /// [isolate](Driver::isolates) benchmarks, the run measures all of them.
    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request;

    /// Returns the request for measuring these benchmarks one after another in a single process, or
    /// `None` if the harness cannot select several benchmarks.
    fn measure_several(
        &self,
        _benchmarks: &[&str],
        _effort: Effort,
        _scratch: &Path,
    ) -> Option<Request> {
        None
    }

    /// Returns the request for running every benchmark once, each in a forked process, so that the
    /// program is loaded only once. `None` if the harness does not support that. It is used only to
    /// record [which code they execute](crate::executed); nothing is measured.
    fn run_each(&self, _scratch: &Path) -> Option<Request> {
        None
    }

    /// Returns the results of a run, with one reading for every benchmark in the answer.
    ///
    /// # Errors
    /// If the answer is not from this harness, or is truncated.
    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError>;

    /// Returns true if the symbol is that of the function that the benchmark measures. Always false
    /// if the names in this harness do not show that.
    fn is_code_of(&self, _benchmark: &str, _symbol: &str) -> bool {
        false
    }

    /// Returns the language whose tools can record which functions a benchmark executes, or `None`
    /// if there are no such tools.
    fn executes(&self) -> Option<Language> {
        None
    }

    /// Returns true if programs of this harness run on Node.js, which can record the parts of
    /// scripts that a benchmark executes.
    fn notes_scripts(&self) -> bool {
        false
    }

    /// Returns a message if the program or its harness was built without optimization, which makes
    /// times larger. The benchmark is measured anyway.
    fn debug_build(&self, _reply: &Reply) -> Option<String> {
        None
    }
}
