//! Driver for divan (Rust). It uses a filter that is an anchored regular expression,
//! `--sample-count` and `--sample-size`, and the table that divan prints.
//!
//! The table is the only output. Its times have four digits, so that changes below one part in a
//! thousand may not be visible. Its last column is the number of iterations. divan's own list omits
//! arguments and numbers of threads, so the list is taken from a run with one iteration each.
//! Iterations are divided evenly among at most 100 samples, divan's default. The number of
//! iterations is therefore rounded to a multiple of the number of samples, in the same way for all
//! sides. A benchmark with several numbers of threads is always run with all of them, because
//! filters do not select threads.

use crate::driver::{Driver, Effort, Request};
use crate::error::HarnessError;
use crate::program::Program;
use crate::reading::{Reading, add_iterations, imported_or_said, readings};
use crate::reply::Reply;
use crate::rust;
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "divan";

const HARNESS: &str = "divan";

/// Maximum number of samples of a run. A run of fewer iterations has one sample per iteration.
const SAMPLES: u64 = 100;

/// Time limit in seconds that is longer than any run. It overrides a limit set by the benchmark
/// itself, which could reduce the number of iterations.
const NO_LIMIT: &str = "1000000";

/// A program linked with divan.
#[derive(Debug)]
struct Divan {
    /// The flag `--bench`; `None` if the user already gave it.
    bench_flag: Option<&'static str>,
    /// Message that the program was built without optimization, if so.
    debug_build: Option<String>,
}

/// Recognizes the harness by the program's help text.
pub(crate) fn recognise(program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    (help.contains("--sample-count") && help.contains("DIVAN_SAMPLE_COUNT"))
        .then(|| assumed(program))
}

/// Creates the driver for a program whose harness was chosen by the user.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    Box::new(Divan {
        bench_flag: rust::bench_flag(program),
        debug_build: rust::built_for_debugging(program),
    })
}

impl Divan {
    fn plain(&self) -> Request {
        // Rows must have the same order on all sides and must not contain color codes, regardless
        // of environment variables.
        let flags = ["--color", "never", "--sort", "kind"];
        Request::with(self.bench_flag.into_iter().chain(flags))
    }

    fn request(&self, samples: u64, size: u64) -> Request {
        let args = [("--sample-count", samples.to_string()), ("--sample-size", size.to_string())];
        let limits = [("--max-time", NO_LIMIT.to_owned()), ("--min-time", "0".to_owned())];
        let args = args.into_iter().chain(limits);
        args.fold(self.plain(), |request, (flag, value)| request.arg(flag).arg(value))
    }
}

impl Driver for Divan {
    fn name(&self) -> String {
        HARNESS.to_owned()
    }

    fn pins(&self) -> bool {
        true
    }

    fn list(&self, _scratch: &Path) -> Request {
        self.request(1, 1)
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        if !reply.success {
            let why = "it ended before all of its benchmarks were listed; leave out the one that fails (`--skip NAME`)";
            return Err(garbage(why.to_owned(), reply));
        }
        if reply.text().trim().is_empty() {
            return Err(HarnessError::NoBenchmark { said: rust::error_message(reply) });
        }
        Ok(self.read(reply)?.into_iter().map(|reading| reading.benchmark).collect())
    }

    fn measure(&self, benchmark: &str, effort: Effort, _scratch: &Path) -> Request {
        let request = match effort {
            Effort::Once => self.request(1, 1),
            Effort::Iterations(count) | Effort::Counted(count) => {
                let samples = count.clamp(1, SAMPLES);
                // divan stores the sample size as a 32-bit number.
                let size = (count.saturating_add(samples / 2) / samples).clamp(1, u32::MAX.into());
                self.request(samples, size)
            }
            Effort::Seconds(seconds) => {
                let seconds = format!("{:.9}", seconds.max(1e-9));
                let time = ["--max-time".to_owned(), seconds.clone(), "--min-time".to_owned()];
                time.into_iter().chain([seconds]).fold(self.plain(), Request::arg)
            }
        };
        request.arg("--").arg(filter(benchmark))
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        let samples = imported_or_said(reply, HARNESS, || rust::error_message(reply))?;
        if !reply.success {
            return Err(garbage("it ended with an error".to_owned(), reply));
        }
        let mut found = readings(&samples);
        add_iterations(&mut found, reply.text().lines().filter_map(iterations));
        Ok(found)
    }

    fn debug_build(&self, _reply: &Reply) -> Option<String> {
        self.debug_build.clone()
    }
}

/// Returns a filter that matches only this benchmark. divan applies filters to names without the
/// number of threads (`::t=2`). An argument that looks like a number of threads is part of the
/// name, so both forms are matched.
fn filter(benchmark: &str) -> String {
    let whole = regex::escape(benchmark);
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    match benchmark.rsplit_once("::t=") {
        Some((name, threads)) if digits(threads) => format!("^({}|{whole})$", regex::escape(name)),
        _ => format!("^{whole}$"),
    }
}

/// Returns the number of iterations from the last column of a row. The column before it must be the
/// number of samples.
fn iterations(line: &str) -> Option<u64> {
    let mut cells = line.rsplit('│').map(str::trim);
    let iterations = cells.next()?.parse().ok()?;
    cells.next()?.parse::<u64>().ok()?;
    Some(iterations)
}

fn garbage(why: String, reply: &Reply) -> HarnessError {
    HarnessError::Garbage { harness: HARNESS, why, said: rust::error_message(reply) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;

    const DRIVER: Divan = Divan { bench_flag: Some("--bench"), debug_build: None };

    const ANSWER: &str = "\
d            fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ push                    │               │               │               │         │
│  ╰─ 16     1.61 µs       │ 1.9 µs        │ 1.7 µs        │ 1.75 µs       │ 100     │ 7700
│            alloc:        │               │               │               │         │
│              1           │ 1             │ 1             │ 1             │         │
│              32 B        │ 32 B          │ 32 B          │ 32 B          │         │
╰─ shared                  │               │               │               │         │
   ├─ t=1    39.45 ns      │ 39.45 ns      │ 39.45 ns      │ 39.45 ns      │ 1       │ 1
   ╰─ t=2    99.45 ns      │ 280.4 ns      │ 189.9 ns      │ 189.9 ns      │ 2       │ 2

";

    fn reply(output: &str, success: bool) -> Reply {
        Reply { output: output.as_bytes().to_vec(), success, ..Reply::default() }
    }

    #[test]
    fn a_table_gives_means_iterations_and_allocations() {
        let answer = reply(ANSWER, true);
        let names = ["d::push::16", "d::shared::t=1", "d::shared::t=2"];
        assert_eq!(DRIVER.listed(&answer).unwrap(), names);
        let found = DRIVER.read(&answer).unwrap();
        let told: Vec<_> = found.iter().map(|reading| reading.iterations.unwrap()).collect();
        assert_eq!(told, [7700.0, 1.0, 2.0]);
        let values: Vec<_> =
            found[0].values.iter().map(|(metric, value)| (metric.name.as_str(), *value)).collect();
        assert_eq!(values, [("wall", 1.75e-6), ("alloc count", 1.0), ("alloc bytes", 32.0)]);
    }

    #[test]
    fn iterations_are_divided_between_samples_and_rounded() {
        let of = |count| {
            let request = DRIVER.measure("d::a", Effort::Iterations(count), Path::new("/"));
            let args: Vec<_> = request.args.iter().map(|arg| arg.to_str().unwrap()).collect();
            (args[6].to_owned(), args[8].to_owned())
        };
        assert_eq!(of(7), ("7".into(), "1".into()));
        assert_eq!(of(100), ("100".into(), "1".into()));
        assert_eq!(of(12_345), ("100".into(), "123".into()));
        assert_eq!(of(12_350), ("100".into(), "124".into()));
        assert_eq!(of(0), ("1".into(), "1".into()));
        assert_eq!(of(u64::MAX), ("100".into(), u32::MAX.to_string()));
    }

    #[test]
    fn a_filter_is_the_whole_name_without_its_threads() {
        assert_eq!(filter("d::a<b>::c+"), r"^d::a<b>::c\+$");
        assert_eq!(filter("d::a::t=2"), "^(d::a|d::a::t=2)$");
        assert_eq!(filter("d::a::t="), "^d::a::t=$");
    }

    #[test]
    fn a_list_that_broke_off_names_the_way_out() {
        let mut answer = reply("d  fastest       │ slowest       │ median\n╰─ broken   ", false);
        answer.errors = b"thread 'main' (1) panicked at a.rs:1:1:\nno luck\nnote: x\n".to_vec();
        let error = DRIVER.listed(&answer).unwrap_err().to_string();
        assert!(error.contains("--skip NAME") && error.contains("`no luck`"), "{error}");
        assert!(matches!(DRIVER.read(&answer), Err(HarnessError::Garbage { .. })));
        assert!(matches!(DRIVER.listed(&reply("", true)), Err(HarnessError::NoBenchmark { .. })));
        assert!(DRIVER.read(&reply("garbage\n", true)).is_err());
        assert!(DRIVER.read(&reply(&ANSWER[..ANSWER.len() / 2], true)).is_err());
    }
}
