//! Exponents of synthetic scans, and the coverage of their intervals by seeded simulation.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use super::*;
use crate::{Options, analyse};
use assay_data::{Better, Metric, Observation, Side, StopRule, Subject, Threshold, Unit};
use assay_stats::resampling::Stream;

fn plan(blocks: u32) -> Plan {
    Plan {
        stop: StopRule::Fixed { blocks },
        budget_seconds: None,
        ..Plan::sequential(0.95, Threshold::default(), 1)
    }
}

/// The sides and the row of a scan.
fn add_commands(samples: &mut Samples, commands: &[&str]) {
    for name in commands {
        samples.add_side(Side { name: (*name).to_owned(), ..Side::default() });
    }
    samples.row_named("");
}

/// A scan of `commands` over these combinations of parameters; `value` is called with combination,
/// command and block.
fn scan(
    combinations: &[&[(&str, &str)]],
    commands: &[&str],
    blocks: u32,
    value: impl Fn(usize, usize, u32) -> f64,
) -> Samples {
    let wall = Metric { better: Better::Lower, ..Metric::lower("wall", Unit::Second) };
    let mut samples = Samples::new(vec![wall]);
    samples.plan = Some(plan(blocks));
    add_commands(&mut samples, commands);
    for parameters in combinations {
        let first = samples.subjects.len();
        for (side, command) in commands.iter().enumerate() {
            let fill = |name: String, (p, v): &(&str, &str)| name.replace(&format!("{{{p}}}"), v);
            samples.add(Subject {
                side,
                name: parameters.iter().fold((*command).to_owned(), fill),
                parameters: parameters
                    .iter()
                    .map(|(p, v)| ((*p).to_owned(), (*v).into()))
                    .collect(),
                against: Some(first),
                ..Subject::default()
            });
        }
    }
    for block in 0..blocks {
        for subject in 0..samples.subjects.len() {
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(subject as u32),
                values: vec![value(subject / commands.len(), subject % commands.len(), block)],
                ..Observation::default()
            });
        }
    }
    samples
}

const SIZES: [&[(&str, &str)]; 5] =
    [&[("n", "1")], &[("n", "2")], &[("n", "4")], &[("n", "8")], &[("n", "16")]];

fn size(combination: usize) -> f64 {
    f64::from(1 << combination)
}

fn ripple(combination: usize, block: u32) -> f64 {
    1.0 + f64::from((block * 7 + combination as u32 * 5) % 11) / 1000.0
}

#[test]
fn every_command_has_its_power() {
    let samples = scan(&SIZES, &["sort -1 {n}", "quick {n}"], 12, |c, k, block| {
        let power = if k == 0 { 2.0 } else { 1.0 };
        3.0 * size(c).powf(power) * ripple(c, block) * (1.0 + f64::from(block))
    });
    let found = analyse(&samples, &Options::default()).unwrap();
    assert_eq!(found.comparisons.iter().map(|c| c.against).collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
    let labels: Vec<&str> = found.curves.iter().map(|c| c.command.as_str()).collect();
    assert_eq!(labels, ["sort -1 {n}", "quick {n}"]);
    for (curve, power) in found.curves.iter().zip([2.0, 1.0]) {
        let exponent = curve.exponent.as_ref().unwrap();
        assert!((exponent.estimate - power).abs() < 0.01, "{exponent:?}");
        assert!(exponent.steps.iter().all(|step| (step - power).abs() < 0.02), "{exponent:?}");
        assert!(exponent.interval.is_some_and(|i| i.upper - i.lower < 0.02));
        assert!(!exponent.curved);
        assert_eq!(curve.points.len(), 5);
    }
}

#[test]
fn a_start_that_costs_makes_a_curve_that_no_power_describes() {
    let samples = scan(&SIZES, &["work {n}"], 12, |c, _, block| (5.0 + size(c)) * ripple(c, block));
    let found = analyse(&samples, &Options::default()).unwrap();
    assert!(found.comparisons.is_empty());
    let exponent = found.curves[0].exponent.as_ref().unwrap();
    assert!(exponent.curved && exponent.steps[0] < 0.3 && exponent.steps[3] > 0.6, "{exponent:?}");
}

#[test]
fn a_parameter_with_others_beside_it_has_a_curve_for_each_of_them() {
    let combinations: Vec<Vec<(&str, &str)>> = ["a", "b"]
        .into_iter()
        .flat_map(|mode| ["10", "40", "20"].map(|n| vec![("mode", mode), ("n", n)]))
        .collect();
    let combinations: Vec<&[(&str, &str)]> = combinations.iter().map(Vec::as_slice).collect();
    let samples = scan(&combinations, &["x {mode} {n}"], 6, |c, _, block| {
        [1.0, 4.0, 2.0][c % 3] * ripple(c, block)
    });
    let found = analyse(&samples, &Options::default()).unwrap();
    let fixed: Vec<_> = found.curves.iter().map(|c| c.fixed[0].1.as_str()).collect();
    assert_eq!(fixed, ["a", "b"]);
    let subjects: Vec<_> = found.curves[1].points.iter().map(|p| p.subject).collect();
    assert_eq!(subjects, [3, 5, 4], "ascending by value");
    assert!((found.curves[1].exponent.as_ref().unwrap().estimate - 1.0).abs() < 0.01);
}

#[test]
fn what_has_no_exponent_says_why() {
    let reason = |blocks, value: &dyn Fn(usize) -> f64| {
        let samples = scan(&SIZES, &["x {n}"], blocks, |c, _, _| value(c));
        analyse(&samples, &Options::default()).unwrap().curves.remove(0).exponent.map(|_| ())
    };
    assert_eq!(reason(4, &|_| 1.0), Err(NoExponent::TooFewBlocks(4)));
    assert_eq!(reason(9, &|c| c as f64), Err(NoExponent::NotPositive));
    assert_eq!(reason(9, &|_| 1.0), Ok(()));
}

#[test]
fn words_two_values_and_plain_comparisons_have_no_curve() {
    let count = |combinations: &[&[(&str, &str)]]| {
        let samples = scan(combinations, &["x {n}"], 6, |c, _, _| 1.0 + c as f64);
        analyse(&samples, &Options::default()).unwrap().curves.len()
    };
    assert_eq!(count(&[&[("n", "1")], &[("n", "2")]]), 0);
    assert_eq!(count(&[&[("n", "1")], &[("n", "2")], &[("n", "big")]]), 0);
    // Zero has no logarithm and is left out, which leaves too few values for an exponent.
    assert_eq!(count(&[&[("n", "0")], &[("n", "1")], &[("n", "2")]]), 0);
    assert_eq!(count(&[&[("n", "0")], &[("n", "1")], &[("n", "2")], &[("n", "3")]]), 1);
    assert_eq!(count(&[&[], &[], &[]]), 0);
}

#[test]
fn the_interval_of_the_exponent_covers_the_truth_in_95_of_100_scans() {
    let covered = (0..400_u64).filter(|&seed| {
        let mut random = Stream::new(seed, 0);
        // A drift over the run, a jolt per block, and noise per run.
        let noise: Vec<Vec<f64>> = (0..20)
            .map(|block| {
                let of_block = 0.02 * f64::from(block) + 0.1 * random.normal();
                (0..5).map(|_| of_block + 0.05 * random.normal()).collect()
            })
            .collect();
        let samples = scan(&SIZES, &["x {n}"], 20, |c, _, block| {
            size(c).powf(1.1) * noise[block as usize][c].exp()
        });
        let found = analyse(&samples, &Options::default()).unwrap();
        let exponent = found.curves[0].exponent.as_ref().unwrap();
        exponent.interval.is_some_and(|i| i.contains(1.1))
    });
    let share = covered.count() as f64 / 400.0;
    // At most three standard errors of the simulation below 95 %, and not far above, since the
    // interval must not be too wide.
    assert!((0.917..0.99).contains(&share), "{share}");
}

#[test]
fn a_command_is_a_side_whatever_its_subjects_are_called() {
    let mut samples = scan(&SIZES, &["sort -1 {n}"], 6, |c, _, _| 1.0 + c as f64);
    samples.subjects[3].name = "something else".to_owned();
    assert_eq!(found(&samples), expected(&["sort -1 {n}"], false));
    // A subject without the parameter is not part of the scan.
    samples.subjects[3].parameters.clear();
    assert_eq!(found(&samples), None);
}

#[test]
fn what_another_tool_scanned_is_known_by_the_labels_of_its_rows() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.add_side(Side { name: "results".to_owned(), ..Side::default() });
    for n in ["1", "2"] {
        for label in ["a {n}", "b {n}"] {
            let name = label.replace("{n}", n);
            let row = samples.row_named(&name);
            samples.rows[row].label = Some(label.to_owned());
            let parameters = vec![("n".to_owned(), n.into())];
            samples.add(Subject { row, parameters, name, ..Subject::default() });
        }
    }
    assert_eq!(found(&samples), expected(&["a {n}", "b {n}"], false));
    samples.rows[3].label = Some("c {n}".to_owned());
    assert_eq!(found(&samples), None);
}

/// A subject's name, parameters and reference.
type SubjectSpec<'a> = (&'a str, &'a [(&'a str, &'a str)], Option<usize>);

fn subjects(commands: &[&str], of: &[SubjectSpec]) -> Samples {
    let mut samples = Samples::new(vec![Metric::wall()]);
    add_commands(&mut samples, commands);
    for (index, &(name, parameters, against)) in of.iter().enumerate() {
        let parameters = parameters.iter().map(|(p, v)| ((*p).to_owned(), (*v).into()));
        samples.add(Subject {
            side: index % commands.len(),
            name: name.to_owned(),
            parameters: parameters.collect(),
            against,
            ..Subject::default()
        });
    }
    samples
}

fn found(samples: &Samples) -> Option<(usize, Vec<String>, bool)> {
    Layout::of(samples).map(|l| (l.commands, l.labels, l.own_values))
}

fn expected(labels: &[&str], own_values: bool) -> Option<(usize, Vec<String>, bool)> {
    Some((labels.len(), labels.iter().map(|&l| l.to_owned()).collect(), own_values))
}

#[test]
fn commands_with_values_of_their_own_are_not_taken_for_one() {
    let two = |references: [Option<usize>; 6], labels: &[&str]| {
        let [a, b, c, d, e, f] = references;
        let told: [SubjectSpec; 6] = [
            ("a 1", &[("n", "1")], a),
            ("b 10", &[("n", "10")], b),
            ("a 2", &[("n", "2")], c),
            ("b 20", &[("n", "20")], d),
            ("a 3", &[("n", "3")], e),
            ("b 30", &[("n", "30")], f),
        ];
        subjects(labels, &told)
    };
    let labels = ["a {n}", "b {n}"];
    // The references of subjects do not affect the result.
    let within = [0, 0, 2, 2, 4, 4].map(Some);
    for references in [within, [0, 1, 2, 3, 4, 5].map(Some), [None; 6]] {
        assert_eq!(found(&two(references, &labels)), expected(&labels, true));
    }
    // Equal names of subjects do not affect the result either.
    assert_eq!(found(&two(within, &["x {n}"; 2])), expected(&["x {n}", "x {n} #2"], true));
    // Four commands, of which the last two have a separate reference.
    let four = subjects(
        &["a {n}", "b {n}", "c {n}", "d {n}"],
        &[
            ("a 1", &[("n", "1")], Some(0)),
            ("b 5", &[("n", "5")], Some(0)),
            ("c 1", &[("n", "1")], Some(2)),
            ("d 5", &[("n", "5")], Some(2)),
            ("a 2", &[("n", "2")], Some(4)),
            ("b 6", &[("n", "6")], Some(4)),
            ("c 2", &[("n", "2")], Some(6)),
            ("d 6", &[("n", "6")], Some(6)),
        ],
    );
    assert_eq!(found(&four), expected(&["a {n}", "b {n}", "c {n}", "d {n}"], true));
}

#[test]
fn commands_may_have_other_parameters_or_none() {
    let other = subjects(
        &["a {n}", "b {m}"],
        &[
            ("a 1", &[("n", "1")], Some(0)),
            ("b 7", &[("m", "7")], Some(0)),
            ("a 1", &[("n", "1")], Some(2)),
            ("b 8", &[("m", "8")], Some(2)),
            ("a 2", &[("n", "2")], Some(4)),
            ("b 7", &[("m", "7")], Some(4)),
        ],
    );
    assert_eq!(other.subjects[2].name, "a 1 #2", "the samples number it");
    assert_eq!(found(&other), expected(&["a {n}", "b {m}"], true));
    let none = subjects(
        &["a", "b {m}"],
        &[
            ("a", &[], Some(0)),
            ("b 7", &[("m", "7")], Some(0)),
            ("a", &[], Some(2)),
            ("b 8", &[("m", "8")], Some(2)),
        ],
    );
    assert_eq!(found(&none), expected(&["a", "b {m}"], true));
}

#[test]
fn every_command_grows_over_its_own_values() {
    let values: [[(&str, &str); 2]; 4] =
        [("1", "10"), ("2", "20"), ("4", "40"), ("8", "80")].map(|(a, b)| [("n", a), ("n", b)]);
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.plan = Some(plan(9));
    add_commands(&mut samples, &["a", "b"]);
    for (combination, of_commands) in values.iter().enumerate() {
        for (command, (name, value)) in of_commands.iter().enumerate() {
            samples.add(Subject {
                side: command,
                name: format!("{} {value}", ["a", "b"][command]),
                parameters: vec![((*name).to_owned(), (*value).into())],
                against: Some(combination * 2),
                ..Subject::default()
            });
        }
    }
    for block in 0..9 {
        for subject in 0..8 {
            let power = if subject % 2 == 0 { 1 } else { 2 };
            let value = size(subject / 2).powi(power) * ripple(subject, block);
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(subject as u32),
                values: vec![value],
                ..Observation::default()
            });
        }
    }
    let found = analyse(&samples, &Options::default()).unwrap();
    let at = |curve: &Curve| curve.points.iter().map(|p| p.value).collect::<Vec<_>>();
    assert_eq!(
        found.curves.iter().map(at).collect::<Vec<_>>(),
        [[1.0, 2.0, 4.0, 8.0], [10.0, 20.0, 40.0, 80.0]]
    );
    for (curve, power) in found.curves.iter().zip([1.0, 2.0]) {
        let exponent = curve.exponent.as_ref().unwrap();
        assert!((exponent.estimate - power).abs() < 0.02, "{exponent:?}");
    }
}
