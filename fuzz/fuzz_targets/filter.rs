//! The first line is a `--filter`, the second keys of `--row`, the third keys of `--col`; all of them are tried on a small suite.
#![no_main]

use assay_data::Samples;
use assay_data::import::{ImportOptions, load_bytes};
use assay_data::select::{Filter, Key, project};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const SUITE: &str = "goos: linux
BenchmarkSort/format=json/n=8-2 100 12.5 ns/op 3 B/op
BenchmarkSort/format=json/n=64-2 100 99.5 ns/op 3 B/op
BenchmarkSort/format=text/n=8-2 100 8.25 ns/op
BenchmarkCopy-2 100 1.5 ns/op 10.5 MB/s
";

static READ: LazyLock<Samples> =
    LazyLock::new(|| load_bytes(SUITE.into(), "suite", &ImportOptions::default()).expect("what Go prints"));

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let mut line = || lines.next().unwrap_or_default();
    let (query, row, col) = (line(), line(), line());
    match query.parse::<Filter>() {
        Ok(filter) => {
            assert_eq!(filter.to_string().parse::<Filter>().as_ref(), Ok(&filter));
            let mut left = READ.clone();
            match filter.apply(&mut left) {
                Ok(()) => check(&left, Some(&filter)),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control), "{error:?}"),
    }
    let keys = |line: &str| line.split(',').map(str::parse).collect::<Result<Vec<Key>, _>>();
    let (Ok(row), Ok(col)) = (keys(row), keys(col)) else { return };
    let mut table = READ.clone();
    if project(&mut table, &row, &col).is_ok() {
        check(&table, None);
    }
});

/// Every remaining subject is measured for at least one metric, and compared with a remaining one.
fn check(samples: &Samples, filter: Option<&Filter>) {
    assert!(!samples.subjects.is_empty() && !samples.metrics.is_empty());
    for subject in &samples.subjects {
        let wanted = |filter: &Filter| samples.metrics.iter().any(|metric| filter.accepts(samples, subject, metric));
        assert!(filter.is_none_or(wanted));
        assert!(subject.against.is_none_or(|against| against < samples.subjects.len()));
    }
    for observation in samples.observations() {
        assert!(observation.subject < samples.subjects.len());
        assert_eq!(observation.values.len(), samples.metrics.len());
    }
}
