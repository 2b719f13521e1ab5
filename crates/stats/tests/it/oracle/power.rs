//! The power of the t tests.

use crate::oracle::ledger::{Ledger, number, relative};
use assay_stats::power_t::{Kind, Quantities, Sides, Test, Unknown};
use serde_json::Value;

/// Compares the functions of this module; returns false for others.
pub fn check(ledger: &mut Ledger, function: &str, _: &[Vec<f64>], values: &Value) -> bool {
    if function != "power_t_test" {
        return false;
    }
    let inputs = &values["inputs"];
    let test = Test {
        kind: match inputs["type"].as_str().unwrap_or("two.sample") {
            "two.sample" => Kind::TwoSample,
            "one.sample" => Kind::OneSample,
            _ => Kind::Paired,
        },
        sides: match inputs["alternative"].as_str() {
            Some("one.sided") => Sides::One,
            _ if inputs["strict"] == true => Sides::TwoStrict,
            _ => Sides::Two,
        },
    };
    let input = |name: &str| inputs.get(name).map(number);
    // Inputs omit a value that is R's default.
    let unknown = ["n", "delta", "sd", "power"].into_iter().find(|name| input(name).is_none());
    let unknown = match unknown.filter(|&name| name != "sd" || input("n").is_some()) {
        Some("n") => Unknown::N,
        Some("delta") => Unknown::Delta,
        Some("power") => Unknown::Power,
        Some("sd") => Unknown::Sd,
        _ => Unknown::SigLevel,
    };
    let given = Quantities {
        n: input("n").unwrap_or(f64::NAN),
        delta: input("delta").unwrap_or(f64::NAN),
        sd: input("sd").unwrap_or(f64::NAN),
        sig_level: input("sig.level").unwrap_or(f64::NAN),
        power: input("power").unwrap_or(f64::NAN),
    };
    let found = test.solve(unknown, given).unwrap();
    let solved = |of: Unknown| relative(if unknown == of { 1e-6 } else { 1e-12 });
    ledger.check("power_t_test n", found.n, &values["n"], solved(Unknown::N));
    ledger.check("power_t_test delta", found.delta, &values["delta"], solved(Unknown::Delta));
    ledger.check("power_t_test sd", found.sd, &values["sd"], solved(Unknown::Sd));
    let level = &values["sig_level"];
    ledger.check("power_t_test sig_level", found.sig_level, level, solved(Unknown::SigLevel));
    ledger.check("power_t_test power", found.power, &values["power"], relative(1e-8));
    true
}
