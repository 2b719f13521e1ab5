//! Runs everything that belongs to a version: in the sandbox and through the launcher of `measure`,
//! so that no process outlives its run, its job, or the agent, even if the agent is killed. The
//! caller determines the policy; the result contains the reason why a run was ended early.

use super::policy::{LOOK, QUESTION};
use anyhow::Context;
use assay_measure::sandbox::{ExceededLimits, Policy, Sandbox};
use assay_measure::{Command, KeptOutput, Outcome, RunOptions, Runner, Watching};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A script that runs a command with standard error merged into standard output, as on a terminal.
const TOGETHER: &str = r#"exec "$@" 2>&1"#;

/// The sandbox of this machine, and a runner for commands in it, one at a time.
pub(super) struct Walls {
    pub sandbox: Sandbox,
    runner: Runner,
}

/// A function that returns the part of a running command's standard output after an offset.
pub(super) type OutputReader<'a> = dyn Fn(u64) -> Vec<u8> + 'a;

/// The settings of a run.
pub(super) struct SandboxedRun<'a> {
    /// Time limit.
    pub limit: Duration,
    /// True if standard error is merged into standard output.
    pub is_together: bool,
    /// Callback that is called at intervals; it returns true if the command is to be ended.
    pub looks: &'a mut dyn FnMut(&OutputReader<'_>) -> bool,
}

/// The result of a command.
pub(super) struct SandboxedResult {
    pub outcome: Outcome,
    pub exceeded: ExceededLimits,
    pub seconds: f64,
    /// Standard output; contains both if they are merged.
    pub output: KeptOutput,
    pub errors: KeptOutput,
}

impl Walls {
    /// Finds the sandbox of this machine.
    ///
    /// # Errors
    /// If no sandbox is available here. The error says how to fix that.
    pub fn find() -> anyhow::Result<Self> {
        let sandbox = Sandbox::find()
            .context("code by others is only run in a sandbox, and none is available here")?;
        Ok(Self { sandbox, runner: Runner::start()? })
    }

    /// Starts a new runner, which finds the currently installed programs. Called for each job.
    ///
    /// # Errors
    /// If the system does not permit it.
    pub fn refresh(&mut self) -> anyhow::Result<()> {
        self.runner = Runner::start()?;
        Ok(())
    }

    /// Runs a command in the sandbox. Its failure is a result.
    ///
    /// # Errors
    /// If no sandbox can be created for it, or it cannot be started.
    pub fn run(
        &mut self,
        policy: &Policy,
        argv: &[OsString],
        how: SandboxedRun<'_>,
    ) -> anyhow::Result<SandboxedResult> {
        let entered = self.sandbox.enter(policy, argv)?;
        let mut all: Vec<OsString> = Vec::new();
        if how.is_together {
            all.extend(["sh", "-c", TOGETHER, "sh"].map(OsString::from));
        }
        all.extend(entered.argv.iter().cloned());
        let command = Command::new(all).map_err(|error| anyhow::anyhow!("{error}"))?;
        let command =
            Command { keep_output: true, keep_errors: true, cwd: Some("/".into()), ..command };
        let subject = self.runner.add(&command)?;
        let options =
            RunOptions { timeout: Some(how.limit), end_strays: true, ..RunOptions::default() };
        let looks = how.looks;
        let mut ends = |so_far: &assay_measure::OutputSoFar<'_>| looks(&|from| so_far(from));
        let watching = Watching { every: LOOK, also: &[], ends: &mut ends };
        let ran = self.runner.run_watched(subject, options, Some(watching))?;
        let none = || KeptOutput { bytes: Vec::new(), written: 0 };
        Ok(SandboxedResult {
            outcome: ran.outcome,
            exceeded: entered.exceeded(),
            seconds: ran.wall_seconds,
            output: ran.output.unwrap_or_else(none),
            errors: ran.errors.unwrap_or_else(none),
        })
    }

    /// Returns the output of a program that needs to read only these paths; `None` if the program
    /// cannot be run there or fails.
    pub fn query(&mut self, argv: &[OsString], reads: &[PathBuf]) -> Option<String> {
        let policy =
            Policy { directory: PathBuf::from("/"), reads: reads.to_vec(), ..Policy::default() };
        let mut looks = |_: &OutputReader<'_>| false;
        let how = SandboxedRun { limit: QUESTION, is_together: false, looks: &mut looks };
        let ran = self.run(&policy, argv, how).ok()?;
        let said = String::from_utf8_lossy(&ran.output.bytes).trim().to_owned();
        (ran.outcome == Outcome::Exited(0) && !said.is_empty()).then_some(said)
    }
}
