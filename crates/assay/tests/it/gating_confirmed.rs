//! `assay gate --confirm`: the effect of a fresh run of both revisions on an alarm, and alarms that
//! cannot be measured again.

use crate::history::history;
use crate::room::{Ended, Room, codes, endless, finish, processes_of, start, until};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

pub const BUILD: &str = "mkdir -p build && cp bm.sh build/bm";

fn as_somebody(mut command: Command) -> Ended {
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Somebody");
        command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
    }
    finish(command)
}

/// Returns a repository with a program that takes 40 ns in `t1` to `t8`, of which there are runs,
/// and `speed` ns in the commit after them.
pub fn repository(speed: u32) -> Room {
    let room = Room::new();
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/fake-harness.sh");
    room.write("bm.sh", &std::fs::read_to_string(harness).unwrap());
    room.write(".gitignore", "build/\nstate/\ncache/\n*.json\n.assay/\n");
    room.write("speed", "40\n");
    let lines = format!(
        "chmod +x bm.sh && mkdir .assay && git init -q -b main && git add . && git commit -q -m first && \
         for n in 1 2 3 4 5 6 7 8; do git commit -q --allow-empty -m $n && git tag t$n; done && \
         echo {speed} > speed && git commit -q -a --allow-empty -m new"
    );
    as_somebody(room.shell(&lines)).ends(0);
    for run in 1..=8_u32 {
        measured(&room, "run.json", 40.0 + f64::from(run * 5 % 9) / 10.0);
        let rev = format!("t{run}");
        history(&room, &["add", "-q", "run.json", "--machine", "ci", "--rev", &rev]).ends(0);
    }
    room
}

/// Stores a run of the previous commit that is as slow as the run to be judged.
fn slow_before(room: &Room, benchmark: &str) {
    measured(room, "slow.json", 59.5);
    room.write("slow.json", &room.read("slow.json").replace("BM_One", benchmark));
    history(room, &["add", "-q", "slow.json", "--machine", "ci", "--rev", "HEAD~1"]).ends(0);
}

/// Writes a report as the program would.
pub fn measured(room: &Room, name: &str, time: f64) {
    let row = |i: u32| {
        let time = time * (1.0 + f64::from(i * 5 % 9) / 1000.0);
        format!(
            r#"{{"name": "BM_One", "run_name": "BM_One", "run_type": "iteration", "iterations": 10,
               "real_time": {time}, "cpu_time": {time}, "time_unit": "ns"}}"#
        )
    };
    let rows: Vec<String> = (0..9).map(row).collect();
    room.write(name, &format!(r#"{{"context": {{}}, "benchmarks": [{}]}}"#, rows.join(", ")));
}

fn gate(room: &Room, more: &[&str]) -> Command {
    let words = ["gate", "now.json", "--machine", "ci", "--threshold", "10%", "--detect", "30%"];
    let mut command = room.assay(&[&words[..], more].concat());
    command.env("XDG_CACHE_HOME", room.path("cache"));
    command
}

// More time than a busy machine needs: the run ends when it is certain.
const CONFIRM: [&str; 6] = ["--confirm", "--rev", "HEAD", "--time", "60s", "--build"];
const BENCH: [&str; 4] = ["--json", "--", "bench", "build/bm"];

fn confirmed(room: &Room, build: &str) -> Command {
    gate(room, &[&CONFIRM[..], &[build], &BENCH].concat())
}

fn commit(room: &Room, name: &str) -> String {
    finish(room.shell(&format!("git rev-parse {name}"))).ends(0).stdout.trim().to_owned()
}

#[test]
fn an_alarm_stands_if_a_fresh_run_is_slower_too() {
    let room = repository(60);
    measured(&room, "now.json", 60.0);
    let json = finish(confirmed(&room, BUILD)).ends(1).complains("confirming `BM_One`").json();
    let one = &json["benchmarks"][0];
    let said = &one["confirmation"];
    assert_eq!(
        (&said["outcome"], &said["verdict"]),
        (&"confirmed".into(), &"slower".into()),
        "{json:#}"
    );
    // The previous run is judged together with the new one, and is not one of the normal runs.
    assert_eq!(said["against"], Value::from(commit(&room, "t7")));
    let ratio = said["ratio"]["estimate"].as_f64().unwrap();
    assert!((ratio - 1.5).abs() < 0.1, "{ratio}");
    assert!(codes(&json).contains(&"ALARM_CONFIRMATION"), "{json:#}");
    // Nothing is left behind.
    let left = finish(room.shell("git status --porcelain; git worktree list | wc -l; ls -d .tmp*"));
    assert_eq!(left.stdout.trim(), "1", "{left:?}");
    // A normal run needs no confirmation.
    measured(&room, "now.json", 40.4);
    let quiet = finish(confirmed(&room, "exit 1")).ends(0);
    assert!(!quiet.stderr.contains("confirming"), "{quiet:?}");
}

#[test]
fn an_alarm_that_a_fresh_run_does_not_find_is_none_and_is_said() {
    let room = repository(40);
    measured(&room, "now.json", 60.0);
    let words = [&CONFIRM[..], &[BUILD, "--export", "c.md", "--", "bench", "build/bm"]].concat();
    let screen = finish(gate(&room, &words)).ends(0);
    screen
        .shows("a fresh run did not confirm 1 alarm")
        .shows("normal: not confirmed")
        .shows("no difference that matters");
    assert!(room.read("c.md").contains("not confirmed"), "{}", room.read("c.md"));
    // The same holds for the new name, although the program uses the old one.
    history(&room, &["alias", "BM_One", "BM_Two"]).ends(0);
    let json = finish(confirmed(&room, BUILD)).ends(0).json();
    let one = &json["benchmarks"][0];
    assert_eq!(
        (&one["benchmark"], &one["confirmation"]["outcome"]),
        (&"BM_Two".into(), &"not_confirmed".into())
    );
    assert_eq!(json["verdict"], "normal");
}

#[test]
fn an_alarm_that_can_not_be_measured_again_stands_and_says_so() {
    let room = repository(60);
    as_somebody(room.shell("git commit -q --allow-empty -m newer")).ends(0);
    measured(&room, "now.json", 60.0);
    // A single run is not an alarm, and stays open.
    let json = finish(confirmed(&room, "exit 7")).ends(3).json();
    let one = &json["benchmarks"][0];
    assert_eq!(
        (&one["stands_out"], &one["confirmation"]["outcome"]),
        (&true.into(), &"not_measured".into()),
        "{json:#}"
    );
    for code in ["STANDS_OUT", "ALARM_CONFIRMATION"] {
        assert!(codes(&json).contains(&code), "{code}: {json:#}");
    }
    slow_before(&room, "BM_One");
    let stands = |command: Command, why: &str| {
        let json = finish(command).ends(1).json();
        let said = &json["benchmarks"][0]["confirmation"];
        assert_eq!(said["outcome"], "not_measured", "{json:#}");
        assert!(said["why"].as_str().unwrap().contains(why), "{why}: {said}");
        assert!(codes(&json).contains(&"ALARM_CONFIRMATION"), "{json:#}");
    };
    stands(confirmed(&room, "exit 7"), "build line");
    stands(confirmed(&room, ":"), "does not exist");
    stands(gate(&room, &["--confirm", "--json"]), "give the command after --");
    let bench = [&["--confirm", "--build", BUILD][..], &BENCH].concat();
    stands(gate(&room, &bench), "name it with --rev");
    let rev = |rev: &str| {
        let words = ["--confirm", "--rev", rev, "--build", BUILD];
        gate(&room, &[&words[..], &BENCH].concat())
    };
    stands(rev("nowhere"), "git knows no commit nowhere");
    stands(rev("t7"), "the machine changed, not the code");
    // A benchmark that the program no longer has.
    room.write("now.json", &room.read("now.json").replace("BM_One", "BM_Gone"));
    for run in 1..=8_u32 {
        measured(&room, "run.json", 40.0 + f64::from(run * 5 % 9) / 10.0);
        room.write("run.json", &room.read("run.json").replace("BM_One", "BM_Gone"));
        history(&room, &["add", "-q", "run.json", "--machine", "ci", "--rev", &format!("t{run}")])
            .ends(0);
    }
    slow_before(&room, "BM_Gone");
    stands(confirmed(&room, BUILD), "none of its benchmarks is selected");
    // An error in the command line is not an alarm.
    let wrong = |words: &[&str]| finish(gate(&room, words)).ends(2);
    wrong(&["--confirm", "--", "load", "http://x"]).complains("the words after --");
    wrong(&["--build", "make"]).complains("--confirm");
}

#[test]
fn whoever_stops_a_gate_stops_what_it_started() {
    let room = repository(60);
    measured(&room, "now.json", 60.0);
    for (signal, status) in [("INT", 130), ("KILL", 128 + 9)] {
        let endless = endless();
        let going = start(confirmed(&room, &format!("{BUILD}; {endless}")));
        until("it is being built", || !processes_of(&endless).is_empty());
        going.signal(signal);
        going.finish().ends(status);
        until("the build is gone", || processes_of(&endless).is_empty());
    }
}

#[test]
fn a_command_is_confirmed_as_the_kept_run_says_and_the_better_question_is_named() {
    let room = Room::new();
    room.write(".gitignore", "state/\ncache/\n.assay/\n");
    let lines = "mkdir .assay && git init -q -b main && echo 'sleep 0.01' > work && git add . && git commit -q -m 0 && \
                 for n in 1 2 3 4 5 6 7; do git commit -q --allow-empty -m $n; git tag t$n; done && \
                 echo 'sleep 0.3' > work && git commit -q -a -m slow && git tag slow && git commit -q --allow-empty -m newer";
    as_somebody(room.shell(lines)).ends(0);
    let with_cache = |words: &[&str]| {
        let mut command = room.assay(words);
        command.env("XDG_CACHE_HOME", room.path("cache"));
        finish(command)
    };
    // Enough runs for a certain result even on a machine with other work in between.
    let run = ["run", "-r", "12", "-n", "it", "sh work"];
    // The last revision is measured last, after an equally slow one.
    for range in [["t1..t7", "--quiet"], ["--at", "slow"], ["--at", "main"]] {
        with_cache(&[&["history", "backfill"], &range[..], &["--"], &run[..]].concat()).ends(0);
    }
    let asked = ["gate", "--detect", "900%", "--threshold", "50%"];
    let json = with_cache(&[&asked[..], &["--json"]].concat()).ends(1).json();
    let line = json.to_string();
    let wanted =
        format!("assay bisect {}..{}", &commit(&room, "t7")[..10], &commit(&room, "main")[..10]);
    assert!(codes(&json).contains(&"ALARM_CONFIRMATION") && line.contains(&wanted), "{json:#}");
    let words = [&asked[..], &["--confirm", "--time", "60s", "--json"]].concat();
    let json = with_cache(&words).ends(1).json();
    assert_eq!(json["benchmarks"][0]["confirmation"]["outcome"], "confirmed", "{json:#}");
}
