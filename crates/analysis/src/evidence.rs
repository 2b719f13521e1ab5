//! The data to compare for one metric of one subject: its values, the means of their units, or a
//! summary.
//!
//! Values from one process are not independent, because all of them share the peculiarities of that
//! process. If a tool started and recorded several processes (builds, forks), their means are
//! compared. If one side has only a summary, the other is summarized as well.

use crate::checks;
use crate::comparison::summaries::{Side, alike};
use crate::comparison::{Basis, Comparison, NoInterval, Question, level_of};
use crate::levels::{self, plural};
use crate::paired::{Paired, is_nearly_constant};
use crate::policy;
use crate::recording::Recording;
use crate::recordings;
use crate::unpaired;
use crate::verdict::Decision;
use assay_data::samples::{BySubject, InPass};
use assay_data::{Action, Design, Finding, Metric, Samples, Summary};
use assay_stats::descriptive;
use assay_stats::signed_rank::SignedRankDistribution;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The outermost units of a subject: the mean of each, and what such a unit is called.
#[derive(Clone, Debug, PartialEq)]
struct Units {
    means: Vec<f64>,
    name: String,
}

/// The data of one side of a comparison.
#[derive(Clone, Debug)]
enum SideData {
    Values { values: Vec<f64>, units: Option<Units>, in_blocks: bool },
    Summary(Side),
}

/// Two sides, prepared for repeated comparisons.
#[derive(Clone, Debug)]
pub(crate) enum Pair {
    /// Unpaired values or means of units, each side sorted once.
    Apart(Rc<Recording<'static>>, Rc<Recording<'static>>, Basis),
    /// Values paired by block.
    Blocks(Paired),
    /// Exact counts that are the same in all runs of a side. They were recorded separately, and are
    /// paired by position.
    Known(Paired),
    /// Summaries of both sides.
    Summaries(Side, Side),
    /// Summaries of the means of recordings, which are too few for a rank test.
    Few(Side, Side),
}

/// The comparable data of samples, indexed by subject.
pub(crate) struct Evidence<'a> {
    samples: &'a Samples,
    index: BySubject<'a>,
    summaries: HashMap<(usize, &'a str), &'a Summary>,
    /// True if the samples have neither blocks nor levels.
    plain: bool,
}

impl<'a> Evidence<'a> {
    /// Indexes the samples. O(observations + summaries).
    pub(crate) fn of(samples: &'a Samples) -> Self {
        let summaries = samples.summaries.iter().map(|s| ((s.subject, s.metric.as_str()), s));
        Self {
            samples,
            index: samples.by_subject(),
            summaries: summaries.collect(),
            plain: !samples.has_blocks() && !samples.has_levels(),
        }
    }

    /// Returns the observations by subject.
    pub(crate) fn index(&self) -> &BySubject<'a> {
        &self.index
    }

    /// Returns true if all samples were taken in blocks.
    pub(crate) fn is_in_blocks(&self) -> bool {
        self.samples.design() == Design::Blocks
    }

    /// Returns true if the subject has values or a summary of this metric.
    pub(crate) fn has(&self, subject: usize, metric: usize) -> bool {
        self.index.series(subject, metric).next().is_some()
            || self.summary(subject, metric).is_some()
    }

    fn summary(&self, subject: usize, metric: usize) -> Option<Side> {
        let name = self.samples.metrics.get(metric)?.name.as_str();
        Side::of_summary(self.summaries.get(&(subject, name))?)
    }

    fn side(&self, subject: usize, metric: usize) -> Option<SideData> {
        let series: Vec<(u32, f64)> = self.index.series(subject, metric).collect();
        if series.is_empty() {
            return self.summary(subject, metric).map(SideData::Summary);
        }
        let in_blocks = series.iter().all(|&(index, _)| self.index.block(index).is_some());
        let values = series.iter().map(|&(_, value)| value).collect();
        Some(SideData::Values { values, units: self.units(subject, &series), in_blocks })
    }

    /// Returns the means of a subject's outermost units; `None` if a value has no level.
    fn units(&self, subject: usize, series: &[(u32, f64)]) -> Option<Units> {
        let mut of_unit: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let mut depth = 0;
        let mut before: Option<&[u32]> = None;
        let mut repeated = false;
        for &(index, value) in series {
            let level = self.index.level(index);
            of_unit.entry(*level.first()?).or_default().push(value);
            depth = level.len();
            repeated |= before == Some(level);
            before = Some(level);
        }
        Some(Units {
            means: of_unit.values().map(|values| descriptive::mean(values)).collect(),
            name: match self.has_builds(subject) {
                true => levels::BUILD.to_owned(),
                false if levels::is_of_recordings(self.samples, subject) => {
                    levels::RECORDING.to_owned()
                }
                false => levels::outermost_name(depth + usize::from(repeated)),
            },
        })
    }

    /// Returns true if several builds of a subject were run alternately.
    fn has_builds(&self, subject: usize) -> bool {
        let of = self.samples.subjects.get(subject);
        of.is_some_and(|of| !self.samples.side_of(of).builds.is_empty())
    }

    /// Returns the values of a subject, prepared for comparison with values that were recorded
    /// separately.
    pub(crate) fn recording(&self, subject: usize, metric: usize) -> Rc<Recording<'static>> {
        Rc::new(self.recorded(self.index.values(subject, metric), metric))
    }

    /// Prepares values of a metric like [`Self::recording`].
    pub(crate) fn recorded(&self, values: Vec<f64>, metric: usize) -> Recording<'static> {
        Recording::of(values).of_exact(!self.samples.metrics[metric].may_be_rounded())
    }

    /// Pairs the values of two subjects in the blocks that both have, in order. O(n log n).
    pub(crate) fn in_blocks(&self, against: usize, of: usize, metric: usize) -> Paired {
        let builds = [against, of].into_iter().any(|subject| self.has_builds(subject));
        let side = |subject| {
            let series = self.index.series(subject, metric);
            let build = |o| self.index.level(o).first().copied().unwrap_or(0);
            series
                .filter_map(|(o, value)| Some((self.index.block(o)?, (value, build(o)))))
                .collect()
        };
        paired(&self.samples.metrics[metric], &side(against), side(of), builds)
    }

    /// Like [`Self::pair`], but if a subject has no data, returns a pair without values of that
    /// subject.
    pub(crate) fn pair_or_empty(
        &self,
        against: usize,
        of: usize,
        metric: usize,
        known: &[Rc<Recording<'static>>],
    ) -> Pair {
        self.pair(against, of, metric, known).unwrap_or_else(|| {
            if self.is_in_blocks() {
                return Pair::Blocks(Paired::of_metric(&self.samples.metrics[metric]));
            }
            let [x, y] = [against, of].map(|subject| self.recording(subject, metric));
            Pair::Apart(x, y, Basis::Values)
        })
    }

    /// Returns the data of two subjects for a metric; `None` if either has none. `known` contains
    /// the recordings of this metric for all subjects, or is empty if they have not been computed
    /// yet. O(n log n).
    pub(crate) fn pair(
        &self,
        against: usize,
        of: usize,
        metric: usize,
        known: &[Rc<Recording<'static>>],
    ) -> Option<Pair> {
        let summarised = [against, of]
            .iter()
            .any(|&subject| self.index.series(subject, metric).next().is_none());
        if self.plain && !summarised {
            let side = |subject: usize| {
                known.get(subject).cloned().unwrap_or_else(|| self.recording(subject, metric))
            };
            let (x, y) = (side(against), side(of));
            let exact = known_counts(&self.samples.metrics[metric], &x.in_order, &y.in_order);
            return Some(exact.unwrap_or(Pair::Apart(x, y, Basis::Values)));
        }
        let (x, y) = (self.side(against, metric)?, self.side(of, metric)?);
        let (x, y) = match (x, y) {
            (x @ SideData::Summary(_), y) | (x, y @ SideData::Summary(_)) => {
                let (x, y) = alike(x.summarised()?, y.summarised()?);
                return Some(Pair::Summaries(x, y));
            }
            both => both,
        };
        let (
            SideData::Values { values: x, units: units_x, in_blocks: x_in_blocks },
            SideData::Values { values: y, units: units_y, in_blocks: y_in_blocks },
        ) = (x, y)
        else {
            return None;
        };
        if x_in_blocks && y_in_blocks {
            return Some(Pair::Blocks(self.in_blocks(against, of, metric)));
        }
        if let Some(exact) = known_counts(&self.samples.metrics[metric], &x, &y) {
            return Some(exact);
        }
        if [against, of].iter().any(|&own| levels::is_of_recordings(self.samples, own)) {
            let means = |units: Option<Units>, values: Vec<f64>| match units {
                Some(units) => units.means,
                // A side with a single recording is one unit.
                None => vec![descriptive::mean(&values)],
            };
            return Some(of_recordings(means(units_x, x), means(units_y, y)));
        }
        let is_nested = |units: &Option<Units>, values: &[f64]| {
            units.as_ref().is_some_and(|u| u.means.len() > 1 && u.means.len() < values.len())
        };
        if !is_nested(&units_x, &x) && !is_nested(&units_y, &y) {
            let [x, y] = [x, y].map(|values| Rc::new(self.recorded(values, metric)));
            return Some(Pair::Apart(x, y, Basis::Values));
        }
        let name = units_x.as_ref().or(units_y.as_ref()).map(|u| u.name.clone());
        let basis = Basis::Units(name.unwrap_or_default());
        let means = |units: Option<Units>, values| units.map_or(values, |u| u.means);
        let [x, y] = [(units_x, x), (units_y, y)]
            .map(|(units, values)| Rc::new(Recording::of(means(units, values))));
        Some(Pair::Apart(x, y, basis))
    }
}

impl SideData {
    /// Summarizes a side. Nested values are summarized by the means of their units.
    fn summarised(self) -> Option<Side> {
        match self {
            Self::Summary(side) => Some(side),
            Self::Values { values, units, .. } => {
                let nested = units.filter(|u| u.means.len() > 1 && u.means.len() < values.len());
                Side::of_values(nested.as_ref().map_or(&values, |u| &u.means))
            }
        }
    }
}

/// Pairs the values in the blocks that both sides have, in order.
fn paired(metric: &Metric, x: &Built, y: Built, builds: bool) -> Paired {
    let mut paired = Paired::of_metric(metric);
    // Note: blocks are compared, not observations. A run without the metric removes its block from
    // all comparisons of its subject.
    for (block, (value, build)) in y {
        if let Some(&(reference, of_reference)) = x.get(&block) {
            paired.push(reference, value);
            if builds {
                paired.push_builds(of_reference, build);
            }
        }
    }
    paired
}

/// For each block, a value and the number of the build that produced it.
type Built = BTreeMap<InPass, (f64, u32)>;

/// Pairs counts that are the same in every run of each side, which are certain even though the
/// sides were recorded separately. `None` for other values.
fn known_counts(metric: &Metric, x: &[f64], y: &[f64]) -> Option<Pair> {
    if !metric.exact {
        return None;
    }
    let mut beside = Paired::of_metric(metric);
    x.iter().zip(y).for_each(|(&a, &b)| beside.push(a, b));
    let known = beside.is_certain() && is_nearly_constant(x) && is_nearly_constant(y);
    known.then_some(Pair::Known(beside))
}

impl Pair {
    /// Returns true if the difference is certain, so that it uses none of the allowed error.
    pub(crate) fn is_certain(&self) -> bool {
        match self {
            Self::Blocks(paired) | Self::Known(paired) => paired.is_certain(),
            Self::Apart(..) | Self::Summaries(..) | Self::Few(..) => false,
        }
    }

    /// Decides the comparison at the question's level.
    pub(crate) fn decide(
        &self,
        question: Question<'_>,
        distribution: &mut SignedRankDistribution,
    ) -> Decision {
        let (threshold, better) = (&question.plan.threshold, question.better);
        match self {
            Self::Apart(x, y, _) => {
                let level = (1.0 - question.plan.confidence) / question.share;
                unpaired::decide(x, y, threshold, level, better).decision
            }
            Self::Blocks(paired) | Self::Known(paired) => {
                let level = level_of(question, paired.len());
                paired.decide(threshold, level, better, distribution).decision
            }
            Self::Summaries(x, y) | Self::Few(x, y) => {
                crate::comparison::summaries::decide(question, x, y).0
            }
        }
    }

    /// Returns the complete comparison.
    pub(crate) fn compare(
        &self,
        question: Question<'_>,
        distribution: &mut SignedRankDistribution,
    ) -> Comparison {
        match self {
            Self::Apart(x, y, basis) => {
                Comparison { basis: basis.clone(), ..Comparison::of_recordings(question, x, y) }
            }
            Self::Blocks(paired) => Comparison::in_blocks(question, paired, distribution),
            Self::Known(paired) => Comparison {
                design: Design::Unpaired,
                blocks: None,
                ..Comparison::in_blocks(question, paired, distribution)
            },
            Self::Summaries(x, y) => Comparison::of_summaries(question, x, y),
            Self::Few(x, y) => Comparison {
                design: Design::Unpaired,
                basis: Basis::Units(levels::RECORDING.to_owned()),
                ..Comparison::of_summaries(question, x, y)
            },
        }
    }
}

/// Returns the finding about a comparison that is not based on individual values.
pub(crate) fn findings(c: &Comparison, name: &str) -> Option<Finding> {
    let (n, m) = c.counts;
    let lacking = c.no_interval();
    let keep = Action::KeepValues { setting: None };
    let finding = match (&c.basis, lacking) {
        (Basis::Values, _) => return None,
        (Basis::Units(unit), _) if unit == levels::RECORDING && n.min(m) < recordings::RANKED_FROM => {
            return recordings::finding(c, name);
        }
        (Basis::Units(unit), Some(NoInterval::TooFew { needed })) => checks::too_few(format!(
            "the values come from too few {} for a verdict ({n} and {m}): {needed} on each side can decide, since values of one are not independent",
            plural(unit)
        ))
        .advise(Action::MoreUnits { units: plural(unit) }),
        (Basis::Units(_), _) if c.blocks.is_some() => return checks::layout(&[(c, name)]),
        (Basis::Units(unit), _) => {
            checks::units_compared(&format!("the means of {n} and {m} {}", plural(unit)))
        }
        (Basis::Summary, None) => checks::summary_only("").advise(keep),
        (Basis::Summary, Some(_)) => checks::summary_too_bare("").advise(keep),
    };
    Some(finding.about(name).with("of", m as f64).with("against", n as f64))
}

/// Prepares the means of the recordings of two sides for comparison.
fn of_recordings(x: Vec<f64>, y: Vec<f64>) -> Pair {
    let fewest = x.len().min(y.len());
    if fewest >= recordings::RANKED_FROM {
        let [x, y] = [x, y].map(|means| Rc::new(Recording::of(means)));
        return Pair::Apart(x, y, Basis::Units(levels::RECORDING.to_owned()));
    }
    let side = |means: &[f64]| {
        let all = Side::of_values(means);
        let enough = fewest >= policy::FEWEST_BUILDS;
        all.map(|side| if enough { side } else { Side { standard_error: f64::NAN, ..side } })
    };
    match (side(&x), side(&y)) {
        (Some(x), Some(y)) => Pair::Few(x, y),
        _ => {
            let [x, y] = [x, y].map(|means| Rc::new(Recording::of(means)));
            Pair::Apart(x, y, Basis::Units(levels::RECORDING.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::{Metric, Observation};

    /// Two subjects with the given numbers of values in each of their units; units have unique
    /// numbers.
    fn nested(sides: [&[usize]; 2]) -> Samples {
        let mut samples = Samples::new(vec![Metric::wall()]);
        for (subject, units) in sides.into_iter().enumerate() {
            samples.add_subject(&format!("s{subject}"));
            for (unit, &values) in units.iter().enumerate() {
                for value in 0..values {
                    let value = 10.0 * (unit + 1) as f64 + value as f64;
                    let level = vec![unit as u32];
                    let values = vec![value];
                    samples.push(Observation { subject, level, values, ..Observation::default() });
                }
            }
        }
        samples
    }

    fn pair(samples: &Samples) -> Option<Pair> {
        Evidence::of(samples).pair(0, 1, 0, &[])
    }

    #[test]
    fn values_of_several_processes_are_compared_by_the_means_of_those() {
        let samples = nested([&[3, 3, 3], &[3, 3]]);
        let Some(Pair::Apart(x, y, basis)) = pair(&samples) else { unreachable!("two recordings") };
        assert_eq!(basis, Basis::Units("process".to_owned()));
        assert_eq!(
            (x.in_order.as_ref(), y.in_order.as_ref()),
            (&[11.0, 21.0, 31.0][..], &[11.0, 21.0][..])
        );
    }

    #[test]
    fn one_process_or_one_value_of_each_leaves_the_values() {
        for sides in [[&[9][..], &[8]], [&[1, 1, 1], &[1, 1, 1, 1]]] {
            let found = pair(&nested(sides));
            let Some(Pair::Apart(x, _, basis)) = found else { unreachable!("two recordings") };
            assert_eq!(basis, Basis::Values);
            assert_eq!(x.in_order.len(), sides[0].iter().sum::<usize>());
        }
    }

    #[test]
    fn one_process_against_several_is_one_unit() {
        let Some(Pair::Apart(x, y, basis)) = pair(&nested([&[9], &[3, 3, 3]])) else {
            unreachable!("two recordings")
        };
        assert_eq!((x.in_order.len(), y.in_order.len()), (1, 3));
        assert!(matches!(basis, Basis::Units(_)));
    }

    #[test]
    fn a_summary_on_one_side_makes_a_summary_of_the_other() {
        let mut samples = nested([&[1, 1, 1, 1], &[]]);
        assert!(pair(&samples).is_none());
        let summary = Summary {
            subject: 1,
            metric: "wall".to_owned(),
            mean: Some(3.0),
            ..Summary::default()
        };
        samples.summaries.push(summary);
        let Some(Pair::Summaries(x, y)) = pair(&samples) else { unreachable!("two summaries") };
        assert_eq!((x.count, x.location, y.location), (4, 25.0, 3.0));
        // A summary with only a median is compared with the median of the values.
        samples.push_value(0, 1000.0);
        samples.summaries[0] =
            Summary { mean: None, median: Some(3.0), ..samples.summaries[0].clone() };
        let Some(Pair::Summaries(x, y)) = pair(&samples) else { unreachable!("two summaries") };
        assert_eq!((x.location, y.location), (30.0, 3.0));
    }

    #[test]
    fn blocks_that_both_have_are_compared_in_their_order() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        for (subject, blocks) in [vec![3_u32, 1, 2], vec![2, 3, 7]].into_iter().enumerate() {
            samples.add_subject(&format!("s{subject}"));
            for block in blocks {
                let values = vec![f64::from(block) + subject as f64];
                let block = Some(block);
                samples.push(Observation { subject, block, values, ..Observation::default() });
            }
        }
        let Some(Pair::Blocks(paired)) = pair(&samples) else { unreachable!("blocks") };
        assert_eq!((paired.reference(), paired.other()), (&[2.0, 3.0][..], &[3.0, 4.0][..]));
    }
}
