//! A tiny program with a known amount of work, for testing a machine or a tool. `spin N` executes a
//! fixed chain of N dependent steps and touches no memory; `touch MIB` writes to that much fresh
//! memory.
//!
//! The program is built from `c/workload.c`, which documents both commands, and embedded. This
//! module writes it to a file, and determines the number of steps that takes a given time on this
//! machine. That is not a measurement: to know how long the program takes, measure it like any
//! other command.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::Command;
use crate::embedded;
use crate::error::MeasureError;
use crate::runner::{RunOptions, Runner};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/workload"));

/// Minimum duration of a run that determines the pace, in seconds, so that startup is only a small
/// part of it.
const LONG_ENOUGH: f64 = 0.02;
/// Number of runs, of which the fastest is used, because disturbances only make a run longer.
const TRIES: usize = 3;
/// Maximum number of steps in a run that determines the pace. No processor executes this many in 20
/// ms, so a program that finishes sooner does not execute them.
const MOST_FOR_PACE: u64 = 1 << 40;
/// Maximum number of steps requested from the program.
const MOST: f64 = 1e17;

/// Writes the program into a directory, readable and executable by its owner (mode 700), and
/// returns its path. An existing file is replaced, even while it is being executed.
///
/// # Errors
///
/// `InvalidInput` if the name is not a plain file name; otherwise the system's error.
pub fn unpack(directory: &Path, name: &str) -> io::Result<PathBuf> {
    if Path::new(name).file_name() != Some(name.as_ref()) {
        let text = format!("`{name}` is not a valid file name: use one without `/`");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let path = directory.join(name);
    embedded::write(&path, PROGRAM, 0o700)?;
    Ok(path)
}

/// Returns the number of steps, at least 1, for which a run of `spin` currently takes about
/// `seconds` of processor time on this machine, including its startup. `program` is the path from
/// [`unpack`].
///
/// Runs the program with increasing numbers of steps until a run takes 20 ms, then three more
/// times, and uses the fastest of these. This takes about 0.15 s. Competing processes make it take
/// longer, but hardly change the processor time of a run. The result is accurate to a few percent,
/// because the processor may change its frequency.
///
/// # Errors
///
/// Returns `InvalidInput` if the time is not above 0 and below 100000 s, the system's error if the
/// program can't be started, and `Other` if it fails, or takes no time regardless of the number of
/// steps.
pub fn iterations_for(program: &Path, seconds: f64) -> io::Result<u64> {
    if !(seconds > 0.0 && seconds < 1e5) {
        let text = format!("a run cannot take {seconds} s: use a time above 0");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut runner = Runner::start().map_err(io::Error::other)?;
    let start = best(&mut runner, program, 0)?;
    let mut steps = 1 << 16;
    while spin(&mut runner, program, steps)? < LONG_ENOUGH {
        steps *= 4;
        if steps > MOST_FOR_PACE {
            let text = format!("`{}` takes no time: is it the workload?", program.display());
            return Err(io::Error::other(text));
        }
    }
    let took = best(&mut runner, program, steps)? - start;
    let step = took.max(LONG_ENOUGH / 100.0) / steps as f64;
    Ok((((seconds - start) / step).clamp(1.0, MOST)) as u64)
}

/// Returns the shortest of several runs, in seconds of processor time.
fn best(runner: &mut Runner, program: &Path, steps: u64) -> io::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..TRIES {
        best = best.min(spin(runner, program, steps)?);
    }
    Ok(best)
}

/// Returns the duration of one run, in seconds of processor time.
fn spin(runner: &mut Runner, program: &Path, steps: u64) -> io::Result<f64> {
    let words = [program.as_os_str().to_owned(), "spin".into(), steps.to_string().into()];
    let command = Command::new(words).map_err(io::Error::other)?;
    let mut attempts = 0;
    let result = loop {
        let ran = runner.add(&command).and_then(|id| runner.run(id, RunOptions::default()));
        match ran {
            // A concurrent thread that is starting a process may hold the new file open for
            // writing.
            Err(MeasureError::Start { source, .. })
                if source.kind() == io::ErrorKind::ExecutableFileBusy && attempts < 50 =>
            {
                attempts += 1;
                std::thread::sleep(Duration::from_millis(2));
            }
            other => break other.map_err(io::Error::other)?,
        }
    };
    if result.outcome.is_success() {
        Ok(result.user_seconds + result.system_seconds)
    } else {
        let text = format!("`{} spin {steps}` failed: {:?}", program.display(), result.outcome);
        Err(io::Error::other(text))
    }
}
