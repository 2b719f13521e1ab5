//! The arrangement of samples: the rows of each side, and the pairs to compare. It is derived from
//! the keys of the subjects, never from their names.

use super::AnalysisError;
use super::family::Member;
use super::mean::{self, Group};
use crate::comparison::Comparison;
use crate::scaling::Layout;
use assay_data::samples::WHOLE_SUITE;
use assay_data::{Design, Plan, Row, Samples, Side};
use std::collections::{HashMap, HashSet};

/// Default noun for a row, in the singular.
pub const BENCHMARK: &str = "benchmark";

/// The arrangement of the comparisons.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A single row, on which each subject is a side.
    Sides,
    /// A scan: commands compared at several values of parameters.
    Scan(Layout),
    /// A suite: many rows, matched by name, on two or more sides. A single row with only summaries
    /// is also a suite, since there is nothing more to show.
    Rows,
}

/// Rows that only one of two sides has, or a metric that only one of two sides has for these rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Only {
    /// Index of the metric that only `side` has for the rows; `None` if the rows themselves are
    /// missing on the other side.
    pub metric: Option<usize>,
    /// Index of the side that has the rows or the metric.
    pub side: usize,
    /// Index of the side that lacks the rows or the metric.
    pub not_on: usize,
    /// Indices of the rows.
    pub rows: Vec<usize>,
}

/// The subjects of the samples, arranged into sides, rows and pairs.
pub(super) struct Keys {
    pub shape: Shape,
    /// The compared sides; the first is the reference.
    pub sides: Vec<Side>,
    /// The rows on which they are compared.
    pub rows: Vec<Row>,
    /// Indices of the side and the row of every subject.
    pub places: Vec<(usize, usize)>,
    /// Indices of each compared subject and its reference. A suite lists one side after the other,
    /// each in the order of the reference's rows.
    pub pairs: Vec<(usize, usize)>,
    /// For every row, its subject on each side; empty unless the shape is [`Shape::Rows`].
    subjects: Vec<Vec<Option<usize>>>,
}

impl Keys {
    /// Determines which subjects are compared with which. `reference` names the subject (for a
    /// suite, the side) that all others are compared with. If `alone`, subjects are compared only
    /// with a named reference. O(subjects).
    ///
    /// # Errors
    /// Returns an error if the named reference does not exist.
    pub fn of(
        samples: &Samples,
        reference: Option<&str>,
        alone: bool,
    ) -> Result<Self, AnalysisError> {
        let alone = alone || are_alone(samples);
        if !alone && is_suite(samples) {
            Self::of_suite(samples, reference)
        } else if alone && reference.is_none() && has_benchmarks(samples) {
            Ok(Self::of_numbers(samples))
        } else {
            let mut keys = Self::of_sides(samples, reference)?;
            keys.pairs.retain(|_| !alone || reference.is_some());
            Ok(keys)
        }
    }

    /// Arranges benchmarks that are not compared as rows on their side.
    fn of_numbers(samples: &Samples) -> Self {
        Self {
            shape: Shape::Sides,
            sides: samples.sides.clone(),
            rows: samples.rows.clone(),
            places: samples.subjects.iter().map(|own| (own.side, own.row)).collect(),
            pairs: Vec::new(),
            subjects: Vec::new(),
        }
    }

    fn of_sides(samples: &Samples, reference: Option<&str>) -> Result<Self, AnalysisError> {
        let subjects = &samples.subjects;
        let reference = match reference {
            None => None,
            Some(asked) => {
                let found = subjects.iter().position(|subject| subject.name == asked);
                let known = subjects.iter().map(|s| s.name.as_str());
                Some(found.ok_or_else(|| AnalysisError::no_reference(asked, "subject", known))?)
            }
        };
        let against = |of: usize| match reference {
            Some(reference) => (of != reference).then_some(reference),
            None => samples.reference_of(of),
        };
        let pairs = (0..subjects.len()).filter_map(|of| Some((of, against(of)?))).collect();
        // If benchmarks of one file are compared with each other, each is a side.
        let shares_one = subjects.iter().all(|subject| subject.row == subjects[0].row);
        let row = subjects.first().filter(|_| shares_one).map(|s| samples.row_of(s).clone());
        let rows = vec![row.unwrap_or_default()];
        let (shape, sides, commands) = match Layout::of(samples) {
            Some(layout) => {
                let sides = layout.labels.iter().map(|label| named(label.clone())).collect();
                let commands = layout.commands;
                (Shape::Scan(layout), sides, commands)
            }
            None => {
                // A benchmark on several sides is one row.
                let mut met = HashSet::new();
                let apart = subjects.iter().all(|subject| met.insert(subject.side));
                let by_side = apart && !rows[0].name.is_empty();
                let side = |subject: &assay_data::Subject| match by_side {
                    true => samples.side_of(subject).clone(),
                    false => Side {
                        name: subject.name.clone(),
                        command: subject.command.clone(),
                        source: samples.side_of(subject).source.clone(),
                        builds: samples.side_of(subject).builds.clone(),
                        recordings: samples.side_of(subject).recordings.clone(),
                    },
                };
                (Shape::Sides, subjects.iter().map(side).collect(), subjects.len().max(1))
            }
        };
        let places = (0..subjects.len()).map(|subject| (subject % commands, 0)).collect();
        Ok(Self { shape, sides, rows, places, pairs, subjects: Vec::new() })
    }

    /// Arranges a suite. Subjects on an unnamed row are not compared. If a row occurs twice on one
    /// side, the first occurrence counts.
    fn of_suite(samples: &Samples, reference: Option<&str>) -> Result<Self, AnalysisError> {
        let known = || samples.sides.iter().map(|side| side.name.as_str());
        if let Some(asked) = reference
            && !known().any(|side| side == asked)
        {
            return Err(AnalysisError::no_reference(asked, "side", known()));
        }
        let mut order: Vec<usize> = (0..samples.sides.len()).collect();
        order.sort_by_key(|&side| {
            reference.is_some_and(|reference| samples.sides[side].name != reference)
        });
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &side)| place[side] = new);
        let mut in_order: Vec<usize> = (0..samples.subjects.len()).collect();
        in_order.sort_by_key(|&s| place[samples.subjects[s].side]);
        let mut rows = Vec::with_capacity(samples.rows.len());
        let mut subjects: Vec<Vec<Option<usize>>> = Vec::with_capacity(samples.rows.len());
        let mut met: HashMap<usize, usize> = HashMap::new();
        let mut places = vec![(0, 0); samples.subjects.len()];
        for subject in in_order {
            let own = &samples.subjects[subject];
            let row = *met.entry(own.row).or_insert_with(|| {
                rows.push(samples.row_of(own).clone());
                subjects.push(vec![None; order.len()]);
                subjects.len() - 1
            });
            places[subject] = (place[own.side], row);
            if !rows[row].name.is_empty() {
                subjects[row][place[own.side]].get_or_insert(subject);
            }
        }
        let on_both = |side: usize| subjects.iter().filter_map(move |on| Some((on[side]?, on[0]?)));
        Ok(Self {
            shape: Shape::Rows,
            sides: order.iter().map(|&side| samples.sides[side].clone()).collect(),
            pairs: (1..order.len()).flat_map(on_both).collect(),
            rows,
            places,
            subjects,
        })
    }

    /// Summarizes the comparisons of a family by side, for scans and suites. O(members), plus the
    /// resamples.
    pub fn groups(
        &self,
        members: &[Member<'_>],
        decided: &[Comparison],
        plan: &Plan,
    ) -> Vec<Group> {
        let side = |subject: usize| self.places[subject].0;
        match &self.shape {
            Shape::Sides => Vec::new(),
            Shape::Scan(layout) => {
                // Comparisons between values of a parameter do not compare commands.
                let wanted = |c: &Comparison| layout.together(c.of, c.against);
                mean::groups(members, decided, plan, side, wanted, |_| false)
            }
            Shape::Rows => {
                let is_whole =
                    |subject: usize| self.rows[self.places[subject].1].name == WHOLE_SUITE;
                mean::groups(members, decided, plan, side, |_| true, is_whole)
            }
        }
    }

    /// Lists the rows that are missing on one of two sides, then the metrics that only one of two
    /// sides has for a row on both. Otherwise, such rows would disappear silently. `has` returns
    /// true if a subject has a metric. O(subjects × metrics).
    pub fn only(&self, metrics: &[usize], has: impl Fn(usize, usize) -> bool) -> Vec<Only> {
        if self.subjects.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<Only> = Vec::new();
        let mut add = |metric, side, not_on, rows: Vec<usize>| {
            if !rows.is_empty() {
                found.push(Only { metric, side, not_on, rows });
            }
        };
        for other in 1..self.sides.len() {
            for (side, not_on) in [(0, other), (other, 0)] {
                let lacks = |on: &Vec<Option<usize>>| on[side].is_some() && on[not_on].is_none();
                let rows = (0..self.subjects.len()).filter(|&row| lacks(&self.subjects[row]));
                add(None, side, not_on, rows.collect());
            }
        }
        for other in 1..self.sides.len() {
            for &metric in metrics {
                let (mut old, mut new) = (Vec::new(), Vec::new());
                for (row, on) in self.subjects.iter().enumerate() {
                    let (Some(against), Some(of)) = (on[0], on[other]) else { continue };
                    match (has(against, metric), has(of, metric)) {
                        (true, false) => old.push(row),
                        (false, true) => new.push(row),
                        _ => {}
                    }
                }
                add(Some(metric), 0, other, old);
                add(Some(metric), other, 0, new);
            }
        }
        found
    }
}

fn named(name: String) -> Side {
    Side { name, ..Side::default() }
}

/// Returns true if samples are a suite: several named rows, at least one of them on several sides,
/// or one row with only summaries. Subjects shown separately, each its own reference, are not a
/// suite. O(subjects).
pub fn is_suite(samples: &Samples) -> bool {
    if are_alone(samples) {
        return false;
    }
    let several = samples.rows.iter().filter(|row| !row.name.is_empty()).count() > 1;
    (several || samples.design() == Design::Summary)
        && samples.shares_a_row(|row| !row.name.is_empty())
}

/// Returns true if any row has a name, as rows of benchmarks do and rows of commands do not.
fn has_benchmarks(samples: &Samples) -> bool {
    samples.rows.iter().any(|row| !row.name.is_empty())
}

/// Returns true if every subject is its own reference, so that each is shown separately.
fn are_alone(samples: &Samples) -> bool {
    let alone = |(own, subject): (usize, &assay_data::Subject)| subject.against == Some(own);
    samples.subjects.iter().enumerate().all(alone)
}

/// Returns the noun that all rows share, in the singular, or [`BENCHMARK`] if they differ.
pub(super) fn noun(rows: &[Row]) -> &str {
    let mut nouns = rows.iter().map(|row| row.noun.as_deref());
    let first = nouns.next().flatten().unwrap_or(BENCHMARK);
    if nouns.all(|noun| noun == Some(first)) { first } else { BENCHMARK }
}
