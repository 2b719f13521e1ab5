//! Drivers for harnesses, the libraries with which benchmark programs are written. They create the
//! requests for listing the benchmarks and for running one of them, and parse the answers.
//!
//! Users keep their existing benchmarks. Each harness has a module that implements [`Driver`] with
//! the flags of that harness. This crate starts no process and reads no clock: a driver returns a
//! [`Request`], and the caller runs it and passes back the [`Reply`]. Result files are read by the
//! importers of `assay-data`, as when a user imports them.
//!
//! To add a harness, add a module and an entry in `HARNESSES`.

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

/// Returns the request for the help text of a program whose harness was not recognized by its file.
pub fn question() -> Request {
    Request::with(["--help"])
}

/// A harness and the ways to recognize it.
struct HarnessEntry {
    /// Name by which users choose this harness.
    name: &'static str,
    /// Function that recognizes the harness by the command and the program's file. It is for
    /// programs that would start measuring if they were run with `--help`.
    by_looks: fn(&Program) -> Option<Box<dyn Driver>>,
    /// Function that recognizes the harness by the program's help text.
    by_help: fn(&Program, &str) -> Option<Box<dyn Driver>>,
    /// Function that creates the driver if the user chose this harness, without further checks.
    assumed: fn(&Program) -> Box<dyn Driver>,
}

/// All harnesses. If several recognize a program, the first one is used.
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
    // This harness is recognized only by the output of a run without additional arguments.
    HarnessEntry {
        name: printing::NAME,
        by_looks: |_| None,
        by_help: |_, _| None,
        assumed: printing::assumed,
    },
];

/// Returns the names of all harnesses, by which users choose them.
pub fn names() -> Vec<&'static str> {
    HARNESSES.iter().map(|known| known.name).collect()
}

/// Returns the driver of the harness with this name; `None` if there is no such harness.
pub fn by_name(name: &str, program: &Program) -> Option<Box<dyn Driver>> {
    HARNESSES.iter().find(|known| known.name == name).map(|known| (known.assumed)(program))
}

/// Returns the driver for a program whose command or file identifies its harness, or `None` if none
/// matches.
pub fn by_looks(program: &Program) -> Option<Box<dyn Driver>> {
    HARNESSES.iter().find_map(|known| (known.by_looks)(program))
}

/// Returns the driver for a program whose answer to [`question`] identifies its harness. The answer
/// may be on standard output or standard error.
pub fn by_help(program: &Program, reply: &Reply) -> Option<Box<dyn Driver>> {
    let text = format!("{}\n{}", reply.text(), String::from_utf8_lossy(&reply.errors));
    HARNESSES.iter().find_map(|known| (known.by_help)(program, &text))
}

/// Returns the request for a run without additional arguments, for a program whose help text no
/// harness recognized.
pub fn plain_run() -> Request {
    Request::default()
}

/// Returns the driver for a program from the results that it printed, either in a run without
/// additional arguments or instead of answering [`question`]. `None` if the output is not in the
/// format of a known benchmark tool.
pub fn by_output(reply: &Reply) -> Option<Box<dyn Driver>> {
    printing::recognise(reply)
}
