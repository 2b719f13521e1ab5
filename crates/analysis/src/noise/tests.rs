//! Simulated runs: a known share is found, no share is reported without a cause, and disturbed runs
//! have less weight.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use super::*;
use crate::tests::autoregressive;
use crate::{Options, analyse};
use assay_data::{Metric, Observation, Plan, StopRule, Threshold};
use assay_stats::resampling::Stream;

fn normals(random: &mut Stream, n: usize) -> Vec<f64> {
    (0..n).map(|_| random.normal()).collect()
}

/// Counts that are mostly zero, like a short program's switches.
fn counts(random: &mut Stream, n: usize, one_in: f64) -> Vec<f64> {
    let count = |u: f64, v: f64| if u < 1.0 / one_in { 1.0 + (3.0 * v).floor() } else { 0.0 };
    (0..n).map(|_| count(random.uniform(), random.uniform())).collect()
}

#[test]
fn a_known_share_is_found() {
    let mut random = Stream::new(1, 0);
    let (cause, rest) = (normals(&mut random, 4000), normals(&mut random, 4000));
    // The true share is 40 %; the correlation of ranks of normal values is slightly smaller.
    let values: Vec<f64> = cause
        .iter()
        .zip(&rest)
        .enumerate()
        .map(|(i, (c, r))| 100.0 + i as f64 / 50.0 + 0.4f64.sqrt() * c + 0.6f64.sqrt() * r)
        .collect();
    let other = normals(&mut random, 4000);
    let found = share::explained(&values, &[&cause, &other]);
    let expected = (6.0 / std::f64::consts::PI * (0.4f64.sqrt() / 2.0).asin()).powi(2);
    assert!((found.alone[0].share.unwrap() - expected).abs() < 0.03, "{found:?} {expected}");
    assert_eq!(found.alone[1].share, None);
    assert!((found.together.unwrap() - expected).abs() < 0.03, "{found:?}");
}

#[test]
fn two_causes_share_what_they_have_in_common() {
    let mut random = Stream::new(2, 0);
    let (a, b, rest) =
        (normals(&mut random, 3000), normals(&mut random, 3000), normals(&mut random, 3000));
    let sum = |x: &[f64], y: &[f64]| -> Vec<f64> { x.iter().zip(y).map(|(x, y)| x + y).collect() };
    let values = sum(&sum(&a, &b), &rest);
    let apart = share::explained(&values, &[&a, &b]).together.unwrap();
    let alone = share::explained(&values, &[&a]).together.unwrap();
    assert!((apart - 2.0 * alone).abs() < 0.06, "{apart} {alone}");
    // A cause given twice explains no more than once.
    let twice = share::explained(&values, &[&a, &a]).together.unwrap();
    assert!((twice - alone).abs() < 1e-9, "{twice} {alone}");
}

#[test]
fn runs_without_any_relation_claim_nothing_in_95_of_100_series() {
    type Maker = fn(&mut Stream, usize) -> (Vec<f64>, Vec<Vec<f64>>);
    let plain: Maker =
        |r, n| (normals(r, n), vec![normals(r, n), counts(r, n, 3.0), counts(r, n, 30.0)]);
    let dependent_too: Maker = |r, n| {
        let mut slow = |lag1| autoregressive(r, n, lag1);
        (slow(0.8), vec![slow(0.8), slow(0.5)])
    };
    let alternating: Maker = |r, n| {
        let mut slow = |lag1| autoregressive(r, n, lag1);
        (slow(-0.8), vec![slow(-0.8)])
    };
    let drifting: Maker = |r, n| {
        let mut drift = |slope: f64| -> Vec<f64> {
            (0..n).map(|i| r.normal() + slope * i as f64 / n as f64).collect()
        };
        (drift(6.0), vec![drift(6.0), drift(-6.0)])
    };
    for (name, maker) in [
        ("plain", plain),
        ("dependent", dependent_too),
        ("alternating", alternating),
        ("drift", drifting),
    ] {
        for n in [20, 60, 200] {
            let claims = (0..1000)
                .filter(|&seed| {
                    let (values, causes) = maker(&mut Stream::new(seed, 0), n);
                    let causes: Vec<&[f64]> = causes.iter().map(Vec::as_slice).collect();
                    let found = share::explained(&values, &causes);
                    found.together.is_some() || found.alone.iter().any(|one| one.share.is_some())
                })
                .count();
            assert!(claims <= 50, "{name}, {n} runs: {claims} of 1000");
        }
    }
}

#[test]
fn shift_and_scale_of_the_times_change_nothing() {
    let mut random = Stream::new(3, 0);
    let counts = counts(&mut random, 128, 2.0);
    let times: Vec<f64> =
        counts.iter().map(|c| (64.0 * (c + random.normal())).round() / 64.0).collect();
    let found = share::explained(&times, &[&counts]);
    assert!(found.together.is_some());
    let moved: Vec<f64> = times.iter().map(|t| 8.0 * t + 1024.0).collect();
    assert_eq!(share::explained(&moved, &[&counts]), found);
}

#[test]
fn what_never_changes_explains_nothing_and_few_runs_say_nothing() {
    let times: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 40)).collect();
    let none = share::explained(&times, &[&[0.0; 40]]);
    assert_eq!((none.alone[0].correlation, none.together), (None, None));
    let constant = share::explained(&[1.0; 40], &[&times]);
    assert_eq!((constant.alone.len(), constant.together), (1, None));
    let few = share::explained(&times[..19], &[&times[..19]]);
    assert_eq!(few.together, None);
    assert_eq!(share::explained(&times, &[]).together, None);
}

/// Two subjects in blocks, with wall time, involuntary switches, and steal. The second subject is
/// preempted in every `every`-th block.
fn disturbed_samples(blocks: u32, every: u32) -> Samples {
    let switches = Metric::lower("involuntary_switches", Unit::One);
    let mut samples =
        Samples::new(vec![Metric::wall(), switches, Metric::lower("steal", Unit::Second)]);
    samples.add_subject("old");
    samples.add_subject("new");
    samples.plan = Some(Plan {
        stop: StopRule::Fixed { blocks },
        ..Plan::sequential(0.95, Threshold::default(), 1)
    });
    let mut random = Stream::new(4, 0);
    for block in 0..blocks {
        for subject in 0..2 {
            let put_aside = subject == 1 && block.is_multiple_of(every);
            let wall = [1.0, 0.97][subject] + 0.01 * random.normal();
            let wall = if put_aside { wall + 0.5 } else { wall };
            let stolen = if block == 3 && subject == 0 { 0.05 } else { 0.0 };
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(subject as u32),
                values: vec![wall, if put_aside { 4.0 } else { 0.0 }, stolen],
                ..Observation::default()
            });
        }
    }
    samples
}

#[test]
fn runs_put_aside_more_than_usual_are_marked_and_weigh_less() {
    let analysis = analyse(&disturbed_samples(60, 6), &Options::default()).unwrap();
    let [old, new] = analysis.noise.as_slice() else { unreachable!("two subjects") };
    // The old subject has only the run with stolen time.
    assert_eq!(old.disturbed, [6]);
    assert_eq!(new.disturbed, (0..60).step_by(6).map(|block| 2 * block + 1).collect::<Vec<_>>());
    assert!(new.is_disturbed() && !old.is_disturbed());
    assert!(analysis.findings.iter().any(|f| f.code == "DISTURBED" && f.evidence[0].1 == 10.0));
    let weighed = new.weighed.unwrap();
    let plain = analysis.comparisons[0].decision.estimate.exp();
    assert_eq!((weighed.scale, weighed.blocks, old.weighed), (Scale::Ratio, 11, None));
    assert!((weighed.estimate - 0.97).abs() < (plain - 0.97).abs(), "{weighed:?} {plain}");
    // Spikes in ten of a hundred runs explain only a small share of the spread of ranks.
    assert!(new.together.is_some_and(|share| (0.05..0.5).contains(&share)), "{new:?}");
}

#[test]
fn without_disturbed_runs_nothing_is_weighed() {
    let mut samples = disturbed_samples(40, 100);
    samples.metrics[2].name = "something_else".to_owned();
    let analysis = analyse(&samples, &Options::default()).unwrap();
    // Only block 0 was preempted.
    assert_eq!(analysis.noise[1].disturbed, [1]);
    let quiet = analyse(&disturbed_samples(9, 100), &Options::default()).unwrap();
    assert!(quiet.noise[1].disturbed.is_empty(), "nine runs do not say what is usual");
    let few = analyse(&disturbed_samples(20, 12), &Options::default()).unwrap();
    assert!(few.noise[1].disturbed.len() == 2 && !few.noise[1].is_disturbed(), "{few:?}");
    // Block 3 is down-weighted only for its stolen time.
    assert_eq!(quiet.noise[1].weighed.map(|w| w.blocks), Some(1));
}

#[test]
fn only_times_have_noise_that_is_explained() {
    let options =
        Options { primary: Some("involuntary_switches".to_owned()), ..Options::default() };
    let analysis = analyse(&disturbed_samples(40, 6), &options).unwrap();
    assert!(analysis.noise.iter().all(|of| of.causes.is_empty() && of.disturbed.is_empty()));
    assert_eq!(analysis.noise.len(), 2);
}
