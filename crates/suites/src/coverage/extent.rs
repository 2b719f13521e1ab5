//! A part of a project from which a program is built: directories with everything below them,
//! except for some subdirectories. Hooks and maps write it as text, such as
//! `**:!crates/b/**:crates/b/c/**`.

/// Separator between the directories of an extent.
const BETWEEN: char = ':';

/// Directories, each with a flag that is true if the files below it belong to the part.
pub(crate) struct Extent<'a> {
    directories: Vec<(&'a str, bool)>,
}

impl<'a> Extent<'a> {
    /// Parses an extent, or returns `None` if the text is the path of a file.
    pub fn read(text: &'a str) -> Option<Self> {
        if !text.ends_with("**") {
            return None;
        }
        let one = |part: &'a str| {
            let (path, belongs) = part.strip_prefix('!').map_or((part, true), |path| (path, false));
            Some((path.strip_suffix("**")?, belongs))
        };
        let directories: Option<Vec<_>> = text.split(BETWEEN).map(one).collect();
        Some(Self { directories: directories? })
    }

    /// Returns true if a path belongs to the part, which the innermost directory containing it
    /// decides.
    pub fn holds(&self, path: &str) -> bool {
        let around = self.directories.iter().filter(|(own, _)| path.starts_with(own));
        around.max_by_key(|(own, _)| own.len()).is_some_and(|(_, belongs)| *belongs)
    }
}

#[cfg(test)]
mod tests {
    use super::Extent;

    #[test]
    fn the_innermost_directory_decides() {
        let own = Extent::read("**:!a/**:a/b/**").unwrap();
        for (path, holds) in [("x", true), ("a/x", false), ("a/b/x", true), ("ab/x", true)] {
            assert_eq!(own.holds(path), holds, "{path}");
        }
        let some = Extent::read("a/**").unwrap();
        assert!(some.holds("a/b/c") && !some.holds("b"));
        assert!(Extent::read("a/b.rs").is_none() && Extent::read("a:b/**").is_none());
    }
}
