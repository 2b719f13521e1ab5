//! Runs programs and supplies observations: the resources that a run of a command used, and the
//! machine it ran on.
//!
//! This is the only crate that starts processes, sends signals and reads `/proc`. It contains no
//! statistics and decides nothing; a failed command is a result here, not an error. Everything
//! specific to one operating system is in `sys`. The `cfg`s below show which modules each system
//! has.
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

#![cfg_attr(
    all(unix, not(target_os = "linux")),
    expect(
        dead_code,
        unused_imports,
        reason = "parts of what is shared with the launcher, or with what measures"
    )
)]

// On every system: modules that read but do not measure.
pub mod clock;
pub mod directories;
#[cfg(test)]
#[path = "../tests/it/common/emulated.rs"]
mod emulated;
pub mod environment;
pub mod git;
mod sys;
pub mod terminal;

// On POSIX systems: modules that measure.
#[cfg(unix)]
pub mod afterwards;
#[cfg(unix)]
#[cfg_attr(not(target_os = "linux"), path = "allocations/elsewhere.rs")]
pub mod allocations;
#[cfg(unix)]
mod capture;
#[cfg(unix)]
pub mod code;
#[cfg(unix)]
mod command;
#[cfg(unix)]
mod control;
#[cfg(unix)]
pub mod counters;
#[cfg(unix)]
pub mod descriptors;
#[cfg(unix)]
mod error;
#[cfg(unix)]
pub mod fingerprint;
#[cfg(unix)]
mod group;
#[cfg(unix)]
pub mod hooks;
#[cfg(unix)]
pub mod interrupt;
#[cfg(unix)]
pub mod libraries;
#[cfg(unix)]
pub mod machine;
#[cfg(unix)]
mod options;
mod prepared;
#[cfg(unix)]
mod resolve;
#[cfg(unix)]
pub mod revisions;
#[cfg(unix)]
pub mod room;
#[cfg(unix)]
mod runner;
#[cfg(unix)]
pub mod simulation;
#[cfg(unix)]
pub mod trace;
#[cfg(unix)]
mod wire;

// On Linux only, or used only there.
#[cfg(target_os = "linux")]
mod embedded;
#[cfg(target_os = "linux")]
pub mod files;
#[cfg(target_os = "linux")]
pub mod foreground;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
pub mod keys;
#[cfg(target_os = "linux")]
pub mod preloaded;
#[cfg(target_os = "linux")]
pub mod sampling;
#[cfg(target_os = "linux")]
pub mod sandbox;
#[cfg(target_os = "linux")]
pub mod servers;
#[cfg(target_os = "linux")]
pub mod serving;
#[cfg(target_os = "linux")]
pub mod workload;

#[cfg(unix)]
pub use capture::KeptOutput;
#[cfg(unix)]
pub use command::{Channel, Command, CommandError, Input, Output, text_of, word_of};
#[cfg(unix)]
pub use control::{Control, Setting};
#[cfg(unix)]
pub use error::MeasureError;
#[cfg(target_os = "linux")]
pub use guard::Guard;
#[cfg(unix)]
pub use resolve::ResolveError;
#[cfg(unix)]
pub use runner::{
    AbortHandle, LastWords, Outcome, OutputSoFar, RUNNER, RunOptions, RunResult, Runner,
    RunnerKind, SubjectId, Watching,
};
