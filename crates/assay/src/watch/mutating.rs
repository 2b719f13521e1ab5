//! `--mutate`: while all tests are green and nobody saves, `assay mutate` tries changes of what differs from the last commit, at the lowest priority.
//! A save, or whatever else is to run, ends it at once; it is not waited for. What it found is shown as it prints it.

use crate::others;
use assay_measure::room::Room;
use assay_measure::serving::Server;
use assay_measure::{Command, git};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// It is held against this revision.
const REVISION: &str = "HEAD";
/// It takes so long at most: then a sample of the changes must do.
const BUDGET: &str = "1min";
/// So many survivors are shown.
const MOST_SHOWN: &str = "3";
/// Whether it is through is looked at so often.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// How it is to be run.
#[derive(Clone, Debug)]
pub(crate) struct How {
    program: PathBuf,
    /// Whether changed programs run as the user, and not in a sandbox.
    no_sandbox: bool,
    framework: Option<String>,
}

impl How {
    /// # Errors
    /// When there is no `assay-mutate`.
    pub fn of(no_sandbox: bool, framework: Option<String>) -> anyhow::Result<Self> {
        let program = others::program("mutate").ok_or_else(|| others::missing("mutate"))?;
        Ok(Self { program, no_sandbox, framework })
    }
}

/// How it looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub json: bool,
    pub color: bool,
    pub width: usize,
}

/// What became of it.
#[derive(Debug, PartialEq)]
pub(super) enum Told {
    /// What it printed.
    Found(String),
    /// Why it could not be done.
    Failed(String),
}

/// Who has changes tried.
pub(super) struct Mutating {
    how: How,
    top: PathBuf,
    command: Vec<OsString>,
    at_work: Option<Work>,
    /// One that was asked to end, and is not through with that.
    ending: Option<Work>,
    /// Whether anything was saved since it was through.
    is_due: bool,
    /// What was said of a failure, which is not repeated.
    failed: Option<String>,
}

struct Work {
    // Ends before the room of its files goes.
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

    /// Whether it is at work.
    pub fn is_at_work(&self) -> bool {
        self.at_work.is_some()
    }

    /// Whether it is to be looked at now and then.
    pub fn is_awaited(&self) -> bool {
        self.at_work.is_some() || self.ending.is_some()
    }

    /// Something was saved.
    pub fn saved(&mut self) {
        self.is_due = true;
    }

    /// Has it end, without waiting for that.
    pub fn cancel(&mut self) {
        if let Some(work) = self.at_work.take() {
            work.server.ask_to_end();
            // The one before is gone by now, or is waited for.
            self.ending = Some(work);
        }
    }

    /// Begins, if there is something to try that was not tried yet. Says what is wrong, if it can't.
    pub fn begin(&mut self, look: Look) -> Option<Told> {
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
            Err(error) => self.failure(format!("{error:#}")),
        }
    }

    fn started(&self, look: Look) -> anyhow::Result<Work> {
        let room = Room::temporary()
            .map_err(|(parent, error)| anyhow::anyhow!("{}: {error}", parent.display()))?;
        let file = room.path().join("printed");
        // What it prints goes into a file, and what it says beside that to the server's own.
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

    /// Looks whether it is through, and says what it found.
    pub fn look(&mut self, look: Look) -> Option<Told> {
        if self.ending.as_ref().is_some_and(|work| work.server.status().is_some()) {
            self.ending = None;
        }
        let status = self.at_work.as_ref()?.server.status()?;
        let work = self.at_work.take()?;
        match status {
            0 | 1 => {
                (self.is_due, self.failed) = (false, None);
                let printed = fs::read_to_string(work.room.path().join("printed"));
                Some(Told::Found(one_line_if(look.json, printed.unwrap_or_default())))
            }
            130 => None,
            _ => {
                let said = work.server.said();
                let error = said.lines().rev().find_map(|line| line.strip_prefix("error: "));
                let why = error.map_or_else(|| said.trim().to_owned(), str::to_owned);
                self.failure(why)
            }
        }
    }

    /// A failure is said once; it is tried again after the next save.
    fn failure(&mut self, why: String) -> Option<Told> {
        self.is_due = false;
        let is_new = self.failed.as_ref() != Some(&why);
        self.failed = Some(why.clone());
        is_new.then(|| Told::Failed(format!("--mutate: {why}")))
    }
}

/// A document on one line, as others of `assay watch --json` are.
fn one_line_if(json: bool, printed: String) -> String {
    match serde_json::from_str::<serde_json::Value>(&printed) {
        Ok(document) if json => format!("{document}\n"),
        _ => printed,
    }
}
