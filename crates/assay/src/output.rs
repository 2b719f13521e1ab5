//! Standard output and standard error: what is data, what is talk, and how errors look.
//!
//! Data goes to standard output in one piece, talk to standard error. A reader that went away is no error of ours. Nothing here
//! decides what is said.

use crate::args::ColorWhen;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Prints data. A closed pipe surfaces as an error that [`is_broken_pipe`] knows.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Says something to the person, one line. If nobody listens, that is fine.
pub(crate) fn say(line: &str) {
    let _nobody_listens = writeln!(io::stderr().lock(), "{line}");
}

/// Says what went wrong: the outermost message first, its causes behind it, hints on their own lines.
pub(crate) fn error(error: &anyhow::Error) {
    say(&format!("error: {error:#}"));
}

/// True when the reader of our output went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints what clap has to say (help, version, a wrong argument) and gives the status for it.
pub(crate) fn clap_ending(told: &clap::Error) -> ExitCode {
    // Help that nobody reads any more is no failure.
    let _nobody_listens = told.print();
    if told.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// Whether standard output gets colours.
pub(crate) fn colors(when: ColorWhen) -> bool {
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => {
            anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
        }
    }
}

/// Columns to fill: the terminal's, or 80 when there is none. `COLUMNS` wins where it is set.
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let width = asked.or_else(|| {
        terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
    });
    width.unwrap_or(80).clamp(20, 160)
}

/// Columns beside the progress bar.
pub(crate) fn width_of_progress() -> usize {
    let width =
        terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
    width.saturating_sub(14)
}

/// Whether the locale can show more than ASCII.
pub(crate) fn unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .unwrap_or_default()
        .to_lowercase();
    // Without a locale most of today's systems still mean UTF-8; only "C" and "POSIX" on a terminal ask for less.
    let plain = matches!(locale.as_str(), "c" | "posix");
    !plain || !io::stdout().is_terminal()
}
