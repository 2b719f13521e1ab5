//! The second step: are there enough samples to detect the smallest difference that matters?
//!
//! As in the series of articles, the standard deviation is the upper end of its bootstrap intervals
//! (the largest of normal, basic and percentile, for the noisier side), `power.t.test` gives the
//! number of values that Student's t needs, and 15 % is added for a rank test (Lehmann,
//! *Nonparametrics*, 1975: the efficiency relative to t is at least 0.864 for any shape).
//! Correlated values count as their effective number. Sides of different sizes count as two equal
//! ones with the same information. Planning uses the values that are then tested, so it describes
//! what this experiment could detect, not what the next one will.

use super::validity::Validity;
use super::{Protocol, Step, Values, found};
use crate::planning::pilot::upper_end;
use crate::planning::{RANK_OVERHEAD, rounded_up};
use crate::policy;
use assay_data::Finding;
use assay_stats::bootstrap::{Statistic, bootstrap, resamples_for};
use assay_stats::power_t::{Kind, Quantities, Sides, Test, Unknown};
use assay_stats::{Interval, descriptive};

/// Standard deviation of one series, with its bootstrap intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Index of the subject. In blocks, the series is that of the differences, and this is the
    /// compared subject.
    pub subject: usize,
    /// Sample standard deviation (divisor n − 1).
    pub sd: f64,
    /// Normal interval. Like the other intervals, `None` if nothing varies.
    pub normal: Option<Interval>,
    /// Basic interval.
    pub basic: Option<Interval>,
    /// Percentile interval.
    pub percentile: Option<Interval>,
    /// Number of resamples.
    pub resamples: usize,
    /// Standard deviations of the resamples, ascending; empty if nothing varies.
    pub replicates: Vec<f64>,
}

impl Spread {
    /// Returns the largest upper end of the intervals, but at least the standard deviation.
    pub fn upper(&self) -> f64 {
        let intervals = [self.normal, self.basic, self.percentile];
        upper_end(self.sd, intervals.map(|interval| Some(interval?.upper)))
    }
}

/// Results of the power analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerFound {
    /// The spread of each side, the reference first; for blocks, that of the differences.
    pub spreads: Vec<Spread>,
    /// The standard deviation used for planning.
    pub sd: f64,
    /// Confidence of the intervals of the standard deviations.
    pub confidence: f64,
    /// Values (or blocks) per side that Student's t needs for the threshold; `None` if there is no
    /// solution.
    pub n_t: Option<f64>,
    /// `n_t` plus 15 % for ranks, rounded up to a whole number; compared with `have`.
    pub needed: Option<f64>,
    /// `needed`, rounded up for a plan.
    pub planned: Option<f64>,
    /// Values (or blocks) per side needed for ten times the threshold, with the 15 % for ranks.
    pub needed_tenfold: Option<f64>,
    /// Effective number of values (or blocks) per side.
    pub have: f64,
    /// Power of the available values to find a difference as large as the threshold.
    pub power: Option<f64>,
    /// The smallest difference that the available values find with the requested power, in the base
    /// unit.
    pub visible: Option<f64>,
}

/// Computes the second step; `seen` is the size of the observed difference.
pub(super) fn step(
    protocol: &Protocol,
    values: &Values,
    validity: &Validity,
    seen: f64,
) -> Step<PowerFound> {
    let spreads = spreads(protocol, values);
    let sd = spreads.iter().map(Spread::upper).fold(0.0, f64::max);
    let planning = Planning {
        test: Test {
            kind: if protocol.paired { Kind::Paired } else { Kind::TwoSample },
            sides: Sides::Two,
        },
        sd,
        level: protocol.level,
        power: protocol.power_wanted,
    };
    let threshold = protocol.threshold;
    let have = validity.counting();
    let n_t = planning.n(threshold);
    let needed = n_t.map(|n| (RANK_OVERHEAD * n).ceil());
    let found = PowerFound {
        needed,
        n_t,
        planned: n_t.map(|n| rounded_up(RANK_OVERHEAD * n, None).0 as f64),
        needed_tenfold: planning.n(policy::TENFOLD * threshold).map(|n| (RANK_OVERHEAD * n).ceil()),
        power: planning.power_at(have / RANK_OVERHEAD, threshold),
        visible: planning.visible(have / RANK_OVERHEAD),
        confidence: protocol.confidence,
        spreads,
        sd,
        have,
    };
    let findings = judge(&found, protocol, seen);
    Step::of(found, findings)
}

/// Returns the findings about the number of values. The check ends if there are too few even for
/// ten times the threshold, unless the observed difference is large enough to be detected.
fn judge(result: &PowerFound, protocol: &Protocol, seen: f64) -> Vec<Finding> {
    if protocol.threshold.is_nan() {
        return vec![found::no_threshold(&protocol.unit)];
    }
    if result.sd == 0.0 {
        return vec![found::no_spread()];
    }
    let have = result.have;
    let visible = result.visible.unwrap_or(f64::NAN);
    // No solution means that the number is out of reach.
    let needed = |n: Option<f64>| n.unwrap_or(f64::INFINITY);
    let (once, tenfold) = (needed(result.needed), needed(result.needed_tenfold));
    let too_few = |needed, for_tenfold| {
        let numbers = (needed, have, visible);
        found::too_few_for_threshold(protocol, result.planned, numbers, for_tenfold)
    };
    let is_seen = result.visible.is_some_and(|visible| seen >= visible);
    if have < tenfold && !is_seen {
        vec![too_few(tenfold, true)]
    } else if have < once {
        vec![too_few(once, false)]
    } else {
        Vec::new()
    }
}

fn spreads(protocol: &Protocol, values: &Values) -> Vec<Spread> {
    let (resamples, seed) = protocol.resampling;
    let of = |subject: usize, xs: &[f64]| {
        let resamples = resamples.min(resamples_for(xs.len(), 1));
        let found = bootstrap(xs, Statistic::StandardDeviation, resamples, seed);
        let interval = |f: &dyn Fn(&assay_stats::bootstrap::Bootstrap) -> Option<Interval>| {
            found.as_ref().and_then(f)
        };
        Spread {
            subject,
            sd: descriptive::standard_deviation(xs),
            normal: interval(&|b| b.normal(protocol.confidence)),
            basic: interval(&|b| b.basic(protocol.confidence)),
            percentile: interval(&|b| b.percentile(protocol.confidence)),
            resamples,
            replicates: found.as_ref().map_or_else(Vec::new, |b| b.replicates().to_vec()),
        }
    };
    if let Some(differences) = &values.differences {
        return vec![of(protocol.of, &differences.in_order)];
    }
    let reference = protocol.against.map(|against| of(against, &values.against.in_order));
    reference.into_iter().chain([of(protocol.of, &values.of.in_order)]).collect()
}

struct Planning {
    test: Test,
    sd: f64,
    level: f64,
    power: f64,
}

impl Planning {
    fn solve(&self, unknown: Unknown, n: f64, delta: f64) -> Option<Quantities> {
        let given = Quantities { n, delta, sd: self.sd, sig_level: self.level, power: self.power };
        self.test.solve(unknown, given)
    }

    /// Returns the number of values per side that Student's t needs for this difference, at least
    /// 2.
    fn n(&self, delta: f64) -> Option<f64> {
        if delta.is_nan() || delta <= 0.0 {
            return None;
        }
        // For differences far beyond the noise, the solution is below the minimum of any test, or
        // below all tried n, so the minimum suffices.
        if self.test.power(2.0, delta, self.sd, self.level) >= self.power {
            return Some(2.0);
        }
        Some(self.solve(Unknown::N, f64::NAN, delta)?.n.max(2.0))
    }

    fn power_at(&self, n: f64, delta: f64) -> Option<f64> {
        Some(self.solve(Unknown::Power, n, delta)?.power)
    }

    fn visible(&self, n: f64) -> Option<f64> {
        Some(self.solve(Unknown::Delta, n, f64::NAN)?.delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_numbers_are_rounded_up_to_what_one_would_say() {
        let planned = [34_341.1, 59_916.0, 1_709_634.0, 23.4, 231.0, 2.0];
        let shown = planned.map(|n| rounded_up(n, None).0);
        assert_eq!(shown, [35_000, 60_000, 1_710_000, 24, 240, 2]);
    }

    #[test]
    fn the_published_plan_is_thirty_five_thousand() {
        // Part 4 of the articles: a threshold of 20,000 cycles at 3 GHz, sd 193 µs, alpha 0.01,
        // power 0.95.
        let test = Test { kind: Kind::TwoSample, sides: Sides::Two };
        let planning = Planning { test, sd: 193.0, level: 0.01, power: 0.95 };
        let n = planning.n(20.0 / 3.0).expect("it has a solution");
        assert!((n - 29_861.85).abs() < 0.01, "{n}");
        assert_eq!(rounded_up(RANK_OVERHEAD * n, None).0, 35_000);
    }

    #[test]
    fn a_difference_of_nothing_is_never_found() {
        let test = Test { kind: Kind::Paired, sides: Sides::Two };
        let planning = Planning { test, sd: 1.0, level: 0.01, power: 0.95 };
        assert_eq!(planning.n(0.0), None);
        assert_eq!(planning.n(f64::NAN), None);
        assert_eq!([1e3, 1e6, 1e9, 1e11].map(|delta| planning.n(delta)), [Some(2.0); 4]);
    }
}
