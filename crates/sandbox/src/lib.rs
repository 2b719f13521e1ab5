//! Runs a command where it can do no harm: mutants of a program, tests and builds of other people's code.
//!
//! A command in the [`Sandbox`] is an unprivileged user's, sees the system's programs and libraries but cannot write them, has its own
//! processes, its own loopback device and no other network, an empty `/tmp`, and of the project only what its [`Policy`] names. The walls
//! are bubblewrap's (namespaces, no new privileges), the limits those of control groups where there are some, else of the process.
//!
//! Nothing is run here but a trial: [`Sandbox::enter`] makes one command line of another, which is run as any other is, by
//! [`assay_measure`], with its timeout and its end of the whole process group. docs/design/009-sandbox.md says what is kept in and what is not.

mod arguments;
mod error;
mod groups;
mod policy;
mod sandbox;

pub use error::SandboxError;
pub use groups::Exceeded;
pub use policy::{Limits, Policy};
pub use sandbox::{Entered, Sandbox};
