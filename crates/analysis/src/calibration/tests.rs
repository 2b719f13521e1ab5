//! Synthetic machines: a calm one, one that drifts, and one with periodic ticks. Also series that
//! cannot be calibrated.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use super::*;
use crate::paired::{Level, Paired};
use assay_data::{Better, Threshold};
use assay_stats::resampling::Stream;
use assay_stats::signed_rank::SignedRankDistribution;

/// Wall times of one program with noise of 2 % on the log scale, plus the machine's contribution
/// `adds(i)` to run `i`.
fn machine(runs: usize, seed: u64, adds: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut random = Stream::new(seed, 0);
    (0..runs).map(|i| 0.002 * (0.02 * random.normal() + adds(i)).exp()).collect()
}

fn calibrated(wall: &[f64]) -> Calibration {
    let cpu: Vec<f64> = machine(wall.len(), 99, |_| 0.0).iter().map(|v| v * 0.9).collect();
    calibrate(&Series { wall, cpu: &cpu, seconds_per_run: 0.0025 }, 7).unwrap()
}

fn method(calibration: &Calibration, name: MethodName) -> &Method {
    calibration.methods.iter().find(|m| m.name == name).unwrap()
}

#[test]
fn on_a_calm_machine_every_way_is_right_and_the_same_seed_repeats_it() {
    let wall = machine(6000, 1, |_| 0.0);
    let found = calibrated(&wall);
    assert_eq!(found, calibrated(&wall));
    assert_eq!((found.runs, found.methods.len(), found.detectable.len()), (6000, 5, 6));
    for method in &found.methods {
        assert!(method.interval().unwrap().lower <= 0.05, "{method:?}");
        assert!(method.rate() <= 0.12, "{method:?}");
        // The standard deviation of the difference of two medians of 50 is 2 % · 1.25 · √(2/50) =
        // 0.5 %.
        assert!((0.001..0.015).contains(&method.phantom_p95), "{method:?}");
    }
    let ours = method(&found, MethodName::Ours);
    assert!(ours.independent == ours.comparisons && (0.03..0.07).contains(&ours.rate()));
}

#[test]
fn drift_fools_block_order_and_a_tick_fools_alternation_but_not_random_pairs() {
    let drifting = calibrated(&machine(5000, 2, |i| 0.05 * (i as f64 / 300.0).sin()));
    assert!(method(&drifting, MethodName::BlockOrder).rate() > 0.3, "{drifting:?}");
    let ticking = calibrated(&machine(5000, 3, |i| if i % 2 == 0 { 0.03 } else { 0.0 }));
    assert!(method(&ticking, MethodName::Alternating).rate() > 0.9, "{ticking:?}");
    for calibration in [drifting, ticking] {
        assert!(method(&calibration, MethodName::Ours).rate() < 0.08, "{calibration:?}");
        assert!(method(&calibration, MethodName::OursDefault).rate() < 0.08, "{calibration:?}");
    }
}

#[test]
fn what_it_calls_believable_is_found_in_nine_of_ten_experiments() {
    let wall = machine(8000, 4, |i| 0.03 * (i as f64 / 500.0).sin());
    let calibration = calibrated(&wall);
    let ten_seconds = &calibration.detectable[0];
    assert_eq!((ten_seconds.blocks, ten_seconds.extrapolated), (2000, false));
    let size = ten_seconds.difference.unwrap();
    let mut random = Random(Pcg64Mcg::seed_from_u64(5));
    let mut distribution = SignedRankDistribution::default();
    let mut found = 0;
    for _ in 0..200 {
        let begin = random.below(wall.len() - 4000);
        let mut paired = Paired::default();
        for pair in wall[begin..begin + 4000].chunks_exact(2) {
            let (a, b) = if random.coin() { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
            paired.push(a, b * (1.0 + size));
        }
        let level = Level { interval: 0.002, groups: 0.05 };
        // The threshold is set well below the simulated difference.
        let threshold = Threshold::Relative(size / 100.0);
        let decided = paired.decide(&threshold, level, Better::Lower, &mut distribution);
        found += u32::from(decided.decision.verdict == Verdict::Slower);
    }
    assert!((160..=195).contains(&found), "{found} of 200");
}

#[test]
fn longer_runs_see_more_and_lengths_beyond_the_series_are_extrapolated() {
    let found = calibrated(&machine(2000, 6, |_| 0.0));
    let wall: Vec<&Detectable> = found.detectable.iter().filter(|s| s.metric == "wall").collect();
    assert!(wall.iter().all(|s| s.extrapolated), "{wall:?}");
    let [ten, minute, long] = [0, 1, 2].map(|i| wall[i].difference.unwrap());
    assert!(
        (ten / minute - 6f64.sqrt()).abs() < 0.01 && (minute / long - 10f64.sqrt()).abs() < 0.01
    );
    // 2 % noise in 12,000 blocks: 0.02 · √2 / √12000 · (3.09 + 1.28) · 1.02.
    assert!((minute / 0.00115 - 1.0).abs() < 0.25, "{minute}");
    assert_eq!(found.facts()[0], ("calibrated_wall_60s", minute));
}

#[test]
fn slow_programs_and_clocks_that_show_nothing_have_no_sight() {
    let wall = machine(1000, 8, |_| 0.0);
    let cpu = vec![0.0; 1000];
    let found = calibrate(&Series { wall: &wall, cpu: &cpu, seconds_per_run: 1.0 }, 1).unwrap();
    let difference: Vec<bool> = found.detectable.iter().map(|s| s.difference.is_some()).collect();
    // Five blocks in ten seconds are too few; a CPU time of zero has no ratio.
    assert_eq!(difference, [false, true, true, false, false, false]);
    assert_eq!(found.facts().len(), 1);
    // A clock of 10 ms can't resolve a tenth of a percent of 20 ms.
    let coarse: Vec<f64> = (0..1000).map(|i| if i % 7 == 0 { 0.03 } else { 0.02 }).collect();
    let series = Series { wall: &coarse, cpu: &coarse, seconds_per_run: 0.02 };
    let found = calibrate(&series, 1).unwrap();
    assert!(found.detectable("wall", 600.0).is_some_and(|size| size >= 0.49), "{found:?}");
}

#[test]
fn what_is_no_series_of_times_is_refused_with_the_reason() {
    let good = vec![1.0; 1000];
    let with = |at: usize, value: f64| {
        let mut values = good.clone();
        values[at] = value;
        values
    };
    let error = |wall: &[f64], cpu: &[f64], pace: f64| {
        calibrate(&Series { wall, cpu, seconds_per_run: pace }, 1).unwrap_err().to_string()
    };
    assert!(error(&good[1..], &good[1..], 1.0).contains("at least 1000 runs"));
    assert!(error(&good, &good[1..], 1.0).contains("1000 wall-clock times but 999 CPU times"));
    assert!(error(&with(4, 0.0), &good, 1.0).contains("run 5 has the wall time 0 s"));
    assert!(error(&good, &with(0, f64::NAN), 1.0).contains("run 1 has the cpu time NaN"));
    assert!(error(&good, &good, 0.0).contains("must be positive"));
    // Constant values: no difference is found and nothing panics.
    let flat = calibrate(&Series { wall: &good, cpu: &good, seconds_per_run: 0.1 }, 1).unwrap();
    assert!(flat.methods.iter().all(|m| m.false_alarms == 0), "{flat:?}");
}

#[test]
fn times_are_looked_at_before_anything_is_simulated() {
    let good = vec![1.0; 1000];
    let with = |at: usize, value: f64| {
        let mut values = good.clone();
        values[at] = value;
        values
    };
    let is_refused = |wall: &[f64], cpu: &[f64], seconds_per_run: f64| {
        check(&Series { wall, cpu, seconds_per_run }).is_err()
    };
    assert!(!is_refused(&good, &good, 0.1) && !is_refused(&good, &with(3, 0.0), 0.1));
    assert!(is_refused(&good[1..], &good[1..], 0.1) && is_refused(&good, &good[1..], 0.1));
    for pace in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(is_refused(&good, &good, pace), "{pace}");
    }
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(is_refused(&with(4, wrong), &good, 0.1), "{wrong}");
        assert!(is_refused(&good, &with(999, wrong), 0.1), "{wrong}");
    }
    assert!(is_refused(&with(4, 0.0), &good, 0.1));
}

#[test]
fn chance_takes_every_place_and_either_side() {
    let mut random = Random(Pcg64Mcg::new(5));
    let places: std::collections::BTreeSet<usize> = (0..200).map(|_| random.below(7)).collect();
    assert_eq!(places.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(random.below(0), 0);
    let heads = (0..200).filter(|_| random.coin()).count();
    assert!((60..140).contains(&heads), "{heads}");
    let (one, other) = (random.seed(), random.seed());
    assert!(one != other && one < 1 << 53 && other < 1 << 53);
}

#[test]
fn the_rate_is_that_of_all_comparisons_and_its_interval_that_of_independent_ones() {
    let method = Method {
        name: MethodName::BlockOrder,
        test: "a test",
        comparisons: 400,
        independent: 100,
        false_alarms: 20,
        phantom_p95: 0.0,
    };
    assert_eq!(method.rate(), 0.05);
    // Wilson's interval for 5 of 100.
    let found = method.interval().unwrap();
    assert!(
        (found.lower - 0.021_543_7).abs() < 1e-5 && (found.upper - 0.111_750_5).abs() < 1e-5,
        "{found:?}"
    );
    assert_eq!(Method { comparisons: 0, false_alarms: 0, ..method }.rate(), 0.0);
}
