//! Distinguishes code that is well tested from code so entangled that any change breaks everything,
//! a question left open by the authors of Heckle. The mutation score can't distinguish the two, but
//! three further measures can.
//!
//! - *Focus*: of the tests that fail with a change, the share that are the code's own.
//! - *Blast radius*: the number of test files that fail with a change. Focus divided by this
//!   number, with all of the code's own files counted as one, is the *locality* of failures: 1 if
//!   only its own tests fail.
//! - *Brittleness*: the share of equivalent rewrites that fail a test.
//!
//! Focus and blast radius use only changes for which every relevant test ran, not those whose run
//! ended at the first failure. A mean of few values has the interval of a proportion with as many
//! trials (Clopper and Pearson), rounded outwards. Among values between 0 and 1 with a given mean,
//! zeros and ones have the largest spread, so the interval is conservative. If the mean covers all
//! changes that are or might be detected, or all rewrites, there is no uncertainty, and both ends
//! equal the mean.
//!
//! A test file belongs to a source by its name (`test_stack.py` to `stack.py`). A file that matches
//! no name belongs to the source that contains more than half of the functions its tests use, if
//! any.

mod owners;

use crate::mutation::score::{Score, score};
use crate::policy::{BRITTLE, LOCAL, TESTED};
use assay_data::mutation::{Fate, MutantResult, Mutation};
use assay_stats::Interval;
use assay_stats::proportion::exact_interval;
use owners::Owners;
use std::collections::{BTreeMap, BTreeSet};

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Classes of code by the quality of its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quadrant {
    /// Most changes go undetected.
    Untested,
    /// Changes are detected, but by tests all over the project.
    Tangled,
    /// Changes are detected by the right tests, but so are equivalent rewrites.
    Brittle,
    /// Changes are detected by the code's own tests, and by few others.
    WellTested,
}

impl Quadrant {
    /// All classes; those in most need of attention first.
    pub const ALL: [Self; 4] = [Self::Untested, Self::Tangled, Self::Brittle, Self::WellTested];

    /// Returns the word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Untested => "untested",
            Self::Tangled => "tangled",
            Self::Brittle => "brittle",
            Self::WellTested => "well tested",
        }
    }
}

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// 95 % confidence interval; `None` if unknown.
    pub interval: Option<Interval>,
}

/// How the tests are coupled to some code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coupling {
    /// The mutation score of the code.
    pub score: Score,
    /// Number of changes for which all relevant tests ran and some failed.
    pub complete: usize,
    /// Mean share of the failing tests that are the code's own; `None` if unknown.
    pub focus: Option<Mean>,
    /// Mean number of test files that fail with a change; `None` if unknown.
    pub radius: Option<Mean>,
    /// Locality of failures: focus divided by the number of failing test files, with all of the
    /// code's own files counted as one.
    pub locality: Option<Mean>,
    /// Test files of other code that fail, most frequent first, each with the number of changes
    /// that make it fail.
    pub foreign: Vec<(String, usize)>,
    /// Number of equivalent rewrites that were tried.
    pub rewrites: usize,
    /// Number of rewrites that the tests detected, including timeouts.
    pub failing: usize,
    /// Share of rewrites that the tests detected; `None` if none were tried.
    pub brittleness: Option<Mean>,
    /// Indices of the tests that failed with rewrites, most frequent first.
    pub brittle_tests: Vec<usize>,
    /// The classification; `None` if there are too few data.
    pub quadrant: Option<Quadrant>,
    /// True if the classification is the same throughout the intervals.
    pub is_clear: bool,
}

/// A class or module of several functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Index of the file that contains the class or module.
    pub file: usize,
    /// Name of the class or module.
    pub name: String,
    /// The coupling of the class and the tests.
    pub coupling: Coupling,
}

/// How the tests are coupled to a project's code, at each level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Couplings {
    /// The coupling of the whole project.
    pub whole: Coupling,
    /// The coupling of each file.
    pub files: Vec<Coupling>,
    /// The coupling of each class.
    pub classes: Vec<Class>,
    /// The coupling of each function.
    pub units: Vec<Coupling>,
}

/// Computes the couplings. Returns `None` if they were not requested. O(mutants · tests).
pub fn couplings(mutation: &Mutation) -> Option<Couplings> {
    if !mutation.has_coupling {
        return None;
    }
    let owners = Owners::of(mutation);
    let of = |is_own: &dyn Fn(&MutantResult) -> bool| {
        let mutants: Vec<&MutantResult> =
            mutation.mutants.iter().filter(|own| is_own(own)).collect();
        let rewrites: Vec<&MutantResult> =
            mutation.rewrites.iter().filter(|own| is_own(own)).collect();
        coupling(mutation, &owners, &mutants, &rewrites)
    };
    let file_of = |own: &MutantResult| mutation.units.get(own.unit).map(|unit| unit.file);
    let mut names: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for unit in &mutation.units {
        if let Some((class, _)) = unit.name.rsplit_once('.') {
            *names.entry((unit.file, class)).or_default() += 1;
        }
    }
    let classes = names.into_iter().filter(|(_, units)| *units > 1).map(|((file, name), _)| {
        let is_own = |own: &MutantResult| {
            mutation.units.get(own.unit).is_some_and(|unit| {
                unit.file == file && unit.name.rsplit_once('.').is_some_and(|own| own.0 == name)
            })
        };
        Class { file, name: name.to_owned(), coupling: of(&is_own) }
    });
    Some(Couplings {
        whole: of(&|_| true),
        files: (0..mutation.files.len())
            .map(|file| of(&|own| file_of(own) == Some(file)))
            .collect(),
        classes: classes.collect(),
        units: (0..mutation.units.len()).map(|unit| of(&|own| own.unit == unit)).collect(),
    })
}

fn coupling(
    mutation: &Mutation,
    owners: &Owners,
    mutants: &[&MutantResult],
    rewrites: &[&MutantResult],
) -> Coupling {
    let noticed = |own: &&&MutantResult| own.fate == Fate::Killed && !own.killed_by.is_empty();
    let killed: Vec<&&MutantResult> = mutants.iter().filter(noticed).collect();
    let complete: Vec<&&&MutantResult> = killed.iter().filter(|own| own.is_complete).collect();
    let (mut focus, mut radius, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let mut foreign: BTreeMap<&str, usize> = BTreeMap::new();
    for own in &complete {
        let Some(file) = mutation.units.get(own.unit).map(|unit| unit.file) else { continue };
        let groups: BTreeSet<usize> =
            own.killed_by.iter().filter_map(|test| owners.group(*test)).collect();
        if groups.is_empty() {
            continue;
        }
        radius.push(groups.len() as f64);
        let (of_its_own, others): (Vec<usize>, Vec<usize>) =
            groups.iter().partition(|group| owners.owner(**group) == Some(file));
        places.push((others.len() + of_its_own.len().min(1)) as f64);
        for group in others {
            *foreign.entry(owners.name(group)).or_default() += 1;
        }
        if !owners.tell_apart(file) {
            continue;
        }
        let is_own = |test: &&usize| {
            owners.group(**test).and_then(|group| owners.owner(group)) == Some(file)
        };
        let share = own.killed_by.iter().filter(is_own).count() as f64 / own.killed_by.len() as f64;
        focus.push(share);
    }
    let pending =
        |all: &[&MutantResult]| all.iter().filter(|own| own.fate == Fate::Pending).count();
    // Any change that was not tried might be detected.
    let detectable = killed.len() + pending(mutants);
    let focus = mean(&focus, detectable);
    let files = owners.count() as f64;
    let among_files = |counts: &[f64]| {
        let shares: Vec<f64> = counts.iter().map(|own| own / files).collect();
        mean(&shares, detectable).map(|own| Mean {
            mean: counts.iter().sum::<f64>() / counts.len() as f64,
            // At least one file fails.
            interval: own.interval.map(|own| Interval {
                lower: (own.lower * files).max(1.0),
                upper: (own.upper * files).max(1.0),
            }),
        })
    };
    let (radius, places) = (among_files(&radius), among_files(&places));
    let tried: Vec<&&MutantResult> = rewrites
        .iter()
        .filter(|own| matches!(own.fate, Fate::Killed | Fate::TimedOut | Fate::Survived))
        .collect();
    let fails: Vec<f64> =
        tried.iter().map(|own| f64::from(u8::from(own.fate.is_detected()))).collect();
    let failing = tried.iter().filter(|own| own.fate.is_detected()).count();
    let mut by_test: BTreeMap<usize, usize> = BTreeMap::new();
    for test in tried.iter().flat_map(|own| &own.killed_by) {
        *by_test.entry(*test).or_default() += 1;
    }
    let mut brittle_tests: Vec<usize> = by_test.keys().copied().collect();
    brittle_tests.sort_by_key(|test| (std::cmp::Reverse(by_test[test]), *test));
    let mut foreign: Vec<(String, usize)> =
        foreign.into_iter().map(|(name, times)| (name.to_owned(), times)).collect();
    foreign.sort_by_key(|(name, times)| (std::cmp::Reverse(*times), name.clone()));
    let mut own = Coupling {
        score: score(mutants.iter().copied(), false),
        complete: complete.len(),
        focus,
        radius,
        locality: focus.zip(places).map(|(focus, places)| local(focus, places)),
        foreign,
        rewrites: tried.len(),
        failing,
        brittleness: mean(&fails, tried.len() + pending(rewrites)),
        brittle_tests,
        quadrant: None,
        is_clear: false,
    };
    (own.quadrant, own.is_clear) = judged(&own);
    own
}

/// Returns the mean of values from 0 to 1, with its interval; `all` is the number of possible
/// values.
fn mean(values: &[f64], all: usize) -> Option<Mean> {
    if values.is_empty() {
        return None;
    }
    let (sum, count) = (values.iter().sum::<f64>(), values.len());
    let mean = sum / count as f64;
    if count >= all {
        return Some(Mean { mean, interval: Some(Interval { lower: mean, upper: mean }) });
    }
    let end = |successes: f64| exact_interval(successes as u64, count as u64, CONFIDENCE);
    // A sum that differs from a whole number only by rounding counts as whole.
    let interval = end((sum + 1e-9).floor()).zip(end((sum - 1e-9).ceil().max(0.0)));
    let interval = interval.map(|(low, high)| Interval { lower: low.lower, upper: high.upper });
    Some(Mean { mean, interval })
}

/// Returns the ratio of two means. The ends of its interval follow from those of both means.
fn local(focus: Mean, places: Mean) -> Mean {
    let interval = focus.interval.zip(places.interval).map(|(focus, places)| Interval {
        lower: (focus.lower / places.upper).min(1.0),
        upper: (focus.upper / places.lower).min(1.0),
    });
    Mean { mean: focus.mean / places.mean, interval }
}

/// Returns the classification, and whether it is certain.
fn judged(own: &Coupling) -> (Option<Quadrant>, bool) {
    let Some(share) = own.score.share else { return (None, false) };
    let beyond = |interval: Option<Interval>, threshold: f64| {
        interval.is_some_and(|own| own.lower >= threshold || own.upper < threshold)
    };
    let is_known = beyond(own.score.interval, TESTED);
    if share < TESTED {
        return (Some(Quadrant::Untested), is_known);
    }
    let Some(locality) = own.locality else {
        let is_brittle = own.brittleness.is_some_and(|own| own.mean >= BRITTLE);
        return (is_brittle.then_some(Quadrant::Brittle), false);
    };
    let is_known = is_known && beyond(locality.interval, LOCAL);
    if locality.mean < LOCAL {
        return (Some(Quadrant::Tangled), is_known);
    }
    match own.brittleness {
        Some(brittleness) => {
            let is_known = is_known && beyond(brittleness.interval, BRITTLE);
            let is_brittle = brittleness.mean >= BRITTLE;
            (Some(if is_brittle { Quadrant::Brittle } else { Quadrant::WellTested }), is_known)
        }
        // There was nothing to rewrite.
        None => (Some(Quadrant::WellTested), is_known),
    }
}

#[cfg(test)]
mod tests;
