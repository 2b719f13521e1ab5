//! `assay compare --all --json`, value by value against R's results for the same files.

use crate::room::Room;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Keys that name the two sides: the report's, and those of R's session, which calls them A and B.
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

/// Values that only R has: its messages, its root search with a coarse tolerance, and a root that
/// may be anywhere in a step, for which the median of the differences is compared instead.
const LEFT_OUT: [&str; 5] =
    ["warnings", "method", "order_stat", "r_default_call_tol1e4", "estimate_root"];

/// Returns a number of the expected values; non-finite numbers are given as text.
fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("Inf" | "-Inf" | "NaN" | "NA") => Some(f64::NAN),
        _ => value.as_f64(),
    }
}

/// The magnitude of the numbers of a case.
#[derive(Clone, Copy)]
struct Scale {
    /// From the smallest value to the largest.
    range: f64,
    /// Distance between the two middle averages of the pairs' differences: R's root may be any
    /// number between them. 0 without pairs.
    gap: f64,
}

impl Scale {
    fn of(samples: &[Vec<f64>]) -> Self {
        let all = || samples.iter().flatten().copied();
        let (low, high) = all().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
        let gap = match samples {
            [a, b] if a.len() == b.len() => middle_gap(a, b),
            _ => 0.0,
        };
        Self { range: high - low, gap }
    }
}

/// Returns the width of the flat stretch in which the signed-rank statistic has its middle value.
fn middle_gap(a: &[f64], b: &[f64]) -> f64 {
    /// The averages of more differences would fill gigabytes, and the middle ones are close
    /// together.
    const MOST: usize = 5000;
    let used: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).filter(|d| *d != 0.0).collect();
    if used.len() > MOST {
        return 0.0;
    }
    let mut averages: Vec<f64> = Vec::new();
    for (i, x) in used.iter().enumerate() {
        averages.extend(used[i..].iter().map(|y| (x + y) / 2.0));
    }
    if averages.is_empty() {
        return 0.0;
    }
    let middle = averages.len() / 2;
    let (below, &mut upper, _) = averages.select_nth_unstable_by(middle, f64::total_cmp);
    // For an odd number the middle one is a root, and so is every number up to its neighbors.
    upper - below.iter().copied().reduce(f64::max).unwrap_or(upper)
}

#[derive(Default)]
struct Ledger {
    compared: usize,
    wrong: Vec<String>,
}

impl Ledger {
    fn walk(&mut self, path: &str, expected: &Value, found: &Value, scale: Scale) {
        match expected {
            // If R reports an error there is no result here either.
            Value::Object(map) if map.contains_key("error") => {
                self.check(found.is_null(), path, expected, found);
            }
            Value::Object(map) => {
                for (key, value) in map.iter().filter(|(key, _)| !LEFT_OUT.contains(&key.as_str()))
                {
                    let renamed = RENAMED.iter().find(|(theirs, _)| theirs == key);
                    let key = renamed.map_or(key.as_str(), |(_, ours)| ours);
                    let inner = found.get(key).unwrap_or(&Value::Null);
                    self.walk(&format!("{path}.{key}"), value, inner, scale);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let end = ["lower", "upper"].get(index).and_then(|end| found.get(end));
                    let inner = end.or_else(|| found.get(index)).unwrap_or(&Value::Null);
                    self.walk(&format!("{path}[{index}]"), item, inner, scale);
                }
            }
            _ => match number(expected) {
                Some(theirs) if theirs.is_finite() => {
                    // Ends found by R's root finder; its root may be anywhere in a step.
                    let searched = path.contains(".asymptotic") && path.ends_with(']');
                    let root = path.ends_with("asymptotic_ci.estimate");
                    let absolute = match (searched, root) {
                        (true, _) => 1e-8 * scale.range,
                        (_, true) => scale.gap + 1e-11 * scale.range,
                        // A difference of shares, in which R keeps the rounding error of 1.
                        _ if path.contains(".ks_two_sample.D") => 1e-15,
                        // Small data have small differences, and numbers without a unit are close
                        // to 1.
                        _ => 1e-12 * scale.range.min(1.0),
                    };
                    let allowed = absolute.max(1e-9 * theirs.abs());
                    let near = found.as_f64().is_some_and(|f| (f - theirs).abs() <= allowed);
                    self.check(near, path, expected, found);
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

/// Compares everything that R computes for two or more samples, in a directory of expected values.
fn compare(directory: &Path) -> Ledger {
    let text = std::fs::read_to_string(directory.join("expected.json")).unwrap();
    let cases: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    let mut ledger = Ledger::default();
    let room = Room::new();
    for (case, expected) in cases.iter().filter(|(case, _)| case.contains('|')) {
        let mut files: Vec<PathBuf> = Vec::new();
        let mut samples: Vec<Vec<f64>> = Vec::new();
        for name in case.split('|') {
            let Ok(text) = std::fs::read_to_string(directory.join(format!("data/{name}.txt")))
            else {
                continue;
            };
            samples.push(text.lines().map(|line| line.trim().parse().unwrap()).collect());
            // A file in the room, so that subjects have the names of the expected values.
            room.write(name, &text);
            files.push(PathBuf::from(name));
        }
        if files.len() < case.split('|').count() {
            println!("skipped: {case} has no files beside the expected values");
            continue;
        }
        let two = files.len() == 2;
        if two {
            // A − B compares the second file with the first.
            files.reverse();
        }
        let mut arguments = vec!["compare", "--all"];
        arguments.extend(files.iter().filter_map(|file| file.to_str()));
        let report = room.json(&arguments);
        let found = if two { &report["comparisons"][0]["tests"] } else { &report["groups"] };
        ledger.walk(case, expected, found, Scale::of(&samples));
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
    assert!(plain["groups"].is_null() && plain["comparisons"][0]["tests"].is_null());
    let mut all = room.json(&["compare", "--all", "a.txt", "b.txt"]);
    assert!(all["groups"].is_object() && all["comparisons"][0]["tests"].is_object());
    all["groups"] = Value::Null;
    all["comparisons"][0]["tests"] = Value::Null;
    all["argv"] = plain["argv"].clone();
    assert_eq!(all, plain);
}

#[test]
fn another_confidence_gets_intervals_of_its_own() {
    let room = Room::new();
    room.write("a.txt", "1\n2\n3\n4\n");
    room.write("b.txt", "2\n3\n4\n6.5\n");
    let report = room.json(&["compare", "--all", "--confidence", "97.5", "a.txt", "b.txt"]);
    let welch = &report["comparisons"][0]["tests"]["t_welch"];
    let lower = |key: &str| welch[key]["lower"].as_f64().unwrap();
    assert!(lower("ci99") < lower("ci97.5") && lower("ci97.5") < lower("ci95"), "{welch}");
}

#[test]
fn equal_observations_are_named_as_the_reason() {
    let room = Room::new();
    room.write("a.txt", &"5\n".repeat(8));
    room.write("b.txt", &"5\n".repeat(9));
    let report = room.json(&["compare", "--all", "a.txt", "b.txt"]);
    let all = &report["comparisons"][0]["tests"];
    assert!(all["t_welch"].is_null());
    assert_eq!(all["reasons"]["t_welch"], "all observations are equal");
    assert!(all["mann_whitney"]["asymptotic"]["p_two"].is_null());
    assert_eq!(all["reasons"]["mann_whitney"], "all observations are equal");
    let screen = room.run(&["compare", "--all", "a.txt", "b.txt"]).ends(0);
    assert!(screen.stdout.contains("all observations are equal"), "{}", screen.stdout);
}
