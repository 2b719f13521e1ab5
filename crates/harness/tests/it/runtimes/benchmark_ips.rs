//! A Ruby script with Debian's benchmark-ips.

use crate::runtimes::support::{Subject, in_turns, value};
use assay_harness::{Effort, Reply, by_looks};

const NAMES: [&str; 6] = ["sum", "loop", "text", "a \"label\"\nü", "sum #2", "broken"];

/// Returns true if Ruby finds the library.
fn is_there() -> bool {
    let found = std::process::Command::new("ruby").args(["-e", "require 'benchmark/ips'"]).output();
    let is_there = found.is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: Ruby has no benchmark-ips; sh scripts/runtimes.sh installs it");
    }
    is_there
}

#[test]
fn a_script_is_listed_and_its_items_measured_one_by_one() {
    if !is_there() {
        return;
    }
    let script = Subject::new(&["ruby", "ruby/items.rb"]);
    let driver = by_looks(&script.program()).expect("it requires the library");
    assert_eq!(driver.name(), "benchmark-ips");
    assert_eq!(script.list(&*driver), NAMES);
    // Its first block calls `compare!`.
    assert_eq!(driver.compared(), [&NAMES[..4]]);

    let once = script.measure(&*driver, NAMES[0], Effort::Once);
    assert_eq!(once.iterations, Some(1.0));
    let calibrated = script.measure(&*driver, NAMES[1], Effort::Seconds(0.05));
    let count = calibrated.iterations.expect("iterations");
    // One iteration of the loop takes between 1 ns and 10 µs.
    assert!((5e3..5e7).contains(&count), "{count}");
    for name in [NAMES[2], NAMES[3], NAMES[4]] {
        let pinned = script.measure(&*driver, name, Effort::Iterations(500));
        assert_eq!(pinned.iterations, Some(500.0));
        assert!(value(&pinned, "wall") > 0.0 && value(&pinned, "cpu") > 0.0);
    }
    // `[1, 2, 3].map(&:to_s)` makes two arrays and at most three strings, and counting them makes
    // none.
    let mapped = script.measure(&*driver, NAMES[4], Effort::Iterations(1000));
    let objects = value(&mapped, "allocated_objects");
    assert!((2.0..=5.0).contains(&objects) && objects.fract() == 0.0, "{objects}");
    let broken = script.measure(&*driver, NAMES[5], Effort::Once);
    assert_eq!(broken.error.as_deref(), Some("ArgumentError: not today"));
}

#[test]
fn iterations_are_measured_in_turns() {
    if !is_there() {
        return;
    }
    let script = Subject::new(&["ruby", "ruby/items.rb"]);
    let driver = by_looks(&script.program()).expect("it requires the library");
    script.list(&*driver);
    let (found, turns) = in_turns(&script, &*driver, NAMES[4], Effort::Iterations(1003));
    assert_eq!((turns, found.iterations), (5, Some(1003.0)));
    // The sum over all turns, as in `a_script_is_listed_and_its_items_measured_one_by_one`.
    assert!((2.0..=5.0).contains(&value(&found, "allocated_objects")), "{found:?}");
    assert!(found.busy_cpus.is_some_and(|busy| busy > 0.0 && busy < 1.5), "{found:?}");
    let (few, turns) = in_turns(&script, &*driver, NAMES[0], Effort::Iterations(2));
    assert_eq!((turns, few.iterations), (2, Some(2.0)));
}

#[test]
fn an_item_is_measured_after_its_warm_up_and_counted_without() {
    if !is_there() {
        return;
    }
    let script = Subject::new(&["ruby", "ruby/warming.rb"]);
    let driver = by_looks(&script.program()).expect("it requires the library");
    assert_eq!(script.list(&*driver), ["warmed up", "cold"]);
    assert!(driver.compared().is_empty());
    // Its first 40 calls burn 4 ms each, later ones 0.4 ms. The first run detects that.
    for effort in [Effort::Seconds(0.02), Effort::Iterations(5)] {
        let warm = script.measure(&*driver, "warmed up", effort);
        assert!((0.0004..0.002).contains(&value(&warm, "cpu")), "{warm:?}");
        assert!(!warm.is_cold);
    }
    let counted = script.measure(&*driver, "warmed up", Effort::Counted(5));
    assert!(counted.iterations == Some(5.0) && value(&counted, "cpu") >= 0.004, "{counted:?}");
    let cold = script.measure(&*driver, "cold", Effort::Seconds(0.02));
    assert!(cold.is_cold, "{cold:?}");
}

#[test]
fn a_script_that_something_else_starts_is_measured_by_a_variable() {
    if !is_there() {
        return;
    }
    let script = Subject::new(&["env", "LANG=C.UTF-8", "ruby", "ruby/items.rb"]);
    let driver = by_looks(&script.program()).expect("it requires the library");
    assert_eq!(script.list(&*driver), NAMES);
    let pinned = script.measure(&*driver, NAMES[3], Effort::Iterations(50));
    assert_eq!(pinned.iterations, Some(50.0));
}

#[test]
fn an_item_that_is_not_there_and_a_script_that_fails_are_told() {
    if !is_there() {
        return;
    }
    let script = Subject::new(&["ruby", "ruby/items.rb"]);
    let driver = by_looks(&script.program()).expect("it requires the library");
    let reply = script.run(|scratch| driver.measure("sum #3", Effort::Once, scratch));
    assert!(driver.read(&reply).is_err());
    let other = Subject::new(&["ruby", "-r", "./nowhere", "ruby/items.rb"]);
    let reply: Reply = other.run(|scratch| driver.list(scratch));
    let error = driver.listed(&reply).expect_err("it does not start").to_string();
    assert!(error.contains("LoadError"), "{error}");
}
