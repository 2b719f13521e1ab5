//! Options of a run.

use crate::trace::Window;
use std::time::Duration;

/// Options of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// Length of the value of `ASSAY_PAD` in the run's environment, in bytes, from 0 to 4095.
    /// Larger values are clamped. The padding shifts the stack, whose position can change the speed
    /// of a program, so draw a new length for every run.
    pub pad: u16,
    /// Time after which the run is sent SIGTERM. It is killed a second later. `None` means no
    /// limit.
    pub timeout: Option<Duration>,
    /// How the last 4 KiB of standard error are captured.
    pub last_words: LastWords,
    /// If given, standard output goes to a pipe that is read and traced, and this part of it is
    /// kept. Meant for warm-ups and for runs that are not timed. Ignored unless output goes to
    /// [`crate::Output::Null`] or [`crate::Output::Pipe`] and is not kept.
    pub trace_output: Option<Window>,
    /// If true, everything that the command leaves behind is ended and its processor time counted,
    /// even in a separate session, as with daemons. Otherwise only processes in its group are
    /// ended, since hooks may start servers.
    pub end_strays: bool,
}

/// Whether and how the last 4 KiB of standard error are captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastWords {
    /// Not captured.
    #[default]
    Unheard,
    /// Read from a pipe during the run. Meant for warm-ups and first runs, not for runs that are
    /// compared. With [`Command::keep_errors`], nothing is read during the run.
    Piped,
    /// Kept in a file in memory, together with everything written before, until the run has ended.
    /// Meant for programs with little output.
    Filed,
}
