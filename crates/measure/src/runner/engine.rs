//! The engines of a runner: the launcher on Linux, or a thread that waits for commands, which is
//! all that other systems offer.

use assay_data::system_error::reason;
use std::io;
use std::sync::Arc;

use super::{RunOptions, Watching};
use crate::capture::Capture;
use crate::error::MeasureError;
use crate::group::{Group, InFlight};
use crate::prepared::Prepared;
use crate::sys::clock::monotonic_ns;
use crate::wire::Reply;

/// Time between asking a run to end and killing it, in nanoseconds.
pub(super) const GRACE_NS: u64 = 1_000_000_000;

/// Runs prepared commands, one at a time.
pub(crate) trait Engine: Send {
    /// Registers a command. Its number is the number of commands registered before it.
    fn learn(&mut self, prepared: &Prepared) -> Result<(), Trouble>;

    /// Runs a command once, and waits for its end.
    fn run(
        &mut self,
        command: (u32, &Prepared),
        options: RunOptions,
        watching: Option<Watching<'_>>,
    ) -> Result<(Reply, Capture), Trouble>;

    /// Returns the smallest peak memory that can be observed, in bytes.
    fn memory_floor_bytes(&self) -> Option<u64>;

    /// Returns the ID of the process that starts the commands, or `None` if that is not a separate
    /// process.
    fn process_id(&self) -> Option<u32>;

    /// Begins to shut the engine down without waiting for it to end. Called between runs.
    fn dismiss(&mut self) {}

    /// Returns the current run, for callers that want to end it.
    fn in_flight(&self) -> Arc<dyn InFlight>;
}

/// Reasons why an engine failed.
pub(crate) enum Trouble {
    /// Another process killed the engine.
    Gone,
    /// We killed the engine after an interrupt.
    Aborted,
    Error(MeasureError),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::Gone,
            _ => Self::Error(MeasureError::Internal {
                what: format!("the launcher: {}", reason(&error)),
            }),
        }
    }
}

/// Asks a run to end if its observer wants that. A run that does not react is killed.
pub(crate) fn end_if_asked(
    watching: &mut Watching<'_>,
    capture: &Capture,
    group: &Group,
    ended_at: &mut Option<u64>,
) {
    match ended_at {
        None if (watching.ends)(&|from| capture.output_so_far(from)) && group.end_group() => {
            *ended_at = Some(monotonic_ns());
        }
        Some(at) if monotonic_ns().saturating_sub(*at) >= GRACE_NS => {
            group.kill_group();
        }
        _ => {}
    }
}
