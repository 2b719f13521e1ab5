//! The comparison of one metric of one subject with the reference.
//!
//! The verdict and its interval come from [`crate::paired`] or [`crate::unpaired`]. They are
//! accompanied by the numbers that an expert wants next: the difference in the metric's unit,
//! medians, means, a high quantile, how often the subject was better, the smallest difference that
//! the experiment could detect, and how long a clear answer would take.

use crate::dependence::{Dependence, Order};
use crate::design::looks::{self, End};
use crate::levels;
use crate::outlook::{self, Outlook};
use crate::paired::{self, Level, Location, Paired};
use crate::policy;
use crate::recording::Recording;
use crate::unpaired;
use crate::verdict::{Decision, Scale, Verdict};
use assay_data::{Better, Design, Plan};
use assay_stats::quantile_difference::QuantileDifference;
use assay_stats::{Interval, descriptive, merged, signed_rank::SignedRankDistribution};

/// Maximum relative difference of two ratios that is attributed to rounding.
const ROUNDING: f64 = 1e-9;

pub(crate) mod summaries;

/// An estimate of a difference or ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The best estimate.
    pub estimate: f64,
    /// Interval for the difference or ratio at the comparison's level, if any.
    pub interval: Option<Interval>,
}

/// How often the subject was better than the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wins {
    /// Number of blocks, or of pairs of one value from each recording, in which the subject was
    /// better.
    pub better: f64,
    /// Number of blocks or pairs in which the subject was worse.
    pub worse: f64,
    /// Total number of blocks or pairs, including ties.
    pub of: f64,
}

/// The compared data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// The values.
    #[default]
    Values,
    /// The means of the outermost recorded units (processes, builds), because values within a unit
    /// are not independent. Contains the name of such a unit.
    Units(String),
    /// Summaries, because the values of a side are not available.
    Summary,
}

/// Reasons why a comparison has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInterval {
    /// There are too few values, units or blocks at this level.
    TooFew {
        /// Minimum number on each side that could suffice.
        needed: usize,
    },
    /// Successive values, or differences of blocks, are too strongly correlated.
    TooDependent,
    /// The samples are not from one experiment.
    Mixed,
    /// A summary does not give the number of values.
    NoCount,
    /// A summary gives no spread, or a spread of zero.
    NoSpread,
}

/// The comparison of one metric of one subject with the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Index of the metric.
    pub metric: usize,
    /// Index of the subject that the verdict is about.
    pub of: usize,
    /// Index of the reference.
    pub against: usize,
    /// How the samples were taken.
    pub design: Design,
    /// The compared data.
    pub basis: Basis,
    /// Number of complete blocks; `None` if the samples were not taken in blocks.
    pub blocks: Option<usize>,
    /// Number of values (or of compared units) of reference and subject; 0 if a summary does not
    /// give it.
    pub counts: (usize, usize),
    /// The verdict with its interval, on the scale of the decision.
    pub decision: Decision,
    /// Two-sided level of the interval.
    pub level: f64,
    /// Divisor of the error rate that all comparisons share.
    pub share: f64,
    /// Ratio of the subject to the reference; `None` if a value is zero or negative.
    pub ratio: Option<Effect>,
    /// Subject minus reference, in the metric's base unit.
    pub shift: Effect,
    /// Medians of reference and subject, over the compared data.
    pub medians: (f64, f64),
    /// Means of reference and subject.
    pub means: (f64, f64),
    /// 99 % quantiles of reference and subject.
    pub p99: (f64, f64),
    /// Differences between quantiles of the primary metric; empty if there are too few values.
    pub quantiles: Vec<QuantileDifference>,
    /// How often the subject was better.
    pub wins: Wins,
    /// Width of the interval relative to the unweighted one, in 0..1, if blocks from quiet periods
    /// were given more weight because the noise changed during the run.
    pub weighted: Option<f64>,
    /// Effective number of independent observations behind the interval. For recordings, it is that
    /// of the smaller side.
    pub effective: f64,
    /// Dependence of the differences of blocks, or of the values of the more dependent side.
    pub dependence: Dependence,
    /// True if there are too few differences, or values on one side, to test their dependence. Even
    /// then, `dependence` includes dependence noticed on the other side.
    pub untested: bool,
    /// Rank autocorrelation of successive differences, or of the values of the side on which it is
    /// larger; NaN if undefined.
    pub lag1: f64,
    /// For load tests, the side with more failing requests, if any. It decides instead of the
    /// values.
    pub failing: Option<Box<Failing>>,
    /// True if the run was resumed with a different setup, so that its blocks are not one
    /// experiment and there is no interval.
    pub mixed: bool,
    /// Number of distinct values on both sides together, which is small if values come in steps.
    pub distinct: usize,
    /// Standard deviation between builds of one side, on the decision's scale: the effect of code
    /// placement alone. `None` if there is only one build, or if too few blocks separate the effect
    /// from noise.
    pub layout: Option<f64>,
    /// The smallest true difference that 80 % of experiments like this one would find, on the
    /// decision's scale.
    pub detectable: Option<f64>,
    /// Estimated number of further blocks until there is a verdict, if known.
    pub outlook: Option<Outlook>,
    /// Minimum number of blocks for a verdict at this level; 0 without blocks.
    pub fewest_blocks: u32,
    /// The role among the negative controls of a suite.
    pub role: Role,
}

/// The role of a comparison among the negative controls of a suite: the rows whose code is the same
/// on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Role {
    /// The suite has too few controls to judge rows against them.
    #[default]
    Alone,
    /// The row is a control: its difference is not an effect of its code.
    Control,
    /// The row is judged against the controls, and its interval covers how far they moved.
    Judged {
        /// The range of the effect expected without a change, on the decision's scale, at the level
        /// of the comparison.
        range: Interval,
        /// True if the comparison would have a verdict without the controls.
        withholds: bool,
    },
}

/// What to compare, and at which level.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The plan, with threshold, confidence, and stopping rule.
    pub plan: &'a Plan,
    /// Index of the metric.
    pub metric: usize,
    /// The direction in which the metric improves.
    pub better: Better,
    /// Index of the reference.
    pub against: usize,
    /// Index of the subject.
    pub of: usize,
    /// Divisor of the level, at least 1: the share of one comparison is 1/`share`.
    pub share: f64,
    /// The reason why measuring ended.
    pub end: End,
}

impl Comparison {
    /// Compares samples taken in blocks. O(n log n).
    pub fn in_blocks(
        question: Question<'_>,
        paired: &Paired,
        distribution: &mut SignedRankDistribution,
    ) -> Self {
        let plan = question.plan;
        let certain = paired.is_certain();
        // A certain result has no error.
        let level = if certain {
            Level { interval: 0.0, groups: 0.0 }
        } else {
            level_of(question, paired.len())
        };
        let found = paired.decide(&plan.threshold, level, question.better, distribution);
        let shifts = paired.shifts();
        let ticks = paired.ticks();
        let mut effect = |scale: Scale| {
            if certain {
                let (estimate, interval) = paired.certain_effect(scale);
                return Effect { estimate, interval: Some(interval) };
            }
            if found.decision.scale == scale {
                let Decision { estimate, interval, .. } = found.decision;
                return Effect { estimate, interval };
            }
            let found = match paired.effect_over_builds(scale, level) {
                Some((estimate, interval)) => Effect { estimate, interval },
                None => effect_of_blocks(&paired.differences(scale, ticks), level, distribution),
            };
            let interval = found.interval.map(|own| paired.widened(scale, own, ticks));
            Effect { interval, ..found }
        };
        let shift = effect(Scale::Shift);
        let ratio = paired.log_ratios().filter(|logs| !logs.is_empty()).map(|_| {
            let Effect { estimate, interval } = effect(Scale::Ratio);
            exponentiated(estimate, interval)
        });
        let in_order = match (found.decision.scale, paired.log_ratios()) {
            (Scale::Ratio, Some(logs)) => logs,
            _ => &shifts,
        };
        let order = found.order.unwrap_or_else(|| Order::of(in_order));
        let (n, dependence) = (paired.len(), found.dependence());
        let wins = wins(question.better, shifts.iter().map(|d| d.partial_cmp(&0.0)));
        // With several builds, only the end of the run is evaluated.
        let shown = if found.builds.is_some() { level.groups } else { level.interval };
        let of_values = Self::of_values(
            question,
            found.decision,
            shown,
            wins,
            (paired.reference(), &descriptive::sorted(paired.reference())),
            (paired.other(), &descriptive::sorted(paired.other())),
        );
        let (basis, counts, layout) = match found.builds {
            Some(builds) => (Basis::Units(levels::BUILD.to_owned()), builds.units, builds.between),
            None => (Basis::Values, of_values.counts, None),
        };
        let outlook = outlook::outlook(
            &of_values.decision,
            n,
            (level.interval, plan.level() / question.share),
            plan,
        );
        Self {
            basis,
            counts,
            layout,
            weighted: found.weighted,
            blocks: Some(n),
            design: Design::Blocks,
            shift,
            ratio,
            effective: match order.dependence() {
                Dependence::Unseen | Dependence::Untested => order.effective_as_summed(),
                Dependence::Noticed | Dependence::TooStrong => order.effective(),
            },
            dependence,
            untested: dependence == Dependence::Untested,
            lag1: order.lag1,
            // More blocks would not reduce the variation between builds, so they would not lead to
            // a verdict.
            outlook: outlook.filter(|_| found.builds.is_none()),
            fewest_blocks: if certain { 2 } else { paired::fewest_blocks(level.interval) },
            ..of_values
        }
    }

    /// Compares separate recordings. Typically O(n log n).
    pub fn of_recordings(
        question: Question<'_>,
        reference: &Recording<'_>,
        other: &Recording<'_>,
    ) -> Self {
        let plan = question.plan;
        let level = (1.0 - plan.confidence) / question.share;
        let found = unpaired::decide(reference, other, &plan.threshold, level, question.better);
        let Decision { estimate, interval, .. } = found.decision;
        let (ratio, shift) = match found.decision.scale {
            Scale::Ratio => {
                let (of_shift, shift) = unpaired::shift_of(reference, other, level);
                let shift = Effect { estimate: shift, interval: of_shift };
                (Some(exponentiated(estimate, interval)), shift)
            }
            Scale::Shift => {
                let usable = |side: &Recording<'_>| side.is_positive() && !side.sorted.is_empty();
                let ratio = (usable(reference) && usable(other)).then(|| {
                    let (interval, estimate) = unpaired::ratio_of(reference, other, level);
                    exponentiated(estimate, interval)
                });
                (ratio, Effect { estimate, interval })
            }
        };
        let wins = wins_of_pairs(question.better, &reference.sorted, &other.sorted);
        Self {
            ratio,
            shift,
            effective: found.effective.0.min(found.effective.1),
            dependence: found.dependence,
            untested: found.untested,
            lag1: reference.lag1.max(other.lag1),
            fewest_blocks: 0,
            ..Self::of_values(
                question,
                found.decision,
                level,
                wins,
                (&reference.in_order, &reference.sorted),
                (&other.in_order, &other.sorted),
            )
        }
    }

    /// Removes the verdict and everything based on an interval, because the measurements are not
    /// one experiment. The estimates remain, as descriptions of the data.
    pub(crate) fn withheld(mut self) -> Self {
        self.mixed = true;
        self.decision.interval = None;
        self.weighted = None;
        self.decision.verdict = Verdict::Inconclusive;
        self.decision.possibly_below_threshold = false;
        self.shift.interval = None;
        self.ratio = self.ratio.map(|ratio| Effect { interval: None, ..ratio });
        (self.dependence, self.untested) = (Dependence::Unseen, false);
        (self.detectable, self.outlook) = (None, None);
        self.quantiles.clear();
        self
    }

    fn of_values(
        question: Question<'_>,
        decision: Decision,
        level: f64,
        wins: Wins,
        // Each side in its original order and in ascending order.
        (reference, reference_sorted): (&[f64], &[f64]),
        (other, other_sorted): (&[f64], &[f64]),
    ) -> Self {
        let both = |f: fn(&[f64]) -> f64| (f(reference_sorted), f(other_sorted));
        Self {
            metric: question.metric,
            of: question.of,
            against: question.against,
            design: Design::Unpaired,
            basis: Basis::Values,
            blocks: None,
            counts: (reference.len(), other.len()),
            level,
            share: question.share,
            ratio: None,
            shift: Effect { estimate: f64::NAN, interval: None },
            medians: both(descriptive::median_sorted),
            means: (descriptive::mean(reference), descriptive::mean(other)),
            p99: both(|sorted| descriptive::quantile_sorted(sorted, 0.99)),
            quantiles: Vec::new(),
            wins,
            weighted: None,
            effective: 0.0,
            dependence: Dependence::Unseen,
            untested: false,
            lag1: f64::NAN,
            failing: None,
            mixed: false,
            distinct: merged::distinct(reference_sorted, other_sorted),
            layout: None,
            detectable: outlook::detectable(&decision, level),
            outlook: None,
            fewest_blocks: 0,
            role: Role::Alone,
            decision,
        }
    }

    /// Returns the rank autocorrelation of successive differences between blocks, if it was
    /// noticed.
    pub fn drifting(&self) -> Option<f64> {
        let noticed = self.blocks.is_some() && self.dependence == Dependence::Noticed;
        noticed.then_some(self.lag1)
    }

    /// Returns true if successive differences between blocks correlate by more than chance, which
    /// means that the two sides do not drift together. The blocks may be too few for a test.
    pub fn wanders(&self) -> bool {
        let n = self.blocks.unwrap_or(0) as f64;
        self.blocks.is_some() && (self.lag1 + 1.0 / n) * n.sqrt() > policy::NOTICED_Z
    }

    /// Returns true if there is no verdict, but more data could give one. More data do not narrow
    /// the range of the controls, and do not give a control a direction.
    pub fn is_open(&self) -> bool {
        let by_controls = matches!(self.role, Role::Control | Role::Judged { withholds: true, .. });
        self.decision.verdict == Verdict::Inconclusive && !by_controls
    }

    /// Returns the reason for a missing interval; `None` if there is an interval.
    pub fn no_interval(&self) -> Option<NoInterval> {
        if self.decision.interval.is_some() {
            return None;
        }
        let (n, m) = self.counts;
        Some(match (&self.basis, self.blocks) {
            _ if self.mixed => NoInterval::Mixed,
            _ if self.dependence == Dependence::TooStrong => NoInterval::TooDependent,
            (Basis::Summary, _) if n == 0 || m == 0 => NoInterval::NoCount,
            (Basis::Summary, _) if n.min(m) < 2 => NoInterval::TooFew { needed: 2 },
            (Basis::Summary, _) => NoInterval::NoSpread,
            (Basis::Units(_), Some(_)) if n.min(m) < policy::FEWEST_BUILDS => {
                NoInterval::TooFew { needed: policy::FEWEST_BUILDS }
            }
            (_, Some(blocks)) if blocks >= self.fewest_blocks as usize => NoInterval::TooDependent,
            (_, Some(_)) => NoInterval::TooFew { needed: self.fewest_blocks as usize },
            (_, None) => {
                NoInterval::TooFew { needed: unpaired::fewest(self.level).max(n.min(m) + 1) }
            }
        })
    }

    /// Returns the ratio of the medians, subject / reference; `None` if there is no ratio.
    pub fn ratio_of_medians(&self) -> Option<f64> {
        self.ratio?;
        Some(self.medians.1 / self.medians.0)
    }

    /// Returns true if the difference is not a plain shift: the ratio of the medians is outside the
    /// interval, and farther from the estimate than half the threshold. Differences due to rounding
    /// do not count.
    pub fn changes_shape(&self) -> bool {
        let (Some(ratio), Some(medians)) = (self.ratio, self.ratio_of_medians()) else {
            return false;
        };
        let apart = match self.decision.scale {
            Scale::Ratio => (medians / ratio.estimate).ln().abs(),
            Scale::Shift => (medians - ratio.estimate).abs() * self.medians.0.abs(),
        };
        // With a NaN threshold, anything beyond rounding counts.
        let rounding = (medians / ratio.estimate - 1.0).abs() <= ROUNDING;
        let threshold = self.decision.threshold;
        let matters = !rounding && (threshold.is_nan() || apart > threshold / 2.0);
        matters && ratio.interval.is_some_and(|i| medians < i.lower || medians > i.upper)
    }

    /// Returns true if dividing the medians gives a different result from the estimate: the ratio
    /// of the medians is outside the interval as in [`Self::changes_shape`], or farther from the
    /// estimate than both the threshold and [`policy::MEDIANS_APART`] allow.
    pub fn medians_disagree(&self) -> bool {
        let (Some(ratio), Some(medians)) = (self.ratio, self.ratio_of_medians()) else {
            return false;
        };
        let room = policy::MEDIANS_APART * ratio.estimate.ln().abs();
        let apart = (medians / ratio.estimate).ln().abs();
        let is_far = self.decision.scale == Scale::Ratio
            && apart.is_finite()
            && apart > room.max(self.decision.threshold);
        self.decision.interval.is_some() && (is_far || self.changes_shape())
    }
}

/// Returns the levels for a comparison of `blocks` blocks.
pub(crate) fn level_of(question: Question<'_>, blocks: usize) -> Level {
    looks::level(question.plan, question.share, blocks, question.end)
}

fn exponentiated(estimate: f64, interval: Option<Interval>) -> Effect {
    let interval = interval.map(|i| Interval { lower: i.lower.exp(), upper: i.upper.exp() });
    Effect { estimate: estimate.exp(), interval }
}

pub(crate) fn effect_of_blocks(
    in_order: &[f64],
    level: Level,
    distribution: &mut SignedRankDistribution,
) -> Effect {
    let Location { estimate, interval, .. } = paired::location(in_order, level, distribution);
    Effect { estimate, interval }
}

fn wins(better: Better, comparisons: impl Iterator<Item = Option<std::cmp::Ordering>>) -> Wins {
    use std::cmp::Ordering::{Greater, Less};
    let (mut less, mut greater, mut of) = (0.0, 0.0, 0.0);
    for ordering in comparisons {
        of += 1.0;
        match ordering {
            Some(Less) => less += 1.0,
            Some(Greater) => greater += 1.0,
            _ => {}
        }
    }
    match better {
        Better::Lower => Wins { better: less, worse: greater, of },
        Better::Higher => Wins { better: greater, worse: less, of },
    }
}

/// Counts wins over all pairs of one value from each recording, both ascending, without forming the
/// pairs. O(n + m).
fn wins_of_pairs(better: Better, reference: &[f64], other: &[f64]) -> Wins {
    let (mut less, mut greater) = (0.0, 0.0);
    let (mut below, mut not_above) = (0, 0);
    for &value in other {
        below += reference[below..].iter().take_while(|v| **v < value).count();
        not_above = not_above.max(below);
        not_above += reference[not_above..].iter().take_while(|v| **v <= value).count();
        greater += below as f64;
        less += (reference.len() - not_above) as f64;
    }
    let of = reference.len() as f64 * other.len() as f64;
    match better {
        Better::Lower => Wins { better: less, worse: greater, of },
        Better::Higher => Wins { better: greater, worse: less, of },
    }
}

/// The side of a comparison that fails more requests than the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Failing {
    /// Index of the subject on this side.
    pub subject: usize,
    /// Number of the subject's requests that failed.
    pub failed: u64,
    /// Number of the subject's requests.
    pub requests: u64,
    /// Share of the other side's requests that failed.
    pub other_share: f64,
    /// Number of the first slice, starting at 1, from which on the server answered no requests;
    /// `None` if it still answers.
    pub stopped: Option<usize>,
    /// Number of slices of the subject.
    pub slices: usize,
    /// Total time between slices in which the idle server answered nothing, in seconds.
    pub silent_seconds: f64,
}

impl Failing {
    /// Returns the share of the subject's requests that failed.
    pub fn share(&self) -> f64 {
        self.failed as f64 / self.requests.max(1) as f64
    }
}
