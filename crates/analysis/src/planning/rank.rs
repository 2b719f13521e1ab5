//! Requirements of the rank tests, from the 15 % rule and from the pilot's distribution.
//!
//! With a pilot, the number of runs comes from the normal approximation of the statistic under the
//! pilot's distribution and its shifted copy. If affordable, it is checked by experiments drawn
//! from that distribution. All tried sizes share their random numbers, so the number at which the
//! power is reached can be interpolated.
//!
//! With few runs, the exact test can have only certain levels, so its actual level is mostly less
//! than the requested significance. The rule then uses the actual level, since it would promise too
//! much otherwise. If the pilot's values are correlated, all numbers refer to effective runs and
//! are finally multiplied by the number of runs per effective run.

use super::pilot::Series;
use super::{PlanQuestion, RANK_OVERHEAD, rounded_up};
use crate::policy::SMALL_PILOT;
use assay_stats::normal;
use assay_stats::power_t::{Kind, Quantities, Sides, Unknown};
use assay_stats::rank_power::{RankTest, ShiftedPilot, exact_levels};

/// Maximum cost of a simulation, in steps of about two nanoseconds.
const BUDGET: f64 = 3e8;
/// Maximum relative rounding error of a p-value.
const LEVEL_SLACK: f64 = 1e-9;
/// Number of factors of one half whose product underflows, so that more factors change nothing.
const MOST_FACTORS: u64 = 1100;
const MOST_EXPERIMENTS: f64 = 4000.0;
/// Minimum number of experiments for a simulation to be informative.
const FEWEST_EXPERIMENTS: f64 = 200.0;
/// If the formula gives fewer runs than this, all nearby sizes are tried; otherwise only certain
/// multiples of the formula's number.
const ALL_SIZES_BELOW: f64 = 40.0;
const SHARES: [f64; 9] = [0.6, 0.75, 0.85, 0.93, 1.0, 1.07, 1.17, 1.3, 1.6];

/// The rank test's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RankPlan {
    /// The t test's answer under the 15 % rule: 1.15 times n or, if n is known, the result for
    /// n/1.15 runs. For few runs, it is at the actual level of the exact test, and it accounts for
    /// dependence. A power of 0, or a NaN, means that this number of runs can never reject.
    pub rule: Quantities,
    /// Runs per side to take, rounded up; the given number if n is known.
    pub n: u64,
    /// The basis of `n`.
    pub founded_on: Founded,
    /// The multiple to which `n` was rounded up.
    pub rounded_to: u64,
    /// Minimum number of effective runs with which the exact rank test can reject at all at this
    /// significance.
    pub fewest_n: u64,
    /// Number of runs per effective run; 1 without a pilot, or if its dependence does not matter.
    pub runs_per_independent: f64,
    /// Results for the pilot's distribution; `None` if there is no pilot.
    pub distribution: Option<Distribution>,
}

/// The basis of a planned number of runs. The best available one is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Founded {
    /// The 15 % rule, or a given number.
    Rule,
    /// The normal approximation of the rank statistic under the pilot's own distribution. Used if
    /// there are too many runs to simulate.
    Formula,
    /// Simulated experiments with the pilot's own values.
    Simulation,
}

/// Results for the pilot's distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Probability that a value of the other side exceeds a value of the reference, at the
    /// requested difference.
    pub superiority: f64,
    /// Runs per side according to the formula, or the given number; `None` if no number is enough.
    pub formula_n: Option<f64>,
    /// Power of the planned number of runs according to the formula.
    pub formula_power: f64,
    /// The difference that the planned runs find with the requested power; `None` unless it is the
    /// unknown quantity.
    pub formula_delta: Option<f64>,
    /// Results of the simulated experiments, or the reason why there are none.
    pub simulated: Result<Simulated, String>,
}

/// The results of simulated experiments.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Runs per side at which the power is reached; `None` if n is not the unknown quantity or is
    /// outside the sizes tried.
    pub n: Option<f64>,
    /// Standard error of `n` due to the number of experiments.
    pub n_error: Option<f64>,
    /// Power of the planned number of runs.
    pub power: f64,
    /// Standard error of `power`.
    pub power_error: f64,
    /// Number of experiments.
    pub experiments: u64,
}

/// Returns the rank test for a question.
pub fn test_of(asked: &PlanQuestion, sig_level: f64) -> RankTest {
    RankTest { sides: asked.test().sides, sig_level }
}

/// Returns the smallest p-value that the exact rank test can give for n runs per side: 1/C(2n, n)
/// if all values of one side are beyond all of the other or, for pairs, 2^-n if all differences
/// have one direction. It is doubled for two-sided tests, and at most 1. O(n).
fn smallest_p(asked: &PlanQuestion, n: u64) -> f64 {
    let sides = if asked.test().sides == Sides::One { 1.0 } else { 2.0 };
    let one = |k: u64| match asked.kind {
        Kind::TwoSample => k as f64 / (4.0 * k as f64 - 2.0),
        Kind::OneSample | Kind::Paired => 0.5,
    };
    // With more factors of at most one half, the product underflows.
    let orders: f64 = (1..=n.min(MOST_FACTORS)).map(one).product();
    (sides * orders).min(1.0)
}

/// Returns the minimum number of runs per side, at least two, with which the exact rank test can
/// reject at the significance. O(1).
pub fn fewest(asked: &PlanQuestion, sig_level: f64) -> u64 {
    (2..MOST_FACTORS).find(|&n| smallest_p(asked, n) <= sig_level).unwrap_or(MOST_FACTORS)
}

/// Returns the actual level of the rank test with `independent` effective runs per side: the
/// largest p-value of its exact distribution that is not above the significance, or the
/// significance itself from 50 runs on. `None` if no outcome is significant.
fn level_kept(asked: &PlanQuestion, sig_level: f64, independent: f64) -> Option<f64> {
    if independent < fewest(asked, sig_level) as f64 {
        return None;
    }
    let Some(levels) = levels_of(asked, independent) else { return Some(sig_level) };
    levels.into_iter().take_while(|&p| p <= sig_level * (1.0 + LEVEL_SLACK)).last()
}

/// Returns the possible p-values of the exact test; `None` if the normal distribution is used.
fn levels_of(asked: &PlanQuestion, independent: f64) -> Option<Vec<f64>> {
    exact_levels(asked.kind, asked.test().sides, independent.floor() as u64)
}

/// Returns the power of the rank test according to the rule, with this many effective runs per
/// side, in 0..=1.
pub(super) fn power_by_rule(asked: &PlanQuestion, t: Quantities, independent: f64) -> f64 {
    level_kept(asked, t.sig_level, independent).map_or(0.0, |level| {
        asked.test().power((independent / RANK_OVERHEAD).max(1.1), t.delta, t.sd, level)
    })
}

/// Returns the difference that the rank test finds with the requested power according to the rule;
/// `None` if it finds none.
pub(super) fn delta_by_rule(asked: &PlanQuestion, t: Quantities, independent: f64) -> Option<f64> {
    let sig_level = level_kept(asked, t.sig_level, independent)?;
    let n = (independent / RANK_OVERHEAD).max(1.1);
    let found = asked.test().solve(Unknown::Delta, Quantities { n, sig_level, ..t })?;
    Some(found.delta)
}

/// Returns the effective runs per side required by the rule: 15 % more than for the t test, and for
/// few runs as many as the exact test needs.
fn needed_by_rule(asked: &PlanQuestion, t: Quantities) -> f64 {
    let needed = (t.n * RANK_OVERHEAD).max(fewest(asked, t.sig_level) as f64);
    let mut n = needed.ceil();
    while levels_of(asked, n).is_some() && power_by_rule(asked, t, n) < t.power {
        n += 1.0;
    }
    if n > needed.ceil() { n } else { needed }
}

/// Returns the rule's answer for known n: the t test's result for n/1.15, at the actual level.
fn rule_at(asked: &PlanQuestion, unknown: Unknown, t: Quantities, independent: f64) -> Quantities {
    let n = (independent / RANK_OVERHEAD).max(1.1);
    let solve = |sig_level: f64| {
        let fewer = Quantities { n, sig_level, ..t };
        // Without a solution, the rule gives the t test's answer.
        asked.test().solve(unknown, fewer).unwrap_or(t)
    };
    if unknown == Unknown::SigLevel {
        let wanted = solve(t.sig_level).sig_level;
        let possible = levels_of(asked, independent)
            .and_then(|levels| levels.into_iter().find(|&p| p >= wanted * (1.0 - LEVEL_SLACK)));
        return Quantities { sig_level: possible.unwrap_or(wanted), ..t };
    }
    match (level_kept(asked, t.sig_level, independent), unknown) {
        (Some(level), _) => Quantities { n: t.n, sig_level: t.sig_level, ..solve(level) },
        (None, Unknown::Power) => Quantities { power: 0.0, ..t },
        (None, Unknown::Delta) => Quantities { delta: f64::NAN, ..t },
        (None, _) => Quantities { sd: f64::NAN, ..t },
    }
}

impl RankPlan {
    /// Plans by the 15 % rule alone, given the number of runs per effective run. O(n³) for few
    /// runs, where the distribution is exact.
    pub fn by_rule(
        asked: &PlanQuestion,
        unknown: Unknown,
        t: Quantities,
        runs_per_independent: f64,
    ) -> Self {
        let (rule, n, rounded_to) = if unknown == Unknown::N {
            let needed = needed_by_rule(asked, t) * runs_per_independent;
            let (n, rounded_to) = rounded_up(needed, asked.round);
            (Quantities { n: needed, ..t }, n, rounded_to)
        } else {
            let rule = rule_at(asked, unknown, t, t.n / runs_per_independent);
            (rule, t.n.round() as u64, 1)
        };
        let fewest_n = fewest(asked, rule.sig_level);
        let founded_on = Founded::Rule;
        Self { rule, n, founded_on, rounded_to, fewest_n, runs_per_independent, distribution: None }
    }

    /// Returns the effective number of runs in `n` runs.
    pub fn independent(&self, n: u64) -> f64 {
        n as f64 / self.runs_per_independent
    }

    /// Returns true if the number of runs is enough for the rank test to reject at all.
    pub fn is_able(&self) -> bool {
        self.independent(self.n) >= self.fewest_n as f64
    }

    /// Plans by the rule and by the pilot's distribution. The distribution determines the number of
    /// runs if that is the unknown quantity, no standard deviation was given, and the pilot has
    /// enough effective values ([`SMALL_PILOT`]) to represent its distribution and its spread.
    pub fn from_pilot(
        asked: &PlanQuestion,
        unknown: Unknown,
        t: Quantities,
        (series, runs_per_independent): (&Series, f64),
    ) -> Self {
        let mut plan = Self::by_rule(asked, unknown, t, runs_per_independent);
        let test = test_of(asked, plan.rule.sig_level);
        let able = plan.is_able();
        let mut independent = plan.independent(plan.n);
        let formula_delta = (able && unknown == Unknown::Delta)
            .then(|| delta_by_distribution(series, t, independent, test))
            .flatten();
        let Some(pilot) = series.shifted(formula_delta.unwrap_or(t.delta)) else { return plan };
        let wanted = unknown == Unknown::N;
        let formula_n = if wanted {
            pilot.formula_n(t.power, test).map(|n| n.max(plan.fewest_n as f64))
        } else {
            Some(independent)
        };
        let about = formula_n.filter(|_| wanted);
        let stands_for_all = series.n() as f64 / runs_per_independent >= SMALL_PILOT as f64;
        let mut take = |plan: &mut Self, n: f64, founded_on: Founded| {
            let (n, rounded_to) = rounded_up(n * runs_per_independent, asked.round);
            *plan = Self { n, rounded_to, founded_on, ..plan.clone() };
            independent = plan.independent(n);
        };
        let decides = able && stands_for_all && asked.sd.is_none();
        if let Some(n) = about.filter(|_| decides) {
            take(&mut plan, n, Founded::Formula);
        }
        let tried = |planned: f64| {
            simulate(&pilot, test, t.power, about, planned.round() as u64, asked.seed)
        };
        let simulated = if able {
            let first = tried(plan.independent(plan.n));
            let found = first.as_ref().ok().and_then(|found| found.n).filter(|_| decides);
            match found {
                // Simulate again, so that the power refers to the planned number.
                Some(n) => {
                    let enough = n.max(plan.fewest_n as f64);
                    take(&mut plan, enough, Founded::Simulation);
                    tried(plan.independent(plan.n))
                }
                None => first,
            }
        } else {
            Err(format!("below {} runs the exact test never rejects", plan.fewest_n))
        };
        let distribution = Distribution {
            superiority: pilot.superiority(),
            formula_n: formula_n.map(|n| n * runs_per_independent),
            formula_power: if able { pilot.formula_power(independent, test) } else { 0.0 },
            formula_delta,
            simulated: simulated.map(|found| found.times(runs_per_independent)),
        };
        Self { distribution: Some(distribution), ..plan }
    }
}

impl Simulated {
    /// Converts the results for simulated runs that each represent `factor` runs.
    fn times(self, factor: f64) -> Self {
        let times = |n: Option<f64>| n.map(|n| n * factor);
        Self { n: times(self.n), n_error: times(self.n_error), ..self }
    }
}

/// Returns the difference that this many effective runs find with the requested power according to
/// the formula. Bisection: O(m log m) for each of about 50 trials.
pub(super) fn delta_by_distribution(
    series: &Series,
    t: Quantities,
    independent: f64,
    test: RankTest,
) -> Option<f64> {
    let power = |delta: f64| Some(series.shifted(delta)?.formula_power(independent, test));
    let (mut low, mut high) = (0.0, t.delta);
    while power(high)? < t.power {
        low = high;
        high *= 2.0;
        if high > t.delta * 1e6 {
            return None;
        }
    }
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if power(middle)? < t.power { low = middle } else { high = middle }
    }
    Some(high)
}

/// Simulates experiments of the planned size and, if the number of runs is the unknown quantity, of
/// sizes around the formula's number `about`.
fn simulate(
    pilot: &ShiftedPilot,
    test: RankTest,
    power: f64,
    about: Option<f64>,
    planned: u64,
    seed: u64,
) -> Result<Simulated, String> {
    let mut sizes: Vec<u64> = match about {
        Some(n) if n < ALL_SIZES_BELOW => {
            let from = (n as u64).saturating_sub(10).max(2);
            (from..=n as u64 + 12).collect()
        }
        Some(n) => SHARES.iter().map(|share| (share * n).round() as u64).collect(),
        None => Vec::new(),
    };
    sizes.push(planned.max(2));
    sizes.sort_unstable();
    sizes.dedup();
    let experiments = (BUDGET / pilot.cost(&sizes)).floor().min(MOST_EXPERIMENTS);
    if experiments < FEWEST_EXPERIMENTS {
        return Err("this is too many runs to simulate; the formula is accurate there".to_owned());
    }
    let powers = pilot.simulate(&sizes, test, experiments as u64, seed);
    let at_planned =
        sizes.iter().position(|&n| n == planned.max(2)).map_or(f64::NAN, |i| powers[i]);
    let error = |power: f64| (power * (1.0 - power) / experiments).sqrt();
    let n = about.and_then(|_| reached(&sizes, &powers, power));
    let z = -normal::quantile(if test.sides == Sides::One {
        test.sig_level
    } else {
        test.sig_level / 2.0
    });
    // The power increases with √n: dP/dn = φ(z_power) (z + z_power) / (2 n).
    let z_power = normal::quantile(power);
    let slope = normal::density(z_power) * (z + z_power) / 2.0;
    Ok(Simulated {
        n,
        n_error: n.filter(|_| slope > 0.0).map(|n| n * error(power) / slope),
        power: at_planned,
        power_error: error(at_planned),
        experiments: experiments as u64,
    })
}

/// Returns the size from which the power is reached, interpolated between the tried sizes; `None`
/// if it is outside them.
fn reached(sizes: &[u64], powers: &[f64], power: f64) -> Option<f64> {
    let last_below = powers.iter().rposition(|&p| p < power)?;
    let (below, above) = (powers[last_below], *powers.get(last_below + 1)?);
    let (from, to) = (sizes[last_below] as f64, sizes[last_below + 1] as f64);
    let share = if above > below { (power - below) / (above - below) } else { 1.0 };
    Some(from + share * (to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reached_lies_between_two_sizes_on_a_line() {
        let sizes = [10, 20, 40];
        assert_eq!(reached(&sizes, &[0.5, 0.625, 0.75], 0.6875), Some(30.0));
        assert_eq!(reached(&sizes, &[0.5, 0.625, 0.75], 0.5625), Some(15.0));
        // The last size with too small a power counts. If the power is too small for all sizes or
        // none, the result is unknown.
        assert_eq!(reached(&sizes, &[0.75, 0.5, 0.75], 0.625), Some(30.0));
        assert_eq!(reached(&sizes, &[0.5, 0.6, 0.7], 0.8), None);
        assert_eq!(reached(&sizes, &[0.8, 0.85, 0.9], 0.8), None);
    }
}
