//! Code shared by the project's programs: printing and error messages ([`output`]), writing files
//! ([`whole_file`], [`outputs`]), and answers to queries from the program that delegates to them
//! ([`asked`]).
//!
//! Only programs may use this module. Libraries, and the other modules of this crate, return what
//! is to be printed. This module knows nothing about commands or the printed content.

pub mod asked;
pub mod output;
pub mod outputs;
pub mod whole_file;
