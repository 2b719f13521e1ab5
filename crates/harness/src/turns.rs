//! Turns: two processes of a benchmark are alive together, and measure in alternation for a few
//! milliseconds each. What starting, loading and warming up take is then paid once for many turns,
//! and noise that changes within seconds is the same for both.
//!
//! The processes pass the turn on to each other through named pipes, without the caller: each reads
//! from its own, `a` or `b`. Before its first turn a process writes a byte to the pipe `ready`. It
//! writes `t` to the other's pipe when it has had a turn, and `d` after its last one; then it waits
//! until the other has written `d`, since its end would disturb the other. A process that has read
//! `d` does not wait again. The caller gives the first turn, and writes `d` for a process that has
//! ended.

use crate::driver::Request;
use std::path::Path;

/// The part of one process in an alternation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns<'a> {
    /// The directory of the pipes.
    pub directory: &'a Path,
    /// The process: 0 or 1.
    pub side: usize,
    /// Number of turns into which the measuring time of a run is divided, at least 2. A harness that
    /// divides it in another way may take another number.
    pub count: u32,
}

impl Turns<'_> {
    /// Usual length of a turn, s. Shorter ones lose more to caches that the other process has filled;
    /// noise changes little within longer ones, up to a tenth of a second.
    pub const SECONDS: f64 = 0.02;
    /// Names of the pipes of the two processes.
    pub const SIDES: [&'static str; 2] = ["a", "b"];
    /// Name of the pipe that is read by the caller.
    pub const READY: &'static str = "ready";
    /// The byte that gives the turn to a process.
    pub const TURN: u8 = b't';
    /// The byte that tells a process that the other has finished.
    pub const DONE: u8 = b'd';

    /// Returns a request of a driver that [takes turns](crate::Driver::turn_seconds), as one of two.
    #[must_use]
    pub fn of(self, request: Request) -> Request {
        request
            .env("ASSAY_TURNS", self.directory.display().to_string())
            .env("ASSAY_TURN", Self::SIDES[self.side])
            .env("ASSAY_TURN_COUNT", self.count.to_string())
    }
}
