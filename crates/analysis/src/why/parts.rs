//! The parts of the time: user time, system time and waiting. Their differences add up to the
//! difference of the whole, so each part has an exact share of it.
//!
//! A share is the ratio of the mean difference of the part to that of the whole, over the same
//! blocks, with Fieller's interval. It may be negative or more than 100 %, for example if a side
//! computes more and waits less. Blocks in which the difference of the whole is far from that in
//! the other blocks are excluded from all parts, so that the sum remains exact and one disturbed
//! run does not hide the difference. Separate recordings have no common blocks. Their runs are
//! paired in order, which is as good as any other order because they are independent.
//!
//! On a busy machine, a program that computes for longer also waits for longer, because it must
//! share the processors with other processes. Waiting that grows in proportion to the processor
//! time is a consequence, not a cause, so the parts are then those of the processor time.

use super::is_known;
use crate::analysis::Analysis;
use crate::comparison::Comparison;
use assay_data::{Design, Metric, Samples, Unit};
use assay_stats::descriptive;
use assay_stats::ratio_of_means::{self, RatioOfMeans};
use std::collections::HashMap;

/// Number of robust standard deviations from the median beyond which a block's difference is
/// excluded. About one in a million normal differences is that far away.
const FARTHEST: f64 = 5.0;
/// A program whose processor time exceeds its wall time by this factor uses several processors in
/// parallel; the rest of the wall time is then not waiting.
const ONE_PROCESSOR: f64 = 1.05;
/// Minimum share in the difference of waiting beyond the proportion to the processor time, for that
/// waiting to count.
const SMALLEST_BEYOND: f64 = 0.2;
/// Number of parts among which the error is divided.
const PARTS: f64 = 3.0;

/// The time that the parts add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// Wall time.
    Wall,
    /// Processor time, because it is the primary metric or because a side uses several processors
    /// in parallel.
    Cpu,
    /// Processor time, because the processors were busy and waiting grew in proportion to it.
    Busy,
}

/// The name of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartName {
    /// Processor time in the program and its libraries.
    User,
    /// Processor time in the kernel.
    System,
    /// Wall time that is not processor time: sleeping, or waiting for disks, networks and other
    /// processes.
    Waiting,
}

/// A part of the difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Name of the part.
    pub name: PartName,
    /// Mean difference from the reference, in seconds.
    pub seconds: f64,
    /// Share of the part in the difference of the whole; `None` if unknown.
    pub share: Option<RatioOfMeans>,
}

impl Part {
    /// Returns true if the share of the part in the difference is known to be positive.
    pub fn is_known(&self) -> bool {
        is_known(self.share)
    }
}

/// Returns true if a metric is the time or one of its parts.
pub(super) fn is_time(metric: &Metric) -> bool {
    let is_own = ["wall", "cpu", "user", "system", "cpu_per_wall"].contains(&metric.name.as_str());
    is_own && matches!(metric.unit, Unit::Second | Unit::One)
}

/// Returns the parts of a difference in wall or processor time, largest share first; empty if they
/// were not recorded for single runs.
pub(super) fn of(samples: &Samples, analysis: &Analysis, c: &Comparison) -> (Whole, Vec<Part>) {
    let metric = |name: &str| samples.metric_index(name);
    let primary = analysis.metrics[c.metric].name.as_str();
    let (Some(wall), Some(user), Some(system)) = (metric("wall"), metric("user"), metric("system"))
    else {
        return (Whole::Wall, Vec::new());
    };
    if !matches!(primary, "wall" | "cpu") {
        return (Whole::Wall, Vec::new());
    }
    let metrics = [wall, user, system];
    let sides = [c.against, c.of].map(|subject| match analysis.design {
        Design::Blocks => by_block(samples, subject, metrics),
        Design::Unpaired | Design::Summary => by_order(samples, subject, metrics),
    });
    let is_parallel = |side: &HashMap<u32, [f64; 3]>| {
        let sum = |of: fn(&[f64; 3]) -> f64| side.values().map(of).sum::<f64>();
        sum(|v| v[1] + v[2]) > ONE_PROCESSOR * sum(|v| v[0])
    };
    let mut blocks: Vec<u32> =
        sides[0].keys().filter(|b| sides[1].contains_key(b)).copied().collect();
    blocks.sort_unstable();
    let pairs: Vec<[[f64; 3]; 2]> =
        blocks.iter().map(|block| [sides[0][block], sides[1][block]]).collect();
    if pairs.is_empty() {
        return (Whole::Wall, Vec::new());
    }
    let whole = match primary == "cpu" || sides.iter().any(is_parallel) {
        true => Whole::Cpu,
        false if is_busy(analysis, c, &pairs) => Whole::Busy,
        false => Whole::Wall,
    };
    let differences = pairs.iter().map(|[old, new]| {
        let [wall, user, system] = [0, 1, 2].map(|at| new[at] - old[at]);
        let all = if whole == Whole::Wall { wall } else { user + system };
        [all, user, system]
    });
    let differences = without_far(differences.collect());
    let column = |at: usize| -> Vec<f64> { differences.iter().map(|own| own[at]).collect() };
    let [all, user, system] = [0, 1, 2].map(column);
    let waiting: Vec<f64> =
        differences.iter().map(|[all, user, system]| all - user - system).collect();
    let mut parts = vec![(PartName::User, user), (PartName::System, system)];
    if whole == Whole::Wall {
        parts.push((PartName::Waiting, waiting));
    }
    let worth = worth(c, all.len());
    let part = |(name, own): (PartName, Vec<f64>)| Part {
        name,
        seconds: descriptive::mean(&own),
        share: share(&own, &all, worth, analysis.plan.confidence, PARTS),
    };
    let mut parts: Vec<Part> = parts.into_iter().map(part).collect();
    let size = |part: &Part| part.share.map_or(f64::NEG_INFINITY, |share| share.estimate);
    parts.sort_by(|a, b| size(b).total_cmp(&size(a)));
    (whole, parts)
}

/// Returns true if waiting changed in proportion to the processor time: the number of interruptions
/// changed in the direction of the difference, the number of voluntary waits did not, and the
/// waiting beyond that proportion is not known to be a relevant share of the difference.
fn is_busy(analysis: &Analysis, c: &Comparison, pairs: &[[[f64; 3]; 2]]) -> bool {
    let way = c.shift.estimate.signum();
    let moved = |name: &str| {
        let interval = analysis.secondary_of(c.of, name).and_then(|own| own.decision.interval);
        interval.is_some_and(|own| if way > 0.0 { own.lower > 0.0 } else { own.upper < 0.0 })
    };
    if !moved("involuntary_switches") || moved("voluntary_switches") {
        return false;
    }
    let cpu = |side: usize| pairs.iter().map(|pair| pair[side][1] + pair[side][2]).sum::<f64>();
    let waited = |own: &[f64; 3]| own[0] - own[1] - own[2];
    let ratio = cpu(1) / cpu(0);
    let beyond = pairs
        .iter()
        .map(|[old, new]| [new[0] - old[0], waited(new) - ratio * waited(old)])
        .collect();
    let beyond = without_far(beyond);
    let column = |at: usize| -> Vec<f64> { beyond.iter().map(|own| own[at]).collect() };
    let (all, beyond) = (column(0), column(1));
    let share = share(&beyond, &all, worth(c, all.len()), analysis.plan.confidence, 1.0);
    share.is_some_and(|share| share.interval.lower < SMALLEST_BEYOND)
}

/// Returns the share of a part in a whole, with an interval wide enough that `sharing` such
/// intervals hold jointly at `confidence`.
pub(super) fn share(
    part: &[f64],
    whole: &[f64],
    worth: f64,
    confidence: f64,
    sharing: f64,
) -> Option<RatioOfMeans> {
    let level = 1.0 - (1.0 - confidence) / sharing;
    ratio_of_means::of_pairs(part, whole, worth * whole.len() as f64, level)
}

/// Returns the fraction of `blocks` blocks that count as independent.
fn worth(c: &Comparison, blocks: usize) -> f64 {
    let fraction = c.effective / c.blocks.unwrap_or(blocks).max(1) as f64;
    if fraction.is_finite() && fraction > 0.0 { fraction.min(1.0) } else { 1.0 }
}

/// Returns the values of these metrics of a subject by block, for the blocks in which all are
/// known.
pub(super) fn by_block<const N: usize>(
    samples: &Samples,
    subject: usize,
    metrics: [usize; N],
) -> HashMap<u32, [f64; N]> {
    let own = samples.observations().filter(|o| o.subject == subject && o.pass.is_none());
    own.filter_map(|observation| {
        let values = metrics.map(|metric| observation.values[metric]);
        let block = observation.block?;
        values.iter().all(|value| value.is_finite()).then_some((block, values))
    })
    .collect()
}

/// Returns the values of these metrics of a subject by run number, for the runs in which all are
/// known.
fn by_order<const N: usize>(
    samples: &Samples,
    subject: usize,
    metrics: [usize; N],
) -> HashMap<u32, [f64; N]> {
    let own = samples.observations().filter(|o| o.subject == subject && o.pass.is_none());
    let values = own.map(|observation| metrics.map(|metric| observation.values[metric]));
    let numbered = (0_u32..).zip(values);
    numbered.filter(|(_, values)| values.iter().all(|value| value.is_finite())).collect()
}

/// Excludes the blocks whose total difference (the first number) is far from the median of all
/// blocks.
pub(super) fn without_far<const N: usize>(differences: Vec<[f64; N]>) -> Vec<[f64; N]> {
    let wholes: Vec<f64> = differences.iter().map(|own| own[0]).collect();
    let middle = descriptive::median(&wholes);
    let spread = descriptive::median_absolute_deviation(&wholes);
    if spread.is_nan() || spread <= 0.0 {
        return differences;
    }
    let reach = FARTHEST * descriptive::ROBUST_SD * spread;
    let is_near = |own: &[f64; N]| (own[0] - middle).abs() <= reach;
    differences.into_iter().filter(is_near).collect()
}
