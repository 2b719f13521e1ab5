//! One sample: descriptions, Student's interval, signed ranks; and lists of p-values.

use crate::ledger::{LEVELS, Ledger, SAME, Tolerance, numbers, relative};
use assay_stats::{Interval, adjust, descriptive, groups, order, signed_rank, student_t};
use serde_json::Value;

/// Compares what this room knows; false for a function that is not of this room.
pub fn check(ledger: &mut Ledger, function: &str, samples: &[Vec<f64>], values: &Value) -> bool {
    match (function, samples) {
        ("p_adjust", _) => adjusted(ledger, values),
        ("descriptives", [xs]) => descriptives(ledger, xs, values),
        ("median_ci", [xs]) => median_intervals(ledger, xs, values),
        ("t_mean", [xs]) => t_of_one(ledger, xs, values),
        ("signed_rank_about_zero", [xs]) => signed_ranks(ledger, xs, values),
        ("t_paired", [a, b]) => t_of_one(ledger, &paired(a, b), values),
        ("wilcoxon_signed_rank", [a, b]) => signed_ranks(ledger, &paired(a, b), values),
        _ => return false,
    }
    true
}

fn descriptives(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let sorted = descriptive::sorted(xs);
    let quantile = |p| descriptive::quantile_sorted(&sorted, p);
    let mad = descriptive::median_absolute_deviation(xs);
    // About 1e12 neighbouring numbers are 1e-4 apart, and an interpolated quantile is no better.
    let order = relative(if sorted[0].abs() > 1e11 { 1e-9 } else { 1e-12 });
    let moment = Tolerance { relative: 1e-9, absolute: 1e-15 };
    let (mean, sd) = (descriptive::mean(xs), descriptive::standard_deviation(xs));
    let skewness = descriptive::skewness_by_definition(xs);
    let kurtosis = descriptive::excess_kurtosis_by_definition(xs);
    let values = [
        ("n", xs.len() as f64, SAME),
        ("min", sorted[0], SAME),
        ("max", sorted[sorted.len() - 1], SAME),
        ("sum", descriptive::sum(xs), relative(1e-9)),
        ("mean", mean, relative(1e-9)),
        ("sd", sd, relative(1e-9)),
        ("cv", sd / mean, relative(1e-9)),
        ("sem", sd / (xs.len() as f64).sqrt(), relative(1e-9)),
        ("geomean", descriptive::geometric_mean(xs), relative(1e-9)),
        ("trimmed_mean_10", descriptive::trimmed_mean(&sorted, 0.1), relative(1e-9)),
        ("iqr", descriptive::interquartile_range(&sorted), relative(1e-9)),
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
        ("skewness_g1", skewness.plain, moment),
        ("skewness_G1", skewness.adjusted, moment),
        ("skewness_b1", skewness.by_sd, moment),
        ("kurtosis_excess_g2", kurtosis.plain, moment),
        ("kurtosis_excess_G2", kurtosis.adjusted, moment),
        ("kurtosis_excess_b2", kurtosis.by_sd, moment),
    ];
    assert_eq!(values.len(), expected.as_object().unwrap().len(), "every key is compared");
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
pub fn t_test(ledger: &mut Ledger, centre: f64, error: f64, df: f64, expected: &Value) {
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

fn adjusted(ledger: &mut Ledger, expected: &Value) {
    let p = numbers(&expected["p"]);
    for (what, ours) in [("holm", adjust::holm(&p)), ("bh", adjust::benjamini_hochberg(&p))] {
        for (ours, expected) in ours.into_iter().zip(expected[what].as_array().unwrap()) {
            ledger.check(what, ours, expected, relative(1e-12));
        }
    }
}

fn paired(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
