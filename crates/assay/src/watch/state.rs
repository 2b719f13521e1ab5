//! Decides what to run next, using autotest's state machine. All tests run first. After a change,
//! the tests that it affects run together with those that failed, until they pass. Then all tests
//! run again if anything failed since the last run of all of them. There are no side effects.

use std::collections::BTreeSet;

/// The tests to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// All tests.
    All,
    /// Only these, by name, in this order.
    These(Vec<String>),
}

/// Which runs of all tests start automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FullRuns {
    /// True if all tests run at the start.
    pub first: bool,
    /// True if all tests run when failing tests pass again, and when idle.
    pub later: bool,
}

/// The tests that a change affects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    /// Possibly all tests.
    All,
    /// These tests.
    These(Vec<String>),
}

/// The state of the tests.
#[derive(Clone, Debug)]
pub(crate) struct State {
    full: FullRuns,
    /// Tests that failed the last time they ran, in the order of their failures.
    failing: Vec<String>,
    /// True if something failed since the last run of all tests, which may affect tests that have
    /// not run since.
    tainted: bool,
    /// True if only some of the tests have run since the last run of all tests.
    in_part: bool,
    /// True if all tests ran at least once.
    all_ran: bool,
    /// True if some tests could not run, so that the files that they use are not known.
    stuck: bool,
}

/// The result of a run, as input for the next decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came<'a> {
    /// The tests that the run was meant to cover.
    pub what: &'a What,
    /// Every test that ran, and whether it failed.
    pub tests: &'a [(&'a str, bool)],
    /// True if the run as a whole failed: it crashed, or failed although no test did.
    pub broke: bool,
    /// True if tests are missing from the run: a test file could not be loaded, or the suite did
    /// not start.
    pub is_short: bool,
}

impl State {
    pub fn new(full: FullRuns) -> Self {
        let (failing, tainted, in_part, all_ran, stuck) = Default::default();
        Self { full, failing, tainted, in_part, all_ran, stuck }
    }

    /// Returns the run to start with, if any.
    pub fn first(&self) -> Option<What> {
        self.full.first.then_some(What::All)
    }

    /// Returns the failing tests.
    pub fn failing(&self) -> &[String] {
        &self.failing
    }

    /// Returns true if all tests ran and passed, and nothing ran since.
    pub fn all_is_green(&self) -> bool {
        self.all_ran && self.failing.is_empty() && !self.tainted && !self.in_part
    }

    /// Returns the tests to run after a change: those that fail, followed by those that the change
    /// affects. Returns `None` if the change affects nothing. As long as tests are missing, every
    /// change runs all tests.
    pub fn after_change(&self, touched: Touched) -> Option<What> {
        match touched {
            _ if self.stuck => Some(What::All),
            Touched::All => Some(What::All),
            Touched::These(touched) => {
                let known: BTreeSet<&String> = self.failing.iter().collect();
                let others = touched.iter().filter(|name| !known.contains(name));
                let all: Vec<String> = self.failing.iter().chain(others).cloned().collect();
                (!touched.is_empty()).then_some(What::These(all))
            }
        }
    }

    /// Returns a run of only the tests that failed.
    pub fn failed_again(&self) -> Option<What> {
        (!self.failing.is_empty()).then(|| What::These(self.failing.clone()))
    }

    /// Processes the result of a run, and returns the run that must follow immediately, if any.
    pub fn ran(&mut self, came: Came<'_>) -> Option<What> {
        let failed: Vec<&str> =
            came.tests.iter().filter(|(_, failed)| *failed).map(|(name, _)| *name).collect();
        let is_red = came.broke || !failed.is_empty();
        self.stuck = came.is_short || self.stuck && *came.what != What::All;
        if *came.what == What::All {
            if !came.broke || !came.tests.is_empty() {
                self.failing = failed.iter().map(|name| (*name).to_owned()).collect();
            }
            (self.tainted, self.in_part) = (is_red, false);
            self.all_ran |= !came.broke;
            return None;
        }
        let ran: BTreeSet<&str> = came.tests.iter().map(|(name, _)| *name).collect();
        // A test that was to run and no longer exists is not failing.
        let wanted: BTreeSet<&String> = match came.what {
            What::These(wanted) if !came.broke => wanted.iter().collect(),
            _ => BTreeSet::new(),
        };
        self.failing.retain(|name| !ran.contains(name.as_str()) && !wanted.contains(name));
        self.failing.splice(0..0, failed.iter().map(|name| (*name).to_owned()));
        (self.tainted, self.in_part) = (self.tainted || is_red, true);
        let is_green = !is_red && self.failing.is_empty();
        (is_green && self.tainted && self.full.later).then_some(What::All)
    }

    /// Returns the run to start when idle: all tests, if nothing fails and only some of them have
    /// run since the last complete run.
    pub fn when_idle(&self) -> Option<What> {
        (self.full.later && self.in_part && self.failing.is_empty()).then_some(What::All)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;

    const BOTH: FullRuns = FullRuns { first: true, later: true };

    fn these(names: &[&str]) -> What {
        What::These(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn touched(names: &[&str]) -> Touched {
        Touched::These(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn ran(state: &mut State, what: &What, tests: &[(&str, bool)]) -> Option<What> {
        state.ran(Came { what, tests, broke: false, is_short: false })
    }

    #[test]
    fn from_red_to_green_and_then_all_again() {
        let mut state = State::new(BOTH);
        assert_eq!(state.first(), Some(What::All));
        let all = [("a", false), ("b", true), ("c", true)];
        assert_eq!(ran(&mut state, &What::All, &all), None);
        assert_eq!(state.failing(), ["b", "c"]);
        // Failing tests first, then the affected ones, without duplicates.
        let next = state.after_change(touched(&["a", "c"])).unwrap();
        assert_eq!(next, these(&["b", "c", "a"]));
        assert_eq!(ran(&mut state, &next, &[("b", false), ("c", true), ("a", true)]), None);
        assert_eq!(state.failing(), ["c", "a"]);
        // A change that affects no test does not run the failing tests again either.
        assert_eq!(state.after_change(touched(&[])), None);
        let next = state.after_change(touched(&["a"])).unwrap();
        let green = [("c", false), ("a", false)];
        assert_eq!(ran(&mut state, &next, &green), Some(What::All));
        assert!(!state.all_is_green());
        assert_eq!(ran(&mut state, &What::All, &[("a", false)]), None);
        assert!(state.all_is_green());
    }

    #[test]
    fn without_a_failure_parts_need_no_full_run_but_when_nothing_is_to_do() {
        let mut state = State::new(BOTH);
        ran(&mut state, &What::All, &[("a", false), ("b", false)]);
        assert_eq!(state.when_idle(), None);
        let next = state.after_change(touched(&["a"])).unwrap();
        assert_eq!(ran(&mut state, &next, &[("a", false)]), None);
        assert_eq!(state.when_idle(), Some(What::All));
        let none = FullRuns { first: false, later: false };
        let mut state = State::new(none);
        assert_eq!(state.first(), None);
        ran(&mut state, &these(&["a"]), &[("a", true)]);
        assert_eq!(ran(&mut state, &these(&["a"]), &[("a", false)]), None);
        assert_eq!(state.when_idle(), None);
    }

    #[test]
    fn a_run_that_breaks_is_red_and_knows_nothing_of_tests_that_did_not_run() {
        let mut state = State::new(BOTH);
        ran(&mut state, &What::All, &[("a", true)]);
        let broken = |what| Came { what, tests: &[], broke: true, is_short: true };
        state.ran(broken(&What::All));
        assert_eq!(state.failing(), ["a"]);
        let only = these(&["a"]);
        assert_eq!(state.ran(broken(&only)), None);
        assert_eq!(state.failing(), ["a"]);
        // A test that no longer exists does not count as failing.
        assert_eq!(ran(&mut state, &only, &[("b", false)]), Some(What::All));
    }

    #[test]
    fn while_tests_are_missing_any_change_runs_all() {
        let mut state = State::new(FullRuns { first: true, later: false });
        let all = [("a", false), ("b", false)];
        ran(&mut state, &What::All, &all);
        assert_eq!(state.after_change(touched(&[])), None);
        // A module could not be imported: no test ran.
        state.ran(Came { what: &What::All, tests: &[], broke: true, is_short: true });
        // The old text is back, which no test is known to use.
        assert_eq!(state.after_change(touched(&[])), Some(What::All));
        // One file could not be loaded; the tests of another one ran.
        let came = Came { what: &What::All, tests: &all[..1], broke: true, is_short: true };
        state.ran(came);
        assert_eq!(state.after_change(touched(&["a"])), Some(What::All));
        ran(&mut state, &these(&["a"]), &all[..1]);
        assert_eq!(state.after_change(touched(&[])), Some(What::All));
        ran(&mut state, &What::All, &all);
        assert_eq!(state.after_change(touched(&[])), None);
        assert!(state.all_is_green());
    }
}
