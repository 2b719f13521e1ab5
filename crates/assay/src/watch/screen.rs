//! Where runs are shown: a terminal, on which the last line is rewritten; lines without one; JSON.

use super::mutating::Look;
use crate::args::ColorWhen;
use crate::{output, present};
use assay_report::json::{self, WatchedRun};
use assay_report::terminal::Screen as Size;
use assay_report::watching::{self, Came};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// What runs is not redrawn more often.
const EVERY: Duration = Duration::from_millis(100);
/// A run that is over before this shows nothing of itself while it goes on.
const QUIET: Duration = Duration::from_millis(150);

/// The place.
pub(crate) struct Screen {
    json: bool,
    quiet: bool,
    clear: bool,
    color: ColorWhen,
    /// Whether standard output is a terminal.
    is_terminal: bool,
    /// Whether the last line is one that will be written over.
    is_passing: bool,
    /// What is told above the next thing that is shown.
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

    /// Whether a command's own output may go to standard output.
    pub fn shows_output(&self) -> bool {
        !self.json
    }

    /// How what others print is to look here.
    pub fn look(&self) -> Look {
        let size = self.size();
        Look { json: self.json, color: size.color, width: size.width }
    }

    fn size(&self) -> Size {
        present::screen(self.color)
    }

    /// A line that is written over by the next one; nothing without a terminal.
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

    /// Begins a run. What it is stands above what came of it, or, where its own output is `shown` meanwhile, above that.
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

    /// Shows what runs at the moment, if it is time to.
    pub fn running(&mut self, told: impl FnOnce() -> String) {
        let is_early =
            self.began.elapsed() < QUIET || self.drawn.is_some_and(|at| at.elapsed() < EVERY);
        if self.is_terminal && !is_early {
            self.drawn = Some(Instant::now());
            // A terminal that is gone is seen by its keys.
            let _gone = self.passing(&told());
        }
    }

    /// Shows what is typed, or what is waited for.
    pub fn waiting(&mut self, told: &str) -> anyhow::Result<()> {
        self.passing(told)
    }

    /// Shows what came of a run.
    pub fn came(&mut self, came: &Came) -> anyhow::Result<()> {
        if self.json {
            return output::print(&json::line(&WatchedRun::of(came))?);
        }
        let over = self.heading() + self.over();
        let size = self.size();
        let failures = watching::failures(came, &size);
        output::print(&format!("{over}{failures}{}", watching::state(came, &size)))
    }

    /// Says something, above what is written over.
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

    /// Tells what was asked for by a key.
    pub fn tell(&mut self, text: &str) -> anyhow::Result<()> {
        let over = self.over();
        output::print(&format!("{over}{text}"))
    }

    /// Leaves the terminal as others expect it.
    pub fn end(&mut self) -> anyhow::Result<()> {
        let over = self.over();
        output::print(over)
    }
}
