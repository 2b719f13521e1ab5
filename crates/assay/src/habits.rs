//! Detects mistakes that users of other tools make out of habit, and suggests the line to type
//! instead.
//!
//! Nothing is accepted or corrected here. Each error names the one correct spelling, as a complete
//! line to copy if the typed words suffice for one. `options` and `verbs` contain only texts, and
//! `words` finds misplaced words.

mod line;
mod options;
pub(crate) mod verbs;
mod words;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use line::Line;
use std::ffi::OsString;

/// Adds the correct spelling to an error about the command line.
pub(crate) fn advised(error: Error, command: &mut Command, typed: &[OsString]) -> Error {
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    let joined = Line::of(typed, command).with_value_joined(&invalid(&error));
    if let Some(joined) = joined.filter(|_| is_unknown) {
        return match command.try_get_matches_from_mut(&joined) {
            // The value itself is wrong, and its error explains the correct form.
            Err(other) if other.kind() == ErrorKind::ValueValidation => {
                advised(other, command, &joined)
            }
            _ => with_tip(error, format!("write the value after `=`: {}", line::shown(&joined))),
        };
    }
    let line = Line::of(typed, command);
    let advice = match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = invalid(&error);
            words::of_program(&line)
                .or_else(|| line.single_dash())
                .or_else(|| words::unknown_letter(&line, &word))
                .or_else(|| options::advice(line.verb(), &word).map(str::to_owned))
                .or_else(|| {
                    let has_similar = error.get(ContextKind::SuggestedArg).is_some();
                    words::misplaced(&line, &word, has_similar)
                })
        }
        ErrorKind::MissingRequiredArgument => {
            let options = line.words.iter().filter(|word| word.starts_with("--"));
            let advice = options.filter_map(|word| options::advice(line.verb(), word));
            advice.map(str::to_owned).next().or_else(|| words::missing(&line))
        }
        ErrorKind::InvalidSubcommand if line.verb() == "history" => {
            verbs::of_history(&line).map(str::to_owned)
        }
        ErrorKind::InvalidSubcommand => verbs::instead(&line),
        ErrorKind::ArgumentConflict => words::beside_revisions(&line),
        ErrorKind::InvalidValue => words::form(&line, &invalid(&error), &refused(&error)),
        ErrorKind::ValueValidation => line.single_dash().or_else(|| {
            let value = refused(&error);
            let is_number = value.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            let argument = words::refused_value(&line, &value).filter(|_| !is_number);
            let advice = number(&error)?;
            Some(match argument {
                Some(argument) => format!("{advice}; {argument}"),
                None => advice,
            })
        }),
        _ => None,
    };
    let says_number = number(&error).is_some();
    match advice {
        // The usage would show the typed options, which can't be used together.
        Some(advice) if error.kind() == ErrorKind::ArgumentConflict => {
            let mut told = with_tip(error, advice);
            told.remove(ContextKind::Usage);
            told
        }
        Some(advice) if says_number => with_tip(without_reason(&error, command), advice),
        Some(advice) => with_tip(error, advice),
        None => without_far(error),
    }
}

/// Removes suggestions of the parser that are too different from the command typed.
fn without_far(mut error: Error) -> Error {
    let typed = invalid(&error);
    let is_near = |known: &String| {
        typed.starts_with(known.as_str()) || strsim::osa_distance(known, &typed) <= 2
    };
    let near = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(known)) => {
            known.iter().filter(|k| is_near(k)).cloned().collect()
        }
        Some(ContextValue::String(known)) if is_near(known) => vec![known.clone()],
        None => return error,
        Some(_) => Vec::new(),
    };
    error.remove(ContextKind::SuggestedSubcommand);
    if !near.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
    error
}

/// Returns advice for a command that failed, if the words typed explain the failure.
pub(crate) fn hint(command: &Command, typed: &[OsString]) -> Option<String> {
    words::hint(&Line::of(typed, command)).map(|advice| format!("hint: {advice}"))
}

/// Returns the error about words of an unquoted command that the parser took for options of assay.
pub(crate) fn taken_for_option(command: &Command, typed: &[OsString]) -> Option<anyhow::Error> {
    words::taken_for_option(&Line::of(typed, command)).map(anyhow::Error::msg)
}

/// Returns the word that the parser rejected; empty if there is none.
fn invalid(error: &Error) -> String {
    let kinds = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let found = kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Returns the value that the parser rejected; empty if there is none.
fn refused(error: &Error) -> String {
    match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.clone(),
        _ => String::new(),
    }
}

/// Returns the error for an option's value without its reason, which the advice explains better.
fn without_reason(error: &Error, command: &Command) -> Error {
    let mut plain: Error = Error::new(error.kind()).with_cmd(command);
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidValue] {
        if let Some(context) = error.get(kind) {
            plain.insert(kind, context.clone());
        }
    }
    plain
}

/// Returns advice on the range of numbers that an option takes, given the parser's message such as
/// `0 is not in 1..=9`.
fn range(told: &str) -> Option<String> {
    let (value, bounds) = told.split_once(" is not in ")?;
    let (low, high) = bounds.split_once("..")?;
    let (high, is_within) = high.strip_prefix('=').map_or((high, false), |high| (high, true));
    let value: i128 = value.parse().ok()?;
    let low: i128 = low.parse().ok()?;
    let high: i128 = high.parse().ok()?;
    let high = if is_within { high } else { high - 1 };
    Some(if value > high {
        format!("the number is too large; write one of at most {high}")
    } else if high >= i128::from(u32::MAX) - 1 {
        format!("write a whole number, {low} or more")
    } else {
        format!("write a whole number from {low} to {high}")
    })
}

/// Returns advice for an option whose value is not a number, or not one of those that it takes.
fn number(error: &Error) -> Option<String> {
    let source = std::error::Error::source(error)?;
    if source.is::<std::num::ParseFloatError>() {
        return Some("write a number, such as 0.5".to_owned());
    }
    let Some(source) = source.downcast_ref::<std::num::ParseIntError>() else {
        return range(&source.to_string());
    };
    let is_large = matches!(
        source.kind(),
        std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow
    );
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else {
        return None;
    };
    let is_span = crate::args::seconds(value).is_ok() && value.parse::<f64>().is_err();
    Some(match (is_large, is_span && invalid(error).starts_with("--runs")) {
        (true, _) => "the number is too large".to_owned(),
        (_, true) => format!("limit the time with --time {value}, the number of runs with -r 10"),
        _ => "write a whole number, such as 10".to_owned(),
    })
}

/// Replaces the parser's suggestions, which know only the names in this program.
fn with_tip(mut error: Error, advice: String) -> Error {
    if error.remove(ContextKind::SuggestedArg).is_some() {
        // The usage would show the suggested option.
        error.remove(ContextKind::Usage);
    }
    error.remove(ContextKind::SuggestedSubcommand);
    let advice = clap::builder::StyledStr::from(advice);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice]));
    error
}
