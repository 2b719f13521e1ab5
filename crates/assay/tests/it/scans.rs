//! Parameter scans and references: the pairs that are compared, and the growth of values.

use crate::room::{Room, primary};

fn few<'a>(blocks: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--no-save", "-r", blocks], more].concat()
}

/// A command that reports the square of its argument, so that scans have exact results.
const SAY: &str = "sh -c 'echo $(({n} * {n}))'";
const SAY_HALF: &str = "sh -c 'echo $(({n} * {n} / 2))'";

#[test]
fn a_list_of_values_is_a_parameter_too() {
    let room = Room::new();
    let lists = ["-L", "n", "1,2", "-P", "m=3..4", "sh -c 'echo {n}{m}'"];
    let result = room.json(&few("2", &lists));
    assert_eq!(result["descriptions"].as_array().unwrap().len(), 4);
}

#[test]
fn values_are_compared_within_each_value_and_the_growth_is_told() {
    let room = Room::new();
    let arguments =
        ["-P", "n=2..16*2", "--metric", "stdout:s", "-n", "old", "-n", "new", SAY, SAY_HALF];
    let result = room.json(&few("10", &arguments));
    let subjects = result["descriptions"].as_array().unwrap();
    let names: Vec<&str> = subjects.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["old n=2", "new n=2", "old n=4"]);
    assert_eq!(subjects[2]["parameters"], serde_json::json!({"n": 4}));
    let comparisons = primary(&result);
    assert_eq!(comparisons.len(), 4);
    for (index, comparison) in comparisons.into_iter().enumerate() {
        assert_eq!((&comparison["of"], &comparison["against"]), (&"new".into(), &"old".into()));
        assert_eq!(comparison["parameters"], subjects[2 * index + 1]["parameters"]);
        assert_eq!(comparison["against_parameters"], subjects[2 * index]["parameters"]);
        assert_eq!(comparison["verdict"], "faster");
    }
    let exponent = &result["curves"][0]["exponent"];
    assert!((exponent.as_f64().unwrap() - 2.0).abs() < 1e-9, "{exponent}");
    room.run(&few("7", &arguments)).ends(0).shows("n^2");
}

#[test]
fn parameters_reach_names_hooks_variables_and_directories() {
    let room = Room::new();
    std::fs::create_dir(room.path("d1")).unwrap();
    std::fs::create_dir(room.path("d2")).unwrap();
    let arguments = [
        "-P",
        "d=1,2",
        "--zip",
        "-P",
        "v=x,y",
        "--cwd",
        "d{d}",
        "--env",
        "V={v}",
        "--prepare",
        "echo {v} >> prepared",
        "-n",
        "in {d}",
        "sh -c 'echo $V > said'",
    ];
    let result = room.json(&few("2", &arguments));
    assert_eq!(result["descriptions"][1]["name"], "in 2 v=y");
    assert_eq!((room.read("d1/said"), room.read("d2/said")), ("x\n".into(), "y\n".into()));
    assert!(room.read("prepared").contains('y'));
}

#[test]
fn a_scan_that_is_very_large_is_asked_about_first() {
    let room = Room::new();
    let large = ["run", "-P", "a=1..30", "-P", "b=1..30", "touch ran-{a}-{b}"];
    room.run(&large).ends(2).complains("900 commands").complains("--yes");
    let endless = ["run", "-P", "a=1..1000", "-P", "b=1..1000", "--yes", "true {a} {b}"];
    room.run(&endless).ends(2).complains("1000000 commands");
    assert_eq!(std::fs::read_dir(room.path("")).unwrap().count(), 0);
}

#[test]
fn wrong_parameters_are_refused() {
    let room = Room::new();
    for (arguments, why) in [
        (vec!["-P", "n=1..3", "true"], "no command contains {n}"),
        (vec!["-P", "n", "1", "8", "true {n}"], "-P n=1..8"),
        (vec!["-L", "n", "1,,2", "true {n}"], "empty value"),
        (vec!["-P", "n=3..1", "true {n}"], "before it begins"),
        (vec!["-P", "2:n=1,2", "true {n}"], "counted from 1"),
        (vec!["--zip", "-P", "n=1,2", "-P", "m=1", "true {n} {m}"], "--zip"),
        (vec!["--reference", "nobody", "true", "true"], "no such command"),
    ] {
        room.run(&[&["run", "--no-save"][..], &arguments].concat()).ends(2).complains(why);
    }
}

#[test]
fn every_command_can_have_its_own_reference() {
    let room = Room::new();
    let say = |n: u32| format!("sh -c 'echo {n}'");
    let commands = [say(1), say(2), say(4)];
    let names = ["-n", "a", "-n", "b", "-n", "c"];
    let arguments = [&["--metric", "stdout:s", "--reference", "3:b"][..], &names].concat();
    let all: Vec<&str> = arguments.into_iter().chain(commands.iter().map(String::as_str)).collect();
    let result = room.json(&few("7", &all));
    let against: Vec<_> = primary(&result).iter().map(|c| &c["against"]).collect();
    assert_eq!(against, ["a", "b"]);
    let last: Vec<&str> =
        all.iter().copied().filter(|a| !["--reference", "3:b"].contains(a)).collect();
    let result = room.json(&few("7", &[&["--reference", "c"][..], &last].concat()));
    let of: Vec<_> = primary(&result).iter().map(|c| &c["of"]).collect();
    assert_eq!(of, ["a", "b"]);
}

#[test]
fn several_runs_at_once_are_one_observation() {
    let room = Room::new();
    let arguments = ["--jobs", "{j}", "-P", "j=1,3", "sh -c 'echo x{j} >> log; sleep 0.05'"];
    let run = [&["run", "--save", "x.assay", "-r", "2", "--warmup", "0"][..], &arguments].concat();
    room.run(&run).ends(0);
    let log = room.read("log");
    assert_eq!(log.lines().filter(|line| *line == "x3").count(), 6);
    let subjects = room.records("x.assay", "subject");
    assert_eq!(subjects[1]["jobs"], 3);
    let inner = room.records("x.assay", "values");
    assert_eq!(inner[0]["metric"], "job_wall");
    assert_eq!(inner[0]["values"].as_array().unwrap().len(), 3);
    // Three concurrent sleeps take as long as one, so three times as many are done per second.
    let result = room.json(&["compare", "x.assay", "--primary", "throughput"]);
    assert_eq!(result["descriptions"][1]["metrics"]["throughput"]["n"], 2);
    room.run(&["run", "--jobs", "0", "true"]).ends(2).complains("--jobs 0");
}

#[test]
fn a_condition_stops_the_run() {
    let room = Room::new();
    let result = room.json(&["run", "--no-save", "--until", "blocks >= 13", "sh -c :", "sh -c :"]);
    assert_eq!((&result["blocks"], &result["stop"]), (&13.into(), &"until".into()));
    room.run(&["run", "--until", "blocks > many", "true"]).ends(2).complains("--until");
    room.run(&["run", "--until", "clear", "-r", "3", "true"]).ends(2).complains("--runs");
}
