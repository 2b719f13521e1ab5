//! No process outlives a run, regardless of which process is killed, and when.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::process::Stdio;
use std::time::{Duration, Instant};

use assay_measure::{MeasureError, Outcome, RunOptions, Runner};
use common::{eventually, example, members, shell, written_pid};
use rustix::process::{Pid, Signal, kill_process};

fn kill(process: u32) {
    let process = Pid::from_raw(process.cast_signed()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
}

#[test]
fn a_run_whose_launcher_is_killed_is_lost_once_and_leaves_nobody() {
    let d = tempfile::tempdir().unwrap();
    let file = d.path().join("pid");
    let line = format!("echo $$ > {}; sleep 300 & sleep 300", file.display());
    let mut runner = Runner::start().unwrap();
    let first = runner.add(&shell("exit 9")).unwrap();
    let endless = runner.add(&shell(&line)).unwrap();
    let lose = |runner: &mut Runner| {
        let _ = std::fs::remove_file(&file);
        let launcher = runner.launcher_process_id().unwrap();
        let start = Instant::now();
        let (error, group) = std::thread::scope(|scope| {
            let killer = scope.spawn(|| {
                let group = written_pid(&file);
                eventually(|| (members(group).len() >= 2).then_some(()));
                kill(launcher);
                group
            });
            let error = runner.run(endless, RunOptions::default()).unwrap_err();
            (error, killer.join().unwrap())
        });
        eventually(|| members(group).is_empty().then_some(()));
        assert!(start.elapsed() < Duration::from_secs(20));
        error
    };
    let error = lose(&mut runner);
    assert!(matches!(error, MeasureError::LostRun { .. }), "{error}");
    // The new launcher has the subjects of the old one.
    let again = runner.run(first, RunOptions::default()).unwrap();
    assert_eq!(again.outcome, Outcome::Exited(9));
    let error = lose(&mut runner);
    assert!(matches!(error, MeasureError::LauncherGone), "{error}");
    assert!(matches!(runner.run(first, RunOptions::default()), Err(MeasureError::LauncherGone)));
}

#[test]
fn a_launcher_killed_between_runs_is_replaced() {
    let mut runner = Runner::start().unwrap();
    let subject = runner.add(&shell("exit 2")).unwrap();
    kill(runner.launcher_process_id().unwrap());
    let error = runner.run(subject, RunOptions::default()).unwrap_err();
    assert!(matches!(error, MeasureError::LostRun { .. }), "{error}");
    assert_eq!(runner.run(subject, RunOptions::default()).unwrap().outcome, Outcome::Exited(2));
}

#[test]
fn a_launcher_that_is_stopped_is_replaced_after_a_while() {
    let mut runner = Runner::start().unwrap();
    let subject = runner.add(&shell("exit 3")).unwrap();
    let launcher = Pid::from_raw(runner.launcher_process_id().unwrap().cast_signed()).unwrap();
    kill_process(launcher, Signal::STOP).unwrap();
    let error = runner.run(subject, RunOptions::default()).unwrap_err();
    assert!(matches!(error, MeasureError::LostRun { .. }), "{error}");
    assert_eq!(runner.run(subject, RunOptions::default()).unwrap().outcome, Outcome::Exited(3));
}

#[test]
fn when_assay_is_killed_the_run_and_the_launcher_go_too() {
    let d = tempfile::tempdir().unwrap();
    let file = d.path().join("pids");
    let line = format!("echo $$ > {}; sleep 300 & sleep 300", file.display());
    let mut assay = std::process::Command::new(example("observe"))
        .args(["sh", "-c", &line])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let group = written_pid(&file);
    eventually(|| (members(group).len() >= 2).then_some(()));
    let launcher = eventually(|| {
        let path = format!("/proc/{0}/task/{0}/children", assay.id());
        std::fs::read_to_string(path).ok()?.trim().parse::<i32>().ok()
    });
    kill(assay.id());
    assay.wait().unwrap();
    eventually(|| members(group).is_empty().then_some(()));
    eventually(|| {
        let stat = std::fs::read_to_string(format!("/proc/{launcher}/stat"));
        let lives = stat.is_ok_and(|stat| !stat.contains(") Z"));
        (!lives).then_some(())
    });
}

#[test]
fn an_idle_launcher_leaves_when_its_runner_is_dropped() {
    let runner = Runner::start().unwrap();
    let launcher = runner.launcher_process_id().unwrap();
    drop(runner);
    assert!(!std::path::Path::new(&format!("/proc/{launcher}")).exists());
}

#[test]
fn another_thread_can_end_the_run_in_flight() {
    let mut runner = Runner::start().unwrap();
    let subject = runner.add(&shell("sleep 300 & sleep 300")).unwrap();
    let handle = runner.abort_handle().unwrap();
    assert!(!handle.abort_in_flight());
    let result = std::thread::scope(|scope| {
        scope.spawn(|| eventually(|| handle.abort_in_flight().then_some(())));
        runner.run(subject, RunOptions::default()).unwrap()
    });
    assert_eq!(result.outcome, Outcome::Signalled(9));
}

#[test]
fn a_runner_may_be_started_by_a_thread_that_ends() {
    let mut runner = std::thread::spawn(|| Runner::start().unwrap()).join().unwrap();
    let launcher = runner.launcher_process_id();
    std::thread::sleep(Duration::from_millis(50));
    let subject = runner.add(&shell("exit 6")).unwrap();
    assert_eq!(runner.run(subject, RunOptions::default()).unwrap().outcome, Outcome::Exited(6));
    assert_eq!(runner.launcher_process_id(), launcher, "it was not replaced");
}
