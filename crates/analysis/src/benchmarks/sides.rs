//! Which benchmarks are on which sides: matched by their full names. Nothing is compared here.

use super::{Benchmark, OnlyOn};
use assay_data::Samples;
use std::collections::HashMap;

/// The sides of samples with their benchmarks.
pub(super) struct Sides {
    /// Names of the sides; the first is the reference.
    pub names: Vec<String>,
    /// All benchmarks, in the order in which they are met: first those of the reference.
    pub benchmarks: Vec<Benchmark>,
    /// For each benchmark its subject on each side.
    subjects: Vec<Vec<Option<usize>>>,
}

/// A benchmark that a side shares with the reference.
pub(super) struct Shared {
    pub benchmark: usize,
    pub against: usize,
    pub of: usize,
}

impl Sides {
    /// Sorts the subjects of samples; those on a row without a name are left out. A row that is twice on one side counts as it is met first.
    /// `reference`: the side that comes first. O(subjects).
    pub(super) fn of(samples: &Samples, reference: Option<&str>) -> Self {
        let mut order: Vec<usize> = (0..samples.sides.len()).collect();
        order.sort_by_key(|&side| Some(samples.sides[side].name.as_str()) != reference);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &side)| place[side] = new);
        let mut in_order: Vec<usize> = (0..samples.subjects.len()).collect();
        in_order.sort_by_key(|&s| place[samples.subjects[s].side]);
        let mut known: HashMap<usize, usize> = HashMap::new();
        let (mut benchmarks, mut subjects) = (Vec::new(), Vec::<Vec<Option<usize>>>::new());
        for subject in in_order {
            let own = &samples.subjects[subject];
            let row = samples.row_of(own);
            if row.name.is_empty() {
                continue;
            }
            let benchmark = *known.entry(own.row).or_insert_with(|| {
                benchmarks.push(Benchmark {
                    name: row.name.clone(),
                    label: row.label.clone(),
                    parameters: own.parameters.clone(),
                });
                subjects.push(vec![None; order.len()]);
                subjects.len() - 1
            });
            subjects[benchmark][place[own.side]].get_or_insert(subject);
        }
        let names = order.iter().map(|&side| samples.sides[side].name.clone()).collect();
        Self { names, benchmarks, subjects }
    }

    /// The benchmarks that a side shares with the reference.
    pub(super) fn common(&self, side: usize) -> impl Iterator<Item = Shared> + '_ {
        self.subjects.iter().enumerate().filter_map(move |(benchmark, on)| {
            Some(Shared { benchmark, against: on[0]?, of: on[side]? })
        })
    }

    /// What is on a side or on the reference, and not on both.
    pub(super) fn only(&self) -> Vec<OnlyOn> {
        let lacking = |side: usize, not_on: usize| OnlyOn {
            side,
            not_on,
            benchmarks: (0..self.subjects.len())
                .filter(|&b| self.subjects[b][side].is_some() && self.subjects[b][not_on].is_none())
                .collect(),
        };
        (1..self.names.len())
            .flat_map(|side| [lacking(0, side), lacking(side, 0)])
            .filter(|only| !only.benchmarks.is_empty())
            .collect()
    }
}
