//! The reports for programs and for pull requests, and the pages that document them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use assay_analysis::{Analysis, checks};
use assay_report::{csv, json, markdown};
use insta::assert_snapshot;
use serde_json::Value;
use std::collections::BTreeSet;

const JSON_PAGE: &str = include_str!("../../../docs/reference/json.md");
const FINDINGS_PAGE: &str = include_str!("../../../docs/reference/findings.md");

fn meta() -> json::Meta {
    json::Meta {
        tool: "assay 0.1.0".to_owned(),
        argv: ["assay", "run", "sort-old", "sort-new"].map(str::to_owned).to_vec(),
        file: Some("2026-03-01T12-00-00.assay".to_owned()),
    }
}

fn rendered(analysis: &Analysis) -> Value {
    json::render(analysis, &meta())
}

/// Numbers to nine digits: logarithms of different systems differ in the last one.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => {
            let short: f64 = format!("{:.8e}", n.as_f64().unwrap()).parse().unwrap();
            short.into()
        }
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(map) => map.into_iter().map(|(key, v)| (key, rounded(v))).collect(),
        other => other,
    }
}

fn rounded_cells(text: &str) -> String {
    let cell = |cell: &str| match cell.parse::<f64>() {
        Ok(v) if cell.contains('.') => format!("{v:.8e}").parse::<f64>().unwrap().to_string(),
        _ => cell.to_owned(),
    };
    let row = |line: &str| line.split(',').map(cell).collect::<Vec<_>>().join(",") + "\n";
    text.lines().map(row).collect()
}

#[test]
fn json_of_a_comparison_holds_every_number() {
    let text = serde_json::to_string_pretty(&rounded(rendered(&common::faster()))).unwrap();
    assert_snapshot!("json_faster", text);
}

#[test]
fn json_of_every_test_holds_every_number() {
    let value = rounded(rendered(&common::every_test()));
    let all = &value["comparisons"][0]["all"];
    let text =
        serde_json::to_string_pretty(&serde_json::json!({"all": all, "groups": value["groups"]}));
    assert_snapshot!("json_every_test", text.unwrap());
    let constants = rendered(&common::every_test_of_constants());
    let all = &constants["comparisons"][0]["all"];
    assert!(all["t_welch"].is_null());
    assert_eq!(all["reasons"]["t_welch"], "all observations are equal");
}

#[test]
fn json_of_one_subject_has_no_headline() {
    let value = rendered(&common::alone());
    assert!(value.get("verdict").is_none() && value.get("sentence").is_none());
    assert_eq!(value["comparisons"], Value::Array(Vec::new()));
    assert_eq!(value["stop"], "precise");
}

#[test]
fn json_repeats_the_only_verdict_at_the_top() {
    for (name, analysis) in common::all() {
        let value = rendered(&analysis);
        if analysis.subjects.len() == 2 {
            let only = &value["comparisons"][0];
            for key in ["verdict", "of", "against", "sentence"] {
                assert_eq!(value[key], only[key], "{name}: {key}");
            }
        }
        for comparison in value["comparisons"].as_array().unwrap() {
            let verdict = comparison["verdict"].as_str().unwrap();
            assert!(["faster", "slower", "equivalent", "inconclusive"].contains(&verdict));
        }
    }
}

#[test]
fn json_of_a_scan_holds_its_parameters_references_and_curves() {
    let value = rendered(&common::scan_of_two());
    let subject = &value["subjects"][3];
    assert_eq!(subject["parameters"], serde_json::json!({"n": "2"}));
    assert_eq!(subject["against"], "./sort-old 2");
    assert!(value["subjects"][2]["against"].is_null());
    assert_eq!(value["comparisons"][1]["against"], "./sort-old 2");
    let curve = &value["curves"][0];
    assert_eq!((&curve["command"], &curve["parameter"]), (&"./sort-old {n}".into(), &"n".into()));
    let exponent = curve["exponent"].as_f64().unwrap();
    assert!((exponent - 1.2).abs() < 0.01 && curve["reason"].is_null(), "{curve}");
    assert_eq!(curve["points"][5]["subject"], 10);
    let short = rendered(&common::scan_secondary());
    assert_eq!(short["curves"][0]["reason"], "too_few_blocks");
    assert!(short["curves"][0]["exponent"].is_null() && short["curves"][0]["steps"].is_null());
}

#[test]
fn what_is_not_known_is_null_in_json() {
    let value = rendered(&common::too_few());
    let ratio = &value["comparisons"][0]["ratio"];
    assert!(ratio["lower"].is_null() && ratio["estimate"].is_number());
    assert_eq!(value["comparisons"][0]["verdict"], "inconclusive");
    let one = rendered(&common::alone_with_one_value());
    assert!(one["subjects"][0]["metrics"]["value"]["standard_deviation"].is_null());
}

#[test]
fn csv_has_a_row_per_subject_and_metric() {
    assert_snapshot!("csv_three", rounded_cells(&csv::render(&common::three())));
    assert_snapshot!("csv_scan", rounded_cells(&csv::render(&common::scan_of_two())));
    for (name, analysis) in common::all() {
        let text = csv::render(&analysis);
        let metrics: usize =
            analysis.subjects.iter().map(|s| s.metrics.iter().flatten().count()).sum();
        assert_eq!(text.lines().count(), 1 + metrics, "{name}");
        let commas = |line: &str| line.matches(',').count();
        let columns = csv::COLUMNS.len() + analysis.subjects[0].parameters.len();
        assert!(text.lines().all(|line| commas(line) == columns - 1), "{name}: {text}");
    }
}

#[test]
fn markdown_is_a_headline_a_table_and_how_it_was_measured() {
    assert_snapshot!("markdown_faster", markdown::render(&common::faster()));
    assert_snapshot!("markdown_three", markdown::render(&common::three()));
    assert_snapshot!("markdown_unpaired", markdown::render(&common::unpaired()));
    assert_snapshot!("markdown_alone", markdown::render(&common::alone()));
    assert_snapshot!("markdown_scan", markdown::render(&common::scan_of_two()));
}

/// All keys of an object and of what is in it, except for those that are names from outside.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                found.insert(key.clone());
                // Keys of these are facts, evidence and metrics, named elsewhere.
                match key.as_str() {
                    "environment" | "evidence" | "parameters" | "fixed" | "reasons" => {}
                    // Keyed by pairs of names.
                    "raw" | "holm" | "bh" | "by" | "hochberg" | "bonferroni" => {}
                    "metrics" => {
                        inner.as_object().unwrap().values().for_each(|v| keys(v, found));
                    }
                    _ => keys(inner, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_json_is_documented() {
    let mut found = BTreeSet::new();
    for (_, analysis) in common::all() {
        keys(&rendered(&analysis), &mut found);
    }
    let missing: Vec<_> =
        found.iter().filter(|key| !JSON_PAGE.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "not in docs/reference/json.md: {missing:?}");
}

#[test]
fn the_example_in_the_json_page_is_what_is_rendered() {
    let example = JSON_PAGE.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let example: Value = serde_json::from_str(example).unwrap();
    let text = serde_json::to_string_pretty(&rounded(rendered(&common::only_wall()))).unwrap();
    assert_eq!(serde_json::to_string_pretty(&example).unwrap(), text);
}

#[test]
fn every_finding_has_its_heading_and_no_heading_lacks_a_finding() {
    let headings: Vec<&str> =
        FINDINGS_PAGE.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let plain: Vec<String> = headings.iter().map(|h| h.replace('`', "")).collect();
    assert_eq!(plain, checks::CODES);
}

#[test]
fn every_finding_of_the_fixtures_is_in_the_list() {
    for (name, analysis) in common::all() {
        for finding in &analysis.findings {
            assert!(checks::CODES.contains(&finding.code.as_str()), "{name}: {}", finding.code);
        }
    }
}
