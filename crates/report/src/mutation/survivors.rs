//! The order in which reports list undetected changes, most important first. Nothing else is
//! decided here.

use super::advice;
use super::survivor::{Survivor, is_whole};
use assay_data::mutation::{Fate, Mutation};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Returns all survivors in order: functions that no test uses come first, then functions whose
/// whole body can be removed undetected, then the other changes from most to least severe. Among
/// equals, functions with more missed changes come first. Functions that only format a value for
/// debugging follow after all others, and possibly equivalent changes come last. O(mutants · log
/// mutants).
pub(crate) fn of(mutation: &Mutation) -> Vec<Survivor<'_>> {
    let mut weights: HashMap<usize, usize> = HashMap::new();
    for own in mutation.mutants.iter().filter(|own| own.fate.is_missed()) {
        *weights.entry(own.unit).or_insert(0) += 1;
    }
    let mut said: Vec<bool> = vec![false; mutation.units.len()];
    let mut all = Vec::new();
    for own in &mutation.mutants {
        let Some(survivor) = Survivor::of(mutation, own) else { continue };
        let of_unit = || weights.get(&own.unit).copied().unwrap_or(0);
        let weight = match own.fate {
            Fate::Uncovered if std::mem::replace(&mut said[own.unit], true) => continue,
            Fate::Uncovered => of_unit(),
            Fate::Survived if is_whole(own) => of_unit(),
            Fate::Survived => 1,
            _ => continue,
        };
        all.push(Survivor { weight, ..survivor });
    }
    all.sort_by_key(|survivor| {
        let own = survivor.own;
        let is_doubtful = own.doubt.is_some();
        let is_for_readers = is_for_readers(&survivor.unit.name);
        let rank = advice::rank(&own.operator);
        (is_doubtful, is_for_readers, own.fate != Fate::Uncovered, rank, Reverse(survivor.weight))
    });
    all
}

/// Names of functions that only format a value for debugging.
const FOR_READERS: [&str; 8] =
    ["__repr__", "__str__", "__format__", "inspect", "pretty_print", "GoString", "toString", "fmt"];

/// Returns true if a function only formats a value for debugging, judging by its qualified name.
fn is_for_readers(name: &str) -> bool {
    let last = name.rsplit(['.', '#', ':']).next().unwrap_or(name);
    FOR_READERS.contains(&last)
}
