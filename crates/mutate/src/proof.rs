//! The proof, before anything is believed: a change that must be noticed is, and one that changes nothing is not. Tests may run another copy of what is
//! changed (one that is installed), and then notice nothing; or keep something of one run for the next, and then notice everything.

use crate::arena::{Arena, Change, With};
use crate::policy::PROOFS;
use crate::sources::Source;
use anyhow::bail;
use assay_data::mutation::{Fate, MutantResult};
use assay_mutants::controls::{certain_killer, certain_survivor};
use std::collections::BTreeMap;

/// How many tests use a function, and which, where that is known.
type Used<'a> = (usize, Option<&'a [usize]>);

/// Tries both, where most tests are.
///
/// # Errors
/// When one of them has not the fate that it must have, or the tests can't be started.
pub(crate) fn of(
    arena: &mut Arena<'_>,
    sources: &[Source],
    origins: &[(usize, usize)],
    mutants: &[MutantResult],
    with: With<'_>,
    later: &[bool],
) -> anyhow::Result<()> {
    // The functions that tests use, the most used first.
    let mut used: BTreeMap<(usize, usize), Used<'_>> = BTreeMap::new();
    let in_forks = arena.forked.is_some();
    for ((own, (source, index)), later) in mutants.iter().zip(origins).zip(later) {
        if own.fate != Fate::Uncovered
            && (*later || !in_forks)
            && let Some(mutant) = sources.get(*source).and_then(|own| own.found.all.get(*index))
        {
            let tests = own.covered_by.as_deref();
            let count = tests.map_or(with.all.len(), <[usize]>::len);
            let known = used.entry((*source, mutant.unit)).or_insert((count, tests));
            if count > known.0 {
                *known = (count, tests);
            }
        }
    }
    let mut order: Vec<_> = used.into_iter().collect();
    order.sort_by_key(|(place, (count, _))| (std::cmp::Reverse(*count), *place));
    let Some(((first, unit), (_, tests))) = order.first() else { return Ok(()) };
    let source = &sources[*first];
    let same = certain_survivor(source.language, &source.text);
    let came = arena.attempt(change(source, &same, *unit), With { only: *tests, ..with })?;
    if came.fate != Fate::Survived {
        let why = came.reason.map_or(String::new(), |reason| format!(": {reason}"));
        let names: Vec<&str> = came
            .killed_by
            .iter()
            .filter_map(|test| Some(with.all.get(*test)?.name.as_str()))
            .collect();
        let names =
            if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        bail!(
            "a comment at the end of {} was noticed by the tests{names}, which must not be{why}. Either they read the source, or they fail when only some of them run: nothing that they notice could be believed",
            source.path
        );
    }
    let mut tried = Vec::new();
    for ((source, number), (_, tests)) in order.iter().take(PROOFS) {
        let source = &sources[*source];
        let unit = &source.found.units[*number];
        let Some(killer) = certain_killer(source.language, unit, &source.text) else { continue };
        let came =
            arena.attempt(change(source, &killer, *number), With { only: *tests, ..with })?;
        if came.fate.is_detected() {
            return Ok(());
        }
        tried.push(format!("{} of {}", unit.name, source.path));
    }
    bail!(
        "an error was planted in {}, and no test noticed: they run another copy of the code. See where it is imported from (an installed package, PYTHONPATH, GEM_PATH), and have the tests use what is in the directory that they are started in",
        tried.join(", then in ")
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
    }
}
