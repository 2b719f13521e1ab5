//! Drivers of harnesses of compiled languages against real programs that are built here: Go,
//! criterion, divan, Catch2; and programs that print their results themselves.
//!
//! If a tool is missing, a test prints a note and passes; `scripts/tools.sh` installs the tools.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail loudly, and says what it skips"
)]

mod catch2;
mod go;
mod hostile;
mod printing;
mod rust;
mod tool;
