//! BenchmarkDotNet's JSON, full and brief: files written here in its layout, and real files if
//! `ASSAY_TEST_DATA` names a directory.

#![allow(clippy::print_stdout, reason = "tests")]

use super::{findings, names, parameters, refused, summary, values};
use assay_data::Samples;
use assay_data::import::{ImportOptions, load, load_bytes};
use std::path::Path;

fn file(measurements: &str, mean: &str) -> String {
    format!(
        "{{\"Title\":\"Sorting\",\"HostEnvironmentInfo\":{{\"BenchmarkDotNetVersion\":\"0.14.0\",\"ProcessorName\":\"a processor\"}},\n\
        \"Benchmarks\":[{{\"Type\":\"Sorting\",\"Method\":\"Few\",\"Parameters\":\"N=10&Kind=a\",\"FullName\":\"Sorting.Few(N: 10)\",\n\
        \"Statistics\":{{\"N\":2,\"Mean\":{mean},\"Median\":5.5,\"StandardDeviation\":0.5,\"Min\":5,\"Max\":6}},\n\
        \"Memory\":{{\"BytesAllocatedPerOperation\":64}}{measurements}}},\n\
        {{\"Type\":\"Sorting\",\"Method\":\"Huge\",\"Statistics\":null}}]}}"
    )
}

fn read(text: String) -> Samples {
    let read = load_bytes(text.into_bytes(), "x.json", &ImportOptions::default());
    read.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn jobs_distinguish_benchmarks_of_equal_names() {
    let of = |jobs: &[&str]| {
        let one = |job: &&str| {
            format!(
                r#"{{"DisplayInfo":"Sort.Run: {job} [N=10]","FullName":"X.Sort.Run(N: 10)","Method":"Run","Parameters":"N=10","Statistics":{{"N":3,"Mean":100}}}}"#
            )
        };
        let all = jobs.iter().map(one).collect::<Vec<_>>().join(",");
        read(format!(
            r#"{{"HostEnvironmentInfo":{{"BenchmarkDotNetVersion":"0.14.0"}},"Benchmarks":[{all}]}}"#
        ))
    };
    let runtimes = of(&[".NET 8.0(Runtime=.NET 8.0)", ".NET 9.0(Runtime=.NET 9.0)"]);
    assert_eq!(names(&runtimes), ["X.Sort.Run(N: 10) [.NET 8.0]", "X.Sort.Run(N: 10) [.NET 9.0]"]);
    assert_eq!(parameters(&runtimes, names(&runtimes)[1]), "N=10 job=.NET 9.0");
    // The names of unnamed jobs are random.
    let unnamed = of(&["Job-ABCDEF(Server=True)", "Job-GHIJKL(Server=False)", "DefaultJob"]);
    let name = "X.Sort.Run(N: 10)";
    let expected =
        ["Server=True", "Server=False", "DefaultJob"].map(|job| format!("{name} [{job}]"));
    assert_eq!(names(&unnamed), expected);
    assert_eq!(names(&of(&["Job-ABCDEF(Server=True)"])), [name]);
    assert_eq!(names(&of(&["DefaultJob", "DefaultJob"])), [name, "X.Sort.Run(N: 10) #2"]);
}

#[test]
fn a_full_file_has_the_results_of_the_workload_in_launches() {
    let measurement = |stage: &str, index: u32, nanoseconds: u32| {
        format!(
            "{{\"IterationMode\":\"Workload\",\"IterationStage\":\"{stage}\",\"LaunchIndex\":1,\"IterationIndex\":{index},\"Operations\":4,\"Nanoseconds\":{nanoseconds}}}"
        )
    };
    let all =
        [measurement("Warmup", 1, 99), measurement("Result", 1, 20), measurement("Result", 2, 24)];
    let samples = read(file(&format!(",\"Measurements\":[{}]", all.join(",")), "5.5"));
    let name = "Sorting.Few(N: 10)";
    assert_eq!(names(&samples), [name]);
    assert_eq!(parameters(&samples, name), "N=10 Kind=a");
    assert_eq!(values(&samples, name, "wall"), [5e-9, 6e-9]);
    assert_eq!(samples.observations().next().map(|o| o.level), Some(vec![1, 1]));
    assert_eq!(summary(&samples, name, "allocated").mean, Some(64.0));
    assert_eq!(samples.tool.as_deref(), Some("BenchmarkDotNet 0.14.0"));
    assert_eq!(findings(&samples, "BENCHMARK_FAILED")[0].subject.as_deref(), Some("Sorting.Huge"));
}

#[test]
fn a_brief_file_has_a_summary() {
    let samples = read(file("", "5.5"));
    let told = summary(&samples, "Sorting.Few(N: 10)", "wall");
    assert_eq!((told.count, told.mean, told.sd), (Some(2), Some(5.5e-9), Some(5e-10)));
    assert!(refused(file("", "-5.5")).contains("a time cannot be negative"));
}

#[test]
fn real_files_are_read() {
    let Some(data) = std::env::var_os("ASSAY_TEST_DATA") else {
        println!("skipped: it takes real files in the directory that ASSAY_TEST_DATA names");
        return;
    };
    let file = Path::new(&data).join("third-party/bencher/c_sharp-dot_net-two.json");
    let samples = load(&[&file], &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let told = summary(&samples, "BenchmarkDotNet.Samples.Intro.IntroJsonExport.Sleep10", "wall");
    assert_eq!(told.mean, Some(10_362_283.085_796_878 / 1e9));
    let file = Path::new(&data).join("third-party/bencher/cpp-catch2-two.txt");
    let samples = load(&[&file], &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(summary(&samples, "Fibonacci: Fibonacci 20", "wall").sd, Some(0.0));
}
