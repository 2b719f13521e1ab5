//! The doctor's screen and JSON, from fixed numbers.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common;
use assay_data::code;

use assay_analysis::Interval;
use assay_analysis::spread::{Spread, SpreadComparison, SpreadOverTime, SpreadVerdict};
use assay_data::{Action, Finding, Severity};
use assay_report::doctor::{Ailment, DoctorReport, Trial, render};
use assay_report::json::Diagnosis;
use assay_report::terminal::Screen;
use insta::assert_snapshot;
use serde_json::Value;

fn trial(name: &str, after: f64, (lower, upper): (f64, f64), median: f64) -> Trial {
    let before = Spread { median: 0.002, iqr_over_median: 0.041, p99_over_median: 1.402 };
    let verdict = match (lower, upper) {
        (_, upper) if upper < 1.0 => SpreadVerdict::Narrower,
        (lower, _) if lower > 1.0 => SpreadVerdict::Wider,
        _ => SpreadVerdict::Unknown,
    };
    let after = Spread { median, iqr_over_median: after, p99_over_median: 1.0 + after * 9.0 };
    let ratio = after.iqr_over_median / before.iqr_over_median;
    let interval = Interval { lower, upper };
    Trial {
        name: name.to_owned(),
        found: SpreadComparison { blocks: 100, before, after, ratio, interval, verdict },
    }
}

fn sick() -> DoctorReport {
    let load =
        Finding::new(code::MACHINE_BUSY, "the machine was busy at the start: load 3.2 on 2 CPUs")
            .at(Severity::Warning)
            .advise(Action::StopOtherWork)
            .advise(Action::decide_by("cpu"));
    let governor = Finding::new(
        code::CPU_FREQUENCY,
        "the CPU frequency follows the load (governor `powersave`)",
    )
    .advise(Action::run("fix the frequency", "cpupower frequency-set -g performance"));
    DoctorReport {
        machine: "machine: 2 cpus, virtual, load 3.2, timer 24 ns".to_owned(),
        disturbs: vec![
            Ailment { trial: Some("--fifo 10".to_owned()), ..Ailment::from(load) },
            Ailment { can_fix: true, ..Ailment::from(governor) },
        ],
        missing: vec!["--cpuset: needs a control group that may be written".to_owned()],
        workload: "a loop of 2.0 ms".to_owned(),
        costs: vec![
            trial("--pin 1", 0.038, (0.71, 1.22), 0.001996),
            trial("--fifo 10", 0.009, (0.15, 0.31), 0.00199),
            trial("--no-aslr", 0.061, (1.11, 1.93), 0.002002),
        ],
        over_time: Some(SpreadOverTime {
            apart_seconds: 0.0144,
            shared: 0.32,
            quiet: 0.012,
            noisy: 0.094,
        }),
        stolen: Some(0.004),
    }
}

/// Returns the JSON, validated against its schema.
fn json(report: &DoctorReport) -> Value {
    common::checked("doctor", &Diagnosis::of(report))
}

fn at(report: &DoctorReport, width: usize) -> String {
    render(report, &Screen { width, color: false, unicode: true, whole: false })
}

#[test]
fn the_screen_says_first_what_matters_and_what_helps() {
    for width in [100, 80, 50] {
        let text = at(&sick(), width);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert_snapshot!(format!("doctor_{width}"), text);
    }
    let ascii = render(&sick(), &Screen { width: 80, color: false, unicode: false, whole: false });
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn a_fit_machine_is_told_in_a_line() {
    let mut fit = DoctorReport { machine: sick().machine, ..DoctorReport::default() };
    let text = at(&fit, 80);
    assert_snapshot!("doctor_fit", text);
    fit.costs = vec![trial("--pin 1", 0.038, (0.71, 1.22), 0.002)];
    assert!(at(&fit, 120).starts_with("Nothing that matters disturbs measuring here. No setting"));
}

#[test]
fn a_spread_of_nothing_is_shown_and_not_divided_by() {
    let mut report = sick();
    report.costs[0].found.ratio = f64::INFINITY;
    report.costs[0].found.interval = Interval { lower: 1.0, upper: f64::INFINITY };
    assert!(at(&report, 100).contains("inf"));
    assert!(json(&report)["trials"][0]["spread_ratio"]["estimate"].is_null());
}

#[test]
fn the_json_is_as_its_schema_says() {
    let value = json(&sick());
    assert_eq!(value["trials"][1]["verdict"], "narrower");
    let (load, governor) = (&value["findings"][0], &value["findings"][1]);
    assert_eq!((&load["code"], &load["trial"]), (&"MACHINE_BUSY".into(), &"--fifo 10".into()));
    assert_eq!(governor["advice"][0]["command"], "cpupower frequency-set -g performance");
    assert_eq!((&load["can_fix"], &governor["can_fix"]), (&false.into(), &true.into()));
}
