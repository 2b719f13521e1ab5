//! Plans as screens and as JSON, from fixed numbers.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common;

use assay_analysis::planning::{
    Alternative, Kind, Measure, PlanQuestion, Planning, from_numbers, from_pilot,
};
use assay_data::{Metric, Samples, Threshold, Unit};
use assay_report::json::{ExperimentPlan, Meta};
use assay_report::planning::render;
use assay_report::terminal::Screen;
use insta::assert_snapshot;

fn asked() -> PlanQuestion {
    PlanQuestion {
        kind: Kind::TwoSample,
        alternative: Alternative::TwoSided,
        strict: false,
        n: None,
        delta: Some(Threshold::Absolute { value: 50e-6, unit: Unit::Second }),
        sd: Some(1912e-6),
        sig_level: Some(0.01),
        power: Some(0.95),
        round: None,
        in_blocks: false,
        seed: 1,
    }
}

fn by_numbers(asked: PlanQuestion) -> Planning {
    from_numbers(asked, Measure::Unit(Unit::Second)).unwrap()
}

fn pilot() -> Samples {
    let mut samples = Samples::new(vec![Metric::lower("wall", Unit::Second)]);
    for (name, centre) in [("old", 2.0), ("new", 1.97)] {
        let subject = samples.add_subject(name);
        (0..120).for_each(|i| {
            let step = f64::from(i * 37 % 120) / 120.0 - 0.5;
            samples.push_value(subject, centre + 0.4 * step * step * step);
        });
    }
    samples
}

fn screen(planning: &Planning, width: usize, unicode: bool) -> String {
    render(planning, &Screen { width, color: false, unicode, whole: false })
}

#[test]
fn a_plan_from_numbers() {
    assert_snapshot!("plan_numbers", screen(&by_numbers(asked()), 80, true));
    assert_snapshot!("plan_numbers_narrow", screen(&by_numbers(asked()), 40, false));
}

#[test]
fn each_unknown_has_its_sentence() {
    let n = Some(60_000.0);
    let all = [
        PlanQuestion { n, delta: None, ..asked() },
        PlanQuestion { n, sd: None, ..asked() },
        PlanQuestion { n, power: None, ..asked() },
        PlanQuestion { n, sig_level: None, ..asked() },
        PlanQuestion { kind: Kind::Paired, alternative: Alternative::Less, ..asked() },
    ];
    let told: Vec<String> =
        all.into_iter().map(|asked| assay_report::planning::sentence(&by_numbers(asked))).collect();
    assert_snapshot!("plan_sentences", told.join("\n"));
}

#[test]
fn a_plan_from_a_pilot() {
    let delta = Some(Threshold::Relative(0.01));
    let plan = from_pilot(PlanQuestion { delta, sd: None, ..asked() }, &pilot(), None).unwrap();
    assert_snapshot!("plan_pilot", screen(&plan, 80, true));
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let delta = Some(Threshold::Relative(0.01));
    let plan = from_pilot(PlanQuestion { delta, sd: None, ..asked() }, &pilot(), None).unwrap();
    for width in [20, 33, 60, 80, 120] {
        for line in screen(&plan, width, true).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_json_of_a_plan_is_as_its_schema_says() {
    let delta = Some(Threshold::Relative(0.01));
    let plan = from_pilot(PlanQuestion { delta, sd: None, ..asked() }, &pilot(), None).unwrap();
    let value = common::checked("plan", &ExperimentPlan::of(&plan, &Meta::default()));
    assert!(value["pilot"].is_object() && value["rank"]["experiments"].is_u64(), "{value}");
    let numbers = from_numbers(asked(), Measure::Fraction).unwrap();
    let value = common::checked("plan", &ExperimentPlan::of(&numbers, &Meta::default()));
    assert!(value["pilot"].is_null() && value["rank"]["reason"].is_string(), "{value}");
}
