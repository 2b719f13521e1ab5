//! The screens and the JSON of summaries. Review a screen before accepting its change.

#![allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")]

use crate::common;
use assay_data::code;

use assay_analysis::overview;
use assay_analysis::series_summary::{Options, SeriesSummaries, of_samples};
use assay_data::samples::Observation;
use assay_data::{Metric, Samples, Summary, Unit};
use assay_report::describe::render;
use assay_report::json::{Meta, SeriesDescription};
use assay_report::remarks::Remarks;
use assay_report::terminal::Screen;
use insta::assert_snapshot;
use serde_json::Value;

/// Returns the JSON, validated against its schema.
fn described(summaries: &SeriesSummaries) -> Value {
    common::checked("describe", &SeriesDescription::of(summaries, &Meta::default()))
}

fn summaries(values: impl IntoIterator<Item = f64>, all: bool) -> SeriesSummaries {
    let mut samples = Samples::new(vec![Metric::wall()]);
    let subject = samples.add_subject("sort-old");
    values.into_iter().for_each(|v| samples.push_value(subject, v));
    of_samples(&samples, &Options { all, ..Options::default() }).unwrap()
}

/// Returns a few values with little noise.
fn five() -> SeriesSummaries {
    summaries((0..5).map(|i| 0.812 + 0.004 * common::noise(1, i)), false)
}

/// Returns two clusters: six in ten runs near 10 ms, the others near 14.
fn sixty() -> SeriesSummaries {
    let at = |i: u32| if i * 7 % 10 < 6 { 0.010 } else { 0.014 };
    summaries((0..60).map(|i| at(i) + 0.0004 * common::noise(1, i)), false)
}

/// Returns a warm-up, a long tail, and a few stalls.
fn five_thousand() -> SeriesSummaries {
    let value = |i: u32| {
        let first = if i < 600 { 1.25 } else { 1.0 };
        let stall = if i % 1250 == 700 { 0.02 } else { 0.0 };
        first * 0.005 * (0.15 * (common::noise(1, i) + common::noise(2, i))).exp() + stall
    };
    summaries((0..5000).map(value), false)
}

fn screen(width: usize, unicode: bool) -> Screen {
    Screen { width, color: false, unicode, whole: false }
}

#[test]
fn every_width_has_its_screen() {
    for (name, drawn) in [("5", five()), ("60", sixty()), ("5000", five_thousand())] {
        for width in [60, 80, 120] {
            let text = render(&drawn, Remarks::All, &screen(width, true));
            assert!(text.lines().all(|l| l.chars().count() <= width), "{name} at {width}:\n{text}");
            assert_snapshot!(format!("describe_{name}_{width}"), text);
        }
    }
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    for (name, drawn) in [("5", five()), ("60", sixty()), ("5000", five_thousand())] {
        let text = render(&drawn, Remarks::All, &screen(80, false));
        assert!(text.is_ascii(), "{name}:\n{text}");
        assert_snapshot!(format!("describe_{name}_ascii"), text);
    }
}

/// Returns twelve processes of twenty iterations; the processes differ.
fn nested() -> SeriesSummaries {
    let mut samples = Samples::new(vec![Metric::lower("real_time", Unit::Second)]);
    let subject = samples.add_subject("copy");
    for process in 0..12 {
        let own = 0.010 * (1.0 + 0.03 * common::noise(5, process));
        for iteration in 0..20 {
            let value = own * (1.0 + 0.01 * common::noise(6, 20 * process + iteration));
            let level = vec![process, iteration];
            samples.push(Observation {
                subject,
                level,
                values: vec![value],
                ..Observation::default()
            });
        }
    }
    of_samples(&samples, &Options::default()).unwrap()
}

#[test]
fn levels_of_repetition_say_where_more_of_them_pay() {
    let drawn = nested();
    let text = render(&drawn, Remarks::All, &screen(80, true));
    let flat = text.replace("\n  ", " ");
    assert!(flat.contains("more iterations") && flat.contains("twice as many processes"), "{text}");
    assert!(drawn.series[0].findings.iter().any(|f| f.code == "LEVELS_IGNORED"));
    assert_snapshot!("describe_levels", text);
    let json = described(&drawn);
    let levels = &json["series"][0]["levels"];
    assert_eq!(levels["levels"][0]["units"], 12);
    assert!(levels["levels"][0]["share"].as_f64().unwrap() > 0.9, "{levels}");
}

#[test]
fn few_values_are_listed_instead_of_drawn() {
    for (name, values) in [
        ("two", vec![0.5, 0.7]),
        ("three", vec![0.5, 0.7, 0.61]),
        ("five", vec![1.0, 1.0, 1.0, 1.0, 2.0]),
        ("twelve", (0..12).map(|i| 1.0 + 0.05 * common::noise(7, i)).collect()),
        ("steps", (0..20).map(|i| f64::from(1 + i % 2)).collect()),
    ] {
        let text = render(&summaries(values, false), Remarks::All, &screen(80, true));
        assert!(!text.contains("NaN") && !text.contains(" ?"), "{name}:\n{text}");
        assert_snapshot!(format!("describe_few_{name}"), text);
    }
}

#[test]
fn an_interval_that_promises_too_much_says_so_in_the_json() {
    let mut before = 0.0;
    let dependent = (0..400).map(|i| {
        before = 0.6 * before + common::noise(8, i);
        5.0 + before
    });
    let json = described(&summaries(dependent, true));
    let one = &json["series"][0];
    let of = |value: &Value| value["simulated"].as_f64().unwrap_or(f64::NAN);
    for marked in [
        &one["t_mean"]["coverage"],
        &one["median_ci"]["coverage"],
        &one["signed_rank_about_zero"]["asymptotic_ci"]["coverage"],
        &one["bootstrap_mean"]["coverage"]["bca"],
        &one["bootstrap_sd"]["coverage"]["percentile"],
        &one["bootstrap_median"]["coverage"]["basic"],
    ] {
        assert!(of(marked) < 0.94 && marked["nominal"] == 0.95, "{marked}");
        assert_eq!(marked["situation"], "ar1_0.5");
    }
    // Widened for dependence, the median's interval has its nominal coverage.
    assert!(one["median_interval"]["coverage"].is_null());
}

#[test]
fn equal_values_one_value_and_any_width_have_a_screen() {
    assert_snapshot!(
        "describe_equal",
        render(&summaries([3.0; 30], false), Remarks::All, &screen(80, true))
    );
    assert_snapshot!(
        "describe_one",
        render(&summaries([3.0], false), Remarks::All, &screen(80, true))
    );
    for width in [1, 20, 33, 200] {
        for drawn in [five(), sixty(), summaries([1e-300, 1e300, -4.0], false)] {
            let text = render(&drawn, Remarks::All, &screen(width, true));
            assert!(text.lines().all(|l| l.chars().count() <= width.max(20)), "{width}:\n{text}");
        }
    }
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    let coloured = render(&sixty(), Remarks::All, &Screen { color: true, ..screen(80, true) });
    let mut plain = String::new();
    let mut inside = false;
    for c in coloured.chars() {
        inside = inside || c == '\u{1b}';
        if !inside {
            plain.push(c);
        }
        inside = inside && c != 'm';
    }
    assert_eq!(plain, render(&sixty(), Remarks::All, &screen(80, true)));
}

#[test]
fn every_key_of_the_json_is_always_there() {
    let keys_of = |values: Vec<f64>| -> Vec<String> {
        let json = described(&summaries(values, true));
        json["series"][0].as_object().unwrap().keys().cloned().collect()
    };
    let series = keys_of((0..60).map(|i| 2.0 + common::noise(1, i)).collect());
    assert_eq!(keys_of(vec![5.0; 9]), series);
    assert_eq!(keys_of(vec![1.0]), series);
}

#[test]
fn series_of_which_only_a_summary_is_left_have_a_place_of_their_own() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    let subject = samples.add_subject("x");
    let (metric, mean) = ("wall".to_owned(), Some(2.0));
    samples.summaries.push(Summary { subject, metric, count: Some(9), mean, ..Summary::default() });
    let overview = overview::of_samples(&samples, None, 0.9).unwrap();
    let document = SeriesDescription::of_overview(&overview, 1, &Meta::default());
    let json = common::checked("describe", &document);
    assert_eq!((&json["series"], &json["confidence"]), (&Value::Array(Vec::new()), &0.9.into()));
    let left = &json["summaries"][0];
    assert_eq!(
        (&left["name"], &left["metric"], &left["unit"]),
        (&"x".into(), &"wall".into(), &"s".into())
    );
    assert_eq!((&left["n"], &left["mean"]), (&9.into(), &2.0.into()));
    assert!(left["median"].is_null() && json["summaries"].as_array().unwrap().len() == 1);
}

#[test]
fn what_is_not_defined_is_null_with_a_reason() {
    let json = described(&summaries([5.0; 9], true));
    let one = &json["series"][0];
    assert!(one["t_mean"]["t"].is_null() && one["shapiro_wilk"]["W"].is_null());
    assert_eq!(one["t_mean"]["reason"], "all values are equal");
    assert_eq!(one["shapiro_wilk"]["reason"], "all values are equal");
    assert!(one["acf"]["max_abs"].is_null() && one["bootstrap_mean"]["bca"]["lower"].is_null());
    let mut samples = Samples::new(vec![Metric::lower("depth", Unit::One)]);
    let subject = samples.add_subject("x");
    [-1.0, 0.0, 2.0].iter().for_each(|v| samples.push_value(subject, *v));
    let summaries = of_samples(&samples, &Options::default()).unwrap();
    let json = described(&summaries);
    let lognormal = &json["series"][0]["ks_lognormal"];
    assert!(lognormal["D"].is_null());
    assert_eq!(lognormal["reason"], "some values are zero or negative");
}

#[test]
fn five_lines_follow_a_series_and_the_rest_is_counted() {
    let mut drawn = sixty();
    let without = {
        drawn.series[0].findings.clear();
        render(&drawn, Remarks::All, &screen(80, true))
    };
    let finding = |n| {
        assay_data::Finding::new(code::LAYOUT, format!("warning {n}"))
            .at(assay_data::Severity::Warning)
    };
    drawn.series[0].findings = (0..9).map(finding).collect();
    let usual = render(&drawn, Remarks::Usual, &screen(80, true));
    let after: Vec<&str> = usual.strip_prefix(&without).unwrap().trim().lines().collect();
    assert_eq!(after.len(), 5, "{after:?}");
    assert!(after[4].contains("5 more warnings: --verbose"), "{after:?}");
    let all = render(&drawn, Remarks::All, &screen(80, true));
    let told = |text: &str| text.lines().filter(|line| line.starts_with("warning:")).count();
    assert_eq!((told(&usual), told(&all)), (4, 9), "{all}");
}

#[test]
fn the_count_for_the_median_is_told_next_to_the_effective_sample_size() {
    // A slow drift: no two values are independent.
    let drawn = summaries((0..60).map(|i| 1.0 + 0.01 * f64::from(i)), false);
    let text = render(&drawn, Remarks::All, &screen(160, true));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = text.split_once("for a median they count as ").unwrap().1;
    let count = count.split(|c: char| !c.is_ascii_digit()).next().unwrap();
    assert!(text.contains(&format!(" of 60, {count} for the median")), "{text}");
    // Independent values have one count.
    let drawn = summaries((0..60).map(|i| 1.0 + 0.01 * common::noise(1, i)), false);
    let text = render(&drawn, Remarks::All, &screen(160, true));
    assert!(text.contains(" of 60") && !text.contains("for the median"), "{text}");
}
