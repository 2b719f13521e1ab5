//! Properties of every report on arbitrary measurements: no panic, no line too wide, valid JSON.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common;

use assay_analysis::{Options, analyse};
use assay_data::{
    Better, Metric, Observation, Outcome, Plan, Samples, Side, StopRule, Subject, Threshold, Unit,
};
use assay_report::benchmarks::DisplayOptions;
use assay_report::terminal::{Screen, render};
use assay_report::{csv, json, markdown};
use proptest::prelude::*;
use std::sync::LazyLock;
use unicode_width::UnicodeWidthChar;

/// The schema of a result.
static DECISION: LazyLock<serde_json::Value> =
    LazyLock::new(|| json::schema::named("compare").unwrap().schema());

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![
        Just(Unit::Second),
        Just(Unit::Byte),
        Just(Unit::One),
        Just(Unit::PerSecond),
        "[a-z%]{1,8}".prop_map(Unit::Other)
    ]
}

fn metric() -> impl Strategy<Value = Metric> {
    let name = prop_oneof![Just("wall".to_owned()), Just("max_rss".to_owned()), "\\PC{1,12}"];
    (name, unit(), any::<bool>()).prop_map(|(name, unit, higher)| Metric {
        better: if higher { Better::Higher } else { Better::Lower },
        ..Metric::lower(&name, unit)
    })
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.9..1.1,
        2 => -5.0..5.0,
        1 => Just(0.0),
        1 => Just(f64::NAN),
        1 => prop::num::f64::NORMAL.prop_map(|v| v.clamp(-1e100, 1e100)),
    ]
}

fn plan() -> impl Strategy<Value = Option<Plan>> {
    let threshold = prop_oneof![Just(Threshold::Relative(0.01)), Just(Threshold::Relative(0.2))];
    (any::<bool>(), any::<bool>(), threshold, 0.5..0.999).prop_map(
        |(none, fixed, threshold, confidence)| {
            let plan = Plan::sequential(confidence, threshold, 1);
            let stop = StopRule::Fixed { blocks: 20 };
            (!none).then_some(if fixed { Plan { stop, ..plan } } else { plan })
        },
    )
}

prop_compose! {
    fn samples()(
        metrics in prop::collection::vec(metric(), 1..4),
        names in prop::collection::vec("\\PC{0,60}", 1..4),
        blocks in 0u32..30,
        paired in any::<bool>(),
        factor in 0.1..8.0,
        plan in plan(),
        values in prop::collection::vec(value(), 360),
        outcomes in prop::collection::vec(0u8..20, 90),
    ) -> Samples {
        let mut samples = Samples::new(Vec::new());
        for metric in metrics { samples.add_metric(metric); }
        for name in &names { samples.add_subject(name); }
        samples.plan = plan;
        let width = samples.metrics.len();
        for block in 0..blocks {
            for subject in 0..names.len() {
                let at = block as usize * names.len() + subject;
                let scale = if subject == 1 { factor } else { 1.0 };
                samples.push(Observation {
                    subject,
                    block: paired.then_some(block),
                    position: paired.then_some(subject as u32),
                    time: Some(f64::from(block)),
                    outcome: match outcomes[at] { 0 => Outcome::Exit(1), 1 => Outcome::Timeout, _ => Outcome::Ok },
                    values: (0..width).map(|m| values[at * width % 300 + m] * scale).collect(),
                    ..Observation::default()
                });
            }
        }
        samples
    }
}

prop_compose! {
    /// Generates a scan with arbitrary names, values and references.
    fn scans()(
        commands in prop::collection::vec("\\PC{0,30}", 1..4),
        names in prop::collection::vec("[a-z]{1,3}|\\PC{0,24}", 1..3),
        values in prop::collection::vec(
            prop_oneof!["[0-9]{1,4}", "[0-9.e-]{1,9}", "\\PC{0,20}"], 2..7
        ),
        references in prop::collection::vec(0usize..24, 24),
        how in 0u8..3,
        metrics in prop::collection::vec(metric(), 1..4),
        secondary in any::<bool>(),
        blocks in 0u32..14,
        paired in prop::bool::weighted(0.9),
        plan in plan(),
        cells in prop::collection::vec(value(), 500),
    ) -> Samples {
        let mut samples = Samples::new(Vec::new());
        for metric in metrics { samples.add_metric(metric); }
        for command in &commands {
            samples.add_side(Side { name: command.clone(), ..Side::default() });
        }
        samples.row_named("");
        for (row, value) in values.iter().enumerate() {
            for (k, command) in commands.iter().enumerate() {
                let index = row * commands.len() + k;
                let against = match how {
                    0 => Some(row * commands.len()),
                    1 => Some(index),
                    _ => Some(references[index]),
                };
                samples.add(Subject {
                    side: k,
                    name: format!("{command} {value}"),
                    parameters: names.iter().map(|n| (n.clone(), value.as_str().into())).collect(),
                    against,
                    ..Subject::default()
                });
            }
        }
        samples.plan = plan;
        if let (true, Some(plan)) = (secondary, &mut samples.plan) {
            plan.secondary = samples.metrics.iter().skip(1).map(|m| m.name.clone()).collect();
        }
        let (subjects, width) = (samples.subjects.len(), samples.metrics.len());
        for block in 0..blocks {
            for subject in 0..subjects {
                let at = (block as usize * subjects + subject) * width % 490;
                samples.push(Observation {
                    subject,
                    block: paired.then_some(block),
                    position: paired.then_some(subject as u32),
                    time: Some(f64::from(block)),
                    values: (0..width).map(|m| cells[at + m]).collect(),
                    ..Observation::default()
                });
            }
        }
        samples
    }
}

fn columns(line: &str) -> usize {
    line.chars().map(|c| c.width().unwrap_or(0)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_report_of_whatever_was_measured_holds(
        samples in samples(), width in 0usize..140, unicode in any::<bool>()
    ) {
        holds(&samples, width, unicode)?;
    }

    #[test]
    fn every_report_of_whatever_was_scanned_holds(
        samples in scans(), width in 0usize..140, unicode in any::<bool>()
    ) {
        holds(&samples, width, unicode)?;
    }
}

fn holds(samples: &Samples, width: usize, unicode: bool) -> Result<(), TestCaseError> {
    let Ok(analysis) = analyse(samples, &Options::default()) else { return Ok(()) };
    let text = render(
        &analysis,
        DisplayOptions::default(),
        &Screen { width, color: false, unicode, whole: false },
    );
    for line in text.lines() {
        prop_assert!(columns(line) <= width.max(20), "{width}: {line:?}\n{text}");
        prop_assert!(!line.chars().any(char::is_control), "{line:?}");
    }
    let text = json::text(&json::Decision::of(&analysis, &json::Meta::default())).unwrap();
    let back: serde_json::Value = serde_json::from_str(&text).unwrap();
    let problems = common::schema::problems(&DECISION, &back);
    prop_assert!(problems.is_empty(), "{:#?}", problems);
    let table = markdown::render(&analysis, DisplayOptions::default());
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let rows: Vec<usize> = table.lines().filter(|l| l.starts_with('|')).map(cells).collect();
    prop_assert_eq!(rows.len(), analysis.subjects.len() + 2);
    prop_assert!(rows.iter().all(|&n| n == rows[0]), "{}", table);
    prop_assert!(csv::render(&analysis).starts_with("side,row,"));
    Ok(())
}
