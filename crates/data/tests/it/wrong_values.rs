//! Impossible values: non-finite values and negative times are reported for every tool's format,
//! never silently dropped or accepted.

#![allow(clippy::panic, reason = "a test may fail loudly")]

use assay_data::Samples;
use assay_data::import::{ImportOptions, load_bytes};

fn read(text: &str) -> Result<Samples, String> {
    let read = load_bytes(text.as_bytes().to_vec(), "x.txt", &ImportOptions::default());
    read.map_err(|error| error.to_string())
}

/// Name, benchmark and file of each tool that writes JSON, with a value on a separate line in place
/// of `VALUE`.
const FILES: [(&str, &str, &str); 17] = [
    (
        "Google Benchmark",
        "b",
        r#"{"context":{"num_cpus":1},"benchmarks":[
{"name":"b","iterations":9,"real_time":1,"cpu_time":1,"time_unit":"ns"},
{"name":"b","iterations":9,"real_time":
VALUE,"cpu_time":1,"time_unit":"ns"}]}"#,
    ),
    ("hyperfine 1", "b", "{\"results\":[{\"command\":\"b\",\"times\":[1.5,\nVALUE\n]}]}"),
    (
        "hyperfine 2",
        "b",
        r#"{"hyperfine_version":"2.0","schema_version":2,"results":[{"command":"b","measurements":[
{"time_wall_clock":{"value":1,"unit":"second"},"exit_code":0},{"time_wall_clock":{"unit":"second","value":
VALUE},"exit_code":0}]}]}"#,
    ),
    (
        "JMH",
        "a.b",
        r#"[{"jmhVersion":"1","benchmark":"a.b","mode":"avgt","primaryMetric":{"score":1,"scoreUnit":"ns/op","rawData":[[1,
VALUE]]},"secondaryMetrics":{}}]"#,
    ),
    (
        "pyperf",
        "b",
        r#"{"version":"1.0","metadata":{"name":"b"},"benchmarks":[{"runs":[{"values":[1,
VALUE
]}]}]}"#,
    ),
    (
        "pytest-benchmark",
        "b",
        r#"{"machine_info":{},"benchmarks":[{"name":"b","stats":{"rounds":2,"data":[1,
VALUE
]}}]}"#,
    ),
    (
        "nanobench",
        "b",
        r#"{"results":[{"title":"t","name":"b","batch":1,"clockResolution":1,"measurements":[
{"elapsed":1,"iterations":9},{"elapsed":
VALUE
,"iterations":9}]}]}"#,
    ),
    ("criterion", "x.txt", "{\"sampling_mode\":\"Flat\",\"iters\":[1,1],\"times\":[5,\nVALUE\n]}"),
    (
        "BenchmarkDotNet",
        "A.b",
        r#"{"HostEnvironmentInfo":{"BenchmarkDotNetVersion":"0.14"},"Benchmarks":[{"Type":"A","Method":"b","MethodTitle":"b",
"Statistics":{"N":2,"Mean":1},"Measurements":[
{"IterationStage":"Result","Operations":1,"Nanoseconds":5},{"IterationStage":"Result","Operations":1,"Nanoseconds":
VALUE
}]}]}"#,
    ),
    (
        "BenchmarkDotNet, brief",
        "A.b",
        r#"{"HostEnvironmentInfo":{"BenchmarkDotNetVersion":"0.14"},"Benchmarks":[{"Type":"A","Method":"a","MethodTitle":"b",
"Statistics":{"N":2,"Mean":1,"Median":1}},{"Type":"A","Method":"b","MethodTitle":"b","Statistics":{"N":2,"Mean":
VALUE
}}]}"#,
    ),
    (
        "vitest",
        "f > b",
        r#"{"files":[{"groups":[{"fullName":"f","benchmarks":[{"name":"a","mean":1},{"name":"b","mean":
VALUE
}]}]}]}"#,
    ),
    (
        "tinybench",
        "b",
        r#"[{"name":"a","result":{"latency":{"mean":1,"moe":0}}},{"name":"b","result":{"latency":{"moe":0,"mean":
VALUE
}}}]"#,
    ),
    (
        "mitata",
        "b",
        r#"{"benchmarks":[{"alias":"a","runs":[{"name":"a","stats":{"avg":1}},{"name":"b","stats":{"avg":
VALUE
}}]}],"layout":[]}"#,
    ),
    (
        "github-action-benchmark",
        "b",
        r#"[{"name":"a","unit":"ns","value":1},{"name":"b","unit":"ns","value":
VALUE}]"#,
    ),
    (
        "Bencher",
        "b",
        r#"{"a":{"latency":{"value":1}},"b":{"latency":{"value":
VALUE}}}"#,
    ),
    (
        "asv",
        "a.time_b",
        r#"{"commit_hash":"c","result_columns":["result","samples"],"params":{},"results":{"a.time_b":[[1],[[1,
VALUE]]]}}"#,
    ),
    ("benchmark-ips, held", "b", "[{\"item\":\"b\",\"samples\":[1,\nVALUE],\"cycles\":1}]"),
];

/// Returns such a file, and the line of the value.
fn with_value(text: &str, value: &str) -> (String, usize) {
    let line = text.lines().position(|line| line.contains("VALUE")).expect("it has a value") + 1;
    (text.replace("VALUE", value), line)
}

#[test]
fn what_is_not_finite_is_left_out_and_told_with_its_line() {
    for (tool, name, text) in FILES {
        for value in ["NaN", "-Infinity", "null"] {
            let (text, line) = with_value(text, value);
            let samples = read(&text).expect(tool);
            let place = format!("x.txt:{line}");
            let told = |f: &&assay_data::Finding| f.message.contains(&place);
            let finding = samples.findings.iter().find(told);
            let finding = finding.unwrap_or_else(|| panic!("{tool}: {:?}", samples.findings));
            let is_of_it =
                finding.message.contains(name) || finding.subject.as_deref() == Some(name);
            assert!(is_of_it, "{tool}: {finding:?}");
            let all: usize =
                (0..samples.subjects.len()).map(|s| samples.series(s, 0).values.len()).sum();
            assert!(all <= 1, "{tool}: {all}");
        }
    }
}

#[test]
fn a_time_below_zero_is_an_error_with_its_line() {
    // Iterations per second are not a time, so nothing is known to be wrong with them.
    for (tool, _, text) in FILES.into_iter().filter(|(tool, ..)| *tool != "benchmark-ips, held") {
        let (text, line) = with_value(text, "-1.5");
        let error = read(&text).expect_err(tool);
        assert!(error.starts_with(&format!("x.txt:{line}:")), "{tool}: {error}");
        assert!(error.ends_with("a time cannot be negative"), "{tool}: {error}");
    }
    let go = read("BenchmarkX 1 -5 ns/op\n").expect_err("it is negative");
    assert!(go.starts_with("x.txt:1: a time of -0.000000005 s as `wall`"), "{go}");
}

#[test]
fn gungrauns_counts_are_told_with_the_line_of_their_summary() {
    let whole = include_str!("../formats/gungraun/v7.json");
    let broken = whole.replacen("\"values\":{\"new\":1805,", "\"values\":{\"new\":NaN,", 10);
    let samples = read(&format!("\n\n{broken}")).expect("other counts are left");
    let finding = samples.findings.iter().find(|f| f.message.contains("not finite"));
    let told = &finding.expect("it is told").message;
    assert!(told.contains("`Ir` of `sums::group::bench_fib short:(10)` (x.txt:3)"), "{told}");
}

#[test]
fn go_has_one_value_a_unit_and_only_values_that_are_finite() {
    let twice = read("BenchmarkX 1 5 ns/op 6 ns/op\n").expect_err("two values");
    assert_eq!(twice, "x.txt:1: `BenchmarkX` has two values in `ns/op`; one unit has one value");
    let large = read("BenchmarkX 1 1e400 ns/op\n").expect_err("no value is left");
    assert!(
        large.ends_with(
            "left out, often after a division by zero: `1e400 ns/op` of `BenchmarkX` (x.txt:1)"
        ),
        "{large}"
    );
}
