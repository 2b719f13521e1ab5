//! Prints the simulated quantiles that PELT's penalty is fitted to: the gain from one false change
//! in a series without changes.
//!
//!     cargo run --release -p assay-stats --example change_point_penalty
//!
//! Each row gives, for one number of values, the gains exceeded by 20, 10, 5, 2 and 1 % of the
//! series, each next to the fitted formula's value. Takes a few minutes.

#![allow(clippy::print_stdout, reason = "what it prints is what it is for")]

// Includes the module itself, since it is private to the crate.
#[path = "../src/change_points/pelt.rs"]
#[expect(dead_code, reason = "the crate divides with a level, this example with a penalty")]
mod pelt;

use assay_stats::{descriptive, normal, resampling::Stream};

const SIZES: [usize; 7] = [30, 60, 120, 250, 500, 1000, 2000];
const LEVELS: [f64; 5] = [0.2, 0.1, 0.05, 0.02, 0.01];
const SERIES: u64 = 1000;
/// Minimum number of values in a part.
const SHORTEST: usize = 10;
/// Upper bound of the gain from a false change.
const MOST: f64 = 60.0;

fn main() {
    println!("    n  {}", LEVELS.map(|level| format!("{level:>13}")).join("  "));
    for n in SIZES {
        let mut needed: Vec<f64> = (0..SERIES).map(|number| gain(n, number)).collect();
        needed.sort_by(f64::total_cmp);
        let shown = LEVELS.map(|level| {
            let found = descriptive::quantile_sorted(&needed, 1.0 - level);
            format!("{found:6.2} {:6.2}", pelt::penalty(n as f64, level))
        });
        println!("{n:5}  {}", shown.join("  "));
    }
}

/// The smallest penalty that leaves a series of `n` shuffled normal scores undivided.
fn gain(n: usize, number: u64) -> f64 {
    let mut scores: Vec<f64> =
        (0..n).map(|rank| normal::quantile((rank as f64 + 0.5) / n as f64)).collect();
    Stream::new(n as u64, number).shuffle(&mut scores);
    let (mut low, mut high) = (0.0, MOST);
    for _ in 0..10 {
        let middle = (low + high) / 2.0;
        if pelt::best_division(&scores, middle, SHORTEST).is_empty() {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}
