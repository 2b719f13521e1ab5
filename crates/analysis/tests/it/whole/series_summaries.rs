//! False-alarm rates of a summary's findings, by seeded simulation: findings that contradict
//! unimodal, normal, independent or steady series must be no more frequent than their levels.

#![allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")]

use assay_analysis::series_summary::{Options, SeriesSummary};
use assay_data::Metric;
use assay_stats::resampling::Stream;

const SERIES: u64 = 200;

/// Percentage of series that get a finding with this code; `distribution` maps a normal number, a
/// uniform number and the index to a value.
fn share(code: &str, n: usize, mut distribution: impl FnMut(f64, f64, usize) -> f64) -> f64 {
    let found = (0..SERIES).filter(|&number| {
        let mut stream = Stream::new(4100 + n as u64, number);
        let values: Vec<f64> =
            (0..n).map(|place| distribution(stream.normal(), stream.uniform(), place)).collect();
        let summary =
            SeriesSummary::of("it", &Metric::wall(), &values, &Options::default()).unwrap();
        summary.findings.iter().any(|finding| finding.code == code)
    });
    100.0 * found.count() as f64 / SERIES as f64
}

#[test]
fn one_mode_is_rarely_taken_for_several_whatever_the_distribution_and_the_clock() {
    for n in [60, 300] {
        for (name, found) in [
            ("normal", share("MULTIMODAL", n, |z, _, _| 1.0 + 0.02 * z)),
            ("lognormal", share("MULTIMODAL", n, |z, _, _| (0.5 * z).exp())),
            ("wide lognormal", share("MULTIMODAL", n, |z, _, _| z.exp())),
            ("exponential", share("MULTIMODAL", n, |_, u, _| -(1.0 - u).ln())),
            ("uniform", share("MULTIMODAL", n, |_, u, _| u)),
            ("steps", share("MULTIMODAL", n, |z, _, _| (100.0 + 3.0 * z).round())),
            ("wide steps", share("MULTIMODAL", n, |z, _, _| (100.0 + z).round())),
            ("skewed steps", share("MULTIMODAL", n, |z, _, _| (20.0 * (0.5 * z).exp()).round())),
        ] {
            assert!(found <= 5.0, "{name}, {n} values: {found} %");
        }
        let two = |z: f64, u: f64, _| if u < 0.6 { z } else { z + 6.0 };
        // Sixty values are few for detecting two modes.
        let found = share("MULTIMODAL", n, two);
        assert!(found >= if n < 100 { 60.0 } else { 95.0 }, "{n} values: {found} %");
    }
}

#[test]
fn what_is_normal_is_rarely_called_otherwise_even_in_steps() {
    for n in [60, 300] {
        for (name, found) in [
            ("normal", share("NOT_NORMAL", n, |z, _, _| 1.0 + 0.02 * z)),
            ("steps", share("NOT_NORMAL", n, |z, _, _| (100.0 + 3.0 * z).round())),
            ("wide steps", share("NOT_NORMAL", n, |z, _, _| (100.0 + z).round())),
        ] {
            assert!(found <= 5.0, "{name}, {n} values: {found} %");
        }
    }
    assert!(share("NOT_NORMAL", 300, |z, _, _| z.exp()) >= 95.0);
}

#[test]
fn independent_values_are_rarely_said_to_hang_together() {
    for n in [30, 100, 300] {
        for (name, found) in [
            ("normal", share("DEPENDENCE", n, |z, _, _| z)),
            ("lognormal", share("DEPENDENCE", n, |z, _, _| z.exp())),
            ("steps", share("DEPENDENCE", n, |z, _, _| z.round())),
        ] {
            assert!(found <= 5.0, "{name}, {n} values: {found} %");
        }
    }
    let mut before = 0.0;
    let keeping_half = |z: f64, _, _| {
        before = 0.5 * before + z;
        before
    };
    assert!(share("DEPENDENCE", 100, keeping_half) >= 80.0);
}

#[test]
fn a_steady_series_is_rarely_said_to_change_even_with_stalls() {
    for n in [100, 400] {
        for code in ["CHANGE_POINT", "WARM_UP"] {
            let stall = |u: f64| if u < 0.01 { 0.05 } else { 0.0 };
            let (mut left, mut before) = (0, 0.0);
            for (name, found) in [
                ("lognormal", share(code, n, |z, _, _| 0.01 * (0.5 * z).exp())),
                ("stalls", share(code, n, |z, u, _| 0.01 * (0.1 * z).exp() + stall(u))),
                (
                    "clusters of stalls",
                    share(code, n, |z, u, _| {
                        left = if u < 0.002 { 8 } else { 0.max(left - 1) };
                        0.01 * (0.1 * z).exp() + if left > 0 { 0.05 } else { 0.0 }
                    }),
                ),
                (
                    "each keeps half",
                    share(code, n, |z, _, _| {
                        before = 0.5 * before + z;
                        10.0 + 0.1 * before
                    }),
                ),
            ] {
                assert!(found <= 5.0, "{code}: {name}, {n} values: {found} %");
            }
        }
        let step = |z: f64, _, place| 1.0 + 0.02 * z + if place < n / 2 { 0.0 } else { 0.04 };
        assert!(share("CHANGE_POINT", n, step) >= 95.0, "{n} values");
    }
}

#[test]
fn a_rhythm_is_rarely_heard_where_there_is_none() {
    for n in [60, 300] {
        let stall = |u: f64| if u < 0.02 { 3.0 } else { 0.0 };
        for (name, found) in [
            ("normal", share("PERIODIC", n, |z, _, _| 1.0 + 0.02 * z)),
            ("stalls", share("PERIODIC", n, |z, u, _| (0.5 * z).exp() + stall(u))),
            ("steps", share("PERIODIC", n, |z, _, _| (100.0 + z).round())),
        ] {
            assert!(found <= 1.0, "{name}, {n} values: {found} %");
        }
    }
    let tick = |z: f64, _, place| 100.0 + 5.0 * z + if place % 10 == 9 { 10.0 } else { 0.0 };
    assert!(share("PERIODIC", 600, tick) >= 95.0);
}
