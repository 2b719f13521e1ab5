//! Starts one process, waits for it, and ends it at its time limit or when the user interrupts.
//! Nothing is left running, even if `assay` is killed: in that case a guard kills the process
//! group, which contains both the sampler and the program that it has started. Only processes that
//! create a separate session, as daemons do, escape this.

use super::SamplingError;
use super::ended::ProcessEnd;
use crate::interrupt;
use crate::runner::Outcome;
use crate::sys::launcher::Launcher;
use crate::sys::{child, clock, processes, usage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, pidfd_open,
    set_child_subreaper, waitid, waitpid,
};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time that a process has to write its data after it was asked to stop.
const GRACE: Duration = Duration::from_secs(20);
/// Time that remaining processes have to end.
const LAST_GRACE: Duration = Duration::from_secs(2);
/// Maximum time to wait for the shell around a program to write the exit status, which takes longer
/// on a busy machine.
const FILE_GRACE: Duration = Duration::from_secs(1);
/// Interval between checks for remaining processes.
const PAUSE: Duration = Duration::from_millis(5);
/// Longest sleep, because a signal that arrives between the check and the sleep does not wake us.
const LOOK: Duration = Duration::from_millis(500);
/// Number of bytes of the output that are kept, counted from its end.
const TAIL: u64 = 2000;

/// Redirects the standard streams of a command. Standard input is empty. Without `show`, standard
/// output is discarded and standard error is kept in the file at `path`. With `show`, both go to
/// our standard error, because our own standard output is for data.
pub(super) fn direct(
    command: &mut Command,
    path: &Path,
    show: bool,
) -> Result<File, SamplingError> {
    let failed = |source| SamplingError::Files { path: path.to_owned(), source };
    let said = File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(path)
        .map_err(failed)?;
    command.stdin(Stdio::null());
    if show {
        let shown = || io::stderr().as_fd().try_clone_to_owned().map(Stdio::from).map_err(failed);
        command.stdout(shown()?).stderr(shown()?);
    } else {
        command.stdout(Stdio::null()).stderr(said.try_clone().map_err(failed)?);
    }
    Ok(said)
}

/// Runs a command until it ends. `status` is a file that the shell around the program writes,
/// perhaps after the process has ended.
pub(super) fn run(
    mut command: Command,
    stop_by: Signal,
    duration: Option<Duration>,
    said: &File,
    status: Option<&Path>,
) -> Result<ProcessEnd, SamplingError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source: io::Error| SamplingError::Start { program: program.clone(), source };
    // Processes that a sampler leaves behind become our children, where they can be found.
    set_child_subreaper(Some(getpid())).map_err(|error| failed(error.into()))?;
    let guard = Launcher::start_as_guard().map_err(failed)?;
    // Note: the sampler leads its own session, so that the guard can kill its whole group. A signal
    // to the sampler alone would leave the program running.
    child::end_with_us_as_session(&mut command, Arc::clone(guard.page()));
    // Children that already exist are left alone.
    let others = children();
    let (cpu_before, count_before) = (usage::children_cpu_seconds(), interrupt::count());
    let began = clock::monotonic_ns();
    let started = command.spawn().map_err(|error| {
        guard.page().set_group(0);
        failed(error)
    })?;
    let process = Pid::from_child(&started);
    let waited = wait(process, stop_by, duration, count_before);
    let wall_seconds = (clock::monotonic_ns() - began) as f64 * 1e-9;
    // The status of a program that was ended here is meaningless.
    let ended_itself = duration.is_none() && interrupt::count() == count_before;
    if let Some(status) = status.filter(|_| ended_itself) {
        await_file(status, &others);
    }
    end_what_is_left(&others);
    // From here on, the process ID may be reused.
    guard.page().set_group(0);
    let (outcome, leader_cpu_seconds) = waited.map_err(failed)?;
    Ok(ProcessEnd {
        outcome,
        leader_cpu_seconds,
        wall_seconds,
        cpu_seconds: usage::children_cpu_seconds() - cpu_before,
        interrupted: interrupt::count() > count_before,
        said: tail(said),
    })
}

/// Waits for a process to end, and returns its outcome and its own processor time. When the time is
/// up or the user interrupts, asks the process to end, more forcefully each time.
fn wait(
    process: Pid,
    stop_by: Signal,
    duration: Option<Duration>,
    mut handed_on: u32,
) -> io::Result<(Outcome, f64)> {
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    let began = Instant::now();
    let mut end_by = duration.map(|duration| began + duration);
    let mut asked = 0;
    loop {
        // This is also checked before the wait, because a signal that arrived while the program was
        // being started no longer wakes us.
        let count = interrupt::count();
        if count > handed_on {
            // The process has its own session, so it does not receive signals from the terminal.
            tell(process, asking(asked, stop_by));
            (handed_on, asked) = (count, asked + 1);
            end_by = Some(Instant::now() + GRACE);
        }
        if end_by.is_some_and(|end| end <= Instant::now()) {
            tell(process, asking(asked, stop_by));
            asked += 1;
            end_by = Some(Instant::now() + GRACE);
        }
        // The processor time of an ended process can be read until the process is waited for.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(process), look) {
            Ok(Some(_)) => {
                let id = process.as_raw_nonzero().get().unsigned_abs();
                let own = processes::own_cpu_seconds(id).unwrap_or(0.0);
                match waitpid(Some(process), WaitOptions::empty()) {
                    Ok(Some((_, status))) => {
                        return Ok((Outcome::of_status(status.as_raw()), own));
                    }
                    Ok(None) | Err(Errno::INTR) => continue,
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let left = end_by.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
        let left = left.min(LOOK);
        let left = Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&left)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the signal to send next: first the one that makes the process write its data, then one
/// to end it, then SIGKILL.
fn asking(asked: u32, stop_by: Signal) -> Signal {
    match asked {
        0 => stop_by,
        1 => Signal::TERM,
        _ => Signal::KILL,
    }
}

fn tell(process: Pid, signal: Signal) {
    // The process may have ended in the meantime.
    let _gone = kill_process(process, signal);
}

/// Waits until the file has content, no process is left that could write it, or `FILE_GRACE` has
/// passed.
fn await_file(file: &Path, others: &[Pid]) {
    let began = Instant::now();
    let is_written = || fs::metadata(file).is_ok_and(|file| file.len() > 0);
    while !is_written() && began.elapsed() < FILE_GRACE && !left_running(others).is_empty() {
        sleep(PAUSE);
    }
}

/// Returns our running children, except `others`. Children that have ended are reaped.
fn left_running(others: &[Pid]) -> Vec<Pid> {
    loop {
        let mut left = children();
        left.retain(|process| !others.contains(process));
        let found = left.len();
        left.retain(|&process| !matches!(waitpid(Some(process), WaitOptions::NOHANG), Ok(Some(_))));
        // If a process ended during the check, its children have become ours since then.
        if !left.is_empty() || found == 0 {
            return left;
        }
    }
}

/// Ends processes that are left running. Each is first asked to end; later, all that remain are
/// killed. Processes that become orphans in the meantime are found as well.
fn end_what_is_left(others: &[Pid]) {
    let mut asked = Vec::new();
    let began = Instant::now();
    loop {
        let left = left_running(others);
        if left.is_empty() {
            return;
        }
        if began.elapsed() > LAST_GRACE {
            left.iter().for_each(|&process| tell(process, Signal::KILL));
        }
        for process in left {
            if !asked.contains(&process) {
                tell(process, Signal::TERM);
                asked.push(process);
            }
        }
        sleep(PAUSE);
    }
}

/// Returns the IDs of all children of this process.
fn children() -> Vec<Pid> {
    let own = getpid();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|process| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // The process name is in parentheses and may contain any characters.
            let behind = stat.rfind(')').map_or("", |end| &stat[end + 1..]);
            let parent = behind.split_whitespace().nth(1).and_then(|parent| parent.parse().ok());
            parent == Some(own.as_raw_nonzero().get())
        })
        .filter_map(Pid::from_raw)
        .collect()
}

/// Returns the end of the output. Invalid UTF-8 is replaced.
fn tail(mut said: &File) -> String {
    let length = said.metadata().map_or(0, |file| file.len());
    let mut bytes = Vec::new();
    let read = said
        .seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .and_then(|_| said.read_to_end(&mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        // The output only explains errors. Everything else is valid without it.
        Err(_) => String::new(),
    }
}
