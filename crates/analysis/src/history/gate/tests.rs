//! Simulations of the gate's error rates and power with fixed seeds, and cases with known answers.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use super::*;
use crate::history::trend;
use assay_data::Unit;
use assay_stats::Interval;
use assay_stats::resampling::Stream;

const BENCHMARKS: usize = 24;

fn point(place: usize, centre: f64) -> Point {
    Point {
        recording: String::new(),
        started: place as i64,
        revision: None,
        result: summary(centre),
    }
}

fn summary(centre: f64) -> RunSummary {
    RunSummary { n: 10, units: 10, centre, interval: None }
}

fn candidate(runs: &[f64], metric: &Metric) -> Candidate {
    let (now, before) = runs.split_last().unwrap();
    Candidate {
        benchmark: Benchmark { name: "b".to_owned(), ..Benchmark::default() },
        metric: metric.clone(),
        now: summary(*now),
        before: before.iter().enumerate().map(|(place, &v)| point(place, v)).collect(),
    }
}

/// Returns all runs of a suite, one series per benchmark. The first benchmark is slower by `shift`
/// from run `from` on.
fn suite(random: &mut Stream, runs: usize, sd: f64, from: usize, shift: f64) -> Vec<Vec<f64>> {
    let of = |benchmark: usize, random: &mut Stream| {
        let value = |run: usize| {
            let worse = if benchmark == 0 && run >= from { shift } else { 0.0 };
            (sd * random.normal() + worse).exp()
        };
        (0..runs).map(value).collect()
    };
    (0..BENCHMARKS).map(|benchmark| of(benchmark, random)).collect()
}

/// Returns the result of the gate for run number `run` of a suite.
fn gate_of(suite: &[Vec<f64>], run: usize) -> Gate {
    let wall = Metric::wall();
    let first = run.saturating_sub(52);
    let candidates = suite.iter().map(|runs| candidate(&runs[first..=run], &wall)).collect();
    gate(candidates, GateSettings::default())
}

fn one(runs: &[f64]) -> Judged {
    gate(vec![candidate(runs, &Metric::wall())], GateSettings::default()).judged.remove(0)
}

#[test]
fn without_a_change_hardly_any_run_is_called_worse() {
    let mut random = Stream::new(11, 0);
    let runs = suite(&mut random, 50 + 2000, 0.02, usize::MAX, 0.0);
    let alarms =
        (52..2050).filter(|&run| gate_of(&runs, run).standing() == Standing::Worse).count();
    assert!(alarms <= 99, "{alarms} of 1998 runs");
}

#[test]
fn runs_with_heavy_tails_make_no_more_alarms() {
    let mut random = Stream::new(12, 0);
    let mut value = || {
        let sd = if random.uniform() < 0.05 { 0.045 } else { 0.015 };
        (sd * random.normal()).exp()
    };
    let runs: Vec<Vec<f64>> =
        (0..BENCHMARKS).map(|_| (0..50 + 1000).map(|_| value()).collect()).collect();
    let alarms =
        (52..1050).filter(|&run| gate_of(&runs, run).standing() == Standing::Worse).count();
    assert!(alarms <= 50, "{alarms} of 998 runs");
}

#[test]
fn five_per_cent_more_is_found_within_three_runs_where_noise_permits() {
    let mut random = Stream::new(2, 0);
    for (sd, least) in [(0.017, 54), (0.02, 44)] {
        let mut found = 0;
        for _ in 0..60 {
            let runs = suite(&mut random, 55, sd, 52, 0.05);
            let alarm = |run: usize| gate_of(&runs, run).judged[0].standing == Standing::Worse;
            found += usize::from((52..55).any(alarm));
        }
        assert!(found >= least, "{sd}: {found} of 60");
    }
}

/// Returns runs around 100 with a spread of 1 %, followed by the values in `then`.
fn usual(runs: usize, then: &[f64]) -> Vec<f64> {
    let mut random = Stream::new(3, 0);
    let usual = (0..runs).map(|_| 100.0 * (0.01 * random.normal()).exp());
    usual.chain(then.iter().copied()).collect()
}

#[test]
fn one_bad_run_stands_out_and_the_second_is_an_alarm() {
    let judged = one(&usual(40, &[112.0]));
    assert_eq!((judged.standing, judged.stands_out), (Standing::Inconclusive, true));
    assert_eq!((judged.together, judged.more_runs), (false, Some(1)));
    assert!((judged.ratio.unwrap() - 1.12).abs() < 0.01 && judged.range.unwrap().1 < 112.0);
    let judged = one(&usual(40, &[112.0, 112.4]));
    assert_eq!(
        (judged.standing, judged.together, judged.stands_out),
        (Standing::Worse, true, false)
    );
    // However bad the last run was, a good run after it is judged normal.
    for bad in [106.0, 112.0, 200.0, 1e4] {
        let judged = one(&usual(40, &[bad, 100.2]));
        assert_eq!((judged.standing, judged.stands_out), (Standing::Normal, false), "{bad}");
        assert_eq!(one(&usual(40, &[bad, 99.8, 100.2])).standing, Standing::Normal, "{bad}");
    }
    // An earlier run was equally slow, so single slow runs are normal for this series.
    let mut rare = usual(40, &[112.0]);
    rare[12] = 113.0;
    assert_eq!(one(&rare).standing, Standing::Normal);
    // Two slow runs in a row are not normal for this series.
    rare.push(112.5);
    rare.push(112.0);
    let judged = one(&rare);
    assert_eq!((judged.standing, judged.together), (Standing::Worse, true));
    let better = one(&usual(40, &[90.0]));
    assert_eq!(better.standing, Standing::Better);
}

#[test]
fn of_few_runs_the_second_bad_one_is_an_alarm_too() {
    let few = [100.0, 100.4, 99.7, 100.2, 99.9, 100.1];
    let with = |then: &[f64]| one(&few.iter().chain(then).copied().collect::<Vec<_>>());
    let first = with(&[120.0]);
    assert_eq!((first.standing, first.stands_out), (Standing::Inconclusive, true));
    assert_eq!(with(&[120.0, 121.0]).standing, Standing::Worse);
    assert_ne!(with(&[120.0, 100.0]).standing, Standing::Worse);
}

/// Dependence between runs: none, autoregressive with coefficient ½, or one run in twenty far above
/// the others.
#[derive(Clone, Copy, Debug)]
enum Between {
    Independent,
    Remembering,
    Outliers,
}

/// Returns the logarithms of the centers of `runs` runs of ten values each, with a spread of 1.5 %
/// between runs and 0.5 % within each run.
fn levels(between: Between, runs: usize, stream: &mut Stream) -> Vec<f64> {
    const BETWEEN: f64 = 0.015;
    let mut state = stream.normal();
    let mut level = || {
        let plain = BETWEEN * state;
        state = match between {
            Between::Remembering => 0.5 * state + 0.75_f64.sqrt() * stream.normal(),
            _ => stream.normal(),
        };
        let out = match between {
            Between::Outliers if stream.uniform() < 0.05 => 0.1 + 0.3 * stream.uniform(),
            _ => 0.0,
        };
        let within: Vec<f64> = (0..10).map(|_| 0.005 * stream.normal()).collect();
        plain + out + descriptive::median(&within)
    };
    (0..runs).map(|_| level()).collect()
}

fn judged_at(levels: &[f64], run: usize) -> Judged {
    one(&levels[..=run].iter().map(|level| 0.01 * level.exp()).collect::<Vec<_>>())
}

/// Returns the number of series per simulation: 400, or the larger number set by `make coverage`.
fn series() -> u64 {
    std::env::var("ASSAY_EXPERIMENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

#[test]
fn the_good_runs_after_a_bad_one_are_hardly_ever_alarms() {
    for size in [0.0, 0.05, 0.08, 0.1, 0.2, 0.4] {
        let mut alarms = [0_u32; 4];
        let mut stands_out = 0_u32;
        for number in 0..series() {
            let mut runs = levels(Between::Independent, 44, &mut Stream::new(79, number));
            runs[40] += size;
            let found: Vec<Judged> = (40..44).map(|run| judged_at(&runs, run)).collect();
            stands_out += u32::from(found[0].stands_out);
            for (count, judged) in alarms.iter_mut().zip(&found) {
                *count += u32::from(judged.standing == Standing::Worse);
            }
        }
        let share = |count: u32| f64::from(count) / series() as f64;
        let [own, next @ ..] = alarms.map(share);
        assert!(next.iter().all(|share| *share <= 0.05), "{size}: {own} {next:?}");
        // The bad run itself is reported if it is worse by more than the threshold.
        let told = own + share(stands_out);
        let least = if size >= 0.08 {
            0.95
        } else if size > 0.0 {
            0.5
        } else {
            0.0
        };
        assert!(told >= least && own <= 0.08, "{size}: {own} {told}");
    }
}

#[test]
fn two_bad_runs_in_a_row_are_an_alarm_whatever_was_before_them() {
    for size in [0.1, 0.2, 0.4] {
        let mut missed = Vec::new();
        for number in 0..series() {
            let mut runs = levels(Between::Independent, 42, &mut Stream::new(81, number));
            // The run before the two bad ones is as good as the best of the normal runs.
            runs[39] = runs[..39].iter().copied().fold(f64::INFINITY, f64::min);
            runs[40..].iter_mut().for_each(|level| *level += size);
            let [first, second] = [40, 41].map(|run| judged_at(&runs, run));
            let is_alarm = second.standing == Standing::Worse;
            missed.extend((first.stands_out && !is_alarm).then_some(number));
        }
        assert!(missed.len() as f64 <= 0.01 * series() as f64, "{size}: {missed:?}");
    }
}

#[test]
fn a_lasting_step_is_an_alarm_within_three_runs_and_good_runs_are_none() {
    for between in [Between::Independent, Between::Remembering, Between::Outliers] {
        let (mut found, mut alarms) = (0, 0);
        for number in 0..series() {
            let mut runs = levels(between, 43, &mut Stream::new(83, number));
            alarms += u64::from(judged_at(&runs, 39).standing == Standing::Worse);
            runs[40..].iter_mut().for_each(|level| *level += 0.05_f64.ln_1p());
            let alarm = |run: usize| judged_at(&runs, run).standing == Standing::Worse;
            found += u64::from((40..43).any(alarm));
        }
        let share = |count: u64| count as f64 / series() as f64;
        assert!(share(found) >= 0.95, "{between:?}: {} found", share(found));
        assert!(share(alarms) <= 0.05, "{between:?}: {} false", share(alarms));
    }
}

#[test]
fn of_fifty_benchmarks_with_lone_outliers_hardly_any_run_has_an_alarm() {
    // Each benchmark has an outlier in one run in fifty, so nearly every second run of the suite
    // contains an outlier.
    let (runs, mut alarms, mut told) = (60, 0, 0);
    for number in 0..runs {
        let mut stream = Stream::new(89, number);
        let suite: Vec<Vec<f64>> = (0..50)
            .map(|_| {
                let mut runs = levels(Between::Independent, 41, &mut stream);
                for level in &mut runs {
                    *level +=
                        if stream.uniform() < 0.02 { 0.1 + 0.3 * stream.uniform() } else { 0.0 };
                }
                runs.iter().map(|level| 0.01 * level.exp()).collect()
            })
            .collect();
        let gate = gate_of(&suite, 40);
        alarms += u32::from(gate.standing() == Standing::Worse);
        told += u32::from(gate.judged.iter().any(|judged| judged.stands_out));
    }
    // Alarms require two outliers in a row, which are correspondingly rare.
    assert!(alarms <= 6, "{alarms} of {runs}");
    assert!((20..55).contains(&told), "{told} of {runs}");
}

#[test]
fn a_level_that_began_with_the_last_of_few_runs_is_not_called_normal() {
    let judged = one(&[100.0, 100.2, 99.9, 100.1, 200.0, 199.0]);
    assert_eq!((judged.standing, judged.more_runs), (Standing::Inconclusive, Some(5)));
    // A last run that is not slower than usual is normal.
    let judged = one(&[100.0, 100.2, 99.9, 100.1, 200.0, 100.0]);
    assert_eq!(judged.standing, Standing::Normal);
}

#[test]
fn too_few_or_too_different_runs_are_inconclusive_and_say_how_many_more() {
    let few = one(&usual(3, &[100.0]));
    assert_eq!((few.standing, few.more_runs), (Standing::Inconclusive, Some(2)));
    let mut random = Stream::new(4, 0);
    let noisy = |runs: usize, sd: f64, random: &mut Stream| -> Vec<f64> {
        (0..=runs).map(|_| (sd * random.normal()).exp()).collect()
    };
    // Many benchmarks need more runs than a single one.
    let wall = Metric::wall();
    let suite = (0..BENCHMARKS).map(|_| candidate(&noisy(8, 0.018, &mut random), &wall)).collect();
    let judged = gate(suite, GateSettings::default()).judged;
    let open = |j: &&Judged| j.standing == Standing::Inconclusive && !j.stands_out;
    let more: Vec<usize> = judged.iter().filter(open).filter_map(|j| j.more_runs).collect();
    assert!(!more.is_empty() && more.iter().all(|more| (1..40).contains(more)), "{more:?}");
    let hopeless = candidate(&noisy(50, 0.2, &mut random), &Metric::wall());
    let gate = gate(vec![hopeless], GateSettings::default());
    assert_eq!((gate.standing(), gate.judged[0].more_runs), (Standing::Inconclusive, None));
    assert_eq!(gate.findings[0].code, "TOO_FEW_RUNS");
    assert_eq!(super::gate(Vec::new(), GateSettings::default()).standing(), Standing::Inconclusive);
}

#[test]
fn normal_begins_at_the_last_change() {
    let mut runs = usual(25, &[]);
    runs.extend(usual(25, &[]).iter().map(|value| value * 0.8));
    runs.extend([92.0, 92.4]);
    let gate = gate(vec![candidate(&runs, &Metric::wall())], GateSettings::default());
    assert_eq!(gate.standing(), Standing::Worse);
    assert!((gate.judged[0].normal.unwrap() - 80.0).abs() < 1.0, "{:?}", gate.judged[0]);
    assert_eq!(gate.findings[0].code, "RUNS_LEFT_OUT");
}

#[test]
fn normal_begins_where_the_trend_finds_the_last_level() {
    let mut random = Stream::new(13, 0);
    let (mut changed, mut same) = (0, 0);
    for _ in 0..200 {
        // Correlated runs, with or without a step.
        let (mut state, size) = (random.normal(), 0.06 * random.uniform());
        let value = |run: usize| {
            state = 0.4 * state + 0.92 * random.normal();
            (0.02 * state + if run < 30 { 0.0 } else { size }).exp()
        };
        let runs: Vec<f64> = (0..50).map(value).collect();
        let candidate = candidate(&runs, &Metric::wall());
        let found = trend::trend(
            super::super::Series {
                benchmark: candidate.benchmark,
                metric: candidate.metric,
                machine: String::new(),
                points: runs.iter().enumerate().map(|(place, &v)| point(place, v)).collect(),
            },
            0.95,
        );
        // A slow slope has no single change of level, but its last part still defines what is
        // normal.
        if found.creeps.is_empty() {
            let last = found.changes.last().map_or(0, |change| change.index);
            same += usize::from(since(&runs).0 == last);
            changed += usize::from(last > 0);
        } else {
            same += 1;
        }
    }
    // The gate gives fewer alarms than the full search for changes.
    assert!((20..180).contains(&changed) && same >= 190, "{changed} {same}");
}

#[test]
fn more_is_better_where_the_metric_says_so() {
    let metric = Metric { better: Better::Higher, ..Metric::lower("requests", Unit::PerSecond) };
    let standing = |then: f64| {
        let gate =
            gate(vec![candidate(&usual(40, &[then, then]), &metric)], GateSettings::default());
        gate.judged[0].clone()
    };
    let worse = standing(88.0);
    assert_eq!(worse.standing, Standing::Worse);
    assert!((worse.ratio.unwrap() - 0.88).abs() < 0.01);
    let (low, high) = worse.range.unwrap();
    assert!(88.0 < low && low < 100.0 && 100.0 < high);
    assert_eq!(standing(112.0).standing, Standing::Better);
}

#[test]
fn counts_that_never_vary_are_known_to_the_last_digit_but_trifles_are_not_reported() {
    let metric = Metric::exact("allocations", Unit::One);
    let standing = |now: f64| {
        let mut runs = vec![1000.0; 12];
        runs.push(now);
        gate(vec![candidate(&runs, &metric)], GateSettings::default()).judged[0].standing
    };
    assert_eq!(standing(1000.0), Standing::Normal);
    assert_eq!(standing(1050.0), Standing::Worse);
    assert_eq!(standing(1001.0), Standing::Normal);
    assert_eq!(standing(900.0), Standing::Better);
    let zeros = |now: f64| {
        let mut runs = vec![0.0; 12];
        runs.push(now);
        gate(vec![candidate(&runs, &metric)], GateSettings::default()).judged[0].standing
    };
    assert_eq!((zeros(0.0), zeros(3.0)), (Standing::Normal, Standing::Inconclusive));
}

#[test]
fn a_run_that_is_noisier_within_has_to_differ_by_more() {
    let runs = usual(40, &[105.0, 105.0]);
    let of = |half: f64| {
        let mut candidate = candidate(&runs, &Metric::wall());
        let around =
            |v: f64, half: f64| Some(Interval { lower: v * (1.0 - half), upper: v * (1.0 + half) });
        for point in &mut candidate.before {
            point.result.interval = around(point.result.centre, 0.005);
        }
        candidate.now.interval = around(105.0, half);
        gate(vec![candidate], GateSettings::default()).judged[0].standing
    };
    assert_eq!(of(0.005), Standing::Worse);
    assert_ne!(of(0.2), Standing::Worse);
}

#[test]
fn each_standing_has_its_word() {
    let all = [Standing::Normal, Standing::Better, Standing::Inconclusive, Standing::Worse];
    assert_eq!(all.map(Standing::word), ["normal", "better", "inconclusive", "worse"]);
}

#[test]
fn values_in_steps_are_known_to_a_step() {
    let steps: Vec<f64> = (0..30).map(|i| f64::from(i % 3) * 2.0).collect();
    assert!((resolution(&steps, 4.0) - 2.0 / 12f64.sqrt()).abs() < 1e-12);
    // Two values are too few to determine a step, and values that are all distinct show no
    // rounding.
    assert_eq!(resolution(&[1.0; 30], 3.0), 0.0);
    let all: Vec<f64> = (0..30).map(f64::from).collect();
    assert_eq!(resolution(&all, 30.0), 0.0);
}
