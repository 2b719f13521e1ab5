//! The options for running commands and for writing results.

use crate::room::Room;
use serde_json::Value;

#[test]
fn hooks_run_in_their_order_and_as_often_as_promised() {
    let room = Room::new();
    let hooks = ["--setup", "echo setup >> log", "--cleanup", "echo cleanup >> log"];
    let each = ["--prepare", "echo prepare >> log", "--conclude", "echo conclude >> log"];
    let commands = ["-n", "a", "-n", "b", "sh -c 'echo run >> log'", "sh -c 'echo run >> log'"];
    let how = ["run", "--no-save", "-r", "3", "--warmup", "2"];
    room.run(&[&how[..], &hooks, &each, &commands].concat()).ends(0);
    let log = room.read("log");
    let log: Vec<&str> = log.lines().collect();
    assert_eq!((log[0], log[log.len() - 1]), ("setup", "cleanup"));
    let runs = &log[1..log.len() - 1];
    assert_eq!(runs.len(), 3 * 2 * (2 + 3));
    assert!(runs.chunks(3).all(|run| run == ["prepare", "run", "conclude"]), "{runs:?}");
}

#[test]
fn every_command_can_have_hooks_of_its_own() {
    let room = Room::new();
    let hooks = ["--prepare", "echo -n 1 >> log", "--prepare", "echo -n 2 >> log"];
    let commands = ["sh -c 'echo \" first\" >> log'", "sh -c 'echo \" second\" >> log'"];
    room.run(&[&["run", "--no-save", "-r", "4"], &hooks[..], &commands].concat()).ends(0);
    let log = room.read("log");
    assert_eq!(log.lines().count(), 10);
    assert!(log.lines().all(|line| ["1 first", "2 second"].contains(&line)), "{log}");
    let third = [&["run"], &hooks[..], &["--prepare", ":"], &commands].concat();
    room.run(&third).ends(2).complains("--prepare");
}

#[test]
fn a_hook_that_fails_ends_the_run_after_the_cleanup() {
    for hook in ["--setup", "--prepare", "--conclude"] {
        let room = Room::new();
        let line = "echo the well is dry >&2; exit 7";
        let arguments = ["run", "--no-save", hook, line, "--cleanup", "echo cleaned > log", "true"];
        let ended = room.run(&arguments).ends(4);
        ended.complains(hook).complains("the well is dry").complains("7");
        assert_eq!(room.read("log"), "cleaned\n", "{hook}");
    }
    let room = Room::new();
    let ended = room.run(&["run", "--no-save", "-r", "2", "--cleanup", "exit 7", "true"]);
    ended.ends(4).complains("--cleanup").shows("'true' takes");
}

#[test]
fn hooks_are_not_measured() {
    let room = Room::new();
    let result = room.json(&["run", "--no-save", "-r", "3", "--prepare", "sleep 0.2", "true"]);
    let wall = result["descriptions"][0]["metrics"]["wall"]["median"].as_f64();
    assert!(wall.is_some_and(|seconds| seconds < 0.2), "{wall:?}");
}

#[test]
fn variables_directories_input_and_output_can_be_meant_for_one_command() {
    let room = Room::new();
    std::fs::create_dir(room.path("inner")).unwrap();
    room.write("one.txt", "eins\n");
    room.write("two.txt", "zwei\n");
    let command = "sh -c 'echo $BOTH $ONLY; pwd -P; cat'";
    let arguments = [
        &["run", "--no-save", "-r", "2", "--env", "BOTH=b", "--env", "2:ONLY=o=o"][..],
        &["--cwd", "2:inner", "--input", "one.txt", "--input", "2:two.txt"],
        &["--output", "1:first.out", "--output", "2:second.out", "-n", "a", "-n", "b"],
        &[command, command],
    ];
    room.run(&arguments.concat()).ends(0);
    let (first, second) = (room.read("first.out"), room.read("second.out"));
    let here = room.path("").canonicalize().unwrap();
    assert_eq!(first.lines().collect::<Vec<_>>(), ["b", here.to_str().unwrap(), "eins"]);
    let inner = here.join("inner");
    assert_eq!(second.lines().collect::<Vec<_>>(), ["b o=o", inner.to_str().unwrap(), "zwei"]);
    for option in ["--env=3:A=b", "--cwd=3:inner", "--input=3:one.txt", "--output=3:null"] {
        room.run(&["run", "--no-save", option, "true", "true"]).ends(2).complains("counted from 1");
    }
    room.run(&["run", "--no-save", "--env", "NOVALUE", "true"]).ends(2).complains("NAME=VALUE");
}

#[test]
fn a_variable_before_a_command_is_meant_for_it() {
    let room = Room::new();
    let command = "WORD=said sh -c 'echo $WORD'";
    room.run(&["run", "--no-save", "-r", "1", "--output", "said.txt", command]).ends(0);
    assert_eq!(room.read("said.txt"), "said\n");
}

#[test]
fn input_or_directories_that_are_not_there_are_an_error_before_anything_is_measured() {
    let room = Room::new();
    for option in ["--input=nowhere", "--cwd=nowhere", "--output=nowhere/out"] {
        let ended = room.run(&["run", "--no-save", option, "sh -c 'echo ran >> log'"]);
        let ended = ended.ends(2).complains("nowhere");
        assert_eq!(ended.stderr.matches("o such").count(), 1, "said once: {}", ended.stderr);
    }
    assert_eq!(room.read("log"), "");
}

#[test]
fn output_goes_where_it_is_told_to() {
    let room = Room::new();
    let said = |output: &str| {
        let arguments = ["run", "--no-save", "-r", "2", "--output", output, "echo hallo"];
        room.run(&arguments).ends(0).stdout
    };
    let heard = |screen: &str| screen.lines().filter(|&line| line == "hallo").count();
    assert_eq!(heard(&said("inherit")), 3, "once for every run, the warm-up too");
    for output in ["null", "pipe", "out.txt"] {
        assert_eq!(heard(&said(output)), 0, "{output}");
    }
    assert!(room.read("out.txt").contains("hallo"));
}

#[test]
fn commands_read_nothing_unless_told_to() {
    let room = Room::new();
    let mut command = room.assay(&["run", "--no-save", "-r", "1", "--output", "out.txt", "cat"]);
    command.stdin(std::fs::File::open("/dev/zero").unwrap());
    crate::room::finish(command).ends(0);
    assert_eq!(room.read("out.txt"), "");
}

#[test]
fn a_shell_runs_what_needs_one() {
    let room = Room::new();
    let line = "echo a b | wc -w > words.txt";
    for shell in ["--shell=sh", "-Ssh", "--shell=default"] {
        room.run(&["run", "--no-save", "-r", "1", shell, line]).ends(0);
        assert_eq!(room.read("words.txt").trim(), "2");
        std::fs::remove_file(room.path("words.txt")).unwrap();
    }
    room.run(&["run", "--no-save", "--shell=no-such-shell", line])
        .ends(2)
        .complains("no-such-shell");
    // hyperfine's option for no shell is accepted, although there is none by default here.
    room.run(&["run", "--no-save", "-r", "1", "-N", "true"]).ends(0);
}

#[test]
fn names_are_those_given_or_what_tells_the_commands_apart() {
    let room = Room::new();
    room.link("true", "sort-old");
    room.link("true", "sort-new");
    let names = |arguments: &[&str]| {
        let result = room.json(&[&["run", "--no-save", "-r", "1"], arguments].concat());
        let subjects = result["descriptions"].as_array().unwrap();
        subjects.iter().map(|s| s["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["./sort-old data", "./sort-new data"]), ["sort-old", "sort-new"]);
    assert_eq!(names(&["sleep 0", "sleep 0.0"]), ["sleep 0", "sleep 0.0"]);
    assert_eq!(names(&["-n", "x", "--name", "y", "true", "true"]), ["x", "y"]);
    assert_eq!(names(&["-n", "x", "true", "sleep 0"]), ["x", "sleep"]);
    room.run(&["run", "-n", "x", "-n", "y", "true"]).ends(2).complains("--name");
}

#[test]
fn results_are_exported_in_the_form_that_the_ending_names() {
    let room = Room::new();
    let exports = [
        "--export",
        "r.json",
        "--export",
        "r.md",
        "--export",
        "r.csv",
        "--export",
        "r.samples.csv",
    ];
    let common = ["run", "--no-save", "-r", "6", "--json", "-n", "old", "-n", "new"];
    let ended = room.run(&[&common[..], &exports, &["true", "sleep 0.02"]].concat()).ends(0);
    let exported: Value = serde_json::from_str(&room.read("r.json")).unwrap();
    assert_eq!(exported, ended.json());
    let table = room.read("r.md");
    assert!(table.lines().any(|line| line.starts_with('|') && line.contains("new")), "{table}");
    let summary = room.read("r.csv");
    assert!(
        summary.lines().next().is_some_and(|line| line.starts_with("side,row,metric,unit")),
        "{summary}"
    );
    assert!(summary.lines().any(|line| line.starts_with("new,,wall,s,6,")), "{summary}");
    assert_eq!(room.read("r.samples.csv").lines().count(), 1 + 2 * 6);
}

#[test]
fn an_export_that_cannot_be_written_is_refused_before_anything_is_measured() {
    let room = Room::new();
    let command = "sh -c 'echo ran >> log'";
    let ended = room.run(&["run", "--no-save", "--export", "result.xlsx", command]);
    ended.ends(2).complains(".samples.csv");
    room.run(&["run", "--no-save", "--export", "no/where.json", command]).ends(2).complains("no");
    assert_eq!(room.read("log"), "");
}

#[test]
fn an_export_that_fails_in_the_end_costs_neither_the_screen_nor_the_other_exports() {
    let room = Room::new();
    std::fs::create_dir(room.path("gone")).unwrap();
    let exports = ["--export", "gone/taken.json", "--export", "r.json"];
    let run = ["run", "--no-save", "-r", "2"];
    let ended = room.run(&[&run[..], &exports[..], &["rm -rf gone"]].concat());
    ended.ends(2).complains("taken.json").shows("'rm -rf gone' takes");
    assert!(room.read("r.json").starts_with('{'));
}

#[test]
fn every_document_has_a_schema_that_begins_with_layout_and_verb() {
    let room = Room::new();
    for name in assay_report::json::schema::names() {
        let printed = room.run(&["schema", name]).ends(0).stdout;
        let schema: Value = serde_json::from_str(&printed).unwrap();
        let members: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(members[..2], ["schema", "verb"], "{name}");
        assert_eq!(schema["required"].as_array().unwrap().len(), members.len(), "{name}");
    }
    room.run(&["schema", "screen"]).ends(2).complains("describe");
}
