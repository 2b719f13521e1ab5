//! Tests of the shape of a series as JSON.

use crate::json::values::view;
use assay_analysis::series_summary::{self as found, SeriesSummary};

pub(super) const NOT_POSITIVE: &str = "some values are zero or negative";
const ALL_EQUAL: &str = "all values are equal";

/// Returns the reason why a test has no result: too few values, or only equal ones.
pub(super) fn reason<T>(
    found: Option<T>,
    n: usize,
    fewest: usize,
    few: &'static str,
) -> Option<&'static str> {
    found.is_none().then_some(if n < fewest { few } else { ALL_EQUAL })
}

view! {
    /// The Shapiro-Wilk test.
    ShapiroWilk of (p: &SeriesSummary) {
        /// The statistic.
        #[serde(rename = "W")]
        w: Option<f64> = p.tests.shapiro_wilk.map(|f| f.w),
        /// The p-value.
        p: Option<f64> = p.tests.shapiro_wilk.map(|f| f.p),
        /// The reason for a missing result; otherwise `null`.
        reason: Option<&'static str> = match p.description.n {
            n @ 0..=5000 => reason(p.tests.shapiro_wilk, n, 3, "fewer than 3 values"),
            _ => Some("more than 5000 values: the approximation does not reach so far"),
        },
    }
}

view! {
    /// The Anderson-Darling test.
    AndersonDarling of (p: &SeriesSummary) {
        /// The statistic.
        #[serde(rename = "A2")]
        a2: Option<f64> = p.tests.anderson_darling.map(|f| f.statistic),
        /// The p-value.
        p: Option<f64> = p.tests.anderson_darling.map(|f| f.p),
        /// The reason for a missing result; otherwise `null`.
        reason: Option<&'static str> =
            reason(p.tests.anderson_darling, p.description.n, 8, "fewer than 8 values"),
    }
}

view! {
    /// Lilliefors' test.
    Lilliefors of (p: &SeriesSummary) {
        /// The statistic.
        #[serde(rename = "D")]
        d: Option<f64> = p.tests.lilliefors.map(|f| f.statistic),
        /// The p-value.
        p: Option<f64> = p.tests.lilliefors.map(|f| f.p),
        /// The reason for a missing result; otherwise `null`.
        reason: Option<&'static str> =
            reason(p.tests.lilliefors, p.description.n, 5, "fewer than 5 values"),
    }
}

view! {
    /// The Kolmogorov-Smirnov distance of values from a distribution fitted to them.
    FittedDistance of (found: Option<found::Distance>, otherwise: &'static str) {
        /// The largest distance between the distribution functions.
        #[serde(rename = "D")]
        d: Option<f64> = found.map(|f| f.d),
        /// p-value that treats the fitted parameters as known, and is therefore too large.
        p_naive: Option<f64> = found.map(|f| f.p_naive),
        /// The reason for a missing result; otherwise `null`.
        reason: Option<&'static str> = found.is_none().then_some(otherwise),
    }
}

view! {
    /// Hartigan's dip test.
    Dip of (found: &found::Dip) {
        /// The statistic.
        #[serde(rename = "D")]
        d: Option<f64>,
        /// The p-value.
        p: Option<f64>,
    }
}
