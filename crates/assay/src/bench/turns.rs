//! The named pipes through which two processes of a benchmark pass the turn to each other
//! ([`Turns`]), and the CPU that they share.

use crate::cpus::quiet_cpu;
use assay_harness::Turns;
use assay_measure::descriptors::named_pipe;
use assay_measure::environment::can_pin;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Returns the CPU on which all sides of a benchmark run if it uses only one. Otherwise the sides
/// would run on different CPUs, and a busy neighbor slows down only some of them. `None` if there
/// is no choice, or if pinning is not permitted.
pub(super) fn common_cpu() -> Option<u32> {
    quiet_cpu().filter(|&cpu| can_pin(cpu))
}

/// The named pipes. All are open for both reading and writing, so that no process waits for another
/// to open one.
pub(super) struct Pipes {
    directory: PathBuf,
    ready: File,
    sides: [File; 2],
}

impl Pipes {
    /// Creates the pipes in a directory.
    ///
    /// # Errors
    ///
    /// Fails if a pipe cannot be created.
    pub fn create(directory: &Path) -> io::Result<Self> {
        let pipe = |name: &str| named_pipe(&directory.join(name));
        let [a, b] = Turns::SIDES.map(pipe);
        let (ready, sides) = (pipe(Turns::READY)?, [a?, b?]);
        Ok(Self { directory: directory.to_owned(), ready, sides })
    }

    /// Returns the directory that contains the pipes.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Removes what earlier processes have left in the pipes.
    pub fn empty(&self) {
        for mut pipe in [&self.ready, &self.sides[0], &self.sides[1]] {
            while pipe.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
        }
    }

    /// Returns true if another process waits for its first turn.
    pub fn is_ready(&self) -> bool {
        (&self.ready).read(&mut [0]).is_ok_and(|read| read == 1)
    }

    /// Gives the turn to the process of a side.
    pub fn give(&self, side: usize) {
        self.write(side, Turns::TURN);
    }

    /// Tells the other process that the process of this side has ended.
    pub fn ended(&self, side: usize) {
        self.write(1 - side, Turns::ENDED);
    }

    /// Writes a byte to the pipe of a side. A failure is ignored, because a full pipe already
    /// contains the byte.
    fn write(&self, side: usize, byte: u8) {
        let _ = (&self.sides[side]).write(&[byte]);
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_earlier_processes_are_removed() {
        let room = tempfile::tempdir().expect("a directory");
        let pipes = Pipes::create(room.path()).expect("pipes");
        fs::write(room.path().join(Turns::READY), "r").expect("an open pipe");
        assert!(pipes.is_ready() && !pipes.is_ready());
        pipes.give(0);
        pipes.ended(0);
        pipes.empty();
        let left = |side: usize| (&pipes.sides[side]).read(&mut [0]).is_ok();
        assert!(!left(0) && !left(1));
    }
}
