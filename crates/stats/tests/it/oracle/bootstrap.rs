//! The bootstrap; R's values are stored with their variation between seeds.

use crate::oracle::ledger::{Ledger, Tolerance, number, relative};
use assay_stats::Interval;
use assay_stats::bootstrap::{Statistic, bootstrap, resamples_for};
use serde_json::Value;

/// An arbitrary seed.
const SEED: u64 = 1;

/// Compares the functions of this module; returns false for others.
pub fn check(ledger: &mut Ledger, function: &str, samples: &[Vec<f64>], values: &Value) -> bool {
    let statistic = match function {
        "bootstrap_mean" => Statistic::Mean,
        "bootstrap_sd" => Statistic::StandardDeviation,
        "bootstrap_median" => Statistic::Median,
        _ => return false,
    };
    let ours = bootstrap(&samples[0], statistic, resamples_for(samples[0].len(), 1), SEED).unwrap();
    ledger.check("bootstrap t0", ours.t0, &values["t0"], relative(1e-9));
    near(ledger, "bootstrap bias", ours.bias, &values["bias"]);
    near(ledger, "bootstrap se", ours.se, &values["se"]);
    ends(ledger, "bootstrap normal", ours.normal(0.95), &values["normal"]);
    ends(ledger, "bootstrap basic", ours.basic(0.95), &values["basic"]);
    ends(ledger, "bootstrap percentile", ours.percentile(0.95), &values["percentile"]);
    // R's value was not computed for the largest samples.
    if samples[0].len() <= 5000 {
        ends(ledger, "bootstrap bca", ours.bca(0.95), &values["bca"]);
    }
    true
}

fn ends(ledger: &mut Ledger, what: &'static str, ours: Option<Interval>, expected: &Value) {
    near(ledger, what, ours.map_or(f64::NAN, |i| i.lower), &expected["lo"]);
    near(ledger, what, ours.map_or(f64::NAN, |i| i.upper), &expected["hi"]);
}

fn near(ledger: &mut Ledger, what: &'static str, ours: f64, expected: &Value) {
    let absolute = number(&expected["tol_abs"]);
    ledger.check(what, ours, &expected["mean"], Tolerance { relative: 1e-9, absolute });
}
