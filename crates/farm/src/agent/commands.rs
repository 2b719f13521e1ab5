//! Runs the commands of a job one after the other. Their output goes to the log while they run, and
//! they share one time limit. Each is ended as soon as the job is no longer wanted, has written too
//! much, or the disk is full.

use super::directory::{AgentDirectory, JobDirectory, free};
use super::fetching::{FetchContext, FetchError, FetchedVersion, Web, fetch};
use super::judging::{CommandEnd, Stop};
use super::lease::HeldLease;
use super::log::Log;
use super::policy::{COUNT, FREE, MEMORY, MOMENT, PROCESSES};
use super::walls::{OutputReader, SandboxedResult, SandboxedRun, Walls};
use assay_farm::builds::wire::{Project, Recipe, Version};
use assay_measure::sandbox::Limits;
use assay_measure::{Outcome, interrupt};
use assay_report::console::output;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of bytes at the end of a command's output that are examined.
const TAIL: usize = 64 << 10;
/// Maximum size of a file written by a job, bytes. A log of 1 GB is truncated and does not end the
/// job.
const LARGEST_FILE: u64 = 4 << 30;

/// Everything that the commands of a job need.
pub(super) struct Commands<'a> {
    pub walls: &'a mut Walls,
    pub web: &'a Web,
    pub place: &'a AgentDirectory,
    pub job: &'a JobDirectory,
    pub log: &'a mut Log,
    pub held: &'a HeldLease,
    pub deadline: Instant,
    /// Maximum number of bytes that the job may write in total.
    pub disk: u64,
    pub allows_files: bool,
    pub limits: Limits,
}

/// The result of a command.
pub(super) struct CommandResult {
    pub ran: SandboxedResult,
    pub stop: Option<Stop>,
    /// The end of the command's output.
    pub said: String,
    is_machine_out_of_memory: bool,
    is_disk_full: bool,
}

impl CommandResult {
    /// Returns how the command ended, in the form used for judging it.
    pub fn ended(&self, is_own: bool) -> CommandEnd<'_> {
        CommandEnd {
            outcome: self.ran.outcome,
            exceeded: self.ran.exceeded,
            stop: self.stop.clone(),
            said: &self.said,
            is_machine_out_of_memory: self.is_machine_out_of_memory,
            is_disk_full: self.is_disk_full,
            is_own,
        }
    }
}

/// Returns the limits that a recipe sets, with defaults for the others.
pub(super) fn limits(recipe: &Recipe) -> Limits {
    Limits {
        memory: Some(recipe.memory.unwrap_or(MEMORY)),
        processes: Some(recipe.processes.unwrap_or(PROCESSES)),
        file: Some(LARGEST_FILE),
        ..Limits::default()
    }
}

impl Commands<'_> {
    /// Returns the time left until the deadline, but at least 1 ms, so that a command started too
    /// late is ended by its time limit.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }

    /// Returns the reason why the job must be ended, if there is one.
    pub fn unwanted(&self) -> Option<Stop> {
        unwanted(self.held)
    }

    /// Fetches a version into a directory, and logs it.
    ///
    /// # Errors
    /// If the version cannot be fetched.
    pub fn fetch(
        &mut self,
        project: &Project,
        version: &Version,
        work: &Path,
    ) -> Result<FetchedVersion, FetchError> {
        self.log.say(&format!("fetching {} {}", project.name, version.name));
        // The project's own command writes to this directory.
        if let Err(error) = self.job.hand_over(self.walls) {
            return Err(FetchError::Version(output::told(&error)));
        }
        let policy = self.job.policy(work, true, self.limits);
        let beside = self.job.beside();
        let mut means = FetchContext {
            walls: self.walls,
            web: self.web,
            allows_files: self.allows_files,
            policy: &policy,
            beside: &beside,
        };
        let held = self.held;
        let deadline = self.deadline;
        let mut ends = || unwanted(held).is_some() || Instant::now() >= deadline;
        let origin = project.of.origin.as_ref();
        let fetched = fetch((origin, version), work, &mut means, &mut ends)?;
        self.log.say(&fetched.from);
        if let Err(error) = self.job.hand_over(self.walls) {
            return Err(FetchError::Version(output::told(&error)));
        }
        Ok(fetched)
    }

    /// Runs a line in a shell.
    ///
    /// # Errors
    /// If the shell cannot be started.
    pub fn line(&mut self, line: &str, at: &Path, network: bool) -> anyhow::Result<CommandResult> {
        let argv = ["sh", "-c", line].map(OsString::from);
        self.log.say(&format!("$ {line}"));
        self.run(&argv, Vec::new(), (at, network), true)
    }

    /// Runs a command with `env` in addition to the job's variables. If `is_together` is true, its
    /// standard error is merged into its standard output.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn run(
        &mut self,
        argv: &[OsString],
        env: Vec<(OsString, OsString)>,
        (at, network): (&Path, bool),
        is_together: bool,
    ) -> anyhow::Result<CommandResult> {
        let mut policy = self.job.policy(at, network, self.limits);
        policy.environment.extend(env);
        let (job, held, disk, place) = (self.job, self.held, self.disk, self.place);
        let killed = machine_kills();
        let (mut taken, mut stop) = (0_u64, None);
        let mut counted = Instant::now();
        let limit = self.left();
        let log = &mut *self.log;
        let mut looks = |so_far: &OutputReader<'_>| {
            let more = so_far(taken);
            taken += more.len() as u64;
            log.take(&more);
            stop = unwanted(held);
            if stop.is_none() && counted.elapsed() >= COUNT {
                counted = Instant::now();
                if place.free() < FREE {
                    stop = Some(Stop::Full);
                } else if job.used(disk) > disk {
                    stop = Some(Stop::Wrote(disk));
                }
            }
            stop.is_some()
        };
        let how = SandboxedRun { limit, is_together, looks: &mut looks };
        let ran = self.walls.run(&policy, argv, how)?;
        if stop.is_none() && ran.outcome != Outcome::Exited(0) {
            // When a batch job is canceled, all its processes are ended, including the agent. The
            // agent's signal may arrive a moment after the end of its child.
            interrupt::sleep_until(&[], Some(MOMENT))?;
            stop = unwanted(held);
        }
        let rest = usize::try_from(taken).unwrap_or(usize::MAX).min(ran.output.bytes.len());
        self.log.take(&ran.output.bytes[rest..]);
        self.log.lose(ran.output.written.saturating_sub(ran.output.bytes.len() as u64));
        self.log.take(&ran.errors.bytes);
        self.log.lose(ran.errors.written.saturating_sub(ran.errors.bytes.len() as u64));
        let tail = |bytes: &[u8]| {
            String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(TAIL)..]).into_owned()
        };
        let said = format!("{}{}", tail(&ran.output.bytes), tail(&ran.errors.bytes));
        Ok(CommandResult {
            stop,
            said,
            is_machine_out_of_memory: machine_kills() > killed,
            is_disk_full: free(&self.job.work()) < 2 * FREE,
            ran,
        })
    }
}

fn unwanted(held: &HeldLease) -> Option<Stop> {
    if interrupt::count() > 0 {
        return Some(Stop::Unwanted("the agent was stopped".to_owned()));
    }
    held.is_over().then(|| Stop::Unwanted(held.why()))
}

/// Returns the number of processes that the kernel has killed for lack of memory since boot.
fn machine_kills() -> u64 {
    let text = fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    line.and_then(|own| own.trim().parse().ok()).unwrap_or(0)
}
