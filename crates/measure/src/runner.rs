//! The runner: it hands commands to the launcher one at a time and turns its answers into results.
//!
//! It sees to it that no process outlives a run, whatever happens to the launcher or to `assay`,
//! and that nothing of `assay` stirs while a run is timed. How often to run what, and what the
//! numbers mean, is the caller's.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use thiserror::Error;

use crate::capture::Capture;
use crate::command::{Command, CommandError, Input, Output};
use crate::interrupt;
use crate::resolve::{ResolveError, explain_refusal};
use crate::sys::clock::monotonic_ns;
use crate::sys::facts::peak_memory_bytes;
use crate::sys::launcher::{Answer, Launcher, Page};
use crate::wire::{MOST_PADDING, OutputMode, Reply, Request, Step, SubjectText};

/// The name of the variable that pads a run's environment.
const PADDING: &str = "ASSAY_PAD";

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
    /// Keep the last 4 KiB of standard error, read while the run goes on: for warm-ups and for
    /// first runs, not for those that are compared.
    pub capture_stderr: bool,
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
}

impl Outcome {
    /// True for an exit with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
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
    /// True if the command left processes running in its group. They have been killed.
    pub left_behind: bool,
    /// The last 4 KiB of standard error, if captured; bytes that are not UTF-8 are replaced.
    pub stderr_tail: Option<String>,
    /// Bytes written to standard output, with [`Output::Pipe`].
    pub output_bytes: Option<u64>,
}

/// Why there is no result.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// The text is not a command.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The program cannot be found or run.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A path or variable that cannot be handed over.
    #[error(
        "a path or a variable of `{program}` holds a zero byte, or there are too many: no program \
         can be started with that"
    )]
    NotPassable {
        /// The program as it was written.
        program: String,
    },
    /// The input file cannot be opened.
    #[error("cannot read the input `{}` of `{program}`: {source}", path.display())]
    Input {
        /// The program as it was written.
        program: String,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The output file cannot be opened.
    #[error("cannot write the output of `{program}` to `{}`: {source}", path.display())]
    Output {
        /// The program as it was written.
        program: String,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The directory cannot be entered.
    #[error("cannot run `{program}` in `{}`: {source}", path.display())]
    Directory {
        /// The program as it was written.
        program: String,
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system cannot start the program, for a reason that is not the file's.
    #[error("cannot start `{program}` ({}): {source}{hint}", path.display())]
    Start {
        /// The program as it was written.
        program: String,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
        /// What to do, on a line of its own; may be empty.
        hint: &'static str,
    },
    /// The launcher could not be started.
    #[error(
        "cannot start the launcher, the small program that runs the commands: {source}.\nIt is \
         started from memory or from the directory for temporary files: one must allow programs."
    )]
    Launcher {
        /// What the system says.
        source: io::Error,
    },
    /// The launcher was killed; the run it had in flight was ended and is lost. A new launcher is
    /// at work: the caller takes the run again.
    #[error(
        "somebody killed the launcher while it ran `{program}`; that run is lost, and its \
         processes were ended. Measure it again."
    )]
    LostRun {
        /// The program as it was written.
        program: String,
    },
    /// The launcher was killed once more; the runner is of no use any more.
    #[error(
        "the launcher was killed a second time; what it had in flight was ended. Find out who \
         kills it (out of memory? see the kernel's log) before measuring again."
    )]
    LauncherGone,
    /// A second interrupt, or [`AbortHandle::abort_in_flight`], ended the run.
    #[error("interrupted: the run in flight was ended")]
    Interrupted,
    /// A fault of `assay`, not of anything outside.
    #[error("internal error: {what}. Please report it.")]
    Internal {
        /// What was found.
        what: String,
    },
}

/// What the runner keeps of a subject: enough to teach it to a new launcher.
struct Prepared {
    payload: Vec<u8>,
    program: String,
    path: PathBuf,
    directory: PathBuf,
    input: PathBuf,
    output: PathBuf,
    piped: bool,
}

/// Runs commands, one at a time.
pub struct Runner {
    /// `None` after it was lost for the second time.
    launcher: Option<Launcher>,
    subjects: Vec<Prepared>,
    started_ns: u64,
    restarted: bool,
    pub(crate) hooks: HashMap<String, SubjectId>,
}

/// Ends the run in flight from another thread.
#[derive(Clone, Debug)]
pub struct AbortHandle {
    page: Arc<Page>,
}

impl AbortHandle {
    /// Kills the process group of the run in flight; false if nothing is in flight. The run then
    /// ends by signal 9.
    pub fn abort_in_flight(&self) -> bool {
        self.page.kill_group()
    }
}

impl Runner {
    /// Starts the launcher, which stays until the runner is dropped. About 1 ms.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Launcher`] if the system lets no such program start.
    pub fn start() -> Result<Self, MeasureError> {
        let launcher = Launcher::start().map_err(|source| MeasureError::Launcher { source })?;
        Ok(Self {
            launcher: Some(launcher),
            subjects: Vec::new(),
            started_ns: monotonic_ns(),
            restarted: false,
            hooks: HashMap::new(),
        })
    }

    /// Makes a command ready to be run: finds its program, fixes its environment as it is now.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Resolve`] if the program cannot be found; [`MeasureError::NotPassable`].
    pub fn add(&mut self, command: &Command) -> Result<SubjectId, MeasureError> {
        let prepared = prepare(command)?;
        let id = u32::try_from(self.subjects.len()).map_err(|_| MeasureError::Internal {
            what: "more commands than can be counted".to_owned(),
        })?;
        let taught = match self.launcher.as_mut() {
            Some(launcher) => teach(launcher, &prepared),
            None => return Err(MeasureError::LauncherGone),
        };
        match taught {
            Ok(()) => self.subjects.push(prepared),
            Err(Trouble::Error(error)) => return Err(error),
            // The new launcher is taught everything, and this with it; nothing was lost.
            Err(Trouble::Gone | Trouble::Aborted) => {
                self.subjects.push(prepared);
                self.replace_launcher()?;
            }
        }
        Ok(SubjectId(id))
    }

    /// Runs a subject once and waits for its end. A command that fails is a result.
    ///
    /// # Errors
    ///
    /// [`MeasureError::LostRun`] if the launcher was killed: take the run again. Otherwise the
    /// command could not be started, or [`MeasureError::Interrupted`].
    pub fn run(
        &mut self,
        subject: SubjectId,
        options: RunOptions,
    ) -> Result<RunResult, MeasureError> {
        let Some(prepared) = self.subjects.get(subject.0 as usize) else {
            return Err(MeasureError::Internal {
                what: format!("subject {} belongs to another runner", subject.0),
            });
        };
        let launcher = self.launcher.as_mut().ok_or(MeasureError::LauncherGone)?;
        let ran = run_once(launcher, subject, prepared.piped, options);
        let (reply, capture) = match ran {
            Ok(ran) => ran,
            Err(Trouble::Error(error)) => return Err(error),
            Err(Trouble::Gone) => {
                let program = prepared.program.clone();
                self.replace_launcher()?;
                return Err(MeasureError::LostRun { program });
            }
            Err(Trouble::Aborted) => {
                // It was we who ended it: that does not count as a loss.
                let restarted = std::mem::replace(&mut self.restarted, false);
                self.replace_launcher()?;
                self.restarted = restarted;
                return Err(MeasureError::Interrupted);
            }
        };
        if let Some((step, error)) = reply.failure {
            return Err(failed(prepared, step, error));
        }
        let (output_bytes, stderr_tail) = match capture {
            Some(capture) => capture.finish(),
            None => (None, None),
        };
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
            left_behind: reply.left_behind,
            stderr_tail,
            output_bytes,
        })
    }

    /// The largest resident memory that the launcher itself has had, B: a run's peak memory cannot
    /// be seen below it. 0 if the system does not tell, or after the launcher was lost for good.
    pub fn memory_floor_bytes(&self) -> u64 {
        let launcher = self.launcher.as_ref().map(Launcher::process_id);
        launcher.and_then(peak_memory_bytes).unwrap_or(0)
    }

    /// The process id of the launcher, or `None` after it was lost for good.
    pub fn launcher_process_id(&self) -> Option<u32> {
        self.launcher.as_ref().map(Launcher::process_id)
    }

    /// A handle by which another thread can end the run in flight. It is good until the launcher
    /// is lost; or `None` after it was lost for good.
    pub fn abort_handle(&self) -> Option<AbortHandle> {
        self.launcher.as_ref().map(|l| AbortHandle { page: Arc::clone(l.page()) })
    }

    /// Ends what a dead launcher had in flight, and puts a new one in its place: once.
    fn replace_launcher(&mut self) -> Result<(), MeasureError> {
        // Dropping it kills the group that its page still names, and reaps the launcher.
        self.launcher = None;
        if self.restarted {
            return Err(MeasureError::LauncherGone);
        }
        self.restarted = true;
        let mut launcher = Launcher::start().map_err(|source| MeasureError::Launcher { source })?;
        for prepared in &self.subjects {
            match teach(&mut launcher, prepared) {
                Ok(()) => {}
                Err(Trouble::Error(error)) => return Err(error),
                Err(Trouble::Gone | Trouble::Aborted) => return Err(MeasureError::LauncherGone),
            }
        }
        self.launcher = Some(launcher);
        Ok(())
    }
}

/// What can go wrong while talking with the launcher.
enum Trouble {
    /// Somebody killed it.
    Gone,
    /// We killed it, on an interrupt.
    Aborted,
    Error(MeasureError),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::Gone,
            _ => Self::Error(MeasureError::Internal { what: format!("the launcher: {error}") }),
        }
    }
}

fn prepare(command: &Command) -> Result<Prepared, MeasureError> {
    let path = command.resolve()?;
    let program = command.argv.first().map(|p| p.to_string_lossy().into_owned());
    let program = program.unwrap_or_default();
    let absent = PathBuf::new();
    let input = match &command.input {
        Input::Null => absent.clone(),
        Input::File(path) => path.clone(),
    };
    let (mode, output) = match &command.output {
        Output::Null => (OutputMode::Null, absent),
        Output::Inherit => (OutputMode::Inherit, absent),
        Output::Pipe => (OutputMode::Pipe, absent),
        Output::File(path) => (OutputMode::File, path.clone()),
    };
    let directory = command.cwd.clone().unwrap_or_default();
    let text = SubjectText {
        program: &path,
        directory: &directory,
        input: &input,
        output: mode,
        output_file: &output,
        argv: &command.argv,
        environment: &environment_of(command),
    };
    let payload =
        text.to_bytes().ok_or_else(|| MeasureError::NotPassable { program: program.clone() })?;
    let piped = mode == OutputMode::Pipe;
    Ok(Prepared { payload, program, path, directory, input, output, piped })
}

/// `assay`'s own environment with the command's variables put over it, in a stable order.
fn environment_of(command: &Command) -> Vec<OsString> {
    let replaced = |name: &std::ffi::OsStr| {
        name == PADDING || command.env.iter().any(|(own, _)| name == own.as_str())
    };
    let join = |name: &std::ffi::OsStr, value: &std::ffi::OsStr| {
        let mut both = name.to_owned();
        both.push("=");
        both.push(value);
        both
    };
    let mut variables: Vec<OsString> = std::env::vars_os()
        .filter(|(name, _)| !replaced(name))
        .map(|(name, value)| join(&name, &value))
        .collect();
    for (i, (name, value)) in command.env.iter().enumerate() {
        // The last one of a name wins, and it alone is passed.
        if name != PADDING && !command.env[i + 1..].iter().any(|(later, _)| later == name) {
            variables.push(join(name.as_ref(), value.as_ref()));
        }
    }
    variables
}

fn teach(launcher: &mut Launcher, prepared: &Prepared) -> Result<(), Trouble> {
    launcher.send(
        Request::Add { payload: prepared.payload.len() as u64 },
        &prepared.payload,
        &[],
    )?;
    loop {
        match launcher.receive()? {
            Answer::Reply(Reply { failure: None, .. }) => return Ok(()),
            Answer::Reply(Reply { failure: Some((step, error)), .. }) => {
                return Err(Trouble::Error(failed(prepared, step, error)));
            }
            Answer::Signal => {}
            Answer::Gone => return Err(Trouble::Gone),
        }
    }
}

fn run_once(
    launcher: &mut Launcher,
    subject: SubjectId,
    piped: bool,
    options: RunOptions,
) -> Result<(Reply, Option<Capture>), Trouble> {
    let signals_before = interrupt::count();
    let request = Request::Run {
        subject: subject.0,
        // A timeout of nothing is the shortest there is, not none.
        timeout_ns: options.timeout.map_or(0, |t| {
            u64::try_from(t.as_nanos()).unwrap_or(u64::MAX).clamp(1, i64::MAX as u64 / 2)
        }),
        padding: options.pad.min(MOST_PADDING),
        stdout: piped,
        stderr: options.capture_stderr,
    };
    let mut capture = None;
    if piped || options.capture_stderr {
        let (reader, writers) =
            Capture::open(piped, options.capture_stderr).map_err(io::Error::from)?;
        let descriptors: Vec<_> = writers.iter().map(std::os::fd::AsFd::as_fd).collect();
        launcher.send(request, &[], &descriptors)?;
        capture = Some(reader);
    } else {
        launcher.send(request, &[], &[])?;
    }
    let mut aborted = false;
    loop {
        let waited = match &mut capture {
            Some(capture) => capture.read_until(launcher.socket()),
            None => Ok(()),
        };
        let answer = match waited {
            Ok(()) => launcher.receive()?,
            Err(Errno::INTR) => Answer::Signal,
            Err(error) => return Err(io::Error::from(error).into()),
        };
        match answer {
            Answer::Reply(_) if aborted => return Err(Trouble::Error(MeasureError::Interrupted)),
            Answer::Reply(reply) => return Ok((reply, capture)),
            Answer::Gone if aborted => return Err(Trouble::Aborted),
            Answer::Gone => return Err(Trouble::Gone),
            // The first signal lets the run finish; only what came during this run counts, so that
            // a cleanup can still be run after an interruption.
            Answer::Signal => {
                let signals = interrupt::count();
                if signals >= 2 && signals > signals_before {
                    aborted = true;
                    if !launcher.page().kill_group() {
                        // Just before a start, or opening an input that nobody writes to.
                        launcher.kill()?;
                    }
                }
            }
        }
    }
}

fn outcome(reply: &Reply) -> Outcome {
    if reply.timed_out {
        Outcome::TimedOut
    } else if reply.wanted_terminal {
        Outcome::WantedTerminal
    } else if libc::WIFSIGNALED(reply.status) {
        Outcome::Signalled(libc::WTERMSIG(reply.status))
    } else {
        Outcome::Exited(libc::WEXITSTATUS(reply.status))
    }
}

/// The exactly rounded number of seconds: a difference below 2^53 ns (104 days) is an exact f64,
/// and division rounds once.
fn seconds_between(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}

fn failed(prepared: &Prepared, step: Step, error: i32) -> MeasureError {
    let source = io::Error::from_raw_os_error(error);
    let program = prepared.program.clone();
    let owned = Path::to_owned;
    match step {
        Step::Stdin => MeasureError::Input { program, path: owned(&prepared.input), source },
        Step::Stdout => MeasureError::Output { program, path: owned(&prepared.output), source },
        Step::Directory => {
            MeasureError::Directory { program, path: owned(&prepared.directory), source }
        }
        Step::Exec | Step::Spawn => {
            let error = Errno::from_raw_os_error(error);
            match explain_refusal(&prepared.path, error) {
                Some(explained) if step == Step::Exec => MeasureError::Resolve(explained),
                _ => MeasureError::Start {
                    program,
                    path: owned(&prepared.path),
                    source,
                    hint: start_hint(error),
                },
            }
        }
        Step::Request | Step::Memory | Step::Stderr | Step::Wait => MeasureError::Internal {
            what: format!("the launcher failed at step {step:?} of `{program}`: {source}"),
        },
    }
}

fn start_hint(error: Errno) -> &'static str {
    match error {
        Errno::TOOBIG => "\nIts arguments and environment are longer than the system allows.",
        Errno::AGAIN => "\nThere are too many processes: see `ulimit -u`.",
        Errno::TXTBSY => "\nSomebody has the file open for writing: wait until it is built.",
        Errno::NOENT => "\nIts loader or a directory of its path is not there: see `file` on it.",
        _ => "",
    }
}
