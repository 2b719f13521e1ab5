//! Harnesses: the libraries for writing benchmark programs. Covers requests for the list of
//! benchmarks and for a run of one of them, and the parsing of the answers.
//!
//! Users keep their existing benchmarks. Each harness has a module that implements [`Driver`] with
//! the harness's flags, and nothing else. No process is started here and no clock is read: a driver
//! returns a [`Request`], and the caller runs it and passes back the [`Reply`]. The files of an
//! answer are read by the importers of `assay-data`, as when a user imports them. Nothing is
//! decided here.
//!
//! A new harness is a module and a line in `HARNESSES`.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]

mod benchmark_dotnet;
mod benchmark_ips;
mod catch2;
mod criterion;
mod divan;
mod driver;
mod error;
pub mod executed;
mod go_test;
mod google_benchmark;
mod gungraun;
mod javascript;
mod jmh;
mod printing;
mod program;
mod pyperf;
mod pytest_benchmark;
mod reading;
mod reply;
mod rust;
mod turns;

pub use driver::{Driver, Effort, Request};
pub use error::{HarnessError, last_line};
pub use google_benchmark::function_name;
pub use program::{Kind, Program};
pub use reading::Reading;
pub use reply::{Answer, Reply};
pub use turns::Turns;

/// Returns the request for the help of a program whose harness was not recognized by its file.
pub fn question() -> Request {
    Request::with(["--help"])
}

/// A harness and the ways to recognize it.
struct HarnessEntry {
    /// Name by which users choose this harness.
    name: &'static str,
    /// Recognizes the harness by the program's file alone, for programs that would start measuring
    /// instead of answering a question.
    by_looks: fn(&Program) -> Option<Box<dyn Driver>>,
    /// Recognizes the harness by the program's help.
    by_help: fn(&Program, &str) -> Option<Box<dyn Driver>>,
    /// Creates the driver if the user chose this harness, without further evidence.
    assumed: fn(&Program) -> Box<dyn Driver>,
}

/// All harnesses; the first one that recognizes a program drives it.
const HARNESSES: &[HarnessEntry] = &[
    HarnessEntry {
        name: google_benchmark::NAME,
        by_looks: |_| None,
        by_help: google_benchmark::recognise,
        assumed: google_benchmark::assumed,
    },
    HarnessEntry {
        name: pytest_benchmark::NAME,
        by_looks: pytest_benchmark::looks,
        by_help: |_, _| None,
        assumed: pytest_benchmark::assumed,
    },
    HarnessEntry {
        name: benchmark_ips::NAME,
        by_looks: benchmark_ips::looks,
        by_help: |_, _| None,
        assumed: benchmark_ips::assumed,
    },
    HarnessEntry {
        name: javascript::TINYBENCH,
        by_looks: javascript::looks_like_tinybench,
        by_help: |_, _| None,
        assumed: javascript::tinybench,
    },
    HarnessEntry {
        name: javascript::MITATA,
        by_looks: javascript::looks_like_mitata,
        by_help: |_, _| None,
        assumed: javascript::mitata,
    },
    HarnessEntry {
        name: javascript::VITEST,
        by_looks: javascript::looks_like_vitest,
        by_help: |_, _| None,
        assumed: javascript::vitest,
    },
    HarnessEntry {
        name: jmh::NAME,
        by_looks: jmh::looks,
        by_help: |_, _| None,
        assumed: jmh::assumed,
    },
    HarnessEntry {
        name: pyperf::NAME,
        by_looks: pyperf::looks,
        by_help: pyperf::recognise,
        assumed: pyperf::assumed,
    },
    HarnessEntry {
        name: criterion::NAME,
        by_looks: |_| None,
        by_help: criterion::recognise,
        assumed: criterion::assumed,
    },
    HarnessEntry {
        name: gungraun::NAME,
        by_looks: |_| None,
        by_help: gungraun::recognise,
        assumed: gungraun::assumed,
    },
    HarnessEntry {
        name: divan::NAME,
        by_looks: |_| None,
        by_help: divan::recognise,
        assumed: divan::assumed,
    },
    HarnessEntry {
        name: go_test::NAME,
        by_looks: |_| None,
        by_help: go_test::recognise,
        assumed: go_test::assumed,
    },
    HarnessEntry {
        name: catch2::NAME,
        by_looks: |_| None,
        by_help: catch2::recognise,
        assumed: catch2::assumed,
    },
    HarnessEntry {
        name: benchmark_dotnet::NAME,
        by_looks: |_| None,
        by_help: benchmark_dotnet::recognise,
        assumed: benchmark_dotnet::assumed,
    },
    // Recognized only by the output of a plain run.
    HarnessEntry {
        name: printing::NAME,
        by_looks: |_| None,
        by_help: |_, _| None,
        assumed: printing::assumed,
    },
];

/// Returns the names of all harnesses.
pub fn names() -> Vec<&'static str> {
    HARNESSES.iter().map(|known| known.name).collect()
}

/// Returns the driver of the harness with this name; `None` if there is no such harness.
pub fn by_name(name: &str, program: &Program) -> Option<Box<dyn Driver>> {
    HARNESSES.iter().find(|known| known.name == name).map(|known| (known.assumed)(program))
}

/// Returns the driver for a program whose file shows its harness.
pub fn by_looks(program: &Program) -> Option<Box<dyn Driver>> {
    HARNESSES.iter().find_map(|known| (known.by_looks)(program))
}

/// Returns the driver for a program from its answer to [`question`], which may be on standard
/// output or standard error.
pub fn by_help(program: &Program, reply: &Reply) -> Option<Box<dyn Driver>> {
    let text = format!("{}\n{}", reply.text(), String::from_utf8_lossy(&reply.errors));
    HARNESSES.iter().find_map(|known| (known.by_help)(program, &text))
}

/// Returns the request for a plain run, for a program whose help no harness recognized.
pub fn plain_run() -> Request {
    Request::default()
}

/// Returns the driver for a program from the results that it printed in a plain run, or instead of
/// answering [`question`]; `None` if the output is not known to be that of a benchmark tool.
pub fn by_output(reply: &Reply) -> Option<Box<dyn Driver>> {
    printing::recognise(reply)
}
