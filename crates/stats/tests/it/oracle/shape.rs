//! The shape of one sample, and its serial dependence.

use crate::oracle::ledger::{Ledger, Tolerance, number, relative};
use assay_stats::descriptive::sorted;
use assay_stats::kolmogorov::Distance;
use assay_stats::normality::Fit;
use assay_stats::{density, dip, independence, kolmogorov, normality, shapiro_wilk};
use serde_json::Value;

/// Autocorrelations, and values computed from them.
const ACF: Tolerance = Tolerance { relative: 1e-9, absolute: 1e-12 };
/// Both approximations of p-values.
const P: Tolerance = Tolerance { relative: 1e-4, absolute: 1e-12 };
/// R computes these p-values as 1 − P, which leaves no digits below 1e-15.
const COMPLEMENT: Tolerance = Tolerance { relative: 1e-9, absolute: 2e-15 };

/// Compares the functions of this module; returns false for others.
pub fn check(ledger: &mut Ledger, function: &str, samples: &[Vec<f64>], values: &Value) -> bool {
    let [xs] = samples else { return false };
    match function {
        "acf" => autocorrelations(ledger, xs, values),
        "acf_r_default" => r_default(ledger, xs, values),
        "ljung_box" => ljung_box(ledger, xs, values),
        "runs_test" => runs(ledger, xs, values),
        "shapiro_wilk" => shapiro(ledger, xs, values),
        "anderson_darling_normal" => {
            fit(ledger, "anderson-darling", normality::anderson_darling(&sorted(xs)), "A2", values);
        }
        "lilliefors" => fit(ledger, "lilliefors", normality::lilliefors(&sorted(xs)), "D", values),
        "ks_normal" => distance(ledger, kolmogorov::against_normal(&sorted(xs)), values),
        "ks_lognormal" => distance(ledger, kolmogorov::against_lognormal(&sorted(xs)), values),
        "ks_exponential" => distance(ledger, kolmogorov::against_exponential(&sorted(xs)), values),
        "bandwidth" => bandwidths(ledger, xs, values),
        "dip" => dips(ledger, xs, values),
        _ => return false,
    }
    true
}

/// Checks that a value is undefined exactly if R rejects it.
fn defined<T>(
    ledger: &mut Ledger,
    what: &'static str,
    ours: Option<T>,
    theirs: &Value,
) -> Option<T> {
    let refused = theirs.get("error").is_some();
    let told = f64::from(u8::from(ours.is_none()));
    ledger.check(what, told, &f64::from(u8::from(refused)).into(), relative(0.0));
    ours.filter(|_| !refused)
}

fn most(acf: &[f64]) -> f64 {
    if acf.iter().any(|r| r.is_nan()) {
        f64::NAN
    } else {
        acf.iter().fold(0.0, |m, r| m.max(r.abs()))
    }
}

fn autocorrelations(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let listed = match &expected["acf"] {
        Value::Array(list) => list.clone(),
        single => vec![single.clone()],
    };
    let ours = independence::acf_or_nan(xs, 30);
    assert_eq!(ours.len(), listed.len(), "{}", ledger.case);
    let bound = independence::acf_bound(xs.len());
    let outside = ours.iter().filter(|r| r.abs() > bound).count() as f64;
    ledger.check("acf max", most(&ours), &expected["max_abs"], ACF);
    ledger.check("acf bound", bound, &expected["bound_1.96"], relative(1e-12));
    if !ours[0].is_nan() {
        ledger.check("acf outside", outside, &expected["n_outside_1.96"], relative(0.0));
    }
    for (ours, expected) in ours.into_iter().zip(&listed) {
        ledger.check("acf", ours, expected, ACF);
    }
}

fn r_default(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let lags = independence::default_lags(xs.len());
    ledger.check("acf default lags", lags as f64, &expected["lag_max"], relative(0.0));
    let ours = independence::acf_or_nan(xs, lags);
    ledger.check("acf default max", most(&ours), &expected["max_abs"], ACF);
}

fn ljung_box(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    for (name, expected) in expected.as_object().unwrap() {
        let lags: usize = name.trim_start_matches("lag").parse().unwrap();
        let ours = independence::ljung_box(&independence::acf_or_nan(xs, lags), xs.len());
        ledger.check("ljung-box Q", ours.q, &expected["Q"], relative(1e-9));
        ledger.check("ljung-box df", ours.lags as f64, &expected["df"], relative(0.0));
        if number(&expected["p"]).is_nan() || number(&expected["p"]) >= 1e-300 {
            ledger.check("ljung-box p", ours.p, &expected["p"], COMPLEMENT);
        }
    }
}

fn runs(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let ours = independence::runs(xs);
    let values = [
        ("runs", ours.runs as f64),
        ("n_above", ours.above as f64),
        ("n_below", ours.below as f64),
        ("expected", ours.expected),
        ("z", ours.z),
        ("p_two", ours.p),
    ];
    for (name, ours) in values {
        ledger.check(name, ours, &expected[name], relative(1e-9));
    }
}

fn shapiro(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let ours = shapiro_wilk::shapiro_wilk(&sorted(xs));
    if let Some(ours) = defined(ledger, "shapiro-wilk", ours, expected) {
        ledger.check("shapiro-wilk W", ours.w, &expected["W"], relative(1e-6));
        ledger.check("shapiro-wilk p", ours.p, &expected["p"], P);
    }
}

fn fit(
    ledger: &mut Ledger,
    what: &'static str,
    ours: Option<Fit>,
    name: &'static str,
    expected: &Value,
) {
    if let Some(ours) = defined(ledger, what, ours, expected) {
        ledger.check(what, ours.statistic, &expected[name], relative(1e-9));
        ledger.check(what, ours.p, &expected["p"], Tolerance { relative: 1e-9, absolute: 1e-300 });
    }
}

fn distance(ledger: &mut Ledger, ours: Option<Distance>, expected: &Value) {
    let ours = ours.unwrap();
    ledger.check("ks D", ours.d, &expected["D"], relative(1e-9));
    ledger.check("ks p", ours.p_naive, &expected["p_naive"], COMPLEMENT);
}

fn bandwidths(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let sorted = sorted(xs);
    let or_nan = |found: Option<f64>| found.unwrap_or(f64::NAN);
    ledger.check("nrd0", or_nan(density::nrd0(&sorted)), &expected["nrd0"], relative(1e-9));
    ledger.check("nrd", or_nan(density::nrd(&sorted)), &expected["nrd"], relative(1e-9));
    if expected.get("sj_ste").is_some() {
        let solved = or_nan(density::sheather_jones_solve(&sorted));
        ledger.check("sj_ste", solved, &expected["sj_ste"], relative(1e-2));
        let direct = or_nan(density::sheather_jones_direct(&sorted));
        ledger.check("sj_dpi", direct, &expected["sj_dpi"], relative(1e-2));
    }
}

fn dips(ledger: &mut Ledger, xs: &[f64], expected: &Value) {
    let ours = dip::dip(&sorted(xs)).unwrap();
    ledger.check("dip D", ours.d, &expected["D"], relative(1e-9));
    ledger.check("dip p", ours.p, &expected["p"], Tolerance { relative: 0.0, absolute: 0.01 });
}
