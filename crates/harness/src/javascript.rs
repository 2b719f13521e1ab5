//! Drivers for JavaScript on Node.js: scripts that use tinybench or mitata, and `vitest bench`. A
//! script is run with a module loaded before it. The module is loaded through `NODE_OPTIONS`, so
//! that it works however Node is started (`node bench.mjs`, `npx tsx bench.ts`).
//!
//! tinybench and mitata have no command line: a script measures all its benchmarks, for as long as
//! it specifies. The module lists them, or has the library measure one of them and ends the script.
//! vitest measures all benchmarks together, and a custom reporter writes the results.

use crate::driver::{Driver, Effort, Request};
use crate::error::{HarnessError, message_line};
use crate::program::{Kind, Program};
use crate::reading::{Reading, imported, imported_or_said, readings};
use crate::reply::{Answer, Reply};
use crate::turns::Turns;
use assay_data::Metric;
use std::path::Path;

/// Name by which users choose tinybench.
pub(crate) const TINYBENCH: &str = "tinybench";
/// Name by which users choose mitata.
pub(crate) const MITATA: &str = "mitata";
/// Name by which users choose vitest.
pub(crate) const VITEST: &str = "vitest";

/// Metric for the average number of CPUs that a benchmark keeps busy.
const BUSY: &str = "busy";
/// JavaScript module that is loaded before the script.
const SHIM: &str = include_str!("shims/javascript.mjs");
/// Reporter module that vitest loads.
const REPORTER: &str = include_str!("shims/vitest.mjs");

/// A script that uses tinybench or mitata.
#[derive(Debug)]
struct Script {
    library: &'static str,
}

/// Recognizes a Node.js script that imports tinybench.
pub(crate) fn looks_like_tinybench(program: &Program) -> Option<Box<dyn Driver>> {
    imports(program, TINYBENCH).then(|| tinybench(program))
}

/// Recognizes a Node.js script that imports mitata.
pub(crate) fn looks_like_mitata(program: &Program) -> Option<Box<dyn Driver>> {
    imports(program, MITATA).then(|| mitata(program))
}

/// Creates the driver for any command that runs a script with tinybench.
pub(crate) fn tinybench(_program: &Program) -> Box<dyn Driver> {
    Box::new(Script { library: TINYBENCH })
}

/// Creates the driver for any command that runs a script with mitata.
pub(crate) fn mitata(_program: &Program) -> Box<dyn Driver> {
    Box::new(Script { library: MITATA })
}

fn imports(program: &Program, library: &str) -> bool {
    let first = program.text.lines().next().unwrap_or_default();
    let is_script = (first.starts_with("#!") && first.contains("node"))
        || program.interpreter().is_some_and(|name| ["node", "nodejs", "tsx"].contains(&&*name));
    let quoted = ['\'', '"'].map(|quote| format!("{quote}{library}{quote}"));
    is_script
        && program.kind == Kind::Script
        && quoted.iter().any(|import| program.text.contains(import))
}

impl Script {
    fn shimmed(&self, scratch: &Path, answer: &str) -> Request {
        let shim = scratch.join("assay_javascript.mjs");
        let answer = scratch.join(answer);
        let mut request = Request::default()
            .env("ASSAY_JS_ANSWER", answer.display().to_string())
            .answered_in(Answer::File(answer));
        request.options.push(("NODE_OPTIONS".to_owned(), format!("--import={}", url(&shim))));
        request.file(shim, SHIM)
    }
}

/// Returns the URL of a file. Unlike a path, it contains no spaces, at which Node.js splits its
/// options.
pub(crate) fn url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                url.push(char::from(*byte));
            }
            other => url += &format!("%{other:02X}"),
        }
    }
    url
}

impl Driver for Script {
    fn name(&self) -> String {
        self.library.to_owned()
    }

    /// Returns true for tinybench only, since mitata chooses the size of its batches itself.
    fn pins(&self) -> bool {
        self.library == TINYBENCH
    }

    /// Returns the length of a turn. It is longer for mitata, which calls a benchmark about 50,000
    /// times in each turn, even in a short one.
    fn turn_seconds(&self) -> Option<f64> {
        Some(if self.library == TINYBENCH { Turns::SECONDS } else { 0.1 })
    }

    fn notes_scripts(&self) -> bool {
        true
    }

    fn list(&self, scratch: &Path) -> Request {
        self.shimmed(scratch, "items.txt")
    }

    /// Parses the list, which has one JSON string per line.
    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let none = || HarnessError::NoBenchmark { said: error_message(reply) };
        if !reply.success {
            return Err(none());
        }
        // A script that runs no benchmark writes no file.
        let bytes = reply.bytes().map_err(|_| none())?;
        let names: Result<Vec<String>, _> =
            String::from_utf8_lossy(&bytes).lines().map(serde_json::from_str).collect();
        if names.as_ref().is_ok_and(Vec::is_empty) {
            return Err(none());
        }
        names.map_err(|error| HarnessError::Garbage {
            harness: self.library,
            why: error.to_string(),
            said: error_message(reply),
        })
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        let request = self.shimmed(scratch, "result.assay").env("ASSAY_JS_ITEM", benchmark);
        match effort {
            Effort::Seconds(seconds) => request.env("ASSAY_JS_SECONDS", seconds.to_string()),
            Effort::Iterations(count) => {
                request.env("ASSAY_JS_ITERATIONS", count.max(1).to_string())
            }
            Effort::Counted(count) => request
                .env("ASSAY_JS_ITERATIONS", count.max(1).to_string())
                .env("ASSAY_JS_COLD", "1"),
            Effort::Once => request.env("ASSAY_JS_ITERATIONS", "1").env("ASSAY_JS_COLD", "1"),
        }
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        match imported(reply, self.library) {
            Ok(samples) => Ok(readings(&samples).into_iter().map(without_cpus).collect()),
            // The answer is missing if the script failed or has no benchmark of this name.
            Err(HarnessError::NoAnswer { path, source, .. }) => {
                Err(HarnessError::NoAnswer { path, source, said: error_message(reply) })
            }
            Err(error) => Err(error),
        }
    }
}

/// Moves the number of busy CPUs from the metrics to its own field.
fn without_cpus(mut reading: Reading) -> Reading {
    let is_busy = |(metric, _): &mut (Metric, f64)| metric.name == BUSY;
    reading.busy_cpus = reading.values.extract_if(.., is_busy).last().map(|(_, value)| value);
    reading
}

/// Returns the first line with the class of an exception, as printed above a trace. Otherwise it
/// returns the last line.
fn error_message(reply: &Reply) -> Option<String> {
    message_line(&reply.errors, &reply.output, |line| {
        line.split_once(": ").is_some_and(|(class, _)| class.ends_with("Error"))
            || line.contains("Error [ERR_")
    })
}

/// Driver for `vitest bench`.
#[derive(Debug)]
struct Vitest;

/// Recognizes vitest by the command line.
pub(crate) fn looks_like_vitest(program: &Program) -> Option<Box<dyn Driver>> {
    let names = |word: &std::ffi::OsString| {
        Path::new(word).file_name().is_some_and(|name| name == "vitest" || name == "vitest.mjs")
    };
    (program.words.iter().any(names) && program.has_word("bench")).then(|| vitest(program))
}

/// Creates the driver for any command that passes its last arguments to vitest.
pub(crate) fn vitest(_program: &Program) -> Box<dyn Driver> {
    Box::new(Vitest)
}

impl Vitest {
    fn all(scratch: &Path) -> Request {
        let (answer, reporter) = (scratch.join("result.assay"), scratch.join("assay_vitest.mjs"));
        Request::with(["--run".into(), format!("--reporter={}", reporter.display())])
            .env("ASSAY_JS_ANSWER", answer.display().to_string())
            .file(reporter, REPORTER)
            .answered_in(Answer::File(answer))
    }
}

impl Driver for Vitest {
    fn name(&self) -> String {
        VITEST.to_owned()
    }

    fn isolates(&self) -> bool {
        false
    }

    fn pins(&self) -> bool {
        false
    }

    fn list(&self, scratch: &Path) -> Request {
        Self::all(scratch)
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        Ok(self.read(reply)?.into_iter().map(|reading| reading.benchmark).collect())
    }

    fn measure(&self, _benchmark: &str, _effort: Effort, scratch: &Path) -> Request {
        Self::all(scratch)
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        Ok(readings(&imported_or_said(reply, VITEST, || error_message(reply))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn look(words: &[&str]) -> Program {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Program::look(&words, Path::new("/usr/bin/env"))
    }

    #[test]
    fn a_script_is_known_by_what_it_imports_and_vitest_by_its_words() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("bench.mjs");
        let path = script.to_str().unwrap();
        for (text, library) in [
            ("import { Bench } from 'tinybench';", "tinybench"),
            ("const { bench } = await import(\"mitata\")", "mitata"),
        ] {
            std::fs::write(&script, text).unwrap();
            for words in
                [&["node", path][..], &["npx", "tsx", path], &["node", "--expose-gc", path]]
            {
                let driver = crate::by_looks(&look(words)).unwrap();
                assert_eq!(driver.name(), library);
            }
        }
        assert!(crate::by_looks(&look(&["ruby", path])).is_none());
        let vitest = look(&["npx", "vitest", "bench", "src"]);
        assert_eq!(crate::by_looks(&vitest).unwrap().name(), "vitest");
        assert!(crate::by_looks(&look(&["npx", "vitest", "run"])).is_none());
    }

    #[test]
    fn the_module_stands_in_an_option_that_survives_blanks() {
        let request = Script { library: MITATA }.measure("a b", Effort::Once, Path::new("/a b/ü"));
        let option = "--import=file:///a%20b/%C3%BC/assay_javascript.mjs".to_owned();
        assert_eq!(request.options, [("NODE_OPTIONS".to_owned(), option)]);
        assert!(request.before.is_empty() && request.args.is_empty());
    }
}
