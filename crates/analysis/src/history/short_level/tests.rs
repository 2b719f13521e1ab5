//! Seeded simulation of the false-positive rate, and cases with known answers.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::history::trend::{Trend, trend};
use crate::history::{Benchmark, Point, RunSummary, Series};
use crate::verdict::Verdict;
use assay_data::Metric;
use assay_stats::resampling::Stream;

fn of(values: &[f64]) -> Trend {
    let point = |(place, &centre): (usize, &f64)| Point {
        recording: String::new(),
        started: place as i64,
        revision: None,
        result: RunSummary { n: 9, units: 9, centre, interval: None },
    };
    let points = values.iter().enumerate().map(point).collect();
    let benchmark = Benchmark { name: "b".to_owned(), ..Benchmark::default() };
    trend(Series { benchmark, metric: Metric::wall(), machine: String::new(), points }, 0.95)
}

/// Runs on these levels, each given with its number of runs, with a spread of 2 %.
fn runs(seed: u64, levels: &[(usize, f64)]) -> Vec<f64> {
    let mut random = Stream::new(seed, 0);
    let all = levels.iter().flat_map(|&(runs, level)| std::iter::repeat_n(level, runs));
    all.map(|level| level * (0.02 * random.normal()).exp()).collect()
}

#[test]
fn four_fast_runs_and_nine_slow_ones_may_be_a_change_and_one_more_run_shows_it() {
    let mut random = 0..20_u64;
    let found = of(&runs(random.next().unwrap(), &[(4, 1.0), (9, 2.0)]));
    let short = found.short.as_ref().unwrap();
    assert!(found.changes.is_empty());
    assert_eq!((short.is_first, short.runs, short.others, short.more()), (true, 4, 9, 1));
    assert_eq!((short.verdict, short.is_higher), (Verdict::Slower, false));
    assert!((short.ratio.unwrap() - 2.0).abs() < 0.1 && short.p < 0.02, "{short:?}");
    let [finding] = found.findings.as_slice() else { unreachable!("{:?}", found.findings) };
    assert_eq!((finding.code.as_str(), finding.number("more")), ("TOO_FEW_RUNS", Some(1.0)));
    assert!(finding.message.contains("1 more run of their revisions"), "{}", finding.message);
    // Once there are as many runs as the finding requested, it becomes a change.
    let found = of(&runs(random.next().unwrap(), &[(5, 1.0), (9, 2.0)]));
    assert_eq!((found.changes.len(), found.short), (1, None));
    // A short level at the end of a series, after an earlier change.
    let found = of(&runs(random.next().unwrap(), &[(20, 1.0), (20, 1.5), (3, 1.2)]));
    let short = found.short.unwrap();
    assert_eq!((found.changes.len(), short.is_first, short.runs, short.others), (1, false, 3, 20));
    assert_eq!((short.verdict, short.more()), (Verdict::Faster, 2));
}

#[test]
fn one_run_trifles_and_what_creeps_are_no_short_level() {
    assert_eq!(of(&runs(1, &[(40, 1.0), (1, 3.0)])).short, None);
    let trifle: Vec<f64> =
        (0..40).map(|i| if i < 36 { 1.0 + f64::from(i % 2) * 1e-6 } else { 1.001 }).collect();
    assert_eq!(of(&trifle).short, None);
    let mut random = Stream::new(2, 0);
    let slope = (0..120).map(|i| (0.01 * random.normal() + 0.004 * f64::from(i)).exp());
    let found = of(&slope.collect::<Vec<_>>());
    assert_eq!((found.creeps.len(), found.short), (1, None));
    assert_eq!(of(&[]).short, None);
}

#[test]
fn series_without_a_change_have_one_as_rarely_as_the_policy_says() {
    for (n, phi, most) in [(11, 0.0, 0.05), (16, 0.0, 0.05), (50, 0.0, 0.05), (50, 0.5, 0.05)] {
        let mut random = Stream::new(n as u64, 0);
        let mut short = 0;
        for _ in 0..1000 {
            let mut state = random.normal();
            let next = |_| {
                state = phi * state + f64::sqrt(1.0 - phi * phi) * random.normal();
                (0.02 * state).exp()
            };
            short += usize::from(of(&(0..n).map(next).collect::<Vec<_>>()).short.is_some());
        }
        assert!((short as f64) < most * 1000.0, "{n} {phi}: {short} of 1000");
    }
}
