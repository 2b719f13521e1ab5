//! An index of observations by subject, for callers that need many series of many subjects.
//!
//! [`Samples::values`] walks all observations for one series, which takes quadratic time for a
//! suite of twenty thousand benchmarks. With the index, the observations of a subject are found in
//! constant time. Only requested data are copied, and nothing is interpreted.

use super::columns::NOWHERE;
use super::{InPass, Outcome, Samples, Series};

/// Index of the observations of each subject.
#[derive(Clone, Debug)]
pub struct BySubject<'a> {
    samples: &'a Samples,
    /// The start of each subject's observations in `order`, followed by the end of the last
    /// subject's.
    starts: Vec<usize>,
    order: Vec<u32>,
}

impl Samples {
    /// Builds an index of the observations by subject. Observations of nonexistent subjects are
    /// left out. O(observations + subjects).
    pub fn by_subject(&self) -> BySubject<'_> {
        let subjects = self.subjects.len();
        let owners = &self.observations.subject;
        let mut starts = vec![0_usize; subjects + 1];
        for owner in owners.iter() {
            if let Some(next) = starts.get_mut(owner as usize + 1) {
                *next += 1;
            }
        }
        for subject in 0..subjects {
            starts[subject + 1] += starts[subject];
        }
        let mut free = starts.clone();
        let mut order = vec![0_u32; starts[subjects]];
        for (index, owner) in owners.iter().enumerate() {
            if (owner as usize) < subjects {
                let place = &mut free[owner as usize];
                order[*place] = index as u32;
                *place += 1;
            }
        }
        BySubject { samples: self, starts, order }
    }

    /// Returns true if any observation was taken in a block.
    pub fn has_blocks(&self) -> bool {
        self.observations.block.0.iter().any(|&block| block != NOWHERE)
    }

    /// Returns true if any observation belongs to a counting pass.
    pub fn has_passes(&self) -> bool {
        self.observations.pass.0.iter().any(Option::is_some)
    }

    /// Returns true if any observation has levels (build, process, iteration).
    pub fn has_levels(&self) -> bool {
        self.observations.level.0.iter().any(|level| !level.is_empty())
    }
}

impl BySubject<'_> {
    /// Returns the indices of a subject's observations, in the order of measuring. Empty if the
    /// subject does not exist. O(1).
    pub fn observations(&self, subject: usize) -> &[u32] {
        let range = self.starts.get(subject).zip(self.starts.get(subject + 1));
        range.map_or(&[], |(&from, &to)| &self.order[from..to])
    }

    /// Returns the values of one metric of one subject, in the order of measuring, each with the
    /// index of its observation. Missing and non-finite values are left out. O(observations of the
    /// subject).
    pub fn series(&self, subject: usize, metric: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let column = self.samples.observations.values.get(metric);
        let values = move |&index: &u32| Some((index, *column?.get(index as usize)?));
        self.observations(subject).iter().filter_map(values).filter(|(_, v)| v.is_finite())
    }

    /// Returns the same as [`Samples::series`], without walking all observations. O(observations of
    /// the subject).
    pub fn whole_series(&self, subject: usize, metric: usize) -> Series {
        let (observations, values) =
            self.series(subject, metric).map(|(index, value)| (index as usize, value)).unzip();
        Series { values, observations }
    }

    /// Returns the values of [`series`](Self::series) alone.
    pub fn values(&self, subject: usize, metric: usize) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.observations(subject).len());
        values.extend(self.series(subject, metric).map(|(_, value)| value));
        values
    }

    /// Returns the nesting of an observation, outermost level first. Empty if it was not recorded.
    /// O(1).
    pub fn level(&self, observation: u32) -> &[u32] {
        let levels = &self.samples.observations.level.0;
        levels.get(observation as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the block of an observation, with its pass. `None` if it was not made in a block.
    /// O(1).
    pub fn block(&self, observation: u32) -> Option<InPass> {
        let o = &self.samples.observations;
        let block = o.block.get(observation as usize, NOWHERE);
        (block != NOWHERE).then(|| (o.pass.get(observation as usize, None), block))
    }

    /// Counts the observations of a subject whose outcome satisfies `condition`. O(observations of
    /// the subject).
    pub fn count_outcomes(&self, subject: usize, condition: impl Fn(Outcome) -> bool) -> usize {
        let outcome =
            |&index: &u32| self.samples.observations.outcome.get(index as usize, Outcome::Ok);
        self.observations(subject).iter().map(outcome).filter(|o| condition(*o)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, Observation, Unit};

    fn samples() -> Samples {
        let metrics = vec![Metric::wall(), Metric::lower("cpu", Unit::Second)];
        let mut samples = Samples::new(metrics);
        (0..3).for_each(|number| {
            samples.add_subject(&format!("s{number}"));
        });
        for index in 0..20_u32 {
            let subject = (index as usize * 7) % 2 * 2;
            let cpu = if index % 5 == 0 { f64::NAN } else { f64::from(index) / 2.0 };
            samples.push(Observation {
                subject,
                level: if subject == 2 { vec![index / 4, index] } else { Vec::new() },
                values: vec![f64::from(index), cpu],
                ..Observation::default()
            });
        }
        samples
    }

    #[test]
    fn the_index_gives_what_a_walk_over_everything_gives() {
        let samples = samples();
        let index = samples.by_subject();
        for subject in 0..5 {
            for metric in 0..3 {
                assert_eq!(index.values(subject, metric), samples.values(subject, metric));
                assert_eq!(index.whole_series(subject, metric), samples.series(subject, metric));
            }
            let all = |_: Outcome| true;
            assert_eq!(index.count_outcomes(subject, all), samples.count_outcomes(subject, all));
        }
        assert!(index.observations(1).is_empty() && index.observations(7).is_empty());
    }

    #[test]
    fn levels_and_blocks_are_those_of_the_observations() {
        let samples = samples();
        let index = samples.by_subject();
        assert!(samples.has_levels());
        for &observation in index.observations(2) {
            let whole = samples.observation(observation as usize).unwrap_or_default();
            assert_eq!(index.level(observation), whole.level);
            assert_eq!(index.block(observation), whole.block.map(|block| (whole.pass, block)));
        }
        assert!(index.level(99).is_empty() && !Samples::default().has_levels());
    }
}
