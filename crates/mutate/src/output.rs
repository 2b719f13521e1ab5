//! Standard output and standard error: data in one piece, talk line by line. As in `assay` itself, a reader that went away is no error.

use anyhow::Context;
use assay_report::terminal::Screen;
use std::io::{self, IsTerminal, Write};

/// Prints data.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("standard output")
        }
        _ => Ok(()),
    }
}

/// Says something to the person, one line. If nobody listens, that is fine.
pub(crate) fn say(line: &str) {
    let _nobody_listens = writeln!(io::stderr().lock(), "{line}");
}

/// Says what went wrong, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    say(&format!("error: {error:#}"));
}

/// The screen that standard output is.
pub(crate) fn screen() -> Screen {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let own =
        || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let width = asked.or_else(own).unwrap_or(80_usize).clamp(20, 160);
    Screen {
        width,
        color: anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        unicode: true,
        whole: !io::stdout().is_terminal() && asked.is_none(),
    }
}

/// A line that is written over the one before, while somebody waits at a terminal.
pub(crate) struct Progress {
    is_shown: bool,
}

impl Progress {
    pub fn new() -> Self {
        Self { is_shown: io::stderr().is_terminal() }
    }

    pub fn show(&self, text: &str) {
        if self.is_shown {
            let _nobody_looks = write!(io::stderr().lock(), "\r\u{1b}[2K{text}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.show("");
    }
}
