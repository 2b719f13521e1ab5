//! Runs of real programs: the results; only relations are tested, never times.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use assay_measure::{
    Channel, Command, Input, LastWords, MeasureError, Outcome, Output, ResolveError, RunOptions,
    Runner, RunnerKind, Setting, hooks,
};
use common::{
    Emulated, compile, eventually, ignored_under_emulation, is_emulated, run, run_with, shell,
};

fn plain(text: &str) -> Command {
    Command::parse(text, false).unwrap()
}

/// Creates an executable file with arbitrary content.
fn script(directory: &Path, text: &str) -> Command {
    let path = directory.join("script");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Command::new([path]).unwrap()
}

#[test]
fn all_of_this_by_the_portable_runner() {
    let lacking = [
        "peak_memory_is_the_programs_own_and_not_the_runners",
        "a_thousand_captured_runs_use_up_no_descriptors",
        "a_process_that_leaves_the_group_is_ended_when_asked_for_and_left_to_hooks",
        "what_nobody_waited_for_computed_counts_where_it_is_ended",
    ];
    common::again_by_the_portable_runner("runs::", &lacking);
}

#[test]
fn the_portable_runner_says_what_it_is_and_sets_nothing() {
    let mut runner = Runner::start_as(RunnerKind::Portable).unwrap();
    assert_eq!((runner.kind(), runner.launcher_process_id()), (RunnerKind::Portable, None));
    let d = tempfile::tempdir().unwrap();
    let source = "static volatile char p[50 << 20];\n\
                  int main(void){for(int i=0;i<50<<20;i+=512)p[i]=1;return 0;}";
    let large = runner.add(&Command::new([compile(d.path(), source, &[])]).unwrap()).unwrap();
    let result = runner.run(large, RunOptions::default()).unwrap();
    assert!(result.max_rss_bytes >= 50 << 20 && runner.memory_floor_bytes() > 0);
    assert!(result.minor_faults > 0);
    let mut niced = plain("true");
    niced.control.nice = Some(5);
    let error = runner.add(&niced).unwrap_err();
    assert!(matches!(error, MeasureError::Control { setting: Setting::Nice, .. }), "{error}");
}

#[test]
fn the_portable_runner_tells_a_directory_that_is_not_there_from_a_program() {
    if ignored_under_emulation(Emulated::Vfork) {
        return;
    }
    let mut runner = Runner::start_as(RunnerKind::Portable).unwrap();
    let mut lost = plain("true");
    lost.cwd = Some("/no/such/directory".into());
    let lost = runner.add(&lost).unwrap();
    let error = runner.run(lost, RunOptions::default()).unwrap_err();
    assert!(matches!(error, MeasureError::Directory { .. }), "{error}");
}

#[test]
fn a_thousand_runs_by_the_portable_runner_use_up_no_descriptors() {
    let mut runner = Runner::start_as(RunnerKind::Portable).unwrap();
    let mut command = shell("echo out; echo err >&2");
    command.output = Output::Pipe;
    command.samples = Channel::Descriptor;
    let subject = runner.add(&command).unwrap();
    let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
    let one = |runner: &mut Runner| {
        let result = runner.run(subject, options).unwrap();
        assert_eq!(result.stderr_tail.as_deref(), Some("err\n"));
    };
    // Concurrent tests open some as well.
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    for _ in 0..1000 {
        one(&mut runner);
    }
    assert!(open() < before + 500);
}

#[test]
fn an_exit_status_and_a_signal_come_back_as_they_were() {
    assert_eq!(run(&plain("true")).outcome, Outcome::Exited(0));
    assert_eq!(run(&shell("exit 77")).outcome, Outcome::Exited(77));
    assert_eq!(run(&shell("kill -SEGV $$")).outcome, Outcome::Signalled(11));
    assert_eq!(run(&shell("kill -KILL $$")).outcome, Outcome::Signalled(9));
}

#[test]
fn a_longer_sleep_takes_longer_and_costs_no_processor_time() {
    let mut runner = Runner::start().unwrap();
    let short = runner.add(&plain("sleep 0.01")).unwrap();
    let long = runner.add(&plain("sleep 0.02")).unwrap();
    let mut before = 0.0;
    for _ in 0..5 {
        let s = runner.run(short, RunOptions::default()).unwrap();
        let l = runner.run(long, RunOptions::default()).unwrap();
        assert!(s.wall_seconds >= 0.01 && l.wall_seconds >= 0.02);
        assert!(l.user_seconds + l.system_seconds < l.wall_seconds);
        assert!(s.started_seconds > before && l.started_seconds >= s.started_seconds + 0.01);
        before = l.started_seconds + 0.02;
    }
}

#[test]
fn a_busy_program_spends_its_time_on_the_processor() {
    let d = tempfile::tempdir().unwrap();
    let source = "#include <time.h>\nint main(void){while(clock() < CLOCKS_PER_SEC/10);return 0;}";
    let result = run(&Command::new([compile(d.path(), source, &[])]).unwrap());
    let cpu = result.user_seconds + result.system_seconds;
    assert!(cpu >= 0.099, "{cpu}");
    assert!(cpu <= result.wall_seconds * 1.05, "{result:?}");
}

#[test]
fn peak_memory_is_the_programs_own_and_not_the_runners() {
    if ignored_under_emulation(Emulated::Peak) {
        return;
    }
    let ballast = vec![1_u8; 64 << 20];
    let d = tempfile::tempdir().unwrap();
    let mut runner = Runner::start().unwrap();
    let floor = runner.memory_floor_bytes();
    assert!(floor > 0 && floor < 500 * 1024, "{floor}");
    let tiny = compile(d.path(), "int main(void){return 0;}", &["-static"]);
    let tiny = runner.add(&Command::new([tiny]).unwrap()).unwrap();
    let result = runner.run(tiny, RunOptions::default()).unwrap();
    assert!(result.max_rss_bytes <= 700 * 1024, "{}", result.max_rss_bytes);
    assert!(result.max_rss_bytes >= floor);
    let d = tempfile::tempdir().unwrap();
    let source = "static volatile char p[50 << 20];\n\
                  int main(void){for(int i=0;i<50<<20;i+=512)p[i]=1;return 0;}";
    let large = runner.add(&Command::new([compile(d.path(), source, &[])]).unwrap()).unwrap();
    let result = runner.run(large, RunOptions::default()).unwrap();
    assert!(result.max_rss_bytes >= 50 << 20 && result.max_rss_bytes < 60 << 20);
    assert!(result.minor_faults > 0);
    assert_eq!(ballast[ballast.len() / 2], 1);
}

#[test]
fn the_padding_is_as_long_as_asked_and_is_not_inherited_by_the_next_run() {
    let d = tempfile::tempdir().unwrap();
    let mut command = shell("printf '%s %s' ${#ASSAY_PAD} \"$OTHER\"");
    command.env.push(("OTHER".to_owned(), "kept".to_owned()));
    command.env.push(("ASSAY_PAD".to_owned(), "not ours".to_owned()));
    command.output = Output::File(d.path().join("out"));
    let mut runner = Runner::start().unwrap();
    let subject = runner.add(&command).unwrap();
    for (pad, expected) in [(0, 0), (1, 1), (4095, 4095), (9, 9), (65535, 4095), (10, 10)] {
        let options = RunOptions { pad, ..RunOptions::default() };
        assert!(runner.run(subject, options).unwrap().outcome.is_success());
        let said = fs::read_to_string(d.path().join("out")).unwrap();
        assert_eq!(said, format!("{expected} kept"));
    }
    // All characters are the letter x.
    let mut command = shell("test -z \"$(printf %s \"$ASSAY_PAD\" | tr -d x)\"");
    command.output = Output::Inherit;
    let subject = runner.add(&command).unwrap();
    for pad in [4095, 0, 300] {
        let options = RunOptions { pad, ..RunOptions::default() };
        assert!(runner.run(subject, options).unwrap().outcome.is_success());
    }
}

#[test]
fn a_variable_of_the_command_replaces_the_inherited_one() {
    let command = plain("HOME=/first HOME=/there sh -c 'test \"$HOME\" = /there'");
    assert!(run(&command).outcome.is_success());
    let mut command = shell("env | grep -c ^HOME= | grep -qx 1");
    command.env.push(("HOME".to_owned(), "/x".to_owned()));
    assert!(run(&command).outcome.is_success());
}

#[test]
fn input_directory_and_output_are_made_ready_for_every_run_anew() {
    let d = tempfile::tempdir().unwrap();
    fs::write(d.path().join("in"), "one\ntwo\n").unwrap();
    let mut command = plain("sh -c 'pwd; cat'");
    command.cwd = Some(d.path().to_owned());
    command.input = Input::File("in".into());
    command.output = Output::File("out".into());
    let mut runner = Runner::start().unwrap();
    let subject = runner.add(&command).unwrap();
    let elsewhere = runner.add(&shell("test \"$(pwd)\" = \"$HERE\" && ! read x")).unwrap();
    for _ in 0..3 {
        assert!(runner.run(subject, RunOptions::default()).unwrap().outcome.is_success());
        let said = fs::read_to_string(d.path().join("out")).unwrap();
        assert_eq!(said, format!("{}\none\ntwo\n", d.path().canonicalize().unwrap().display()));
    }
    // The next subject has its own directory and no input.
    let result = runner.run(elsewhere, RunOptions::default()).unwrap();
    assert_eq!(result.outcome, Outcome::Exited(1), "HERE is not set, so the comparison fails");
    let here = std::env::current_dir().unwrap();
    let mut command = shell("test \"$(pwd -P)\" = \"$HERE\" && ! read x");
    command.env.push(("HERE".to_owned(), here.display().to_string()));
    let elsewhere = runner.add(&command).unwrap();
    assert!(runner.run(subject, RunOptions::default()).unwrap().outcome.is_success());
    assert!(runner.run(elsewhere, RunOptions::default()).unwrap().outcome.is_success());
}

#[test]
fn a_command_gets_descriptors_0_1_2_and_nothing_that_assay_inherited() {
    let d = tempfile::tempdir().unwrap();
    let leak = fs::File::create(d.path().join("leak")).unwrap();
    // Simulates a descriptor leaked by the process that started assay.
    rustix::io::fcntl_setfd(leak.as_fd(), rustix::io::FdFlags::empty()).unwrap();
    let mut command = plain("ls -l /proc/self/fd");
    command.output = Output::File(d.path().join("out"));
    let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
    assert!(run_with(&command, options).unwrap().outcome.is_success());
    let said = fs::read_to_string(d.path().join("out")).unwrap();
    // 3 is the directory that ls itself reads.
    let numbers: Vec<&str> = said
        .lines()
        .filter_map(|line| line.split_once(" -> ")?.0.rsplit_once(' '))
        .map(|(_, number)| number)
        .collect();
    assert_eq!(numbers, ["0", "1", "2", "3"], "{said}");
    assert!(said.contains("0 -> /dev/null") && said.contains("2 -> pipe:"), "{said}");
}

#[test]
fn a_command_starts_with_default_signals_and_nothing_blocked() {
    let d = tempfile::tempdir().unwrap();
    let mut command = plain("sed -n /^Sig/p /proc/self/status");
    command.output = Output::File(d.path().join("out"));
    assert!(run(&command).outcome.is_success());
    let mut said = fs::read_to_string(d.path().join("out")).unwrap();
    if is_emulated(Emulated::Time) {
        // Signals reserved by the emulator stay ignored if its parent ignored them, as make does.
        said = said.replace("0000000080000000", "0000000000000000");
        said = said.replace("0000000680000000", "0000000600000000");
    }
    if RunnerKind::chosen().unwrap() == RunnerKind::Portable {
        // Two signals reserved by glibc: its `posix_spawn` leaves them ignored, and only the
        // program's own C library uses them.
        said = said.replace("0000000180000000", "0000000000000000");
        if is_emulated(Emulated::Time) {
            // The emulator uses other numbers for them.
            said = said.replace("0000000600000000", "0000000000000000");
        }
    }
    for name in ["SigBlk", "SigIgn", "SigCgt"] {
        assert!(said.contains(&format!("{name}:\t0000000000000000")), "{said}");
    }
    // A reader that leaves ends the writer, as in any pipeline.
    let result = run(&shell("yes | head -n 1 >/dev/null; sh -c 'kill -PIPE $$'; test $? -gt 128"));
    assert!(result.outcome.is_success());
}

#[test]
fn a_command_leads_a_process_group_of_its_own() {
    let result = run(&shell("read -r _ _ _ _ group _ < /proc/$$/stat; test $group = $$"));
    assert!(result.outcome.is_success());
}

#[test]
fn a_program_that_closes_its_descriptors_is_measured_like_any_other() {
    let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
    let mut command = shell("exec 0<&- 1>&- 2>&-; exit 5");
    command.output = Output::Pipe;
    let result = run_with(&command, options).unwrap();
    assert_eq!(result.outcome, Outcome::Exited(5));
    assert_eq!((result.output_bytes, result.stderr_tail.as_deref()), (Some(0), Some("")));
}

#[test]
fn a_huge_output_is_counted_to_the_byte() {
    let mut command = shell("head -c 30000001 /dev/zero");
    command.output = Output::Pipe;
    let result = run(&command);
    assert!(result.outcome.is_success());
    assert_eq!(result.output_bytes, Some(30_000_001));
    assert_eq!(run(&shell("echo x")).output_bytes, None);
}

#[test]
fn of_a_long_standard_error_the_last_is_kept() {
    let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
    let line = "head -c 10485760 /dev/zero | tr '\\0' 'a' >&2; echo the end >&2; exit 1";
    let result = run_with(&shell(line), options).unwrap();
    let tail = result.stderr_tail.unwrap();
    assert_eq!(result.outcome, Outcome::Exited(1));
    assert!(tail.ends_with("aaa\nthe end\n".trim_start_matches("aaa\n")) && tail.len() == 4096);
    assert!(tail.starts_with('a'));
    assert_eq!(run(&shell("echo x >&2")).stderr_tail, None);
}

#[test]
fn both_outputs_can_be_read_at_once() {
    let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
    let mut command = shell(
        "for i in 1 2 3 4 5; do head -c 200000 /dev/zero; head -c 200000 /dev/zero >&2; done",
    );
    command.output = Output::Pipe;
    let result = run_with(&command, options).unwrap();
    assert_eq!(result.output_bytes, Some(1_000_000));
    assert_eq!(result.stderr_tail.unwrap().len(), 4096);
}

#[test]
fn a_run_that_takes_too_long_is_asked_to_end_and_reported() {
    let options = RunOptions { timeout: Some(Duration::from_millis(50)), ..RunOptions::default() };
    let result = run_with(&plain("sleep 60"), options).unwrap();
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert!(result.wall_seconds >= 0.05 && result.wall_seconds < 5.0, "{result:?}");
    assert!(result.max_rss_bytes > 0);
    // A later run has its full time, and a run within its time limit is not affected.
    let options = RunOptions { timeout: Some(Duration::from_secs(50)), ..options };
    assert!(run_with(&plain("sleep 0.1"), options).unwrap().outcome.is_success());
}

#[test]
fn a_run_that_does_not_listen_is_killed_after_a_second() {
    let options = RunOptions { timeout: Some(Duration::from_millis(50)), ..RunOptions::default() };
    let result = run_with(&shell("trap '' TERM; while :; do sleep 0.1; done"), options).unwrap();
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert!(result.wall_seconds >= 1.05 && result.wall_seconds < 10.0, "{result:?}");
    let result = run_with(&shell("kill -STOP $$; exit 3"), options).unwrap();
    assert_eq!(result.outcome, Outcome::TimedOut);
}

#[test]
fn an_empty_timeout_is_the_shortest_and_not_none() {
    let options = RunOptions { timeout: Some(Duration::ZERO), ..RunOptions::default() };
    assert_eq!(run_with(&plain("sleep 60"), options).unwrap().outcome, Outcome::TimedOut);
}

#[test]
fn what_outlives_its_parent_in_the_group_is_ended_and_reported() {
    let d = tempfile::tempdir().unwrap();
    let file = d.path().join("pid");
    let line = format!("sh -c 'echo $$ > {}; exec sleep 300' & sleep 0.05", file.display());
    for last_words in [LastWords::Unheard, LastWords::Piped, LastWords::Filed] {
        let options = RunOptions { last_words, ..RunOptions::default() };
        let start = Instant::now();
        let result = run_with(&shell(&line), options).unwrap();
        assert!(result.outcome.is_success() && result.left_behind);
        assert!(start.elapsed() < Duration::from_secs(20));
        let pid = common::written_pid(&file);
        common::eventually(|| (!alive(pid)).then_some(()));
    }
    assert!(!run(&shell("sleep 0.01 & wait")).left_behind);
}

#[test]
fn the_last_words_of_a_run_are_not_those_of_an_earlier_one() {
    let mut runner = Runner::start().unwrap();
    let options =
        RunOptions { last_words: LastWords::Filed, end_strays: true, ..RunOptions::default() };
    let loud = runner.add(&shell("echo loud >&2")).unwrap();
    let silent = runner.add(&plain("true")).unwrap();
    let told: Vec<Option<String>> = [silent, silent, loud, loud, silent, loud]
        .into_iter()
        .map(|subject| runner.run(subject, options).unwrap().stderr_tail)
        .collect();
    let expected = ["", "", "loud\n", "loud\n", "", "loud\n"];
    assert_eq!(told, expected.map(|tail| Some(tail.to_owned())));
}

#[test]
fn a_dismissed_runner_has_ended_by_the_time_it_is_dropped() {
    let mut runner = Runner::start().unwrap();
    let subject = runner.add(&plain("true")).unwrap();
    runner.run(subject, RunOptions::default()).unwrap();
    let launcher = runner.launcher_process_id();
    runner.dismiss();
    drop(runner);
    assert!(launcher.is_none_or(|pid| !Path::new(&format!("/proc/{pid}")).exists()));
}

#[test]
fn a_daemon_in_a_session_of_its_own_is_left_alone() {
    let d = tempfile::tempdir().unwrap();
    let file = d.path().join("pid");
    let line = format!(
        "setsid sh -c 'echo $$ > {0}; exec sleep 300' & until test -s {0}; do sleep 0.01; done",
        file.display()
    );
    let result = run(&shell(&line));
    let pid = common::written_pid(&file);
    let lives = alive(pid);
    let daemon = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(daemon, rustix::process::Signal::KILL).unwrap();
    assert!(lives && !result.left_behind);
}

fn alive(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z")))
}

#[test]
fn a_program_that_cannot_be_run_is_an_error_that_says_why() {
    let mut input = plain("cat");
    input.input = Input::File("/no/such/input".into());
    let error = run_with(&input, RunOptions::default()).unwrap_err();
    assert!(error.to_string().contains("/no/such/input"), "{error}");
    let mut output = plain("true");
    output.output = Output::File("/no/such/output".into());
    let error = run_with(&output, RunOptions::default()).unwrap_err();
    assert!(matches!(error, MeasureError::Output { .. }), "{error}");
}

#[test]
fn an_exec_that_fails_is_an_error_that_says_why() {
    if ignored_under_emulation(Emulated::Vfork) {
        return;
    }
    let d = tempfile::tempdir().unwrap();
    let text = script(d.path(), "echo x\n");
    let error = run_with(&text, RunOptions::default()).unwrap_err();
    assert!(matches!(error, MeasureError::Resolve(ResolveError::UnknownFormat { .. })), "{error}");
    let lost = script(d.path(), "#!/no/such/interpreter\n");
    let error = run_with(&lost, RunOptions::default()).unwrap_err();
    assert!(error.to_string().contains("/no/such/interpreter"), "{error}");
    let long = Command::new(["true".to_owned(), "x".repeat(200_000)]).unwrap();
    let error = run_with(&long, RunOptions::default()).unwrap_err();
    assert!(error.to_string().contains("longer than the system allows"), "{error}");
}

#[test]
fn after_an_error_the_runner_goes_on_with_nothing_left_over() {
    let d = tempfile::tempdir().unwrap();
    let mut broken = plain("true");
    broken.output = Output::File(d.path().join("gone/out"));
    broken.input = Input::File("/dev/zero".into());
    let mut runner = Runner::start().unwrap();
    let broken = runner.add(&broken).unwrap();
    let good = runner.add(&shell("! read x")).unwrap();
    for _ in 0..3 {
        assert!(runner.run(broken, RunOptions::default()).is_err());
        assert!(runner.run(good, RunOptions::default()).unwrap().outcome.is_success());
    }
}

#[test]
fn a_thousand_captured_runs_use_up_no_descriptors() {
    let mut runner = Runner::start().unwrap();
    let mut command = shell("echo out; echo err >&2");
    command.output = Output::Pipe;
    let subject = runner.add(&command).unwrap();
    let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
    let pid = runner.launcher_process_id().unwrap();
    let open = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let before = open();
    for _ in 0..1000 {
        let result = runner.run(subject, options).unwrap();
        assert_eq!(result.stderr_tail.as_deref(), Some("err\n"));
        assert_eq!(result.output_bytes, Some(4));
    }
    assert_eq!(open(), before);
}

#[test]
fn a_hook_is_run_by_a_shell_and_tells_why_it_failed() {
    let d = tempfile::tempdir().unwrap();
    let mut runner = Runner::start().unwrap();
    let mark = d.path().join("mark");
    let line = format!("echo x | tr x y > {}", mark.display());
    for _ in 0..3 {
        hooks::run(&mut runner, "--setup", &line).unwrap();
        assert_eq!(fs::read_to_string(&mark).unwrap(), "y\n");
    }
    let error = hooks::run(&mut runner, "--prepare", "echo no luck >&2; exit 4").unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("--prepare")
            && said.contains("exited with status 4")
            && said.contains("no luck"),
        "{said}"
    );
    let error = hooks::run(&mut runner, "--setup", "sleep 300 &").unwrap_err();
    assert!(error.to_string().contains("setsid"), "{error}");
    assert!(hooks::run(&mut runner, "--setup", " ").is_err());
}

#[test]
fn a_program_that_wants_the_terminal_is_ended_and_reported() {
    // `script` provides a terminal; without it, nothing can be tested here.
    if !Path::new("/usr/bin/script").exists() {
        return;
    }
    let observe = common::example("observe");
    let line = format!("{} sh -c 'read x < /dev/tty'", observe.display());
    let start = Instant::now();
    let output = std::process::Command::new("/usr/bin/script")
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("WantedTerminal"), "{said}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn what_nobody_waited_for_computed_counts_where_it_is_ended() {
    if ignored_under_emulation(Emulated::Orphans) {
        return;
    }
    let mut runner = Runner::start().unwrap();
    let computes = "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done) & exec sleep 1";
    let id = runner.add(&shell(computes)).unwrap();
    let mut computed = |end_strays| {
        let options = RunOptions { end_strays, ..RunOptions::default() };
        runner.run(id, options).unwrap().user_seconds
    };
    let (with, without) = (computed(true), computed(false));
    assert!(with > 0.02 && without < 0.02, "{with} s, {without} s");
}

#[test]
fn a_process_that_leaves_the_group_is_ended_when_asked_for_and_left_to_hooks() {
    if ignored_under_emulation(Emulated::Orphans) {
        return;
    }
    let mut runner = Runner::start().unwrap();
    let line = |seconds: u32| format!("setsid -f sleep {seconds}");
    for (seconds, end_strays) in [(4711, true), (4712, false)] {
        let id = runner.add(&shell(&line(seconds))).unwrap();
        let options = RunOptions { end_strays, ..RunOptions::default() };
        let result = runner.run(id, options).unwrap();
        assert_eq!(result.outcome, Outcome::Exited(0));
        assert_eq!(result.left_behind, end_strays);
        let alive = || running(&format!("sleep\0{seconds}\0"));
        if end_strays {
            assert!(alive().is_empty(), "sleep {seconds}");
            continue;
        }
        // The line may end before the process has changed its state.
        let left = eventually(|| Some(alive()).filter(|alive| !alive.is_empty()));
        for process in left {
            run(&shell(&format!("kill {process}")));
        }
    }
}

#[test]
fn a_command_that_stops_itself_is_ended_and_named() {
    let mut runner = Runner::start().unwrap();
    let id = runner.add(&shell("kill -STOP $$")).unwrap();
    let result = runner.run(id, RunOptions::default()).unwrap();
    assert_eq!(result.outcome, Outcome::Stopped);
    // A run that is continued in time proceeds.
    let id =
        runner.add(&shell("(sleep 0.2; kill -CONT $$) & kill -STOP $$; wait; exit 3")).unwrap();
    assert_eq!(runner.run(id, RunOptions::default()).unwrap().outcome, Outcome::Exited(3));
}

/// Returns the processes with this command line, each word terminated by a zero byte.
fn running(words: &str) -> Vec<String> {
    let of = |entry: fs::DirEntry| {
        let found = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        (found == words).then(|| entry.file_name().to_string_lossy().into_owned())
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(of).collect()
}
