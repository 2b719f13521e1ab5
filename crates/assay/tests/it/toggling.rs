//! Settings of suites compared, throwaway servers, and that nothing is left of either if `assay` is
//! killed.

use crate::history_places::server::Server;
use crate::room::{Room, codes, finish, is_alive, start, until};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A suite that prints TAP: two tests, the first of which is slow unless FAST is set.
const SUITE: &str = "\
echo \"$FAST $MINE ${PGHOST:+postgres} ${REDIS_URL:+redis}\" >> sides
echo TAP version 13
[ -n \"$FAST\" ] || sleep 0.1
echo 'ok 1 - slow # time=1ms'
[ ! -e on ] || echo \"lines $(cat on)\" >> sides
echo 'ok 2 - quick # time=1ms'
echo 1..2
";

fn room() -> Room {
    let room = Room::new();
    room.write("suite.sh", SUITE);
    room
}

#[test]
fn settings_are_the_sides_of_a_suite_and_what_can_not_be_had_is_said() {
    let room = room();
    let toggles = ["--toggle", "FAST=1", "--toggle", "mine=echo yes > on;rm on"];
    let left_out = ["--toggle", "pg.fsync=off", "--runs", "8", "--no-save"];
    let suite = ["--", "sh", "suite.sh"];
    let all = [&["tests"], &toggles[..], &left_out, &suite].concat();
    let json = room.run(&[&all[..5], &["--json"], &all[5..]].concat()).ends(0).json();
    let sides: Vec<&str> = json["sides"]
        .as_array()
        .unwrap()
        .iter()
        .map(|side| side["name"].as_str().unwrap())
        .collect();
    assert_eq!(sides, ["none", "FAST=1", "mine=on", "all"]);
    assert!(codes(&json).contains(&"NOT_CONTROLLED"), "{:?}", codes(&json));
    // One run of each before the first that counts.
    let log = room.read("sides");
    let count = |line: &str| log.lines().filter(|own| *own == line).count();
    assert_eq!((count("   "), count("1   "), count("lines yes")), (18, 18, 18), "{log}");
    assert!(!room.path("on").exists());
    let screen = room.run(&all).ends(0);
    let first = screen.stdout.lines().next().unwrap();
    assert!(first.starts_with("use FAST=1"), "{first}");
    screen.shows("settings").shows("none").shows("mine=on").shows("all");
    // Nothing is left to compare.
    let none = ["tests", "--toggle", "pg.fsync=off", "--", "sh", "suite.sh"];
    room.run(&none)
        .ends(2)
        .complains("none of the settings can be applied here")
        .complains("--with postgres");
    let unknown = ["tests", "--toggle", "turbo=on", "--", "sh", "suite.sh"];
    room.run(&unknown).ends(2).complains("`turbo=on` is not a setting that can be toggled");
    let nothing_to_set = ["tests", "--server", "redis://", "--", "sh", "suite.sh"];
    room.run(&nothing_to_set).ends(2).complains("--toggle");
}

#[test]
fn cold_against_warm_is_a_setting_as_others() {
    let found = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let Some(found) = found.ok().filter(|ran| ran.status.success()) else {
        println!("skipped: there is no python3");
        return;
    };
    let python = String::from_utf8(found.stdout).unwrap().trim().to_owned();
    let room = Room::new();
    room.write("lib.py", "import os\nopen('loads', 'a').write('x')\nCOLD = os.getpid()\n");
    room.write(
        "test_a.py",
        "import os, unittest, lib\nclass A(unittest.TestCase):\n    def test_a(self):\n        open('runs', 'a').write('w' if lib.COLD != os.getpid() else 'c')\n",
    );
    let options = ["tests", "--toggle", "warm=on", "--runs", "6", "--no-save", "--json", "--"];
    let suite = [python.as_str(), "-m", "unittest"];
    let json = room.run(&[&options[..], &suite].concat()).ends(0).json();
    let comparisons = json["comparisons"].as_array().unwrap();
    assert!(comparisons.iter().any(|own| own["family"] == "primary"), "{comparisons:?}");
    // Before those that count, each side has one run, and the process learns from another one what
    // runs load: that one loads it itself, and on a busy machine so may the next.
    let runs = room.read("runs");
    let warm = runs.matches('w').count();
    assert!(runs.len() == 15 && (6..=7).contains(&warm), "{runs}");
    assert!(room.read("loads").len() <= 15 - warm + 2);
    let other = ["tests", "--toggle", "warm=on", "--framework", "unittest", "--", "timeout", "9"];
    room.run(&[&other[..], &suite].concat()).ends(4).complains("`timeout` starts another program");
}

#[test]
fn a_server_that_does_not_start_shows_the_end_of_its_log() {
    let room = room();
    room.write("redis-server", "#!/bin/sh\necho 'Fatal: no room for anything'\nexit 1\n");
    for (name, mode) in [(".", 0o755), ("redis-server", 0o755)] {
        std::fs::set_permissions(room.path(name), PermissionsExt::from_mode(mode)).unwrap();
    }
    let mut command = room.assay(&["tests", "--with", "redis", "--", "sh", "suite.sh"]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", room.path(".").display()));
    let ended = finish(command).ends(2);
    ended
        .complains("Redis did not start: it ended with status 1")
        .complains("no room for anything");
    assert_eq!(room.read("sides"), "");
}

#[test]
fn a_killed_assay_leaves_no_server_and_no_directory() {
    if Server::start().is_none() {
        return;
    }
    let room = room();
    room.write("hangs.sh", "echo $PGHOST > where; echo $REDIS_URL > redis; exec sleep 600");
    let servers = ["tests", "--with", "postgres", "--with", "redis", "--toggle", "pg.tmpfs=on"];
    let assay = start(room.assay(&[&servers[..], &["--", "sh", "hangs.sh"]].concat()));
    until("the suite runs", || !room.read("redis").is_empty());
    let mut places = vec![room.read("where").trim().to_owned()];
    let redis = room.read("redis");
    places.push(
        redis.trim().trim_start_matches("unix://").trim_end_matches("/redis.sock").to_owned(),
    );
    let postmaster = |place: &str| -> Option<u32> {
        let text = std::fs::read_to_string(format!("{place}/data/postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok()
    };
    let process = postmaster(&places[0]).unwrap();
    assert!(places.iter().all(|place| Path::new(place).is_dir()), "{places:?}");
    assay.signal("KILL");
    until("their directories go", || !places.iter().any(|place| Path::new(place).exists()));
    until("the server ends", || !is_alive(process));
    assay.finish().ends(137);
}

/// Returns a server setting, as seen by a new connection.
fn shown(address: &str, setting: &str) -> String {
    let mut command = Command::new("psql");
    command.args(["-X", "-A", "-t", "-d", address, "-c", &format!("SHOW {setting}")]);
    String::from_utf8_lossy(&command.output().unwrap().stdout).trim().to_owned()
}

/// Returns descendants of a process that wait to restore settings.
fn guards(of: u32) -> Vec<u32> {
    let children = crate::room::children_of(of);
    let waits = |id: &u32| {
        let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains("assay-afterwards")
    };
    children.into_iter().filter(waits).collect()
}

#[test]
fn settings_of_ones_own_server_are_undone_even_after_a_crash() {
    let Some(server) = Server::start() else { return };
    let address = server.database("mine");
    let room = room();
    let measure = ["tests", "--server", &address, "--toggle", "pg.work_mem=5MB", "--no-save"];
    let often = [&measure[..], &["--runs", "1000", "--", "sh", "suite.sh"]].concat();
    let before = shown(&address, "work_mem");
    for (kill_guard, line) in [(false, ""), (true, "had left work_mem of ")] {
        let assay = start(room.assay(&often));
        until("the setting is made", || shown(&address, "work_mem") == "5MB");
        if kill_guard {
            for guard in guards(assay.pid()) {
                crate::room::signal(guard, "KILL");
            }
        }
        assay.signal("KILL");
        assay.finish().ends(137);
        if !kill_guard {
            until("it is undone", || shown(&address, "work_mem") == before);
        }
        // The next run finds the journal.
        let once = [&measure[..], &["--runs", "1", "--", "sh", "suite.sh"]].concat();
        let next = room.run(&once);
        assert_eq!(
            next.stderr.contains("had left work_mem of "),
            !line.is_empty(),
            "{}",
            next.stderr
        );
        assert_eq!(shown(&address, "work_mem"), before);
        let journals = std::fs::read_dir(room.path("state/assay")).unwrap().flatten();
        let names: Vec<_> = journals.map(|entry| entry.file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().contains("servers")), "{names:?}");
    }
}
