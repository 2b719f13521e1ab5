//! Counts the instructions of a program on a simulated processor, by running it in valgrind's
//! cachegrind.
//!
//! Such a count hardly depends on the machine or its other load, so two runs of the same program
//! give equal or nearly equal counts. This makes it a suitable gate on machines whose times are
//! unreliable. It is not a time: waiting, cache misses and mispredictions cost nothing here. The
//! program runs about fifty times slower, so it must never be timed. This module runs nothing
//! itself: it wraps a command, and reads the output of its run.
//!
//! The format is that of cachegrind's output files (valgrind's manual, section 5.2), of which only
//! the summary line is read.

use assay_data::system_error::reason;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::command::{Command, CommandError};
use crate::resolve::ResolveError;
use crate::room::Room;

/// Prefix of the names of cachegrind's output files, one for each process.
const PREFIX: &str = "count.";

/// Reasons why instructions can't be counted.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// valgrind is not installed.
    #[error(
        "instructions are counted with valgrind, which is not installed; install it: apt-get install valgrind"
    )]
    NoValgrind,
    /// The directory for cachegrind's output files can't be created.
    #[error(
        "cannot create files for counting instructions in `{}`: {reason}.\nSet XDG_RUNTIME_DIR or TMPDIR to another directory.",
        path.display(),
        reason = reason(source)
    )]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The program does not exist.
    #[error(transparent)]
    Program(#[from] ResolveError),
    /// The command can't be constructed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// An output file of cachegrind can't be read or removed.
    #[error("cannot read the count in `{}`: {reason}", path.display(), reason = reason(source))]
    Read {
        /// The output file, or the directory that contains it.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// An output file contains no count.
    #[error("valgrind left no count in `{}`: a `summary:` line is missing", path.display())]
    NoSummary {
        /// The output file.
        path: PathBuf,
    },
    /// There is no output file.
    #[error("valgrind left no count: it did not run the program to completion")]
    NoCount,
}

/// Counts the instructions of commands: the simulator, and a directory for its output, which is
/// removed when the value is dropped.
#[derive(Debug)]
pub struct Simulation {
    valgrind: PathBuf,
    directory: Room,
}

impl Simulation {
    /// Locates valgrind, and creates the directory for its output.
    ///
    /// # Errors
    ///
    /// Returns an error if valgrind is not installed, or the directory can't be created.
    pub fn start() -> Result<Self, SimulationError> {
        let valgrind = Command::new(["valgrind"])?.resolve();
        let valgrind = valgrind.map_err(|_| SimulationError::NoValgrind)?;
        let directory = Room::of_session()
            .map_err(|(path, source)| SimulationError::Directory { path, source })?;
        Ok(Self { valgrind, directory })
    }

    /// Returns a command that runs the given one, with all its descendants, on the simulated
    /// processor.
    ///
    /// # Errors
    ///
    /// Returns an error if the command's program does not exist.
    pub fn command(&self, command: &Command) -> Result<Command, SimulationError> {
        let mut files = OsString::from("--cachegrind-out-file=");
        files.push(self.directory.path().join(PREFIX));
        files.push("%p");
        let mut argv: Vec<OsString> = vec![self.valgrind.clone().into()];
        let options = ["--quiet", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes"];
        argv.extend(options.into_iter().map(OsString::from));
        argv.push(files);
        // The path is resolved here, because valgrind would search for the program from another
        // directory.
        argv.push(command.resolve()?.into());
        argv.extend(command.argv.iter().skip(1).cloned());
        Ok(Command { argv, ..command.clone() })
    }

    /// Returns the number of instructions executed by all processes that ended since the last call.
    /// A process that was forked and executed no other program continues its parent's count.
    ///
    /// # Errors
    ///
    /// Returns an error if a file can't be read or contains no count, or if there is no file.
    pub fn take(&self) -> Result<u64, SimulationError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| SimulationError::Read { path, source }
        };
        let directory = self.directory.path();
        let mut total: Option<u64> = None;
        for entry in fs::read_dir(directory).map_err(failed(directory))? {
            let entry = entry.map_err(failed(directory))?;
            if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
                continue;
            }
            let path = entry.path();
            let text = fs::read(&path).map_err(failed(&path))?;
            fs::remove_file(&path).map_err(failed(&path))?;
            match summary(&String::from_utf8_lossy(&text)) {
                Some(count) => total = Some(total.unwrap_or(0).saturating_add(count)),
                None => return Err(SimulationError::NoSummary { path }),
            }
        }
        total.ok_or(SimulationError::NoCount)
    }
}

/// Returns the first number of the last line that begins with `summary:`.
fn summary(text: &str) -> Option<u64> {
    let line = text.lines().rev().find_map(|line| line.strip_prefix("summary:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn the_summary_is_the_last_line_of_that_name() {
        assert_eq!(summary("events: Ir\nfn=main\n3 17\nsummary: 4711\n"), Some(4711));
        assert_eq!(summary("summary: 1 2\nsummary: 12 9 9"), Some(12));
        for none in ["", "summary:", "summary: x", "total: 3", "summary: -1"] {
            assert_eq!(summary(none), None, "{none}");
        }
    }

    #[test]
    fn counts_of_all_processes_are_summed_once_and_half_a_file_is_an_error() {
        let simulation =
            Simulation { valgrind: "/bin/true".into(), directory: Room::of_session().unwrap() };
        assert!(matches!(simulation.take(), Err(SimulationError::NoCount)));
        let file = |name: &str| simulation.directory.path().join(name);
        fs::write(file("count.1"), "summary: 40\n").unwrap();
        fs::write(file("count.2"), "summary: 2\n").unwrap();
        fs::write(file("other"), "none of ours").unwrap();
        assert_eq!(simulation.take().unwrap(), 42);
        assert!(matches!(simulation.take(), Err(SimulationError::NoCount)));
        fs::write(file("count.3"), "events: Ir\n").unwrap();
        assert!(matches!(simulation.take(), Err(SimulationError::NoSummary { .. })));
    }

    #[test]
    fn the_program_keeps_its_arguments_and_its_directory() {
        let simulation = Simulation {
            valgrind: "/usr/bin/valgrind".into(),
            directory: Room::of_session().unwrap(),
        };
        let command = Command {
            cwd: Some("/bin".into()),
            ..Command::parse("./sh -c 'exit 0'", false).unwrap()
        };
        let wrapped = simulation.command(&command).unwrap();
        assert_eq!(wrapped.cwd, command.cwd);
        let words: Vec<_> = wrapped.argv.iter().map(|w| w.to_string_lossy()).collect();
        assert_eq!(words[0], "/usr/bin/valgrind");
        assert!(words[6].ends_with("/./sh") && words[7..] == ["-c", "exit 0"], "{words:?}");
    }
}
