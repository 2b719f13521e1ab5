//! Times one task on synthetic data and prints a JSON object, for the benchmarks.
//!
//!     cargo run --release -p assay-stats --example speed -- TASK VALUES [REPEATS]
//!     cargo run --release -p assay-stats --example speed -- bootstrap VALUES RESAMPLES THREADS
//!
//! TASK is one of `shift` (Hodges-Lehmann with its 95 % interval, and the Mann-Whitney test),
//! `test` (Mann-Whitney alone), `acf` (30 lags of one sample), `time` (its autocorrelation time),
//! `levels` (changes of level), `sort`, `data` (only creates the data, to measure its memory).
//! Sorting is part of the task. Each process runs one task, so that its peak memory can be
//! measured.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints, and may stop")]

use assay_stats::bootstrap::{Statistic, bootstrap};
use assay_stats::resampling::Stream;
use assay_stats::two_sample::{RankSum, shift_with_interval};
use assay_stats::{autocorrelation, change_points, descriptive};
use std::hint::black_box;
use std::time::Instant;

/// Lognormal values rounded to a thousandth, which gives ties like those of a clock.
fn values(stream: u64, n: usize, shift: f64) -> Vec<f64> {
    let mut random = Stream::new(1, stream);
    let one = || ((5.0 + 0.2 * random.normal()).exp() * 1000.0).round() / 1000.0 + shift;
    std::iter::repeat_with(one).take(n).collect()
}

/// The median duration in seconds of `repeats` repeats, and the result of the task.
fn timed(repeats: usize, mut task: impl FnMut() -> f64) -> (f64, f64) {
    let mut result = f64::NAN;
    let seconds: Vec<f64> = (0..repeats)
        .map(|_| {
            let began = Instant::now();
            result = black_box(task());
            began.elapsed().as_secs_f64()
        })
        .collect();
    (descriptive::median(&seconds), result)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = arguments[0].as_str();
    let number = |place: usize| arguments.get(place).map(|text| text.parse::<usize>().unwrap());
    let n = number(1).unwrap();
    let x = values(0, n, 0.0);
    let of_two = matches!(task, "shift" | "test" | "data");
    let y = if of_two { values(1, n, 1.0) } else { Vec::new() };
    let repeats = number(2).unwrap_or(1);
    let (seconds, result) = match task {
        "shift" => timed(repeats, || {
            let (x, y) = (descriptive::sorted(&x), descriptive::sorted(&y));
            black_box(RankSum::of(&x, &y).unwrap().asymptotic(true));
            shift_with_interval(&x, &y, 0.95).unwrap().0
        }),
        "test" => timed(repeats, || {
            let (x, y) = (descriptive::sorted(&x), descriptive::sorted(&y));
            RankSum::of(&x, &y).unwrap().asymptotic(true).two
        }),
        "levels" => timed(repeats, || {
            // A new level begins at every hundredth value.
            let stairs = |(i, x): (usize, &f64)| x * (1.0 + (i / 100 * 7 % 5) as f64);
            let xs: Vec<f64> = x.iter().enumerate().map(stairs).collect();
            change_points::levels(&xs, 0.02, 5, 1).changes.len() as f64
        }),
        "acf" => timed(repeats, || {
            autocorrelation::autocorrelation(&x, 30).iter().fold(0.0, |a, &b| a.max(b.abs()))
        }),
        "time" => timed(repeats, || autocorrelation::autocorrelation_time(&x)),
        "sort" => timed(repeats, || descriptive::sorted(&x)[0]),
        "data" => timed(1, || x.iter().chain(&y).sum()),
        "bootstrap" => {
            let threads = number(3).unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let sd = || bootstrap(&x, Statistic::StandardDeviation, repeats, 1).unwrap().se;
            timed(1, || pool.install(sd))
        }
        other => unreachable!("no such task: {other}"),
    };
    println!("{{\"task\":\"{task}\",\"n\":{n},\"seconds\":{seconds},\"result\":{result}}}");
}
