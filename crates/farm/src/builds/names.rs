//! Validation of names. Names come from untrusted sources, and appear in URLs of pages and on
//! terminals.

use crate::builds::error::FarmError;
use crate::builds::model::Facts;
use crate::builds::policy::{LONGEST_FACT, LONGEST_NAME, MOST_FACTS};

/// Names that owners cannot have, because the farm's own pages use these paths.
const PATHS: [&str; 5] = ["api", "assets", "builds", "jobs", "nodes"];

/// Checks that the name of an owner does not collide with the paths of the farm's own pages.
///
/// # Errors
/// If the name is one of these paths.
pub fn has_pages(owner: &str) -> Result<(), FarmError> {
    match PATHS.contains(&owner) {
        true => Err(FarmError::Bad(format!(
            "an owner cannot be named `{owner}`: the farm's own pages are at /{owner}/…; choose another name, such as `{owner}-1`"
        ))),
        false => Ok(()),
    }
}

/// Checks a name that may consist only of letters, digits, `-`, `_`, `.`, `+`, `@` and `~`. `what`
/// is the kind of item for the error message, such as `a project`.
///
/// # Errors
/// If the name is empty, too long, `.` or `..`, or has other characters.
pub fn plain(what: &str, name: &str) -> Result<(), FarmError> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.+@~".contains(c);
    checked(what, name)?;
    match name.chars().all(is_plain) {
        true => Ok(()),
        false => Err(FarmError::Bad(format!(
            "`{}` is not a valid name of {what}: use letters, digits and -_.+@~",
            name.escape_debug()
        ))),
    }
}

/// Checks a name that may contain any characters except control characters, such as the name of a
/// version: tags and branches have arbitrary names.
///
/// # Errors
/// If the name is empty, too long, `.` or `..`, or has control characters.
pub(crate) fn checked(what: &str, name: &str) -> Result<(), FarmError> {
    let is_fit = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !matches!(name, "." | "..")
        && !name.chars().any(char::is_control);
    match is_fit {
        true => Ok(()),
        false => Err(FarmError::Bad(format!(
            "`{}` is not a valid name of {what}: it must have 1 to {LONGEST_NAME} bytes and no control characters, and be neither . nor ..",
            name.escape_debug().take(LONGEST_NAME).collect::<String>()
        ))),
    }
}

/// Checks the number and length of a target's facts, or of the facts that a job needs.
pub(crate) fn facts(facts: &Facts) -> Result<(), FarmError> {
    let is_fit = |text: &str| text.len() <= LONGEST_FACT && !text.chars().any(char::is_control);
    let all = facts.iter().all(|(name, value)| !name.is_empty() && is_fit(name) && is_fit(value));
    match all && facts.len() <= MOST_FACTS {
        true => Ok(()),
        false => Err(FarmError::Bad(format!(
            "facts: at most {MOST_FACTS}, each of at most {LONGEST_FACT} bytes without control characters"
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn names_that_mean_something_else_are_refused() {
        for good in ["rails", "a.b_c-d", "Größe", "foo+bar", "x~1"] {
            assert!(plain("a project", good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a b", "<b>", "a\u{1b}[0m", "a?b", "a%b", "a\0"] {
            assert!(plain("a project", bad).is_err(), "{bad:?}");
        }
        assert!(plain("a project", &"a".repeat(LONGEST_NAME + 1)).is_err());
        assert!(checked("a version", "release/1.2 <b>").is_ok());
        for bad in ["", "..", "1.0\n", "\u{1b}]0;x"] {
            let told = checked("a version", bad).unwrap_err().to_string();
            assert!(!told.chars().any(char::is_control), "{told:?}");
        }
    }
}
