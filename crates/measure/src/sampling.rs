//! Runs a program under a sampling profiler (stackprof within Ruby, rbspy, py-spy or perf), and
//! returns the profiler's output.
//!
//! Samplers are separate third-party programs: this module locates, starts and ends them. If a
//! program ends while it is sampled, the user interrupts, or time is up, the samples so far are
//! kept. No process started here outlives the call. The files are parsed elsewhere.

mod command_line;
mod ended;
mod errors;
mod find;
mod process;
mod request;

pub use ended::ProcessEnd;
pub use errors::SamplingError;
pub use find::{InstalledSampler, Language, find, language_of_process, language_of_program};
pub use request::{CallGraph, Clock, Request, Sampler, Target};

pub use crate::sys::processes::ProcessTimes;

use crate::command::Command;
use crate::runner::Outcome;
use crate::sys::{machine_settings, processes};
use command_line::SamplerProcess;
use std::fs;
use std::path::{Path, PathBuf};

/// The result of sampling.
#[derive(Debug)]
pub struct SamplingResult {
    /// The sampler's output, with one file for every process that it saw.
    pub files: Vec<Vec<u8>>,
    /// Outcome and resource use of the run, including the sampler's.
    pub ended: ProcessEnd,
    /// CPU time of a running process and its children while they were sampled. `None` if a command
    /// was sampled, or if the process has ended.
    pub had: Option<ProcessTimes>,
    /// Processor time that the kernel counted for a command and all its descendants, without the
    /// sampler, in seconds. `None` for a process that was already running.
    pub program_cpu_seconds: Option<f64>,
    /// True if the sampler does not report how a program ended.
    pub hides_status: bool,
}

/// Samples a program or a running process.
///
/// # Errors
///
/// Returns a [`SamplingError`] if the sampler does not support the request, is not permitted to
/// trace, or wrote nothing.
pub fn sample(
    sampler: &InstalledSampler,
    target: Target<'_>,
    request: &Request<'_>,
) -> Result<SamplingResult, SamplingError> {
    check(sampler.sampler, target, request)?;
    let SamplerProcess { mut command, stop_by, wrote, keeps_time, status } =
        command_line::of(sampler, target, request)?;
    let told = request.directory.join("said");
    let said = process::direct(&mut command, &told, request.show_output)?;
    let duration = request.duration.filter(|_| !keeps_time);
    let of_process = || match target {
        Target::Process(process) => processes::had_with_children(process),
        Target::Command(_) => None,
    };
    let before = of_process();
    let mut ended = process::run(command, stop_by, duration, &said, status.as_deref())?;
    let is_beside = sampler.sampler != Sampler::Stackprof;
    let of_sampler = if is_beside { ended.leader_cpu_seconds } else { 0.0 };
    let program_cpu_seconds = match target {
        Target::Command(_) => Some((ended.cpu_seconds - of_sampler).max(0.0)),
        Target::Process(_) => None,
    };
    let kept = status.as_deref().and_then(kept_status);
    if let Some(outcome) = kept.filter(|_| !ended.interrupted) {
        ended.outcome = outcome;
    }
    let had = of_process().zip(before).map(|(after, before)| after.since(&before));
    let files = collect(sampler, &wrote, request)?;
    // Our own shim reports that it had no samples to write.
    if files.is_empty() && wrote.join(command_line::NOTHING).exists() {
        return Err(SamplingError::too_short(sampler.sampler));
    }
    if files.is_empty() {
        let timed = request.duration.is_some();
        let error = errors::nothing_written(sampler.sampler, &ended, target, timed);
        // perf passes on the status of the program. If perf itself fails, it prints the reason.
        let passes_on = sampler.sampler == Sampler::Perf && ended.said.trim().is_empty();
        let known = if is_beside && !passes_on { kept } else { Some(ended.outcome) };
        return Err(errors::or_failed(error, target, known.filter(|_| !ended.interrupted)));
    }
    let hides_status = sampler.sampler == Sampler::Rbspy && program_cpu_seconds.is_some();
    Ok(SamplingResult { files, ended, had, program_cpu_seconds, hides_status })
}

/// Returns the program's outcome as written by the shell around it. Statuses from 129 to 159 stand
/// for signals.
fn kept_status(file: &Path) -> Option<Outcome> {
    let text = fs::read_to_string(file).ok()?;
    match text.trim().parse::<i32>().ok()? {
        signal @ 129..160 => Some(Outcome::Signalled(signal - 128)),
        status => Some(Outcome::Exited(status)),
    }
}

/// Samples a program without reading the samples, to measure only the cost of sampling.
///
/// # Errors
///
/// Returns a [`SamplingError`] if the sampler does not support the request or can't be started.
pub fn unread(
    sampler: &InstalledSampler,
    program: &Command,
    request: &Request<'_>,
) -> Result<ProcessEnd, SamplingError> {
    let target = Target::Command(program);
    check(sampler.sampler, target, request)?;
    let SamplerProcess { mut command, stop_by, keeps_time, status, .. } =
        command_line::of(sampler, target, request)?;
    let said = process::direct(&mut command, &request.directory.join("said"), request.show_output)?;
    let duration = request.duration.filter(|_| !keeps_time);
    process::run(command, stop_by, duration, &said, status.as_deref())
}

/// Runs a program as [`unread`] does, but without a sampler, so that the two can be compared.
///
/// # Errors
///
/// Returns a [`SamplingError`] if the program can't be started.
pub fn plain(program: &Command, request: &Request<'_>) -> Result<ProcessEnd, SamplingError> {
    let SamplerProcess { mut command, stop_by, .. } = command_line::plain(program)?;
    let told = request.directory.join("said");
    let said = process::direct(&mut command, &told, request.show_output)?;
    process::run(command, stop_by, request.duration, &said, None)
}

/// Checks everything that can be checked before a program is run.
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

/// Returns the level of `kernel.perf_event_paranoid` if it keeps perf from sampling inside the
/// kernel.
pub fn perf_without_kernel() -> Option<i64> {
    machine_settings::perf_without_kernel()
}

/// Returns the contents of a sampler's files. perf itself converts its format to text.
fn collect(
    sampler: &InstalledSampler,
    wrote: &Path,
    request: &Request<'_>,
) -> Result<Vec<Vec<u8>>, SamplingError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| SamplingError::Files { path, source }
    };
    if sampler.sampler == Sampler::Perf {
        // perf leaves an empty file if sampling was refused.
        if fs::metadata(wrote).map_or(0, |file| file.len()) == 0 {
            return Ok(Vec::new());
        }
        return Ok(command_line::perf_script(sampler, wrote, request)?.into_iter().collect());
    }
    // stackprof writes one file per process, all into one directory.
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
