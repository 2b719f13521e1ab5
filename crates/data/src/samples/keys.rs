//! Sides and rows: how they are added and named, which subjects belong to them, and how a subject
//! is identified in another run. Nothing is compared here.

use super::{Row, Samples, Side, Subject};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

impl Samples {
    /// Adds a side and returns its index. If the name is taken, a number is appended: ` #2`, ` #3`.
    pub fn add_side(&mut self, mut side: Side) -> usize {
        side.name = free_name(side.name, |name| self.sides.iter().any(|own| own.name == name));
        self.sides.push(side);
        self.sides.len() - 1
    }

    /// Returns the index of the side of this name, adding it if new. O(sides).
    pub fn side_named(&mut self, name: &str) -> usize {
        let known = self.sides.iter().position(|side| side.name == name);
        known.unwrap_or_else(|| self.add_side(Side { name: name.to_owned(), ..Side::default() }))
    }

    /// Returns the index of the row of this name, adding it if new. O(rows).
    pub fn row_named(&mut self, name: &str) -> usize {
        self.rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            self.rows.push(Row { name: name.to_owned(), ..Row::default() });
            self.rows.len() - 1
        })
    }

    /// Adds a command of this name and returns its index.
    pub fn add_subject(&mut self, name: &str) -> usize {
        self.add_command(Subject { name: name.to_owned(), ..Subject::default() })
    }

    /// Adds a subject that is a separate side, on the row without a name, and returns its index.
    pub fn add_command(&mut self, mut subject: Subject) -> usize {
        let side = Side {
            name: subject.name.clone(),
            command: subject.command.clone(),
            ..Side::default()
        };
        subject.side = self.add_side(side);
        subject.row = self.row_named("");
        self.add(subject)
    }

    /// Adds a subject, whose side and row must exist, and returns its index. If the name is taken,
    /// a number is appended.
    pub fn add(&mut self, mut subject: Subject) -> usize {
        subject.name = free_name(subject.name, |name| self.subjects.iter().any(|s| s.name == name));
        self.subjects.push(subject);
        self.subjects.len() - 1
    }

    /// Returns the side of a subject.
    pub fn side_of(&self, subject: &Subject) -> &Side {
        &self.sides[subject.side]
    }

    /// Returns the row of a subject.
    pub fn row_of(&self, subject: &Subject) -> &Row {
        &self.rows[subject.row]
    }

    /// Returns the name of a subject without its side. This is the name of its row or, if the row
    /// has none, that of the subject.
    pub fn full_name<'a>(&'a self, subject: &'a Subject) -> &'a str {
        let row = self.row_of(subject);
        if row.name.is_empty() { &subject.name } else { &row.name }
    }

    /// Returns the name of a subject without parameter values, if known. This is the label of its
    /// row or, if the row has no name, the name of its side.
    pub fn label_of<'a>(&'a self, subject: &'a Subject) -> Option<&'a str> {
        let row = self.row_of(subject);
        if row.name.is_empty() { Some(&self.side_of(subject).name) } else { row.label.as_deref() }
    }

    /// Returns true if a row that satisfies `wanted` is on several sides. O(subjects).
    pub fn shares_a_row(&self, wanted: impl Fn(&Row) -> bool) -> bool {
        let mut side_of: HashMap<usize, usize> = HashMap::new();
        let own = self.subjects.iter().filter(|s| wanted(self.row_of(s)));
        own.into_iter().any(|s| *side_of.entry(s.row).or_insert(s.side) != s.side)
    }

    /// Removes sides and rows without a subject, and renumbers the rest. O(subjects).
    pub fn drop_unused_keys(&mut self) {
        let sides: HashSet<usize> = self.subjects.iter().map(|s| s.side).collect();
        let rows: HashSet<usize> = self.subjects.iter().map(|s| s.row).collect();
        let sides = keep_used(&mut self.sides, &sides);
        let rows = keep_used(&mut self.rows, &rows);
        for subject in &mut self.subjects {
            (subject.side, subject.row) = (sides[subject.side], rows[subject.row]);
        }
    }

    /// Returns an identifier of a subject that is stable across runs: the first 32 hexadecimal
    /// digits of a SHA-256 digest of its row, its parameters and the index of its side (0 for the
    /// reference). It does not depend on the name, path or revision of the side. O(subjects).
    pub fn identity(&self, index: usize) -> Option<String> {
        let subject = self.subjects.get(index)?;
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            // Lengths separate the parts, so that `ab`, `c` differs from `a`, `bc`.
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text.as_bytes());
        };
        add(&self.rows.get(subject.row)?.name);
        add(&subject.side.to_string());
        for (name, value) in &subject.parameters {
            add(name);
            add(value.as_str());
        }
        let before = self.subjects[..index].iter();
        let same = |other: &&Subject| {
            (other.side, other.row) == (subject.side, subject.row)
                && other.parameters == subject.parameters
        };
        // In a scan, a command without one of the parameters occurs several times.
        let times = before.filter(same).count();
        if times > 0 {
            add(&times.to_string());
        }
        Some(digest.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Returns the name or, if it is taken, the name with the first free number appended.
pub(crate) fn free_name(name: String, taken: impl Fn(&str) -> bool) -> String {
    if !taken(&name) {
        return name;
    }
    let mut numbered = (2_u64..).map(|number| format!("{name} #{number}"));
    numbered.find(|name| !taken(name)).unwrap_or(name)
}

/// Keeps the items whose index is in `used`, and returns the new index for each old one.
fn keep_used<T>(all: &mut Vec<T>, used: &HashSet<usize>) -> Vec<usize> {
    let mut next = 0;
    let numbers = (0..all.len()).map(|index| {
        let own = next;
        next += usize::from(used.contains(&index));
        own
    });
    let numbers: Vec<usize> = numbers.collect();
    let mut index = 0..;
    all.retain(|_| index.next().is_some_and(|index| used.contains(&index)));
    numbers
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;
    use crate::ParameterValue;

    fn scan(names: [&str; 2], path: &str) -> Samples {
        let mut samples = Samples::default();
        for name in names {
            let command = Some(format!("{path}/{name} {{n}}"));
            samples.add_side(Side { name: name.to_owned(), command, ..Side::default() });
        }
        let row = samples.row_named("");
        for n in [1, 2] {
            for (side, name) in names.into_iter().enumerate() {
                samples.add(Subject {
                    side,
                    row,
                    parameters: vec![("n".to_owned(), ParameterValue::from(n.to_string()))],
                    name: format!("{name} {n}"),
                    command: Some(format!("{path}/{name} {n}")),
                    ..Subject::default()
                });
            }
        }
        samples
    }

    fn identities(samples: &Samples) -> Vec<String> {
        (0..samples.subjects.len()).map(|s| samples.identity(s).unwrap()).collect()
    }

    #[test]
    fn an_identity_outlives_the_name_and_the_path_of_a_side() {
        let then = identities(&scan(["sort-1.0", "sort-1.1"], "/opt"));
        assert_eq!(identities(&scan(["sort-1.1", "sort-1.2"], "/usr/bin")), then);
        let distinct: HashSet<&String> = then.iter().collect();
        assert_eq!(distinct.len(), 4);
        // The identity is stored in the history, and must never change.
        assert_eq!(then[0], "4aba844c849174d45280c46e205840e0");
    }

    #[test]
    fn an_identity_depends_on_row_parameters_and_role() {
        let mut samples = scan(["a", "b"], ".");
        let before = samples.identity(0).unwrap();
        samples.subjects[0].row = samples.row_named("Sort");
        let other_row = samples.identity(0).unwrap();
        samples.subjects[0].parameters.clear();
        let without = samples.identity(0).unwrap();
        samples.subjects[0].side = 1;
        let other_role = samples.identity(0).unwrap();
        let all: HashSet<String> = [before, other_row, without, other_role].into();
        assert_eq!(all.len(), 4);
        assert_eq!(samples.identity(9), None);
    }

    #[test]
    fn names_that_are_taken_get_a_number_and_unused_keys_go() {
        let mut samples = Samples::default();
        for _ in 0..3 {
            samples.add_subject("true");
        }
        let names: Vec<&str> = samples.sides.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["true", "true #2", "true #3"]);
        samples.subjects.remove(1);
        samples.drop_unused_keys();
        let names: Vec<&str> = samples.subjects.iter().map(|s| &*samples.side_of(s).name).collect();
        assert_eq!(names, ["true", "true #3"]);
    }
}
