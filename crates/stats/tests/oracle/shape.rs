//! The shape of one sample, and its order in time.

use crate::ledger::{Ledger, Tolerance, number};
use assay_stats::autocorrelation;
use serde_json::Value;

/// Compares what this room knows; false for a function that is not of this room.
pub fn check(ledger: &mut Ledger, function: &str, samples: &[Vec<f64>], values: &Value) -> bool {
    match (function, samples) {
        ("acf", [xs]) => autocorrelations(ledger, xs, values),
        _ => return false,
    }
    true
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
