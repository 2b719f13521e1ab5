//! Test suites: how test frameworks are asked and what they answer, and what can be learnt about the tests of a project from their logs.
//!
//! - [`frameworks`]: which framework a command runs, how it is asked for the time of every test, how its answer is read. Each has a file.
//! - [`run`]: what one run of a suite told; [`parts`]: where its time went; [`watching`]: what it runs while it goes on.
//! - [`hooks`]: what is loaded into a suite's processes, and writes what happens there;
//! - [`programs`]: test programs that a run started, which can be started again without what built them;
//! - [`preloading`]: which commands can run in a process that is kept loaded, and how such a process is started;
//! - [`log`]: which test wrote how much into a log, and which lines those are;
//! - [`toggles`]: settings that are compared with none, and what each of them changes.
//!
//! No process is started and no clock is read here, nothing is decided or printed. The files that are read are the answers of frameworks, and those
//! by which a project says which framework it has.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]

mod asking;
mod call;
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

pub use asking::{Answer, Order, Request, Text, Wanted, add_to_environment};
pub use call::Call;
pub use error::SuiteError;
pub use frameworks::{Framework, Orders};
pub use run::Run;
