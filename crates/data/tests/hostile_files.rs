//! Files designed to take much time or memory with few bytes. Runs alone in its process, because it
//! checks the peak memory; if a reader took quadratic time for one of these files, the test would
//! not end within an hour.

#![allow(clippy::unwrap_used, reason = "tests")]

use assay_data::assay_file;
use assay_data::export::{csv, go_bench};
use assay_data::import::{ImportOptions, load_bytes};

/// Returns the peak memory of this process in MiB, if the system reports it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

/// A value takes eight bytes in a conversion, whatever the format; the text here takes about as
/// much.
fn conversions_hold_the_values_once() {
    const VALUES: usize = 1_000_000;
    let numbers = |between: &str| vec!["1.23456789"; VALUES].join(between);
    let files = [
        numbers("\n"),
        format!("{{\"results\":[{{\"command\":\"a\",\"times\":[{}]}}]}}", numbers(",")),
    ];
    for text in files {
        let before = peak();
        let samples = load_bytes(text.into_bytes(), "many", &ImportOptions::default()).unwrap();
        assert_eq!(samples.len(), VALUES);
        csv(&samples, &mut std::io::sink()).unwrap();
        go_bench(&samples, &mut std::io::sink()).unwrap();
        assay_file::write(&samples, std::io::sink()).unwrap();
        if let (Some(before), Some(now)) = (before, peak()) {
            assert!(now - before < 40, "{} MiB", now - before);
        }
    }
}

#[test]
fn few_bytes_never_take_much_time_or_memory() {
    let many = |count: usize, of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<String>();
    let httperf = "Total: connections 1 requests 1 replies 1 test-duration 1 s\nErrors: total 0 client-timo 0 socket-timo 0 connrefused 0 connreset 0\nErrors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0\n";
    let catch2 = "<Catch2TestRun name=\"a\">\n<TestCase name=\"b\">\n";
    let result =
        "<BenchmarkResults name=\"c\" samples=\"1\">\n<mean value=\"1\"/>\n</BenchmarkResults>\n";
    let metrics = many(900, &|n| format!(" 1 u{n}/op"));
    let files = [
        ("a name before many lines", format!("Benchmark{}\t\n{}", "x".repeat(2_000_000), "y\n".repeat(1_000_000))),
        ("a name within a name", format!("BenchmarkA 1 1 ns/op\n{}\n", "Benchmark".repeat(400_000))),
        ("output without ends of lines", {
            let event = "{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"xxxxxxxxxxxxxxxx\"}\n";
            format!("{{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"BenchmarkA 1 1 ns/op\\n\"}}\n{}", event.repeat(100_000))
        }),
        ("settings that change", many(15_000, &|n| format!("a: {n}\nb: {n}\nBenchmarkA 1 1 ns/op\n"))),
        ("one line of many metrics", format!("BenchmarkA 1{metrics}\n{}", "BenchmarkA 1 1 ns/op\n".repeat(200_000))),
        ("many places", many(100_000, &|n| format!("S{n},1,5,,cycles,1000,100.00\n"))),
        ("a report that goes on", format!("{}{httperf}", "Request rate: 1 req/s\n".repeat(100_000))),
        ("many reports of load", "Server Software:\nConcurrency Level: 1\nComplete requests: 1\nRequests per second: 1\n".repeat(100_000)),
        ("quantiles without end", format!("Running 1s test @ http://x\n Thread Stats\n Latency Distribution\n{}", many(300_000, &|n| format!("{}.{n}% 1us\n", n % 90)))),
        ("options that differ", many(5_000, &|n| format!("httperf --client=0/1 --o{n}=1 --client=0/1\n{httperf}"))),
        ("many benchmarks of one name", format!("{catch2}{}</TestCase>\n</Catch2TestRun>\n", result.repeat(30_000))),
        ("a tag without end", format!("{catch2}<BenchmarkResults name=\"{}", "x\n".repeat(1_000_000))),
        ("a long section", format!("{catch2}<Section name=\"{}\">\n{}", "x".repeat(500_000), result.repeat(30_000))),
        ("many failures", format!("{{\"results\":[{}{{\"name\":\"z\",\"clockResolution\":1,\"elapsed\":1,\"measurements\":[]}}]}}", many(50_000, &|n| format!("{{\"name\":\"a{n}\",\"measurements\":[]}},")))),
        ("a long branch", format!("a  fastest │ slowest │ median │ mean │ samples │ iters\n├─ {}\n{}", "x".repeat(500_000), "│  ├─ y  1 ns │ 1 ns │ 1 ns │ 1 ns │ 1 │ 1\n".repeat(30_000))),
        ("a confidence after every line", format!("Calculating -----\n{}", " a  1.0 (±1.0%) i/s - 1.0 in 1s\n  with 95.0% confidence\n".repeat(40_000))),
        ("times that stand for many", format!("[{}]", vec!["{\"benchmark\":\"a\",\"mode\":\"sample\",\"jmhVersion\":\"1\",\"primaryMetric\":{\"score\":1,\"scoreUnit\":\"ms/op\",\"rawDataHistogram\":[[[[1.0,9999999999]]]]}}"; 100].join(","))),
    ];
    conversions_hold_the_values_once();
    let before = peak();
    for (name, text) in files {
        let size = text.len();
        // Samples or an error: either is acceptable.
        let answer = load_bytes(text.into_bytes(), "hostile", &ImportOptions::default());
        drop(answer);
        if let (Some(before), Some(now)) = (before, peak()) {
            assert!(now - before.min(now) < 600, "{name} of {size} bytes: {now} MiB");
        }
    }
}
