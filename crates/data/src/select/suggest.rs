//! Finds row keys that match benchmarks of several files that have no full name in common, such as
//! files from machines with different numbers of processors (`BenchmarkSort-2`, `BenchmarkSort-8`).
//! The samples are not changed.

use super::{Key, project};
use crate::samples::{Samples, Subject};
use std::collections::{HashMap, HashSet};

/// Returns keys for `--row` with which benchmarks of two files share a row but no two benchmarks
/// share a cell: the name alone or else the name with those parameters for which the files have a
/// value in common. `None` if neither works. O(subjects × parameters).
pub fn common_rows(samples: &Samples) -> Option<Vec<Key>> {
    let shared: Vec<&str> = parameters(samples)
        .into_iter()
        .filter(|name| {
            is_key(name) && meets(samples, |s| s.parameter(name).map(|own| own.as_str()))
        })
        .collect();
    let with_parameters = shared.into_iter().map(|name| Key::Parameter(name.to_owned()));
    let choices =
        [vec![Key::Name], std::iter::once(Key::Name).chain(with_parameters).collect::<Vec<_>>()];
    choices.into_iter().find(|keys| {
        let mut tried = Samples::default();
        tried.sides.clone_from(&samples.sides);
        tried.rows.clone_from(&samples.rows);
        tried.subjects.clone_from(&samples.subjects);
        project(&mut tried, keys, &[]).is_ok() && tried.shares_a_row(|_| true)
    })
}

/// Returns true if `text` gives the same result for subjects of two different files.
fn meets<'a>(samples: &'a Samples, text: impl Fn(&'a Subject) -> Option<&'a str>) -> bool {
    let mut file_of: HashMap<&str, Option<&str>> = HashMap::new();
    samples.subjects.iter().any(|subject| {
        let file = samples.side_of(subject).source.as_deref();
        text(subject).is_some_and(|text| *file_of.entry(text).or_insert(file) != file)
    })
}

/// Returns the names of all parameters, in order of first appearance.
fn parameters(samples: &Samples) -> Vec<&str> {
    let mut known = HashSet::new();
    let all = samples.subjects.iter().flat_map(|s| &s.parameters);
    all.map(|(name, _)| name.as_str()).filter(|name| known.insert(*name)).collect()
}

/// Returns true if the name of a parameter can be typed in a list of keys without quotes.
fn is_key(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;
    use crate::samples::Side;

    /// A subject's file, name and parameters.
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

    /// Returns subjects of two files.
    fn samples(rows: &[Row<'_>]) -> Samples {
        let mut samples = Samples::default();
        for (file, name, parameters) in rows {
            let own =
                parameters.iter().map(|(name, value)| (format!("/{name}={value}"), name, value));
            let full: String = own.map(|(text, ..)| text).collect();
            let source = Some((*file).to_owned());
            let known = samples.sides.iter().position(|side| side.source == source);
            let side = known.unwrap_or_else(|| {
                samples.add_side(Side { name: (*file).to_owned(), source, ..Side::default() })
            });
            let row = samples.row_named(&format!("{name}{full}"));
            samples.rows[row].label = Some((*name).to_owned());
            samples.add(Subject {
                side,
                row,
                name: format!("{name}{full}"),
                parameters: parameters
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).into()))
                    .collect(),
                ..Subject::default()
            });
        }
        samples
    }

    fn told(rows: &[Row<'_>]) -> Option<String> {
        let keys = common_rows(&samples(rows))?;
        Some(keys.iter().map(Key::to_string).collect::<Vec<_>>().join(","))
    }

    #[test]
    fn what_differs_in_every_name_is_left_out() {
        let plain = [("a", "Sort", &[("procs", "2")][..]), ("b", "Sort", &[("procs", "8")])];
        assert_eq!(told(&plain).unwrap(), ".name");
        let with_sizes = [
            ("a", "Sort", &[("n", "1"), ("procs", "2")][..]),
            ("a", "Sort", &[("n", "9"), ("procs", "2")]),
            ("b", "Sort", &[("n", "9"), ("procs", "8")]),
        ];
        assert_eq!(told(&with_sizes).unwrap(), ".name,n");
    }

    #[test]
    fn nothing_is_suggested_that_would_not_work() {
        assert_eq!(told(&[("a", "Sort", &[]), ("b", "Map", &[])]), None);
        // The sizes share a cell without a parameter that could distinguish them.
        let same = [
            ("a", "Sort", &[("a b", "1")][..]),
            ("a", "Sort", &[("a b", "2")]),
            ("b", "Sort", &[("a b", "3")]),
        ];
        assert_eq!(told(&same), None);
    }
}
