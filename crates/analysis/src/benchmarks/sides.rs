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
    /// Sorts the subjects of samples; those without a side or a benchmark's name are left out. A benchmark that is twice on one
    /// side counts as it is met first. `reference`: the side that comes first. O(subjects).
    pub(super) fn of(samples: &Samples, reference: Option<&str>) -> Self {
        let mut sides: HashMap<&str, usize> = HashMap::new();
        let mut names: Vec<String> = Vec::new();
        if let Some(name) = reference {
            sides.insert(name, 0);
            names.push(name.to_owned());
        }
        for side in samples.subjects.iter().filter_map(|s| s.side.as_deref()) {
            sides.entry(side).or_insert_with(|| {
                names.push(side.to_owned());
                names.len() - 1
            });
        }
        let mut known: HashMap<&str, usize> = HashMap::new();
        let (mut benchmarks, mut subjects) = (Vec::new(), Vec::<Vec<Option<usize>>>::new());
        let mut order: Vec<usize> = (0..samples.subjects.len()).collect();
        order.sort_by_key(|&s| {
            samples.subjects[s].side.as_deref().and_then(|side| sides.get(side)).copied()
        });
        for subject in order {
            let own = &samples.subjects[subject];
            let (Some(name), Some(side)) = (own.benchmark.as_deref(), own.side.as_deref()) else {
                continue;
            };
            let place = *known.entry(name).or_insert_with(|| {
                benchmarks.push(Benchmark {
                    name: name.to_owned(),
                    label: own.label.clone(),
                    parameters: own.parameters.clone(),
                });
                subjects.push(vec![None; names.len()]);
                subjects.len() - 1
            });
            subjects[place][sides[side]].get_or_insert(subject);
        }
        Self { names, benchmarks, subjects }
    }

    /// Whether some benchmark is on several sides.
    pub(super) fn has_common(&self) -> bool {
        self.subjects.iter().any(|on| on.iter().flatten().count() > 1)
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
