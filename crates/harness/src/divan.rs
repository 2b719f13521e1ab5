//! divan (Rust): a filter that is an anchored regular expression, `--sample-count` and
//! `--sample-size`, and the table that it prints.
//!
//! The table is the only output: it has times with four digits, so that changes below a thousandth
//! may not show, and the iterations of a run in its last column. Its own list leaves out arguments
//! and numbers of threads, so the list is taken from the output of a run with one iteration each.
//! Iterations are divided evenly among at most a hundred samples, divan's default, so the number of
//! iterations is rounded to a multiple of the number of samples, in the same way on all sides. If a
//! benchmark is run with several numbers of threads, each run goes through all of them: filters do
//! not select threads.

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

/// Number of samples of a run, unless there are fewer iterations.
const SAMPLES: u64 = 100;

/// Time limit longer than any run, in seconds. It overrides a limit set by the benchmark itself,
/// which would reduce the number of iterations.
const NO_LIMIT: &str = "1000000";

/// A program linked with divan.
#[derive(Debug)]
struct Divan {
    /// `--bench`, unless the user gave it.
    bench_flag: Option<&'static str>,
    /// Evidence that the program was built for debugging, if any.
    debug_build: Option<String>,
}

/// Recognizes the harness by the program's help.
pub(crate) fn recognise(program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    (help.contains("--sample-count") && help.contains("DIVAN_SAMPLE_COUNT"))
        .then(|| assumed(program))
}

/// Creates the driver if the user chose this harness.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    Box::new(Divan {
        bench_flag: rust::bench_flag(program),
        debug_build: rust::built_for_debugging(program),
    })
}

impl Divan {
    fn plain(&self) -> Request {
        // Rows must have the same order on all sides, and no colors, regardless of the environment.
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
                // The size of a sample is a 32-bit number.
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

/// Returns the filter for this benchmark alone. Filters do not see a number of threads at the end
/// of a name, but they see an argument that looks like one.
fn filter(benchmark: &str) -> String {
    let whole = regex::escape(benchmark);
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    match benchmark.rsplit_once("::t=") {
        Some((name, threads)) if digits(threads) => format!("^({}|{whole})$", regex::escape(name)),
        _ => format!("^{whole}$"),
    }
}

/// Returns the last column of a row of times, which is preceded by the number of samples.
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
