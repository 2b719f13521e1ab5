//! How single runs ended: what is recorded of it, what counts as a failure, and how that is told.

use super::{Prepared, Tolerated};
use assay_data::{Outcome, Turn};
use assay_measure::RunResult;

/// The outcome that is recorded for one turn: of several runs at once, the first that did not end well.
pub(super) fn outcome(results: &[RunResult]) -> Outcome {
    let worst = results.iter().map(of_one).find(|&outcome| outcome != Outcome::Ok);
    worst.unwrap_or_default()
}

fn of_one(result: &RunResult) -> Outcome {
    match result.outcome {
        assay_measure::Outcome::Exited(0) => Outcome::Ok,
        assay_measure::Outcome::Exited(status) => Outcome::Exit(status),
        assay_measure::Outcome::Signalled(signal) => Outcome::Signal(signal),
        assay_measure::Outcome::TimedOut
        | assay_measure::Outcome::WantedTerminal
        | assay_measure::Outcome::Stopped => Outcome::Timeout,
    }
}

/// How a run failed, unless that is tolerated.
pub(super) fn failure(result: &RunResult, tolerated: &Tolerated) -> Option<String> {
    use assay_measure::Outcome::{Exited, Signalled, Stopped, TimedOut, WantedTerminal};
    let is_tolerated = match (result.outcome, tolerated) {
        (Exited(0) | TimedOut, _) => true,
        (WantedTerminal | Stopped, _) => false,
        (Exited(status), Tolerated::Statuses(known)) => known.contains(&status),
        (Exited(_) | Signalled(_), tolerated) => *tolerated == Tolerated::Anything,
    };
    (!is_tolerated).then(|| result.outcome.to_string())
}

/// What the user is told of a failure.
pub(super) fn failure_message(
    command: &Prepared,
    how: &str,
    turn: &Turn,
    result: &RunResult,
) -> String {
    let first = result.stderr_tail.is_some();
    let when =
        if first { "on its first run".to_owned() } else { format!("in block {}", turn.block + 1) };
    let mut message = format!("`{}` {how} {when}", command.text);
    match result.stderr_tail.as_deref().map(str::trim_end) {
        Some("") => message.push_str("; it said nothing on standard error"),
        Some(tail) => {
            message.push_str(". It said:");
            for line in tail.lines() {
                message.push_str("\n  ");
                message.push_str(line);
            }
        }
        None => message.push_str("; see what it says with --output inherit"),
    }
    message.push_str(
        "\nhint: if that is meant to be, --ignore-failure counts such runs like any other",
    );
    message
}
