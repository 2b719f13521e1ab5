//! Suggested questions for plans whose answer is worthless, because the test finds a difference no
//! more often than chance does or gives false alarms in at least half of all experiments.
//!
//! Only existing answers are judged; a plan without an answer is an error. Numbers are from
//! Student's t and the 15 % rule, like the other numbers of a plan without a pilot.

use super::{Planning, RANK_OVERHEAD, Unknown, rounded_up};
use crate::policy;
use assay_stats::power_t::Quantities;

/// A suggested plan that is useful.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remedy {
    /// Significance of the plan.
    pub sig_level: f64,
    /// Power of the plan.
    pub power: f64,
    /// Number of runs per side needed to detect the difference; `None` if no feasible number
    /// suffices.
    pub n: Option<u64>,
    /// The difference that the original number of runs finds, in the unit of the plan; `None` if
    /// there are too few runs to find any.
    pub delta: Option<f64>,
}

impl Planning {
    /// Returns a better question if this answer is worthless, otherwise `None`. O(1).
    pub fn remedy(&self) -> Option<Remedy> {
        let t = self.t;
        let cries_wolf = t.sig_level >= policy::WORTHLESS_LEVEL;
        if !cries_wolf && t.power > t.sig_level {
            return None;
        }
        let sig_level = if cries_wolf { policy::USUAL_LEVEL } else { t.sig_level };
        let power = policy::USUAL_POWER.max(sig_level);
        // Number of runs that are worth one independent value in a t test. Dependent runs and rank
        // tests need more.
        let worth = RANK_OVERHEAD * self.rank.runs_per_independent;
        let solve = |unknown, n: f64, delta| {
            let given = Quantities { n, delta, sd: t.sd, sig_level, power };
            self.asked.test().solve(unknown, given)
        };
        let n = solve(Unknown::N, f64::NAN, t.delta).map(|found| found.n * worth);
        let delta = solve(Unknown::Delta, self.rank.n as f64 / worth, f64::NAN);
        Some(Remedy {
            sig_level,
            power,
            n: n.map(|n| rounded_up(n, None).0),
            delta: delta.map(|found| found.delta),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alternative, Kind, Measure, PlanQuestion, from_numbers};
    use super::*;
    use assay_data::{Threshold, Unit};

    fn plan(value: f64, power: f64) -> Planning {
        let asked = PlanQuestion {
            kind: Kind::TwoSample,
            alternative: Alternative::TwoSided,
            strict: false,
            n: None,
            delta: Some(Threshold::Absolute { value, unit: Unit::One }),
            sd: Some(1.0),
            sig_level: None,
            power: Some(power),
            round: None,
            in_blocks: false,
            seed: 1,
        };
        from_numbers(asked, Measure::Unit(Unit::One)).expect("there is an answer")
    }

    #[test]
    fn what_finds_no_more_than_chance_is_told_what_would() {
        let by_chance = plan(0.01, 0.05).remedy().expect("power is the significance");
        // R: power.t.test(delta = 0.01, sd = 1, power = 0.8) gives 156,978; 15 % more is 180,525.
        assert!(by_chance.n.is_some_and(|n| (180_000..182_000).contains(&n)), "{by_chance:?}");
        assert_eq!(plan(0.01, 0.8).remedy(), None);
    }
}
