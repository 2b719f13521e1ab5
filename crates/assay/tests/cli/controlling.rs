//! Control of the machine: what is set is seen by the commands, recorded, and undone whatever happens.

use crate::room::{Room, codes, processes_of, signal, start, until};
use std::fs;
use std::sync::{Mutex, PoisonError};

/// Held by a test that sets something of the whole machine.
static MACHINE: Mutex<()> = Mutex::new(());
const AUTOGROUP: &str = "/proc/sys/kernel/sched_autogroup_enabled";

fn few<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--no-save", "-n", "3"], more].concat()
}

/// True where this user may set it; tests of what needs that are skipped elsewhere, and say so.
fn may_write(path: &str) -> bool {
    let may = fs::OpenOptions::new().write(true).open(path).is_ok();
    if !may {
        println!("skipped: {path} can't be written here");
    }
    may
}

#[test]
fn commands_see_their_settings_and_only_theirs() {
    let room = Room::new();
    let look = "sh -c 'grep Cpus_allowed_list /proc/self/status >> cpus; cat /proc/self/personality >> layout'";
    room.run(&few(&["--pin", "2:0", "--no-aslr=2", "-N", "a", "-N", "b", look, "sh -c :"])).ends(0);
    let lines = room.read("layout");
    assert!(!lines.is_empty() && lines.lines().all(|line| line == "00000000"), "{lines}");
    let room = Room::new();
    room.run(&["run", "--save", "x.assay", "-n", "3", "--pin", "0", "--no-aslr", look]).ends(0);
    assert!(room.read("cpus").lines().all(|line| line.ends_with("\t0")), "{}", room.read("cpus"));
    assert!(room.read("layout").lines().all(|line| line == "00040000"), "{}", room.read("layout"));
    let subject = &room.records("x.assay", "subject")[0];
    assert_eq!(subject["control"], serde_json::json!([["pin", "0"], ["aslr", "off"]]));
}

#[test]
fn a_setting_that_can_not_be_had_is_told_and_measured_without() {
    let room = Room::new();
    let result = room.json(&few(&["--pin", "1000", "true"]));
    assert!(codes(&result).contains(&"NOT_CONTROLLED"), "{:?}", codes(&result));
    assert_eq!(result["subjects"][0]["metrics"]["wall"]["n"], 3);
    for (option, value) in
        [("--pin", "x"), ("--fifo", "100"), ("--nice", "-21"), ("--rt-runtime", "x")]
    {
        let argument = format!("{option}={value}");
        room.run(&few(&[&argument, "true"])).ends(2).complains(option);
    }
}

#[test]
fn a_setting_of_the_machine_is_put_back_when_the_run_ends() {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    if !may_write(AUTOGROUP) {
        return;
    }
    let before = fs::read_to_string(AUTOGROUP).unwrap();
    let (switch, set) = if before.trim() == "1" { ("off", "0") } else { ("on", "1") };
    let room = Room::new();
    let look = format!("sh -c 'cat {AUTOGROUP} >> seen'");
    let result = room.json(&few(&["--autogroup", switch, &look]));
    assert!(room.read("seen").lines().all(|line| line == set), "{}", room.read("seen"));
    assert!(codes(&result).contains(&"MACHINE_SET"), "{:?}", codes(&result));
    assert_eq!(fs::read_to_string(AUTOGROUP).unwrap(), before);
    // Also when the command fails.
    room.run(&few(&["--autogroup", switch, "false"])).ends(4);
    assert_eq!(fs::read_to_string(AUTOGROUP).unwrap(), before);

    // Also when assay is killed.
    let sleep = crate::room::endless();
    let running = start(room.assay(&few(&["--autogroup", switch, &sleep])));
    until("the command runs", || !processes_of(&sleep).is_empty());
    assert_eq!(fs::read_to_string(AUTOGROUP).unwrap().trim(), set);
    signal(running.pid(), "KILL");
    until("it is put back", || fs::read_to_string(AUTOGROUP).unwrap() == before);
    running.finish().ends(128 + 9);
    // The journal that the killed run left names nothing that is still to be done, and goes with the next run.
    room.run(&few(&["true"])).ends(0);
    assert_eq!(fs::read_to_string(AUTOGROUP).unwrap(), before);
}

#[test]
fn the_doctor_fixes_runs_and_puts_back() {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    if !may_write(AUTOGROUP) {
        return;
    }
    let room = Room::new();
    let before = fs::read_to_string(AUTOGROUP).unwrap();
    let look = format!("cat {AUTOGROUP} > seen; exit 7");
    room.run(&["doctor", "--fix", "--", "sh", "-c", &look]).ends(7);
    assert_eq!(room.read("seen"), "0\n");
    assert_eq!(fs::read_to_string(AUTOGROUP).unwrap(), before);
    room.run(&["doctor", "--fix"]).ends(2);
    room.run(&["doctor", "--fix", "--", "no-such-program"]).ends(2).complains("no-such-program");
    assert_eq!(fs::read_to_string(AUTOGROUP).unwrap(), before);
}

/// A shell line run as nobody, behind what is to be done as root before; `None` where that can't be.
fn as_nobody(room: &Room, before: &str, line: &str) -> Option<std::process::Command> {
    let become_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let can = room.shell(&format!("{before} {become_nobody} true")).output().unwrap();
    if !can.status.success() {
        println!("skipped: {}", String::from_utf8_lossy(&can.stderr).trim());
        return None;
    }
    // Root's own directories are closed to nobody: the program is copied to where it may be run.
    fs::copy(env!("CARGO_BIN_EXE_assay"), room.path("assay")).unwrap();
    let opened = room.shell("chown -R 65534:65534 . && chmod 755 . assay").status();
    assert!(opened.unwrap().success());
    Some(room.shell(&format!("exec {before} {become_nobody} {line}")))
}

#[test]
fn a_privilege_that_is_lost_midway_ends_the_run_with_what_was_measured() {
    let room = Room::new();
    // The hook's parent is the launcher; its limit falls when six runs are done, the warm-up among them.
    room.write(
        "hook.sh",
        "echo x >> count; [ $(wc -l < count) -lt 7 ] || prlimit --pid $PPID --rtprio=0:0\n",
    );
    let line = "./assay run --save x.assay -n 20 --fifo --prepare 'sh hook.sh' true";
    // Root in a container may not be able to raise limits.
    let Some(command) = as_nobody(&room, "prlimit --rtprio=20:20", line) else { return };
    let ended = crate::room::finish(command).ends(2);
    ended.complains("real-time").shows("'true' takes");
    assert_eq!(room.records("x.assay", "obs").len(), 5);
    assert_eq!(room.records("x.assay", "stop")[0]["reason"], "failed");
}

#[test]
fn without_privileges_it_says_what_is_missing_and_goes_on() {
    let room = Room::new();
    let line = "./assay run --no-save -n 3 --json --fifo --rt-runtime 900000 true";
    let Some(command) = as_nobody(&room, "", line) else { return };
    let result = crate::room::finish(command).ends(0).json();
    let told: Vec<&str> = result["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["code"] == "NOT_CONTROLLED")
        .map(|f| f["message"].as_str().unwrap())
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told.iter().any(|message| message.contains("--fifo") && message.contains("CAP_SYS_NICE")),
        "{told:?}"
    );
}
