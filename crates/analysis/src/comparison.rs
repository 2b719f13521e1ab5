//! Everything that is said about one metric of one subject against the reference.
//!
//! The verdict and its interval come from [`crate::paired`] or [`crate::unpaired`]; beside them stand the numbers an expert
//! asks for next: the same difference in the metric's unit, medians, means, the far quantile, how often it was better, what
//! the experiment could see and how long a clear answer would take.

use crate::dependence::{Dependence, Order};
use crate::design::looks::{self, End};
use crate::failing::Failing;
use crate::levels;
use crate::outlook::{self, Outlook};
use crate::paired::{self, Level, Paired};
use crate::policy;
use crate::recording::Recording;
use crate::unpaired;
use crate::verdict::{Decision, Scale, Verdict};
use assay_data::{Better, Design, Plan};
use assay_stats::quantile_difference::QuantileDifference;
use assay_stats::{Interval, descriptive, merged, signed_rank::SignedRankDistribution};

/// Ratios that differ by this share of themselves may be equal: what is left of rounding and logarithms.
const ROUNDING: f64 = 1e-9;

pub(crate) mod summaries;

/// The size of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Best estimate.
    pub estimate: f64,
    /// Its interval, at the comparison's level; `None` when there is none.
    pub interval: Option<Interval>,
}

/// How often a subject was better than the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wins {
    /// Occasions on which it was better: blocks, or pairs of one value from each recording.
    pub better: f64,
    /// Occasions on which it was worse.
    pub worse: f64,
    /// All of them, ties included.
    pub of: f64,
}

/// What of the samples was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// The values.
    #[default]
    Values,
    /// The means of the outermost units that the tool recorded (processes, builds), since values within one are not
    /// independent; the name of such a unit.
    Units(String),
    /// What a summary holds: no values survive.
    Summary,
}

/// Why a comparison has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInterval {
    /// There are too few values, units or blocks at this level; so many on each side could do.
    TooFew {
        /// The fewest on each side.
        needed: usize,
    },
    /// Successive values, or differences of blocks, are correlated too much.
    TooDependent,
    /// The samples are not one experiment.
    Mixed,
    /// A summary does not say how many values it was made from.
    NoCount,
    /// A summary says nothing of the spread, or that there was none.
    NoSpread,
}

/// One metric of one subject against the reference.
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
    /// What of them was compared.
    pub basis: Basis,
    /// Complete blocks; `None` when the samples were not taken in blocks.
    pub blocks: Option<usize>,
    /// Number of values (units, where those were compared) of reference and subject; 0 where a summary does not say.
    pub counts: (usize, usize),
    /// The verdict with its interval, on its scale.
    pub decision: Decision,
    /// Two-sided level of the interval.
    pub level: f64,
    /// By what the error was divided that is allowed for all comparisons.
    pub share: f64,
    /// Second / first; `None` when a value is zero or negative.
    pub ratio: Option<Effect>,
    /// Second − first, in the metric's base unit.
    pub shift: Effect,
    /// Medians of reference and subject, over what was compared.
    pub medians: (f64, f64),
    /// Means of reference and subject.
    pub means: (f64, f64),
    /// 99 % quantiles of reference and subject.
    pub p99: (f64, f64),
    /// Differences of quantiles, of the primary metric; empty where there are too few values.
    pub quantiles: Vec<QuantileDifference>,
    /// How often it was better.
    pub wins: Wins,
    /// Effective number of independent observations behind the interval (for recordings of the smaller side).
    pub effective: f64,
    /// What is known of the dependence of the differences of blocks, or of the values of the side that is worse off.
    pub dependence: Dependence,
    /// Whether there are too few differences, or values of a side, to test their dependence; what is noticed of the other side stands in
    /// `dependence` all the same.
    pub untested: bool,
    /// Rank autocorrelation of successive differences, or of the values of that side; NaN where there is none.
    pub lag1: f64,
    /// The side whose requests fail beyond those of the other, in a load test: then that decides, and not the values.
    pub failing: Option<Failing>,
    /// True when the run was resumed as another one, so that its blocks are not one experiment:
    /// there is no interval then.
    pub mixed: bool,
    /// How many of all values are distinct: few, if they come in steps.
    pub distinct: usize,
    /// Standard deviation between builds of one side, on the decision's scale: what placement alone does; `None` without several
    /// builds, or where too few blocks separate it from noise.
    pub layout: Option<f64>,
    /// The smallest true difference that would have been found in 80 % of such experiments; on the decision's scale.
    pub detectable: Option<f64>,
    /// How many more blocks it would likely take.
    pub outlook: Option<Outlook>,
    /// The fewest blocks at which there could be a verdict at this level.
    pub fewest_blocks: u32,
}

/// What is compared, and how strictly.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The plan: threshold, confidence, how it stopped.
    pub plan: &'a Plan,
    /// Index of the metric.
    pub metric: usize,
    /// Which direction is better.
    pub better: Better,
    /// Index of the reference.
    pub against: usize,
    /// Index of the subject.
    pub of: usize,
    /// By what the level is divided: the number of comparisons that share it, at least 1.
    pub share: f64,
    /// How measuring came to its end.
    pub end: End,
}

impl Comparison {
    /// Compares in blocks. O(n log n).
    pub fn in_blocks(
        question: Question<'_>,
        paired: &Paired,
        distribution: &mut SignedRankDistribution,
    ) -> Self {
        let plan = question.plan;
        let certain = paired.is_certain();
        // What is known is not wrong in any share of cases.
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
        // Over builds the end alone is looked at.
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
            // More blocks would not decide it: what builds differ by does not narrow with them.
            outlook: outlook.filter(|_| found.builds.is_none()),
            fewest_blocks: if certain { 2 } else { paired::fewest_blocks(level.interval) },
            ..of_values
        }
    }

    /// Compares recordings that were taken apart. O(n log n) typically.
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

    /// The same without a verdict and without whatever rests on an interval: what was measured is not one experiment. The
    /// estimates stay, as what was seen.
    pub(crate) fn withheld(mut self) -> Self {
        self.mixed = true;
        self.decision.interval = None;
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
        // Each side in its order, and ascending.
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
            decision,
        }
    }

    /// Rank autocorrelation of successive differences of blocks, where it is noticed.
    pub fn drifting(&self) -> Option<f64> {
        let noticed = self.blocks.is_some() && self.dependence == Dependence::Noticed;
        noticed.then_some(self.lag1)
    }

    /// True if neighbouring differences of blocks correlate by more than chance, even if there are too few to test: the sides do not move alike.
    pub fn wanders(&self) -> bool {
        let n = self.blocks.unwrap_or(0) as f64;
        self.blocks.is_some() && (self.lag1 + 1.0 / n) * n.sqrt() > policy::NOTICED_Z
    }

    /// Why there is no interval; `None` where there is one.
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

    /// Ratio of the medians, second / first; `None` when it has no meaning.
    pub fn ratio_of_medians(&self) -> Option<f64> {
        self.ratio?;
        Some(self.medians.1 / self.medians.0)
    }

    /// True when the ratio of the medians lies outside the interval, and farther from the estimate than half of what matters: the
    /// difference is not a plain shift. What rounding makes of equal ratios is none.
    pub fn changes_shape(&self) -> bool {
        let (Some(ratio), Some(medians)) = (self.ratio, self.ratio_of_medians()) else {
            return false;
        };
        let apart = match self.decision.scale {
            Scale::Ratio => (medians / ratio.estimate).ln().abs(),
            Scale::Shift => (medians - ratio.estimate).abs() * self.medians.0.abs(),
        };
        // A threshold of NaN is no yardstick: then whatever is more than rounding counts.
        let rounding = (medians / ratio.estimate - 1.0).abs() <= ROUNDING;
        let threshold = self.decision.threshold;
        let matters = !rounding && (threshold.is_nan() || apart > threshold / 2.0);
        matters && ratio.interval.is_some_and(|i| medians < i.lower || medians > i.upper)
    }
}

/// The levels of a comparison of so many blocks.
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
    let sorted = descriptive::sorted(in_order);
    if sorted.is_empty() {
        return Effect { estimate: f64::NAN, interval: None };
    }
    let (_, interval) = paired::interval_in_order(in_order, &sorted, level, distribution);
    Effect { estimate: assay_stats::signed_rank::pseudo_median(&sorted), interval }
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

/// Over all pairs of one value from each recording, both ascending, without forming them. O(n + m).
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
