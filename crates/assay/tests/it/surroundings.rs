//! Careless or hostile surroundings, which no verb may make worse: a umask that opens every file,
//! readers that go away, a full disk behind standard output, names that a terminal would interpret,
//! a system that allows no threads, arguments that are not UTF-8.

use crate::room::{Ended, Room, finish};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Every verb, in a line that stores its records. Verbs that only print are listed as well, so that
/// none is forgotten.
const LINES: [(&str, &str); 26] = [
    ("run", "--runs 3 --save r.assay true"),
    ("run", "--runs 3 --alloc true"),
    ("bench", "--rev HEAD~1,HEAD --build true --program suite.sh"),
    ("check", "--base HEAD~1"),
    ("why", "r.assay"),
    ("load", "--rate 1 --slice 1s --time 2s http://127.0.0.1:9/"),
    ("compare", "a.txt b.txt"),
    ("describe", "a.txt"),
    ("plan", "--pilot a.txt --threshold 2%"),
    ("convert", "a.txt -o a.assay"),
    ("profile", "a.collapsed"),
    ("history", "add r.assay"),
    ("gate", "r.assay"),
    ("tests", "-r 2 -- sh suite.sh"),
    ("tests", "--changed -- python3 -m unittest t"),
    ("watch", "--help"),
    ("warm", "-- python3 -m unittest t"),
    ("bisect", "HEAD~1..HEAD --time 3s --build true -- true"),
    ("repeat", "r.assay --runs 3"),
    ("simulate", "--count 9 --distribution 'normal(1, 0.1)' -o s.txt"),
    ("doctor", "--quick"),
    ("calibrate", "--time 1s"),
    ("ministat", "a.txt b.txt"),
    ("schema", "run"),
    ("completions", "bash"),
    ("man", ""),
];

/// Returns a repository with a small suite of everything.
fn room() -> Room {
    let room = Room::new();
    room.write("a.txt", "1\n2\n3\n4\n5\n6\n7\n");
    room.write("b.txt", "2\n3\n4\n5\n6\n7\n8\n");
    room.write("a.collapsed", "main;f 3\nmain 1\n");
    room.write("m.py", "def f(a):\n    return a + 1\n");
    room.write("t.py", "import unittest, m\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(m.f(1), 2)\n");
    room.write("suite.sh", "echo 1..1; echo 'ok 1 - adds'\n");
    room.write(".gitignore", "*\n!*.py\n");
    let git = "git -c user.name=x -c user.email=x@y -c init.defaultBranch=main";
    let line = format!(
        "exec >/dev/null 2>&1; {git} init && {git} add -f m.py t.py && {git} commit -m 1 && {git} commit --allow-empty -m 2"
    );
    assert!(room.shell(&line).status().unwrap().success());
    room
}

/// Runs a line with all state stored below the room.
fn run(room: &Room, before: &str, line: &str) -> Ended {
    let mut command = room.shell(&format!("{before} {line}"));
    command.env("XDG_CACHE_HOME", room.path("cache")).env_remove("XDG_RUNTIME_DIR");
    finish(command)
}

/// Returns files and directories at or below a path that others may read or write, except the trees
/// of revisions, whose modes are the repository's.
fn open_to_others(path: &Path) -> Vec<String> {
    let Ok(found) = fs::symlink_metadata(path) else { return Vec::new() };
    let is_open = !found.file_type().is_symlink() && found.permissions().mode() & 0o077 != 0;
    let mut all: Vec<String> = is_open
        .then(|| format!("{:o} {}", found.permissions().mode() & 0o777, path.display()))
        .into_iter()
        .collect();
    let is_tree = path.join(".git").exists();
    if found.is_dir() && !is_tree {
        let entries = fs::read_dir(path).unwrap().flatten();
        all.extend(entries.flat_map(|entry| open_to_others(&entry.path())));
    }
    all
}

#[test]
fn the_list_has_every_verb() {
    let help = Room::new().run(&["--help"]).ends(0).stdout;
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs = verbs.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let verbs: Vec<&str> = verbs.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(verbs.len() > 15, "{verbs:?}");
    // The last two are separate programs, and `help` is not one.
    let others = ["help", "mutate", "farm"];
    for verb in verbs.into_iter().filter(|verb| !others.contains(verb)) {
        assert!(LINES.iter().any(|(own, _)| *own == verb), "{verb}");
    }
}

#[test]
fn nothing_that_is_kept_is_open_to_others_whatever_the_umask() {
    for umask in ["000", "002"] {
        let room = room();
        for (verb, words) in LINES {
            let ended = run(&room, &format!("umask {umask};"), &format!("$ASSAY {verb} {words}"));
            assert!(!ended.stderr.contains("Usage:"), "{verb} {words}: {ended:?}");
            let found = [open_to_others(&room.path("state")), open_to_others(&room.path("cache"))];
            assert_eq!(found.concat(), Vec::<String>::new(), "umask {umask}, {verb} {words}");
        }
        run(&room, "", "$ASSAY warm --stop");
        assert!(room.path("state/assay/runs").is_dir() && room.path("cache/assay").is_dir());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_a_full_disk_is_one() {
    let room = room();
    let numbers: String = (0..200_000).map(|number| format!("{number}\n")).collect();
    room.write("many.txt", &numbers);
    for line in [
        "convert many.txt --to csv",
        "convert many.txt",
        "convert many.txt --to go -o /dev/stdout",
        "describe many.txt --json",
        "simulate --count 200000 --distribution 'normal(1, 0.1)'",
        "man",
        "help words",
    ] {
        let read = run(&room, "", &format!("{{ $ASSAY {line}; echo $? >&2; }} | head -c 1"));
        assert_eq!(read.stderr, "0\n", "{line}");
    }
    for line in ["--help", "help run", "run -h", "--version", "man", "convert a.txt", "schema run"]
    {
        let full = run(&room, "", &format!("$ASSAY {line} > /dev/full")).ends(2);
        assert!(full.stderr.contains("No space left on device"), "{line}: {full:?}");
    }
}

#[test]
fn no_export_holds_what_a_terminal_obeys() {
    let room = Room::new();
    let name = "BM_\u{1b}[31mred\u{7}\u{7f}\u{9b}2J\r/x";
    let row = |run: usize| {
        serde_json::json!({"name": name, "run_name": name, "run_type": "iteration", "iterations": 1,
            "real_time": 1 + run, "cpu_time": 1, "time_unit": "ns"})
    };
    let all: Vec<_> = (0..8).map(row).collect();
    room.write(
        "e.json",
        &serde_json::json!({"context": {"num_cpus": 2}, "benchmarks": all}).to_string(),
    );
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    for ending in [
        "assay",
        "samples.csv",
        "hyperfine.json",
        "gbench.json",
        "go.txt",
        "pyperf.json",
        "values.txt",
    ] {
        let file = format!("o.{ending}");
        room.run(&["convert", "e.json", "-o", &file]).ends(0);
        assert!(!room.read(&file).is_empty() && !room.read(&file).contains(is_odd), "{ending}");
    }
    for ending in ["csv", "json", "md"] {
        let file = format!("r.{ending}");
        room.run(&["compare", "e.json", "e.json", "--export", &file, "--quiet"]).ends(0);
        assert!(!room.read(&file).is_empty() && !room.read(&file).contains(is_odd), "{ending}");
    }
    // JSON contains the original name.
    room.run(&["convert", "o.assay", "-o", "again.gbench.json"]).ends(0);
    let again: serde_json::Value = serde_json::from_str(&room.read("again.gbench.json")).unwrap();
    assert_eq!(again["benchmarks"][0]["name"], name);
}

#[test]
fn programs_and_files_may_have_any_name() {
    let room = Room::new();
    let name = OsStr::from_bytes(b"pr\xff\xe9g");
    let program = room.path("").join(name);
    fs::write(&program, "#!/bin/sh\necho \"$1\" > said\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let typed = OsStr::from_bytes(b"./pr\xff\xe9g '\xe9 word'");
    let mut command = room.assay(&["run", "--runs", "3", "--no-save"]);
    command.arg(typed);
    finish(command).ends(0);
    assert_eq!(fs::read(room.path("said")).unwrap(), b"\xe9 word\n");
}

#[test]
fn branches_projects_and_build_lines_may_have_any_name() {
    let room = room();
    let any = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let branched = room.shell("git branch $(printf 'caf\\351') HEAD~1").status().unwrap();
    assert!(branched.success());
    let asked = |words: &[OsString]| {
        let mut command = room.assay(&[]);
        command.args(words).env("XDG_CACHE_HOME", room.path("cache"));
        finish(command)
    };
    let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    let here = room.path("");
    let latin = any(&[b"printf x > '", here.as_os_str().as_bytes(), b"\xe9'"].concat());
    let range = any(b"caf\xe9..HEAD");
    let mut bisect = words("bisect --time 1s --quiet --build");
    bisect.extend([latin, range]);
    bisect.extend(words("-- true"));
    let ended = asked(&bisect);
    assert!([0, 1, 3].contains(&ended.status), "{ended:?}");
    assert!(here.join(any(b"\xe9")).is_file(), "{ended:?}");
    room.run(&["run", "--runs", "3", "--save", "r.assay", "true"]).ends(0);
    for (project, runs) in [(&b"p\xe9"[..], 1), (b"p\xe8", 0)] {
        let mut add = words("history add r.assay --store s.db --rev");
        add.extend([any(b"caf\xe9"), "--project".into(), any(b"p\xe9")]);
        asked(&add).ends(0);
        let mut log = words("history log --json --store s.db --project");
        log.push(any(project));
        let found = asked(&log);
        let found = if found.status == 0 { found.json()["total"].as_u64() } else { Some(0) };
        assert_eq!(found, Some(runs), "{project:?}");
    }
    // For an unknown option, the advice depends on all words.
    let mut wrong = words("compare -col .name");
    wrong.push(any(b"\xff"));
    asked(&wrong).ends(2).complains("--col");
}

#[test]
fn a_full_directory_for_temporary_files_is_named_whoever_failed_by_it() {
    let room = room();
    room.write("serve.sh", "echo started || exit 1\nsleep 9\n");
    let full = room.path("full").display().to_string();
    let fill = "mkdir -p full && mount -t tmpfs -o size=64k none full && ! head -c 99999 /dev/zero > full/x 2>/dev/null &&";
    let within = |line: &str| room.shell(&format!("unshare -m sh -c '{fill} {line}'"));
    if !within("true").output().unwrap().status.success() {
        println!("skipped: nothing can be mounted here");
        return;
    }
    for line in [
        "load --rate 5 --time 1s --no-save --serve \"sh serve.sh\" http://127.0.0.1:9/",
        "tests --no-save -- python3 -m unittest t",
        "history backfill --build true --at HEAD --store s.db -- run --runs 3 true",
        "calibrate --time 1s",
    ] {
        let ended = finish(within(&format!("TMPDIR={full} exec $ASSAY {line}")));
        assert!(ended.status != 0 && ended.stderr.contains(&full), "{line}: {ended:?}");
    }
}
