//! Ctrl-C: the first lets the run finish, the second ends it. It needs the main thread, to which
//! the kernel sends signals, and so comes without the usual test harness.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod common;

use std::fs;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use assay_measure::{Input, MeasureError, Outcome, RunOptions, Runner, escort, interrupt};
use rustix::process::{Pid, Signal, getpid, kill_process, test_kill_process};

fn interrupt_after(pause: Duration) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        std::thread::sleep(pause);
        kill_process(getpid(), Signal::INT).unwrap();
    })
}

/// A signal that comes while the program is being started reaches it all the same.
fn an_escort_hands_on_what_comes_at_the_start() {
    let children = format!("/proc/self/task/{}/children", getpid().as_raw_nonzero());
    if std::io::stdin().is_terminal() || fs::read(&children).is_err() {
        // From a terminal the signal would reach the program without us.
        return eprintln!("an_escort_hands_on: skipped: with a terminal, or without {children}");
    }
    for _ in 0..50 {
        let path = children.clone();
        let sender = std::thread::spawn(move || {
            let child = loop {
                let text = fs::read_to_string(&path).unwrap();
                if let Ok(child) = text.trim().parse() {
                    break child;
                }
            };
            kill_process(getpid(), Signal::TERM).unwrap();
            child
        });
        let rescue = std::thread::spawn(move || {
            let child = Pid::from_raw(sender.join().unwrap()).unwrap();
            for _ in 0..500 {
                std::thread::sleep(Duration::from_millis(20));
                if test_kill_process(child).is_err() {
                    return;
                }
            }
            // It waits for a signal that was lost: the test fails, but ends.
            kill_process(child, Signal::KILL).unwrap();
        });
        let outcome = escort::run(&["sleep".into(), "1000".into()]).unwrap();
        assert_eq!(outcome, Outcome::Signalled(Signal::TERM.as_raw()));
        rescue.join().unwrap();
    }
}

fn main() {
    interrupt::install().unwrap();
    let mut runner = Runner::start().unwrap();
    for capture_stderr in [false, true] {
        let options = RunOptions { capture_stderr, ..RunOptions::default() };
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
        // An interrupt also ends a run that waits for its input to be opened.
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
    an_escort_hands_on_what_comes_at_the_start();
}
