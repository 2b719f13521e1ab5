//! Turns: two processes of a benchmark are alive together, and measure in alternation for a few
//! milliseconds each. The cost of starting, loading and warming up is then paid once for many
//! turns, and noise that changes within seconds affects both equally.
//!
//! The processes pass the turn on to each other through named pipes, without the caller: each
//! process reads from its own pipe, `a` or `b`. Before its first turn, a process writes a byte to
//! the pipe `ready`. After each turn it writes `t` to the other's pipe, and after its last one `d`;
//! then it waits until the other has written `d`, since its exit would disturb the other. A process
//! that has read `d` does not wait again. Processes that measure several benchmarks do this for each
//! of them. The caller gives the first turn, and writes `e` for a process that has ended.

use crate::driver::Request;
use std::path::Path;

/// The role of one process in alternating measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns<'a> {
    /// The directory of the pipes.
    pub directory: &'a Path,
    /// The process: 0 or 1.
    pub side: usize,
    /// Number of turns into which the measuring time of a run is divided, at least 2. A harness
    /// that divides the time in its own way may take another number of turns.
    pub count: u32,
}

impl Turns<'_> {
    /// Usual length of a turn, in seconds. In shorter turns, more time is lost to caches that the
    /// other process has filled; in longer ones, up to a tenth of a second, noise still changes
    /// little.
    pub const SECONDS: f64 = 0.02;
    /// Names of the pipes of the two processes.
    pub const SIDES: [&'static str; 2] = ["a", "b"];
    /// Name of the pipe that is read by the caller.
    pub const READY: &'static str = "ready";
    /// The byte that gives the turn to a process.
    pub const TURN: u8 = b't';
    /// The byte that tells a process that the other has finished a benchmark.
    pub const DONE: u8 = b'd';
    /// The byte that tells a process that the other has ended.
    pub const ENDED: u8 = b'e';

    /// Returns a request of a driver that [takes turns](crate::Driver::turn_seconds), extended so
    /// that the program runs as one of two alternating processes.
    #[must_use]
    pub fn of(self, request: Request) -> Request {
        request
            .env("ASSAY_TURNS", self.directory.display().to_string())
            .env("ASSAY_TURN", Self::SIDES[self.side])
            .env("ASSAY_TURN_COUNT", self.count.to_string())
    }
}
