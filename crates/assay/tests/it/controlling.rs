//! Control of the machine: settings are seen by the commands, recorded, and undone whatever
//! happens.

use crate::room::{Room, codes, finish, processes_of, signal, start, until};
use std::fs;
use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};

/// Held by a test that changes a setting of the whole machine.
static MACHINE: Mutex<()> = Mutex::new(());
const SYSTEM_SETTINGS: &str = "/proc/sys/kernel/sched_autogroup_enabled";

fn few<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--no-save", "-r", "3"], more].concat()
}

/// Returns true if this user may set it; otherwise tests that need it report that they are skipped.
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
    room.run(&few(&["--pin", "2:0", "--no-aslr=2", "-n", "a", "-n", "b", look, "sh -c :"])).ends(0);
    let lines = room.read("layout");
    assert!(!lines.is_empty() && lines.lines().all(|line| line == "00000000"), "{lines}");
    let room = Room::new();
    room.run(&["run", "--save", "x.assay", "-r", "3", "--pin", "0", "--no-aslr", look]).ends(0);
    assert!(room.read("cpus").lines().all(|line| line.ends_with("\t0")), "{}", room.read("cpus"));
    assert!(room.read("layout").lines().all(|line| line == "00040000"), "{}", room.read("layout"));
    let subject = &room.records("x.assay", "subject")[0];
    assert_eq!(subject["control"], serde_json::json!([["pin", "0"], ["aslr", "off"]]));
}

#[test]
fn a_setting_that_can_not_be_had_is_told_and_measured_without() {
    let room = Room::new();
    // Root has to drop the capability that would permit it.
    let line = "set -- \"$ASSAY\" run --no-save -r 3 --nice -5 --json true; \
                [ \"$(id -u)\" != 0 ] || set -- setpriv --bounding-set=-sys_nice \"$@\"; exec \"$@\"";
    let result = finish(room.shell(line)).ends(0).json();
    assert!(codes(&result).contains(&"NOT_CONTROLLED"), "{:?}", codes(&result));
    assert_eq!(result["descriptions"][0]["metrics"]["wall"]["n"], 3);
    for (option, value) in [
        ("--pin", "x"),
        ("--pin", "1000"),
        ("--fifo", "100"),
        ("--nice", "-21"),
        ("--rt-runtime", "x"),
    ] {
        let argument = format!("{option}={value}");
        room.run(&few(&[&argument, "true"])).ends(2).complains(option);
    }
}

#[test]
fn a_setting_of_the_machine_is_put_back_when_the_run_ends() {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    if !may_write(SYSTEM_SETTINGS) {
        return;
    }
    let before = fs::read_to_string(SYSTEM_SETTINGS).unwrap();
    let (switch, set) = if before.trim() == "1" { ("off", "0") } else { ("on", "1") };
    let room = Room::new();
    let look = format!("sh -c 'cat {SYSTEM_SETTINGS} >> seen'");
    let result = room.json(&few(&["--autogroup", switch, &look]));
    assert!(room.read("seen").lines().all(|line| line == set), "{}", room.read("seen"));
    assert!(codes(&result).contains(&"MACHINE_SET"), "{:?}", codes(&result));
    assert_eq!(fs::read_to_string(SYSTEM_SETTINGS).unwrap(), before);
    // It is also restored if the command fails.
    room.run(&few(&["--autogroup", switch, "false"])).ends(4);
    assert_eq!(fs::read_to_string(SYSTEM_SETTINGS).unwrap(), before);

    // It is also restored if assay is killed.
    let sleep = crate::room::endless();
    let running = start(room.assay(&few(&["--autogroup", switch, &sleep])));
    until("the command runs", || !processes_of(&sleep).is_empty());
    assert_eq!(fs::read_to_string(SYSTEM_SETTINGS).unwrap().trim(), set);
    signal(running.pid(), "KILL");
    until("it is restored", || fs::read_to_string(SYSTEM_SETTINGS).unwrap() == before);
    running.finish().ends(128 + 9);
    // The journal left by the killed run contains nothing more to do, and the next run removes it.
    room.run(&few(&["true"])).ends(0);
    assert_eq!(fs::read_to_string(SYSTEM_SETTINGS).unwrap(), before);
}

#[test]
fn the_doctor_fixes_runs_and_puts_back() {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    if !may_write(SYSTEM_SETTINGS) {
        return;
    }
    let room = Room::new();
    let before = fs::read_to_string(SYSTEM_SETTINGS).unwrap();
    let look = format!("cat {SYSTEM_SETTINGS} > seen; exit 7");
    room.run(&["doctor", "--fix", "--", "sh", "-c", &look]).ends(7);
    assert_eq!(room.read("seen"), "0\n");
    assert_eq!(fs::read_to_string(SYSTEM_SETTINGS).unwrap(), before);
    room.run(&["doctor", "--fix"]).ends(2);
    room.run(&["doctor", "--fix", "--", "no-such-program"]).ends(2).complains("no-such-program");
    assert_eq!(fs::read_to_string(SYSTEM_SETTINGS).unwrap(), before);
}

/// Restores the setting if a test fails in between.
struct Autogroup {
    before: String,
    _alone: std::sync::MutexGuard<'static, ()>,
}

impl Autogroup {
    /// Returns `None` if it cannot be set.
    fn take() -> Option<Self> {
        let alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
        let before = fs::read_to_string(SYSTEM_SETTINGS).unwrap_or_default().trim().to_owned();
        may_write(SYSTEM_SETTINGS).then_some(Self { before, _alone: alone })
    }

    fn other(&self) -> &'static str {
        if self.before == "1" { "0" } else { "1" }
    }

    fn set(&self, value: &str) {
        fs::write(SYSTEM_SETTINGS, format!("{value}\n")).unwrap();
    }

    fn now(&self) -> String {
        fs::read_to_string(SYSTEM_SETTINGS).unwrap().trim().to_owned()
    }
}

impl Drop for Autogroup {
    fn drop(&mut self) {
        self.set(&self.before);
    }
}

fn switch(value: &str) -> &'static str {
    if value == "1" { "on" } else { "off" }
}

#[test]
fn two_runs_that_set_the_same_do_not_undo_each_other() {
    let Some(autogroup) = Autogroup::take() else { return };
    let (before, other) = (autogroup.before.clone(), autogroup.other());
    let room = Room::new();
    let sleep = crate::room::endless();
    let first = start(room.assay(&few(&["--autogroup", switch(other), &sleep])));
    until("the first runs", || !processes_of(&sleep).is_empty());
    // The setting belongs to the first run, even if the second one requests the current or the
    // previous value.
    for value in [other, before.as_str()] {
        let result = room.json(&few(&["--autogroup", switch(value), "true"]));
        assert_eq!(codes(&result).iter().filter(|&&c| c == "NOT_CONTROLLED").count(), 1);
        let told = format!("set by another run of assay (process {})", first.pid());
        assert!(result["findings"].to_string().contains(&told), "{}", result["findings"]);
        assert!(!codes(&result).contains(&"MACHINE_SET"));
        assert_eq!(autogroup.now(), other);
    }
    first.interrupt_twice();
    let _ended = first.finish();
    assert_eq!(autogroup.now(), before);
    let result = room.json(&few(&["--autogroup", switch(other), "true"]));
    assert!(codes(&result).contains(&"MACHINE_SET"), "{:?}", codes(&result));
    assert_eq!(autogroup.now(), before);
}

#[test]
fn what_the_doctor_holds_for_a_run_is_as_the_run_wants_it() {
    let Some(autogroup) = Autogroup::take() else { return };
    autogroup.set("1");
    let room = Room::new();
    let line = "\"$ASSAY\" run --no-save -r 3 --json --autogroup off true > out";
    let command =
        room.shell(&format!("exec \"$ASSAY\" doctor --fix -- sh -c '{}'", line.replace('\'', "")));
    crate::room::finish(command).ends(0);
    let result: serde_json::Value = serde_json::from_str(&room.read("out")).unwrap();
    assert!(!codes(&result).contains(&"NOT_CONTROLLED"), "{:?}", codes(&result));
    assert_eq!(autogroup.now(), "1");
}

#[test]
fn what_root_left_behind_is_told_to_others_in_one_line_and_put_back_by_root() {
    let Some(autogroup) = Autogroup::take() else { return };
    let room = Room::new();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let owner = serde_json::json!({"process": u32::MAX, "started": 1, "boot": boot.trim()});
    let change = serde_json::json!(
        {"knob": "autogroup", "path": SYSTEM_SETTINGS, "before": autogroup.before, "after": autogroup.other()}
    );
    fs::create_dir_all(room.path("state/assay")).unwrap();
    let journal = "state/assay/changed-by-4294967295-1.jsonl";
    room.write(journal, &format!("{owner}\n{change}\n"));
    autogroup.set(autogroup.other());
    if let Some(command) = as_nobody(&room, "", "./assay run --no-save -r 3 true") {
        let ended = crate::room::finish(command).ends(0).complains("run assay once as root");
        assert_eq!(ended.stderr.matches("a run that was killed").count(), 1, "{}", ended.stderr);
        assert!(room.path(journal).exists());
        assert_eq!(autogroup.now(), autogroup.other());
    }
    let again = format!("it is {} again", autogroup.before);
    room.run(&few(&["true"])).ends(0).complains(&again);
    assert_eq!(autogroup.now(), autogroup.before);
    assert!(!room.path(journal).exists());
}

/// Returns the signals that a process of `doctor --fix` ignores, as a bit mask.
fn ignored_under_the_doctor(room: &Room, before: &str) -> u64 {
    let line = format!("{before} exec \"$ASSAY\" doctor --fix --quiet -- cat /proc/self/status");
    let status = crate::room::finish(room.shell(&line)).ends(0).stdout;
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

#[test]
fn a_command_of_the_doctor_takes_signals_as_one_without_it() {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let room = Room::new();
    let [hangup, interrupt, too_large] = [0, 1, 24].map(|bit| 1 << bit);
    assert_eq!(ignored_under_the_doctor(&room, "") & (hangup | interrupt | too_large), 0);
    // A signal ignored by `nohup` is ignored by the command as well.
    let found = ignored_under_the_doctor(&room, "trap '' HUP;");
    assert_eq!(found & (hangup | interrupt | too_large), hangup);
}

/// Returns a shell line that runs as nobody, after `before` ran as root; `None` if that is
/// impossible.
fn as_nobody(room: &Room, before: &str, line: &str) -> Option<std::process::Command> {
    let become_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let can = room.shell(&format!("{before} {become_nobody} true")).output().unwrap();
    if !can.status.success() {
        println!("skipped: {}", String::from_utf8_lossy(&can.stderr).trim());
        return None;
    }
    // Root's own directories are not accessible to nobody, so the program is copied to an
    // accessible one.
    fs::copy(env!("CARGO_BIN_EXE_assay"), room.path("assay")).unwrap();
    let opened = room.shell("chown -R 65534:65534 . && chmod 755 . assay").status();
    assert!(opened.unwrap().success());
    Some(room.shell(&format!("exec {before} {become_nobody} {line}")))
}

#[test]
fn a_privilege_that_is_lost_midway_ends_the_run_with_what_was_measured() {
    let room = Room::new();
    // The hook's parent is the launcher; its limit is lowered after six runs, including the
    // warm-up.
    room.write(
        "hook.sh",
        "echo x >> count; [ $(wc -l < count) -lt 7 ] || prlimit --pid $PPID --rtprio=0:0\n",
    );
    let line = "./assay run --save x.assay -r 20 --fifo --prepare 'sh hook.sh' true";
    // Root in a container may be unable to raise limits.
    let Some(command) = as_nobody(&room, "prlimit --rtprio=20:20", line) else { return };
    let ended = crate::room::finish(command).ends(2);
    ended.complains("real-time").shows("'true' takes");
    assert_eq!(room.records("x.assay", "obs").len(), 5);
    assert_eq!(room.records("x.assay", "stop")[0]["reason"], "failed");
}

#[test]
fn without_privileges_it_says_what_is_missing_and_goes_on() {
    let room = Room::new();
    let line = "./assay run --no-save -r 3 --json --fifo --rt-runtime 900000 true";
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

/// Returns a command that runs a line as nobody, who may start no further thread or process.
fn without_threads(room: &Room, line: &str) -> Option<std::process::Command> {
    as_nobody(room, "", &format!("prlimit --nproc=1 {line}"))
}

#[test]
fn where_no_thread_may_be_started_one_does_the_work() {
    let room = Room::new();
    room.write("a.txt", "10\n12\n11\n13\n14\n10.5\n11.5\n12.5\n");
    let Some(command) = without_threads(&room, "./assay describe --all --json a.txt") else {
        return;
    };
    crate::room::finish(command).ends(0);
}

#[test]
fn a_load_test_that_is_allowed_no_thread_says_so() {
    let room = Room::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 1024];
            let _gone = stream.read(&mut request);
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _gone = stream.write_all(answer);
        }
    });
    let line = format!("./assay load --rate 5 --time 1s --slice 1s --no-save http://{address}/");
    let Some(command) = without_threads(&room, &line) else { return };
    crate::room::finish(command).ends(2).complains("no thread can be started");
}
