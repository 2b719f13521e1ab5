//! Runs the lines given to `--setup`, `--prepare`, `--conclude` and `--cleanup` with `/bin/sh`,
//! through the same launcher as the commands, so that they too leave nothing running. They are not
//! measured.

use thiserror::Error;

use crate::command::Command;
use crate::error::MeasureError;
use crate::runner::{LastWords, Outcome, RunOptions, Runner};

/// Reasons why a hook failed.
#[derive(Debug, Error)]
pub enum HookError {
    /// The hook ran and failed.
    #[error("the {hook} line `{line}` {outcome}{}", quoted_output(stderr_tail))]
    Failed {
        /// Option of the hook, as given by the user: `--prepare`.
        hook: String,
        /// Shell line of the hook.
        line: String,
        /// Outcome of the hook.
        outcome: Outcome,
        /// The end of the hook's standard error.
        stderr_tail: String,
    },
    /// The hook succeeded, but left processes running in its group, which were killed.
    #[error(
        "the {hook} line `{line}` left processes running; they were killed, because they would disturb the runs.\nLet the line wait for them; if one should keep running, such as a server, start it with `setsid` and stop it in --cleanup."
    )]
    LeftBehind {
        /// Option of the hook, as given by the user: `--prepare`.
        hook: String,
        /// Shell line of the hook.
        line: String,
    },
    /// The hook could not be run.
    #[error("cannot run the {hook} line `{line}`: {source}")]
    NotRun {
        /// Option of the hook, as given by the user: `--prepare`.
        hook: String,
        /// Shell line of the hook.
        line: String,
        /// The reason.
        source: Box<MeasureError>,
    },
}

/// Runs a shell line and waits until it ends. `hook` names the line's option in errors
/// (`--prepare`). Standard output is discarded; standard error is kept for the error message.
///
/// # Errors
///
/// Returns a [`HookError`] if the line can't be run, exits with a nonzero status, is ended by a
/// signal, or leaves processes in its group.
pub fn run(runner: &mut Runner, hook: &str, line: &str) -> Result<(), HookError> {
    let not_run = |source: MeasureError| HookError::NotRun {
        hook: hook.to_owned(),
        line: line.to_owned(),
        source: Box::new(source),
    };
    let subject = match runner.hooks.get(line) {
        Some(&known) => known,
        None => {
            let command = Command::parse(line, true).map_err(|error| not_run(error.into()))?;
            let subject = runner.add(&command).map_err(not_run)?;
            runner.hooks.insert(line.to_owned(), subject);
            subject
        }
    };
    let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
    let result = runner.run(subject, options).map_err(not_run)?;
    let (hook, line) = (hook.to_owned(), line.to_owned());
    if !result.outcome.is_success() {
        let stderr_tail = result.stderr_tail.unwrap_or_default();
        return Err(HookError::Failed { hook, line, outcome: result.outcome, stderr_tail });
    }
    if result.left_behind { Err(HookError::LeftBehind { hook, line }) } else { Ok(()) }
}

fn quoted_output(stderr_tail: &str) -> String {
    match stderr_tail.trim_end() {
        "" => " and said nothing on standard error".to_owned(),
        tail => format!(". It said:\n{tail}"),
    }
}
