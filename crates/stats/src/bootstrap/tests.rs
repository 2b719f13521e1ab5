//! Compares the intervals with those of a plain bootstrap on the same draws, and checks their
//! coverage.

use super::*;
use proptest::prelude::*;

fn lognormal(n: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0);
    (0..n).map(|_| (5.0 + 0.2 * stream.normal()).exp()).collect()
}

/// Resamples any statistic directly: builds every resample, and every sample with one value
/// omitted.
fn bootstrap_with(
    xs: &[f64],
    resamples: usize,
    seed: u64,
    statistic: impl Fn(&mut [f64]) -> f64 + Sync,
) -> Option<Bootstrap> {
    if xs.is_empty() {
        return None;
    }
    let n = xs.len();
    let replicates = in_chunks(
        resamples.max(2),
        n,
        seed,
        || vec![0.0; n],
        |stream, drawn| {
            drawn.iter_mut().for_each(|place| *place = xs[stream.next_index(n)]);
            statistic(drawn)
        },
    );
    let t0 = statistic(&mut xs.to_vec());
    let jackknife = (n > 1).then(|| {
        let mut rest = Vec::with_capacity(n);
        let without = |left_out: usize| {
            rest.clear();
            rest.extend(xs.iter().enumerate().filter(|&(i, _)| i != left_out).map(|(_, x)| x));
            t0 - statistic(&mut rest)
        };
        (0..n).map(without).collect::<Vec<_>>()
    });
    Some(Bootstrap::new(t0, replicates, jackknife.and_then(|influence| acceleration(&influence))))
}

#[test]
fn the_plain_intervals_are_their_definitions() {
    // The mean is 9.75, so the bias −0.25; the variance is 8.75/3.
    let found = Bootstrap::new(10.0, vec![12.0, 8.0, 10.0, 9.0], None);
    assert_eq!(found.replicates(), [8.0, 9.0, 10.0, 12.0]);
    assert_eq!((found.bias, found.bca(0.9)), (-0.25, None));
    // R: qnorm(0.975).
    let reach = 1.959_963_984_540_054 * (8.75_f64 / 3.0).sqrt();
    let normal = found.normal(0.95).unwrap();
    assert!((normal.lower - (10.25 - reach)).abs() < 1e-12, "{normal:?}");
    assert!((normal.upper - (10.25 + reach)).abs() < 1e-12, "{normal:?}");
    // Beyond the first and the last replicate the quantiles are constant; positions 1 and 4 of 4
    // are 20 % and 80 %.
    assert_eq!(found.percentile(0.99).unwrap(), Interval { lower: 8.0, upper: 12.0 });
    let within = found.percentile(0.6).unwrap();
    assert!((within.lower - 8.0).abs() < 1e-9 && (within.upper - 12.0).abs() < 1e-9, "{within:?}");
    let middle = found.percentile(0.2).unwrap();
    assert!((middle.lower - 9.0).abs() < 1e-9 && (middle.upper - 10.0).abs() < 1e-9, "{middle:?}");
    assert_eq!(found.basic(0.99).unwrap(), Interval { lower: 8.0, upper: 12.0 });
    let mirrored = found.basic(0.2).unwrap();
    assert!((mirrored.lower - 10.0).abs() < 1e-9 && (mirrored.upper - 11.0).abs() < 1e-9);
    let constant = Bootstrap::new(10.0, vec![10.0; 5], None);
    let none = [constant.normal(0.9), constant.basic(0.9), constant.percentile(0.9)];
    assert_eq!(none, [None; 3]);
}

#[test]
fn the_number_of_threads_changes_no_digit() {
    let xs = lognormal(3000, 1);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let median = |drawn: &mut [f64]| descriptive::median(drawn);
            (
                bootstrap(&xs, Statistic::StandardDeviation, 1000, 9),
                bootstrap(&xs, Statistic::Mean, 1000, 9),
                bootstrap_with(&xs, 500, 9, median),
            )
        })
    };
    let one = with(1);
    assert_eq!(one, with(4));
    assert_eq!(one, with(3));
    assert!(one.0.is_some_and(|b| b.replicates().len() == 1000));
}

#[test]
fn medians_drawn_as_order_statistics_have_the_distribution_of_medians_of_resamples() {
    for n in [2, 3, 8, 51] {
        let xs = lognormal(n, 4);
        let drawn = bootstrap(&xs, Statistic::Median, 20_000, 1).unwrap();
        let formed = bootstrap_with(&xs, 20_000, 2, |drawn| descriptive::median(drawn)).unwrap();
        // The largest distance between two empirical distributions of 20,000 values: 0.02 at 0.1 %.
        let below =
            |b: &Bootstrap, x: f64| b.replicates().partition_point(|&t| t <= x) as f64 / 20_000.0;
        for &x in drawn.replicates().iter().chain(formed.replicates()) {
            let distance = (below(&drawn, x) - below(&formed, x)).abs();
            assert!(distance < 0.02, "n = {n}: {distance} at {x}");
        }
        assert_eq!(drawn.t0, formed.t0);
        let (a, b) = (drawn.acceleration.unwrap(), formed.acceleration.unwrap());
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn known_statistics_and_the_same_as_a_function_agree() {
    let xs = lognormal(40, 2);
    for (statistic, function) in [
        (Statistic::Mean, descriptive::mean as fn(&[f64]) -> f64),
        (Statistic::StandardDeviation, descriptive::standard_deviation),
    ] {
        let known = bootstrap(&xs, statistic, 20_000, 1).unwrap();
        let general = bootstrap_with(&xs, 20_000, 2, |drawn| function(drawn)).unwrap();
        assert!((known.se / general.se - 1.0).abs() < 0.03);
        let (a, b) = (known.acceleration.unwrap(), general.acceleration.unwrap());
        assert!((a - b).abs() < 1e-9, "{a} {b}");
        let (a, b) = (known.bca(0.9).unwrap(), general.bca(0.9).unwrap());
        assert!((a.lower - b.lower).abs() < 0.1 * known.se, "{a:?} {b:?}");
        assert!((a.upper - b.upper).abs() < 0.1 * known.se, "{a:?} {b:?}");
    }
}

#[test]
fn what_can_not_vary_has_no_interval() {
    for statistic in [Statistic::Mean, Statistic::StandardDeviation, Statistic::Median] {
        assert_eq!(bootstrap(&[], statistic, 100, 1), None);
        for xs in [vec![5.1; 7], vec![5.1]] {
            let b = bootstrap(&xs, statistic, 100, 1).unwrap();
            assert_eq!(b.normal(0.95), None, "{xs:?} {b:?}");
            assert_eq!((b.basic(0.95), b.percentile(0.95), b.bca(0.95)), (None, None, None));
        }
    }
}

#[test]
fn large_samples_get_fewer_resamples_and_small_ones_more() {
    assert_eq!(resamples_for(0, 1), MOST_RESAMPLES);
    assert_eq!(resamples_for(1000, 1), 20_000);
    assert_eq!(resamples_for(2000, 1), RESAMPLES);
    assert_eq!(resamples_for(35_000, 1), RESAMPLES);
    assert_eq!(resamples_for(1_000_000, 1), 400);
    assert_eq!(resamples_for(usize::MAX, 1), FEWEST_RESAMPLES);
    // A suite of 42 benchmarks with four metrics each must not take minutes.
    assert_eq!(resamples_for(10, 42 * 4), 11_904);
    assert_eq!(resamples_for(10, usize::MAX), RESAMPLES);
}

#[test]
fn a_percentile_interval_of_the_mean_covers_it_about_as_often_as_it_says() {
    let mut covered = 0;
    for experiment in 0..1000 {
        let xs = lognormal(100, 1000 + experiment);
        let interval = bootstrap(&xs, Statistic::Mean, 400, experiment)
            .and_then(|b| b.percentile(0.95))
            .unwrap();
        covered += u32::from(interval.contains((5.0f64 + 0.02).exp()));
    }
    // 95 % of 1000, minus the loss due to 100 values and 400 resamples, within 4 standard errors.
    assert!((915..=978).contains(&covered), "{covered}");
}

proptest! {
    #[test]
    fn no_values_make_it_panic(
        xs in prop::collection::vec(prop::num::f64::ANY, 1..12),
        seed in any::<u64>(),
    ) {
        for statistic in [Statistic::Mean, Statistic::StandardDeviation, Statistic::Median] {
            let b = bootstrap(&xs, statistic, 60, seed).unwrap();
            let _ = (b.normal(0.9), b.basic(0.9), b.percentile(0.9), b.bca(0.9));
        }
    }

    #[test]
    fn a_shift_and_a_scale_move_the_intervals_with_them(
        xs in prop::collection::vec(-10.0f64..10.0, 5..30),
        shift in -100.0f64..100.0,
        scale in 0.1f64..10.0,
    ) {
        let moved: Vec<f64> = xs.iter().map(|x| shift + scale * x).collect();
        let (plain, moved) = (
            bootstrap(&xs, Statistic::Mean, 200, 3).unwrap(),
            bootstrap(&moved, Statistic::Mean, 200, 3).unwrap(),
        );
        let (plain, moved) = (plain.percentile(0.9).unwrap(), moved.percentile(0.9).unwrap());
        prop_assert!((shift + scale * plain.lower - moved.lower).abs() < 1e-9);
        prop_assert!((shift + scale * plain.upper - moved.upper).abs() < 1e-9);
    }
}

#[test]
fn the_acceleration_is_that_of_the_formula() {
    // Cubes 1 + 8 − 27, squares 14.
    let found = acceleration(&[1.0, 2.0, -3.0]).unwrap();
    assert!((found - -18.0 / (6.0 * 14f64.powf(1.5))).abs() < 1e-15, "{found}");
}

#[test]
fn ends_corrected_for_a_changing_error_are_those_of_the_formula() {
    // 999 replicates in even steps, half of them below the estimate; the acceleration is 0.1.
    let replicates: Vec<f64> = (1..1000).map(f64::from).collect();
    let found = Bootstrap::new(500.5, replicates, Some(0.1));
    let interval = found.bca(0.95).unwrap();
    // R: the places are 1000 pnorm(w + z/(1 − 0.1 z)) with w = qnorm(500/999) and z = w ± 1.96.
    let w = normal::quantile(500.0 / 999.0);
    for (end, tail) in
        [(interval.lower, -1.959_963_984_540_054), (interval.upper, 1.959_963_984_540_054)]
    {
        let z = w + tail;
        let place = 1000.0 * normal::cdf(w + z / (1.0 - 0.1 * z));
        assert!((end - place).abs() < 0.02, "{end} {place}");
    }
    assert!(found.quantile(f64::NAN).is_nan());
}

#[test]
fn one_value_has_no_standard_deviation() {
    let found = bootstrap(&[5.0], Statistic::StandardDeviation, 20, 1).unwrap();
    assert!(found.se.is_nan() && found.replicates().iter().all(|sd| sd.is_nan()));
}
