//! The engine for systems without the launcher: a thread of this process starts a command with
//! `posix_spawn`, waits for it with `wait4`, and reads the clock just before and just after.
//!
//! Its measurements include somewhat more overhead than the launcher's: the preparations of
//! `posix_spawn` are timed as well, and peak memory can't be observed below that of `assay` itself.
//! Processes that move to a separate session are not tracked. Process settings and event counts are
//! not supported. The current run does not outlive `assay`, even if `assay` is killed: the run's
//! group is stored in a file for a shell that waits until we end.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use assay_data::private;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process_group};

use super::engine::{Engine, GRACE_NS, Trouble, end_if_asked};
use super::{RunOptions, Watching};
use crate::afterwards::Afterwards;
use crate::capture::{Capture, Writers};
use crate::control::{Control, Setting};
use crate::descriptors;
use crate::error::MeasureError;
use crate::group::{Group, InFlight};
use crate::interrupt;
use crate::prepared::{PADDING, Prepared};
use crate::room::Room;
use crate::sys::clock::monotonic_ns;
use crate::sys::signals;
use crate::sys::waiting::{self, Change};
use crate::wire::{MOST_PADDING, OutputMode, Reply, Step};

/// Interval at which to check whether a run has stopped itself, if nothing else happens.
const PULSE: Duration = Duration::from_secs(1);
/// Time, in nanoseconds, after which a run that has stopped itself is killed if nobody continues
/// it.
const MOST_STOPPED_NS: u64 = 5_000_000_000;
/// Number of naps during which processes left in a run's group may end by themselves.
const NAPS: u32 = 20;
const NAP: Duration = Duration::from_micros(500);
/// Shell script that kills the group stored in the file `$1`. It runs when we are gone.
const END_GROUP: &str = "group=$(cat \"$1\") && [ \"$group\" -gt 1 ] && kill -9 \"-$group\"";

/// The portable engine.
pub(super) struct Portable {
    flight: Arc<Group>,
    guarded: Arc<Guarded>,
}

/// The current group, stored where a shell finds it when this process is gone.
struct Guarded {
    file: File,
    _shell: Afterwards,
    _room: Room,
}

impl Guarded {
    fn start() -> io::Result<Self> {
        let room = Room::of_session().map_err(|(_, error)| error)?;
        let path = room.path().join("group");
        let file = private::options().write(true).create_new(true).open(&path)?;
        file.write_all_at(&line_of(0), 0)?;
        let name = path.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        Ok(Self { file, _shell: Afterwards::run(END_GROUP, &[name], &[])?, _room: room })
    }

    /// Stores the group to end; 0 for none. A full disk does not prevent measuring: then the run
    /// may outlive a killed `assay`.
    fn remember(&self, group: i32) {
        let _unguarded = self.file.write_all_at(&line_of(group), 0);
    }
}

/// Formats a group as a line of fixed width.
fn line_of(group: i32) -> Vec<u8> {
    format!("{group:<11}\n").into_bytes()
}

impl Portable {
    pub(super) fn start() -> io::Result<Self> {
        // Programs inherit only descriptors that are passed to them.
        descriptors::close_on_exec();
        signals::keep_ignored_from_commands();
        Ok(Self { flight: Arc::default(), guarded: Arc::new(Guarded::start()?) })
    }
}

impl Engine for Portable {
    fn learn(&mut self, prepared: &Prepared) -> Result<(), Trouble> {
        match set(&prepared.control) {
            None => Ok(()),
            Some(setting) => Err(Trouble::Error(MeasureError::Control {
                program: prepared.program.clone(),
                setting,
                source: io::ErrorKind::Unsupported.into(),
                needs: "the launcher, which is for Linux; the portable runner sets nothing",
            })),
        }
    }

    fn run(
        &mut self,
        (_, prepared): (u32, &Prepared),
        options: RunOptions,
        mut watching: Option<Watching<'_>>,
    ) -> Result<(Reply, Capture), Trouble> {
        let signals_before = interrupt::count();
        let wanted = prepared.capture_request(&options).map_err(Trouble::Error)?;
        let (mut capture, writers) = Capture::open(wanted)?;
        let stopped = Arc::new(AtomicU64::new(0));
        let begun = Arc::new(AtomicU64::new(0));
        // The waiting thread holds the other end, so its end can be awaited together with other
        // events.
        let (ended, alive) = io::pipe()?;
        let run = Run {
            start: Start::of(prepared, options, writers),
            flight: Arc::clone(&self.flight),
            guarded: Arc::downgrade(&self.guarded),
            stopped: Arc::clone(&stopped),
            begun: Arc::clone(&begun),
        };
        let thread = std::thread::Builder::new().name("assay-run".to_owned()).spawn(move || {
            let reply = run.into_its_end();
            drop(alive);
            reply
        })?;
        let flight = Arc::clone(&self.flight);
        let mut patience = Patience::of(options);
        let (mut aborted, mut ended_at) = (false, None);
        loop {
            let looking = watching.as_ref().map(|watching| (watching.every, watching.also));
            let (every, also) = looking.unwrap_or((PULSE, &[]));
            // These are no longer read once the run has been asked to end.
            let also = if ended_at.is_none() { also } else { &[] };
            if has_ended(&ended, &capture, also, patience.sleep(every))? {
                break;
            }
            capture.read_some();
            // The first signal lets the run finish, and signals from before this run do not count.
            let signals = interrupt::count();
            if signals >= 2 && signals > signals_before {
                aborted = true;
                if !flight.kill_group() {
                    // The run is about to start, or is opening an input without a writer. Once its
                    // guard is gone, the thread starts nothing.
                    return Err(Trouble::Aborted);
                }
            }
            patience.begin(begun.load(Ordering::SeqCst));
            patience.lose(&flight, stopped.load(Ordering::SeqCst));
            if let Some(watching) = &mut watching {
                capture.bound();
                end_if_asked(watching, &capture, &flight, &mut ended_at);
            }
        }
        let mut reply = reply_of(thread)?;
        if aborted {
            return Err(Trouble::Error(MeasureError::Interrupted));
        }
        patience.judge(&mut reply);
        Ok((reply, capture))
    }

    fn memory_floor_bytes(&self) -> Option<u64> {
        Some(waiting::own_peak_memory_bytes())
    }

    fn process_id(&self) -> Option<u32> {
        None
    }

    fn in_flight(&self) -> Arc<dyn InFlight> {
        Arc::<Group>::clone(&self.flight)
    }
}

/// Returns the first requested setting.
fn set(control: &Control) -> Option<Setting> {
    let Control { cpus, fifo, nice, no_aslr } = control;
    let asked = [
        (!cpus.is_empty(), Setting::Pin),
        (fifo.is_some(), Setting::Fifo),
        (nice.is_some(), Setting::Nice),
        (*no_aslr, Setting::Aslr),
    ];
    asked.into_iter().find(|(asked, _)| *asked).map(|(_, setting)| setting)
}

fn reply_of(thread: JoinHandle<Reply>) -> Result<Reply, Trouble> {
    let lost = |_| MeasureError::Internal { what: "the thread that waits for a run".to_owned() };
    thread.join().map_err(|panic| Trouble::Error(lost(panic)))
}

/// Sleeps until the run has ended, a descriptor is readable, a signal arrives, or the time is up.
/// Returns true if the run has ended.
fn has_ended(
    ended: &impl AsFd,
    capture: &Capture,
    also: &[BorrowedFd<'_>],
    most: Duration,
) -> io::Result<bool> {
    let most = Timespec::try_from(most).map_err(|_| Errno::INVAL)?;
    let others = interrupt::waker().into_iter().chain(capture.pipes()).chain(also.iter().copied());
    let mut polled: Vec<PollFd<'_>> = std::iter::once(ended.as_fd())
        .chain(others)
        .map(|own| PollFd::from_borrowed_fd(own, PollFlags::IN))
        .collect();
    match poll(&mut polled, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let has_ended = !polled[0].revents().is_empty();
    interrupt::quieten();
    Ok(has_ended)
}

/// Time limits of a run.
struct Patience {
    timeout_ns: Option<u64>,
    began: u64,
    asked_at: Option<u64>,
    was_stopped: bool,
}

impl Patience {
    fn of(options: RunOptions) -> Self {
        // A timeout of zero is the shortest timeout, not the absence of one.
        let ns = |t: Duration| u64::try_from(t.as_nanos()).unwrap_or(u64::MAX).max(1);
        let (timeout_ns, began) = (options.timeout.map(ns), monotonic_ns());
        Self { timeout_ns, began, asked_at: None, was_stopped: false }
    }

    /// Counts the timeout from the time `at` at which the run began, rather than from that of the
    /// request. Does nothing if `at` is 0, which means that the run has not begun.
    fn begin(&mut self, at: u64) {
        self.began = self.began.max(at);
    }

    /// Returns the time until the next limit.
    fn sleep(&self, most: Duration) -> Duration {
        let due = match (self.asked_at, self.timeout_ns) {
            (Some(at), _) => at.saturating_add(GRACE_NS),
            (None, Some(timeout)) => self.began.saturating_add(timeout),
            (None, None) => return most,
        };
        let left = due.saturating_sub(monotonic_ns());
        // The wait never ends before the limit is reached. A run that ignored the request because
        // it had not begun is asked to end again.
        most.min(Duration::from_nanos(left).max(Duration::from_millis(1)))
    }

    /// Ends the run if a limit is reached. `stopped` is the time at which the run was stopped, or 0
    /// if it is not stopped.
    fn lose(&mut self, flight: &Group, stopped: u64) {
        let now = monotonic_ns();
        let passed = now.saturating_sub(self.began);
        match self.asked_at {
            Some(at) if now.saturating_sub(at) >= GRACE_NS => {
                flight.kill_group();
            }
            None if self.timeout_ns.is_some_and(|t| passed >= t) && flight.end_group() => {
                self.asked_at = Some(now);
            }
            _ => {}
        }
        if stopped != 0 && now.saturating_sub(stopped) >= MOST_STOPPED_NS {
            self.was_stopped = true;
            flight.kill_group();
        }
    }

    /// Records why a run ended.
    fn judge(&self, reply: &mut Reply) {
        // A run that ended just before it was asked to end has ended by itself. This uses the
        // waiting thread's clock, because the command begins later on a busy machine.
        reply.timed_out = self.asked_at.is_some_and(|at| reply.end_ns >= at);
        reply.stopped = self.was_stopped;
    }
}

/// The data of a run that the waiting thread needs.
struct Run {
    start: Start,
    flight: Arc<Group>,
    /// No longer valid if this run is not awaited any more.
    guarded: Weak<Guarded>,
    /// Time at which the run was stopped, in nanoseconds, or 0 if it is not stopped.
    stopped: Arc<AtomicU64>,
    /// Time at which the run began, in nanoseconds, or 0 if it has not begun.
    begun: Arc<AtomicU64>,
}

impl Run {
    fn into_its_end(self) -> Reply {
        let Self { mut start, flight, guarded, stopped, begun } = self;
        let command = match start.command() {
            Ok(command) => command,
            Err((step, error)) => return failed(step, &error),
        };
        let Some(guarded) = guarded.upgrade() else {
            return failed(Step::Wait, &Errno::CANCELED.into());
        };
        let mut reply = match run(command, &start, &flight, &guarded, (&begun, &stopped)) {
            Ok(reply) => reply,
            Err((step, error)) => failed(step, &error),
        };
        if let Some(group) = flight.id() {
            reply.left_behind = clear(group, &flight);
            guarded.remember(0);
            flight.set_group(0);
        }
        reply
    }
}

/// Starts the command and waits for its end.
fn run(
    mut command: Command,
    start: &Start,
    flight: &Group,
    guarded: &Guarded,
    (begun, stopped): (&AtomicU64, &AtomicU64),
) -> Result<Reply, (Step, io::Error)> {
    let mut reply = Reply { start_ns: monotonic_ns(), ..Reply::default() };
    begun.store(reply.start_ns, Ordering::SeqCst);
    let child = command.spawn().map_err(|error| start.refused(error))?;
    let id = child.id().cast_signed();
    flight.set_group(id);
    guarded.remember(id);
    // Only the command may hold the write ends of pipes, which otherwise would never be closed.
    drop(command);
    let usage = loop {
        let change = waiting::wait(id).map_err(|error| (Step::Wait, error))?;
        reply.end_ns = monotonic_ns();
        match change {
            Change::Continued => stopped.store(0, Ordering::SeqCst),
            Change::Stopped(signal) => {
                stopped.store(reply.end_ns, Ordering::SeqCst);
                if signal == libc::SIGTTIN || signal == libc::SIGTTOU {
                    reply.wanted_terminal = true;
                    flight.kill_group();
                }
            }
            Change::Ended(status, usage) => {
                reply.status = status;
                break usage;
            }
        }
    };
    Ok(Reply {
        user_us: usage.user_us,
        system_us: usage.system_us,
        max_rss_kib: usage.max_rss_bytes / 1024,
        minor_faults: usage.minor_faults,
        major_faults: usage.major_faults,
        block_in: usage.block_in,
        block_out: usage.block_out,
        voluntary: usage.voluntary,
        involuntary: usage.involuntary,
        ..reply
    })
}

fn failed(step: Step, error: &io::Error) -> Reply {
    let code = error.raw_os_error().unwrap_or(libc::EIO);
    Reply { failure: Some((step, code)), ..Reply::default() }
}

/// Kills processes that a command left running in its group, and returns true if there were any.
/// They first get some time to end, or to move to a separate session as daemons do.
fn clear(group: Pid, flight: &Group) -> bool {
    let is_gone = || test_kill_process_group(group).is_err();
    for nap in 0..=NAPS {
        if is_gone() {
            return false;
        }
        if nap < NAPS {
            sleep(NAP);
        }
    }
    flight.kill_group();
    for _ in 0..NAPS {
        if is_gone() {
            break;
        }
        sleep(NAP);
    }
    true
}

/// Everything needed to start a command. All data is owned, because the thread may outlive the
/// engine.
struct Start {
    path: PathBuf,
    argv: Vec<OsString>,
    environment: Vec<OsString>,
    padding: usize,
    directory: PathBuf,
    input: PathBuf,
    mode: OutputMode,
    output: PathBuf,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
}

impl Start {
    fn of(prepared: &Prepared, options: RunOptions, writers: Writers) -> Self {
        let (stdout, stderr) = writers.into_standard();
        let within = |path: &Path| match path.as_os_str().is_empty() {
            true => PathBuf::new(),
            false => prepared.directory.join(path),
        };
        Self {
            path: prepared.path.clone(),
            argv: prepared.argv.clone(),
            environment: prepared.environment.clone(),
            padding: options.pad.min(MOST_PADDING).into(),
            directory: prepared.directory.clone(),
            input: within(&prepared.input),
            mode: prepared.mode,
            output: within(&prepared.output),
            stdout,
            stderr,
        }
    }

    /// Returns the command with its input and output already opened, so that opening them is not
    /// timed.
    fn command(&mut self) -> Result<Command, (Step, io::Error)> {
        let mut command = Command::new(&self.path);
        let (program, arguments) = match self.argv.split_first() {
            Some((program, arguments)) => (program.as_os_str(), arguments),
            None => (self.path.as_os_str(), &[][..]),
        };
        command.arg0(program).args(arguments).process_group(0).env_clear();
        command.envs(self.environment.iter().filter_map(|both| apart(both)));
        command.env(PADDING, "x".repeat(self.padding));
        if !self.directory.as_os_str().is_empty() {
            command.current_dir(&self.directory);
        }
        let input = match self.input.as_os_str().is_empty() {
            true => Path::new("/dev/null"),
            false => &self.input,
        };
        command.stdin(File::open(input).map_err(|error| (Step::Stdin, error))?);
        let output = match (self.stdout.take(), self.mode) {
            (Some(given), _) => given.into(),
            (None, OutputMode::Inherit) => Stdio::inherit(),
            (None, OutputMode::File) => {
                File::create(&self.output).map_err(|error| (Step::Stdout, error))?.into()
            }
            (None, OutputMode::Null | OutputMode::Pipe) => nowhere()?,
        };
        let errors = match (self.stderr.take(), self.mode) {
            (Some(given), _) => given.into(),
            (None, OutputMode::Inherit) => Stdio::inherit(),
            (None, _) => nowhere()?,
        };
        command.stdout(output).stderr(errors);
        Ok(command)
    }

    /// Determines why a command could not be started: the system reports the same errors for the
    /// directory and for the program.
    fn refused(&self, error: io::Error) -> (Step, io::Error) {
        if self.directory.as_os_str().is_empty() {
            return (Step::Exec, error);
        }
        let entered = self.directory.metadata().and_then(|found| match found.is_dir() {
            true => Ok(access(&self.directory, Access::EXEC_OK)?),
            false => Err(Errno::NOTDIR.into()),
        });
        match entered {
            Ok(()) => (Step::Exec, error),
            Err(why) => (Step::Directory, why),
        }
    }
}

fn nowhere() -> Result<Stdio, (Step, io::Error)> {
    let null = OpenOptions::new().write(true).open("/dev/null");
    null.map(Stdio::from).map_err(|error| (Step::Stderr, error))
}

/// Splits a variable into name and value. Returns `None` if it is malformed.
fn apart(both: &OsStr) -> Option<(&OsStr, &OsStr)> {
    let bytes = both.as_bytes();
    // Some systems have variables whose names begin with `=`.
    let at = bytes.iter().skip(1).position(|byte| *byte == b'=')? + 1;
    Some((OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_its_name_and_all_behind_the_first_equals_sign() {
        let apart = |text: &'static str| {
            let (name, value) = apart(OsStr::new(text))?;
            Some((name.to_str()?, value.to_str()?))
        };
        assert_eq!(apart("A=b=c"), Some(("A", "b=c")));
        assert_eq!(apart("A="), Some(("A", "")));
        assert_eq!(apart("A"), None);
    }
}
