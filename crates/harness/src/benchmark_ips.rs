//! benchmark-ips: a Ruby script, run with a shim loaded before it (`ruby -r shim.rb script.rb`, or
//! through `RUBYOPT` if the command begins with something else: `bundle exec ruby script.rb`,
//! `./script.rb`).
//!
//! The library has no command line: a script measures all its items, for as long as the script
//! says. The shim replaces its measuring: it lists the items, or measures one for a given number of
//! iterations and ends the script. The items and their names remain the library's. In addition to
//! the times it reports the objects allocated per iteration, as counted by Ruby.

use crate::driver::{Driver, Effort, Language, Request};
use crate::error::{HarnessError, message_line};
use crate::program::{Kind, Program};
use crate::reading::{Reading, imported, readings};
use crate::reply::{Answer, Reply};
use std::path::Path;

/// Name by which users choose it.
pub(crate) const NAME: &str = "benchmark-ips";

/// Loaded before the script.
const SHIM: &str = include_str!("shims/benchmark_ips.rb");

/// A script that uses benchmark-ips.
#[derive(Debug)]
struct BenchmarkIps {
    /// True if the command begins with the interpreter, which accepts options before the script.
    is_direct: bool,
}

/// Ruby interpreters.
const RUBIES: [&str; 3] = ["ruby", "jruby", "truffleruby"];

/// Recognizes a script that requires it.
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

/// Creates the driver for any command that runs such a script.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    Box::new(BenchmarkIps { is_direct: RUBIES.iter().any(|name| program.is_called(name)) })
}

impl BenchmarkIps {
    /// Returns the request to run the script with the shim, which answers in this file.
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

    fn list(&self, scratch: &Path) -> Request {
        self.shimmed(scratch, "items.txt")
    }

    /// Parses the list, a JSON string per line.
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
        let names: Result<Vec<String>, _> =
            String::from_utf8_lossy(&bytes).lines().map(serde_json::from_str).collect();
        let names = names.map_err(|error| HarnessError::Garbage {
            harness: "benchmark-ips",
            why: error.to_string(),
            said: error_message(reply),
        })?;
        if names.is_empty() {
            return Err(HarnessError::NoBenchmark { said: error_message(reply) });
        }
        Ok(names)
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        let request = self.shimmed(scratch, "result.assay").env("ASSAY_IPS_ITEM", benchmark);
        match effort {
            Effort::Seconds(seconds) => request.env("ASSAY_IPS_SECONDS", seconds.to_string()),
            Effort::Iterations(count) => {
                request.env("ASSAY_IPS_ITERATIONS", count.max(1).to_string())
            }
            Effort::Once => request.env("ASSAY_IPS_ITERATIONS", "1").env("ASSAY_IPS_COLD", "1"),
        }
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        match imported(reply, "benchmark-ips") {
            Ok(samples) => Ok(readings(&samples)),
            // The script failed, or had no such item.
            Err(HarnessError::NoAnswer { path, source, .. }) => {
                Err(HarnessError::NoAnswer { path, source, said: error_message(reply) })
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the line with the class of an exception, above its trace; otherwise the last line.
fn error_message(reply: &Reply) -> Option<String> {
    message_line(&reply.errors, &reply.output, |line| line.trim_end().ends_with("Error)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    const DIRECT: BenchmarkIps = BenchmarkIps { is_direct: true };

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
        let request = DIRECT.measure("a b", Effort::Iterations(7), Path::new("/scratch"));
        let shim = "/scratch/assay_benchmark_ips.rb";
        assert_eq!(request.before, [OsString::from("-r"), OsString::from(shim)]);
        assert_eq!(request.files[0].0, Path::new(shim));
        assert!(request.args.is_empty());
        let has =
            |name: &str, value: &str| request.env.contains(&(name.to_owned(), value.to_owned()));
        let indirect = BenchmarkIps { is_direct: false };
        let by_variable = indirect.measure("a b", Effort::Once, Path::new("/scratch"));
        assert!(by_variable.before.is_empty());
        assert_eq!(by_variable.options, [("RUBYOPT".to_owned(), format!("-r{shim}"))]);
        assert!(has("ASSAY_IPS_ITEM", "a b") && has("ASSAY_IPS_ITERATIONS", "7"));
    }

    #[test]
    fn names_are_a_text_a_line() {
        let scratch = tempfile::tempdir().unwrap();
        let reply = answered("\"sum\"\n\"a \\u0022b\\u0022\\u000ac\"\n", scratch.path());
        assert_eq!(DIRECT.listed(&reply).unwrap(), ["sum", "a \"b\"\nc"]);
        for wrong in ["", "sum\n", "\"sum\"\n\"cut off"] {
            assert!(DIRECT.listed(&answered(wrong, scratch.path())).is_err(), "{wrong}");
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
        assert!(matches!(DIRECT.listed(&silent), Err(HarnessError::NoBenchmark { said: None })));
        assert!(DIRECT.listed(&failed).unwrap_err().to_string().contains("NameError"));
    }

    #[test]
    fn a_result_is_read_and_an_error_is_a_reading() {
        let scratch = tempfile::tempdir().unwrap();
        let found = DIRECT.read(&answered(RESULT, scratch.path())).unwrap();
        assert_eq!(found[0].iterations, Some(1000.0));
        let values: Vec<_> = found[0].values.iter().map(|(m, v)| (m.name.as_str(), *v)).collect();
        assert_eq!(values, [("wall", 7.5e-7), ("allocated_objects", 5.0)]);
        let found = DIRECT.read(&answered(BROKEN, scratch.path())).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].error.as_deref(), Some("ArgumentError: no"));
        assert!(DIRECT.read(&answered("Calculating", scratch.path())).is_err());
    }
}
