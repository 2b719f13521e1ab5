//! Compares the formulas with simulations, and simulations with tables.

use super::*;

const TEST: RankTest = RankTest { sides: Sides::Two, sig_level: 0.05 };
const EXPERIMENTS: u64 = 4000;

#[derive(Clone, Copy, Debug)]
enum Distribution {
    Normal,
    Lognormal,
    /// A mixture of three shifted lognormals with shares of 0.7, 0.2 and 0.1.
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

/// Returns true if Mann-Whitney's test finds the second sample larger, computed directly.
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
        // Four standard errors of the simulation, plus the uncertainty of 20,000 values.
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
        // The signed-rank test has its nominal level only for symmetric differences.
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
    // A shift of a tenth of a step moves one value in ten.
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
    // The most extreme outcome of 4 and 4 values has p = 2/70, that of 3 and 3 has 2/20, and 1/20
    // one-sided.
    assert_eq!(two.critical(4, TEST), Some(8.0));
    assert_eq!(two.critical(3, TEST), Some(f64::INFINITY));
    assert_eq!(two.critical(3, one_sided), Some(4.5));
    // That of 6 pairs has p = 2/64, that of 5 has 2/32, and 1/32 one-sided.
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

#[test]
fn an_experiment_costs_its_draws_and_a_pass_over_the_classes_for_each_size() {
    // 0 and 1, and 1 and 2 when shifted: three classes.
    let samples = ShiftedPilot::two_samples(&[0.0, 0.0, 1.0], 1.0).unwrap();
    assert_eq!(samples.cost(&[10, 20]), 2.0 * 20.0 + 2.0 * 3.0);
    assert_eq!(samples.cost(&[]), 0.0);
    // −1, 0 and 1 moved by 3, and one class for zeros.
    let pairs = ShiftedPilot::pairs(&[-1.0, 0.0, 1.0], 3.0).unwrap();
    assert_eq!(pairs.cost(&[7]), 2.0 * 7.0 + 4.0);
}

fn drawn_so_far(pairs: bool, first: &[u32], second: &[u32]) -> DrawnRanks {
    DrawnRanks { pairs, n: 0, first: first.to_vec(), second: second.to_vec() }
}

#[test]
fn an_experiment_finds_a_difference_where_r_has_such_a_p() {
    // R: wilcox.test(exact = FALSE) of values that fall into these classes, two-sided and greater;
    // for pairs, the classes are sizes, without zeros.
    for (pairs, first, second, two, greater) in [
        (
            false,
            &[20, 15, 10, 5, 0][..],
            &[10, 10, 10, 10, 10][..],
            0.000_396_991_948_447_5,
            0.000_198_495_974_223_75,
        ),
        (
            false,
            &[30, 20, 0, 5, 1],
            &[10, 22, 12, 6, 6],
            1.339_199_357_981e-5,
            6.695_996_789_905e-6,
        ),
        (
            false,
            &[1, 1, 1, 1, 1, 1, 1, 50],
            &[0, 0, 0, 3, 2, 2, 0, 50],
            0.956_395_546_536_78,
            0.478_197_773_268_39,
        ),
        (
            true,
            &[0, 12, 8, 5, 2, 0],
            &[0, 10, 10, 10, 10, 10],
            0.000_132_852_300_272_72,
            6.642_615_013_636e-5,
        ),
        (
            true,
            &[0, 20, 10, 0, 1],
            &[0, 25, 12, 8, 9],
            0.001_243_169_396_588_1,
            0.000_621_584_698_294_06,
        ),
    ] {
        let found = drawn_so_far(pairs, first, second);
        let turned = drawn_so_far(pairs, second, first);
        let at = |drawn: &DrawnRanks, sides, sig_level| {
            drawn.is_found(None, RankTest { sides, sig_level })
        };
        for (sides, p) in [(Sides::Two, two), (Sides::TwoStrict, two), (Sides::One, greater)] {
            assert!(
                at(&found, sides, p * 1.001) && !at(&found, sides, p * 0.999),
                "{first:?} {sides:?}"
            );
        }
        // Only a strict two-sided test finds a difference in the opposite direction.
        assert!(
            at(&turned, Sides::TwoStrict, two * 1.001)
                && !at(&turned, Sides::TwoStrict, two * 0.999)
        );
        assert!(!at(&turned, Sides::Two, two * 1.001) && !at(&turned, Sides::One, greater * 1.001));
    }
    // Two values below two others: 2 from the middle, which suffices if 2 is required.
    let below = drawn_so_far(false, &[0, 2], &[2, 0]);
    let strict = RankTest { sides: Sides::TwoStrict, sig_level: 0.05 };
    assert!(below.is_found(Some(2.0), strict) && !below.is_found(Some(2.5), strict));
    assert!(!below.is_found(Some(2.0), TEST));
}

#[test]
fn the_formulas_are_those_of_lehmann() {
    let moments = |p, one, each| Moments { p, one, each, positive: 0.58, untied: 0.9 };
    let near = |ours: f64, expected: f64| (ours / expected - 1.0).abs() < 1e-9;
    // R: pnorm of the distance beyond the critical value, in standard deviations of the
    // alternative.
    let design = Design::Pairs { sizes: vec![], classes: 1 };
    let pairs = ShiftedPilot { design, moments: moments(0.62, 0.2, 0.01) };
    assert!(near(pairs.formula_power(100.0, TEST), 0.721_241_060_309_399_3));
    assert!(near(pairs.formula_power(100.5, TEST), 0.726_175_790_664_698_5));
    let few = Moments { positive: 0.75, untied: 1.0, ..moments(0.8, 0.2, 0.01) };
    let few = ShiftedPilot { moments: few, ..pairs };
    // 8 is the critical value of ten pairs: 27.5 − 8 − 0.5 from the middle.
    assert!(near(few.formula_power(10.0, TEST), 0.240_206_571_811_950_9));
    assert_eq!(few.formula_power(10.9, TEST), few.formula_power(10.0, TEST));
    let design = Design::TwoSamples { plain: vec![], shifted: vec![], classes: 1 };
    let samples = ShiftedPilot { design, moments: moments(0.6, 0.2, 0.15) };
    assert!(near(samples.formula_power(80.0, TEST), 0.633_376_028_998_407_1));
    // A power of zero needs only the minimum.
    assert_eq!(samples.formula_n(0.0, TEST), Some(2.0));
}

#[test]
fn what_pairs_are_like_is_counted_over_all_two_of_them() {
    let ascending = [-3.0, -1.0, 0.5, 1.0, 2.0, 7.0];
    let n = 6.0;
    let share = |d: f64| ascending.iter().filter(|other| **other + d > 0.0).count() as f64 / n;
    let p = ascending.iter().map(|d| share(*d)).sum::<f64>() / n;
    let squares = ascending.iter().map(|d| share(*d).powi(2)).sum::<f64>() / n;
    let found = paired_moments(&ascending);
    assert!(
        (found.p - p).abs() < 1e-12 && (found.each - (squares - p * p)).abs() < 1e-12,
        "{found:?}"
    );
    assert!((found.positive - 4.0 / 6.0).abs() < 1e-12, "{found:?}");
    assert!((found.one - (2.0 * (4.0 / 6.0 - p).powi(2) + 3.0 * p * (1.0 - p))).abs() < 1e-12);
}

#[test]
fn ties_take_the_cubes_of_their_shares_from_the_variance() {
    // Shares of all values: (2 + 0)/6, (1 + 2)/6 and (0 + 1)/6.
    let found = two_sample_moments(&[0, 0, 1], &[1, 1, 2], 3);
    assert!((found.untied - (1.0 - (8.0 + 27.0 + 1.0) / 216.0)).abs() < 1e-12, "{found:?}");
    // Of the nine pairs, two are ties.
    assert!((found.p - (9.0 - 2.0 / 2.0) / 9.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn pairs_of_one_size_are_one_class() {
    // Their median of pairwise means is 0.75.
    let pilot = ShiftedPilot::pairs(&[-1.0, 1.0, 2.0], 0.75).unwrap();
    let expected = [(1, false), (1, true), (2, true)];
    let is_so = |design: &Design| matches!(design, Design::Pairs { sizes, classes: 3 } if *sizes == expected);
    assert!(is_so(&pilot.design), "{:?}", pilot.design);
}

#[test]
fn of_many_values_evenly_spaced_ones_are_kept() {
    let kept = thinned((0..2 * KEPT).map(|i| i as f64).collect());
    assert!(kept.len() == KEPT && kept.iter().enumerate().all(|(i, x)| *x == (2 * i + 1) as f64));
}

#[test]
fn values_on_a_grid_that_do_not_move_stay_where_they_are() {
    let grid = [-3.0, -1.0, 0.0, 1.0, 2.0];
    assert_eq!(moved(&grid, 0.0, 0.0), grid);
    assert_eq!(moved(&grid, 0.0, -3.0), grid);
    assert_eq!(moved(&grid, -2.0, 0.0), [-5.0, -3.0, -2.0, -1.0, 0.0]);
    // Without a shift, the superiority is ½.
    let pilot = ShiftedPilot::two_samples(&grid, 0.0).unwrap();
    assert!((pilot.superiority() - 0.5).abs() < 1e-15, "{}", pilot.superiority());
}
