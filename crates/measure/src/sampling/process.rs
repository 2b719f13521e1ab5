//! Starts one process, waits for it, ends it when time is up or the user interrupts, and leaves nothing of it behind: not even when `assay` is
//! killed, for then a guard kills the process's group, in which a sampler and the program that it has started both are. Who makes a
//! session of its own, as daemons do, escapes that.

use super::SamplingError;
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

/// How long a process may take to write what it has, once it was told to stop.
const GRACE: Duration = Duration::from_secs(20);
/// How long what was left behind may take to end.
const LAST_GRACE: Duration = Duration::from_secs(2);
/// A signal that comes between the look for one and the sleep wakes nobody: no sleep is longer than this.
const LOOK: Duration = Duration::from_millis(500);
/// So much of what was said is kept, from its end.
const TAIL: u64 = 2000;

/// How a run ended, and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// From start to end, s.
    pub wall_seconds: f64,
    /// Processor time of all that ran, a sampler beside the program included, s.
    pub cpu_seconds: f64,
    /// Of that the part of the process that was started, without its children, s: the sampler's, where it started the program.
    pub leader_cpu_seconds: f64,
    /// Whether the user interrupted.
    pub interrupted: bool,
    /// The end of what was said on standard error.
    pub said: String,
}

/// Directs input and output: nothing to read; what is printed is thrown away, or shown on standard error, since standard output is for
/// data. What is said on standard error is kept, or shown.
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

/// Runs it to its end.
pub(super) fn run(
    mut command: Command,
    stop_by: Signal,
    duration: Option<Duration>,
    said: &File,
) -> Result<Ended, SamplingError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source: io::Error| SamplingError::Start { program: program.clone(), source };
    // Whatever a sampler leaves behind becomes a child of ours, where it can be found.
    set_child_subreaper(Some(getpid())).map_err(|error| failed(error.into()))?;
    let guard = Launcher::start_as_guard().map_err(failed)?;
    child::end_with_us_as_session(&mut command, Arc::clone(guard.page()));
    // Whoever is our child already is somebody else's business here.
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
    end_what_is_left(&others);
    // Its number may be given anew from here on.
    guard.page().set_group(0);
    let (outcome, leader_cpu_seconds) = waited.map_err(failed)?;
    Ok(Ended {
        outcome,
        leader_cpu_seconds,
        wall_seconds,
        cpu_seconds: usage::children_cpu_seconds() - cpu_before,
        interrupted: interrupt::count() > count_before,
        said: tail(said),
    })
}

/// Waits for the end, of which it returns how it came and the processor time of the process itself; asks for it when time is up or the user interrupts, and does not ask for ever.
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
        // Before the wait, too: a signal that came while the program was being started wakes nobody any more.
        let count = interrupt::count();
        if count > handed_on {
            // In a session of its own no signal from the terminal reaches it.
            tell(process, asking(asked, stop_by));
            (handed_on, asked) = (count, asked + 1);
            end_by = Some(Instant::now() + GRACE);
        }
        if end_by.is_some_and(|end| end <= Instant::now()) {
            tell(process, asking(asked, stop_by));
            asked += 1;
            end_by = Some(Instant::now() + GRACE);
        }
        // The accounting of an ended process can be read until it is waited for.
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

/// First that it writes what it has, then that it ends, then that it is gone.
fn asking(asked: u32, stop_by: Signal) -> Signal {
    match asked {
        0 => stop_by,
        1 => Signal::TERM,
        _ => Signal::KILL,
    }
}

fn tell(process: Pid, signal: Signal) {
    // It may have ended at this very moment; then there is nobody to tell.
    let _gone = kill_process(process, signal);
}

/// Ends what the process left running: asked first, then killed, and waited for.
fn end_what_is_left(others: &[Pid]) {
    let mut asked = false;
    let began = Instant::now();
    loop {
        let mut left = children();
        left.retain(|process| !others.contains(process));
        // One that has ended is only waited for.
        left.retain(|&process| !matches!(waitpid(Some(process), WaitOptions::NOHANG), Ok(Some(_))));
        if left.is_empty() {
            return;
        }
        let patience_is_over = began.elapsed() > LAST_GRACE;
        if !asked || patience_is_over {
            let signal = if patience_is_over { Signal::KILL } else { Signal::TERM };
            left.iter().for_each(|&process| tell(process, signal));
            asked = true;
        }
        sleep(Duration::from_millis(5));
    }
}

/// The children of this process.
fn children() -> Vec<Pid> {
    let own = getpid();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|process| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // The name stands in parentheses and may hold anything.
            let behind = stat.rfind(')').map_or("", |end| &stat[end + 1..]);
            let parent = behind.split_whitespace().nth(1).and_then(|parent| parent.parse().ok());
            parent == Some(own.as_raw_nonzero().get())
        })
        .filter_map(Pid::from_raw)
        .collect()
}

/// The end of what was said; what is no text is replaced.
fn tail(mut said: &File) -> String {
    let length = said.metadata().map_or(0, |file| file.len());
    let mut bytes = Vec::new();
    let read = said
        .seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .and_then(|_| said.read_to_end(&mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        // It only explains; without it the rest still holds.
        Err(_) => String::new(),
    }
}
