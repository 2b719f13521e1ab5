//! Turns: two processes of a benchmark run at the same time, and measure alternately for a few
//! milliseconds each. The cost of starting, loading and warming up is then paid once for many
//! turns, and noise that changes within seconds affects both processes equally.
//!
//! The processes pass the turn to each other through named pipes, without the caller. Each process
//! reads from its own pipe, `a` or `b`. Before its first turn, a process writes a byte to the pipe
//! `ready`. After each turn it writes `t` to the other process's pipe, and `d` after its last turn.
//! It then waits until the other process has written `d`, since its exit would disturb the other. A
//! process that has already read `d` does not wait again. Processes that measure several benchmarks
//! do this for each of them. The caller gives the first turn, and writes `e` on behalf of a process
//! that has ended.

use crate::driver::Request;
use std::path::Path;

/// The part of one process in measurements that alternate between two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns<'a> {
    /// Directory of the named pipes.
    pub directory: &'a Path,
    /// Index of the process, 0 or 1.
    pub side: usize,
    /// Number of turns into which the measuring time of a run is divided, at least 2. A harness
    /// that divides the time in its own way may use another number of turns.
    pub count: u32,
}

impl Turns<'_> {
    /// Usual length of a turn, in seconds. In shorter turns, more time is lost to caches that the
    /// other process has filled. In longer turns, up to 0.1 s, noise still changes little.
    pub const SECONDS: f64 = 0.02;
    /// Names of the pipes from which the two processes read.
    pub const SIDES: [&'static str; 2] = ["a", "b"];
    /// Name of the pipe from which the caller reads.
    pub const READY: &'static str = "ready";
    /// Byte that gives the turn to a process.
    pub const TURN: u8 = b't';
    /// Byte by which a process learns that the other one has finished a benchmark.
    pub const DONE: u8 = b'd';
    /// Byte by which a process learns that the other one has exited.
    pub const ENDED: u8 = b'e';

    /// Extends a request so that the program runs as one of two alternating processes. The request
    /// must be from a driver that [takes turns](crate::Driver::turn_seconds).
    #[must_use]
    pub fn of(self, request: Request) -> Request {
        request
            .env("ASSAY_TURNS", self.directory.display().to_string())
            .env("ASSAY_TURN", Self::SIDES[self.side])
            .env("ASSAY_TURN_COUNT", self.count.to_string())
    }
}
