//! The reports for programs and pull requests, and the pages that document them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::common;

use assay_analysis::Analysis;
use assay_data::{Metric, Unit, code};
use assay_report::benchmarks::DisplayOptions;
use assay_report::json::schema;
use assay_report::remarks::Remarks;
use assay_report::terminal::Screen;
use assay_report::{csv, json, markdown, terminal};
use insta::assert_snapshot;
use serde_json::Value;

const JSON_PAGE: &str = include_str!("../../../../docs/reference/json.md");
const FINDINGS_PAGE: &str = include_str!("../../../../docs/reference/findings.md");

fn meta() -> json::Meta {
    json::Meta {
        verb: "run".to_owned(),
        tool: "assay 0.1.0".to_owned(),
        argv: ["assay", "run", "sort-old", "sort-new"].map(str::to_owned).to_vec(),
        file: Some("2026-03-01T12-00-00.assay".to_owned()),
    }
}

fn rendered(analysis: &Analysis) -> Value {
    serde_json::to_value(json::Decision::of(analysis, &meta())).unwrap()
}

/// Rounds numbers to nine digits: logarithms differ in the last digit between systems.
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
    let all = &value["comparisons"][0]["tests"];
    let text =
        serde_json::to_string_pretty(&serde_json::json!({"tests": all, "groups": value["groups"]}));
    assert_snapshot!("json_every_test", text.unwrap());
    let constants = rendered(&common::every_test_of_constants());
    let all = &constants["comparisons"][0]["tests"];
    assert!(all["t_welch"].is_null());
    assert_eq!(all["reasons"]["t_welch"], "all observations are equal");
}

#[test]
fn json_of_one_subject_has_no_headline() {
    let value = rendered(&common::alone());
    assert!(value["verdict"].is_null() && value["sentence"].is_null());
    assert_eq!(value["comparisons"], Value::Array(Vec::new()));
    assert_eq!(value["stop"], "precise");
}

#[test]
fn json_of_everything_compared_has_a_sentence() {
    for (name, analysis) in common::all() {
        let value = rendered(&analysis);
        if value["comparisons"].as_array().is_some_and(|all| !all.is_empty()) {
            assert!(value["sentence"].as_str().is_some_and(|said| !said.is_empty()), "{name}");
        }
    }
    let scan = rendered(&common::scan_of_one());
    assert!(scan["sentence"].as_str().is_some_and(|said| !said.is_empty()), "{scan:#}");
}

#[test]
fn the_overall_verdict_is_the_worst_of_the_primary_metric() {
    let worst = ["equivalent", "faster", "inconclusive", "slower"];
    let rank = |verdict: &str| worst.iter().position(|known| *known == verdict).unwrap();
    for (name, analysis) in common::all() {
        let value = rendered(&analysis);
        let comparisons = value["comparisons"].as_array().unwrap();
        let primary: Vec<&Value> =
            comparisons.iter().filter(|c| c["family"] == "primary").collect();
        let ranks = primary.iter().map(|c| rank(c["verdict"].as_str().unwrap()));
        let expected = ranks.max().map_or(Value::Null, |rank| worst[rank].into());
        assert_eq!(value["verdict"], expected, "{name}");
        if let [only] = primary.as_slice() {
            assert_eq!(value["sentence"], only["sentence"], "{name}");
        }
        assert_eq!(primary.len(), analysis.comparisons.len(), "{name}");
        assert_eq!(comparisons.len() - primary.len(), analysis.secondary.len(), "{name}");
    }
}

#[test]
fn json_of_a_scan_holds_its_parameters_references_and_curves() {
    let value = rendered(&common::scan_of_two());
    let subject = &value["descriptions"][3];
    assert_eq!(subject["parameters"], serde_json::json!({"n": 2}));
    let second = &value["comparisons"][1];
    assert_eq!(
        (&second["of"], &second["against"]),
        (&"./sort-new {n}".into(), &"./sort-old {n}".into())
    );
    assert_eq!(second["parameters"], second["against_parameters"]);
    let sides: Vec<&Value> =
        value["sides"].as_array().unwrap().iter().map(|s| &s["name"]).collect();
    assert_eq!(sides, ["./sort-old {n}", "./sort-new {n}"]);
    let alone = rendered(&common::scan_against_the_first());
    let last = &alone["comparisons"][2];
    assert_eq!(last["of"], last["against"]);
    assert_ne!(last["parameters"], last["against_parameters"]);
    let curve = &value["curves"][0];
    assert_eq!((&curve["side"], &curve["parameter"]), (&"./sort-old {n}".into(), &"n".into()));
    let exponent = curve["exponent"].as_f64().unwrap();
    assert!((exponent - 1.2).abs() < 0.01 && curve["reason"].is_null(), "{curve}");
    assert_eq!(curve["points"][5]["description"], 10);
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
    assert!(one["descriptions"][0]["metrics"]["value"]["standard_deviation"].is_null());
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
    assert_snapshot!(
        "markdown_faster",
        markdown::render(&common::faster(), DisplayOptions::default())
    );
    assert_snapshot!(
        "markdown_three",
        markdown::render(&common::three(), DisplayOptions::default())
    );
    assert_snapshot!(
        "markdown_unpaired",
        markdown::render(&common::unpaired(), DisplayOptions::default())
    );
    assert_snapshot!(
        "markdown_alone",
        markdown::render(&common::alone(), DisplayOptions::default())
    );
    assert_snapshot!(
        "markdown_scan",
        markdown::render(&common::scan_of_two(), DisplayOptions::default())
    );
    let load = common::analysed(&common::load_samples(12));
    assert_snapshot!("markdown_load", markdown::render(&load, DisplayOptions::default()));
}

#[test]
fn every_result_is_as_its_schema_says() {
    let schema = schema::named("compare").unwrap().schema();
    for (name, analysis) in common::all() {
        let problems = common::schema::problems(&schema, &rendered(&analysis));
        assert!(problems.is_empty(), "{name}: {problems:#?}");
    }
}

/// Returns the page with the text between two marks replaced.
fn with_part(page: &str, name: &str, part: &str) -> String {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let (head, rest) = page.split_once(&open).unwrap();
    let (_, tail) = rest.split_once(&close).unwrap();
    format!("{head}{open}{part}{close}{tail}")
}

#[test]
fn the_json_page_is_that_of_the_types() {
    let example = serde_json::to_string_pretty(&rounded(rendered(&common::only_wall()))).unwrap();
    let page = with_part(JSON_PAGE, "tables", &schema::tables());
    let page = with_part(&page, "example", &format!("```json\n{example}\n```\n"));
    if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/json.md");
        std::fs::write(path, page).unwrap();
        return;
    }
    assert!(
        page == JSON_PAGE,
        "docs/reference/json.md has drifted from the types: make docs writes it"
    );
}

/// Tested together with the page, since both must be updated together.
#[test]
fn the_json_page_and_the_schemas_that_are_printed_are_those_of_the_types() {
    let written = schema::written();
    if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/json/schemas.json");
        std::fs::write(path, written).unwrap();
        return;
    }
    assert!(
        written == include_str!("../../src/json/schemas.json"),
        "crates/report/src/json/schemas.json has drifted from the types: make docs writes it"
    );
    for (name, generated) in schema::generated() {
        assert_eq!(schema::named(name).unwrap().schema(), generated, "{name}");
    }
}

/// The codes of the page are generated from the catalog; the text before them is handwritten.
#[test]
fn the_page_of_findings_is_that_of_the_catalogue() {
    let (before, _) = FINDINGS_PAGE
        .split_once(
            "
### ",
        )
        .unwrap();
    let entry = |code: &&assay_data::finding::Code| {
        let severities: Vec<&str> = code.severities.iter().map(|own| own.word()).collect();
        let text: Vec<&str> =
            code.text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        let (name, text) = (
            code.name,
            text.join(
                "
",
            ),
        );
        format!(
            "
### `{name}`

*{}*: {}
",
            severities.join(" or "),
            text.trim_end()
        )
    };
    let entries: String = code::ALL.iter().map(entry).collect();
    let written = format!("{before}{entries}");
    if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/findings.md");
        std::fs::write(path, written).unwrap();
        return;
    }
    assert!(
        written == FINDINGS_PAGE,
        "docs/reference/findings.md has drifted from the catalog: make docs writes it"
    );
}

#[test]
fn every_finding_of_the_fixtures_is_in_the_list() {
    for (name, analysis) in common::all() {
        for finding in &analysis.findings {
            assert!(code::named(&finding.code).is_some(), "{name}: {}", finding.code);
        }
    }
}

#[test]
fn a_side_too_short_to_be_tested_is_named_whatever_the_other_shows() {
    // Neighbors share half of their noise; the other file has half as many values as a test needs.
    let noise = |s: usize, i: u32| common::noise(s, i) + common::noise(s, i + 1);
    let values = |s: usize, i: u32| [1.0, 1.5][s] * (1.0 + 0.02 * noise(s, i));
    let metric = Metric::lower("value", Unit::Second);
    let analysis = common::analysed(&common::recordings(values, [120, 12], metric));
    let value = rendered(&analysis);
    let comparison = &value["comparisons"][0];
    assert_eq!(comparison["dependence"], "noticed");
    assert_eq!(comparison["dependence_untested"], true);
    let screen = Screen { width: 400, color: false, unicode: true, whole: false };
    let text = terminal::render(&analysis, DisplayOptions::default(), &screen);
    assert!(text.contains("; dependence of one side not tested"), "{text}");
    let shown = DisplayOptions { remarks: Remarks::All, ..DisplayOptions::default() };
    let text = terminal::render(&analysis, shown, &screen);
    assert!(text.contains("dependence of one side not tested (24 values a side needed)"), "{text}");
    // Notable findings are reported as well.
    assert!(text.contains("autocorrelation (effective n"), "{text}");
}
