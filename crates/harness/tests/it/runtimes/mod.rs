//! Tests that run real programs in interpreted languages: `scripts/runtimes.sh` installs their
//! harnesses.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails with what the program said, and tells when it was skipped"
)]

mod benchmark_ips;
mod garbage;
mod javascript;
mod jmh;
mod pyperf;
mod pytest_benchmark;
mod support;
