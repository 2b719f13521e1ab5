//! `assay ministat` against the output of the two programs of that name: standard output, standard
//! error and exit status, byte for byte, also with a terminal as standard output.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use serde_json::Value;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The case whose recorded standard error also contains the rest of a warning of the shell that
/// started the program.
const WITH_A_SHELL_S_WARNING: &str = "p-decimal-comma-locale";

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ministat").join(name)
}

/// The result of one run.
#[derive(Debug, PartialEq, Eq)]
struct Came {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

/// A directory of input files, called `data` as some cases expect; removed together with its room.
struct Input {
    _room: TempDir,
    data: PathBuf,
}

impl Input {
    fn path(&self) -> &Path {
        &self.data
    }
}

/// Copies the input files to a separate directory, with those that are generated here.
fn input(from: &Path) -> Input {
    let room = TempDir::new().unwrap();
    let data = room.path().join("data");
    fs::create_dir(&data).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), data.join(entry.file_name())).unwrap();
    }
    for (count, factor, modulus) in [(99_999, 7, 10), (100_001, 3, 8)] {
        let lines = (0..count).map(|i| format!("{}\n", i * factor % modulus)).collect::<String>();
        fs::write(data.join(format!("n{count}")), lines).unwrap();
    }
    Input { _room: room, data }
}

fn command(case: &Value, flavour: &str, room: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("ministat").current_dir(room);
    for name in ["COLUMNS", "LINES", "POSIXLY_CORRECT", "LANG", "LANGUAGE"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").env("ASSAY_MINISTAT", flavour);
    for (name, value) in case["env"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().unwrap());
    }
    command.args(case["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()));
    command.stdin(match case["stdin_file"].as_str() {
        Some(name) => File::open(room.join(name)).unwrap().into(),
        None => Stdio::null(),
    });
    command
}

/// Returns everything written to a terminal of this size, and how the command ended.
fn on_terminal(mut command: Command, size: &Value) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    let of =
        |key: &str, default: u64| u16::try_from(size[key].as_u64().unwrap_or(default)).unwrap();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let name = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
    let terminal = File::options().read(true).write(true).open(name).unwrap();
    // Lines then end as the program ended them.
    let mut modes = tcgetattr(&terminal).unwrap();
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(&terminal, OptionalActions::Now, &modes).unwrap();
    let size =
        Winsize { ws_row: of("rows", 24), ws_col: of("cols", 80), ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).unwrap();
    let mut child = command.stdout(terminal).stderr(Stdio::piped()).spawn().unwrap();
    // The terminal reaches its end when no process has it open any more.
    drop(command);
    let mut shown = Vec::new();
    // On Linux that is an error, not an end of file.
    let _end = File::from(master).read_to_end(&mut shown);
    let mut said = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut said).unwrap();
    (child.wait().unwrap().code(), shown, said)
}

fn run(case: &Value, flavour: &str, room: &Path) -> Came {
    let mut command = command(case, flavour, room);
    let (status, stdout, stderr) = if case["tty"].is_object() {
        on_terminal(command, &case["tty"])
    } else {
        let output = command.output().unwrap();
        (output.status.code(), output.stdout, output.stderr)
    };
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let lines = text(stderr);
    let lines = lines.split_inclusive('\n').map(|line| match line.strip_prefix("ministat: ") {
        Some(rest) => format!("PROG: {rest}"),
        None => line.to_owned(),
    });
    Came { status, stdout: text(stdout), stderr: lines.collect() }
}

fn expected(case: &Value) -> Came {
    let text = |key: &str| case[key].as_str().unwrap().to_owned();
    let mut stderr = text("stderr");
    if case["id"] == WITH_A_SHELL_S_WARNING {
        stderr.truncate(stderr.find('\n').unwrap() + 1);
    }
    let status = case["exit"].as_i64().map(|status| i32::try_from(status).unwrap());
    Came { status, stdout: text("stdout"), stderr }
}

fn cases(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    let mut all: Value = serde_json::from_str(&text).unwrap();
    let Value::Array(cases) = all["cases"].take() else { unreachable!("cases are a list") };
    cases
}

/// Checks every case of a file against the recording; returns the number of cases.
fn hold(file: &Path, flavour: &str, data: &Path) -> usize {
    let room = input(data);
    let cases = cases(file);
    for case in &cases {
        assert_eq!(run(case, flavour, room.path()), expected(case), "{flavour} {}", case["id"]);
    }
    cases.len()
}

#[test]
fn it_prints_what_the_program_of_2015_prints() {
    assert!(hold(&here("cases-2015.json"), "2015", &here("data")) > 100);
}

#[test]
fn it_prints_what_the_program_of_2025_prints() {
    assert!(hold(&here("cases-2025.json"), "2025", &here("data")) > 100);
}

#[test]
fn what_kills_the_original_is_a_clear_error() {
    for flavour in ["2015", "2025"] {
        let room = input(&here("data"));
        for case in cases(&here(&format!("crashes-{flavour}.json"))) {
            let came = run(&case, flavour, room.path());
            assert_eq!((came.status, came.stdout.as_str()), (Some(2), ""), "{}", case["id"]);
            assert!(came.stderr.contains("no plot can be drawn"), "{came:?}");
        }
    }
}

#[test]
fn it_also_holds_for_the_sample_files_of_freebsd() {
    let Some(all) = std::env::var_os("ASSAY_TEST_DATA").map(|d| Path::new(&d).join("ministat"))
    else {
        println!("skipped: ASSAY_TEST_DATA does not say where the sample files are");
        return;
    };
    let data = all.join("data");
    let count = hold(&all.join("cases.json"), "2015", &data)
        + hold(&all.join("cases-2025.json"), "2025", &data);
    println!("{count} cases");
    for (file, flavour) in [("crashes.json", "2015"), ("crashes-2025.json", "2025")] {
        let room = input(&data);
        for case in cases(&all.join(file)) {
            assert_eq!(run(&case, flavour, room.path()).status, Some(2), "{}", case["id"]);
        }
    }
}

#[test]
fn a_link_of_its_name_is_the_classic_too() {
    let room = input(&here("data"));
    let link = room.path().join("ministat");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), &link).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(&link)
            .args(arguments)
            .current_dir(room.path())
            .env_remove("ASSAY_MINISTAT")
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    // The median of an even number of values distinguishes the versions: that of 2015 prints the
    // upper of the middle two values.
    fs::write(room.path().join("even"), "1\n2\n3\n4\n").unwrap();
    let row = |median| {
        format!("x   4             1             4 {median:>13}           2.5     1.2909944\n")
    };
    assert_eq!(run(&["-nq", "even"]), (Some(0), row("2.5")));
    let (status, text) = run(&["--flavour=2015", "-n", "even"]);
    assert_eq!((status, text.ends_with(&row("3"))), (Some(0), true), "{text}");
    assert_eq!(run(&["--flavour=2024", "-n", "even"]).0, Some(2));
}

#[test]
fn a_plot_as_wide_as_it_may_be_needs_no_memory_for_its_width() {
    let room = input(&here("data"));
    let mut command = Command::new("/bin/sh");
    let line = "ulimit -v 400000; \"$ASSAY\" ministat -w 300000000 short | head -c 1000000 | wc -c";
    command.args(["-c", line]).env("ASSAY", env!("CARGO_BIN_EXE_assay")).current_dir(room.path());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "1000000");
}
