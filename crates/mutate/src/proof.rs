//! Proves that the results can be trusted: a change that must be noticed is noticed, and a change
//! without effect is not. Tests that use another copy of the changed code, such as an installed
//! one, notice nothing. Tests that keep state from one run to the next may notice everything.

use crate::arena::{Arena, Change, TestSelection, TrialResult};
use crate::policy::PROOFS;
use crate::sources::Source;
use anyhow::{anyhow, bail};
use assay_data::mutation::{Fate, MutantResult};
use assay_mutate::mutants::controls::{certain_killer, certain_survivor};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How a function is used: whether a change to it was already noticed, the number of tests that use
/// it, and the indices of these tests, if known.
type FunctionUse<'a> = (bool, usize, Option<&'a [usize]>);

/// The processes in which a change is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProcessOrigin<'a> {
    /// New processes.
    Plain,
    /// Forks of a process that has loaded the tests. The flags say for which mutants this is valid.
    Loaded(&'a [bool]),
    /// Forks of a process that has loaded only the framework.
    Early,
}

/// Tries both changes. Functions in which a change was already noticed come first, followed by
/// those that most tests use. With `patience`, the functions with the quickest tests come first
/// instead, and a change is tried only if it can finish in time.
///
/// # Errors
///
/// Fails if one of the changes does not have the expected fate, or if the tests cannot be started.
pub(crate) fn of(
    arena: &mut Arena<'_>,
    sources: &[Source],
    origins: &[(usize, usize)],
    mutants: &[MutantResult],
    with: TestSelection<'_>,
    (way, patience): (ProcessOrigin<'_>, Option<Instant>),
) -> anyhow::Result<()> {
    // The functions that tests use, by source and unit.
    let mut used: BTreeMap<(usize, usize), FunctionUse<'_>> = BTreeMap::new();
    for (index, (own, (source, number))) in mutants.iter().zip(origins).enumerate() {
        if !matches!(own.fate, Fate::Uncovered | Fate::Absent)
            && !matches!(way, ProcessOrigin::Loaded(later) if later.get(index) != Some(&true))
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
    // A fork that cannot try a change proves nothing about forks.
    let mut attempt = |change: Change<'_>, only| match way {
        ProcessOrigin::Plain => arena.attempt(change, TestSelection { only, ..with }).map(Some),
        ProcessOrigin::Loaded(_) => Ok(arena.in_a_fork(change, TestSelection { only, ..with })),
        ProcessOrigin::Early => arena.in_an_early_fork(change, TestSelection { only, ..with }),
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
        // If the change that must be noticed cannot finish in time, the first mutant that is
        // noticed will prove as much.
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
        bail!("no function that the tests use could be changed to see whether they notice");
    }
    Err(unnoticed(&tried))
}

/// Returns the error for tests that noticed none of the planted errors.
pub(crate) fn unnoticed(tried: &[String]) -> anyhow::Error {
    anyhow!(
        "an error was planted in {}, and no test noticed: either no test ran, or they run another copy of the code. Run the command by itself to see whether it runs tests; then see where the code is imported from (an installed package, PYTHONPATH, GEM_PATH), and have the tests use what is in the directory that they are started in",
        tried.join(", then in ")
    )
}

/// Returns the message for tests that notice a change without effect.
fn noticed(source: &Source, came: &TrialResult, with: TestSelection<'_>) -> String {
    let why = came.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let names: Vec<&str> =
        came.killed_by.iter().filter_map(|test| Some(with.all.get(*test)?.name.as_str())).collect();
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    format!(
        "a comment at the end of {} made tests fail{names}, which must not happen{why}. Either they read the source, or they fail when only some of them run: their results could not be trusted",
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
