//! Counts a large number of distinct items in a table of bounded size that keeps the frequent ones.
//!
//! When the table is full, the median count is subtracted from every count, and items whose count
//! drops to zero are removed, so each count is too low by at most the sum of the subtracted values.
//! This is the algorithm of Misra and Gries (1982, Finding repeated elements), with the median in
//! place of the smallest count, as in Anderson and others (2017, A high-performance algorithm for
//! identifying frequent items in data streams, section 2.3), so that an addition takes amortized
//! constant time. Until the table is full, counts are exact.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Counts of items, with a value for each item.
pub(super) struct Frequent<V> {
    most: usize,
    entries: HashMap<u64, (u64, V), BuildHasherDefault<IdentityHasher>>,
    missed: u64,
}

impl<V> Frequent<V> {
    /// Creates a table with a capacity of `most` items (at least 2).
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(2), entries: HashMap::default(), missed: 0 }
    }

    /// Adds `count` to the count of the item with the hash `key`. `new` creates the item's value if
    /// the item is not in the table.
    pub(super) fn add(&mut self, key: u64, count: u64, new: impl FnOnce() -> V) -> &mut V {
        if self.entries.len() >= self.most && !self.entries.contains_key(&key) {
            self.shrink();
        }
        let entry = self.entries.entry(key).or_insert_with(|| (0, new()));
        entry.0 += count;
        &mut entry.1
    }

    fn shrink(&mut self) {
        let mut counts: Vec<u64> = self.entries.values().map(|(count, _)| *count).collect();
        let half = counts.len() / 2;
        let (_, median, _) = counts.select_nth_unstable(half);
        let median = *median;
        self.missed += median;
        self.entries.retain(|_, (count, _)| {
            *count = count.saturating_sub(median);
            *count > 0
        });
    }

    /// Returns the maximum amount by which any count may be too low.
    pub(super) fn missed(&self) -> u64 {
        self.missed
    }

    /// Returns the hash, count and value of each entry, in arbitrary order.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (u64, u64, V)> {
        self.entries.into_iter().map(|(key, (count, value))| (key, count, value))
    }

    /// Returns the hash, count and value of each entry by reference, in arbitrary order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, u64, &V)> {
        self.entries.iter().map(|(key, (count, value))| (*key, *count, value))
    }
}

/// A hasher for keys that are already hashes.
#[derive(Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn a_count_is_never_too_large_and_too_small_by_what_is_stated(keys in prop::collection::vec(0u64..40, 0..400)) {
            let mut table = Frequent::new(8);
            let mut exact: HashMap<u64, u64> = HashMap::new();
            for key in &keys {
                table.add(*key, 1, || ());
                *exact.entry(*key).or_default() += 1;
            }
            let found: HashMap<u64, u64> = table.entries().map(|(key, count, ())| (key, count)).collect();
            prop_assert!(found.len() <= 8);
            for (key, count) in exact {
                let kept = found.get(&key).copied().unwrap_or(0);
                prop_assert!(kept <= count && count <= kept + table.missed());
            }
        }
    }
}
