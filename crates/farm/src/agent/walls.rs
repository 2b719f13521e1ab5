//! Everything of a version runs here: in the sandbox, through the launcher of `measure`, so that nothing of it outlives its run, its job, or the agent,
//! even one that is killed. What is allowed is said by whoever calls; why a run was ended before its time is told.

use super::policy::{LOOK, QUESTION};
use anyhow::Context;
use assay_measure::{Command, Kept, Outcome, RunOptions, Runner, Watching};
use assay_sandbox::{Exceeded, Policy, Sandbox};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Both outputs in one, as a terminal would have them.
const TOGETHER: &str = r#"exec "$@" 2>&1"#;

/// The sandbox of this machine, and what runs commands in it, one at a time.
pub(super) struct Walls {
    pub sandbox: Sandbox,
    runner: Runner,
}

/// What a command wrote to standard output from a place on, while it runs.
pub(super) type SoFar<'a> = dyn Fn(u64) -> Vec<u8> + 'a;

/// How a command is run.
pub(super) struct How<'a> {
    /// After so long it is ended.
    pub limit: Duration,
    /// Whether standard error goes where standard output does.
    pub is_together: bool,
    /// Looks at it from time to time, and says whether it is to be ended.
    pub looks: &'a mut dyn FnMut(&SoFar<'_>) -> bool,
}

/// What came of a command.
pub(super) struct Ran {
    pub outcome: Outcome,
    pub exceeded: Exceeded,
    pub seconds: f64,
    /// Where errors go together with it, both.
    pub output: Kept,
    pub errors: Kept,
}

impl Walls {
    /// # Errors
    /// When there can be no sandbox here, and what to do.
    pub fn find() -> anyhow::Result<Self> {
        let sandbox = Sandbox::find()
            .context("what others wrote runs in a sandbox only, and there is none here")?;
        Ok(Self { sandbox, runner: Runner::start()? })
    }

    /// Begins anew with the programs that it knows: one for each job.
    ///
    /// # Errors
    /// When the system does not let it.
    pub fn refresh(&mut self) -> anyhow::Result<()> {
        self.runner = Runner::start()?;
        Ok(())
    }

    /// Runs a command within; that it fails is a result.
    ///
    /// # Errors
    /// When no sandbox can be made for it, or it can't be started.
    pub fn run(&mut self, policy: &Policy, argv: &[OsString], how: How<'_>) -> anyhow::Result<Ran> {
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
        let none = || Kept { bytes: Vec::new(), written: 0 };
        Ok(Ran {
            outcome: ran.outcome,
            exceeded: entered.exceeded(),
            seconds: ran.wall_seconds,
            output: ran.output.unwrap_or_else(none),
            errors: ran.errors.unwrap_or_else(none),
        })
    }

    /// What a program says, that asks for nothing but to read these; `None`: it can't be run there, or fails.
    pub fn said(&mut self, argv: &[OsString], reads: &[PathBuf]) -> Option<String> {
        let policy =
            Policy { directory: PathBuf::from("/"), reads: reads.to_vec(), ..Policy::default() };
        let mut looks = |_: &SoFar<'_>| false;
        let how = How { limit: QUESTION, is_together: false, looks: &mut looks };
        let ran = self.run(&policy, argv, how).ok()?;
        let said = String::from_utf8_lossy(&ran.output.bytes).trim().to_owned();
        (ran.outcome == Outcome::Exited(0) && !said.is_empty()).then_some(said)
    }
}
