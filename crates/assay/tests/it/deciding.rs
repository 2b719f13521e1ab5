//! Verdicts and exit statuses, and that a file later gives the result of its run.

use crate::room::{Room, data, primary};
use serde_json::Value;

const QUICK: &str = "sleep 0.02";
const SLOW: &str = "sleep 0.06";

/// Measures two commands under `--fail-if`, and returns exit status and result.
fn judged(arguments: &[&str]) -> (i32, Value) {
    let ended = Room::new().run(&[&["run", "--no-save", "--json"], arguments].concat());
    let result = ended.json();
    (ended.status, result)
}

#[test]
fn a_slower_command_fails_a_build_that_asked_for_it() {
    let (status, result) = judged(&["--fail-if", "slower", QUICK, SLOW]);
    assert_eq!((status, &result["verdict"]), (1, &"slower".into()));
    let (status, _) = judged(&["--fail-if", "faster,equivalent", "-r", "8", QUICK, SLOW]);
    assert_eq!(status, 0);
    let (status, _) = judged(&["--fail-if", "different", "-r", "8", QUICK, SLOW]);
    assert_eq!(status, 1);
}

#[test]
fn a_faster_command_does_not_fail_a_build() {
    let (status, result) = judged(&["--fail-if", "slower", SLOW, QUICK]);
    assert_eq!((status, &result["verdict"]), (0, &"faster".into()));
}

#[test]
fn commands_that_differ_by_less_than_matters_are_equivalent() {
    let common = ["--threshold", "60%", QUICK, "sleep 0.0201"];
    let (status, result) = judged(&[&["--fail-if", "slower"], &common[..]].concat());
    assert_eq!((status, &result["verdict"]), (0, &"equivalent".into()));
    let (status, _) = judged(&[&["--fail-if", "equivalent"], &common[..]].concat());
    assert_eq!(status, 1);
}

#[test]
fn too_few_blocks_are_inconclusive() {
    let (status, result) = judged(&["--fail-if", "slower", "-r", "5", QUICK, SLOW]);
    assert_eq!((status, &result["verdict"]), (3, &"inconclusive".into()));
    let (status, _) = judged(&["-r", "5", QUICK, SLOW]);
    assert_eq!(status, 0, "without --fail-if every verdict is fine");
}

#[test]
fn samples_that_were_recorded_apart_prove_nothing_to_a_build() {
    let room = Room::new();
    let (with, without) = (data("zlib_with.txt"), data("zlib_without.txt"));
    let result = room.json(&["compare", &with, &without]);
    assert_eq!(result["design"], "unpaired");
    assert_ne!(result["verdict"], "inconclusive");
    for verdict in ["slower", "faster", "different", "equivalent"] {
        room.run(&["compare", "--fail-if", verdict, &with, &without]).ends(3);
    }
}

#[test]
fn a_command_recorded_twice_gets_advice_that_fits_and_no_warning_about_others() {
    let room = Room::new();
    for file in ["a.assay", "b.assay"] {
        room.run(&["run", "-r", "12", "--save", file, QUICK]).ends(0);
    }
    let result = room.json(&["compare", "a.assay", "b.assay"]);
    let findings = result["findings"].as_array().unwrap();
    let apart = findings.iter().find(|own| own["code"] == "NOT_INTERLEAVED").unwrap();
    assert_eq!(apart["advice"][0]["command"], "assay run OLD NEW");
    assert_eq!(apart["advice"][0]["details"]["sides"], "same_command");
    let screen = room.run(&["compare", "--verbose", "a.assay", "b.assay"]).ends(0);
    screen.shows("Recorded in separate runs, so drift").shows("assay run OLD NEW");
    // Another command of one of the files fails, and has other output.
    room.run(&["run", "-i", "-r", "12", "--save", "c.assay", QUICK, "sleep x"]).ends(0);
    let result = room.json(&["compare", "a.assay", "c.assay"]);
    let findings = result["findings"].as_array().unwrap();
    let is_about_it = |own: &&Value| {
        own["code"] != "BENCHMARKS_MISSING" && own["message"].as_str().unwrap().contains("sleep x")
    };
    assert_eq!(findings.iter().find(is_about_it), None);
}

#[test]
fn json_names_what_was_compared_and_how_sure_it_is() {
    let (_, result) = judged(&["-r", "8", "-n", "old", "-n", "new", SLOW, QUICK]);
    assert_eq!(result["schema"], 1);
    let names: Vec<_> = result["sides"].as_array().unwrap().iter().map(|s| &s["name"]).collect();
    assert_eq!(names, ["old", "new"]);
    assert_eq!((&result["verdict"], &result["design"]), (&"faster".into(), &"blocks".into()));
    let wall = &result["comparisons"][0];
    assert_eq!((&wall["of"], &wall["against"]), (&"new".into(), &"old".into()));
    assert_eq!(wall["metric"], "wall");
    let ratio = |end: &str| wall["ratio"][end].as_f64().unwrap();
    assert!(ratio("lower") <= ratio("estimate") && ratio("estimate") <= ratio("upper"));
    assert!(ratio("upper") < 1.0, "{ratio:?}", ratio = wall["ratio"]);
    assert_eq!(wall["wins"]["better"], 8.0);
    let text = result.to_string();
    for metric in ["cpu", "max_rss"] {
        assert!(text.contains(metric), "{metric}");
    }
}

/// Removes everything that may differ between a run and a later analysis of its file.
fn substance(mut result: Value) -> Value {
    for field in ["tool", "verb", "argv", "file", "started"] {
        result.as_object_mut().unwrap().remove(field);
    }
    result
}

#[test]
fn compare_repeats_the_run_from_its_file_to_the_digit() {
    let ways: [&[&str]; 5] = [
        &["-r", "8", QUICK, SLOW],
        &[QUICK, SLOW],
        &["-r", "6", "--confidence", "90%", "--threshold", "5ms", QUICK, SLOW, "sleep 0.02"],
        &["-r", "9", "--primary", "cpu", "true", "ls"],
        &["-r", "12", "true"],
    ];
    for way in ways {
        let room = Room::new();
        let run = room.json(&[&["run", "--save", "s.assay"], way].concat());
        let read = room.json(&["compare", "s.assay"]);
        assert_eq!(substance(run), substance(read), "{way:?}");
    }
}

#[test]
fn compare_repeats_an_export_of_the_samples_too() {
    let mut first = Vec::new();
    for seed in ["1", "6"] {
        let room = Room::new();
        let keep = ["--save", "s.assay", "--export", "s.samples.csv", "--seed", seed];
        room.run(&[&["run", "-r", "8"], &keep[..], &["sleep 0.01", "true"]].concat()).ends(0);
        first.push(room.records("s.assay", "obs")[0]["subject"].as_u64().unwrap());
        let [file, table] = ["s.assay", "s.samples.csv"].map(|name| room.json(&["compare", name]));
        for place in ["/verdict", "/sides/0/name", "/sides/1/name", "/design", "/blocks"] {
            assert_eq!(file.pointer(place), table.pointer(place), "seed {seed}: {place}");
        }
        for place in ["of", "against", "medians", "wins", "ratio", "shift"] {
            assert_eq!(file["comparisons"][0][place], table["comparisons"][0][place], "{place}");
        }
    }
    // Both orders must occur, including those in which the reference was not first.
    assert!(first.contains(&0) && first.contains(&1), "{first:?}");
}

/// Returns the position of every observation: block, place and subject.
fn order(seed: &str, runs: &str) -> Vec<[Value; 3]> {
    let room = Room::new();
    let common = ["run", "--save", "s.assay", "--seed", seed, "--runs", runs];
    room.run(&[&common[..], &["-n", "a", "-n", "b", "-n", "c", "true", "true", "true"]].concat())
        .ends(0);
    assert_eq!(room.records("s.assay", "run")[0]["seed"].to_string(), seed);
    let observed = room.records("s.assay", "obs").into_iter();
    observed.map(|o| ["block", "pos", "subject"].map(|name| o[name].clone())).collect()
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let first = order("20240229", "12");
    assert_eq!(first.len(), 36);
    assert_eq!(first, order("20240229", "12"));
    assert_ne!(first, order("20240301", "12"));
    // Every block contains every subject once, and not always in the same order.
    let orders: Vec<Vec<u64>> = first
        .chunks(3)
        .map(|block| block.iter().map(|o| o[2].as_u64().unwrap()).collect())
        .collect();
    for block in &orders {
        let mut subjects = block.clone();
        subjects.sort_unstable();
        assert_eq!(subjects, [0, 1, 2]);
    }
    assert!(orders.iter().any(|block| block != &orders[0]));
}

#[test]
fn exactly_so_many_blocks_are_taken_as_asked_for() {
    for runs in [1, 2, 7, 13] {
        let room = Room::new();
        let asked = runs.to_string();
        let result = room.json(&[
            "run", "--save", "s.assay", "-r", &asked, "-n", "a", "-n", "b", "true", "true",
        ]);
        assert_eq!(result["blocks"], runs);
        assert_eq!(result["stop"], "blocks");
        assert_eq!(room.records("s.assay", "obs").len(), 2 * runs);
    }
    Room::new().run(&["run", "-r", "0", "true"]).ends(2);
}

#[test]
fn a_quick_look_has_a_budget_of_three_seconds() {
    let room = Room::new();
    let result =
        room.json(&["run", "--no-save", "--quick", "--until", "blocks >= 2", "true", "true"]);
    assert_eq!(result["plan"]["budget_seconds"], 3.0);
    // This also applies to a single command, for which ten seconds are the default.
    let alone = room.json(&["run", "--no-save", "--quick", "--threshold", "0.0001%", "sleep 0.1"]);
    assert_eq!((&alone["plan"]["budget_seconds"], &alone["stop"]), (&3.0.into(), &"budget".into()));
    room.run(&["run", "--quick", "--time", "5s", "true"]).ends(2).complains("--time");
}

#[test]
fn warm_up_runs_are_taken_and_not_recorded() {
    for (warmup, runs) in [("0", 3), ("1", 4), ("4", 7)] {
        let room = Room::new();
        let arguments = ["run", "--save", "s.assay", "-r", "3", "--warmup", warmup];
        room.run(&[&arguments[..], &["sh -c 'echo ran >> log'"]].concat()).ends(0);
        assert_eq!(room.read("log").lines().count(), runs);
        assert_eq!(room.records("s.assay", "obs").len(), 3);
    }
}

#[test]
fn one_command_alone_is_described_and_stops_when_it_is_known() {
    let room = Room::new();
    let result = room.json(&["run", "--no-save", "--threshold", "50%", "sleep 0.03"]);
    assert!(result["verdict"].is_null());
    assert_eq!(result["comparisons"].as_array().map(Vec::len), Some(0));
    assert_eq!(result["stop"], "precise");
    let wall = &result["descriptions"][0]["metrics"]["wall"];
    let (low, high) = (&wall["median_interval"]["lower"], &wall["median_interval"]["upper"]);
    assert!(low.as_f64() <= wall["median"].as_f64() && wall["median"].as_f64() <= high.as_f64());
    assert!(wall["min"].as_f64().is_some_and(|seconds| seconds >= 0.03));
}

#[test]
fn several_commands_are_each_held_against_the_first() {
    let room = Room::new();
    let result = room.json(&["run", "--no-save", "-r", "8", QUICK, SLOW, "sleep 0.001"]);
    let comparisons = primary(&result);
    let told: Vec<_> =
        comparisons.iter().map(|c| [&c["of"], &c["against"], &c["verdict"]]).collect();
    assert_eq!(told[0], [SLOW, QUICK, "slower"]);
    assert_eq!(told[1], ["sleep 0.001", QUICK, "faster"]);
    assert_eq!(told.len(), 2);
}

#[test]
fn a_threshold_of_another_kind_than_the_metric_is_refused() {
    let room = Room::new();
    room.run(&["run", "--threshold", "1MiB", "true", "true"]).ends(2).complains("--threshold");
    room.run(&["run", "--threshold", "3", "true"]).ends(2).complains("3%");
    room.run(&["run", "--primary", "wal", "true"]).ends(2).complains("wall");
}
