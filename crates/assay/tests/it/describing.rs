//! `assay describe` from outside: every number that R computes for one sample, the screen, and
//! possible errors.

use crate::room::{Room, codes, data};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A comparison with R: the number of values compared, and the disagreements.
#[derive(Default)]
struct Held {
    compared: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

/// Returns a number of the file of expected values; a single number may be in a list of one.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Array(one) if one.len() == 1 => number(&one[0]),
        other => other.as_f64(),
    }
}

impl Held {
    fn number(
        &mut self,
        path: &str,
        ours: &Value,
        expected: &Value,
        (relative, absolute): (f64, f64),
    ) {
        *self.compared.entry(path.split('/').nth(1).unwrap().to_owned()).or_default() += 1;
        let near = match (ours.as_f64(), number(expected)) {
            (Some(ours), Some(expected)) => {
                (ours - expected).abs() <= absolute.max(relative * expected.abs())
            }
            // Values that are not numbers in R are `null` here.
            (None, None) => ours.is_null(),
            _ => false,
        };
        if !near {
            self.wrong.push(format!("{path}: {ours}, expected {expected}"));
        }
    }

    fn value(&mut self, path: &str, ours: &Value, expected: &Value, largest: f64) {
        match expected {
            Value::Object(map) if map.contains_key("error") => {
                for (key, value) in ours.as_object().into_iter().flatten() {
                    if value.is_number() && key != "mean" {
                        self.wrong.push(format!("{path}/{key}: {value}, where R refuses"));
                    }
                }
            }
            Value::Object(map) => {
                for (key, expected) in map.iter().filter(|(key, _)| *key != "warnings") {
                    self.value(&format!("{path}/{key}"), &ours[key], expected, largest);
                }
            }
            Value::Array(ends) if ours.is_object() => {
                let tolerance = tolerance(path, largest);
                // R finds the ends of the signed ranks by bisection.
                let searched = path.contains("signed_rank_about_zero");
                let absolute = if searched { 1e-8 * largest } else { tolerance.1 };
                let wider = (tolerance.0.max(1e-8), absolute);
                self.number(&format!("{path}/lower"), &ours["lower"], &ends[0], wider);
                self.number(&format!("{path}/upper"), &ours["upper"], &ends[1], wider);
            }
            Value::Array(list) if ours.is_array() => {
                assert_eq!(ours.as_array().unwrap().len(), list.len(), "{path}");
                for (index, expected) in list.iter().enumerate() {
                    let path = format!("{path}/{index}");
                    self.number(&path, &ours[index], expected, tolerance(&path, largest));
                }
            }
            Value::Bool(_) => {
                if ours != expected {
                    self.wrong.push(format!("{path}: {ours}, expected {expected}"));
                }
            }
            _ => self.number(path, ours, expected, tolerance(path, largest)),
        }
    }

    fn resampled(&mut self, path: &str, ours: &Value, expected: &Value, largest: f64) {
        let within =
            |expected: &Value| (0.0, expected["tol_abs"].as_f64().unwrap() + 1e-15 * largest);
        for key in ["bias", "se"] {
            let expected = &expected[key];
            self.number(&format!("{path}/{key}"), &ours[key], &expected["mean"], within(expected));
        }
        for key in ["normal", "basic", "percentile", "bca"] {
            for (end, name) in [("lower", "lo"), ("upper", "hi")] {
                let expected = &expected[key][name];
                // R's package gives up on BCa for very many values, but we need not.
                if number(&expected["mean"]).is_some() || ours["se"] == 0.0 {
                    let path = format!("{path}/{key}/{end}");
                    self.number(&path, &ours[key][end], &expected["mean"], within(expected));
                }
            }
        }
    }
}

/// Returns the relative and absolute tolerance for a number. `path` is case/function/key; `largest`
/// is the magnitude of the data, relative to which the tolerance for rounding is small.
fn tolerance(path: &str, largest: f64) -> (f64, f64) {
    let mut parts = path.split('/').skip(1);
    let (function, key) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match (function, key) {
        // Approximations of approximations, and a table with steps.
        ("shapiro_wilk", "W") => (1e-6, 0.0),
        ("shapiro_wilk", _) => (1e-4, 1e-12),
        ("dip", "p") => (0.0, 0.01),
        ("bandwidth", "sj_ste" | "sj_dpi") => (1e-2, 0.0),
        // A share that R subtracts from 1.
        ("ks_exponential" | "ks_normal" | "ks_lognormal", _) => (1e-9, 1e-15),
        // A correlation is close to 1 in any unit.
        ("acf" | "acf_r_default", _) => (1e-9, 1e-12),
        _ => (1e-9, 1e-12 * largest.min(1.0)),
    }
}

/// Describes every series of one sample in the directory, and compares it with R's results.
fn compare(directory: &Path) -> Held {
    let text = std::fs::read_to_string(directory.join("expected.json")).unwrap();
    let cases: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    let room = Room::new();
    let mut held = Held::default();
    for (case, functions) in &cases {
        let file = directory.join("data").join(case).with_extension("txt");
        if case.contains(['|', ':']) || !file.exists() {
            continue;
        }
        let result = room.json(&["describe", "--all", file.to_str().unwrap()]);
        let ours = &result["series"][0];
        let descriptives = &functions["descriptives"];
        let largest = descriptives["max"].as_f64().unwrap().abs();
        for (function, expected) in functions.as_object().unwrap() {
            let path = format!("{case}/{function}");
            if function.starts_with("bootstrap") {
                held.resampled(&path, &ours[function], expected, largest);
                continue;
            }
            let mut expected = expected.clone();
            if function == "signed_rank_about_zero" {
                // A root of a step function may be any point of a flat stretch; the exact value is
                // compared.
                expected["asymptotic_ci"].as_object_mut().unwrap().remove("estimate");
            }
            held.value(&path, &ours[function], &expected, largest);
        }
    }
    held
}

fn agrees(held: &Held, at_least: usize) {
    let total: usize = held.compared.values().sum();
    println!("compared {:?}: {total} values", held.compared);
    assert!(held.wrong.is_empty(), "{} wrong:\n{}", held.wrong.len(), held.wrong.join("\n"));
    assert!(total >= at_least, "only {total} values were compared, expected {at_least}");
}

#[test]
fn every_number_of_one_sample_agrees_with_r() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stats/tests/data/oracle");
    agrees(&compare(&directory), 7000);
}

#[test]
fn every_number_agrees_on_the_larger_set_where_there_is_one() {
    let Some(directory) = std::env::var_os("ASSAY_TEST_DATA") else {
        println!("skipped: ASSAY_TEST_DATA names no directory");
        return;
    };
    agrees(&compare(&Path::new(&directory).join("oracles")), 9000);
}

#[test]
fn the_seed_fixes_every_digit() {
    let room = Room::new();
    let with = |seed: &str| room.json(&["describe", "--all", "--seed", seed, &data("lnorm_a.txt")]);
    assert_eq!(with("7"), with("7"));
    let ends = |result: &Value| result["series"][0]["bootstrap_mean"]["bca"].clone();
    assert_ne!(ends(&with("7")), ends(&with("8")));
}

#[test]
fn another_confidence_gets_a_key_of_its_own() {
    let room = Room::new();
    let result = room.json(&["describe", "--confidence", "97.5%", &data("lnorm_a.txt")]);
    let t = &result["series"][0]["t_mean"];
    let width = |key: &str| t[key]["upper"].as_f64().unwrap() - t[key]["lower"].as_f64().unwrap();
    assert!(width("ci95") < width("ci97.5") && width("ci97.5") < width("ci99"));
}

#[test]
fn a_recorded_run_is_described_by_its_metrics() {
    let room = Room::new();
    room.run(&["run", "--save", "s.assay", "-r", "4", "--seed", "5", "true"]).ends(0);
    let result = room.json(&["describe", "s.assay"]);
    assert_eq!(result["series"].as_array().unwrap().len(), 1);
    assert_eq!(result["series"][0]["metric"], "wall");
    let other = room.json(&["describe", "--primary", "max_rss", "s.assay"]);
    assert_eq!(other["series"][0]["metric"], "max_rss");
    assert!(room.json(&["describe", "--all", "s.assay"])["series"].as_array().unwrap().len() > 5);
    room.run(&["describe", "--primary", "colour", "s.assay"]).ends(2).complains("colour");
}

#[test]
fn several_files_are_several_series() {
    let room = Room::new();
    let ended = room.run(&["describe", &data("lnorm_a.txt"), &data("lnorm_b.txt")]).ends(0);
    ended.shows("lnorm_a").shows("lnorm_b").shows("over time");
    room.run(&["describe", "nothing.txt"]).ends(2).complains("nothing.txt");
    room.run(&["describe"]).ends(2).complains("FILE");
}

#[test]
fn ties_and_constants_are_told() {
    let room = Room::new();
    let constant = room.json(&["describe", &data("const_a.txt")]);
    assert!(codes(&constant).contains(&"ALL_EQUAL"));
    room.run(&["describe", &data("const_a.txt")]).ends(0).shows("equal");
}

#[test]
fn series_with_values_and_mere_summaries_stand_in_one_document() {
    let room = Room::new();
    let values: Vec<String> = (0..12)
        .map(|i| {
            format!(
                r#"{{"kind":"obs","subject":0,"values":{{"wall":{}}}}}"#,
                1.0 + f64::from(i * 5 % 12)
            )
        })
        .collect();
    let text = format!(
        r#"{{"assay":1,"kind":"run","tool":"t"}}
{{"kind":"side","name":"a"}}
{{"kind":"side","name":"b"}}
{{"kind":"row","name":""}}
{{"kind":"subject","side":0,"row":0,"name":"a"}}
{{"kind":"subject","side":1,"row":0,"name":"b"}}
{{"kind":"metric","name":"wall","unit":"s"}}
{}
{{"kind":"summary","subject":1,"metric":"wall","count":9,"mean":2.5,"sd":0.5}}
"#,
        values.join("\n")
    );
    room.write("mixed.assay", &text);
    for options in [&[][..], &["--all"]] {
        let asked = |last: &[&'static str]| [&["describe", "mixed.assay"], options, last].concat();
        let found = room.run(&asked(&["--json"])).json();
        assert_eq!(found["series"].as_array().unwrap().len(), 1);
        let left = &found["summaries"][0];
        assert_eq!(
            (&left["name"], &left["mean"], &left["n"]),
            (&"b".into(), &2.5.into(), &9.into())
        );
        room.run(&asked(&[]))
            .ends(0)
            .shows("only a summary was recorded of wall of 'b': mean 2.500 s, 9 values");
    }
}

#[test]
fn a_small_file_cannot_take_all_memory() {
    let room = Room::new();
    room.write("many.txt", &"0\n".repeat(5_000));
    room.write(
        "many.json",
        &format!(
            "{{\"results\":[{{\"command\":\"a\",\"times\":[{}]}}]}}",
            vec!["1"; 5_000].join(",")
        ),
    );
    let line = "gzip -kf many.txt; ASSAY_MAX_VALUES=1000 \"$ASSAY\" describe ";
    for (file, what) in
        [("many.txt", "1000 lines"), ("many.json", "1000 values"), ("many.txt.gz", "1000 lines")]
    {
        let ended = crate::room::finish(room.shell(&format!("{line}{file}"))).ends(2);
        ended.complains(what).complains("ASSAY_MAX_VALUES");
    }
    let none =
        crate::room::finish(room.shell("ASSAY_MAX_VALUES=many \"$ASSAY\" describe many.txt"));
    none.ends(2).complains("ASSAY_MAX_VALUES=many: give a number above 0");
    room.write(
        "wide.csv",
        &format!("{}\n{}\n", vec!["x"; 100_001].join(","), vec!["1"; 100_001].join(",")),
    );
    room.run(&["describe", "wide.csv"]).ends(2).complains("100001 columns");
}
