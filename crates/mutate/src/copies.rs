//! Copies of the project, which are the only files that are changed. A copy's private directory is
//! removed when the copy is dropped, or by the next run if this process is killed.

use crate::installed::{self, is_environment};
use anyhow::{Context, anyhow};
use assay_data::system_error::reason;
use assay_measure::room::{self, Room};
use assay_suites::coverage::NOT_WRITTEN;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Returns true if a path leads to a temporary directory of this or another assay program. Such a
/// directory may be inside a project but is not part of it: it is neither copied (the copy itself
/// may be in one) nor changed, and does not count toward the project's state.
pub(crate) fn is_temporary(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with(room::PREFIX))
}

/// A copy of the project.
#[derive(Debug)]
pub(crate) struct Copy {
    room: Room,
}

impl Copy {
    /// Copies everything below a directory.
    ///
    /// # Errors
    ///
    /// Fails if something cannot be read or written.
    pub fn of(top: &Path) -> anyhow::Result<Self> {
        let room = Room::temporary().map_err(|(parent, error)| {
            anyhow!(
                "{}: {}; set TMPDIR to a directory for temporary files",
                parent.display(),
                reason(&error)
            )
        })?;
        let own = Self { room };
        let target = own.top();
        copy(top, &target, (top, &target))?;
        if let Some(packages) = installed::above(top) {
            installed::link(&packages, &own.place().join(installed::NODE), top, &target)?;
        }
        Ok(own)
    }

    /// Returns the private directory that contains the copy.
    pub fn place(&self) -> &Path {
        self.room.path()
    }

    /// Returns the root directory of the copied project.
    pub fn top(&self) -> PathBuf {
        self.room.path().join("project")
    }

    /// Replaces the contents of a file, and removes the bytecode that Python compiled from the
    /// previous contents, because Python's cache compares times in whole seconds.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn write(&self, path: &str, text: &[u8]) -> anyhow::Result<()> {
        let place = self.top().join(path);
        write_now(&place, text).with_context(|| place.display().to_string())?;
        self.forget_compiled(&place);
        Ok(())
    }

    fn forget_compiled(&self, place: &Path) {
        let (Some(directory), Some(stem)) = (place.parent(), place.file_stem()) else { return };
        let Ok(entries) = fs::read_dir(directory.join("__pycache__")) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let rest = name.as_encoded_bytes().strip_prefix(stem.as_encoded_bytes());
            if rest.is_some_and(|rest| rest.starts_with(b".")) {
                let _made_again = fs::remove_file(entry.path());
            }
        }
    }
}

/// Writes a file, with a modification time later than that of any file written before. The kernel's
/// own timestamps are those of its last tick, so a file built within the same tick would not be
/// older, and `make` would not rebuild it.
fn write_now(place: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::create(place)?;
    file.write_all(text)?;
    file.set_times(FileTimes::new().set_modified(SystemTime::now()))
}

/// The file in a build directory in which CMake stores its settings.
pub(crate) const CMAKE: &str = "CMakeCache.txt";

/// Copies the settings of a CMake build directory, with paths adapted to the copy. The other files
/// in it contain the original path in many positions and are generated again.
fn configured(source: &Path, target: &Path, (from, to): (&Path, &Path)) -> anyhow::Result<()> {
    let named = |path: &Path| path.display().to_string();
    fs::create_dir(target).with_context(|| named(target))?;
    let settings = fs::read_to_string(source.join(CMAKE)).with_context(|| named(source))?;
    let settings = settings.replace(&named(from), &named(to));
    fs::write(target.join(CMAKE), settings).with_context(|| named(target))
}

/// Returns the target of a link in a copy. An absolute link to a file of the project (as created by
/// `editable_mode=strict`) would otherwise lead out of the copy.
fn led(aim: PathBuf, (from, to): (&Path, &Path)) -> PathBuf {
    let whole = from.canonicalize();
    let below = aim.strip_prefix(from).or_else(|error| match &whole {
        Ok(whole) => aim.strip_prefix(whole),
        Err(_) => Err(error),
    });
    below.map(|below| to.join(below)).unwrap_or(aim)
}

fn copy(from: &Path, to: &Path, tops: (&Path, &Path)) -> anyhow::Result<()> {
    let named = |path: &Path| path.display().to_string();
    fs::create_dir(to).with_context(|| named(to))?;
    for entry in fs::read_dir(from).with_context(|| named(from))? {
        let entry = entry.with_context(|| named(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().with_context(|| named(&source))?;
        let name = entry.file_name();
        let is_room = name.to_str().is_some_and(is_temporary);
        let is_installed = NOT_WRITTEN.iter().find(|(own, _)| name == *own).map(|(_, is)| *is);
        if is_room || is_installed == Some(false) {
            continue;
        }
        if kind.is_symlink() {
            let aim = fs::read_link(&source).with_context(|| named(&source))?;
            symlink(led(aim, tops), &target).with_context(|| named(&target))?;
        } else if kind.is_dir() && (is_installed == Some(true) || is_environment(&source)) {
            installed::link(&source, &target, tops.0, tops.1)?;
        } else if kind.is_dir() && source.join(CMAKE).is_file() {
            configured(&source, &target, tops)?;
        } else if kind.is_dir() {
            // Directories marked as caches, such as cargo's `target`, can be regenerated.
            if !source.join("CACHEDIR.TAG").exists() {
                copy(&source, &target, tops)?;
            }
        } else if kind.is_file() {
            // File systems that support it share the blocks until one of the files is modified.
            fs::copy(&source, &target).with_context(|| named(&source))?;
            let times = source.metadata().and_then(|data| data.modified());
            if let (Ok(modified), Ok(file)) = (times, File::options().write(true).open(&target)) {
                let _as_good = file.set_times(FileTimes::new().set_modified(modified));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn links_into_the_project_lead_into_the_copy() {
        let room = tempfile::tempdir().unwrap();
        let (top, other) = (room.path().join("p"), room.path().join("other"));
        fs::create_dir_all(top.join("src")).unwrap();
        fs::create_dir_all(top.join("build/strict")).unwrap();
        fs::write(top.join("src/a.py"), "a = 1").unwrap();
        symlink(top.join("src/a.py"), top.join("build/strict/a.py")).unwrap();
        symlink("../../src/a.py", top.join("build/strict/b.py")).unwrap();
        symlink(&other, top.join("other")).unwrap();
        let aliased = room.path().join("alias");
        symlink(&top, &aliased).unwrap();
        for from in [&top, &aliased] {
            let copy = Copy::of(from).unwrap();
            let aim = |path: &str| fs::read_link(copy.top().join(path)).unwrap();
            assert_eq!(aim("build/strict/a.py"), copy.top().join("src/a.py"));
            assert_eq!(aim("build/strict/b.py"), Path::new("../../src/a.py"));
            assert_eq!(aim("other"), other);
        }
    }

    #[test]
    fn packages_above_a_project_are_above_its_copy_too() {
        let room = tempfile::tempdir().unwrap();
        let top = room.path().join("a/p");
        fs::create_dir_all(&top).unwrap();
        fs::create_dir_all(room.path().join("node_modules/after")).unwrap();
        let packages = |copy: &Copy| copy.place().join("node_modules/after");
        assert!(!packages(&Copy::of(&top).unwrap()).exists());
        fs::write(top.join("package.json"), "{}").unwrap();
        // A package of a workspace is linked from there.
        symlink("../a/p", room.path().join("node_modules/p")).unwrap();
        let copy = Copy::of(&top).unwrap();
        assert!(packages(&copy).is_dir());
        let second = Copy::of(&copy.top()).unwrap();
        assert!(packages(&second).is_dir());
        let linked = copy.place().join("node_modules/p").canonicalize().unwrap();
        assert_eq!(linked, copy.top().canonicalize().unwrap());
    }

    #[test]
    fn what_is_written_is_newer_than_what_was_built_just_before() {
        let top = tempfile::tempdir().unwrap();
        let copy = Copy::of(top.path()).unwrap();
        let modified = |name: &str| copy.top().join(name).metadata().unwrap().modified().unwrap();
        for _ in 0..100 {
            fs::write(copy.top().join("built"), "").unwrap();
            copy.write("source", b"").unwrap();
            assert!(modified("source") > modified("built"));
        }
    }
}
