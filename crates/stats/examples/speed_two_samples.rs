//! How long one task on made-up data takes, as one JSON object, for the benchmarks: `cargo run
//! --release --example speed_two_samples -- TASK VALUES [REPEATS]`, TASK one of `shift`
//! (Hodges-Lehmann with its 95 % interval, and the Mann-Whitney test), `test` (Mann-Whitney alone),
//! `acf` (30 lags of one sample), `data` (nothing: what the data alone cost in memory).
//!
//! Sorting belongs to the task. One task a process, so that its peak memory can be told.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints, and may stop")]

use assay_stats::resampling::Stream;
use assay_stats::two_sample::{RankSum, hodges_lehmann, mann_whitney_asymptotic_interval};
use assay_stats::{autocorrelation, descriptive};
use std::hint::black_box;
use std::time::Instant;

/// Lognormal values in whole numbers of a thousandth, as clocks give them: with ties.
fn values(stream: u64, n: usize, shift: f64) -> Vec<f64> {
    let mut random = Stream::new(1, stream);
    let one = || ((5.0 + 0.2 * random.normal()).exp() * 1000.0).round() / 1000.0 + shift;
    std::iter::repeat_with(one).take(n).collect()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap();
    let n: usize = arguments.next().unwrap().parse().unwrap();
    let repeats: usize = arguments.next().map_or(1, |text| text.parse().unwrap());
    let x = values(0, n, 0.0);
    let y = if task == "acf" { Vec::new() } else { values(1, n, 1.0) };
    let mut seconds = Vec::new();
    let mut result = f64::NAN;
    for _ in 0..repeats {
        let began = Instant::now();
        result = match task.as_str() {
            "shift" => {
                let (x, y) = (descriptive::sorted(&x), descriptive::sorted(&y));
                black_box(mann_whitney_asymptotic_interval(&x, &y, 0.95));
                black_box(RankSum::of(&x, &y).unwrap().asymptotic(true));
                hodges_lehmann(&x, &y)
            }
            "test" => {
                let (x, y) = (descriptive::sorted(&x), descriptive::sorted(&y));
                RankSum::of(&x, &y).unwrap().asymptotic(true).two
            }
            "acf" => {
                autocorrelation::autocorrelation(&x, 30).iter().fold(0.0, |a, &b| a.max(b.abs()))
            }
            "data" => x.iter().chain(&y).sum(),
            other => unreachable!("no such task: {other}"),
        };
        seconds.push(began.elapsed().as_secs_f64());
    }
    let median = descriptive::median(&seconds);
    println!("{{\"task\":\"{task}\",\"n\":{n},\"seconds\":{median},\"result\":{result}}}");
}
