//! Driver for benchmark-ips: a Ruby script, run with a shim loaded before it (`ruby -r shim.rb
//! script.rb`). If the command begins with something else (`bundle exec ruby script.rb`,
//! `./script.rb`), the shim is loaded through `RUBYOPT`.
//!
//! The library has no command line: a script measures all its items, for as long as it specifies.
//! The shim replaces the measurement: it lists the items, or measures one of them for a given
//! number of iterations and ends the script. The items and their names still come from the library.
//! In addition to the times, the shim reports the objects allocated per iteration, as counted by
//! Ruby.
//!
//! The first timed run of an item warms up for as long as the script specifies, and reports the
//! number of calls after which the times were steady. Later runs make twice as many untimed calls,
//! instead of warming up for seconds in each process.

use crate::driver::{Driver, Effort, Language, Request};
use crate::error::{HarnessError, message_line};
use crate::program::{Kind, Program};
use crate::reading::{Reading, imported, readings};
use crate::reply::{Answer, Reply};
use crate::turns::Turns;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "benchmark-ips";

/// Metric for the number of calls after which the times were steady.
const WARM_UP: &str = "warm_up";
/// Metric for the seconds that later runs save because they warm up for a number of calls rather
/// than for a time.
const SAVED: &str = "warm_up_saved";

/// Ruby code of the shim, which is loaded before the script.
const SHIM: &str = include_str!("shims/benchmark_ips.rb");

/// A script that uses benchmark-ips.
#[derive(Debug)]
struct BenchmarkIps {
    /// True if the command begins with the Ruby interpreter, so that options can be added before
    /// the script.
    is_direct: bool,
    /// Groups of items that the script compares with `compare!`; empty until the list has been
    /// read.
    compared: RefCell<Vec<Vec<String>>>,
    /// Number of calls after which each item was steady, by the item's name.
    warm_ups: RefCell<BTreeMap<String, u64>>,
}

impl BenchmarkIps {
    fn new(is_direct: bool) -> Self {
        Self { is_direct, compared: RefCell::default(), warm_ups: RefCell::default() }
    }
}

/// Names of Ruby interpreters.
const RUBIES: [&str; 3] = ["ruby", "jruby", "truffleruby"];

/// Recognizes a Ruby script that mentions benchmark-ips.
pub(crate) fn looks(program: &Program) -> Option<Box<dyn Driver>> {
    let first = program.text.lines().next().unwrap_or_default();
    let is_ruby = (first.starts_with("#!") && first.contains("ruby"))
        || program
            .interpreter()
            .is_some_and(|name| RUBIES.iter().any(|ruby| name.starts_with(ruby)));
    let uses = ["benchmark/ips", "benchmark-ips", "Benchmark.ips"];
    (is_ruby
        && program.kind == Kind::Script
        && uses.iter().any(|using| program.text.contains(using)))
    .then(|| assumed(program))
}

/// Creates the driver for any command that runs a script with benchmark-ips.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    Box::new(BenchmarkIps::new(RUBIES.iter().any(|name| program.is_called(name))))
}

impl BenchmarkIps {
    /// Moves the warm-up's number of calls and the seconds saved from the metrics to their own
    /// fields. Also computes the average number of busy CPUs.
    fn without_warm_ups(&self, mut found: Vec<Reading>) -> Vec<Reading> {
        for reading in &mut found {
            reading.values.retain(|(metric, value)| match metric.name.as_str() {
                WARM_UP => {
                    self.warm_ups.borrow_mut().insert(reading.benchmark.clone(), *value as u64);
                    false
                }
                SAVED => {
                    reading.once_seconds = *value;
                    false
                }
                _ => true,
            });
            let value = |name: &str| {
                reading.values.iter().find(|(own, _)| own.name == name).map(|(_, value)| *value)
            };
            reading.busy_cpus = value("cpu").zip(value("wall")).map(|(cpu, wall)| cpu / wall);
        }
        found
    }

    /// Returns the request to run the script with the shim, which writes its answer to the file
    /// `answer` in `scratch`.
    fn shimmed(&self, scratch: &Path, answer: &str) -> Request {
        let shim = scratch.join("assay_benchmark_ips.rb");
        let answer = scratch.join(answer);
        let mut request = Request::default()
            .env("ASSAY_IPS_ANSWER", answer.display().to_string())
            .answered_in(Answer::File(answer));
        if self.is_direct {
            request.before = vec!["-r".into(), shim.clone().into_os_string()];
        } else {
            request = request.option("RUBYOPT", &format!("-r{}", shim.display()));
        }
        request.file(shim, SHIM)
    }
}

impl Driver for BenchmarkIps {
    fn name(&self) -> String {
        "benchmark-ips".to_owned()
    }

    fn executes(&self) -> Option<Language> {
        Some(Language::Ruby)
    }

    fn pins(&self) -> bool {
        true
    }

    fn turn_seconds(&self) -> Option<f64> {
        Some(Turns::SECONDS)
    }

    fn list(&self, scratch: &Path) -> Request {
        self.shimmed(scratch, "items.txt")
    }

    /// Parses the list, which has one line of JSON for each item (a string) and for each comparison
    /// (an array).
    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        if !reply.success {
            return Err(HarnessError::NoBenchmark { said: error_message(reply) });
        }
        // A script without items writes no file.
        let bytes = match reply.bytes() {
            Ok(bytes) => bytes,
            Err(HarnessError::NoAnswer { .. }) => {
                return Err(HarnessError::NoBenchmark { said: error_message(reply) });
            }
            Err(error) => return Err(error),
        };
        let garbage = |error: serde_json::Error| HarnessError::Garbage {
            harness: "benchmark-ips",
            why: error.to_string(),
            said: error_message(reply),
        };
        let (mut names, mut compared) = (Vec::new(), Vec::new());
        for line in String::from_utf8_lossy(&bytes).lines() {
            if line.starts_with('[') {
                compared.push(serde_json::from_str(line).map_err(garbage)?);
            } else {
                names.push(serde_json::from_str(line).map_err(garbage)?);
            }
        }
        self.compared.replace(compared);
        if names.is_empty() {
            return Err(HarnessError::NoBenchmark { said: error_message(reply) });
        }
        Ok(names)
    }

    fn compared(&self) -> Vec<Vec<String>> {
        self.compared.borrow().clone()
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        let mut request = self.shimmed(scratch, "result.assay").env("ASSAY_IPS_ITEM", benchmark);
        let is_timed = matches!(effort, Effort::Seconds(_) | Effort::Iterations(_));
        if let Some(calls) = self.warm_ups.borrow().get(benchmark).filter(|_| is_timed) {
            request = request.env("ASSAY_IPS_WARM_UP", calls.to_string());
        }
        match effort {
            Effort::Seconds(seconds) => request.env("ASSAY_IPS_SECONDS", seconds.to_string()),
            Effort::Iterations(count) => {
                request.env("ASSAY_IPS_ITERATIONS", count.max(1).to_string())
            }
            Effort::Counted(count) => request
                .env("ASSAY_IPS_ITERATIONS", count.max(1).to_string())
                .env("ASSAY_IPS_COLD", "1"),
            Effort::Once => request.env("ASSAY_IPS_ITERATIONS", "1").env("ASSAY_IPS_COLD", "1"),
        }
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        match imported(reply, "benchmark-ips") {
            Ok(samples) => Ok(self.without_warm_ups(readings(&samples))),
            // The answer is missing if the script failed or has no item of this name.
            Err(HarnessError::NoAnswer { path, source, .. }) => {
                Err(HarnessError::NoAnswer { path, source, said: error_message(reply) })
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the first line that ends with the class of an exception, as printed above a trace.
/// Otherwise it returns the last line.
fn error_message(reply: &Reply) -> Option<String> {
    message_line(&reply.errors, &reply.output, |line| line.trim_end().ends_with("Error)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn direct() -> BenchmarkIps {
        BenchmarkIps::new(true)
    }

    const RESULT: &str = r#"{"assay":1,"kind":"run","tool":"benchmark-ips 2.14.0"}
{"kind":"side","name":""}
{"kind":"row","name":"sum"}
{"kind":"subject","side":0,"row":0,"name":"sum"}
{"kind":"metric","name":"wall","unit":"s"}
{"kind":"metric","name":"allocated_objects","unit":"1"}
{"kind":"metric","name":"iterations","unit":"1","better":"higher"}
{"kind":"obs","subject":0,"values":{"wall":7.5e-07,"allocated_objects":5.0,"iterations":1000}}
"#;

    const BROKEN: &str = r#"{"assay":1,"kind":"run","tool":"benchmark-ips 2.14.0"}
{"kind":"side","name":""}
{"kind":"row","name":"sum"}
{"kind":"subject","side":0,"row":0,"name":"sum"}
{"kind":"finding","code":"BENCHMARK_FAILED","severity":"serious","message":"ArgumentError: no","subject":"sum"}
"#;

    fn answered(text: &str, scratch: &Path) -> Reply {
        let file = scratch.join("answer");
        std::fs::write(&file, text).unwrap();
        Reply { success: true, answer: Answer::File(file), ..Reply::default() }
    }

    #[test]
    fn the_shim_stands_before_the_script_and_is_handed_over() {
        let request = direct().measure("a b", Effort::Iterations(7), Path::new("/scratch"));
        let shim = "/scratch/assay_benchmark_ips.rb";
        assert_eq!(request.before, [OsString::from("-r"), OsString::from(shim)]);
        assert_eq!(request.files[0].0, Path::new(shim));
        assert!(request.args.is_empty());
        let has =
            |name: &str, value: &str| request.env.contains(&(name.to_owned(), value.to_owned()));
        let indirect = BenchmarkIps::new(false);
        let by_variable = indirect.measure("a b", Effort::Once, Path::new("/scratch"));
        assert!(by_variable.before.is_empty());
        assert_eq!(by_variable.options, [("RUBYOPT".to_owned(), format!("-r{shim}"))]);
        assert!(has("ASSAY_IPS_ITEM", "a b") && has("ASSAY_IPS_ITERATIONS", "7"));
        assert!(!request.env.iter().any(|(name, _)| name == "ASSAY_IPS_COLD"));
        let counted = direct().measure("a b", Effort::Counted(7), Path::new("/scratch"));
        let cold = ("ASSAY_IPS_COLD".to_owned(), "1".to_owned());
        assert!(counted.env.contains(&cold));
    }

    #[test]
    fn names_are_a_text_a_line_and_comparisons_a_list() {
        let scratch = tempfile::tempdir().unwrap();
        let reply = answered("\"sum\"\n\"a \\u0022b\\u0022\\u000ac\"\n", scratch.path());
        assert_eq!(direct().listed(&reply).unwrap(), ["sum", "a \"b\"\nc"]);
        let driver = direct();
        let reply = answered("\"sum\"\n\"loop\"\n[\"sum\",\"loop\"]\n\"text\"\n", scratch.path());
        assert_eq!(driver.listed(&reply).unwrap(), ["sum", "loop", "text"]);
        assert_eq!(driver.compared(), [["sum", "loop"]]);
        for wrong in ["", "sum\n", "\"sum\"\n\"cut off", "[\"sum\"]\n"] {
            assert!(direct().listed(&answered(wrong, scratch.path())).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_script_without_an_item_or_that_fails_lists_none() {
        let gone = Answer::File("/nowhere/items.txt".into());
        let silent = Reply { success: true, answer: gone.clone(), ..Reply::default() };
        let failed = Reply {
            errors: b"x.rb:1: no (NameError)\n".to_vec(),
            answer: gone,
            ..Reply::default()
        };
        assert!(matches!(direct().listed(&silent), Err(HarnessError::NoBenchmark { said: None })));
        assert!(direct().listed(&failed).unwrap_err().to_string().contains("NameError"));
    }

    #[test]
    fn a_result_is_read_and_an_error_is_a_reading() {
        let scratch = tempfile::tempdir().unwrap();
        let found = direct().read(&answered(RESULT, scratch.path())).unwrap();
        assert_eq!(found[0].iterations, Some(1000.0));
        let values: Vec<_> = found[0].values.iter().map(|(m, v)| (m.name.as_str(), *v)).collect();
        assert_eq!(values, [("wall", 7.5e-7), ("allocated_objects", 5.0)]);
        assert!(!found[0].is_cold);
        let found = direct().read(&answered(BROKEN, scratch.path())).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].error.as_deref(), Some("ArgumentError: no"));
        assert!(direct().read(&answered("Calculating", scratch.path())).is_err());
    }

    #[test]
    fn later_runs_warm_up_for_as_many_calls_as_the_first_found_necessary() {
        let scratch = tempfile::tempdir().unwrap();
        let driver = direct();
        let warm_up = |effort| {
            let request = driver.measure("sum", effort, Path::new("/scratch"));
            request.env.into_iter().find(|(name, _)| name == "ASSAY_IPS_WARM_UP")
        };
        assert_eq!(warm_up(Effort::Iterations(7)), None);
        let (head, observation) = RESULT.trim_end().rsplit_once('\n').unwrap();
        let metric = |name| format!("{{\"kind\":\"metric\",\"name\":\"{name}\",\"unit\":\"1\"}}\n");
        let metrics = metric("warm_up") + &metric("warm_up_saved");
        let observation =
            observation.replace("1000}", "1000,\"warm_up\":40,\"warm_up_saved\":1.5}");
        let cold = r#"{"kind":"finding","code":"WARM_UP","severity":"warning","message":"","subject":"sum"}"#;
        let text = format!("{head}\n{metrics}{observation}\n{cold}\n");
        let found = driver.read(&answered(&text, scratch.path())).unwrap();
        assert!(found[0].is_cold && found[0].values.len() == 2, "{found:?}");
        assert!((found[0].once_seconds - 1.5).abs() < 1e-12);
        for effort in [Effort::Iterations(7), Effort::Seconds(0.1)] {
            assert_eq!(warm_up(effort).unwrap().1, "40");
        }
        for effort in [Effort::Counted(7), Effort::Once] {
            assert_eq!(warm_up(effort), None);
        }
    }
}
