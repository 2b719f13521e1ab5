//! The targets on which a version is slower or faster than its base, and the mean over all of them.
//!
//! A target's interval is that of its run. If several results share the error, the interval is
//! scaled to their level as a t interval with n − 1 degrees of freedom for n observations. At 95 %
//! it equals the recorded interval. Directions are adjusted by Holm's procedure over all benchmarks
//! on all targets of a version, as in a suite. In the mean over the targets, the standard error of
//! a result is the half width of its interval divided by the same quantile of t. Results that a run
//! withheld because of doubts are ignored.

use super::affected::{self, AffectedTargets};
use super::since::{self, Since};
use super::{Affected, Measured, Options, Project};
use crate::analysis::{Adjust, shared_out};
use crate::verdict::{Decision, Scale, Verdict};
use crate::{Interval, policy};
use assay_data::Better;
use assay_stats::meta_analysis::{Pooled, random_effects};
use assay_stats::student_t;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// Confidence of the recorded intervals.
const PRINTED: f64 = 0.95;

/// A benchmark of a version on one target.
#[derive(Clone, Debug, PartialEq)]
pub struct OnTarget {
    /// Index of the target.
    pub target: usize,
    /// Index of the base version; `None` if the base is older than all known versions.
    pub base: Option<usize>,
    /// The verdict at this target's level, with its interval, on the log scale.
    pub decision: Decision,
    /// The recorded 95 % interval of the ratio.
    pub printed: Interval,
    /// Number of observations per side.
    pub n: u64,
}

/// A benchmark pooled over the targets.
#[derive(Clone, Debug, PartialEq)]
pub struct PooledEffect {
    /// The verdict on the mean effect.
    pub decision: Decision,
    /// The mean effect, and the variation between targets.
    pub pooled: Pooled,
    /// True if targets differ by more than their errors, so that the mean applies to none of them.
    pub differ: bool,
}

/// A change in one direction that some targets share.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The affected targets, and the versions in which they became affected.
    pub on: Affected,
    /// The smallest and the largest ratio on these targets.
    pub ratios: (f64, f64),
    /// The recorded interval of the ratio; `None` if there are several targets.
    pub interval: Option<Interval>,
}

/// A benchmark of a version on all targets.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkOnTargets {
    /// Name of the benchmark.
    pub name: String,
    /// Name of the metric.
    pub metric: String,
    /// The direction in which the metric improves.
    pub better: Better,
    /// Results on the targets, in order of targets.
    pub on: Vec<OnTarget>,
    /// The pooled effect; `None` for fewer than two results, or if a result has an error of zero.
    pub pooled: Option<PooledEffect>,
    /// Targets on which the benchmark is worse by more than the threshold, grouped by the range of
    /// versions in which it changed.
    pub worse: Vec<Moved>,
    /// Targets on which the benchmark is better by more than the threshold, grouped in the same
    /// way.
    pub improved: Vec<Moved>,
    /// Targets on which the benchmark is worse, possibly by less than the threshold.
    pub possibly_worse: Vec<usize>,
}

/// Decisions on all measurements, indexed by version, and by target and version.
pub(super) struct Speeds {
    by_version: BTreeMap<usize, Vec<(usize, Decision)>>,
    places: BTreeMap<(usize, usize), Vec<usize>>,
    verdicts: Vec<Option<(Verdict, bool)>>,
    quantiles: Quantiles,
}

/// The effect on one target, on the log scale.
#[derive(Clone, Copy)]
struct Effect {
    estimate: f64,
    interval: Interval,
    df: f64,
}

impl Effect {
    /// Converts a measurement. `None` if it has no usable ratio or interval, has too few
    /// observations, or was withheld.
    fn of(measured: &Measured) -> Option<Self> {
        let Interval { lower, upper } = measured.interval;
        let (estimate, interval) =
            (measured.ratio.ln(), Interval { lower: lower.ln(), upper: upper.ln() });
        let is_real = measured.n >= 2
            && estimate.is_finite()
            && interval.is_bounded()
            && interval.lower <= estimate
            && estimate <= interval.upper;
        let has_direction = interval.lower > 0.0 || interval.upper < 0.0;
        let is_withheld = measured.verdict == Verdict::Inconclusive && has_direction;
        (is_real && !is_withheld).then_some(Self {
            estimate,
            interval,
            df: measured.n as f64 - 1.0,
        })
    }

    /// Returns the interval at another level.
    fn at(self, level: f64, quantiles: &Quantiles) -> Interval {
        let stretch = quantiles.of(1.0 - level, self.df) / quantiles.of(PRINTED, self.df);
        Interval {
            lower: self.estimate - (self.estimate - self.interval.lower) * stretch,
            upper: self.estimate + (self.interval.upper - self.estimate) * stretch,
        }
    }

    fn error(self, quantiles: &Quantiles) -> f64 {
        self.interval.half_width() / quantiles.of(PRINTED, self.df)
    }
}

/// Cache of t quantiles: a page has thousands of intervals, but few distinct sizes and levels.
#[derive(Default)]
struct Quantiles(RefCell<HashMap<[u64; 2], f64>>);

impl Quantiles {
    fn of(&self, confidence: f64, df: f64) -> f64 {
        let key = [confidence.to_bits(), df.to_bits()];
        let mut known = self.0.borrow_mut();
        *known.entry(key).or_insert_with(|| student_t::two_sided(confidence, df))
    }
}

fn threshold(options: &Options) -> f64 {
    options.threshold.ln_1p()
}

fn read(estimate: f64, interval: Option<Interval>, better: Better, options: &Options) -> Decision {
    Decision::read(Scale::Ratio, estimate, interval, threshold(options), 0.0, better)
}

/// Decides all measurements, separately for each version.
pub(super) fn decide(project: &Project, options: &Options) -> Speeds {
    let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut on_targets: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (place, measured) in project.measured.iter().enumerate() {
        places.entry(measured.version).or_default().push(place);
        on_targets.entry((measured.target, measured.version)).or_default().push(place);
    }
    let level = 1.0 - options.confidence;
    let quantiles = Quantiles::default();
    let mut verdicts = vec![None; project.measured.len()];
    let mut by_version = BTreeMap::new();
    for (version, places) in places {
        let of = |place: &usize| (&project.measured[*place], Effect::of(&project.measured[*place]));
        let members: Vec<(&Measured, Option<Effect>)> = places.iter().map(of).collect();
        let known: Vec<(&Measured, Effect)> =
            members.iter().filter_map(|&(measured, effect)| Some((measured, effect?))).collect();
        let decision = |(measured, effect): &(&Measured, Effect), share: f64| {
            read(
                effect.estimate,
                Some(effect.at(level / share, &quantiles)),
                measured.better,
                options,
            )
        };
        let shares = shared_out(known.len(), Adjust::Holm, |member, share| {
            decision(&known[member], share).verdict.is_directional()
        });
        let mut decided = known.iter().zip(shares).map(|(member, share)| decision(member, share));
        let all: Vec<(usize, Decision)> = places
            .iter()
            .zip(&members)
            .map(|(&place, (measured, effect))| {
                let decision = effect.and_then(|_| decided.next());
                let nothing = || read(measured.ratio.ln(), None, measured.better, options);
                (place, decision.unwrap_or_else(nothing))
            })
            .collect();
        for (place, decision) in &all {
            verdicts[*place] = Some((decision.verdict, decision.possibly_below_threshold));
        }
        by_version.insert(version, all);
    }
    Speeds { by_version, places: on_targets, verdicts, quantiles }
}

impl Speeds {
    /// Returns true if the benchmark moved in direction `way` in an earlier version, compared with
    /// the same base on the same target; `None` if this is unknown.
    fn earlier(
        &self,
        project: &Project,
        of: &Measured,
        version: usize,
        way: Verdict,
    ) -> Option<bool> {
        let places = self.places.get(&(of.target, version))?;
        let same = places.iter().copied().find(|&place| {
            let other = &project.measured[place];
            (other.base, &other.benchmark, &other.metric) == (of.base, &of.benchmark, &of.metric)
        })?;
        match self.verdicts[same]? {
            (verdict, _) if verdict == way => Some(true),
            (Verdict::Inconclusive, _) => None,
            _ => Some(false),
        }
    }
}

pub(super) fn judge(
    project: &Project,
    speeds: &Speeds,
    version: usize,
    options: &Options,
) -> Vec<BenchmarkOnTargets> {
    let mut by_name: BTreeMap<(&str, &str), Vec<&(usize, Decision)>> = BTreeMap::new();
    for decided in speeds.by_version.get(&version).into_iter().flatten() {
        let measured = &project.measured[decided.0];
        by_name.entry((&measured.benchmark, &measured.metric)).or_default().push(decided);
    }
    let pools: Vec<Option<Pooled>> =
        by_name.values().map(|members| pooled(project, speeds, members)).collect();
    let mut pools = decided_together(project, &by_name, pools, options).into_iter();
    let mut found: Vec<BenchmarkOnTargets> = by_name
        .into_iter()
        .map(|((name, metric), mut members)| {
            members.sort_by_key(|(place, _)| project.measured[*place].target);
            let better = project.measured[members[0].0].better;
            let (worse, improved, possibly_worse) = moved(project, speeds, version, &members);
            BenchmarkOnTargets {
                name: name.to_owned(),
                metric: metric.to_owned(),
                better,
                on: members.iter().map(|member| on_target(project, member)).collect(),
                pooled: pools.next().flatten(),
                worse,
                improved,
                possibly_worse,
            }
        })
        .collect();
    // Worst first, then improvements, then all others by name.
    found.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    found
}

/// Sort key: benchmarks with a larger rank are reported first.
fn rank(benchmark: &BenchmarkOnTargets) -> f64 {
    let largest = |moved: &[Moved]| {
        let size = |moved: &Moved| moved.ratios.0.ln().abs().max(moved.ratios.1.ln().abs());
        moved.iter().map(size).fold(0.0, f64::max)
    };
    if benchmark.worse.is_empty() {
        largest(&benchmark.improved)
    } else {
        1e6 + largest(&benchmark.worse)
    }
}

fn on_target(project: &Project, (place, decision): &(usize, Decision)) -> OnTarget {
    let measured = &project.measured[*place];
    OnTarget {
        target: measured.target,
        base: measured.base,
        decision: decision.clone(),
        printed: measured.interval,
        n: measured.n,
    }
}

fn pooled(project: &Project, speeds: &Speeds, members: &[&(usize, Decision)]) -> Option<Pooled> {
    let effects: Vec<Effect> =
        members.iter().filter_map(|(place, _)| Effect::of(&project.measured[*place])).collect();
    // Exactly reproducible values have an error of zero, for which no effect is pooled.
    let estimates: Vec<f64> = effects.iter().map(|effect| effect.estimate).collect();
    let errors: Vec<f64> = effects.iter().map(|effect| effect.error(&speeds.quantiles)).collect();
    random_effects(&estimates, &errors)
}

/// Decides the means of a version's benchmarks, and tests whether targets differ. The decisions
/// share the error, and so do the tests.
fn decided_together(
    project: &Project,
    by_name: &BTreeMap<(&str, &str), Vec<&(usize, Decision)>>,
    pools: Vec<Option<Pooled>>,
    options: &Options,
) -> Vec<Option<PooledEffect>> {
    let level = 1.0 - options.confidence;
    let betters = by_name.values().map(|members| project.measured[members[0].0].better);
    let betters: Vec<Better> = betters.collect();
    let known: Vec<(usize, Pooled)> =
        pools.iter().enumerate().filter_map(|(place, pooled)| Some((place, (*pooled)?))).collect();
    let decision = |(place, pooled): &(usize, Pooled), share: f64| {
        let interval = pooled.interval(1.0 - level / share);
        read(pooled.estimate, Some(interval), betters[*place], options)
    };
    let shares = shared_out(known.len(), Adjust::Holm, |member, share| {
        decision(&known[member], share).verdict.is_directional()
    });
    let differ: Vec<f64> = known.iter().map(|(_, pooled)| pooled.q_p).collect();
    let differ = assay_stats::adjust::holm(&differ);
    let mut found = vec![None; pools.len()];
    for ((member, share), differ) in known.iter().zip(shares).zip(differ) {
        found[member.0] = Some(PooledEffect {
            decision: decision(member, share),
            pooled: member.1,
            differ: differ < policy::MACHINES_DIFFER,
        });
    }
    found
}

type Directions = (Vec<Moved>, Vec<Moved>, Vec<usize>);

fn moved(
    project: &Project,
    speeds: &Speeds,
    version: usize,
    members: &[&(usize, Decision)],
) -> Directions {
    let surely = |way: Verdict| -> Vec<&(usize, Decision)> {
        let is_sure = |d: &Decision| d.verdict == way && !d.possibly_below_threshold;
        members.iter().copied().filter(|(_, decision)| is_sure(decision)).collect()
    };
    let possibly = members.iter().filter(|(_, decision)| {
        decision.verdict == Verdict::Slower && decision.possibly_below_threshold
    });
    let possibly = possibly.map(|(place, _)| project.measured[*place].target).collect();
    let groups = |way: Verdict| {
        let those = surely(way);
        let since = |(place, _): &&(usize, Decision)| {
            let measured = &project.measured[*place];
            let known = |earlier: usize| speeds.earlier(project, measured, earlier, way);
            (measured.target, Since::back_from(version, measured.base, known))
        };
        let each = those.iter().map(since).collect();
        let group = |(targets, since)| group(project, members, way, targets, since);
        since::grouped(each).into_iter().map(group).collect()
    };
    (groups(Verdict::Slower), groups(Verdict::Faster), possibly)
}

fn group(
    project: &Project,
    members: &[&(usize, Decision)],
    way: Verdict,
    targets: Vec<usize>,
    since: Since,
) -> Moved {
    // `others` excludes inconclusive targets, and those that moved in the same direction with
    // another version.
    let decided = members.iter().filter(|(_, decision)| decision.interval.is_some());
    let of = decided.clone().count();
    let other =
        |decision: &Decision| decision.verdict != way && decision.verdict != Verdict::Inconclusive;
    let others: Vec<usize> = decided
        .filter(|(_, decision)| other(decision))
        .map(|(place, _)| project.measured[*place].target)
        .collect();
    let place = if targets.len() == of {
        AffectedTargets::Everywhere
    } else if others.is_empty() {
        AffectedTargets::Unexplained
    } else {
        affected::of(&project.targets, &targets, &others)
    };
    let own: Vec<&Measured> = members
        .iter()
        .map(|(place, _)| &project.measured[*place])
        .filter(|measured| targets.contains(&measured.target))
        .collect();
    let ratios = own.iter().map(|measured| measured.ratio);
    let ratios = ratios.fold((f64::INFINITY, 0.0_f64), |(low, high), r| (low.min(r), high.max(r)));
    let interval = match own.as_slice() {
        [one] => Some(one.interval),
        _ => None,
    };
    Moved { on: Affected { targets, of, place, since }, ratios, interval }
}
