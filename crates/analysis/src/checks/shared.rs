//! Findings shared by single runs, suites and single series, each created in one place.

use crate::number;
use assay_data::code;
use assay_data::{Action, Finding, Severity, Unit};

/// Reports failed runs; `None` if there are none. `what` names them, as in `2 of 10 runs of a`, and
/// `failed` of `of` runs or benchmarks failed.
pub(crate) fn failures(what: &str, failed: usize, of: usize) -> Option<Finding> {
    (failed > 0).then(|| {
        let values = if of == 1 { "its value is" } else { "their values are" };
        let message = format!("{what} failed; {values} included");
        Finding::new(code::FAILURES, message)
            .at(Severity::Warning)
            .with("failed", failed as f64)
            .with("of", of as f64)
            .advise(Action::text("make sure that a failing run does the same work"))
    })
}

/// Reports runs that hit the time limit; the arguments are as in [`failures`].
pub(crate) fn timeouts(what: &str, late: usize, of: usize) -> Option<Finding> {
    (late > 0).then(|| {
        let count = if of == 1 {
            "it counts as the limit, so it"
        } else {
            "they count as the limit, so they"
        };
        let message = format!("{what} hit the time limit; {count} took longer than shown");
        Finding::new(code::TIMEOUTS, message)
            .with("timed_out", late as f64)
            .with("of", of as f64)
            .advise(Action::LongerTimeout)
    })
}

/// Returns `2 of 10 runs of a`, `all 10 runs of a` or `the only run of a`.
pub(crate) fn runs_of(name: &str, some: usize, runs: usize) -> String {
    match runs {
        1 => format!("the only run of {name}"),
        _ if some == runs => format!("all {runs} runs of {name}"),
        _ => format!("{some} of {runs} runs of {name}"),
    }
}

/// Reports values in steps that are too large compared to the threshold.
pub(crate) fn coarse(message: String, unit: &Unit) -> Finding {
    let finding = Finding::new(code::COARSE_CLOCK, message);
    match unit {
        Unit::Second => finding.advise(Action::FinerClock).advise(Action::MoreWork),
        _ => finding.advise(Action::MoreWork).advise(Action::LargerThreshold),
    }
}

/// Reports values without logarithms, so that differences were compared. `what` names the values,
/// as in `some values of both benchmarks`.
pub(crate) fn not_positive(what: &str) -> Finding {
    Finding::new(
        code::NOT_POSITIVE,
        format!("{what} are zero or negative, so differences are compared instead of ratios"),
    )
}

/// Reports a measurement that the user stopped. `then` is the consequence, such as `results are
/// based on …`.
pub fn interrupted(then: &str) -> Finding {
    Finding::new(code::STOPPED_EARLY, format!("stopped by the user; {then}"))
}

/// Reports values that are all equal. `which` names them; `so` is the consequence and may be empty.
pub(crate) fn all_equal(which: &str, so: &str) -> Finding {
    Finding::new(code::ALL_EQUAL, format!("{which} are equal{so}"))
}

/// Reports a series that drifted. `moved` is the formatted change, `by` is the change in the
/// metric's unit, and `why` says whether it matters.
pub(crate) fn drift(name: &str, moved: &str, by: f64, severity: Severity, why: &str) -> Finding {
    let message = format!("{name} drifted by {moved} from the first to the last third{why}");
    let finding = Finding::new(code::DRIFT, message).at(severity).about(name).with("drift", by);
    match severity {
        Severity::Note => finding,
        _ => finding.advise(Action::WarmUpLonger).advise(Action::MeasureInBlocks),
    }
}

fn dependence(severity: Severity, message: String) -> Finding {
    Finding::new(code::DEPENDENCE, message).at(severity)
}

/// Reports correlated successive values: a warning if the correlation is beyond chance, otherwise a
/// note. `widened` says what was widened.
pub(crate) fn correlated(
    name: &str,
    (n, effective): (usize, f64),
    is_beyond_chance: bool,
    widened: &str,
) -> Finding {
    let (values, worth) = (number::count(n as f64), number::count(effective));
    let finding = if is_beyond_chance {
        let message = format!(
            "successive values of {name} are correlated: {values} carry as much information as {worth} independent ones; {widened}"
        );
        dependence(Severity::Warning, message)
            .advise(Action::text("look for what changes slowly: frequency, heat, other work"))
    } else {
        let message = format!(
            "{values} values of {name} count as {worth}, to be safe: chance alone may make them look so dependent; {widened}"
        );
        dependence(Severity::Note, message)
    };
    finding.about(name).with("effective", effective)
}

/// Reports a per-block difference that changed during the run. `of` names its subject, as in ` of
/// new`.
pub(crate) fn drifting(of: &str, lag1: f64) -> Finding {
    let message = format!(
        "the difference{of} changed during the run (neighboring blocks correlate by {}); its interval was widened for that",
        number::fixed(lag1, 2)
    );
    dependence(Severity::Warning, message).with("lag1", lag1).advise(Action::Repeat)
}

/// Reports the effect of dependence on an answer. `what` is, for example, `widened`, and `without`
/// is the answer for independent values.
pub(crate) fn for_dependence(what: &str, without: &str) -> Finding {
    let message = format!(
        "{what} for the dependence; if the values were independent, the answer would be {without}"
    );
    dependence(Severity::Note, message)
}

/// Reports a series that differed at first. `what` continues the sentence after "it", as in `is
/// steady from value 5 on`.
pub(crate) fn warmed_up(name: &str, what: &str) -> Finding {
    let message = format!("{name} warmed up: it {what}");
    Finding::new(code::WARM_UP, message).about(name)
}

/// Reports a series that changed without a warm-up. `what` continues the sentence after its name,
/// as in `changed at value 5`.
pub(crate) fn change_point(name: &str, what: &str) -> Finding {
    Finding::new(code::CHANGE_POINT, format!("{name} {what}")).about(name)
}

/// Reports a difference that varies over the distribution. `how` gives the evidence.
pub(crate) fn shape(how: &str) -> Finding {
    let message = format!("the difference is not a plain shift: {how}");
    Finding::new(code::SHAPE, message)
}

/// Reports rows or metrics that only one side has. `what` is, for example, `3 benchmarks are`.
pub fn one_side_only(what: &str, on: &str, lacks: &str, names: &str) -> Finding {
    let message = format!("{what} only in {on}, not in {lacks}: {names}");
    Finding::new(code::BENCHMARKS_MISSING, message)
}

/// Reports a run that was resumed after changes. `changed` has one sentence per change and is empty
/// if the changes are unknown.
pub fn resumed_different(changed: &[String]) -> Finding {
    let changed = match changed {
        [] => String::new(),
        changed => format!(": {}", changed.join("; ")),
    };
    let message = format!(
        "the run was resumed with a different setup, so its blocks do not form one experiment{changed}"
    );
    Finding::new(code::RESUMED, message).at(Severity::Serious).advise(Action::text("measure again"))
}

/// Reports too few values or units for a verdict.
pub(crate) fn too_few(message: String) -> Finding {
    Finding::new(code::TOO_FEW, message).at(Severity::Serious)
}

/// Reports successive values so strongly correlated that there is no verdict. `whose` is, for
/// example, `of all 3 benchmarks`.
pub(crate) fn too_dependent(whose: &str, worth: &str) -> Finding {
    let message = format!("successive values {whose} are correlated: {worth}");
    Finding::new(code::TOO_DEPENDENT, message)
}

/// Reports that means of units were compared instead of values. `what` is, for example, `the means
/// of 3 and 4 processes`.
pub(crate) fn units_compared(what: &str) -> Finding {
    let message = format!("{what} are compared, because values of one are not independent");
    Finding::new(code::UNITS_COMPARED, message)
}

/// Reports that only a summary was recorded. `of` is, for example, ` of 3 benchmarks`.
pub(crate) fn summary_only(of: &str) -> Finding {
    let message = format!(
        "only a summary was recorded{of}: means are compared, which a single stall can shift; order and shape are unknown"
    );
    Finding::new(code::SUMMARY_ONLY, message)
}

/// Reports that only a single number was recorded. `of` is, for example, `of 3 benchmarks`.
pub(crate) fn summary_too_bare(of: &str) -> Finding {
    let whose = if of.is_empty() { String::new() } else { format!("{of} ") };
    let message = format!(
        "{whose}only a single number was recorded, without a spread or the number of values: there is a ratio, but no verdict"
    );
    Finding::new(code::SUMMARY_ONLY, message).at(Severity::Serious)
}
