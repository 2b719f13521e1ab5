//! Finds the complete blocks. A block is a round in which every subject was measured once, or
//! counted once in a separate pass. Observations outside of blocks are ignored.

use super::columns::NOWHERE;
use super::{InPass, Pass, Samples};
use std::collections::BTreeMap;

/// One complete block of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRow {
    /// The values of all subjects.
    pub values: Vec<f64>,
    /// The position of each subject in the block, counted from 0. `None` if the file does not state
    /// it.
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
    /// Returns the index of the next block of a pass, or of the next block of measurements if
    /// `pass` is `None`. 0 if there is no block yet. O(observations).
    pub fn next_block(&self, pass: Option<Pass>) -> u32 {
        let o = &self.observations;
        let own = (0..self.len()).filter(|&index| o.pass.get(index, None) == pass);
        let blocks = own.map(|index| o.block.get(index, NOWHERE)).filter(|&b| b != NOWHERE);
        blocks.max().map_or(0, |last| last + 1)
    }

    /// Returns the *complete* blocks for one metric, which are those with a finite value of every
    /// subject. They are in block order, measurements before passes. Observations outside blocks
    /// are left out. O(observations).
    pub fn complete_blocks(&self, metric: usize) -> Vec<BlockRow> {
        let subjects = self.subjects.len();
        let o = &self.observations;
        let Some(column) = o.values.get(metric) else { return Vec::new() };
        let blocks =
            o.block.0.iter().filter(|&&b| b != NOWHERE).max().map_or(0, |&b| b as usize + 1);
        // A file may claim any block number, but if there are more blocks than observations, not
        // all of them can be complete.
        if blocks > self.len() || !o.pass.0.is_empty() {
            return self.compact_blocks(column);
        }
        let mut rows = vec![BlockRow::empty(subjects); blocks];
        for (index, &value) in column.iter().enumerate() {
            let block = o.block.get(index, NOWHERE);
            if block != NOWHERE {
                let row = &mut rows[block as usize];
                row.set(o.subject.of(index), value, o.position.get(index, NOWHERE));
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
            if block != NOWHERE && value.is_finite() {
                let place: InPass = (o.pass.get(index, None), block);
                rows.entry(place).or_insert_with(|| BlockRow::empty(self.subjects.len())).set(
                    o.subject.of(index),
                    value,
                    o.position.get(index, NOWHERE),
                );
            }
        }
        rows.into_values()
            .filter(|row: &BlockRow| row.values.iter().all(|v| v.is_finite()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Design, Metric, Observation};
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
    fn passes_number_their_blocks_by_themselves() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let a = samples.add_subject("a");
        observe(&mut samples, a, 0, 1.0);
        samples.add_metric(Metric::lower("frees", Unit::One));
        for block in 0..2 {
            samples.push(Observation {
                subject: a,
                pass: Some(Pass::Allocations),
                block: Some(block),
                values: vec![f64::NAN, 7.0],
                ..Observation::default()
            });
        }
        observe(&mut samples, a, 1, 1.0);
        observe(&mut samples, a, 2, f64::NAN);
        assert_eq!(samples.next_block(None), 3);
        assert_eq!(samples.next_block(Some(Pass::Allocations)), 2);
        assert_eq!(samples.next_block(Some(Pass::Counters)), 0);
        assert_eq!(samples.complete_blocks(0).len(), 2);
        assert_eq!(samples.complete_blocks(1).len(), 2);
        samples.skip_first(1);
        assert_eq!((samples.next_block(None), samples.complete_blocks(1).len()), (2, 2));
    }
}
