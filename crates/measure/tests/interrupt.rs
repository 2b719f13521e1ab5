//! Ctrl-C: the first lets the run finish, the second ends it. It needs the main thread, to which
//! the kernel sends signals, so it does not use the usual test harness.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

#[path = "it/common/mod.rs"]
mod common;

use std::fs;
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use assay_measure::{
    Input, LastWords, MeasureError, Outcome, RUNNER, RunOptions, Runner, RunnerKind, foreground,
    interrupt,
};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

fn interrupt_after(pause: Duration) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        std::thread::sleep(pause);
        kill_process(getpid(), Signal::INT).unwrap();
    })
}

/// A signal that arrives while the program is being started still reaches it.
///
/// It is sent by another process, as soon as there is a second child: the kernel might pick one of
/// our own threads for a signal sent from here.
fn a_foreground_command_hands_on_what_comes_at_the_start() {
    let us = getpid().as_raw_nonzero();
    let children = format!("/proc/{us}/task/{us}/children");
    if std::io::stdin().is_terminal() || fs::read(&children).is_err() {
        // From a terminal the signal would reach the program without us.
        return eprintln!(
            "a_foreground_command_hands_on: skipped: with a terminal, or without {children}"
        );
    }
    // If the signal is lost, the program is killed, so that the test fails and ends.
    let line = format!(
        "while read -r all < {children} || :; do set -- $all; [ $# -lt 2 ] || break; done
         kill -TERM {us}; sleep 20; kill -KILL $2"
    );
    for _ in 0..10 {
        let mut sender = std::process::Command::new("/bin/sh")
            .args(["-c", &line])
            .process_group(0)
            .spawn()
            .unwrap();
        let outcome = foreground::run(&["sleep".into(), "1000".into()]);
        // The sleep of the sender is in its group.
        kill_process_group(Pid::from_child(&sender), Signal::KILL).unwrap();
        sender.wait().unwrap();
        assert_eq!(outcome.unwrap(), Outcome::Signalled(Signal::TERM.as_raw()));
    }
}

/// A signal that arrives just after an unsuccessful check does not wait for the next event.
fn a_signal_between_a_look_and_a_sleep_ends_the_sleep() {
    let before = interrupt::count();
    kill_process(getpid(), Signal::HUP).unwrap();
    while interrupt::count() == before {
        std::thread::yield_now();
    }
    let began = Instant::now();
    interrupt::sleep_until(&[], Some(Duration::from_secs(300))).unwrap();
    assert!(began.elapsed() < Duration::from_secs(200));
    // The signal is consumed: the next sleep lasts its full time.
    let began = Instant::now();
    interrupt::sleep_until(&[], Some(Duration::from_millis(50))).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(50));
}

fn main() {
    if std::env::var(RUNNER).is_ok() {
        return all();
    }
    // The signal count can't be reset: each kind of runner has its own process.
    for kind in [RunnerKind::Launcher, RunnerKind::Portable] {
        let own = std::env::current_exe().unwrap();
        let status = std::process::Command::new(own).env(RUNNER, kind.to_string()).status();
        assert!(status.unwrap().success(), "{kind}");
    }
}

fn all() {
    interrupt::install().unwrap();
    let mut runner = Runner::start().unwrap();
    for last_words in [LastWords::Unheard, LastWords::Piped, LastWords::Filed] {
        let options = RunOptions { last_words, ..RunOptions::default() };
        let before = interrupt::count();
        let short = runner.add(&common::shell("sleep 0.4")).unwrap();
        let long = runner.add(&common::shell("sleep 300 & sleep 300")).unwrap();
        if before == 0 {
            let first = interrupt_after(Duration::from_millis(100));
            let result = runner.run(short, options).unwrap();
            first.join().unwrap();
            assert!(result.outcome.is_success() && result.wall_seconds >= 0.4);
            assert_eq!(interrupt::count(), 1);
        }
        let start = Instant::now();
        let second = interrupt_after(Duration::from_millis(100));
        let error = runner.run(long, options).unwrap_err();
        second.join().unwrap();
        assert!(matches!(error, MeasureError::Interrupted), "{error}");
        assert!(start.elapsed() < Duration::from_secs(10));
        // A cleanup can still be run.
        assert!(runner.run(short, options).unwrap().outcome.is_success());
        // An interrupt also ends a run that is waiting for its input to be opened.
        let directory = tempfile::tempdir().unwrap();
        let fifo = directory.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let mut waits = common::shell("true");
        waits.input = Input::File(fifo);
        let waits = runner.add(&waits).unwrap();
        let third = interrupt_after(Duration::from_millis(100));
        let error = runner.run(waits, options).unwrap_err();
        third.join().unwrap();
        assert!(matches!(error, MeasureError::Interrupted), "{error}");
        assert!(runner.run(short, options).unwrap().outcome.is_success());
    }
    drop(runner);
    a_signal_between_a_look_and_a_sleep_ends_the_sleep();
    a_foreground_command_hands_on_what_comes_at_the_start();
}
