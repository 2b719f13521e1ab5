//! What went wrong with single benchmarks of a file, reported in one sentence: how many there were, and the first few by name.

/// How many are named.
const SHOWN: usize = 5;

/// Counts things and remembers the first of them.
#[derive(Default)]
pub(super) struct Troubles {
    first: Vec<String>,
    count: usize,
}

impl Troubles {
    /// Adds one, as the sentence shall show it.
    pub(super) fn add(&mut self, what: String) {
        self.count += 1;
        if self.first.len() < SHOWN && !self.first.contains(&what) {
            self.first.push(what);
        }
    }

    /// How many were added.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The first ones; `None` when there are none.
    pub(super) fn told(&self) -> Option<String> {
        let more = match self.count.saturating_sub(self.first.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (self.count > 0).then(|| self.first.join(", ") + &more)
    }
}
