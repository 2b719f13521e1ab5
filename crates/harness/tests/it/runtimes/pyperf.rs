//! A script with a pyperf runner.

use crate::runtimes::support::{Subject, installed, value};
use assay_harness::{Effort, Reply, by_help, by_looks, question};

const NAMES: [&str; 4] = ["sum of 100", "sum of 100000", "ten sums of 100", "sort"];

#[test]
fn a_script_is_recognised_listed_and_measured() {
    let Some(python) = installed("python/bin/python3") else { return };
    let script = Subject::new(&[&python, "python/sums.py"]);
    let driver = by_looks(&script.program()).expect("it makes a runner");
    assert_eq!(driver.name(), "pyperf");
    assert_eq!(script.list(&*driver), NAMES);

    let once = script.measure(&*driver, NAMES[1], Effort::Once);
    assert_eq!(once.iterations, Some(1.0));
    let calibrated = script.measure(&*driver, NAMES[0], Effort::Seconds(0.01));
    let loops = calibrated.iterations.expect("loops");
    // A sum of a hundred takes microseconds, on any machine between 10 ns and 1 ms.
    assert!((10.0..1e6).contains(&loops), "{loops}");
    assert!(value(&calibrated, "wall") * loops >= 0.009);
    let pinned = script.measure(&*driver, NAMES[0], Effort::Iterations(777));
    assert_eq!(pinned.iterations, Some(777.0));
    assert!(value(&pinned, "wall") > 0.0);
    assert!(value(&pinned, "max_rss") > 1e6);
    let tens = script.measure(&*driver, NAMES[2], Effort::Iterations(500));
    assert_eq!(tens.iterations, Some(500.0));
}

#[test]
fn its_help_is_known_where_its_looks_are_not() {
    let Some(python) = installed("python/bin/python3") else { return };
    let script = Subject::new(&[&python, "python/sums.py"]);
    let help = script.run(|_| question());
    assert_eq!(by_help(&script.program(), &help).expect("its help").name(), "pyperf");
    assert!(by_help(&script.program(), &Reply::default()).is_none());
}

#[test]
fn a_benchmark_that_fails_fails_the_list_with_its_words() {
    let Some(python) = installed("python/bin/python3") else { return };
    let script = Subject::new(&[&python, "python/broken.py"]);
    let driver = by_looks(&script.program()).expect("it makes a runner");
    let reply = script.run(|scratch| driver.list(scratch));
    let error = driver.listed(&reply).expect_err("a division by zero").to_string();
    assert!(error.contains("ZeroDivisionError"), "{error}");
}
