//! Driver for gungraun, formerly iai-callgrind (Rust): the cost of one call of a benchmark, counted
//! by Valgrind in a simulation. It uses `--list`, a filter that is a full name, and summaries in
//! JSON on standard output.
//!
//! The program starts `gungraun-runner`, which must be on PATH, as must Valgrind. If its home
//! directory is set, it writes nothing below `target` and does not compare with an earlier run. If
//! its workspace root is set, it does not need Cargo. Counts need no minimum time, so nothing is
//! repeated.

use crate::driver::{Driver, Effort, Request};
use crate::error::{HarnessError, message_line};
use crate::program::Program;
use crate::reading::{Reading, imported_or_said, readings};
use crate::reply::Reply;
use crate::rust;
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "gungraun";

/// A program linked with gungraun.
#[derive(Debug)]
struct Gungraun {
    /// The flag `--bench`; `None` if the user already gave it.
    bench_flag: Option<&'static str>,
    /// Message that the program was built without optimization, if so.
    debug_build: Option<String>,
}

/// Recognizes the harness by the program's help text.
pub(crate) fn recognise(program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    let is = ["--callgrind-args", "--save-summary", "--output-format", "--workspace-root"]
        .iter()
        .all(|option| help.contains(option));
    is.then(|| assumed(program))
}

/// Creates the driver for a program whose harness was chosen by the user.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    Box::new(Gungraun {
        bench_flag: rust::bench_flag(program),
        debug_build: rust::built_for_debugging(program),
    })
}

impl Gungraun {
    fn request(&self, scratch: &Path) -> Request {
        let at = |option: &str| format!("--{option}={}", scratch.display());
        Request::with(self.bench_flag).arg(at("workspace-root")).arg(at("home"))
    }
}

impl Driver for Gungraun {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn pins(&self) -> bool {
        false
    }

    fn list(&self, scratch: &Path) -> Request {
        self.request(scratch).arg("--list")
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let text = reply.text();
        let names = text.lines().filter_map(|line| line.strip_suffix(": benchmark"));
        let names: Vec<String> = names.map(str::to_owned).collect();
        if !reply.success || names.is_empty() {
            return Err(HarnessError::NoBenchmark { said: error_message(reply) });
        }
        Ok(names)
    }

    fn measure(&self, benchmark: &str, _effort: Effort, scratch: &Path) -> Request {
        self.request(scratch).arg("--output-format=json").arg("--nosummary").arg(benchmark)
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        let samples = imported_or_said(reply, NAME, || error_message(reply))?;
        let mut found = readings(&samples);
        found.iter_mut().for_each(|reading| reading.benchmark = listed_as(&reading.benchmark));
        Ok(found)
    }

    fn debug_build(&self, _reply: &Reply) -> Option<String> {
        self.debug_build.clone()
    }
}

/// Converts the name of a benchmark in results (`sums::group::fib long:(15)`), which includes its
/// arguments, to its name in the list (`sums::group::fib::long`).
fn listed_as(printed: &str) -> String {
    let Some((path, rest)) = printed.split_once(' ') else { return printed.to_owned() };
    format!("{path}::{}", rest.split(':').next().unwrap_or_default())
}

/// Returns the line with gungraun's own error, which a trace may follow, or with a panic in the
/// benchmark. Otherwise it returns the last line.
fn error_message(reply: &Reply) -> Option<String> {
    message_line(&reply.errors, &reply.output, |line| {
        line.contains("Error: ") || line.contains("panicked")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;

    fn driver() -> Gungraun {
        Gungraun { bench_flag: Some("--bench"), debug_build: None }
    }

    #[test]
    fn the_list_and_the_counts_have_the_same_names() {
        let list = "sums::group::bench_fib::short: benchmark\nsums::group::bench_plain: benchmark\n\n0 tests, 2 benchmarks\n";
        let reply =
            |output: &[u8]| Reply { output: output.to_vec(), success: true, ..Reply::default() };
        let names = driver().listed(&reply(list.as_bytes())).unwrap();
        assert_eq!(names, ["sums::group::bench_fib::short", "sums::group::bench_plain"]);
        let counted = include_bytes!("../../data/tests/formats/gungraun/v7.json");
        let found = driver().read(&reply(counted)).unwrap();
        assert_eq!(found[0].benchmark, names[0]);
        let (metric, count) = &found[0].values[0];
        assert_eq!((metric.name.as_str(), metric.exact, *count), ("Ir", true, 1805.0));
        assert_eq!(
            ["a::b::c", "a::b::c d", "a::b::c d:(1, \"x y\")"].map(listed_as),
            ["a::b::c", "a::b::c::d", "a::b::c::d"]
        );
    }

    #[test]
    fn a_run_leaves_its_files_in_the_scratch_and_an_error_is_quoted_without_its_trace() {
        let request = driver().measure("a::b::c", Effort::Once, Path::new("/s"));
        let args: Vec<_> = request.args.iter().map(|arg| arg.to_str().unwrap()).collect();
        assert_eq!(
            args.join(" "),
            "--bench --workspace-root=/s --home=/s --output-format=json --nosummary a::b::c"
        );
        let errors =
            b"gungraun_runner: Error: Could not find valgrind\n\nStack backtrace:\n   0: main\n"
                .to_vec();
        let failed = Reply { errors, ..Reply::default() };
        let error = driver().listed(&failed).unwrap_err().to_string();
        assert_eq!(
            error,
            "it lists no benchmark; it said: `gungraun_runner: Error: Could not find valgrind`"
        );
    }
}
