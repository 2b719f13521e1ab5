//! The parts of a run that are kept, where they are, and errors in keeping them.

use crate::room::{Room, codes, finish};
use std::fs;

#[test]
fn a_run_is_kept_in_the_state_directory_unless_told_otherwise() {
    let room = Room::new();
    let result = room.json(&["run", "--runs", "3", "true"]);
    let kept = room.kept();
    assert_eq!(kept.len(), 1);
    assert_eq!(result["file"], kept[0].display().to_string());
    room.run(&["compare", &kept[0].display().to_string()]).ends(0);

    let room = Room::new();
    let result = room.json(&["run", "--runs", "3", "--no-save", "true"]);
    assert!(result["file"].is_null());
    assert_eq!(fs::read_dir(room.path("")).unwrap().count(), 0, "nothing is left anywhere");
}

#[test]
fn without_a_state_directory_of_its_own_a_run_is_kept_below_the_home_directory() {
    let room = Room::new();
    let mut command = room.assay(&["run", "--runs", "1", "true"]);
    command.env_remove("XDG_STATE_HOME");
    finish(command).ends(0);
    assert_eq!(fs::read_dir(room.path(".local/state/assay/runs")).unwrap().count(), 1);
}

#[test]
fn a_state_directory_that_cannot_be_written_is_no_reason_to_fail() {
    let room = Room::new();
    room.write("state", "a file where a directory should be");
    let ended = room.run(&["run", "--runs", "3", "true", "--json"]).ends(0);
    let result = ended.json();
    assert!(codes(&result).contains(&"NOT_SAVED"));
    assert!(result["file"].is_null());
    room.run(&["run", "--runs", "3", "true"]).ends(0).shows("could not be saved");
}

#[test]
fn a_foreign_file_is_not_overwritten_and_nothing_is_measured_for_it() {
    let room = Room::new();
    room.write("thesis.tex", "years of work");
    let command = "sh -c 'echo ran >> log'";
    let ended =
        room.run(&["run", "--save", "thesis.tex", "--setup", "echo set up >> log", command]);
    ended.ends(2).complains("thesis.tex").complains("not overwritten");
    room.run(&["run", "--save", "no/such/place.assay", command]).ends(2).complains("no/such");
    room.run(&["run", "--save", ".", command]).ends(2).complains("directory");
    finish(room.shell("mkfifo pipe")).ends(0);
    room.run(&["run", "--save", "pipe", command]).ends(2).complains("pipe");
    assert_eq!(
        (room.read("thesis.tex").as_str(), room.read("log").as_str()),
        ("years of work", "")
    );
}

#[test]
fn an_older_record_of_the_same_name_is_replaced() {
    let room = Room::new();
    for runs in ["5", "2"] {
        room.run(&["run", "--save", "s.assay", "--runs", runs, "true"]).ends(0);
    }
    assert_eq!(room.records("s.assay", "obs").len(), 2);
    assert!(room.kept().is_empty());
    room.run(&["run", "--save", "s.assay", "--no-save", "true"]).ends(2);
}

#[test]
fn a_full_disk_is_reported_and_the_verdict_is_still_shown() {
    let room = Room::new();
    let ended = room.run(&["run", "--save", "/dev/full", "--runs", "3", "true"]);
    ended.ends(2).complains("could not be saved").shows("'true' takes");
}

#[test]
fn a_disk_that_fills_while_measuring_keeps_what_fitted() {
    let room = Room::new();
    // In blocks of 512 B: space for the launcher, which is in a memory file, and for some
    // observations.
    let line = "ulimit -f 200; \"$ASSAY\" run --save s.assay --runs 600 --warmup 0 true";
    finish(room.shell(line)).ends(2).complains("could not be saved").shows("'true' takes");
    // The last complete record may lack its line feed.
    let text = room.read("s.assay");
    let records = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let whole = records.filter(|record: &serde_json::Value| record["kind"] == "obs").count();
    assert!((1..600).contains(&whole), "{whole} were recorded");
    let result = room.json(&["compare", "s.assay"]);
    assert_eq!(result["descriptions"][0]["observations"], whole);
    // The disk may have been full exactly between two records.
    let breaks_off =
        text.lines().last().is_some_and(|l| serde_json::from_str::<serde_json::Value>(l).is_err());
    let found = codes(&result);
    assert_eq!(found.contains(&"TRUNCATED_FILE"), breaks_off, "{found:?}");
}

#[test]
fn a_full_standard_output_is_an_error() {
    let room = Room::new();
    let line = "\"$ASSAY\" run --no-save --runs 2 true > /dev/full";
    finish(room.shell(line)).ends(2).complains("No space left");
}

#[test]
fn an_anonymous_record_names_neither_host_nor_directory() {
    let room = Room::new();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let arguments = ["run", "--anonymous", "--save", "s.assay", "--runs", "2", "true"];
    room.run(&arguments).ends(0);
    let record = room.read("s.assay");
    assert!(!record.contains(&format!("\"{}\"", host.trim())), "{record}");
    let here = room.path("").display().to_string();
    assert!(!record.contains(here.trim_end_matches('/')), "{record}");
}

#[test]
fn an_anonymous_run_with_a_variable_goes_on_only_with_its_value() {
    let room = Room::new();
    let command = "sh -c 'test ${#KEY} = 10'";
    let begin = ["run", "--anonymous", "--env", "KEY=opensesame", "--time", "50ms"];
    room.run(&[&begin[..], &["--save", "a.assay", command, command]].concat()).ends(0);
    assert!(!room.read("a.assay").contains("opensesame"));
    let refused = room.run(&["run", "--resume", "a.assay", "--time", "1s"]).ends(2);
    refused.complains("lacks the contents of `KEY=…`").complains("the whole command line again");
    room.run(&["repeat", "a.assay"]).ends(2).complains("lacks the contents of `KEY=…`");
    let again = ["run", "--resume", "a.assay", "--env", "KEY=opensesame", "--time", "300ms"];
    let lines = |text: String| text.lines().count();
    let before = lines(room.read("a.assay"));
    room.run(&[&again[..], &[command, command]].concat()).ends(0);
    assert!(lines(room.read("a.assay")) > before);
    assert!(!room.read("a.assay").contains("opensesame"));
}
