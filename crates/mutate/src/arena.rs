//! A copy of the project in which changes are tried. The changed file replaces the original while
//! the tests run, and is restored afterwards. What follows from a failed test is decided elsewhere.

use crate::built::{CopyBuild, SwitchedMutant};
use crate::copies::Copy;
use crate::driven::TestDriver;
use crate::forked::{EarlyRequest, ForkAnswer, ForkRequest, ForkServer, FunctionRequest};
use crate::policy::{COMPUTING_MORE, COMPUTING_SHARE, FORKED_MORE, PATIENCE, PATIENCE_MORE};
use crate::suite::{RunLimits, Runs, Suite, SuiteRun};
use assay_data::mutation::{Fate, MutationTest};
use assay_measure::Outcome;
use assay_mutate::mutants::{IsolatedFunction, Language};
use assay_suites::RunRequirements;
use std::collections::HashMap;
use std::time::Duration;

/// A change to a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub path: &'a str,
    pub language: Language,
    /// The contents of the file without the change, which are restored after the trial.
    pub original: &'a [u8],
    /// The contents of the file with the change.
    pub changed: &'a [u8],
    /// The name of the changed function, without the enclosing classes, and the text for compiling
    /// the function by itself. `None` if the change is not in a function, or if the function ran
    /// while the tests were loaded, so that they must be loaded again.
    pub function: Option<(&'a str, &'a IsolatedFunction)>,
    /// The number of the change behind the switch, if it is part of a build with a switch.
    pub behind: Option<SwitchedMutant>,
}

/// The tests with which a change is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestSelection<'a> {
    /// All tests that pass without any change.
    pub all: &'a [MutationTest],
    /// The selector of each test in `all`.
    pub selectors: &'a [String],
    /// Indices into `all`, by name and by selector.
    pub by_name: &'a HashMap<String, usize>,
    /// Indices of the tests to run, in this order; `None` means all tests in the framework's order.
    pub only: Option<&'a [usize]>,
    /// Duration of a run without the tests themselves, in seconds.
    pub beside: f64,
    /// True if a run ends at the first failed test.
    pub stops: bool,
    /// Names of flaky tests, whose failures prove nothing.
    pub flaky: &'a [String],
    /// What a complete run reports without a change.
    pub ends: CompleteReport,
}

/// What a complete run reports. A process that ends with status 0 in the middle of a test reports
/// fewer tests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompleteReport {
    /// The minimum number of tests reported by complete runs without a change, including skipped
    /// tests.
    pub reported: usize,
    /// True if every test that began in these runs also ended.
    pub finishes: bool,
}

impl TestSelection<'_> {
    /// Returns the number of tests that a run of the user's command must report to be considered
    /// passed.
    pub fn expected(&self) -> Option<usize> {
        Some(self.only.map_or(self.ends.reported, <[usize]>::len))
    }
}

/// The result of trying a change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TrialResult {
    pub fate: Fate,
    /// Indices of the tests that failed.
    pub killed_by: Vec<usize>,
    pub tests_run: usize,
    pub seconds: f64,
    pub reason: Option<String>,
}

/// A copy of the project, and the processes that run tests in it.
pub(crate) struct Arena<'a> {
    pub suite: &'a Suite,
    pub copy: Copy,
    pub runs: Runs,
    /// The process that has loaded the tests once for all changes, if there is one.
    pub forked: Option<ForkServer>,
    /// The driver that runs the tests repeatedly, if there is one.
    pub driven: Option<TestDriver>,
    /// The current build with a switch, if there is one.
    pub built: Option<CopyBuild>,
    /// The files of the copy that differ from the project, by path, with their contents.
    pub standing: HashMap<String, Vec<u8>>,
    /// The number of changes killed by each test in the current build.
    pub kills: HashMap<usize, usize>,
}

impl<'a> Arena<'a> {
    /// Creates an arena from a copy.
    pub fn new(suite: &'a Suite, copy: Copy, runs: Runs) -> Self {
        let (standing, kills) = (HashMap::new(), HashMap::new());
        Self { suite, copy, runs, forked: None, driven: None, built: None, standing, kills }
    }
}

impl Arena<'_> {
    /// Tries a change.
    ///
    /// # Errors
    ///
    /// Returns an error if the copy cannot be written, or the tests cannot be started.
    pub fn attempt(
        &mut self,
        change: Change<'_>,
        with: TestSelection<'_>,
    ) -> anyhow::Result<TrialResult> {
        if let Some(behind) = change.behind {
            return self.behind(behind, with);
        }
        if let Some(came) = self.in_a_fork(change, with) {
            return Ok(came);
        }
        if let Some(came) = self.in_an_early_fork(change, with)? {
            return Ok(came);
        }
        self.copy.write(change.path, change.changed)?;
        let only = with.only.map(|tests| selectors(with, tests));
        let wanted = RunRequirements { only, ..RunRequirements::default() };
        let limit = limit(with, PATIENCE_MORE);
        let how = RunLimits { limit, computing: None, stops: with.stops };
        let top = self.copy.top();
        // If building is a separate step, build errors are recognized as such, and the time limit
        // applies to the tests alone.
        let built = self.suite.build(&mut self.runs, &top, false);
        let ran = match &built {
            Ok(Some((false, _))) | Err(_) => None,
            Ok(_) => Some(self.suite.run(&mut self.runs, &top, &wanted, how)),
        };
        self.copy.write(change.path, change.original)?;
        let (built, ran) = (built?, ran.transpose()?);
        Ok(match (ran, &built) {
            (Some(ran), _) => {
                let is_built = built.is_some()
                    || !is_built(change.language)
                    || is_linked(change.language, &ran.text);
                judged(&ran, is_built, with.expected(), with)
            }
            (None, told) => {
                let said = told.as_ref().map_or("", |(_, said)| said.as_str());
                let said = said.lines().find(|line| line.contains(": ")).unwrap_or_default();
                let reason = Some(format!("it can't be built: {}", said.trim()));
                TrialResult { reason, ..untried(Fate::Unviable) }
            }
        })
    }
}

/// Returns a result that is known without running any test.
pub(crate) fn untried(fate: Fate) -> TrialResult {
    TrialResult { fate, killed_by: Vec::new(), tests_run: 0, seconds: 0.0, reason: None }
}

impl Arena<'_> {
    /// Tries a change in a fork of the process that has already loaded the tests; `None` if it
    /// cannot be tried there.
    pub fn in_a_fork(
        &mut self,
        change: Change<'_>,
        with: TestSelection<'_>,
    ) -> Option<TrialResult> {
        let (name, alone) = change.function?;
        let only = with.only?;
        let tests = selectors(with, only);
        let words = |text| std::str::from_utf8(text).ok();
        let text = alone.text(words(change.original)?, words(change.changed)?)?;
        let path = self.copy.top().join(change.path);
        let without = TestSelection { beside: 0.0, ..with };
        let ask = ForkRequest {
            function: Some(FunctionRequest {
                path: &path,
                text: &text,
                first: alone.first,
                name,
                line: alone.known,
            }),
            tests: &tests,
            stops: with.stops,
            limit: limit(without, FORKED_MORE).as_secs_f64(),
            computing: Some(limit(without, COMPUTING_MORE).as_secs_f64()),
        };
        let forked = self.forked.as_mut()?;
        let Ok(answer) = patiently(forked, ask) else {
            // A process that has ended is not used again.
            self.forked = None;
            return None;
        };
        came_of(answer, &tests, only)
    }

    /// Tries a change in a process that was forked from one that has loaded the framework, and that
    /// then loads the tests; `None` if the change cannot be tried there.
    ///
    /// # Errors
    ///
    /// Returns an error if the copy cannot be written.
    pub fn in_an_early_fork(
        &mut self,
        change: Change<'_>,
        with: TestSelection<'_>,
    ) -> anyhow::Result<Option<TrialResult>> {
        let (Some(forked), Some(only)) =
            (self.forked.as_mut().filter(|own| own.is_early()), with.only)
        else {
            return Ok(None);
        };
        let tests = selectors(with, only);
        let path = self.copy.top().join(change.path);
        let limit = limit(with, PATIENCE_MORE).as_secs_f64();
        self.copy.write(change.path, change.changed)?;
        let stops = with.stops;
        let answer =
            forked.attempt_early(&EarlyRequest { path: &path, tests: &tests, stops, limit });
        self.copy.write(change.path, change.original)?;
        Ok(answer.and_then(Result::ok).and_then(|answer| came_of(answer, &tests, only)))
    }
}

/// Tries a change in a fork. If the fork reaches the CPU time limit, the change is tried again
/// without that limit, unless the same tests pass in much less time without the change.
fn patiently(forked: &mut ForkServer, ask: ForkRequest<'_>) -> anyhow::Result<ForkAnswer> {
    let answer = forked.attempt(&ask)?;
    let Some(computing) = ask.computing.filter(|_| answer.computing) else { return Ok(answer) };
    let endless = ForkRequest { computing: None, ..ask };
    let control = forked.attempt(&ForkRequest { function: None, stops: false, ..endless })?;
    let is_quick =
        control.passed(ask.tests.len()) && control.seconds <= computing * COMPUTING_SHARE;
    if is_quick { Ok(answer) } else { forked.attempt(&endless) }
}

/// Interprets a fork's answer for these tests; `None` if it does not decide the change's fate.
fn came_of(answer: ForkAnswer, tests: &[String], only: &[usize]) -> Option<TrialResult> {
    if answer.unable.is_some() {
        return None;
    }
    let index = |failed: &String| {
        let known = tests.iter().position(|own| own == failed);
        known.and_then(|place| only.get(place)).copied()
    };
    let killed_by: Vec<usize> = answer.failed.iter().filter_map(index).collect();
    let fate = match () {
        () if answer.timeout => Fate::TimedOut,
        () if answer.crashed.is_some() || !answer.failed.is_empty() => Fate::Killed,
        () if answer.run == Some(tests.len()) => Fate::Survived,
        // Some tests were skipped because others did not run, so the change must be tried in
        // another way.
        () => return None,
    };
    let (seconds, tests_run) = (answer.seconds, answer.run.unwrap_or_default());
    let reason = answer.crashed.map(|how| format!("the process of the tests {how}"));
    Some(TrialResult { fate, killed_by, tests_run, seconds, reason })
}

fn selectors(with: TestSelection<'_>, tests: &[usize]) -> Vec<String> {
    tests.iter().filter_map(|test| with.selectors.get(*test)).cloned().collect()
}

/// Returns the time limit for running the tests with a change.
fn limit(with: TestSelection<'_>, more: Duration) -> Duration {
    let own = |test: &MutationTest| test.seconds.unwrap_or_default();
    let tests: f64 = match with.only {
        None => with.all.iter().map(own).sum(),
        Some(only) => only.iter().filter_map(|test| with.all.get(*test)).map(own).sum(),
    };
    Duration::from_secs_f64((with.beside + tests) * PATIENCE) + more
}

/// Returns true if programs in the language are compiled before they are run, so that a change may
/// fail to compile.
fn is_built(language: Language) -> bool {
    !matches!(language, Language::Ruby | Language::Python | Language::JavaScript)
}

/// Returns true if the output contains no error of a C or C++ compiler or linker. These errors
/// always name a position, so a run without one was built and then crashed, with all its output
/// still in its buffer. Returns false for other languages, for which this is unknown.
fn is_linked(language: Language, said: &str) -> bool {
    matches!(language, Language::C | Language::Cpp)
        && !COMPLAINTS.iter().any(|own| said.contains(own))
}

/// Phrases that appear in the error messages of C and C++ compilers and linkers.
pub(crate) const COMPLAINTS: [&str; 4] =
    [": error:", ": fatal error:", "undefined reference", "multiple definition"];

/// Returns the reason why a run with status 0 is incomplete; `None` if it is complete, as far as
/// can be known.
fn cut(ran: &SuiteRun, expected: Option<usize>, with: TestSelection<'_>) -> Option<String> {
    let told = ran.run.as_ref().map_or(0, |run| run.tests.len());
    let open = ran.run.as_ref().and_then(|run| run.unfinished.first());
    match (open, expected) {
        (Some(open), _) if with.ends.finishes => Some(format!(
            "the process ended with status 0 in the middle of {}",
            if open.name.is_empty() { "the tests" } else { &open.name }
        )),
        (_, Some(expected)) if told < expected => {
            Some(format!("the command ended with status 0 after {told} of {expected} tests"))
        }
        _ => None,
    }
}

/// Interprets a run. `is_built` is true if code that reported no tests was built, rather than
/// failing to compile. A run that passed must report at least the `expected` number of tests, if
/// that is known.
pub(crate) fn judged(
    ran: &SuiteRun,
    is_built: bool,
    expected: Option<usize>,
    with: TestSelection<'_>,
) -> TrialResult {
    let failed = ran.failed();
    let index = |(name, id): &(&str, Option<&str>)| {
        let by_id = || id.and_then(|id| with.by_name.get(id));
        with.by_name.get(*name).or_else(by_id).copied()
    };
    let killed_by: Vec<usize> = failed.iter().filter_map(index).collect();
    let tests_run = ran.run.as_ref().map_or(0, |run| run.tests.len());
    let is_flaky = |(name, _): &(&str, Option<&str>)| with.flaky.iter().any(|own| own == name);
    // Status 0 does not prove that the tests passed, because the process may have ended in the
    // middle of a test.
    let cut = (ran.outcome == Outcome::Exited(0) && failed.is_empty())
        .then(|| cut(ran, expected, with))
        .flatten();
    let (fate, is_odd) = match ran.outcome {
        _ if !killed_by.is_empty() => (Fate::Killed, false),
        Outcome::TimedOut => (Fate::TimedOut, false),
        _ if cut.is_some() && (tests_run > 0 || is_built) => (Fate::Killed, false),
        Outcome::Exited(0) if tests_run > 0 => (Fate::Survived, false),
        // Flaky tests prove nothing.
        Outcome::Exited(_) if !failed.is_empty() && failed.iter().all(is_flaky) => {
            (Fate::Survived, false)
        }
        _ if tests_run == 0 && !is_built => (Fate::Unviable, true),
        _ => (Fate::Killed, true),
    };
    let reason = is_odd.then(|| {
        let said = ran.said.clone().map_or(String::new(), |said| format!("; it said: {said}"));
        format!("no test fails, but the command {}{said}", ran.outcome)
    });
    let reason = reason.or(cut);
    TrialResult { fate, killed_by, tests_run, seconds: ran.seconds, reason }
}
