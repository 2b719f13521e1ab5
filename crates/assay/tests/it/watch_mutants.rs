//! `assay watch --mutate`: starts when all tests pass, ends at a save, and its results are shown
//! below the green line.

use crate::room::{Room, endless, processes_of, start, until};
use crate::terminal::Terminal;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Returns a repository with a suite without dependencies, and a change since its last commit.
fn repository() -> Option<Room> {
    if !Command::new("git").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        println!("skipped: there is no git");
        return None;
    }
    let room = Room::new();
    room.write("code", "1\n");
    room.write("suite.sh", "echo 1..1; echo 'ok 1 - adds'\n");
    room.write(".gitignore", "bin\nseen\nout*\n");
    let git = "git -c user.name=x -c user.email=x@y -c init.defaultBranch=main";
    let line = format!("exec >/dev/null 2>&1; {git} init && {git} add -A && {git} commit -m 1");
    assert!(room.shell(&line).status().unwrap().success());
    room.write("code", "2\n");
    Some(room)
}

/// Returns `assay` with another program in the place of `assay-mutate`.
fn beside(room: &Room, program: &str) -> String {
    std::fs::create_dir(room.path("bin")).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), room.path("bin/assay")).unwrap();
    room.write("bin/assay-mutate", program);
    set_permissions(room.path("bin/assay-mutate"), Permissions::from_mode(0o755)).unwrap();
    "exec bin/assay watch --color never --idle 200ms --mutate".to_owned()
}

#[test]
fn when_all_is_green_changes_are_tried_until_the_next_save() {
    let Some(room) = repository() else { return };
    let endless = endless();
    let program = format!(
        "#!/bin/sh\necho \"$(nice): $*\" >> seen\ncase \"$(cat code)\" in *slow*) exec {endless} ;; *bad*) echo 'error: no walls here' >&2; exit 2 ;; esac\necho 'The tests notice 50 % of 2 changes'\nexit 1\n"
    );
    let line = beside(&room, &program);
    let mut terminal = Terminal::start(room.shell(&format!("{line} -- sh suite.sh")), 80);
    terminal.until_shown("green · 1 test passed");
    terminal.until_shown("The tests notice 50 % of 2 changes");
    let seen = room.read("seen");
    let expected = "19: --since HEAD --budget 1min --survivors 3 --color never -- sh suite.sh\n";
    assert_eq!(seen, expected);
    // It is not tried again until something is saved.
    terminal.press("a");
    terminal.until_shown("green · 1 test passed");
    terminal.until_shown("waiting for a save");
    assert_eq!(room.read("seen"), expected);
    room.write("code", "slow\n");
    terminal.until_shown("green · 1 test passed");
    terminal.until_shown("waiting for a save · trying changes");
    until("it is at work", || processes_of(&endless).len() == 1);
    room.write("code", "bad\n");
    until("a save ended it", || processes_of(&endless).is_empty());
    terminal.until_shown("--mutate: no walls here");
    // The same failure is reported once.
    room.write("code", "bad, too\n");
    until("it was tried again", || room.read("seen").lines().count() == 4);
    room.write("code", "slow again\n");
    until("it is at work", || processes_of(&endless).len() == 1);
    terminal.press("q");
    let (status, shown, _) = terminal.finish();
    assert_eq!(status, 0);
    assert!(!shown.contains("no walls here"), "{shown}");
    assert!(processes_of(&endless).is_empty());
}

#[test]
fn killed_it_takes_what_tries_changes_along_and_without_a_change_nothing_is_tried() {
    let Some(room) = repository() else { return };
    let endless = endless();
    let program = format!("#!/bin/sh\necho x >> seen\n{endless} &\n{endless}\n");
    let line = beside(&room, &program);
    let assay = start(room.shell(&format!("{line} --json -- sh suite.sh > out")));
    until("it is at work", || processes_of(&endless).len() == 2);
    assay.signal("KILL");
    until("all are gone", || processes_of(&endless).is_empty());
    assay.finish();
    room.write("code", "1\n");
    let assay = start(room.shell(&format!("{line} --json -- sh suite.sh > out2")));
    until("it is green", || room.read("out2").contains("all_green\":true"));
    room.write("code", "3\n");
    until("it is at work again", || room.read("seen").lines().count() == 2);
    assay.signal("TERM");
    assay.finish().ends(130);
    assert!(processes_of(&endless).is_empty());
}

#[test]
fn the_real_program_says_what_no_test_notices() {
    let mutate = Path::new(env!("CARGO_BIN_EXE_assay")).with_file_name("assay-mutate");
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let (Ok(python), true) = (python, mutate.is_file()) else {
        println!("skipped: there is no assay-mutate, or no Python");
        return;
    };
    let python = String::from_utf8(python.stdout).unwrap().trim().to_owned();
    let Some(room) = repository() else { return };
    room.write("calc.py", "def less(a, b):\n    return a < b\n");
    room.write(
        "test_calc.py",
        "import unittest\nfrom calc import less\nclass T(unittest.TestCase):\n    def test_less(self):\n        self.assertTrue(less(1, 2))\n        self.assertFalse(less(2, 1))\n",
    );
    assert!(room.shell("git add -A > /dev/null 2>&1").status().unwrap().success());
    let line = format!(
        "exec \"$ASSAY\" watch --json --cold --mutate --no-sandbox -- {python} -m unittest > out"
    );
    let mut command = room.shell(&line);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("XDG_CACHE_HOME", room.path("bin"));
    let assay = start(command);
    let is_there = || {
        room.read("out")
            .lines()
            .any(|line| line.ends_with('}') && line.contains("\"verb\":\"mutate\""))
    };
    until("it is through", is_there);
    let text = room.read("out");
    let found = text.lines().find(|line| line.contains("\"verb\":\"mutate\"")).unwrap();
    let found: serde_json::Value = serde_json::from_str(found).unwrap();
    let survived: Vec<&str> = found["mutants"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|own| own["fate"] == "survived")
        .map(|own| own["operator"].as_str().unwrap())
        .collect();
    assert_eq!(survived, ["boundary"], "{found}");
    assert_eq!(found["since"], "HEAD");
    assay.signal("TERM");
    assay.finish().ends(130);
}

#[test]
fn without_the_program_or_without_tests_it_is_told_at_once() {
    let room = Room::new();
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), room.path("assay")).unwrap();
    let run = |words: &str| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("PATH=/nowhere exec ./assay watch {words}")]);
        command.current_dir(room.path("")).env("HOME", room.path(""));
        crate::room::finish(command)
    };
    run("--mutate -- /bin/sh suite.sh").ends(2).complains("assay-mutate, which is neither");
    run("--mutate --any -- /bin/true").ends(2).complains("--any");
    run("--no-sandbox -- /bin/true").ends(2).complains("--mutate");
}
