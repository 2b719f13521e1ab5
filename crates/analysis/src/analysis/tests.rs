//! Tests of the analysis as a whole.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod controls;
mod rows;
mod scans;

use super::*;
use crate::Verdict;
use assay_data::code;
use assay_data::{Observation, Plan, Threshold, Unit};

/// Returns samples of two subjects whose blocks start at the given times, in seconds. Each run
/// takes 40 ms and each hook 10 ms.
fn begun_at(starts: &[f64]) -> Samples {
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.add_subject("a");
    samples.add_subject("b");
    for (block, start) in starts.iter().enumerate() {
        for subject in 0..2 {
            samples.push(Observation {
                subject,
                block: Some(block as u32),
                position: Some(subject as u32),
                time: Some(start + 0.05 * subject as f64),
                values: vec![0.04],
                ..Observation::default()
            });
        }
    }
    samples
}

fn rounded(samples: &Samples) -> Option<f64> {
    seconds_per_block(samples).map(|seconds| (seconds * 1000.0).round() / 1000.0)
}

#[test]
fn a_pause_of_a_day_does_not_make_the_blocks_longer() {
    let day = 86_400.0;
    assert_eq!(rounded(&begun_at(&[5.0, 5.1, 5.2, day, day + 0.1, day + 0.2])), Some(0.1));
    assert_eq!(rounded(&begun_at(&[5.0, 5.1, day])), Some(0.1));
    // With two blocks, the last one decides.
    assert_eq!(rounded(&begun_at(&[5.0, day])), Some(0.09));
}

#[test]
fn one_block_took_what_its_runs_took_and_none_is_not_known() {
    assert_eq!(rounded(&begun_at(&[7.0])), Some(0.09));
    assert_eq!(rounded(&begun_at(&[])), None);
    // An unfinished block is not used.
    let mut broken = begun_at(&[7.0, 7.1]);
    broken.push(Observation {
        subject: 1,
        block: Some(2),
        position: Some(0),
        time: Some(7.2),
        values: vec![0.04],
        ..Observation::default()
    });
    assert_eq!(rounded(&broken), Some(0.1));
    let mut no_time = Samples::new(vec![Metric::wall()]);
    no_time.add_subject("a");
    no_time.push_value(0, 1.0);
    assert_eq!(rounded(&no_time), None);
}

#[test]
fn a_run_that_was_gone_on_with_as_another_one_has_no_verdict() {
    let mut samples =
        Samples::new(vec![Metric::wall(), Metric::lower("cpu", assay_data::Unit::Second)]);
    samples.add_subject("a");
    samples.add_subject("b");
    for block in 0..20 {
        for subject in 0..2 {
            let value = (1.0 + subject as f64) * (1.0 + f64::from((block * 7) % 11) / 1000.0);
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(subject as u32),
                time: Some(f64::from(block)),
                values: vec![value, value],
                ..Observation::default()
            });
        }
    }
    let verdicts = |samples: &Samples| {
        let found = analyse(samples, &Options::default()).expect("there are values");
        let all = found.comparisons.iter().chain(&found.secondary);
        let of = |c: &Comparison| (c.decision.verdict, c.decision.interval.is_some(), c.mixed);
        (all.map(of).collect::<Vec<_>>(), found.findings)
    };
    assert_eq!(verdicts(&samples).0, [(Verdict::Slower, true, false); 2]);
    let changed = Finding::new(code::RESUMED, "a changed").at(Severity::Serious);
    samples.findings.push(changed);
    let (withheld, findings) = verdicts(&samples);
    assert_eq!(withheld, [(Verdict::Inconclusive, false, true); 2]);
    // The verdict is withheld because of `RESUMED` only; the number of blocks is not blamed too.
    let codes: Vec<&str> = findings.iter().map(|f| f.code.as_str()).collect();
    assert!(codes.contains(&"RESUMED") && !codes.contains(&"TOO_FEW"), "{codes:?}");
}

#[test]
fn a_pair_of_summaries_is_decided_by_their_means_and_says_so() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    for (name, mean) in [("old", 1.0), ("new", 1.5)] {
        let subject = samples.add_subject(name);
        samples.summaries.push(assay_data::Summary {
            subject,
            metric: "wall".to_owned(),
            count: Some(20),
            mean: Some(mean),
            sd: Some(0.1),
            ..assay_data::Summary::default()
        });
    }
    let analysis = analyse(&samples, &Options::default()).unwrap();
    assert_eq!(analysis.design, assay_data::Design::Summary);
    assert_eq!(analysis.comparisons[0].decision.verdict, crate::Verdict::Slower);
    assert!(analysis.findings.iter().any(|f| f.code == "SUMMARY_ONLY"));
    assert!(analysis.primary_of(0).is_none());
}

#[test]
fn a_pair_of_few_processes_is_not_decided_by_their_many_values() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    for (name, own) in [("old", 1.0), ("new", 1.5)] {
        let subject = samples.add_subject(name);
        for process in 0..3_u32 {
            for value in 0..10 {
                let wall = own + 0.01 * f64::from(process) + 0.001 * f64::from(value * 7 % 10);
                let (level, values) = (vec![process], vec![wall]);
                samples.push(Observation { subject, level, values, ..Observation::default() });
            }
        }
    }
    let analysis = analyse(&samples, &Options::default()).unwrap();
    let only = &analysis.comparisons[0];
    assert_eq!((only.counts, only.decision.verdict), ((3, 3), crate::Verdict::Inconclusive));
    let few = analysis.findings.iter().find(|f| f.code == "TOO_FEW").unwrap();
    assert!(few.message.contains("too few processes for a verdict (3 and 3): 4 on each side"));
}

#[test]
fn equal_ratios_are_a_plain_shift() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.add_subject("a");
    samples.add_subject("b");
    for _ in 0..30 {
        samples.push_value(0, 5.0);
        samples.push_value(1, 7.0);
    }
    let found = analyse(&samples, &Options::default()).expect("both have values");
    assert!(found.findings.iter().all(|f| f.code != "SHAPE"), "{:?}", found.findings);
}

#[test]
fn a_machine_that_changes_its_speed_takes_the_amount_its_interval_and_leaves_the_ratio_its_own() {
    let mut stream = assay_stats::resampling::Stream::new(7, 0);
    // In the first case the machine slows down by two fifths from the middle on, which affects both
    // sides. In the second case one side also takes 3 s longer, independent of the machine.
    for (of_ratio, threshold) in [
        (true, Threshold::Relative(0.01)),
        (false, Threshold::Absolute { value: 0.01, unit: Unit::Second }),
    ] {
        let mut samples = Samples::new(vec![Metric::wall()]);
        samples.add_subject("once");
        samples.add_subject("more");
        samples.plan = Some(Plan::sequential(0.95, threshold, 1));
        for block in 0..60 {
            let slow = if block < 30 { 1.0 } else { 1.4 };
            let mut noisy = |value: f64| value * (1.0 + 0.002 * stream.normal());
            let once = noisy(slow);
            let more = if of_ratio { noisy(4.0 * slow) } else { once + noisy(3.0) };
            for (subject, value) in [once, more].into_iter().enumerate() {
                let (block, values) = (Some(block), vec![value]);
                samples.push(Observation { subject, block, values, ..Observation::default() });
            }
        }
        let found = analyse(&samples, &Options::default()).unwrap();
        let only = &found.comparisons[0];
        let ends = [only.ratio.unwrap().interval, only.shift.interval].map(|i| i.is_some());
        assert_eq!(only.decision.verdict, crate::Verdict::Slower);
        assert_eq!((ends, only.no_interval()), ([of_ratio, !of_ratio], None));
        assert!(only.decision.interval.is_some_and(|i| i.is_bounded()));
    }
}
