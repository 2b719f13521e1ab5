//! Operations on paths as text. Files are not accessed because they may not exist.

use std::path::{Component, Path, PathBuf};

/// Returns the path with `.` and `..` resolved without regard to symbolic links.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Returns true if the path is relative and contains no `..`.
pub fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_without_files() {
        assert_eq!(without_dots(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(without_dots(Path::new("/../a")), Path::new("/a"));
        assert!(is_below(Path::new("./a/b")));
        assert!(!is_below(Path::new("a/../b")));
        assert!(!is_below(Path::new("/a")));
    }
}
