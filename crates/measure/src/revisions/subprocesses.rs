//! Runs git and the build line, one after the other, through the launcher, so that they end with
//! all of their children on an interrupt, or if `assay` is killed. They are not measured.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::RevisionError;
use crate::command::{Command, word_of};
use crate::error::MeasureError;
use crate::git::{OFFLINE, POWERLESS, without_filters};
use crate::interrupt;
use crate::runner::{RunOptions, RunResult, Runner};
use assay_data::{private, threads};

/// Interval for checking whether the user has interrupted.
const LOOK: Duration = Duration::from_millis(20);
/// Number of log lines shown in an error.
const LINES: usize = 20;
/// Number of bytes read from the end of a log to find those lines.
const TAIL: u64 = 1 << 16;
/// Start of a shell script that unsets the variables that point git to a repository. git sets them
/// for its hooks, and with them, commands in another tree would act on the hook's repository.
const APART: &str = "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_COMMON_DIR \
                     GIT_OBJECT_DIRECTORY GIT_NAMESPACE; ";

/// The result of a git command.
#[derive(Debug)]
pub(super) struct GitOutput {
    pub(super) success: bool,
    pub(super) output: Vec<u8>,
    /// Standard error of the command, without surrounding empty lines.
    pub(super) errors: String,
}

impl GitOutput {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }
}

/// Runs the programs that are needed to prepare revisions.
pub(super) struct Subprocesses {
    runner: Runner,
    git: PathBuf,
}

impl Subprocesses {
    pub(super) fn start() -> Result<Self, RevisionError> {
        let git = Command::new(["git"]).map_err(MeasureError::from)?;
        let git = git.resolve().map_err(RevisionError::NoGit)?;
        Ok(Self { runner: Runner::start()?, git })
    }

    /// Runs git in one of our trees, without the user's hooks, and without password prompts.
    pub(super) fn git<W: Into<OsString>>(
        &mut self,
        directory: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> Result<GitOutput, RevisionError> {
        self.git_with(directory, words.into_iter().map(Into::into), &[], &[])
    }

    /// Runs git in the user's repository. This runs no programs from its configuration and fetches
    /// nothing. `exported` are environment variables for git, each as `NAME=VALUE`.
    pub(super) fn git_of_user<W: Into<OsString>>(
        &mut self,
        directory: &Path,
        words: impl IntoIterator<Item = W>,
        exported: &[OsString],
    ) -> Result<GitOutput, RevisionError> {
        let Some(filters) = without_filters(directory) else {
            let errors = "git cannot list the filters that the repository configures".to_owned();
            return Ok(GitOutput { success: false, output: Vec::new(), errors });
        };
        let words = filters.into_iter().map(Into::into).chain(words.into_iter().map(Into::into));
        self.git_with(directory, words, &OFFLINE, exported)
    }

    fn git_with(
        &mut self,
        directory: &Path,
        words: impl Iterator<Item = OsString>,
        variables: &[(&str, &str)],
        exported: &[OsString],
    ) -> Result<GitOutput, RevisionError> {
        // `env` sets variables after those of a git hook have been unset.
        let script = format!("{APART}exec env \"$@\"");
        let own = ["/bin/sh".into(), "-c".into(), script.into(), "git".into()];
        let own = own.into_iter().chain(exported.iter().cloned());
        let own = own.into_iter().chain([self.git.clone().into_os_string()]);
        let own = own.chain(POWERLESS.map(Into::into));
        let mut command = Command::new(own.chain(words)).map_err(MeasureError::from)?;
        let variables = [("GIT_TERMINAL_PROMPT", "0")].iter().chain(variables);
        command.env.extend(variables.map(|(name, value)| (name.to_string(), value.to_string())));
        command.cwd = Some(directory.to_owned());
        (command.keep_output, command.keep_errors) = (true, true);
        let result = self.run(&command, RunOptions::default())?;
        let errors = result.errors.map(|kept| kept.bytes).unwrap_or_default();
        Ok(GitOutput {
            success: result.outcome.is_success(),
            output: result.output.map(|kept| kept.bytes).unwrap_or_default(),
            errors: String::from_utf8_lossy(&errors).trim().to_owned(),
        })
    }

    /// Runs a shell line with `/bin/sh` and writes all its output to a file. Returns a description
    /// of its failure, or `None` if it succeeded.
    pub(super) fn line(
        &mut self,
        directory: &Path,
        line: &str,
        variables: &[(String, String)],
        log: &Path,
    ) -> Result<Option<String>, RevisionError> {
        let words = ["/bin/sh".into(), "-c".into(), word_of(line)];
        self.logged(directory, words.into_iter(), variables, log, RunOptions::default())
    }

    /// Like [`Self::line`], but runs a program with its arguments, and ends all its descendants
    /// afterwards, because an `assay` that is killed can't end the processes that it started, and
    /// its launcher dies with it.
    pub(super) fn words(
        &mut self,
        directory: &Path,
        words: impl Iterator<Item = OsString>,
        log: &Path,
    ) -> Result<Option<String>, RevisionError> {
        let options = RunOptions { end_strays: true, ..RunOptions::default() };
        self.logged(directory, words, &[], log, options)
    }

    fn logged(
        &mut self,
        directory: &Path,
        words: impl Iterator<Item = OsString>,
        variables: &[(String, String)],
        log: &Path,
        options: RunOptions,
    ) -> Result<Option<String>, RevisionError> {
        // Checks that the file can be written, while this can still be distinguished from a failure
        // of the program.
        private::create(log)
            .map_err(|source| RevisionError::Cache { path: log.to_owned(), source })?;
        let script = format!("{APART}exec \"$@\" >\"$0\" 2>&1");
        let own = ["/bin/sh".into(), "-c".into(), script.into(), log.as_os_str().to_owned()];
        let mut command = Command::new(own.into_iter().chain(words)).map_err(MeasureError::from)?;
        command.cwd = Some(directory.to_owned());
        command.env.extend(variables.iter().cloned());
        let result = self.run(&command, options)?;
        Ok((!result.outcome.is_success()).then(|| result.outcome.to_string()))
    }

    /// Runs a command until it ends, or until the first interrupt, which ends all of its processes.
    fn run(&mut self, command: &Command, options: RunOptions) -> Result<RunResult, RevisionError> {
        let subject = self.runner.add(command)?;
        let abort = self.runner.abort_handle();
        let over = AtomicBool::new(false);
        let runner = &mut self.runner;
        let result = thread::scope(|scope| {
            // Measured runs are allowed to finish after a first interrupt. A build is ended,
            // because it may take another hour.
            let watch = threads::start_in(scope, || {
                while !over.load(Ordering::SeqCst) {
                    if interrupt::count() > 0
                        && let Some(abort) = &abort
                    {
                        abort.abort_in_flight();
                    }
                    thread::park_timeout(LOOK);
                }
            });
            let watch = watch.map_err(|source| MeasureError::Thread { source })?;
            let result = runner.run(subject, options);
            over.store(true, Ordering::SeqCst);
            watch.thread().unpark();
            result
        });
        match result {
            Err(MeasureError::Interrupted) => Err(RevisionError::Interrupted),
            _ if interrupt::count() > 0 => Err(RevisionError::Interrupted),
            other => Ok(other?),
        }
    }
}

/// Returns the last lines of a log, each indented. Empty if there are none or the log can't be
/// read, because the error names the log anyway.
pub(super) fn end_of(log: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let text = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
