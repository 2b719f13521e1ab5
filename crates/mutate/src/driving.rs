//! Tries changes with vitest in one process. This includes selecting the files to run and
//! interpreting the answers.

use crate::arena::{Arena, TestSelection, TrialResult, untried};
use crate::built::{CopyBuild, ReachingPrograms, SwitchedMutant};
use crate::driven::{DriverAnswer, DriverError, DriverRequest, TestDriver};
use crate::guard::TimeIsUp;
use crate::policy::{COMPUTING_SHARE, DRIVEN_MORE, LONGEST_SUITE, PATIENCE, PATIENCE_MORE};
use crate::suite::Suite;
use anyhow::{Context, bail};
use assay_data::mutation::Fate;
use assay_report::console::output;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Returns the test files by name, with their paths in the copy at `top`. `None` if the file of any
/// test is unknown.
fn files(suite: &Suite, top: &Path, with: TestSelection<'_>) -> Option<BTreeMap<String, PathBuf>> {
    let directory = top.join(&suite.below);
    let place = |file: &String| (file.clone(), directory.join(file));
    with.all.iter().map(|test| test.file.as_ref().map(place)).collect()
}

impl Arena<'_> {
    /// Returns the driver, starting it if necessary.
    fn driven(&mut self) -> anyhow::Result<&mut TestDriver> {
        if self.driven.as_ref().is_none_or(|own| own.server.ended().is_some()) {
            self.driven = None;
            self.driven = Some(TestDriver::start(self.suite, &self.copy.top())?);
        }
        self.driven.as_mut().context("there is no process")
    }

    fn ask(
        &mut self,
        ask: &DriverRequest<'_>,
        limits: (Duration, f64),
    ) -> anyhow::Result<DriverAnswer> {
        let suite = self.suite;
        let answer = self.driven()?.ask(ask, suite, limits);
        if answer.is_err() {
            self.driven = None;
        }
        answer
    }

    /// Runs all tests without a mutant and records the functions that each test reaches. The inner
    /// error is the reason why the results are unusable, such as a file that cannot be loaded or a
    /// failing test.
    ///
    /// # Errors
    ///
    /// Fails if the copy cannot be written or the time is up.
    pub fn learn_driven(
        &mut self,
        with: TestSelection<'_>,
    ) -> anyhow::Result<Result<ReachingPrograms, String>> {
        let top = self.copy.top();
        let Some(files) = files(self.suite, &top, with) else {
            return Ok(Err("vitest does not report the file of each test".to_owned()));
        };
        let places: Vec<PathBuf> = files.values().cloned().collect();
        let names: BTreeSet<_> = places.iter().map(|own| own.file_name()).collect();
        if names.len() < places.len() {
            return Ok(Err("two test files have the same name".to_owned()));
        }
        self.set("r")?;
        self.reached();
        let (mut reached, mut tests) = (ReachingPrograms::new(), HashMap::new());
        let mut seconds = 0.0;
        // The second run detects failures caused by leftovers of the first.
        for reaches in [true, false] {
            let ask = DriverRequest { number: 0, files: &places, stops: false, reaches };
            let answer = match self.ask(&ask, (LONGEST_SUITE, f64::INFINITY)) {
                Ok(answer) => answer,
                Err(error) if self.suite.guard.is_over() => return Err(error),
                Err(error) => return Ok(Err(output::told(&error))),
            };
            if !answer.broken.is_empty() {
                return Ok(Err(errors(&answer.broken.join("\n"), &top)));
            }
            let passed: BTreeSet<&str> = answer
                .tests
                .iter()
                .filter(|own| own.state == "passed")
                .map(|own| own.name.as_str())
                .collect();
            let missing = with.all.iter().find(|own| !passed.contains(own.name.as_str()));
            if let Some(missing) = missing {
                let name = &missing.name;
                return Ok(Err(format!("{name} does not pass where all tests run in one process")));
            }
            if let Some(error) = answer.errors.first() {
                return Ok(Err(format!("where all tests run in one process: {error}")));
            }
            seconds = answer.seconds;
            for own in &answer.tests {
                let Some(test) = with.by_name.get(&own.name) else { continue };
                for unit in &own.reaches {
                    tests.entry(*unit).or_insert_with(Vec::new).push(*test);
                    let file = with.all[*test].file.clone().unwrap_or_default();
                    reached.entry(*unit).or_default().insert(file);
                }
            }
        }
        // These functions were reached by other processes that the tests start.
        for unit in self.reached().into_keys() {
            reached.insert(unit, files.keys().cloned().collect());
            tests.insert(unit, (0..with.all.len()).collect());
        }
        self.set("0")?;
        let of_tests: f64 = with.all.iter().filter_map(|test| test.seconds).sum();
        let both = (with.beside + of_tests, seconds);
        self.built = Some(CopyBuild::driven(both, reached.clone(), tests));
        Ok(Ok(reached))
    }

    /// Tries a mutant behind the switch. Returns `None` if the user's command has to judge it.
    ///
    /// # Errors
    ///
    /// Fails if the time is up.
    pub fn tried_driven(
        &mut self,
        built: &CopyBuild,
        behind: SwitchedMutant,
        with: TestSelection<'_>,
    ) -> anyhow::Result<Option<TrialResult>> {
        let Some(files) = files(self.suite, &self.copy.top(), with) else { return Ok(None) };
        let Some(reaching) = built.reached.get(&behind.unit) else { return Ok(None) };
        let own = |test: &&usize| with.all[**test].file.as_ref();
        let kills = |file: &String| -> usize {
            let of_file = self.kills.iter().filter(|(test, _)| own(test) == Some(file));
            of_file.map(|(_, count)| count).sum()
        };
        let mut order: Vec<(usize, &String)> =
            reaching.iter().map(|file| (kills(file), file)).collect();
        order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        let places: Vec<PathBuf> =
            order.iter().filter_map(|(_, file)| files.get(*file).cloned()).collect();
        let expected = with
            .all
            .iter()
            .filter(|own| own.file.as_ref().is_some_and(|own| reaching.contains(own)));
        let expected = expected.count();
        let ask =
            DriverRequest { number: behind.number, files: &places, stops: true, reaches: false };
        // A new process has no leftovers of earlier changes.
        let limits = limits(built.driven.unwrap_or_default());
        for _ in 0..2 {
            let answer = match self.ask(&ask, limits) {
                Ok(answer) => answer,
                Err(error) if error.is::<TimeIsUp>() => return Err(error),
                Err(error)
                    if matches!(
                        error.downcast_ref::<DriverError>(),
                        Some(DriverError::Endless)
                    ) =>
                {
                    return self.believed_endless(&ask, built);
                }
                Err(_) => return Ok(None),
            };
            let failed = answer.failed();
            if answer.is_fine() {
                let passed = answer.tests.iter().filter(|own| own.state == "passed").count();
                let came = TrialResult {
                    tests_run: answer.tests.len(),
                    seconds: answer.seconds,
                    ..untried(Fate::Survived)
                };
                return Ok((passed >= expected).then_some(came));
            }
            if failed.is_empty() {
                return Ok(None);
            }
            let killed_by: Vec<usize> =
                failed.iter().filter_map(|name| with.by_name.get(*name)).copied().collect();
            let known = killed_by.iter().filter_map(|test| with.all[*test].file.as_ref());
            let again: BTreeSet<PathBuf> =
                known.filter_map(|own| files.get(own)).cloned().collect();
            if killed_by.is_empty() {
                return Ok(None);
            }
            let again: Vec<PathBuf> = again.into_iter().collect();
            let control = DriverRequest { number: 0, files: &again, ..ask };
            let control = self.ask(&control, limits);
            if control.is_ok_and(|own| own.is_fine()) {
                let (tests_run, seconds) = (answer.tests.len(), answer.seconds);
                return Ok(Some(TrialResult {
                    killed_by,
                    tests_run,
                    seconds,
                    ..untried(Fate::Killed)
                }));
            }
            self.driven = None;
        }
        Ok(None)
    }

    /// Returns the result of a mutant in an endless loop, or `None` if the same tests are also slow
    /// without a change.
    fn believed_endless(
        &mut self,
        ask: &DriverRequest<'_>,
        built: &CopyBuild,
    ) -> anyhow::Result<Option<TrialResult>> {
        let seconds = built.driven.unwrap_or_default();
        let limits = limits(seconds);
        let control = self.ask(&DriverRequest { number: 0, ..*ask }, limits);
        if self.suite.guard.is_over() {
            bail!(TimeIsUp);
        }
        let is_quick = control.is_ok_and(|own| {
            own.is_fine() && own.seconds <= (limits.1 * COMPUTING_SHARE).max(seconds)
        });
        Ok(is_quick.then(|| untried(Fate::TimedOut)))
    }
}

/// Returns the time limit of tests with a change and their CPU time limit in seconds, given the
/// tests' duration in seconds without a change.
fn limits(seconds: f64) -> (Duration, f64) {
    let patient = seconds * PATIENCE;
    (Duration::from_secs_f64(patient) + PATIENCE_MORE, patient + DRIVEN_MORE)
}

/// Returns the message about a file that cannot be loaded, followed by the positions that it
/// mentions in the format of compiler errors.
fn errors(said: &str, top: &Path) -> String {
    let top = format!("{}/", top.display());
    let summary = said.lines().next().unwrap_or_default();
    let mut all = vec![said.to_owned()];
    for (at, _) in said.match_indices(&top) {
        let rest = &said[at + top.len()..];
        let mut parts = rest.splitn(4, ':');
        let (path, line) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let digits: String =
            parts.next().unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
        if line.parse::<usize>().is_ok() && !digits.is_empty() {
            let own = rest.lines().next().and_then(|own| own.split_once("ERROR: "));
            let own = own.map_or(summary, |(_, own)| own);
            all.push(format!("{path}:{line}:{digits}: error: {own}"));
        }
    }
    all.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_errors_are_named_as_compilers_name_them() {
        let said = "Transform failed with 1 error:\n/t/p/src/a.ts:12:5: ERROR: Unexpected \"}\"";
        let all = errors(said, Path::new("/t/p"));
        assert_eq!(all.lines().last(), Some("src/a.ts:12:5: error: Unexpected \"}\""));
        let said = "Parse failure: Unexpected token\nAt file: /t/p/src/a.js:3:7";
        let all = errors(said, Path::new("/t/p"));
        assert_eq!(
            all.lines().last(),
            Some("src/a.js:3:7: error: Parse failure: Unexpected token")
        );
        assert_eq!(errors("no place: /t/p/a.js", Path::new("/t/p")), "no place: /t/p/a.js");
    }
}
