//! Compares the crate with R: every expected value in `tests/data/oracle` (see the README there),
//! and in the directory named by the environment variable `ASSAY_TEST_DATA`, if set. Differences in
//! the data are A − B, so B is the first sample here.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop, and says how much it compared"
)]

mod bootstrap;
mod k_sample;
mod ledger;
mod meta_analysis;
mod one_sample;
mod power;
mod shape;
mod two_sample;

use ledger::Ledger;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// The check of one module of this test; returns false for functions of other modules.
type Room = fn(&mut Ledger, &str, &[Vec<f64>], &Value) -> bool;

const ROOMS: [Room; 7] = [
    one_sample::check,
    two_sample::check,
    k_sample::check,
    shape::check,
    bootstrap::check,
    power::check,
    meta_analysis::check,
];

/// Cases of the larger set whose series are only in archives.
const IN_ARCHIVES: [&str; 5] = [
    "jb4_array_us_20000",
    "jb4_array_us_20000|jb4_map_us_20000",
    "jb4_map_us_20000",
    "jb5ni_array_us_60000",
    "jb5ni_map_us_60000",
];

/// A series with its own file.
fn in_text(directory: &Path, name: &str) -> Option<Vec<f64>> {
    let text = std::fs::read_to_string(directory.join("data").join(name).with_extension("txt"));
    Some(text.ok()?.lines().map(|line| line.trim().parse().unwrap()).collect())
}

/// A series too long for its own file, read from the archive in which it was published: rows of a
/// name and whole nanoseconds, converted to microseconds.
fn in_archive(directory: &Path, name: &str) -> Option<Vec<f64>> {
    let file = match name.split_once('_')?.0 {
        "jb4" => "part4-data.csv.gz",
        "jb5ni" => "part5-data-ni.csv.gz",
        _ => return None,
    };
    let subject = name.split('_').nth(1)?;
    let archive = std::fs::File::open(directory.join("../data/jaybeams").join(file)).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(archive).read_to_string(&mut text).unwrap();
    let rows = text.lines().filter_map(|line| line.split_once(','));
    let of_subject = rows.filter(|(by, _)| *by == subject);
    let values: Vec<f64> = of_subject.map(|(_, ns)| ns.parse::<f64>().unwrap() / 1000.0).collect();
    name.ends_with(&format!("_us_{}", values.len())).then_some(values)
}

/// Compares everything in `expected.json` in `directory` with results for the series next to it.
fn compare(directory: &Path) -> Ledger {
    let text = std::fs::read_to_string(directory.join("expected.json")).unwrap();
    let expected: BTreeMap<String, BTreeMap<String, Value>> =
        serde_json::from_str::<BTreeMap<String, Value>>(&text)
            .unwrap()
            .into_iter()
            .filter(|(case, _)| !case.starts_with('_'))
            .map(|(case, values)| (case, serde_json::from_value(values).unwrap()))
            .collect();
    let mut known: BTreeMap<String, Option<Vec<f64>>> = BTreeMap::new();
    let mut series = |name: &str| -> Option<Vec<f64>> {
        let read = || in_text(directory, name).or_else(|| in_archive(directory, name));
        known.entry(name.to_owned()).or_insert_with(read).clone()
    };
    let mut ledger = Ledger::default();
    let mut unknown = BTreeSet::new();
    for (case, functions) in &expected {
        ledger.case.clone_from(case);
        // A case without a data set has its input next to the expected values.
        let names = if case.contains(':') { "" } else { case.as_str() };
        let names = names.split('|').filter(|name| !name.is_empty());
        let Some(samples) = names.map(&mut series).collect::<Option<Vec<_>>>() else {
            ledger.skipped.push(case.clone());
            continue;
        };
        for (function, values) in functions {
            if !ROOMS.iter().any(|room| room(&mut ledger, function, &samples, values)) {
                unknown.insert(function.clone());
            }
        }
    }
    assert!(unknown.is_empty(), "no room of this test compares {unknown:?}");
    println!("compared {:?}; skipped {:?}", ledger.compared, ledger.skipped);
    ledger
}

/// Fails if any value differs, or if expected data are missing.
fn agree(ledger: &Ledger, at_least: usize, absent: &[&str]) {
    let expected: BTreeSet<&str> = absent.iter().copied().collect();
    let skipped: BTreeSet<&str> = ledger.skipped.iter().map(String::as_str).collect();
    assert_eq!(skipped, expected, "cases without data");
    assert!(ledger.wrong.is_empty(), "{} wrong:\n{}", ledger.wrong.len(), ledger.wrong.join("\n"));
    let total: usize = ledger.compared.values().sum();
    println!("{total} values agree with R");
    assert!(total >= at_least, "only {total} values were compared, expected {at_least}");
}

#[test]
fn everything_agrees_with_r_on_the_series_kept_here() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle");
    agree(&compare(&directory), 9_000, &[]);
}

#[test]
fn everything_agrees_with_r_on_the_larger_set_where_there_is_one() {
    let Some(directory) = std::env::var_os("ASSAY_TEST_DATA") else {
        println!("skipped: ASSAY_TEST_DATA names no directory");
        return;
    };
    let directory = Path::new(&directory);
    let archives = directory.join("data/jaybeams/part4-data.csv.gz").exists();
    let absent: &[&str] = if archives { &[] } else { &IN_ARCHIVES };
    agree(&compare(&directory.join("oracles")), 12_000, absent);
}
