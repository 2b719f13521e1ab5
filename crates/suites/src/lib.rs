//! Runs test frameworks, reads their reports, and analyzes a project's tests by their logs.
//!
//! - [`frameworks`]: detects which framework a command runs, requests per-test times and reads its
//!   reports. Each framework has its own file.
//! - [`run`]: the results of one run of a suite; [`parts`]: where its time went; [`watching`]: what
//!   it is currently running.
//! - [`hooks`]: code loaded into a suite's processes that records what happens there.
//! - [`programs`]: test programs started by a run, which can be started again without the build
//!   tool.
//! - [`preloading`]: which commands can run in a process that is kept loaded, and how to start such
//!   a process.
//! - [`log`]: how much each test wrote to a log, and which lines.
//! - [`toggles`]: settings that are compared with a baseline without them, and the effects of each.
//! - `coverage`, with the feature of that name: the code that each test used, and the tests that a
//!   change affects.
//!
//! This crate starts no processes, reads no clocks, makes no decisions and prints nothing. It reads
//! only the reports of frameworks and the project files that reveal which framework is in use;
//! `coverage` reads the files of the project, and keeps its map in a file.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]

mod asking;
mod call;
#[cfg(feature = "coverage")]
pub mod coverage;
mod error;
pub mod events;
pub mod frameworks;
pub mod hooks;
pub mod log;
pub mod parts;
pub mod polluter;
pub mod preloading;
pub mod programs;
mod reports;
pub mod run;
mod seen;
pub mod shard;
pub mod toggles;
pub mod watching;

pub use asking::{Answer, Order, Request, RunRequirements, Text, add_to_environment};
pub use call::Call;
pub use error::SuiteError;
pub use frameworks::{Framework, Orders};
pub use run::Run;
