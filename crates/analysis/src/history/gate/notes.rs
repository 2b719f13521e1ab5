//! Findings about the result of a gate.

use assay_data::code;
use assay_data::{Action, Finding, Metric, Severity, Unit};

pub(super) fn too_coarse(label: &str, spread: f64, detectable: f64) -> Finding {
    let message = format!(
        "runs of {label} differ by {:.1} % (standard deviation), so a worsening of less than {:.1} % is not found within three runs, however many are kept",
        spread * 100.0,
        detectable * 100.0
    );
    Finding::new(code::TOO_FEW_RUNS, message)
        .at(Severity::Warning)
        .about(label)
        .with("spread", spread)
        .with("detectable", detectable)
        .advise(Action::MeasureInBlocks)
}

/// Returns the finding that one run is worse, but no other run confirms it.
pub(super) fn stands_alone(label: &str, ratio: f64, runs: usize) -> Finding {
    let message = format!(
        "this run of {label} stands out from the {runs} normal runs ({:+.1} %), and the runs before it do not: one bad run is no alarm",
        (ratio - 1.0) * 100.0
    );
    Finding::new(code::STANDS_OUT, message)
        .about(label)
        .with("ratio", ratio)
        .advise(Action::text("run it again: a second run decides; or gate with --confirm, where both revisions are measured here"))
}

pub(super) fn changed(label: &str, ratio: f64, runs: usize) -> Finding {
    let message = format!(
        "{label} changed by {:+.1} % some time ago: the {runs} runs since then are normal",
        (ratio - 1.0) * 100.0
    );
    Finding::new(code::RUNS_LEFT_OUT, message).about(label).with("ratio", ratio)
}

/// Returns the finding that a metric was previously recorded in another unit, so that earlier runs
/// can't be compared.
pub fn unit_changed(label: &str, metric: &Metric, before: &Unit) -> Finding {
    let told = |unit: &Unit| match unit {
        Unit::One => "without a unit".to_owned(),
        unit => format!("in {}", unit.symbol()),
    };
    let message = format!(
        "{} of {label} was recorded {} before, and is {} now: earlier runs are not used",
        metric.name,
        told(before),
        told(&metric.unit)
    );
    Finding::new(code::RUNS_LEFT_OUT, message).at(Severity::Warning).about(label)
}

/// Returns the finding that runs were ignored because their revisions are not on the branch along
/// first parents.
pub fn not_on_branch(branch: &str, runs: usize) -> Finding {
    let runs_are = if runs == 1 { "1 run is".to_owned() } else { format!("{runs} runs are") };
    let message = format!(
        "{runs_are} not counted as normal: their revisions are not on `{branch}` by first parents"
    );
    Finding::new(code::RUNS_LEFT_OUT, message).with("runs", runs as f64)
}

/// Returns the finding that both revisions can be measured here. The caller adds the command line.
pub fn can_confirm() -> Finding {
    let message = "the last normal revision and this one can be measured here alternately, which detects smaller changes, as differences between runs cancel; `--confirm` does this for every alarm";
    Finding::new(code::ALARM_CONFIRMATION, message).advise(Action::MeasureInBlocks)
}

/// Returns the finding that values have no logarithm, so that only equality with earlier values can
/// be judged.
pub(super) fn only_sameness(label: &str) -> Finding {
    let message = format!(
        "values of {label} are zero or negative: if all runs are the same, that is normal; about any other nothing is known"
    );
    Finding::new(code::NOT_POSITIVE, message).about(label)
}
