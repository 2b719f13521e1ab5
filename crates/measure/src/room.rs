//! Private directories for the duration of a run. They contain files that commands write for
//! [`crate::Channel::Path`] and the allocation counter, results of benchmark programs, recordings
//! of samplers, and our own programs.
//!
//! A room is accessible only to its owner, regardless of the umask. The directory is removed when
//! the `Room` is dropped. The owner holds a lock on it, so that the next process that creates a
//! room can remove those whose owners were killed. The content of the files is not examined here.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Prefix of the directory names of rooms.
pub const PREFIX: &str = "assay-room-";
/// Free space, in bytes, below which a file system counts as full. The next report would not fit.
const FULL: u64 = 64 << 10;
/// Minimum age of a room that is removed as abandoned, because the owner of a newer one may not
/// have locked it yet.
const SETTLED: Duration = Duration::from_secs(60);

/// A private directory, which is removed on drop.
#[derive(Debug)]
pub struct Room {
    path: PathBuf,
    /// Lock that is held while the room is in use.
    _lock: File,
}

impl Room {
    /// Creates a room in the user's session directory, or otherwise in the directory for temporary
    /// files.
    ///
    /// # Errors
    ///
    /// Returns an error if the room can't be created in either, with the directory that is not
    /// writable.
    pub fn of_session() -> Result<Self, (PathBuf, io::Error)> {
        let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        if let Some(session) = session.filter(|path| path.is_absolute())
            && let Ok(made) = Self::below(&session)
        {
            return Ok(made);
        }
        Self::temporary()
    }

    /// Creates a room in the directory for temporary files, from which programs can usually be run.
    ///
    /// # Errors
    ///
    /// Returns an error if the room can't be created, with the directory that is not writable.
    pub fn temporary() -> Result<Self, (PathBuf, io::Error)> {
        let temporary = std::env::temp_dir();
        // The path is absolute because commands may run in any directory.
        let absolute = std::path::absolute(&temporary).unwrap_or_else(|_| temporary.clone());
        Self::below(&absolute).map_err(|error| (temporary, error))
    }

    /// Creates a room in an existing directory.
    ///
    /// # Errors
    ///
    /// Returns an error if the room can't be created.
    pub fn below(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent, SETTLED);
        // The name need not be secret, because an existing directory is never used.
        for i in 0_u32..1000 {
            let path = parent.join(format!("{PREFIX}{}-{i}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let lock = File::open(&path)?;
                    // On file systems without locks, an abandoned room can't be recognized, so it
                    // stays.
                    let _without = lock.try_lock();
                    return Ok(Self { path, _lock: lock });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the room to another user, for a server that runs as that user. Only root can do this,
    /// and root still has access afterwards.
    ///
    /// # Errors
    ///
    /// Returns the system's error if the owner can't be changed.
    pub fn give_to(&self, user: u32, group: u32) -> io::Result<()> {
        std::os::unix::fs::chown(&self.path, Some(user), Some(group))
    }

    /// Returns true if the room's file system is almost full, which may be why programs fail.
    pub fn is_full(&self) -> bool {
        is_full(&self.path)
    }

    /// Returns the room's absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the sample file of the command with this number.
    pub(crate) fn file(&self, command: usize) -> PathBuf {
        self.path.join(command.to_string())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // This also removes the files of commands. If it fails, the next process that creates a
        // room tries again.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Returns true if a directory's file system is almost full.
pub fn is_full(directory: &Path) -> bool {
    rustix::fs::statvfs(directory).is_ok_and(|found| {
        let no_names_left = found.f_files > 0 && found.f_favail == 0;
        found.f_bavail.saturating_mul(found.f_frsize) < FULL || no_names_left
    })
}

/// Removes this user's rooms whose owners have exited. Root, who may have given rooms to other
/// users, removes those of all users. A room that can't be removed is left, since that need not
/// prevent a measurement.
fn remove_abandoned(parent: &Path, settled: Duration) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let user = rustix::process::geteuid().as_raw();
    let is_old = |found: &Metadata| {
        found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|passed| passed >= settled))
    };
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        // The metadata describe a symbolic link itself, so it is not a directory.
        let is_ours = |found: Metadata| {
            found.is_dir() && (found.uid() == user || user == 0) && is_old(&found)
        };
        if !entry.metadata().is_ok_and(is_ours) {
            continue;
        }
        if File::open(entry.path()).is_ok_and(|room| room.try_lock().is_ok()) {
            let _stays = fs::remove_dir_all(entry.path());
        }
    }
}

/// Replaces a file with a new, empty one of the same name. Processes that still have the old file
/// open write to a file that nobody reads.
pub(crate) fn renew(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use std::io::{Read, Write};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_directory_is_private_and_goes_with_its_owner() {
        let parent = tempfile::tempdir().unwrap();
        let first = Room::below(parent.path()).unwrap();
        let second = Room::below(parent.path()).unwrap();
        assert_ne!(first.path, second.path);
        let mode = fs::metadata(&first.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::create_dir(first.path.join("left")).unwrap();
        fs::write(first.file(3), "x").unwrap();
        drop((first, second));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn rooms_of_the_dead_are_removed_and_no_others() {
        let parent = tempfile::tempdir().unwrap();
        let alive = Room::below(parent.path()).unwrap();
        let abandoned = parent.path().join(format!("{PREFIX}1-0"));
        fs::create_dir_all(abandoned.join("deep")).unwrap();
        let others = parent.path().join("assay-notes");
        fs::create_dir(&others).unwrap();
        let link = parent.path().join(format!("{PREFIX}2-0"));
        std::os::unix::fs::symlink(&others, &link).unwrap();
        // A new room may be about to be locked.
        remove_abandoned(parent.path(), SETTLED);
        assert!(abandoned.exists());
        remove_abandoned(parent.path(), Duration::ZERO);
        assert!(!abandoned.exists());
        assert!(alive.path().exists() && others.exists() && link.exists());
    }

    #[test]
    fn a_writer_of_the_old_file_does_not_reach_the_new_one() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("0");
        drop(renew(&path).unwrap());
        let mut old = OpenOptions::new().append(true).open(&path).unwrap();
        let mut new = renew(&path).unwrap();
        old.write_all(b"late").unwrap();
        let mut found = String::new();
        new.read_to_string(&mut found).unwrap();
        assert_eq!(found, "");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
