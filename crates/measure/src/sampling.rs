//! Runs a program under a sampling profiler, and hands back what that wrote: stackprof within Ruby, rbspy, py-spy, perf.
//!
//! Samplers are separate programs of others: here they are found, asked, and ended. A program may end while it is sampled, the user may
//! interrupt, time may be up: whatever was sampled by then is kept. No process that was started here outlives the call. What
//! the files say is read elsewhere.

mod command_line;
mod errors;
mod find;
mod process;

pub use errors::SamplingError;
pub use find::{Language, Place, find, language_of_process, language_of_program};
pub use process::Ended;

pub use crate::sys::processes::Had;

use crate::command::Command;
use crate::runner::Outcome;
use crate::sys::{machine_settings, processes};
use command_line::Line;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A sampling profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// stackprof, loaded into the Ruby process: the only one that tells garbage collection apart.
    Stackprof,
    /// rbspy, from outside, for Ruby.
    Rbspy,
    /// py-spy, from outside, for Python.
    PySpy,
    /// perf, for what is compiled.
    Perf,
}

impl Sampler {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stackprof => "stackprof",
            Self::Rbspy => "rbspy",
            Self::PySpy => "py-spy",
            Self::Perf => "perf",
        }
    }

    /// How it is installed: lines to type.
    pub fn install(self) -> &'static str {
        match self {
            Self::Stackprof => {
                "gem install stackprof   (Debian, Ubuntu: apt install ruby-stackprof)"
            }
            Self::Rbspy => "cargo install rbspy",
            Self::PySpy => "pip install py-spy",
            Self::Perf => {
                "apt install linux-perf   (Ubuntu: apt install linux-tools-generic; Fedora: dnf install perf)"
            }
        }
    }

    /// How often it samples unless asked otherwise, a second: no round number, so that it does not keep step with what else happens
    /// every so many milliseconds. Those that stop the process for each sample are asked less often.
    pub fn usual_rate(self) -> f64 {
        match self {
            Self::Stackprof | Self::Perf => 997.0,
            Self::Rbspy | Self::PySpy => 101.0,
        }
    }
}

/// What the timer of a sampler follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Processor time: waiting is not seen.
    Cpu,
    /// Time as it passes: waiting counts too.
    Wall,
}

/// How perf walks up the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGraph {
    /// By frame pointers: cheap, and right only where all code was compiled with them.
    FramePointers,
    /// By the debugger's tables: dear, right without frame pointers.
    Dwarf,
}

/// What is sampled.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A program, from its start to its end.
    Command(&'a Command),
    /// A process that runs already; it goes on afterwards.
    Process(u32),
}

/// How to sample.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Samples a second.
    pub rate: f64,
    /// What the timer follows; `None`: what suits the sampler.
    pub clock: Option<Clock>,
    /// How perf walks up the stack.
    pub call_graph: CallGraph,
    /// Sampling ends after so long, and the program with it if it was started here.
    pub duration: Option<Duration>,
    /// An empty directory for the files in between; the caller's to remove.
    pub directory: &'a Path,
    /// True to have py-spy sample the program without its children. Its way of following children loses a program that calls exec.
    pub alone: bool,
    /// Whether what the program prints is shown on standard error, instead of being thrown away.
    pub show_output: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Sampled {
    /// What the sampler wrote: a file for every process that it saw.
    pub files: Vec<Vec<u8>>,
    /// How it ended, and what it took, the sampler included.
    pub ended: Ended,
    /// CPU time of a running process and its children while they were sampled; `None` for commands, and if the process has ended.
    pub had: Option<Had>,
    /// Processor time that the kernel counted of a command and all that it started, without its sampler, s; `None` of what ran already.
    pub program_cpu_seconds: Option<f64>,
    /// True if the sampler does not report how a program ended.
    pub hides_status: bool,
}

/// Samples a program or a process.
///
/// # Errors
/// [`SamplingError`]: the sampler can't do what was asked, may not trace, or wrote nothing.
pub fn sample(
    sampler: &Place,
    target: Target<'_>,
    request: &Request<'_>,
) -> Result<Sampled, SamplingError> {
    check(sampler.sampler, target, request)?;
    let Line { mut command, stop_by, wrote, keeps_time } =
        command_line::of(sampler, target, request)?;
    let told = request.directory.join("said");
    let said = process::direct(&mut command, &told, request.show_output)?;
    let duration = request.duration.filter(|_| !keeps_time);
    let of_process = || match target {
        Target::Process(process) => processes::had_with_children(process),
        Target::Command(_) => None,
    };
    let before = of_process();
    let mut ended = process::run(command, stop_by, duration, &said)?;
    let is_beside = sampler.sampler != Sampler::Stackprof;
    let of_sampler = if is_beside { ended.leader_cpu_seconds } else { 0.0 };
    let program_cpu_seconds = match target {
        Target::Command(_) => Some((ended.cpu_seconds - of_sampler).max(0.0)),
        Target::Process(_) => None,
    };
    if let Some(outcome) = kept_status(request.directory).filter(|_| !ended.interrupted) {
        ended.outcome = outcome;
    }
    let had = of_process().zip(before).map(|(after, before)| after.since(&before));
    let files = collect(sampler, &wrote, request)?;
    // Ours says so where there was nothing to write.
    if files.is_empty() && wrote.join(command_line::NOTHING).exists() {
        return Err(SamplingError::too_short(sampler.sampler));
    }
    if files.is_empty() {
        return Err(errors::nothing_written(
            sampler.sampler,
            &ended,
            target,
            request.duration.is_some(),
        ));
    }
    let hides_status = sampler.sampler == Sampler::Rbspy && program_cpu_seconds.is_some();
    Ok(Sampled { files, ended, had, program_cpu_seconds, hides_status })
}

/// Exit status written by the shell around the program; 128 and more stand for signals.
fn kept_status(directory: &Path) -> Option<Outcome> {
    let text = fs::read_to_string(directory.join(command_line::STATUS)).ok()?;
    match text.trim().parse::<i32>().ok()? {
        signal @ 129..160 => Some(Outcome::Signalled(signal - 128)),
        status => Some(Outcome::Exited(status)),
    }
}

/// Samples a program, and leaves unread what came of it: what that costs is all that is asked.
///
/// # Errors
/// [`SamplingError`]: the sampler can't do what was asked, or can't be started.
pub fn unread(
    sampler: &Place,
    program: &Command,
    request: &Request<'_>,
) -> Result<Ended, SamplingError> {
    let target = Target::Command(program);
    check(sampler.sampler, target, request)?;
    let Line { mut command, stop_by, keeps_time, .. } = command_line::of(sampler, target, request)?;
    let said = process::direct(&mut command, &request.directory.join("said"), request.show_output)?;
    process::run(command, stop_by, request.duration.filter(|_| !keeps_time), &said)
}

/// Runs the program without any sampler, in the same way: what a sampler costs is seen beside it.
///
/// # Errors
/// [`SamplingError`]: the program can't be started.
pub fn plain(program: &Command, request: &Request<'_>) -> Result<Ended, SamplingError> {
    let Line { mut command, stop_by, .. } = command_line::plain(program)?;
    let told = request.directory.join("said");
    let said = process::direct(&mut command, &told, request.show_output)?;
    process::run(command, stop_by, request.duration, &said)
}

/// What can be known before anything runs.
fn check(sampler: Sampler, target: Target<'_>, request: &Request<'_>) -> Result<(), SamplingError> {
    if let Target::Process(process) = target {
        if sampler == Sampler::Stackprof {
            return Err(SamplingError::NotFromOutside);
        }
        if processes::started(process).is_none() {
            return Err(SamplingError::NoProcess { process });
        }
    }
    if sampler == Sampler::Perf && request.clock == Some(Clock::Wall) {
        return Err(SamplingError::NoWallClock);
    }
    if sampler == Sampler::Perf
        && let Some(level) = machine_settings::perf_refused()
    {
        return Err(SamplingError::PerfParanoid { level });
    }
    Ok(())
}

/// The level of `kernel.perf_event_paranoid`, if by it perf samples no time within the kernel here.
pub fn perf_without_kernel() -> Option<i64> {
    machine_settings::perf_without_kernel()
}

/// The files of a sampler. perf's own form is turned into text by perf itself.
fn collect(
    sampler: &Place,
    wrote: &Path,
    request: &Request<'_>,
) -> Result<Vec<Vec<u8>>, SamplingError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| SamplingError::Files { path, source }
    };
    if sampler.sampler == Sampler::Perf {
        // perf leaves an empty file where it was refused.
        if fs::metadata(wrote).map_or(0, |file| file.len()) == 0 {
            return Ok(Vec::new());
        }
        return Ok(command_line::perf_script(sampler, wrote, request)?.into_iter().collect());
    }
    // stackprof writes one file for each process, all into one directory.
    let paths: Vec<PathBuf> = match fs::read_dir(wrote) {
        Ok(entries) => {
            let mut paths: Vec<PathBuf> = entries
                .collect::<Result<Vec<_>, _>>()
                .map_err(unreadable(wrote))?
                .into_iter()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
                .collect();
            paths.sort();
            paths
        }
        Err(_) if wrote.is_file() => vec![wrote.to_owned()],
        Err(_) => Vec::new(),
    };
    let files = paths.iter().map(|path| fs::read(path).map_err(unreadable(path)));
    let mut files: Vec<Vec<u8>> = files.collect::<Result<_, _>>()?;
    files.retain(|bytes| !bytes.is_empty());
    Ok(files)
}
