//! Runs slow test programs test by test. Each test runs alone while the switch records the
//! functions that it reaches. A change can then be tried with only the tests that reach it,
//! starting with those that killed the most mutants, and then the quickest.
//!
//! This is done only if it saves time, since programs that take milliseconds finish before tests
//! could be selected, and only for programs whose tests all pass alone.

use crate::arena::{Arena, TestSelection, TrialResult, judged, untried};
use crate::built::{CopyBuild, Kind, SingleTestReach, Stage, SwitchedMutant};
use crate::policy::{CHOOSING_SHARE, PATIENCE_MORE, SLOW_PROGRAM};
use crate::suite::RunLimits;
use crate::switched::limit;
use assay_data::mutation::Fate;
use assay_measure::Outcome;
use assay_suites::programs::Program;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

/// Splits a test's name into the prefix for its program and the name within the program.
fn parts(name: &str) -> Option<(&str, &str)> {
    name.split_once(": ")
}

/// Returns the name by which a program selects a test. In Go, a test and its subtests are selected
/// together.
fn selected_name(own: &str) -> &str {
    own.split('/').next().unwrap_or(own)
}

impl CopyBuild {
    /// Returns the indices of all tests that reach a function, or `None` if it is also reached by
    /// programs whose tests were not examined.
    pub fn tests_that_reach(&self, unit: usize) -> Option<Vec<usize>> {
        if self.driven.is_some() {
            return self.singly.tests.get(&unit).cloned();
        }
        let programs = self.that_reach(unit)?;
        let is_known = |own: &&Program| self.singly.programs.contains(&own.tests);
        let tests = self.singly.tests.get(&unit)?;
        programs.iter().all(is_known).then(|| tests.clone())
    }
}

impl Arena<'_> {
    /// Runs the tests of slow programs one by one until `deadline`, if the number of changes in the
    /// functions that they reach makes this worthwhile.
    ///
    /// # Errors
    ///
    /// Fails if the switch cannot be set or tests cannot be started.
    pub fn single_out(
        &mut self,
        changes: &HashMap<usize, usize>,
        with: TestSelection<'_>,
        deadline: Option<Instant>,
    ) -> anyhow::Result<()> {
        let Some(mut built) = self.built.take_if(|own| own.driven.is_none()) else { return Ok(()) };
        let mut known = SingleTestReach::default();
        let telling = built.stages.iter().filter(|own| own.kind == Kind::Telling);
        let programs: Vec<Program> = telling.flat_map(|own| own.programs.clone()).collect();
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for own in programs.iter().filter(|own| !own.tests.is_empty()) {
            *names.entry(&own.tests).or_default() += 1;
        }
        // Tests of two programs with the same name cannot be distinguished.
        for own in programs.iter().filter(|own| names.get(own.tests.as_str()) == Some(&1)) {
            let reached = built.reached.keys().filter(|unit| {
                let programs = built.that_reach(**unit);
                programs.is_some_and(|all| all.iter().any(|other| other.words == own.words))
            });
            let changes = reached.filter_map(|unit| changes.get(unit)).sum();
            if let Some(tests) = self.one_by_one(own, &built, changes, with, deadline)? {
                known.programs.insert(own.tests.clone());
                for (unit, mut own) in tests {
                    known.tests.entry(unit).or_default().append(&mut own);
                }
            }
        }
        self.set("0")?;
        built.singly = known;
        self.built = Some(built);
        Ok(())
    }

    /// Returns the known facts about single tests of the current build.
    pub fn singly(&self) -> SingleTestReach {
        self.built.as_ref().map(|own| own.singly.clone()).unwrap_or_default()
    }

    /// Returns the tests of a program that reach each function, or `None` if this is not worthwhile
    /// or if not all tests pass alone.
    fn one_by_one(
        &mut self,
        program: &Program,
        built: &CopyBuild,
        changes: usize,
        with: TestSelection<'_>,
        deadline: Option<Instant>,
    ) -> anyhow::Result<Option<BTreeMap<usize, Vec<usize>>>> {
        let is_own = |name: &str| parts(name).is_some_and(|(before, _)| before == program.tests);
        let tests: Vec<usize> =
            (0..with.all.len()).filter(|test| is_own(&with.all[*test].name)).collect();
        let seconds: f64 = tests.iter().filter_map(|test| with.all[*test].seconds).sum();
        let is_numbered = |test: &usize| with.all[*test].name.contains(" #");
        if tests.len() < 2 || seconds < SLOW_PROGRAM || tests.iter().any(is_numbered) {
            return Ok(None);
        }
        // The time limit is the time that this may save, plus a margin.
        let most = seconds * changes as f64 * CHOOSING_SHARE;
        if seconds > most {
            return Ok(None);
        }
        let most = Duration::from_secs_f64(most) + PATIENCE_MORE;
        let began = Instant::now();
        let mut reached: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for of_one in chosen(program, &tests, with) {
            if began.elapsed() > most || deadline.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
            self.set("r")?;
            self.reached();
            let top = self.copy.top();
            let how = RunLimits { stops: true, ..limit(seconds, built) };
            let own = [&of_one.0];
            let ran = self.suite.again(&mut self.runs, &top, (&own, &built.kept), how)?;
            let Some(ran) = ran.filter(|ran| ran.outcome == Outcome::Exited(0)) else {
                return Ok(None);
            };
            let passed = ran.run.iter().flat_map(|run| &run.tests).map(|test| test.name.as_str());
            let passed: HashSet<&str> = passed.collect();
            if !of_one.1.iter().all(|test| passed.contains(with.all[*test].name.as_str())) {
                return Ok(None);
            }
            for unit in self.reached().into_keys() {
                reached.entry(unit).or_default().extend(&of_one.1);
            }
        }
        Ok(Some(reached))
    }

    /// Tries a mutant with the tests that reach it. Returns `None` if these are unknown.
    ///
    /// # Errors
    ///
    /// Fails if tests cannot be started.
    pub fn tried_singly(
        &mut self,
        (programs, stage): (&[&Program], &Stage),
        built: &CopyBuild,
        behind: SwitchedMutant,
        with: TestSelection<'_>,
    ) -> anyhow::Result<Option<TrialResult>> {
        let known = &built.singly;
        let tests = known.tests.get(&behind.unit).map_or(&[][..], Vec::as_slice);
        let of = |program: &Program| -> Vec<usize> {
            let own = |test: &&usize| {
                parts(&with.all[**test].name).is_some_and(|(before, _)| before == program.tests)
            };
            tests.iter().filter(own).copied().collect()
        };
        let is_known = |own: &Program| known.programs.contains(&own.tests) && !of(own).is_empty();
        if !programs.iter().any(|own| is_known(own)) {
            return Ok(None);
        }
        let (chosen_of, whole): (Vec<&Program>, Vec<&Program>) =
            programs.iter().copied().partition(|own| is_known(own));
        let mut order: Vec<usize> = chosen_of.iter().flat_map(|own| of(own)).collect();
        self.sort(&mut order, with);
        let (first, others) = order.split_at(order.len().min(1));
        let seconds = |tests: &[usize]| -> f64 {
            tests.iter().filter_map(|test| with.all[*test].seconds).sum()
        };
        let only = |tests: &[usize]| -> Vec<Program> {
            let of_program = |own: &&Program| {
                let names: Vec<usize> =
                    of(own).into_iter().filter(|test| tests.contains(test)).collect();
                with_only(own, &names, with)
            };
            chosen_of.iter().filter_map(of_program).collect()
        };
        // A selected test reports at least itself, and perhaps its subtests.
        let step = |tests: &[usize]| (only(tests), seconds(tests), Some(tests.len()));
        let (first, first_seconds, one) = step(first);
        let (others, others_seconds, some) = step(others);
        let all_of_whole = stage.tests_of(&whole);
        let steps = [
            (first.iter().collect(), first_seconds, one),
            (whole, stage.seconds, all_of_whole),
            (others.iter().collect(), others_seconds, some),
        ];
        let mut came = untried(Fate::Survived);
        for (programs, seconds, expected) in steps.into_iter().filter(|(own, ..)| !own.is_empty()) {
            let ran = self.run_with(behind, Some(&programs), seconds, built)?;
            let own = judged(&ran, true, expected, with);
            came = TrialResult {
                tests_run: came.tests_run + own.tests_run,
                seconds: came.seconds + ran.seconds,
                ..own
            };
            if came.fate != Fate::Survived {
                break;
            }
        }
        Ok(Some(came))
    }

    /// Sorts tests by the number of mutants killed, then by duration, quickest first.
    fn sort(&self, tests: &mut [usize], with: TestSelection<'_>) {
        let kills = |test: &usize| self.kills.get(test).copied().unwrap_or_default();
        let seconds = |test: &usize| with.all[*test].seconds.unwrap_or(f64::INFINITY);
        tests.sort_by(|a, b| {
            let more = kills(b).cmp(&kills(a));
            more.then(seconds(a).total_cmp(&seconds(b))).then(a.cmp(b))
        });
    }
}

/// Returns the program restricted to these tests.
fn with_only(program: &Program, tests: &[usize], with: TestSelection<'_>) -> Option<Program> {
    let name = |test: &usize| {
        let (_, own) = parts(&with.all[*test].name)?;
        Some(selected_name(own).to_owned())
    };
    let mut only: Vec<String> = tests.iter().filter_map(name).collect();
    only.dedup();
    (!only.is_empty()).then(|| Program { only, ..program.clone() })
}

/// Returns a copy of the program for each selectable name, with the tests that the name selects.
fn chosen(
    program: &Program,
    tests: &[usize],
    with: TestSelection<'_>,
) -> Vec<(Program, Vec<usize>)> {
    let mut all: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for test in tests {
        let Some((_, own)) = parts(&with.all[*test].name) else { continue };
        all.entry(selected_name(own).to_owned()).or_default().push(*test);
    }
    let one = |(own, tests): (String, Vec<usize>)| {
        (Program { only: vec![own], ..program.clone() }, tests)
    };
    all.into_iter().map(one).collect()
}

/// Counts the changes of each function, by the function's number.
pub(crate) fn counted(units: impl Iterator<Item = usize>) -> HashMap<usize, usize> {
    let mut counts = HashMap::new();
    units.for_each(|unit| *counts.entry(unit).or_default() += 1);
    counts
}
