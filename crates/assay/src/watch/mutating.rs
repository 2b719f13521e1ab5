//! Implements `--mutate`: while all tests pass and nothing is saved, `assay mutate` tries mutations
//! of the changes since the last commit, at the lowest priority. A save or another run cancels it
//! without waiting for it to end. Its output is shown when it has finished.

use crate::others;
use crate::output;
use assay_data::system_error::reason;
use assay_measure::room::Room;
use assay_measure::serving::Server;
use assay_measure::{Command, git};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The revision whose differences from the working tree are mutated.
const REVISION: &str = "HEAD";
/// Time limit. If not all mutations can be tried within it, a sample is.
const BUDGET: &str = "1min";
/// Maximum number of surviving mutations to show.
const MOST_SHOWN: &str = "3";
/// Interval between checks whether `assay mutate` has finished.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// The settings for running `assay mutate`.
#[derive(Clone, Debug)]
pub(crate) struct How {
    program: PathBuf,
    /// True if mutated programs run with the user's privileges, without a sandbox.
    no_sandbox: bool,
    framework: Option<String>,
}

impl How {
    /// Returns the settings with the path of `assay-mutate`.
    ///
    /// # Errors
    /// Returns an error if `assay-mutate` is not installed.
    pub fn of(no_sandbox: bool, framework: Option<String>) -> anyhow::Result<Self> {
        let program = others::program("mutate").ok_or_else(|| others::missing("mutate"))?;
        Ok(Self { program, no_sandbox, framework })
    }
}

/// How the output of `assay mutate` is formatted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub json: bool,
    pub color: bool,
    pub width: usize,
}

/// The outcome of a run of `assay mutate`.
#[derive(Debug, PartialEq)]
pub(super) enum MutationOutcome {
    /// The program finished with this output.
    Found(String),
    /// The program failed, for this reason.
    Failed(String),
}

/// Runs `assay mutate` in the background.
pub(super) struct Mutating {
    how: How,
    top: PathBuf,
    command: Vec<OsString>,
    at_work: Option<Work>,
    /// A process that was asked to end and may still be running.
    ending: Option<Work>,
    /// True if something was saved since the last complete run of `assay mutate`.
    is_due: bool,
    /// The last reported failure, which is not repeated.
    failed: Option<String>,
}

struct Work {
    // Fields are dropped in order, so the server ends before the directory with its files is
    // removed.
    server: Server,
    room: Room,
}

impl Mutating {
    pub fn new(how: How, top: &Path, command: &[OsString]) -> Self {
        Self {
            how,
            top: top.to_owned(),
            command: command.to_vec(),
            at_work: None,
            ending: None,
            is_due: true,
            failed: None,
        }
    }

    /// Returns true if `assay mutate` is running.
    pub fn is_at_work(&self) -> bool {
        self.at_work.is_some()
    }

    /// Returns true if a process is running or has yet to end, so that it must be checked from time
    /// to time.
    pub fn is_awaited(&self) -> bool {
        self.at_work.is_some() || self.ending.is_some()
    }

    /// Records that something was saved.
    pub fn saved(&mut self) {
        self.is_due = true;
    }

    /// Asks the program to end, without waiting for it.
    pub fn cancel(&mut self) {
        if let Some(work) = self.at_work.take() {
            work.server.ask_to_end();
            // If an earlier process is still running, dropping it waits for it.
            self.ending = Some(work);
        }
    }

    /// Starts `assay mutate`, unless a process is still running or everything since the last save
    /// has been tried. Returns the failure if the program cannot be started.
    pub fn begin(&mut self, look: Look) -> Option<MutationOutcome> {
        if !self.is_due || self.is_awaited() {
            return None;
        }
        let differs = git::changed_lines(&self.top, REVISION).map(|files| !files.is_empty());
        if differs == Some(false) {
            self.is_due = false;
            return None;
        }
        match self.started(look) {
            Ok(work) => {
                self.at_work = Some(work);
                None
            }
            Err(error) => self.failure(output::told(&error)),
        }
    }

    fn started(&self, look: Look) -> anyhow::Result<Work> {
        let room = Room::temporary().map_err(|(parent, error)| {
            anyhow::anyhow!("{}: {}", parent.display(), reason(&error))
        })?;
        let file = room.path().join("printed");
        // Standard output goes to a file of its own, and messages go to the server's output file.
        let shell = "exec nice -n 19 \"$@\" > \"$0\"";
        let mut words: Vec<OsString> =
            [OsString::from("/bin/sh"), "-c".into(), shell.into(), file.into()].into();
        words.push(self.how.program.clone().into());
        let color = if look.color { "always" } else { "never" };
        let options =
            ["--since", REVISION, "--budget", BUDGET, "--survivors", MOST_SHOWN, "--color", color];
        words.extend(options.map(OsString::from));
        words.extend(look.json.then(|| "--json".into()));
        words.extend(self.how.no_sandbox.then(|| "--no-sandbox".into()));
        if let Some(framework) = &self.how.framework {
            words.extend(["--framework".into(), framework.into()]);
        }
        words.push("--".into());
        words.extend(self.command.iter().cloned());
        let mut command = Command::new(words)?;
        command.cwd = Some(self.top.clone());
        command.env = vec![("COLUMNS".to_owned(), look.width.to_string())];
        if let Ok(own) = std::env::current_exe() {
            command.env.push(("ASSAY".to_owned(), own.display().to_string()));
        }
        Ok(Work { server: Server::start(&command, &[], room.path())?, room })
    }

    /// Checks whether the program has finished, and returns its outcome if so.
    pub fn look(&mut self, look: Look) -> Option<MutationOutcome> {
        if self.ending.as_ref().is_some_and(|work| work.server.status().is_some()) {
            self.ending = None;
        }
        let status = self.at_work.as_ref()?.server.status()?;
        let work = self.at_work.take()?;
        match status {
            0 | 1 => {
                (self.is_due, self.failed) = (false, None);
                let printed = fs::read_to_string(work.room.path().join("printed"));
                Some(MutationOutcome::Found(one_line_if(look.json, printed.unwrap_or_default())))
            }
            130 => None,
            _ => {
                let said = work.server.output_tail();
                let error = said.lines().rev().find_map(|line| line.strip_prefix("error: "));
                let why = error.map_or_else(|| said.trim().to_owned(), str::to_owned);
                self.failure(why)
            }
        }
    }

    /// Returns a failure unless it is the same as the last one. The next save makes another
    /// attempt.
    fn failure(&mut self, why: String) -> Option<MutationOutcome> {
        self.is_due = false;
        let is_new = self.failed.as_ref() != Some(&why);
        self.failed = Some(why.clone());
        is_new.then(|| MutationOutcome::Failed(format!("--mutate: {why}")))
    }
}

/// Puts a document on one line, like all documents of `assay watch --json`.
fn one_line_if(json: bool, printed: String) -> String {
    match serde_json::from_str::<serde_json::Value>(&printed) {
        Ok(document) if json => format!("{document}\n"),
        _ => printed,
    }
}
