//! Wording about a median and its interval, shared by all terminal reports and pages.

use crate::number::{self, Column};
use crate::words::counted;
use assay_analysis::{Description, NoMedianInterval};

/// Returns the text that follows a median: either `median, 95 % confidence`, with the condition
/// under which the interval holds, or the reason why there is no interval.
pub(crate) fn sureness(d: &Description, confidence: f64) -> String {
    match d.no_median_interval() {
        None => {
            let sure = number::chosen_percent(confidence);
            format!("median, {sure} confidence{}", condition(d.assumes_independence()))
        }
        Some(NoMedianInterval::TooFew) if d.n == 1 => "one value".to_owned(),
        Some(NoMedianInterval::TooFew) => {
            format!("median of {}; too few for an interval", counted(d.n, "value"))
        }
        Some(NoMedianInterval::TooDependent) => {
            format!("median of {}, {}; no interval", counted(d.n, "value"), worth(d))
        }
    }
}

/// Returns a median with its unit, and its interval in brackets if it has one.
pub(crate) fn with_interval(column: &Column, d: &Description) -> String {
    let median = column.with_unit(d.median);
    match d.median_interval.filter(|interval| interval.is_bounded()) {
        None => median,
        Some(i) => format!("{median} [{} … {}]", column.number(i.lower), column.number(i.upper)),
    }
}

/// Returns the condition under which an interval computed from few values holds. It is appended to
/// the confidence level.
pub(crate) fn condition(assumes_independence: bool) -> &'static str {
    if assumes_independence { " if the runs are independent" } else { "" }
}

/// Returns the reason why there is no interval, in the form used in table cells.
pub(crate) fn lacking(d: &Description) -> &'static str {
    match d.no_median_interval() {
        Some(NoMedianInterval::TooDependent) => "values depend on each other",
        _ => "too few values",
    }
}

fn worth(d: &Description) -> String {
    format!(
        "which depend on each other so much that for a median they count as {}",
        count_for_median(d)
    )
}

/// Returns the effective sample size, such as `6 of 30`. If the effective sample size for the
/// median is too small for an interval, it is appended, because the two differ.
pub(crate) fn effective(d: &Description) -> String {
    let whole = format!("{:.0} of {}", d.effective(), d.n);
    match d.no_median_interval() {
        Some(NoMedianInterval::TooDependent) => {
            format!("{whole}, {} for the median", count_for_median(d))
        }
        _ => whole,
    }
}

fn count_for_median(d: &Description) -> String {
    number::fixed(d.effective_of_median().floor().max(1.0), 0)
}
