//! Commands in processes that stay loaded between runs: where such a process is kept, how it is
//! found again, and how a command is run in it.
//!
//! Each process has a keeper ([`keeper`]), which is `assay` itself in the background and answers on
//! a socket in a private directory. Runs are requested on the preloaded process's own socket in the
//! same directory. Runs in progress share a lock.

mod keeper;

pub(crate) use keeper::keep;

use crate::preloading;
use crate::{output, own};
use anyhow::Context;
use assay_data::private;
use assay_measure::directories::cache_directory;
use assay_measure::preloaded::{self, Client, PreloadedError, PreloadedRun, Waiting};
use assay_measure::{Command, Outcome, git};
use assay_suites::coverage::sum;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Maximum time to wait for a keeper's answer, which normally arrives immediately.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
/// Maximum time to wait until a keeper is started, which takes milliseconds.
const STARTS_WITHIN: Duration = Duration::from_secs(10);
/// Interval between queries while a process is loading.
const LOOK: Duration = Duration::from_millis(5);
/// Name of the keeper's socket in its directory.
const CONTROL: &str = "control";
/// Name of the file that contains the keeper's process ID.
const NUMBER: &str = "keeper";
/// Name of the lock that runs share while they are in progress.
const IN_USE: &str = "runs";
/// Name of the file that receives the keeper's messages.
const SAID: &str = "keeper.log";
/// Name of the socket of the preloaded process.
const SOCKET: &str = "socket";
/// Name of the lock that is held while a keeper's directory is created or removed.
const LOCK: &str = "lock";

/// Environment variables that differ between terminals or commands and do not affect the loaded
/// code.
const PASSING: [&str; 31] = [
    "_",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "TERM",
    "TERMCAP",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "WINDOWID",
    "WINDOWPATH",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "STY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_STARTUP_ID",
    "LS_COLORS",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "PS1",
    "PS2",
    "PROMPT_COMMAND",
    "HISTFILE",
    "HISTSIZE",
    "MAIL",
    "INVOCATION_ID",
];
const PASSING_BY_PREFIX: [&str; 11] = [
    "TERM_",
    "TMUX",
    "SSH_",
    "XDG_SESSION_",
    "VTE_",
    "KITTY_",
    "ITERM_",
    "WEZTERM_",
    "GPG_",
    "DIRENV_",
    "STARSHIP_",
];

/// The reason why a command was not run in a preloaded process.
pub(crate) enum NotRun {
    /// The command cannot run in a preloaded process, for this reason. It can still be run without
    /// preloading.
    Cold(String),
    /// The process was lost after the command was sent to it.
    Lost(PreloadedError),
}

/// The directory of a kept process.
#[derive(Clone, Debug)]
pub(crate) struct ProcessDirectory {
    directory: PathBuf,
}

/// Returns the parent directory of all process directories of this user.
///
/// # Errors
///
/// Returns an error if there is no such directory.
fn base() -> anyhow::Result<PathBuf> {
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let session = session.filter(|path| path.is_absolute() && path.is_dir());
    let base = match session {
        Some(session) => session.join("assay"),
        None => cache_directory().context(
            "neither XDG_RUNTIME_DIR, XDG_CACHE_HOME nor HOME names a directory to keep it in",
        )?,
    };
    Ok(base.join("warm"))
}

/// Returns all directories in which a process is, or was, kept.
pub(crate) fn all() -> anyhow::Result<Vec<ProcessDirectory>> {
    let Ok(entries) = fs::read_dir(base()?) else { return Ok(Vec::new()) };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.join(CONTROL).exists());
    found.sort();
    Ok(found.into_iter().map(|directory| ProcessDirectory { directory }).collect())
}

/// Returns the root of the repository around the current directory, or else the current directory.
fn root() -> anyhow::Result<PathBuf> {
    let here = Path::new(".").canonicalize().context("the current directory")?;
    Ok(git::top(&here).unwrap_or(here))
}

impl ProcessDirectory {
    /// Returns the directory for a command's process, whether or not the process exists.
    ///
    /// # Errors
    ///
    /// Returns a message that explains why the command cannot have a preloaded process.
    pub fn of(command: &Command) -> Result<Self, String> {
        let way = preloading::of(command)?;
        let base = base().map_err(|error| output::told(&error))?;
        let program = command.resolve().map_err(|error| error.to_string())?;
        let directory = preloading::directory(command)?;
        let env = preloading::environment(command, &way)?;
        let lasting = env.iter().filter(|(name, _)| !is_passing(name));
        let lasting: Vec<String> = lasting.map(|(name, value)| format!("{name}={value}")).collect();
        let parts = [
            env!("CARGO_PKG_VERSION"),
            &program.display().to_string(),
            &directory,
            &way.kind.join("\n"),
            &lasting.join("\n"),
        ];
        let key = sum(parts.join("\0").as_bytes());
        let place = Self { directory: base.join(format!("{key:016x}")) };
        preloading::fits(&place.directory)?;
        Ok(place)
    }

    /// Sends a query to the keeper of the process.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no keeper or it does not answer.
    pub fn ask(&self, question: &Value) -> Result<Value, PreloadedError> {
        Client::of(self.directory.join(CONTROL)).ask(question, ANSWERS_WITHIN)
    }

    /// Ends the kept process and its runs, and waits until it has ended. Returns false if there was
    /// no process.
    pub fn stop(&self) -> bool {
        let asked = self.ask(&json!({"stop": true}));
        let began = Instant::now();
        while self.directory.exists() && asked.is_ok() && began.elapsed() < ANSWERS_WITHIN {
            std::thread::sleep(LOOK);
        }
        asked.is_ok()
    }

    /// Starts a keeper if none is running. Concurrent calls start only one.
    fn keeper(&self, command: &Command, idle: Duration) -> anyhow::Result<()> {
        if self.is_kept() {
            return Ok(());
        }
        let _lock = locked(self.directory.parent().unwrap_or(Path::new("/")))?;
        if self.is_kept() {
            return Ok(());
        }
        // Remove what a killed keeper may have left behind.
        let _not_there = fs::remove_dir_all(&self.directory);
        private::directory(&self.directory).with_context(|| self.named())?;
        let said = private::create(&self.directory.join(SAID)).with_context(|| self.named())?;
        let mut keeper = std::process::Command::new(own::program()?);
        keeper.args(["warm", "--idle", &format!("{}s", idle.as_secs_f64()), "--keep"]);
        keeper.arg0("assay").arg(&self.directory).arg("--").args(&command.argv);
        keeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let mut keeper = preloaded::in_the_background(keeper)
            .context("its background process can't be started")?;
        let began = Instant::now();
        while !self.is_kept() {
            let ended = keeper.try_wait().ok().flatten();
            if ended.is_some() || began.elapsed() > STARTS_WITHIN {
                let said = fs::read_to_string(self.directory.join(SAID)).unwrap_or_default();
                let said = Some(said.trim()).filter(|said| !said.is_empty());
                anyhow::bail!(
                    "its background process does not start: {}",
                    said.unwrap_or("it said nothing")
                );
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn is_kept(&self) -> bool {
        self.ask(&json!({"there": true})).is_ok()
    }

    fn named(&self) -> String {
        self.directory.display().to_string()
    }
}

/// Runs a command in its preloaded process, with the standard streams of this process. Starts the
/// preloaded process if necessary. `wait` is the maximum time for loading.
pub(crate) fn run(command: &Command, wait: Duration, idle: Duration) -> Result<Outcome, NotRun> {
    let cold = |why: &dyn std::fmt::Display| NotRun::Cold(why.to_string());
    let place = ProcessDirectory::of(command).map_err(NotRun::Cold)?;
    let way = preloading::of(command).map_err(NotRun::Cold)?;
    let env = preloading::environment(command, &way).map_err(NotRun::Cold)?;
    let directory = preloading::directory(command).map_err(NotRun::Cold)?;
    place.keeper(command, idle).map_err(|error| NotRun::Cold(output::told(&error)))?;
    // While this lock is held, the keeper does not count as idle. The lock is released even if this
    // process is killed.
    let in_use = File::open(place.directory.join(IN_USE)).and_then(|file| {
        file.lock_shared()?;
        Ok(file)
    });
    let _in_use = in_use.map_err(|error| cold(&error))?;
    let asked = PreloadedRun { argv: &way.words, env: &env, directory: &directory };
    let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
    let streams = [input.as_fd(), output.as_fd(), errors.as_fd()];
    let client = Client::of(place.directory.join(SOCKET));
    let mut is_again = false;
    loop {
        let (is_loaded, since) = ready(&place, (wait, idle), is_again)?;
        let patience = preloading::patience(is_loaded, since, wait);
        is_again = true;
        let mut never = || false;
        let mut waiting = Waiting { every: patience, also: &[], stops: &mut never };
        match client.begin(&asked, streams, patience, &mut waiting) {
            Ok(running) => return preloaded::relayed(running).map_err(NotRun::Lost),
            // The process has been restarted, so try again.
            Err(PreloadedError::Absent) => {}
            Err(error @ PreloadedError::Silent(_)) if is_loaded => {
                // The process is stuck. Restart it for the next run.
                let _not_there = place.ask(&json!({"restart": true}));
                return Err(cold(&error));
            }
            Err(error) => return Err(cold(&error)),
        }
    }
}

/// Waits until the process accepts runs. Returns whether it has loaded everything, and how long it
/// has been loading. With each query, the keeper reports changed files to the process.
fn ready(
    place: &ProcessDirectory,
    (wait, idle): (Duration, Duration),
    is_again: bool,
) -> Result<(bool, Duration), NotRun> {
    let mut use_it = json!({"use": true, "idle": idle.as_secs_f64(), "again": is_again});
    loop {
        let answer = place.ask(&use_it).map_err(|error| NotRun::Cold(error.to_string()))?;
        use_it["again"] = true.into();
        let since = Duration::from_secs_f64(answer["since"].as_f64().unwrap_or_default().max(0.0));
        match answer["standing"].as_str() {
            Some("ready") => return Ok((answer["loaded"] == true, since)),
            Some("loading") if since < wait => std::thread::sleep(LOOK),
            Some("loading") => {
                return Err(NotRun::Cold(PreloadedError::Silent(wait).to_string()));
            }
            _ => {
                let why = answer["why"].as_str().unwrap_or("is unavailable");
                return Err(NotRun::Cold(format!("the preloaded process {why}")));
            }
        }
    }
}

/// Reports why a command is run without preloading, and replaces this process by the command.
/// Returns only if that fails.
pub(crate) fn run_cold(command: &Command, why: &str) -> anyhow::Error {
    output::say(&format!("assay: run cold: {why}"));
    preloaded::become_program(command).into()
}

fn is_passing(name: &str) -> bool {
    PASSING.contains(&name) || PASSING_BY_PREFIX.iter().any(|prefix| name.starts_with(prefix))
}

/// Acquires the lock for creating or removing a directory in `base`. Also creates `base`,
/// accessible only to this user.
fn locked(base: &Path) -> anyhow::Result<File> {
    let named = || base.display().to_string();
    private::directory(base).with_context(named)?;
    let lock = private::create(&base.join(LOCK)).with_context(named)?;
    let (found, own) = (fs::metadata(base)?, lock.metadata()?);
    anyhow::ensure!(
        found.uid() == own.uid() && found.mode() & 0o077 == 0,
        "{} is accessible to other users: chmod 700 it",
        named()
    );
    lock.lock().with_context(named)?;
    Ok(lock)
}

/// Returns what the keeper reports about its process; `None` if there is no keeper.
pub(crate) fn held(place: &ProcessDirectory) -> Option<assay_report::preloaded::PreloadedProcess> {
    let answer = place.ask(&json!({"status": true})).ok()?;
    keeper::told(&answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_no_reason_for_another_process_and_a_setting_is() {
        for name in ["TERM", "TMUX_PANE", "SSH_TTY", "PWD", "XDG_SESSION_ID"] {
            assert!(is_passing(name), "{name}");
        }
        for name in ["RAILS_ENV", "PATH", "LANG", "XDG_RUNTIME_DIR", "DATABASE_URL"] {
            assert!(!is_passing(name), "{name}");
        }
    }
}
