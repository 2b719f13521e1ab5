//! Removes the beginning of every series if the user requests it, knowing that it was a warm-up,
//! and adds a finding about it to the samples.

use super::columns::{Columns, NO_TIME, NOWHERE, Sparse};
use super::{Outcome, Samples};
use crate::finding::Finding;

impl<T: Clone + PartialEq> Sparse<T> {
    fn keep(&mut self, kept: &[usize], nothing: &T) {
        if !self.0.is_empty() {
            let all = kept.iter().map(|&index| self.get(index, nothing.clone()));
            self.0 = all.collect();
        }
    }
}

impl Columns {
    fn keep(&mut self, kept: &[usize]) {
        self.subject = kept.iter().map(|&index| self.subject.of(index)).collect();
        self.pass.keep(kept, &None);
        self.block.keep(kept, &NOWHERE);
        self.position.keep(kept, &NOWHERE);
        self.time.keep(kept, &NO_TIME);
        self.outcome.keep(kept, &Outcome::Ok);
        self.level.keep(kept, &Vec::new());
        for column in &mut self.values {
            *column = kept.iter().map(|&index| column[index]).collect();
        }
    }
}

impl Samples {
    /// Returns the number of observations of every subject, regardless of their outcome.
    /// O(subjects + observations).
    pub(crate) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.subjects.len()];
        for subject in self.observations.subject.iter() {
            if let Some(count) = counts.get_mut(subject as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// Removes the first `count` observations of every subject. If they were made in blocks,
    /// removes the first `count` blocks instead, so that no block is split. Observations of
    /// counting passes are kept because they contain no warm-up. Has no effect if `count` is 0.
    /// O(observations).
    pub fn skip_first(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let mut seen = vec![0_usize; self.subjects.len()];
        let o = &self.observations;
        let stays = |index: &usize| match o.block.get(*index, NOWHERE) {
            _ if o.pass.get(*index, None).is_some() => true,
            NOWHERE => seen.get_mut(o.subject.of(*index) as usize).is_none_or(|seen| {
                *seen += 1;
                *seen > count
            }),
            block => block as usize >= count,
        };
        let kept: Vec<usize> = (0..self.len()).filter(stays).collect();
        self.observations.keep(&kept);
        // Blocks are renumbered from 0, because otherwise the removed ones would appear to be
        // incomplete.
        let before = u32::try_from(count).unwrap_or(NOWHERE);
        let o = &mut self.observations;
        for (index, block) in o.block.0.iter_mut().enumerate() {
            if *block != NOWHERE && o.pass.get(index, None).is_none() {
                *block -= before;
            }
        }
        self.inner.retain(|inner| inner.block as usize >= count);
        self.inner.iter_mut().for_each(|inner| inner.block -= before);
        self.histograms.retain(|own| own.block as usize >= count);
        self.histograms.iter_mut().for_each(|own| own.block -= before);
        self.counts.retain(|own| own.block as usize >= count);
        self.counts.iter_mut().for_each(|own| own.block -= before);
        let message = match count {
            1 => "the first observation of every series was left out, as asked".to_owned(),
            n => format!("the first {n} observations of every series were left out, as asked"),
        };
        let told = Finding::new(
            crate::code::PARTLY_READ,
            message + "; places are counted from the first that is left",
        );
        self.findings.push(told.with("skipped", count as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Inner, Metric, Observation};

    fn two(in_blocks: bool) -> Samples {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let (a, b) = (samples.add_subject("a"), samples.add_subject("b"));
        for block in 0..4_u32 {
            for (position, subject) in [b, a].into_iter().enumerate() {
                let inner = Inner { subject, block, metric: "wall".to_owned(), values: vec![1.0] };
                samples.push(Observation {
                    subject,
                    block: in_blocks.then_some(block),
                    position: in_blocks.then_some(position as u32),
                    values: vec![f64::from(block * 10) + subject as f64],
                    ..Observation::default()
                });
                if in_blocks {
                    samples.inner.push(inner);
                }
            }
        }
        samples
    }

    #[test]
    fn every_series_loses_its_first_values_and_whoever_reads_is_told() {
        for in_blocks in [false, true] {
            let mut samples = two(in_blocks);
            samples.skip_first(3);
            assert_eq!((samples.values(0, 0), samples.values(1, 0)), (vec![30.0], vec![31.0]));
            assert_eq!(samples.complete_blocks(0).len(), usize::from(in_blocks));
            assert!(samples.inner.iter().all(|inner| inner.block == 0));
            assert!(samples.observations().all(|o| o.block.is_none_or(|block| block == 0)));
            assert!(samples.findings[0].message.contains("first 3 observations"));
        }
    }

    #[test]
    fn nothing_is_left_out_unasked_and_more_than_there_is_leaves_nothing() {
        let mut samples = two(true);
        samples.skip_first(0);
        assert_eq!(samples, two(true));
        samples.skip_first(3);
        assert_eq!(samples.counts(), [1, 1]);
        samples.skip_first(9);
        assert!(samples.is_empty());
        assert_eq!(samples.counts(), [0, 0]);
    }
}
