//! Position of a version that has no publication time among the other versions of its project. It
//! follows from the version number and does not depend on the order in which versions are added.

/// Distance between versions that are added one after the other, in ms. It leaves room to insert
/// versions between them.
const STEP: i64 = 60_000;
/// Words that mark a version as earlier than the version with the same number and no word, such as
/// `alpha`. Earliest first (PEP 440, SemVer, RubyGems).
const BEFORE: [&[&str]; 5] = [
    &["dev", "nightly", "snapshot"],
    &["a", "alpha"],
    &["b", "beta"],
    &["c", "rc", "cr"],
    &["pre", "preview"],
];
/// Words that mark a version as later than the version with the same number and no word.
const AFTER: [&str; 7] = ["post", "p", "r", "rev", "patch", "sp", "pl"];

/// A part of a version number. The order of the variants is the order of versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum VersionPart {
    Before(usize, String),
    End,
    After(String),
    Number(u64),
}

/// Splits a version number into its parts. A leading `v` is ignored. Returns `None` if the name is
/// not a version number, for example if it is a commit or branch.
fn parts(name: &str) -> Option<Vec<VersionPart>> {
    let own = name.strip_prefix(['v', 'V']).unwrap_or(name);
    let is_commit = own.len() >= 40 && own.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit || !own.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // Build metadata after a plus sign does not affect the order (SemVer 2.0.0, item 10).
    let own = own.split('+').next().unwrap_or(own);
    let mut found = Vec::new();
    let mut rest = own;
    while let Some(first) = rest.chars().next() {
        let end = |is_of: fn(char) -> bool| rest.find(|c| !is_of(c)).unwrap_or(rest.len());
        let length = match first {
            '0'..='9' => end(|c| c.is_ascii_digit()),
            c if c.is_alphabetic() => end(char::is_alphabetic),
            c => {
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        let (word, behind) = rest.split_at(length);
        rest = behind;
        found.push(match first {
            '0'..='9' => VersionPart::Number(word.parse().unwrap_or(u64::MAX)),
            _ => of_word(&word.to_lowercase()),
        });
    }
    found.push(VersionPart::End);
    Some(found)
}

fn of_word(word: &str) -> VersionPart {
    if AFTER.contains(&word) {
        return VersionPart::After(String::new());
    }
    let rank = BEFORE.iter().position(|own| own.contains(&word));
    match rank {
        Some(rank) => VersionPart::Before(rank, String::new()),
        // An unknown word marks a prerelease, as in RubyGems.
        None => VersionPart::Before(BEFORE.len(), word.to_owned()),
    }
}

/// Returns the position of a new version among `others`, which are pairs of name and position.
/// Returns `now` if the name is not a version number, or if none of the others has one.
pub(crate) fn place(name: &str, others: &[(String, i64)], now: i64) -> i64 {
    let Some(own) = parts(name) else { return now };
    let known = others.iter().filter_map(|(other, place)| Some((parts(other)?, *place)));
    let (above, below): (Vec<_>, Vec<_>) = known.partition(|(parts, _)| *parts > own);
    let (below, above) = (below.into_iter().max(), above.into_iter().min());
    match (below.map(|(_, place)| place), above.map(|(_, place)| place)) {
        (None, None) => now,
        (Some(below), None) => now.max(below.saturating_add(STEP)),
        (None, Some(above)) => above.saturating_sub(STEP),
        // If there is no room between the two, the new version gets the position of the lower one.
        // Versions with equal positions are ordered by when they were added.
        (Some(below), Some(above)) => {
            below.saturating_add((above.saturating_sub(below) / 2).max(0))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn numbers_are_ordered_as_their_tools_order_them() {
        let ordered = [
            "0.9",
            "1.0.dev1",
            "1.0a1",
            "1.0-beta.2",
            "1.0rc1",
            "1.0.rc2",
            "1.0",
            "1.0.post1",
            "1.0.1",
            "1.2",
            "v1.9",
            "1.10",
            "2",
        ];
        for pair in ordered.windows(2) {
            assert!(parts(pair[0]).unwrap() < parts(pair[1]).unwrap(), "{pair:?}");
        }
        assert_eq!(parts("main"), None);
        assert_eq!(parts("1234567890123456789012345678901234567890"), None);
    }

    #[test]
    fn whatever_the_order_of_adding_places_are_those_of_the_numbers() {
        let added = ["1.10", "1.9", "2.0", "1.9.5", "0.1", "1.9.3", "3.0rc1", "3.0", "1.9.4"];
        let mut all: Vec<(String, i64)> = Vec::new();
        for (second, name) in added.iter().enumerate() {
            let own = place(name, &all, 1_000_000_000 + second as i64);
            all.push(((*name).to_owned(), own));
        }
        all.sort_by_key(|(_, place)| *place);
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["0.1", "1.9", "1.9.3", "1.9.4", "1.9.5", "1.10", "2.0", "3.0rc1", "3.0"]
        );
        assert_eq!(place("main", &all, 7), 7);
    }
}
