//! Sources of the variance of times: the share that correlates with system events during the runs,
//! and the disturbed runs.
//!
//! For every run, the kernel counts preemptions (involuntary switches) and accesses to memory that
//! was not yet mapped (minor faults) or had to be read from disk (major faults); time stolen by a
//! hypervisor is recorded if a run is long enough. Three results are derived:
//!
//! - *the share of the variance associated with these counts*, run by run within one subject
//!   ([`Cause::share`], [`NoiseOf::together`]);
//! - *disturbed runs*: runs that were preempted, or waited for the disk, more often than usual for
//!   the subject;
//! - *the difference with disturbed blocks down-weighted*, for comparison with the deciding
//!   difference.
//!
//! These are correlations within the runs of one subject, which show where to look first but do not
//! prove a cause: a run that takes longer for another reason encounters more scheduler ticks and is
//! therefore preempted more often. Some delays appear in no count: a run that waits for its first
//! turn on a busy CPU is late without being preempted. Runs are never removed, and no verdict
//! depends on these results, since a count that the program itself influences must not select its
//! runs.

mod share;

use crate::comparison::Comparison;
use crate::policy;
use crate::verdict::Scale;
use assay_data::code;
use assay_data::samples::{BySubject, InPass, STEAL};
use assay_data::{Action, Design, Finding, Samples, Unit};
use assay_stats::descriptive;
use assay_stats::signed_rank::WeightedDifferences;
use std::collections::{BTreeMap, HashMap};

/// Metrics that may explain variance, in the order in which they are reported.
const CAUSES: [&str; 4] = ["involuntary_switches", "minor_faults", "major_faults", STEAL];
/// Counts that mark a run as disturbed if they are unusually high. Minor faults are not among them,
/// since the program itself causes them.
const DISTURBING: [&str; 2] = ["involuntary_switches", "major_faults"];

/// Noise in one subject's runs of the primary metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoiseOf {
    /// Index of the subject.
    pub subject: usize,
    /// Number of runs with a value of the primary metric.
    pub runs: usize,
    /// Possible causes, in a fixed order: the metrics recorded for every one of these runs. Empty
    /// if the primary metric is not a time.
    pub causes: Vec<Cause>,
    /// The share of the variance associated with all causes together, in 0..=1; `None` if it could
    /// be due to chance.
    pub together: Option<f64>,
    /// Indices of the disturbed runs' observations, ascending. These runs are marked, never
    /// removed.
    pub disturbed: Vec<usize>,
    /// The difference from this subject's reference, with disturbed blocks down-weighted; `None` if
    /// no block is disturbed, for a reference, and for samples without blocks.
    pub weighed: Option<Weighed>,
}

/// A possible source of variance.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// Name of the cause's metric.
    pub metric: &'static str,
    /// Spearman's correlation with the primary metric after removing slow drift from both; `None`
    /// if either is then constant or if there are too few runs.
    pub correlation: Option<f64>,
    /// The share of the variance of the ranks associated with this cause alone, in 0..=1; `None` if
    /// it could be due to chance.
    pub share: Option<f64>,
}

/// A difference in which disturbed blocks count less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed {
    /// The scale of the decision. The estimate is a ratio (second / first) or a shift (second −
    /// first, in base units).
    pub scale: Scale,
    /// The weighted estimate, to be compared with the estimate of the comparison.
    pub estimate: f64,
    /// Number of down-weighted blocks.
    pub blocks: usize,
}

impl NoiseOf {
    /// Returns true if too many runs are disturbed: at least three, and more than one in twenty.
    pub fn is_disturbed(&self) -> bool {
        let disturbed = self.disturbed.len();
        disturbed >= policy::DISTURBED_FROM
            && disturbed as f64 > policy::DISTURBED_SHARE * self.runs as f64
    }
}

/// Returns the noise of every subject, in order. O(subjects · n log n), plus 100 · n for a
/// comparison with disturbed blocks.
pub fn of(samples: &Samples, primary: usize, comparisons: &[Comparison]) -> Vec<NoiseOf> {
    let index = samples.by_subject();
    let of_subject: HashMap<usize, &Comparison> =
        comparisons.iter().rev().filter(|c| c.metric == primary).map(|c| (c.of, c)).collect();
    let disturbances: Vec<BTreeMap<usize, f64>> =
        (0..samples.subjects.len()).map(|subject| excesses(samples, &index, subject)).collect();
    let is_time = samples.metrics.get(primary).is_some_and(|m| m.unit == Unit::Second);
    (0..samples.subjects.len())
        .map(|subject| {
            let runs = index.whole_series(subject, primary);
            if !is_time {
                return NoiseOf { subject, runs: runs.values.len(), ..NoiseOf::default() };
            }
            let (causes, together) = explained(samples, &index, subject, primary);
            let compared = of_subject.get(&subject);
            NoiseOf {
                subject,
                runs: runs.values.len(),
                causes,
                together,
                disturbed: runs
                    .observations
                    .into_iter()
                    .filter(|index| disturbances[subject].contains_key(index))
                    .collect(),
                weighed: compared.and_then(|c| weighed(samples, &index, c, &disturbances)),
            }
        })
        .collect()
}

/// Returns a finding for each subject with many disturbed runs.
pub fn findings(noise: &[NoiseOf], names: &[String]) -> Vec<Finding> {
    let many = noise.iter().filter(|of| of.is_disturbed());
    many.filter_map(|of| Some((of, names.get(of.subject)?)))
        .map(|(of, name)| {
            let disturbed = of.disturbed.len();
            Finding::new(code::DISTURBED, format!(
                    "{disturbed} of {} runs of {name} were preempted, or waited for the disk, more than usual",
                    of.runs
                ))
            .about(name)
            .with("disturbed", disturbed as f64)
            .with("runs", of.runs as f64)
            .advise(Action::StopOtherWork)
            .advise(Action::CheckMachine)
        })
        .collect()
}

/// Returns by how much each disturbed run of a subject exceeds the subject's usual counts, in the
/// unit described at [`weight`].
fn excesses(samples: &Samples, index: &BySubject<'_>, subject: usize) -> BTreeMap<usize, f64> {
    let mut found: BTreeMap<usize, f64> = BTreeMap::new();
    let mut mark = |observation: usize, excess: f64| {
        let worst = found.entry(observation).or_insert(0.0);
        *worst = worst.max(excess);
    };
    for metric in DISTURBING.iter().filter_map(|name| samples.metric_index(name)) {
        let counts = index.whole_series(subject, metric);
        if counts.values.len() < policy::USUAL_FROM {
            continue;
        }
        let sorted = descriptive::sorted(&counts.values);
        let at = |p| descriptive::quantile_sorted(&sorted, p);
        let (upper, range) = (at(0.75), at(0.75) - at(0.25));
        for (&count, &observation) in counts.values.iter().zip(&counts.observations) {
            // If nearly all runs have equal counts, even one more would be unusual.
            if count > upper + policy::DISTURBED_FENCE * range && count >= upper + 1.0 {
                mark(observation, (count - upper) / range.max(1.0));
            }
        }
    }
    if let (Some(steal), Some(wall)) = (samples.metric_index(STEAL), samples.metric_index("wall")) {
        let (stolen, wall) =
            (index.whole_series(subject, steal), index.whole_series(subject, wall));
        for ((place, observation), seconds) in joined(&stolen, &wall) {
            let share = stolen.values[place] / seconds;
            if share > policy::STOLEN_OF_RUN {
                mark(observation, share / policy::STOLEN_OF_RUN);
            }
        }
    }
    found
}

/// Returns, for each observation in both series, its index in `first`, its number, and its value in
/// `second`. Both series must be sorted by observation.
fn joined<'a>(
    first: &'a assay_data::Series,
    second: &'a assay_data::Series,
) -> impl Iterator<Item = ((usize, usize), f64)> + 'a {
    first.observations.iter().enumerate().filter_map(|(place, &observation)| {
        let there = second.observations.binary_search(&observation).ok()?;
        Some(((place, observation), second.values[there]))
    })
}

fn explained(
    samples: &Samples,
    index: &BySubject<'_>,
    subject: usize,
    primary: usize,
) -> (Vec<Cause>, Option<f64>) {
    let runs = index.whole_series(subject, primary);
    // A metric without values for some runs can't be correlated with all runs.
    let recorded: Vec<(&'static str, Vec<f64>)> = CAUSES
        .into_iter()
        .filter_map(|name| {
            let metric = samples.metric_index(name).filter(|&metric| metric != primary)?;
            let series = index.whole_series(subject, metric);
            let beside: Vec<f64> = joined(&runs, &series).map(|(_, value)| value).collect();
            (!beside.is_empty() && beside.len() == runs.values.len()).then_some((name, beside))
        })
        .collect();
    let columns: Vec<&[f64]> = recorded.iter().map(|(_, values)| values.as_slice()).collect();
    let shares = share::explained(&runs.values, &columns);
    let causes = recorded
        .iter()
        .zip(&shares.alone)
        .map(|((metric, _), one)| Cause { metric, correlation: one.correlation, share: one.share })
        .collect();
    (causes, shares.together)
}

fn weighed(
    samples: &Samples,
    index: &BySubject<'_>,
    c: &Comparison,
    disturbances: &[BTreeMap<usize, f64>],
) -> Option<Weighed> {
    if c.design != Design::Blocks {
        return None;
    }
    let by_block = |subject: usize| -> BTreeMap<InPass, (f64, f64)> {
        let series = index.whole_series(subject, c.metric);
        let excess = |observation: &usize| {
            disturbances.get(subject).and_then(|runs| runs.get(observation)).copied()
        };
        let place = |(&value, observation): (&f64, &usize)| {
            let observed = samples.observation(*observation)?;
            let block = (observed.pass, observed.block?);
            Some((block, (value, excess(observation).unwrap_or(0.0))))
        };
        series.values.iter().zip(&series.observations).filter_map(place).collect()
    };
    let (reference, other) = (by_block(c.against), by_block(c.of));
    let blocks: Vec<(f64, f64)> = reference
        .iter()
        .filter_map(|(block, &(a, excess))| {
            let &(b, other_excess) = other.get(block)?;
            let difference = match c.decision.scale {
                Scale::Ratio => (b / a).ln(),
                Scale::Shift => b - a,
            };
            Some((difference, weight(excess.max(other_excess))))
        })
        .filter(|(difference, _)| difference.is_finite())
        .collect();
    let light = blocks.iter().filter(|(_, weight)| *weight < 1.0).count();
    if light == 0 {
        return None;
    }
    let found = WeightedDifferences::new(blocks).pseudo_median()?;
    let estimate = match c.decision.scale {
        Scale::Ratio => found.exp(),
        Scale::Shift => found,
    };
    Some(Weighed { scale: c.decision.scale, estimate, blocks: light })
}

/// Returns the weight, in 0..=1, of a block whose worse run exceeds the usual count by `excess`.
/// The unit is the interquartile range (at least 1) or, for stolen time, 1 % of the run.
///
/// One unusual switch halves a block's weight, ten leave about a tenth, and no block is discarded:
/// a rule that removes runs would have to be right about each of them, whereas this one must be
/// right only overall. The weighted estimate has no interval, since these counts depend on the
/// runs.
fn weight(excess: f64) -> f64 {
    1.0 / (1.0 + excess.max(0.0))
}

#[cfg(test)]
mod tests;
