//! Google Benchmark: `--benchmark_list_tests`, a filter that is an anchored regular expression, JSON in a file of its own.
//!
//! From 1.8 on `--benchmark_min_time=Nx` fixes the number of iterations. Before that only a time can be given, and every process
//! searches for its number by itself; the help tells which of the two it is. A result goes to a file, since programs print on
//! standard output what they like.

use crate::driver::{Answer, Driver, Effort, Reply, Request};
use crate::error::{HarnessError, tail};
use crate::program::Program;
use crate::reading::{Reading, imported, readings};
use std::path::Path;

/// The name by which users choose it.
pub(crate) const NAME: &str = "google-benchmark";

/// A program that was linked with Google Benchmark.
#[derive(Debug)]
struct GoogleBenchmark {
    /// 1.8 or later.
    pins: bool,
}

/// By its help.
pub(crate) fn recognise(_program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    help.contains("--benchmark_list_tests")
        .then(|| Box::new(GoogleBenchmark { pins: help.contains("<integer>x") }) as Box<dyn Driver>)
}

/// What any version understands.
pub(crate) fn assumed(_program: &Program) -> Box<dyn Driver> {
    Box::new(GoogleBenchmark { pins: false })
}

impl Driver for GoogleBenchmark {
    fn name(&self) -> String {
        "Google Benchmark".to_owned()
    }

    fn pins(&self) -> bool {
        self.pins
    }

    fn list(&self, _scratch: &Path) -> Request {
        Request::with(["--benchmark_list_tests=true", "--benchmark_filter=."])
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let said = || tail(&reply.errors, &reply.output);
        if !reply.success {
            return Err(HarnessError::NoBenchmark { said: said() });
        }
        let names: Vec<String> = reply
            .text()
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        // Without a benchmark it says so, and where.
        if names.is_empty() || names[0].starts_with("Failed to match any benchmarks") {
            return Err(HarnessError::NoBenchmark { said: said() });
        }
        Ok(names)
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        let file = scratch.join("result.json");
        let least = match effort {
            Effort::Iterations(count) if self.pins => format!("{count}x"),
            Effort::Once if self.pins => "1x".to_owned(),
            // The shortest time is over after the first iteration.
            Effort::Once | Effort::Iterations(_) => "0.000000001".to_owned(),
            Effort::Seconds(seconds) if self.pins => format!("{seconds}s"),
            Effort::Seconds(seconds) => seconds.to_string(),
        };
        Request::with([
            format!("--benchmark_filter=^{}$", regex::escape(benchmark)),
            format!("--benchmark_min_time={least}"),
            "--benchmark_repetitions=1".to_owned(),
            "--benchmark_report_aggregates_only=false".to_owned(),
            format!("--benchmark_out={}", file.display()),
            "--benchmark_out_format=json".to_owned(),
        ])
        .answered_in(Answer::File(file))
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        Ok(readings(&imported(reply, "Google Benchmark")?))
    }

    fn debug_build(&self, reply: &Reply) -> Option<String> {
        let samples = imported(reply, "Google Benchmark").ok()?;
        samples
            .findings
            .iter()
            .any(|finding| finding.code == "DEBUG_LIBRARY")
            .then(|| "its library says that it was built without optimisation".to_owned())
    }
}
