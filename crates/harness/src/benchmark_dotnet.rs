//! Driver for BenchmarkDotNet: a program that passes its arguments to `BenchmarkSwitcher` (`dotnet
//! bin/Release/net8.0/Bench.dll`, or `dotnet run -c Release --`). A run is restricted to one
//! benchmark by using its full name as the filter.
//!
//! `--list` prints methods without their parameters, but a benchmark is a method with parameters.
//! Therefore the list is taken from the results of a dry run, which calls each benchmark once. A
//! run measures in the started process (`--inProcess`): each run is a separate process anyway, and
//! this way nothing has to be generated and compiled. A run is one launch with one iteration of
//! warm-up and one of measurement, each of the requested duration. Options given by the user are
//! not repeated, because most are allowed only once. Jobs defined by attributes are run as well.

use crate::driver::{Driver, Effort, Request};
use crate::error::{HarnessError, message_line, tail};
use crate::program::Program;
use crate::reading::{Reading, readings};
use crate::reply::{Answer, Reply};
use assay_data::import::{self, ImportOptions};
use std::path::{Path, PathBuf};

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "benchmarkdotnet";

const HARNESS: &str = "BenchmarkDotNet";

/// A program that accepts BenchmarkDotNet's options.
#[derive(Debug)]
struct BenchmarkDotNet {
    /// The user's command line.
    given: Vec<String>,
}

/// Recognizes the harness by the program's help text.
pub(crate) fn recognise(program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    let is = ["--exporters", "--artifacts", "--iterationTime", "--launchCount", "--inProcess"]
        .iter()
        .all(|option| help.contains(option));
    is.then(|| assumed(program))
}

/// Creates the driver for a program whose harness was chosen by the user.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    let given = program.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    Box::new(BenchmarkDotNet { given })
}

impl BenchmarkDotNet {
    fn request(&self, filter: &str, options: &[(&str, String)], scratch: &Path) -> Request {
        let is_given = |name: &str| self.given.iter().any(|word| word == name);
        let mut request = Request::with(["--filter", filter, "--exporters", "json"])
            .arg("--artifacts")
            .arg(scratch.as_os_str());
        if !is_given("--inProcess") && !is_given("-i") {
            request = request.arg("--inProcess");
        }
        for (name, value) in options.iter().filter(|(name, _)| !is_given(name)) {
            request = request.arg(name).arg(value);
        }
        request.answered_in(Answer::Directory(scratch.to_path_buf()))
    }
}

impl Driver for BenchmarkDotNet {
    fn name(&self) -> String {
        HARNESS.to_owned()
    }

    /// Returns false. BenchmarkDotNet accepts a number of calls, but counts calls of an unrolled
    /// loop, and a benchmark may declare several operations per call.
    fn pins(&self) -> bool {
        false
    }

    fn list(&self, scratch: &Path) -> Request {
        self.request("*", &[("--job", "Dry".to_owned())], scratch)
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        Ok(self.read(reply)?.into_iter().map(|reading| reading.benchmark).collect())
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        let options = match effort {
            Effort::Seconds(seconds) => vec![
                ("--launchCount", "1".to_owned()),
                ("--warmupCount", "1".to_owned()),
                ("--iterationCount", "1".to_owned()),
                ("--iterationTime", format!("{}", (seconds * 1e3).ceil().max(1.0))),
            ],
            Effort::Once | Effort::Iterations(_) | Effort::Counted(_) => {
                vec![("--job", "Dry".to_owned())]
            }
        };
        self.request(filter_of(benchmark), &options, scratch)
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        let Answer::Directory(scratch) = &reply.answer else {
            return Err(HarnessError::NoBenchmark { said: error_message(reply) });
        };
        let mut found = Vec::new();
        for file in results(scratch) {
            // Every class has its own file, and a benchmark is identified within it.
            let samples = import::load(&[&file], &ImportOptions::default()).map_err(|error| {
                HarnessError::Garbage {
                    harness: HARNESS,
                    why: error.to_string(),
                    said: error_message(reply),
                }
            })?;
            found.extend(readings(&samples));
        }
        if found.is_empty() {
            return Err(HarnessError::NoBenchmark { said: error_message(reply) });
        }
        Ok(found)
    }
}

/// Returns the filter for a benchmark. If several jobs run a benchmark, the importer appends ` #2`
/// and so on to its name, which is removed here.
fn filter_of(benchmark: &str) -> &str {
    match benchmark.rsplit_once(" #") {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => benchmark,
    }
}

/// Returns the JSON result files, one per class, in sorted order.
fn results(scratch: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(scratch.join("results")) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

/// Returns the line of standard output that best explains a failure: one with an exception or with
/// the harness's own error mark. Otherwise it returns the last line of the output.
fn error_message(reply: &Reply) -> Option<String> {
    let text = reply.text();
    let telling = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("// * Errors") || line.contains("Exception: ") || line.contains("error ")
    };
    match text.lines().find(telling) {
        Some(line) => tail(line.as_bytes(), b""),
        None => message_line(&reply.errors, &reply.output, |line| line.contains("Exception: ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(words: &[&str]) -> Box<dyn Driver> {
        let words: Vec<_> = words.iter().map(Into::into).collect();
        assumed(&Program::look(&words, Path::new("/usr/bin/dotnet")))
    }

    fn args(request: &Request) -> String {
        request.args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_run_is_one_process_with_one_iteration_and_the_users_options_are_his() {
        let one = Effort::Seconds(0.0301);
        let of =
            |words: &[&str]| args(&driver(words).measure("A.B.C(N: 10)", one, Path::new("/s")));
        assert_eq!(
            of(&["dotnet", "Bench.dll"]),
            "--filter A.B.C(N: 10) --exporters json --artifacts /s --inProcess --launchCount 1 --warmupCount 1 --iterationCount 1 \
             --iterationTime 31"
        );
        let own = of(&["dotnet", "Bench.dll", "--warmupCount", "5", "-i"]);
        assert!(!own.contains("--warmupCount") && !own.contains("--inProcess"), "{own}");
        let list = driver(&["dotnet", "Bench.dll"]).list(Path::new("/s"));
        assert!(args(&list).starts_with("--filter * ") && args(&list).ends_with("--job Dry"));
        assert_eq!(["A.B #2", "A.B #x", "A.B"].map(filter_of), ["A.B", "A.B #x", "A.B"]);
    }

    #[test]
    fn what_leaves_no_results_lists_no_benchmark_and_says_why() {
        let scratch = tempfile::tempdir().unwrap();
        let reply = Reply {
            output: b"// Validating benchmarks:\nSystem.InvalidOperationException: no luck\n   at A.B()\n".to_vec(),
            answer: Answer::Directory(scratch.path().to_path_buf()),
            ..Reply::default()
        };
        let error = driver(&["dotnet", "x.dll"]).listed(&reply).unwrap_err().to_string();
        assert_eq!(
            error,
            "it lists no benchmark; it said: `System.InvalidOperationException: no luck`"
        );
    }
}
