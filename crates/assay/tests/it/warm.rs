//! `assay warm -- COMMAND`: a run behaves like a newly started command, with its terminal, signals
//! and status; changes are loaded again; if anything fails, the command runs cold and that is
//! reported; and nothing is left, whichever process is killed.

use crate::room::{Ended, Room, finish, is_alive, signal, start, until};
use crate::terminal::Terminal;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// A room whose processes end with it, whatever happens to the test.
struct Kept(Room);

impl Drop for Kept {
    fn drop(&mut self) {
        let _whatever = self.assay(&["warm", "--stop"]).output();
    }
}

impl Kept {
    fn with(files: &[(&str, &str)]) -> Self {
        let room = Room::new();
        for (name, text) in files {
            room.write(name, text);
        }
        Self(room)
    }

    fn assay(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.assay(arguments);
        command.env_remove("XDG_RUNTIME_DIR").env_remove("XDG_CACHE_HOME");
        command.env_remove("PYTHONDONTWRITEBYTECODE").env_remove("TMUX");
        command
    }

    fn warm(&self, options: &[&str], command: &[&str]) -> Command {
        self.assay(&[&["warm"], options, &["--"], command].concat())
    }

    fn run(&self, command: &[&str]) -> Ended {
        finish(self.warm(&[], command))
    }

    /// Returns the processes that are kept loaded.
    fn held(&self) -> Vec<Value> {
        let told = finish(self.assay(&["warm", "--status", "--json"])).ends(0).json();
        told["held"].as_array().unwrap().clone()
    }

    /// Waits until the kept process is loaded, with a stage of this name.
    fn until_loaded(&self, stage: &str) {
        until("it is loaded", || {
            self.held().iter().any(|held| {
                held["standing"] == "ready"
                    && held["stages"].as_array().unwrap().iter().any(|own| own["name"] == stage)
            })
        });
    }

    /// Returns the pids of all processes of the kept command: its keeper, its preloaded process,
    /// its stages.
    fn processes(&self) -> Vec<u32> {
        let held = &self.held()[0];
        let stages = held["stages"].as_array().unwrap().iter().map(|stage| &stage["process"]);
        let all = [&held["keeper"], &held["process"]].into_iter().chain(stages);
        all.map(|pid| u32::try_from(pid.as_u64().unwrap()).unwrap()).collect()
    }
}

fn until_gone(processes: &[u32]) {
    until("all of them ended", || !processes.iter().any(|pid| is_alive(*pid)));
}

/// Returns the path of Python, wherever the home directory is.
fn python() -> Option<String> {
    let ran = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let path = ran.ok().filter(|ran| ran.status.success());
    if path.is_none() {
        println!("skipped: there is no python3");
    }
    Some(String::from_utf8(path?.stdout).unwrap().trim().to_owned())
}

const SCRIPT: &str = r#"
import os, signal, sys, lib
print(sys.argv, os.environ.get("TERM"), os.getcwd(), repr(sys.stdin.read()), sys.stdout.isatty(), lib.VALUE)
print("to the other", file=sys.stderr)
if sys.argv[1] == "kill":
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGTERM)
sys.exit(7)
"#;

#[test]
fn a_run_is_what_the_command_started_anew_is() {
    let Some(python) = python() else { return };
    let room =
        Kept::with(&[("script.py", SCRIPT), ("lib.py", "VALUE = 'as ever'\n"), ("in", "read\n")]);
    let with_input = |mut command: Command| {
        command.env("TERM", "of this run").stdin(fs::File::open(room.0.path("in")).unwrap());
        finish(command)
    };
    for argument in ["end", "kill"] {
        let words = [&python, "script.py", argument, "ü  *"];
        let mut cold = room.0.shell("exec \"$@\"");
        cold.arg("sh").args(words);
        let cold = with_input(cold);
        assert!(cold.stdout.contains("'read\\n' False as ever"), "{cold:?}");
        for _ in 0..2 {
            let warm = with_input(room.warm(&[], &words));
            assert_eq!(
                (&warm.status, &warm.stdout, &warm.stderr),
                (&cold.status, &cold.stdout, &cold.stderr)
            );
        }
    }
    // All ran in one process, which reports its runs and its memory.
    let held = room.held();
    assert_eq!((held.len(), &held[0]["runs"]), (1, &4.into()));
    assert!(held[0]["memory"].as_u64().unwrap() > 1 << 20);
    let told = finish(room.assay(&["warm", "--status"])).ends(0);
    told.shows("script.py end").shows("4 runs since").shows("unused for 30 min");
    let processes = room.processes();
    finish(room.assay(&["warm", "--stop", "--", &python, "script.py"]))
        .ends(0)
        .complains("1 process ended");
    until_gone(&processes);
    finish(room.assay(&["warm", "--stop"])).ends(0).complains("nothing was kept");
    finish(room.assay(&["warm", "--status"])).ends(0).shows("Nothing is kept loaded.");
    // Nothing is left there except the lock.
    let left =
        fs::read_dir(room.0.path(".cache/assay/warm")).unwrap().map(|own| own.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["lock"]);
}

#[test]
fn what_changed_is_loaded_again_and_no_two_are_started() {
    let Some(python) = python() else { return };
    let show = "import lib\nprint('it is', lib.VALUE)\n";
    let room = Kept::with(&[("script.py", show), ("lib.py", "VALUE = 1\n")]);
    let words = [python.as_str(), "script.py"];
    let both = [start(room.warm(&[], &words)), start(room.warm(&[], &words))];
    for ended in both {
        ended.finish().ends(0).shows("it is 1");
    }
    room.until_loaded("application");
    assert_eq!(room.held().len(), 1);
    let before = room.processes();
    for value in 2..5 {
        room.0.write("lib.py", &format!("VALUE = {value}\n"));
        room.run(&words).ends(0).shows(&format!("it is {value}"));
    }
    assert_eq!(room.processes()[..2], before[..2]);
    // Another environment has a separate process.
    let mut other = room.warm(&[], &words);
    other.env("APP_ENV", "test");
    finish(other).ends(0).shows("it is 4");
    assert_eq!(room.held().len(), 2);
}

#[test]
fn a_terminal_and_signals_are_the_runs_own() {
    let Some(python) = python() else { return };
    let script = r#"
import os, signal, sys
signal.signal(signal.SIGWINCH, lambda *_: print("columns", os.get_terminal_size().columns, flush=True))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
print("terminals", [os.isatty(n) for n in (0, 1, 2)], os.get_terminal_size().columns, flush=True)
print("typed", sys.stdin.readline().strip(), flush=True)
while True: signal.pause()
"#;
    let room = Kept::with(&[("script.py", script)]);
    let mut terminal = Terminal::start(room.warm(&[], &[&python, "script.py"]), 61);
    terminal.until_shown("terminals [True, True, True] 61");
    terminal.press("yes\n");
    terminal.until_shown("typed yes");
    terminal.resize(73);
    signal(terminal.pid(), "WINCH");
    terminal.until_shown("columns 73");
    // It stops together with its run, and both continue.
    signal(terminal.pid(), "TSTP");
    until("it stopped", || is_stopped(terminal.pid()));
    signal(terminal.pid(), "CONT");
    terminal.until_shown("columns 73");
    signal(terminal.pid(), "TERM");
    let (status, _, is_as_before) = terminal.finish();
    assert_eq!((status, is_as_before), (9, true));
}

fn is_stopped(pid: u32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
}

#[test]
fn whoever_is_killed_leaves_nothing_and_the_next_run_is_as_ever() {
    let Some(python) = python() else { return };
    let wait = "import os, sys, time\nprint(os.getpid(), flush=True)\nif sys.argv[1] == 'wait': time.sleep(1000)\n";
    let room = Kept::with(&[("script.py", wait)]);
    let words = |what| [python.as_str(), "script.py", what];
    room.run(&words("end")).ends(0);
    let run = || {
        let mut asked = room.warm(&[], &words("wait"));
        let out = room.0.path("out");
        asked.stdout(fs::File::create(&out).unwrap());
        let child = asked.spawn().unwrap();
        until("it runs", || room.0.read("out").ends_with('\n'));
        (child, room.0.read("out").trim().parse::<u32>().unwrap())
    };
    // The client is killed.
    let (mut asked, pid) = run();
    asked.kill().unwrap();
    asked.wait().unwrap();
    until("its run ended", || !is_alive(pid));
    // The forked process is killed: its runs end, and their clients are notified.
    let (mut asked, pid) = run();
    signal(room.processes()[1], "KILL");
    assert_eq!(asked.wait().unwrap().code(), Some(4));
    until("its run ended", || !is_alive(pid));
    room.run(&words("end")).ends(0);
    // The keeper is killed.
    let before = room.processes();
    signal(before[0], "KILL");
    until_gone(&before);
    room.run(&words("end")).ends(0);
    assert_ne!(room.processes()[0], before[0]);
}

#[test]
fn what_can_not_be_preloaded_runs_cold_and_says_so() {
    let Some(python) = python() else { return };
    let room = Kept::with(&[("script.py", "import lib\nprint('it ran')\n"), ("lib.py", "")]);
    let told = |ended: &Ended| ended.stderr.matches("run cold").count();
    // A program in another language; one that does not exist.
    let ended = room
        .run(&["sh", "-c", "echo a; exit 3"])
        .ends(3)
        .complains("`sh` is not a Ruby or Python program");
    assert_eq!((told(&ended), ended.stdout.as_str()), (1, "a\n"));
    room.run(&["no-such-program"]).ends(2).complains("no-such-program");
    // One that ends before there is anything to wait for.
    let ended =
        room.run(&[&python, "-m", "no_such_module"]).complains("No module named no_such_module");
    assert_eq!(ended.status, 1);
    // A load that never ends.
    let words = [python.as_str(), "script.py"];
    room.run(&words).ends(0).shows("it ran");
    room.until_loaded("application");
    // A different terminal does not lead to another process; the kept one was started in none.
    let mut waits = room.warm(&["--wait", "300ms"], &words);
    waits.env("TMUX", "1");
    room.0.write("lib.py", "import os, time\nif 'TMUX' not in os.environ: time.sleep(1000)\n");
    let ended = finish(waits).ends(0).shows("it ran").complains("was not ready within");
    assert_eq!(told(&ended), 1);
    room.0.write("lib.py", "");
    let ended = room.run(&words).ends(0).shows("it ran");
    assert_eq!(told(&ended), 0, "{ended:?}");
}

#[test]
fn it_ends_when_it_is_idle_or_its_project_goes() {
    let Some(python) = python() else { return };
    let room = Kept::with(&[("script.py", "import sys, time\ntime.sleep(float(sys.argv[1]))\n")]);
    // Not while a run is in progress.
    finish(room.warm(&["--idle", "100ms"], &[&python, "script.py", "0.5"])).ends(0);
    until("it ended", || room.held().is_empty());
    let project = room.0.path("project");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("script.py"), "print(1)\n").unwrap();
    let mut run = room.warm(&[], &[&python, "script.py"]);
    run.current_dir(&project);
    finish(run).ends(0);
    let processes = room.processes();
    fs::remove_dir_all(&project).unwrap();
    until_gone(&processes);
}

#[test]
fn ruby_and_its_tests_are_warm_too() {
    if !Command::new("ruby")
        .args(["-e", "require 'minitest'"])
        .status()
        .is_ok_and(|ran| ran.success())
    {
        println!("skipped: there is no ruby with minitest");
        return;
    }
    let test = "require 'minitest/autorun'\nrequire_relative 'lib'\nclass T < Minitest::Test\n  def test_it = assert_equal(1, VALUE)\nend\n";
    let room = Kept::with(&[("lib.rb", "VALUE = 1\n"), ("a_test.rb", test), ("b_test.rb", test)]);
    room.run(&["ruby", "a_test.rb"]).ends(0).shows("1 runs, 1 assertions, 0 failures");
    room.until_loaded("application");
    room.0.write("lib.rb", "VALUE = 2\n");
    room.run(&["ruby", "b_test.rb", "--seed", "1"]).ends(1).shows("--seed 1").shows("Actual: 2");
    assert_eq!(room.held().len(), 1);
    room.0.write("lib.rb", "VALUE = = 1\n");
    let ended = room.run(&["ruby", "a_test.rb"]).ends(1).complains("run cold");
    assert!(ended.stderr.contains("lib.rb:1: syntax error"), "{ended:?}");
    let processes = room.processes();
    signal(processes[0], "TERM");
    until_gone(&processes);
}
