//! `assay repeat`: the same experiment again, and whether its result was confirmed.

use crate::room::Room;
use serde_json::Value;

const BLOCKS: [&str; 4] = ["-r", "12", "--warmup", "0"];

/// Writes two programs, one of which sleeps longer; each logs that it ran.
fn scripts(room: &Room, first: &str, second: &str) {
    room.write("a.sh", &format!("echo a >> log; sleep {first}"));
    room.write("b.sh", &format!("echo b >> log; sleep {second}"));
}

fn record(room: &Room, more: &[&str]) {
    let words =
        [&["run", "--save", "x.assay"], &BLOCKS[..], more, &["sh a.sh", "sh b.sh"]].concat();
    room.run(&words).ends(0);
}

fn result(report: &Value) -> &Value {
    &report["results"][0]
}

#[test]
fn a_result_that_holds_is_confirmed_and_its_record_can_be_repeated_again() {
    let room = Room::new();
    scripts(&room, "0.06", "0.02");
    record(&room, &["--threshold", "20%", "--seed", "5"]);
    let before = room.read("log").lines().count();
    let report = room.json(&["repeat", "--save", "y.assay", "x.assay"]);
    assert_eq!(room.read("log").lines().count() - before, 24);
    assert_eq!(report["now"]["verdict"], "faster");
    assert_eq!(report["now"]["plan"]["threshold"]["relative"], 0.2);
    assert_ne!(report["now"]["plan"]["seed"], 5);
    let one = result(&report);
    assert_eq!((&one["of"], &one["against"]), (&"sh b.sh".into(), &"sh a.sh".into()));
    // On busy machines sizes differ, but they cannot contradict each other.
    assert!(["confirmed", "not_confirmed"].contains(&one["status"].as_str().unwrap()), "{one}");
    assert!(one["effect_ratio"].as_f64().unwrap() > 0.2);
    assert!(one["then"]["estimate"].as_f64().unwrap() < 0.9);
    assert_eq!(report["differences"], Value::Array(Vec::new()));
    assert_eq!(report["repeated"]["file"], "x.assay");
    // The recording is a run like any other: comparing it gives the same result, and it can be
    // repeated.
    assert_eq!(room.json(&["compare", "y.assay"])["comparisons"], report["now"]["comparisons"]);
    let once_more = room.json(&["repeat", "--no-save", "-r", "3", "--seed", "9", "y.assay"]);
    assert_eq!(once_more["now"]["blocks"], 3);
    assert_eq!(once_more["now"]["plan"]["seed"], 9);
    assert_eq!(result(&once_more)["status"], "unknown");
    assert_eq!(result(&once_more)["reason"], "no_interval");
}

#[test]
fn another_program_contradicts_and_is_named() {
    let room = Room::new();
    scripts(&room, "0.06", "0.02");
    record(&room, &["--threshold", "20%"]);
    scripts(&room, "0.02", "0.06");
    let ended = room.run(&["repeat", "--fail-if", "not-confirmed", "x.assay"]).ends(1);
    let ended = ended.shows("contradicted: 'sh b.sh' against 'sh a.sh'");
    ended
        .shows("the two results exclude each other")
        .shows("Not the same as then:")
        .shows("b.sh of 'sh b.sh' has changed");
    let report = room.json(&["repeat", "--no-save", "x.assay"]);
    assert_eq!(report["replication"], "contradicted");
    assert_eq!(result(&report)["reason"], "other_direction");
    assert_eq!(report["differences"].as_array().unwrap().len(), 2);
    room.run(&["repeat", "--fail-if", "contradicted", "x.assay"]).ends(1);
    let short = ["repeat", "-r", "2", "--fail-if", "contradicted", "x.assay"];
    room.run(&short).ends(3).shows("can't tell yet");
}

#[test]
fn a_program_alone_has_its_median_held_against_the_old_one() {
    let room = Room::new();
    // Times on a busy machine may be so correlated that their median has no interval. These numbers
    // are spread evenly, in an order without a trend.
    let prints = |room: &Room, whole: u32| {
        let count = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n";
        room.write("a.sh", &format!("{count}; echo {whole}.$(((n * 37) % 89 + 10))"));
    };
    prints(&room, 5);
    let run = ["run", "--save", "x.assay", "-r", "40", "--metric", "inner=([0-9.]+)", "sh a.sh"];
    room.run(&run).ends(0);
    prints(&room, 20);
    let report = room.json(&["repeat", "x.assay"]);
    let one = result(&report);
    assert_eq!((&one["status"], &one["reason"]), (&"not_confirmed".into(), &"other_size".into()));
    assert!(one["against"].is_null() && one["then"]["verdict"].is_null());
    assert!(one["then"]["estimate"].as_f64() < one["now"]["estimate"].as_f64());
    room.run(&["repeat", "x.assay"]).ends(0).shows("not confirmed: median inner of 'sh a.sh'");
}

#[test]
fn settings_metrics_and_stopping_are_those_of_the_record() {
    let room = Room::new();
    room.write("a.sh", "echo 5");
    let run = [
        "run",
        "--save",
        "x.assay",
        "-r",
        "4",
        "--nice",
        "3",
        "--metric",
        "inner=([0-9]+)",
        "sh a.sh",
    ];
    room.run(&run).ends(0);
    let report = room.json(&["repeat", "--time", "50s", "--save", "y.assay", "x.assay"]);
    assert_eq!(report["now"]["primary"], "inner");
    assert_eq!(report["now"]["plan"]["budget_seconds"], 50.0);
    let control = |file: &str| room.records(file, "subject")[0]["control"].clone();
    assert_eq!(control("x.assay"), control("y.assay"));
    assert!(control("y.assay").to_string().contains("nice"));
    let environment = &room.records("y.assay", "environment")[0];
    assert!(environment["repeats"].as_str().unwrap().starts_with("the run of 20"), "{environment}");
}

#[test]
fn what_can_not_be_repeated_says_why() {
    let room = Room::new();
    room.write("numbers.txt", "1\n2\n3\n");
    room.run(&["repeat", "numbers.txt"]).ends(2).complains("numbers.txt");
    room.run(&["repeat", "nowhere.assay"]).ends(2).complains("nowhere.assay");
    room.run(&[
        "simulate",
        "--blocks",
        "--subject",
        "a=1",
        "--subject",
        "b=2",
        "--out",
        "made.assay",
    ])
    .ends(0);
    room.run(&["repeat", "made.assay"]).ends(2).complains("contains numbers, not commands");
    room.write("gone.sh", "true");
    room.run(&["run", "--save", "x.assay", "-r", "4", "./gone.sh"]).ends(2);
    room.write("tool", "#!/bin/sh\n");
    let make = room.shell("chmod +x tool && $ASSAY run -r 4 --save x.assay ./tool && rm tool");
    crate::room::finish(make).ends(0);
    room.run(&["repeat", "x.assay"]).ends(2).complains("tool");
    // The repeated file is not overwritten.
    room.run(&["repeat", "--save", "x.assay", "x.assay"]).ends(2).complains("name another file");
    let text = room.read("x.assay");
    let foreign = text.replace("\"run\",\"-r\"", "\"load\",\"-r\"");
    assert_ne!(text, foreign);
    room.write("other.assay", &foreign);
    room.run(&["repeat", "other.assay"]).ends(2).complains("can't be repeated");
    let unread = text.replace("\"run\",\"-r\"", "\"run\",\"--unheard-of\"");
    room.write("later.assay", &unread);
    room.run(&["repeat", "later.assay"]).ends(2).complains("can no longer be parsed");
    room.write("empty.assay", text.lines().next().unwrap());
    room.run(&["repeat", "empty.assay"]).ends(2).complains("empty.assay");
}

#[test]
fn a_summary_counts_the_machines_on_which_a_result_holds() {
    let room = Room::new();
    scripts(&room, "0.06", "0.02");
    record(&room, &["--threshold", "20%"]);
    room.run(&["repeat", "--save", "y.assay", "x.assay"]).ends(0);
    // A record of another machine differs by its facts.
    let elsewhere = |from: &str, to: &str, cpu: &str| {
        let text = room.read(from);
        let line = text.lines().find(|line| line.starts_with(r#"{"kind":"environment""#)).unwrap();
        let mut facts: Value = serde_json::from_str(line).unwrap();
        facts["cpu_model"] = cpu.into();
        room.write(to, &text.replace(line, &facts.to_string()));
    };
    elsewhere("y.assay", "b.assay", "Another 9000");
    let summary = room.json(&[
        "repeat",
        "--summary",
        "--export",
        "claim.md",
        "x.assay",
        "y.assay",
        "b.assay",
    ]);
    let claim = &summary["claims"][0];
    assert_eq!((&claim["holds"], &claim["holds_on"]), (&"yes".into(), &2.into()), "{claim}");
    assert_eq!(claim["machines"][0]["records"], serde_json::json!([0, 1]));
    assert!(claim["mean"]["estimate"].as_f64().unwrap() < 0.9, "{claim}");
    assert_eq!(
        summary["records"][2]["machine"].as_str().unwrap().split(',').next(),
        Some("Another 9000")
    );
    let text = room.read("claim.md");
    let digest = summary["records"][0]["digest"].as_str().unwrap();
    assert!(text.contains("holds on 2 of 2 machines") && text.contains(digest), "{text}");
    assert!(text.contains("assay repeat --save mine.assay x.assay"), "{text}");

    // On a machine where the second is slower, it does not hold.
    scripts(&room, "0.02", "0.06");
    room.run(&["repeat", "--save", "z.assay", "x.assay"]).ends(0);
    elsewhere("z.assay", "c.assay", "A third");
    let words =
        ["repeat", "--summary", "--fail-if", "not-confirmed", "x.assay", "b.assay", "c.assay"];
    room.run(&words).ends(1).shows("holds on 2 of 3 machines; does not hold on 1");
}

#[test]
fn a_summary_is_refused_for_other_experiments_and_without_its_option() {
    let room = Room::new();
    scripts(&room, "0.01", "0.01");
    record(&room, &[]);
    room.run(&[&["run", "--save", "other.assay"], &BLOCKS[..], &["sh a.sh", "true"]].concat())
        .ends(0);
    let other = ["repeat", "--summary", "x.assay", "other.assay"];
    room.run(&other).ends(2).complains("other.assay does not repeat x.assay: it measured");
    room.run(&["repeat", "x.assay", "other.assay"]).ends(2).complains("--summary");
    room.run(&[&["run", "--save", "one.assay"], &BLOCKS[..], &["true"]].concat()).ends(0);
    room.run(&["repeat", "--summary", "one.assay"]).ends(2).complains("nothing was compared");
    let page = ["repeat", "--summary", "--report", "x.html", "x.assay"];
    room.run(&page).ends(2).complains("neither a page nor plots");
}
