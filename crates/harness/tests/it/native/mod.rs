//! Drivers of harnesses of compiled languages against real programs that are built here: Go, criterion, divan, Catch2; and programs
//! that print their results by themselves.
//!
//! Where a tool is missing a test says so and passes; `scripts/tools.sh` installs what is needed.

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
