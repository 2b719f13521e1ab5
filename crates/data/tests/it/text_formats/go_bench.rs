//! `go test -bench`: the files of a comparison, of several packages with failures and split lines,
//! and of the JSON stream.

use super::*;
use assay_data::{Better, Unit};

#[test]
fn both_sides_of_a_comparison_are_read_whole() {
    for name in ["old", "new"] {
        let samples = load_file(&format!("go-bench/{name}.txt"));
        assert_eq!(samples.len(), 50);
        assert_eq!(
            names(&samples),
            [
                "BenchmarkCopyElement/params=2-2",
                "BenchmarkCopyElement/params=32-2",
                "BenchmarkEmpty-2",
                "BenchmarkEmptyN-2",
                "BenchmarkUnchanged-2"
            ]
        );
        assert_eq!(samples.findings, []);
        assert_eq!(samples.summaries, []);
        assert!(samples.observations().all(|o| o.level.is_empty() && o.block.is_none()));
        let facts = ["os", "architecture", "pkg", "cpu_model", "recorded_by"];
        let told = facts.map(|fact| samples.environment.text(fact).expect(fact).to_owned());
        assert_eq!(told, ["linux", "amd64", "anchor", "AMD EPYC", "go test"]);
    }
    let old = load_file("go-bench/old.txt");
    assert_eq!(
        metrics(&old),
        ["wall [s]", "B/s [B/s]", "params/op [1]", "B/op [B]", "allocs/op [1]", "iterations [1]"]
    );
    assert_eq!(old.metrics[1].better, Better::Higher);
    assert_eq!(old.metrics[0].better, Better::Lower);
    let copy = "BenchmarkCopyElement/params=2-2";
    assert_eq!(
        values(&old, copy, "wall"),
        [549.7, 393.8, 365.6, 260.5, 397.1, 460.6, 217.0, 246.8, 623.3, 848.5].map(|ns| ns / 1e9)
    );
    assert_eq!(values(&old, copy, "B/s")[..2], [58.22e6, 81.26e6]);
    assert_eq!(values(&old, copy, "allocs/op"), [5.0; 10]);
    assert_eq!(parameters(&old, copy), ["params=2", "gomaxprocs=2"]);
    assert_eq!(old.rows[0].label.as_deref(), Some("BenchmarkCopyElement"));
}

#[test]
fn two_files_are_matched_by_the_names_of_their_benchmarks() {
    let files = [path("go-bench/old.txt"), path("go-bench/new.txt")];
    let both = load(&files, &ImportOptions::default()).expect("they go together");
    assert_eq!(both.len(), 100);
    assert_eq!(both.subjects.len(), 10);
    assert_eq!((both.sides.len(), both.rows.len()), (2, 5));
    assert!(both.rows.iter().all(|row| !row.name.is_empty()));
}

#[test]
fn packages_processors_failures_and_torn_lines_are_told_apart() {
    let samples = load_file("go-bench/mixed.txt");
    // Four sub-benchmarks, `Chatty` and `UnfinishedLine` of one package, `Sort` of the other, each
    // on one and two processors.
    assert_eq!(samples.subjects.len(), 14);
    assert_eq!(samples.len(), 28);
    let chatty = "BenchmarkChatty";
    assert_eq!(values(&samples, chatty, "wall"), [6.855, 6.990].map(|ns| ns / 1e9));
    assert_eq!(values(&samples, "BenchmarkChatty-2", "wall"), [39.41, 25.62].map(|ns| ns / 1e9));
    assert_eq!(values(&samples, "BenchmarkUnfinishedLine", "iterations").len(), 2);
    let torn = values(&samples, "BenchmarkUnfinishedLine", "wall");
    assert_eq!(torn, [8.102, 6.840].map(|ns| ns / 1e9));
    assert_eq!(parameters(&samples, chatty), ["gomaxprocs=1", "pkg=example.com/probe/alpha"]);
    assert_eq!(
        parameters(&samples, "BenchmarkSort/n=256/sorted-2"),
        ["n=256", "1=sorted", "gomaxprocs=2", "pkg=example.com/probe/alpha"]
    );
    assert_eq!(
        parameters(&samples, "BenchmarkSort-2"),
        ["gomaxprocs=2", "pkg=example.com/probe/beta"]
    );
    assert_eq!(samples.environment.text("pkg"), None);
    let sorts = &samples.metrics[samples.metric_index("sorts/s").expect("a custom unit")];
    assert_eq!((&sorts.unit, sorts.better), (&Unit::PerSecond, Better::Higher));
    assert_eq!(codes(&samples), ["BENCHMARK_FAILED"]);
    let told = &samples.findings[0].message;
    for part in
        ["`BenchmarkBroken`", "a panic (assignment to entry", "package `example.com/probe/alpha`"]
    {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn the_stream_of_events_holds_what_the_text_holds() {
    let samples = load_file("go-bench/mixed.json");
    let text = load_file("go-bench/mixed.txt");
    assert_eq!(names(&samples), names(&text));
    assert_eq!(samples.len(), 28);
    assert_eq!(codes(&samples), ["BENCHMARK_FAILED", "BENCHMARKS_MISSING"]);
    assert!(samples.findings[1].message.contains("`BenchmarkSkipped`"));
    assert_eq!(
        values(&samples, "BenchmarkSort/n=16/sorted", "wall"),
        [43.80, 43.00].map(|ns| ns / 1e9)
    );
    assert_eq!(samples.started.as_deref(), Some("2026-11-21T13:06:59.202368951Z"));

    let one = load_file("go-bench/bench.json");
    assert_eq!(names(&one), ["BenchmarkX-2"]);
    assert_eq!(values(&one, "BenchmarkX-2", "wall"), [0.4239e-9]);
    assert_eq!(one.environment.text("pkg"), Some("example.com/shop"));
}

#[test]
fn a_stream_may_have_any_number_of_tests_before_its_benchmarks() {
    let event = |test: &str, output: &str| {
        format!(
            "{{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"{test}\",\"Output\":\"{output}\"}}\n"
        )
    };
    let result =
        event("BenchmarkY", "BenchmarkY-2 \\t") + &event("BenchmarkY", " 10\\t 5 ns/op\\n");
    let test =
        event("TestX", "BenchmarkLog: hello\\nBenchmarkX 10 x ns/op\\nBenchmarkX 10 1 ns/op\\n")
            + "{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"TestX\",\"Elapsed\":1}\n";
    let failed = event("TestZ", "--- FAIL: TestZ (0.00s)\\n");
    for stream in
        [format!("{}{failed}{result}", test.repeat(3000)), format!("{result}{failed}{test}")]
    {
        let samples = plain(stream).expect("a benchmark");
        assert_eq!(names(&samples), ["BenchmarkY-2"]);
        assert_eq!(codes(&samples), ["BENCHMARK_FAILED"]);
    }
    // Output of tests is never a result.
    assert_eq!(names(&plain(&test).expect("a test")), ["p: TestX"]);
}

#[test]
fn a_verbose_run_names_benchmarks_before_their_numbers() {
    let samples = load_file("go-bench/verbose.txt");
    assert_eq!((samples.subjects.len(), samples.len()), (5, 10));
    assert_eq!(values(&samples, "BenchmarkChatty-2", "wall"), [76.39, 113.2].map(|ns| ns / 1e9));
    assert_eq!(samples.findings, []);
}

#[test]
fn names_that_several_packages_share_carry_what_differs() {
    let text =
        "pkg: a\nBenchmarkX 10 1 ns/op\npkg: b\nBenchmarkX 10 2 ns/op\nBenchmarkY 10 3 ns/op\n";
    let samples = plain(text).expect("two packages");
    assert_eq!(names(&samples), ["BenchmarkX pkg=a", "BenchmarkX pkg=b", "BenchmarkY"]);
    assert_eq!(parameters(&samples, "BenchmarkY"), ["pkg=b"]);
}

#[test]
fn the_file_may_say_which_direction_of_a_unit_is_better() {
    let before = "Unit score better=higher assume=exact\nBenchmarkX 1 5 score\n";
    let after = "BenchmarkX 1 5 score\nUnit score better=higher\n";
    for text in [before, after] {
        assert_eq!(plain(text).expect("a score").metrics[0].better, Better::Higher);
    }
}

#[test]
fn wrong_lines_are_named_with_what_was_expected() {
    let good = "BenchmarkX 10 1 ns/op 2 B/op\n";
    let said = refused(format!("{good}BenchmarkX 10 1 ns/op 2\n"));
    assert!(
        said.starts_with("x.txt:2: `BenchmarkX 10 1 ns/op 2` is not a result; expected a name"),
        "{said}"
    );
    let said = refused(format!("{good}BenchmarkX 10 1 ns/op 2 B/"));
    assert!(said.starts_with("x.txt:2: the file breaks off here, within the unit `B/`"), "{said}");
    let said = refused(format!("{good}BenchmarkX 10 1"));
    assert!(said.starts_with("x.txt:2: the file breaks off here"), "{said}");
    let stream = text("go-bench/bench.json");
    let said = refused(&stream[..stream.len() - 20]);
    assert!(said.contains("x.txt:12:") && said.contains("the file breaks off here"), "{said}");
}

#[test]
fn a_line_that_is_meant_as_a_result_and_is_none_is_an_error_with_its_place() {
    let good = "BenchmarkX 10 1 ns/op 2 B/op\n";
    for bad in [
        "BenchmarkX 10 x ns/op",
        "BenchmarkX\t10\tx ns/op",
        "BenchmarkX-8 \t 10\t 54,2 ns/op",
        "BenchmarkX x 54.2 ns/op",
        "BenchmarkX 10 1 ns/op x B/op",
        "BenchmarkX 10 fast MB/s",
    ] {
        let said = refused(format!("{good}{bad}\n{good}"));
        assert!(said.starts_with("x.txt:2: `BenchmarkX"), "{bad}: {said}");
        assert!(said.contains("is not a result; expected a name"), "{bad}: {said}");
    }
}

#[test]
fn a_value_that_is_no_finite_number_is_missing_and_told_with_its_place() {
    let text = "BenchmarkX 10 1 ns/op NaN hits/op\nBenchmarkX 10 2 ns/op 3 hits/op\nBenchmarkX 10 +Inf ns/op 3 hits/op\n";
    let samples = plain(text).expect("the other values are there");
    assert_eq!(samples.len(), 3);
    assert_eq!(values(&samples, "BenchmarkX", "hits/op"), [3.0, 3.0]);
    assert_eq!(values(&samples, "BenchmarkX", "wall"), [1e-9, 2e-9]);
    assert_eq!(codes(&samples), ["BENCHMARK_FAILED"]);
    let told = &samples.findings[0].message;
    assert!(told.contains("`NaN hits/op` of `BenchmarkX` (x.txt:1)"), "{told}");
    assert!(told.contains("`+Inf ns/op` of `BenchmarkX` (x.txt:3)"), "{told}");
}

#[test]
fn what_a_benchmark_prints_under_its_own_name_is_passed_over_and_told() {
    let text = "BenchmarkX 10 1 ns/op\nBenchmarkX 10 items are done\nBenchmarking 10 of 20 ns/op\nBenchmarkX: done\n";
    let samples = plain(text).expect("one result");
    assert_eq!((samples.len(), codes(&samples)), (1, vec!["PARTLY_READ"]));
    let told = &samples.findings[0].message;
    assert!(told.ends_with("`BenchmarkX 10 items are done` (x.txt:2)"), "{told}");
}
