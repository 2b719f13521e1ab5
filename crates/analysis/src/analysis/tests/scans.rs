//! Summaries of a scan's comparisons.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::{Options, analyse};
use assay_data::{Metric, Observation, Samples, Side, Subject};

/// Returns samples of two commands at `values` values of the parameter n, in ten blocks. The second
/// command takes 0.8 times as long as the first.
fn scan(values: usize, in_blocks: bool) -> Samples {
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.sides =
        ["old", "new"].map(|name| Side { name: name.to_owned(), ..Side::default() }).into();
    samples.row_named("");
    for value in 1..=values {
        for command in ["old", "new"] {
            samples.add(Subject {
                side: usize::from(command == "new"),
                name: format!("{command} {value}"),
                parameters: vec![("n".to_owned(), value.to_string().into())],
                against: (command == "new").then(|| 2 * (value - 1)),
                ..Subject::default()
            });
        }
    }
    for block in 0..10_u32 {
        for subject in 0..2 * values {
            let factor = if subject % 2 == 1 { 0.8 } else { 1.0 };
            let slow = 1.0 + f64::from(block) * 0.1;
            let own = 1.0 + 0.001 * f64::from((block * 7 + subject as u32 * 3) % 5);
            samples.push(Observation {
                subject,
                block: in_blocks.then_some(block),
                values: vec![(1 + subject / 2) as f64 * factor * slow * own],
                ..Observation::default()
            });
        }
    }
    samples
}

#[test]
fn one_command_over_all_values_is_one_number() {
    let analysis = analyse(&scan(4, true), &Options::default()).unwrap();
    let [group] = analysis.groups.as_slice() else { unreachable!("one pair of commands") };
    assert_eq!((group.of, group.against, group.comparisons.len()), (1, 0, 4));
    let mean = group.mean.as_ref().unwrap();
    assert!((mean.estimate - 0.8).abs() < 0.002, "{mean:?}");
    // A slowdown of a whole block does not affect its ratios.
    let of_these = mean.of_these.unwrap();
    assert!(of_these.contains(0.8) && of_these.half_width() < 0.003, "{mean:?}");
}

#[test]
fn recordings_apart_have_wider_intervals_and_one_value_has_no_mean() {
    let apart = analyse(&scan(4, false), &Options::default()).unwrap();
    let of_these = apart.groups[0].mean.as_ref().unwrap().of_these.unwrap();
    assert!(of_these.contains(0.8) && of_these.half_width() > 0.03, "{of_these:?}");
    let one = analyse(&scan(1, true), &Options::default()).unwrap();
    assert!(one.groups.iter().all(|group| group.mean.is_none()));
    // A mean over two parameter values says little about other values.
    let two = analyse(&scan(2, true), &Options::default()).unwrap();
    let mean = two.groups[0].mean.as_ref().unwrap();
    assert!(mean.of_these.unwrap().half_width() <= mean.of_such.unwrap().half_width());
}
