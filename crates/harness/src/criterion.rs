//! Driver for criterion (Rust). It uses `--list`, a filter that is an anchored regular expression,
//! and the files that criterion writes to `CRITERION_HOME`.
//!
//! criterion has no option for the number of iterations: it estimates one from its warm-up. The
//! time of a run is divided between warm-up and measurement. A benchmark group may set its own
//! number of samples, warm-up and time, which override the flags; such benchmarks take as long as
//! their authors specified. Plots are turned off. The resampling is kept short, since its result is
//! not used. For the least effort, criterion's quick mode is used, which needs only one to three
//! iterations. Versions before 0.4 do not have this mode and take about fifty iterations.

use crate::driver::{Driver, Effort, Request};
use crate::error::HarnessError;
use crate::program::{Kind, Program};
use crate::reading::{Reading, imported_or_said, readings};
use crate::reply::{Answer, Reply};
use crate::rust;
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "criterion";

const HARNESS: &str = "criterion";

/// Fraction of a run's time that is spent on the warm-up. criterion estimates the number of
/// iterations from it.
const WARM_UP: f64 = 0.2;

/// Minimum time of a run, in seconds. criterion rejects times below a nanosecond.
const SHORTEST: f64 = 1e-6;

/// A program linked with criterion.
#[derive(Debug)]
struct Criterion {
    /// True if the program accepts `--quick`.
    has_quick: bool,
    /// The flag `--bench`; `None` if the user already gave it.
    bench_flag: Option<&'static str>,
    /// Message that the program was built without optimization, if so.
    debug_build: Option<String>,
}

/// Environment variable that criterion reads. An executable linked with criterion contains this
/// name, even if stripped.
const HOME: &str = "CRITERION_HOME";

/// Part of criterion 0.5's answer to `--help`, which that version does not support (criterion.rs,
/// issue 702).
const WITHOUT_HELP: &str = "unexpected argument found";

/// Recognizes the harness by the program's help text. If the program has none, the contents of its
/// executable are searched.
pub(crate) fn recognise(program: &Program, help: &str) -> Option<Box<dyn Driver>> {
    let is = ["--measurement-time", "--warm-up-time", "--nresamples", "--save-baseline"]
        .iter()
        .all(|flag| help.contains(flag));
    let has_none = || help.contains(WITHOUT_HELP) && mentions_its_home(program);
    let has_quick = if is { help.contains("--quick") } else { has_none().then_some(true)? };
    Some(Box::new(Criterion { has_quick, ..of(program) }))
}

fn mentions_its_home(program: &Program) -> bool {
    let bytes = match program.kind {
        Kind::Executable => std::fs::read(&program.file).unwrap_or_default(),
        Kind::Script | Kind::Archive | Kind::Other => Vec::new(),
    };
    bytes.windows(HOME.len()).any(|window| window == HOME.as_bytes())
}

/// Creates the driver for a program whose harness was chosen by the user.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    Box::new(of(program))
}

fn of(program: &Program) -> Criterion {
    Criterion {
        has_quick: false,
        bench_flag: rust::bench_flag(program),
        debug_build: rust::built_for_debugging(program),
    }
}

impl Driver for Criterion {
    fn name(&self) -> String {
        HARNESS.to_owned()
    }

    fn pins(&self) -> bool {
        false
    }

    fn list(&self, scratch: &Path) -> Request {
        at_home(Request::with(self.bench_flag).arg("--list"), scratch)
    }

    fn own_words(&self, scratch: &Path) -> Option<Request> {
        // This filter matches no benchmark, so that only the program's own output remains.
        Some(self.list(scratch).arg("no benchmark \u{1} has this name"))
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let lines = reply.lines_of_harness();
        let name = |line: &String| {
            let name = line.strip_suffix(": benchmark").or(line.strip_suffix(": bench"))?;
            Some(name.to_owned())
        };
        let names: Vec<String> = lines.iter().filter_map(name).collect();
        if !reply.success || names.is_empty() {
            return Err(HarnessError::NoBenchmark { said: rust::error_message(reply) });
        }
        Ok(names)
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        let mut request = Request::with(self.bench_flag).arg("--noplot");
        let of_time = |seconds: f64| {
            vec![
                ("--warm-up-time", format!("{:.9}", seconds * WARM_UP)),
                ("--measurement-time", format!("{:.9}", seconds * (1.0 - WARM_UP))),
                ("--sample-size", "10".to_owned()),
            ]
        };
        let flags = match effort {
            Effort::Seconds(seconds) => of_time(seconds.max(SHORTEST)),
            Effort::Once | Effort::Iterations(_) | Effort::Counted(_) if self.has_quick => {
                request = request.arg("--quick");
                vec![("--measurement-time", "0.000000001".to_owned())]
            }
            Effort::Once | Effort::Iterations(_) | Effort::Counted(_) => of_time(SHORTEST),
        };
        for (flag, value) in flags.into_iter().chain([("--nresamples", "1000".to_owned())]) {
            request = request.arg(flag).arg(value);
        }
        let filter = format!("^{}$", regex::escape(benchmark));
        // After `--`, the filter may begin with a dash.
        at_home(request.arg("--").arg(filter), scratch)
            .answered_in(Answer::Directory(scratch.to_path_buf()))
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        imported_or_said(reply, HARNESS, || rust::error_message(reply))
            .map(|samples| readings(&samples))
    }

    fn debug_build(&self, _reply: &Reply) -> Option<String> {
        self.debug_build.clone()
    }
}

fn at_home(request: Request, scratch: &Path) -> Request {
    request.env(HOME, scratch.display().to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;

    const DRIVER: Criterion =
        Criterion { has_quick: false, bench_flag: Some("--bench"), debug_build: None };

    fn reply(output: &str, success: bool) -> Reply {
        Reply { output: output.as_bytes().to_vec(), success, ..Reply::default() }
    }

    #[test]
    fn the_list_is_names_with_whatever_stands_between() {
        let listed = DRIVER.listed(&reply("a: benchmark\n\ng/b: c: benchmark\nhello\n", true));
        assert_eq!(listed.unwrap(), ["a", "g/b: c"]);
        // Versions before 0.4 print the list in this form.
        assert_eq!(DRIVER.listed(&reply("a: bench\n", true)).unwrap(), ["a"]);
        for (output, success) in [("", true), ("a: benchmark\n", false), ("usage\n", true)] {
            let listed = DRIVER.listed(&reply(output, success));
            assert!(matches!(listed, Err(HarnessError::NoBenchmark { .. })), "{output}");
        }
    }

    #[test]
    fn one_without_help_is_known_by_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bench-0123");
        let recognised = |file: &[u8], said: &str| {
            std::fs::write(&path, file).unwrap();
            let program = Program::look(&[path.clone().into()], &path);
            recognise(&program, said).is_some()
        };
        let refused = "\nerror: unexpected argument found\n";
        assert!(recognised(b"\x7fELF\0\0CRITERION_HOME\0", refused));
        assert!(!recognised(b"\x7fELF\0\0CRITERION_HOME\0", "Usage: tool\n"));
        assert!(!recognised(b"\x7fELF\0\0something else\0", refused));
        assert!(!recognised(b"#!/bin/sh\necho CRITERION_HOME\n", refused));
    }

    #[test]
    fn a_name_is_held_against_the_whole_name_and_a_time_is_divided() {
        let request = DRIVER.measure("g/a (b)", Effort::Seconds(0.1), Path::new("/s"));
        let args: Vec<_> = request.args.iter().map(|arg| arg.to_str().unwrap()).collect();
        assert_eq!(
            args[2..6],
            ["--warm-up-time", "0.020000000", "--measurement-time", "0.080000000"]
        );
        assert_eq!(args[args.len() - 2..], ["--", r"^g/a \(b\)$"]);
        assert_eq!(request.env, [("CRITERION_HOME".to_owned(), "/s".to_owned())]);
    }

    #[test]
    fn the_least_is_its_quick_mode_where_it_has_one() {
        let quick = |has_quick, effort| {
            let request = Criterion { has_quick, ..DRIVER }.measure("a", effort, Path::new("/s"));
            request.args.iter().any(|arg| arg == "--quick")
        };
        assert!(quick(true, Effort::Once));
        assert!(!quick(false, Effort::Once));
        assert!(!quick(true, Effort::Seconds(0.1)));
    }

    #[test]
    fn a_directory_without_samples_is_an_error_that_repeats_the_panic() {
        let scratch = tempfile::tempdir().unwrap();
        let mut reply = reply("Testing a\n", false);
        reply.answer = Answer::Directory(scratch.path().to_path_buf());
        reply.errors = b"thread 'main' panicked at a.rs:1:1:\nno luck\nnote: more\n".to_vec();
        let error = DRIVER.read(&reply).unwrap_err().to_string();
        assert!(error.ends_with("it said: `no luck`"), "{error}");
        std::fs::create_dir_all(scratch.path().join("a/new")).unwrap();
        std::fs::write(scratch.path().join("a/new/sample.json"), "{\"iters\":[1").unwrap();
        assert!(matches!(DRIVER.read(&reply), Err(HarnessError::Garbage { .. })));
    }
}
