//! Findings that one run, a suite and a single series may all have: each made here, whoever found it.

use assay_data::{Action, Finding, Severity, Unit};

/// Runs that failed, as in `2 of 10 runs of a`; `failed` of `of` runs or benchmarks, nothing where none failed.
pub(crate) fn failures(what: &str, failed: usize, of: usize) -> Option<Finding> {
    (failed > 0).then(|| {
        let message = format!("{what} failed; their values count");
        Finding::new("FAILURES", Severity::Warning, message)
            .with("failed", failed as f64)
            .with("of", of as f64)
            .advise(Action::text("make sure that a failing run does the same work"))
    })
}

/// Runs that hit the time limit, counted as in [`failures`].
pub(crate) fn timeouts(what: &str, late: usize, of: usize) -> Option<Finding> {
    (late > 0).then(|| {
        let message = format!(
            "{what} hit the time limit; they count as the limit, so they took longer than shown"
        );
        Finding::new("TIMEOUTS", Severity::Warning, message)
            .with("timed_out", late as f64)
            .with("of", of as f64)
            .advise(Action::LongerTimeout)
    })
}

/// `2 of 10 runs of a`.
pub(crate) fn runs_of(name: &str, some: usize, runs: usize) -> String {
    format!("{some} of {runs} runs of {name}")
}

/// Values that come in steps too large for what is asked of them.
pub(crate) fn coarse(message: String, unit: &Unit) -> Finding {
    let finding = Finding::new("COARSE_CLOCK", Severity::Warning, message);
    match unit {
        Unit::Second => finding.advise(Action::FinerClock).advise(Action::MoreWork),
        _ => finding.advise(Action::MoreWork).advise(Action::LargerThreshold),
    }
}

/// Values that have no logarithm, so that differences were compared; `what` as in `of 3 benchmarks some values`.
pub(crate) fn not_positive(what: &str) -> Finding {
    Finding::new(
        "NOT_POSITIVE",
        Severity::Note,
        format!("{what} are zero or negative, so differences are compared instead of ratios"),
    )
}

/// Measuring that the user stopped, and what became of it, as in `decided on what there was`.
pub fn interrupted(then: &str) -> Finding {
    Finding::new("INTERRUPTED", Severity::Note, format!("stopped by the user; {then}"))
}

/// Too few values or units for a verdict.
pub(crate) fn too_few(message: String) -> Finding {
    Finding::new("TOO_FEW", Severity::Serious, message)
}

/// Successive values so correlated that there is no verdict; `whose` as in `of all 3 benchmarks`.
pub(crate) fn too_dependent(whose: &str, worth: &str) -> Finding {
    let message = format!("successive values {whose} are correlated: {worth}");
    Finding::new("TOO_DEPENDENT", Severity::Serious, message)
}

/// Means of units that were compared instead of values; `what` as in `the means of 3 and 4 processes`.
pub(crate) fn units_compared(what: &str) -> Finding {
    let message = format!("{what} are compared, because values of one are not independent");
    Finding::new("UNITS_COMPARED", Severity::Note, message)
}

/// A summary that was all there is; `of` as in ` of 3 benchmarks`.
pub(crate) fn summary_only(of: &str) -> Finding {
    let message = format!(
        "only a summary was recorded{of}: means are compared, which one stall can move, and nothing is known of order and shape"
    );
    Finding::new("SUMMARY_ONLY", Severity::Warning, message)
}

/// A bare number; `of` as in `of 3 benchmarks`.
pub(crate) fn summary_too_bare(of: &str) -> Finding {
    let whose = if of.is_empty() { String::new() } else { format!("{of} ") };
    let message = format!(
        "{whose}only a single number was recorded, without a spread or the number of values: there is a ratio, but no verdict"
    );
    Finding::new("SUMMARY_TOO_BARE", Severity::Serious, message)
}
