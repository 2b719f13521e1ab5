//! The screen and the JSON of a calibration, from fixed numbers.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common;

use assay_analysis::calibration::{BUDGETS, Calibration, Detectable, Layout, Method, MethodName};
use assay_analysis::{Interval, Verdict};
use assay_report::calibration::{CalibrationReport, render};
use assay_report::json::Calibrated;
use assay_report::terminal::Screen;
use insta::assert_snapshot;

fn calibration() -> Calibration {
    let method = |name, test, (comparisons, independent): (u32, u32), false_alarms, phantom_p95| {
        Method { name, test, comparisons, independent, false_alarms, phantom_p95 }
    };
    let detectable = |metric, at: usize, blocks, difference| Detectable {
        budget_seconds: BUDGETS[at],
        metric,
        blocks,
        difference: Some(difference),
        extrapolated: at > 0,
    };
    Calibration {
        runs: 3000,
        median_seconds: 0.00203,
        seconds_per_run: 0.0137,
        methods: vec![
            method(MethodName::BlockOrder, "Mann-Whitney", (59, 30), 22, 0.029),
            method(MethodName::BlockOrder, "Welch", (59, 30), 9, 0.029),
            method(MethodName::Alternating, "Mann-Whitney", (59, 30), 14, 0.011),
            method(MethodName::Ours, "signed-rank", (1000, 1000), 48, 0.0081),
            method(MethodName::OursDefault, "signed-rank at every look", (400, 400), 0, 0.0042),
        ],
        detectable: vec![
            detectable("wall", 0, 364, 0.0194),
            detectable("wall", 1, 2189, 0.0079),
            detectable("wall", 2, 21897, 0.0025),
            detectable("cpu", 0, 364, 0.006),
            detectable("cpu", 1, 2189, 0.0027),
            detectable("cpu", 2, 21897, 0.00086),
        ],
    }
}

fn copy() -> Layout {
    Layout {
        ratio: 0.9965,
        interval: Interval { lower: 0.9951, upper: 0.9978 },
        verdict: Verdict::Equivalent,
    }
}

fn screen(calibration: &Calibration, layout: Option<Layout>, width: usize) -> String {
    let environment = common::quiet_machine();
    let report =
        CalibrationReport { environment: &environment, calibration, layout, program: None };
    render(&report, &Screen { width, color: false, unicode: true, whole: false })
}

#[test]
fn the_screen_says_first_what_to_trust() {
    for width in [100, 80, 50] {
        let text = screen(&calibration(), Some(copy()), width);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert_snapshot!(format!("calibration_{width}"), text);
    }
}

#[test]
fn what_can_not_be_seen_is_said_and_not_left_empty() {
    let mut blind = calibration();
    blind.detectable.iter_mut().for_each(|s| s.difference = None);
    let even = Layout { interval: Interval { lower: 0.99, upper: 1.01 }, ..copy() };
    let text = screen(&blind, Some(even), 120);
    assert!(text.contains("a run of one minute is too short to detect any"), "{text}");
    assert!(text.contains("no difference found") && !text.contains("extrapolated"), "{text}");
    assert!(!screen(&blind, None, 80).contains("byte-identical"));
    // A difference between two copies of one program is not to be trusted either.
    let lucky = Layout { ratio: 1.03, interval: Interval { lower: 1.02, upper: 1.04 }, ..copy() };
    let text = screen(&calibration(), Some(lucky), 120);
    assert!(text.contains("detects differences above 3.0 % (0.27 % in CPU"), "{text}");
    let mut only_cpu = calibration();
    only_cpu.detectable.iter_mut().take(3).for_each(|s| s.difference = None);
    let text = screen(&only_cpu, None, 80);
    assert!(text.replace("\n  ", " ").contains("differences in CPU time above 0.27 %"), "{text}");
}

#[test]
fn plain_terminals_get_ascii() {
    let environment = common::quiet_machine();
    let calibration = calibration();
    let report = CalibrationReport {
        environment: &environment,
        calibration: &calibration,
        layout: Some(copy()),
        program: None,
    };
    let text = render(&report, &Screen { width: 80, color: false, unicode: false, whole: false });
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn the_json_is_as_its_schema_says() {
    let environment = common::quiet_machine();
    let calibration = calibration();
    let report = CalibrationReport {
        environment: &environment,
        calibration: &calibration,
        layout: Some(copy()),
        program: None,
    };
    let mut value = common::checked("calibrate", &Calibrated::of(&report));
    value.as_object_mut().unwrap().remove("environment");
    assert_snapshot!("calibration_json", serde_json::to_string_pretty(&value).unwrap());
}
