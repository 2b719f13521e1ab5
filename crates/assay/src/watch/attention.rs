//! What comes from outside while one waits and while something runs: saves, keys, signals. It is gathered here; what follows from it is not decided.

use super::events::{Events, Saved};
use super::keys::{Typed, Wish};
use assay_measure::interrupt;
use assay_measure::keys::Keys;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// How often one has to look where no descriptor wakes one: at what is typed of a pattern, at signals.
const OFTEN: Duration = Duration::from_millis(100);

/// Everything that one attends to.
pub(crate) struct Attention {
    events: Events,
    keys: Option<Keys>,
    typed: Typed,
    /// What was saved, and not taken yet.
    pub saved: Saved,
    /// What was wished, and not granted yet: the last that counts.
    pub wish: Option<Wish>,
    /// What is only to be told.
    pub asked: Vec<Wish>,
}

impl Attention {
    pub fn to(events: Events, keys: Option<Keys>) -> Self {
        let (typed, saved, wish, asked) = Default::default();
        Self { events, keys, typed, saved, wish, asked }
    }

    /// Whether somebody can press keys.
    pub fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    /// Descriptors of our own of what wakes one, to be held while the rest is looked at.
    ///
    /// # Errors
    /// When there are no more descriptors.
    pub fn wakers(&self) -> std::io::Result<Vec<OwnedFd>> {
        self.descriptors().into_iter().map(|own| own.try_clone_to_owned()).collect()
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let keys = self.keys.as_ref().map(Keys::descriptor);
        self.events.descriptor().into_iter().chain(keys).collect()
    }

    /// Takes in all that has come, and hands back what was saved now.
    pub fn look(&mut self) -> Saved {
        if let Some(keys) = &mut self.keys {
            match keys.pressed() {
                Ok(bytes) => {
                    for byte in bytes {
                        match self.typed.take(byte, Instant::now()) {
                            Some(told @ (Wish::Profile | Wish::Explain | Wish::Help)) => {
                                self.asked.push(told);
                            }
                            Some(wish) => self.wish = Some(wish),
                            None => {}
                        }
                    }
                }
                // The terminal is gone, and who sat before it.
                Err(_) => {
                    (self.keys, self.wish) = (None, Some(Wish::Quit));
                }
            }
        }
        let saved = self.events.saved();
        self.saved.and(saved.clone());
        saved
    }

    /// Sleeps until something comes, or so much time has passed.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait(&mut self, most: Option<Duration>) -> std::io::Result<Saved> {
        let most = self.events.due_in().into_iter().chain(most).min();
        interrupt::sleep_until(&self.descriptors(), most)?;
        Ok(self.look())
    }

    /// Waits until no file was saved for so long, but no longer than `most`.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait_for_quiet(&mut self, quiet: Duration, most: Duration) -> std::io::Result<()> {
        let began = Instant::now();
        let mut last = began;
        while last.elapsed() < quiet && began.elapsed() < most && interrupt::count() == 0 {
            if !self.wait(Some(quiet.saturating_sub(last.elapsed())))?.is_empty() {
                last = Instant::now();
            }
        }
        Ok(())
    }

    /// How often to look while something runs.
    pub fn every(&self) -> Duration {
        self.events.due_in().map_or(OFTEN, |due| due.min(OFTEN)).max(Duration::from_millis(1))
    }

    /// What is typed of a pattern at the moment.
    pub fn pattern(&self) -> Option<String> {
        self.typed.pattern()
    }

    /// What is to be said of how files are watched, once.
    pub fn said(&mut self) -> Option<String> {
        self.events.said()
    }
}

/// The descriptors as they are polled.
pub(crate) fn borrowed(own: &[OwnedFd]) -> Vec<BorrowedFd<'_>> {
    own.iter().map(AsFd::as_fd).collect()
}
