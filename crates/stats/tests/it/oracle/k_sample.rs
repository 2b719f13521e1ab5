//! Three or more samples.

use crate::oracle::ledger::{Ledger, P, SAME, relative};
use assay_stats::k_sample::{self, ChiSquaredTest, FTest};
use assay_stats::{adjust, descriptive, two_sample};
use serde_json::Value;

/// Compares the functions of this module; returns false for others.
pub fn check(ledger: &mut Ledger, function: &str, samples: &[Vec<f64>], values: &Value) -> bool {
    let groups: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
    match function {
        "kruskal_wallis" => chi_squared(ledger, k_sample::kruskal_wallis(&groups), values, "H"),
        "fligner_killeen" => chi_squared(ledger, k_sample::fligner_killeen(&groups), values, "X2"),
        "anova_oneway" => f_test(ledger, k_sample::anova(&groups), values),
        "anova_welch" => f_test(ledger, k_sample::welch_anova(&groups), values),
        "levene_median" => f_test(ledger, k_sample::levene_median(&groups), values),
        "pairwise_mann_whitney_asymptotic" => pairwise(ledger, &groups, values),
        _ => return false,
    }
    true
}

fn chi_squared(
    ledger: &mut Ledger,
    ours: Option<ChiSquaredTest>,
    expected: &Value,
    statistic: &'static str,
) {
    let test = ours.unwrap();
    ledger.check(statistic, test.statistic, &expected[statistic], relative(1e-9));
    if let Some(df) = expected.get("df") {
        ledger.check("chi-squared df", test.df, df, SAME);
    }
    ledger.check("chi-squared p", test.p, &expected["p"], P);
}

fn f_test(ledger: &mut Ledger, ours: Option<FTest>, expected: &Value) {
    let test = ours.unwrap();
    ledger.check("F of groups", test.f, &expected["F"], relative(1e-9));
    if let Some(df1) = expected.get("df1") {
        ledger.check("df1", test.df1, df1, SAME);
        ledger.check("df2", test.df2, &expected["df2"], relative(1e-9));
    }
    ledger.check("F of groups p", test.p, &expected["p"], P);
}

fn pairwise(ledger: &mut Ledger, groups: &[&[f64]], expected: &Value) {
    let names: Vec<String> = ledger.case.split('|').map(str::to_owned).collect();
    let sorted: Vec<Vec<f64>> = groups.iter().map(|g| descriptive::sorted(g)).collect();
    let (mut pairs, mut raw) = (Vec::new(), Vec::new());
    for j in 0..groups.len() {
        for i in j + 1..groups.len() {
            let test = two_sample::RankSum::of(&sorted[j], &sorted[i]).unwrap();
            pairs.push(format!("{}|{}", names[j], names[i]));
            raw.push(test.asymptotic(true).two);
        }
    }
    for (what, ours) in [
        ("holm", adjust::holm(&raw)),
        ("bh", adjust::benjamini_hochberg(&raw)),
        ("bonferroni", adjust::bonferroni(&raw)),
        ("raw", raw),
    ] {
        assert_eq!(expected[what].as_object().unwrap().len(), pairs.len());
        for (pair, ours) in pairs.iter().zip(ours) {
            ledger.check(what, ours, &expected[what][pair], P);
        }
    }
}
