//! Starts the runs and shows the answers that keys request.

use super::keys::Wish;
use super::state::{State, What};
use super::{WatchTask, Watcher};

/// The help text about the keys.
const KEYS: &str = "  Enter, a   run all tests
  f          run those that failed
  p          run those whose names contain a pattern, which you then type
  t          how to profile the test that failed, or the slowest
  e          why each test ran, and how many were left out
  Ctrl-C     forget all results and run all tests; twice within 1.5 s: quit
  q          quit
";

impl Watcher {
    /// Returns the run that a request calls for, if any.
    pub(super) fn wished(&mut self, wish: Wish) -> anyhow::Result<Option<WatchTask>> {
        let why = "as requested".to_owned();
        Ok(match wish {
            Wish::All => Some(self.job(What::All, why)),
            Wish::AllAnew => {
                self.state = State::new(self.how.full);
                self.owed = None;
                self.screen.say("running all tests again; Ctrl-C once more quits")?;
                Some(self.job(What::All, why))
            }
            Wish::Failed => match self.state.failed_again() {
                Some(what) => Some(self.job(what, why)),
                None if self.suite.is_none() => Some(self.job(What::All, why)),
                None => {
                    self.screen.say("no test failed")?;
                    None
                }
            },
            Wish::Pattern(pattern) => {
                let names = self.known.keys().filter(|name| name.contains(&pattern));
                let names: Vec<String> = names.cloned().collect();
                if names.is_empty() {
                    self.screen.say(&format!("no test that ran has `{pattern}` in its name"))?;
                    return Ok(None);
                }
                Some(self.job(What::These(names), format!("`{pattern}` is in their names")))
            }
            _ => None,
        })
    }

    /// Shows the answers requested by keys.
    pub(super) fn answer(&mut self) -> anyhow::Result<()> {
        for asked in std::mem::take(&mut self.attention.asked) {
            let text = match asked {
                Wish::Profile => self.how_to_profile(),
                Wish::Explain => self.explained(),
                _ => KEYS.to_owned(),
            };
            self.screen.tell(&text)?;
        }
        Ok(())
    }

    fn how_to_profile(&self) -> String {
        let words: Vec<_> = self.how.command.iter().map(|word| word.to_string_lossy()).collect();
        let command = shell_words::join(words);
        let slowest = self.known.iter().max_by(|a, b| a.1.total_cmp(b.1));
        let test = self.state.failing().first().or(slowest.map(|(name, _)| name));
        match (&self.suite, test) {
            (Some(_), Some(test)) => {
                let test = shell_words::quote(test);
                format!("assay tests --profile --only {test} -- {command}\n")
            }
            (Some(_), None) => format!("assay tests --profile -- {command}\n"),
            (None, _) => format!("assay profile '{command}'\n"),
        }
    }

    fn explained(&self) -> String {
        let (why, left) = self.selection.explained();
        let mut text: String = why.iter().map(|(name, why)| format!("  {name}: {why}\n")).collect();
        if text.is_empty() {
            text = "  no test was selected individually: all run\n".to_owned();
        }
        if left > 0 {
            text += &format!("  {left} left out: nothing that they use changed\n");
        }
        text
    }
}
