//! The output of a run is kept: standard output, standard error and samples, separately for each
//! run.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::fs;
use std::time::Duration;

use assay_measure::{
    Channel, Command, CommandError, KeptOutput, LastWords, MeasureError, Outcome, Output,
    RunOptions, RunResult, Runner, hooks,
};
use common::{eventually, run, run_with, shell, written_pid};

/// Writes a line to the channel, whichever it is.
const WRITE: &str = "write() { case $ASSAY_SAMPLES in fd:7) echo \"$1\" >&7;; \
                     path:*) echo \"$1\" >> \"${ASSAY_SAMPLES#path:}\";; esac; }; ";

fn sampling(channel: Channel, line: &str) -> Command {
    let mut command = shell(&format!("{WRITE}{line}"));
    command.samples = channel;
    command
}

fn text(kept: Option<&KeptOutput>) -> &str {
    let kept = kept.unwrap();
    assert_eq!(kept.written, kept.bytes.len() as u64);
    std::str::from_utf8(&kept.bytes).unwrap()
}

fn keeping(line: &str) -> Command {
    let mut command = shell(line);
    command.keep_output = true;
    command.keep_errors = true;
    command
}

#[test]
fn all_of_this_by_the_portable_runner() {
    let lacking = ["a_thousand_kept_runs_use_up_no_descriptors"];
    common::again_by_the_portable_runner("kept::", &lacking);
}

#[test]
fn what_is_written_to_either_output_is_kept_of_every_run_for_itself() {
    let mut runner = Runner::start().unwrap();
    let talking = runner.add(&keeping("echo out; (echo err; echo more) >&2; exit 3")).unwrap();
    let silent = runner.add(&keeping("true")).unwrap();
    let plain = runner.add(&shell("echo x; echo y >&2")).unwrap();
    for _ in 0..3 {
        let result = runner.run(talking, RunOptions::default()).unwrap();
        assert_eq!(result.outcome, Outcome::Exited(3));
        assert_eq!(text(result.output.as_ref()), "out\n");
        assert_eq!(text(result.errors.as_ref()), "err\nmore\n");
        assert_eq!((result.stderr_tail, result.output_bytes), (None, None));
        let result = runner.run(silent, RunOptions::default()).unwrap();
        assert_eq!((text(result.output.as_ref()), text(result.errors.as_ref())), ("", ""));
        let result = runner.run(plain, RunOptions::default()).unwrap();
        assert_eq!((result.output, result.errors, result.samples), (None, None, None));
    }
}

#[test]
fn a_kept_output_is_a_file_that_is_only_ever_appended_to() {
    // `>` and a seek of one writer do not harm another's output.
    let line = "echo one; sh -c 'echo two; : >&1'; echo three; test -f /proc/self/fd/1";
    let mut command = keeping(&line.replace("test -f", "test ! -p"));
    command.keep_errors = false;
    let result = run(&command);
    assert_eq!(text(result.output.as_ref()), "one\ntwo\nthree\n");
    assert!(result.outcome.is_success() && result.errors.is_none());
}

#[test]
fn of_a_hundred_mebibytes_the_first_64_are_kept_and_all_are_counted() {
    let result = run(&keeping("printf start; head -c 104857600 /dev/zero"));
    let output = result.output.unwrap();
    assert_eq!(output.written, 104_857_605);
    assert_eq!(output.bytes.len(), 64 << 20);
    assert!(output.bytes.starts_with(b"start\0"));
}

#[test]
fn the_tail_of_a_kept_standard_error_is_its_end() {
    let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
    let line = "head -c 1000000 /dev/zero | tr '\\0' 'a' >&2; echo the end >&2; exit 1";
    let result = run_with(&keeping(line), options).unwrap();
    let tail = result.stderr_tail.unwrap();
    assert!(tail.len() == 4096 && tail.starts_with('a') && tail.ends_with("athe end\n"));
    assert_eq!(result.errors.unwrap().written, 1_000_008);
    let result = run_with(&keeping("echo short >&2"), options).unwrap();
    assert_eq!(result.stderr_tail.as_deref(), Some("short\n"));
}

#[test]
fn an_output_that_goes_elsewhere_cannot_be_kept() {
    let mut runner = Runner::start().unwrap();
    for output in [Output::Inherit, Output::Pipe, Output::File("out".into())] {
        let command = Command { output, ..keeping("true") };
        let error = runner.add(&command).unwrap_err();
        let expected = matches!(error, MeasureError::Command(CommandError::KeptElsewhere { .. }));
        assert!(expected, "{error}");
    }
    // Standard error has no other destination.
    let mut command = shell("echo x >&2");
    (command.output, command.keep_errors) = (Output::Pipe, true);
    let result = run(&command);
    assert_eq!((result.output_bytes, text(result.errors.as_ref())), (Some(0), "x\n"));
}

#[test]
fn samples_come_by_either_channel_from_the_command_and_from_what_it_starts() {
    for channel in [Channel::Descriptor, Channel::Path] {
        let mut runner = Runner::start().unwrap();
        let line = "write \"a $N\"; (write b; (write c) & wait); exit 4";
        let mut first = sampling(channel, line);
        first.env.push(("N".to_owned(), "1".to_owned()));
        let mut second = first.clone();
        second.env = vec![("N".to_owned(), "2".to_owned())];
        let quiet = runner.add(&sampling(channel, "true")).unwrap();
        let first = runner.add(&first).unwrap();
        let second = runner.add(&second).unwrap();
        for _ in 0..3 {
            for (subject, expected) in
                [(first, "a 1\nb\nc\n"), (quiet, ""), (second, "a 2\nb\nc\n")]
            {
                let result = runner.run(subject, RunOptions::default()).unwrap();
                assert_eq!(text(result.samples.as_ref()), expected, "{channel:?}");
            }
        }
    }
}

#[test]
fn samples_outputs_and_pipes_go_together() {
    for channel in [Channel::Descriptor, Channel::Path] {
        let mut command = sampling(channel, "write s; echo out; echo err >&2");
        command.output = Output::Pipe;
        let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
        let result = run_with(&command, options).unwrap();
        assert_eq!((result.output_bytes, result.stderr_tail.as_deref()), (Some(4), Some("err\n")));
        assert_eq!(text(result.samples.as_ref()), "s\n");
        (command.output, command.keep_output, command.keep_errors) = (Output::Null, true, true);
        let result = run_with(&command, options).unwrap();
        let RunResult { output, errors, samples, .. } = &result;
        let all = [output, errors, samples].map(|kept| text(kept.as_ref()));
        assert_eq!(all, ["out\n", "err\n", "s\n"]);
    }
}

#[test]
fn samples_of_a_run_that_fails_or_is_ended_are_there() {
    for channel in [Channel::Descriptor, Channel::Path] {
        let result = run(&sampling(channel, "write before; kill -KILL $$"));
        assert_eq!(result.outcome, Outcome::Signalled(9));
        assert_eq!(text(result.samples.as_ref()), "before\n");
        let timeout = Some(Duration::from_millis(300));
        let options = RunOptions { timeout, ..RunOptions::default() };
        let result = run_with(&sampling(channel, "write before; exec sleep 60"), options).unwrap();
        assert_eq!(result.outcome, Outcome::TimedOut);
        assert_eq!(text(result.samples.as_ref()), "before\n");
    }
}

#[test]
fn what_a_process_writes_after_the_end_of_its_run_is_in_no_other_run() {
    for channel in [Channel::Descriptor, Channel::Path] {
        let d = tempfile::tempdir().unwrap();
        let (pid, go, done) = (d.path().join("pid"), d.path().join("go"), d.path().join("done"));
        // A daemon that keeps the file of the first run open.
        let line = format!(
            "write mine; case $ASSAY_SAMPLES in path:*) exec 7>>\"${{ASSAY_SAMPLES#path:}}\";; esac; \
             test -e {go} || setsid sh -c 'echo $$ > {pid}; until test -e {go}; do sleep 0.01; done; \
             echo late >&7; echo x > {done}' & until test -s {pid}; do sleep 0.01; done; \
             test ! -e {go} || until test -s {done}; do sleep 0.01; done",
            go = go.display(),
            pid = pid.display(),
            done = done.display()
        );
        let mut runner = Runner::start().unwrap();
        let subject = runner.add(&sampling(channel, &line)).unwrap();
        let first = runner.run(subject, RunOptions::default()).unwrap();
        written_pid(&pid);
        assert_eq!(text(first.samples.as_ref()), "mine\n");
        // The daemon writes while the second run is in progress.
        fs::write(&go, "").unwrap();
        let second = runner.run(subject, RunOptions::default()).unwrap();
        eventually(|| done.exists().then_some(()));
        assert_eq!(text(second.samples.as_ref()), "mine\n", "{channel:?}");
    }
}

#[test]
fn nobody_but_a_command_with_a_channel_is_told_of_one() {
    let mut runner = Runner::start().unwrap();
    let looking = "test -z \"${ASSAY_SAMPLES+set}\" && test ! -e /proc/self/fd/7";
    let with = runner.add(&sampling(Channel::Descriptor, "write x")).unwrap();
    let without = runner.add(&shell(looking)).unwrap();
    let mut insisting = shell(looking);
    insisting.env.push(("ASSAY_SAMPLES".to_owned(), "fd:1".to_owned()));
    let insisting = runner.add(&insisting).unwrap();
    for _ in 0..2 {
        assert!(runner.run(with, RunOptions::default()).unwrap().outcome.is_success());
        assert!(runner.run(without, RunOptions::default()).unwrap().outcome.is_success());
        assert!(runner.run(insisting, RunOptions::default()).unwrap().outcome.is_success());
        hooks::run(&mut runner, "--prepare", looking).unwrap();
    }
}

#[test]
fn an_inherited_channel_is_not_passed_on() {
    let output = std::process::Command::new(common::example("observe"))
        .args(["sh", "-c", "test -z \"${ASSAY_SAMPLES+set}\""])
        .env("ASSAY_SAMPLES", "fd:1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("Exited(\n        0,") || said.contains("Exited(0)"), "{said}");
}

#[test]
fn the_private_directory_goes_with_the_runner() {
    let mut command = sampling(Channel::Path, "printf %s \"${ASSAY_SAMPLES#path:}\"");
    command.keep_output = true;
    let mut runner = Runner::start().unwrap();
    let subject = runner.add(&command).unwrap();
    let result = runner.run(subject, RunOptions::default()).unwrap();
    let file = std::path::PathBuf::from(text(result.output.as_ref()));
    let directory = file.parent().unwrap().to_owned();
    assert!(file.is_absolute() && file.exists());
    drop(runner);
    assert!(!directory.exists());
}

#[test]
fn a_thousand_kept_runs_use_up_no_descriptors() {
    let mut runner = Runner::start().unwrap();
    let mut command = sampling(Channel::Descriptor, "write s; echo out; echo err >&2");
    (command.keep_output, command.keep_errors) = (true, true);
    let subject = runner.add(&command).unwrap();
    let pid = runner.launcher_process_id().unwrap();
    let open = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let before = open();
    for _ in 0..1000 {
        let result = runner.run(subject, RunOptions::default()).unwrap();
        assert_eq!(text(result.samples.as_ref()), "s\n");
    }
    assert_eq!(open(), before);
}

#[test]
fn two_runners_run_at_once_in_two_threads() {
    fn is_send<T: Send>() {}
    is_send::<Runner>();
    let d = tempfile::tempdir().unwrap();
    let meet = |own: &str, other: &str| {
        let (own, other) = (d.path().join(own), d.path().join(other));
        // The runs wait for each other: run one after the other, they would never end.
        let line = format!(
            "write $$; echo $$; : > {}; until test -e {}; do sleep 0.01; done",
            own.display(),
            other.display()
        );
        let mut command = sampling(Channel::Path, &line);
        command.keep_output = true;
        command
    };
    let commands = [meet("a", "b"), meet("b", "a")];
    let results: Vec<RunResult> = std::thread::scope(|scope| {
        let threads = commands.each_ref().map(|command| {
            scope.spawn(move || {
                let timeout = Some(Duration::from_secs(20));
                run_with(command, RunOptions { timeout, ..RunOptions::default() }).unwrap()
            })
        });
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for result in &results {
        assert!(result.outcome.is_success());
        assert_eq!(text(result.samples.as_ref()), text(result.output.as_ref()));
    }
    let [a, b] = &results[..] else { panic!("two") };
    assert_ne!(a.samples, b.samples);
    assert!(a.started_ns < b.ended_ns && b.started_ns < a.ended_ns, "they overlap");
}
