//! Two samples.

use crate::ledger::{LEVELS, Ledger, number, relative};
use crate::one_sample::t_test;
use assay_stats::{descriptive, two_sample};
use serde_json::Value;

/// Compares what this room knows; false for a function that is not of this room.
pub fn check(ledger: &mut Ledger, function: &str, samples: &[Vec<f64>], values: &Value) -> bool {
    match (function, samples) {
        ("hodges_lehmann", [a, b]) => hodges_lehmann(ledger, a, b, values),
        ("t_welch", [a, b]) => t_welch(ledger, a, b, values),
        _ => return false,
    }
    true
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
