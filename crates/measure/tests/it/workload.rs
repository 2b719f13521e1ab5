//! The program with known work: it does what is requested, and reports invalid requests.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command as Process;

use assay_measure::{Command, Outcome, workload};

/// Starts a program that was just written: another test that is forking may hold it open for
/// writing.
fn started(command: &mut Process) -> std::process::Child {
    for _ in 0..100 {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            other => return other.unwrap(),
        }
    }
    panic!("the program stays busy");
}

fn status(program: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Process::new(program);
    command
        .args(arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let output = started(&mut command).wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn it_is_unpacked_for_its_owner_alone_and_replaces_what_was_there() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("work"), "not a program").unwrap();
    let program = workload::unpack(directory.path(), "work").unwrap();
    assert_eq!(program, directory.path().join("work"));
    assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    // Unpacks the program again while it is being executed.
    let mut busy = started(Process::new(&program).args(["spin", "100000000000000"]));
    workload::unpack(directory.path(), "work").unwrap();
    busy.kill().unwrap();
    busy.wait().unwrap();
    assert_eq!(status(&program, &["spin", "1000"]).0, Some(0));
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["", "..", "a/b", "/tmp/work", "work/"] {
        let error = workload::unpack(directory.path(), name).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{name}");
    }
    let missing = directory.path().join("missing");
    assert_eq!(
        workload::unpack(&missing, "work").unwrap_err().kind(),
        std::io::ErrorKind::NotFound
    );
}

#[test]
fn wrong_use_is_answered_with_the_usage_and_status_2() {
    let directory = tempfile::tempdir().unwrap();
    let program = workload::unpack(directory.path(), "work").unwrap();
    let wrong: [&[&str]; 8] = [
        &[],
        &["spin"],
        &["spin", ""],
        &["spin", "-1"],
        &["spin", "1x"],
        &["spin", "99999999999999999999"],
        &["spi", "1"],
        &["touch", "1", "2"],
    ];
    for arguments in wrong {
        let (code, text) = status(&program, arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(text.starts_with("usage: workload spin N"), "{text}");
    }
    // This is more memory than there are addresses.
    assert_eq!(status(&program, &["touch", "200000000"]).0, Some(1));
    assert_eq!(status(&program, &["touch", "100000000000000000"]).0, Some(1));
    assert_eq!(status(&program, &["touch", "0"]).0, Some(0));
}

#[test]
fn it_touches_the_memory_that_it_is_asked_for_and_spinning_touches_none() {
    if common::ignored_under_emulation(common::Emulated::Peak) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = workload::unpack(directory.path(), "work").unwrap();
    let run = |work: &str| {
        let line = format!("{} {work}", program.display());
        let result = common::run(&Command::parse(&line, false).unwrap());
        assert_eq!(result.outcome, Outcome::Exited(0));
        result
    };
    let (spun, touched) = (run("spin 1000"), run("touch 32"));
    // The kernel may map several pages at one fault, and adds up the processors' counts only
    // occasionally.
    assert!(touched.minor_faults > spun.minor_faults, "{touched:?} {spun:?}");
    assert!(spun.minor_faults < 200, "{spun:?}");
    assert!(touched.max_rss_bytes >= 31 << 20 && spun.max_rss_bytes < 8 << 20, "{touched:?}");
}

#[test]
fn a_longer_wish_gives_more_steps_and_they_take_longer() {
    let directory = tempfile::tempdir().unwrap();
    let program = workload::unpack(directory.path(), "work").unwrap();
    let short = workload::iterations_for(&program, 0.01).unwrap();
    let long = workload::iterations_for(&program, 0.2).unwrap();
    assert!(short >= 1 && long > 4 * short, "{short} {long}");
    let cpu = |steps: u64| {
        let line = format!("{} spin {steps}", program.display());
        let result = common::run(&Command::parse(&line, false).unwrap());
        result.user_seconds + result.system_seconds
    };
    assert!(cpu(long) > cpu(short));
    // Shorter than a startup can be.
    assert_eq!(workload::iterations_for(&program, 1e-9).unwrap(), 1);
}

#[test]
fn what_cannot_be_calibrated_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let program = workload::unpack(directory.path(), "work").unwrap();
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = workload::iterations_for(&program, seconds).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    }
    let text = |program: &str| {
        workload::iterations_for(std::path::Path::new(program), 0.1).unwrap_err().to_string()
    };
    assert!(text("/bin/false").contains("`/bin/false spin 0` failed"));
    assert!(text("/bin/true").contains("is it the workload?"));
}
