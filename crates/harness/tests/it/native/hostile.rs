//! A program may answer anything: no driver panics, even for a different harness.

use assay_harness::{Answer, Effort, Program, Reply, by_help, by_name, by_output, names};
use proptest::prelude::*;
use std::path::Path;

/// Pieces from which answers are made, torn and joined again.
const PIECES: &[&str] = &[
    "BenchmarkA-2",
    "BenchmarkA/b-",
    "\t",
    " 100",
    " 5.5 ns/op",
    "--- FAIL: ",
    "    x.go:1: é",
    "\n",
    "FAIL",
    "PASS",
    "panic: ",
    "d  fastest │ slowest │ median │ mean │ samples │ iters",
    "├─ ",
    "╰─ ",
    "│  ",
    "1.5 µs │ ",
    "t=2",
    "12",
    "Testing a",
    "Success",
    "a: benchmark",
    "<BenchmarkResults name=\"a\" samples=\"9",
    "\" resamples=\"1\" iterations=\"",
    "99999999999999999999",
    "\">",
    "<mean value=\"1\"/>",
    "</BenchmarkResults>",
    "<Catch name=\"",
    "</Catch>",
    "\"",
    "{",
    "\"results\": [",
    "\u{0}",
    "é",
];

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..40);
    prop_oneof![pieces.prop_map(|pieces| pieces.concat()), any::<String>()]
}

proptest! {
    #[test]
    fn no_answer_makes_a_driver_fall_over(
        output in text(),
        errors in text(),
        in_file in any::<bool>(),
        success in any::<bool>(),
    ) {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("result");
        std::fs::write(&file, &output).unwrap();
        let answer = if in_file { Answer::File(file) } else { Answer::Output };
        let (output, errors) = (output.into_bytes(), errors.into_bytes());
        let reply = Reply { output, errors, success, answer, own: Vec::new() };
        let program = Program::look(&["/x".into()], Path::new("/x"));
        for name in names() {
            let driver = by_name(name, &program).unwrap();
            let listed = driver.listed(&reply);
            let _ = driver.read(&reply);
            prop_assert!(listed.is_err() || !listed.unwrap().is_empty(), "{} lists nothing", name);
        }
        let _ = (by_help(&program, &reply), by_output(&reply));
    }

    #[test]
    fn any_name_can_be_asked_for(name in text(), count in any::<u64>(), seconds in any::<f64>()) {
        let program = Program::look(&["/x".into()], Path::new("/x"));
        for harness in names() {
            let driver = by_name(harness, &program).unwrap();
            for effort in [Effort::Iterations(count), Effort::Seconds(seconds), Effort::Once] {
                let _ = driver.measure(&name, effort, Path::new("/s"));
            }
        }
    }
}
