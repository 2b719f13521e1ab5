//! Blocks: rounds in which every subject was measured once. Which of them are complete, and which were taken to count. What is not in
//! a block is in none of these.

use super::columns::NOWHERE;
use super::{Metric, Samples};
use std::collections::{BTreeMap, BTreeSet};

/// One complete block of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRow {
    /// The value of every subject.
    pub values: Vec<f64>,
    /// The place that every subject had in the block, counted from 0; `None` where the file does not say.
    pub positions: Vec<Option<u32>>,
}

impl BlockRow {
    fn empty(subjects: usize) -> Self {
        Self { values: vec![f64::NAN; subjects], positions: vec![None; subjects] }
    }

    fn set(&mut self, subject: u32, value: f64, position: u32) {
        if let Some(slot) = self.values.get_mut(subject as usize) {
            *slot = value;
            self.positions[subject as usize] = (position != NOWHERE).then_some(position);
        }
    }
}

impl Samples {
    /// The number of the block that would follow the last that an observation is in; 0: there is none yet. O(observations).
    pub fn next_block(&self) -> u32 {
        let blocks = self.observations.block.0.iter().copied();
        blocks.filter(|&block| block != NOWHERE).max().map_or(0, |last| last + 1)
    }

    /// The values of one metric block by block: one row per *complete* block (every subject has a finite value), in block
    /// order, one column per subject, beside each row the position that every subject had. Observations outside blocks are
    /// left out. O(observations).
    pub fn complete_blocks(&self, metric: usize) -> Vec<BlockRow> {
        let subjects = self.subjects.len();
        let o = &self.observations;
        let Some(column) = o.values.get(metric) else { return Vec::new() };
        let blocks =
            o.block.0.iter().filter(|&&b| b != NOWHERE).max().map_or(0, |&b| b as usize + 1);
        // A file may claim any block number; more blocks than observations cannot be complete.
        if blocks > self.len() {
            return self.compact_blocks(column);
        }
        let mut rows = vec![BlockRow::empty(subjects); blocks];
        for (index, &value) in column.iter().enumerate() {
            let block = o.block.get(index, NOWHERE);
            if block != NOWHERE {
                let row = &mut rows[block as usize];
                row.set(o.subject[index], value, o.position.get(index, NOWHERE));
            }
        }
        rows.retain(|row| row.values.iter().all(|v| v.is_finite()));
        rows
    }

    fn compact_blocks(&self, column: &[f64]) -> Vec<BlockRow> {
        let o = &self.observations;
        let mut rows = BTreeMap::new();
        for (index, &value) in column.iter().enumerate() {
            let block = o.block.get(index, NOWHERE);
            if block != NOWHERE {
                rows.entry(block).or_insert_with(|| BlockRow::empty(self.subjects.len())).set(
                    o.subject[index],
                    value,
                    o.position.get(index, NOWHERE),
                );
            }
        }
        rows.into_values()
            .filter(|row: &BlockRow| row.values.iter().all(|v| v.is_finite()))
            .collect()
    }

    /// The blocks that were taken to count: they hold exact counts and counts per iteration, and nothing that comes of timing.
    pub fn counting_blocks(&self) -> BTreeSet<u32> {
        let o = &self.observations;
        if !self.metrics.iter().any(Metric::is_count) {
            return BTreeSet::new();
        }
        let timed: Vec<&Vec<f64>> = (self.metrics.iter().zip(&o.values))
            .filter(|(metric, _)| !metric.is_count())
            .map(|(_, column)| column)
            .collect();
        if timed.is_empty() {
            return BTreeSet::new();
        }
        let blocks = |index: usize| o.block.get(index, NOWHERE);
        let has = |index: usize| timed.iter().any(|column| column[index].is_finite());
        let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
        for index in 0..self.len() {
            // A run that failed may have no value at all.
            let counts = o.values.iter().any(|column| column[index].is_finite());
            match has(index) {
                true => with.insert(blocks(index)),
                false if counts => without.insert(blocks(index)),
                false => false,
            };
        }
        without.into_iter().filter(|block| *block != NOWHERE && !with.contains(block)).collect()
    }

    /// The blocks whose observations hold values of these metrics, and of nothing else.
    pub fn counting_blocks_of(&self, names: &[&str]) -> BTreeSet<u32> {
        let o = &self.observations;
        let counts = |metric: &Metric| names.contains(&metric.name.as_str());
        if !self.metrics.iter().any(counts) {
            return BTreeSet::new();
        }
        let has = |index: usize, counting: bool| {
            let mut columns = self.metrics.iter().zip(&o.values);
            columns.any(|(metric, column)| counts(metric) == counting && column[index].is_finite())
        };
        let alone = (0..self.len()).filter(|&index| has(index, true) && !has(index, false));
        alone.map(|index| o.block.get(index, NOWHERE)).filter(|&block| block != NOWHERE).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Design, Observation};
    use crate::unit::Unit;

    fn observe(samples: &mut Samples, subject: usize, block: u32, value: f64) {
        samples.push(Observation {
            subject,
            block: Some(block),
            values: vec![value],
            ..Observation::default()
        });
    }

    #[test]
    fn a_block_that_lacks_a_subject_is_not_complete() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let (a, b) = (samples.add_subject("a"), samples.add_subject("b"));
        observe(&mut samples, a, 0, 1.0);
        observe(&mut samples, b, 0, 2.0);
        observe(&mut samples, b, 1, 3.0);
        let rows = samples.complete_blocks(0);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].values, [1.0, 2.0]);
        assert_eq!(samples.design(), Design::Blocks);
    }

    #[test]
    fn a_file_that_claims_block_four_billion_costs_no_memory() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let a = samples.add_subject("a");
        observe(&mut samples, a, u32::MAX - 1, 1.0);
        assert_eq!(samples.complete_blocks(0).len(), 1);
    }

    #[test]
    fn a_block_that_only_counts_allocations_is_known_by_its_values() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let a = samples.add_subject("a");
        observe(&mut samples, a, 0, 1.0);
        assert!(samples.counting_blocks().is_empty());
        samples.add_metric(Metric::lower("frees", Unit::One));
        samples.push(Observation {
            subject: a,
            block: Some(1),
            values: vec![f64::NAN, 7.0],
            ..Observation::default()
        });
        observe(&mut samples, a, 2, 1.0);
        // A run that gave nothing at all was no counting.
        observe(&mut samples, a, 3, f64::NAN);
        assert_eq!(samples.counting_blocks(), BTreeSet::from([1]));
        assert_eq!(samples.complete_blocks(0).len(), 2);
        assert_eq!(samples.complete_blocks(1).len(), 1);
    }
}
