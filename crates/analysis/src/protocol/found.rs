//! Findings of the steps. Their severity determines the outcome of the step: it passes with notes,
//! warns with a warning, and ends the chain with a serious finding.

use super::{Label, Protocol};
use crate::checks;
use crate::number::{self, Column};
use crate::policy::TENFOLD;
use assay_data::code;
use assay_data::{Action, Finding, Severity, Unit};
use assay_stats::Interval;

/// Number of significant digits of an estimate and its interval, as R prints them.
const DIGITS: i32 = 6;
/// Number of significant digits of a single amount.
const FEW_DIGITS: i32 = 4;

/// The consequence of dependence, as worded in findings.
const WIDENED: &str = "p and the interval are widened for that";

/// Wording and formats that depend on the metric and design of a chain.
impl Protocol {
    /// Formats the threshold as an amount.
    pub fn threshold_amount(&self) -> String {
        match self.threshold_share {
            Some(_) => self.amount(self.threshold),
            None => number::chosen(self.threshold, &self.unit),
        }
    }

    /// Formats a single amount of the metric.
    pub fn amount(&self, value: f64) -> String {
        Column::significant(&self.unit, &[value], FEW_DIGITS).with_unit(value)
    }

    /// Returns the format of an effect, which has no more digits than the values.
    pub fn column(&self, estimate: f64, interval: Option<Interval>) -> Column {
        let ends = interval.map_or([estimate; 2], |i| [i.lower, i.upper]);
        let step = self.validity.found.as_ref().map_or(0.0, |v| v.clock_step);
        let all = [estimate, ends[0], ends[1]];
        Column::significant(&self.unit, &all, DIGITS).no_finer_than(step)
    }

    /// Returns the word for what is counted: `blocks` or `values`.
    pub fn things(&self) -> &'static str {
        if self.paired { "blocks" } else { "values" }
    }
}

fn signed(protocol: &Protocol, value: f64) -> String {
    format!("{}{}", if value < 0.0 { "-" } else { "+" }, protocol.amount(value.abs()))
}

fn count(n: usize) -> String {
    number::count(n as f64)
}

/// Reports a run that was resumed with a different setup.
pub(super) fn mixed() -> Finding {
    checks::resumed_different(&[])
}

/// Reports a series with too few values for any result.
pub(super) fn too_few_values(protocol: &Protocol, name: &str, n: usize, fewest: usize) -> Finding {
    let (message, remedy) = match n {
        // A tool recorded only a summary, or every run failed.
        0 => (format!("no values of {name} were recorded"), Action::KeepValues { setting: None }),
        _ => (
            format!("{name} has {n} {}; at least {fewest} are needed", protocol.things()),
            Action::MoreValues,
        ),
    };
    checks::too_few(message)
        .about(name)
        .with("have", n as f64)
        .with("needed", fewest as f64)
        .advise(remedy)
}

/// Reports that successive values are too strongly correlated for a reliable test.
pub(super) fn too_dependent(name: &str, n: usize, effective: f64) -> Finding {
    let message = format!(
        "{} carry as much information as {} independent ones (effective sample size / n: {})",
        count(n),
        number::count(effective),
        number::fixed(effective / n as f64, 4)
    );
    checks::too_dependent(&format!("of {name}"), &message)
        .about(name)
        .with("effective", effective)
        .advise(Action::text("remove the cause and measure again"))
        .advise(Action::MeasureInBlocks)
}

/// Reports that successive values are correlated beyond chance.
pub(super) fn dependent(name: &str, n: usize, effective: f64) -> Finding {
    checks::correlated(name, (n, effective), true, WIDENED).advise(Action::MeasureInBlocks)
}

/// Reports a correlation that may be chance.
pub(super) fn perhaps_dependent(name: &str, n: usize, effective: f64) -> Finding {
    checks::correlated(name, (n, effective), false, WIDENED)
}

/// Reports a per-block difference that changed during the run.
pub(super) fn drifting(lag1: f64) -> Finding {
    checks::drifting("", lag1)
}

/// Reports that there are too few values to judge dependence.
pub(super) fn dependence_unknown(n: usize) -> Finding {
    let message = format!("{n} values are too few to tell whether they are independent");
    Finding::new(code::DEPENDENCE_UNKNOWN, message)
        .with("have", n as f64)
        .advise(Action::text("record 24 or more of each"))
}

/// Reports a drift from the first to the last third. `matters` is true if it exceeds the threshold.
pub(super) fn drift(protocol: &Protocol, name: &str, drift: f64, matters: bool) -> Finding {
    let moved = signed(protocol, drift);
    let (severity, why) = match (matters, protocol.paired) {
        (true, _) => (Severity::Warning, ", more than the threshold"),
        (false, true) => (Severity::Note, "; blocks cancel it"),
        (false, false) => (Severity::Note, ", less than the threshold"),
    };
    checks::drift(name, &moved, drift, severity, why)
}

/// Reports a series whose parts differ by more than the threshold.
pub(super) fn unsteady(name: &str, label: Label, begins: Option<usize>, parts: usize) -> Finding {
    let from = begins.map(|at| count(at + 1)).unwrap_or_default();
    let apart = format!("({parts} parts, farther apart than the threshold)");
    let change_point = |what: &str| checks::change_point(name, &format!("{what} {apart}"));
    let finding = match label {
        Label::WarmUp => {
            checks::warmed_up(name, &format!("is steady only from value {from} on {apart}"))
        }
        Label::Slowdown => {
            change_point(&format!("became slower, or came and went, before value {from}"))
        }
        Label::NoSteadyState | Label::Flat => change_point("did not reach a steady state"),
    };
    finding.with("parts", parts as f64).advise(Action::WarmUpLonger).advise(Action::MeasureInBlocks)
}

/// Reports that the values come in steps that are large relative to the threshold.
pub(super) fn coarse_clock(protocol: &Protocol, step: f64) -> Finding {
    let message = format!(
        "values come in steps of {}, which is large compared to the threshold",
        protocol.amount(step)
    );
    checks::coarse(message, &protocol.unit).with("step", step).with("threshold", protocol.threshold)
}

/// Reports a series whose values are all equal.
pub(super) fn all_equal(name: &str) -> Finding {
    checks::all_equal(&format!("all values of {name}"), "")
        .about(name)
        .advise(Action::text("make sure that this is what you want to measure"))
}

/// Notes that the samples were not taken in blocks, which the step accepts.
pub(super) fn apart() -> Finding {
    checks::not_interleaved(false, "the difference").at(Severity::Note)
}

/// Reports that the threshold is a share of zero.
pub(super) fn no_threshold(unit: &Unit) -> Finding {
    let message = "the threshold is a share of a median of 0, so nothing can be planned";
    let finding = Finding::new(code::NOT_POSITIVE, message)
        .at(Severity::Serious)
        .advise(Action::ThresholdAsAmount);
    match unit {
        Unit::Second => finding,
        _ => finding.advise(Action::GiveUnit),
    }
}

/// Reports too few values for the threshold (a warning) or, if `tenfold`, even for ten times the
/// threshold, which ends the chain.
pub(super) fn too_few_for_threshold(
    protocol: &Protocol,
    planned: Option<f64>,
    (needed, have, visible): (f64, f64, f64),
    tenfold: bool,
) -> Finding {
    let things = protocol.things();
    let each = if protocol.paired { "" } else { " of each" };
    let what = if tenfold {
        format!("{}, ten times the threshold", protocol.amount(TENFOLD * protocol.threshold))
    } else {
        protocol.threshold_amount()
    };
    let planned = planned.map_or_else(String::new, |planned| {
        format!(" ({} would be planned for the threshold)", number::count(planned))
    });
    let detectable = if visible.is_finite() {
        format!("; they can detect {}", protocol.amount(visible))
    } else {
        String::new()
    };
    let message = if needed.is_finite() {
        format!(
            "{} {things}{each} are too few for {what}: {} are needed{planned}{detectable}",
            number::count(have.floor()),
            number::count(needed)
        )
    } else {
        format!("no number of {things} is enough for {what}{detectable}")
    };
    let severity = if tenfold { Severity::Serious } else { Severity::Warning };
    let finding = Finding::new(code::TOO_FEW, message)
        .at(severity)
        .with("have", have)
        .with("needed", needed)
        .with("detectable", visible)
        .advise(Action::MoreValues)
        .advise(Action::LargerThreshold);
    if tenfold { finding.advise(Action::PlanRuns) } else { finding }
}

/// Notes that the values have no spread on which planning could be based.
pub(super) fn no_spread() -> Finding {
    let found = checks::all_equal("all values of each side", ", so their number does not matter");
    Finding { severity: Severity::Note, ..found }
}

/// Reports that the test does not reject.
pub(super) fn not_rejected(level: f64, log10_p: f64) -> Finding {
    let message = format!(
        "not known: no difference is shown at a significance of {} ({}), which does not mean that there is none",
        number::chosen_percent(level),
        number::p_value(log10_p)
    );
    Finding::new(code::NOT_REJECTED, message)
        .advise(Action::text("see below how large a difference the interval leaves open"))
}

/// Reports that the test is undefined because all observations are equal.
pub(super) fn nothing_to_rank() -> Finding {
    checks::all_equal("all observations", ", so the test is not defined")
}

/// Reports that the test was made stricter because of dependence.
pub(super) fn deflated(naive_log10_p: f64) -> Finding {
    checks::for_dependence("made stricter", &number::p_value(naive_log10_p))
}

/// Reports that there are too few values for an interval.
pub(super) fn no_interval(protocol: &Protocol) -> Finding {
    let message = format!("too few independent {} for an interval", protocol.things());
    Finding { severity: Severity::Warning, ..checks::too_few(message) }.advise(Action::MoreValues)
}

/// Reports an interval that is partly beyond the threshold and partly within it.
pub(super) fn straddles(protocol: &Protocol) -> Finding {
    let message = format!(
        "the interval reaches into ± {}: the effect may be too small to matter",
        protocol.threshold_amount()
    );
    Finding::new(code::BELOW_THRESHOLD, message).advise(Action::MoreValues)
}

/// Reports an interval within the threshold.
pub(super) fn below_threshold(protocol: &Protocol) -> Finding {
    let message = format!(
        "an effect below the threshold of {}: not worth publishing as one",
        protocol.threshold_amount()
    );
    Finding::new(code::BELOW_THRESHOLD, message).at(Severity::Serious)
}

/// Reports that the interval was widened because of dependence.
pub(super) fn widened(column: &Column, classic: Interval) -> Finding {
    let (lower, upper) = (column.number(classic.lower), column.number(classic.upper));
    checks::for_dependence("widened", &format!("[{lower} … {upper}]"))
}

/// Reports a difference that varies over the distribution.
pub(super) fn not_plain_shift() -> Finding {
    checks::shape(
        "it is not the same for fast and slow values, so that one number is not the whole story",
    )
}
