//! The interface of a harness: the required operations, and the types of requests and answers.

use crate::error::HarnessError;
use crate::reading::Reading;
use crate::reply::{Answer, Reply};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Amount of work in a run of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// As many iterations as take about this many seconds; the harness determines the number.
    Seconds(f64),
    /// Exactly this many iterations, after the harness's warm-up. Only for drivers that
    /// [pin](Driver::pins).
    Iterations(u64),
    /// Exactly this many iterations and no others, for counts of the whole process. Only for drivers
    /// that [pin](Driver::pins).
    Counted(u64),
    /// The least that the harness can do, to check that the benchmark works.
    Once,
}

/// Additions to the user's command for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Arguments directly after the program (`-m pytest`, `-r shim.rb`), before the user's own;
    /// needed only by interpreters.
    pub before: Vec<OsString>,
    /// Arguments after the user's own.
    pub args: Vec<OsString>,
    /// Environment variables.
    pub env: Vec<(String, String)>,
    /// Environment variables with options of an interpreter (`RUBYOPT`): appended to the user's
    /// value, separated by a blank.
    pub options: Vec<(String, String)>,
    /// Variables that list directories (`PYTHONPATH`), each with a directory to insert before the
    /// user's.
    pub directories: Vec<(String, PathBuf)>,
    /// Files, with their contents, that must exist when the program starts. The caller empties the
    /// scratch directory, and then creates these files and their parent directories in it.
    pub files: Vec<(PathBuf, String)>,
    /// Location of the answer.
    pub answer: Answer,
}

impl Request {
    /// Makes a request with these arguments, answered on standard output.
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

    /// Inserts a directory before those that an environment variable lists.
    #[must_use]
    pub fn directory(mut self, variable: &str, directory: PathBuf) -> Self {
        self.directories.insert(0, (variable.to_owned(), directory));
        self
    }

    /// Adds a file.
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

/// A harness, as detected in one of its programs.
pub trait Driver: std::fmt::Debug {
    /// Returns the harness's usual name, with the version if the program states it, as in `Google
    /// Benchmark 1.7`.
    fn name(&self) -> String;

    /// Returns true if a run can be restricted to one benchmark. Otherwise every run measures all
    /// of them.
    fn isolates(&self) -> bool {
        true
    }

    /// Returns true if the number of iterations can be set, so that every side does the same work
    /// and only the time differs.
    fn pins(&self) -> bool;

    /// Returns the length of a turn in seconds; `None` if two processes cannot measure in turns
    /// ([`Turns`](crate::Turns)).
    fn turn_seconds(&self) -> Option<f64> {
        None
    }

    /// Returns the request for listing the benchmarks. `scratch` is an empty directory for the
    /// files of this request.
    fn list(&self, scratch: &Path) -> Request;

    /// Returns a request that lists no benchmark, so that the program prints only its own output.
    /// `None` if the harness's output is recognizable without it.
    fn own_words(&self, _scratch: &Path) -> Option<Request> {
        None
    }

    /// Returns the names of the benchmarks, in the program's order, as [`Driver::read`] gives them.
    ///
    /// # Errors
    /// If the answer is not from this harness.
    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError>;

    /// Returns the groups of benchmarks that the program itself compares, each benchmark with the
    /// first of its group. They are known only after [`Driver::listed`].
    fn compared(&self) -> Vec<Vec<String>> {
        Vec::new()
    }

    /// Returns the request for measuring one benchmark in one run (all of them if the driver does
    /// not [isolate](Driver::isolates)).
    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request;

    /// Returns the request for measuring these benchmarks one after the other in a single process.
    /// `None` if the harness cannot select several of its benchmarks.
    fn measure_several(
        &self,
        _benchmarks: &[&str],
        _effort: Effort,
        _scratch: &Path,
    ) -> Option<Request> {
        None
    }

    /// Returns the request for running every benchmark once, each in a process of its own that does
    /// not start again from nothing. `None` if the harness cannot do that. Only for [what they
    /// execute](crate::executed): nothing is measured.
    fn run_each(&self, _scratch: &Path) -> Option<Request> {
        None
    }

    /// Returns the results of a run: one reading for every benchmark in the answer.
    ///
    /// # Errors
    /// If the answer is not from this harness, or is truncated.
    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError>;

    /// Returns true if the program's symbol of this name is the function that this benchmark
    /// measures; always false if names do not show that.
    fn is_code_of(&self, _benchmark: &str, _symbol: &str) -> bool {
        false
    }

    /// Returns the language whose tools can show which functions a benchmark executes; `None` if
    /// there are none.
    fn executes(&self) -> Option<Language> {
        None
    }

    /// Returns true if programs of this harness run on Node.js, which can record the parts of the
    /// scripts that a benchmark executes.
    fn notes_scripts(&self) -> bool {
        false
    }

    /// Returns the reason why the times of a run are larger than those of an optimized build, if
    /// the answer states one. The benchmark is measured anyway.
    fn debug_build(&self, _reply: &Reply) -> Option<String> {
        None
    }
}
