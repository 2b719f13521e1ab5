//! `assay history` and `--keep`: measured or imported runs are stored once, with their revision,
//! and can be read back.

use crate::room::{Ended, Room, codes, finish};

/// Returns a repository of three commits, in which runs are stored.
pub fn repository() -> Room {
    let room = Room::new();
    room.write(".gitignore", "state/\nr.assay\nown.db*\n");
    let line = "mkdir .assay && git init -q -b main && git add .gitignore && git commit -q -m one \
                && git commit -q --allow-empty -m two && git tag v2 && git commit -q --allow-empty -m three";
    let mut command = room.shell(line);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Somebody");
        command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
    }
    finish(command).ends(0);
    room
}

/// Adds `runs` runs of a suite, one commit each, in which `BM_Copy` takes `step` times as long in
/// the second half.
pub fn recorded(room: &Room, runs: u32, step: f64) {
    let commits = format!(
        "for i in $(seq {runs}); do git commit -q --allow-empty -m \"$i\"; git tag \"t$i\"; done"
    );
    let mut command = room.shell(&commits);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Somebody");
        command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
    }
    finish(command).ends(0);
    for run in 1..=runs {
        // Runs differ by about 2 %, in an order without a pattern.
        let noise = |seed: u32| 1.0 + f64::from(run * seed % 23) / 460.0;
        let step = if run > runs / 2 { step } else { 1.0 };
        suite(room, "run.json", [100.0 * noise(7) * step, 50.0 * noise(11)]);
        history(room, &["add", "-q", "run.json", "--rev", &format!("t{run}")]).ends(0);
    }
}

/// Writes Google Benchmark's report of two benchmarks, each repeated nine times.
pub fn suite(room: &Room, name: &str, times: [f64; 2]) {
    let row = |benchmark: &str, time: f64, i: u32| {
        let time = time * (1.0 + f64::from(i * 5 % 9) / 1000.0);
        format!(
            r#"{{"name": "{benchmark}", "run_name": "{benchmark}", "run_type": "iteration", "iterations": 10,
               "real_time": {time}, "cpu_time": {time}, "time_unit": "ns"}}"#
        )
    };
    let rows: Vec<String> =
        (0..9).flat_map(|i| [row("BM_Copy", times[0], i), row("BM_Sort", times[1], i)]).collect();
    let context = r#"{"context": {"date": "2026-05-01T12:00:00+00:00", "host_name": "build-1"}"#;
    room.write(name, &format!("{context}, \"benchmarks\": [{}]}}", rows.join(", ")));
}

pub fn history(room: &Room, words: &[&str]) -> Ended {
    room.run(&[&["history"], words].concat())
}

#[test]
fn what_is_measured_is_kept_with_its_revision_and_adding_it_again_changes_nothing() {
    let room = repository();
    room.run(&["run", "true", "-r", "10", "--keep", "--save", "r.assay"])
        .ends(0)
        .complains("kept as ");
    let log = room.json(&["history", "log"]);
    let run = &log["runs"][0];
    assert_eq!((&run["revision"]["ordinal"], &log["total"]), (&3.into(), &1.into()));
    assert_eq!((&run["changed"], &run["primary"]), (&false.into(), &"wall".into()));
    history(&room, &["add", "r.assay"]).ends(0).shows("it was there before");
    history(&room, &["log"]).ends(0).shows("r.assay");
    // Another project name, and a separate store.
    room.run(&["run", "true", "-r", "10", "--keep=other", "--store", "own.db", "-q"]).ends(0);
    history(&room, &["log", "--store", "own.db"])
        .ends(2)
        .complains("choose one with --project: other");
    history(&room, &["show", "--store", "own.db", "--project", "other"]).ends(0).shows("true wall");
    // An interrupted run is no evidence of the normal level, and an unusable store is detected
    // before measuring.
    room.run(&["run", "true", "--keep", "--store", "no/such/place"])
        .ends(2)
        .complains("can't be written");
    assert_eq!(room.json(&["history", "log"])["total"], 1);
}

#[test]
fn what_other_tools_measured_is_added_with_the_revision_that_is_named() {
    let room = repository();
    suite(&room, "old.json", [100.0, 50.0]);
    history(&room, &["add", "old.json", "--rev", "v2"]).ends(0).shows("of v2, commit ");
    history(&room, &["add", "old.json", "--rev", "main"]).ends(0).shows("added");
    history(&room, &["add", "old.json", "--rev", "elsewhere"]).ends(0).complains("is not a commit");
    let twice = history(&room, &["add", "old.json", "--rev", "v2", "--json"]).ends(0).json();
    assert_eq!(twice["runs"][0]["done"], "known");
    let log = room.json(&["history", "log"]);
    let ordinals: Vec<_> =
        log["runs"].as_array().unwrap().iter().map(|run| &run["revision"]["ordinal"]).collect();
    assert_eq!(ordinals, [&serde_json::Value::Null, &3.into(), &2.into()]);
    assert_eq!(
        (&log["runs"][0]["machine"], &log["runs"][0]["measured"]),
        (&"build-1".into(), &"2026-05-01T12:00:00Z".into())
    );
    let first = log["runs"][2]["run"].as_str().unwrap();
    let shown = room.json(&["history", "show", &first[..12]]);
    assert_eq!(
        (&shown["results"][0]["benchmark"], &shown["results"][0]["n"]),
        (&"BM_Copy".into(), &9.into())
    );
    history(&room, &["show"]).ends(0).shows("BM_Sort").shows("revision elsewhere");
    history(&room, &["show", "zz"]).ends(2).complains("no run of this history begins with `zz`");
}

#[test]
fn what_was_kept_comes_out_as_it_was_and_goes_when_it_is_removed() {
    let room = repository();
    suite(&room, "a.json", [100.0, 50.0]);
    history(&room, &["add", "a.json", "--rev", "v2"]).ends(0);
    let run = room.json(&["history", "log"])["runs"][0]["run"].as_str().unwrap()[..10].to_owned();
    history(&room, &["export", &run, "--out", "out"]).ends(0).shows("1 run written to out");
    let exported = format!("out/{run}.assay");
    let described = |file: &str| room.run(&["describe", file]).ends(0).stdout;
    assert_eq!(described(&exported), described("a.json"));
    history(&room, &["alias", "BM_Copy", "BM_Bytes"]).ends(0).shows("BM_Copy is BM_Bytes now");
    history(&room, &["show"]).ends(0).shows("BM_Bytes");
    history(&room, &["alias", "BM_Nothing", "x"]).ends(2).complains("has a benchmark `BM_Nothing`");
    history(&room, &["rm", &run, "nonsense"]).ends(2);
    history(&room, &["rm", &run]).ends(0).shows("removed");
    assert_eq!(room.json(&["history", "log"])["total"], 0);
}

#[test]
fn a_store_that_can_not_be_used_says_why_and_what_is_whole_is_saved() {
    let room = repository();
    history(&room, &["log"]).ends(2).complains("there is no history");
    for number in 0..40 {
        let name = format!("{number}.json");
        suite(&room, &name, [100.0 + f64::from(number), 50.0]);
    }
    let files: Vec<String> = (0..40).map(|number| format!("{number}.json")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    history(&room, &[&["add", "-q"], files.as_slice()].concat()).ends(0);
    let path = room.path(".assay/history.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // This is after the pages that lead to all others.
    let leaf = 27 * 4096;
    bytes[leaf..leaf + 5 * 4096].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let saved = history(&room, &["export", "--all", "--out", "saved", "--json"]).ends(0);
    let saved = saved.complains("damaged").json();
    let runs = saved["runs"].as_array().unwrap().len();
    let lost = saved["lost"].as_u64().unwrap() as usize;
    assert!(runs > 0 && lost > 0 && runs + lost == 40, "{runs}, {lost}");
    // The saved runs can be added to a new store.
    let fresh = "$ASSAY history add -q saved/*.assay --store fresh.db && $ASSAY history log -n 0 --json --store fresh.db";
    assert_eq!(finish(room.shell(fresh)).ends(0).stdout.matches("\"measured\"").count(), runs);
    // Only the first page identifies the file as ours.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[..4096].fill(0);
    std::fs::write(room.path("first.db"), bytes).unwrap();
    let all = ["export", "--all", "--out", "first", "--json", "--store", "first.db"];
    assert_eq!(history(&room, &all).ends(0).json()["runs"].as_array().unwrap().len(), runs);
    room.write("foreign.db", "nothing of ours, but a text that is longer than one hundred bytes, as long as the header of a database is, so that it is read");
    history(&room, &["log", "--store", "foreign.db"])
        .ends(2)
        .complains("is not a history of assay");
}

#[test]
fn a_trend_names_the_commits_between_which_the_change_lies() {
    let room = repository();
    recorded(&room, 30, 1.1);
    let trend = &room.json(&["history", "trend", "BM_Copy"])["trends"][0];
    let change = &trend["changes"][0];
    assert_eq!(
        (change["verdict"].as_str(), trend["changes"].as_array().unwrap().len()),
        (Some("slower"), 1)
    );
    let ratio = change["ratio"]["estimate"].as_f64().unwrap();
    assert!((1.08..1.12).contains(&ratio), "{ratio}");
    // Three commits were there before.
    let ordinal = |key: &str| {
        let run = &trend["runs"][change[key].as_u64().unwrap() as usize];
        run["revision"]["ordinal"].as_u64().unwrap()
    };
    assert!(ordinal("earliest") <= 19 && 19 <= ordinal("latest"), "{change}");
    let screen = history(&room, &["trend", "BM_Copy"]).ends(0);
    screen.shows("changed for the worse, by +").shows("next: git ");
    history(&room, &["trend", "BM_Sort"]).ends(0).shows("did not change");
    history(&room, &["trend", "copy"]).ends(2).complains("did you mean BM_Copy?");
    // A benchmark that is gone is reported.
    room.write("one.json", &room.read("run.json").replace("BM_Copy", "BM_Other"));
    history(&room, &["add", "-q", "one.json", "--rev", "HEAD"]).ends(0);
    history(&room, &["trend", "BM_Copy"]).ends(0).shows("BM_Copy is gone");
}

#[test]
fn a_gate_ends_by_what_is_normal_and_says_what_it_can_not_know() {
    let room = repository();
    suite(&room, "usual.json", [102.0, 51.0]);
    room.run(&["gate", "usual.json"]).ends(2).complains("there is no history");
    recorded(&room, 4, 1.0);
    room.run(&["gate", "usual.json"])
        .ends(3)
        .shows("it is not known whether 2 of 2 benchmarks are worse")
        .shows("inconclusive: 1 more run");
    recorded_more(&room, 26);
    room.run(&["gate", "usual.json"]).ends(0).shows("nothing is worse than normal (2 benchmarks)");
    suite(&room, "worse.json", [120.0, 51.0]);
    // One bad run is not an alarm, but stands out; the second one is.
    let alone = room.run(&["gate", "worse.json", "--all"]).ends(3);
    alone.shows("this run of BM_Copy stands out: +").shows("BM_Sort wall");
    let json = room.run(&["gate", "worse.json", "--json"]).ends(3).json();
    assert_eq!(
        (&json["verdict"], &json["benchmarks"][0]["stands_out"]),
        (&"inconclusive".into(), &true.into())
    );
    assert!(codes(&json).contains(&"STANDS_OUT"), "{json:#}");
    suite(&room, "before.json", [119.0, 51.0]);
    history(&room, &["add", "-q", "before.json", "--rev", "HEAD"]).ends(0);
    let worse = room.run(&["gate", "worse.json", "--all"]).ends(1);
    worse.shows("BM_Copy is worse than normal: +").shows("BM_Sort wall");
    let json = room.run(&["gate", "worse.json", "--json"]).ends(1).json();
    assert_eq!(
        (&json["verdict"], &json["benchmarks"][1]["standing"]),
        (&"worse".into(), &"normal".into())
    );
    // Another machine has no past here, and a missing benchmark of a suite is reported.
    room.run(&["gate", "worse.json", "--machine", "elsewhere"]).ends(3);
    room.write("less.json", &room.read("usual.json").replace("BM_Sort", "BM_Other"));
    room.run(&["gate", "less.json"]).ends(3).shows("BM_Sort is gone");
    // The run stored last is not compared with itself.
    history(&room, &["add", "-q", "worse.json", "--rev", "HEAD"]).ends(0);
    room.run(&["gate"]).ends(1).shows("BM_Copy is worse than normal");
}

fn recorded_more(room: &Room, runs: u32) {
    finish(room.shell("git tag -d $(git tag -l 't*')")).ends(0);
    recorded(room, runs, 1.0);
}

#[test]
fn a_file_of_another_tool_joins_the_runs_of_the_machine_that_it_is_said_to_be_from() {
    let room = repository();
    room.run(&["run", "true", "-r", "2", "--keep", "--save", "r.assay"]).ends(0);
    let here = room.records("r.assay", "environment").remove(0);
    let host = here["hostname"].as_str().unwrap();
    let processor = here["cpu_model"].as_str().unwrap_or("unknown");
    for (name, time) in [("here.txt", 10), ("apart.txt", 11)] {
        let line = format!("BenchmarkA/n=3-2 100 {time} ns/op\n");
        room.write(name, &format!("goos: linux\ncpu: {processor}\n{line}{line}"));
    }
    history(&room, &["add", "here.txt", "--machine", host]).ends(0);
    let apart = history(&room, &["add", "apart.txt"]).ends(0);
    if here["cpu_model"].is_string() {
        apart.complains(&format!("add it with --machine {host}"));
    }
    let log = room.json(&["history", "log"]);
    let runs = log["runs"].as_array().unwrap();
    let of = |source: &str| runs.iter().find(|run| run["source"] == source).unwrap();
    let own = runs.iter().find(|run| run["tool"] != "go test").unwrap();
    assert_eq!(of("here.txt")["fingerprint"], own["fingerprint"], "{log:#}");
    assert_ne!(of("apart.txt")["fingerprint"], own["fingerprint"], "{log:#}");
    // Its name states its parameters once.
    let digest = of("here.txt")["run"].as_str().unwrap();
    let shown = history(&room, &["show", &digest[..10]]).ends(0).shows("BenchmarkA/n=3-2 wall");
    assert!(!shown.stdout.contains("gomaxprocs"), "{}", shown.stdout);
}
