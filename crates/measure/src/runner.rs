//! The runner passes commands to an engine, one at a time, and converts the engine's replies to
//! results.
//!
//! The engine is the launcher if the system has it; otherwise, or on request, it is the portable
//! one. The runner ensures that no process outlives a run, whatever happens to the launcher or to
//! `assay`, and that `assay` is idle while a run is timed. The caller decides what to run and how
//! often, and interprets the numbers.

mod engine;
mod kind;
mod portable;

use std::collections::HashMap;
use std::fmt;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::capture::KeptOutput;
use crate::command::{Channel, Command};
use crate::error::MeasureError;
use crate::group::InFlight;
pub use crate::options::{LastWords, RunOptions};
use crate::prepared::{Prepared, program_of};
use crate::room::Room;
use crate::sys::clock::monotonic_ns;
use crate::trace::Trace;
use crate::wire::Reply;

pub(crate) use engine::{Engine, Trouble, end_if_asked};
pub use kind::{RUNNER, RunnerKind};

/// Identifies a command that has been added to a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubjectId(u32);

/// Returns the standard output captured so far from an offset on, if it is captured.
pub type OutputSoFar<'a> = dyn Fn(u64) -> Vec<u8> + 'a;

/// An observer of a running command that may end it.
pub struct Watching<'a> {
    /// Interval between checks. A check takes processor time that the run may need.
    pub every: Duration,
    /// Descriptors that also cause a check when one of them becomes readable. The check must then
    /// read from them.
    pub also: &'a [BorrowedFd<'a>],
    /// Returns true to end the run, which is then sent SIGTERM and killed a second later.
    pub ends: &'a mut dyn FnMut(&OutputSoFar<'_>) -> bool,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exited with this status (0 to 255).
    Exited(i32),
    /// Ended by this signal.
    Signalled(i32),
    /// Ended because its time limit was reached.
    TimedOut,
    /// Ended because it would have waited for the terminal forever.
    WantedTerminal,
    /// Ended because it had stopped itself, and was not continued for five seconds.
    Stopped,
}

impl Outcome {
    /// Returns the outcome that corresponds to a wait status (`wait(2)`).
    pub(crate) fn of_status(status: i32) -> Self {
        if libc::WIFSIGNALED(status) {
            Self::Signalled(libc::WTERMSIG(status))
        } else {
            Self::Exited(libc::WEXITSTATUS(status))
        }
    }

    /// Returns true if the program exited with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
    }
}

/// Writes text that completes a sentence about the program.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exited with status {status}"),
            Self::Signalled(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut => f.write_str("did not end within its time limit"),
            Self::WantedTerminal => {
                f.write_str("tried to read from the terminal, which it does not have")
            }
            Self::Stopped => {
                f.write_str("stopped itself, was not continued for 5 s, and was killed")
            }
        }
    }
}

/// Measurements of one run. Processor time, memory, faults, blocks and switches are those of the
/// process and of its descendants that were waited for, as accounted by the kernel
/// (`getrusage(2)`).
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Wall time from just before the start to just after the end, in seconds (resolution 1 ns).
    pub wall_seconds: f64,
    /// Processor time in user mode, in seconds (resolution 1 µs).
    pub user_seconds: f64,
    /// Processor time in the kernel, in seconds (resolution 1 µs).
    pub system_seconds: f64,
    /// Peak resident memory of any single process, in bytes (resolution 1 KiB). Never less than
    /// [`Runner::memory_floor_bytes`].
    pub max_rss_bytes: u64,
    /// Number of page faults that needed no input.
    pub minor_faults: u64,
    /// Number of page faults that had to read from a device.
    pub major_faults: u64,
    /// Number of voluntary context switches, where the program waited.
    pub voluntary_switches: u64,
    /// Number of involuntary context switches, where another task got the processor.
    pub involuntary_switches: u64,
    /// Number of 512-byte blocks read from devices.
    pub block_in: u64,
    /// Number of 512-byte blocks written to devices, or still to be written.
    pub block_out: u64,
    /// Start time, in seconds since the start of the runner.
    pub started_seconds: f64,
    /// Start time, in nanoseconds of `CLOCK_MONOTONIC`.
    pub started_ns: u64,
    /// Time at which the end of the run was observed, in nanoseconds of `CLOCK_MONOTONIC`.
    pub ended_ns: u64,
    /// True if the command left processes running in its group, which were then killed.
    pub left_behind: bool,
    /// The last 4 KiB of standard error, if captured. Bytes that are not UTF-8 are replaced.
    pub stderr_tail: Option<String>,
    /// Number of bytes written to standard output. Known only with [`crate::Output::Pipe`].
    pub output_bytes: Option<u64>,
    /// Standard output, if [`Command::keep_output`] was set.
    pub output: Option<KeptOutput>,
    /// The trace of standard output, if [`RunOptions::trace_output`] was given.
    pub trace: Option<Trace>,
    /// Standard error, if [`Command::keep_errors`] was set.
    pub errors: Option<KeptOutput>,
    /// Data that the command wrote to its channel for samples, regardless of the outcome; `None` if
    /// there is no channel.
    pub samples: Option<KeptOutput>,
}

/// Runs commands, one at a time.
pub struct Runner {
    kind: RunnerKind,
    /// The engine, or `None` after it was lost for the second time.
    engine: Option<Box<dyn Engine>>,
    subjects: Vec<Prepared>,
    started_ns: u64,
    restarted: bool,
    pub(crate) hooks: HashMap<String, SubjectId>,
    /// Created when a command first needs it. Declared after the engine, so that it is dropped
    /// later.
    sample_directory: Option<Room>,
}

/// A handle for ending the current run from another thread.
#[derive(Clone, Debug)]
pub struct AbortHandle {
    flight: Arc<dyn InFlight>,
}

impl AbortHandle {
    /// Kills the process group of the current run, which then ends by signal 9. Returns false if
    /// there is no current run.
    pub fn abort_in_flight(&self) -> bool {
        self.flight.group().kill_group()
    }
}

impl Runner {
    /// Starts a runner of the kind selected for this process. The launcher, or the guard of a
    /// portable runner, runs until the runner is dropped. Takes about 1 ms.
    ///
    /// # Errors
    ///
    /// Returns [`MeasureError::Launcher`] if the program can't be started, or
    /// [`MeasureError::UnknownRunner`] if no known kind was selected.
    pub fn start() -> Result<Self, MeasureError> {
        Self::start_as(RunnerKind::chosen()?)
    }

    /// Starts a runner of the given kind.
    ///
    /// # Errors
    ///
    /// Returns [`MeasureError::Launcher`] if the program can't be started.
    pub fn start_as(kind: RunnerKind) -> Result<Self, MeasureError> {
        Ok(Self {
            kind,
            engine: Some(kind.start()?),
            subjects: Vec::new(),
            started_ns: monotonic_ns(),
            restarted: false,
            hooks: HashMap::new(),
            sample_directory: None,
        })
    }

    /// Prepares a command for running: locates its program, and takes its environment as it is now.
    ///
    /// # Errors
    ///
    /// Returns [`MeasureError::Resolve`] if the program can't be found, [`MeasureError::Control`]
    /// if a setting has an invalid value, or [`MeasureError::NotPassable`],
    /// [`crate::CommandError::KeptElsewhere`] or [`MeasureError::Samples`].
    pub fn add(&mut self, command: &Command) -> Result<SubjectId, MeasureError> {
        let prepared = self.prepare(command)?;
        let id = u32::try_from(self.subjects.len()).map_err(|_| MeasureError::Internal {
            what: "more commands than can be counted".to_owned(),
        })?;
        let taught = match self.engine.as_mut() {
            Some(engine) => engine.learn(&prepared),
            None => return Err(MeasureError::LauncherGone),
        };
        match taught {
            Ok(()) => self.subjects.push(prepared),
            Err(Trouble::Error(error)) => return Err(error),
            // The new launcher is given all commands, including this one, so nothing is lost.
            Err(Trouble::Gone | Trouble::Aborted) => {
                self.subjects.push(prepared);
                self.replace_engine()?;
            }
        }
        Ok(SubjectId(id))
    }

    /// Runs a command once and waits for its end. A command that fails is a result, not an error.
    ///
    /// # Errors
    ///
    /// Returns [`MeasureError::LostRun`] if the launcher was killed, in which case the run can be
    /// repeated, or [`MeasureError::Interrupted`]. Other errors include that the command could not
    /// be started ([`MeasureError::Control`] if the system refuses a setting).
    pub fn run(
        &mut self,
        subject: SubjectId,
        options: RunOptions,
    ) -> Result<RunResult, MeasureError> {
        self.run_watched(subject, options, None)
    }

    /// Like [`Runner::run`], but with an observer. Do not use an observer with pipes
    /// ([`crate::Output::Pipe`], [`LastWords::Piped`], [`RunOptions::trace_output`]), which would
    /// not be read in the meantime.
    ///
    /// # Errors
    ///
    /// Fails as [`Runner::run`] does.
    pub fn run_watched(
        &mut self,
        subject: SubjectId,
        options: RunOptions,
        watching: Option<Watching<'_>>,
    ) -> Result<RunResult, MeasureError> {
        let Some(prepared) = self.subjects.get(subject.0 as usize) else {
            return Err(MeasureError::Internal {
                what: format!("subject {} belongs to another runner", subject.0),
            });
        };
        let engine = self.engine.as_mut().ok_or(MeasureError::LauncherGone)?;
        let (reply, capture) = match engine.run((subject.0, prepared), options, watching) {
            Ok(ran) => ran,
            Err(Trouble::Error(error)) => return Err(error),
            Err(Trouble::Gone) => {
                let program = prepared.program.clone();
                self.replace_engine()?;
                return Err(MeasureError::LostRun { program });
            }
            Err(Trouble::Aborted) => {
                // We ended the engine ourselves, so this does not count as a loss.
                let restarted = std::mem::replace(&mut self.restarted, false);
                self.replace_engine()?;
                self.restarted = restarted;
                return Err(MeasureError::Interrupted);
            }
        };
        if let Some((step, error)) = reply.failure {
            return Err(prepared.failed(step, error));
        }
        let captured = capture.finish().map_err(|source| MeasureError::Reading {
            program: prepared.program.clone(),
            source,
        })?;
        Ok(RunResult {
            outcome: outcome(&reply),
            // Note: nothing is ever subtracted from a measured time. If the user requests a shell,
            // it is measured as well.
            wall_seconds: seconds_between(reply.start_ns, reply.end_ns),
            user_seconds: reply.user_us as f64 / 1e6,
            system_seconds: reply.system_us as f64 / 1e6,
            max_rss_bytes: reply.max_rss_kib * 1024,
            minor_faults: reply.minor_faults,
            major_faults: reply.major_faults,
            voluntary_switches: reply.voluntary,
            involuntary_switches: reply.involuntary,
            block_in: reply.block_in,
            block_out: reply.block_out,
            started_seconds: seconds_between(self.started_ns, reply.start_ns),
            started_ns: reply.start_ns,
            ended_ns: reply.end_ns,
            left_behind: reply.left_behind,
            stderr_tail: captured.stderr_tail,
            output_bytes: captured.output_bytes,
            output: captured.output,
            trace: captured.trace,
            errors: captured.errors,
            samples: captured.samples,
        })
    }

    /// Lets the launcher exit while the caller does something else, such as showing the result.
    /// Nothing can be run any more.
    pub fn dismiss(&mut self) {
        if let Some(engine) = &mut self.engine {
            engine.dismiss();
        }
    }

    /// Returns the kind of the runner.
    pub fn kind(&self) -> RunnerKind {
        self.kind
    }

    /// Returns the peak resident memory of the launcher itself, or of `assay` if there is none, in
    /// bytes: a run's peak memory can't be observed below it. 0 if the system does not report it,
    /// or after the launcher was lost for good.
    pub fn memory_floor_bytes(&self) -> u64 {
        self.engine.as_ref().and_then(|engine| engine.memory_floor_bytes()).unwrap_or(0)
    }

    /// Returns the process ID of the launcher. `None` if the runner has no launcher, or has lost it
    /// for good.
    pub fn launcher_process_id(&self) -> Option<u32> {
        self.engine.as_ref().and_then(|engine| engine.process_id())
    }

    /// Returns a handle for ending the current run from another thread. The handle is valid until
    /// the launcher is lost. `None` after the launcher was lost for good.
    pub fn abort_handle(&self) -> Option<AbortHandle> {
        self.engine.as_ref().map(|engine| AbortHandle { flight: engine.in_flight() })
    }

    fn prepare(&mut self, command: &Command) -> Result<Prepared, MeasureError> {
        let samples = match (command.samples, self.kind) {
            // Only the launcher passes descriptors beyond the first three.
            (Channel::Descriptor, RunnerKind::Portable) => Channel::Path,
            (channel, _) => channel,
        };
        let sample_file = match samples {
            Channel::Path => self.sample_file(command)?,
            Channel::None | Channel::Descriptor => PathBuf::new(),
        };
        Prepared::new(&Command { samples, ..command.clone() }, sample_file)
    }

    /// Returns the sample file for the command that is added next.
    fn sample_file(&mut self, command: &Command) -> Result<PathBuf, MeasureError> {
        let directory = match self.sample_directory.take() {
            Some(made) => made,
            None => Room::of_session().map_err(|(path, source)| MeasureError::Samples {
                program: program_of(command),
                path,
                source,
            })?,
        };
        let file = directory.file(self.subjects.len());
        self.sample_directory = Some(directory);
        Ok(file)
    }

    /// Ends the current run of a dead launcher and starts a new launcher, but only once. A portable
    /// engine is replaced if it still has a run that an interrupt could not end.
    fn replace_engine(&mut self) -> Result<(), MeasureError> {
        // Dropping the engine kills the group that its page still names, and reaps the launcher.
        self.engine = None;
        if self.restarted {
            return Err(MeasureError::LauncherGone);
        }
        self.restarted = true;
        let mut engine = self.kind.start()?;
        for prepared in &self.subjects {
            match engine.learn(prepared) {
                Ok(()) => {}
                Err(Trouble::Error(error)) => return Err(error),
                Err(Trouble::Gone | Trouble::Aborted) => return Err(MeasureError::LauncherGone),
            }
        }
        self.engine = Some(engine);
        Ok(())
    }
}

fn outcome(reply: &Reply) -> Outcome {
    if reply.timed_out {
        Outcome::TimedOut
    } else if reply.wanted_terminal {
        Outcome::WantedTerminal
    } else if reply.stopped {
        Outcome::Stopped
    } else {
        Outcome::of_status(reply.status)
    }
}

/// Returns the correctly rounded number of seconds: a difference below 2^53 ns (104 days) is an
/// exact f64, and division rounds once.
fn seconds_between(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}
