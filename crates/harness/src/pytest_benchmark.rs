//! Driver for pytest-benchmark: `pytest`, restricted to some tests through pytest's record of the
//! last failures.
//!
//! Ids on the command line would add to the directories that the user gave, `-k` does not match
//! full names, and `--deselect` removes everything with the same prefix. To run exactly the
//! requested tests, `--last-failed` is used with a separate cache in which only these tests failed.
//! This also leaves the user's own cache and storage unchanged. If pytest does not know an id, it
//! runs all tests.
//!
//! `--setup-plan` lists the tests with their fixtures, without running them. Tests with the fixture
//! `benchmark` are the benchmarks. The number of iterations is always determined by the harness and
//! cannot be given. Marks of a test (`@pytest.mark.benchmark(min_rounds=…)`) and `pedantic`
//! override the requested effort. A plugin is loaded from `PYTHONPATH`. If a command sets this
//! variable itself, the plugin is not loaded: a run then takes seconds longer, and two processes
//! cannot measure alternately.

use crate::driver::{Driver, Effort, Language, Request};
use crate::error::{HarnessError, tail};
use crate::program::Program;
use crate::reading::{Reading, imported, readings};
use crate::reply::{Answer, Reply};
use crate::turns::Turns;
use std::collections::BTreeMap;
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "pytest-benchmark";

/// Maximum number of rounds in the time of a run. It is large enough to be informative, and small
/// enough for the result file.
const ROUNDS: f64 = 50.0;

/// Subdirectory of the scratch directory for the plugin.
const DIRECTORY: &str = "plugin";
/// Names and texts of the plugin's files.
const FILES: [(&str, &str); 2] = [
    ("sitecustomize.py", include_str!("shims/measuring.py")),
    ("assay_pytest.py", include_str!("shims/pytest_plugin.py")),
];

/// A pytest command.
#[derive(Debug)]
struct PytestBenchmark;

/// Recognizes a command that calls pytest: `pytest …`, `python3 -m pytest …`, `uv run pytest …`.
pub(crate) fn looks(program: &Program) -> Option<Box<dyn Driver>> {
    let is_pytest = program.words.iter().any(|word| {
        let name = Path::new(word).file_name().unwrap_or_default();
        ["pytest", "pytest-3", "py.test"].iter().any(|known| name == *known)
    });
    is_pytest.then(|| assumed(program))
}

/// Creates the driver for any command that ends in a call of pytest.
pub(crate) fn assumed(_program: &Program) -> Box<dyn Driver> {
    Box::new(PytestBenchmark)
}

/// Returns the options for every call of pytest: they shorten the output, print the reason for a
/// failure on one line, and leave no files in the user's directories.
fn quiet(scratch: &Path) -> Request {
    Request::with(["--verbosity=-1", "--color=no", "-rfE"])
        // These override the user's `--benchmark-disable` and `--benchmark-skip`.
        .arg("--benchmark-enable")
        .arg("--benchmark-only")
        .arg("-o")
        .arg(format!("cache_dir={}", scratch.join("cache").display()))
        .arg(format!("--benchmark-storage=file://{}", scratch.join("storage").display()))
        .env("COLUMNS", "240")
}

/// Returns a request that runs the benchmarks with the plugin.
fn running(effort: Effort, scratch: &Path) -> Request {
    let seconds = match effort {
        Effort::Seconds(seconds) => seconds,
        // The minimum time is exceeded after the first call.
        Effort::Once | Effort::Iterations(_) | Effort::Counted(_) => 1e-9,
    };
    let mut request = quiet(scratch);
    // A timed run keeps the user's own setting of the warm-up.
    if !matches!(effort, Effort::Seconds(_)) {
        request = request.arg("--benchmark-warmup=off");
    }
    let plugin = scratch.join(DIRECTORY);
    for (name, text) in FILES {
        request = request.file(plugin.join(name), text);
    }
    request
        .directory("PYTHONPATH", plugin)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg("--benchmark-min-rounds=1")
        .arg(format!("--benchmark-max-time={seconds:.9}"))
        .arg(format!("--benchmark-min-time={:.9}", (seconds / ROUNDS).max(1e-9)))
}

/// Returns a request that measures exactly these benchmarks.
fn measuring(benchmarks: &[&str], effort: Effort, scratch: &Path) -> Request {
    let file = scratch.join("result.json");
    let failed: BTreeMap<&str, bool> = benchmarks.iter().map(|&id| (id, true)).collect();
    running(effort, scratch)
        .arg("--last-failed")
        .arg("--last-failed-no-failures=none")
        .arg(format!("--benchmark-json={}", file.display()))
        .file(scratch.join("cache/v/cache/lastfailed"), serde_json::json!(failed).to_string())
        .answered_in(Answer::File(file))
}

impl Driver for PytestBenchmark {
    fn name(&self) -> String {
        "pytest-benchmark".to_owned()
    }

    fn executes(&self) -> Option<Language> {
        Some(Language::Python)
    }

    fn pins(&self) -> bool {
        false
    }

    fn turn_seconds(&self) -> Option<f64> {
        Some(Turns::SECONDS)
    }

    fn list(&self, scratch: &Path) -> Request {
        quiet(scratch).arg("--setup-plan")
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let names: Vec<String> = reply.text().lines().filter_map(planned).collect();
        if names.is_empty() || !reply.success {
            let said = error_message(reply);
            let is_unknown = |said: &String| {
                said.contains("unrecognized arguments:") && said.contains("--benchmark-")
            };
            if said.as_ref().is_some_and(is_unknown) {
                let (plugin, install) = ("pytest-benchmark", "pip install pytest-benchmark");
                return Err(HarnessError::NotInstalled { plugin, install });
            }
            return Err(HarnessError::NoBenchmark { said });
        }
        Ok(names)
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        measuring(&[benchmark], effort, scratch)
    }

    fn measure_several(
        &self,
        benchmarks: &[&str],
        effort: Effort,
        scratch: &Path,
    ) -> Option<Request> {
        Some(measuring(benchmarks, effort, scratch))
    }

    fn run_each(&self, scratch: &Path) -> Option<Request> {
        Some(running(Effort::Once, scratch).env("ASSAY_EACH", "1"))
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        let text = reply.text();
        let failed: Vec<Reading> = text.lines().filter_map(failure).collect();
        // There is no result file if nothing was measured.
        let mut found = match imported(reply, "pytest-benchmark") {
            Ok(samples) => readings(&samples),
            Err(HarnessError::NoAnswer { .. }) if !failed.is_empty() => Vec::new(),
            Err(HarnessError::NoAnswer { path, source, .. }) => {
                return Err(HarnessError::NoAnswer { path, source, said: error_message(reply) });
            }
            Err(error) => return Err(error),
        };
        found.extend(failed);
        Ok(found)
    }
}

/// Parses a line of the plan, such as `bench/test_a.py::test_x[1] (fixtures used: benchmark,
/// request)`. Returns the id if the test is a benchmark.
fn planned(line: &str) -> Option<String> {
    let (id, fixtures) = line.trim().rsplit_once(" (fixtures used: ")?;
    let fixtures = &fixtures[..fixtures.find(')')?];
    let is_benchmark = |name: &str| name == "benchmark" || name == "benchmark_weave";
    (id.contains("::") && fixtures.split(", ").any(is_benchmark)).then(|| id.to_owned())
}

/// Parses a line of the summary, such as `FAILED bench/test_a.py::test_x - ValueError: …`.
fn failure(line: &str) -> Option<Reading> {
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
    let (id, why) = rest.split_once(" - ").unwrap_or((rest, "it failed"));
    id.contains("::").then(|| Reading {
        benchmark: id.trim().to_owned(),
        error: Some(why.trim().to_owned()),
        ..Reading::default()
    })
}

/// Returns the last line with an exception or with an error of pytest itself. Otherwise it returns
/// the last line of the output.
fn error_message(reply: &Reply) -> Option<String> {
    let telling = |line: &&str| {
        line.starts_with("E  ") || line.starts_with("ERROR: ") || line.contains(": error: ")
    };
    let both = format!("{}\n{}", reply.text(), String::from_utf8_lossy(&reply.errors));
    let line = both.lines().rev().find(|line| telling(line) && !line.contains("usage:"));
    match line {
        Some(line) => tail(line.trim_start_matches("E ").as_bytes(), b""),
        None => tail(&reply.errors, &reply.output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    const PLAN: &str = "
        SETUP    F benchmark
        SETUP    F n[10]
        bench/test_sums.py::test_total[10] (fixtures used: benchmark, n, request)
        TEARDOWN F n[10]
        TEARDOWN F benchmarks
        bench/test_sums.py::test_plain
        bench/test_sums.py::test_file (fixtures used: tmp_path, tmp_path_factory)
        bench/test_sums.py::test_odd[a - (b)] (fixtures used: benchmark, request)
        TEARDOWN F benchmark
1 skipped in 0.05s
";

    fn reply(output: &str, success: bool) -> Reply {
        Reply { output: output.as_bytes().to_vec(), success, ..Reply::default() }
    }

    #[test]
    fn the_list_is_what_uses_the_fixture() {
        let names = PytestBenchmark.listed(&reply(PLAN, true)).unwrap();
        assert_eq!(
            names,
            ["bench/test_sums.py::test_total[10]", "bench/test_sums.py::test_odd[a - (b)]"]
        );
    }

    #[test]
    fn a_list_that_fails_tells_the_reason() {
        for (output, errors, told) in [
            (
                "E   ModuleNotFoundError: No module named 'x'\n1 error in 0.2s\n",
                "",
                "No module named 'x'",
            ),
            (
                "no tests ran in 0.01s",
                "ERROR: file or directory not found: b.py",
                "not found: b.py",
            ),
            (
                "",
                "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --benchmark-only\n  rootdir: /r\n",
                "pip install pytest-benchmark",
            ),
        ] {
            let reply = Reply { errors: errors.as_bytes().to_vec(), ..reply(output, false) };
            let error = PytestBenchmark.listed(&reply).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        assert!(PytestBenchmark.listed(&reply("", true)).is_err());
        assert!(PytestBenchmark.listed(&reply(PLAN, false)).is_err());
    }

    #[test]
    fn one_test_is_what_failed_last() {
        let scratch = Path::new("/scratch");
        let request = PytestBenchmark.measure("a.py::t[\"x\"]", Effort::Seconds(0.5), scratch);
        let (path, text) = request.files.last().unwrap();
        assert_eq!(path, Path::new("/scratch/cache/v/cache/lastfailed"));
        assert_eq!(text, r#"{"a.py::t[\"x\"]":true}"#);
        assert!(request.args.contains(&OsString::from("--benchmark-max-time=0.500000000")));
        assert!(request.args.contains(&OsString::from("--benchmark-min-time=0.010000000")));
    }

    #[test]
    fn a_test_that_fails_is_a_reading_with_its_error() {
        let output =
            "FAILED b.py::T::test_x - ZeroDivisionError: division by zero\n1 failed in 0.05s\n";
        let gone = Answer::File("/nowhere/result.json".into());
        let found = PytestBenchmark.read(&Reply { answer: gone.clone(), ..reply(output, false) });
        let found = found.unwrap();
        assert_eq!(found[0].benchmark, "b.py::T::test_x");
        assert_eq!(found[0].error.as_deref(), Some("ZeroDivisionError: division by zero"));
        let nothing = Reply { answer: gone, ..reply("1 deselected\n", true) };
        let error = PytestBenchmark.read(&nothing).unwrap_err();
        assert!(matches!(error, HarnessError::NoAnswer { .. }), "{error}");
    }

    #[test]
    fn pytest_is_known_by_its_command() {
        let known = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            looks(&Program::look(&words, Path::new("/nowhere"))).is_some()
        };
        assert!(known(&["/venv/bin/pytest", "bench"]));
        assert!(known(&["python3", "-m", "pytest", "bench"]));
        assert!(known(&["uv", "run", "pytest"]));
        assert!(!known(&["python3", "bench.py", "pytest.ini"]));
    }
}
