//! Formats with similar beginnings are not confused: every recognizer is run on every file written
//! by a real tool.

#![allow(clippy::panic, reason = "tests")]

use super::super::{FORMATS, Head, valid_text};
use std::fs;
use std::path::{Path, PathBuf};

/// Formats without an example file here. Other tests create their files, or read a whole store.
const WITHOUT_A_FILE: [&str; 8] = [
    "sample files",
    "tables by `--export FILE.samples.csv`",
    "hyperfine (1.x, 2.x)",
    "github-action-benchmark's `data.js`",
    "BenchmarkDotNet",
    "cargo-bench-history",
    "CSV with `,`, `;` or tabs",
    "columns of numbers",
];
/// Formats that accept any table or list, and come last for that reason.
const GENERAL: [&str; 3] =
    ["lines of `key=value`", "CSV with `,`, `;` or tabs", "columns of numbers"];

fn files_under(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { files_under(&path, found) } else { found.push(path) }
    }
}

/// Returns the format that must read a file, by its folder and extension.
fn expected(name: &str) -> &'static str {
    let (folder, file) = name.split_once('/').unwrap();
    match (folder, file.rsplit('.').next().unwrap()) {
        ("asv", "txt") => "`asv run`",
        ("asv", _) => "asv",
        ("benchmark-dotnet", _) => "BenchmarkDotNet's table",
        ("gungraun", _) => "gungraun and iai (also its JSON)",
        ("named-times", _) => "`console.timeEnd` and Dart's benchmark_harness",
        ("tinybench", "txt") => "tinybench's table",
        ("benchmark-ips", _) => "benchmark-ips (also its JSON)",
        ("catch2", "txt") => "Catch2's console",
        ("catch2", _) => "Catch2's XML",
        ("bencher", _) => "Bencher",
        ("benchmark-js", _) => "benchmark.js",
        ("github-action-benchmark", _) => "github-action-benchmark",
        ("ruby-benchmark", _) => "Ruby's `Benchmark`",
        ("valgrind", _) => "callgrind and cachegrind (totals)",
        ("criterion-text", _) => "criterion's text",
        ("libtest", _) => "`cargo bench` (libtest)",
        ("mitata", _) => "mitata",
        ("time", _) => "`time`",
        ("tinybench", _) => "tinybench",
        ("vitest", _) => "vitest",
        ("criterion", _) => "criterion (`sample.json`, or its directory)",
        ("divan", _) => "divan",
        ("go-bench", "json") => "`go test -json` (tests, benchmarks)",
        ("go-bench", _) => "`go test -bench`",
        ("google-benchmark", "csv") => "Google Benchmark's table",
        ("google-benchmark", _) => "Google Benchmark",
        ("httperf", _) => "httperf",
        ("wrk", _) => "wrk and wrk2",
        ("ab", "csv") => "percentiles of ab (`-e`)",
        ("hey" | "oha", "csv") | ("ab" | "h2load", "tsv") => "requests of hey, oha, ab and h2load",
        ("hey", _) => "hey",
        ("oha", "json") => "oha",
        ("oha", _) => "oha's text",
        ("ab", _) => "ab",
        ("h2load", _) => "h2load",
        ("vegeta", "json") => "vegeta",
        ("vegeta", _) => "vegeta's text",
        ("k6", "json") => "k6's summary",
        ("k6", _) => "k6's text",
        ("hyperfine", "csv") => "hyperfine's table",
        ("hyperfine", _) => "hyperfine (1.x, 2.x)",
        ("jmh", _) => "JMH",
        ("logfmt", _) => "lines of `key=value`",
        ("nanobench", "csv") => "nanobench's table",
        ("nanobench", _) => "nanobench",
        ("perf-stat", "txt") => "`perf stat`",
        ("perf-stat", _) => "`perf stat -x` and `-j`",
        ("pyperf", _) => "pyperf",
        ("pytest-benchmark", _) => "pytest-benchmark",
        ("test-reports", "xml") => "JUnit XML (of any framework)",
        ("test-reports", "tap") => "TAP with times",
        ("test-reports", _) => match file {
            "rspec.json" => "rspec's JSON",
            "jest.json" | "vitest.json" => "JSON of jest and vitest",
            "pytest.json" => "pytest-json-report",
            "go.json" => "`go test -json` (tests, benchmarks)",
            "reportlog.jsonl" => "pytest-reportlog",
            _ => "libtest's JSON (`cargo test`, nextest)",
        },
        other => panic!("say here which format {other:?} is"),
    }
}

#[test]
fn every_real_file_is_known_as_its_own_format_and_as_no_other_of_a_tool() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut files = Vec::new();
    files_under(&root, &mut files);
    assert!(files.len() > 100, "{} files", files.len());
    for path in files {
        // The names of a benchmark are in a separate file next to its samples.
        if path.file_name().is_some_and(|name| name == "benchmark.json") {
            continue;
        }
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let bytes = fs::read(&path).unwrap();
        let text = valid_text(&bytes);
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let head = Head::of(&text);
            let all = FORMATS.iter().filter(|format| (format.recognise)(&head));
            let all: Vec<&str> = all.map(|format| format.name).collect();
            let of_tools = all.iter().filter(|name| !GENERAL.contains(name)).count();
            assert_eq!(all.first(), Some(&expected(&name)), "{name} is taken for {all:?}");
            assert!(of_tools <= 1, "{name} is taken for {all:?}");
        }
    }
}

#[test]
fn a_minified_file_is_known_too() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut files = Vec::new();
    files_under(&root, &mut files);
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "json"))
    {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(&fs::read(path).unwrap())
        else {
            continue;
        };
        if name.ends_with("benchmark.json") {
            continue;
        }
        let text = value.to_string();
        let head = Head::of(&text);
        let first = FORMATS.iter().find(|format| (format.recognise)(&head)).map(|f| f.name);
        assert_eq!(first, Some(expected(&name)), "{name}");
    }
}

/// The README of the importers lists all places that must change when a format is added.
#[test]
fn an_importer_is_in_every_place_that_needs_it() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |path: &str| fs::read_to_string(top.join(path)).unwrap();

    let declared = text("src/import.rs");
    for entry in fs::read_dir(top.join("src/import")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs") {
            assert!(declared.contains(&format!("mod {module};")), "src/import.rs lacks {module}");
        }
    }

    let root = top.join("tests/formats");
    let mut files = Vec::new();
    files_under(&root, &mut files);
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
    let with_a_file: Vec<&str> = files.iter().map(|path| expected(&name(path))).collect();
    let page = text("../../docs/reference/input-files.md");
    let is_mark = |c: char| !c.is_alphanumeric() && !"-._".contains(c);
    let words: Vec<&str> = page.split(is_mark).map(|word| word.trim_matches('.')).collect();
    for format in FORMATS {
        let own = format.name;
        let has_a_file = with_a_file.contains(&own);
        assert_ne!(has_a_file, WITHOUT_A_FILE.contains(&own), "{own}: a file in tests/formats");
        let tool = own.split(is_mark).find(|word| !word.is_empty()).unwrap();
        assert!(words.contains(&tool), "docs/reference/input-files.md does not name {own}");
    }
}
