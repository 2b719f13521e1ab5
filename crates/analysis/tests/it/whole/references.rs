//! References of comparisons, and secondary metrics.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use assay_analysis::analysis::AnalysisError;
use assay_analysis::{Options, Verdict, analyse};
use assay_data::{Metric, Observation, Plan, Samples, StopRule, Subject, Threshold, Unit};

/// Subjects with these references and factors, in blocks, with four metrics.
fn samples(subjects: &[(Option<usize>, f64)], blocks: u32) -> Samples {
    let second = |name| Metric::lower(name, Unit::Second);
    let mut samples =
        Samples::new(vec![second("wall"), second("cpu"), second("user"), second("inner")]);
    samples.plan = Some(Plan {
        stop: StopRule::Fixed { blocks },
        ..Plan::sequential(0.95, Threshold::default(), 1)
    });
    for &(against, _) in subjects {
        samples.add_command(Subject { name: "x".to_owned(), against, ..Subject::default() });
    }
    for block in 0..blocks {
        for (subject, &(_, factor)) in subjects.iter().enumerate() {
            let wall = factor * (1.0 + f64::from((block * 7 + subject as u32) % 11) / 1000.0);
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(subject as u32),
                values: vec![wall, wall * 2.0, wall / 2.0, wall / 3.0],
                ..Observation::default()
            });
        }
    }
    samples
}

fn secondary(names: &[&str]) -> Options {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Options { secondary: Some(names), ..Options::default() }
}

#[test]
fn each_is_compared_with_whom_it_names() {
    let pairs = [(Some(0), 1.0), (Some(0), 2.0), (Some(2), 10.0), (Some(2), 5.0)];
    let found = analyse(&samples(&pairs, 12), &Options::default()).unwrap();
    let of = |c: &assay_analysis::Comparison| (c.of, c.against, c.decision.verdict);
    let expected = [(1, 0, Verdict::Slower), (3, 2, Verdict::Faster)];
    assert_eq!(found.comparisons.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(found.secondary.len(), 6);
    assert!(
        found.secondary.iter().all(|c| (c.of, c.against) == (1, 0) || (c.of, c.against) == (3, 2))
    );
    assert_eq!(found.subjects[3].against, Some(2));
    assert!(found.comparison_of(2).is_none() && found.comparison_of(3).is_some());
}

#[test]
fn those_that_are_compared_with_nobody_are_only_described() {
    let found =
        analyse(&samples(&[(Some(0), 1.0), (Some(1), 2.0)], 12), &Options::default()).unwrap();
    assert!(found.comparisons.is_empty() && found.secondary.is_empty());
    assert!(found.findings.iter().all(|f| f.code != "NOT_INTERLEAVED"));
}

#[test]
fn metrics_named_beside_it_share_the_error_among_themselves() {
    let two = samples(&[(None, 1.0), (None, 1.0005)], 30);
    let level = |options: &Options| {
        let found = analyse(&two, options).unwrap();
        let names: Vec<_> =
            found.secondary.iter().map(|c| found.metrics[c.metric].name.clone()).collect();
        (names.join(","), found.secondary[0].level)
    };
    let (names, shared) = level(&Options::default());
    assert_eq!(names, "cpu,user,inner");
    assert!((shared - 0.05 / 3.0).abs() < 1e-12);
    let (names, shared) = level(&secondary(&["inner", "cpu", "wall", "inner"]));
    assert_eq!(names, "inner,cpu");
    assert!((shared - 0.025).abs() < 1e-12);
}

#[test]
fn a_metric_beside_that_was_not_measured_is_an_error_only_where_it_is_asked_for_now() {
    let mut two = samples(&[(None, 1.0), (None, 2.0)], 12);
    let error = analyse(&two, &secondary(&["cpu", "joules"])).unwrap_err();
    assert!(matches!(error, AnalysisError::NoSuchMetric(told) if told.contains("`joules`")));
    two.plan.as_mut().unwrap().secondary = vec!["joules".to_owned(), "cpu".to_owned()];
    assert_eq!(analyse(&two, &Options::default()).unwrap().secondary.len(), 1);
}
