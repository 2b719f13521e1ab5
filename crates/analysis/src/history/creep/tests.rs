//! Seeded simulations: slopes and staircases creep; single steps and noise don't.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::history::trend::{Trend, trend};
use crate::history::{Benchmark, Point, Revision, RunSummary, Series};
use crate::verdict::Verdict;
use assay_data::Metric;
use assay_stats::resampling::Stream;

fn of(values: &[f64]) -> Trend {
    let point = |(place, &centre): (usize, &f64)| Point {
        recording: String::new(),
        started: place as i64,
        revision: Some(Revision {
            commit: format!("c{place}"),
            ordinal: Some(place as u64),
            ..Revision::default()
        }),
        result: RunSummary { n: 9, units: 9, centre, interval: None },
    };
    let points = values.iter().enumerate().map(point).collect();
    let benchmark = Benchmark { name: "b".to_owned(), ..Benchmark::default() };
    trend(Series { benchmark, metric: Metric::wall(), machine: String::new(), points }, 0.95)
}

/// Returns autoregressive runs with coefficient `phi` and a standard deviation of 1 %, around the
/// log level given by `level`.
fn runs(seed: u64, n: usize, phi: f64, level: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut random = Stream::new(seed, 0);
    let mut state = 0.01 * random.normal();
    (0..n)
        .map(|i| {
            state = phi * state + 0.01 * (1.0 - phi * phi).sqrt() * random.normal();
            (state + level(i)).exp()
        })
        .collect()
}

fn creeping(number: u64, n: usize, phi: f64, level: impl Fn(usize) -> f64) -> bool {
    !of(&runs(number, n, phi, level)).creeps.is_empty()
}

#[test]
fn many_small_steps_creep_and_have_no_changes() {
    let (mut slope, mut stairs, mut steep) = (0, 0, 0);
    for number in 0..100 {
        slope += usize::from(creeping(number, 120, 0.0, |i| 0.04 * i as f64 / 120.0));
        // The level rises by half a percent every 15 runs.
        stairs += usize::from(creeping(number, 120, 0.0, |i| 0.005 * (i / 15) as f64));
        // A slope so steep that it looks like steps is still reported as a slope.
        let found = of(&runs(number, 120, 0.0, |i| 0.2 * i as f64 / 120.0));
        steep += usize::from(found.creeps.len() == 1 && found.changes.is_empty());
    }
    assert!(slope >= 60 && stairs >= 55 && steep >= 90, "{slope} {stairs} {steep}");
}

#[test]
fn one_step_does_not_creep() {
    for (size, at) in [(0.02, 60), (0.03, 30), (0.05, 80), (0.2, 60)] {
        let level = |i: usize| if i < at { 0.0 } else { size };
        let creeps = (0..200).filter(|&number| creeping(number, 120, 0.0, level)).count();
        assert!(creeps <= 6, "{size} {at}: {creeps} of 200");
    }
    // Two steps far apart are not a creep.
    let level = |i: usize| if i < 60 { 0.0 } else { 0.05 + if i < 140 { 0.0 } else { 0.05 } };
    let creeps = (0..100).filter(|&number| creeping(number, 200, 0.0, level)).count();
    assert!(creeps <= 3, "{creeps} of 100");
}

#[test]
fn noise_does_not_creep() {
    for (n, phi, series) in [(40, 0.0, 400), (120, 0.0, 400), (120, 0.4, 400), (300, 0.6, 200)] {
        // Values are raised to the fifth power so that no result is dropped for being too small.
        let level = |_| 0.0;
        let creeps = (0..series).filter(|&number| {
            let values = runs(number, n, phi, level);
            !of(&values.iter().map(|value| value.powi(5)).collect::<Vec<_>>()).creeps.is_empty()
        });
        let creeps = creeps.count();
        assert!(creeps * 100 <= 2 * series as usize, "{n} {phi}: {creeps} of {series}");
    }
}

#[test]
fn a_creep_says_how_far_and_from_where_to_where() {
    let found = of(&runs(3, 120, 0.0, |i| 0.06 * i as f64 / 120.0));
    let [creep] = found.creeps.as_slice() else { unreachable!("{:?}", found.creeps) };
    assert_eq!((creep.from, creep.to, creep.verdict), (0, 120, Verdict::Slower));
    let interval = creep.ratio.unwrap().interval.unwrap();
    // The shift is two thirds of the total rise.
    assert!(interval.contains(0.04_f64.exp()), "{interval:?}");
    let [finding] = found.findings.as_slice() else { unreachable!("{:?}", found.findings) };
    assert_eq!(finding.code, "CREEP");
    assert!(
        finding.message.starts_with("b gets worse steadily from c0 to c119, by +"),
        "{}",
        finding.message
    );
}
