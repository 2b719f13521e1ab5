//! A JMH jar.

use crate::runtimes::support::{Subject, installed, value};
use assay_harness::{Effort, by_looks};

const TOTAL: &str = "sums.Sums.total kind=a b size=10";

#[test]
fn a_jar_is_recognised_listed_and_measured() {
    let Some(jar) = installed("jmh/sums.jar") else { return };
    // JMH allows only one instance on a machine at a time, but other tests may run one as well.
    let jar = Subject::new(&["java", "-Djmh.ignoreLock=true", "-jar", &jar]);
    let driver = by_looks(&jar.program()).expect("it has a list of benchmarks");
    assert_eq!(driver.name(), "JMH");
    assert!(!driver.pins());
    let mut names = jar.list(&*driver);
    names.sort();
    assert_eq!(
        names,
        [
            "sums.Sums.broken",
            "sums.Sums.fixed",
            "sums.Sums.fixedInThreeModes",
            "sums.Sums.fixedInTwoThreads",
            TOTAL,
            "sums.Sums.total kind=a b size=1000",
            "sums.Sums.total kind=int size=10",
            "sums.Sums.total kind=int size=1000",
        ]
    );

    let total = jar.measure(&*driver, TOTAL, Effort::Seconds(0.02));
    assert!(value(&total, "rate") > 0.0);
    // Its name is a prefix of others.
    let fixed = jar.measure(&*driver, "sums.Sums.fixed", Effort::Seconds(0.02));
    assert!(value(&fixed, "wall") > 0.0);
    let modes = jar.measure(&*driver, "sums.Sums.fixedInThreeModes", Effort::Seconds(0.02));
    assert!(value(&modes, "rate") > 0.0 && value(&modes, "wall (ss)") > 0.0);
    let threads = jar.measure(&*driver, "sums.Sums.fixedInTwoThreads", Effort::Once);
    assert!(value(&threads, "wall") > 0.0);
    let broken = jar.measure(&*driver, "sums.Sums.broken", Effort::Once);
    let error = broken.error.expect("it throws");
    assert!(error.contains("not today"), "{error}");
}
