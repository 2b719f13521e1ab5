//! The guard restores files, whichever process is killed.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use assay_measure::{Guard, MeasureError};
use common::{eventually, example};
use rustix::process::{Pid, Signal, getsid, kill_process, kill_process_group};

fn process(id: u32) -> Pid {
    Pid::from_raw(id.cast_signed()).unwrap()
}

/// Remembers the content of a file, and changes it.
fn change(guard: &mut Guard, path: &Path, new: &str) {
    guard.remember(path, &fs::read_to_string(path).unwrap()).unwrap();
    fs::write(path, new).unwrap();
}

#[test]
fn dropping_it_restores_the_last_first_and_waits_until_that_is_done() {
    let d = tempfile::tempdir().unwrap();
    let (one, two) = (d.path().join("one"), d.path().join("two"));
    fs::write(&one, "1\n").unwrap();
    fs::write(&two, "").unwrap();
    for _ in 0..20 {
        let mut guard = Guard::start().unwrap();
        change(&mut guard, &one, "a much longer value\n");
        change(&mut guard, &two, "x");
        change(&mut guard, &one, "3\n");
        assert_eq!(fs::read_to_string(&one).unwrap(), "3\n");
        let id = guard.process_id();
        drop(guard);
        assert_eq!(fs::read_to_string(&one).unwrap(), "1\n");
        assert_eq!(fs::read_to_string(&two).unwrap(), "");
        assert!(!Path::new(&format!("/proc/{id}")).exists());
    }
    Guard::start().unwrap().restore().unwrap();
}

#[test]
fn a_file_that_cannot_be_restored_is_named_with_its_value_and_the_others_are_restored() {
    let d = tempfile::tempdir().unwrap();
    let names = ["one", "two", "three"].map(|name| d.path().join(name));
    let mut guard = Guard::start().unwrap();
    for name in &names {
        fs::write(name, "old\n").unwrap();
        change(&mut guard, name, "new\n");
    }
    fs::remove_file(&names[1]).unwrap();
    let error = guard.restore().unwrap_err();
    let said = error.to_string();
    assert!(said.contains(&format!("write `old` into {}", names[1].display())), "{said}");
    assert!(!said.contains("one") && !said.contains("three"), "{said}");
    assert!(!names[1].exists(), "a file that was not there is not made");
    for name in [&names[0], &names[2]] {
        assert_eq!(fs::read_to_string(name).unwrap(), "old\n");
    }
}

#[test]
fn without_a_guard_nothing_is_promised() {
    let mut guard = Guard::start().unwrap();
    for (path, value) in [("/a\0b", "1"), ("/a", "1\0")] {
        let error = guard.remember(Path::new(path), value).unwrap_err();
        assert!(matches!(error, MeasureError::Unguarded { .. }), "{error}");
    }
    guard.remember(Path::new("/no/such/file"), "1").unwrap();
    kill_process(process(guard.process_id()), Signal::KILL).unwrap();
    let error = eventually(|| guard.remember(Path::new("/no/such/other"), "1").err());
    assert!(matches!(error, MeasureError::Unguarded { .. }), "{error}");
    let error = guard.restore().unwrap_err();
    assert!(error.to_string().contains("/no/such/file"), "{error}");
}

#[test]
fn one_that_is_told_to_forget_writes_nothing_and_is_gone() {
    let d = tempfile::tempdir().unwrap();
    let file = d.path().join("file");
    fs::write(&file, "old").unwrap();
    let mut guard = Guard::start().unwrap();
    change(&mut guard, &file, "new");
    let id = guard.process_id();
    fs::write(&file, "of somebody else").unwrap();
    guard.forget();
    assert!(!Path::new(&format!("/proc/{id}")).exists());
    assert_eq!(fs::read_to_string(&file).unwrap(), "of somebody else");
}

#[test]
fn it_remembers_thousands_of_values_and_says_when_it_has_enough() {
    let d = tempfile::tempdir().unwrap();
    let file = d.path().join("file");
    fs::write(&file, "first").unwrap();
    let mut guard = Guard::start().unwrap();
    guard.remember(&file, "first").unwrap();
    for i in 1..2048 {
        guard.remember(&file, &i.to_string()).unwrap();
    }
    assert!(matches!(guard.remember(&file, "x"), Err(MeasureError::Unguarded { .. })));
    fs::write(&file, "changed").unwrap();
    guard.restore().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "first");
}

#[test]
fn it_does_not_listen_to_what_ends_others_and_holds_neither_output_nor_terminal() {
    let d = tempfile::tempdir().unwrap();
    let file = d.path().join("file");
    fs::write(&file, "old").unwrap();
    let mut guard = Guard::start().unwrap();
    change(&mut guard, &file, "new");
    let id = process(guard.process_id());
    assert_eq!(getsid(Some(id)).unwrap(), id);
    for signal in [Signal::INT, Signal::HUP, Signal::TERM, Signal::QUIT, Signal::TSTP, Signal::USR1]
    {
        kill_process(id, signal).unwrap();
    }
    for entry in fs::read_dir(format!("/proc/{}/fd", guard.process_id())).unwrap().flatten() {
        let open = fs::read_link(entry.path()).unwrap().display().to_string();
        let harmless = open == "/dev/null" || open.starts_with("socket:");
        // Its directory is open as well.
        assert!(harmless || Path::new(&open).is_dir(), "{open}");
    }
    change(&mut guard, &file, "newer");
    assert_eq!(fs::read_to_string(&file).unwrap(), "newer");
    guard.restore().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
}

#[test]
fn when_assay_and_its_group_are_killed_the_file_is_restored() {
    for group in [false, true] {
        let d = tempfile::tempdir().unwrap();
        let file = d.path().join("file");
        fs::write(&file, "old\n").unwrap();
        let mut assay = std::process::Command::new(example("guarded"))
            .args([file.as_os_str(), "new\n".as_ref()])
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        eventually(|| (fs::read_to_string(&file).unwrap() == "new\n").then_some(()));
        let id = process(assay.id());
        if group {
            kill_process_group(id, Signal::KILL).unwrap();
        } else {
            kill_process(id, Signal::KILL).unwrap();
        }
        assay.wait().unwrap();
        eventually(|| (fs::read_to_string(&file).unwrap() == "old\n").then_some(()));
        // The output of assay can be read to its end.
        let mut said = String::new();
        assay.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
    }
}
