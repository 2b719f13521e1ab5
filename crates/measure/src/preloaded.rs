//! A process that has loaded a command's libraries and application, and is forked for every run:
//! its start, messages and queries, and its end (docs/internals/preloading.md). How a language's
//! interpreter is made to wait is determined by the command's environment variables, not here.
//!
//! The process ends when its parent does, however the parent ends: a guard kills the process's
//! group, and the closing of a descriptor makes the process end by itself, together with its stages
//! and runs. Its responses are never relied upon: every query has a time limit, and if a run is
//! unavailable, the command is run cold.

mod captured;
mod client;
mod relayed;

pub use client::{Client, PreloadedRun, Running, Stage, State, Waiting};
pub use relayed::{end_by, relayed};

use crate::command::Command;
use crate::foreground::ForegroundError;
use crate::resolve::ResolveError;
use crate::runner::Outcome;
use crate::sys::child;
use crate::sys::launcher::Launcher;
use assay_data::system_error::reason;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpid};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time limit for queries that are answered immediately.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// Time limit for a process to end by itself.
const ENDS_WITHIN: Duration = Duration::from_secs(1);
/// Loading time after which a process that can't be queried is considered stuck, if it was never
/// ready. Otherwise, the limit is [`STUCK_TIMES`] times its longest loading time, but at least
/// [`STUCK_LEAST`].
const STUCK_AFTER: Duration = Duration::from_secs(20);
const STUCK_TIMES: u32 = 3;
const STUCK_LEAST: Duration = Duration::from_secs(2);
/// Number of bytes read from the end of the process's output for error messages.
const TAIL: u64 = 600;
/// Name of the file with the process's output, which is in the same directory as the socket.
const LOG: &str = "log";
const SOCKET: &str = "socket";

/// Reasons why a run in a preloaded process is unavailable.
#[derive(Debug, thiserror::Error)]
pub enum PreloadedError {
    /// The program can't be found or run.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The process can't be started, or communication failed.
    #[error("the preloaded process is unavailable: {}", reason(.0))]
    System(#[from] io::Error),
    /// Nothing listens on the process's socket: the process is restarting, or has ended.
    #[error("the preloaded process is not running")]
    Absent,
    /// The process ended by itself. The text says how.
    #[error("the preloaded process {0}")]
    Ended(String),
    /// The process refused the request for this reason.
    #[error("{0}")]
    Refused(String),
    /// The process did not answer within this time.
    #[error("the preloaded process was not ready within {}", seconds(*.0))]
    Silent(Duration),
    /// The process ended during the run, which is lost.
    #[error("the preloaded process died during the run")]
    Lost,
    /// The caller gave up waiting.
    #[error("it was abandoned")]
    Stopped,
}

/// Formats a duration for error messages.
fn seconds(span: Duration) -> String {
    match span.subsec_millis() {
        0 => format!("{} s", span.as_secs()),
        _ => format!("{:.1} s", span.as_secs_f64()),
    }
}

/// Parameters for starting a preloaded process.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The command, including the variables that make its interpreter wait.
    pub command: Command,
    /// A private directory for the socket and the log.
    pub directory: PathBuf,
    /// Root directory of the project.
    pub root: PathBuf,
    /// File in which the process records the files that its runs loaded.
    pub seen: Option<PathBuf>,
}

/// Progress of a preloaded process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The process has been loading for this long.
    Loading(Duration),
    /// The process can be queried.
    Ready,
    /// The process has ended. The text describes its status and output.
    Ended(String),
}

/// A preloaded process. It is ended on drop.
pub struct Preloaded {
    recipe: Recipe,
    child: Child,
    ended: Option<String>,
    /// A descriptor whose closing tells the process that we are gone.
    life: Option<OwnedFd>,
    guard: Launcher,
    /// Time at which the current loading or reloading began.
    since: Instant,
    /// True if the process is known to have finished loading since `since`.
    is_loaded: bool,
    /// Longest total load time of the stages observed so far.
    longest: Duration,
    /// Changes that could not be reported to the process yet.
    untold: BTreeSet<PathBuf>,
    /// The files that the process has loaded, with their metadata at that time.
    loaded: BTreeMap<PathBuf, Option<Stamp>>,
}

/// Inode number, size, and modification time (seconds and nanoseconds) of a file.
type Stamp = (u64, u64, i64, i64);

impl Preloaded {
    /// Starts the process, which loads in the background.
    ///
    /// # Errors
    ///
    /// Returns an error if the process can't be started.
    pub fn start(recipe: Recipe) -> Result<Self, PreloadedError> {
        let (child, life, guard) = started(&recipe)?;
        let (untold, loaded) = Default::default();
        let since = Instant::now();
        let (ended, life, is_loaded, longest) = (None, Some(life), false, Duration::ZERO);
        Ok(Self { recipe, child, ended, life, guard, since, is_loaded, longest, untold, loaded })
    }

    /// Ends the process and starts it again, so that it loads all changes.
    ///
    /// # Errors
    ///
    /// Fails as [`Preloaded::start`] does. No process is running then.
    pub fn restart(&mut self) -> Result<(), PreloadedError> {
        self.end();
        let (child, life, guard) = started(&self.recipe)?;
        (self.child, self.life, self.guard) = (child, Some(life), guard);
        (self.ended, self.since, self.is_loaded) = (None, Instant::now(), false);
        self.untold.clear();
        self.loaded.clear();
        Ok(())
    }

    /// Returns a client for the process.
    pub fn client(&self) -> Client {
        Client::of(self.recipe.directory.join(SOCKET))
    }

    /// Returns the process ID.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the progress of the process.
    pub fn standing(&mut self) -> Standing {
        if self.ended.is_none()
            && let Ok(Some((_, status))) = waitpid(Some(self.pid()), WaitOptions::NOHANG)
        {
            // From here on, the process ID may be reused. Processes left in the group belonged to
            // this process.
            self.kill_group();
            self.guard.page().set_group(0);
            let how = Outcome::of_status(status.as_raw());
            let said = self.output_tail();
            let said = if said.is_empty() { said } else { format!("; it said: {said}") };
            self.ended = Some(format!("{how}{said}"));
        }
        match &self.ended {
            Some(how) => Standing::Ended(how.clone()),
            None if self.recipe.directory.join(SOCKET).exists() => Standing::Ready,
            None => Standing::Loading(self.since.elapsed()),
        }
    }

    /// Returns the time since the process last began to load or to reload.
    pub fn loads_since(&self) -> Duration {
        self.since.elapsed()
    }

    /// Returns true if the process has finished loading, so that a run would begin immediately.
    pub fn is_loaded(&mut self) -> bool {
        if !self.is_loaded {
            // A run is waiting for the answer, so memory is not queried.
            self.ask(false);
        }
        self.is_loaded
    }

    /// Returns true if the process had loaded a file when it was last queried.
    pub fn has_loaded(&self, path: &Path) -> bool {
        self.loaded.contains_key(path)
    }

    /// Reports changed files to the process as soon as possible. The process reloads the necessary
    /// parts in the background. It is restarted if it does not answer.
    ///
    /// # Errors
    ///
    /// Returns an error if communication with the process fails, or if it can't be restarted.
    pub fn tell(
        &mut self,
        changed: impl IntoIterator<Item = PathBuf>,
    ) -> Result<(), PreloadedError> {
        // Files that the process itself writes are not part of the project, wherever they are.
        let own = [Some(self.recipe.directory.as_path()), self.recipe.seen.as_deref()];
        let is_own = |path: &PathBuf| own.iter().flatten().any(|own| path.starts_with(own));
        self.untold.extend(changed.into_iter().filter(|path| !is_own(path)));
        if self.untold.is_empty() {
            return Ok(());
        }
        match self.standing() {
            Standing::Ready => {}
            // The process may be stuck in code that has been corrected since then.
            Standing::Loading(since) if since > self.stuck_after() => return self.restart(),
            _ => return Ok(()),
        }
        let paths: Vec<&Path> = self.untold.iter().map(PathBuf::as_path).collect();
        let stage = match self.client().changed(&paths, ANSWERS_WITHIN) {
            Ok(stage) => stage,
            // A working process always answers queries, so this one is stuck or restarting.
            Err(PreloadedError::Silent(_)) => return self.restart(),
            Err(PreloadedError::Absent) => return Ok(()),
            Err(error) => return Err(error),
        };
        if stage.is_some() {
            (self.since, self.is_loaded) = (Instant::now(), false);
        }
        for path in std::mem::take(&mut self.untold) {
            if let Some(known) = self.loaded.get_mut(&path) {
                *known = stamp(&path);
            }
        }
        Ok(())
    }

    /// Returns the loading time after which the process is considered stuck.
    fn stuck_after(&self) -> Duration {
        match self.longest.is_zero() {
            true => STUCK_AFTER,
            false => self.longest.saturating_mul(STUCK_TIMES).max(STUCK_LEAST),
        }
    }

    /// Checks the files that the process had loaded when it was last queried, and reports those
    /// that have changed. This finds every change to them, even if no files are watched.
    ///
    /// # Errors
    ///
    /// Fails as [`Preloaded::tell`] does.
    pub fn check(&mut self) -> Result<(), PreloadedError> {
        let other = self.loaded.iter().filter(|(path, known)| stamp(path) != **known);
        let changed: Vec<PathBuf> = other.map(|(path, _)| path.clone()).collect();
        self.tell(changed)
    }

    /// Queries the state of the process, and records the files it has loaded. Returns `None` if the
    /// process cannot be queried at present.
    pub fn look(&mut self) -> Option<State> {
        self.ask(true)
    }

    fn ask(&mut self, memory: bool) -> Option<State> {
        if self.standing() != Standing::Ready {
            return None;
        }
        let state = self.client().state(memory, ANSWERS_WITHIN).ok()?;
        self.is_loaded |= state.ready;
        let took = state.stages.iter().map(|stage| stage.seconds).sum();
        self.longest = self.longest.max(Duration::try_from_secs_f64(took).unwrap_or_default());
        let mut known = std::mem::take(&mut self.loaded);
        let stamped = |path: &PathBuf| {
            let before = known.remove(path);
            (path.clone(), before.unwrap_or_else(|| stamp(path)))
        };
        self.loaded = state.loaded.iter().map(stamped).collect();
        Some(state)
    }

    /// Returns the last lines of the process's output, joined into one line.
    fn output_tail(&self) -> String {
        let file = File::open(self.recipe.directory.join(LOG));
        let said = file.and_then(|mut file| {
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        });
        let said = said.unwrap_or_default();
        let lines: Vec<&str> =
            said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join(" / ")
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn kill_group(&self) {
        // This is harmless if the group is empty.
        let _gone = kill_process_group(self.pid(), Signal::KILL);
    }

    /// Ends the process with all its stages and runs, first by request, then by force.
    fn end(&mut self) {
        if self.ended.is_none() && !matches!(self.standing(), Standing::Ended(_)) {
            // If the process can't be queried, it detects that its descriptor was closed, or is
            // killed.
            let _unasked = self.client().stop();
            self.life = None;
            let began = Instant::now();
            while began.elapsed() < ENDS_WITHIN && !matches!(self.standing(), Standing::Ended(_)) {
                std::thread::sleep(Duration::from_millis(2));
            }
            if self.ended.is_none() {
                self.kill_group();
                let _status = self.child.wait();
                self.guard.page().set_group(0);
                self.ended = Some("was ended".to_owned());
            }
        }
        for name in [SOCKET, "socket.stages", "socket.new"] {
            let _not_there = fs::remove_file(self.recipe.directory.join(name));
        }
    }
}

impl Drop for Preloaded {
    fn drop(&mut self) {
        self.end();
    }
}

fn started(recipe: &Recipe) -> Result<(Child, OwnedFd, Launcher), PreloadedError> {
    let program = recipe.command.resolve()?;
    let (theirs, ours) = io::pipe()?;
    let (theirs, ours) = (OwnedFd::from(theirs), OwnedFd::from(ours));
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(recipe.directory.join(LOG))?;
    log.set_len(0)?;
    let place = |path: &Path| format!("path:{}", path.display());
    let mut process = std::process::Command::new(program);
    process
        .arg0(&recipe.command.argv[0])
        .args(&recipe.command.argv[1..])
        .envs(recipe.command.env.iter().map(|(name, value)| (name, value)))
        .env("ASSAY_WARM", place(&recipe.directory.join(SOCKET)))
        .env("ASSAY_WARM_ROOT", place(&recipe.root))
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    if let Some(seen) = &recipe.seen {
        process.env("ASSAY_WARM_SEEN", place(seen));
    }
    if let Some(directory) = &recipe.command.cwd {
        process.current_dir(directory);
    }
    let guard = Launcher::start_as_guard()?;
    // Note: the guard's page has the group, the process's life depends on a descriptor, and clients
    // kill their runs when the connection breaks. With only one of the three, killing a particular
    // process leaves others behind.
    child::hand_down(&mut process, "ASSAY_WARM_LIFE", &theirs);
    child::end_with_us_as_session(&mut process, Arc::clone(guard.page()));
    let child = process.spawn().inspect_err(|_| guard.page().set_group(0))?;
    Ok((child, ours, guard))
}

/// Starts a program that outlives this process and its terminal.
///
/// # Errors
///
/// Returns the system's error if the program can't be started.
pub fn in_the_background(mut command: std::process::Command) -> io::Result<Child> {
    child::lead_a_session(&mut command);
    command.spawn()
}

/// Replaces this process with a command, which inherits our input, output and environment. Returns
/// only if that fails.
pub fn become_program(command: &Command) -> ForegroundError {
    let program = command.argv[0].to_string_lossy().into_owned();
    match command.resolve() {
        Ok(path) => {
            let mut own = std::process::Command::new(path);
            own.arg0(&command.argv[0]).args(&command.argv[1..]);
            ForegroundError::Start { program, source: own.exec() }
        }
        Err(error) => error.into(),
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let of = |file: Metadata| (file.ino(), file.len(), file.mtime(), file.mtime_nsec());
    fs::metadata(path).ok().map(of)
}
