//! Settings made for a command apply to it, and not to the next command. If this machine does not
//! permit a setting, the test checks only that it is refused by name.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use assay_measure::{Command, Control, MeasureError, Outcome, RunOptions, Runner, Setting};
use common::{Emulated, eventually, example, members, shell, written_pid};

/// Prints policy, real-time priority and nice value of its shell, its processors, and its layout.
const LOOK: &str = "set -- $(cat /proc/$$/stat); echo nice=${19} priority=${40} policy=${41}; \
                    sed -n 's/^Cpus_allowed_list:[[:space:]]*/cpus=/p' /proc/$$/status; \
                    echo layout=$(cat /proc/$$/personality)";

fn looking(control: Control) -> Command {
    let mut command = shell(LOOK);
    command.control = control;
    command.keep_output = true;
    command
}

fn look(runner: &mut Runner, command: &Command) -> Result<String, MeasureError> {
    let subject = runner.add(command)?;
    let result = runner.run(subject, RunOptions::default())?;
    assert_eq!(result.outcome, Outcome::Exited(0));
    Ok(String::from_utf8(result.output.unwrap().bytes).unwrap())
}

/// Returns the numbers of the processors that this test may use.
fn own_cpus() -> Vec<u32> {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    (0..1024).filter(|&cpu| set.is_set(cpu as usize)).collect()
}

/// Returns true if this process has the necessary privileges.
fn privileged() -> bool {
    let tried =
        std::process::Command::new("chrt").args(["-f", "2", "true"]).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

fn refused(error: &MeasureError, wanted: Setting) {
    match error {
        MeasureError::Control { setting, .. } => assert_eq!(*setting, wanted, "{error}"),
        _ => panic!("{error}"),
    }
}

#[test]
fn a_command_finds_every_setting_and_the_next_one_none() {
    if common::ignored_under_emulation(Emulated::Vfork) {
        return;
    }
    let mut runner = Runner::start().unwrap();
    let plain = looking(Control::default());
    let before = look(&mut runner, &plain).unwrap();
    let last = own_cpus().pop().unwrap();
    let settings = [
        (Control { cpus: vec![last], ..Control::default() }, format!("cpus={last}\n"), true),
        (Control { no_aslr: true, ..Control::default() }, "layout=00040000\n".to_owned(), true),
        (Control { nice: Some(7), ..Control::default() }, "nice=7 ".to_owned(), true),
        (
            Control { fifo: Some(3), ..Control::default() },
            "priority=3 policy=1\n".to_owned(),
            privileged(),
        ),
        (Control { nice: Some(-3), ..Control::default() }, "nice=-3 ".to_owned(), privileged()),
        (
            Control { fifo: Some(99), ..Control::default() },
            "priority=99 policy=1\n".to_owned(),
            privileged(),
        ),
    ];
    for (control, expected, possible) in settings {
        match look(&mut runner, &looking(control.clone())) {
            Ok(said) => assert!(said.contains(&expected), "{control:?}: {said}"),
            Err(error) => {
                assert!(!possible || control.no_aslr, "{control:?}: {error}");
                assert!(matches!(error, MeasureError::Control { .. }), "{error}");
            }
        }
        assert_eq!(look(&mut runner, &plain).unwrap(), before, "after {control:?}");
    }
}

#[test]
fn all_settings_go_together_and_are_inherited_by_what_the_command_starts() {
    if !privileged() {
        return;
    }
    let mut runner = Runner::start().unwrap();
    let last = own_cpus().pop().unwrap();
    let control = Control { cpus: vec![last], fifo: Some(5), nice: Some(-2), no_aslr: true };
    let mut command = looking(control);
    command.argv[2] = format!("(true; {})", LOOK.replace("$$", "self")).into();
    let said = look(&mut runner, &command).unwrap();
    let expected = format!("priority=5 policy=1\ncpus={last}\nlayout=00040000\n");
    assert!(said.ends_with(&expected) && said.starts_with("nice=-2 "), "{said}");
}

#[test]
fn a_fixed_layout_is_the_same_in_every_run() {
    let mut runner = Runner::start().unwrap();
    let mut command = shell("grep stack /proc/self/maps");
    command.keep_output = true;
    command.control.no_aslr = true;
    let subject = runner.add(&command).unwrap();
    let mut stacks = Vec::new();
    for _ in 0..4 {
        match runner.run(subject, RunOptions::default()) {
            Ok(result) => stacks.push(result.output.unwrap().bytes),
            Err(error) => return refused(&error, Setting::Aslr),
        }
    }
    stacks.dedup();
    assert_eq!(stacks.len(), 1);
}

#[test]
fn a_processor_that_is_not_there_is_refused_and_nothing_of_it_stays() {
    let mut runner = Runner::start().unwrap();
    let plain = looking(Control::default());
    let before = look(&mut runner, &plain).unwrap();
    let first = own_cpus()[0];
    // The kernel itself would accept the first list and ignore the second processor.
    for cpus in [vec![first, 1023], vec![1023]] {
        let control = Control { cpus, ..Control::default() };
        let error = look(&mut runner, &looking(control)).unwrap_err();
        refused(&error, Setting::Pin);
        assert!(error.to_string().contains("existing processors"), "{error}");
        assert_eq!(look(&mut runner, &plain).unwrap(), before);
    }
}

#[test]
fn a_value_that_no_system_knows_is_refused_before_anything_runs() {
    let mut runner = Runner::start().unwrap();
    for (control, setting) in [
        (Control { cpus: vec![1024], ..Control::default() }, Setting::Pin),
        (Control { fifo: Some(0), ..Control::default() }, Setting::Fifo),
        (Control { fifo: Some(100), ..Control::default() }, Setting::Fifo),
        (Control { nice: Some(20), ..Control::default() }, Setting::Nice),
        (Control { nice: Some(-21), ..Control::default() }, Setting::Nice),
    ] {
        refused(&runner.add(&looking(control)).unwrap_err(), setting);
    }
}

/// Runs the tests for unprivileged users, as nobody.
#[test]
fn a_setting_that_takes_privileges_is_refused_to_others_and_the_runner_goes_on() {
    if common::ignored_under_emulation(Emulated::Users) {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        return without_privileges();
    }
    // A copy in an accessible place, since nobody may not have access to the build directory.
    let d = tempfile::Builder::new().prefix("control").tempdir_in("/tmp").unwrap();
    let copy = d.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(d.path(), open).unwrap();
    let output = std::process::Command::new(&copy)
        .args([
            "--exact",
            "control::a_setting_that_takes_privileges_is_refused_to_others_and_the_runner_goes_on",
        ])
        .current_dir("/")
        .env("TMPDIR", "/tmp")
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

fn without_privileges() {
    let mut runner = Runner::start().unwrap();
    let plain = looking(Control::default());
    let before = look(&mut runner, &plain).unwrap();
    let last = own_cpus().pop();
    for (control, setting) in [
        (
            Control { fifo: Some(1), cpus: last.into_iter().collect(), ..Control::default() },
            Setting::Fifo,
        ),
        (Control { fifo: Some(99), no_aslr: true, ..Control::default() }, Setting::Fifo),
        (Control { nice: Some(-5), ..Control::default() }, Setting::Nice),
    ] {
        let subject = looking(control);
        for _ in 0..2 {
            let error = look(&mut runner, &subject).unwrap_err();
            refused(&error, setting);
            assert!(error.to_string().contains("CAP_SYS_NICE"), "{error}");
        }
        assert_eq!(look(&mut runner, &plain).unwrap(), before);
    }
}

#[test]
fn a_busy_real_time_command_is_ended_in_its_time_on_the_only_processor_it_has() {
    if !privileged() {
        return;
    }
    let mut runner = Runner::start().unwrap();
    let mut command = shell("while :; do :; done");
    command.control = Control {
        cpus: own_cpus().pop().into_iter().collect(),
        fifo: Some(2),
        ..Control::default()
    };
    let subject = runner.add(&command).unwrap();
    let options = RunOptions { timeout: Some(Duration::from_millis(100)), ..RunOptions::default() };
    let start = Instant::now();
    let result = runner.run(subject, options).unwrap();
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_busy_real_time_command_goes_when_assay_is_killed() {
    if !privileged() {
        return;
    }
    let d = tempfile::tempdir().unwrap();
    let file = d.path().join("pid");
    let line = format!("echo $$ > {}; while :; do :; done", file.display());
    let last = own_cpus().pop().unwrap().to_string();
    let mut assay = std::process::Command::new(example("observe"))
        .args(["--pin", &last, "--fifo", "2", "sh", "-c", &line])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let group = written_pid(&file);
    assay.kill().unwrap();
    assay.wait().unwrap();
    eventually(|| members(group).is_empty().then_some(()));
}
