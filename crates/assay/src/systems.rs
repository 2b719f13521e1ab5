//! Which verbs a system has, which of them and of their options the runner supports, and the
//! messages about the others. `docs/reference/systems.md` lists what each system lacks.

use std::ffi::OsStr;

/// Verbs that only Linux has, and only with its launcher.
const BY_LAUNCHER: [&str; 7] = ["calibrate", "doctor", "load", "profile", "tests", "warm", "watch"];
/// Verbs that run commands, available on all Unix-like systems.
const BY_ANY_RUNNER: [&str; 6] = ["bench", "bisect", "check", "gate", "repeat", "run"];
/// The documentation page about it.
const PAGE: &str = "docs/reference/systems.md";

/// Returns an error if the word is a verb that this program has on other systems; `None` for any
/// other word. Only called for words that are not verbs here.
pub(crate) fn elsewhere(word: &OsStr) -> Option<anyhow::Error> {
    let named = |verbs: &[&'static str]| verbs.iter().copied().find(|verb| word == *verb);
    let (verb, systems) = match (named(&BY_LAUNCHER), named(&BY_ANY_RUNNER)) {
        (Some(verb), _) => (verb, "Linux"),
        (None, Some(verb)) => (verb, "Linux, macOS and the BSDs"),
        (None, None) => return None,
    };
    Some(anyhow::anyhow!(
        "assay {verb} is there on {systems}, and this is {}; {PAGE} says what works where",
        std::env::consts::OS
    ))
}

#[cfg(unix)]
pub(crate) use by_runner::{check, check_options};

/// Accepts every verb: those of this system need no runner.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(crate) fn check(_verb: &str) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(unix)]
mod by_runner {
    use super::{BY_ANY_RUNNER, BY_LAUNCHER, PAGE};
    use anyhow::ensure;
    use assay_measure::{RUNNER, RunnerKind};

    /// Rejects a verb that the chosen runner does not support.
    ///
    /// # Errors
    /// For such a verb; for a verb that measures, also if there is no runner of the given name.
    pub(crate) fn check(verb: &str) -> anyhow::Result<()> {
        let by_launcher = BY_LAUNCHER.contains(&verb);
        if !by_launcher && !BY_ANY_RUNNER.contains(&verb) {
            return Ok(());
        }
        ensure!(
            RunnerKind::chosen()? == RunnerKind::Launcher || !by_launcher,
            "assay {verb} needs the launcher, and {RUNNER} names the portable runner: unset it ({PAGE})"
        );
        Ok(())
    }

    /// Rejects options that the chosen runner does not support; each is paired with whether it was
    /// given.
    ///
    /// # Errors
    /// A message with the names of all of them.
    pub(crate) fn check_options(
        options: impl IntoIterator<Item = (&'static str, bool)>,
    ) -> anyhow::Result<()> {
        if RunnerKind::chosen()? == RunnerKind::Launcher {
            return Ok(());
        }
        let given = options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        let given: Vec<&str> = given.collect();
        ensure!(
            given.is_empty(),
            "{}: the portable runner counts no events and no allocations, and sets nothing for programs or the machine: leave it out ({PAGE})",
            given.join(", ")
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_of_other_systems_is_told_and_another_word_is_not() {
        let told = |word: &str| elsewhere(OsStr::new(word)).map(|error| error.to_string());
        assert!(
            told("watch").is_some_and(|told| told.starts_with("assay watch is there on Linux,"))
        );
        assert!(told("run").is_some_and(|told| told.contains("macOS")));
        assert_eq!(told("compare"), None);
    }

    #[test]
    fn every_verb_that_may_be_lacking_is_a_verb() {
        for verb in BY_LAUNCHER.iter().chain(&BY_ANY_RUNNER) {
            assert!(crate::is_verb(OsStr::new(verb)), "{verb}");
        }
    }
}
