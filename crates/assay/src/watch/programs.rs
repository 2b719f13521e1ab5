//! Runs programs other than suites: the command of `--any`, interpreters that check the syntax of a
//! file, hooks, and `notify-send`.

use super::attention::{Attention, borrowed};
use crate::run_error::RunError;
use assay_measure::{
    Command, KeptOutput, Outcome, Output, OutputSoFar, RunOptions, RunResult, Runner, Watching,
    word_of,
};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Number of commands after which the launcher is replaced, because it keeps every command that it
/// has run.
const MOST_COMMANDS: usize = 200;
/// Time limit for programs other than the command of `--any`.
const PATIENCE: Duration = Duration::from_secs(10);
/// Number of characters that are shown from the end of a command's output.
const TAIL: usize = 4000;

/// Runs programs, one at a time.
pub(crate) struct Programs {
    runner: Runner,
    commands: usize,
}

impl Programs {
    /// Starts the launcher.
    ///
    /// # Errors
    /// Returns an error if no launcher can be started.
    pub fn start() -> Result<Self, RunError> {
        Ok(Self { runner: Runner::start()?, commands: 0 })
    }

    /// Replaces the launcher if it has run many commands. Must not be called while a command runs.
    ///
    /// # Errors
    /// Returns an error if no launcher can be started.
    pub fn renew(&mut self) -> Result<(), RunError> {
        if self.commands > MOST_COMMANDS {
            *self = Self::start()?;
        }
        Ok(())
    }

    /// Runs a program to completion, and returns its outcome along with its standard output and
    /// standard error. Returns `None` if the program is missing or cannot be run.
    pub fn ask(&mut self, words: &[OsString]) -> Option<(Outcome, String)> {
        let command = Command::new(words.to_vec()).ok()?;
        let command = Command { keep_output: true, keep_errors: true, ..command };
        let options =
            RunOptions { timeout: Some(PATIENCE), end_strays: true, ..RunOptions::default() };
        self.commands += 1;
        let subject = self.runner.add(&command).ok()?;
        let result = self.runner.run(subject, options).ok()?;
        Some((result.outcome, said(&result)))
    }

    /// Runs a shell line with the variables `env`. Its output is shown if `shown` is true and
    /// discarded otherwise. Returns a description of the failure if the line fails.
    pub fn hook(&mut self, line: &str, env: Vec<(String, String)>, shown: bool) -> Option<String> {
        let output = if shown { Output::Inherit } else { Output::Null };
        let command = Command::new(["/bin/sh".into(), "-c".into(), word_of(line)]).ok()?;
        let options = RunOptions { timeout: Some(PATIENCE), ..RunOptions::default() };
        self.commands += 1;
        let ran = self.runner.add(&Command { env, output, ..command });
        match ran.and_then(|subject| self.runner.run(subject, options)) {
            Ok(result) if result.outcome.is_success() => None,
            Ok(result) => Some(format!("`{line}` {}", result.outcome)),
            Err(error) => Some(format!("`{line}`: {error}")),
        }
    }

    /// Runs the command of `--any` while calling `ends` from time to time. Returns `None` if `ends`
    /// stopped the command. The output is shown as it is produced if `shown` is true, and kept
    /// otherwise.
    ///
    /// # Errors
    /// Returns an error if the command cannot be run.
    pub fn any(
        &mut self,
        words: &[OsString],
        shown: bool,
        attention: &mut Attention,
        ends: &mut dyn FnMut(&mut Attention) -> bool,
    ) -> Result<Option<RunResult>, RunError> {
        let command = Command::new(words.to_vec());
        let command = command.map_err(|error| RunError::Reading(error.to_string()))?;
        let output = if shown { Output::Inherit } else { Output::Null };
        let command = Command { output, keep_output: !shown, keep_errors: !shown, ..command };
        let subject = self.runner.add(&command)?;
        self.commands += 1;
        let wakers = attention.wakers().map_err(|error| RunError::Reading(error.to_string()))?;
        let (every, also) = (attention.every(), borrowed(&wakers));
        let mut is_ended = false;
        let mut look = |_: &OutputSoFar<'_>| {
            is_ended = ends(attention);
            is_ended
        };
        let watching = Watching { every, also: &also, ends: &mut look };
        let options = RunOptions { end_strays: true, ..RunOptions::default() };
        let result = self.runner.run_watched(subject, options, Some(watching))?;
        Ok((!is_ended).then_some(result))
    }
}

/// Returns the end of a program's output and error messages.
pub(crate) fn said(result: &RunResult) -> String {
    let of = |kept: &Option<KeptOutput>| {
        kept.as_ref().map(|kept| kept.bytes.clone()).unwrap_or_default()
    };
    let all = [of(&result.output), of(&result.errors)].concat();
    let text = String::from_utf8_lossy(&all);
    let from = text.char_indices().rev().nth(TAIL).map_or(0, |(at, _)| at);
    text[from..].trim_end().to_owned()
}

/// Returns the path of a program that is found on `PATH`.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    Command::new([name]).ok()?.resolve().ok()
}
