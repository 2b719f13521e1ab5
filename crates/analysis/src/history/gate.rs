//! Judges whether a run is worse than normal, compared with the runs recorded before it and the
//! spread *between* them.
//!
//! The normal runs are the latest runs on the same machine since the last change of level. The mean
//! and standard deviation of the logarithms of their centers are computed after clipping values
//! beyond four robust deviations. A new run is evaluated twice: alone, and in a mean with the two
//! runs before it, which are then excluded from the normal runs. Each look is a t test of the new
//! mean against the normal runs (a prediction interval, Hahn and Meeker, "Statistical Intervals",
//! 1991), widened if successive runs are correlated, or if the new run has more internal noise than
//! the normal runs.
//!
//! A single bad run does not raise an alarm, since single runs stand out for many reasons. A run
//! that is worse alone is inconclusive until another run, or a fresh confirmation, decides. An
//! alarm requires two runs (Lucas and Crosier, "Fast initial response for CUSUM quality-control
//! schemes", 1982, require two in a row for the same reason): either two runs in a row are each
//! worse alone, or the mean of the last three is worse, even without the worst of them. The second
//! condition finds smaller changes. Alone, a run is compared with a t distribution of few degrees
//! of freedom, since single runs have heavy tails. Benchmarks share the error rate by Holm's
//! procedure. A single run as slow as some earlier run is normal, however rare such runs are; if
//! there are too few runs for the second look, it may also be a new level, and is inconclusive.
//! Only counts that never varied before raise an alarm immediately.
//!
//! A run that is not worse is normal only if a worsening that matters would have been found;
//! otherwise it is inconclusive.

mod confirmation;
mod notes;

pub use confirmation::{Confirmation, Fresh, Outcome};
pub use notes::{can_confirm, not_on_branch, unit_changed};

use super::runs_needed::Question;
use super::{Benchmark, Point, Revision, RunSummary, in_order, levels};
use crate::policy;
use assay_data::{Better, Finding, Metric};
use assay_stats::{adjust, descriptive, normal, student_t};
use notes::{changed, only_sameness, stands_alone, too_coarse};

/// Number of runs that are evaluated together, including the new one.
const TOGETHER: usize = 3;
/// Half width of a 95 % interval, in standard errors. The recorded intervals of runs are 95 %
/// intervals.
const HALF: f64 = 1.96;

/// Parameters of a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateSettings {
    /// Confidence of all verdicts together.
    pub confidence: f64,
    /// The smallest worsening that is reported, as a fraction.
    pub threshold: f64,
    /// The worsening that must be detectable for a run to be normal, as a fraction.
    pub detect: f64,
    /// Maximum number of recent runs that count as normal.
    pub window: usize,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self { confidence: 0.95, threshold: 0.01, detect: 0.05, window: 50 }
    }
}

/// One metric of one benchmark of a new run, and the runs before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// The metric.
    pub metric: Metric,
    /// Summary of the metric in the new run.
    pub now: RunSummary,
    /// The runs before the new one, in any order.
    pub before: Vec<Point>,
}

/// The result of comparing a run with the normal runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Within the normal range.
    Normal,
    /// Better than normal.
    Better,
    /// Unknown: a worsening that matters could not have been detected, or has not been confirmed
    /// yet.
    Inconclusive,
    /// Worse than normal.
    Worse,
}

impl Standing {
    /// Returns the word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Better => "better",
            Self::Inconclusive => "inconclusive",
            Self::Worse => "worse",
        }
    }
}

/// The result for one metric of one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// The metric.
    pub metric: Metric,
    /// Center of the metric in the new run.
    pub now: f64,
    /// The result of the comparison with the normal runs.
    pub standing: Standing,
    /// Number of normal runs.
    pub runs: usize,
    /// Geometric mean of the normal runs; `None` if there are none, or if a value is zero or
    /// negative.
    pub normal: Option<f64>,
    /// Range of values that would be called neither worse nor better, at this benchmark's share of
    /// the error.
    pub range: Option<(f64, f64)>,
    /// Ratio of the new run to the normal level. If the result depends on earlier runs, that of the
    /// second worst of the last runs for a worsening, or of their mean for an improvement.
    pub ratio: Option<f64>,
    /// Standard deviation between runs, as a fraction.
    pub spread: Option<f64>,
    /// The worsening, as a fraction, that is found within three runs with a power of 80 %.
    pub detectable: Option<f64>,
    /// Number of further runs needed to judge this run or to detect the requested worsening; `None`
    /// if none are needed, or if no number suffices.
    pub more_runs: Option<usize>,
    /// p-value of "not worse" from both looks, adjusted over all benchmarks.
    pub p: Option<f64>,
    /// True if the result depends on the runs before the new one.
    pub together: bool,
    /// True if this run alone is worse and no other run confirms this yet, so that the result is
    /// inconclusive.
    pub stands_out: bool,
    /// Revision of the last normal run that has one.
    pub last_normal: Option<Revision>,
    /// Result of a fresh run to confirm the alarm, if one was requested.
    pub confirmation: Option<Confirmation>,
}

/// The result for a whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The parameters that were used.
    pub asked: GateSettings,
    /// The results of the benchmarks, in the given order.
    pub judged: Vec<Judged>,
    /// Findings about the run.
    pub findings: Vec<Finding>,
}

impl Gate {
    /// Returns the most severe result: worse if any benchmark is, otherwise inconclusive if any is,
    /// otherwise normal. Inconclusive if there are no benchmarks.
    pub fn standing(&self) -> Standing {
        let worst = self.judged.iter().map(|judged| judged.standing).max();
        match worst {
            None => Standing::Inconclusive,
            Some(Standing::Better) => Standing::Normal,
            Some(worst) => worst,
        }
    }

    /// Returns the label of a benchmark in findings, which includes the metric if several metrics
    /// are judged.
    pub fn label(&self, judged: &Judged) -> String {
        let several = self.judged.iter().any(|other| other.metric.name != judged.metric.name);
        named(&judged.benchmark, &judged.metric, several)
    }
}

fn named(benchmark: &Benchmark, metric: &Metric, several: bool) -> String {
    let label = benchmark.label();
    if several { format!("{label} ({})", metric.name) } else { label }
}

/// Judges all benchmarks of a run. O(benchmarks · window · log window) per change of level in the
/// window.
pub fn gate(candidates: Vec<Candidate>, asked: GateSettings) -> Gate {
    let known: Vec<BenchmarkStatistics> = candidates
        .iter()
        .map(|own| BenchmarkStatistics::of(own, asked, candidates.len()))
        .collect();
    let all =
        |p: fn(&BenchmarkStatistics) -> f64| adjust::holm(&known.iter().map(p).collect::<Vec<_>>());
    let worse = all(BenchmarkStatistics::p_worse);
    let better = all(BenchmarkStatistics::p_better);
    let alone = all(|known| (known.worse[0] / policy::GATE_ALONE).min(1.0));
    let mut findings = Vec::new();
    let number = candidates.len();
    let several = candidates.windows(2).any(|pair| pair[0].metric.name != pair[1].metric.name);
    let judged = candidates.into_iter().zip(known).enumerate().map(|(i, (candidate, known))| {
        let label = named(&candidate.benchmark, &candidate.metric, several);
        let p = Adjusted { worse: worse[i], better: better[i], alone: alone[i] };
        known.judge(candidate, &label, asked, number, p, &mut findings)
    });
    let judged = judged.collect();
    Gate { asked, judged, findings }
}

/// p-values of one benchmark, adjusted over all benchmarks.
struct Adjusted {
    worse: f64,
    better: f64,
    /// p-value of "not worse" from this run alone.
    alone: f64,
}

/// Statistics of one benchmark before the error is shared. Values are logarithms with a sign such
/// that higher is worse.
#[derive(Clone, Debug, Default)]
struct BenchmarkStatistics {
    runs: usize,
    mean: f64,
    spread: f64,
    /// Autocorrelation time of the runs.
    tau: f64,
    /// Squared standard error of the new run's center in excess of that of the normal runs.
    extra: f64,
    now: f64,
    /// Mean of the new run and the runs evaluated with it.
    last: Option<f64>,
    /// The second worst of the runs in `last`: the median of three, or the lower of two.
    typical: f64,
    /// Number of runs in `last`.
    together: usize,
    /// True if the last runs are worse even without the worst of them.
    is_confirmed: bool,
    /// p-values of "not worse", alone and together.
    worse: [f64; 2],
    /// p-value of "this run or the one before it is not worse": the larger of the p-values of these
    /// two runs alone.
    in_a_row: f64,
    /// p-values of "not better", alone and together.
    better: [f64; 2],
    /// p-value of the run alone if some earlier run was at least as bad and there is no second
    /// look.
    seen_before: Option<f64>,
    /// Ratio of the normal level to the previous level, if the normal runs begin at a change.
    changed: Option<f64>,
    /// Revision of the last normal run that has one.
    last_normal: Option<Revision>,
    /// True if all values are positive, so that logarithms can be taken.
    is_positive: bool,
}

impl BenchmarkStatistics {
    fn of(candidate: &Candidate, asked: GateSettings, benchmarks: usize) -> Self {
        let sign = if candidate.metric.better == Better::Lower { 1.0 } else { -1.0 };
        let mut points = candidate.before.clone();
        in_order(&mut points);
        let nothing = Self { worse: [1.0; 2], better: [1.0; 2], in_a_row: 1.0, ..Self::default() };
        let of = |summary: &RunSummary| sign * summary.centre.ln();
        let is_positive =
            candidate.now.centre > 0.0 && points.iter().all(|point| point.result.centre > 0.0);
        if !is_positive {
            return Self { runs: points.len(), ..nothing };
        }
        // If there are few runs, few or none are left for the second look.
        let spare = match points.len() {
            runs if runs > policy::FEWEST_RUNS + TOGETHER => TOGETHER - 1,
            runs => usize::from(runs > policy::FEWEST_RUNS),
        };
        let (before, last) = points.split_at(points.len() - spare);
        let before = &before[before.len().saturating_sub(asked.window)..];
        let centres: Vec<f64> = before.iter().map(|point| point.result.centre).collect();
        let (begin, changed) = since(&centres);
        let before = &before[begin..];
        let values: Vec<f64> = before.iter().map(|point| of(&point.result)).collect();
        let now = of(&candidate.now);
        let runs = values.len();
        let last_normal = before.iter().rev().find_map(|point| point.revision.clone());
        if runs < policy::FEWEST_RUNS {
            return Self {
                runs,
                now,
                is_positive: true,
                mean: descriptive::mean(&values),
                last_normal,
                ..nothing
            };
        }
        let brought_in = descriptive::clipped(&values, policy::GATE_REACH);
        let mean = descriptive::mean(&brought_in);
        let resolution = resolution(&values, now);
        let spread = descriptive::standard_deviation(&brought_in).max(resolution);
        let error = |summary: &RunSummary| {
            let interval = summary.interval.filter(|i| i.lower > 0.0)?;
            Some(((interval.upper.ln() - interval.lower.ln()) / (2.0 * HALF)).powi(2))
        };
        let errors: Vec<f64> = before.iter().filter_map(|point| error(&point.result)).collect();
        let usual = if errors.is_empty() { 0.0 } else { descriptive::median(&errors) };
        let extra = error(&candidate.now).map_or(0.0, |own| (own - usual).max(0.0));
        let mut known = Self {
            runs,
            mean,
            spread,
            tau: levels::dependence(&values),
            extra,
            now,
            changed,
            last_normal,
            is_positive: true,
            ..nothing
        };
        let together = (spare > 0).then(|| {
            let level = level_together(asked, benchmarks);
            let needed = -student_t::quantile(level, runs as f64 - 1.0) * known.scale(spare + 1);
            let reach = match spread > 0.0 {
                true => (policy::GATE_REACH_OF_LAST * spread).max(1.5 * needed),
                false => f64::INFINITY,
            };
            let last: Vec<f64> = last.iter().map(|point| of(&point.result)).chain([now]).collect();
            let brought_in: Vec<f64> =
                last.iter().map(|v| v.clamp(mean - reach, mean + reach)).collect();
            let sorted = descriptive::sorted(&last);
            known.typical = sorted[(sorted.len() - 1) / 2];
            (descriptive::mean(&brought_in), descriptive::mean(&sorted[..sorted.len() - 1]))
        });
        known.together = spare + 1;
        known.last = together.map(|(mean, _)| mean);
        let robust = descriptive::ROBUST_SD * descriptive::median_absolute_deviation(&values);
        // The robust deviation of few runs is uncertain, and it is 0 if most runs are equal.
        let usual = if runs < policy::GATE_RUNS || robust == 0.0 { spread } else { robust };
        let (centre, least) = (descriptive::median(&values), asked.threshold.ln_1p());
        known.is_confirmed = together.is_some_and(|(_, rest)| {
            let beyond = |limit: f64, by: f64| rest - centre > limit && now - centre > by;
            beyond(least.max(policy::GATE_CONFIRMED * usual), 0.5 * policy::GATE_CONFIRMED * usual)
        });
        let together = known.last;
        let p = |value: f64, runs: usize| {
            let scale = known.scale(runs);
            let t = (value - mean) / scale;
            let df = known.df(runs);
            match scale > 0.0 {
                true => [student_t::cdf(-t, df), student_t::cdf(t, df)],
                // If counts never varied, any other number is certainly different.
                false => [f64::from(value <= mean), f64::from(value >= mean)],
            }
        };
        let alone = p(now, 1);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let worse_alone = |value: f64| if value > highest { p(value, 1)[0] } else { 1.0 };
        let run_before = last.last().map_or(1.0, |point| worse_alone(of(&point.result)));
        let last = together.map_or([1.0; 2], |mean| p(mean, known.together));
        known.worse = [worse_alone(now), last[0]];
        known.in_a_row = known.worse[0].max(run_before);
        known.better = [if now < lowest { alone[1] } else { 1.0 }, last[1]];
        known.seen_before = (together.is_none() && now <= highest).then_some(alone[0]);
        known
    }

    /// Returns the p-value of "not worse" for an alarm, relative to the whole error: from two runs
    /// in a row that are worse alone, or from the last runs together if they are worse even without
    /// the worst of them. If runs never varied, this run alone suffices.
    fn p_worse(&self) -> f64 {
        if self.runs >= policy::FEWEST_RUNS && self.spread == 0.0 && self.is_positive {
            return self.worse[0].min(self.worse[1]);
        }
        let together = match self.is_confirmed {
            true => self.worse[1] / policy::GATE_TOGETHER,
            false => 1.0,
        };
        together.min(self.in_a_row / policy::GATE_ALONE).min(1.0)
    }

    /// Returns the p-value of "not better" from the looks at the new run alone and at the last runs
    /// together.
    fn p_better(&self) -> f64 {
        let weights = [policy::GATE_ALONE, 1.0 - policy::GATE_ALONE];
        (self.better[0] / weights[0]).min(self.better[1] / weights[1]).min(1.0)
    }

    /// Returns the degrees of freedom of a look at `new` new runs.
    fn df(&self, new: usize) -> f64 {
        let known = self.runs as f64 - 1.0;
        if new == 1 { known.min(policy::GATE_DF_ALONE) } else { known }
    }

    /// Returns the standard error of the mean of `runs` new runs relative to the normal mean.
    fn scale(&self, runs: usize) -> f64 {
        self.scale_with(runs, self.runs)
    }

    fn scale_with(&self, new: usize, normal: usize) -> f64 {
        let (new, normal) = (new as f64, normal as f64);
        let between = (self.tau / new).min(1.0) + self.tau / normal;
        (self.spread * self.spread * between + self.extra / (new * new)).sqrt()
    }

    /// Returns the worsening that is found within three runs with a power of 80 %, given `runs`
    /// normal runs and `benchmarks` benchmarks that share the error.
    fn detectable(&self, asked: GateSettings, benchmarks: usize, runs: usize) -> f64 {
        let level = level_together(asked, benchmarks);
        let critical = -student_t::quantile(level, runs as f64 - 1.0);
        let needed = critical + normal::quantile(policy::GATE_POWER);
        let together = needed * self.scale_with(TOGETHER, runs);
        // The three runs must be worse even without the worst of them.
        together.max(policy::GATE_CONFIRMED_POWER * self.spread).exp() - 1.0
    }

    fn judge(
        self,
        candidate: Candidate,
        label: &str,
        asked: GateSettings,
        benchmarks: usize,
        Adjusted { worse, better, alone }: Adjusted,
        findings: &mut Vec<Finding>,
    ) -> Judged {
        let Candidate { benchmark, metric, now, before } = candidate;
        let sign = if metric.better == Better::Lower { 1.0 } else { -1.0 };
        let nothing = Judged {
            benchmark,
            metric,
            now: now.centre,
            standing: Standing::Inconclusive,
            runs: self.runs,
            normal: None,
            range: None,
            ratio: None,
            spread: None,
            detectable: None,
            more_runs: None,
            p: None,
            together: false,
            stands_out: false,
            last_normal: None,
            confirmation: None,
        };
        if !self.is_positive {
            // Zero or negative values can only be tested for equality.
            let same = !before.is_empty() && before.iter().all(|p| p.result.centre == now.centre);
            let standing = if same { Standing::Normal } else { Standing::Inconclusive };
            findings.extend((!same).then(|| only_sameness(label)));
            return Judged { standing, ..nothing };
        }
        let ratio_of = |log: f64| (sign * (log - self.mean)).exp();
        let normal = (self.runs > 0).then(|| (sign * self.mean).exp());
        if let Some(more) = Question::Judge.more(self.runs) {
            findings.extend(Question::Judge.finding(label, self.runs));
            let ratio = normal.map(|normal| now.centre / normal);
            let last_normal = self.last_normal;
            return Judged { normal, ratio, more_runs: Some(more), last_normal, ..nothing };
        }
        let error = 1.0 - asked.confidence;
        let least = asked.threshold.ln_1p();
        let shifts = [Some(self.now - self.mean), self.last.map(|last| last - self.mean)];
        let beyond = |direction: f64| {
            shifts.iter().map(|s| s.is_some_and(|s| direction * s > least)).collect::<Vec<_>>()
        };
        let (is_worse, is_better) = (beyond(1.0), beyond(-1.0));
        let has_worse = worse <= error && is_worse.contains(&true);
        let has_better = better <= error && is_better.contains(&true);
        let detectable = self.detectable(asked, benchmarks, self.runs);
        let is_new_level = self
            .seen_before
            .is_some_and(|p| is_worse[0] && p * benchmarks as f64 / policy::GATE_ALONE <= error);
        let stands_out = !has_worse && alone <= error && is_worse[0];
        let is_detectable = detectable <= asked.detect && !is_new_level;
        let standing = match (has_worse, has_better) {
            (true, _) => Standing::Worse,
            (_, true) => Standing::Better,
            _ if stands_out => Standing::Inconclusive,
            _ if is_detectable => Standing::Normal,
            _ => Standing::Inconclusive,
        };
        let enough = |runs: &usize| self.detectable(asked, benchmarks, *runs) <= asked.detect;
        let more = (self.runs + 1..=asked.window).find(enough).map(|runs| runs - self.runs);
        let more = if is_new_level { policy::GATE_RUNS.checked_sub(self.runs) } else { more };
        let more_runs = if stands_out { Some(1) } else { more.filter(|_| !is_detectable) };
        if stands_out {
            findings.push(stands_alone(label, ratio_of(self.now), self.runs));
        } else if standing == Standing::Inconclusive && more_runs.is_none() {
            let best = self.detectable(asked, benchmarks, asked.window.max(self.runs));
            findings.push(too_coarse(label, self.spread, best));
        }
        if let Some(change) = self.changed {
            findings.push(changed(label, change, self.runs));
        }
        // True if the result depends on the earlier runs.
        let together = match (has_worse, has_better) {
            (true, _) => self.is_confirmed || self.in_a_row < 1.0,
            (_, true) => {
                self.better[1] / (1.0 - policy::GATE_ALONE) < self.better[0] / policy::GATE_ALONE
            }
            _ => false,
        };
        let told = match (together, has_worse) {
            (true, true) => self.typical,
            (true, false) => self.last.unwrap_or(self.now),
            _ => self.now,
        };
        let level = error * policy::GATE_ALONE / benchmarks as f64;
        let half = -student_t::quantile(level, self.df(1)) * self.scale(1);
        let mut ends = [self.mean - half, self.mean + half].map(|end| (sign * end).exp());
        ends.sort_by(f64::total_cmp);
        Judged {
            standing,
            normal,
            range: Some((ends[0], ends[1])),
            ratio: Some(ratio_of(told)),
            spread: Some(self.spread),
            detectable: Some(detectable),
            more_runs,
            p: Some(worse),
            together,
            stands_out,
            last_normal: self.last_normal,
            ..nothing
        }
    }
}

/// Returns the level of the look at the last runs together, for each of `benchmarks` benchmarks.
fn level_together(asked: GateSettings, benchmarks: usize) -> f64 {
    ((1.0 - asked.confidence) * policy::GATE_TOGETHER / benchmarks as f64).min(0.5)
}

/// Returns the index at which the last level starts, and the ratio of that level to the one before.
fn since(centres: &[f64]) -> (usize, Option<f64>) {
    let (edges, _) = levels::edges(centres, policy::GATE_CHANGED);
    let &[.., before, begin, end] = edges.as_slice() else { return (0, None) };
    let level = |from: usize, to: usize| descriptive::median(&centres[from..to]);
    (begin, Some(level(begin, end) / level(before, begin)))
}

/// Returns the standard deviation caused by rounding alone if values come in steps, otherwise 0.
fn resolution(values: &[f64], now: f64) -> f64 {
    let mut all = values.to_vec();
    all.push(now);
    let sorted = descriptive::sorted(&all);
    let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let is_stepped = (distinct as f64) < policy::STEPPED_BELOW * sorted.len() as f64;
    let step = descriptive::smallest_gap(&sorted).filter(|_| is_stepped && distinct > 2);
    step.map_or(0.0, |step| step / 12.0_f64.sqrt())
}

#[cfg(test)]
mod tests;
