//! Code shared by the project's programs: printing and error messages ([`output`]), writing files
//! ([`whole_file`], [`outputs`]), and answers to the program that delegates to them ([`asked`]).
//!
//! Only programs may use it: libraries, and the other modules of this crate, return what is to be
//! printed. It knows no verb, and nothing of the content.

pub mod asked;
pub mod output;
pub mod outputs;
pub mod whole_file;
