//! Code shared by the project's programs: printing and error messages ([`output`]), writing files
//! ([`whole_file`], [`outputs`]), and answers to the program that delegates to them ([`asked`]).
//!
//! Only programs may use this module: libraries, and the other modules of this crate, return what
//! is to be printed. It is independent of verbs and of the printed content.

pub mod asked;
pub mod output;
pub mod outputs;
pub mod whole_file;
