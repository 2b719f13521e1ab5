//! Values that cannot be: what is not finite and times below zero are told for every tool's format, never dropped or taken in silence.

use assay_data::Samples;
use assay_data::import::{ImportOptions, load_bytes};

fn read(text: &str) -> Result<Samples, String> {
    let read = load_bytes(text.as_bytes().to_vec(), "x.txt", &ImportOptions::default());
    read.map_err(|error| error.to_string())
}

/// A file of each tool with two values, where `value` stands for the second; how it names the benchmark; and what its errors begin with.
fn files(value: &str) -> [(String, &'static str, &'static str); 7] {
    [
        (
            format!(
                "{{\"context\":{{\"num_cpus\":1}},\"benchmarks\":[\n\
                {{\"name\":\"b\",\"iterations\":9,\"real_time\":1,\"cpu_time\":1,\"time_unit\":\"ns\"}},\n\
                {{\"name\":\"b\",\"iterations\":9,\"real_time\":{value},\"cpu_time\":1,\"time_unit\":\"ns\"}}]}}"
            ),
            "b",
            "x.txt:3:",
        ),
        (
            format!("{{\"results\":[{{\"command\":\"b\",\"times\":[1.5,{value}]}}]}}"),
            "b",
            "`x.txt`: `b`: ",
        ),
        (
            format!(
                "{{\"hyperfine_version\":\"2.0\",\"schema_version\":2,\"results\":[{{\"command\":\"b\",\"measurements\":[\
                {{\"time_wall_clock\":{{\"value\":1,\"unit\":\"second\"}}}},{{\"time_wall_clock\":{{\"value\":{value},\"unit\":\"second\"}}}}]}}]}}"
            ),
            "b",
            "`x.txt`: `b`: ",
        ),
        (
            format!(
                "[{{\"jmhVersion\":\"1\",\"benchmark\":\"a.b\",\"mode\":\"avgt\",\"primaryMetric\":{{\"score\":1,\
                \"scoreUnit\":\"ns/op\",\"rawData\":[[1,{value}]]}},\"secondaryMetrics\":{{}}}}]"
            ),
            "a.b",
            "x.txt:1:",
        ),
        (
            format!(
                "{{\"version\":\"1.0\",\"metadata\":{{\"name\":\"b\"}},\"benchmarks\":[{{\"runs\":[{{\"values\":[1,{value}]}}]}}]}}"
            ),
            "b",
            "`x.txt`: `b`: ",
        ),
        (
            format!(
                "{{\"machine_info\":{{}},\"benchmarks\":[{{\"name\":\"b\",\"stats\":{{\"rounds\":2,\"data\":[1,{value}]}}}}]}}"
            ),
            "b",
            "`x.txt`: `b`: ",
        ),
        (
            format!(
                "{{\"results\":[{{\"title\":\"t\",\"name\":\"b\",\"batch\":1,\"clockResolution\":1,\"measurements\":[\
                {{\"elapsed\":1,\"iterations\":9}},{{\"elapsed\":{value},\"iterations\":9}}]}}]}}"
            ),
            "b",
            "`x.txt`: `b`: ",
        ),
    ]
}

#[test]
fn what_is_not_finite_is_left_out_and_told_with_its_place() {
    for value in ["NaN", "-Infinity", "null"] {
        for (text, name, _) in files(value) {
            let samples = read(&text).expect(&text);
            assert_eq!(samples.series(0, 0).values.len(), 1, "{text}");
            let finding = samples.findings.iter().find(|f| f.message.contains("not finite"));
            let told = &finding.expect(&text).message;
            assert!(
                told.ends_with(&format!("`wall` of `{name}` (x.txt: observation 2)")),
                "{told}"
            );
        }
    }
}

#[test]
fn a_time_below_zero_is_an_error() {
    for (text, _, place) in files("-1.5") {
        let error = read(&text).expect_err(&text);
        assert!(error.starts_with(place), "{error}");
        assert!(error.contains("as `wall`; a time is not negative"), "{error}");
    }
    let go = read("BenchmarkX 1 -5 ns/op\n").expect_err("it is negative");
    assert!(go.starts_with("x.txt:1: a time of -0.000000005 s as `wall`"), "{go}");
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
