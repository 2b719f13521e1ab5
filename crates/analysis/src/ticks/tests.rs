//! Seeded simulations of intervals for readings in steps, and the detection of steps.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use super::*;
use crate::paired::{Level, Paired};
use crate::recording::Recording;
use crate::{Verdict, unpaired};
use assay_data::{Better, Threshold};
use assay_stats::resampling::Stream;
use assay_stats::signed_rank::SignedRankDistribution;

/// A step, the standard deviation before rounding, two centers, and the readings of each side.
type TickCase = (f64, f64, f64, f64, usize);

const CELLS: [TickCase; 6] = [
    (1.0, 0.25, 10.3, 10.7, 30),
    (1.0, 0.05, 10.4, 10.6, 30),
    (0.1, 0.005, 7.04, 7.06, 20),
    (4.0, 0.5, 41.5, 42.4, 30),
    // Readings that spread over several steps.
    (1.0, 0.8, 10.4, 10.7, 30),
    (1.0, 2.0, 103.3, 103.6, 400),
];

fn rounded((step, sd, ..): TickCase, centre: f64, n: usize, stream: &mut Stream) -> Vec<f64> {
    // A number rounded to decimals as in a file. A plain multiple of the step could differ in its
    // last bit.
    let reading = |value: f64| ((value / step).round() * step * 1e6).round() / 1e6;
    (0..n).map(|_| reading(centre + sd * stream.normal())).collect()
}

/// A clock read at the start and at the end of a task that always takes `centre`.
fn start_and_end((step, ..): TickCase, centre: f64, n: usize, stream: &mut Stream) -> Vec<f64> {
    let reading = |phase: f64| (((centre + phase) / step).floor() * step * 1e6).round() / 1e6;
    (0..n).map(|_| reading(step * stream.uniform())).collect()
}

type Clock = fn(TickCase, f64, usize, &mut Stream) -> Vec<f64>;

/// Returns the share of series whose interval misses the true ratio, and the share with a
/// direction, for separate recordings and for blocks.
fn misses(cell: TickCase, clock: Clock, seed: u64) -> [(f64, f64); 2] {
    let (_, _, a, b, n) = cell;
    let truth = (b / a).ln();
    let series = 400;
    let mut found = [(0, 0); 2];
    let mut distribution = SignedRankDistribution::default();
    for number in 0..series {
        let mut stream = Stream::new(seed, number);
        let (x, y) = (clock(cell, a, n, &mut stream), clock(cell, b, n, &mut stream));
        let (of_x, of_y) = (Recording::of(&x[..]), Recording::of(&y[..]));
        let apart = unpaired::decide(&of_x, &of_y, &Threshold::default(), 0.05, Better::Lower);
        let mut paired = Paired::default();
        x.iter().zip(&y).for_each(|(x, y)| paired.push(*x, *y));
        let level = Level { interval: 0.05, groups: 0.05 };
        let blocks = paired.decide(&Threshold::default(), level, Better::Lower, &mut distribution);
        for (count, decision) in found.iter_mut().zip([apart.decision, blocks.decision]) {
            count.0 += u32::from(decision.interval.is_some_and(|i| !i.contains(truth)));
            count.1 += u32::from(decision.verdict.is_directional());
        }
    }
    let share = |count: u32| f64::from(count) / series as f64;
    found.map(|(missed, directed)| (share(missed), share(directed)))
}

#[test]
fn the_interval_covers_what_a_coarse_clock_hides() {
    for cell in CELLS {
        for (clock, name) in [(rounded as Clock, "rounded"), (start_and_end, "start and end")] {
            // If rounding errors cancel, 5 % of the intervals may miss. The simulation has a
            // standard error of about 1 %.
            let least = if cell.1 > cell.0 / 2.0 { 0.02 } else { 0.0 };
            for (missed, _) in misses(cell, clock, 17) {
                assert!(missed <= 0.06 + least, "{name} {cell:?}: {missed}");
            }
            let (step, sd, a, _, n) = cell;
            for (_, directed) in misses((step, sd, a, a, n), clock, 18) {
                assert!(directed <= 0.05 + least, "{name} {cell:?}: {directed}");
            }
        }
    }
}

#[test]
fn what_is_larger_than_a_step_is_found() {
    let found = misses((1.0, 0.05, 10.4, 13.6, 30), rounded, 19);
    // A few series look dependent by chance.
    assert!(found.iter().all(|(_, directed)| *directed > 0.95), "{found:?}");
    // Readings that spread over steps lose no information: even a difference of half a step is
    // found.
    let found = misses((1.0, 2.0, 20.3, 20.8, 600), rounded, 20);
    assert!(found.iter().all(|(_, directed)| *directed > 0.9), "{found:?}");
}

#[test]
fn exact_counts_hide_nothing() {
    let counts = |n: u32| Recording::of((0..30).map(|i| f64::from(n + i % 2)).collect::<Vec<_>>());
    let decide = |is_exact: bool| {
        let (x, y) = (counts(1000).of_exact(is_exact), counts(1001).of_exact(is_exact));
        unpaired::decide(&x, &y, &Threshold::default(), 0.05, Better::Lower).decision.interval
    };
    let (exact, read) = (decide(true).unwrap(), decide(false).unwrap());
    for (exact, read) in [(exact.lower, read.lower + 0.001), (exact.upper, read.upper - 0.001)] {
        assert!((exact - read).abs() < 1e-5, "{exact} {read}");
    }
}

#[test]
fn a_step_is_what_all_distances_have_in_common() {
    let of = |values: &[f64]| {
        let sorted = descriptive::sorted(values);
        common_step(&sorted, &[], values.len())
    };
    let repeated = |of: &[f64]| of.iter().flat_map(|v| [*v; 4]).collect::<Vec<_>>();
    assert_eq!(of(&repeated(&[0.3, 0.5, 0.9])).map(|s| (s * 1e9).round() / 1e9), Some(0.2));
    // The distances 2 and 3 have the greatest common divisor 1.
    assert_eq!(of(&repeated(&[2.0, 4.0, 7.0])), Some(1.0));
    assert_eq!(of(&repeated(&[1.0, 1.1, 1.1 + 0.001 * std::f64::consts::PI])), None);
    assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0]), None);
    // The step of constants is one unit of their last digit.
    let between = |a: f64, b: f64| Ticks::between_constants(&[a; 9], &[b; 9]);
    assert_eq!((between(10.0, 11.0), between(7.0, 7.0)), (Some(1.0), Some(0.0)));
    assert_eq!((between(0.03, 0.03), between(7.25, 7.5)), (Some(0.01), Some(0.01)));
    assert_eq!(Ticks::between_constants(&[1.0, 2.0], &[3.0; 9]), None);
}

#[test]
fn ties_are_spread_evenly_and_readings_keep_their_order() {
    let side = descriptive::sorted(&(0..40).map(|i| f64::from(i % 5)).collect::<Vec<_>>());
    let ticks = Ticks::of_sorted(&side, &side);
    assert_eq!((ticks.step, ticks.hides), (1.0, false));
    let spread = ticks.spread_sorted(&side);
    assert!(spread.windows(2).all(|pair| pair[0] < pair[1]));
    assert!((descriptive::mean(&spread) - 2.0).abs() < 1e-12);
    let (a, b) = ticks.spread_pairs(&side, &side).unwrap();
    assert!(a.iter().chain(&b).zip(side.iter().chain(&side)).all(|(s, v)| (s - v).abs() <= 0.5));
    // Two sides whose readings are all on one step may each be off by half a step.
    let same = [3.0; 12].map(|v: f64| v / 10.0);
    let hidden = Ticks::of_sorted(&same, &[0.4; 12]);
    assert!((hidden.hidden() - 0.1).abs() < 1e-12 && hidden.spread_pairs(&same, &same).is_none());
    let none = Interval { lower: 0.1, upper: 0.1 };
    let wider = hidden.widen(Scale::Shift, none, (0.3, 0.4));
    assert!(wider.lower < 0.0 && wider.lower > -1e-9, "{wider:?}");
    assert!((wider.upper - 0.2).abs() < 1e-9, "{wider:?}");
    let ratio = hidden.widen(Scale::Ratio, none, (0.3, 0.4));
    assert!((ratio.upper - 0.1 - (0.45_f64 / 0.4 / (0.25 / 0.3)).ln()).abs() < 1e-8, "{ratio:?}");
}

#[test]
fn a_verdict_is_read_from_the_interval_that_is_printed() {
    let sides = [(10.0, 11.0), (10.0, 12.0), (7.0, 7.1)];
    for (a, b) in sides {
        let (x, y) = (Recording::of(vec![a; 20]), Recording::of(vec![b; 20]));
        let found = unpaired::decide(&x, &y, &Threshold::default(), 0.05, Better::Lower).decision;
        let interval = found.interval.unwrap();
        assert_eq!(found.verdict == Verdict::Slower, interval.lower > 0.0, "{a} {b} {interval:?}");
        assert!(interval.upper > interval.lower, "{a} {b}");
    }
}
