//! A separate directory for every test, `assay` started in it, and the visible state of processes.

use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[path = "../../../report/tests/it/common/schema.rs"]
pub mod schema;

/// Nothing here takes this long, even on a busy machine, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A temporary directory that is working directory, home and state directory of `assay`.
pub struct Room {
    directory: TempDir,
}

/// How `assay` ended, and its output.
#[derive(Debug)]
pub struct Ended {
    /// The exit status; 128 plus the signal if it was killed.
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A running `assay`.
pub struct Running {
    child: Child,
    stdout: File,
    stderr: File,
}

impl Room {
    pub fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Returns the text of a file; empty if it does not exist.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Gives a system program another name, so that it can be used as two.
    pub fn link(&self, program: &str, name: &str) {
        let path = std::env::var_os("PATH").unwrap();
        let found = std::env::split_paths(&path).map(|d| d.join(program)).find(|p| p.is_file());
        std::os::unix::fs::symlink(found.expect("the program is there"), self.path(name)).unwrap();
    }

    /// Returns an `assay` command with arguments.
    pub fn assay(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(arguments);
        self.furnish(&mut command);
        command
    }

    /// Returns a shell line in which `$ASSAY` is the binary.
    pub fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).env("ASSAY", env!("CARGO_BIN_EXE_assay"));
        self.furnish(&mut command);
        command
    }

    fn furnish(&self, command: &mut Command) {
        let here = self.directory.path();
        command.current_dir(here).stdin(Stdio::null());
        command.env("HOME", here).env("XDG_STATE_HOME", here.join("state")).env("TMPDIR", here);
        command.env("COLUMNS", "80").env("LC_ALL", "C.UTF-8");
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
    }

    /// Gives a command access to the compilers' own files, which are outside our home directory; Go
    /// needs another directory for temporary files.
    pub fn with_compilers(&self, command: &mut Command) {
        let homes =
            [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"), ("GOCACHE", ".cache/go-build")];
        for (name, below) in homes {
            let own = std::env::var_os(name).map(PathBuf::from);
            let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(below);
            command.env(name, own.unwrap_or_else(home));
        }
        fs::create_dir_all(self.path("tmp")).unwrap();
        command.env("TMPDIR", self.path("tmp")).env_remove("CARGO_TARGET_DIR");
    }

    /// Runs `assay` to its end.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        finish(self.assay(arguments))
    }

    /// Runs `assay` with `--json` to its end with status 0, and parses its output.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        self.run(&all).ends(0).json()
    }

    /// Returns the records of a kind in a file; an incomplete last line is left out.
    pub fn records(&self, file: &str, kind: &str) -> Vec<Value> {
        let text = self.read(file);
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        let records = complete.lines().map(|line| serde_json::from_str(line).unwrap());
        records.filter(|record: &Value| record["kind"] == kind).collect()
    }

    /// Returns the files in the state directory.
    pub fn kept(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path("state/assay/runs")) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Starts a command with captured output.
pub fn start(mut command: Command) -> Running {
    let (stdout, stderr) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
    Running { child: command.spawn().unwrap(), stdout, stderr }
}

/// Runs a command to its end.
pub fn finish(command: Command) -> Ended {
    start(command).finish()
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends a signal, such as `INT`.
    pub fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Interrupts twice. Pending signals of one kind are merged, so the second is sent after the
    /// first was taken.
    pub fn interrupt_twice(&self) {
        self.signal("INT");
        let status = format!("/proc/{}/status", self.pid());
        until("the first interrupt is taken", || {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let pending = text.lines().filter_map(|line| {
                let (_, mask) = line.split_once("Pnd:")?;
                u64::from_str_radix(mask.trim(), 16).ok()
            });
            // SIGINT is 2.
            pending.fold(0, |all, mask| all | mask) & 0b10 == 0
        });
        self.signal("INT");
    }

    pub fn finish(mut self) -> Ended {
        let began = Instant::now();
        while self.is_running() {
            if began.elapsed() > PATIENCE {
                let _gone_already = self.child.kill();
                self.child.wait().unwrap();
                let told = said(&mut self.stderr);
                unreachable!("it hung and was killed; it had said: {told}");
            }
            sleep(Duration::from_millis(2));
        }
        let status = self.child.wait().unwrap();
        Ended {
            status: status.code().or(status.signal().map(|s| 128 + s)).unwrap(),
            stdout: said(&mut self.stdout),
            stderr: said(&mut self.stderr),
        }
    }
}

fn said(file: &mut File) -> String {
    file.rewind().unwrap();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).expect("what people read is UTF-8")
}

impl Ended {
    /// Asserts the exit status, and shows everything if it differs.
    #[track_caller]
    pub fn ends(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:#?}");
        self
    }

    /// Asserts that standard error contains this.
    #[track_caller]
    pub fn complains(self, about: &str) -> Self {
        assert!(self.stderr.contains(about), "no `{about}` in {}", self.stderr);
        self
    }

    /// Asserts that standard output contains this, wherever its lines are broken.
    #[track_caller]
    pub fn shows(self, what: &str) -> Self {
        let words = self.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(what), "no `{what}` in {}", self.stdout);
        self
    }

    #[track_caller]
    /// Parses the output, and checks it against the schema of its verb.
    pub fn json(&self) -> Value {
        let value: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|e| unreachable!("{e}: {self:#?}"));
        let has = |key| value.get(key).is_some();
        let name = match value["verb"].as_str() {
            Some("history") if has("total") => "history-log",
            Some("history") if has("results") => "history-show",
            Some("history") if has("trends") => "history-trend",
            Some("history") if has("events") => "history-events",
            Some("history") => "history-add",
            // Two profiles are compared like suites.
            _ if has("comparisons") => "compare",
            Some("bench") if has("benchmarks") => "bench-list",
            Some("profile") if has("sides") => "profile-difference",
            Some("bench") => "bench-smoke",
            Some("tests") if has("outside") => "tests-profile",
            Some("repeat") if has("claims") => "repeat-summary",
            Some("check") if has("searches") => "check-explain",
            verb => verb.unwrap(),
        };
        let document = assay_report::json::schema::named(name).unwrap();
        let problems = schema::problems(&document.schema(), &value);
        assert!(problems.is_empty(), "{problems:#?}");
        value
    }
}

/// Returns the comparisons of the primary metric.
pub fn primary(result: &Value) -> Vec<&Value> {
    let all = result["comparisons"].as_array().unwrap().iter();
    all.filter(|comparison| comparison["family"] == "primary").collect()
}

/// Returns the comparisons of the other metrics.
pub fn secondary(result: &Value) -> Vec<&Value> {
    let all = result["comparisons"].as_array().unwrap().iter();
    all.filter(|comparison| comparison["family"] == "secondary").collect()
}

/// Returns the codes of the findings in a JSON result.
pub fn codes(result: &Value) -> Vec<&str> {
    let findings = result["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

/// Returns a command that outlasts every test, and whose processes are distinguishable from all
/// others.
pub fn endless() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("sleep 1000.{}0{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst))
}

/// Waits until a condition is true.
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited in vain until {what}");
        sleep(Duration::from_millis(2));
    }
}

/// Sends a signal to a process, with the shell's own `kill`.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("/bin/sh").args(["-c", &format!("kill -{name} {pid}")]).status();
    assert!(sent.unwrap().success(), "kill -{name} {pid}");
}

/// Returns the living processes with exactly this command line. Zombie processes do not count.
pub fn processes_of(command: &str) -> Vec<u32> {
    let wanted: Vec<&str> = command.split(' ').collect();
    let is_it = |pid: &u32| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            let line = String::from_utf8_lossy(&line).into_owned();
            line.trim_end_matches('\0').split('\0').eq(wanted.iter().copied())
        })
    };
    all_processes().into_iter().filter(is_it).collect()
}

/// Returns the children of a process.
pub fn children_of(parent: u32) -> Vec<u32> {
    all_processes().into_iter().filter(|&pid| stat(pid).is_some_and(|(_, p)| p == parent)).collect()
}

/// Returns true while the process lives.
pub fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z')
}

fn all_processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the state and the parent of a process.
fn stat(pid: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain anything.
    let mut fields = text[text.rfind(')')? + 1..].split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Returns the path of a test data file.
pub fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

/// Returns the script of a harness with one benchmark, whose values differ from process to process
/// without a pattern, although process ids are consecutive.
pub fn scattered_harness() -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/fake-harness.sh");
    let script = fs::read_to_string(script).unwrap();
    let scattered = script.replace("$$ % 100", "$$ * $$ * 7919 % 10007 % 100");
    assert_ne!(script, scattered);
    scattered
}
