//! One sample: descriptive statistics, Student's t, signed ranks; and lists of p-values.

use crate::oracle::ledger::{LEVELS, Ledger, P, SAME, Tolerance, numbers, relative};
use assay_stats::signed_rank::{self, SignedRankTest};
use assay_stats::t_test::{self, TTest};
use assay_stats::{adjust, descriptive, groups, order};
use serde_json::Value;

/// Compares the functions of this module; returns false for others.
pub fn check(ledger: &mut Ledger, function: &str, samples: &[Vec<f64>], values: &Value) -> bool {
    match (function, samples) {
        ("p_adjust", _) => adjusted(ledger, values),
        ("descriptives", [xs]) => descriptives(ledger, xs, values),
        ("median_ci", [xs]) => median_intervals(ledger, xs, values),
        ("t_mean", [xs]) => t_of_one(ledger, xs, values),
        ("signed_rank_about_zero", [xs]) => signed_ranks(ledger, xs, values),
        ("t_paired", [a, b]) => t_test(ledger, t_test::paired(b, a), values, "diff"),
        ("wilcoxon_signed_rank", [a, b]) => signed_ranks(ledger, &paired(a, b), values),
        _ => return false,
    }
    true
}

fn descriptives(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let sorted = descriptive::sorted(xs);
    let quantile = |p| descriptive::quantile_sorted(&sorted, p);
    let mad = descriptive::median_absolute_deviation(xs);
    // Around 1e12, neighboring doubles are 1e-4 apart, which limits interpolated quantiles.
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

/// Compares all keys common to R's t tests; `estimate` is the key of the estimate.
pub fn t_test(ledger: &mut Ledger, ours: Option<TTest>, expected: &Value, estimate: &str) {
    if expected.get("error").is_some() {
        ledger.check_none("t refused", ours.is_none());
        return;
    }
    let Some(test) = ours else {
        ledger.check_none("t defined", false);
        return;
    };
    // A value near 0 is the difference of two larger numbers.
    let near = Tolerance { relative: 1e-9, absolute: 1e-11 * test.standard_error };
    ledger.check("t estimate", test.estimate, &expected[estimate], near);
    let near = Tolerance { relative: 1e-9, absolute: 1e-11 };
    ledger.check("t", test.t, &expected["t"], near);
    ledger.check("t df", test.df, &expected["df"], relative(1e-9));
    if let Some(error) = expected.get("stderr") {
        ledger.check("t stderr", test.standard_error, error, relative(1e-9));
    }
    if expected.get("p_less").is_some() {
        ledger.check_p("t", Some(test.p()), expected);
    } else {
        ledger.check("t p_two", test.p().two, &expected["p_two"], P);
    }
    for (name, confidence) in LEVELS {
        let tolerance = Tolerance {
            relative: 1e-9,
            absolute: 1e-11 * (test.estimate.abs() + test.standard_error),
        };
        match test.interval(confidence) {
            Some(ours) => ledger.check_ends("t interval", ours, &expected[name], tolerance),
            None => ledger.check_no_interval("t interval", &expected[name]),
        }
    }
}

fn t_of_one(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    t_test(ledger, t_test::one_sample(xs), expected, "mean");
    if expected.get("error").is_none() {
        for (name, confidence) in LEVELS {
            let ours = groups::t_interval(xs, confidence).unwrap();
            let tolerance = Tolerance { relative: 1e-9, absolute: 1e-12 * ours.half_width() };
            ledger.check_ends("t_interval", ours, &expected[name], tolerance);
        }
    }
}

fn signed_ranks(ledger: &mut Ledger, differences: &[f64], expected: &Value) {
    let sorted = descriptive::sorted(differences);
    let test = SignedRankTest::of(differences);
    ledger.check("n_used", test.used() as f64, &expected["n_used"], SAME);
    ledger.check("V", test.v, &expected["V"], relative(1e-12));
    ledger.check_truth("signed-rank ties", test.ties, &expected["ties"]);
    ledger.check_truth("signed-rank zeros", test.zeros, &expected["zeros"]);
    ledger.check("rank_biserial", test.rank_biserial(), &expected["rank_biserial"], P);
    ledger.check_p("signed-rank asymptotic", Some(test.asymptotic(true)), &expected["asymptotic"]);
    let plain = &expected["asymptotic_nocorrect"]["p_two"];
    ledger.check("signed-rank p_two nocorrect", test.asymptotic(false).two, plain, P);
    // The difference of two close numbers may consist only of rounding.
    let scale = sorted.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let order = Tolerance { relative: 1e-12, absolute: 1e-15 * scale };
    if let Some(estimate) = expected.get("pseudomedian_exact_all") {
        ledger.check("pseudo-median", signed_rank::pseudo_median(&sorted), estimate, order);
    }
    match expected.get("exact") {
        Some(exact) => exact_signed_ranks(ledger, &test, &sorted, exact, order),
        None => ledger.check_none("signed-rank exact", test.exact().is_none()),
    }
    let range = sorted.last().unwrap() - sorted[0];
    let ends = Tolerance { relative: 1e-8, absolute: 1e-8 * range };
    let expected = &expected["asymptotic_ci"];
    // R's estimate is an arbitrary root on the flat step between the two middle averages.
    let used: Vec<f64> = sorted.iter().copied().filter(|x| *x != 0.0).collect();
    let count = signed_rank::walsh_count(used.len());
    let middle = signed_rank::walsh_interval(&used, count.saturating_sub(1) / 2);
    let gap = if used.is_empty() { 0.0 } else { middle.upper - middle.lower };
    let flat = Tolerance { relative: 1e-9, absolute: gap + 1e-11 * scale };
    ledger.check("signed-rank estimate", test.estimate(), &expected["estimate"], flat);
    for (name, confidence) in LEVELS {
        match test.asymptotic_interval(confidence) {
            Some(ours) => {
                ledger.check_ends("signed-rank asymptotic interval", ours, &expected[name], ends);
            }
            None => ledger.check_no_interval("signed-rank asymptotic interval", &expected[name]),
        }
    }
}

fn exact_signed_ranks(
    ledger: &mut Ledger,
    test: &SignedRankTest,
    sorted: &[f64],
    exact: &Value,
    order: Tolerance,
) {
    ledger.check_p("signed-rank exact", test.exact(), exact);
    ledger.check("signed-rank exact estimate", test.estimate(), &exact["estimate"], order);
    let mut distribution = signed_rank::SignedRankDistribution::new();
    for (name, confidence) in LEVELS {
        let (interval, achieved) = test.exact_interval(confidence).unwrap();
        ledger.check_ends("signed-rank exact interval", interval, &exact[name], order);
        match distribution.critical(sorted.len(), 1.0 - confidence) {
            Some(k) => {
                let interval = signed_rank::walsh_interval(sorted, k);
                ledger.check_ends("walsh interval", interval, &exact[name], order);
            }
            None => {
                let warning = exact["warnings"].to_string();
                assert!(warning.contains("not achievable"), "{} {name}: {warning}", ledger.case);
                assert!(achieved < confidence, "{} {name}", ledger.case);
            }
        }
    }
}

fn adjusted(ledger: &mut Ledger, expected: &Value) {
    let p = numbers(&expected["p"]);
    for (what, ours) in [
        ("holm", adjust::holm(&p)),
        ("bh", adjust::benjamini_hochberg(&p)),
        ("by", adjust::benjamini_yekutieli(&p)),
        ("bonferroni", adjust::bonferroni(&p)),
        ("hochberg", adjust::hochberg(&p)),
    ] {
        for (ours, expected) in ours.into_iter().zip(expected[what].as_array().unwrap()) {
            ledger.check(what, ours, expected, relative(1e-12));
        }
    }
}

fn paired(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
