//! Seeded simulations: intervals must hold the truth as often as they say, neither less nor
//! needlessly more.
#![allow(clippy::unwrap_used, reason = "a test may stop")]

use assay_stats::resampling::Stream;
use assay_stats::{autocorrelation, descriptive, order, signed_rank, two_sample};

/// Random numbers with what the simulations make of them.
struct Dice(Stream);

impl Dice {
    fn normal(&mut self) -> f64 {
        self.0.normal()
    }

    fn normals(&mut self, n: usize, sd: f64) -> Vec<f64> {
        (0..n).map(|_| sd * self.normal()).collect()
    }

    /// Each value keeps `phi` of the one before it; standard deviation 1.
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

/// The share of `experiments` in which `holds` is true.
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
    // The widening by the autocorrelation time, at least 1, makes it err on the wide side.
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

#[test]
fn the_widened_median_interval_survives_dependence_where_the_plain_one_does_not() {
    let coverage = |widen: bool| {
        share(1000, 4711, |dice| {
            let xs = dice.autoregressive(300, 0.6);
            let tau = if widen { autocorrelation::autocorrelation_time(&xs) } else { 1.0 };
            let sorted = descriptive::sorted(&xs);
            order::median_interval_with_tau(&sorted, 0.95, tau).unwrap().0.contains(0.0)
        })
    };
    let (plain, widened) = (coverage(false), coverage(true));
    assert!(plain < 0.8, "{plain}");
    assert!((0.92..=0.99).contains(&widened), "{widened}");
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
    // (1 + φ)/(1 − φ) = 4; ranks depend a little less than values, and noise in the last lags adds
    // a little.
    let tau = mean_of(0.6);
    assert!((3.6..4.4).contains(&tau), "{tau}");
    let independent = mean_of(0.0);
    assert!((1.0..1.1).contains(&independent), "{independent}");
}
