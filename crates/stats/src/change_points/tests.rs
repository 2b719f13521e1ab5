//! Seeded simulations: false-positive rates with and without dependence, and locations of known
//! steps.

use super::*;

/// An autoregression with coefficient `phi` and standard deviation 1.
fn autoregressive(stream: &mut Stream, n: usize, phi: f64) -> Vec<f64> {
    let mut state = stream.normal();
    let keep = (1.0 - phi * phi).sqrt();
    (0..n)
        .map(|_| {
            state = phi * state + keep * stream.normal();
            state
        })
        .collect()
}

fn share_of_alarms(
    method: Method,
    series: u64,
    mut draw: impl FnMut(&mut Stream) -> Vec<f64>,
) -> f64 {
    let alarms = (0..series).filter(|&number| {
        let xs = draw(&mut Stream::new(20_260, number));
        let settings = Settings { method, ..Settings::e_divisive(0.05, number) };
        !change_points(&xs, &settings).points.is_empty()
    });
    alarms.count() as f64 / series as f64
}

#[test]
fn neighbours_are_told_from_differences_alone() {
    // After two steps, an alternating series is back, and a rising one is twice as far away.
    let alternating: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
    assert_eq!(lag1_of_differences(&alternating), -1.0);
    let rising: Vec<f64> = (0..20).map(f64::from).collect();
    assert_eq!(lag1_of_differences(&rising), 3.0);
    let moved: Vec<f64> = rising.iter().map(|x| 4.0 * x + 9.0).collect();
    assert_eq!(lag1_of_differences(&moved), 3.0);
}

#[test]
fn each_part_is_taken_about_its_own_mean() {
    assert_eq!(without_steps(&[1.0, 3.0, 10.0, 14.0, 12.0], &[2]), [-1.0, 1.0, -2.0, 2.0, 0.0]);
    assert_eq!(without_steps(&[1.0, 3.0, 5.0], &[]), [-2.0, 0.0, 2.0]);
}

#[test]
fn a_series_without_a_change_has_one_as_rarely_as_asked() {
    for (method, phi, n, series, allowed) in [
        (Method::EDivisive, 0.0, 60, 400, 0.02..=0.08),
        (Method::EDivisive, 0.0, 300, 300, 0.01..=0.08),
        (Method::EDivisive, 0.5, 300, 300, 0.0..=0.08),
        (Method::Pelt, 0.0, 60, 400, 0.02..=0.08),
        (Method::Pelt, 0.0, 300, 400, 0.02..=0.08),
        (Method::Pelt, 0.5, 300, 400, 0.0..=0.08),
    ] {
        let share = share_of_alarms(method, series, |s| autoregressive(s, n, phi));
        assert!(allowed.contains(&share), "{method:?} {phi} {n}: {share}");
    }
}

#[test]
fn a_long_series_is_made_into_medians_and_then_judged_alike() {
    let share = share_of_alarms(Method::Pelt, 60, |s| autoregressive(s, 9_000, 0.5));
    assert!(share <= 0.12, "{share}");
    let mut stream = Stream::new(8, 0);
    let xs: Vec<f64> =
        (0..9_000).map(|i| stream.exponential() + if i < 4_000 { 0.0 } else { 0.3 }).collect();
    for settings in [Settings::pelt(0.05, 1), Settings::e_divisive(0.05, 1)] {
        let found = change_points(&xs, &settings);
        assert_eq!((found.group, found.points.len()), (5, 1), "{found:?}");
        assert!(found.points[0].index.abs_diff(4_000) < 100, "{found:?}");
    }
}

#[test]
fn steps_are_found_where_they_are_also_among_stalls_and_dependence() {
    for phi in [0.0, 0.5] {
        let mut right = [0, 0];
        for number in 0..50 {
            let mut stream = Stream::new(31, number);
            let mut xs = autoregressive(&mut stream, 300, phi);
            for (i, x) in xs.iter_mut().enumerate() {
                *x += if (100..200).contains(&i) { 4.0 } else { 0.0 };
                if stream.uniform() < 0.02 {
                    *x += 500.0;
                }
            }
            let settings = [Settings::pelt(0.05, number), Settings::e_divisive(0.05, number)];
            for (right, settings) in right.iter_mut().zip(settings) {
                let found = change_points(&xs, &settings);
                let near = |at: usize| found.points.iter().any(|p| p.index.abs_diff(at) <= 5);
                // After splitting, ranks within a part are no longer normal scores, and PELT may
                // treat a cluster of stalls as a separate part.
                let most = if settings.method == Method::Pelt { 4 } else { 2 };
                let found_only = found.points.len() <= most;
                *right += usize::from(found_only && near(100) && near(200));
            }
        }
        assert!(right.iter().all(|&r| r >= 40), "{phi}: {right:?}");
    }
}

#[test]
fn a_change_of_spread_alone_is_a_change() {
    let mut stream = Stream::new(77, 0);
    let xs: Vec<f64> =
        (0..400).map(|i| stream.normal() * if i < 200 { 1.0 } else { 4.0 }).collect();
    for settings in [Settings::pelt(0.05, 3), Settings::e_divisive(0.05, 3)] {
        let found = change_points(&xs, &settings);
        assert!(found.points.iter().any(|p| p.index.abs_diff(200) < 25), "{found:?}");
    }
}

#[test]
fn values_in_steps_are_treated_like_all_others() {
    let ticks =
        share_of_alarms(Method::Pelt, 200, |s| (0..120).map(|_| s.next_index(2) as f64).collect());
    assert!((0.01..=0.1).contains(&ticks), "{ticks}");
    let xs: Vec<f64> = (0..60).map(|i| if i < 30 { 4.0 } else { 5.0 }).collect();
    for settings in [Settings::pelt(0.05, 1), Settings::e_divisive(0.05, 1)] {
        let found = change_points(&xs, &settings);
        assert_eq!(found.points, [ChangePoint { index: 30, before: 4.0, after: 5.0 }]);
    }
}

#[test]
fn short_and_constant_series_have_no_changes() {
    for xs in [vec![], vec![1.0], vec![3.0; 500], (0..19).map(f64::from).collect()] {
        for settings in [Settings::pelt(0.05, 1), Settings::e_divisive(f64::NAN, 1)] {
            assert!(change_points(&xs, &settings).points.is_empty());
        }
    }
}

#[test]
fn dependence_is_what_neighbours_share_and_no_less_than_none() {
    let alternating: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
    assert_eq!(neighbours_time(&alternating), 1.0);
    // A rising series is limited to 0.98.
    let rising: Vec<f64> = (0..20).map(f64::from).collect();
    assert!((neighbours_time(&rising) - 1.98 / 0.02).abs() < 1e-9);
}

#[test]
fn a_constant_series_has_no_change_whatever_the_seed() {
    for seed in 0..300 {
        assert!(change_points(&[3.0; 40], &Settings::pelt(0.2, seed)).points.is_empty());
    }
}

#[test]
fn a_level_beyond_a_fifth_is_a_fifth() {
    for seed in 0..60 {
        let xs = autoregressive(&mut Stream::new(13, seed), 40, 0.0);
        let [all, fifth] = [1.0, 0.2].map(|level| change_points(&xs, &Settings::pelt(level, seed)));
        assert_eq!(all, fifth);
    }
}

#[test]
fn a_series_of_thousands_is_looked_at_in_groups() {
    let xs: Vec<f64> =
        (0..4001).map(|i| f64::from(i * 31 % 97) + if i < 1500 { 0.0 } else { 90.0 }).collect();
    let found = change_points(&xs, &Settings::pelt(0.05, 1));
    assert_eq!((found.group, found.points.len()), (3, 1), "{found:?}");
    assert!(found.points[0].index.abs_diff(1500) < 6, "{found:?}");
}
