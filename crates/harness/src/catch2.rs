//! Driver for Catch2 (C++), versions 2 and 3: `BENCHMARK`s in test cases, read from its XML
//! reporter.
//!
//! A run can be restricted to test cases and sections, but not to a benchmark in them. Therefore a
//! run measures all benchmarks; users who want fewer can give the names or tags of test cases.
//! Without these, a run includes the default tests, even those without benchmarks, and everything
//! tagged `[!benchmark]`, which Catch2 hides by default. Catch2 cannot list benchmarks either:
//! their names are taken from a run with one sample of each. Only the number of samples can be set.
//! Catch2 derives the iterations per sample from the clock's resolution, so that a sample takes
//! about ten microseconds, or one iteration if that is longer. Bootstrapping is turned off.

use crate::driver::{Driver, Effort, Request};
use crate::error::{HarnessError, tail};
use crate::program::Program;
use crate::reading::{Reading, add_iterations, imported, readings};
use crate::reply::{Answer, Reply};
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "catch2";

const HARNESS: &str = "Catch2";

/// Test specification that selects the default tests and the hidden benchmarks.
const BENCHMARKS_TOO: &str = "~[.],[!benchmark]";

/// Minimum and maximum number of samples. Catch2's default is 100.
const SAMPLES: (f64, f64) = (10.0, 100.0);

/// Number of samples per second of requested run time. The number is low because a sample takes at
/// least one iteration, which may be slow.
const SAMPLES_PER_SECOND: f64 = 1000.0;

/// A program linked with Catch2.
#[derive(Debug)]
struct Catch2 {
    /// Version of Catch2 as printed in the program's help, such as `3.7.1`; empty if unknown.
    version: String,
    /// True if the user gave arguments, which may select what runs.
    is_chosen: bool,
}

/// Recognizes the harness by the program's help text.
pub(crate) fn recognise(program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    let is = help.contains("--benchmark-samples") && help.contains("--benchmark-no-analysis");
    let version = |line: &str| {
        let rest = line.strip_prefix("Catch2 v").or_else(|| line.strip_prefix("Catch v"))?;
        rest.split_ascii_whitespace().next().map(str::to_owned)
    };
    let version = || help.lines().find_map(version).unwrap_or_default();
    is.then(|| Box::new(Catch2 { version: version(), ..of(program) }) as Box<dyn Driver>)
}

/// Creates the driver for a program whose harness was chosen by the user.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    Box::new(of(program))
}

fn of(program: &Program) -> Catch2 {
    Catch2 { version: String::new(), is_chosen: program.words.len() > 1 }
}

impl Catch2 {
    fn request(&self, samples: u64, warm_up: f64, scratch: &Path) -> Request {
        let file = scratch.join("result.xml");
        let mut request = Request::default();
        if !self.is_chosen {
            request = request.arg(BENCHMARKS_TOO);
        }
        let out = file.display().to_string();
        let samples = samples.to_string();
        let warm_up = ((warm_up * 1000.0).round() as u64).to_string();
        [
            ["--reporter", "xml"],
            ["--out", &out],
            ["--benchmark-samples", &samples],
            ["--benchmark-warmup-time", &warm_up],
        ]
        .into_iter()
        .flatten()
        .fold(request.arg("--benchmark-no-analysis"), Request::arg)
        .answered_in(Answer::File(file))
    }
}

impl Driver for Catch2 {
    fn name(&self) -> String {
        format!("{HARNESS} {}", self.version).trim_end().to_owned()
    }

    fn isolates(&self) -> bool {
        false
    }

    fn pins(&self) -> bool {
        false
    }

    fn list(&self, scratch: &Path) -> Request {
        self.request(1, 0.0, scratch)
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let xml = String::from_utf8_lossy(&reply.bytes()?).into_owned();
        if is_whole(&xml) && !xml.contains("<BenchmarkResults ") {
            return Err(HarnessError::NoBenchmark { said: tail(&reply.errors, &reply.output) });
        }
        Ok(self.read(reply)?.into_iter().map(|reading| reading.benchmark).collect())
    }

    fn measure(&self, _benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        match effort {
            Effort::Once | Effort::Iterations(_) | Effort::Counted(_) => {
                self.request(1, 0.0, scratch)
            }
            Effort::Seconds(seconds) => {
                let samples = (seconds * SAMPLES_PER_SECOND).clamp(SAMPLES.0, SAMPLES.1);
                self.request(samples as u64, seconds / 10.0, scratch)
            }
        }
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        // The exit status is ignored because it is also nonzero if a test failed.
        let mut found = readings(&imported(reply, HARNESS)?);
        // Benchmarks that only reported an error come last and have no number of iterations.
        let measured = found.iter().filter(|reading| !reading.values.is_empty()).count();
        let xml = String::from_utf8_lossy(&reply.bytes()?).into_owned();
        add_iterations(&mut found[..measured], xml.lines().filter_map(iterations));
        Ok(found)
    }
}

/// Returns true if the XML report ends with its closing tag, that is, if it is not truncated.
fn is_whole(xml: &str) -> bool {
    let end = xml.trim_end();
    end.ends_with("</Catch2TestRun>") || end.ends_with("</Catch>")
}

/// Returns a benchmark's total number of iterations: the number of samples times the iterations per
/// sample, both attributes of its tag. Quotes in names are written as entities, so they do not end
/// an attribute.
fn iterations(line: &str) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        let (_, rest) = line.split_once(name)?;
        rest.split('"').next()?.parse().ok()
    };
    line.contains("resamples=\"").then_some(())?;
    number(" samples=\"")?.checked_mul(number(" iterations=\"")?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;

    fn driver() -> Catch2 {
        Catch2 { version: String::new(), is_chosen: false }
    }

    fn reply(xml: &str) -> (tempfile::TempDir, Reply) {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("result.xml");
        std::fs::write(&file, xml).unwrap();
        (scratch, Reply { answer: Answer::File(file), ..Reply::default() })
    }

    const ANSWER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="x" rng-seed="1" xml-format-version="3" catch2-version="3.7.1">
  <TestCase name="hidden" tags="[!benchmark][.]" filename="x.cpp" line="12">
    <BenchmarkResults name="throws">
      <failed message="no luck"/>
    </BenchmarkResults>
    <BenchmarkResults name="a &quot;vector&quot;" samples="20" resamples="100000" iterations="117" clockResolution="67.4" estimatedDuration="135720">
      <!-- All values in nano seconds -->
      <mean value="500" lowerBound="500" upperBound="500" ci="0"/>
      <standardDeviation value="0" lowerBound="0" upperBound="0" ci="0"/>
      <outliers variance="0" lowMild="0" lowSevere="0" highMild="0" highSevere="0"/>
    </BenchmarkResults>
    <OverallResult success="false" skips="0"/>
  </TestCase>
</Catch2TestRun>
"#;

    #[test]
    fn a_report_gives_means_all_iterations_and_errors() {
        let (_scratch, answer) = reply(ANSWER);
        let found = driver().read(&answer).unwrap();
        assert_eq!(driver().listed(&answer).unwrap(), ["hidden: a \"vector\"", "hidden: throws"]);
        assert_eq!(found[0].iterations, Some(20.0 * 117.0));
        assert!((found[0].values[0].1 / 500e-9 - 1.0).abs() < 1e-12);
        assert_eq!(found[1].iterations, None);
        assert!(found[1].error.as_deref().unwrap().contains("no luck"));
    }

    #[test]
    fn a_report_without_a_benchmark_one_that_breaks_off_and_none_are_errors() {
        let (_scratch, none) = reply("<Catch name=\"x\">\n</Catch>\n");
        assert!(matches!(driver().listed(&none), Err(HarnessError::NoBenchmark { .. })));
        let (_scratch, torn) = reply(&ANSWER[..ANSWER.len() / 2]);
        assert!(matches!(driver().listed(&torn), Err(HarnessError::Garbage { .. })));
        let (_scratch, garbage) = reply("what?\n");
        assert!(matches!(driver().listed(&garbage), Err(HarnessError::Garbage { .. })));
        let (scratch, missing) = reply("");
        std::fs::remove_file(scratch.path().join("result.xml")).unwrap();
        assert!(matches!(driver().listed(&missing), Err(HarnessError::NoAnswer { .. })));
        assert!(matches!(driver().read(&missing), Err(HarnessError::NoAnswer { .. })));
    }

    #[test]
    fn words_of_the_user_say_what_runs() {
        let first = |is_chosen| {
            let driver = Catch2 { is_chosen, ..driver() };
            driver.list(Path::new("/")).args[0].to_str().unwrap().to_owned()
        };
        assert_eq!(first(false), BENCHMARKS_TOO);
        assert_eq!(first(true), "--benchmark-no-analysis");
    }

    #[test]
    fn time_is_samples() {
        let samples = |effort| driver().measure("", effort, Path::new("/")).args[7].clone();
        assert_eq!(samples(Effort::Once), "1");
        assert_eq!(samples(Effort::Seconds(0.05)), "50");
        assert_eq!(samples(Effort::Seconds(10.0)), "100");
        assert_eq!(samples(Effort::Seconds(0.0)), "10");
    }
}
