//! The examples that report their own numbers: their output is read without a problem for every
//! kind of destination, and they write nothing when not measured. Their programs are run as a user
//! would run them; no time is asserted.

use assay_data::protocol::{Report, VARIABLE, parse};
use assay_data::reading::{MetricSpec, Take};
use assay_data::{Better, Unit};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Returns true if a program can be run here; otherwise the test prints that it cannot.
fn installed(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        let skipped = writeln!(std::io::stderr(), "skipped: {program} is not installed");
        skipped.expect("stderr takes a line");
    }
    there
}

/// Destination given to a program for its lines.
#[derive(Clone, Copy, Debug)]
enum Told {
    Nothing,
    Path,
    Descriptor,
}

/// Runs a program in the directory of its example; returns its output and the contents of the file
/// it wrote.
fn run(command: &[&str], told: Told) -> (String, Vec<u8>) {
    let directory = tempfile::tempdir().expect("a directory for the test");
    let file = directory.path().join("lines");
    std::fs::write(&file, "{\"metric\":\"before\",\"value\":1}\n").expect("a file");
    // Descriptors do not survive the start of a program unless a shell passes them on.
    let line = match told {
        Told::Nothing => "exec \"$@\"".to_owned(),
        Told::Path => format!("{VARIABLE}=path:$file exec \"$@\""),
        Told::Descriptor => format!("exec 9>>\"$file\"; {VARIABLE}=fd:9 exec \"$@\""),
    };
    let output = Command::new("sh")
        .args(["-c", &format!("export {VARIABLE}; {line}"), "sh"])
        .args(command)
        .current_dir(folder("sample-protocol"))
        .env("file", &file)
        .env_remove(VARIABLE)
        .output()
        .expect("sh runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{command:?}, {told:?}: {said}");
    let printed = String::from_utf8(output.stdout).expect("text");
    (printed, std::fs::read(&file).expect("the file is still there"))
}

/// Runs a program in all three ways and checks the results.
fn check(command: &[&str], items: f64) {
    let (alone, untouched) = run(command, Told::Nothing);
    assert_eq!(parse(&untouched).given.len(), 1, "{command:?} wrote although nobody asked");
    for told in [Told::Path, Told::Descriptor] {
        let (printed, lines) = run(command, told);
        assert_eq!(printed, alone, "being measured changes nothing of what {command:?} prints");
        let report = parse(&lines);
        assert!(report.problems.is_empty(), "{command:?}, {told:?}: {:?}", report.problems);
        assert_eq!(names(&report), ["before", "parse", "items"], "{command:?} appends, {told:?}");
        let [_, parse, given] = &report.given[..] else { unreachable!("three names") };
        assert_eq!((&parse.metric.unit, parse.take), (&Unit::Second, Take::Sum));
        assert!(parse.values.len() == 1 && parse.values[0] > 0.0, "{:?}", parse.values);
        assert_eq!((&given.metric.unit, given.metric.better), (&Unit::One, Better::Higher));
        assert_eq!(given.values, [items]);
    }
}

fn names(report: &Report) -> Vec<&str> {
    report.given.iter().map(|given| given.metric.name.as_str()).collect()
}

#[test]
fn the_example_in_c_gives_its_value_and_its_region() {
    let directory = tempfile::tempdir().expect("a directory for the test");
    let program = directory.path().join("example-c").display().to_string();
    let built = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o", &program, "example.c"])
        .current_dir(folder("sample-protocol"))
        .output()
        .expect("cc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    check(&[&program], 100_000.0);
}

#[test]
fn the_example_in_python_gives_its_value_and_its_region() {
    check(&["python3", "example.py"], 100_000.0);
}

#[test]
fn the_example_in_shell_gives_its_value_and_its_region() {
    check(&["sh", "example.sh"], 10_000.0);
}

#[test]
fn the_example_in_ruby_gives_its_value_and_its_region() {
    if installed("ruby") {
        check(&["ruby", "example.rb"], 100_000.0);
    }
}

#[test]
fn the_zlib_experiment_prints_the_one_number_that_its_command_reads() {
    let script = std::fs::read_to_string(folder("zlib-gvl").join("run.sh")).expect("run.sh");
    let spec = script.split("--metric '").nth(1).and_then(|rest| rest.split('\'').next());
    let spec = MetricSpec::parse(spec.expect("run.sh has a --metric")).expect("a good spec");
    if !installed("ruby") {
        return;
    }
    for way in ["locked", "parallel"] {
        let output = Command::new("ruby")
            .args(["inflate.rb", way])
            .current_dir(folder("zlib-gvl"))
            .env("STRINGS", "20")
            .output()
            .expect("ruby runs");
        let reading = spec.read(&output.stdout, &output.stderr).expect("a number");
        assert!(output.status.success() && reading.value > 0.0);
    }
    let mut wrong = Command::new("ruby");
    wrong.args(["inflate.rb", "both"]).current_dir(folder("zlib-gvl"));
    assert!(!wrong.output().expect("ruby runs").status.success());
}
