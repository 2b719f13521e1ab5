//! Outcomes of single runs: the recorded outcome, what counts as a failure, and how a failure is
//! reported.

use super::{Prepared, Tolerated};
use assay_data::{Outcome, Turn};
use assay_measure::RunResult;

/// Returns the recorded outcome of a turn: with concurrent runs, that of the first one that failed.
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

/// Returns a description of a run's failure, unless it is tolerated.
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

/// Returns the message about a failure.
pub(super) fn failure_message(
    command: &Prepared,
    how: &str,
    (turn, first): (&Turn, bool),
    result: &RunResult,
) -> String {
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
    if let Some(braces) = braces(&command.text).filter(|_| command.parameters.is_empty()) {
        message.push_str(&format!(
            "\nhint: `{{{braces}}}` is handed on as it stands; its values are given by -P, as in -P {braces}=1..8"
        ));
        return message;
    }
    message.push_str(
        "\nhint: if that is meant to be, --ignore-failure counts such runs like any other",
    );
    message
}

/// Returns the first name in braces, which looks like the placeholder of a scan's parameter.
fn braces(text: &str) -> Option<&str> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    text.match_indices('{').find_map(|(at, _)| {
        let rest = &text[at + 1..];
        let name = &rest[..rest.find('}')?];
        is_name(name).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_a_name_in_braces() {
        assert_eq!(braces("sleep {n}"), Some("n"));
        assert_eq!(braces("awk '{print $1} {x_1}'"), Some("x_1"));
        assert_eq!(braces("a {} {1} {-} {"), None);
    }
}
