//! Ctrl-C and `kill -9`, of `assay` and of its launcher: measurements are kept, and no process is
//! left.

use crate::room::{
    Room, Running, children_of, codes, endless, is_alive, processes_of, signal, start, until,
};
use std::thread::sleep;
use std::time::Duration;

/// Waits until `count` observations are recorded.
fn until_observed(room: &Room, count: usize) {
    until("runs are recorded", || room.records("s.assay", "obs").len() >= count);
}

fn until_running(command: &str) {
    until("the command runs", || !processes_of(command).is_empty());
}

/// Sends a second signal after the first was received, because two pending signals of one kind are
/// merged.
fn interrupt_twice(assay: &mut Running) {
    assay.signal("INT");
    sleep(Duration::from_millis(100));
    assert!(assay.is_running(), "the first signal lets the run in flight finish");
    assay.signal("INT");
}

#[test]
fn one_interrupt_lets_the_run_in_flight_finish_and_decides_on_what_there_is() {
    for name in ["INT", "TERM", "HUP"] {
        let room = Room::new();
        let slow = "sh -c 'echo begun >> log; sleep 0.15; echo ended >> log'";
        let arguments =
            ["run", "--save", "s.assay", "--warmup", "0", "--json", "-n", "a", "-n", "b"];
        let last = ["--cleanup", "echo cleaned >> log", slow, slow];
        let assay = start(room.assay(&[&arguments[..], &last].concat()));
        until_observed(&room, 3);
        assay.signal(name);
        let result = assay.finish().ends(130).json();
        assert_eq!(result["verdict"], "inconclusive");
        assert_eq!(result["stop"], "interrupted");
        assert!(codes(&result).contains(&"STOPPED_EARLY"));
        let log = room.read("log");
        let count = |word: &str| log.lines().filter(|&line| line == word).count();
        assert_eq!((count("begun"), count("cleaned")), (count("ended"), 1), "{log}");
        assert_eq!(room.records("s.assay", "obs").len(), count("ended"));
        assert_eq!(room.records("s.assay", "stop")[0]["reason"], "interrupted");
    }
}

#[test]
fn two_interrupts_end_the_run_in_flight_at_once() {
    let room = Room::new();
    let endless = endless();
    let arguments =
        ["run", "--save", "s.assay", "--warmup", "0", "--cleanup", "echo cleaned > log"];
    let mut assay = start(room.assay(&[&arguments[..], &[&endless]].concat()));
    until_running(&endless);
    interrupt_twice(&mut assay);
    assay.finish().ends(130);
    assert!(processes_of(&endless).is_empty());
    assert_eq!(room.records("s.assay", "stop")[0]["reason"], "interrupted");
    assert_eq!(room.read("log"), "cleaned\n", "what was set up is cleaned up");
}

#[test]
fn an_interrupt_while_warming_up_says_that_nothing_was_measured() {
    let room = Room::new();
    let assay = start(room.assay(&["run", "--warmup", "1000000", "sh -c 'echo ran >> log'"]));
    until("it warms up", || room.read("log").lines().count() > 3);
    assay.signal("INT");
    assay.finish().ends(130).complains("nothing was measured yet");
}

#[test]
fn two_interrupts_end_a_warm_up_run_or_a_hook_too() {
    let endless = [endless(), endless()];
    let during_warm_up = vec!["run", &endless[0]];
    let during_prepare = vec!["run", "--prepare", &endless[1], "true"];
    for (arguments, endless) in [(during_warm_up, &endless[0]), (during_prepare, &endless[1])] {
        let room = Room::new();
        let mut assay = start(room.assay(&arguments));
        until_running(endless);
        interrupt_twice(&mut assay);
        assay.finish().ends(130);
        assert!(processes_of(endless).is_empty());
    }
}

#[test]
fn killing_assay_at_any_moment_leaves_a_readable_record_and_no_process() {
    // Before the first observation, early, and later: each time somewhere within a run.
    for (count, pause) in [(0, 0), (0, 3), (1, 1), (2, 5), (7, 2), (20, 0), (40, 7)] {
        let room = Room::new();
        let lasting = endless();
        let command = format!("timeout 0.01 {lasting}");
        let arguments =
            ["run", "--save", "s.assay", "--warmup", "0", "--ignore-failure", "-n", "a"];
        // More blocks than it can take before it is killed, so that no verdict ends it earlier.
        let rest = ["--runs", "10000", "-n", "b", &command, &command];
        let assay = start(room.assay(&[&arguments[..], &rest].concat()));
        until("the record is begun", || room.path("s.assay").exists());
        until_observed(&room, count);
        sleep(Duration::from_millis(pause));
        let launcher = children_of(assay.pid());
        let before = room.records("s.assay", "obs").len();
        assay.signal("KILL");
        assay.finish().ends(128 + 9);
        until("the launcher is gone", || !launcher.iter().any(|&pid| is_alive(pid)));
        until("the command is gone", || processes_of(&lasting).is_empty());
        let after = room.records("s.assay", "obs").len();
        assert!(after >= before, "{before} were recorded, {after} are there");
        if after > 0 {
            let result = room.json(&["compare", "s.assay"]);
            let read = &result["descriptions"].as_array().unwrap()[..];
            let read: u64 = read.iter().map(|s| s["observations"].as_u64().unwrap()).sum();
            assert_eq!(read, after as u64);
        }
    }
}

#[test]
fn a_run_in_flight_ends_with_assay() {
    let room = Room::new();
    let endless = endless();
    // The command has a child, ignores all ignorable signals, and closes its descriptors.
    let line = format!("trap '' TERM INT HUP; exec <&- >&- 2>&-; {endless} & {endless}; wait");
    let assay = start(room.assay(&["run", "--no-save", "--warmup", "0", "--shell", "sh", &line]));
    until("both run", || processes_of(&endless).len() == 2);
    assay.signal("KILL");
    assay.finish().ends(128 + 9);
    until("both are gone", || processes_of(&endless).is_empty());
}

#[test]
fn a_launcher_that_is_killed_once_costs_one_run_which_is_taken_again() {
    let room = Room::new();
    let arguments = ["run", "--save", "s.assay", "--warmup", "0", "--runs", "4", "--json"];
    let assay =
        start(room.assay(&[&arguments[..], &["sh -c 'echo ran >> log; sleep 0.2'"]].concat()));
    until_observed(&room, 1);
    until("the next run is in flight", || room.read("log").lines().count() >= 2);
    let launcher = children_of(assay.pid());
    assert_eq!(launcher.len(), 1);
    let in_flight = children_of(launcher[0]);
    signal(launcher[0], "KILL");
    let result = assay.finish().ends(0).json();
    assert!(codes(&result).contains(&"INCOMPLETE_BLOCKS"), "{result:#}");
    assert_eq!(room.records("s.assay", "obs").len(), 4);
    assert!(!in_flight.iter().any(|&pid| is_alive(pid)));
}

#[test]
fn a_launcher_that_is_killed_again_and_again_is_an_error_that_keeps_the_record() {
    let room = Room::new();
    let endless = endless();
    let command = format!("sh -c 'echo ran >> log; test $(wc -l < log) -lt 3 || exec {endless}'");
    let arguments = ["run", "--save", "s.assay", "--warmup", "0", &command];
    let assay = start(room.assay(&arguments));
    for _ in 0..2 {
        until_running(&endless);
        let running = processes_of(&endless);
        signal(children_of(assay.pid())[0], "KILL");
        until("its run is gone", || !running.iter().any(|&pid| is_alive(pid)));
    }
    assay.finish().ends(2).complains("launcher");
    assert!(processes_of(&endless).is_empty());
    assert_eq!(room.records("s.assay", "obs").len(), 2);
    assert_eq!(room.records("s.assay", "stop")[0]["reason"], "failed");
    room.run(&["compare", "s.assay"]).ends(0);
}

#[test]
fn stopped_before_enough_blocks_one_sentence_says_so_and_one_how_to_go_on() {
    let room = Room::new();
    let slow = ["sleep 0.15", "sleep 0.16"];
    let assay = start(room.assay(&[&["run", "--save", "s.assay"][..], &slow].concat()));
    until_observed(&room, 6);
    assay.signal("INT");
    let ended = assay.finish().ends(130).shows("stopped after ").shows("are needed");
    assert!(!ended.stdout.contains("--runs"), "{}", ended.stdout);
    ended.complains("recorded in s.assay; to continue: assay run --resume s.assay");
}

#[test]
fn a_command_of_the_doctor_that_is_interrupted_ends_as_every_interrupt_does() {
    let room = Room::new();
    let endless = endless();
    let words = endless.split(' ');
    let arguments: Vec<&str> = ["doctor", "--fix", "-q", "--"].into_iter().chain(words).collect();
    let assay = start(room.assay(&arguments));
    until_running(&endless);
    assay.signal("INT");
    assay.finish().ends(130);
}
