//! What the rank tests need: by the 15 % rule, and by the pilot's own law.
//!
//! With a pilot the normal approximation of the statistic under the pilot's law, shifted by the difference, gives a number;
//! experiments drawn from that law check it where they are affordable. All sizes that are tried share their random numbers, so
//! that the number at which the power is reached can be read off between them.

use super::pilot::Series;
use super::{Asked, RANK_OVERHEAD, rounded_up};
use assay_stats::normal;
use assay_stats::power_t::{Kind, Quantities, Sides, Unknown};
use assay_stats::rank_power::{RankTest, ShiftedPilot};

/// Steps that a simulation may cost, of about two nanoseconds each.
const BUDGET: f64 = 3e8;
/// More factors of one half than a double can hold.
const MOST_FACTORS: u64 = 1100;
const MOST_EXPERIMENTS: f64 = 4000.0;
/// Fewer experiments tell too little.
const FEWEST_EXPERIMENTS: f64 = 200.0;
/// Below this number every size is tried, above it these shares of what the formula says.
const ALL_SIZES_BELOW: f64 = 40.0;
const SHARES: [f64; 9] = [0.6, 0.75, 0.85, 0.93, 1.0, 1.07, 1.17, 1.3, 1.6];

/// The answer of the rank test.
#[derive(Clone, Debug, PartialEq)]
pub struct RankPlan {
    /// The t test's answer under the 15 % rule: n times 1.15, or what n/1.15 runs give where n is known.
    pub rule: Quantities,
    /// Runs of each to take: the rule's number, rounded up; where n is known, that.
    pub n: u64,
    /// What it was rounded up to.
    pub rounded_to: u64,
    /// With fewer runs the exact rank test can't reject at the significance, whatever the values are.
    pub fewest_n: u64,
    /// What the pilot's law says; `None` without a pilot.
    pub law: Option<Law>,
}

/// What the pilot's law says.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// The chance that a value of the other is larger than one of the reference when the difference is as asked.
    pub superiority: f64,
    /// Runs of each by the formula; where n is known, that; `None` where no number is enough.
    pub formula_n: Option<f64>,
    /// The power of the planned number by the formula.
    pub formula_power: f64,
    /// The difference that n runs find with the power asked for, where that is the question.
    pub formula_delta: Option<f64>,
    /// The experiments, or why there were none.
    pub simulated: Result<Simulated, String>,
}

/// What simulated experiments say.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Runs of each at which the power is reached; `None` where n is not the question or lies beyond what was tried.
    pub n: Option<f64>,
    /// Standard error of that number from the number of experiments.
    pub n_error: Option<f64>,
    /// The power of the planned number.
    pub power: f64,
    /// Its standard error.
    pub power_error: f64,
    /// Experiments.
    pub experiments: u64,
}

/// The rank test that belongs to a question.
pub fn test_of(asked: &Asked, sig_level: f64) -> RankTest {
    RankTest { sides: asked.test().sides, sig_level }
}

/// The smallest p-value that the exact rank test of n runs of each can give: all values of the one beyond all of the other,
/// 1/C(2n, n), or all differences to one side, 2^-n; twice that where both sides count. In 0 to 1. O(n).
fn smallest_p(asked: &Asked, n: u64) -> f64 {
    let sides = if asked.test().sides == Sides::One { 1.0 } else { 2.0 };
    let one = |k: u64| match asked.kind {
        Kind::TwoSample => k as f64 / (4.0 * k as f64 - 2.0),
        Kind::OneSample | Kind::Paired => 0.5,
    };
    // Beyond this many factors of one half at most nothing is left that a double holds.
    let orders: f64 = (1..=n.min(MOST_FACTORS)).map(one).product();
    (sides * orders).min(1.0)
}

/// The fewest runs of each, two at least, with which the exact rank test can reject at the significance. O(1).
pub fn fewest(asked: &Asked, sig_level: f64) -> u64 {
    (2..MOST_FACTORS).find(|&n| smallest_p(asked, n) <= sig_level).unwrap_or(MOST_FACTORS)
}

impl RankPlan {
    /// By the 15 % rule alone. O(1).
    pub fn by_rule(asked: &Asked, unknown: Unknown, t: Quantities) -> Self {
        let fewest_n = fewest(asked, t.sig_level);
        if unknown == Unknown::N {
            let needed = (t.n * RANK_OVERHEAD).max(fewest_n as f64);
            let (n, rounded_to) = rounded_up(needed, asked.round);
            return Self {
                rule: Quantities { n: needed, ..t },
                n,
                rounded_to,
                fewest_n,
                law: None,
            };
        }
        let fewer = Quantities { n: t.n / RANK_OVERHEAD, ..t };
        // With so few runs that fewer would be none, the rule says nothing else than the t test.
        let mut rule = asked.test().solve(unknown, fewer).unwrap_or(t);
        match unknown {
            Unknown::SigLevel => {
                rule.sig_level = rule.sig_level.max(smallest_p(asked, t.n.floor() as u64));
            }
            Unknown::Power if t.n < fewest_n as f64 => rule.power = 0.0,
            Unknown::Delta if t.n < fewest_n as f64 => rule.delta = f64::NAN,
            Unknown::Sd if t.n < fewest_n as f64 => rule.sd = f64::NAN,
            _ => {}
        }
        Self {
            rule: Quantities { n: t.n, ..rule },
            n: t.n.round() as u64,
            rounded_to: 1,
            fewest_n,
            law: None,
        }
    }

    /// By the rule, and by the pilot's law.
    pub fn from_pilot(asked: &Asked, unknown: Unknown, t: Quantities, series: &Series) -> Self {
        let plan = Self::by_rule(asked, unknown, t);
        let test = test_of(asked, t.sig_level);
        let able = plan.n >= plan.fewest_n;
        let formula_delta =
            (able && unknown == Unknown::Delta).then(|| delta(series, t, test)).flatten();
        let Some(pilot) = series.shifted(formula_delta.unwrap_or(t.delta)) else { return plan };
        let wanted = unknown == Unknown::N;
        let formula_n = if wanted {
            pilot.formula_n(t.power, test).map(|n| n.max(plan.fewest_n as f64))
        } else {
            Some(t.n)
        };
        let about = formula_n.filter(|_| wanted);
        let law = Law {
            superiority: pilot.superiority(),
            formula_n,
            formula_power: if able { pilot.formula_power(plan.n as f64, test) } else { 0.0 },
            formula_delta,
            simulated: if able {
                simulate(&pilot, test, t.power, about, plan.n, asked.seed)
            } else {
                Err(format!("below {} runs the exact test never rejects", plan.fewest_n))
            },
        };
        Self { law: Some(law), ..plan }
    }
}

/// The difference that n runs find with the power asked for, by the formula. Bisection: O(m log m) for each of some 50 trials.
fn delta(series: &Series, t: Quantities, test: RankTest) -> Option<f64> {
    let power = |delta: f64| Some(series.shifted(delta)?.formula_power(t.n, test));
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

/// Draws experiments of sizes about what the formula says (`about`, where that is the question) and of the planned one.
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
        return Err(
            "so many runs are too many to simulate; the formula is accurate there".to_owned()
        );
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
    // The power climbs with √n: dP/dn = φ(z_power) (z + z_power) / (2 n).
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

/// The size at which the power is reached for good, between the sizes that were tried; `None` where it lies beyond them.
fn reached(sizes: &[u64], powers: &[f64], power: f64) -> Option<f64> {
    let last_below = powers.iter().rposition(|&p| p < power)?;
    let (below, above) = (powers[last_below], *powers.get(last_below + 1)?);
    let (from, to) = (sizes[last_below] as f64, sizes[last_below + 1] as f64);
    let share = if above > below { (power - below) / (above - below) } else { 1.0 };
    Some(from + share * (to - from))
}
