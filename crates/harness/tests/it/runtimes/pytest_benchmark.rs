//! A directory of tests with pytest-benchmark.

use crate::runtimes::support::{Subject, all_in_turns, in_turns, installed, value};
use assay_harness::executed::{SourceLine, executed_by_each};
use assay_harness::{Effort, by_looks};
use std::collections::BTreeSet;
use std::path::Path;

const NAMES: [&str; 5] = [
    "python/bench/test_sums.py::test_total[10]",
    "python/bench/test_sums.py::test_total[1000]",
    "python/bench/test_sums.py::test_sorted",
    "python/bench/test_sums.py::test_sorted_once",
    "python/bench/test_sums.py::TestMore::test_broken",
];

#[test]
fn a_directory_is_listed_and_its_tests_measured_one_by_one() {
    let Some(python) = installed("python/bin/python3") else { return };
    let tests =
        Subject::new(&[&python, "-m", "pytest", "-p", "no:unraisableexception", "python/bench"]);
    let driver = by_looks(&tests.program()).expect("it is pytest");
    assert_eq!(driver.name(), "pytest-benchmark");
    assert!(!driver.pins());
    assert_eq!(tests.list(&*driver), NAMES);

    let once = tests.measure(&*driver, NAMES[1], Effort::Once);
    assert_eq!(once.iterations, Some(1.0));
    let some = tests.measure(&*driver, NAMES[0], Effort::Seconds(0.05));
    assert_eq!(some.parameters, [("count".to_owned(), "10".into())]);
    let calls = some.iterations.expect("calls");
    assert!((10.0..1e7).contains(&calls), "{calls}");
    assert!(value(&some, "wall") > 0.0);
    // Its name is a prefix of another one.
    tests.measure(&*driver, NAMES[2], Effort::Seconds(0.01));
    let given = tests.measure(&*driver, NAMES[3], Effort::Seconds(0.01));
    assert_eq!(given.iterations, Some(30.0));
    let broken = tests.measure(&*driver, NAMES[4], Effort::Once);
    let error = broken.error.expect("a division by zero");
    assert!(error.contains("ZeroDivisionError"), "{error}");
    assert!(!crate::runtimes::support::programs().join(".benchmarks").exists());
}

#[test]
fn one_run_shows_what_each_test_executes_like_runs_of_their_own() {
    let Some(python) = installed("python/bin/python3") else { return };
    let tests =
        Subject::new(&[&python, "-m", "pytest", "-p", "no:unraisableexception", "python/bench"]);
    let driver = by_looks(&tests.program()).expect("it is pytest");
    let language = driver.executes().expect("it is Python");
    let reply =
        tests.run(|scratch| language.asking(driver.run_each(scratch).expect("a request"), scratch));
    let each = executed_by_each(tests.scratch());
    // The broken one must run again alone.
    let names: BTreeSet<&str> = each.keys().map(String::as_str).collect();
    assert_eq!(names, NAMES[..4].iter().copied().collect(), "{reply:?}");
    for (name, places) in &each {
        tests.run(|scratch| language.asking(driver.measure(name, Effort::Once, scratch), scratch));
        let own = |places: &[SourceLine]| -> BTreeSet<(String, usize)> {
            let bench = places.iter().filter(|place| place.file.contains("/python/bench/"));
            bench.map(|place| (place.file.clone(), place.line)).collect()
        };
        let alone = language.executed(tests.scratch()).expect("an answer");
        assert_eq!(own(places), own(&alone), "{name}");
        assert!(own(places).iter().any(|(_, line)| *line > 0), "{name}");
    }
}

#[test]
fn settings_that_leave_benchmarks_out_are_overridden() {
    let Some(python) = installed("python/bin/python3") else { return };
    for setting in ["--benchmark-skip", "--benchmark-disable"] {
        let words = [&python, "-m", "pytest", "-p", "no:unraisableexception", "-o"];
        let setting = format!("addopts={setting}");
        let tests = Subject::new(&[&words[..], &[&setting, "python/bench"]].concat());
        let driver = by_looks(&tests.program()).expect("it is pytest");
        assert_eq!(tests.list(&*driver), NAMES);
        let once = tests.measure(&*driver, NAMES[1], Effort::Once);
        assert_eq!((once.error, once.iterations), (None, Some(1.0)), "{setting}");
    }
}

#[test]
fn rounds_are_measured_in_turns() {
    let Some(python) = installed("python/bin/python3") else { return };
    let tests =
        Subject::new(&[&python, "-m", "pytest", "-p", "no:unraisableexception", "python/bench"]);
    let driver = by_looks(&tests.program()).expect("it is pytest");
    assert!(driver.turn_seconds().is_some());
    let (found, turns) = in_turns(&tests, &*driver, NAMES[1], Effort::Seconds(0.05));
    assert!(value(&found, "wall") > 0.0);
    // The harness divides the time into rounds of its own choice.
    assert!((10..=50).contains(&turns), "{turns}");
    // A test that chooses its rounds itself.
    let (given, turns) = in_turns(&tests, &*driver, NAMES[3], Effort::Seconds(0.05));
    assert_eq!((given.iterations, turns), (Some(30.0), 3));
}

#[test]
fn several_tests_in_one_process_take_turns_one_after_the_other() {
    let Some(python) = installed("python/bin/python3") else { return };
    let tests =
        Subject::new(&[&python, "-m", "pytest", "-p", "no:unraisableexception", "python/bench"]);
    let driver = by_looks(&tests.program()).expect("it is pytest");
    let some = [NAMES[1], NAMES[3]];
    let request = |scratch: &Path| {
        driver.measure_several(&some, Effort::Seconds(0.05), scratch).expect("it can do that")
    };
    let (found, turns) = all_in_turns(&tests, &*driver, 2, request);
    assert_eq!(found.iter().map(|own| own.benchmark.as_str()).collect::<Vec<_>>(), some);
    assert!((10..=50).contains(&turns[0]), "{turns:?}");
    assert_eq!((found[1].iterations, turns[1]), (Some(30.0), 3));

    // The other tests of the file are not run, and one that fails spoils no other.
    let with_broken = [NAMES[0], NAMES[4]];
    let reply = tests.run(|scratch| {
        driver.measure_several(&with_broken, Effort::Once, scratch).expect("it can do that")
    });
    let found = driver.read(&reply).expect("readings");
    let works: Vec<_> =
        found.iter().map(|own| (own.benchmark.as_str(), own.has_values())).collect();
    assert_eq!(works, [(NAMES[0], true), (NAMES[4], false)]);
}

#[test]
fn a_program_without_the_plugin_and_a_missing_directory_are_told() {
    let Some(python) = installed("python/bin/python3") else { return };
    for (words, told) in [
        (["-p", "no:benchmark", "python/bench"], "pip install pytest-benchmark"),
        (["-p", "no:unraisableexception", "python/nowhere"], "nowhere"),
    ] {
        let tests = Subject::new(&[&[&python, "-m", "pytest"], &words[..]].concat());
        let driver = by_looks(&tests.program()).expect("it is pytest");
        let reply = tests.run(|scratch| driver.list(scratch));
        let error = driver.listed(&reply).expect_err("nothing to list").to_string();
        assert!(error.contains(told), "{error}");
    }
}
