//! Runs programs and supplies observations: what one run of a command took, and on what machine.
//!
//! This is the only crate that starts processes, sends signals and reads `/proc`. It contains no
//! statistics and decides nothing; a failed command is a result here, not an error. Everything
//! that belongs to one operating system lives in `sys`.
//!
//! ```
//! use assay_measure::{Command, Outcome, RunOptions, Runner};
//!
//! let mut runner = Runner::start()?;
//! let subject = runner.add(&Command::parse("sh -c 'exit 3'", false)?)?;
//! let result = runner.run(subject, RunOptions::default())?;
//! assert_eq!(result.outcome, Outcome::Exited(3));
//! assert!(result.wall_seconds > 0.0);
//! # Ok::<(), assay_measure::MeasureError>(())
//! ```

pub mod afterwards;
pub mod allocations;
mod capture;
pub mod clock;
pub mod code;
mod command;
mod control;
pub mod counters;
pub mod descriptors;
mod embedded;
pub mod environment;
mod error;
pub mod files;
pub mod fingerprint;
pub mod foreground;
pub mod git;
mod guard;
pub mod hooks;
pub mod interrupt;
pub mod keys;
pub mod libraries;
pub mod machine;
mod prepared;
mod resolve;
pub mod revisions;
pub mod room;
mod runner;
pub mod sampling;
pub mod servers;
pub mod serving;
pub mod simulation;
mod sys;
pub mod terminal;
mod wire;
pub mod workload;

pub use capture::Kept;
pub use command::{Channel, Command, CommandError, Input, Output};
pub use control::{Control, Setting};
pub use error::MeasureError;
pub use guard::Guard;
pub use resolve::ResolveError;
pub use runner::{
    AbortHandle, LastWords, Outcome, OutputSoFar, RunOptions, RunResult, Runner, SubjectId,
    Watching,
};
