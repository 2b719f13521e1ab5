//! A tiny program whose work is known, to try a machine or a tool on: `spin N` goes through a fixed
//! chain of N dependent steps and touches no memory, `touch MIB` writes to so much fresh memory.
//!
//! It is built from `c/workload.c`, which says what each does, and embedded. Here it is written to
//! a file, and the number of steps is found that takes a wished time on this machine. It is no
//! measurement: whoever wants to know how long the program takes measures it as any other command.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::Command;
use crate::embedded;
use crate::error::MeasureError;
use crate::runner::{RunOptions, Runner};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/workload"));

/// A run of this length shows the pace: its start is then a small part of it.
const LONG_ENOUGH: f64 = 0.02;
/// The best of so many runs counts: whatever disturbs makes a run longer, never shorter.
const TRIES: usize = 3;
/// No processor goes through so many steps in 20 ms: where it seems so, it is no spinning.
const MOST_FOR_PACE: u64 = 1 << 40;
/// What the program reads as a number.
const MOST: f64 = 1e17;

/// Writes the program into a directory, for its owner to read and execute (mode 700), and returns
/// where it is. A file of that name is replaced, even while it is being executed.
///
/// # Errors
///
/// `InvalidInput` for a name that is no plain file name; otherwise what the system says.
pub fn unpack(directory: &Path, name: &str) -> io::Result<PathBuf> {
    if Path::new(name).file_name() != Some(name.as_ref()) {
        let text = format!("`{name}` is no name for a file: give one without `/`");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let path = directory.join(name);
    embedded::write(&path, PROGRAM, 0o700)?;
    Ok(path)
}

/// How many steps make a run of `spin` take about so many seconds of processor time here and now,
/// its start included; at least 1. `program` is what [`unpack`] returned.
///
/// It runs the program with more and more steps until a run takes 20 ms, then thrice, and takes the
/// best; this needs about 0.15 s, and more where others are at work: they make a run last longer,
/// but hardly change its processor time. Good to some percent: the processor may change its
/// frequency.
///
/// # Errors
///
/// `InvalidInput` for a time that is not a number above 0 and below 100000 s; what the system says
/// if the program cannot be started; `Other` if it fails, or takes no time whatever it is asked for.
pub fn iterations_for(program: &Path, seconds: f64) -> io::Result<u64> {
    if !(seconds > 0.0 && seconds < 1e5) {
        let text = format!("a run cannot be made {seconds} s long: give a time above 0");
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

/// The shortest of several runs, s of processor time.
fn best(runner: &mut Runner, program: &Path, steps: u64) -> io::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..TRIES {
        best = best.min(spin(runner, program, steps)?);
    }
    Ok(best)
}

/// How long one run took, s of processor time.
fn spin(runner: &mut Runner, program: &Path, steps: u64) -> io::Result<f64> {
    let words = [program.as_os_str().to_owned(), "spin".into(), steps.to_string().into()];
    let command = Command::new(words).map_err(io::Error::other)?;
    let mut attempts = 0;
    let result = loop {
        let ran = runner.add(&command).and_then(|id| runner.run(id, RunOptions::default()));
        match ran {
            // A thread that starts a process just now may hold the fresh file open for writing.
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
