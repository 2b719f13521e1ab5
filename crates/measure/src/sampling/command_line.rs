//! The command lines of the samplers: their arguments, the signal that stops them with their output
//! written, and their output files.

use super::{CallGraph, Clock, InstalledSampler, Request, Sampler, SamplingError, Target, find};
use crate::command::Command;
use rustix::process::Signal;
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

/// Ruby code that is loaded into sampled programs.
const SHIM: &str = include_str!("shim.rb");
/// Name of the file that this code leaves next to its dumps if no sample was taken.
pub(super) const NOTHING: &str = "nothing";

/// Name of the file with a program's exit status, for samplers that do not report it.
pub(super) const STATUS: &str = "status";
/// Shell line that writes the exit status to a file. py-spy kills the shell that it started as soon
/// as the program is gone, so another shell inside it writes the file.
const KEEPS_STATUS: &str = r#"("$@"; echo $? > "$0"); :"#;

/// The process to start for sampling.
pub(super) struct SamplerProcess {
    pub command: process::Command,
    /// The signal that makes the process write its samples and end.
    pub stop_by: Signal,
    /// The file that the process writes, or the directory of its files.
    pub wrote: PathBuf,
    /// True if the process ends by itself when the requested time is over.
    pub keeps_time: bool,
    /// The file into which the shell around the program writes its exit status.
    pub status: Option<PathBuf>,
}

/// Returns the command line of a sampler.
pub(super) fn of(
    place: &InstalledSampler,
    target: Target<'_>,
    request: &Request<'_>,
) -> Result<SamplerProcess, SamplingError> {
    if let (Sampler::Stackprof, Target::Command(program)) = (place.sampler, target) {
        return stackprof(program, request);
    }
    let rate = format!("{:.0}", request.rate.max(1.0));
    let wrote = request.directory.join("profile");
    let mut command = process::Command::new(&place.path);
    match place.sampler {
        Sampler::PySpy => {
            command
                .args(["record", "--format", "speedscope", "--rate", &rate, "--output"])
                .arg(&wrote);
            if request.clock == Some(Clock::Wall) {
                command.arg("--idle");
            }
            if !request.alone {
                command.arg("--subprocesses");
            }
        }
        Sampler::Rbspy => {
            command.args(["record", "--format", "speedscope", "--silent", "--rate", &rate]);
            command.arg("--raw-file").arg(request.directory.join("raw.gz"));
            command.arg("--file").arg(&wrote);
            if request.clock == Some(Clock::Cpu) {
                command.arg("--on-cpu");
            }
            command.arg("--subprocesses");
        }
        _ => {
            let graph = match request.call_graph {
                CallGraph::FramePointers => "fp",
                CallGraph::Dwarf => "dwarf,16384",
            };
            command.args([
                "record",
                "-q",
                "--no-buildid",
                "--no-buildid-cache",
                "-e",
                "cpu-clock",
                "-F",
                &rate,
                "--call-graph",
                graph,
                "-o",
            ]);
            command.arg(&wrote);
        }
    }
    let mut status = None;
    match target {
        Target::Process(process) => {
            command.args(["--pid", &process.to_string()]);
            if let (Sampler::Perf, Some(duration)) = (place.sampler, request.duration) {
                // perf samples for as long as a given command runs, so its own long startup does
                // not count.
                command.args(["--", "sleep", &duration.as_secs_f64().to_string()]);
                let keeps_time = true;
                return Ok(SamplerProcess {
                    command,
                    stop_by: Signal::INT,
                    wrote,
                    keeps_time,
                    status,
                });
            }
        }
        Target::Command(program) => {
            furnish(&mut command, program);
            let path = match place.sampler {
                Sampler::PySpy => find::behind_shim(program.resolve()?),
                _ => program.resolve()?,
            };
            command.arg("--");
            // py-spy does not report the program's exit status.
            let is_kept = place.sampler == Sampler::PySpy && !request.alone;
            status = is_kept.then(|| request.directory.join(STATUS));
            if let Some(status) = &status {
                command.args(["/bin/sh", "-c", KEEPS_STATUS]).arg(status);
            }
            let words =
                || iter::once(path.as_os_str()).chain(program.argv[1..].iter().map(|a| &**a));
            if is_kept && words().any(|word| word.to_str().is_none()) {
                // py-spy panics on arguments that are not UTF-8, so the shell reads them from a
                // file.
                let line = request.directory.join("line");
                let failed = |source| SamplingError::Files { path: line.clone(), source };
                fs::write(&line, shell_line(words())).map_err(failed)?;
                command.arg(".").arg(&line);
            } else {
                command.args(words());
            }
        }
    }
    Ok(SamplerProcess { command, stop_by: Signal::INT, wrote, keeps_time: false, status })
}

/// Returns the process for running the program as a sampler would start it, but without a sampler,
/// so that the two are comparable.
pub(super) fn plain(program: &Command) -> Result<SamplerProcess, SamplingError> {
    let mut command = process::Command::new(find::behind_shim(program.resolve()?));
    command.args(&program.argv[1..]);
    furnish(&mut command, program);
    let wrote = PathBuf::new();
    Ok(SamplerProcess { command, stop_by: Signal::TERM, wrote, keeps_time: false, status: None })
}

/// Returns the process for running a Ruby program with the shim, which Ruby loads first.
fn stackprof(program: &Command, request: &Request<'_>) -> Result<SamplerProcess, SamplingError> {
    let at = |name: &str| request.directory.join(name);
    let failed = |path: PathBuf| move |source| SamplingError::Files { path, source };
    let (shim, wrote) = (at("assay_profile.rb"), at("dumps"));
    fs::write(&shim, SHIM).map_err(failed(shim.clone()))?;
    fs::create_dir_all(&wrote).map_err(failed(wrote.clone()))?;
    let SamplerProcess { mut command, .. } = plain(program)?;
    // Our option comes after the user's options.
    let mut options = program.variable("RUBYOPT").unwrap_or_default();
    options.push(" -r");
    options.push(&shim);
    let mode = match request.clock {
        Some(Clock::Cpu) => "cpu",
        _ => "wall",
    };
    // stackprof's timer rejects an interval of a second or more, and the program would not even
    // start.
    let interval = (1e6 / request.rate).round().clamp(1.0, 999_999.0);
    command
        .env("RUBYOPT", options)
        .env("ASSAY_PROFILE_DIR", &wrote)
        .env("ASSAY_PROFILE_MODE", mode)
        .env("ASSAY_PROFILE_INTERVAL", format!("{interval:.0}"));
    Ok(SamplerProcess { command, stop_by: Signal::TERM, wrote, keeps_time: false, status: None })
}

/// Joins words into a line for a shell, quoting them if necessary.
fn shell_line<'a>(words: impl Iterator<Item = &'a OsStr>) -> Vec<u8> {
    let mut line = Vec::new();
    for word in words {
        line.push(b'\'');
        for part in word.as_bytes().split_inclusive(|&byte| byte == b'\'') {
            line.extend_from_slice(part);
            // Closes the quotation before the quote and reopens it afterwards.
            if part.ends_with(b"'") {
                line.extend_from_slice(b"\\''");
            }
        }
        line.extend_from_slice(b"' ");
    }
    line.push(b'\n');
    line
}

/// Sets the command's variables and its directory.
fn furnish(command: &mut process::Command, program: &Command) {
    command.envs(program.env.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &program.cwd {
        command.current_dir(directory);
    }
}

/// Returns perf's recording as text. Inlined functions are left out, since finding them takes
/// minutes.
pub(super) fn perf_script(
    perf: &InstalledSampler,
    recording: &Path,
    request: &Request<'_>,
) -> Result<Option<Vec<u8>>, SamplingError> {
    let path = request.directory.join("script");
    let failed = |source| SamplingError::Files { path: path.clone(), source };
    let out = File::create(&path).map_err(failed)?;
    let mut command = process::Command::new(&perf.path);
    command
        .args([
            "script",
            "--header",
            "--no-inline",
            "-F",
            "comm,pid,tid,time,period,event,ip,sym,dso",
            "-i",
        ])
        .arg(recording)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(Stdio::null());
    // The user's pager and colors would affect the text.
    command.env("LC_ALL", "C").env("PATH", env::var_os("PATH").unwrap_or_default());
    command
        .status()
        .map_err(|source| SamplingError::Start { program: "perf script".to_owned(), source })?;
    let text = fs::read(&path).map_err(failed)?;
    let has_samples = text.split(|&b| b == b'\n').any(|line| !line.is_empty() && line[0] != b'#');
    Ok(has_samples.then_some(text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn a_shell_reads_words_as_they_are() {
        let words: [&[u8]; 4] = [b"printf", b"%s|", b"it's 'a' $b\n*", b"na\xffme"];
        let directory = tempfile::tempdir().unwrap();
        let line = directory.path().join("line");
        fs::write(&line, shell_line(words.into_iter().map(OsStr::from_bytes))).unwrap();
        // Runs the line in the same way as the shell around the program.
        let ended = process::Command::new("/bin/sh")
            .args(["-c", KEEPS_STATUS])
            .arg(directory.path().join(STATUS))
            .arg(".")
            .arg(&line)
            .output()
            .unwrap();
        assert_eq!(ended.stdout, b"it's 'a' $b\n*|na\xffme|");
        assert_eq!(fs::read(directory.path().join(STATUS)).unwrap(), b"0\n");
    }
}
