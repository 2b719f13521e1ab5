//! The importers of JSON formats, tested with files written by the real tools: every file is read,
//! and the result is compared with a plain reading of the file.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod benchmark_dotnet;
mod criterion;
mod google;
mod javascript;
mod jmh;
mod nanobench;
mod pyperf;
mod pytest;
mod services;
mod tables;

use assay_data::import::{ImportOptions, load, load_bytes};
use assay_data::{Finding, Samples, Summary};
use proptest::prelude::*;
use serde_json::Value;
use std::path::PathBuf;

/// Returns the path of a file in the collection.
fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn read(name: &str) -> Samples {
    load(&[path(name)], &ImportOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Returns the error for a text that cannot be read.
fn refused(text: impl Into<Vec<u8>>) -> String {
    match load_bytes(text.into(), "x.json", &ImportOptions::default()) {
        Ok(samples) => panic!("it was read: {:?}", samples.subjects),
        Err(error) => error.to_string(),
    }
}

/// Returns the file as plain JSON, with bare words for non-finite numbers removed.
fn plainly(name: &str) -> Value {
    let text = String::from_utf8(bytes(name)).unwrap();
    serde_json::from_str(&text.replace(": NaN", ": null")).unwrap()
}

fn subject(samples: &Samples, name: &str) -> usize {
    let found = samples.subjects.iter().position(|s| s.name == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {:?}", names(samples)))
}

fn values(samples: &Samples, name: &str, metric: &str) -> Vec<f64> {
    let Some(index) = samples.metric_index(metric) else {
        panic!("no `{metric}` in {:?}", metrics(samples))
    };
    samples.values(subject(samples, name), index)
}

fn metrics(samples: &Samples) -> Vec<&str> {
    samples.metrics.iter().map(|m| m.name.as_str()).collect()
}

fn names(samples: &Samples) -> Vec<&str> {
    samples.subjects.iter().map(|s| s.name.as_str()).collect()
}

fn parameters(samples: &Samples, name: &str) -> String {
    let of = &samples.subjects[subject(samples, name)].parameters;
    of.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

fn summary<'a>(samples: &'a Samples, name: &str, metric: &str) -> &'a Summary {
    let subject = subject(samples, name);
    let found = samples.summaries.iter().find(|s| s.subject == subject && s.metric == metric);
    found.unwrap_or_else(|| panic!("no summary of {metric} of {name}"))
}

fn findings<'a>(samples: &'a Samples, code: &str) -> Vec<&'a Finding> {
    samples.findings.iter().filter(|f| f.code == code).collect()
}

/// Prefixes of several lengths, and the whole with a byte changed at many places, give an error or
/// samples, never a panic. A truncated file is never taken for a complete one.
fn survives_damage(name: &str) {
    let whole = bytes(name);
    let text_end = whole.trim_ascii_end().len();
    let options = ImportOptions::default();
    let step = (text_end / 60).max(1);
    for cut in (1..text_end).step_by(step) {
        let read = load_bytes(whole[..cut].to_vec(), name, &options);
        assert!(read.is_err(), "{name} cut to {cut} bytes was read");
    }
    for (turn, at) in (0..text_end).step_by(step).enumerate() {
        let mut changed = whole.clone();
        changed[at] = *b"\"{}[],:-0eEnN\\\xff\0 x"[..].get(turn % 18).unwrap();
        let _ = load_bytes(changed, name, &options);
    }
}

/// The file reads the same with Windows line endings and a byte-order mark, and when compressed.
fn reads_the_same_in_other_clothes(name: &str) {
    let whole = bytes(name);
    let plain = load_bytes(whole.clone(), name, &ImportOptions::default()).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let dressed = load_bytes(windows.into_bytes(), name, &ImportOptions::default()).unwrap();
    assert!(same(&plain, &dressed), "{name} with CRLF");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &whole).unwrap();
    let packed = encoder.finish().unwrap();
    let unpacked = load_bytes(packed, name, &ImportOptions::default()).unwrap();
    assert!(same(&plain, &unpacked), "{name} compressed");
}

fn same(a: &Samples, b: &Samples) -> bool {
    let bits = |s: &Samples| -> Vec<_> {
        s.observations().flat_map(|o| o.values).map(f64::to_bits).collect()
    };
    a.subjects == b.subjects
        && a.metrics == b.metrics
        && a.environment == b.environment
        && a.summaries == b.summaries
        && a.findings == b.findings
        && bits(a) == bits(b)
}

/// One file of every layout.
const EVERY_LAYOUT: [&str; 20] = [
    "github-action-benchmark/entries.json",
    "bencher/metrics.json",
    "vitest/fibonacci.json",
    "vitest/text-5.1.json",
    "tinybench/tasks.json",
    "mitata/fibonacci.json",
    "google-benchmark/one-old.json",
    "google-benchmark/aggonly-old.json",
    "google-benchmark/plain.csv",
    "pyperf/command-B.json",
    "pytest-benchmark/pytest-new.json",
    "pytest-benchmark/autosave-no-data.json",
    "jmh/result-gcprof.json",
    "nanobench/nanobench.json",
    "nanobench/nanobench.csv",
    "criterion/flat/slow/flat/new/sample.json",
    "hyperfine/v1-parameters.csv",
    "hyperfine/v2-schema2-parameters.csv",
    "catch2/v2.xml",
    "catch2/v3.xml",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_changed_in_a_real_file_what_is_read_is_finite(
        name in prop::sample::select(&EVERY_LAYOUT[..]),
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(&b"0123456789-+.eE\"\\{}[],:<>;/ \nNaN\xff"[..])),
            1..8,
        ),
        cut in proptest::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut whole = bytes(name);
        for (at, byte) in changes {
            let at = at.index(whole.len());
            whole[at] = byte;
        }
        if let Some(cut) = cut {
            whole.truncate(cut.index(whole.len()));
        }
        if let Ok(samples) = load_bytes(whole, name, &ImportOptions::default()) {
            for observation in samples.observations() {
                prop_assert!(observation.subject < samples.subjects.len());
                prop_assert!(observation.values.iter().all(|value| !value.is_infinite()));
            }
            for summary in &samples.summaries {
                prop_assert!(summary.subject < samples.subjects.len());
                prop_assert!(samples.metric_index(&summary.metric).is_some());
                prop_assert!(summary.location().is_none_or(f64::is_finite));
            }
        }
    }
}
