//! Ruby's `Benchmark`, benchmark.js, the totals of valgrind's tools and of gungraun.

use super::{load_file, metrics, names, plain, refused, summary, text, values};
use assay_data::Better;

#[test]
fn ruby_has_observations_without_the_rehearsal() {
    let samples = load_file("ruby-benchmark/sorting.txt");
    assert_eq!(names(&samples), ["sort!", "sort by", "row 1", "max x", "row 2"]);
    assert_eq!(metrics(&samples), ["wall [s]", "cpu [s]", "user [s]", "system [s]"]);
    assert_eq!(values(&samples, "sort!", "wall"), [0.003_282]);
    assert_eq!(values(&samples, "sort by", "cpu"), [0.0131]);
    let twice = plain(text("ruby-benchmark/sorting.txt").repeat(2)).expect("two runs");
    assert_eq!(values(&twice, "sort by", "system"), [0.003_771; 2]);
    let damaged =
        text("ruby-benchmark/sorting.txt").replace("  0.003269   0.0", "  O.003269   0.0");
    assert!(refused(damaged).contains("is not a row; expected a label"));
}

#[test]
fn benchmark_js_has_rates_with_thousands_separated() {
    let samples = load_file("benchmark-js/suite.txt");
    assert_eq!(names(&samples), ["fib#recursive", "concat and split"]);
    assert_eq!(samples.metrics[0].better, Better::Higher);
    let told = summary(&samples, "fib#recursive", "rate");
    assert_eq!((told.mean, told.count, told.sd), (Some(143_049.0), Some(82), None));
    let twice = plain(text("benchmark-js/suite.txt").repeat(2)).expect("two runs");
    assert_eq!(values(&twice, "concat and split", "rate"), [6_648_351.0; 2]);
    let whole = text("benchmark-js/suite.txt");
    let wrong = refused(whole.clone() + "a x NaN ops/sec ±1% (3 runs sampled)\n");
    assert!(wrong.starts_with("x.txt:4: `a x NaN"), "{wrong}");
}

#[test]
fn valgrind_has_exact_totals_of_the_program() {
    let file = load_file("valgrind/cachegrind.out");
    assert_eq!(names(&file), ["./w"]);
    assert_eq!(metrics(&file)[..3], ["Ir [1]", "I1mr [1]", "ILmr [1]"]);
    assert!(file.metrics.iter().all(|metric| metric.exact));
    for (name, instructions) in [
        ("cachegrind.out", 926_995.0),
        ("cachegrind.txt", 926_995.0),
        ("callgrind.out", 925_873.0),
        ("callgrind.txt", 925_873.0),
    ] {
        let samples = load_file(&format!("valgrind/{name}"));
        assert_eq!(values(&samples, "./w", "Ir"), [instructions], "{name}");
        let twice = plain(text(&format!("valgrind/{name}")).repeat(2)).expect(name);
        assert_eq!(values(&twice, "./w", "Ir"), [instructions; 2], "{name}");
    }
    let wrong = refused(text("valgrind/callgrind.out").replace("totals: 925873", "totals: x"));
    assert!(wrong.contains("expected a count for every event"), "{wrong}");
}

#[test]
fn gungraun_has_the_same_counts_in_text_and_json() {
    let printed = load_file("gungraun/second.txt");
    let short = "sums::group::bench_fib short:(10)";
    let all = [short, "sums::group::bench_fib long:(20)", "sums::group::bench_sum"];
    assert_eq!(names(&printed), all);
    let counted =
        ["Ir [1]", "L1hits [1]", "LLhits [1]", "RamHits [1]", "TotalRW [1]", "EstimatedCycles [1]"];
    assert_eq!(metrics(&printed), counted);
    let json = load_file("gungraun/v7.json");
    assert_eq!(names(&json), all);
    assert_eq!(metrics(&json)[0], "Ir [1]");
    for name in all {
        for metric in printed.metrics.iter().map(|metric| metric.name.as_str()) {
            assert_eq!(values(&printed, name, metric), values(&json, name, metric), "{metric}");
        }
    }
    assert_eq!(values(&json, short, "Ir"), [1805.0]);
    let coloured = text("gungraun/second.txt")
        .replace("sums::group", "\u{1b}[32msums::group")
        .replace("1805|", "\u{1b}[1m1805\u{1b}[0m|");
    assert_eq!(values(&plain(coloured).expect("colours"), short, "Ir"), [1805.0]);
}

#[test]
fn gungraun_tells_its_tools_apart_and_other_versions_are_refused() {
    let text = "a::b c:1\nlines\n  ======= DHAT =====\n  Total bytes:  29499|N/A  (*)\n  ======= HELGRIND =====\n  Errors:   1|0  (*)\n\nbench_iai\n  Instructions:  1735 (+1.1%)\n  L1 Accesses:   2364\n\nRight::only\n  Instructions:  N/A|7\n";
    let read = plain(text).expect("three benchmarks");
    assert_eq!(names(&read), ["a::b c:1 lines", "bench_iai"]);
    assert_eq!(
        metrics(&read),
        ["TotalBytes [B]", "helgrind Errors [1]", "Ir [1]", "L1Accesses [1]"]
    );
    let version_6 = r#"{"module_path":"a::b","function_name":"b","id":"c","details":null,"version":"6",
        "profiles":[{"tool":"Callgrind","summaries":{"total":{"summary":{"Callgrind":{
        "Dr":{"metrics":{"Right":{"Int":1}}},"Ir":{"metrics":{"Both":[{"Int":6},{"Int":5}]}}}}}}},
        {"tool":"Massif","summaries":{"total":{"summary":"None"}}}]}"#;
    let read = plain(version_6).expect("version 6");
    assert_eq!((values(&read, "a::b c", "Ir"), metrics(&read).len()), (vec![6.0], 1));
    let older = refused(version_6.replace("\"6\"", "\"5\""));
    assert!(older.contains("this assay supports versions 6 and 7"), "{older}");
    let cut = refused("a::b\n  Instructions:  17|N/A  (*)\n  L1 Hits:   23|N/");
    assert!(cut.contains("x.txt:3: the file breaks off"), "{cut}");
}

#[test]
fn names_with_times_are_observations() {
    let console = load_file("named-times/console.txt");
    assert_eq!(names(&console), ["parse", "print tree", "long"]);
    assert_eq!(values(&console, "parse", "wall"), [12.345 / 1e3, 11.98 / 1e3]);
    assert_eq!(values(&console, "long", "wall"), [62.345]);
    let browser = plain("a: The third - x: 8827ms - timer ended\n").expect("a browser's");
    assert_eq!(values(&browser, "a: The third - x", "wall"), [8.827]);
    let dart = load_file("named-times/dart.txt");
    assert_eq!(values(&dart, "ForLoop", "wall"), [2.5e-6]);
    assert!(refused("a: 1ms\nb: 2ms\nhello\n").contains("x.txt:3: `hello`"));
}

#[test]
fn asv_prints_medians_and_its_results_have_samples() {
    let printed = load_file("asv/run.txt");
    assert_eq!(names(&printed)[..2], ["sums.Plain.mem_list", "sums.Plain.peakmem_range"]);
    let of = |name: &str, metric: &str| summary(&printed, name, metric).median;
    assert_eq!(of("sums.Plain.time_range", "wall"), Some(10.8e-6));
    assert_eq!(of("sums.Plain.peakmem_range", "peakmem"), Some(24.8e6));
    assert_eq!(of("sums.Plain.track_answer", "track"), Some(42.0));
    assert_eq!(printed.findings.len(), 2);
    let results = load_file("asv/results.json");
    assert_eq!(results.metrics[0].name, "wall");
    let sorted = values(&results, "sums.Sums.time_sum(10, tuple)", "wall");
    assert_eq!((sorted.len(), sorted[1]), (5, 3.6100391298532486e-07));
    assert_eq!(values(&results, "sums.Plain.mem_list", "mem"), [856.0]);
    assert!(results.findings.iter().any(|f| f.message.contains("time_broken")));
    let kept = text("asv/results.json").replace("\"samples\"", "\"other\"");
    let median = summary(&plain(kept).expect("medians"), "sums.Plain.time_range", "wall").clone();
    assert_eq!((median.count, median.median), (Some(5), Some(1.077683784617195e-05)));
}

#[test]
fn tables_of_tinybench_and_benchmark_dotnet_are_summaries() {
    let tiny = load_file("tinybench/table.txt");
    assert_eq!(names(&tiny), ["reduce", "loop", "later"]);
    let loops = summary(&tiny, "loop", "wall");
    assert_eq!(
        (loops.mean, loops.median, loops.count),
        (Some(2663.2 / 1e9), Some(1122e-9), Some(37549))
    );
    assert_eq!(tiny.findings.len(), 1);
    let twice = plain(text("tinybench/table.txt").repeat(2)).expect("two runs");
    assert_eq!(values(&twice, "reduce", "wall"), [836.57 / 1e9; 2]);

    let report = load_file("benchmark-dotnet/report.csv");
    assert_eq!(names(&report), ["Sort(N: 100)", "Sort(N: 10000)", "Copy(N: 100)"]);
    let sort = summary(&report, "Sort(N: 100)", "wall");
    assert_eq!((sort.mean, sort.sd, sort.median), (Some(1234.5e-9), Some(21.4e-9), Some(1230e-9)));
    assert_eq!(summary(&report, "Copy(N: 100)", "wall").mean, Some(14.7e-6));
    let bytes = summary(&report, "Sort(N: 10000)", "allocated").mean;
    assert_eq!(bytes, Some(9.75 * 1024.0 * 1024.0));
    let units = load_file("benchmark-dotnet/units-in-heading.csv");
    let only = summary(&units, names(&units)[0], "wall");
    assert_eq!((only.mean, only.min, only.max), (Some(2.54 / 1e6), Some(2.4e-6), Some(2.7e-6)));
    let wrong = text("benchmark-dotnet/report.csv").replace("18.42 ms", "18.42 furlongs");
    assert!(refused(wrong).contains("x.txt:3: `18.42 furlongs` in the column `Mean`"));
}
