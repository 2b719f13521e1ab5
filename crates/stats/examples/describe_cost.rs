//! What describing a long series costs, function by function: `cargo run --release -p assay-stats
//! --example describe_cost -- 1000000`.

#![allow(clippy::print_stdout, reason = "what it prints is the result")]

use assay_stats::resampling::Stream;
use assay_stats::{
    autocorrelation, change_points, density, descriptive, dip, kolmogorov, normality, steady_state,
};
use std::hint::black_box;
use std::time::Instant;

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = black_box(work());
    println!("{what:<32} {:8.1} ms", began.elapsed().as_secs_f64() * 1e3);
    result
}

fn main() {
    let n = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let mut stream = Stream::new(1, 0);
    let xs: Vec<f64> = (0..n).map(|_| (0.2 * stream.normal()).exp()).collect();
    timed("autocorrelation, 30 lags", || autocorrelation::autocorrelation(&xs, 30));
    timed("autocorrelation time", || autocorrelation::autocorrelation_time(&xs));
    let sorted = timed("sorting", || descriptive::sorted(&xs));
    timed("kurtosis", || descriptive::excess_kurtosis_by_definition(&xs));
    timed("Anderson-Darling", || normality::anderson_darling(&sorted));
    timed("Lilliefors", || normality::lilliefors(&sorted));
    timed("Kolmogorov, lognormal", || kolmogorov::against_lognormal(&sorted));
    timed("dip", || dip::dip(&sorted));
    timed("Sheather-Jones", || density::sheather_jones_solve(&sorted));
    timed("density, 512 points", || density::estimate(&xs, 0.01, 512));
    timed("change points", || {
        change_points::change_points(&xs, &change_points::Settings::pelt(0.01, 1))
    });
    timed("steady state", || steady_state::steady_state(&xs, 0.01, true, 0.01, 1));
}
