//! The share of each function in a profile, with a confidence interval.
//!
//! One profile gets Wilson's interval (1927) for a proportion. Since some samplers weight their
//! samples, the number of samples is replaced by Kish's effective sample size (1965). The interval
//! assumes that samples are independent of each other and of the program's activity. A sampling
//! timer in step with the program violates this assumption without being noticed.
//!
//! Several runs get Student's interval for the mean of their shares. It assumes only that the runs
//! are independent, and so includes the variation between them.

use crate::functions::{Function, Functions};
use crate::model::Profile;
use assay_data::Unit;
use assay_stats::proportion::wilson_interval;
use assay_stats::{Interval, t_test};
use std::collections::HashMap;

/// The data from which a confidence interval is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The number of samples (Wilson's interval).
    Samples,
    /// The shares of several runs (Student's interval).
    Runs(usize),
    /// No interval: the profile was not sampled, or its amounts are not times.
    None,
}

/// The share of a function in a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The function, with its samples and amounts. For several runs, the amounts are means per run.
    pub function: Function,
    /// Share spent in the function itself, 0 to 1.
    pub flat: f64,
    /// Share spent in the function and the functions it called, 0 to 1.
    pub cum: f64,
    /// Confidence interval of [`Share::flat`].
    pub flat_interval: Option<Interval>,
    /// Confidence interval of [`Share::cum`].
    pub cum_interval: Option<Interval>,
}

/// The shares of all functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// Total number of samples.
    pub samples: u64,
    /// Total amount in [`Shares::unit`]; for several runs, the mean per run.
    pub amount: f64,
    /// The unit of the amounts.
    pub unit: Unit,
    /// Name of the quantity that the amounts measure, such as `cpu` or `wall`.
    pub measure: String,
    /// The basis of the intervals.
    pub basis: Basis,
    /// Confidence level of the intervals, 0 to 1.
    pub confidence: f64,
    /// The functions, largest flat share first.
    pub functions: Vec<Share>,
    /// The garbage collector's share with its interval; `None` if no frame belongs to a collector.
    pub collection: Option<(f64, Option<Interval>)>,
}

impl Shares {
    /// Returns the shares of one profile. `confidence` is between 0 and 1. O(frames of all stacks +
    /// functions log functions).
    pub fn of(profile: &Profile, confidence: f64) -> Self {
        let total = profile.amount();
        let worth = effective_samples(profile);
        let interval = |share: f64| {
            let worth = worth?;
            // Rounding to a whole number of samples does not change the displayed interval visibly.
            let hits = (share * worth as f64).round() as u64;
            wilson_interval(hits.min(worth), worth, confidence)
        };
        let share = |amount: f64| if total > 0.0 { (amount / total).clamp(0.0, 1.0) } else { 0.0 };
        let mut functions: Vec<Share> = Functions::of(profile)
            .list
            .into_iter()
            .map(|function| Share {
                flat: share(function.flat_amount),
                cum: share(function.cum_amount),
                flat_interval: interval(share(function.flat_amount)),
                cum_interval: interval(share(function.cum_amount)),
                function,
            })
            .collect();
        functions.sort_by(before);
        let collection = has_collector(profile).then(|| {
            let own = share(collected(profile));
            (own, interval(own))
        });
        Self {
            samples: profile.samples(),
            amount: total,
            unit: profile.unit.clone(),
            measure: profile.measure.clone(),
            basis: if worth.is_some() { Basis::Samples } else { Basis::None },
            confidence,
            functions,
            collection,
        }
    }

    /// Returns the shares of several runs of one program, which are the means of the runs' shares.
    /// For a single run, the result equals that of [`Shares::of`].
    pub fn of_runs(runs: &[Profile], confidence: f64) -> Self {
        let Some(merged) = Profile::merged(runs) else {
            return Self::of(&Profile::default(), confidence);
        };
        let mut shares = Self::of(&merged, confidence);
        if runs.len() < 2 {
            return shares;
        }
        let apart: Vec<Self> = runs.iter().map(|run| Self::of(run, confidence)).collect();
        let by_name: Vec<HashMap<(&str, Option<&str>), &Share>> =
            apart.iter().map(|run| run.functions.iter().map(|f| (key(f), f)).collect()).collect();
        let many = runs.len() as f64;
        for share in &mut shares.functions {
            let own = key(share);
            let of = |take: fn(&Share) -> f64| -> Vec<f64> {
                by_name.iter().map(|run| run.get(&own).map_or(0.0, |f| take(f))).collect()
            };
            let (flat, cum) = (of(|f| f.flat), of(|f| f.cum));
            (share.flat, share.flat_interval) = mean(&flat, confidence);
            (share.cum, share.cum_interval) = mean(&cum, confidence);
            share.function.flat_amount /= many;
            share.function.cum_amount /= many;
        }
        shares.functions.sort_by(before);
        shares.amount /= many;
        shares.basis = Basis::Runs(runs.len());
        shares.collection = shares.collection.map(|_| {
            let own: Vec<f64> =
                apart.iter().map(|run| run.collection.map_or(0.0, |c| c.0)).collect();
            mean(&own, confidence)
        });
        shares
    }

    /// Keeps only functions whose name contains `text`.
    pub fn focus(&mut self, text: &str) {
        self.functions.retain(|f| f.function.name.contains(text));
    }
}

/// Returns the bare name and the file of a function, which identify it in every run.
fn key(share: &Share) -> (&str, Option<&str>) {
    (share.function.bare(), share.function.file.as_deref())
}

pub(crate) fn mean(shares: &[f64], confidence: f64) -> (f64, Option<Interval>) {
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let interval = t_test::one_sample(shares).and_then(|test| test.interval(confidence));
    let within = |i: Interval| Interval { lower: i.lower.max(0.0), upper: i.upper.min(1.0) };
    // If all runs have exactly equal shares, there is no spread and thus no interval.
    (mean, interval.map(within))
}

/// Orders by flat share, then by cumulative share, both largest first, then by name.
fn before(a: &Share, b: &Share) -> std::cmp::Ordering {
    let flat = b.flat.total_cmp(&a.flat);
    flat.then(b.cum.total_cmp(&a.cum)).then_with(|| a.function.name.cmp(&b.function.name))
}

fn has_collector(profile: &Profile) -> bool {
    profile.frames.iter().any(crate::Frame::is_collector)
}

fn collected(profile: &Profile) -> f64 {
    let own = profile.stacks.iter().filter(|stack| profile.is_collection(stack));
    own.map(|stack| stack.amount).sum()
}

/// Returns the effective sample size: (sum of weights)² divided by the sum of their squares.
/// Returns `None` if nothing was sampled, or if the amounts are bytes, since allocations are
/// sampled in proportion to their size.
pub(crate) fn effective_samples(profile: &Profile) -> Option<u64> {
    if !matches!(profile.unit, Unit::Second | Unit::One) {
        return None;
    }
    let largest = profile.stacks.iter().map(|s| s.amount).fold(0.0, f64::max);
    if largest <= 0.0 || profile.stacks.iter().any(|s| s.samples == 0 && s.amount > 0.0) {
        return None;
    }
    let (mut sum, mut squares) = (0.0, 0.0);
    for stack in profile.stacks.iter().filter(|s| s.samples > 0) {
        // Weights are relative to the largest amount, so that their squares cannot overflow.
        let amount = stack.amount / largest;
        sum += amount;
        squares += amount * amount / stack.samples as f64;
    }
    let worth = (sum * sum / squares).round();
    (worth >= 1.0).then_some(worth as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Frame};

    fn profile(counts: &[(&str, u64)]) -> Profile {
        let mut builder = Builder::default();
        for (name, count) in counts {
            builder.add_frames([Frame::named("main"), Frame::named(name)], *count);
        }
        builder.build()
    }

    #[test]
    fn the_interval_of_a_share_is_wilsons() {
        let shares = Shares::of(&profile(&[("a", 15), ("b", 35)]), 0.95);
        let a = &shares.functions[1];
        assert_eq!((a.function.name.as_str(), a.flat, a.cum), ("a", 0.3, 0.3));
        assert_eq!(a.flat_interval, wilson_interval(15, 50, 0.95));
        let main = shares.functions.last().unwrap();
        assert_eq!((main.flat, main.cum), (0.0, 1.0));
    }

    #[test]
    fn samples_of_different_weight_are_worth_less() {
        let mut builder = Builder::default();
        let (a, b) = (builder.frame(Frame::named("a")), builder.frame(Frame::named("b")));
        builder.add(vec![a], Vec::new(), 10, 100.0);
        builder.add(vec![b], Vec::new(), 100, 100.0);
        // The sum of weights is 10·10 + 100·1, the sum of their squares 10·100 + 100·1.
        assert_eq!(effective_samples(&builder.build()), Some(36));
    }

    #[test]
    fn several_runs_are_told_by_their_own_spread() {
        let runs = [profile(&[("a", 30), ("b", 70)]), profile(&[("a", 50), ("b", 50)])];
        let shares = Shares::of_runs(&runs, 0.95);
        let a = shares.functions.iter().find(|f| f.function.name == "a").unwrap();
        assert!((a.flat - 0.4).abs() < 1e-12);
        assert_eq!(shares.basis, Basis::Runs(2));
        // Student's interval from only two runs is much wider than Wilson's from 200 samples.
        let wide = a.flat_interval.unwrap();
        assert!(wide.lower == 0.0 && wide.upper == 1.0, "{wide:?}");
    }

    #[test]
    fn functions_of_runs_of_different_length_are_in_order_of_the_mean_share() {
        // b has more samples than a, but a has the larger mean share: 0.9 and 0.2.
        let runs = [profile(&[("a", 90), ("b", 10)]), profile(&[("a", 200), ("b", 800)])];
        let shares = Shares::of_runs(&runs, 0.95);
        let first = &shares.functions[0];
        assert_eq!(first.function.name, "a");
        assert!((first.flat - 0.55).abs() < 1e-12);
    }

    #[test]
    fn the_collector_has_a_line_only_where_a_sampler_named_it() {
        let with = Shares::of(&profile(&[("(marking)", 10), ("a", 90)]), 0.95);
        assert_eq!(with.collection.unwrap().0, 0.1);
        assert_eq!(Shares::of(&profile(&[("a", 9)]), 0.95).collection, None);
    }

    #[test]
    fn an_empty_profile_has_no_shares() {
        let shares = Shares::of(&Profile::default(), 0.95);
        assert_eq!((shares.functions.len(), shares.basis), (0, Basis::None));
    }
}
