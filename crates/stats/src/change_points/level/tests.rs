//! Seeded simulations: false-positive rates with and without dependence, locations of steps, and
//! creep versus steps.

use super::*;
use crate::{student_t, trend};

const SHORTEST: usize = 5;

fn autoregressive(random: &mut Stream, n: usize, phi: f64) -> Vec<f64> {
    let mut state = random.normal();
    let keep = (1.0 - phi * phi).sqrt();
    let next = || {
        let now = state;
        state = phi * state + keep * random.normal();
        now
    };
    std::iter::repeat_with(next).take(n).collect()
}

fn step(random: &mut Stream, n: usize, at: usize, size: f64, phi: f64) -> Vec<f64> {
    let noise = autoregressive(random, n, phi);
    noise.into_iter().enumerate().map(|(i, x)| if i < at { x } else { x + size }).collect()
}

#[test]
fn a_series_without_a_change_has_one_as_rarely_as_asked_whatever_its_runs_keep() {
    for (n, phi, series) in [
        (10, 0.0, 1000),
        (30, 0.0, 1000),
        (60, 0.2, 1000),
        (60, 0.6, 1000),
        (200, 0.0, 600),
        (200, 0.4, 600),
        (200, 0.8, 600),
        (1000, 0.5, 100),
    ] {
        let alarms = (0..series).filter(|&number| {
            let xs = autoregressive(&mut Stream::new(7, number), n, phi);
            !levels(&xs, 0.02, SHORTEST, number).changes.is_empty()
        });
        let share = alarms.count() as f64 / series as f64;
        assert!(share <= 0.055, "{n} {phi}: {share}");
    }
}

#[test]
fn the_chance_of_a_change_is_what_it_says() {
    let mut reached = [0; 3];
    for number in 0..10_000 {
        let xs = autoregressive(&mut Stream::new(11, number), 80, 0.0);
        let found = levels(&xs, 0.02, SHORTEST, number);
        let least = found.changes.iter().map(|change| change.p).fold(1.0, f64::min);
        for (reached, level) in reached.iter_mut().zip([0.02, 0.005, 0.001]) {
            *reached += u32::from(least <= level);
        }
    }
    // There are fewer if the estimate of φ is positive by chance.
    assert!((60..=200).contains(&reached[0]), "{reached:?}");
    assert!((10..=50).contains(&reached[1]), "{reached:?}");
    assert!((1..=14).contains(&reached[2]), "{reached:?}");
}

#[test]
fn steps_are_found_where_they_are_among_dependence_and_stalls() {
    for (phi, size, needed) in [(0.0, 1.5, 90), (0.4, 2.5, 90), (0.4, 5.0, 93), (0.8, 5.0, 60)] {
        let mut right = 0;
        for number in 0..100 {
            let mut random = Stream::new(31, number);
            let mut xs = step(&mut random, 160, 60, size, phi);
            for x in &mut xs {
                *x += if random.uniform() < 0.02 { 500.0 } else { 0.0 };
            }
            let found = levels(&xs, 0.02, SHORTEST, number);
            let near = found.changes.iter().filter(|change| change.index.abs_diff(60) <= 5);
            right += u32::from(near.count() == 1 && found.changes.len() <= 2);
        }
        assert!(right >= needed, "{phi} {size}: {right}");
    }
}

#[test]
fn a_large_step_near_the_end_has_its_place() {
    let (mut right, mut none) = (0, 0);
    for number in 0..500 {
        let mut random = Stream::new(17, number);
        // Every twentieth value deviates three times as much.
        let mut xs = step(&mut random, 70, 60, 3.3, 0.0);
        for x in &mut xs {
            *x += if random.uniform() < 0.05 { 3.0 * random.normal() } else { 0.0 };
        }
        let found = levels(&xs, 0.02, SHORTEST, number).changes;
        right += u32::from(found.iter().any(|change| change.index.abs_diff(60) <= 2));
        none += u32::from(found.is_empty());
    }
    assert!(right >= 460 && none <= 15, "{right} {none}");
}

#[test]
fn what_steps_leave_is_no_dependence() {
    let mut random = Stream::new(4, 0);
    let xs: Vec<f64> = (0..300).map(|i| random.normal() + f64::from(i / 50 % 2) * 6.0).collect();
    let found = levels(&xs, 0.02, SHORTEST, 1);
    let indices: Vec<usize> = found.changes.iter().map(|change| change.index).collect();
    assert_eq!(indices, [50, 100, 150, 200, 250]);
    assert!(found.lag1 < 0.2, "{}", found.lag1);
}

#[test]
fn a_short_or_constant_series_has_none_and_two_levels_have_their_place() {
    for xs in [vec![], vec![1.0], vec![3.0; 500], (0..9).map(f64::from).collect()] {
        assert!(levels(&xs, 0.02, SHORTEST, 1).changes.is_empty());
        assert_eq!(creep(&xs, &[], SHORTEST, 1), None);
    }
    let xs: Vec<f64> = (0..60).map(|i| if i < 30 { 4.0 } else { 5.0 }).collect();
    let found = levels(&xs, 0.02, 0, 1);
    assert_eq!(found.changes.iter().map(|change| change.index).collect::<Vec<_>>(), [30]);
}

#[test]
fn the_set_of_places_holds_the_place_as_often_as_it_says() {
    for (size, phi) in [(1.5, 0.0), (2.5, 0.0), (5.0, 0.0), (2.5, 0.4), (5.0, 0.6)] {
        let (mut held, mut wide) = (0, 0);
        for number in 0..400 {
            let xs = step(&mut Stream::new(5, number), 60, 25, size, phi);
            let (first, last) = places(&xs, 25, phi, &[0.95])[0];
            // Starts from another place, since the true one is unknown in practice.
            let (first_alone, last_alone) = places(&xs, first.midpoint(last), phi, &[0.95])[0];
            held += usize::from((first_alone..=last_alone).contains(&25));
            wide += last - first;
        }
        assert!(held >= 372, "{size} {phi}: {held} of 400");
        if size > 2.0 {
            assert!(wide < 400 * 8, "{size} {phi}: {wide}");
        }
    }
}

#[test]
fn a_clear_step_has_one_place_and_nothing_is_out_of_range() {
    let xs: Vec<f64> =
        (0..40).map(|i| f64::from(i % 5) + if i < 20 { 0.0 } else { 100.0 }).collect();
    let (first, last) = places(&xs, 20, 0.0, &[0.95])[0];
    assert!(first >= 17 && last <= 24 && (first..=last).contains(&20), "{first} {last}");
    assert_eq!(places(&xs, 0, 0.0, &[0.95, 0.99]), [(0, 0); 2]);
    assert_eq!(places(&xs[..3], 2, 0.0, &[0.95]), [(2, 2)]);
}

#[test]
fn creep_without_dependence_is_spearmans_test() {
    // In this order, neighbors differ more than others.
    let xs: Vec<f64> =
        (0..40).map(|i| f64::from(i) + if i % 2 == 0 { 18.0 } else { -18.0 }).collect();
    let found = creep(&xs, &[], SHORTEST, 1).unwrap();
    let r = trend::rank_correlation(&xs);
    let p = 2.0 * student_t::cdf(-r * (38.0 / (1.0 - r * r)).sqrt(), 38.0);
    assert!(found.rises && (found.p / p - 1.0).abs() < 0.05, "{} {p}", found.p);
    let falling: Vec<f64> = xs.iter().map(|x| -x).collect();
    assert!(!creep(&falling, &[], SHORTEST, 1).unwrap().rises);
}

#[test]
fn more_places_and_more_dependence_make_larger_ratios_by_chance() {
    assert!(height(1000, 0.0) > height(100, 0.0) && height(100, 0.0) > height(30, 0.0));
    assert!(height(100, 0.6) > height(100, 0.3) && height(100, 0.3) > height(100, 0.0));
    // Five values on each side leave one place.
    assert_eq!(height(10, 0.0), height(11, 0.0));
    // At the height the p-value is 1, and 2.15 above it 1/e.
    let at = height(100, 0.2);
    assert_eq!(chance(at, 100, 0.2), 1.0);
    assert_eq!(chance(at - 5.0, 100, 0.2), 1.0);
    assert!((chance(at + HEIGHT[1], 100, 0.2) - (-1.0_f64).exp()).abs() < 1e-12);
}

#[test]
fn noise_creeps_as_rarely_as_asked() {
    for (n, phi) in [(30, 0.0), (60, 0.4), (200, 0.0), (200, 0.6)] {
        let alarms = (0..1000).filter(|&number| {
            let xs = autoregressive(&mut Stream::new(9, number), n, phi);
            creep(&xs, &[], SHORTEST, number).is_some_and(|found| found.p < 0.01)
        });
        let alarms = alarms.count();
        assert!(alarms <= 30, "{n} {phi}: {alarms} of 1000");
    }
}

#[test]
fn a_line_is_told_from_steps() {
    let (mut lines, mut one, mut several) = (0, 0, 0);
    for number in 0..200 {
        let mut random = Stream::new(10, number);
        let slowly: Vec<f64> = (0..120).map(|i| random.normal() + f64::from(i) / 40.0).collect();
        let found = creep(&slowly, &[], SHORTEST, number).unwrap();
        lines += usize::from(found.p < 0.01 && found.steadier);
        let stepped = step(&mut random, 120, 50, 2.0, 0.0);
        one += usize::from(creep(&stepped, &[50], SHORTEST, number).unwrap().steadier);
        let stairs: Vec<f64> =
            (0..120).map(|i| random.normal() + 3.0 * f64::from(i / 40)).collect();
        several += usize::from(creep(&stairs, &[40, 80], SHORTEST, number).unwrap().steadier);
    }
    assert!(lines >= 170 && one <= 3 && several <= 4, "{lines} {one} {several}");
}

#[test]
fn the_correlation_of_neighbours_is_that_of_each_part_with_the_bias_put_right() {
    // Two numbers fitted to ten values: 1/4 + 2 (1 + 4/4)/10.
    assert!((unbiased(4.0, 1.0, 2, 10) - 0.65).abs() < 1e-12);
    // A negative correlation has the same bias as that of independent values.
    assert!((unbiased(4.0, -1.0, 2, 10) - -0.05).abs() < 1e-12);
    assert_eq!(unbiased(0.0, 1.0, 1, 10), 0.1);
    // Scores −3, −1, 1 and 3 eighths: squares 20, products 5.
    assert!((lag1_left(&[0, 1, 2, 3], &[]) - (0.25 + 2.0 / 4.0)).abs() < 1e-12);
    // Two parts of −1/4 and 1/4.
    assert!((lag1_left(&[0, 1, 2, 3], &[2]) - (-0.5 + 2.0 / 4.0)).abs() < 1e-12);
}

#[test]
fn one_standard_error_more_than_was_found_is_assumed_but_no_more_than_twice_of_it() {
    assert!((careful(0.5, 100) - 0.6).abs() < 1e-12);
    assert!((careful(0.05, 100) - 0.1).abs() < 1e-12);
    assert_eq!((careful(-0.3, 100), careful(0.95, 100)), (0.0, MOST_LAG1));
}

#[test]
fn scores_without_dependence_are_divided_by_their_squares() {
    let white = White::new(&[-0.3, 0.1, 0.5], 0.0);
    assert!((white.level.0 - 3.0).abs() < 1e-12 && (white.level.1 - 0.3).abs() < 1e-12);
    // 0.09 + 0.01 + 0.25 − 0.3²/3.
    assert!((white.residue - 0.32).abs() < 1e-12);
    // For 0.6 the first value keeps 0.8 of a level, the others 0.4; of the values, 0.8 · 1, 2 −
    // 0.6, 4 − 1.2 remain.
    let white = White::new(&[1.0, 2.0, 4.0], 0.6);
    assert!((white.level.0 - (0.64 + 2.0 * 0.16)).abs() < 1e-12);
    assert!((white.level.1 - (0.8 * 0.8 + 0.4 * (1.4 + 2.8))).abs() < 1e-12);
}

#[test]
fn a_level_beyond_a_fifth_is_a_fifth() {
    for seed in 0..40 {
        let xs = autoregressive(&mut Stream::new(12, seed), 30, 0.0);
        assert_eq!(levels(&xs, 1.0, SHORTEST, seed), levels(&xs, 0.2, SHORTEST, seed));
    }
}

#[test]
fn a_part_has_its_share_of_the_error() {
    let mut random = Stream::new(4, 1);
    let xs: Vec<f64> = (0..90).map(|i| random.normal() + f64::from(i / 30) * 1.5).collect();
    let found = levels(&xs, 0.02, SHORTEST, 1);
    let indices: Vec<usize> = found.changes.iter().map(|change| change.index).collect();
    assert_eq!(indices.len(), 2, "{found:?}");
    let ranks = distinct_ranks(&xs, &mut Stream::new(1, 0));
    let ratio = largest(&scores(&ranks[..indices[1]]), found.lag1, SHORTEST).0;
    let share = indices[1] as f64 / 90.0;
    let p = chance(ratio, indices[1], found.lag1) / share;
    assert!((found.changes[0].p / p - 1.0).abs() < 1e-9, "{found:?} {p}");
}

#[test]
fn more_confidence_takes_more_places() {
    let xs = step(&mut Stream::new(5, 2), 60, 25, 1.0, 0.0);
    let found = places(&xs, 25, 0.0, &[0.5, 0.95, 0.999]);
    let widths: Vec<usize> = found.iter().map(|(first, last)| last - first).collect();
    assert!(widths[0] < widths[1] && widths[1] < widths[2], "{found:?}");
    assert!(widths[2] < 59, "{found:?}");
}

#[test]
fn a_step_leaves_enough_values_on_either_side() {
    let mut scores = [0.0; 20];
    scores[18..].fill(9.0);
    let place = |scores: &[f64]| largest_gain(&White::new(scores, 0.0), SHORTEST).1;
    assert_eq!(place(&scores), 15);
    scores.reverse();
    assert_eq!(place(&scores), 5);
}

#[test]
fn a_step_far_beyond_the_noise_is_found_in_the_shortest_series() {
    for (before, after) in [(5, 5), (8, 8), (5, 12), (20, 6)] {
        let mut missed = 0;
        for number in 0..500 {
            let mut random = Stream::new(19, number);
            for (size, phi) in [(80.0, 0.0), (-80.0, 0.5)] {
                let xs = step(&mut random, before + after, before, size, phi);
                let found = levels(&xs, 0.02, SHORTEST, number).changes;
                let is_it = |change: &LevelChange| change.index == before && change.p <= 0.02;
                missed += u32::from(!found.iter().any(is_it));
            }
        }
        assert_eq!(missed, 0, "{before} + {after}: {missed} of 1000");
    }
}
