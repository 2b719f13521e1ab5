//! Driver for Go: programs built by `go test -c`, with their `-test.…` flags and the lines that
//! they print.
//!
//! Only a run shows the names of sub-benchmarks, so the list is taken from a run with one iteration
//! each. Go splits `-test.bench` at every `/` into regular expressions, one for each part of a
//! name. The number of processors after the last dash is not part of the name that Go matches.
//! Memory statistics are always requested, since Go collects them anyway.

use crate::driver::{Driver, Effort, Language, Request};
use crate::error::{HarnessError, tail};
use crate::program::{Kind, Program};
use crate::reading::{Reading, add_iterations, imported_or_said, readings};
use crate::reply::Reply;
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "go";

const HARNESS: &str = "go test";

/// Text that precedes the name of a failed benchmark.
const FAILED: &str = "--- FAIL: ";

/// A program built by `go test -c`.
#[derive(Debug)]
struct GoTest {
    /// Message that the program was built without optimization or with instrumentation, if so.
    debug_build: Option<String>,
}

/// Recognizes the harness by the program's help text.
pub(crate) fn recognise(program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    let is = help.contains("-test.bench ") && help.contains("-test.benchtime ");
    is.then(|| assumed(program))
}

/// Creates the driver for a program whose harness was chosen by the user.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    Box::new(GoTest { debug_build: built_for_debugging(program) })
}

impl Driver for GoTest {
    fn name(&self) -> String {
        HARNESS.to_owned()
    }

    fn executes(&self) -> Option<Language> {
        Some(Language::Go)
    }

    fn pins(&self) -> bool {
        true
    }

    fn list(&self, _scratch: &Path) -> Request {
        request(".", "1x")
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let failed = failed(&reply.text());
        let has_results = reply.text().lines().any(|line| iterations(line).is_some());
        if reply.success && !has_results && failed.is_empty() {
            return Err(HarnessError::NoBenchmark { said: error_message(reply) });
        }
        Ok(self.read(reply)?.into_iter().map(|reading| reading.benchmark).collect())
    }

    fn is_code_of(&self, benchmark: &str, symbol: &str) -> bool {
        let name = benchmark.split('/').next().unwrap_or_default();
        let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
        let own = symbol.rsplit_once('.');
        // A method of this name is not a benchmark. A symbol with parentheses before the name is a
        // method.
        own.is_some_and(|(package, own)| {
            own == name && name.starts_with("Benchmark") && !package.contains('(')
        })
    }

    fn measure(&self, benchmark: &str, effort: Effort, _scratch: &Path) -> Request {
        let time = match effort {
            Effort::Iterations(count) | Effort::Counted(count) => format!("{}x", count.max(1)),
            Effort::Once => "1x".to_owned(),
            // Durations below a nanosecond would be rounded to zero.
            Effort::Seconds(seconds) => format!("{:.9}s", seconds.max(1e-9)),
        };
        request(&pattern(benchmark), &time)
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        let text = reply.text();
        let failed = failed(&text);
        // If the program panics, it may already have printed results.
        if !reply.success && failed.is_empty() {
            let why = "it ended with an error before it was done".to_owned();
            return Err(HarnessError::Garbage {
                harness: HARNESS,
                why,
                said: error_message(reply),
            });
        }
        let mut found = match imported_or_said(reply, HARNESS, || error_message(reply)) {
            Ok(samples) => readings(&samples),
            // If all benchmarks failed, there are no results to import.
            Err(_) if !failed.is_empty() => Vec::new(),
            Err(error) => return Err(error),
        };
        add_iterations(&mut found, text.lines().filter_map(iterations));
        let processors = found.iter().find_map(|reading| processors(&reading.benchmark));
        let processors = processors.unwrap_or_default().to_owned();
        for (name, error) in failed {
            // If a benchmark fails in its first iteration, Go prints its name without the number of
            // processors.
            let full = format!("{name}{processors}");
            let benchmark = if name.ends_with(&processors) { name } else { full };
            match found.iter_mut().find(|reading| reading.benchmark == benchmark) {
                Some(reading) => reading.error = Some(error),
                None => found.push(Reading { benchmark, error: Some(error), ..Reading::default() }),
            }
        }
        Ok(found)
    }

    fn debug_build(&self, _reply: &Reply) -> Option<String> {
        self.debug_build.clone()
    }
}

fn request(pattern: &str, time: &str) -> Request {
    Request::with([
        "-test.run=^$".to_owned(),
        format!("-test.bench={pattern}"),
        format!("-test.benchtime={time}"),
        "-test.benchmem=true".to_owned(),
        "-test.count=1".to_owned(),
    ])
}

/// Returns the value of `-test.bench` that selects only this benchmark. A number after the last
/// dash is either the number of processors or part of the name, so it is optional in the pattern.
fn pattern(benchmark: &str) -> String {
    let processors = processors(benchmark).unwrap_or_default();
    let name = &benchmark[..benchmark.len() - processors.len()];
    let parts: Vec<String> =
        name.split('/').map(|part| format!("^{}", regex::escape(part))).collect();
    let end = if processors.is_empty() { String::new() } else { format!("({processors})?") };
    format!("{}{end}$", parts.join("$/"))
}

/// Returns the suffix with the number of processors, such as `-8` for `BenchmarkSort/n=16-8`.
fn processors(benchmark: &str) -> Option<&str> {
    let dash = benchmark.rfind('-')?;
    let digits = &benchmark[dash + 1..];
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then_some(&benchmark[dash..])
}

/// Returns the number of iterations in a result line: the number before the first pair of value and
/// unit.
fn iterations(line: &str) -> Option<u64> {
    let is_pair = |piece: &str| {
        let mut words = piece.split_ascii_whitespace();
        words.next().is_some_and(|word| word.parse::<f64>().is_ok())
            && words.next().is_some_and(|unit| unit.parse::<f64>().is_err())
            && words.next().is_none()
    };
    let mut pieces: Vec<&str> = line.split('\t').collect();
    let before = pieces.len();
    while pieces.last().is_some_and(|piece| is_pair(piece)) {
        pieces.pop();
    }
    // If the benchmark prints text, its name is on an earlier line than its results.
    let is_count = |piece: &str| piece.trim().bytes().all(|b| b.is_ascii_digit());
    let is_torn = pieces.len() == 1 && pieces.first().is_some_and(|piece| is_count(piece));
    if pieces.len() == before || pieces.len() < 2 && !is_torn {
        return None;
    }
    pieces.last()?.split_ascii_whitespace().next_back()?.parse().ok()
}

/// Returns the failed benchmarks with their messages. A benchmark that failed only because of a
/// sub-benchmark is omitted.
fn failed(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        if let Some(at) = line.find(FAILED) {
            let name = line[at + FAILED.len()..].split_ascii_whitespace().next();
            is_open = name.is_some_and(|name| name.starts_with("Benchmark"));
            if let Some(name) = name.filter(|_| is_open) {
                found.push((name.to_owned(), String::new()));
            }
        } else if let Some((_, said)) =
            found.last_mut().filter(|_| is_open && line.starts_with("    "))
        {
            let gap = if said.is_empty() { "" } else { " " };
            *said += gap;
            *said += line.trim();
        } else {
            is_open = false;
        }
    }
    let names: Vec<String> = found.iter().map(|(name, _)| format!("{name}/")).collect();
    let is_whole = |name: &str| {
        let name = format!("{}/", &name[..name.len() - processors(name).map_or(0, str::len)]);
        names.iter().any(|other| other.len() > name.len() && other.starts_with(&name))
    };
    found.retain(|(name, _)| !is_whole(name));
    for (_, said) in found.iter_mut().filter(|(_, said)| said.is_empty()) {
        "it failed".clone_into(said);
    }
    found
}

/// Returns the first line of a panic, or otherwise the last line of the output.
fn error_message(reply: &Reply) -> Option<String> {
    let errors = String::from_utf8_lossy(&reply.errors);
    let panic = errors
        .lines()
        .find(|line| line.starts_with("panic: ") || line.starts_with("fatal error: "));
    tail(panic.map_or(&reply.errors, str::as_bytes), &reply.output)
}

/// Returns a message if the program was built without optimization or with instrumentation. Go
/// stores build flags in its programs as text; in test programs, only newer versions do.
fn built_for_debugging(program: &Program) -> Option<String> {
    if program.kind != Kind::Executable {
        return None;
    }
    let bytes = std::fs::read(&program.file).ok()?;
    let setting = |name: &str| {
        let key = format!("\nbuild\t{name}=");
        let found = memchr::memmem::find(&bytes, key.as_bytes())?;
        let value = &bytes[found + key.len()..];
        let end = value.iter().take(4096).position(|&byte| byte == b'\n')?;
        std::str::from_utf8(&value[..end]).ok()
    };
    let unoptimised = |flags: &str| {
        flags.split(|c: char| c.is_whitespace() || "\"'=".contains(c)).any(|flag| flag == "-N")
    };
    if setting("-gcflags").is_some_and(unoptimised) {
        return Some("it was built without optimization (`-gcflags` with `-N`)".to_owned());
    }
    [
        ("-race", "with the race detector"),
        ("-msan", "with the memory sanitizer"),
        ("-asan", "with the address sanitizer"),
        ("-cover", "with coverage counters"),
    ]
    .into_iter()
    .find(|(flag, _)| setting(flag) == Some("true"))
    .map(|(flag, how)| format!("it was built {how} (`{flag}`)"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;

    fn driver() -> GoTest {
        GoTest { debug_build: None }
    }

    fn reply(output: &str) -> Reply {
        Reply { output: output.as_bytes().to_vec(), success: true, ..Reply::default() }
    }

    const ANSWER: &str = "goos: linux\ngoarch: amd64\npkg: example.org/sums\n\
        BenchmarkSum-2      \t       3\t       650.7 ns/op\t       0 B/op\t       0 allocs/op\n\
        BenchmarkGrow/n=16/a+b_(c)-2         \tsaid by itself\n   \t      30\t       928.0 ns/op\t        16.00 elements\n\
        --- FAIL: BenchmarkBroken\n    sums_test.go:47: no luck\n    today\nFAIL\n";

    #[test]
    fn a_benchmark_is_a_function_of_its_package() {
        let is = |benchmark, symbol| driver().is_code_of(benchmark, symbol);
        for benchmark in ["BenchmarkSum", "BenchmarkSum-8", "BenchmarkSum/n=1-8"] {
            assert!(is(benchmark, "example.org/sums.BenchmarkSum"), "{benchmark}");
        }
        for symbol in ["sums.BenchmarkSum.func1", "sums.(*T).BenchmarkSum", "sums.BenchmarkSummer"]
        {
            assert!(!is("BenchmarkSum-8", symbol), "{symbol}");
        }
    }

    #[test]
    fn a_pattern_is_one_expression_for_every_part_of_the_name() {
        assert_eq!(pattern("BenchmarkSum"), "^BenchmarkSum$");
        assert_eq!(pattern("BenchmarkSum-8"), "^BenchmarkSum(-8)?$");
        assert_eq!(pattern("BenchmarkA/n=1/b+(c)-2"), r"^BenchmarkA$/^n=1$/^b\+\(c\)(-2)?$");
        assert_eq!(pattern("BenchmarkA/b-c"), r"^BenchmarkA$/^b\-c$");
    }

    #[test]
    fn the_effort_is_a_time_or_a_number() {
        let time = |effort| driver().measure("BenchmarkA", effort, Path::new("/")).args[2].clone();
        assert_eq!(time(Effort::Iterations(7)), "-test.benchtime=7x");
        assert_eq!(time(Effort::Once), "-test.benchtime=1x");
        assert_eq!(time(Effort::Seconds(0.05)), "-test.benchtime=0.050000000s");
        assert_eq!(time(Effort::Seconds(1e-12)), "-test.benchtime=0.000000001s");
    }

    #[test]
    fn results_have_iterations_also_when_a_line_is_torn_and_failures_their_words() {
        let mut answer = reply(ANSWER);
        answer.success = false;
        let found = driver().read(&answer).unwrap();
        let names: Vec<_> = found.iter().map(|reading| reading.benchmark.as_str()).collect();
        assert_eq!(names, ["BenchmarkSum-2", "BenchmarkGrow/n=16/a+b_(c)-2", "BenchmarkBroken-2"]);
        assert_eq!(found[0].iterations, Some(3.0));
        assert_eq!(found[1].iterations, Some(30.0));
        let value = |index: usize, name: &str| {
            found[index].values.iter().find(|(metric, _)| metric.name == name).map(|(_, v)| *v)
        };
        assert!((value(0, "wall").unwrap() / 650.7e-9 - 1.0).abs() < 1e-12);
        assert_eq!(value(0, "allocs/op"), Some(0.0));
        assert_eq!(value(1, "elements"), Some(16.0));
        assert_eq!(found[2].error.as_deref(), Some("sums_test.go:47: no luck today"));
        assert_eq!(driver().listed(&answer).unwrap(), names);
    }

    #[test]
    fn a_failure_later_on_and_one_within_a_part_are_told_once() {
        let later = "BenchmarkBroken-2  \t--- FAIL: BenchmarkBroken-2\n    x.go:1: no\nFAIL\n";
        assert_eq!(failed(later), [("BenchmarkBroken-2".to_owned(), "x.go:1: no".to_owned())]);
        let found = driver().read(&reply(later)).unwrap();
        assert_eq!(found[0].benchmark, "BenchmarkBroken-2");
        let part = "--- FAIL: BenchmarkA/b\n    x.go:1: no\n--- FAIL: BenchmarkA\nFAIL\n";
        assert_eq!(failed(part), [("BenchmarkA/b".to_owned(), "x.go:1: no".to_owned())]);
        assert_eq!(failed("--- FAIL: TestOther\n    x\n"), []);
    }

    #[test]
    fn a_panic_is_told_rather_than_the_end_of_its_trace() {
        let mut answer = reply("goos: linux\nBenchmarkSum-2 \t 1\t 5 ns/op\n");
        answer.success = false;
        answer.errors =
            b"panic: no luck today\n\ngoroutine 1 [running]:\nmain.go:1 +0x1\n".to_vec();
        let error = driver().listed(&answer).unwrap_err().to_string();
        assert!(error.contains("`panic: no luck today`"), "{error}");
        answer.output.clear();
        let error = driver().read(&answer).unwrap_err().to_string();
        assert!(error.contains("`panic: no luck today`"), "{error}");
    }

    #[test]
    fn no_benchmark_is_an_error_and_so_is_what_go_does_not_print() {
        let none = driver().listed(&reply("goos: linux\nPASS\n"));
        assert!(matches!(none, Err(HarnessError::NoBenchmark { .. })));
        for garbage in ["", "PASS\n", "\u{0}\u{1}", "BenchmarkA-2 \t 10\t"] {
            assert!(driver().read(&reply(garbage)).is_err(), "{garbage:?}");
        }
    }

    #[test]
    fn the_flags_of_the_build_tell_a_debug_build() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("x.test");
        let debug = |settings: &str| {
            std::fs::write(&file, format!("\x7fELF..path\tx\n{settings}build\tGOOS=linux\n\0"))
                .unwrap();
            built_for_debugging(&Program::look(&[file.clone().into()], &file))
        };
        assert_eq!(debug("build\t-compiler=gc\n"), None);
        assert_eq!(debug("build\t-gcflags=-m\n"), None);
        assert!(debug("build\t-gcflags=\"all=-N -l\"\n").unwrap().contains("-N"));
        assert!(debug("build\t-race=true\n").unwrap().contains("race"));
    }
}
