//! Counts comparisons, and checks every value against its tolerance.

use assay_stats::{Interval, PValues};
use serde_json::Value;
use std::collections::BTreeMap;

/// The levels of the intervals in the file.
pub const LEVELS: [(&str, f64); 3] = [("ci90", 0.90), ("ci95", 0.95), ("ci99", 0.99)];

/// Tolerance of a value: the larger of the two.
#[derive(Clone, Copy)]
pub struct Tolerance {
    pub relative: f64,
    pub absolute: f64,
}

/// Equality except for the last bit, which the JSON reader may get wrong.
pub const SAME: Tolerance = Tolerance { relative: 4e-16, absolute: 0.0 };

/// A p-value: accurate to 1e-9 down to 1e-300, below which digits are lost.
pub const P: Tolerance = Tolerance { relative: 1e-9, absolute: 1e-300 };

pub fn relative(relative: f64) -> Tolerance {
    Tolerance { relative, absolute: 0.0 }
}

/// Counts comparisons and collects disagreements.
#[derive(Default)]
pub struct Ledger {
    pub case: String,
    pub compared: BTreeMap<&'static str, usize>,
    pub skipped: Vec<String>,
    pub wrong: Vec<String>,
}

impl Ledger {
    pub fn check(&mut self, what: &'static str, ours: f64, expected: &Value, tolerance: Tolerance) {
        if expected.is_null() {
            self.wrong.push(format!("{}: {what}: nothing expected", self.case));
            return;
        }
        let expected = number(expected);
        *self.compared.entry(what).or_default() += 1;
        let allowed = tolerance.absolute.max(tolerance.relative * expected.abs());
        let both_nan = ours.is_nan() && expected.is_nan();
        if !(ours == expected || both_nan || (ours - expected).abs() <= allowed) {
            self.wrong.push(format!("{}: {what}: {ours:e}, expected {expected:e}", self.case));
        }
    }

    pub fn check_truth(&mut self, what: &'static str, ours: bool, expected: &Value) {
        self.check_none(what, Some(ours) == expected.as_bool());
    }

    /// Checks a condition, such as the absence of a result if R gives none.
    pub fn check_none(&mut self, what: &'static str, right: bool) {
        *self.compared.entry(what).or_default() += 1;
        if !right {
            self.wrong.push(format!("{}: {what}: not as R has it", self.case));
        }
    }

    /// Checks that there is no interval if the ends of R's are NaN.
    pub fn check_no_interval(&mut self, what: &'static str, expected: &Value) {
        self.check_none(what, number(&expected[0]).is_nan() && number(&expected[1]).is_nan());
    }

    /// Checks the three p-values, under R's names.
    pub fn check_p(&mut self, what: &'static str, ours: Option<PValues>, expected: &Value) {
        let Some(ours) = ours else {
            self.check_none(what, false);
            return;
        };
        self.check(what, ours.two, &expected["p_two"], P);
        self.check(what, ours.less, &expected["p_less"], P);
        self.check(what, ours.greater, &expected["p_greater"], P);
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

/// A number as written in the file: a non-finite one is a string, and a list of one may be a list.
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
