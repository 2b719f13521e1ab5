//! The interval for blocks: signed ranks of the per-block differences.
//!
//! The method inverts Wilcoxon's signed-rank distribution through Walsh averages (Hollander, Wolfe
//! & Chicken, *Nonparametric Statistical Methods*, 3rd ed., ch. 3.3; R's
//! `wilcox.test(conf.int=TRUE, paired=TRUE)` on logarithms). It is valid however the noise behaves
//! over time, because the order within each block was drawn at random. If the noise itself changes
//! during the run, blocks from quiet periods are given more weight ([`WeightedDifferences`]). If
//! the difference drifts during the run, the interval also covers the t interval over eight
//! consecutive groups. Callers choose the levels.
//!
//! Ratios and shifts are tested for dependence separately. If the machine's speed changes during
//! the run, ratios stay constant while shifts follow the speed, so the deciding scale may have an
//! interval while the other has none. A verdict always has an interval on its own scale.

mod builds;

use crate::dependence::{Dependence, Order};
use crate::ticks::{Ticks, last_digit};
use crate::verdict::{Decision, Scale};
use assay_data::{Better, Metric, Threshold};
use assay_stats::{
    Interval,
    crossed::Crossed,
    descriptive, groups, merged,
    signed_rank::{self, SignedRankDistribution, WEIGHTED_FROM, WeightedDifferences},
};

/// Number of groups whose medians are used if the difference drifts.
const GROUPS: usize = 8;
/// Lower bound for the width of nearly every weighted interval, relative to the unweighted one.
const NARROWEST: f64 = 0.4;

/// The values of two subjects, block by block, prepared for a look after every block.
#[derive(Clone, Debug, Default)]
pub struct Paired {
    reference: Vec<f64>,
    other: Vec<f64>,
    log_ratios: Vec<f64>,
    sorted_log_ratios: Vec<f64>,
    not_positive: usize,
    counts: bool,
    /// True if the values are whole, so that their steps are not rounding.
    is_whole: bool,
    one_is_enough: bool,
    /// For each block, the builds of the reference and of the other subject; empty if each side has
    /// only one build.
    builds: Vec<(u32, u32)>,
}

/// Significance levels of the intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Two-sided level of the interval: 0.05 for 95 %, or less with repeated looks or several
    /// comparisons.
    pub interval: f64,
    /// Level of the intervals over groups and over builds, which are evaluated only once, at the
    /// end.
    pub groups: f64,
}

/// The center of a sequence of differences, with its interval and the serial dependence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// The pseudo-median; NaN if there are no differences.
    pub estimate: f64,
    /// Interval of the pseudo-median; `None` if there are too few differences, if their dependence
    /// is too strong, or if the groups have no interval.
    pub interval: Option<Interval>,
    /// Serial dependence of the differences.
    pub order: Order,
    /// Width relative to the unweighted interval, in 0..1, if differences from quiet periods were
    /// given more weight; otherwise `None`.
    pub weighted: Option<f64>,
}

/// A decision about blocks, with the dependence of the differences.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedDecision {
    /// The verdict with its interval.
    pub decision: Decision,
    /// Serial dependence of the differences; `None` for exact counts. If dependence is noticed, the
    /// interval also covers the group interval, and a run must not stop early. If it is too strong,
    /// there is no interval.
    pub order: Option<Order>,
    /// The effects of builds, if there are several per side; the interval is then over builds.
    pub builds: Option<Crossed>,
    /// Relative width of the weighted interval; see [`Location::weighted`].
    pub weighted: Option<f64>,
}

impl PairedDecision {
    /// Returns the dependence of the differences.
    pub fn dependence(&self) -> Dependence {
        self.order.map_or(Dependence::Unseen, Order::dependence)
    }
}

impl Paired {
    /// Creates an empty set of blocks for the values of a metric. For an [exact](Metric::exact)
    /// metric, two equal values on each side make the difference certain; if exactness is assumed,
    /// one value suffices.
    pub fn of_metric(metric: &Metric) -> Self {
        let one_is_enough = metric.assumed_exact;
        let is_whole = !metric.may_be_rounded();
        Self { counts: metric.exact, is_whole, one_is_enough, ..Self::default() }
    }

    /// Returns true if the values are exact counts that are equal in all runs of a side, so that
    /// the difference is certain. They may differ by a thousandth, since printing a program's own
    /// times takes more instructions for long numbers than for short ones. O(blocks).
    pub fn is_certain(&self) -> bool {
        self.counts
            && self.len() >= if self.one_is_enough { 1 } else { 2 }
            && is_nearly_constant(&self.reference)
            && is_nearly_constant(&self.other)
    }

    /// Returns the range of possible differences of certain counts: from the smallest count of the
    /// other side against the largest of the reference, to the largest against the smallest.
    fn known(&self, scale: Scale) -> Interval {
        let range = |side: &[f64]| {
            let least = side.iter().copied().fold(f64::INFINITY, f64::min);
            (least, side.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        };
        let (a, b) = (range(&self.reference), range(&self.other));
        match scale {
            Scale::Ratio => Interval { lower: (b.0 / a.1).ln(), upper: (b.1 / a.0).ln() },
            Scale::Shift => Interval { lower: b.0 - a.1, upper: b.1 - a.0 },
        }
    }

    /// Adds a block. O(blocks).
    pub fn push(&mut self, reference: f64, other: f64) {
        self.reference.push(reference);
        self.other.push(other);
        if reference > 0.0 && other > 0.0 {
            let d = (other / reference).ln();
            self.log_ratios.push(d);
            let at = self.sorted_log_ratios.partition_point(|&x| x < d);
            self.sorted_log_ratios.insert(at, d);
        } else {
            self.not_positive += 1;
        }
    }

    /// Returns the difference of certain counts on a scale, as the logarithm of a ratio or as an
    /// amount, with its minimum and maximum.
    pub fn certain_effect(&self, scale: Scale) -> (f64, Interval) {
        let differences = match scale {
            Scale::Ratio => self.sorted_log_ratios.clone(),
            Scale::Shift => descriptive::sorted(&self.shifts()),
        };
        (signed_rank::pseudo_median(&differences), self.known(scale))
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.reference.len()
    }

    /// Returns true if there are no blocks yet.
    pub fn is_empty(&self) -> bool {
        self.reference.is_empty()
    }

    /// Returns the reference's values, in block order.
    pub fn reference(&self) -> &[f64] {
        &self.reference
    }

    /// Returns the other subject's values, in block order.
    pub fn other(&self) -> &[f64] {
        &self.other
    }

    /// Returns the number of blocks with a value that is zero or negative.
    pub fn not_positive(&self) -> usize {
        self.not_positive
    }

    /// Returns the differences second − first, in block order.
    pub fn shifts(&self) -> Vec<f64> {
        self.reference.iter().zip(&self.other).map(|(a, b)| b - a).collect()
    }

    /// Returns the natural logarithms of second / first, in block order; `None` if a value is not
    /// positive.
    pub fn log_ratios(&self) -> Option<&[f64]> {
        (self.not_positive == 0).then_some(&self.log_ratios)
    }

    /// Returns the scale on which these blocks are judged.
    pub fn scale(&self, threshold: &Threshold) -> Scale {
        match threshold {
            Threshold::Relative(_) if self.not_positive == 0 => Scale::Ratio,
            _ => Scale::Shift,
        }
    }

    /// Checks cheaply whether a run could stop. Returns false only if the interval alone rules it
    /// out. O(blocks · log).
    pub fn may_be_settled(
        &self,
        threshold: &Threshold,
        level: f64,
        distribution: &mut SignedRankDistribution,
    ) -> bool {
        if self.scale(threshold) == Scale::Shift {
            return true;
        }
        if self.is_certain() || self.has_builds() {
            return true;
        }
        let threshold = self.threshold_on(Scale::Ratio, threshold);
        let sorted = &self.sorted_log_ratios;
        let narrowest = if self.len() < WEIGHTED_FROM { 1.0 } else { NARROWEST };
        let interval = interval_of(sorted, level, distribution).map(|own| {
            let rest = (1.0 - narrowest) * own.half_width();
            Interval { lower: own.lower + rest, upper: own.upper - rest }
        });
        // The clock's rounding never makes the interval narrower than this one, and weights rarely
        // do, so the check errs towards true.
        Decision::read(Scale::Ratio, 0.0, interval, threshold, 0.0, Better::Lower).is_settled()
    }

    /// Decides on the blocks so far. O(n log n).
    pub fn decide(
        &self,
        threshold: &Threshold,
        level: Level,
        better: Better,
        distribution: &mut SignedRankDistribution,
    ) -> PairedDecision {
        let scale = self.scale(threshold);
        let ticks = self.ticks();
        let in_order = self.differences(scale, ticks);
        if self.is_certain() {
            let threshold = self.threshold_on(scale, threshold);
            let estimate = signed_rank::pseudo_median(&descriptive::sorted(&in_order));
            let known = Some(self.known(scale));
            let decision = Decision::read(scale, estimate, known, threshold, 0.0, better);
            return PairedDecision { decision, order: None, builds: None, weighted: None };
        }
        let Location { mut estimate, mut interval, order, mut weighted } =
            location(&in_order, level, distribution);
        let builds = self.over_builds(&in_order);
        if let Some(builds) = &builds {
            estimate = builds.estimate;
            interval = builds::interval(builds, level, order.dependence(), interval);
            weighted = None;
        }
        interval = interval.map(|own| self.widened(scale, own, ticks));
        let decision = Decision::read(
            scale,
            estimate,
            interval,
            self.threshold_on(scale, threshold),
            clock_step(&self.reference, &self.other, scale),
            better,
        );
        PairedDecision { decision, order: Some(order), builds, weighted }
    }

    /// Returns the clock steps of the values; none if the values are whole.
    pub fn ticks(&self) -> Ticks {
        if self.is_whole {
            return Ticks::default();
        }
        Ticks::of_sorted(&descriptive::sorted(&self.reference), &descriptive::sorted(&self.other))
    }

    /// Returns the differences on a scale, in block order, with ties due to a coarse clock
    /// resolved.
    pub fn differences(&self, scale: Scale, ticks: Ticks) -> Vec<f64> {
        let spread = ticks.spread_pairs(&self.reference, &self.other);
        match (scale, spread) {
            (Scale::Ratio, None) => self.log_ratios.clone(),
            (Scale::Ratio, Some((a, b))) => a.iter().zip(&b).map(|(a, b)| (b / a).ln()).collect(),
            (Scale::Shift, None) => self.shifts(),
            (Scale::Shift, Some((a, b))) => a.iter().zip(&b).map(|(a, b)| b - a).collect(),
        }
    }

    /// Widens an interval on a scale by the rounding of the clock.
    pub fn widened(&self, scale: Scale, interval: Interval, ticks: Ticks) -> Interval {
        let centres = (descriptive::median(&self.reference), descriptive::median(&self.other));
        ticks.widen(scale, interval, centres)
    }

    fn threshold_on(&self, scale: Scale, threshold: &Threshold) -> f64 {
        threshold_on(scale, threshold, descriptive::median(&self.reference))
    }
}

/// Maximum relative difference between exact counts that are considered equal.
const NEARLY: f64 = 1e-3;

/// Returns true if all values are equal to within a thousandth.
pub(crate) fn is_nearly_constant(values: &[f64]) -> bool {
    let first = values.first().copied().unwrap_or(0.0);
    values.iter().all(|value| (value - first).abs() <= NEARLY / 2.0 * first.abs())
}

/// Returns the threshold on a scale: ln(1 + t) for ratios; for shifts, the amount, or t times the
/// absolute value of the reference's median (NaN if that is zero or there are no values).
pub fn threshold_on(scale: Scale, threshold: &Threshold, median: f64) -> f64 {
    match (scale, threshold) {
        (Scale::Ratio, Threshold::Relative(t)) => t.ln_1p(),
        (_, Threshold::Absolute { value, .. }) => *value,
        (Scale::Shift, Threshold::Relative(t)) => {
            // A fraction of zero is not a threshold.
            if median == 0.0 { f64::NAN } else { t * median.abs() }
        }
    }
}

/// Returns the step of the clock (or counter) behind these values: the smallest gap between
/// distinct values. For ratios, it is the logarithm of 1 plus the gap's share of the median. If all
/// values are equal, the step is one unit in the last decimal place of the value, as in `0.03`, or
/// 0 for a whole number, which may be an exact count. If each side is constant, the gap between the
/// two constants is the difference sought, so the step is one unit of their last decimal places.
/// O(n log n).
pub fn clock_step(first: &[f64], second: &[f64], scale: Scale) -> f64 {
    clock_step_of_sorted(&descriptive::sorted(first), &descriptive::sorted(second), scale)
}

/// Like [`clock_step`], for ascending values.
pub(crate) fn clock_step_of_sorted(first: &[f64], second: &[f64], scale: Scale) -> f64 {
    let Some(value) = merged::merge(first, second).next() else { return 0.0 };
    let gap = Ticks::between_constants(first, second)
        .or_else(|| merged::smallest_gap(first, second))
        .unwrap_or_else(|| last_digit(value));
    match scale {
        Scale::Shift => gap,
        Scale::Ratio => (gap / merged::median(&[first, second])).ln_1p(),
    }
}

/// Returns the interval of the pseudo-median of sorted differences at this level; `None` if there
/// are too few differences.
pub fn interval_of(
    sorted: &[f64],
    level: f64,
    distribution: &mut SignedRankDistribution,
) -> Option<Interval> {
    let critical = distribution.critical(sorted.len(), level)?;
    Some(signed_rank::walsh_interval(sorted, critical))
}

/// Returns the location of differences, given in their order of measurement.
///
/// The interval is that of [`interval_of`], or the weighted one if the noise changes during the run
/// and the weights make the interval narrower. If dependence is noticed, nothing is weighted, and
/// the interval also covers the t interval over the medians of eight consecutive groups. O(n log
/// n).
pub fn location(
    in_order: &[f64],
    level: Level,
    distribution: &mut SignedRankDistribution,
) -> Location {
    let order = Order::of(in_order);
    let sorted = descriptive::sorted(in_order);
    let estimate = if sorted.is_empty() { f64::NAN } else { signed_rank::pseudo_median(&sorted) };
    let own = interval_of(&sorted, level.interval, distribution);
    let plain = Location { estimate, interval: own, order, weighted: None };
    let Some(own) = own else { return plain };
    match order.dependence() {
        Dependence::Unseen | Dependence::Untested => {
            weighted(in_order, plain, own, level).unwrap_or(plain)
        }
        Dependence::Noticed => {
            let medians = groups::group_medians(in_order, GROUPS);
            let by_groups = groups::t_interval(&medians, 1.0 - level.groups);
            Location { interval: by_groups.map(|groups| own.covering(groups)), ..plain }
        }
        Dependence::TooStrong => Location { interval: None, ..plain },
    }
}

/// Returns the location with weighted differences; `None` if the noise is steady or if the weights
/// do not make the interval narrower.
fn weighted(in_order: &[f64], plain: Location, own: Interval, level: Level) -> Option<Location> {
    let differences = WeightedDifferences::by_neighbours(in_order, plain.estimate)?;
    let interval = differences.interval(1.0 - level.interval)?;
    let ratio = interval.half_width() / own.half_width();
    let estimate = differences.pseudo_median()?;
    let found = Location { estimate, interval: Some(interval), weighted: Some(ratio), ..plain };
    (ratio < 1.0).then_some(found)
}

/// Returns the minimum number of blocks for any verdict at this level: the smallest n with 2^(1−n)
/// ≤ level.
pub fn fewest_blocks(level: f64) -> u32 {
    (1.0 - level.log2() - 1e-9).ceil().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(interval: f64) -> Level {
        Level { interval, groups: 0.05 }
    }

    #[test]
    fn the_fewest_blocks_are_those_of_the_procedure() {
        assert_eq!(fewest_blocks(0.05), 6);
        assert_eq!(fewest_blocks(0.002), 10);
        assert_eq!(fewest_blocks(0.001), 11);
        assert_eq!([3.0, 5.0].map(|k| fewest_blocks(0.002 / k)), [12, 13]);
        assert_eq!([2.0, 3.0, 5.0].map(|k| fewest_blocks(0.05 / k)), [7, 7, 8]);
    }

    #[test]
    fn a_constant_factor_is_found_exactly() {
        let mut paired = Paired::default();
        for i in 0..10 {
            let a = 1.0 + f64::from(i) / 100.0;
            paired.push(a, 2.0 * a);
        }
        let mut distribution = SignedRankDistribution::default();
        let found = paired
            .decide(&Threshold::default(), level(0.002), Better::Lower, &mut distribution)
            .decision;
        assert!((found.estimate - 2f64.ln()).abs() < 1e-12);
        assert_eq!(found.verdict, crate::Verdict::Slower);
        assert!(!found.possibly_below_threshold);
    }

    #[test]
    fn equal_values_of_a_coarse_clock_are_not_called_equivalent() {
        let decide = |value: f64| {
            let mut paired = Paired::default();
            (0..20).for_each(|_| paired.push(value, value));
            let mut distribution = SignedRankDistribution::default();
            paired
                .decide(&Threshold::default(), level(0.05), Better::Lower, &mut distribution)
                .decision
        };
        // A time of 0.03 s may hide a difference of a third; seven allocations are exact.
        assert_eq!(decide(0.03).verdict, crate::Verdict::Inconclusive);
        assert_eq!(decide(7.0).verdict, crate::Verdict::Equivalent);
        // Zero on both sides is no difference, even though 1 % of zero is not a threshold.
        assert_eq!(decide(0.0).verdict, crate::Verdict::Equivalent);
    }

    #[test]
    fn the_gap_between_two_constants_is_not_a_step_of_the_clock() {
        // Whole numbers are known to within one.
        assert_eq!(clock_step(&[5.0; 9], &[7.0; 9], Scale::Shift), 1.0);
        assert_eq!(clock_step(&[5.0; 9], &[5.0; 9], Scale::Shift), 0.0);
        assert_eq!(clock_step(&[0.03; 9], &[0.5; 9], Scale::Shift), 0.01);
        // If one side varies, its gaps determine the step.
        assert_eq!(clock_step(&[5.0; 3], &[7.0, 7.5, 9.0], Scale::Shift), 0.5);
        let share = clock_step(&[4.0, 5.0, 5.0], &[5.0, 6.0], Scale::Ratio).exp_m1();
        assert!((share - 0.2).abs() < 1e-12, "{share}");
    }

    #[test]
    fn exact_counts_are_known_after_two_runs_unless_they_vary() {
        let metric = Metric::exact("allocations", assay_data::Unit::One);
        let mut distribution = SignedRankDistribution::default();
        let mut decide = |blocks: &[(f64, f64)]| {
            let mut paired = Paired::of_metric(&metric);
            blocks.iter().for_each(|&(a, b)| paired.push(a, b));
            paired
                .decide(&Threshold::default(), level(1e-6), Better::Lower, &mut distribution)
                .decision
        };
        let found = decide(&[(7.0, 2.0), (7.0, 2.0)]);
        assert_eq!(found.verdict, crate::Verdict::Faster);
        assert_eq!(
            found.interval.map(|i| (i.lower, i.upper)),
            Some((found.estimate, found.estimate))
        );
        assert_eq!(decide(&[(7.0, 0.0), (7.0, 0.0)]).verdict, crate::Verdict::Faster);
        assert_eq!(decide(&[(7.0, 7.0), (7.0, 7.0)]).verdict, crate::Verdict::Equivalent);
        for undecided in [&[(7.0, 2.0)][..], &[(7.0, 2.0), (7.0, 3.0)]] {
            assert_eq!(decide(undecided).verdict, crate::Verdict::Inconclusive, "{undecided:?}");
        }
    }

    #[test]
    fn five_blocks_never_decide() {
        let mut paired = Paired::default();
        (0..5).for_each(|_| paired.push(1.0, 9.0));
        let mut distribution = SignedRankDistribution::default();
        let found = paired
            .decide(&Threshold::default(), level(0.05), Better::Lower, &mut distribution)
            .decision;
        assert_eq!((found.verdict, found.interval), (crate::Verdict::Inconclusive, None));
    }

    #[test]
    fn values_that_are_zero_are_compared_by_shift() {
        let mut paired = Paired::default();
        for i in 0..12 {
            paired.push(f64::from(i % 2), f64::from(i % 2) + 3.0);
        }
        let mut distribution = SignedRankDistribution::default();
        let found = paired
            .decide(&Threshold::default(), level(0.05), Better::Lower, &mut distribution)
            .decision;
        assert_eq!(found.scale, Scale::Shift);
        assert_eq!(found.estimate, 3.0);
        assert_eq!(found.verdict, crate::Verdict::Slower);
    }

    #[test]
    fn a_difference_that_drifts_is_noticed_and_its_interval_is_wider() {
        let mut paired = Paired::default();
        let mut calm = Paired::default();
        let mut wave = Paired::default();
        for i in 0..200 {
            let at = |i: i32| 1.003 + 0.02 * (f64::from(i) * 0.6).sin();
            paired.push(1.0, at(i));
            // The same differences, shuffled.
            calm.push(1.0, at((i * 37) % 200));
            wave.push(1.0, 1.003 + 0.02 * (f64::from(i) / 30.0).sin());
        }
        let mut distribution = SignedRankDistribution::default();
        let mut decide = |p: &Paired| {
            p.decide(&Threshold::default(), level(0.05), Better::Lower, &mut distribution)
        };
        let (drifts, rests) = (decide(&paired), decide(&calm));
        assert_eq!(drifts.dependence(), Dependence::Noticed);
        assert_eq!(rests.dependence(), Dependence::Unseen);
        let width = |d: &PairedDecision| d.decision.interval.map(|i| i.half_width());
        assert!(width(&drifts) > width(&rests));
        // A single slow wave gives no verdict.
        let slow = decide(&wave);
        assert_eq!((slow.dependence(), width(&slow)), (Dependence::TooStrong, None));
    }
}
