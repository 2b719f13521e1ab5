//! How long the rank tests take on lognormal data of growing size: one JSON object a line.
//!
//!     cargo run --release -p assay-stats --example speed [LARGEST]
//!
//! Each figure is the median of a few rounds on one core, the samples not sorted beforehand. Sizes
//! beyond LARGEST (values a side; default 10 million) are left out.
#![allow(clippy::print_stdout, reason = "it is there to print")]

use assay_stats::descriptive::sorted;
use assay_stats::normal;
use assay_stats::two_sample::{RankSum, hodges_lehmann, mann_whitney_asymptotic_interval};
use std::hint::black_box;
use std::time::Instant;

/// Lognormal(5, 0.2) by inverting a small generator (splitmix64).
fn lognormal(n: usize, mut state: u64, shift: f64) -> Vec<f64> {
    // Quantiles at a grid, joined by straight lines: drawing must not take longer than testing.
    const GRID: usize = 4096;
    let grid: Vec<f64> = (0..=GRID)
        .map(|i| normal::quantile((i as f64 + 0.5) / (GRID as f64 + 1.0)))
        .map(|z| (5.0 + 0.2 * z).exp())
        .collect();
    (0..n)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = state;
            bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            let place = ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64 * GRID as f64;
            let below = place as usize;
            shift + grid[below] + (place - below as f64) * (grid[below + 1] - grid[below])
        })
        .collect()
}

fn median_seconds(rounds: usize, work: impl Fn()) -> f64 {
    let mut seconds: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[rounds / 2]
}

fn main() {
    let largest = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000_000);
    for (n, rounds) in [(35_000, 21), (1_000_000, 5), (10_000_000, 3)] {
        if n > largest {
            continue;
        }
        let (x, y) = (lognormal(n, 1, 0.0), lognormal(n, 2, 1.0));
        let test = median_seconds(rounds, || {
            black_box(RankSum::of(&sorted(&x), &sorted(&y)).map(|test| test.asymptotic(true)));
        });
        println!(r#"{{"task":"mann_whitney","n":{n},"seconds":{test}}}"#);
        if n > 1_000_000 {
            continue;
        }
        let all = median_seconds(rounds, || {
            let (x, y) = (sorted(&x), sorted(&y));
            black_box(RankSum::of(&x, &y).map(|test| test.asymptotic(true)));
            black_box(hodges_lehmann(&x, &y));
            black_box(mann_whitney_asymptotic_interval(&x, &y, 0.95));
        });
        println!(r#"{{"task":"hodges_lehmann_interval_mann_whitney","n":{n},"seconds":{all}}}"#);
    }
}
