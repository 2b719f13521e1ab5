//! What the selections cost on this machine: `cargo run --release -p assay-stats --example
//! selection_cost`.
//!
//! They run after every block of an experiment and over every recorded file, so their cost must
//! stay out of sight.
#![allow(clippy::print_stdout, reason = "printing is what this example is for")]

use assay_stats::{descriptive, signed_rank, two_sample};
use std::hint::black_box;
use std::time::Instant;

/// Values between 0 and 1 from a fixed generator (xorshift), heavy tailed when `stalls`.
fn series(n: usize, seed: u64, stalls: bool) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let values: Vec<f64> = (0..n)
        .map(|_| {
            let noise = next() + next() + next() - 1.5;
            if stalls && next() < 0.02 { noise - 50.0 * next().ln() } else { noise }
        })
        .collect();
    descriptive::sorted(&values)
}

/// The median time of one call, in microseconds.
fn microseconds(rounds: usize, mut call: impl FnMut()) -> f64 {
    let times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    descriptive::median(&times)
}

fn main() {
    let mut law = signed_rank::SignedRankLaw::new();
    for stalls in [false, true] {
        let noise = if stalls { "with stalls" } else { "plain" };
        for (n, rounds) in [(100, 2001), (1024, 501), (100_000, 11)] {
            let xs = series(n, 88_172_645_463_325_252, stalls);
            let k = law.critical(n, 0.002).unwrap_or(0);
            let ends = microseconds(rounds, || {
                black_box(signed_rank::walsh_interval(black_box(&xs), k));
            });
            let middle = microseconds(rounds, || {
                black_box(signed_rank::pseudo_median(black_box(&xs)));
            });
            println!("{noise}, n = {n}: walsh_interval {ends:.1} us, pseudo_median {middle:.1} us");
        }
        let (x, y) = (series(35_000, 1_234_567, stalls), series(35_000, 7_654_321, stalls));
        let shift = microseconds(11, || {
            black_box(two_sample::hodges_lehmann(black_box(&x), black_box(&y)));
        });
        println!("{noise}, 35000 a side: hodges_lehmann {shift:.0} us");
    }
    let exact = microseconds(11, || {
        black_box(two_sample::mann_whitney_critical(200, 200, black_box(0.05)));
    });
    println!("mann_whitney_critical at 200 a side: {exact:.0} us");
    let row = microseconds(11, || {
        black_box(signed_rank::SignedRankLaw::new().critical(200, black_box(0.002)));
    });
    println!("signed-rank law from nothing to n = 200: {row:.0} us");
}
