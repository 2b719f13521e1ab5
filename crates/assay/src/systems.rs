//! Determines which verbs a system has, and which verbs and options the runner supports, and
//! contains the messages about those that are lacking. `docs/reference/systems.md` lists what each
//! system lacks.

use std::ffi::OsStr;

/// Verbs that exist only on Linux, and need its launcher.
const BY_LAUNCHER: [&str; 7] = ["calibrate", "doctor", "load", "profile", "tests", "warm", "watch"];
/// Verbs that run commands, available on all Unix-like systems.
const BY_ANY_RUNNER: [&str; 6] = ["bench", "bisect", "check", "gate", "repeat", "run"];
/// The documentation page that lists what each system lacks.
const PAGE: &str = "docs/reference/systems.md";

/// Returns an error if the word is a verb that this program has only on other systems; `None` for
/// any other word. The word must not be a verb on this system.
pub(crate) fn elsewhere(word: &OsStr) -> Option<anyhow::Error> {
    let named = |verbs: &[&'static str]| verbs.iter().copied().find(|verb| word == *verb);
    let (verb, systems) = match (named(&BY_LAUNCHER), named(&BY_ANY_RUNNER)) {
        (Some(verb), _) => (verb, "Linux"),
        (None, Some(verb)) => (verb, "Linux, macOS and the BSDs"),
        (None, None) => return None,
    };
    Some(anyhow::anyhow!(
        "assay {verb} works only on {systems}, and this is {}; see {PAGE} for what works where",
        std::env::consts::OS
    ))
}

#[cfg(unix)]
pub(crate) use by_runner::{check, check_options};

/// Accepts every verb, because on this system no verb needs a runner.
///
/// # Errors
/// Never fails.
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
    /// Fails if the runner does not support the verb, or if the verb measures and no runner has the
    /// given name.
    pub(crate) fn check(verb: &str) -> anyhow::Result<()> {
        let by_launcher = BY_LAUNCHER.contains(&verb);
        if !by_launcher && !BY_ANY_RUNNER.contains(&verb) {
            return Ok(());
        }
        ensure!(
            RunnerKind::chosen()? == RunnerKind::Launcher || !by_launcher,
            "assay {verb} needs the launcher, but {RUNNER} selects the portable runner: unset it ({PAGE})"
        );
        Ok(())
    }

    /// Rejects options that the chosen runner does not support. Each option is paired with whether
    /// it was given.
    ///
    /// # Errors
    /// Fails if any of these options was given. The message names all of them.
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
            "{}: the portable runner can't count events or allocations, or change settings of programs or of the machine; leave it out ({PAGE})",
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
            told("watch").is_some_and(|told| told.starts_with("assay watch works only on Linux,"))
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
