//! The server's log: one line per event on standard error, with the time in UTC and the level.

use jiff::Timestamp;
use log::{LevelFilter, Log, Metadata, Record};
use std::io::Write as _;

struct StandardError;

impl Log for StandardError {
    // `log` itself compares levels. Events of other crates (TLS, HTTP) are useful only to the
    // authors of those crates.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(env!("CARGO_CRATE_NAME"))
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let line = format!("{:.3} {:>5} {}\n", Timestamp::now(), record.level(), record.args());
            // A failure to write the log cannot be reported anywhere.
            let _unlogged = std::io::stderr().write_all(line.as_bytes());
        }
    }

    fn flush(&self) {}
}

/// Installs the logger with the given level. Returns an error if a logger is already installed.
pub(crate) fn begin(level: LevelFilter) -> anyhow::Result<()> {
    log::set_logger(&StandardError)?;
    log::set_max_level(level);
    Ok(())
}
