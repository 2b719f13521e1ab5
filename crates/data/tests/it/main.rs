//! Reading and writing of files and documents, in one program, so that it is linked only once. A
//! test that examines its own process has its own program (`hostile_files.rs`).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail loudly, and says when it is skipped"
)]

mod bad_files;
mod conversions;
mod documents;
mod examples;
mod json_formats;
mod numbers;
mod recordings;
mod text_formats;
mod wrong_values;
