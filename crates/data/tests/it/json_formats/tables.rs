//! Summaries: hyperfine's CSV, its JSON without the runs, and Catch2's XML.

use super::*;
use assay_data::{Design, Unit};

#[test]
fn hyperfine_tables_of_both_versions_are_summaries() {
    let one = read("hyperfine/v1-parameters.csv");
    assert_eq!((one.len(), one.design()), (0, Design::Summary));
    assert_eq!(
        names(&one),
        [
            "/home/user/runner/bin/spin 100000",
            "false n=100000",
            "/home/user/runner/bin/spin 300000",
            "false n=300000"
        ]
    );
    let wall = summary(&one, "false n=100000", "wall");
    assert_eq!((wall.mean, wall.sd), (Some(0.0007049073333333334), Some(0.0002873842054112694)));
    assert_eq!((wall.median, wall.min), (Some(0.000589254), Some(0.000566711)));
    assert_eq!((wall.max, wall.count), (Some(0.001290244), None));
    assert_eq!(summary(&one, "false n=300000", "user").mean, Some(0.0005164999999999999));
    assert_eq!(parameters(&one, "false n=300000"), "n=300000");
    let two = read("hyperfine/v2-schema2-parameters.csv");
    assert_eq!(names(&two), ["spin 100000", "spin 300000"]);
    assert_eq!(summary(&two, "spin 100000", "wall").mean, Some(0.003605030333333333));
    let memory = summary(&two, "spin 300000", "max_rss");
    assert_eq!((memory.mean, memory.sd, memory.max), (Some(3133440.0), Some(0.0), Some(3133440.0)));
    assert_eq!(two.metrics[1].unit, Unit::Byte);
    reads_the_same_in_other_clothes("hyperfine/v1-parameters.csv");
    reads_the_same_in_other_clothes("hyperfine/v2-schema2-parameters.csv");
}

#[test]
fn a_damaged_table_names_the_line_and_the_column() {
    let head = "command,mean,stddev,median,user,system,min,max\n";
    let samples = load_bytes(
        format!("{head}once,1,,1,0,0,1,1\n").into_bytes(),
        "x",
        &ImportOptions::default(),
    );
    assert_eq!(summary(&samples.unwrap(), "once", "wall").sd, None);
    assert_eq!(
        refused(format!("{head}a,1,2,3,4,5,6,x\n")),
        "x.json:2: column `max`: expected a number, not `x`"
    );
    assert_eq!(refused(format!("{head}a,1,2\n")), "x.json:2: this row has 3 columns, the header 8");
    assert_eq!(refused(head), "`x.json` contains no numbers, only a header");
}

/// Reads a result of hyperfine, in either layout, without the key that holds its runs.
fn without(file: &str, runs: &str) -> Samples {
    let mut value: Value = serde_json::from_str(file).unwrap();
    for result in value["results"].as_array_mut().unwrap() {
        result.as_object_mut().unwrap().remove(runs).unwrap();
    }
    load_bytes(value.to_string().into_bytes(), "x.json", &ImportOptions::default()).unwrap()
}

#[test]
fn a_result_of_hyperfine_without_its_runs_is_a_summary() {
    let one = without(include_str!("../../../src/export/hyperfine/v1.json"), "times");
    assert_eq!((one.len(), one.design()), (0, Design::Summary));
    let wall = summary(&one, "false", "wall");
    assert_eq!((wall.mean, wall.sd), (Some(0.0007049073333333334), Some(0.0002873842054112694)));
    assert_eq!((wall.median, wall.min), (Some(0.000589254), Some(0.000566711)));
    assert_eq!((wall.max, wall.count), (Some(0.001290244), Some(6)));
    assert_eq!(summary(&one, "false", "user").mean, Some(0.0005531666666666665));
    assert_eq!(parameters(&one, "false"), "n=100000");
    let two = without(include_str!("../../../src/export/hyperfine/v2.json"), "measurements");
    assert_eq!((two.len(), two.design()), (0, Design::Summary));
    assert_eq!(two.metrics[0].name, "wall");
    let (wall, memory) =
        (summary(&two, "spin 100000", "wall"), summary(&two, "spin 100000", "max_rss"));
    assert_eq!((wall.count, memory.count, memory.mean), (Some(6), Some(6), Some(3133440.0)));
    assert_eq!(two.metrics[two.metric_index("max_rss").unwrap()].unit, Unit::Byte);
    let single =
        r#"{"results": [{"command": "once", "mean": 2.5, "stddev": null, "median": 2.5}]}"#;
    let single = load_bytes(single.into(), "x.json", &ImportOptions::default()).unwrap();
    let wall = summary(&single, "once", "wall");
    assert_eq!((wall.mean, wall.sd, wall.count), (Some(2.5), None, None));
}

#[test]
fn a_file_of_hyperfine_without_a_result_is_known_and_says_so() {
    for text in
        ["{\"results\":[]}", "{\n  \"results\": []\n}\n", "\u{feff}{ \"results\": [ ] }\r\n"]
    {
        assert_eq!(
            refused(text),
            "`x.json` contains no numbers, only an empty list of hyperfine's results: no command finished"
        );
    }
    let said = refused(r#"{"results": [{"command": "a", "times": []}]}"#);
    assert_eq!(said, "`x.json` contains no numbers, only commands without runs");
    assert!(refused(r#"{"results": [1]}"#).contains("format is unknown"));
}

#[test]
fn benchmarks_of_catch2_are_summaries_named_by_their_place() {
    for (version, mean, sd) in [(2, 114.311, 55.1191), (3, 107.452, 1.85433)] {
        let name = format!("catch2/v{version}.xml");
        let samples = read(&name);
        assert_eq!(
            names(&samples),
            [
                "sums: sum 100",
                "sums: sum 1000",
                "sums: strings & <others>: make \"a\" string",
                "vectors: fill"
            ]
        );
        assert_eq!((samples.len(), samples.design()), (0, Design::Summary));
        let wall = summary(&samples, "sums: sum 100", "wall");
        assert_eq!((wall.count, wall.mean, wall.sd), (Some(20), Some(mean / 1e9), Some(sd / 1e9)));
        let failed = findings(&samples, "BENCHMARK_FAILED");
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0].message, "`vectors: fails` ended with an error: no more");
        survives_damage(&name);
        reads_the_same_in_other_clothes(&name);
    }
    assert_eq!(read("catch2/v3.xml").environment.text("recorded_by"), Some("Catch2 3.7.1"));
    let json = refused(r#"{"version":1,"metadata":{"catch2-version":"3.7.1"}}"#);
    assert!(json.contains("let it write XML: `--reporter xml`"), "{json}");
}
