//! The runner: it hands commands to an engine one at a time and turns its answers into results.
//!
//! The engine is the launcher where the system has it, and else, or where that is asked for, the
//! portable one. The runner sees to it that no process outlives a run, whatever happens to the
//! launcher or to `assay`, and that nothing of `assay` stirs while a run is timed. How often to run
//! what, and what the numbers mean, is the caller's.

mod engine;
mod portable;

use std::collections::HashMap;
use std::fmt;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::capture::Kept;
use crate::command::{Channel, Command};
use crate::error::MeasureError;
use crate::group::InFlight;
use crate::prepared::{Prepared, program_of};
use crate::room::Room;
use crate::sys::clock::monotonic_ns;
use crate::wire::Reply;

pub(crate) use engine::{Engine, Trouble, end_if_asked};
pub use engine::{RUNNER, RunnerKind};

/// A command that the launcher knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubjectId(u32);

/// How one run is done.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// The length of the value of `ASSAY_PAD` in the run's environment, 0 to 4095; more counts as
    /// 4095. It moves the stack, whose place can change the speed of a program: draw it anew for
    /// every run.
    pub pad: u16,
    /// After so long the run is asked to end (SIGTERM), and a second later made to.
    pub timeout: Option<Duration>,
    /// Whether the last 4 KiB of standard error are kept, and how.
    pub last_words: LastWords,
    /// End what the command leaves behind even where that went into a session of its own, as daemons do, and count what it computed. Else only what
    /// stayed in its group is ended: hooks may start servers.
    pub end_strays: bool,
}

/// What reads a command's standard output from a place on, as far as it is kept and there is any.
pub type OutputSoFar<'a> = dyn Fn(u64) -> Vec<u8> + 'a;

/// Somebody who looks at a run from outside while it goes on, and may end it.
pub struct Watching<'a> {
    /// How often. Looking takes processor time that the run may want.
    pub every: Duration,
    /// Looking at once when one of these has something to be read, too: what they have is to be taken then.
    pub also: &'a [BorrowedFd<'a>],
    /// Says whether the run shall end. Then it is asked to (SIGTERM), and a second later made to.
    pub ends: &'a mut dyn FnMut(&OutputSoFar<'_>) -> bool,
}

/// How the last 4 KiB of standard error are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastWords {
    /// Not at all.
    #[default]
    Unheard,
    /// They are read from a pipe while the run goes on: for warm-ups and for first runs, not for
    /// those that are compared. With [`Command::keep_errors`] nothing is read meanwhile.
    Piped,
    /// They lie in a file in memory until the run has ended, with all that was written before them:
    /// for programs that say little.
    Filed,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// By itself, with this exit status (0 to 255).
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was ended because its time was up.
    TimedOut,
    /// It was ended because it would have waited for the terminal for ever.
    WantedTerminal,
    /// It was ended because it had stopped itself, and nobody continued it for five seconds.
    Stopped,
}

impl Outcome {
    /// The outcome that a wait status stands for (`wait(2)`).
    pub(crate) fn of_status(status: i32) -> Self {
        if libc::WIFSIGNALED(status) {
            Self::Signalled(libc::WTERMSIG(status))
        } else {
            Self::Exited(libc::WEXITSTATUS(status))
        }
    }

    /// True for an exit with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
    }
}

/// In words that end a sentence, whose subject is what was run.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exited with status {status}"),
            Self::Signalled(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut => f.write_str("did not end in its time"),
            Self::WantedTerminal => {
                f.write_str("wanted to read from the terminal, which it does not have")
            }
            Self::Stopped => {
                f.write_str("stopped itself, was not continued for 5 s, and was ended")
            }
        }
    }
}

/// What one run took. Processor time, memory, faults, blocks and switches are those of the process
/// and of its descendants that were waited for, as the kernel accounts them (`getrusage(2)`).
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// How it ended.
    pub outcome: Outcome,
    /// From just before the start to just after the end, s; the clock ticks in ns.
    pub wall_seconds: f64,
    /// Processor time in the program itself, s, to 1 µs.
    pub user_seconds: f64,
    /// Processor time in the kernel on its behalf, s, to 1 µs.
    pub system_seconds: f64,
    /// The largest resident memory of any one process, B, to 1 KiB; never less than
    /// [`Runner::memory_floor_bytes`].
    pub max_rss_bytes: u64,
    /// Page faults served without input.
    pub minor_faults: u64,
    /// Page faults that had to read from a device.
    pub major_faults: u64,
    /// Switches because the program waited.
    pub voluntary_switches: u64,
    /// Switches because somebody else was to have the processor.
    pub involuntary_switches: u64,
    /// Blocks of 512 B read from devices.
    pub block_in: u64,
    /// Blocks of 512 B written, or to be written.
    pub block_out: u64,
    /// When it was started, s since the start of the runner.
    pub started_seconds: f64,
    /// When it was started, ns of `CLOCK_MONOTONIC`.
    pub started_ns: u64,
    /// When its end was seen, ns of `CLOCK_MONOTONIC`.
    pub ended_ns: u64,
    /// True if the command left processes running in its group. They have been killed.
    pub left_behind: bool,
    /// The last 4 KiB of standard error, if captured; bytes that are not UTF-8 are replaced.
    pub stderr_tail: Option<String>,
    /// Bytes written to standard output, with [`crate::Output::Pipe`].
    pub output_bytes: Option<u64>,
    /// What it wrote to standard output, with [`Command::keep_output`].
    pub output: Option<Kept>,
    /// What it wrote to standard error, with [`Command::keep_errors`].
    pub errors: Option<Kept>,
    /// What it wrote to its channel for samples, however it ended; `None` without a channel.
    pub samples: Option<Kept>,
}

/// Runs commands, one at a time.
pub struct Runner {
    kind: RunnerKind,
    /// `None` after it was lost for the second time.
    engine: Option<Box<dyn Engine>>,
    subjects: Vec<Prepared>,
    started_ns: u64,
    restarted: bool,
    pub(crate) hooks: HashMap<String, SubjectId>,
    /// `None` as long as no command needs it. After the launcher, so that it goes after it.
    sample_directory: Option<Room>,
}

/// Ends the run in flight from another thread.
#[derive(Clone, Debug)]
pub struct AbortHandle {
    flight: Arc<dyn InFlight>,
}

impl AbortHandle {
    /// Kills the process group of the run in flight; false if nothing is in flight. The run then
    /// ends by signal 9.
    pub fn abort_in_flight(&self) -> bool {
        self.flight.group().kill_group()
    }
}

impl Runner {
    /// Starts a runner of the kind that this process uses. The launcher, or the guard of a portable
    /// runner, stays until the runner is dropped. About 1 ms.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Launcher`] if the system lets no such program start;
    /// [`MeasureError::UnknownRunner`].
    pub fn start() -> Result<Self, MeasureError> {
        Self::start_as(RunnerKind::chosen()?)
    }

    /// Starts a runner of this kind.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Launcher`].
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

    /// Makes a command ready to be run: finds its program, fixes its environment as it is now.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Resolve`] if the program cannot be found; [`MeasureError::NotPassable`];
    /// [`crate::CommandError::KeptElsewhere`]; [`MeasureError::Control`] if a setting has a value that no
    /// system knows; [`MeasureError::Samples`].
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
            // The new launcher is taught everything, and this with it; nothing was lost.
            Err(Trouble::Gone | Trouble::Aborted) => {
                self.subjects.push(prepared);
                self.replace_engine()?;
            }
        }
        Ok(SubjectId(id))
    }

    /// Runs a subject once and waits for its end. A command that fails is a result.
    ///
    /// # Errors
    ///
    /// [`MeasureError::LostRun`] if the launcher was killed: take the run again. Otherwise the
    /// command could not be started ([`MeasureError::Control`] if the system refuses a setting), or
    /// [`MeasureError::Interrupted`].
    pub fn run(
        &mut self,
        subject: SubjectId,
        options: RunOptions,
    ) -> Result<RunResult, MeasureError> {
        self.run_watched(subject, options, None)
    }

    /// The same, while somebody looks at it from time to time; not with pipes ([`crate::Output::Pipe`], [`LastWords::Piped`]), of which nothing would
    /// be read meanwhile.
    ///
    /// # Errors
    ///
    /// As [`Runner::run`] has them.
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
                // It was we who ended it: that does not count as a loss.
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
            errors: captured.errors,
            samples: captured.samples,
        })
    }

    /// What runs the commands.
    pub fn kind(&self) -> RunnerKind {
        self.kind
    }

    /// The largest resident memory that the launcher itself has had, or `assay` where there is none,
    /// B: a run's peak memory cannot be seen below it. 0 if the system does not say, or after the
    /// launcher was lost for good.
    pub fn memory_floor_bytes(&self) -> u64 {
        self.engine.as_ref().and_then(|engine| engine.memory_floor_bytes()).unwrap_or(0)
    }

    /// The process id of the launcher, or `None` after it was lost for good, and where there is none.
    pub fn launcher_process_id(&self) -> Option<u32> {
        self.engine.as_ref().and_then(|engine| engine.process_id())
    }

    /// A handle by which another thread can end the run in flight. It is good until the launcher
    /// is lost; or `None` after it was lost for good.
    pub fn abort_handle(&self) -> Option<AbortHandle> {
        self.engine.as_ref().map(|engine| AbortHandle { flight: engine.in_flight() })
    }

    fn prepare(&mut self, command: &Command) -> Result<Prepared, MeasureError> {
        let samples = match (command.samples, self.kind) {
            // Only the launcher hands a descriptor down that is none of the first three.
            (Channel::Descriptor, RunnerKind::Portable) => Channel::Path,
            (channel, _) => channel,
        };
        let sample_file = match samples {
            Channel::Path => self.sample_file(command)?,
            Channel::None | Channel::Descriptor => PathBuf::new(),
        };
        Prepared::new(&Command { samples, ..command.clone() }, sample_file)
    }

    /// The name of the file for the samples of the command that is added next.
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

    /// Ends what a dead launcher had in flight, and puts a new one in its place: once. A portable engine is replaced
    /// where an interrupt ended what it could not.
    fn replace_engine(&mut self) -> Result<(), MeasureError> {
        // Dropping it kills the group that its page still names, and reaps the launcher.
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

/// The exactly rounded number of seconds: a difference below 2^53 ns (104 days) is an exact f64,
/// and division rounds once.
fn seconds_between(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}
