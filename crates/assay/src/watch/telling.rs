//! Notifies the user when tests start to fail or pass again: by the terminal's bell, through the
//! terminal, on the desktop, or by shell lines.

use super::programs::Programs;
use crate::args::any_words;
use crate::output;
use assay_data::list;
use assay_report::watching::{Came, Light};
use clap::ValueEnum;

/// Maximum number of tests named in a line.
pub(super) const NAMED: usize = 2;

/// Kinds of notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Notification {
    /// The terminal's bell
    Bell,
    /// A terminal notification (OSC 9 and OSC 777), which also works over ssh
    Terminal,
    /// A desktop notification (notify-send)
    Desktop,
}

/// Options for notifications.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Notifications")]
pub(crate) struct TellingArgs {
    /// Notify when tests start to fail or pass again; may be repeated to notify in several ways
    #[arg(long, value_enum, value_name = "HOW")]
    pub notify: Vec<Notification>,

    /// Shell line to run when tests start to fail
    ///
    /// Its environment contains ASSAY_STATE (red or green), ASSAY_PASSED and ASSAY_FAILED (numbers
    /// of tests), and ASSAY_TESTS (the names of the failed tests, one per line). It is stopped
    /// after 10 s.
    #[arg(long, value_name = "LINE", value_parser = any_words())]
    pub on_red: Vec<String>,

    /// Shell line to run when failing tests pass again
    #[arg(long, value_name = "LINE", value_parser = any_words())]
    pub on_green: Vec<String>,

    /// Shell line to run when all tests have run and passed
    #[arg(long, value_name = "LINE", value_parser = any_words())]
    pub on_all_green: Vec<String>,
}

/// Sends notifications, and remembers the last state for which it did.
pub(crate) struct Telling {
    how: TellingArgs,
    last: Option<(Light, bool)>,
    /// True if the output of shell lines may be shown, because standard output is not used for
    /// data.
    shown: bool,
}

impl Telling {
    pub fn new(how: TellingArgs, shown: bool) -> Self {
        Self { how, last: None, shown }
    }

    /// Notifies the user if the state has changed. Returns a message for each notification that
    /// failed.
    pub fn tell(&mut self, came: &Came, programs: &mut Programs) -> Vec<String> {
        let is_red = came.light != Light::Green;
        let before = self.last.replace((came.light, came.all_green));
        let was_red = before.map(|(light, _)| light != Light::Green);
        let turned = was_red != Some(is_red);
        let all_turned = came.all_green && before.is_none_or(|(_, all)| !all);
        let mut wrong = Vec::new();
        // The first green run triggers no notifications other than the shell lines.
        if turned && (before.is_some() || is_red) {
            for way in self.how.notify.clone() {
                wrong.extend(self.by(way, came, programs));
            }
        }
        let lines = match is_red {
            true => &self.how.on_red,
            false => &self.how.on_green,
        };
        let lines = lines.iter().filter(|_| turned);
        let lines = lines.chain(self.how.on_all_green.iter().filter(|_| all_turned));
        for line in lines {
            wrong.extend(programs.hook(line, environment(came), self.shown));
        }
        wrong
    }

    fn by(&self, way: Notification, came: &Came, programs: &mut Programs) -> Option<String> {
        let text = in_words(came);
        match way {
            Notification::Bell => output::say_bytes(b"\x07"),
            Notification::Terminal => {
                let escaped = format!("\x1b]9;{text}\x07\x1b]777;notify;assay;{text}\x07");
                output::say_bytes(wrapped(&escaped).as_bytes());
            }
            Notification::Desktop => {
                let urgency = if came.light == Light::Green { "low" } else { "normal" };
                let words = ["notify-send", "-a", "assay", "-u", urgency, "--", "assay", &text];
                let words = words.map(std::ffi::OsString::from);
                match programs.ask(&words) {
                    Some((outcome, _)) if outcome.is_success() => {}
                    Some((outcome, said)) => {
                        return Some(format!("--notify desktop: notify-send {outcome}: {said}"));
                    }
                    None => {
                        return Some(
                            "--notify desktop: there is no notify-send (package libnotify-bin)"
                                .to_owned(),
                        );
                    }
                }
            }
        }
        None
    }
}

/// Wraps an escape sequence so that tmux, if it is running, passes it on to the terminal.
fn wrapped(text: &str) -> String {
    match std::env::var_os("TMUX").is_some() {
        true => format!("\x1bPtmux;{}\x1b\\", text.replace('\x1b', "\x1b\x1b")),
        false => text.to_owned(),
    }
}

fn in_words(came: &Came) -> String {
    let failed = came.failed.len();
    match (came.light, came.passed) {
        (Light::Broken, _) => "broken: a source can't be read".to_owned(),
        (Light::Green, None) => "green".to_owned(),
        (Light::Red, None) => "red".to_owned(),
        (Light::Green, Some(passed)) => format!("green: {passed} passed"),
        (Light::Red, Some(_)) if failed > 0 => {
            let names: Vec<&str> = came.failed.iter().map(|test| test.name.as_str()).collect();
            format!("red: {failed} failed: {}", list::first(&names, NAMED))
        }
        (Light::Red, Some(_)) => "red: the suite did not finish".to_owned(),
    }
}

fn environment(came: &Came) -> Vec<(String, String)> {
    let names: Vec<&str> = came.failed.iter().map(|test| test.name.as_str()).collect();
    let state = if came.light == Light::Green { "green" } else { "red" };
    [
        ("ASSAY_STATE", state.to_owned()),
        ("ASSAY_PASSED", came.passed.unwrap_or(0).to_string()),
        ("ASSAY_FAILED", names.len().to_string()),
        ("ASSAY_TESTS", names.join("\n")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}
