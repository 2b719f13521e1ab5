//! Two samples. A difference is A − B, so B is the reference, the first argument.

use crate::oracle::ledger::{LEVELS, Ledger, P, SAME, Tolerance, number, relative};
use crate::oracle::one_sample::t_test;
use assay_stats::two_sample::{self, RankSum};
use assay_stats::{Interval, descriptive, t_test};
use serde_json::Value;

/// Compares the functions of this module; returns false for others.
pub fn check(ledger: &mut Ledger, function: &str, samples: &[Vec<f64>], values: &Value) -> bool {
    let [a, b] = samples else { return false };
    match function {
        "t_pooled" => means(ledger, a, b, t_test::pooled(b, a), values),
        "t_welch" => means(ledger, a, b, t_test::welch(b, a), values),
        "mann_whitney" => mann_whitney(ledger, a, b, values),
        "hodges_lehmann" => hodges_lehmann(ledger, a, b, values, |x| x),
        "ratio_hodges_lehmann_log" => {
            let logs = |xs: &[f64]| xs.iter().map(|x| x.ln()).collect::<Vec<_>>();
            hodges_lehmann(ledger, &logs(a), &logs(b), values, f64::exp);
        }
        "brunner_munzel" => brunner_munzel(ledger, a, b, values),
        "ks_two_sample" => kolmogorov_smirnov(ledger, a, b, values),
        "effect_size" => effect_size(ledger, a, b, values),
        "f_test_variance" => variance_ratio(ledger, a, b, values),
        "tost_welch_1pct_of_mean_b" => equivalence(ledger, a, b, 0.01, values),
        "tost_welch_5pct_of_mean_b" => equivalence(ledger, a, b, 0.05, values),
        "ratio_of_means" => ratio_of_means(ledger, a, b, values),
        _ => return false,
    }
    true
}

/// Tolerance limited by the rounding of a difference of means around 1.
const NEAR: Tolerance = Tolerance { relative: 1e-9, absolute: 1e-11 };

fn means(ledger: &mut Ledger, a: &[f64], b: &[f64], test: Option<t_test::TTest>, expected: &Value) {
    t_test(ledger, test, expected, "diff");
    let Some(test) = test else { return };
    let mean_b = descriptive::mean(b);
    ledger.check("mean_a", descriptive::mean(a), &expected["mean_a"], NEAR);
    ledger.check("mean_b", mean_b, &expected["mean_b"], NEAR);
    if let Some(sd) = expected.get("pooled_sd") {
        ledger.check("pooled_sd", t_test::pooled_sd(b, a).unwrap(), sd, relative(1e-9));
    }
    let half = test.interval(0.99).unwrap().half_width();
    ledger.check("half_width99", half, &expected["half_width99"], relative(1e-9));
    let percent = 100.0 * half / mean_b;
    let of_b = &expected["rel_half_width99_pct_of_b"];
    ledger.check("rel_half_width99_pct_of_b", percent, of_b, relative(1e-9));
    let percent = 100.0 * test.estimate / mean_b;
    let near = Tolerance { relative: 1e-9, absolute: 1e-11 * (100.0 * half / mean_b).abs() };
    ledger.check("rel_diff_pct_of_b", percent, &expected["rel_diff_pct_of_b"], near);
}

fn sorted(a: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>) {
    (descriptive::sorted(a), descriptive::sorted(b))
}

fn mann_whitney(ledger: &mut Ledger, a: &[f64], b: &[f64], expected: &Value) {
    let (a, b) = sorted(a, b);
    let test = RankSum::of(&b, &a).unwrap();
    ledger.check("U_a", test.u, &expected["U_a"], SAME);
    ledger.check("U_b", test.pairs() - test.u, &expected["U_b"], SAME);
    ledger.check_truth("Mann-Whitney ties", test.ties, &expected["ties"]);
    ledger.check_truth(
        "Mann-Whitney exact",
        test.is_exact(),
        &Value::Bool(expected["r_default"] == "exact"),
    );
    match expected.get("exact") {
        Some(exact) => ledger.check_p("Mann-Whitney exact", test.exact(), exact),
        None => ledger.check_none("Mann-Whitney exact", test.exact().is_none()),
    }
    let corrected = &expected["asymptotic"];
    ledger.check_p("Mann-Whitney asymptotic", Some(test.asymptotic(true)), corrected);
    let plain = &expected["asymptotic_nocorrect"];
    ledger.check_p("Mann-Whitney nocorrect", Some(test.asymptotic(false)), plain);
    ledger.check("z_corrected", test.z(true), &expected["z_corrected"], relative(1e-9));
    ledger.check("z", test.z(false), &expected["z"], relative(1e-9));
    let log10 = &expected["log10_p_two_corrected"];
    ledger.check("log10_p_two_corrected", test.log10_p_two(), log10, NEAR);
}

/// Compares the estimate and the intervals; `shown` transforms results back from another scale.
fn hodges_lehmann(
    ledger: &mut Ledger,
    a: &[f64],
    b: &[f64],
    expected: &Value,
    shown: impl Fn(f64) -> f64,
) {
    let (a, b) = sorted(a, b);
    let back = |i: Interval| Interval { lower: shown(i.lower), upper: shown(i.upper) };
    let shift = two_sample::hodges_lehmann(&b, &a);
    // Logarithms are rounded before they are subtracted.
    let order = relative(if shown(0.0) == 0.0 { 1e-12 } else { 1e-11 });
    if let Some(exact) = expected.get("estimate_exact") {
        ledger.check("hodges_lehmann", shown(shift), exact, order);
    }
    if let Some(exact) = expected.get("exact") {
        exact_shift(ledger, &a, &b, exact, &shown, order);
    }
    let expected = &expected["asymptotic"];
    if expected.is_null() || expected.get("error").is_some() {
        return;
    }
    let pairs = a.len() as u64 * b.len() as u64;
    let middle = two_sample::difference_interval(&b, &a, pairs.div_ceil(2), pairs / 2 + 1).unwrap();
    let middle = back(middle);
    let range = back(Interval { lower: a[0] - b[b.len() - 1], upper: a[a.len() - 1] - b[0] });
    let range = (range.upper - range.lower).min(range.upper.abs().max(range.lower.abs()) * 2.0);
    let flat = Tolerance { relative: 1e-9, absolute: middle.upper - middle.lower + 1e-9 * range };
    ledger.check("estimate_root", shown(shift), &expected["estimate_root"], flat);
    let ends = Tolerance { relative: 1e-8, absolute: 1e-8 * range };
    for (name, confidence) in LEVELS {
        let ours = two_sample::mann_whitney_asymptotic_interval(&b, &a, confidence).unwrap();
        if expected.get(name).is_some() {
            ledger.check_ends("asymptotic interval", back(ours), &expected[name], ends);
        }
        let closed = &expected["order_stat"][name];
        if !closed.is_null() {
            ledger.check_ends("asymptotic interval in closed form", ours, closed, order);
        }
    }
    if let Some(numbers) = expected["order_stat"].get("k95") {
        let (lower, upper) = two_sample::mann_whitney_asymptotic_ranks(&b, &a, 0.95).unwrap();
        ledger.check("k95", lower as f64, &numbers[0], SAME);
        ledger.check("k95", upper as f64, &numbers[1], SAME);
    }
    if let Some(less) = expected.get("less95") {
        let ours = back(two_sample::mann_whitney_asymptotic_interval(&b, &a, 0.9).unwrap());
        ledger.check("asymptotic less95", ours.upper, &less[1], ends);
        ledger.check("asymptotic greater95", ours.lower, &expected["greater95"][0], ends);
    }
}

fn exact_shift(
    ledger: &mut Ledger,
    a: &[f64],
    b: &[f64],
    exact: &Value,
    shown: &impl Fn(f64) -> f64,
    order: Tolerance,
) {
    let shift = two_sample::hodges_lehmann(b, a);
    ledger.check("exact estimate", shown(shift), &exact["estimate"], order);
    for (index, (name, confidence)) in LEVELS.into_iter().enumerate() {
        let (ours, achieved) = two_sample::exact_shift_interval(b, a, confidence).unwrap();
        let ends = Interval { lower: shown(ours.lower), upper: shown(ours.upper) };
        ledger.check_ends("exact interval", ends, &exact[name], order);
        let expected = &exact["conf_level_achieved"][index];
        // R reports the requested confidence, unless it cannot be reached.
        let achieved = achieved.min(confidence);
        ledger.check("conf_level_achieved", achieved, expected, relative(1e-12));
        match two_sample::mann_whitney_exact_interval(b, a, confidence) {
            Some(verdicts) => assert_eq!(verdicts, ours, "{} {name}", ledger.case),
            None => assert!(number(expected) < confidence, "{} {name}", ledger.case),
        }
    }
    let (ours, _) = two_sample::exact_shift_interval(b, a, 0.9).unwrap();
    ledger.check("exact less95", shown(ours.upper), &exact["less95"][1], order);
    ledger.check("exact greater95", shown(ours.lower), &exact["greater95"][0], order);
}

fn brunner_munzel(ledger: &mut Ledger, a: &[f64], b: &[f64], expected: &Value) {
    let (a, b) = sorted(a, b);
    let test = two_sample::brunner_munzel(&b, &a).unwrap();
    let p = &expected["p_a_less_b_plus_half_ties"];
    ledger.check("p_a_less_b_plus_half_ties", test.p_y_less, p, relative(1e-12));
    ledger.check("Brunner-Munzel se", test.standard_error, &expected["se"], relative(1e-9));
    ledger.check("Brunner-Munzel df", test.df, &expected["df"], relative(1e-9));
    ledger.check("Brunner-Munzel stat", test.statistic, &expected["stat"], NEAR);
    ledger.check_p("Brunner-Munzel", Some(test.p()), expected);
    for (name, confidence) in LEVELS {
        match test.interval(confidence) {
            Some(ours) => ledger.check_ends("Brunner-Munzel ci", ours, &expected[name], NEAR),
            None => ledger.check_no_interval("Brunner-Munzel ci", &expected[name]),
        }
    }
}

fn kolmogorov_smirnov(ledger: &mut Ledger, a: &[f64], b: &[f64], expected: &Value) {
    let (a, b) = sorted(a, b);
    let test = two_sample::kolmogorov_smirnov(&b, &a).unwrap();
    let distance = Tolerance { relative: 1e-12, absolute: 1e-15 };
    ledger.check("D", test.d, &expected["D"], distance);
    ledger.check("D_plus", test.d_plus, &expected["D_plus"], distance);
    ledger.check("D_minus", test.d_minus, &expected["D_minus"], distance);
    let exact = expected["method"].as_str().unwrap().starts_with("Exact");
    ledger.check_truth("KS exact", test.exact, &Value::Bool(exact));
    // R computes these as 1 minus a probability, so they have no digits beyond the twelfth.
    let p = Tolerance { relative: 1e-9, absolute: 1e-12 };
    ledger.check("KS p_two", test.p_two, &expected["p_two"], p);
    ledger.check("KS p_less", test.p_less, &expected["p_less"], p);
    ledger.check("KS p_greater", test.p_greater, &expected["p_greater"], p);
    let limit = &expected["p_two_asymptotic"];
    ledger.check("KS p_two_asymptotic", test.p_two_asymptotic, limit, p);
}

fn effect_size(ledger: &mut Ledger, a: &[f64], b: &[f64], expected: &Value) {
    let (sorted_a, sorted_b) = sorted(a, b);
    let sizes = two_sample::effect_size(b, a, &RankSum::of(&sorted_b, &sorted_a).unwrap());
    ledger.check("a12", sizes.a12, &expected["a12"], relative(1e-12));
    let near = Tolerance { relative: 1e-12, absolute: 1e-15 };
    ledger.check("cliffs_delta", sizes.cliffs_delta, &expected["cliffs_delta"], near);
    ledger.check("cohen_d", sizes.cohen_d, &expected["cohen_d"], NEAR);
    ledger.check("hedges_g_exact", sizes.hedges_g, &expected["hedges_g_exact"], NEAR);
    ledger.check("glass_delta_sd_b", sizes.glass_delta, &expected["glass_delta_sd_b"], NEAR);
}

fn variance_ratio(ledger: &mut Ledger, a: &[f64], b: &[f64], expected: &Value) {
    let test = two_sample::variance_ratio(b, a).unwrap();
    ledger.check("F", test.f, &expected["F"], relative(1e-9));
    // R computes the upper tail as 1 minus the lower.
    let p = Tolerance { relative: 1e-9, absolute: 1e-14 };
    ledger.check("F p_two", test.p_two(), &expected["p_two"], p);
}

fn equivalence(ledger: &mut Ledger, a: &[f64], b: &[f64], share: f64, expected: &Value) {
    let welch = t_test::welch(b, a);
    if expected.get("error").is_some() {
        ledger.check_none("tost refused", welch.is_none());
        return;
    }
    let welch = welch.unwrap();
    let ours = two_sample::equivalence(&welch, share * descriptive::mean(b));
    ledger.check("margin", ours.margin, &expected["margin"], relative(1e-9));
    ledger.check("t_lower", ours.t_lower, &expected["t_lower"], NEAR);
    ledger.check("t_upper", ours.t_upper, &expected["t_upper"], NEAR);
    ledger.check("p_lower", ours.p_lower, &expected["p_lower"], P);
    ledger.check("p_upper", ours.p_upper, &expected["p_upper"], P);
    ledger.check("p_tost", ours.p(), &expected["p_tost"], P);
    ledger.check("tost df", ours.df, &expected["df"], relative(1e-9));
    let near = Tolerance {
        relative: 1e-9,
        absolute: 1e-11 * (welch.estimate.abs() + welch.standard_error),
    };
    let interval = welch.interval(0.9).unwrap();
    ledger.check_ends("tost ci90", interval, &expected["ci90"], near);
}

fn ratio_of_means(ledger: &mut Ledger, a: &[f64], b: &[f64], expected: &Value) {
    let ratio = descriptive::mean(a) / descriptive::mean(b);
    ledger.check("ratio of means", ratio, &expected["ratio"], relative(1e-9));
    for (name, confidence) in LEVELS {
        let fieller = two_sample::fieller(b, a, confidence).unwrap();
        let theirs = &expected["fieller_pooled"][name];
        ledger.check_ends("fieller_pooled", fieller, theirs, relative(1e-9));
        let delta = two_sample::delta_log(b, a, confidence).unwrap();
        let theirs = &expected["delta_log_unpooled_z"][name];
        ledger.check_ends("delta_log_unpooled_z", delta, theirs, relative(1e-9));
    }
}
