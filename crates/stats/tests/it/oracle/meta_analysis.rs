//! Pooled effects of several studies.

use crate::oracle::ledger::{Ledger, numbers, relative};
use assay_stats::meta_analysis::random_effects;
use serde_json::Value;

/// Compares the functions of this module; returns false for others.
pub fn check(ledger: &mut Ledger, function: &str, _: &[Vec<f64>], values: &Value) -> bool {
    if function != "random_effects" {
        return false;
    }
    let list = |name: &str| numbers(&values["inputs"][name]);
    let found = random_effects(&list("effects"), &list("errors")).unwrap();
    // R iterates to a tolerance of 1e-4 for τ² by default; these values were computed with 1e-14.
    let near = relative(1e-8);
    ledger.check("random_effects estimate", found.estimate, &values["estimate"], near);
    ledger.check("random_effects se", found.standard_error, &values["se"], near);
    ledger.check("random_effects tau2", found.tau2, &values["tau2"], near);
    // R uses a projection matrix, which loses digits if weights differ by seven orders of
    // magnitude: for `meta:far`, exact fractions give 3825.9758029211257 (a unit test).
    ledger.check("random_effects Q", found.q, &values["q"], relative(1e-10));
    ledger.check("random_effects Q p", found.q_p, &values["q_p"], relative(1e-9));
    ledger.check("random_effects I2", found.i2, &values["i2"], near);
    for (name, confidence) in [("ci95", 0.95), ("ci99", 0.99)] {
        ledger.check_ends(
            "random_effects interval",
            found.interval(confidence),
            &values[name],
            near,
        );
    }
    true
}
