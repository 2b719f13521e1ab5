//! `--resume`: a resumed run equals an uninterrupted one, or is rejected.

use crate::room::{Room, codes};

const RUN: [&str; 8] = ["run", "--save", "x.assay", "-r", "9", "--seed", "5", "--warmup=0"];

/// Writes a recorded run of nine blocks with only some observations left, as after a crash.
fn broken_off(room: &Room, observations: usize) {
    room.run(&[&RUN[..], &["sh a.sh", "sh b.sh"]].concat()).ends(0);
    let text = room.read("x.assay");
    let mut kept = 0;
    let lines = text.lines().filter(|line| {
        kept += usize::from(line.starts_with("{\"kind\":\"obs\""));
        kept <= observations && !line.starts_with("{\"kind\":\"stop\"")
    });
    let text: Vec<&str> = lines.collect();
    // The last line is cut off as well.
    room.write("x.assay", &format!("{}\n{{\"kind\":\"obs\",\"subj", text.join("\n")));
}

fn scripts(room: &Room) {
    room.write("a.sh", "echo a >> log");
    room.write("b.sh", "echo b >> log");
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was() {
    let room = Room::new();
    scripts(&room);
    broken_off(&room, 7);
    let before = room.read("log").lines().count();
    let result = room.json(&["run", "--resume", "x.assay"]);
    assert_eq!(result["blocks"], 9);
    assert!(codes(&result).contains(&"RESUMED"), "{:?}", codes(&result));
    // No warm-up was requested, so eleven runs were missing.
    assert_eq!(room.read("log").lines().count() - before, 11);
    assert_eq!(room.records("x.assay", "obs").len(), 18);
    let again = room.json(&["compare", "x.assay"]);
    assert_eq!(again["comparisons"], result["comparisons"]);
    let times: Vec<f64> =
        room.records("x.assay", "obs").iter().map(|o| o["t"].as_f64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    // There is nothing left to do.
    let runs = room.read("log").lines().count();
    room.run(&["run", "--resume", "x.assay"]).ends(0).complains("nothing to resume");
    assert_eq!(room.read("log").lines().count(), runs);
}

#[test]
fn another_program_another_command_another_machine_is_refused() {
    let room = Room::new();
    scripts(&room);
    broken_off(&room, 7);
    room.write("b.sh", "echo b >> log; :");
    let refused = room.run(&["run", "--resume", "x.assay"]).ends(2);
    refused.complains("b.sh").complains("has changed").complains("--force");
    let result = room.json(&["run", "--resume", "x.assay", "--force"]);
    let resumed = |f: &&serde_json::Value| f["code"] == "RESUMED" && f["severity"] == "serious";
    assert!(result["findings"].as_array().unwrap().iter().any(|f| resumed(&f)), "{result}");

    let room = Room::new();
    scripts(&room);
    broken_off(&room, 7);
    let other = ["run", "--resume", "x.assay", "--warmup=0", "sh a.sh", "sh a.sh"];
    room.run(&other).ends(2).complains("now it is `sh a.sh`");
    let more = ["run", "--resume", "x.assay", "--warmup=0", "-r", "20", "sh a.sh", "sh b.sh"];
    room.run(&more).ends(2).complains("--runs");
    let text = room.read("x.assay");
    let moved = text.replace("\"cpu_model\":\"", "\"cpu_model\":\"Other ");
    assert_ne!(text, moved);
    room.write("x.assay", &moved);
    room.run(&["run", "--resume", "x.assay"]).ends(2).complains("CPU");
    room.write("x.assay", &text);
    let log = room.read("log").lines().count();
    let same = ["run", "--resume", "x.assay", "--warmup=0", "sh a.sh", "sh b.sh"];
    room.run(&same).ends(0);
    assert_eq!(room.read("log").lines().count(), log + 11);
}

#[test]
fn what_is_no_recorded_run_is_refused() {
    let room = Room::new();
    room.run(&["run", "--resume", "nowhere.assay"]).ends(2).complains("nowhere.assay");
    room.write("numbers.assay", "{\"assay\":1,\"kind\":\"run\"}\n");
    room.run(&["run", "--resume", "numbers.assay"]).ends(2).complains("not recorded by");
    room.run(&["run", "--resume", "numbers.assay", "--save", "y.assay", "true"]).ends(2);
    room.run(&["run"]).ends(2).complains("COMMAND");
}

#[test]
fn a_run_that_is_resumed_twice_loses_nothing_and_says_things_once() {
    let room = Room::new();
    scripts(&room);
    broken_off(&room, 7);
    let again = ["run", "--resume", "x.assay", "--time", "0.000001s", "--quiet"];
    // Each time one block is taken, which is the minimum.
    room.run(&again).ends(0);
    let taken = room.records("x.assay", "obs").len();
    assert!(taken > 7 && taken < 18, "{taken}");
    let text = room.read("x.assay");
    room.write("x.assay", &format!("{text}{{\"kind\":\"obs\",\"su"));
    let result = room.json(&["run", "--resume", "x.assay"]);
    assert_eq!(room.records("x.assay", "obs").len(), 18);
    assert_eq!(codes(&result).iter().filter(|code| **code == "RESUMED").count(), 2);
    let recorded = room.records("x.assay", "finding");
    let resumed = recorded.iter().filter(|finding| finding["code"] == "RESUMED").count();
    assert_eq!(resumed, 2, "{recorded:?}");
    assert!(recorded.iter().all(|finding| finding["code"] != "TRUNCATED_FILE"), "{recorded:?}");
}

#[test]
fn what_was_decided_before_the_first_block_can_not_be_decided_anew() {
    let room = Room::new();
    scripts(&room);
    broken_off(&room, 7);
    for (option, value) in
        [("-r", "20"), ("--confidence", "99%"), ("--pin", "0"), ("--primary", "cpu")]
    {
        let refused = room.run(&["run", "--resume", "x.assay", option, value]).ends(2);
        refused.complains("can't be given");
    }
    let same = ["sh a.sh", "sh b.sh"];
    let with = |more: &[&'static str]| {
        [&["run", "--resume", "x.assay", "--warmup=0"][..], more, &same].concat()
    };
    room.run(&with(&["--reference", "2"])).ends(2).complains("the reference");
    room.run(&with(&["--prepare", "touch prepared"])).ends(2).complains("the options");
    // Nothing was run before it was rejected.
    assert!(!room.path("prepared").exists());
}

#[test]
fn metrics_keep_their_places_when_a_run_goes_on() {
    let room = Room::new();
    room.write("give.sh", "cat lines >&7");
    room.write("lines", "{\"metric\":\"b\",\"value\":1}\n");
    let run = ["run", "--save", "x.assay", "-r", "4", "--samples", "sh give.sh"];
    room.run(&run).ends(0);
    let text = room.read("x.assay");
    let kept: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("{\"kind\":\"stop\"")).collect();
    room.write("x.assay", &format!("{}\n", kept[..kept.len() - 2].join("\n")));
    // Now it gives another metric first.
    room.write("lines", "{\"metric\":\"a\",\"value\":9}\n{\"metric\":\"b\",\"value\":1}\n");
    let result = room.json(&["run", "--resume", "x.assay", "--force"]);
    let metrics = &result["descriptions"][0]["metrics"];
    assert_eq!((&metrics["b"]["n"], &metrics["b"]["max"]), (&4.into(), &1.0.into()), "{metrics}");
    assert_eq!(metrics["a"]["min"], 9.0);
    let other =
        ["run", "--resume", "x.assay", "--force", "--counters", "page-faults", "sh give.sh"];
    room.run(&other).ends(2).complains("other metrics");
}
