//! The formulas against simulation, simulation against tables and against itself.

use super::*;

const TEST: RankTest = RankTest { sides: Sides::Two, sig_level: 0.05 };
const EXPERIMENTS: u64 = 4000;

#[derive(Clone, Copy, Debug)]
enum Distribution {
    Normal,
    Lognormal,
    /// Seven in ten, two in ten and one in ten of three shifted lognormals.
    Mixture,
}

fn drawn(distribution: Distribution, stream: &mut Stream) -> f64 {
    let lognormal = |stream: &mut Stream| (0.2 * stream.normal()).exp();
    match distribution {
        Distribution::Normal => stream.normal(),
        Distribution::Lognormal => (5.0 + stream.normal()).exp(),
        Distribution::Mixture => {
            let which = stream.uniform();
            let shift = if which < 0.7 {
                0.0
            } else if which < 0.9 {
                1.0
            } else {
                3.0
            };
            2000.0 * (shift + lognormal(stream))
        }
    }
}

fn sample(distribution: Distribution, n: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0);
    (0..n).map(|_| drawn(distribution, &mut stream)).collect()
}

/// Whether Mann-Whitney's test finds the second sample larger, the long way.
fn finds(x: &[f64], y: &[f64], level: f64) -> bool {
    let n = x.len() as f64;
    let mut x = x.to_vec();
    x.sort_unstable_by(f64::total_cmp);
    let u: usize = y.iter().map(|y| x.partition_point(|x| x < y)).sum();
    let sd = (n * n * (2.0 * n + 1.0) / 12.0).sqrt();
    (u as f64 - n * n / 2.0 - 0.5) / sd > normal::two_sided(1.0 - level)
}

#[test]
fn the_number_planned_from_a_pilot_finds_the_shift_as_often_as_asked() {
    for (distribution, sd) in [
        (Distribution::Normal, 1.0),
        (Distribution::Lognormal, 120.0),
        (Distribution::Mixture, 1900.0),
    ] {
        let shift = 0.35 * sd;
        let pilot = ShiftedPilot::two_samples(&sample(distribution, 20_000, 1), shift).unwrap();
        let n = pilot.formula_n(0.8, TEST).unwrap().ceil() as usize;
        let mut found = 0;
        for experiment in 0..2000 {
            let x = sample(distribution, n, 100 + 2 * experiment);
            let mut y = sample(distribution, n, 101 + 2 * experiment);
            y.iter_mut().for_each(|y| *y += shift);
            found += u32::from(finds(&x, &y, TEST.sig_level));
        }
        let power = f64::from(found) / 2000.0;
        // Four standard errors of the simulation, and what 20,000 values leave open.
        assert!((power - 0.8).abs() < 0.036 + 0.01, "{distribution:?}: n = {n} gives {power}");
        let simulated = pilot.simulate(&[n as u64], TEST, EXPERIMENTS, 3)[0];
        assert!((simulated - 0.8).abs() < 0.03, "{distribution:?}: n = {n} gives {simulated}");
    }
}

#[test]
fn without_a_shift_the_tests_keep_their_level() {
    for distribution in [Distribution::Normal, Distribution::Lognormal, Distribution::Mixture] {
        let values = sample(distribution, 2000, 7);
        let two = ShiftedPilot::two_samples(&values, 0.0).unwrap();
        // Only symmetric differences give the signed-rank test its level.
        let differences: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
        let pairs = ShiftedPilot::pairs(&differences, 0.0).unwrap();
        for (pilot, least) in [(two, 0.03), (pairs, 0.03)] {
            for rates in [Sides::TwoStrict, Sides::One].map(|sides| {
                let test = RankTest { sides, sig_level: 0.05 };
                pilot.simulate(&[12, 49, 50, 200], test, EXPERIMENTS, 5)
            }) {
                for rate in rates {
                    assert!((least..=0.064).contains(&rate), "{distribution:?}: {rate}");
                }
            }
        }
    }
}

#[test]
fn formula_and_simulation_agree_from_dozens_of_values_on() {
    for distribution in [Distribution::Normal, Distribution::Lognormal, Distribution::Mixture] {
        let values = sample(distribution, 1500, 11);
        let differences: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
        let sd = descriptive::standard_deviation(&values);
        for pilot in [
            ShiftedPilot::two_samples(&values, 0.3 * sd).unwrap(),
            ShiftedPilot::pairs(&differences, 0.3 * sd).unwrap(),
        ] {
            let sizes = [50, 100, 150];
            let simulated = pilot.simulate(&sizes, TEST, EXPERIMENTS, 2);
            for (n, simulated) in sizes.into_iter().zip(simulated) {
                let formula = pilot.formula_power(n as f64, TEST);
                assert!(
                    (formula - simulated).abs() < 0.04,
                    "{distribution:?} {n}: {formula} {simulated}"
                );
            }
        }
    }
}

#[test]
fn normal_values_need_pi_over_three_times_what_the_t_test_needs() {
    let normal: Vec<f64> =
        (0..20_000).map(|i| normal::quantile((f64::from(i) + 0.5) / 20_000.0)).collect();
    let pilot = ShiftedPilot::two_samples(&normal, 0.05).unwrap();
    let n = pilot.formula_n(0.8, TEST).unwrap();
    let t = 2.0 * ((1.959_964 + 0.841_621) / 0.05f64).powi(2);
    assert!((n / t - std::f64::consts::FRAC_PI_3).abs() < 0.01, "{n} {t}");
    // Noether: n = (z_α + z_β)² / (6 (p − ½)²) for two samples of the same size.
    let noether = (1.959_964f64 + 0.841_621).powi(2) / 6.0 / (pilot.superiority() - 0.5).powi(2);
    assert!((n / noether - 1.0).abs() < 0.01, "{n} {noether}");
}

#[test]
fn the_number_of_threads_changes_no_digit() {
    let pilot = ShiftedPilot::two_samples(&sample(Distribution::Mixture, 400, 3), 300.0).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| pilot.simulate(&[20, 60, 90], TEST, 700, 1))
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn ties_of_a_coarse_clock_take_power_away_but_break_nothing() {
    let coarse = |step: f64| -> Vec<f64> {
        sample(Distribution::Normal, 3000, 5).iter().map(|v| (v / step).round() * step).collect()
    };
    let needed = |step| {
        let pilot = ShiftedPilot::two_samples(&coarse(step), 0.3).unwrap();
        pilot.formula_n(0.9, TEST).unwrap()
    };
    assert!(needed(0.01) < needed(4.0), "{} {}", needed(0.01), needed(4.0));
    let constant = ShiftedPilot::two_samples(&[5.0; 30], 0.0).unwrap();
    assert_eq!(constant.formula_n(0.9, TEST), None);
    assert_eq!(constant.simulate(&[10, 100], TEST, 50, 1), [0.0, 0.0]);
    // A tenth of a step is seen by one value in ten.
    let steps: Vec<f64> = (0..3000).map(|i| f64::from(i % 3)).collect();
    let seen = ShiftedPilot::two_samples(&steps, 0.1).unwrap().superiority();
    assert!((seen - (0.5 + 0.1 / 3.0)).abs() < 0.01, "{seen}");
    let apart = ShiftedPilot::two_samples(&[5.0; 30], 1.0).unwrap();
    assert!(apart.simulate(&[60], TEST, 50, 1)[0] > 0.99);
    let pairs = ShiftedPilot::pairs(&[2.0; 30], 0.0).unwrap();
    assert_eq!(pairs.simulate(&[10, 100], TEST, 50, 1), [0.0, 0.0]);
}

#[test]
fn few_values_are_held_against_the_exact_distribution() {
    let pilot = [1.0, 2.0, 3.5, 4.0, 5.5, 7.0];
    let one_sided = RankTest { sides: Sides::One, ..TEST };
    let two = ShiftedPilot::two_samples(&pilot, 1.0).unwrap();
    // The most extreme outcome of 4 and 4 has 2/70, that of 3 and 3 has 2/20, and 1/20 on one side.
    assert_eq!(two.critical(4, TEST), Some(8.0));
    assert_eq!(two.critical(3, TEST), Some(f64::INFINITY));
    assert_eq!(two.critical(3, one_sided), Some(4.5));
    // That of 6 pairs has 2/64, that of 5 has 2/32, and 1/32 on one side.
    let pairs = ShiftedPilot::pairs(&pilot, 1.0).unwrap();
    assert_eq!(pairs.critical(6, TEST), Some(10.5));
    assert_eq!(pairs.critical(5, TEST), Some(f64::INFINITY));
    assert_eq!(pairs.critical(5, one_sided), Some(7.5));
    assert_eq!((two.critical(50, TEST), pairs.critical(50, TEST)), (None, None));
    assert_eq!((largest(&[-3.0, 2.0]), largest(&[])), (3.0, 0.0));
}

#[test]
fn what_is_no_pilot_is_refused() {
    assert!(ShiftedPilot::two_samples(&[1.0], 0.1).is_none());
    assert!(ShiftedPilot::two_samples(&[1.0, f64::NAN], 0.1).is_none());
    assert!(ShiftedPilot::pairs(&[1.0, 2.0], f64::INFINITY).is_none());
}

#[test]
fn the_formula_promises_too_little_of_few_values_rather_than_too_much() {
    for distribution in [Distribution::Normal, Distribution::Lognormal, Distribution::Mixture] {
        let values = sample(distribution, 1500, 11);
        let differences: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
        let sd = descriptive::standard_deviation(&values);
        for (pilot, sizes) in [
            (ShiftedPilot::two_samples(&values, 1.5 * sd).unwrap(), [4_u64, 5, 7, 10, 20]),
            (ShiftedPilot::pairs(&differences, 1.5 * sd).unwrap(), [6, 7, 9, 12, 20]),
        ] {
            assert_eq!(pilot.formula_power(sizes[0] as f64 - 1.0, TEST), 0.0);
            let simulated = pilot.simulate(&sizes, TEST, EXPERIMENTS, 2);
            for (n, simulated) in sizes.into_iter().zip(simulated) {
                let formula = pilot.formula_power(n as f64, TEST);
                let beyond = formula - simulated;
                assert!(
                    (-0.35..0.06).contains(&beyond),
                    "{distribution:?} {n}: {formula} {simulated}"
                );
            }
        }
    }
}

#[test]
fn exact_levels_are_those_of_tables() {
    let near = |levels: Option<Vec<f64>>, expected: &[f64]| {
        for (level, expected) in levels.unwrap().iter().zip(expected) {
            assert!((level - expected).abs() < 1e-12, "{level} {expected}");
        }
    };
    near(exact_levels(Kind::TwoSample, Sides::Two, 4), &[2.0 / 70.0, 4.0 / 70.0, 8.0 / 70.0]);
    near(exact_levels(Kind::TwoSample, Sides::One, 3), &[1.0 / 20.0, 2.0 / 20.0, 4.0 / 20.0]);
    near(exact_levels(Kind::Paired, Sides::Two, 6), &[2.0 / 64.0, 4.0 / 64.0, 6.0 / 64.0]);
    assert_eq!(exact_levels(Kind::Paired, Sides::Two, EXACT_BELOW), None);
}
