//! Standard output and standard error: the separation of data and messages, and the format of
//! errors.
//!
//! Data goes to standard output in one piece, messages to standard error. A closed pipe is not an
//! error. Nothing here decides what is printed.

use crate::is_invisible;
use crate::layout::Screen;
use anyhow::Context;
use assay_data::system_error::reason;
use clap::error::{ContextKind, ContextValue};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Prints data to standard output. A closed pipe is not an error, because the exit status
/// (`--fail-if`) is still valid.
///
/// # Errors
///
/// Returns an error if standard output can't be written to.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("standard output")
        }
        _ => Ok(()),
    }
}

/// Calls `write` with standard output, for data that is too large to be printed in one piece. As
/// for [`print`], a closed pipe is not an error.
///
/// # Errors
///
/// Returns the errors of `write`, and an error if standard output can't be written to.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    while_read(io::stdout().lock(), write).context("standard output")
}

/// Calls `write` with a sink. Once the sink's reader has closed it, nothing more is written, which
/// is not an error.
///
/// # Errors
///
/// Returns the errors of `write`, and an error if the sink can't be written to.
pub(crate) fn while_read(
    sink: impl Write,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(UntilGone { sink, is_gone: false });
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    let is_gone = out.get_ref().is_gone;
    if is_gone {
        // Nobody reads what is left in the buffer.
        let _unread = out.into_parts();
        return Ok(());
    }
    written
}

/// A sink that records whether its reader has closed it, since each format wraps that error in its
/// own way.
struct UntilGone<W> {
    sink: W,
    is_gone: bool,
}

impl<W: Write> UntilGone<W> {
    fn noted<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        self.is_gone |= done.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
        done
    }
}

impl<W: Write> Write for UntilGone<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.sink.write(bytes);
        self.noted(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.sink.flush();
        self.noted(done)
    }
}

/// Writes a one-line message to standard error. Failures are ignored.
pub fn say(line: &str) {
    let _nobody_listens = writeln!(io::stderr().lock(), "{}", in_plain_text(line));
}

/// Writes bytes to standard error unchanged; they may contain names that are not UTF-8.
pub fn say_bytes(bytes: &[u8]) {
    let _nobody_listens = io::stderr().lock().write_all(bytes);
}

/// Prints an error: the outermost message first, then its causes, with hints on their own lines. A
/// cause that the message already contains is not repeated.
pub fn error(error: &anyhow::Error) {
    say(&format!("error: {}", in_plain_text(&told(error))));
}

/// Returns an error in one line: the outermost message, then its causes.
pub fn told(error: &anyhow::Error) -> String {
    let said = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref().map_or_else(|| cause.to_string(), reason)
    };
    let mut told = error.chain().next().map_or_else(String::new, said);
    for cause in error.chain().skip(1).map(said) {
        if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// Prints a message from clap (help, version or an invalid argument), and returns its exit status.
///
/// The parser's tip to pass an unknown option as a value after `--` is omitted, because no command
/// accepts one there.
pub fn clap_ending(mut told: clap::Error) -> ExitCode {
    let is_value = |tip: &ContextValue| tip.to_string().contains("as a value, use");
    if told.get(ContextKind::Suggested).is_some_and(is_value) {
        told.remove(ContextKind::Suggested);
    }
    let printed = told.print().and_then(|()| io::stdout().flush());
    if told.use_stderr() {
        return ExitCode::from(2);
    }
    match printed {
        // Printing help to a closed pipe is a success.
        Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => {
            error(&anyhow::Error::new(failed).context("standard output"));
            ExitCode::from(2)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Returns true if standard output is colored.
pub fn colors(when: ColorWhen) -> bool {
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => {
            anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
        }
    }
}

/// Returns the width of the output in columns: the width of the terminal, or 80 without one.
/// `COLUMNS` takes precedence if it is set.
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let of_terminal =
        || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    // A terminal of unknown size reports 0 columns.
    let known = |width: &usize| *width > 0;
    asked.filter(known).or_else(|| of_terminal().filter(known)).unwrap_or(80).clamp(20, 160)
}

/// Returns true if names are shown in full, because the width of lines is not limited.
pub fn keeps_names() -> bool {
    !io::stdout().is_terminal() && std::env::var_os("COLUMNS").is_none()
}

/// Returns the properties of standard output that rendering depends on.
pub fn screen(color: ColorWhen) -> Screen {
    Screen { width: width(), color: colors(color), unicode: unicode(), whole: keeps_names() }
}

/// Returns the number of columns available next to the progress bar.
pub fn width_of_progress() -> usize {
    let width =
        terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
    width.saturating_sub(14)
}

/// Returns true if the locale supports more than ASCII.
pub fn unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .unwrap_or_default()
        .to_lowercase();
    // Without a locale, most current systems still use UTF-8. Only "C" and "POSIX" on a terminal
    // imply that it is not supported.
    let plain = matches!(locale.as_str(), "c" | "posix");
    !plain || !io::stdout().is_terminal()
}

/// A progress line on a terminal. Each new text overwrites the previous one.
#[derive(Debug)]
pub struct Passing {
    is_shown: bool,
}

impl Passing {
    /// Creates a progress line on standard error. It is shown only if standard error is a terminal.
    pub fn new() -> Self {
        Self { is_shown: io::stderr().is_terminal() }
    }

    /// Replaces the shown text.
    pub fn show(&self, text: &str) {
        if self.is_shown {
            let _nobody_looks = write!(io::stderr().lock(), "\r\u{1b}[2K{text}");
        }
    }
}

impl Default for Passing {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.show("");
    }
}

/// Returns the text without escape sequences and control characters, which a terminal would obey
/// and which file names and messages of other programs may contain. Invisible characters and those
/// that change the direction of text become `?`.
pub fn in_plain_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => match rest.next() {
                // Skip everything up to the final byte.
                Some('[') => while rest.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                // Titles and links end with a bell, or with an escape and a backslash.
                Some(']' | 'P' | 'X' | '^' | '_') => {
                    while rest.next_if(|&c| c != '\u{7}' && c != '\u{1b}').is_some() {}
                    if rest.next() == Some('\u{1b}') {
                        rest.next_if_eq(&'\\');
                    }
                }
                _ => {}
            },
            '\t' => plain.push(' '),
            c if c.is_control() && c != '\n' => {}
            c if is_invisible(c) => plain.push('?'),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_is_in_the_message_is_not_said_twice() {
        let cause = || anyhow::anyhow!("no space left");
        assert_eq!(told(&cause().context("s.assay")), "s.assay: no space left");
        assert_eq!(told(&cause().context("s.assay: no space left")), "s.assay: no space left");
        let missing = || anyhow::Error::from(io::Error::from_raw_os_error(2));
        assert_eq!(told(&missing()), "No such file or directory");
        assert_eq!(told(&missing().context("s.assay")), "s.assay: No such file or directory");
    }

    /// A sink whose reader closes it after a few bytes.
    struct Reader(usize);

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.min(bytes.len()) {
                0 => Err(io::ErrorKind::BrokenPipe.into()),
                taken => {
                    self.0 -= taken;
                    Ok(taken)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_went_away_is_no_error_however_a_format_tells_of_it() {
        let many = |out: &mut dyn Write| {
            for _ in 0..100_000 {
                out.write_all(b"1,2,3\n").map_err(|error| anyhow::anyhow!("a table: {error}"))?;
            }
            Ok(())
        };
        assert!(while_read(Reader(10), many).is_ok());
        let fails = |_: &mut dyn Write| anyhow::bail!("no more numbers");
        assert!(while_read(Reader(10), fails).is_err());
    }

    #[test]
    fn what_a_terminal_would_obey_is_left_out() {
        let said = "a\u{1b}[31;1mred\u{1b}[0m \u{1b}]0;title\u{7}b\u{1b}]8;;x\u{1b}\\c\r\u{1b}7\u{9b}d\u{1b}[";
        assert_eq!(in_plain_text(said), "ared bcd");
        assert_eq!(in_plain_text("v\u{202e}1 \u{10ffff}"), "v?1 ?");
    }
}
