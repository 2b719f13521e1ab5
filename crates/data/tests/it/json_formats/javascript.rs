//! JSON of vitest, tinybench and mitata: summaries in seconds, as stated by the files.

use super::{findings, names, parameters, plainly, read, refused, summary};
use assay_data::import::{ImportOptions, load_bytes};

#[test]
fn vitest_tells_milliseconds_and_groups() {
    let samples = read("vitest/fibonacci.json");
    let name = "vt/fib.bench.mjs > fibonacci > recursive";
    assert_eq!(names(&samples), [name, "vt/fib.bench.mjs > fibonacci > loop"]);
    let told = &plainly("vitest/fibonacci.json")["files"][0]["groups"][0]["benchmarks"][0];
    let read = summary(&samples, name, "wall");
    assert_eq!(read.mean, told["mean"].as_f64().map(|ms| ms / 1e3));
    assert_eq!(read.sd, told["sd"].as_f64().map(|ms| ms / 1e3));
    assert_eq!(read.median, told["median"].as_f64().map(|ms| ms / 1e3));
    assert_eq!(read.count, told["sampleCount"].as_u64());
}

#[test]
fn vitest_from_version_5_on_has_benchmarks_within_tests() {
    let samples = read("vitest/text-5.1.json");
    let expected = ["split > split it", "two > upper", "two > lower"];
    let mut read: Vec<String> = names(&samples).iter().map(ToString::to_string).collect();
    read.sort();
    let mut expected = expected.map(|name| format!("a.bench.js > text > {name}"));
    expected.sort();
    assert_eq!(read, expected);
    let tests = &plainly("vitest/text-5.1.json")["testResults"][0]["assertionResults"];
    let told = &tests[0]["benchmarks"][0]["tasks"][0]["latency"];
    let read = summary(&samples, "a.bench.js > text > split > split it", "wall");
    assert_eq!(read.mean, told["mean"].as_f64().map(|ms| ms / 1e3));
    assert_eq!(read.sd, told["sd"].as_f64().map(|ms| ms / 1e3));
    assert_eq!(read.count, told["samplesCount"].as_u64());
    let failed = findings(&samples, "BENCHMARK_FAILED");
    assert_eq!(failed[0].subject.as_deref(), Some("a.bench.js > text broken"));
    assert_eq!(failed.len(), 1);

    // A file that can't be loaded.
    let text = r#"{"testResults": [{"name": "/a.bench.js", "status": "passed", "assertionResults": [{"fullName": "t", "status": "passed",
        "benchmarks": [{"name": "t", "tasks": [{"name": "b", "latency": {"mean": 2}}]}]}]},
        {"name": "/b.bench.js", "status": "failed", "message": "no module", "assertionResults": []}]}"#;
    let samples = load_bytes(text.as_bytes().to_vec(), "x.json", &ImportOptions::default());
    let samples = samples.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(names(&samples), ["a.bench.js > t > b"]);
    assert_eq!(findings(&samples, "BENCHMARK_FAILED")[0].subject.as_deref(), Some("b.bench.js"));
}

#[test]
fn tinybench_tells_milliseconds() {
    let samples = read("tinybench/tasks.json");
    assert_eq!(names(&samples), ["recursive", "loop"]);
    let told = &plainly("tinybench/tasks.json")[1]["result"]["latency"];
    let read = summary(&samples, "loop", "wall");
    assert_eq!(read.mean, told["mean"].as_f64().map(|ms| ms / 1e3));
    assert_eq!(read.median, told["p50"].as_f64().map(|ms| ms / 1e3));
    assert_eq!(read.count, told["samplesCount"].as_u64());
    assert_eq!(samples.environment.text("tinybench.runtime"), Some("node"));
}

#[test]
fn tinybench_before_version_3_has_its_statistics_in_the_result() {
    let text = r#"[{"name": "ok", "result": {"hz": 800, "period": 1.25, "samples": [1.5, 1, 1.25], "mean": 1.25, "sd": 0.25}},
        {"name": "threw", "result": {"error": {"message": "x"}}}, {"name": "never ran"}]"#;
    let samples = load_bytes(text.as_bytes().to_vec(), "x.json", &ImportOptions::default());
    let samples = samples.unwrap_or_else(|error| panic!("{error}"));
    let read = summary(&samples, "ok", "wall");
    assert_eq!((read.mean, read.sd, read.count), (Some(0.00125), Some(0.00025), Some(3)));
    let without: Vec<_> =
        findings(&samples, "BENCHMARK_FAILED").iter().map(|f| f.subject.clone()).collect();
    assert_eq!(without, [Some("threw".to_owned()), Some("never ran".to_owned())]);
}

#[test]
fn a_benchmark_of_no_samples_has_no_time() {
    let text = r#"{"files": [{"groups": [{"fullName": "g", "benchmarks":
        [{"name": "none", "mean": 0, "sampleCount": 0}, {"name": "one", "mean": 2, "sampleCount": 7}]}]}]}"#;
    let samples = load_bytes(text.as_bytes().to_vec(), "x.json", &ImportOptions::default());
    let samples = samples.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(names(&samples), ["g > one"]);
    assert_eq!(findings(&samples, "BENCHMARK_FAILED")[0].subject.as_deref(), Some("g > none"));
}

#[test]
fn mitata_tells_nanoseconds_and_arguments() {
    let samples = read("mitata/fibonacci.json");
    assert_eq!(names(&samples), ["fib 20", "fib 22", "loop"]);
    assert_eq!(parameters(&samples, "fib 22"), "n=22");
    let told = &plainly("mitata/fibonacci.json")["benchmarks"][1]["runs"][0]["stats"];
    let read = summary(&samples, "loop", "wall");
    assert_eq!(read.mean, told["avg"].as_f64().map(|ns| ns / 1e9));
    assert_eq!((read.sd, read.count), (None, None));
}

#[test]
fn a_task_without_a_result_is_told_and_a_negative_time_refused() {
    let text = |mean: &str| {
        format!(
            "[{{\"name\":\"a\",\"result\":{{\"latency\":{{\"moe\":0,\"mean\":1}}}}}},\n{{\"name\":\"b\",\"result\":{{\"latency\":{{\"mean\":{mean}}}}}}}]"
        )
    };
    for mean in ["NaN", "null"] {
        let samples = load_bytes(text(mean).into_bytes(), "x.json", &ImportOptions::default());
        let samples = samples.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(names(&samples), ["a"]);
        assert_eq!(findings(&samples, "BENCHMARK_FAILED")[0].subject.as_deref(), Some("b"));
    }
    let error = refused(text("-1"));
    assert_eq!(error, "x.json:2:43: a time of -1; a time cannot be negative");
}
