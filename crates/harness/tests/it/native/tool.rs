//! A program that uses a harness: built once, and run as its driver requests.

use assay_data::Metric;
use assay_harness::{
    Driver, Effort, HarnessError, Program, Reading, Reply, Request, by_help, question,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program with its driver.
pub struct Tool {
    pub words: Vec<OsString>,
    pub driver: Box<dyn Driver>,
}

impl Tool {
    /// Makes the tool for a program, asking it for its help.
    pub fn recognised(program: &Path) -> Self {
        let words = vec![program.as_os_str().to_owned()];
        let looked_at = Program::look(&words, program);
        let driver = by_help(&looked_at, &run(&words, &question(), &[]));
        Self { words, driver: driver.expect("it is recognised") }
    }

    pub fn list(&self, env: &[(&str, &str)]) -> Result<Vec<String>, HarnessError> {
        let scratch = tempfile::tempdir().expect("a directory");
        self.driver.listed(&run(&self.words, &self.driver.list(scratch.path()), env))
    }

    pub fn measure(
        &self,
        benchmark: &str,
        effort: Effort,
        env: &[(&str, &str)],
    ) -> Result<Vec<Reading>, HarnessError> {
        let scratch = tempfile::tempdir().expect("a directory");
        let request = self.driver.measure(benchmark, effort, scratch.path());
        self.driver.read(&run(&self.words, &request, env))
    }

    /// Returns the only reading, which must be that of the requested benchmark.
    pub fn alone(&self, benchmark: &str, effort: Effort) -> Reading {
        let found = self.measure(benchmark, effort, &[]).expect("it is read");
        let names: Vec<_> = found.iter().map(|reading| reading.benchmark.as_str()).collect();
        assert_eq!(names, [benchmark]);
        found.into_iter().next().expect("there is one")
    }
}

/// Runs a request and returns the reply.
pub fn run(words: &[OsString], request: &Request, env: &[(&str, &str)]) -> Reply {
    let output = Command::new(&words[0])
        .args(&request.before)
        .args(&words[1..])
        .args(&request.args)
        .envs(request.env.iter().map(|(name, value)| (name, value)))
        .envs(env.iter().copied())
        .output()
        .expect("the program starts");
    Reply {
        output: output.stdout,
        errors: output.stderr,
        success: output.status.success(),
        answer: request.answer.clone(),
        own: Vec::new(),
    }
}

/// Returns the value of a metric.
pub fn value(reading: &Reading, name: &str) -> Option<f64> {
    let is = |(metric, _): &&(Metric, f64)| metric.name == name;
    reading.values.iter().find(is).map(|&(_, value)| value)
}

/// Returns the directory of the programs' sources.
pub fn sources(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// Returns the path of a built program; it persists between test runs.
pub fn built(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("harness");
    std::fs::create_dir_all(&directory).expect("a directory");
    directory.join(name)
}

/// Runs a compiler, which must succeed. Returns `None`, and prints a note, if it is not installed.
pub fn compile(command: &mut Command) -> Option<Output> {
    let tool = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{tool}: {said}");
            Some(output)
        }
        Err(_) => {
            println!("skipped: there is no `{tool}` here");
            None
        }
    }
}

/// Returns true if a program was built after its source was last changed.
pub fn is_newer(program: &Path, source: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    changed(program) > changed(source)
}
