//! Catch2, version 2 or 3, whichever is installed.

use crate::native::tool::{Tool, built, is_newer, sources, value};
use assay_harness::{Effort, HarnessError, Program, by_help, question};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

const NAMES: [&str; 4] = [
    "sums, of [all] kinds: of 1000",
    "sums, of [all] kinds: large: of \"9000\"",
    "hidden: vector",
    "hidden: throws",
];

fn tool() -> Option<Tool> {
    static BUILT: OnceLock<bool> = OnceLock::new();
    let program = built("sums_catch2");
    BUILT.get_or_init(|| build(&program)).then(|| Tool::recognised(&program))
}

fn build(program: &Path) -> bool {
    let source = sources("sums_catch2.cpp");
    if is_newer(program, &source) {
        return true;
    }
    // Version 3 is a library; version 2 is a header.
    let libraries: [&[&str]; 2] = [&["-lCatch2Main", "-lCatch2"], &[]];
    let mut said = String::new();
    for libraries in libraries {
        let mut command = Command::new("c++");
        command.args(["-std=c++17", "-o"]).arg(program).arg(&source).args(libraries);
        let Ok(output) = command.output() else {
            println!("skipped: there is no `c++` here");
            return false;
        };
        if output.status.success() {
            return true;
        }
        said = String::from_utf8_lossy(&output.stderr).into_owned();
        if said.contains("there is no Catch2") {
            println!("skipped: there is no Catch2 here");
            return false;
        }
    }
    panic!("{said}");
}

#[test]
fn benchmarks_are_listed_by_test_case_and_section_hidden_ones_too() {
    let Some(tool) = tool() else { return };
    assert!(tool.driver.name().starts_with("Catch2 "));
    assert!(!tool.driver.isolates() && !tool.driver.pins());
    assert_eq!(tool.list(&[]).unwrap(), NAMES);
}

#[test]
fn a_run_measures_all_of_them_at_every_effort() {
    let Some(tool) = tool() else { return };
    for effort in [Effort::Once, Effort::Seconds(0.02)] {
        let found = tool.measure(NAMES[0], effort, &[]).unwrap();
        let names: Vec<_> = found.iter().map(|reading| reading.benchmark.as_str()).collect();
        assert_eq!(names, NAMES);
        for reading in &found {
            assert!(value(reading, "wall").unwrap() > 0.0, "{reading:?}");
            assert!(reading.iterations.unwrap() >= 1.0);
        }
    }
}

#[test]
fn words_of_the_user_say_which_test_cases_run() {
    let Some(tool) = tool() else { return };
    let words = vec![tool.words[0].clone(), "[sum]".into()];
    let program = Program::look(&words, Path::new(&tool.words[0]));
    let help = crate::native::tool::run(&words, &question(), &[]);
    let driver = by_help(&program, &help).unwrap();
    assert_eq!(Tool { words, driver }.list(&[]).unwrap(), NAMES[..2]);
    let words = vec![tool.words[0].clone(), "a plain test".into()];
    let program = Program::look(&words, Path::new(&tool.words[0]));
    let driver = by_help(&program, &help).unwrap();
    let none = Tool { words, driver }.list(&[]);
    assert!(matches!(none, Err(HarnessError::NoBenchmark { .. })));
}

#[test]
fn a_benchmark_that_throws_keeps_its_words_and_the_others_their_times() {
    let Some(tool) = tool() else { return };
    let broken = [("SUMS_BROKEN", "1")];
    assert_eq!(tool.list(&broken).unwrap(), NAMES);
    let found = tool.measure(NAMES[3], Effort::Once, &broken).unwrap();
    assert!(found[3].error.as_deref().unwrap().contains("no luck today"), "{found:?}");
    assert!(found[..3].iter().all(|reading| reading.iterations.is_some()));
}
