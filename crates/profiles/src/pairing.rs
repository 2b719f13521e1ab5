//! Matches functions of two programs whose files have different names, such as `<main>` of `old.rb`
//! and `<main>` of `new.rb`.
//!
//! Only unambiguous cases are matched: the directories in which each side has exactly one file that
//! the other side lacks. Nothing is compared here.

use crate::model::{Frame, Profile};
use std::collections::{BTreeSet, HashMap};

/// A mapping from the functions of the second program to their files in the first program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairing {
    /// File in the first program, keyed by the name and the file of the function in the second
    /// program.
    files: HashMap<(String, String), String>,
}

impl Pairing {
    /// Matches functions between all profiles of one side and all profiles of the other. O(frames).
    pub fn of<'a>(
        first: impl IntoIterator<Item = &'a Profile>,
        second: impl IntoIterator<Item = &'a Profile>,
    ) -> Self {
        let (first, second) = (files_of(first), files_of(second));
        let mut files = HashMap::new();
        for (name, new) in &second {
            let Some(old) = first.get(name) else { continue };
            let mut only = [by_directory(old.difference(new)), by_directory(new.difference(old))];
            for (directory, here) in std::mem::take(&mut only[1]) {
                let there = only[0].get(directory).map(Vec::as_slice);
                if let ([here], Some([there])) = (here.as_slice(), there) {
                    files.insert(((*name).to_owned(), (*here).to_owned()), (*there).to_owned());
                }
            }
        }
        Self { files }
    }

    /// Replaces the files of functions in a profile of the second program by the matched files of
    /// the first.
    pub fn apply(&self, profile: &mut Profile) {
        for frame in &mut profile.frames {
            let Some(file) = &frame.file else { continue };
            if let Some(other) = self.files.get(&(frame.name.clone(), file.clone())) {
                frame.file = Some(other.clone());
            }
        }
    }
}

fn by_directory<'a>(files: impl Iterator<Item = &'a &'a str>) -> HashMap<&'a str, Vec<&'a str>> {
    let mut directories: HashMap<&str, Vec<&str>> = HashMap::new();
    for file in files {
        let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
        directories.entry(directory).or_default().push(file);
    }
    directories
}

/// Returns the set of files for each function name.
fn files_of<'a>(
    profiles: impl IntoIterator<Item = &'a Profile>,
) -> HashMap<&'a str, BTreeSet<&'a str>> {
    let mut files: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for Frame { name, file, .. } in profiles.into_iter().flat_map(|profile| &profile.frames) {
        if let Some(file) = file {
            files.entry(name).or_default().insert(file);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(frames: &[(&str, &str)]) -> Profile {
        let frame = |&(name, file): &(&str, &str)| Frame {
            name: name.to_owned(),
            file: Some(file.to_owned()),
            line: None,
        };
        Profile { frames: frames.iter().map(frame).collect(), ..Profile::default() }
    }

    #[test]
    fn a_function_is_paired_where_each_side_has_one_file_that_the_other_has_not() {
        let first = profile(&[
            ("<main>", "a.rb"),
            ("<main>", "/p/set.rb"),
            ("<main>", "/d/a.rb"),
            ("f", "x"),
            ("f", "y"),
            ("g", "a"),
        ]);
        let mut second = profile(&[
            ("<main>", "b.rb"),
            ("<main>", "/p/set.rb"),
            ("<main>", "/d/b.rb"),
            ("f", "z"),
            ("g", "a"),
        ]);
        Pairing::of([&first], [&second]).apply(&mut second);
        let expected = [
            ("<main>", "a.rb"),
            ("<main>", "/p/set.rb"),
            ("<main>", "/d/a.rb"),
            ("f", "z"),
            ("g", "a"),
        ];
        assert_eq!(second, profile(&expected));
    }
}
