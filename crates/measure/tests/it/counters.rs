//! Events of a process that starts others: events of its children are counted from their `execve`
//! on; its own are not. Only kernel events are used, since not every machine has counters in its
//! processor.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use assay_measure::counters::{self, Counters};
use assay_measure::{RunOptions, Runner, workload};

/// A shell that evaluates one line after the other, as the launcher handles requests.
struct Parent {
    process: Child,
    lines: ChildStdin,
    answers: BufReader<ChildStdout>,
    program: PathBuf,
    _directory: tempfile::TempDir,
}

impl Parent {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let program = workload::unpack(directory.path(), "work").unwrap();
        let mut process = Command::new("/bin/sh")
            .args(["-c", "while read -r line; do eval \"$line\"; echo done; done"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        let mut parent = Self { process, lines, answers, program, _directory: directory };
        // After this, the shell has forked once and has finished its startup.
        parent.obey("/bin/true");
        parent
    }

    /// Makes it evaluate a line; `WORK` in it is replaced by the workload.
    fn obey(&mut self, line: &str) {
        writeln!(self.lines, "{}", line.replace("WORK", self.program.to_str().unwrap())).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n", "{line}");
    }

    /// Opens events that every kernel counts.
    fn open(&self, list: &str) -> Counters {
        let events = counters::parse(list).unwrap();
        let (counters, refusals) = counters::open(self.process.id(), &events);
        assert_eq!(refusals, [], "the kernel counts these itself");
        assert_eq!(counters.events(), events);
        counters
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns false if this machine does not permit counting, as in some containers.
fn can_count(test: &str) -> bool {
    let events = counters::parse("page-faults").unwrap();
    let (_, refusals) = counters::open(std::process::id(), &events);
    if let Some(refusal) = refusals.first() {
        eprintln!("{test}: skipped: {}", refusal.why);
    }
    refusals.is_empty()
}

fn values(counters: &mut Counters) -> Vec<f64> {
    let counts = counters.take();
    assert!(counts.iter().flatten().all(|count| count.share > 0.0 && count.share <= 1.0));
    counts.into_iter().map(|count| count.unwrap().value).collect()
}

/// Returns the number of pages in `mib` MiB.
fn pages(mib: u64) -> f64 {
    ((mib << 20) / rustix::param::page_size() as u64) as f64
}

#[test]
fn a_child_is_counted_from_its_exec_and_each_take_begins_anew() {
    if !can_count("a_child_is_counted") {
        return;
    }
    let mut parent = Parent::start();
    let mut counters = parent.open("page-faults,minor-faults,task-clock");
    parent.obey("WORK touch 16");
    let first = values(&mut counters);
    assert!(first[0] >= pages(16) && first[0] < pages(16) + 200.0, "{first:?}");
    assert_eq!(first[0], first[1]);
    // Seconds rather than nanoseconds.
    assert!(first[2] > 0.0 && first[2] < 60.0, "{first:?}");
    parent.obey("WORK touch 4");
    let second = values(&mut counters);
    assert!(second[0] >= pages(4) && second[0] < pages(4) + 200.0, "{second:?}");
}

/// The kernel may swap the events of a process and its child if it can't tell them apart; the event
/// opened last would then count only the first few children.
#[test]
fn the_hundredth_child_is_counted_as_the_first() {
    if !can_count("the_hundredth_child") {
        return;
    }
    let mut parent = Parent::start();
    let mut counters = parent.open("page-faults");
    for child in 1..=100 {
        parent.obey("WORK touch 1");
        let count = counters.take()[0].map_or(0.0, |count| count.value);
        assert!(count >= pages(1) && count < pages(1) + 200.0, "{child}: {count}");
    }
}

#[test]
fn runs_of_the_launcher_are_counted_one_by_one() {
    if !can_count("runs_of_the_launcher") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = workload::unpack(directory.path(), "work").unwrap();
    let mut runner = Runner::start().unwrap();
    let subjects = [1_u64, 3].map(|mib| {
        let line = format!("{} touch {mib}", program.display());
        (mib, runner.add(&assay_measure::Command::parse(&line, false).unwrap()).unwrap())
    });
    let events = counters::parse("minor-faults,task-clock").unwrap();
    let launcher = runner.launcher_process_id().unwrap();
    let (mut counters, refusals) = counters::open(launcher, &events);
    assert_eq!(refusals, []);
    for _ in 0..20 {
        for (mib, subject) in subjects {
            let run = runner.run(subject, RunOptions::default()).unwrap();
            let counts = values(&mut counters);
            assert!(counts[0] >= pages(mib) && counts[0] < pages(mib) + 200.0, "{counts:?}");
            // The same run is counted in two ways; the kernel's accounting begins at the clone.
            assert!(counts[0] <= run.minor_faults as f64, "{counts:?} {}", run.minor_faults);
            assert!(counts[1] > 0.0 && counts[1] <= run.wall_seconds, "{counts:?}");
        }
    }
}

#[test]
fn grandchildren_are_counted_and_several_children_are_added_up() {
    if !can_count("grandchildren_are_counted") {
        return;
    }
    let mut parent = Parent::start();
    let mut counters = parent.open("page-faults");
    parent.obey("sh -c 'WORK touch 8; WORK touch 8 & wait'; WORK touch 8");
    let count = values(&mut counters)[0];
    assert!(count >= pages(24) && count < pages(24) + 3000.0, "{count}");
}

#[test]
fn the_parents_own_work_is_not_counted() {
    if !can_count("the_parents_own_work") {
        return;
    }
    let mut parent = Parent::start();
    let mut counters = parent.open("page-faults,minor-faults,task-clock");
    // A string that grows to megabytes in the shell itself; then a child that only forks.
    parent.obey(
        "s=xxxxxxxxxxxxxxxx; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do s=$s$s; done",
    );
    assert_eq!(counters.take(), [None, None, None]);
    parent.obey("(exit 3)");
    assert_eq!(counters.take(), [None, None, None]);
    parent.obey("WORK spin 1000");
    let faults = values(&mut counters)[0];
    assert!(faults < 200.0, "{faults}");
}

#[test]
fn a_process_that_is_gone_is_a_refusal_and_not_an_error() {
    let mut gone = Command::new("/bin/true").spawn().unwrap();
    gone.wait().unwrap();
    let events = counters::parse("page-faults,task-clock").unwrap();
    for process in [gone.id(), u32::MAX] {
        let (mut counters, refusals) = counters::open(process, &events);
        assert_eq!(refusals.len(), 2);
        assert_eq!(refusals[0].event, "page-faults");
        assert!(!refusals[0].why.is_empty() && !refusals[0].why.contains('\n'));
        assert!(counters.events().is_empty() && counters.take().is_empty());
        assert!(!counters.user_only());
    }
}

/// If the kernel may not be counted, events that occur only there are refused and never reported as
/// zero.
#[test]
fn what_happens_in_the_kernel_is_counted_or_refused() {
    if !can_count("what_happens_in_the_kernel") {
        return;
    }
    let mut parent = Parent::start();
    let events = counters::parse("context-switches,page-faults").unwrap();
    let (mut counters, refusals) = counters::open(parent.process.id(), &events);
    if counters.user_only() {
        assert_eq!(refusals.len(), 1);
        assert!(refusals[0].why.contains("kernel.perf_event_paranoid=1"), "{refusals:?}");
    } else {
        parent.obey("sleep 0.01");
        assert!(values(&mut counters)[0] >= 1.0);
    }
}

#[test]
fn counters_outlive_the_process_and_then_know_nothing() {
    if !can_count("counters_outlive") {
        return;
    }
    let mut parent = Parent::start();
    let mut counters = parent.open("page-faults");
    parent.obey("WORK touch 1");
    parent.process.kill().unwrap();
    parent.process.wait().unwrap();
    assert!(values(&mut counters)[0] >= pages(1));
    assert_eq!(counters.take(), [None]);
}

#[test]
fn every_event_is_counted_or_refused_with_a_reason() {
    if !can_count("every_event") {
        return;
    }
    let mut parent = Parent::start();
    let all = counters::parse(&counters::names().join(",")).unwrap();
    let (mut counters, refusals) = counters::open(parent.process.id(), &all);
    assert_eq!(counters.events().len() + refusals.len(), all.len());
    for refusal in &refusals {
        assert!(!refusal.why.is_empty() && !refusal.why.contains('\n'), "{refusal:?}");
        assert!(!counters.events().iter().any(|event| event.name == refusal.event));
    }
    parent.obey("WORK spin 1000000");
    let counts = counters.take();
    assert_eq!(counts.len(), counters.events().len());
    for (event, count) in counters.events().iter().zip(counts) {
        // With few counters, the kernel may not have reached this one.
        let Some(count) = count else { continue };
        if event.name == "instructions" {
            assert!(count.value > 3e6 && count.value < 2e7, "{count:?}");
        }
    }
}
