//! Numbers in the user's locale: decimal commas and groups are interpreted from all numbers of a
//! file, or refused with the line. Also the better direction implied by units.

use assay_data::import::{ImportOptions, load, load_bytes};
use assay_data::{Better, Samples};

fn read(text: &str) -> Result<Samples, String> {
    let read = load_bytes(text.as_bytes().to_vec(), "x.txt", &ImportOptions::default());
    read.map_err(|error| error.to_string())
}

/// Returns all values of a metric, followed by the means and medians of summaries.
fn values(text: &str, metric: &str) -> Vec<f64> {
    let samples = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let index = samples.metric_index(metric).expect(metric);
    let observed = (0..samples.subjects.len()).flat_map(|s| samples.series(s, index).values);
    let summarised = samples.summaries.iter().filter(|s| s.metric == metric);
    observed.chain(summarised.filter_map(assay_data::Summary::location)).collect()
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let error = read(text).expect_err("it is ambiguous");
    assert!(error.starts_with("x.txt:") && error.contains(expected), "{error}");
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a / b - 1.0).abs() < 1e-12, "{found:?}, not {expected:?}");
    }
}

const HEADER: &str = "Method;Mean;Error;StdDev\n";

#[test]
fn tables_of_benchmark_dotnet_are_read_in_every_culture() {
    for (rows, expected) in [
        ("A;19.260,6 ns;183,0 ns;10,2 ns\nB;831,3 ns;46,2 ns;2,53 ns\n", [19260.6e-9, 831.3e-9]),
        ("A;1,163 us;0,183 us;0,010 us\nB;831,283 ns;46,2 ns;2,5 ns\n", [1.163e-6, 831.283e-9]),
        ("A;19\u{202f}260,6 ns;1,0 ns;1,0 ns\nB;831,3 ns;1,0 ns;1,0 ns\n", [19260.6e-9, 831.3e-9]),
        ("A;19'260.6 ns;1.0 ns;1.0 ns\nB;831.3 ns;1.0 ns;1.0 ns\n", [19260.6e-9, 831.3e-9]),
        ("A;1.234 ns;0,010 ns;0,012 ns\nB;999,5 ns;1,010 ns;1,012 ns\n", [1234e-9, 999.5e-9]),
    ] {
        close(&values(&format!("{HEADER}{rows}"), "wall"), &expected);
    }
    let us = "Method,Mean,Error,StdDev\nA,\"19,260.6 ns\",\"1,234.5 ns\",1.0 ns\n";
    close(&values(us, "wall"), &[19260.6e-9]);
    refused(
        &format!("{HEADER}A;1.000,5 us;10,0 us;3,0 us\nB;1.25 ns;0.1 ns;0.1 ns\n"),
        "x.txt:2: `1.000,5` has a decimal comma, but `1.25`",
    );
    refused(
        &format!("{HEADER}A;1,163 us;1,183 us;1,010 us\n"),
        "x.txt:2: `1,163` may be `1163` or `1.163`",
    );
}

#[test]
fn a_joined_table_of_benchmark_dotnet_names_the_class() {
    let samples =
        read("Type,Method,N,Mean,StdDev\nMd5,Hash,1,12.5 ns,1 ns\nSha,Hash,1,13.5 ns,1 ns\n");
    let samples = samples.expect("two classes");
    let names: Vec<&str> = samples.subjects.iter().map(|subject| subject.name.as_str()).collect();
    assert_eq!(names, ["Md5.Hash(N: 1)", "Sha.Hash(N: 1)"]);
}

#[test]
fn a_marked_number_does_not_disappear_as_a_heading() {
    for first in ["−5", "$5", "~5"] {
        refused(&format!("{first}\n6\n7\n"), "is not a number");
    }
    assert!(read("<1\n6\n7\n").unwrap_err().contains("begins with `<1`"));
    assert_eq!(values("p99\n6\n7\n", "p99"), [6.0, 7.0]);
}

#[test]
fn junit_times_are_seconds_in_every_language() {
    let suite = |times: &[&str]| {
        let case =
            |(at, time): (usize, &&str)| format!("<testcase name=\"t{at}\" time=\"{time}\"/>\n");
        let cases: String = times.iter().enumerate().map(case).collect();
        format!("<testsuite name=\"x\">\n{cases}</testsuite>\n")
    };
    let times = |text: &[&str]| values(&suite(text), "wall");
    assert_eq!(times(&["0,123", "12,5"]), [0.123, 12.5]);
    assert_eq!(times(&["1.234,5", "0,5"]), [1234.5, 0.5]);
    assert_eq!(times(&["1,234.567", "12.5", "1,234"]), [1234.567, 12.5, 1234.0]);
    assert_eq!(times(&["1,234", "0,5"]), [1.234, 0.5]);
    refused(&suite(&["1", "1,234"]), "x.txt:3: `1,234` may be");
    refused(&suite(&["0.5", "0,5"]), "has a decimal comma");
}

#[test]
fn perf_parts_numbers_at_the_commas_of_a_language() {
    let cpu = |text: &str| values(text, "cpu");
    let german = "0,51,msec,task-clock,512345,100,00,0,412,CPUs utilized\n60,,page-faults,532981,100,00,112,5,K/sec\n";
    close(&cpu(german), &[512_345e-9]);
    assert_eq!(values(german, "page-faults"), [60.0]);
    close(&cpu("12,31,msec,task-clock,12306721,100,00,0,CPUs utilized\n"), &[12.306_721e-3]);
    close(&cpu("1,231,msec,task-clock,12306721,100,00,0,CPUs utilized\n"), &[1.231e-3]);
    close(&cpu("0,31;msec;task-clock;306721;100,00;0;CPUs utilized\n"), &[306_721e-9]);
    // Repeated runs, intervals, processors, sockets.
    let repeated = read("0,51,msec,task-clock,1,52%,512345,100,00,,\n").expect("a mean");
    assert!(
        (repeated.summaries[0].standard_error.expect("given") / (0.0152 * 512_345e-9) - 1.0).abs()
            < 1e-6
    );
    close(&cpu("1.000123456,0,51,msec,task-clock,512345,100,00,,\n"), &[512_345e-9]);
    close(&cpu("CPU0,0,51,msec,task-clock,512345,100,00,,\n"), &[512_345e-9]);
    close(&cpu("S0,4,0,51,msec,task-clock,512345,100,00,,\n"), &[512_345e-9]);
    assert_eq!(values("S0,4,1234,,cycles,512345,100,00,,\n", "cycles"), [1234.0]);
    assert_eq!(values("1294,ns,duration_time,12941,100,00,,\n", "wall"), [1294e-9]);
    // With a decimal point, fields are not joined.
    close(&cpu("0.51,msec,task-clock,512345,100.00,0.412,CPUs utilized\n"), &[512_345e-9]);
    let print = " Performance counter stats for 'ls':\n\n 1.234,56 msec task-clock   # 0,998 CPUs utilized\n 1.234.567 cycles\n\n 1,25 seconds time elapsed\n";
    close(&cpu(print), &[1.234_56]);
    assert_eq!(values(print, "cycles"), [1_234_567.0]);
    assert_eq!(values(print, "wall"), [1.25]);
}

#[test]
fn tables_and_logs_decide_by_all_of_their_numbers() {
    assert_eq!(values("a;b\n19.260,6;831,3\n", "value"), [19260.6, 831.3]);
    assert_eq!(values("a;b\n\"19,260.6\";831.3\n", "value"), [19260.6, 831.3]);
    refused("a;b\n1,234;2,345\n", "x.txt:2: `1,234` may be");
    assert_eq!(values("op=put took=0,5\nop=put took=1,234\n", "took"), [0.5, 1.234]);
    refused("op=put took=1,234\nop=put took=1,235\n", "x.txt:1: `1,234` may be");
}

#[test]
fn tools_that_always_write_points_are_held_to_them() {
    assert_eq!(values("test a ... bench:       1,234 ns/iter (+/- 5)\n", "wall"), [1.234e-6]);
    refused(
        "test a ... bench:      148,70 ns/iter (+/- 2)\ntest b ... bench:      18,794 ns/iter (+/- 440)\n",
        "`148,70` is not a number as libtest writes it",
    );
    refused("test a ... bench:   18.794,12 ns/iter (+/- 440,25)\n", "libtest");
    let line = "fib x 1,234,561 ops/sec ±1.23% (82 runs sampled)\n";
    assert_eq!(values(line, "rate"), [1_234_561.0]);
    refused("fib x 1.234.561 ops/sec ±1,23% (82 runs sampled)\n", "benchmark.js");
}

#[test]
fn a_number_that_two_importers_read_is_the_same_number() {
    for (text, value) in
        [("1.234,5", 1234.5), ("12,75", 12.75), ("1'234.5", 1234.5), ("1,234.25", 1234.25)]
    {
        let table = format!("{HEADER}A;{text} s;0 s;0 s\n");
        let junit =
            format!("<testsuite name=\"x\"><testcase name=\"t\" time=\"{text}\"/></testsuite>\n");
        let column = format!("a;b\n{text};{text}\n");
        assert_eq!(values(&table, "wall"), [value], "{text}");
        assert_eq!(values(&junit, "wall"), [value], "{text}");
        assert_eq!(values(&column, "value"), [value, value], "{text}");
    }
}

#[test]
fn anything_per_time_is_better_when_larger() {
    let published = |unit: &str| {
        let text = format!(
            r#"window.BENCHMARK_DATA = {{"lastUpdate": 1, "entries": {{"B": [{{"commit": {{"id": "a"}}, "date": 1, "tool": "jmh", "benches": [{{"name": "n", "value": 1000, "unit": "{unit}"}}]}}]}}}}"#
        );
        let samples = read(&text).expect("a history");
        let metric = samples.metrics[0].clone();
        (metric.better, metric.undirected, samples.series(0, 0).values[0])
    };
    for (unit, value) in [
        ("ops/ms", 1e6),
        ("ops/us", 1e9),
        ("ops/min", 1000.0 / 60.0),
        ("ops/s", 1000.0),
        ("req/min", 1000.0),
        ("MB/ms", 1000.0),
        ("rows/hour", 1000.0),
    ] {
        let found = published(unit);
        assert_eq!((found.0, found.1), (Better::Higher, false), "{unit}");
        assert!((found.2 / value - 1.0).abs() < 1e-12, "{unit}: {found:?}");
    }
    for unit in ["ms/op", "ns/iter", "us/request", "B/op", "min", "cycles/iter"] {
        let (better, undirected, _) = published(unit);
        assert_eq!((better, undirected), (Better::Lower, false), "{unit}");
    }
    for unit in ["points", "furlong", "%"] {
        assert!(published(unit).1, "{unit}");
    }
}

/// Returns the names, each with the better direction: `+` for larger, `-` for smaller, `?` for
/// none.
fn directions(text: &str, options: &ImportOptions) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.txt");
    std::fs::write(&file, text).unwrap();
    let read = load(&[file], options).expect("values");
    let told = read.metrics.iter().map(|metric| match (metric.undirected, metric.better) {
        (true, _) => format!("{} ?", metric.name),
        (false, Better::Higher) => format!("{} +", metric.name),
        (false, Better::Lower) => format!("{} -", metric.name),
    });
    told.collect::<Vec<_>>().join(", ")
}

#[test]
fn what_an_author_named_has_the_direction_of_its_name_or_none() {
    let named = |better| ImportOptions { better, ..ImportOptions::default() };
    let go = "BenchmarkX 10 5 ns/op 60 fps 3 cache-misses/op 7 widgets 2 MB/SEC\n";
    assert_eq!(
        directions(go, &named(None)),
        "wall -, fps +, cache-misses/op -, widgets ?, B/SEC +, iterations +"
    );
    assert!(directions(go, &named(Some(Better::Higher))).contains("widgets +"));
    let google = r#"{"context": {"num_cpus": 2}, "benchmarks": [{"name": "a", "run_type": "iteration", "iterations": 10,
        "real_time": 1, "cpu_time": 1, "time_unit": "ns", "QPS": 1.5, "hits": 0.5, "items_per_second": 2, "CYCLES": 1.5}]}"#;
    let found = directions(google, &named(None));
    for expected in ["QPS +", "hits ?", "items_per_second +", "CYCLES -", "cpu -"] {
        assert!(found.contains(expected), "{found}");
    }
    let bencher =
        r#"{"a": {"latency": {"value": 1}, "hits": {"value": 2}, "req/s": {"value": 3}}}"#;
    let found = directions(bencher, &named(None));
    assert!(["hits ?", "req/s +", "wall -"].iter().all(|one| found.contains(one)), "{found}");
    let table = "name,Requests/s\na,1\nb,2\n";
    let options = ImportOptions {
        by: Some("name".parse().expect("a column")),
        value: Some("Requests/s".parse().expect("a column")),
        ..ImportOptions::default()
    };
    assert_eq!(directions(table, &options), "Requests/s +");
}

#[test]
fn criterion_measures_what_its_user_likes() {
    let text = "fib  time:   [1012.6 cycles 1020.1 cycles 1030.0 cycles]\nsum  time:   [1.2 us 1.3 us 1.4 us]\n";
    assert_eq!(values(text, "cycles"), [1020.1]);
    assert_eq!(values(text, "wall"), [1.3e-6]);
    refused(
        "fib  time:   [1.2 us 1.3 us 1.4 us]\nsum  time:   [1.2 us 1.3 cycles 1.4 us]\n",
        "is not a result",
    );
}

#[test]
fn a_column_is_proposed_only_if_its_name_is_that_of_a_measurement() {
    let jmh = "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Score Error (99.9%)\",\"Unit\"\n\"a\",\"avgt\",1,25,8.75,0.08,\"us/op\"\n";
    refused(jmh, "`--by Benchmark --value Score` reads this file");
    let google = "name;iterations;real_time;cpu_time;time_unit\nBM_a;1000;10,5;10,4;ns\n";
    refused(google, "`--by name --value real_time` reads this file");
    let unnamed = read("a 1 2.5\nb 2 3.5\n").expect_err("two columns of numbers");
    assert!(!unnamed.contains("reads this file"), "{unnamed}");
    let settings = read("name,threads,n\na,1,2\n").expect_err("nothing was measured");
    assert!(!settings.contains("reads this file"), "{settings}");
}

#[test]
fn what_a_benchmark_prints_tears_no_result() {
    let go = "MyLib version 1.2\nBenchmarkEnv: staging 42\nBenchmarkB-2   \tstarting B run\n    2000\t       252.9 ns/op\nPASS\n";
    assert_eq!(values(go, "wall"), [252.9e-9]);
    let blank = " ".repeat(8);
    let row = "1 ns          │ 3 ns          │ 2 ns          │ 2 ns          │ 100     │ 100";
    let divan = format!(
        "x{blank}fastest       │ slowest       │ median        │ mean          │ samples │ iters\n├─ a{blank}hello from a\n  step 2 of 7\ndone: {row}\n╰─ b{}{row}\n",
        &blank[3..]
    );
    assert_eq!(values(&divan, "wall"), [2e-9, 2e-9]);
}

#[test]
fn a_failed_aggregate_of_google_benchmark_is_left_out() {
    let text = r#"{"context": {"library_build_type": "release"}, "benchmarks": [
      {"name": "a_mean", "run_name": "a", "run_type": "aggregate", "aggregate_name": "mean", "repetitions": 3, "iterations": 3, "real_time": 5.0, "cpu_time": 5.0, "time_unit": "ns"},
      {"name": "b_mean", "run_name": "b", "run_type": "aggregate", "aggregate_name": "mean", "repetitions": 3, "iterations": 0, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns", "error_occurred": true, "error_message": "no file"}]}"#;
    let samples = read(text).expect("one benchmark");
    assert_eq!(samples.subjects.len(), 1);
    assert!(
        samples
            .findings
            .iter()
            .any(|f| f.code == "BENCHMARK_FAILED" && f.message.contains("no file"))
    );
}
