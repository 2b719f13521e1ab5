//! Counts what was compared, and holds every value to the tolerance that is stated for it.

use assay_stats::Interval;
use serde_json::Value;
use std::collections::BTreeMap;

/// The levels at which the file gives intervals.
pub const LEVELS: [(&str, f64); 3] = [("ci90", 0.90), ("ci95", 0.95), ("ci99", 0.99)];

/// How near a value must come: the larger of the two.
#[derive(Clone, Copy)]
pub struct Tolerance {
    pub relative: f64,
    pub absolute: f64,
}

/// The same number, but for the last bit, which the JSON reader may get wrong.
pub const SAME: Tolerance = Tolerance { relative: 4e-16, absolute: 0.0 };

pub fn relative(relative: f64) -> Tolerance {
    Tolerance { relative, absolute: 0.0 }
}

/// Counts what was compared and collects what does not agree.
#[derive(Default)]
pub struct Ledger {
    pub case: String,
    pub compared: BTreeMap<&'static str, usize>,
    pub skipped: Vec<String>,
    pub wrong: Vec<String>,
}

impl Ledger {
    pub fn check(&mut self, what: &'static str, ours: f64, expected: &Value, tolerance: Tolerance) {
        let expected = number(expected);
        *self.compared.entry(what).or_default() += 1;
        let allowed = tolerance.absolute.max(tolerance.relative * expected.abs());
        let both_nan = ours.is_nan() && expected.is_nan();
        if !(ours == expected || both_nan || (ours - expected).abs() <= allowed) {
            self.wrong.push(format!("{}: {what}: {ours:e}, expected {expected:e}", self.case));
        }
    }

    pub fn check_ends(
        &mut self,
        what: &'static str,
        ours: Interval,
        expected: &Value,
        t: Tolerance,
    ) {
        self.check(what, ours.lower, &expected[0], t);
        self.check(what, ours.upper, &expected[1], t);
    }
}

/// A number as the file writes it: one that is not finite is a string, one of a list of one may
/// stand in its list.
pub fn number(value: &Value) -> f64 {
    match value {
        Value::Array(one) if one.len() == 1 => number(&one[0]),
        Value::String(text) if text == "Inf" => f64::INFINITY,
        Value::String(text) if text == "-Inf" => f64::NEG_INFINITY,
        Value::String(_) => f64::NAN,
        _ => value.as_f64().unwrap(),
    }
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}
