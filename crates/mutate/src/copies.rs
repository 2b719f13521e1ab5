//! Copies of the project, in which alone anything is changed: private directories that go when they are dropped, and that whoever comes next removes
//! should we be killed.

use crate::installed::{self, is_environment};
use anyhow::{Context, anyhow};
use assay_coverage::NOT_WRITTEN;
use assay_measure::room::{self, Room};
use std::fs::{self, File, FileTimes};
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Whether a path leads to a room of ours, or of another program of assay. What is temporary may lie within a project, and is no part of it: it is not copied
/// into the copy, which lies there too, nor changed, nor does it tell one state from another.
pub(crate) fn is_temporary(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with(room::PREFIX))
}

/// A copy of the project.
#[derive(Debug)]
pub(crate) struct Copy {
    room: Room,
}

impl Copy {
    /// Copies what is below a directory.
    ///
    /// # Errors
    /// When something can't be read or written.
    pub fn of(top: &Path) -> anyhow::Result<Self> {
        let room = Room::temporary().map_err(|(parent, error)| {
            anyhow!(
                "{}: {error}; let TMPDIR name a directory for temporary files",
                parent.display()
            )
        })?;
        let own = Self { room };
        let target = own.top();
        copy(top, &target, (top, &target))?;
        Ok(own)
    }

    /// The private directory that it is in.
    pub fn place(&self) -> &Path {
        self.room.path()
    }

    /// Its top.
    pub fn top(&self) -> PathBuf {
        self.room.path().join("project")
    }

    /// Puts a text in the place of a file, and removes what Python made of the one that was there: it goes by the whole second.
    ///
    /// # Errors
    /// When it can't be written.
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

/// Writes a file that is newer than everything written before. The kernel's own times are those of its last tick, so that what was built in the same tick
/// would not be older, and `make` would not build it again.
fn write_now(place: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::create(place)?;
    file.write_all(text)?;
    file.set_times(FileTimes::new().set_modified(SystemTime::now()))
}

/// The settings with which CMake was called, in its build directory.
const CMAKE: &str = "CMakeCache.txt";

/// Copies the settings of a build directory of CMake, with the paths of the copy. The rest names the original directory in many files, and is made again.
fn configured(source: &Path, target: &Path, (from, to): (&Path, &Path)) -> anyhow::Result<()> {
    let named = |path: &Path| path.display().to_string();
    fs::create_dir(target).with_context(|| named(target))?;
    let settings = fs::read_to_string(source.join(CMAKE)).with_context(|| named(source))?;
    let settings = settings.replace(&named(from), &named(to));
    fs::write(target.join(CMAKE), settings).with_context(|| named(target))
}

/// Where a link leads in a copy: one with the whole path of a file of the project (as those of `editable_mode=strict`) would lead out of it.
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
            // What says of itself that it can be made again (cargo's `target`).
            if !source.join("CACHEDIR.TAG").exists() {
                copy(&source, &target, tops)?;
            }
        } else if kind.is_file() {
            // On file systems that can, they share their blocks until one is written.
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
