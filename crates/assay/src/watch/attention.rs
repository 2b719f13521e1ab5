//! Collects events while waiting and during runs: saved files, pressed keys and signals. What
//! follows from an event is decided elsewhere.

use super::events::{Events, Saved};
use super::keys::{Typed, Wish};
use assay_measure::interrupt;
use assay_measure::keys::Keys;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Interval between checks for events that have no descriptor to wait on: partially typed patterns
/// and signals.
const OFTEN: Duration = Duration::from_millis(100);

/// All sources of events.
pub(crate) struct Attention {
    events: Events,
    keys: Option<Keys>,
    typed: Typed,
    /// Saves that have not been processed yet.
    pub saved: Saved,
    /// The last request that starts a run or quits, if it has not been processed yet.
    pub wish: Option<Wish>,
    /// Pending requests that only show something.
    pub asked: Vec<Wish>,
}

impl Attention {
    pub fn to(events: Events, keys: Option<Keys>) -> Self {
        let (typed, saved, wish, asked) = Default::default();
        Self { events, keys, typed, saved, wish, asked }
    }

    /// Returns true if keys can be read.
    pub fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    /// Returns duplicates of the descriptors of all event sources, so that a run can wait for them
    /// while `self` is borrowed mutably.
    ///
    /// # Errors
    /// Returns an error if the limit of open files is reached.
    pub fn wakers(&self) -> std::io::Result<Vec<OwnedFd>> {
        self.descriptors().into_iter().map(|own| own.try_clone_to_owned()).collect()
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let keys = self.keys.as_ref().map(Keys::descriptor);
        self.events.descriptor().into_iter().chain(keys).collect()
    }

    /// Processes all events that have arrived, and returns the new saves.
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
                // The terminal has gone away.
                Err(_) => {
                    (self.keys, self.wish) = (None, Some(Wish::Quit));
                }
            }
        }
        let saved = self.events.saved();
        self.saved.and(saved.clone());
        saved
    }

    /// Sleeps until an event arrives or the time `most` has passed.
    ///
    /// # Errors
    /// Returns an error if waiting fails.
    pub fn wait(&mut self, most: Option<Duration>) -> std::io::Result<Saved> {
        let most = self.events.due_in().into_iter().chain(most).min();
        interrupt::sleep_until(&self.descriptors(), most)?;
        Ok(self.look())
    }

    /// Waits until no file has been saved for the duration `quiet`, but no longer than `most`.
    ///
    /// # Errors
    /// Returns an error if waiting fails.
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

    /// Returns the interval between checks during a run.
    pub fn every(&self) -> Duration {
        self.events.due_in().map_or(OFTEN, |due| due.min(OFTEN)).max(Duration::from_millis(1))
    }

    /// Returns the pattern as typed so far, or `None` if no pattern is being typed.
    pub fn pattern(&self) -> Option<String> {
        self.typed.pattern()
    }

    /// Returns a message about how files are watched, the first time that there is one.
    pub fn said(&mut self) -> Option<String> {
        self.events.said()
    }
}

/// Returns the descriptors in the form used for polling.
pub(crate) fn borrowed(own: &[OwnedFd]) -> Vec<BorrowedFd<'_>> {
    own.iter().map(AsFd::as_fd).collect()
}
