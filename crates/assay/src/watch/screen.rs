//! Shows runs on a terminal, where the last line is rewritten, as plain lines, or as JSON.

use super::mutating::Look;
use crate::args::ColorWhen;
use crate::{output, present};
use assay_report::json::{self, WatchedRun};
use assay_report::terminal::Screen as Size;
use assay_report::watching::{self, Came};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Minimum time between redraws of the progress.
const EVERY: Duration = Duration::from_millis(100);
/// Duration below which a run shows no progress.
const QUIET: Duration = Duration::from_millis(150);

/// The output of `assay watch`.
pub(crate) struct Screen {
    json: bool,
    quiet: bool,
    clear: bool,
    color: ColorWhen,
    /// True if standard output is a terminal.
    is_terminal: bool,
    /// True if the last line will be overwritten.
    is_passing: bool,
    /// Heading that is still to be printed above the next output.
    heading: Option<String>,
    drawn: Option<Instant>,
    began: Instant,
}

impl Screen {
    pub fn new((json, quiet, clear): (bool, bool, bool), color: ColorWhen) -> Self {
        let is_terminal = io::stdout().is_terminal() && !json;
        let began = Instant::now();
        Self {
            json,
            quiet,
            clear,
            color,
            is_terminal,
            is_passing: false,
            heading: None,
            drawn: None,
            began,
        }
    }

    /// Returns true if a command's own output may go to standard output.
    pub fn shows_output(&self) -> bool {
        !self.json
    }

    /// Returns the settings with which other programs format their output.
    pub fn look(&self) -> Look {
        let size = self.size();
        Look { json: self.json, color: size.color, width: size.width }
    }

    fn size(&self) -> Size {
        present::screen(self.color)
    }

    /// Prints a line that the next output overwrites. Prints nothing if there is no terminal.
    fn passing(&mut self, text: &str) -> anyhow::Result<()> {
        if !self.is_terminal {
            return Ok(());
        }
        let width = self.size().width.saturating_sub(1);
        let text = assay_report::watching::one_line(text, width, output::unicode());
        output::print(&format!("\r\x1b[K{text}"))?;
        self.is_passing = true;
        Ok(())
    }

    fn over(&mut self) -> &'static str {
        if std::mem::take(&mut self.is_passing) { "\r\x1b[K" } else { "" }
    }

    /// Starts a run. Its description is printed above its result, or immediately if the output of
    /// the run itself is `shown`.
    pub fn begin(&mut self, told: &str, shown: bool) -> anyhow::Result<()> {
        (self.began, self.drawn) = (Instant::now(), None);
        if self.json || self.quiet {
            return Ok(());
        }
        self.heading = Some(told.to_owned());
        match shown {
            true => {
                let heading = self.heading();
                output::print(&heading)
            }
            false => self.passing(told),
        }
    }

    fn heading(&mut self) -> String {
        let Some(told) = self.heading.take() else { return String::new() };
        let clear = if self.clear && self.is_terminal { "\x1b[H\x1b[2J\x1b[3J" } else { "" };
        format!("{}{clear}{}", self.over(), watching::heading(&told, &self.size()))
    }

    /// Updates the progress line if it is due.
    pub fn running(&mut self, told: impl FnOnce() -> String) {
        let is_early =
            self.began.elapsed() < QUIET || self.drawn.is_some_and(|at| at.elapsed() < EVERY);
        if self.is_terminal && !is_early {
            self.drawn = Some(Instant::now());
            // If the terminal is gone, reading keys from it reports that.
            let _gone = self.passing(&told());
        }
    }

    /// Shows the pattern typed so far, or why nothing runs.
    pub fn waiting(&mut self, told: &str) -> anyhow::Result<()> {
        self.passing(told)
    }

    /// Shows the result of a run.
    pub fn came(&mut self, came: &Came) -> anyhow::Result<()> {
        if self.json {
            return output::print(&json::line(&WatchedRun::of(came))?);
        }
        let over = self.heading() + self.over();
        let size = self.size();
        let failures = watching::failures(came, &size);
        output::print(&format!("{over}{failures}{}", watching::state(came, &size)))
    }

    /// Prints a message above the line that is overwritten.
    pub fn say(&mut self, line: &str) -> anyhow::Result<()> {
        if self.is_passing {
            let over = self.over();
            output::print(over)?;
        }
        if !self.quiet {
            output::say(line);
        }
        Ok(())
    }

    /// Shows the text that a key requested.
    pub fn tell(&mut self, text: &str) -> anyhow::Result<()> {
        let over = self.over();
        output::print(&format!("{over}{text}"))
    }

    /// Removes the line that would be overwritten.
    pub fn end(&mut self) -> anyhow::Result<()> {
        let over = self.over();
        output::print(over)
    }
}
