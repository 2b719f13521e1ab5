//! Whether code whose tests notice every change is well tested, or so entangled that any change
//! makes everything fall apart: the question that the authors of Heckle left open. The score can't
//! tell, since both notice; three measures beside it can.
//!
//! - *Focus*: which share of the tests that fail with a change are the code's own.
//! - *Blast radius*: how many test files fail with it. Focus over that, all files of one's own
//!   counted as one, says how *local* failures are: 1 where one's own fail, and no others.
//! - *Brittleness*: which share of rewrites, which mean the same, fail a test.
//!
//! All are of changes with which every test ran that may use them; one at which the first failure
//! ended it says nothing. A mean of few has an interval: that of a share of as many trials (Clopper
//! and Pearson), rounded outwards. Of values between 0 and 1 with a given mean none spread more
//! than those that are 0 or 1, so it is too wide if anything. Where all that there are were tried,
//! nothing is left open, and both ends are the mean.
//!
//! A test file is a unit's own by its name (`test_stack.py` is that of `stack.py`); one that has
//! nobody's name is that of the source in which most functions lie that its tests use, if that is
//! more than half of them.

mod owners;

use crate::mutation::{Score, score};
use crate::policy::{BRITTLE, LOCAL, TESTED};
use assay_data::mutation::{Fate, MutantResult, Mutation};
use assay_stats::Interval;
use assay_stats::proportion::exact_interval;
use owners::Owners;
use std::collections::{BTreeMap, BTreeSet};

/// The level of the intervals.
const CONFIDENCE: f64 = 0.95;

/// What code is, by its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quadrant {
    /// Most changes are noticed by nobody.
    Untested,
    /// Changes are noticed, but all over the place.
    Tangled,
    /// Changes are noticed where they belong, but so is what changes nothing.
    Brittle,
    /// Changes are noticed by the code's own tests, and by few others.
    WellTested,
}

impl Quadrant {
    /// All, what needs attention most first.
    pub const ALL: [Self; 4] = [Self::Untested, Self::Tangled, Self::Brittle, Self::WellTested];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Untested => "untested",
            Self::Tangled => "tangled",
            Self::Brittle => "brittle",
            Self::WellTested => "well tested",
        }
    }
}

/// A mean with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Where it lies with 95 % confidence; `None`: not known.
    pub interval: Option<Interval>,
}

/// How some code and the tests are coupled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coupling {
    /// What the tests notice of it.
    pub score: Score,
    /// Changes with which all tests ran, and some failed.
    pub complete: usize,
    /// The share of the failing tests that are its own, in the mean; `None`: not known.
    pub focus: Option<Mean>,
    /// How many test files fail with a change, in the mean.
    pub radius: Option<Mean>,
    /// How local failures are: focus over the number of test files that fail, all of its own
    /// counted as one.
    pub locality: Option<Mean>,
    /// The test files of others that fail most often, with how many of the changes.
    pub foreign: Vec<(String, usize)>,
    /// Rewrites that were tried,
    pub rewrites: usize,
    /// those with which a test failed,
    pub failing: usize,
    /// and their share.
    pub brittleness: Option<Mean>,
    /// Indices of the tests that failed with rewrites, those first that failed most often.
    pub brittle_tests: Vec<usize>,
    /// What it is; `None`: there is too little to say.
    pub quadrant: Option<Quadrant>,
    /// Whether the intervals leave no doubt about that.
    pub is_clear: bool,
}

/// A class or module of several functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Index of its file.
    pub file: usize,
    /// Its name.
    pub name: String,
    /// How it and the tests are coupled.
    pub coupling: Coupling,
}

/// How the code of a project and its tests are coupled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Couplings {
    /// All of it,
    pub whole: Coupling,
    /// file by file,
    pub files: Vec<Coupling>,
    /// class by class,
    pub classes: Vec<Class>,
    /// and function by function.
    pub units: Vec<Coupling>,
}

/// Sums up; `None` where nobody asked for it. O(mutants · tests).
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
    let focus = mean(&focus, killed.len());
    let files = owners.count() as f64;
    let among_files = |counts: &[f64]| {
        let shares: Vec<f64> = counts.iter().map(|own| own / files).collect();
        mean(&shares, killed.len()).map(|own| Mean {
            mean: counts.iter().sum::<f64>() / counts.len() as f64,
            // One file fails at least.
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
    let pending = rewrites.iter().filter(|own| own.fate == Fate::Pending).count();
    let mut own = Coupling {
        score: score(mutants.iter().copied(), false),
        complete: complete.len(),
        focus,
        radius,
        locality: focus.zip(places).map(|(focus, places)| local(focus, places)),
        foreign,
        rewrites: tried.len(),
        failing,
        brittleness: mean(&fails, tried.len() + pending),
        brittle_tests,
        quadrant: None,
        is_clear: false,
    };
    (own.quadrant, own.is_clear) = judged(&own);
    own
}

/// The mean of values from 0 to 1, of which there would be `all`.
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
    // A sum that is whole but for its last digit is whole.
    let interval = end((sum + 1e-9).floor()).zip(end((sum - 1e-9).ceil().max(0.0)));
    let interval = interval.map(|(low, high)| Interval { lower: low.lower, upper: high.upper });
    Some(Mean { mean, interval })
}

/// One mean over the other; the ends are those that both leave open.
fn local(focus: Mean, places: Mean) -> Mean {
    let interval = focus.interval.zip(places.interval).map(|(focus, places)| Interval {
        lower: (focus.lower / places.upper).min(1.0),
        upper: (focus.upper / places.lower).min(1.0),
    });
    Mean { mean: focus.mean / places.mean, interval }
}

/// What code is, and whether that is beyond doubt.
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
        // Nothing could be written in another way.
        None => (Some(Quadrant::WellTested), is_known),
    }
}

#[cfg(test)]
mod tests;
