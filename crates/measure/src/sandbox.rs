//! Runs commands where they can do no harm: mutants of a program, and tests and builds of other
//! people's code.
//!
//! A command in the [`Sandbox`] runs as an unprivileged user. It sees the system's programs and
//! libraries but cannot write them. It has its own processes, a network that consists only of its
//! own loopback device, an empty `/tmp`, and only those parts of the project that its [`Policy`]
//! names. Bubblewrap provides isolation (namespaces, no new privileges). Limits are set by control
//! groups if available, and otherwise per process.
//!
//! Only a trial command is run here: [`Sandbox::enter`] converts a command line to another one,
//! which a [`Runner`](crate::Runner) runs like any other, with its timeout and termination of the
//! whole process group. docs/internals/009-sandbox.md describes what is confined and what is not.

mod arguments;
mod entering;
mod error;
mod groups;
mod policy;

pub use entering::{Sandbox, SandboxedCommand};
pub use error::SandboxError;
pub use groups::ExceededLimits;
pub use policy::{Limits, Policy};
