//! Test programs that take long, test by test: each test runs alone, and the switch notes which functions it reaches. So a change is tried with the tests that
//! reach it, those that noticed most first, then the quickest.
//!
//! That is done where it pays (programs that take milliseconds are over before anything is chosen), and believed of programs all of whose tests pass alone.

use crate::arena::{Arena, Came, With, judged, untried};
use crate::policy::{CHOOSING_SHARE, PATIENCE_MORE, SLOW_PROGRAM};
use crate::suite::How;
use crate::switched::{Behind, Built, Kind, Stage, limit};
use assay_data::mutation::Fate;
use assay_measure::Outcome;
use assay_suites::programs::Program;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

/// What is known of single tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Singly {
    /// The programs whose tests it is known of, by what stands before the names of their tests.
    programs: HashSet<String>,
    /// The tests that reach each function, by its number.
    tests: HashMap<usize, Vec<usize>>,
}

impl Singly {
    /// The given tests of each function, in any program.
    pub fn of(tests: HashMap<usize, Vec<usize>>) -> Self {
        Self { programs: HashSet::new(), tests }
    }

    /// The tests that reach each function, by its number.
    pub fn tests(&self) -> &HashMap<usize, Vec<usize>> {
        &self.tests
    }
}

/// What stands before a test's name, and its own.
fn parts(name: &str) -> Option<(&str, &str)> {
    name.split_once(": ")
}

/// What a program is asked for to run a test: in Go a test and those within it are one.
fn asked(own: &str) -> &str {
    own.split('/').next().unwrap_or(own)
}

impl Built {
    /// All tests that reach a function; `None`: programs reach it of whose tests nobody knows.
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
    /// Runs the tests of slow programs one by one, where so many changes are to be tried of each function that it pays.
    ///
    /// # Errors
    /// When the switch can't be set, or tests not be started.
    pub fn single_out(
        &mut self,
        changes: &HashMap<usize, usize>,
        with: With<'_>,
    ) -> anyhow::Result<()> {
        let Some(mut built) = self.built.take_if(|own| own.driven.is_none()) else { return Ok(()) };
        let mut known = Singly::default();
        let telling = built.stages.iter().filter(|own| own.kind == Kind::Telling);
        let programs: Vec<Program> = telling.flat_map(|own| own.programs.clone()).collect();
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for own in programs.iter().filter(|own| !own.tests.is_empty()) {
            *names.entry(&own.tests).or_default() += 1;
        }
        // Of two of one name nobody knows whose tests are whose.
        for own in programs.iter().filter(|own| names.get(own.tests.as_str()) == Some(&1)) {
            let reached = built.reached.keys().filter(|unit| {
                let programs = built.that_reach(**unit);
                programs.is_some_and(|all| all.iter().any(|other| other.words == own.words))
            });
            let changes = reached.filter_map(|unit| changes.get(unit)).sum();
            if let Some(tests) = self.one_by_one(own, &built, changes, with)? {
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

    /// What is known of single tests of what is built.
    pub fn singly(&self) -> Singly {
        self.built.as_ref().map(|own| own.singly.clone()).unwrap_or_default()
    }

    /// Which tests of a program reach each function; `None`: it does not pay, or they don't pass alone.
    fn one_by_one(
        &mut self,
        program: &Program,
        built: &Built,
        changes: usize,
        with: With<'_>,
    ) -> anyhow::Result<Option<BTreeMap<usize, Vec<usize>>>> {
        let is_own = |name: &str| parts(name).is_some_and(|(before, _)| before == program.tests);
        let tests: Vec<usize> =
            (0..with.all.len()).filter(|test| is_own(&with.all[*test].name)).collect();
        let seconds: f64 = tests.iter().filter_map(|test| with.all[*test].seconds).sum();
        let is_numbered = |test: &usize| with.all[*test].name.contains(" #");
        if tests.len() < 2 || seconds < SLOW_PROGRAM || tests.iter().any(is_numbered) {
            return Ok(None);
        }
        // Nobody waits much longer for it than it may save.
        let most = seconds * changes as f64 * CHOOSING_SHARE;
        if seconds > most {
            return Ok(None);
        }
        let most = Duration::from_secs_f64(most) + PATIENCE_MORE;
        let began = Instant::now();
        let mut reached: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for of_one in chosen(program, &tests, with) {
            if began.elapsed() > most {
                return Ok(None);
            }
            self.set("r")?;
            self.reached();
            let top = self.copy.top();
            let how = How { stops: true, ..limit(seconds, built) };
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

    /// Tries a mutant with the tests that reach it, where it is known which; `None`: it is not.
    ///
    /// # Errors
    /// When tests can't be started.
    pub fn tried_singly(
        &mut self,
        (programs, stage): (&[&Program], &Stage),
        built: &Built,
        behind: Behind,
        with: With<'_>,
    ) -> anyhow::Result<Option<Came>> {
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
        let (first, first_seconds) = (only(first), seconds(first));
        let (others, others_seconds) = (only(others), seconds(others));
        let steps = [
            (first.iter().collect(), first_seconds),
            (whole, stage.seconds),
            (others.iter().collect(), others_seconds),
        ];
        let mut came = untried(Fate::Survived);
        for (programs, seconds) in steps.into_iter().filter(|(own, _)| !own.is_empty()) {
            let ran = self.run_with(behind, Some(&programs), seconds, built)?;
            let own = judged(&ran, true, None, with);
            came = Came {
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

    /// Those that noticed most first, then the quickest.
    fn sort(&self, tests: &mut [usize], with: With<'_>) {
        let kills = |test: &usize| self.kills.get(test).copied().unwrap_or_default();
        let seconds = |test: &usize| with.all[*test].seconds.unwrap_or(f64::INFINITY);
        tests.sort_by(|a, b| {
            let more = kills(b).cmp(&kills(a));
            more.then(seconds(a).total_cmp(&seconds(b))).then(a.cmp(b))
        });
    }
}

/// A program held to what it calls these tests.
fn with_only(program: &Program, tests: &[usize], with: With<'_>) -> Option<Program> {
    let name = |test: &usize| {
        let (_, own) = parts(&with.all[*test].name)?;
        Some(asked(own).to_owned())
    };
    let mut only: Vec<String> = tests.iter().filter_map(name).collect();
    only.dedup();
    (!only.is_empty()).then(|| Program { only, ..program.clone() })
}

/// A program once for each of what it can be held to, with the tests that are in that.
fn chosen(program: &Program, tests: &[usize], with: With<'_>) -> Vec<(Program, Vec<usize>)> {
    let mut all: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for test in tests {
        let Some((_, own)) = parts(&with.all[*test].name) else { continue };
        all.entry(asked(own).to_owned()).or_default().push(*test);
    }
    let one = |(own, tests): (String, Vec<usize>)| {
        (Program { only: vec![own], ..program.clone() }, tests)
    };
    all.into_iter().map(one).collect()
}

/// So many changes there are of each function, by its number.
pub(crate) fn counted(units: impl Iterator<Item = usize>) -> HashMap<usize, usize> {
    let mut counts = HashMap::new();
    units.for_each(|unit| *counts.entry(unit).or_default() += 1);
    counts
}
