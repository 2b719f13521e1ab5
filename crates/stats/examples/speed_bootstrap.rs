//! How long the bootstrap takes, one JSON object a line, for the benchmarks: `cargo run --release
//! --example speed_bootstrap -- [VALUES] [RESAMPLES] [THREADS]`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints, and may stop")]

use assay_stats::bootstrap::{Statistic, bootstrap};
use assay_stats::resampling::Stream;
use std::time::Instant;

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).map(|text| text.parse().unwrap()).collect();
    let at = |place: usize, otherwise: usize| asked.get(place).copied().unwrap_or(otherwise);
    let (n, resamples, threads) = (at(0, 35_000), at(1, 10_000), at(2, 1));
    let mut stream = Stream::new(1, 0);
    let xs: Vec<f64> = (0..n).map(|_| (5.0 + 0.2 * stream.normal()).exp()).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for (name, statistic) in [
        ("sd", Statistic::StandardDeviation),
        ("mean", Statistic::Mean),
        ("median", Statistic::Median),
    ] {
        let began = Instant::now();
        let found = pool.install(|| bootstrap(&xs, statistic, resamples, 1)).unwrap();
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{{\"task\":\"bootstrap_{name}\",\"n\":{n},\"resamples\":{resamples},\"threads\":{threads},\"seconds\":{seconds},\"se\":{}}}",
            found.se
        );
    }
}
