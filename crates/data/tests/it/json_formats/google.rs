//! Google Benchmark's JSON and CSV.

use super::*;
use assay_data::{Better, Design, Severity, Unit};

const PAIRS: [&str; 9] = [
    "plain",
    "one",
    "reps3",
    "reps12",
    "interleaved",
    "aggonly",
    "uneven",
    "complexity-reps3",
    "memmgr",
];

fn files() -> Vec<String> {
    let pairs = PAIRS
        .iter()
        .flat_map(|pair| ["old", "new"].map(|side| format!("google-benchmark/{pair}-{side}.json")));
    pairs.chain(["google-benchmark/context.json".to_owned()]).collect()
}

fn rows(file: &Value) -> Vec<&Value> {
    file["benchmarks"].as_array().unwrap().iter().collect()
}

fn seconds(row: &Value, key: &str) -> f64 {
    let per_second = match row["time_unit"].as_str().unwrap() {
        "ns" => 1e9,
        "us" => 1e6,
        "ms" => 1e3,
        _ => 1.0,
    };
    row[key].as_f64().unwrap() / per_second
}

#[test]
fn an_aggregate_without_a_kind_beside_repetitions_is_a_summary() {
    let file = r#"{"context":{"date":"","num_cpus":2,"mhz_per_cpu":1},"benchmarks":[
        {"name":"BM_One","run_type":"aggregate","iterations":1000,"real_time":10,"cpu_time":100,"time_unit":"ns"},
        {"name":"BM_Two","run_type":"iteration","iterations":1000,"real_time":9,"cpu_time":90,"time_unit":"ns"}]}"#;
    let samples = load_bytes(file.into(), "x", &ImportOptions::default()).expect("a file");
    let told: Vec<_> = samples.summaries.iter().map(|s| (s.subject, s.mean, s.count)).collect();
    assert_eq!(told, [(0, Some(1e-8), None), (0, Some(1e-7), None)]);
    assert_eq!(samples.len(), 1);
}

#[test]
fn every_repetition_of_every_file_is_an_observation_in_its_place() {
    for name in files() {
        let samples = read(&name);
        let plain = plainly(&name);
        let is_value =
            |row: &&Value| row["run_type"] == "iteration" && row["error_occurred"] != true;
        let expected: Vec<&Value> = rows(&plain).into_iter().filter(is_value).collect();
        assert_eq!(samples.len(), expected.len(), "{name}");
        for (observation, row) in samples.observations().zip(expected) {
            assert_eq!(samples.subjects[observation.subject].name, row["run_name"], "{name}");
            let known = [seconds(row, "real_time"), seconds(row, "cpu_time")];
            assert_eq!(observation.values[..2], known, "{name}");
            assert_eq!(observation.values[2], row["iterations"].as_f64().unwrap());
        }
        assert_eq!(metrics(&samples)[..3], ["wall", "cpu", "iterations"]);
        assert_ne!(samples.design(), Design::Blocks);
    }
}

#[test]
fn totals_are_divided_by_iterations_and_all_else_stands() {
    for name in ["one", "reps3", "reps12", "interleaved", "uneven", "memmgr", "plain"] {
        let [old, new] =
            ["old", "new"].map(|side| read(&format!("google-benchmark/{name}-{side}.json")));
        for (samples, allocs, reallocs, frees) in [(&old, 6.0, 2.0, 7.0), (&new, 7.0, 0.0, 7.0)] {
            for (metric, expected) in [
                ("CallsToAlloc/iteration", allocs),
                ("CallsToRealloc/iteration", reallocs),
                ("CallsToFree/iteration", frees),
            ] {
                let values = values(samples, "CopyElement", metric);
                assert!(
                    !values.is_empty() && values.iter().all(|&v| v == expected),
                    "{name} {values:?}"
                );
            }
            assert!(samples.metric_index("CallsToAlloc").is_none());
            assert!(samples.metric_index("MemoryAllocated/iteration").is_some());
            assert_eq!(findings(samples, "COUNTED_WHOLE").len(), 1);
        }
    }
    let samples = read("google-benchmark/plain-old.json");
    assert_eq!(values(&samples, "CopyElementN/params:64", "AllocsPerIter"), [130.0]);
    assert_eq!(values(&samples, "CopyElementN/params:2", "Copies"), [9.383_093_492_352_782e6]);
    assert!(samples.metric_index("AllocsPerIter/iteration").is_none());
}

#[test]
fn a_total_too_small_to_show_it_is_kept_both_ways() {
    let row = |allocs: u64, reallocs: u64| {
        format!(
            r#"{{"name":"B","run_type":"iteration","iterations":1000000,"real_time":5,"cpu_time":4,
            "time_unit":"ns","allocs":{allocs},"reallocs":{reallocs},"rate":2.5}}"#
        )
    };
    let file = |rows: &str| {
        let text = format!(r#"{{"context":{{"num_cpus":2}},"benchmarks":[{rows}]}}"#);
        load_bytes(text.into_bytes(), "x", &ImportOptions::default()).unwrap()
    };
    let samples = file(&row(8_000_003, 2));
    assert_eq!(values(&samples, "B", "allocs/iteration"), [8.000003]);
    assert_eq!(values(&samples, "B", "reallocs"), [2.0]);
    assert_eq!(values(&samples, "B", "reallocs/iteration"), [2e-6]);
    assert_eq!(values(&samples, "B", "rate"), [2.5]);
    assert!(samples.metric_index("rate/iteration").is_none());
    let unknown = file(&row(7, 2));
    assert_eq!(metrics(&unknown), ["wall", "cpu", "iterations", "allocs", "reallocs", "rate"]);
}

#[test]
fn names_units_and_directions_are_understood() {
    let samples = read("google-benchmark/plain-old.json");
    assert_eq!(parameters(&samples, "CopyElementN/params:64"), "params=64");
    assert_eq!(parameters(&samples, "AutoComplexity/512"), "1=512");
    assert_eq!(parameters(&samples, "Threaded/real_time/threads:2"), "threads=2");
    assert_eq!(parameters(&samples, "TwoArgs/w:64/h:4"), "w=64 h=4");
    assert_eq!(parameters(&samples, "Millis/iterations:20"), "");
    let label = |name: &str| {
        samples.label_of(&samples.subjects[subject(&samples, name)]).unwrap().to_owned()
    };
    assert_eq!(label("TwoArgs/w:64/h:4"), "TwoArgs");
    assert_eq!(label("Templ<int>"), "Templ<int>");
    let metric = |name: &str| &samples.metrics[samples.metric_index(name).unwrap()];
    assert_eq!(metric("wall").unit, Unit::Second);
    let items = metric("items_per_second");
    assert_eq!((&items.unit, items.better), (&Unit::PerSecond, Better::Higher));
    let bytes = metric("bytes_per_second");
    assert_eq!((&bytes.unit, bytes.better), (&Unit::Other("B/s".into()), Better::Higher));
}

#[test]
fn errors_complexity_labels_and_the_library_are_told() {
    let samples = read("google-benchmark/plain-old.json");
    let errors = findings(&samples, "BENCHMARK_FAILED");
    assert_eq!(errors.len(), 2);
    assert_eq!(
        errors[0].message,
        "`SkipsWithError` ended with an error: could not send an entry to the target"
    );
    assert!(!names(&samples).contains(&"ErrorHalfway"), "it has no value");
    assert_eq!(findings(&samples, "DEBUG_BUILD").len(), 1);
    assert!(findings(&samples, "CPU_FREQUENCY").is_empty());
    let e = &samples.environment;
    assert_eq!(e.text("hostname"), Some("vm"));
    assert_eq!(e.number("cpus_online"), Some(2.0));
    assert_eq!(e.number("load_1m"), Some(18.9053));
    assert_eq!(e.text("google_benchmark.executable"), Some("old"));
    assert_eq!(samples.started.as_deref(), Some("2026-11-21T01:38:50+00:00"));
    let fit = &e.facts["google_benchmark.complexity"]["CopyElementN"];
    assert_eq!(fit["big_o"], "N");
    assert_eq!(fit["real_coefficient"], 2.874_034_121_105_865e2);
    assert!(fit["rms"].is_number());
    assert_eq!(e.facts["google_benchmark.labels"]["CopyElementN/params:2"], "grow");
    let context = read("google-benchmark/context.json").environment;
    assert_eq!(context.text("google_benchmark.commit"), Some("abc123"));
}

#[test]
fn aggregates_alone_are_summaries_and_never_observations() {
    let samples = read("google-benchmark/aggonly-old.json");
    assert_eq!((samples.len(), samples.design()), (0, Design::Summary));
    let wall = summary(&samples, "CopyElement", "wall");
    assert_eq!(wall.count, Some(5));
    assert_eq!(wall.mean, Some(416.957_290_160_222_8 / 1e9));
    assert_eq!(wall.median, Some(403.36480722580393 / 1e9));
    assert_eq!(wall.sd, Some(31.352766186113975 / 1e9));
    assert_eq!(samples.summaries.len(), 3 * 2, "wall and cpu of three benchmarks");
    let left_out = findings(&samples, "COUNTED_WHOLE");
    assert_eq!(left_out.len(), 1);
    assert_eq!(left_out[0].severity, Severity::Warning);
    assert!(read("google-benchmark/reps3-old.json").summaries.is_empty(), "repetitions are there");
}

#[test]
fn bytes_that_cannot_be_are_left_out_and_told() {
    for side in ["old", "new"] {
        let samples = read(&format!("google-benchmark/memmgr-{side}.json"));
        assert_eq!(values(&samples, "CopyElement", "max_bytes_used"), [4096.0, 4096.0]);
        assert_eq!(values(&samples, "CopyElement", "allocs_per_iter").len(), 3);
        assert_eq!(findings(&samples, "NOT_COUNTED").len(), 1);
    }
}

#[test]
fn the_table_is_read_like_the_json() {
    let samples = read("google-benchmark/plain.csv");
    assert_eq!(samples.len(), 7);
    assert_eq!(values(&samples, "TwoArgs/w:64/h:1", "wall"), [21.5139 / 1e9]);
    assert_eq!(values(&samples, "Templ<double>", "cpu"), [22.9226 / 1e9]);
    assert_eq!(parameters(&samples, "TwoArgs/w:8/h:4"), "w=8 h=4");
    assert_eq!(samples.environment.number("load_1m"), Some(18.42));
    assert_eq!(samples.environment.number("cpus_online"), Some(2.0));
    assert_eq!(findings(&samples, "DEBUG_BUILD").len(), 1);
    let table = "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message,\"n\"\n\
        \"B/1\",1000,5,4,us,,,\"a \"\"b\"\"\",,,3000\n\"B/1\",1000,7,4,us,,,,,,3000\n\"B/1_mean\",2,6,4,us,,,,,,3000\n\
        \"E\",,,,,,,,true,\"it broke\",\n";
    let samples = load_bytes(table.into(), "x", &ImportOptions::default()).unwrap();
    assert_eq!(values(&samples, "B/1", "wall"), [5.0 / 1e6, 7.0 / 1e6]);
    assert_eq!(values(&samples, "B/1", "n/iteration"), [3.0, 3.0]);
    assert_eq!(names(&samples), ["B/1"]);
    assert_eq!(
        findings(&samples, "BENCHMARK_FAILED")[0].message,
        "`E` ended with an error: it broke"
    );
}

#[test]
fn a_table_of_aggregates_alone_has_one_benchmark_for_each() {
    let head = "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message\n";
    let rows = |base: &str, endings: &[&str]| {
        let row = |ending: &&str| format!("\"{base}{ending}\",3,6,4,ns,,,,,\n");
        endings.iter().map(row).collect::<String>()
    };
    let read = |text: String| load_bytes(text.into(), "x", &ImportOptions::default()).unwrap();
    let all = ["_mean", "_median", "_stddev", "_cv"];
    let samples = read(format!("{head}{}{}", rows("A", &all), rows("A/8", &all[..3])));
    assert_eq!((names(&samples), samples.len()), (vec!["A", "A/8"], 0));
    let of_wall = samples.summaries.iter().find(|summary| summary.metric == "wall").unwrap();
    assert_eq!((of_wall.mean, of_wall.sd, of_wall.count), (Some(6e-9), Some(6e-9), Some(3)));
    // A benchmark may itself be called `of_mean`.
    let samples = read(format!("{head}{}", rows("of", &["_mean"])));
    assert_eq!((names(&samples), samples.len()), (vec!["of_mean"], 1));
    let samples = read(format!("{head}{}{}", rows("of", &["_mean"; 2]), rows("by", &["_median"])));
    assert_eq!((names(&samples), samples.len()), (vec!["of_mean", "by_median"], 3));
    // With counters, the row of a failed benchmark has fewer columns.
    let samples =
        read(format!("{},n\n\"E\",,,,,,,,true,\"no\"\n\"B\",9,5,4,us,,,,,,3\n", head.trim_end()));
    assert_eq!(names(&samples), ["B"]);
    assert_eq!(findings(&samples, "BENCHMARK_FAILED").len(), 1);
    let cut = format!("{},n\n\"B\",9,5,4,us,,,,,\n", head.trim_end());
    assert!(refused(cut).contains("this row has 10 columns, the header 11"));
}

#[test]
fn a_damaged_table_names_the_line() {
    let head = "name,iterations,real_time,cpu_time,time_unit,label\n";
    assert_eq!(
        refused(format!("{head}\"B\",1,x,2,ns,\n")),
        "x.json:2: column `real_time`: expected a number, not `x`"
    );
    assert_eq!(
        refused(format!("{head}\"B\",1,1,2,ns\n")),
        "x.json:2: this row has 5 columns, the header 6"
    );
    assert_eq!(
        refused(format!("{head}\"B\",1,1,2,ns,")),
        "x.json:2: the file breaks off here; expected a whole row"
    );
    assert_eq!(
        refused(format!("{head}\"B,1,1,2,ns,\n")),
        "x.json:2: a quoted text is not closed in this row"
    );
    assert!(refused(format!("{head}\"B\",1,1,2,days,\n")).contains("expected ns, us, ms or s"));
}

#[test]
fn damaged_files_are_refused_with_their_place_and_never_panic() {
    for name in ["one-old", "aggonly-new", "memmgr-old"] {
        survives_damage(&format!("google-benchmark/{name}.json"));
        reads_the_same_in_other_clothes(&format!("google-benchmark/{name}.json"));
    }
    let message = refused("{\"context\":{\"num_cpus\":2},\n\"benchmarks\":[{\"name\":7}]}");
    assert!(message.starts_with("x.json:2:"), "{message}");
    assert!(message.contains("expected a text"), "{message}");
    let message = refused("{\"context\":{\"num_cpus\":2},\n\"benchmarks\":[{\"name\":\"a\",\n");
    assert!(message.starts_with("x.json:") && message.contains("breaks off here"), "{message}");
    let message = refused("{\"context\":{\"num_cpus\":2},\"benchmarks\":[]}");
    assert!(message.contains("contains no numbers"), "{message}");
    let message = refused("{\"context\":{\"num_cpus\":2}}");
    assert!(message.contains("missing field `benchmarks`"), "{message}");
}
