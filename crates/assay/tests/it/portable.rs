//! The portable runner, forced on Linux: it behaves like the launcher, and reports unsupported
//! features.

use crate::room::{Room, codes, endless, finish, processes_of, start, until};
use crate::{benching, bisecting, gating_confirmed};
use std::process::Command;

/// Beginning of its message before anything is measured.
const SAID: &str = "note: measured by the portable runner: it counts no events";

/// Returns an `assay` command with arguments that uses the portable runner.
fn assay(room: &Room, arguments: &[&str]) -> Command {
    let mut command = room.assay(arguments);
    command.env("ASSAY_RUNNER", "portable");
    command
}

/// The tests in these files also pass with the portable runner, except those about the launcher
/// itself.
#[test]
fn commands_and_interruptions_by_the_portable_runner() {
    let mut again = Command::new(std::env::current_exe().unwrap());
    let about_the_launcher = ["a_launcher_that_is_killed", "a_command_of_the_doctor"];
    again.env("ASSAY_RUNNER", "portable").args(["commands::", "interruptions::"]);
    let skipped = about_the_launcher.iter().flat_map(|test| ["--skip", test]);
    let output = again.args(skipped).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("test result: ok") && !said.contains(" 0 passed"), "{said}");
}

#[test]
fn what_it_does_not_do_is_said_before_and_after_and_the_record_names_it() {
    let room = Room::new();
    let prepare = ["--prepare", "echo prepared >> log", "--warmup", "1"];
    let arguments = ["run", "--save", "s.assay", "-r", "3", "--json"];
    let line = "sh -c 'echo ran >> log; echo took 3'";
    let metric = ["--metric", "inner=took ([0-9]+)", line];
    let ended = finish(assay(&room, &[&arguments[..], &prepare, &metric].concat())).ends(0);
    let result = ended.json();
    ended.complains(SAID);
    assert_eq!(codes(&result).iter().filter(|code| **code == "PORTABLE_RUNNER").count(), 1);
    assert_eq!(room.records("s.assay", "environment")[0]["runner"], "portable");
    assert_eq!(room.read("log"), "prepared\nran\n".repeat(4));
    let metrics = &result["descriptions"][0]["metrics"];
    assert_eq!(metrics["inner"]["mean"], 3.0);
    for name in ["wall", "cpu", "max_rss"] {
        assert!(metrics[name]["mean"].as_f64().is_some_and(|mean| mean > 0.0), "{name}");
    }
    // Comparing measurements of different runners gives a warning.
    room.run(&["run", "--save", "t.assay", "-r", "3", "true"]).ends(0);
    assert_eq!(room.records("t.assay", "environment")[0]["runner"], "launcher");
    let compared = room.json(&["compare", "s.assay", "t.assay"]);
    assert!(codes(&compared).contains(&"RECORDINGS_DIFFER"), "{:?}", codes(&compared));
}

#[test]
fn two_builds_are_measured_and_a_record_is_repeated() {
    let room = benching::builds("copy 100\nsame 50\n", "copy 80\nsame 50\n");
    let bench = ["bench", "./old", "./new", "-r", "12", "--save", "s.assay", "--json"];
    let result = finish(assay(&room, &bench)).ends(0).complains(SAID).json();
    assert!(codes(&result).contains(&"PORTABLE_RUNNER"), "{:?}", codes(&result));
    let verdict = |row: &str| {
        let all = result["comparisons"].as_array().unwrap();
        let one = all.iter().find(|one| one["row"] == row);
        one.unwrap()["verdict"].clone()
    };
    assert_eq!((verdict("copy"), verdict("same")), ("faster".into(), "equivalent".into()));
    room.run(&["run", "-r", "3", "--nice", "3", "--save", "n.assay", "true"]).ends(0);
    finish(assay(&room, &["run", "-r", "4", "--save", "r.assay", "true"])).ends(0);
    let again = finish(assay(&room, &["repeat", "--no-save", "--json", "r.assay"]));
    let report = again.ends(0).complains(SAID).json();
    assert_eq!(report["now"]["blocks"], 4, "{report:#}");
    // The record needs settings that only the launcher supports.
    let refused = finish(assay(&room, &["repeat", "--no-save", "n.assay"]));
    refused.ends(2).complains("--nice: the portable runner can't count events");
}

#[test]
fn a_commit_is_found_and_an_alarm_is_confirmed() {
    let room = bisecting::repository();
    let what = ["good..main", "--benchmark", "BM_One", "--seed", "4", "--json"];
    let how = ["--build", bisecting::BUILD, "--", "build/bm"];
    let mut bisect = assay(&room, &[&["bisect"], &what[..], &how].concat());
    bisect.env("XDG_CACHE_HOME", room.path("cache"));
    let found = finish(bisect).ends(1).complains(SAID).json();
    assert_eq!(found["commit"]["subject"], "number 9 \u{1b}[31m", "{found:#}");
    let room = gating_confirmed::repository(60);
    gating_confirmed::measured(&room, "now.json", 60.0);
    let judged = ["gate", "now.json", "--machine", "ci", "--threshold", "10%", "--detect", "30%"];
    let again = ["--confirm", "--rev", "HEAD", "--time", "5s", "--build", gating_confirmed::BUILD];
    let words = [&judged[..], &again, &["--json", "--", "bench", "build/bm"]].concat();
    let mut gate = assay(&room, &words);
    gate.env("XDG_CACHE_HOME", room.path("cache"));
    let json = finish(gate).complains(SAID).complains("confirming `BM_One`").json();
    // The certainty reached in that time depends on the machine.
    assert!(json["benchmarks"][0]["confirmation"]["verdict"].is_string(), "{json:#}");
    assert!(codes(&json).contains(&"PORTABLE_RUNNER"), "{json:#}");
}

#[test]
fn what_it_can_not_serve_is_refused_by_name() {
    let room = Room::new();
    let refused = |arguments: &[&str], told: &str| {
        finish(assay(&room, arguments)).ends(2).complains(told);
    };
    refused(
        &["run", "--pin", "0", "--counters", "cycles", "true"],
        "--pin, --counters: the portable",
    );
    refused(&["run", "--alloc", "true"], "--alloc");
    refused(
        &["run", "--governor", "performance", "--drop-caches", "true"],
        "--governor, --drop-caches",
    );
    refused(&["bench", "--alloc", "./a", "./b"], "--alloc");
    refused(&["doctor"], "assay doctor needs the launcher");
    finish(assay(&room, &["doctor", "--help"])).ends(0);
    let mut unknown = room.assay(&["run", "true"]);
    unknown.env("ASSAY_RUNNER", "fast");
    finish(unknown).ends(2).complains("`fast`").complains("`launcher` and `portable`");
}

#[test]
fn a_run_in_flight_ends_with_an_assay_that_is_killed() {
    let room = Room::new();
    let endless = endless();
    let line = format!("trap '' TERM INT HUP; exec <&- >&- 2>&-; {endless} & {endless}; wait");
    let arguments = ["run", "--no-save", "--warmup", "0", "--shell", "sh", &line];
    let assay = start(assay(&room, &arguments));
    until("both run", || processes_of(&endless).len() == 2);
    assay.signal("KILL");
    assay.finish().ends(128 + 9);
    until("both are gone", || processes_of(&endless).is_empty());
}

#[test]
fn several_at_once_and_their_samples() {
    let room = Room::new();
    let line = "echo '{\"metric\":\"own\",\"value\":7}' >> \"${ASSAY_SAMPLES#path:}\"";
    let arguments = [
        "run",
        "--no-save",
        "-r",
        "2",
        "--jobs",
        "3",
        "--samples",
        "--json",
        "--shell",
        "sh",
        line,
    ];
    let result = finish(assay(&room, &arguments)).ends(0).json();
    let metrics = &result["descriptions"][0]["metrics"];
    assert_eq!(metrics["own"]["mean"], 7.0);
    assert!(metrics["throughput"]["mean"].as_f64().is_some_and(|mean| mean > 0.0));
}
