//! Ctrl-C: the first lets the run finish, the second ends it. It needs the main thread, to which
//! the kernel sends signals, and so comes without the usual test harness.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::time::{Duration, Instant};

use assay_measure::{Input, MeasureError, RunOptions, Runner, interrupt};
use rustix::process::{Signal, getpid, kill_process};

fn interrupt_after(pause: Duration) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        std::thread::sleep(pause);
        kill_process(getpid(), Signal::INT).unwrap();
    })
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
}
