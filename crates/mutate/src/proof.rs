//! The proof, before anything is believed: a change that must be noticed is, and one that changes nothing is not. Tests may run another copy of what is
//! changed (one that is installed), and then notice nothing; or keep something of one run for the next, and then notice everything.

use crate::arena::{Arena, Came, Change, With};
use crate::policy::PROOFS;
use crate::sources::Source;
use anyhow::{anyhow, bail};
use assay_data::mutation::{Fate, MutantResult};
use assay_mutants::controls::{certain_killer, certain_survivor};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Whether a change of a function was noticed already, how many tests use it, and which, where that is known.
type Used<'a> = (bool, usize, Option<&'a [usize]>);

/// In what processes a change is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way<'a> {
    /// Those of their own.
    Plain,
    /// Forks of one that has the tests loaded, which is right for these mutants.
    Loaded(&'a [bool]),
    /// Forks of one that has loaded the framework.
    Early,
}

/// Tries both, where most tests are; where there is `patience` until a moment only, with the quickest tests, and the second one only if it is over by then.
///
/// # Errors
/// When one of them has not the fate that it must have, or the tests can't be started.
pub(crate) fn of(
    arena: &mut Arena<'_>,
    sources: &[Source],
    origins: &[(usize, usize)],
    mutants: &[MutantResult],
    with: With<'_>,
    (way, patience): (Way<'_>, Option<Instant>),
) -> anyhow::Result<()> {
    // The functions that tests use, the most used first.
    let mut used: BTreeMap<(usize, usize), Used<'_>> = BTreeMap::new();
    for (index, (own, (source, number))) in mutants.iter().zip(origins).enumerate() {
        if !matches!(own.fate, Fate::Uncovered | Fate::Absent)
            && !matches!(way, Way::Loaded(later) if later.get(index) != Some(&true))
            && let Some(mutant) = sources.get(*source).and_then(|own| own.found.all.get(*number))
        {
            let tests = own.covered_by.as_deref();
            let count = tests.map_or(with.all.len(), <[usize]>::len);
            let known = used.entry((*source, mutant.unit)).or_insert((false, count, tests));
            let is_noticed = known.0 || own.fate == Fate::Killed;
            *known = if count > known.1 {
                (is_noticed, count, tests)
            } else {
                (is_noticed, known.1, known.2)
            };
        }
    }
    if used.is_empty() {
        return Ok(());
    }
    let mut order: Vec<_> = used.into_iter().collect();
    let seconds = |tests: Option<&[usize]>| -> f64 {
        let all = 0..with.all.len();
        let tests = tests.map_or_else(|| all.collect(), <[usize]>::to_vec);
        with.beside + tests.iter().filter_map(|test| with.all[*test].seconds).sum::<f64>()
    };
    match patience {
        Some(_) => {
            order.sort_by(|(_, one), (_, other)| seconds(one.2).total_cmp(&seconds(other.2)))
        }
        None => order.sort_by_key(|(place, (is_noticed, count, _))| {
            (!is_noticed, std::cmp::Reverse(*count), *place)
        }),
    }
    let is_too_late = |tests| {
        let ends = || Instant::now().checked_add(Duration::from_secs_f64(seconds(tests)));
        patience.is_some_and(|until| ends().is_none_or(|own| own > until))
    };
    // A fork that can't do it proves nothing of forks.
    let mut attempt = |change: Change<'_>, only| match way {
        Way::Plain => arena.attempt(change, With { only, ..with }).map(Some),
        Way::Loaded(_) => Ok(arena.in_a_fork(change, With { only, ..with })),
        Way::Early => arena.in_an_early_fork(change, With { only, ..with }),
    };
    let mut survived = false;
    let mut tried = Vec::new();
    for ((source, number), (_, _, tests)) in order {
        if tried.len() == PROOFS {
            break;
        }
        let source = &sources[source];
        if !survived && !is_too_late(tests) {
            let same = certain_survivor(source.language, &source.text);
            let Some(came) = attempt(change(source, &same, number), tests)? else { continue };
            if came.fate != Fate::Survived {
                bail!(noticed(source, &came, with));
            }
            survived = true;
        }
        // The first change that is noticed proves as much.
        if is_too_late(tests) {
            return Ok(());
        }
        let unit = &source.found.units[number];
        let Some(killer) = certain_killer(source.language, unit, &source.text) else { continue };
        let Some(came) = attempt(change(source, &killer, number), tests)? else { continue };
        if came.fate.is_detected() {
            return Ok(());
        }
        tried.push(format!("{} of {}", unit.name, source.path));
    }
    if tried.is_empty() {
        bail!("no function that tests use could be changed to see whether they notice");
    }
    Err(unnoticed(&tried))
}

/// No test noticed an error, wherever it was planted.
pub(crate) fn unnoticed(tried: &[String]) -> anyhow::Error {
    anyhow!(
        "an error was planted in {}, and no test noticed: they run another copy of the code. See where it is imported from (an installed package, PYTHONPATH, GEM_PATH), and have the tests use what is in the directory that they are started in",
        tried.join(", then in ")
    )
}

/// What is said where tests notice what changes nothing.
fn noticed(source: &Source, came: &Came, with: With<'_>) -> String {
    let why = came.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let names: Vec<&str> =
        came.killed_by.iter().filter_map(|test| Some(with.all.get(*test)?.name.as_str())).collect();
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    format!(
        "a comment at the end of {} was noticed by the tests{names}, which must not be{why}. Either they read the source, or they fail when only some of them run: nothing that they notice could be believed",
        source.path
    )
}

fn change<'a>(source: &'a Source, changed: &'a [u8], unit: usize) -> Change<'a> {
    let function = source.function(unit);
    Change {
        path: &source.path,
        language: source.language,
        original: &source.text,
        changed,
        function,
        behind: None,
    }
}
