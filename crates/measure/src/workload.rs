//! A tiny program whose work is known, to try a machine or a tool on: `spin N` goes through a fixed
//! chain of N dependent steps and touches no memory, `touch MIB` writes to so much fresh memory.
//!
//! It is built from `c/workload.c`, which says what each does, and embedded. Here it is written to
//! a file, and the number of steps is found that takes a wished time on this machine. It is no
//! measurement: whoever wants to know how long the program takes measures it as any other command.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/workload"));

/// A run of this length tells the pace: its start is then a small part of it.
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
    let fresh = directory.join(format!(".{name}.{}", std::process::id()));
    let written = write(&fresh).and_then(|()| fs::rename(&fresh, &path));
    if let Err(error) = written {
        // Half a program is of no use; if it cannot even be removed there is nothing to do.
        let _ = fs::remove_file(&fresh);
        return Err(error);
    }
    Ok(path)
}

fn write(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o700).open(path)?;
    // The process may be set to withhold more than others' rights.
    file.set_permissions(fs::Permissions::from_mode(0o700))?;
    file.write_all(PROGRAM)
}

/// How many steps make a run of `spin` last about so many seconds here and now, its start included;
/// at least 1. `program` is what [`unpack`] returned.
///
/// It runs the program with more and more steps until a run takes 20 ms, then thrice, and takes the
/// best; this needs about 0.15 s. Good to some percent: the processor may change its frequency, and
/// others may be at work.
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
    let start = best(program, 0)?;
    let mut steps = 1 << 16;
    let took = loop {
        // One run may be long because others were at work; only the best of several says that the work is.
        if best_of(1, program, steps)? >= LONG_ENOUGH {
            let took = best(program, steps)?;
            if took >= LONG_ENOUGH {
                break took;
            }
        }
        steps *= 4;
        if steps > MOST_FOR_PACE {
            let text = format!("`{}` takes no time: is it the workload?", program.display());
            return Err(io::Error::other(text));
        }
    };
    let step = (took - start).max(LONG_ENOUGH / 100.0) / steps as f64;
    Ok((((seconds - start) / step).clamp(1.0, MOST)) as u64)
}

fn best(program: &Path, steps: u64) -> io::Result<f64> {
    best_of(TRIES, program, steps)
}

/// The shortest of several runs, s.
fn best_of(tries: usize, program: &Path, steps: u64) -> io::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..tries {
        best = best.min(spin(program, steps)?);
    }
    Ok(best)
}

/// How long one run took, s.
fn spin(program: &Path, steps: u64) -> io::Result<f64> {
    let mut command = Command::new(program);
    command.args(["spin", &steps.to_string()]).stdin(Stdio::null()).stdout(Stdio::null());
    let mut attempts = 0;
    let (took, status) = loop {
        let start = Instant::now();
        match command.status() {
            // A thread that starts a process just now may hold the fresh file open for writing.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && attempts < 50 => {
                attempts += 1;
                std::thread::sleep(Duration::from_millis(2));
            }
            other => break (start.elapsed(), other?),
        }
    };
    if status.success() {
        Ok(took.as_secs_f64())
    } else {
        Err(io::Error::other(format!("`{} spin {steps}` failed: {status}", program.display())))
    }
}
