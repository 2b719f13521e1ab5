//! Driver for Google Benchmark. It uses `--benchmark_list_tests`, a filter that is an anchored
//! regular expression, and JSON in a separate file.
//!
//! Since 1.8, `--benchmark_min_time=Nx` sets the number of iterations. Earlier versions accept only
//! a time, and every process searches for the number itself. The help text shows which form the
//! program supports. The search also serves as a warm-up. Runs with a fixed number of iterations
//! use the library's own warm-up, if the version has one (since 1.7) and the user did not set it.
//! Results are written to a file, because programs may print other text on standard output.

mod symbols;

pub use symbols::function_name;

use crate::driver::{Driver, Effort, Request};
use crate::error::{HarnessError, tail};
use crate::program::Program;
use crate::reading::{Reading, imported, readings};
use crate::reply::{Answer, Reply};
use assay_data::code;
use regex::Regex;
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "google-benchmark";

/// A program linked with Google Benchmark.
#[derive(Debug)]
struct GoogleBenchmark {
    /// True if the number of iterations can be set (since 1.8).
    pins: bool,
    /// True if runs with a fixed number of iterations are preceded by a warm-up.
    warms_up: bool,
}

/// Flag that sets the length of the untimed warm-up phase, in seconds.
const WARM_UP: &str = "--benchmark_min_warmup_time=";

/// Length of the untimed warm-up phase, in seconds. In a manual test with Google Benchmark 1.7 and
/// a map of strings, 2 ms reduced the excess time of the first iterations from 15 % to 5 %.
const WARM_UP_SECONDS: f64 = 0.002;

/// Recognizes the harness by the program's help text.
pub(crate) fn recognise(program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    let is_set = program.words.iter().any(|word| word.to_string_lossy().starts_with(WARM_UP));
    let driver = GoogleBenchmark {
        pins: help.contains("<integer>x"),
        warms_up: help.contains(WARM_UP) && !is_set,
    };
    help.contains("--benchmark_list_tests").then(|| Box::new(driver) as Box<dyn Driver>)
}

/// Creates a driver that uses only features that all versions support.
pub(crate) fn assumed(_program: &Program) -> Box<dyn Driver> {
    Box::new(GoogleBenchmark { pins: false, warms_up: false })
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

    fn own_words(&self, _scratch: &Path) -> Option<Request> {
        // This pattern matches no name. An empty pattern would match all.
        Some(Request::with(["--benchmark_list_tests=true", "--benchmark_filter=^$"]))
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let said = || tail(&reply.errors, &reply.output);
        if !reply.success {
            return Err(HarnessError::NoBenchmark { said: said() });
        }
        let lines = reply.lines_of_harness().into_iter();
        let names: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        // A program without benchmarks prints this message in its first line.
        if names.is_empty() || names[0].starts_with("Failed to match any benchmarks") {
            return Err(HarnessError::NoBenchmark { said: said() });
        }
        Ok(names)
    }

    fn is_code_of(&self, benchmark: &str, symbol: &str) -> bool {
        symbols::is_code_of(benchmark, symbol)
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        let file = scratch.join("result.json");
        let least = match effort {
            Effort::Iterations(count) | Effort::Counted(count) if self.pins => format!("{count}x"),
            Effort::Once if self.pins => "1x".to_owned(),
            // The minimum time is exceeded after the first iteration.
            Effort::Once | Effort::Iterations(_) | Effort::Counted(_) => "0.000000001".to_owned(),
            Effort::Seconds(seconds) if self.pins => format!("{seconds}s"),
            Effort::Seconds(seconds) => seconds.to_string(),
        };
        let request = Request::with([
            format!("--benchmark_filter=^{}$", regex::escape(benchmark)),
            format!("--benchmark_min_time={least}"),
            "--benchmark_repetitions=1".to_owned(),
            "--benchmark_report_aggregates_only=false".to_owned(),
            format!("--benchmark_out={}", file.display()),
            "--benchmark_out_format=json".to_owned(),
        ])
        .answered_in(Answer::File(file));
        let is_timed = self.pins && matches!(effort, Effort::Iterations(_));
        match is_timed && self.warms_up {
            true => request.arg(format!("{WARM_UP}{WARM_UP_SECONDS}")),
            false => request,
        }
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        match imported(reply, "Google Benchmark") {
            Ok(samples) => Ok(readings(&samples)),
            // If the only benchmark ended with an error, the answer contains no numbers and cannot
            // be imported.
            Err(error) => gave_up(reply).map(|reading| vec![reading]).ok_or(error),
        }
    }

    fn debug_build(&self, reply: &Reply) -> Option<String> {
        let samples = imported(reply, "Google Benchmark").ok()?;
        samples
            .findings
            .iter()
            .any(|finding| finding.is(code::DEBUG_BUILD))
            .then(|| "the Google Benchmark library was built without NDEBUG, as Debian's is; that adds nanoseconds to every iteration, and says nothing of the measured code".to_owned())
    }
}

/// Returns the reading for an answer whose only benchmark ended with an error and which therefore
/// contains no numbers.
fn gave_up(reply: &Reply) -> Option<Reading> {
    let text = String::from_utf8(reply.bytes().ok()?).ok()?;
    let string = |key: &str| {
        let pattern = format!(r#""{key}"\s*:\s*"((?:[^"\\]|\\.)*)""#);
        let found = Regex::new(&pattern).ok()?.captures(&text)?;
        Some(found[1].replace("\\\"", "\"").replace("\\\\", "\\"))
    };
    let error = string("error_message").or_else(|| string("skip_message"))?;
    Some(Reading { benchmark: string("name")?, error: Some(error), ..Reading::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Reply {
        Reply { output: text.as_bytes().to_vec(), success: true, ..Reply::default() }
    }

    #[test]
    fn the_help_tells_whether_iterations_can_be_given() {
        let program = Program::look(&["./bm".into()], Path::new("./bm"));
        let old =
            "benchmark [--benchmark_list_tests={true|false}]\n [--benchmark_min_time=<min_time>]";
        let new = "benchmark [--benchmark_list_tests={true|false}]\n [--benchmark_min_time=`<integer>x` OR `<float>s`]";
        let pins = |help| recognise(&program, help).map(|driver| driver.pins());
        assert_eq!([pins(old), pins(new), pins("usage: cat")], [Some(false), Some(true), None]);
    }

    #[test]
    fn names_are_asked_for_as_they_stand() {
        let driver = GoogleBenchmark { pins: true, warms_up: true };
        let request = driver.measure("BM<int>/8", Effort::Iterations(40), Path::new("/s"));
        assert_eq!(request.args[0], r"--benchmark_filter=^BM<int>/8$");
        assert_eq!(request.args[1], "--benchmark_min_time=40x");
        assert_eq!(request.answer, Answer::File("/s/result.json".into()));
    }

    #[test]
    fn a_fixed_number_of_iterations_is_warmed_up_once_unless_it_is_counted() {
        let help = "benchmark [--benchmark_list_tests={true|false}] [--benchmark_min_time=`<integer>x` OR `<float>s`] \
                    [--benchmark_min_warmup_time=<min_warmup_time>]";
        let warm_up = |words: &[&str], help: &str, effort| {
            let words: Vec<std::ffi::OsString> = words.iter().map(Into::into).collect();
            let driver =
                recognise(&Program::look(&words, Path::new("/bm")), help).expect("it is one");
            let request = driver.measure("a", effort, Path::new("/s"));
            request.args.iter().any(|arg| arg.to_string_lossy().starts_with(WARM_UP))
        };
        let own = ["bm", "--benchmark_min_warmup_time=1"];
        assert!(warm_up(&["bm"], help, Effort::Iterations(9)));
        assert!(!warm_up(&["bm"], help, Effort::Counted(9)));
        assert!(!warm_up(&["bm"], help, Effort::Seconds(0.1)));
        assert!(!warm_up(&own, help, Effort::Iterations(9)));
        let older = help.replace("--benchmark_min_warmup_time=", "--");
        assert!(!warm_up(&["bm"], &older, Effort::Iterations(9)));
    }

    #[test]
    fn no_benchmark_is_an_error_that_says_what_was_said() {
        let driver = GoogleBenchmark { pins: false, warms_up: false };
        let none = "Failed to match any benchmarks against regex: .\n";
        assert!(matches!(driver.listed(&answer(none)), Err(HarnessError::NoBenchmark { .. })));
        assert_eq!(driver.listed(&answer("A\nB/8\n")).expect("two"), ["A", "B/8"]);
        assert!(driver.read(&answer("Segmentation fault")).is_err());
    }

    #[test]
    fn what_the_program_prints_itself_is_no_benchmark() {
        let driver = GoogleBenchmark { pins: true, warms_up: true };
        let mut listed =
            answer("MyLib 1.2\nseed 99, pid 4712\nready: BM_a/8\nBM_a/16\nBM_b<int, long>\nbye\n");
        for own in [
            "MyLib 1.2\nseed 1, pid 4711\nready: bye\n",
            "MyLib 1.2\nseed 1, pid 4711\nready: Failed to match any benchmarks against regex: ^$\nbye\n",
        ] {
            listed.own = own.as_bytes().to_vec();
            let names = driver.listed(&listed).expect("names");
            if own.contains("Failed") {
                // The program printed text without a line feed before the first name, so the two
                // cannot be separated.
                assert_eq!(names[1..], ["BM_a/16", "BM_b<int, long>"]);
            } else {
                assert_eq!(names, ["BM_a/8", "BM_a/16", "BM_b<int, long>"]);
            }
        }
    }

    #[test]
    fn a_benchmark_that_gave_up_is_a_reading_with_its_error() {
        let driver = GoogleBenchmark { pins: false, warms_up: false };
        let text = r#"{"context": {"library_build_type": "release"}, "benchmarks": [{"name": "Bad", "run_name": "Bad",
            "run_type": "iteration", "error_occurred": true, "error_message": "no \"input\"", "iterations": 0,
            "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}]}"#;
        let found = driver.read(&answer(text)).expect("a reading");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].benchmark.as_str(), found[0].values.len()), ("Bad", 0));
        assert!(found[0].error.as_deref().is_some_and(|e| e.contains("no \"input\"")), "{found:?}");
    }
}
