//! Options of a run.

use crate::trace::Window;
use std::time::Duration;

/// Options of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// The length of the value of `ASSAY_PAD` in the run's environment, 0 to 4095; larger values
    /// are clamped. It shifts the stack, whose position can change the speed of a program: draw it
    /// anew for every run.
    pub pad: u16,
    /// Time after which the run gets SIGTERM; it is killed a second later.
    pub timeout: Option<Duration>,
    /// How the last 4 KiB of standard error are captured.
    pub last_words: LastWords,
    /// If given, standard output goes to a pipe that is read and traced, and this part of it is
    /// kept: for warm-ups and for runs that are not timed. Only where output goes to
    /// [`crate::Output::Null`] or [`crate::Output::Pipe`], and is not kept.
    pub trace_output: Option<Window>,
    /// If true, everything that the command leaves behind is ended and its processor time counted,
    /// even in a separate session, as with daemons. Otherwise only processes in its group are
    /// ended, since hooks may start servers.
    pub end_strays: bool,
}

/// Treatment of the last 4 KiB of standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastWords {
    /// Not captured.
    #[default]
    Unheard,
    /// Read from a pipe during the run: for warm-ups and for first runs, not for runs that are
    /// compared. With [`Command::keep_errors`] nothing is read during the run.
    Piped,
    /// Kept in a file in memory, together with everything written before, until the run has ended:
    /// for programs with little output.
    Filed,
}
