//! Output that no harness would print.

use assay_harness::{Answer, Driver, Effort, Kind, Program, Reply, by_looks};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// Returns drivers for programs that look like those of each harness.
fn drivers() -> Vec<Box<dyn Driver>> {
    let looks = |word: &str, kind, text: &str| {
        let file = PathBuf::from("x");
        let program = Program { words: vec![word.into()], file, kind, text: text.to_owned() };
        by_looks(&program).expect("it looks so")
    };
    vec![
        looks("python3", Kind::Script, "import pyperf\nrunner = pyperf.Runner()"),
        looks("pytest", Kind::Other, ""),
        looks("ruby", Kind::Script, "require 'benchmark/ips'"),
        looks("java", Kind::Archive, "META-INF/BenchmarkList\n"),
    ]
}

/// Pieces of harnesses' output.
const PIECES: [&str; 22] = [
    "\n",
    " ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ": ",
    ", ",
    "(",
    ")",
    "é",
    "a::b",
    "Benchmarks: \n",
    "  param \"x\" = {",
    "# Benchmark: ",
    "# Parameters: (",
    "<failure>\n",
    " (fixtures used: benchmark",
    "FAILED ",
    "\"benchmarks\": [",
    "1e999",
];

proptest! {
    #[test]
    fn garbled_answers_are_errors_or_readings_and_never_a_panic(
        said in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40),
        success: bool,
    ) {
        let text = said.concat();
        for driver in drivers() {
            let reply = Reply { output: text.clone().into(), errors: text.clone().into(), success, answer: Answer::Output, own: Vec::new() };
            if let Ok(names) = driver.listed(&reply) {
                prop_assert!(!names.is_empty());
                for name in names {
                    driver.measure(&name, Effort::Seconds(0.1), Path::new("/scratch"));
                }
            }
            if let Ok(readings) = driver.read(&reply) {
                prop_assert!(!readings.is_empty());
            }
            driver.debug_build(&reply);
        }
    }
}

#[test]
fn a_file_that_was_not_left_is_an_error_with_the_last_words() {
    for driver in drivers() {
        let answer = Answer::File("/nowhere/at/all".into());
        let reply = Reply { errors: b"Killed\n".to_vec(), answer, ..Reply::default() };
        let error = driver.read(&reply).expect_err("no file").to_string();
        assert!(error.contains("left no result") && error.contains("Killed"), "{error}");
        assert!(driver.listed(&reply).is_err());
    }
}
