//! Drives the built binary from outside, like a person or a script: arguments in, screens, files
//! and exit statuses out.
//!
//! Times are never asserted, only relations and structure, because the machine may be busy. Every
//! test has its own [`room::Room`], so that nothing is written to the state directory of the user.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail loudly, and says when it is skipped"
)]

mod allocations;
mod architecture;
mod battery;
mod benching;
mod bisecting;
mod browser;
mod calibrating;
mod check;
mod commands;
mod controlling;
mod converting;
mod cycles;
mod deciding;
mod describing;
mod documents;
mod gating;
mod gating_confirmed;
mod history;
mod history_events;
mod history_filling;
mod history_places;
mod hostile_git;
mod instructions;
mod interruptions;
mod libraries;
mod load;
mod loading;
mod metrics;
mod ministat;
mod mistakes;
mod options;
mod others;
mod own_comparisons;
mod pages;
mod planning;
mod portable;
mod profiling;
mod promises;
mod protocol;
mod reading;
mod recording;
mod repeating;
mod report;
mod resuming;
mod revisions;
mod room;
mod same_work;
mod scans;
mod screens;
mod shared_processes;
mod showing;
mod simulating;
mod suites;
mod surroundings;
mod terminal;
mod test_changes;
mod test_profiles;
mod test_suites;
mod toggling;
mod warm;
mod watch_mutants;
mod watching;
mod why;
mod windows;
