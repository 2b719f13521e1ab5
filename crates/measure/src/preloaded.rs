//! A process that has a command's libraries and application loaded, and is forked for every run of it: its start, what it is told and asked,
//! and its end (docs/reference/preloading.md). How a language's interpreter is made to wait is not known here: that is in the variables of the
//! command.
//!
//! It ends with whoever started it, however that comes about: a guard kills its group, and a descriptor that comes to its end tells it to
//! end by itself, with its stages and runs. Whether it answers is never relied upon: every question has a limit, and what can't be had is a
//! reason to run the command cold.

mod captured;
mod client;
mod relayed;

pub use client::{Asked, Client, Running, Stage, State, Waiting};
pub use relayed::{end_by, relayed};

use crate::command::Command;
use crate::foreground::ForegroundError;
use crate::resolve::ResolveError;
use crate::runner::Outcome;
use crate::sys::child;
use crate::sys::launcher::Launcher;
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

/// A question that is answered at once takes no longer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// So long a process may take to end by itself.
const ENDS_WITHIN: Duration = Duration::from_secs(1);
/// One that can't be asked yet is taken to be stuck when it loads for so long, or for so many times what it took at the longest, but for this at least.
const STUCK_AFTER: Duration = Duration::from_secs(20);
const STUCK_TIMES: u32 = 3;
const STUCK_LEAST: Duration = Duration::from_secs(2);
/// So much of what it printed is told, from its end.
const TAIL: u64 = 600;
/// The file of what it prints, beside its socket.
const LOG: &str = "log";
const SOCKET: &str = "socket";

/// Why a run can't be had of a preloaded process.
#[derive(Debug, thiserror::Error)]
pub enum PreloadedError {
    /// The program is not there.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// It can't be started, or spoken with.
    #[error("the preloaded process can't be had: {0}")]
    System(#[from] io::Error),
    /// Nobody is at its socket: it begins anew, or has ended.
    #[error("the preloaded process is not there")]
    Absent,
    /// It ended by itself.
    #[error("the preloaded process {0}")]
    Ended(String),
    /// It says that it can't.
    #[error("{0}")]
    Refused(String),
    /// It did not answer in time.
    #[error("the preloaded process was not ready within {}", seconds(*.0))]
    Silent(Duration),
    /// It went while the run was going on, and the run with it.
    #[error("the preloaded process died during the run")]
    Lost,
    /// Whoever waits gave it up.
    #[error("it was given up")]
    Stopped,
}

/// A span as people write it.
fn seconds(span: Duration) -> String {
    match span.subsec_millis() {
        0 => format!("{} s", span.as_secs()),
        _ => format!("{:.1} s", span.as_secs_f64()),
    }
}

/// What is started.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The command, with the variables by which its interpreter is made to wait.
    pub command: Command,
    /// A private directory, for the socket and the log.
    pub directory: PathBuf,
    /// The top of the project.
    pub root: PathBuf,
    /// Where the process writes down what its runs loaded.
    pub seen: Option<PathBuf>,
}

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It loads, for so long.
    Loading(Duration),
    /// It can be asked.
    Ready,
    /// It has ended: how, and what it said.
    Ended(String),
}

/// The process.
pub struct Preloaded {
    recipe: Recipe,
    child: Child,
    ended: Option<String>,
    /// Its end tells the process that we are gone.
    life: Option<OwnedFd>,
    guard: Launcher,
    /// Since when it loads, or loads anew.
    since: Instant,
    /// Whether it was seen to have loaded all since then.
    is_loaded: bool,
    /// The longest that it took from its start until it could be asked.
    longest: Duration,
    /// What changed before it could be told.
    untold: BTreeSet<PathBuf>,
    /// The files that it has loaded, as they were then.
    loaded: BTreeMap<PathBuf, Option<Stamp>>,
}

/// By what a file is seen to be another one.
type Stamp = (u64, u64, i64, i64);

impl Preloaded {
    /// Starts it; it loads in the background.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start(recipe: Recipe) -> Result<Self, PreloadedError> {
        let (child, life, guard) = started(&recipe)?;
        let (untold, loaded) = Default::default();
        let since = Instant::now();
        let (ended, life, is_loaded, longest) = (None, Some(life), false, Duration::ZERO);
        Ok(Self { recipe, child, ended, life, guard, since, is_loaded, longest, untold, loaded })
    }

    /// Ends it, and starts it again: whatever changed is loaded then.
    ///
    /// # Errors
    /// As [`Preloaded::start`] has them; it is gone then.
    pub fn restart(&mut self) -> Result<(), PreloadedError> {
        self.end();
        let (child, life, guard) = started(&self.recipe)?;
        (self.child, self.life, self.guard) = (child, Some(life), guard);
        (self.ended, self.since, self.is_loaded) = (None, Instant::now(), false);
        self.untold.clear();
        self.loaded.clear();
        Ok(())
    }

    /// Whoever asks it.
    pub fn client(&self) -> Client {
        Client::of(self.recipe.directory.join(SOCKET))
    }

    /// Its number.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// How far it is.
    pub fn standing(&mut self) -> Standing {
        if self.ended.is_none()
            && let Ok(Some((_, status))) = waitpid(Some(self.pid()), WaitOptions::NOHANG)
        {
            // Its number may be given anew from here on; what it left in its group was its own.
            self.kill_group();
            self.guard.page().set_group(0);
            let how = Outcome::of_status(status.as_raw());
            let said = self.said();
            let said = if said.is_empty() { said } else { format!("; it said: {said}") };
            self.ended = Some(format!("{how}{said}"));
        }
        match &self.ended {
            Some(how) => Standing::Ended(how.clone()),
            None if self.recipe.directory.join(SOCKET).exists() => Standing::Ready,
            None => Standing::Loading(self.since.elapsed()),
        }
    }

    /// So long ago it began to load what it loads, or has loaded, last.
    pub fn loads_since(&self) -> Duration {
        self.since.elapsed()
    }

    /// Whether it has loaded all since then, so that a run would begin at once.
    pub fn is_loaded(&mut self) -> bool {
        if !self.is_loaded {
            // A run waits for the answer.
            self.ask(false);
        }
        self.is_loaded
    }

    /// Whether it had loaded a file when it was asked last.
    pub fn has_loaded(&self, path: &Path) -> bool {
        self.loaded.contains_key(path)
    }

    /// Tells it which files have changed, as soon as it can be told. It loads what that makes necessary in the background.
    ///
    /// # Errors
    /// When it does not answer, or is gone.
    pub fn tell(
        &mut self,
        changed: impl IntoIterator<Item = PathBuf>,
    ) -> Result<(), PreloadedError> {
        // What it writes itself is none of the project's, wherever it lies.
        let own = [Some(self.recipe.directory.as_path()), self.recipe.seen.as_deref()];
        let is_own = |path: &PathBuf| own.iter().flatten().any(|own| path.starts_with(own));
        self.untold.extend(changed.into_iter().filter(|path| !is_own(path)));
        if self.untold.is_empty() {
            return Ok(());
        }
        match self.standing() {
            Standing::Ready => {}
            // It may be stuck in what has been mended by now.
            Standing::Loading(since) if since > self.stuck_after() => return self.restart(),
            _ => return Ok(()),
        }
        let paths: Vec<&Path> = self.untold.iter().map(PathBuf::as_path).collect();
        let stage = match self.client().changed(&paths, ANSWERS_WITHIN) {
            Ok(stage) => stage,
            // Questions are answered at any time; it is stuck, or is beginning anew.
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

    /// Whoever loads for longer is not expected to come to an end.
    fn stuck_after(&self) -> Duration {
        match self.longest.is_zero() {
            true => STUCK_AFTER,
            false => self.longest.saturating_mul(STUCK_TIMES).max(STUCK_LEAST),
        }
    }

    /// Looks at the files that it had loaded when it was asked last, and tells it of those that have changed: nothing is missed so, whoever
    /// watches files.
    ///
    /// # Errors
    /// As [`Preloaded::tell`] has them.
    pub fn check(&mut self) -> Result<(), PreloadedError> {
        let other = self.loaded.iter().filter(|(path, known)| stamp(path) != **known);
        let changed: Vec<PathBuf> = other.map(|(path, _)| path.clone()).collect();
        self.tell(changed)
    }

    /// Asks how it stands, and notes what it has loaded; `None` as long as it can't be asked.
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

    /// The end of what it printed, on one line.
    fn said(&self) -> String {
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
        // That nobody is left is no harm.
        let _gone = kill_process_group(self.pid(), Signal::KILL);
    }

    /// Ends it, with all its stages and runs: asked to, then made to.
    fn end(&mut self) {
        if self.ended.is_none() && !matches!(self.standing(), Standing::Ended(_)) {
            // One that can't be asked sees the end of its descriptor, or is killed.
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
    child::hand_down(&mut process, "ASSAY_WARM_LIFE", &theirs);
    child::end_with_us_as_session(&mut process, Arc::clone(guard.page()));
    let child = process.spawn().inspect_err(|_| guard.page().set_group(0))?;
    Ok((child, ours, guard))
}

/// Starts a program that outlives this process and its terminal.
///
/// # Errors
/// What the system says.
pub fn in_the_background(mut command: std::process::Command) -> io::Result<Child> {
    child::lead_a_session(&mut command);
    command.spawn()
}

/// Becomes a command, with our own input, output and environment. Comes back only if that can't be done.
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
