//! Helpers shared by the tests of runs: short ways to run commands, small C programs, and checks
//! for living processes.

#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod emulated;

pub use emulated::{Emulated, ignored_under_emulation, is_emulated};

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_measure::{Command, MeasureError, RUNNER, RunOptions, RunResult, Runner, RunnerKind};

/// Returns a command for a line of `/bin/sh`.
pub fn shell(line: &str) -> Command {
    Command::parse(line, true).unwrap()
}

/// Runs a command once, with its own runner.
pub fn run(command: &Command) -> RunResult {
    run_with(command, RunOptions::default()).unwrap()
}

/// Runs a command once, with its own runner.
pub fn run_with(command: &Command, options: RunOptions) -> Result<RunResult, MeasureError> {
    let mut runner = Runner::start()?;
    let subject = runner.add(command)?;
    runner.run(subject, options)
}

/// Name suffix of each test that runs its module again.
const OWN: &str = "all_of_this_by_the_portable_runner";

/// Runs the tests of a module again, in a separate process, with the portable runner, except tests
/// of features it lacks.
pub fn again_by_the_portable_runner(module: &str, lacking: &[&str]) {
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.env(RUNNER, RunnerKind::Portable.to_string()).args([module, "--skip", OWN]);
    again.args(lacking.iter().flat_map(|test| ["--skip", test]));
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("test result: ok") && !said.contains(" 0 passed"), "{said}");
}

/// Compiles a C program into a directory.
pub fn compile(directory: &Path, source: &str, flags: &[&str]) -> PathBuf {
    let program = directory.join("program");
    let text = directory.join("program.c");
    fs::write(&text, source).unwrap();
    let status = std::process::Command::new("cc")
        .args(["-O1", "-o"])
        .arg(&program)
        .args(flags)
        .arg(&text)
        .status()
        .unwrap();
    assert!(status.success());
    program
}

/// Returns the living members of a process group, except those that only wait to be reaped.
pub fn members(group: i32) -> Vec<String> {
    let stats = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let rest = stat.rsplit_once(')')?.1;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        (fields[2] == group.to_string() && fields[0] != "Z").then(|| stat.clone())
    });
    stats.collect()
}

/// Waits until `look` finds something, at most ten seconds.
pub fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "it did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the process ID that a command writes into a file, as soon as it exists.
pub fn written_pid(path: &Path) -> i32 {
    eventually(|| fs::read_to_string(path).ok()?.strip_suffix('\n')?.parse().ok())
}

/// Returns the path of an example of this crate, built by `cargo test`.
pub fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples").join(name)
}
