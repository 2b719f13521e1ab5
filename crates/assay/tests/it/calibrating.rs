//! `assay calibrate` and `assay doctor`: their measurements, screens, and stored facts.

use crate::room::{Room, codes, finish, start, until};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

const KEPT: &str = "state/assay/calibration.json";

fn is_kept(room: &Room) -> bool {
    room.path(KEPT).exists()
}

/// Creates an executable script.
fn script(room: &Room, name: &str, line: &str) -> String {
    room.write(name, &format!("#!/bin/sh\n{line}\n"));
    fs::set_permissions(room.path(name), Permissions::from_mode(0o755)).unwrap();
    format!("./{name}")
}

#[test]
fn a_calibration_is_shown_kept_and_used_by_later_runs() {
    let room = Room::new();
    let result = room.json(&["calibrate", "--time", "12"]);
    let methods = result["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"alternating") && names.len() == 5, "{names:?}");
    assert!(methods.iter().all(|m| m["comparisons"].as_u64() > Some(10)), "{methods:?}");
    let kept = room.read(KEPT);
    assert!(kept.contains("calibrated_wall_60s"), "{kept}");
    // A millionth is not detectable within a minute.
    let run =
        room.json(&["run", "--no-save", "-r", "3", "--threshold", "0.0001%", "sh -c :", "sh -c :"]);
    assert!(codes(&run).contains(&"BELOW_DETECTABLE"), "{:?}", codes(&run));
}

#[test]
fn a_series_can_be_recorded_and_labelled_afterwards() {
    let room = Room::new();
    // A busy machine takes longer for the thousand runs that are needed.
    let mut recorded = ["5", "30", "180"].into_iter().map(|time| {
        let _not_there = fs::remove_file(room.path("series.assay"));
        room.run(&["calibrate", "--time", time, "--record", "series.assay", "--", "sh", "-c", ":"])
            .ends(0);
        room.records("series.assay", "obs").len()
    });
    let runs = recorded.find(|runs| *runs >= 1000).unwrap();
    let result = room.json(&["calibrate", "--from", "series.assay", "--no-save"]);
    assert_eq!(result["runs"].as_u64(), Some(runs as u64));
    assert!(!is_kept(&room));
    let told = room.run(&["calibrate", "--from", "series.assay"]).ends(0);
    // The headline names the given command, not a loop of assay's own.
    told.complains("kept for later runs in").shows("With 'sh -c :'");
    fs::remove_file(room.path(KEPT)).unwrap();
    let name = room.records("series.assay", "environment")[0]["hostname"].to_string();
    let elsewhere = room.read("series.assay").replace(&name, "\"another-machine\"");
    room.write("elsewhere.assay", &elsewhere);
    let told = room.run(&["calibrate", "--from", "elsewhere.assay"]).ends(0);
    told.complains("from another machine").shows("50 blocks");
    assert!(!is_kept(&room));
    room.write("two.assay", "{\"assay\":1,\"kind\":\"run\"}\n");
    room.run(&["calibrate", "--from", "two.assay"]).ends(2).complains("two.assay");
}

#[test]
fn a_program_that_needs_its_place_is_calibrated_without_the_copy() {
    let room = Room::new();
    room.write("lib.sh", ":\n");
    let program = script(&room, "program", ". \"$(dirname \"$0\")/lib.sh\"");
    let calibrated = |time| room.run(&["calibrate", "--time", time, "--json", &program]);
    // A busy machine takes longer for the thousand runs that are needed.
    let mut tried = ["12", "60", "300"].into_iter().map(calibrated);
    let ended = tried.find(|ended| !ended.stderr.contains("at least 1000 runs")).unwrap().ends(0);
    let result = ended.json();
    assert!(result["methods"].is_array() && result["layout"].is_null(), "{result:#}");
    assert!(is_kept(&room));
    let about: Vec<&str> = ended.stderr.lines().filter(|l| l.contains("byte-identical")).collect();
    assert!(matches!(about[..], [line] if line.contains("lib.sh")), "{}", ended.stderr);
    assert!(!ended.stderr.contains("--ignore-failure"), "{}", ended.stderr);
}

#[test]
fn an_interrupt_beside_the_copy_costs_only_the_copy() {
    let room = Room::new();
    let program = script(&room, "program", "echo \"$0\" >> log");
    let assay = start(room.assay(&["calibrate", "--time", "8", "--json", &program]));
    until("the copy runs", || room.read("log").contains("a-byte-identical-copy"));
    assay.signal("INT");
    let ended = assay.finish().ends(130);
    assert!(ended.json()["layout"].is_null());
    ended.complains("interrupted");
    assert!(is_kept(&room));
}

#[test]
fn an_interrupted_series_is_told_if_it_is_long_enough_and_never_kept() {
    let command = "sh -c 'echo ran >> log'";
    let interrupted_after = |runs: usize| {
        let room = Room::new();
        let assay = start(room.assay(&["calibrate", "--time", "300", "--json", command]));
        until("it has run", || room.read("log").lines().count() > runs);
        assay.signal("INT");
        let ended = assay.finish().ends(130);
        assert!(!is_kept(&room));
        ended
    };
    let ended = interrupted_after(1010);
    assert!(ended.json()["runs"].as_u64() >= Some(1000));
    ended.complains("not kept");
    let ended = interrupted_after(10);
    assert_eq!(ended.stdout, "");
    ended.complains("interrupted after").complains("at least 1000");
}

#[test]
fn a_command_that_is_too_slow_for_the_time_says_how_long_it_would_take() {
    let room = Room::new();
    let ended = room.run(&["calibrate", "--time", "0.5", "sleep 0.03"]).ends(2);
    ended.complains("there was time for").complains("at least 1000: --time ");
    let ended = room.run(&["calibrate", "--time", "1", "false"]).ends(4);
    assert!(!ended.stderr.contains("--ignore-failure"), "{}", ended.stderr);
}

#[test]
fn a_record_may_have_any_name_but_that_of_a_directory() {
    let room = Room::new();
    let mut assay = room.assay(&["calibrate", "--time", "0.3", "true", "--record"]);
    assay.arg(OsStr::from_bytes(b"s\xff.assay"));
    finish(assay).ends(0);
    assert!(room.path("").join(OsStr::from_bytes(b"s\xff.assay")).is_file());
    room.run(&["calibrate", "--record", "."]).ends(2).complains("--record .: that is a directory");
    room.run(&["run", "--save", ".", "true"]).ends(2).complains("--save .: that is a directory");
}

#[test]
fn the_doctor_pins_only_where_there_is_a_choice() {
    let room = Room::new();
    let allowed =
        "$(grep Cpus_allowed_list /proc/self/status | tr -dc '0-9,-' | tr ',-' '\\n' | head -n 1)";
    if !room.shell(&format!("taskset -c {allowed} true")).status().unwrap().success() {
        println!("skipped: there is no taskset");
        return;
    }
    let line = format!("exec taskset -c {allowed} \"$ASSAY\" doctor --time 1 --json");
    let result = finish(room.shell(&line)).ends(0).json();
    let costs = result["trials"].as_array().unwrap();
    assert!(costs.iter().all(|c| !c["name"].as_str().unwrap().contains("--pin")), "{costs:?}");
}

#[test]
fn the_doctor_says_what_disturbs_and_what_it_costs() {
    let room = Room::new();
    let result = room.json(&["doctor", "--time", "2"]);
    let costs = result["trials"].as_array().unwrap();
    assert!(!costs.is_empty());
    for trial in costs {
        assert!(trial["before"]["median"].as_f64() > Some(0.0), "{trial}");
    }
    let machine = result["machine"].as_str().unwrap();
    // Only a hypervisor can take CPU time, and every Linux under one reports it.
    let is_reported = result["stolen"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share));
    assert_eq!(is_reported, machine.contains("virtual"), "{result:#}");
    room.run(&["doctor", "--quick"]).ends(0);
}

#[test]
fn the_doctor_tells_what_disturbs_also_where_nothing_can_be_tried() {
    let room = Room::new();
    let mut doctor = room.assay(&["doctor", "--json"]);
    doctor.env("TMPDIR", room.path("not-there"));
    let result = finish(doctor).ends(0).json();
    assert!(result["findings"].is_array(), "{result:#}");
    let missing = result["missing"].as_array().unwrap();
    assert!(missing.iter().any(|m| m.as_str().unwrap().contains("not-there")), "{missing:?}");
}
