//! `run --alloc`: exact allocation counts of commands, in addition to their times; and no counts of
//! programs that cannot be counted.

use crate::room::{Room, codes};
use serde_json::Value;
use std::process::Command;

const METRICS: [&str; 5] = ["allocations", "reallocs", "frees", "allocated_bytes", "peak_heap"];

/// A program that allocates its argument's number of blocks of 1,000 bytes each, and frees all but
/// the last.
const SOME: &str = "#include <stdlib.h>
int main(int count, char **argument)
{
    (void)count;
    char *volatile block[100];
    int blocks = atoi(argument[1]);
    for (int i = 0; i < blocks; i++)
        block[i] = malloc(1000);
    block[0] = realloc(block[0], 5000);
    for (int i = 1; i < blocks; i++)
        free(block[i]);
    return 0;
}
";

/// Returns a room with that program.
fn room(flags: &[&str]) -> Room {
    let room = Room::new();
    room.write("some.c", SOME);
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-fno-builtin"]).args(flags).arg("-o").arg(room.path("some"));
    let status = compiler.arg(room.path("some.c")).status().unwrap();
    assert!(status.success());
    room
}

fn medians(result: &Value, subject: usize) -> Vec<Option<f64>> {
    let metrics = &result["descriptions"][subject]["metrics"];
    METRICS.iter().map(|name| metrics[name]["median"].as_f64()).collect()
}

#[test]
fn two_commands_show_how_much_each_allocates() {
    let room = room(&[]);
    let run = ["run", "--alloc", "-r", "7", "--save", "x.assay", "./some 7", "./some 2"];
    let result = room.json(&run);
    // Usable sizes depend on the C library, and are at least the requested ones.
    let counts = [(7.0, 6.0, 12_000.0), (2.0, 1.0, 7_000.0)];
    for (subject, (allocations, frees, bytes)) in counts.into_iter().enumerate() {
        let found = medians(&result, subject);
        let expected = [allocations, 1.0, frees, bytes].map(Some);
        assert_eq!(found[..4], expected, "{subject}");
        let peak = found[4].unwrap();
        assert!(peak >= bytes - 1000.0 && peak < bytes + 100.0, "{peak} of {bytes}");
    }
    assert_eq!((&result["blocks"], &result["stop"]), (&Value::from(7), &Value::from("blocks")));
    assert!(!codes(&result).contains(&"INCOMPLETE_BLOCKS"), "{:?}", codes(&result));
    // Seven timed blocks, and a pass of three with counts only.
    let observations = room.records("x.assay", "obs");
    assert_eq!(observations.len(), 2 * (7 + 3));
    for observation in &observations {
        let counted = observation["pass"] == "allocations";
        assert!(observation["block"].as_u64().unwrap() < if counted { 3 } else { 7 });
        let values = &observation["values"];
        assert_eq!(values["allocations"].is_number(), counted, "{observation}");
        assert_eq!(values["wall"].is_number(), !counted, "{observation}");
    }
    // The file gives the same results.
    let again = room.json(&["compare", "x.assay"]);
    assert_eq!(medians(&again, 0), medians(&result, 0));
    assert_eq!(again["comparisons"], result["comparisons"]);
    let decided = room.json(&["compare", "x.assay", "--primary", "allocations"]);
    assert!(!codes(&decided).contains(&"INCOMPLETE_BLOCKS"), "{:?}", codes(&decided));
}

#[test]
fn what_can_not_be_counted_has_no_values_and_a_reason() {
    let room = room(&["-static"]);
    let result = room.json(&["run", "--alloc", "-r", "3", "--no-save", "./some 7", "true"]);
    assert_eq!(medians(&result, 0), [None; 5]);
    assert!(medians(&result, 1)[0].is_some());
    let findings = result["findings"].as_array().unwrap();
    let finding = findings.iter().find(|f| f["code"] == "NOT_COUNTED").unwrap();
    assert_eq!(finding["subject"], "some");
    assert!(finding["message"].as_str().unwrap().contains("linked statically"), "{finding}");
    let alone = room.json(&["run", "--alloc", "-r", "3", "--no-save", "./some 7"]);
    assert_eq!(medians(&alone, 0), [None; 5]);
}

#[test]
fn hooks_and_children_belong_to_a_counted_run() {
    let room = room(&[]);
    let line = "./some 3; ./some 4; test -e made && rm made";
    let options =
        ["run", "--alloc", "-r", "3", "--no-save", "--shell", "sh", "--prepare", "touch made"];
    let result = room.json(&[&options[..], &[line, "./some 1"]].concat());
    let bytes = |subject: usize| medians(&result, subject)[3].unwrap();
    // The shell allocates as well, so the counts are at least those of the programs.
    assert!(bytes(0) >= 17_000.0 && medians(&result, 0)[1].unwrap() >= 2.0, "{result}");
    assert!(bytes(0) > bytes(1));
}

#[test]
fn a_run_that_is_gone_on_with_keeps_its_counts_apart() {
    let room = room(&[]);
    let commands = ["./some 7", "./some 2"];
    let run = ["run", "--alloc", "--save", "x.assay", "--until", "blocks >= 6 and seconds > 1"];
    room.run(&[&run[..], &["--time", "0.2"], &commands].concat()).ends(0);
    let before = room.records("x.assay", "obs").len();
    let result = room.json(&["run", "--resume", "x.assay", "--time", "20"]);
    let observations = room.records("x.assay", "obs");
    assert!(observations.len() > before);
    assert_eq!(medians(&result, 0)[0], Some(7.0));
    // Three were taken before the first interruption; they are enough.
    let counted = observations.iter().filter(|o| o["values"]["allocations"].is_number());
    assert_eq!(counted.count(), 6);
    let timed = observations.len() - 6;
    assert_eq!(result["blocks"], timed / 2);
    assert_eq!(room.json(&["compare", "x.assay"])["comparisons"], result["comparisons"]);
}

#[test]
fn counts_alone_decide_and_then_nothing_is_timed() {
    let room = room(&[]);
    let decide = ["run", "--alloc", "--primary", "allocations", "--fail-if", "slower"];
    let worse = [&decide[..], &["--save", "x.assay", "./some 2", "./some 7"]].concat();
    room.run(&worse).ends(1).shows("allocations");
    let observations = room.records("x.assay", "obs");
    assert_eq!(observations.len(), 2 * 3);
    assert!(observations.iter().all(|o| !o["values"]["wall"].is_number()));
    let result = room.json(&["compare", "x.assay"]);
    assert_eq!(result["comparisons"][0]["verdict"], "slower", "{result}");
    room.run(&["run", "--resume", "x.assay"]).ends(2).complains("begin a new run");
    room.run(&[&decide[..], &["./some 7", "./some 7"]].concat()).ends(0);
    room.run(&[&decide[..], &["-r", "9", "./some 7", "./some 2"]].concat())
        .ends(2)
        .complains("nothing is timed")
        .complains("leave --runs out");
}

#[test]
fn names_of_counts_belong_to_their_options() {
    let room = room(&[]);
    room.run(&["run", "--secondary", "frees", "./some 7"])
        .ends(2)
        .complains("counted with --alloc");
    room.run(&["run", "--primary", "valgrind_instructions", "./some 7"])
        .ends(2)
        .complains("counted with --count-instructions");
    let named = ["run", "--alloc", "--metric", "frees=([0-9]+)", "./some 7"];
    room.run(&named).ends(2).complains("--alloc counts something with that name");
    let beside =
        ["run", "--alloc", "--secondary", "allocations", "-r", "3", "--no-save", "./some 7"];
    assert_eq!(medians(&room.json(&beside), 0)[0], Some(7.0));
}

#[test]
fn a_static_program_that_a_command_runs_is_missing_from_the_sum_and_that_is_told() {
    let room = room(&["-static"]);
    let run = ["run", "--alloc", "-r", "3", "--no-save", "--shell", "sh", "./some 7; true"];
    let result = room.json(&run);
    let told = result["findings"].as_array().unwrap();
    let found = told.iter().find(|f| f["code"] == "COUNTS_INCOMPLETE").unwrap();
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("`some` is linked statically"), "{message}");
    assert_eq!(found["severity"], "warning");
    // The shell itself was counted.
    assert!(medians(&result, 0)[0].is_some());
    let whole =
        room.json(&["run", "--alloc", "-r", "3", "--no-save", "--shell", "sh", "cat some.c; true"]);
    assert!(!codes(&whole).contains(&"COUNTS_INCOMPLETE"), "{:?}", codes(&whole));
}
