//! How a history is filled: `--keep` of every verb that measures, stores of other tools, past
//! revisions; and that killing it loses only the current step.

use crate::history::{history, repository, suite};
use crate::room::{Ended, Room, finish, start, until};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Returns the directory of stores written by real tools, or modeled on their documentation.
fn stores() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/stores")
}

fn with_author(room: &Room, line: &str) -> Ended {
    let mut command = room.shell(line);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Somebody");
        command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
    }
    finish(command)
}

#[test]
fn a_suite_that_is_measured_is_kept_under_the_name_that_is_given() {
    let room = repository();
    let harness = include_str!("fake-harness.sh");
    room.write("bm", harness);
    room.write("bm.table", "copy/8 100\nmove 200\n");
    finish(room.shell("chmod +x bm")).ends(0);
    let words = ["bench", "./bm", "--runs", "3", "-q", "--keep=parser", "--machine", "ci"];
    room.run(&words).ends(0);
    history(&room, &["log"]).ends(2).complains("choose one with --project: parser");
    let log = room.json(&["history", "log", "--project", "parser"]);
    let run = &log["runs"][0];
    assert_eq!((&run["machine"], &run["revision"]["ordinal"]), (&"ci".into(), &3.into()));
    history(&room, &["show", "--project", "parser"]).ends(0).shows("copy/8").shows("move");
}

#[test]
fn all_runs_of_the_stores_of_other_tools_are_added_once() {
    for (name, tool, runs) in [
        ("asv", "asv", 2),
        ("action/data.js", "github-action-benchmark", 3),
        ("pytest", "pytest-benchmark", 2),
        ("bench-history", "cargo-bench-history", 2),
    ] {
        let room = repository();
        let path = stores().join(name).display().to_string();
        let added = history(&room, &["add", &path]).ends(0);
        added
            .shows(&format!("added {runs} runs"))
            .shows(tool)
            .complains("not commits in this repository");
        let log = room.json(&["history", "log"]);
        assert_eq!(log["total"], runs, "{name}");
        let all = log["runs"].as_array().unwrap();
        assert!(all.iter().all(|run| run["revision"]["commit"].as_str().unwrap().len() == 40));
        let again = history(&room, &["add", &path, "--json"]).ends(0).json();
        let all = again["runs"].as_array().unwrap();
        assert!(all.len() == runs && all.iter().all(|run| run["done"] == "known"), "{again:#}");
        history(&room, &["add", &path, "--rev", "v2"])
            .ends(2)
            .complains("each names its own revision");
    }
}

#[test]
fn averages_of_a_store_stay_averages() {
    let room = repository();
    let data = stores().join("action/data.js").display().to_string();
    history(&room, &["add", "-q", &data]).ends(0);
    let shown = room.json(&["history", "show"]);
    let result = &shown["results"][0];
    assert_eq!((&result["n"], &result["interval"]), (&1.into(), &serde_json::Value::Null));
    history(&room, &["export", "--all", "--out", "out"]).ends(0);
    let files = fs::read_dir(room.path("out")).unwrap().flatten();
    let texts: Vec<String> = files.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
    let cargo = texts.iter().find(|text| text.contains("± 45")).unwrap();
    assert!(
        !cargo.contains("\"kind\":\"obs\"") && cargo.contains("\"kind\":\"summary\""),
        "{cargo}"
    );
}

#[test]
fn what_is_wrong_with_one_run_of_a_store_costs_no_other() {
    let room = repository();
    finish(room.shell(&format!("cp -r '{}' asv", stores().join("asv").display()))).ends(0);
    let line = "for f in asv/*/*-*.json; do echo '{' > $f; break; done; $ASSAY history add asv";
    finish(room.shell(line))
        .ends(0)
        .complains("left out: ")
        .shows("added 1 run")
        .shows("1 left out");
    let line = "for f in asv/*/*-*.json; do echo '{' > $f; done; $ASSAY history add asv";
    finish(room.shell(line)).ends(2).complains("none of the runs in asv (asv) can be read");
    fs::create_dir(room.path("empty")).unwrap();
    history(&room, &["add", "empty"]).ends(2).complains("is a directory");
}

/// Returns a repository of nine commits of a program, one of which does not build.
fn of_nine() -> Room {
    let room = Room::new();
    let line = "mkdir .assay && git init -q -b main && printf 'state/\\ncache/\\nbuilt\\n' > .gitignore \
                && for i in 1 2 3 4 5 6 7 8 9; do echo \"sleep 0.00$i\" > program; \
                   if [ $i = 5 ]; then echo broken > program; fi; \
                   git add . && git commit -q -m \"$i\" && git tag \"t$i\"; done";
    with_author(&room, line).ends(0);
    room
}

const BUILD: &str = "grep -q sleep program && cp program built && echo built >> \"$TRACE\"";

fn backfill(room: &Room, words: &[&str], measure: &[&str]) -> std::process::Command {
    let all = [&["history", "backfill", "--build", BUILD], words, &["--"], measure].concat();
    let mut command = room.assay(&all);
    command.env("XDG_CACHE_HOME", room.path("cache")).env("TRACE", room.path("cache-trace"));
    command
}

const SHORT: [&str; 5] = ["run", "-r", "3", "-n", "it"];

#[test]
fn revisions_without_a_run_are_measured_the_ends_first_and_only_once() {
    let room = of_nine();
    let measure = [&SHORT[..], &["sh built"]].concat();
    let ended = finish(backfill(&room, &["t1..t9", "--every", "2"], &measure)).ends(0);
    ended.shows("4 of 5 revisions measured, 1 left out").complains("is left out");
    let log = room.json(&["history", "log", "-n", "0"]);
    let mut runs = log["runs"].as_array().unwrap().clone();
    runs.sort_by_key(|run| run["measured"].as_str().unwrap().to_owned());
    let ordinals: Vec<u64> =
        runs.iter().map(|run| run["revision"]["ordinal"].as_u64().unwrap()).collect();
    assert_eq!(ordinals, [9, 1, 7, 3]);
    assert!(runs.iter().all(|run| run["changed"] == false), "{log:#}");
    // The second time only the failed revision is tried. Single revisions work as well.
    let again = finish(backfill(&room, &["t1..t9", "--every", "2"], &measure)).ends(4);
    again.shows("0 of 5 revisions measured, 4 had a run before, 1 left out");
    let words = ["--at", "t9", "--at", "t2", "--json"];
    let single = finish(backfill(&room, &words, &measure)).ends(0).json();
    assert_eq!(single["runs"].as_array().unwrap().len(), 1, "{single:#}");
    assert_eq!(single["runs"][0]["done"], "added");
    // The repository is unaffected.
    finish(room.shell("git status --porcelain; git worktree list | wc -l")).ends(0).shows("1");
    assert!(!room.path("built").exists());
}

#[test]
fn what_makes_no_sense_for_every_revision_is_refused_before_any_is_built() {
    let room = of_nine();
    let refused =
        |words: &[&str], measure: &[&str]| finish(backfill(&room, words, measure)).ends(2);
    refused(&["t1..t9"], &["compare", "x"]).complains("run, bench or load");
    refused(&["t1..t9"], &["run", "--runz", "3", "true"]).complains("--runz");
    refused(&["t1..t9"], &["run", "true", "--keep"]).complains("leave out");
    refused(&["t9..t1"], &["run", "true"]).complains("is not an ancestor of");
    refused(&["t1..nowhere"], &["run", "true"]).complains("is not a revision");
    refused(&["--at", "."], &["run", "true"]).complains("working tree");
    assert_eq!(room.read("cache-trace"), "");
    assert_eq!(room.run(&["history", "log"]).ends(2).stdout, "");
}

#[test]
fn a_backfill_that_is_stopped_goes_on_where_it_was() {
    let room = of_nine();
    room.write("slow.sh", "sh built; until [ -e \"$TRACE.go\" ]; do sleep 0.02; done");
    let script = room.path("slow.sh").display().to_string();
    room.write("cache-trace.go", "");
    let slow = format!("sh {script}");
    let measure = [&SHORT[..], &[slow.as_str()]].concat();
    let first = finish(backfill(&room, &["--at", "t9"], &measure)).ends(0);
    first.shows("1 of 1 revisions measured");
    for (signal, status) in [("INT", 130), ("KILL", 137)] {
        fs::remove_file(room.path("cache-trace.go")).unwrap();
        let begun = fs::read_to_string(room.path("cache-trace")).unwrap().lines().count();
        let going = start(backfill(&room, &["t6..t9"], &measure));
        until("a revision is built", || {
            room.read("cache-trace").lines().count() > begun || signal == "KILL"
        });
        sleep(Duration::from_millis(300));
        going.signal(signal);
        let ended = going.finish();
        if status == 130 {
            ended.ends(130).shows("still to do").complains("run the same command again");
        }
        room.write("cache-trace.go", "");
        assert_eq!(room.json(&["history", "log"])["total"], 1);
    }
    let rest = finish(backfill(&room, &["t6..t9"], &measure)).ends(0);
    rest.shows("3 of 4 revisions measured, 1 had a run before");
    assert_eq!(room.json(&["history", "log"])["total"], 4);
}

#[test]
fn a_backfill_goes_on_with_the_program_that_it_began_with() {
    let room = of_nine();
    let measure = [&SHORT[..], &["true"]].concat();
    let line = "cp \"$ASSAY\" mine && ./mine history backfill --at t9 --build 'rm \"$PROGRAM\" && echo exit 9 > \"$PROGRAM\"' -- ";
    let mut command = room.shell(&format!("{line}{}", measure.join(" ")));
    command.env("XDG_CACHE_HOME", room.path("cache")).env("PROGRAM", room.path("mine"));
    finish(command).ends(0).shows("1 of 1 revisions measured");
    assert_eq!(room.read("mine"), "exit 9\n");
}

#[test]
fn a_history_that_is_written_while_programs_are_killed_has_all_that_was_finished() {
    let room = repository();
    let files: Vec<String> = (0..12).map(|number| format!("{number}.json")).collect();
    for (number, name) in files.iter().enumerate() {
        suite(&room, name, [100.0 + number as f64, 50.0]);
    }
    history(&room, &["add", "-q", &files[0]]).ends(0);
    let mut before = 1;
    for moment in 0..12_u64 {
        let mut words = vec!["history", "add"];
        words.extend(files.iter().map(String::as_str));
        let adding = start(room.assay(&words));
        sleep(Duration::from_millis(moment * 4));
        adding.signal("KILL");
        let ended = adding.finish();
        // Everything that it reported as added is in the store.
        let said = ended.stdout.lines().count() as u64;
        let total = room.json(&["history", "log", "-n", "0"])["total"].as_u64().unwrap();
        assert!(total >= before.max(said), "{total} of {before} and {said}");
        before = total;
        if total == 12 {
            history(&room, &["prune", "--keep", "3", "--remove", "-q"]).ends(0);
            before = room.json(&["history", "log"])["total"].as_u64().unwrap();
        }
    }
    history(&room, &["export", "--all", "--out", "out"]).ends(0);
    let words: Vec<&str> =
        ["add", "-q"].into_iter().chain(files.iter().map(String::as_str)).collect();
    history(&room, &words).ends(0);
    assert_eq!(room.json(&["history", "log"])["total"], 12);
}
