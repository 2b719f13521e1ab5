//! The common facts of affected targets: the simplest condition that all affected targets meet and
//! no others.
//!
//! Conditions in order of simplicity: one fact with a value or prefix (`Ruby 3.4` matches 3.4.1),
//! one with a minimum or maximum version, a condition that exactly the *unaffected* targets meet,
//! and two facts together. Facts that most often break programs come first. With few targets, some
//! fact always separates them, so other facts that separate the same targets are also given, and
//! none is claimed to be the cause.

use super::{Facts, Target};
use std::cmp::Ordering;

/// The condition that tells the affected targets from the others.
#[derive(Clone, Debug, PartialEq)]
pub enum AffectedTargets {
    /// All targets are affected.
    Everywhere,
    /// Exactly the affected targets meet all of these conditions.
    Only {
        /// One or two conditions.
        conditions: Vec<Condition>,
        /// Conditions on other facts that separate the same targets.
        alike: Vec<Condition>,
    },
    /// All targets except those that meet this condition.
    Except(Condition),
    /// No condition separates the affected targets.
    Unexplained,
}

/// A condition on the facts of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Name of the fact.
    pub name: String,
    /// Required value.
    pub rule: Rule,
}

/// The required value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// The fact is known.
    Known,
    /// The value is this one, or continues it after a separator.
    Is(String),
    /// The value is this version or a later one.
    AtLeast(String),
    /// The value is this version or an earlier one.
    AtMost(String),
}

impl Condition {
    /// Returns true if these facts meet the condition.
    pub fn is_met(&self, facts: &Facts) -> bool {
        let Some(value) = facts.get(&self.name) else { return false };
        match &self.rule {
            Rule::Known => true,
            Rule::Is(beginning) => begins(value, beginning),
            Rule::AtLeast(least) => compared(value, least).is_some_and(Ordering::is_ge),
            Rule::AtMost(most) => compared(value, most).is_some_and(Ordering::is_le),
        }
    }

    fn is(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), rule: Rule::Is(value.to_owned()) }
    }
}

/// The classes of facts, in order of preference.
const CLASSES: [&str; 8] =
    ["runtime.", "arch", "os", "libc", "setting.", "kernel", "cpu", "microcode"];

/// For each fact, those that differ wherever it differs, and so add no information.
const FOLLOWS: [(&str, &[&str]); 2] = [("arch", &["cpu", "microcode"]), ("cpu", &["microcode"])];

fn class(name: &str) -> usize {
    CLASSES.iter().position(|class| name.starts_with(class)).unwrap_or(CLASSES.len())
}

/// Returns true for characters before which a prefix may end: `3.4` is a prefix of `3.4.1`,
/// `debian` of `debian 12`.
fn is_separator(c: char) -> bool {
    matches!(c, '.' | ' ' | '-' | '+' | '~')
}

fn begins(value: &str, beginning: &str) -> bool {
    value
        .strip_prefix(beginning)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(is_separator))
}

/// Returns the prefixes of a value, shortest first, ending with the value itself.
fn beginnings(value: &str) -> impl Iterator<Item = &str> {
    let ends = value.char_indices().filter(|(_, c)| is_separator(*c)).map(|(at, _)| at);
    ends.filter(|&at| at > 0).chain([value.len()]).map(|end| &value[..end])
}

/// Returns the numbers of a version; `None` if the value is not a version.
fn numbers(value: &str) -> Option<Vec<u64>> {
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let numbers: Option<Vec<u64>> =
        value[..end].trim_end_matches('.').split('.').map(|number| number.parse().ok()).collect();
    numbers.filter(|numbers| !numbers.is_empty())
}

/// Compares a version with a limit, ignoring numbers beyond the limit's length. `None` if either is
/// not a version.
fn compared(value: &str, limit: &str) -> Option<Ordering> {
    let (value, limit) = (numbers(value)?, numbers(limit)?);
    let shared = value.len().min(limit.len());
    Some(value[..shared].cmp(&limit[..shared]).then(shared.cmp(&limit.len())))
}

/// Finds the condition that all of `affected` (indices into `targets`) meet and none of `others`
/// meets. O(facts · targets); for two facts together O(facts² · targets).
pub(super) fn of(targets: &[Target], affected: &[usize], others: &[usize]) -> AffectedTargets {
    if others.is_empty() {
        return AffectedTargets::Everywhere;
    }
    let facts = |places: &[usize]| -> Vec<&Facts> {
        places.iter().filter_map(|&place| targets.get(place)).map(|target| &target.facts).collect()
    };
    let (affected, others) = (facts(affected), facts(others));
    let mut single = separating(&affected, &others);
    if !single.is_empty() {
        let first = single.remove(0);
        let follows = FOLLOWS.iter().find(|(name, _)| *name == first.name);
        let follows = follows.map_or(&[][..], |(_, names)| names);
        single.retain(|other| !follows.contains(&other.name.as_str()));
        return AffectedTargets::Only { conditions: vec![first], alike: single };
    }
    if let Some(except) = separating(&others, &affected).into_iter().next() {
        return AffectedTargets::Except(except);
    }
    match two(&affected, &others) {
        Some(conditions) => AffectedTargets::Only { conditions, alike: Vec::new() },
        None => AffectedTargets::Unexplained,
    }
}

/// Returns the names of the facts that all of these targets have, likeliest cause first.
fn names<'a>(of: &[&'a Facts]) -> Vec<&'a str> {
    let Some((first, rest)) = of.split_first() else { return Vec::new() };
    let shared = first.keys().filter(|name| rest.iter().all(|facts| facts.contains_key(*name)));
    let mut names: Vec<&str> = shared.map(String::as_str).collect();
    names.sort_by_key(|name| (class(name), *name));
    names
}

/// Returns conditions that all of `inside` meet and none of `outside` meets, at most one per fact,
/// in order of preference.
fn separating(inside: &[&Facts], outside: &[&Facts]) -> Vec<Condition> {
    let names = names(inside);
    let is = |name: &&str| simplest(name, inside, outside);
    let (found, left): (Vec<_>, Vec<_>) =
        names.into_iter().map(|name| (name, is(&name))).partition(|(_, is)| is.is_some());
    let limits = left.into_iter().filter_map(|(name, _)| limit(name, inside, outside));
    found.into_iter().filter_map(|(_, is)| is).chain(limits).collect()
}

/// Finds the simplest condition that separates the targets by the presence, a prefix or the value
/// of a fact.
fn simplest(name: &str, inside: &[&Facts], outside: &[&Facts]) -> Option<Condition> {
    let known = Condition { name: name.to_owned(), rule: Rule::Known };
    let shared = shared_beginnings(name, inside).into_iter();
    let mut candidates = [known].into_iter().chain(shared);
    candidates.find(|condition| !outside.iter().any(|facts| condition.is_met(facts)))
}

fn shared_beginnings(name: &str, inside: &[&Facts]) -> Vec<Condition> {
    let first = inside.first().and_then(|facts| facts.get(name));
    let all = first.into_iter().flat_map(|value| beginnings(value));
    let conditions = all.map(|beginning| Condition::is(name, beginning));
    conditions.filter(|condition| inside.iter().all(|facts| condition.is_met(facts))).collect()
}

/// Finds a minimum or maximum version of a fact that separates the targets.
fn limit(name: &str, inside: &[&Facts], outside: &[&Facts]) -> Option<Condition> {
    let versions = |of: &[&Facts]| -> Option<Vec<Vec<u64>>> {
        of.iter().filter_map(|facts| facts.get(name)).map(|value| numbers(value)).collect()
    };
    let (mut affected, others) = (versions(inside)?, versions(outside)?);
    affected.sort();
    let (low, high) = (affected.first()?, affected.last()?);
    let text = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    let made = |of: &[u64], rule: fn(String) -> Rule| {
        let mut shorter = (1..=of.len())
            .map(|length| Condition { name: name.to_owned(), rule: rule(text(&of[..length])) });
        // Use the shortest limit that separates the targets.
        shorter.find(|condition| {
            inside.iter().all(|facts| condition.is_met(facts))
                && !outside.iter().any(|facts| condition.is_met(facts))
        })
    };
    if others.iter().all(|other| other < low) {
        made(low, Rule::AtLeast)
    } else if others.iter().all(|other| other > high) {
        made(high, Rule::AtMost)
    } else {
        None
    }
}

/// Finds two facts that separate the targets only together.
fn two(inside: &[&Facts], outside: &[&Facts]) -> Option<Vec<Condition>> {
    let candidates: Vec<Condition> =
        names(inside).into_iter().flat_map(|name| shared_beginnings(name, inside)).collect();
    let not_met = |condition: &Condition| -> Vec<bool> {
        outside.iter().map(|facts| !condition.is_met(facts)).collect()
    };
    let excluded: Vec<Vec<bool>> = candidates.iter().map(not_met).collect();
    let together = |&(one, other): &(usize, usize)| {
        excluded[one].iter().zip(&excluded[other]).all(|(one, other)| *one || *other)
    };
    let mut pairs = (0..candidates.len())
        .flat_map(|one| (one + 1..candidates.len()).map(move |other| (one, other)));
    let (one, other) = pairs.find(together)?;
    Some(vec![candidates[one].clone(), candidates[other].clone()])
}

#[cfg(test)]
mod tests {
    use super::super::words::condition;
    use super::*;

    fn target(facts: &[(&str, &str)]) -> Target {
        let facts = facts.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Target { name: String::new(), facts: facts.collect() }
    }

    /// Targets by Ruby and architecture; those with `true` are affected.
    fn ruby(all: &[(&str, &str, bool)]) -> AffectedTargets {
        let targets: Vec<Target> = all
            .iter()
            .map(|(ruby, arch, _)| target(&[("runtime.ruby", ruby), ("arch", arch)]))
            .collect();
        let (affected, others): (Vec<usize>, Vec<usize>) =
            (0..all.len()).partition(|&place| all[place].2);
        of(&targets, &affected, &others)
    }

    fn told(place: &AffectedTargets) -> String {
        match place {
            AffectedTargets::Only { conditions, .. } => {
                conditions.iter().map(condition).collect::<Vec<_>>().join(" and ")
            }
            AffectedTargets::Except(except) => format!("all but {}", condition(except)),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn one_fact_is_enough_where_it_tells_them_apart() {
        let found = ruby(&[
            ("3.4.1", "x86_64", true),
            ("3.4.2", "arm64", true),
            ("3.1.2", "x86_64", false),
            ("3.3.0", "arm64", false),
        ]);
        assert_eq!(told(&found), "Ruby 3.4");
        let found =
            ruby(&[("3.4.1", "arm64", true), ("3.1.2", "arm64", true), ("3.4.1", "x86_64", false)]);
        assert_eq!(told(&found), "arm64");
        // 3.1 is not a prefix of 3.12.
        let found = ruby(&[("3.1.4", "x86_64", true), ("3.12.1", "x86_64", false)]);
        assert_eq!(told(&found), "Ruby 3.1");
    }

    #[test]
    fn versions_have_an_order() {
        let found = ruby(&[
            ("3.4.1", "x86_64", true),
            ("3.10.0", "x86_64", true),
            ("3.3.7", "x86_64", false),
            ("3.1", "x86_64", false),
        ]);
        assert_eq!(told(&found), "Ruby 3.4 or newer");
        let found = ruby(&[
            ("2.7.8", "x86_64", true),
            ("3.0.4", "x86_64", true),
            ("3.1.2", "x86_64", false),
        ]);
        assert_eq!(told(&found), "Ruby 3.0 or older");
    }

    #[test]
    fn what_is_left_over_is_told_by_what_it_is_not() {
        let found = ruby(&[
            ("3.1.0", "x86_64", true),
            ("3.3.0", "arm64", true),
            ("3.2.0", "riscv64", false),
        ]);
        assert_eq!(told(&found), "all but Ruby 3.2");
    }

    #[test]
    fn two_facts_where_one_is_not_enough() {
        let found = ruby(&[
            ("3.4.1", "arm64", true),
            ("3.4.1", "x86_64", false),
            ("3.1.2", "arm64", false),
        ]);
        assert_eq!(told(&found), "Ruby 3.4 and arm64");
        let found = ruby(&[
            ("3.4", "arm64", true),
            ("3.1", "x86_64", true),
            ("3.1", "arm64", false),
            ("3.4", "x86_64", false),
        ]);
        assert_eq!(found, AffectedTargets::Unexplained);
        assert_eq!(ruby(&[("3.4", "arm64", true)]), AffectedTargets::Everywhere);
    }

    #[test]
    fn what_else_tells_them_apart_is_named() {
        let one = target(&[("arch", "arm64"), ("cpu", "Neoverse-N1"), ("os", "debian 13")]);
        let other = target(&[("arch", "x86_64"), ("cpu", "EPYC"), ("os", "debian 12")]);
        let AffectedTargets::Only { conditions, alike } = of(&[one, other], &[0], &[1]) else {
            unreachable!("one fact is enough")
        };
        assert_eq!(condition(&conditions[0]), "arm64");
        // The CPU model follows from its architecture.
        assert_eq!(alike.iter().map(condition).collect::<Vec<_>>(), ["debian 13"]);
    }

    #[test]
    fn a_runtime_that_others_have_none_of_is_named_without_its_version() {
        let ruby = target(&[("arch", "x86_64"), ("runtime.ruby", "3.1.2")]);
        let python = target(&[("arch", "x86_64"), ("runtime.python", "3.11.2")]);
        assert_eq!(told(&of(&[ruby, python], &[0], &[1])), "Ruby");
    }

    #[test]
    fn odd_values_are_only_text() {
        for value in ["", ".", "..", "-1", "99999999999999999999999", "3.", " 3", "ä.b"] {
            let one = target(&[("kernel", value)]);
            let other = target(&[("kernel", "6.1")]);
            let found = of(&[one.clone(), other.clone()], &[0], &[1]);
            assert!(!told(&found).is_empty());
            assert!(!told(&of(&[one.clone(), one.clone(), other], &[0, 1], &[2])).is_empty());
        }
    }
}
