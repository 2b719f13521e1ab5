//! `--count-instructions`: instructions on valgrind's simulated processor decide where times
//! cannot, together with the machine's own counters.

use crate::room::{Room, codes, finish};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A program that does the number of steps given by its argument.
const STEPS: &str = "#include <stdlib.h>
int main(int count, char **argument)
{
    (void)count;
    volatile long sum = 0;
    for (long i = atol(argument[1]); i > 0; i--)
        sum += i;
    return 0;
}
";

/// Returns true if there is a simulator; otherwise prints that there is none.
fn can_simulate() -> bool {
    let there = Command::new("valgrind").arg("--version").output().is_ok();
    if !there {
        println!("skipped: valgrind is not there");
    }
    there
}

/// A Google Benchmark program with two benchmarks: `same` does two steps in each iteration, `grow`
/// a compile-time number. In C, since valgrind would start anew for every program that a script
/// runs.
const HARNESS: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **argument)
{
    const char *name = "", *out = "/dev/null";
    long iterations = 1000;
    for (int i = 1; i < count; i++) {
        char *value = strchr(argument[i], '=');
        if (!strcmp(argument[i], "--help"))
            return puts("benchmark [--benchmark_list_tests={true|false}]"
                        " [--benchmark_min_time=`<integer>x` OR `<float>s`]") < 0;
        if (!strncmp(argument[i], "--benchmark_list_tests", 22))
            return puts("grow\nsame") < 0;
        if (!strncmp(argument[i], "--benchmark_filter=", 19))
            name = strstr(value, "grow") ? "grow" : "same";
        if (!strncmp(argument[i], "--benchmark_out=", 16))
            out = value + 1;
        if (!strncmp(argument[i], "--benchmark_min_time=", 21) && strchr(value, 'x'))
            iterations = atol(value + 1);
    }
    volatile long sum = 0;
    for (long i = iterations * (*name == 'g' ? GROW : 2) * 100; i > 0; i--)
        sum += i;
    FILE *file = fopen(out, "w");
    if (!file)
        return 1;
    fprintf(file, "{\"context\": {\"library_build_type\": \"release\"}, \"benchmarks\": [{"
        "\"name\": \"%s\", \"run_name\": \"%s\", \"run_type\": \"iteration\", \"repetitions\": 1, \"threads\": 1,"
        " \"iterations\": %ld, \"real_time\": 2, \"cpu_time\": 2, \"time_unit\": \"ns\"}]}",
        name, name, iterations);
    return fclose(file) != 0;
}
"#;

/// Compiles a program of the room.
fn compile(room: &Room, name: &str, text: &str, options: &[&str]) {
    let source = format!("{name}.c");
    room.write(&source, text);
    let mut compiler = Command::new("cc");
    compiler.arg("-O1").args(options).arg("-o").arg(room.path(name)).arg(room.path(&source));
    assert!(compiler.status().unwrap().success());
}

fn room() -> Room {
    let room = Room::new();
    compile(&room, "steps", STEPS, &[]);
    room
}

fn counts(room: &Room, file: &str, subject: u64) -> Vec<f64> {
    let observations = room.records(file, "obs");
    let own = observations.iter().filter(|o| o["subject"] == subject);
    own.filter_map(|o| o["values"]["valgrind_instructions"].as_f64()).collect()
}

#[test]
fn the_same_program_takes_the_same_instructions_and_more_work_more_of_them() {
    if !can_simulate() {
        return;
    }
    let room = room();
    let commands = ["./steps 1000", "./steps 1000", "./steps 101000"];
    let options = ["run", "--count-instructions", "-r", "3", "--save", "x.assay"];
    let result = room.json(&[&options[..], &commands].concat());
    let all: Vec<Vec<f64>> = (0..3).map(|subject| counts(&room, "x.assay", subject)).collect();
    assert!(all.iter().all(|own| own.len() == 3), "{all:?}");
    assert_eq!(all[0], all[1]);
    // A step is a few instructions.
    let more = all[2][0] - all[0][0];
    assert!((2e5..2e6).contains(&more), "{all:?}");
    // Timed blocks contain no counts, and counting blocks no times.
    let timed =
        room.records("x.assay", "obs").iter().filter(|o| o["values"]["wall"].is_number()).count();
    assert_eq!(timed, 3 * 3);
    assert_eq!(result["blocks"], 3);
}

#[test]
fn a_gate_on_instructions_times_nothing_and_is_sure() {
    if !can_simulate() {
        return;
    }
    let room = room();
    let gate = [
        "run",
        "--count-instructions",
        "--primary",
        "valgrind_instructions",
        "--fail-if",
        "slower",
        "--no-save",
    ];
    room.run(&[&gate[..], &["./steps 100000", "./steps 100000"]].concat()).ends(0);
    // This also holds if start-up takes most of it.
    room.run(&[&gate[..], &["./steps 100000", "./steps 104000"]].concat()).ends(1);
    room.run(&[&gate[..], &["./steps 104000", "./steps 100000"]].concat()).ends(0);
}

#[test]
fn what_fails_on_the_simulated_processor_is_told_and_keeps_its_times() {
    if !can_simulate() {
        return;
    }
    let room = room();
    // A program may inspect the preloaded libraries.
    room.write("wary", "#!/bin/sh\ncase $LD_PRELOAD in *vgpreload*) exit 9 ;; esac\n");
    fs::set_permissions(room.path("wary"), fs::Permissions::from_mode(0o755)).unwrap();
    let options = ["run", "--count-instructions", "-r", "3", "--no-save"];
    let result = room.json(&[&options[..], &["./steps 1000", "./wary"]].concat());
    let told = result["findings"].as_array().unwrap();
    let told: Vec<&Value> = told.iter().filter(|f| f["code"] == "NOT_COUNTED").collect();
    assert_eq!(told.len(), 1, "{:?}", codes(&result));
    assert!(
        told[0]["message"].as_str().unwrap().contains("status 9 when valgrind ran it"),
        "{told:?}"
    );
    assert!(result["descriptions"][1]["metrics"]["wall"]["median"].is_number());
    assert!(result["descriptions"][0]["metrics"]["valgrind_instructions"]["median"].is_number());
}

/// Returns a room with two builds of a harness, one of which does half as much again in one of its
/// benchmarks.
fn builds() -> Room {
    let room = Room::new();
    for (name, steps) in [("old", "-DGROW=2"), ("new", "-DGROW=3")] {
        compile(&room, name, HARNESS, &[steps]);
    }
    room
}

#[test]
fn a_suite_is_judged_by_instructions_per_iteration_without_being_timed() {
    if !can_simulate() {
        return;
    }
    let room = builds();
    let gate =
        ["bench", "./old", "./new", "--count-instructions", "--primary", "valgrind_instructions"];
    let gate = [&gate[..], &["--save", "x.assay", "--fail-if", "slower"]].concat();
    let ended = room.run(&gate).ends(1).complains("nothing is timed");
    ended.shows("sim. instr./iter.").shows("1 of 2 benchmarks is");
    let observations = room.records("x.assay", "obs");
    assert_eq!(observations.len(), 2 * 2 * 2);
    assert!(observations.iter().all(|o| !o["values"]["wall"].is_number()));
    room.run(&[&gate[..6], &["--filter", "same", "--fail-if", "slower", "--no-save"]].concat())
        .ends(0);
    room.run(&[&gate[..6], &["--time", "3s"]].concat()).ends(2).complains("leave --time out");
    let other = ["bench", "./old", "./new", "--primary", "allocations"];
    room.run(&other).ends(2).complains("counted with --alloc");
}

#[test]
fn a_list_and_a_smoke_test_need_no_tool_that_counts() {
    let room = builds();
    // The harness needs none of the missing programs, of which valgrind is one.
    let run = |arguments: &[&str]| {
        let mut assay =
            room.assay(&[&["bench", "--count-instructions", "./old"], arguments].concat());
        assay.env("PATH", room.path(""));
        finish(assay)
    };
    run(&["--list"]).ends(0).shows("grow");
    run(&["--smoke"]).ends(0).shows("all 2 run");
    run(&["./new", "--runs", "3", "--no-save"]).ends(2).complains("valgrind");
}

#[test]
fn events_of_the_machine_are_counted_after_a_suite_is_timed() {
    let room = builds();
    let words = ["bench", "./old", "./new", "--runs", "3", "--save", "x.assay"];
    let result = room
        .run(&[&words[..], &["--counters", "page-faults,instructions", "--json"]].concat())
        .json();
    let observations = room.records("x.assay", "obs");
    let faults = observations.iter().filter(|o| o["values"]["page-faults/iteration"].is_number());
    assert_eq!(faults.count(), 2 * 2 * 12);
    // Many machines do not count instructions; then that is reported, and nothing else is missing.
    let counted = observations.iter().any(|o| o["values"]["instructions/iteration"].is_number());
    assert_eq!(counted, !codes(&result).contains(&"NOT_COUNTED"), "{:?}", codes(&result));
    let bad = room.run(&[&words[..], &["--counters", "no-such"]].concat()).ends(2);
    bad.complains("--counters").complains("no-such");
}
