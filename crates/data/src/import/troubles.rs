//! Problems with individual benchmarks of a file, which are reported in one sentence with their
//! number and the names of the first few.

use crate::list;

/// Maximum number of problems that are named.
const SHOWN: usize = 5;

/// Counts problems and remembers the first of them.
#[derive(Default)]
pub(super) struct Troubles {
    first: Vec<String>,
    count: usize,
}

impl Troubles {
    /// Adds a problem, worded as it will be shown.
    pub(super) fn add(&mut self, what: String) {
        self.count += 1;
        if self.first.len() < SHOWN && !self.first.contains(&what) {
            self.first.push(what);
        }
    }

    /// Returns the number of problems.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the first problems and the number of all others, or `None` if there are none.
    pub(super) fn summary(&self) -> Option<String> {
        (self.count > 0).then(|| list::counted(&self.first, self.count))
    }
}
