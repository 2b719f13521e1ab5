//! Text output of benchmark tools, as the tools wrote it: counts, names, parameters, units, exact
//! values, facts and findings of every file; also checks that damaged files never make a reader
//! panic.

mod benchmark_ips;
mod catch2_text;
mod divan;
mod go_bench;
mod http_load;
mod httperf;
mod lines;
mod perf_stat;
mod rust_and_time;
mod test_reports;
mod totals;

use assay_data::import::{ImportOptions, load, load_bytes};
use assay_data::{Samples, Summary};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(name)
}

/// Returns the text of a file under `tests/formats`.
fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).expect("the file is there and is text")
}

fn load_file(name: &str) -> Samples {
    load(&[path(name)], &ImportOptions::default()).expect(name)
}

/// Reads a text as a file named `x.txt`.
fn plain(text: impl AsRef<[u8]>) -> Result<Samples, String> {
    let read = load_bytes(text.as_ref().to_vec(), "x.txt", &ImportOptions::default());
    read.map_err(|error| error.to_string())
}

fn refused(text: impl AsRef<[u8]>) -> String {
    plain(text).expect_err("it should be refused")
}

fn names(samples: &Samples) -> Vec<&str> {
    samples.subjects.iter().map(|subject| subject.name.as_str()).collect()
}

fn metrics(samples: &Samples) -> Vec<String> {
    samples.metrics.iter().map(|m| format!("{} [{}]", m.name, m.unit.symbol())).collect()
}

fn codes(samples: &Samples) -> Vec<&str> {
    samples.findings.iter().map(|finding| finding.code.as_str()).collect()
}

/// Returns the parameters of a subject as `name=value`.
fn parameters(samples: &Samples, subject: &str) -> Vec<String> {
    let found = samples.subjects.iter().find(|s| s.name == subject).expect(subject);
    found.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// Returns all values of a metric of a subject.
fn values(samples: &Samples, subject: &str, metric: &str) -> Vec<f64> {
    let subject = samples.subjects.iter().position(|s| s.name == subject).expect(subject);
    let metric = samples.metric_index(metric).expect(metric);
    samples.series(subject, metric).values
}

fn summary<'a>(samples: &'a Samples, subject: &str, metric: &str) -> &'a Summary {
    let subject = samples.subjects.iter().position(|s| s.name == subject).expect(subject);
    let found = samples.summaries.iter().find(|s| s.subject == subject && s.metric == metric);
    found.expect("a summary of it")
}

/// Returns all files of all formats tested here.
fn all_files() -> Vec<String> {
    const FOLDERS: [&str; 20] = [
        "benchmark-ips",
        "benchmark-js",
        "ruby-benchmark",
        "valgrind",
        "criterion-text",
        "divan",
        "libtest",
        "time",
        "go-bench",
        "httperf",
        "httperf/ramp",
        "logfmt",
        "perf-stat",
        "wrk",
        "hey",
        "oha",
        "ab",
        "h2load",
        "vegeta",
        "k6",
    ];
    let files = FOLDERS.iter().flat_map(|folder| {
        let entries = std::fs::read_dir(path(folder)).expect(folder);
        let files = entries.flatten().filter(|entry| entry.path().is_file());
        files.map(move |entry| format!("{folder}/{}", entry.file_name().to_string_lossy()))
    });
    files.collect()
}

/// Returns the text with Windows line endings and a byte-order mark.
fn as_windows(text: &str) -> String {
    format!("\u{feff}{}", text.replace('\n', "\r\n"))
}

#[test]
fn every_file_reads_the_same_with_the_line_ends_of_windows_and_compressed() {
    for name in all_files() {
        let text = text(&name);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, text.as_bytes()).expect("into memory");
        let packed = packed.finish().expect("into memory");
        // Compares the debug text, in which missing values are equal.
        let shown = |bytes: &[u8]| format!("{:?}", plain(bytes).expect(&name));
        let expected = shown(text.as_bytes());
        assert_eq!(shown(as_windows(&text).as_bytes()), expected, "{name}");
        assert_eq!(shown(&packed), expected, "{name}");
    }
}

#[test]
fn a_file_that_breaks_off_anywhere_never_makes_a_reader_fall_over() {
    for name in all_files() {
        let text = text(&name);
        for end in (0..text.len()).step_by(7) {
            let _may_be_refused = plain(&text.as_bytes()[..end]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// With bytes changed, removed and repeated, the reader returns some result.
    #[test]
    fn no_damage_makes_a_reader_fall_over(
        file in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..40usize), 1..12),
    ) {
        let files = all_files();
        let mut bytes = text(file.get::<String>(&files)).into_bytes();
        for (place, byte, length) in edits {
            if bytes.is_empty() {
                break;
            }
            let start = place.index(bytes.len());
            let end = (start + length).min(bytes.len());
            match byte % 4 {
                0 => bytes[start] = byte,
                1 => drop(bytes.drain(start..end)),
                2 => {
                    let piece = bytes[start..end].to_vec();
                    bytes.splice(start..start, piece);
                }
                _ => bytes.insert(start, b"\n\t,:=|0-/%"[byte as usize % 10]),
            }
        }
        if let Ok(samples) = plain(bytes) {
            let numbers = |s: &Summary| [s.mean, s.sd, s.standard_error, s.median, s.min, s.max];
            let mut summarised = samples.summaries.iter().flat_map(numbers).flatten();
            prop_assert!(summarised.all(f64::is_finite));
            let mut observed = samples.observations().flat_map(|o| o.values);
            prop_assert!(observed.all(|value| !value.is_infinite()));
        }
    }
}
