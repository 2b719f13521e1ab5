//! Reads arbitrary bytes as a program's sample output. Every line is a value, a mark, a declaration
//! or a problem. Values are finite and named, and messages contain no terminal control sequences.
#![no_main]

use assay_data::protocol::{MAX_METRICS, MAX_PROBLEMS, parse};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;

fuzz_target!(|bytes: &[u8]| {
    let report = parse(bytes);
    let lines = bytes.iter().filter(|&&b| b == b'\n').count() + 1;
    assert!(report.given.len() <= MAX_METRICS);
    for given in &report.given {
        assert!(!given.values.is_empty() && given.values.iter().all(|value| value.is_finite()));
        let _ = given.reading();
    }
    let names: BTreeSet<_> = report.given.iter().map(|given| &given.metric.name).collect();
    assert_eq!(names.len(), report.given.len());
    assert!(report.problems.len() <= MAX_PROBLEMS);
    assert!(report.more_problems == 0 || report.problems.len() == MAX_PROBLEMS);
    for problem in &report.problems {
        assert!((1..=lines).contains(&problem.line));
        assert!(!problem.what.contains(char::is_control));
    }
});
