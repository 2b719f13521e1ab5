//! `assay compare --all --json`, value by value against what R answers for the same files.

use crate::room::Room;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the report names something after the two sides, and R's session after A and B.
const RENAMED: [(&str, &str); 10] = [
    ("mean_a", "mean_of"),
    ("mean_b", "mean_against"),
    ("U_a", "U_of"),
    ("U_b", "U_against"),
    ("rel_diff_pct_of_b", "rel_diff_pct_of_against"),
    ("rel_half_width99_pct_of_b", "rel_half_width99_pct_of_against"),
    ("p_a_less_b_plus_half_ties", "p_of_less_against_plus_half_ties"),
    ("glass_delta_sd_b", "glass_delta_sd_against"),
    ("tost_welch_1pct_of_mean_b", "tost_welch_1pct_of_mean_against"),
    ("tost_welch_5pct_of_mean_b", "tost_welch_5pct_of_mean_against"),
];

/// What is R's alone: its words, its search with a coarse tolerance, and a root that may lie
/// anywhere in a step.
const LEFT_OUT: [&str; 5] =
    ["warnings", "method", "order_stat", "r_default_call_tol1e4", "estimate_root"];

/// A number of the expected values; what is not finite stands there as a text.
fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("Inf" | "-Inf" | "NaN" | "NA") => Some(f64::NAN),
        _ => value.as_f64(),
    }
}

#[derive(Default)]
struct Ledger {
    compared: usize,
    wrong: Vec<String>,
}

impl Ledger {
    fn walk(&mut self, path: &str, expected: &Value, found: &Value, range: f64) {
        match expected {
            // What R refuses has no answer here either.
            Value::Object(map) if map.contains_key("error") => {
                self.check(found.is_null(), path, expected, found);
            }
            Value::Object(map) => {
                for (key, value) in map.iter().filter(|(key, _)| !LEFT_OUT.contains(&key.as_str()))
                {
                    let renamed = RENAMED.iter().find(|(theirs, _)| theirs == key);
                    let key = renamed.map_or(key.as_str(), |(_, ours)| ours);
                    let inner = found.get(key).unwrap_or(&Value::Null);
                    self.walk(&format!("{path}.{key}"), value, inner, range);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let end = ["lower", "upper"].get(index).and_then(|end| found.get(end));
                    let inner = end.or_else(|| found.get(index)).unwrap_or(&Value::Null);
                    self.walk(&format!("{path}[{index}]"), item, inner, range);
                }
            }
            _ => match number(expected) {
                Some(theirs) if theirs.is_finite() => {
                    // Ends that R's root finder found; roots may lie anywhere in a step.
                    let searched = path.contains(".asymptotic") && path.ends_with(']');
                    let root = path.ends_with("asymptotic_ci.estimate");
                    let absolute = if searched { 1e-8 * range } else { 1e-11 };
                    let allowed = absolute.max(1e-9 * theirs.abs());
                    let near = found.as_f64().is_some_and(|f| (f - theirs).abs() <= allowed);
                    self.check(near || (root && found.is_number()), path, expected, found);
                }
                Some(_) => self.check(found.is_null(), path, expected, found),
                None => self.check(found == expected, path, expected, found),
            },
        }
    }

    fn check(&mut self, right: bool, path: &str, expected: &Value, found: &Value) {
        self.compared += 1;
        if !right {
            self.wrong.push(format!("{path}: {found}, expected {expected}"));
        }
    }
}

/// Everything that R says of two samples and of several, in a directory of expected values.
fn compare(directory: &Path) -> Ledger {
    let text = std::fs::read_to_string(directory.join("expected.json")).unwrap();
    let cases: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    let mut ledger = Ledger::default();
    let room = Room::new();
    for (case, expected) in cases.iter().filter(|(case, _)| case.contains('|')) {
        let mut files: Vec<PathBuf> = Vec::new();
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for name in case.split('|') {
            let Ok(text) = std::fs::read_to_string(directory.join(format!("data/{name}.txt")))
            else {
                continue;
            };
            for value in text.lines().map(|line| line.trim().parse::<f64>().unwrap()) {
                (low, high) = (low.min(value), high.max(value));
            }
            // A file of the room, so that subjects are called as in the expected values.
            room.write(name, &text);
            files.push(PathBuf::from(name));
        }
        if files.len() < case.split('|').count() {
            println!("skipped: {case} has no files beside the expected values");
            continue;
        }
        let two = files.len() == 2;
        if two {
            // A − B is the second file against the first.
            files.reverse();
        }
        let mut arguments = vec!["compare", "--all"];
        arguments.extend(files.iter().filter_map(|file| file.to_str()));
        let report = room.json(&arguments);
        let found = if two { &report["comparisons"][0]["all"] } else { &report["groups"] };
        ledger.walk(case, expected, found, high - low);
    }
    ledger
}

fn agrees(ledger: &Ledger, at_least: usize) {
    assert!(ledger.wrong.is_empty(), "{} wrong:\n{}", ledger.wrong.len(), ledger.wrong.join("\n"));
    println!("{} values agree with R", ledger.compared);
    assert!(ledger.compared >= at_least, "only {} values were compared", ledger.compared);
}

#[test]
fn every_number_of_every_pair_is_that_of_r() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    agrees(&compare(&here.join("../stats/tests/data/oracle")), 4000);
}

#[test]
fn every_number_of_the_larger_set_is_that_of_r_where_there_is_one() {
    let Some(directory) = std::env::var_os("ASSAY_TEST_DATA") else {
        println!("skipped: ASSAY_TEST_DATA names no directory");
        return;
    };
    agrees(&compare(&Path::new(&directory).join("oracles")), 5000);
}

#[test]
fn without_all_nothing_is_added() {
    let room = Room::new();
    room.write("a.txt", "1\n2\n3\n4\n");
    room.write("b.txt", "2\n3\n4\n6\n");
    let plain = room.json(&["compare", "a.txt", "b.txt"]);
    assert!(plain.get("groups").is_none() && plain["comparisons"][0].get("all").is_none());
    let mut all = room.json(&["compare", "--all", "a.txt", "b.txt"]);
    all.as_object_mut().unwrap().remove("groups").unwrap();
    all["comparisons"][0].as_object_mut().unwrap().remove("all").unwrap();
    all["argv"] = plain["argv"].clone();
    assert_eq!(all, plain);
}

#[test]
fn another_confidence_gets_intervals_of_its_own() {
    let room = Room::new();
    room.write("a.txt", "1\n2\n3\n4\n");
    room.write("b.txt", "2\n3\n4\n6.5\n");
    let report = room.json(&["compare", "--all", "--confidence", "97.5", "a.txt", "b.txt"]);
    let welch = &report["comparisons"][0]["all"]["t_welch"];
    let lower = |key: &str| welch[key]["lower"].as_f64().unwrap();
    assert!(lower("ci99") < lower("ci97.5") && lower("ci97.5") < lower("ci95"), "{welch}");
}

#[test]
fn equal_observations_are_named_as_the_reason() {
    let room = Room::new();
    room.write("a.txt", &"5\n".repeat(8));
    room.write("b.txt", &"5\n".repeat(9));
    let report = room.json(&["compare", "--all", "a.txt", "b.txt"]);
    let all = &report["comparisons"][0]["all"];
    assert!(all["t_welch"].is_null());
    assert_eq!(all["reasons"]["t_welch"], "all observations are equal");
    assert!(all["mann_whitney"]["asymptotic"]["p_two"].is_null());
    assert_eq!(all["reasons"]["mann_whitney"], "all observations are equal");
    let screen = room.run(&["compare", "--all", "a.txt", "b.txt"]).ends(0);
    assert!(screen.stdout.contains("all observations are equal"), "{}", screen.stdout);
}
