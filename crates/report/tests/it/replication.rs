//! The screen and the JSON of a run and its repetition, from fixed numbers.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common;

use assay_analysis::Analysis;
use assay_analysis::replication::Replication;
use assay_report::json::{Meta, Repetition};
use assay_report::replication::{ReplicationReport, render};
use assay_report::terminal::Screen;
use insta::assert_snapshot;
use serde_json::Value;

/// Returns the screen and the JSON of two runs, validated against its schema.
fn both(then: &Analysis, now: &Analysis, differences: &[&str], width: usize) -> (String, Value) {
    let differences: Vec<String> = differences.iter().map(|&d| d.to_owned()).collect();
    let replication = Replication::of(then, now);
    let report = ReplicationReport {
        file: "old.assay",
        then,
        now,
        replication: &replication,
        differences: &differences,
    };
    let screen = Screen { width, color: false, unicode: true, whole: false };
    let value = common::checked("repeat", &Repetition::of(&report, &Meta::default()));
    (render(&report, &screen), value)
}

fn screen(then: &Analysis, now: &Analysis) -> String {
    both(then, now, &[], 100).0
}

#[test]
fn a_run_against_itself_is_confirmed() {
    let faster = common::faster();
    let (text, value) = both(&faster, &faster, &["CPU: it was \"A\", now it is \"B\""], 80);
    assert_snapshot!("replication_confirmed", text);
    assert_eq!(value["replication"], "confirmed");
    assert_eq!(value["results"][0]["change"]["estimate"], 1.0);
    assert_eq!(value["results"][0]["effect_ratio"], 1.0);
    assert_eq!(value["results"][0]["then"]["verdict"], "faster");
    assert_eq!(value["now"]["verdict"], "faster");
    for (name, analysis) in common::all() {
        let (_, value) = both(&analysis, &analysis, &[], 80);
        for result in value["results"].as_array().unwrap() {
            let known =
                result["then"]["verdict"] != "inconclusive" && !result["change"]["lower"].is_null();
            let expected = if known { "confirmed" } else { "unknown" };
            assert_eq!(result["status"], expected, "{name}: {result}");
        }
    }
}

#[test]
fn every_way_not_to_be_confirmed_is_told() {
    let told = [
        screen(&common::four_times(), &common::four_times_slower()),
        screen(&common::faster(), &common::equivalent()),
        screen(&common::equivalent(), &common::faster()),
        screen(&common::faster(), &common::four_times()),
        screen(&common::faster(), &common::inconclusive()),
        screen(&common::inconclusive(), &common::faster()),
        screen(&common::faster(), &common::too_few()),
        screen(&common::three(), &common::three()),
        screen(&common::zeros(), &common::zeros()),
        screen(&common::absolute_threshold(), &common::absolute_threshold()),
        screen(&common::alone(), &common::alone()),
    ];
    assert_snapshot!("replication_all", told.join("\n---\n"));
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let all = common::all();
    for width in [20, 40, 80, 120] {
        for (name, analysis) in &all {
            let (text, _) = both(analysis, analysis, &["the file /a/b of 'c' has changed"], width);
            for line in text.lines() {
                // A word longer than the screen is on its own line.
                let long_word = line.split_whitespace().count() <= 1;
                assert!(line.chars().count() <= width || long_word, "{name} at {width}: {line}");
            }
        }
    }
}
