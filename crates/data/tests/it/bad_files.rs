//! Bad files of every format: each gives samples, or a message with the file and the expected
//! contents, and never makes a reader panic, run forever, or use memory out of proportion to the
//! file.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use assay_data::import::{ImportError, ImportOptions, load_bytes};
use assay_data::{ReadError, Samples};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn read(bytes: impl Into<Vec<u8>>) -> Result<Samples, Box<ImportError>> {
    load_bytes(bytes.into(), "bad", &ImportOptions::default()).map_err(Box::new)
}

/// Returns the error for a file; empty if it can be read. A message names the file, and only lines
/// that exist.
fn said(bytes: impl Into<Vec<u8>>) -> String {
    let bytes = bytes.into();
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
    match read(bytes) {
        Ok(samples) => {
            assert!(!samples.is_empty() || !samples.summaries.is_empty());
            String::new()
        }
        Err(error) => {
            if let ImportError::Read(ReadError::Line { place, .. }) = &*error {
                assert!((1..=lines).contains(&place.line), "{error}");
            }
            let said = error.to_string();
            assert!(said.starts_with("bad:") || said.starts_with("`bad`"), "{said}");
            assert!(said.len() < 5000 && !said.contains('\u{1b}'), "{said}");
            said
        }
    }
}

/// Returns real files of every format with their names; for formats with many files, a few of them.
fn files() -> Vec<(String, Vec<u8>)> {
    fn under(directory: &Path, found: &mut Vec<PathBuf>) {
        let mut entries: Vec<_> = std::fs::read_dir(directory).unwrap().flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::path);
        for path in entries.into_iter().map(|entry| entry.path()) {
            if path.is_dir() { under(&path, found) } else { found.push(path) }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut found = Vec::new();
    under(&root, &mut found);
    found
        .into_iter()
        .map(|path| (path.strip_prefix(&root).unwrap().display().to_string(), path))
        .filter(|(name, _)| !name.contains("/ramp/io20") && !name.contains("-old."))
        .filter(|(name, _)| !name.ends_with("benchmark.json"))
        .map(|(name, path)| (name, std::fs::read(path).unwrap()))
        .collect()
}

/// Returns the files that are one JSON value, with their lists truncated to two items.
fn json_files() -> Vec<(String, Value)> {
    fn cut(value: &mut Value) {
        match value {
            Value::Array(items) => {
                items.truncate(2);
                items.iter_mut().for_each(cut);
            }
            Value::Object(map) => map.values_mut().for_each(cut),
            _ => {}
        }
    }
    let parsed = files().into_iter().filter_map(|(name, bytes)| {
        let mut value: Value = serde_json::from_slice(&bytes).ok()?;
        cut(&mut value);
        (value.is_object() || value.is_array()).then_some((name, value))
    });
    parsed.collect()
}

fn shown(bytes: impl Into<Vec<u8>>) -> String {
    format!("{:?}", read(bytes).unwrap())
}

#[test]
fn what_has_numbers_but_no_values_is_refused_with_what_it_is() {
    let refused = |text: &str| {
        let read = load_bytes(text.as_bytes().to_vec(), "x.txt", &ImportOptions::default());
        read.expect_err("it has no values").to_string()
    };
    let now = "goos: linux\n  │    before    │              after              │\n  │    sec/op    │    sec/op     vs base           │\n\
        X   100.0n ± ∞ ¹   101.0n ± ∞ ¹  ~ (p=1.000 n=1) ²\n";
    let before = "name        old time/op  new time/op  delta\nGobEncode   13.6ms ± 1%  11.8ms ± 1%  -13.31%  (p=0.016 n=4+5)\n";
    let csv = ",old.txt,,new.txt\n,sec/op,CI,sec/op,CI,vs base,P\nA-8,1.7e-06,1%,1.4e-06,1%,-17.20%,p=0.000 n=10\n";
    for text in [now, before, csv] {
        let error = refused(text);
        assert!(error.starts_with("`x.txt` is what benchstat prints"), "{error}");
        assert!(error.ends_with("compare the files that benchstat was given"), "{error}");
    }
    for (text, option) in [
        (
            "Benchmark    Mode  Cnt  Score    Error   Units\nB.test     thrpt    5  1.193 ± 94.500  ops/ms\n",
            "-rf json",
        ),
        (
            "# Run progress: 0.00% complete, ETA 00:01:00\nIteration   1: 1240.123 ops/ms\n",
            "-rf json",
        ),
        (
            "```\nBenchmarkDotNet v0.14.0, Ubuntu 22.04\n```\n| Method | Mean |\n| A | 5.4 us |\n",
            "fulljson",
        ),
        (
            "2026-01-01T00:00:00+00:00\nRunning ./x\n-----\nBenchmark    Time      CPU   Iterations\n-----\nBM_A    100 ns    99.0 ns    7000000\n",
            "--benchmark_out=FILE",
        ),
        ("Benchmark 1: sleep 0.1\n  Time (mean ± σ):     101.5 ms ±   0.6 ms\n", "--export-json"),
        (
            "| Command | Mean [ms] | Min [ms] |\n|:---|---:|---:|\n| `a` | 1.0 ± 0.1 | 0.9 |\n",
            "--export-json",
        ),
        (
            "Name (time in us)      Min   Max   Mean   Rounds\ntest_a   1.0 (1.0)  2.0 (1.0)  1.5 (1.0)  10\n",
            "--benchmark-json",
        ),
        (".....................\nbench: Mean +- std dev: 12.3 us +- 0.4 us\n", "-o FILE"),
        ("100000 loops, best of 5: 2.34 usec per loop\n", "-v -r 12"),
        ("Type,Name,Request Count,Failure Count\r\nGET,/,10,0\r\n", "several runs"),
        (
            " ✓ a.bench.ts (1) 15ms\n     name   hz   min   max   mean   p75\n   · a  1,234.5  0.1  0.2  0.1  0.1\n",
            "--outputJson",
        ),
    ] {
        assert!(refused(text).contains(option), "{text}: {}", refused(text));
    }
    let luau = "SUCCESS: base64      : 14.041ms +/- 1.636% on luau\nSUCCESS: chess       : 65.070ms +/- 1.358% on luau\n";
    let error = refused(luau);
    assert!(error.starts_with("`x.txt` is what Luau's benchmarks print"), "{error}");
    // The file can be read by following the advice.
    let pattern = error.split("--pattern '").nth(1).and_then(|rest| rest.split('\'').next());
    let pattern = pattern.map(str::to_owned);
    let options = ImportOptions { pattern, ..ImportOptions::default() };
    let samples = load_bytes(luau.as_bytes().to_vec(), "x.txt", &options).expect("the advice");
    let names: Vec<_> = samples.subjects.iter().map(|subject| subject.name.as_str()).collect();
    assert_eq!((names, samples.series(0, 0).values), (vec!["base64", "chess"], vec![0.014_041]));
}

#[test]
fn a_file_that_breaks_off_is_read_or_refused_by_name() {
    for (_, bytes) in files() {
        for end in (1..bytes.len()).step_by(bytes.len() / 50 + 1) {
            said(&bytes[..end]);
        }
    }
    assert!(said("").contains("is empty; expected numbers"));
}

#[test]
fn windows_files_with_a_mark_read_the_same() {
    for (name, bytes) in files() {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(shown(windows), shown(bytes), "{name}");
    }
}

#[test]
fn utf_16_is_told_with_and_without_its_mark() {
    for (name, bytes) in files() {
        let text = String::from_utf8(bytes).unwrap();
        for mark in ["", "\u{feff}"] {
            let wide: Vec<u16> = format!("{mark}{text}").encode_utf16().collect();
            let little: Vec<u8> = wide.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = wide.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            for wide in [little, big] {
                let said = said(wide);
                // Without a byte-order mark, non-Latin text is only recognized as not being text.
                let is_told = said.contains("UTF-16 text; save it as UTF-8")
                    || (mark.is_empty() && said.contains("is binary"));
                assert!(is_told, "{name}: {said}");
            }
        }
    }
}

#[test]
fn a_latin_1_letter_is_named_with_its_line_wherever_lines_matter() {
    for (name, bytes) in files() {
        let mut latin = bytes.clone();
        // Damages the last line, or the last tag of a file of one line (XML), because a format is
        // recognized by its first bytes.
        let last = |byte| latin[..latin.len() - 1].iter().rposition(|&b| b == byte);
        let last_line = last(b'\n').or(last(b'<')).unwrap_or(0);
        latin.insert(last_line + 1, 0xe9);
        let said = said(latin);
        assert!(!said.is_empty() || bytes.starts_with(b"{"), "{name} was read");
        if !matches!(bytes[0], b'{' | b'[') {
            assert!(said.contains("UTF-8"), "{name}: {said}");
            assert!(said.starts_with("bad:"), "{name}: {said}");
        }
    }
}

#[test]
fn a_line_of_20_mb_is_refused_or_passed_over() {
    let huge = vec![b'x'; 20_000_000];
    let mut seen = std::collections::HashSet::new();
    for (name, bytes) in files() {
        let ending = name.rsplit('.').next().unwrap();
        if !seen.insert((name.split('/').next().unwrap().to_owned(), ending.to_owned())) {
            continue;
        }
        if bytes.starts_with(b"{") || bytes.starts_with(b"[") {
            let mut long = bytes.clone();
            let quote = long.iter().position(|&byte| byte == b'"').unwrap();
            long.splice(quote + 1..quote + 1, huge.iter().copied());
            let said = said(long);
            assert!(
                said.contains("16 MiB") || said.contains("format is unknown"),
                "{name}: {said}"
            );
        } else {
            let said = said([&bytes[..], b"\n", &huge, b"\n"].concat());
            assert!(said.starts_with("bad:"), "{name}: {said}");
        }
    }
    assert!(said(huge).contains("begins with `xxxx"));
}

#[test]
fn a_hundred_thousand_brackets_do_not_fill_the_stack() {
    for open in ["[", "{\"a\":", "{\"benchmarks\":["] {
        assert!(said(open.repeat(100_000)).contains("format is unknown"));
    }
    for (name, value) in json_files() {
        let text = value.to_string();
        for deep in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
            // Replaces the value of a key that is read, and of one that is not.
            let colon = text.rfind(':').unwrap();
            let said_of_own = said(format!("{}{deep}", &text[..=colon]));
            assert!(!said_of_own.is_empty(), "{name}");
            let brace = text.find('{').unwrap();
            said(format!("{}\"zzz\":{deep}", &text[..=brace]));
        }
    }
}

#[test]
fn whatever_stands_where_something_else_belongs_is_answered() {
    let odd = [
        json!("text"),
        json!([]),
        json!({}),
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1.7e308),
        json!(18_446_744_073_709_551_615_u64),
        json!([[{}]]),
    ];
    for (_, value) in json_files() {
        let mut places = Vec::new();
        pointers(&value, String::new(), &mut places);
        for place in places.iter().take(120) {
            for other in &odd {
                let mut changed = value.clone();
                *changed.pointer_mut(place).unwrap() = other.clone();
                said(changed.to_string());
            }
        }
    }
}

fn pointers(value: &Value, at: String, found: &mut Vec<String>) {
    let below = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| pointers(v, below(k), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| pointers(v, below(&i.to_string()), found));
        }
        _ => {}
    }
    found.push(at);
}

#[test]
fn wrong_types_are_told_with_line_and_expectation() {
    let google = |rows: &str| {
        said(format!("{{\"context\":{{\"num_cpus\":2}},\n\"benchmarks\":[\n{rows}\n]}}"))
    };
    let text = google(r#"{"name":"a","real_time":"fast","cpu_time":1,"time_unit":"ns"}"#);
    assert!(text.starts_with("bad:3:") && text.contains("expected a number"), "{text}");
    let unit = google(r#"{"name":"a","real_time":1,"cpu_time":1,"time_unit":"weeks"}"#);
    // The error is reported after the whole row, including its end, has been read.
    assert!(unit.starts_with("bad:4:1:") && unit.contains("expected ns, us, ms or s"), "{unit}");
    assert!(google("").contains("contains no numbers"));
    let list = said("{\"results\":[{\"command\":[],\n\"times\":[1]}]}");
    assert!(list.starts_with("bad:1:") && list.contains("hyperfine's results"), "{list}");
    let huge = google(r#"{"name":"a","real_time":1e999,"cpu_time":1,"time_unit":"ns"}"#);
    assert!(huge.starts_with("bad:3:") && huge.contains("too large for a double"), "{huge}");
}

#[test]
fn one_metric_has_one_unit_within_a_file() {
    let perf = "1.0,msec,task-clock,1000000,100.00,,\n5.0,MiB,task-clock,1000000,100.00,,\n";
    let perf = said(perf);
    assert!(perf.starts_with("bad:2: ") && perf.contains("a metric must have one unit"), "{perf}");
    let log = said("name=a took=3ms\nname=a took=3KiB\n");
    assert!(log.starts_with("bad:2: ") && log.contains("a metric must have one unit"), "{log}");
    let times = read("BenchmarkA 1 5 ns/op\nBenchmarkB 1 5 ns/op\n").unwrap();
    assert_eq!(times.values(0, 0), [5e-9]);
}

#[test]
fn ten_thousand_metrics_are_too_many() {
    let go: String = (0..10_000).map(|n| format!("BenchmarkA 1 5 unit{n}/op\n")).collect();
    let go = said(go);
    assert!(go.contains("metrics in one file") && go.starts_with("bad:"), "{go}");
    let counters: String = (0..10_000).map(|n| format!(",\"c{n}\":1")).collect();
    let google = said(format!(
        "{{\"context\":{{\"num_cpus\":2}},\"benchmarks\":[{{\"name\":\"a\",\"real_time\":1,\"cpu_time\":1,\"time_unit\":\"ns\"{counters}}}]}}"
    ));
    assert!(google.contains("counters in one file"), "{google}");
}

#[test]
fn zero_iterations_give_no_value_and_names_that_come_twice_stay_apart_or_together() {
    let none = read(r#"{"sampling_mode":"Flat","iters":[0.0,2.0],"times":[5.0,4.0]}"#).unwrap();
    let values = none.values(0, 0);
    assert!(values.iter().all(|value| !value.is_infinite()), "{values:?}");
    let twice = read("BenchmarkA 1 5 ns/op\nBenchmarkA 1 7 ns/op\n").unwrap();
    assert_eq!((twice.subjects.len(), twice.len()), (1, 2));
    let columns = said("a,a\n1,2\n");
    assert_eq!(columns, "bad:1: two columns are named `a`");
}

#[test]
fn settings_that_look_like_one_another_keep_benchmarks_apart() {
    let text = "a: x b=y\nBenchmarkA 1 5 ns/op\na: x\nb: y b=\nBenchmarkA 1 6 ns/op\na:\nb: z\nBenchmarkA 1 7 ns/op\n";
    let samples = read(text).unwrap();
    let names: std::collections::HashSet<_> = samples.subjects.iter().map(|s| &s.name).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn what_a_terminal_would_obey_is_not_repeated_in_messages() {
    let name = said("goos:\u{8}@rea\t1\n\u{1b}[2J\tx\n");
    assert!(!name.contains(char::is_control), "{name}");
    let perf =
        said("1.0\tmsec\ttask-clock\t1000000\t100.00\n<nOt \u{1b}[2J>\t\tcycles\t0\t100.00\n");
    assert!(perf.starts_with("bad:2: ") && !perf.contains(char::is_control), "{perf}");
}

#[test]
fn carriage_returns_alone_leave_no_line_of_number_nought() {
    let text = "\rD\rTotal: connections \r\r2tt00,20.1 ";
    assert!(said(text).starts_with("bad:1: "), "{}", said(text));
}
