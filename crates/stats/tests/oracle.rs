//! Holds the crate to R: every expected value in `tests/data/oracle` (see the README there), and in
//! the directory named by the environment variable `ASSAY_TEST_DATA` if there is one. A difference
//! is A − B there, so B is the first sample here.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop, and says how much it compared"
)]

use assay_stats::{
    Interval, adjust, autocorrelation, descriptive, groups, order, signed_rank, student_t,
    two_sample,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const LEVELS: [(&str, f64); 3] = [("ci90", 0.90), ("ci95", 0.95), ("ci99", 0.99)];

/// How near a value must come: the larger of the two.
#[derive(Clone, Copy)]
struct Tolerance {
    relative: f64,
    absolute: f64,
}

/// The same number, but for the last bit, which the JSON reader may get wrong.
const SAME: Tolerance = Tolerance { relative: 4e-16, absolute: 0.0 };

fn relative(relative: f64) -> Tolerance {
    Tolerance { relative, absolute: 0.0 }
}

/// Counts what was compared and collects what does not agree.
#[derive(Default)]
struct Ledger {
    case: String,
    compared: BTreeMap<&'static str, usize>,
    skipped: Vec<String>,
    wrong: Vec<String>,
}

impl Ledger {
    fn check(&mut self, what: &'static str, ours: f64, expected: &Value, tolerance: Tolerance) {
        let expected = number(expected);
        *self.compared.entry(what).or_default() += 1;
        let allowed = tolerance.absolute.max(tolerance.relative * expected.abs());
        let both_nan = ours.is_nan() && expected.is_nan();
        if !(ours == expected || both_nan || (ours - expected).abs() <= allowed) {
            self.wrong.push(format!("{}: {what}: {ours:e}, expected {expected:e}", self.case));
        }
    }

    fn check_ends(&mut self, what: &'static str, ours: Interval, expected: &Value, t: Tolerance) {
        self.check(what, ours.lower, &expected[0], t);
        self.check(what, ours.upper, &expected[1], t);
    }
}

/// A number as the file writes it: one that is not finite is a string, one of a list of one may
/// stand in its list.
fn number(value: &Value) -> f64 {
    match value {
        Value::Array(one) if one.len() == 1 => number(&one[0]),
        Value::String(text) if text == "Inf" => f64::INFINITY,
        Value::String(text) if text == "-Inf" => f64::NEG_INFINITY,
        Value::String(_) => f64::NAN,
        _ => value.as_f64().unwrap(),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn descriptives(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let sorted = descriptive::sorted(xs);
    let quantile = |p| descriptive::quantile_sorted(&sorted, p);
    let mad = descriptive::median_absolute_deviation(xs);
    // About 1e12 neighbouring numbers are 1e-4 apart, and an interpolated quantile is no better.
    let order = relative(if sorted[0].abs() > 1e11 { 1e-9 } else { 1e-12 });
    let moment = Tolerance { relative: 1e-9, absolute: 1e-15 };
    let values = [
        ("n", xs.len() as f64, SAME),
        ("min", sorted[0], SAME),
        ("max", sorted[sorted.len() - 1], SAME),
        ("mean", descriptive::mean(xs), relative(1e-9)),
        ("sd", descriptive::standard_deviation(xs), relative(1e-9)),
        ("var", descriptive::variance(xs), relative(1e-9)),
        ("median", descriptive::median(xs), order),
        ("p25", quantile(0.25), order),
        ("p50", quantile(0.5), order),
        ("p75", quantile(0.75), order),
        ("p90", quantile(0.9), order),
        ("p95", quantile(0.95), order),
        ("p99", quantile(0.99), order),
        ("p999", quantile(0.999), order),
        ("mad_raw", mad, order),
        ("mad_normal", mad * descriptive::ROBUST_SD, order),
        ("skewness_g1", descriptive::skewness(xs), moment),
        ("kurtosis_excess_g2", descriptive::excess_kurtosis(xs), moment),
    ];
    for (name, ours, tolerance) in values {
        ledger.check(name, ours, &expected[name], tolerance);
    }
}

fn median_intervals(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let sorted = descriptive::sorted(xs);
    for (name, confidence) in LEVELS {
        let expected = &expected[name];
        match order::median_interval(&sorted, confidence) {
            Some((interval, coverage)) => {
                ledger.check_ends("median_ci", interval, &expected["ci"], SAME);
                let achieved = &expected["coverage"];
                ledger.check("median_ci coverage", coverage, achieved, relative(1e-12));
            }
            None => ledger.check("median_ci none", 0.0, &expected["k"], SAME),
        }
    }
}

/// Student's interval about `centre` and the two-sided p-value against 0.
fn t_test(ledger: &mut Ledger, centre: f64, error: f64, df: f64, expected: &Value) {
    if expected.get("error").is_some() || error == 0.0 {
        // R refuses constant data; a point is all that is left of the interval here.
        ledger.skipped.push(format!("{}: t of constant data", ledger.case));
        return;
    }
    for (name, confidence) in LEVELS {
        let reach = student_t::two_sided(confidence, df) * error;
        let interval = Interval { lower: centre - reach, upper: centre + reach };
        // An end near 0 is the difference of two larger numbers.
        let tolerance = Tolerance { relative: 1e-9, absolute: 1e-12 * (centre.abs() + reach) };
        ledger.check_ends("t interval", interval, &expected[name], tolerance);
    }
    let p = 2.0 * student_t::cdf(-(centre / error).abs(), df);
    if p >= 1e-300 {
        ledger.check("t p", p, &expected["p_two"], relative(1e-9));
    }
}

fn t_of_one(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let n = xs.len() as f64;
    let (centre, error) = (descriptive::mean(xs), descriptive::standard_deviation(xs) / n.sqrt());
    t_test(ledger, centre, error, n - 1.0, expected);
    if error > 0.0 && expected.get("error").is_none() {
        for (name, confidence) in LEVELS {
            let ours = groups::t_interval(xs, confidence).unwrap();
            let tolerance = Tolerance { relative: 1e-9, absolute: 1e-12 * ours.half_width() };
            ledger.check_ends("t_interval", ours, &expected[name], tolerance);
        }
    }
}

fn t_welch(ledger: &mut Ledger, a: &[f64], b: &[f64], expected: &Value) {
    // A common offset goes first, or the difference of two means has only its digits.
    let shifted = |xs: &[f64]| xs.iter().map(|x| x - b[0]).collect::<Vec<f64>>();
    let centre = descriptive::mean(&shifted(a)) - descriptive::mean(&shifted(b));
    let (n, m) = (a.len() as f64, b.len() as f64);
    let (va, vb) = (descriptive::variance(a) / n, descriptive::variance(b) / m);
    let df = (va + vb).powi(2) / (va * va / (n - 1.0) + vb * vb / (m - 1.0));
    t_test(ledger, centre, (va + vb).sqrt(), df, expected);
}

fn signed_ranks(ledger: &mut Ledger, differences: &[f64], expected: &Value) {
    let sorted = descriptive::sorted(differences);
    if let Some(estimate) = expected.get("pseudomedian_exact_all") {
        // The difference of two near numbers may be all rounding.
        let scale = 1e-15 * sorted.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let tolerance = Tolerance { relative: 1e-12, absolute: scale };
        ledger.check("pseudo-median", signed_rank::pseudo_median(&sorted), estimate, tolerance);
    }
    let Some(exact) = expected.get("exact") else { return };
    let mut law = signed_rank::SignedRankLaw::new();
    for (name, confidence) in LEVELS {
        match law.critical(sorted.len(), 1.0 - confidence) {
            Some(k) => {
                let interval = signed_rank::walsh_interval(&sorted, k);
                let tolerance = Tolerance { relative: 1e-12, absolute: 1e-15 * sorted[0].abs() };
                ledger.check_ends("walsh interval", interval, &exact[name], tolerance);
            }
            None => {
                let warning = exact["warnings"].to_string();
                assert!(warning.contains("not achievable"), "{} {name}: {warning}", ledger.case);
            }
        }
    }
}

fn hodges_lehmann(ledger: &mut Ledger, a: &[f64], b: &[f64], expected: &Value) {
    let (a, b) = (descriptive::sorted(a), descriptive::sorted(b));
    let tolerance = relative(1e-12);
    let shift = two_sample::hodges_lehmann(&b, &a);
    ledger.check("hodges_lehmann", shift, &expected["estimate_exact"], tolerance);
    for (index, (name, confidence)) in LEVELS.into_iter().enumerate() {
        if let Some(exact) = expected.get("exact") {
            match two_sample::mann_whitney_exact_interval(&b, &a, confidence) {
                Some(ours) => ledger.check_ends("exact interval", ours, &exact[name], tolerance),
                None => assert!(number(&exact["conf_level_achieved"][index]) < confidence),
            }
        }
        let closed = &expected["asymptotic"]["order_stat"][name];
        if !closed.is_null() {
            let ours = two_sample::mann_whitney_asymptotic_interval(&b, &a, confidence).unwrap();
            ledger.check_ends("asymptotic interval", ours, closed, tolerance);
        }
    }
}

fn autocorrelations(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let expected = match &expected["acf"] {
        Value::Array(list) => list.clone(),
        single => vec![single.clone()],
    };
    if number(&expected[0]).is_nan() {
        ledger.skipped.push(format!("{}: acf of constant data, 0 by definition here", ledger.case));
        return;
    }
    let ours = autocorrelation::autocorrelation(xs, 30);
    assert_eq!(ours.len(), expected.len(), "{}", ledger.case);
    for (ours, expected) in ours.into_iter().zip(&expected) {
        ledger.check("acf", ours, expected, Tolerance { relative: 1e-9, absolute: 1e-12 });
    }
}

fn adjusted(ledger: &mut Ledger, expected: &Value) {
    let p = numbers(&expected["p"]);
    for (what, ours) in [("holm", adjust::holm(&p)), ("bh", adjust::benjamini_hochberg(&p))] {
        for (ours, expected) in ours.into_iter().zip(expected[what].as_array().unwrap()) {
            ledger.check(what, ours, expected, relative(1e-12));
        }
    }
}

/// Compares everything that `expected.json` in `directory` says about the series beside it.
fn compare(directory: &Path) -> Ledger {
    let text = std::fs::read_to_string(directory.join("expected.json")).unwrap();
    let expected: BTreeMap<String, BTreeMap<String, Value>> =
        serde_json::from_str::<BTreeMap<String, Value>>(&text)
            .unwrap()
            .into_iter()
            .filter(|(case, _)| !case.starts_with('_') && !case.starts_with("power:"))
            .map(|(case, values)| (case, serde_json::from_value(values).unwrap()))
            .collect();
    let series = |name: &str| -> Option<Vec<f64>> {
        let text = std::fs::read_to_string(directory.join("data").join(name).with_extension("txt"));
        Some(text.ok()?.lines().map(|line| line.trim().parse().unwrap()).collect())
    };
    let mut ledger = Ledger::default();
    for (case, functions) in &expected {
        ledger.case.clone_from(case);
        if let Some(values) = functions.get("p_adjust") {
            adjusted(&mut ledger, values);
            continue;
        }
        let Some(samples) = case.split('|').map(series).collect::<Option<Vec<_>>>() else {
            ledger.skipped.push(format!("{case}: no data beside the expected values"));
            continue;
        };
        for (function, values) in functions {
            match (function.as_str(), samples.as_slice()) {
                ("descriptives", [xs]) => descriptives(&mut ledger, xs, values),
                ("median_ci", [xs]) => median_intervals(&mut ledger, xs, values),
                ("t_mean", [xs]) => t_of_one(&mut ledger, xs, values),
                ("signed_rank_about_zero", [xs]) => signed_ranks(&mut ledger, xs, values),
                ("acf", [xs]) => autocorrelations(&mut ledger, xs, values),
                ("hodges_lehmann", [a, b]) => hodges_lehmann(&mut ledger, a, b, values),
                ("t_welch", [a, b]) => t_welch(&mut ledger, a, b, values),
                ("t_paired", [a, b]) => t_of_one(&mut ledger, &paired(a, b), values),
                ("wilcoxon_signed_rank", [a, b]) => {
                    signed_ranks(&mut ledger, &paired(a, b), values);
                }
                _ => {}
            }
        }
    }
    println!("compared {:?}; skipped {:?}", ledger.compared, ledger.skipped);
    ledger
}

fn paired(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn agree(ledger: &Ledger, at_least: usize) {
    assert!(ledger.wrong.is_empty(), "{} wrong:\n{}", ledger.wrong.len(), ledger.wrong.join("\n"));
    let total: usize = ledger.compared.values().sum();
    println!("{total} values agree with R");
    assert!(total >= at_least, "only {total} values were compared, expected {at_least}");
}

#[test]
fn everything_agrees_with_r_on_the_series_kept_here() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle");
    agree(&compare(&directory), 4000);
}

#[test]
fn everything_agrees_with_r_on_the_larger_set_where_there_is_one() {
    let Some(directory) = std::env::var_os("ASSAY_TEST_DATA") else {
        println!("skipped: ASSAY_TEST_DATA names no directory");
        return;
    };
    agree(&compare(&Path::new(&directory).join("oracles")), 5000);
}
