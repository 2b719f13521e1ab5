//! A suite in all its forms: fixed numbers in, the whole screen, file or page out. Read them before accepting a change.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use assay_analysis::benchmarks::Adjust;
use assay_report::benchmarks::{Shown, Sort, csv, json, markdown, page, screen};
use assay_report::charts::{forest, svg};
use assay_report::json::Meta;
use assay_report::terminal::Screen;
use insta::assert_snapshot;
use serde_json::Value;

const JSON_PAGE: &str = include_str!("../../../docs/reference/json.md");

fn at(width: usize, shown: Shown) -> String {
    screen::render(&common::suite(), shown, &Screen { width, color: false, unicode: true })
}

#[test]
fn the_screen_fits_whatever_the_width() {
    for width in [100, 80, 50, 24] {
        let text = at(width, Shown::default());
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{width}: {text}");
        assert_snapshot!(format!("suite_{width}"), text);
    }
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    let screen = Screen { width: 80, color: false, unicode: false };
    let text = screen::render(&common::suite(), Shown::default(), &screen);
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn rows_come_in_the_order_that_was_asked_for() {
    let firsts = |sort| -> Vec<String> {
        let text = at(100, Shown { sort, all_metrics: true });
        let table = text.split("\n\n").nth(1).unwrap();
        let first = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        table.lines().skip(1).take(6).map(first).collect()
    };
    assert_eq!(firsts(Sort::File)[..2], ["copy/n:2", "copy/n:16"]);
    assert_eq!(firsts(Sort::Name)[..4], ["close", "copy/n:2", "copy/n:16", "once"]);
    let by_effect = firsts(Sort::Effect);
    // Equal on the logarithm, 0.8 and 1.25 stand before 0.9; what is equivalent stands last.
    assert_eq!(by_effect[2], "copy/n:16");
    assert!(by_effect[5].starts_with("read_a"), "{by_effect:?}");
}

#[test]
fn how_the_error_is_shared_is_said() {
    let told = |adjust| {
        let suite = common::suite_adjusted(adjust);
        let screen = Screen { width: 200, color: false, unicode: true };
        screen::render(&suite, Shown::default(), &screen)
    };
    assert!(told(Adjust::Holm).contains("95 % sure of all that is said together"));
    assert!(told(Adjust::FalseDiscovery).contains("at most 5 % are wrong on average"));
    assert!(told(Adjust::None).contains("95 % sure of each by itself: of 6 equal ones"));
}

fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.push(key.clone());
                if !["environment", "evidence", "parameters"].contains(&key.as_str()) {
                    keys(value, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn json_holds_every_number_and_its_page_every_key() {
    let value = json::render(&common::suite(), &Meta::default());
    let row = |name: &str| {
        let rows = value["benchmarks"].as_array().unwrap().iter();
        rows.clone().find(|row| row["benchmark"] == name).unwrap().clone()
    };
    assert_eq!(
        (&row("sort")["verdict"], &row("sort")["against"]),
        (&"slower".into(), &"old".into())
    );
    assert_eq!(row("copy/n:2")["parameters"]["n"], "2");
    assert_eq!(row("once")["reason"], "too few: 1 and 1; 5 values a side can decide");
    assert_eq!(value["only"][0]["benchmarks"][0], "gone");
    assert_eq!(value["tables"][0]["faster"], 2);
    let mut found = Vec::new();
    keys(&value, &mut found);
    let missing: Vec<&String> =
        found.iter().filter(|key| !JSON_PAGE.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "not in docs/reference/json.md: {missing:?}");
}

#[test]
fn tables_for_spreadsheets_and_pull_requests() {
    let text = csv::render(&common::suite());
    let lines: Vec<&str> = text.lines().collect();
    let columns = lines[0].split(',').count();
    assert!(lines[0].starts_with("benchmark,parameter_n,metric,"));
    assert_eq!(lines.len(), 1 + 2 * 6);
    assert!(lines.iter().filter(|l| !l.contains('"')).all(|l| l.split(',').count() == columns));
    assert_snapshot!("suite_markdown", markdown::render(&common::suite(), Shown::default()));
}

#[test]
fn the_page_holds_every_benchmark_and_loads_nothing() {
    let command = ["assay", "compare", "old.json", "new.json"].map(str::to_owned);
    let page = page::render(&common::suite(), Shown::default(), "assay 0.1.0", &command).unwrap();
    for text in
        ["copy/n:16", "id=\"plot-forest-0\"", "assay compare old.json new.json", "ONE_SIDE_ONLY"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org").count()
    );
    assert!(!page.contains("https://") && !page.contains("<script"));
}

#[test]
fn the_plot_has_a_line_for_every_ratio() {
    let charts = forest::charts(&common::suite(), Sort::Effect);
    let [only] = charts.as_slice() else { panic!("one side is compared") };
    let text = svg::standalone(only);
    for name in ["copy/n:2", "sort", "once"] {
        assert!(text.contains(name), "{name}");
    }
    assert!(!text.contains("gone"));
}
