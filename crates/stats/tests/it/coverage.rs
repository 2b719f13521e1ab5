//! Seeded simulations: intervals must have their nominal coverage, neither less nor much more.
#![allow(clippy::unwrap_used, reason = "a test may stop")]

use assay_stats::resampling::Stream;
use assay_stats::{autocorrelation, descriptive, order, signed_rank, signs, two_sample};

/// Random numbers for the simulations.
struct Dice(Stream);

impl Dice {
    fn normal(&mut self) -> f64 {
        self.0.normal()
    }

    fn normals(&mut self, n: usize, sd: f64) -> Vec<f64> {
        (0..n).map(|_| sd * self.normal()).collect()
    }

    /// An autoregression with coefficient `phi` and standard deviation 1.
    fn autoregressive(&mut self, n: usize, phi: f64) -> Vec<f64> {
        let mut state = self.normal();
        (0..n)
            .map(|_| {
                state = phi * state + (1.0 - phi * phi).sqrt() * self.normal();
                state
            })
            .collect()
    }
}

/// The share of `experiments` for which `holds` is true.
fn share(experiments: u32, seed: u64, mut holds: impl FnMut(&mut Dice) -> bool) -> f64 {
    let mut dice = Dice(Stream::new(seed, 0));
    let held = (0..experiments).filter(|_| holds(&mut dice)).count();
    held as f64 / f64::from(experiments)
}

#[test]
fn the_walsh_interval_holds_the_centre_as_often_as_it_says() {
    let k = signed_rank::SignedRankDistribution::new().critical(20, 0.05).unwrap();
    for heavy in [false, true] {
        let covered = share(2000, 20_170_204, |dice| {
            let mut xs = dice.normals(20, 1.0);
            if heavy {
                xs.iter_mut().for_each(|x| *x = x.powi(3));
            }
            signed_rank::walsh_interval(&descriptive::sorted(&xs), k).contains(0.0)
        });
        assert!((0.935..=0.97).contains(&covered), "heavy {heavy}: {covered}");
    }
}

#[test]
fn the_placement_interval_holds_the_shift_with_unequal_spreads_and_sizes() {
    // The widening by the autocorrelation time, at least 1, makes it conservative.
    for (n, sd_x, m, sd_y) in [(20, 1.0, 20, 1.0), (60, 0.2, 20, 1.0), (50, 1.0, 50, 1.0)] {
        let covered = share(2000, 77_001, |dice| {
            let (x, y) = (dice.normals(n, sd_x), dice.normals(m, sd_y));
            two_sample::placement_interval(&x, &y, 0.95).unwrap().interval.contains(0.0)
        });
        assert!((0.94..=0.99).contains(&covered), "{n} {m}: {covered}");
    }
}

#[test]
fn mann_whitney_intervals_hold_the_shift_exactly_or_nearly() {
    for (n, m) in [(9, 14), (55, 60)] {
        let covered = share(2000, 31_337, |dice| {
            let x = descriptive::sorted(&dice.normals(n, 1.0));
            let y = descriptive::sorted(&dice.normals(m, 1.0));
            two_sample::mann_whitney_interval(&x, &y, 0.95).unwrap().contains(0.0)
        });
        assert!((0.935..=0.97).contains(&covered), "{n} {m}: {covered}");
    }
}

/// The share of `count` series that have a median interval, and the share whose interval misses the
/// median.
fn medians(count: u32, n: usize, phi: f64) -> (f64, f64) {
    let interval = |dice: &mut Dice| {
        let xs = dice.autoregressive(n, phi);
        let (sorted, time) = (descriptive::sorted(&xs), signs::time_of(&xs));
        order::median_interval_of_effective(&sorted, 0.95, time).map(|(i, _)| i.contains(0.0))
    };
    let given = share(count, 4711, |dice| interval(dice).is_some());
    (given, share(count, 4711, |dice| interval(dice) == Some(false)))
}

#[test]
fn the_interval_of_the_median_holds_it_whether_values_depend_on_each_other_or_not() {
    for n in [6, 8, 10, 12, 13, 16, 20, 24, 30, 50] {
        let (given, missed) = medians(1000, n, 0.0);
        assert!(given >= 0.94 && missed / given <= 0.06, "{n}: {given} {missed}");
    }
    for phi in [0.5, 0.9] {
        for n in [24, 50, 200] {
            let (given, missed) = medians(1000, n, phi);
            assert!(missed <= 0.1, "{phi} {n}: {given} {missed}");
            // If most series have an interval, those intervals cover the median.
            assert!(given < 0.5 || missed / given <= 0.1, "{phi} {n}: {given} {missed}");
        }
    }
    let (given, _) = medians(1000, 200, 0.9);
    assert!(given >= 0.9, "{given}");
}

#[test]
fn the_interval_of_the_median_of_positive_values_lies_within_them_though_one_is_huge() {
    for n in 6..=24 {
        let outside = share(1000, 91, |dice| {
            let mut xs: Vec<f64> = dice.normals(n, 0.1).iter().map(|x| x.exp()).collect();
            xs[n / 3] *= 20.0;
            let (sorted, time) = (descriptive::sorted(&xs), signs::time_of(&xs));
            let found = order::median_interval_of_effective(&sorted, 0.95, time);
            found.is_some_and(|(i, _)| i.lower < sorted[0] || i.upper > sorted[n - 1])
        });
        assert_eq!(outside, 0.0, "{n}");
    }
}

#[test]
fn the_autocorrelation_time_of_a_known_process_is_found_on_average() {
    let mut dice = Dice(Stream::new(99, 0));
    let mut mean_of = |phi: f64| {
        let taus: Vec<f64> = (0..200)
            .map(|_| autocorrelation::autocorrelation_time(&dice.autoregressive(2000, phi)))
            .collect();
        descriptive::mean(&taus)
    };
    // (1 + φ)/(1 − φ) = 4; ranks are slightly less dependent than values, and noise in the last
    // lags adds a little.
    let tau = mean_of(0.6);
    assert!((3.6..4.4).contains(&tau), "{tau}");
    let independent = mean_of(0.0);
    assert!((1.0..1.1).contains(&independent), "{independent}");
}
