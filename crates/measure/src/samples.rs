//! The private directory for files that commands write while they run: those of
//! [`crate::Channel::Path`], and those of the allocation counter.
//!
//! It is made when the first command needs it, is readable by its owner only, and goes with its
//! owner. What is in the files is not looked at here.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The directory, removed on drop.
#[derive(Debug)]
pub(crate) struct SampleDirectory {
    path: PathBuf,
}

impl SampleDirectory {
    /// Makes it below the user's directory for things of this session, or else below the one for
    /// temporary files. An error comes with the directory that could not be written.
    pub(crate) fn make() -> Result<Self, (PathBuf, io::Error)> {
        let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        if let Some(session) = session.filter(|path| path.is_absolute())
            && let Ok(made) = Self::make_below(&session)
        {
            return Ok(made);
        }
        let temporary = std::env::temp_dir();
        // A name for the commands, which may run in any directory.
        let absolute = std::path::absolute(&temporary).unwrap_or_else(|_| temporary.clone());
        Self::make_below(&absolute).map_err(|error| (temporary, error))
    }

    fn make_below(parent: &Path) -> io::Result<Self> {
        // The name need not be secret: a directory that is there already is never used.
        for i in 0_u32..1000 {
            let path = parent.join(format!("assay-samples-{}-{i}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Where it is, absolute.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file of a command.
    pub(crate) fn file(&self, command: usize) -> PathBuf {
        self.path.join(command.to_string())
    }
}

impl Drop for SampleDirectory {
    fn drop(&mut self) {
        // What a command put there goes too. If it cannot be removed, a few small files stay behind
        // in a directory that the system empties by itself.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Puts a new, empty file in the place of the one of that name: whoever still holds the old one
/// writes where nobody reads.
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
        let first = SampleDirectory::make_below(parent.path()).unwrap();
        let second = SampleDirectory::make_below(parent.path()).unwrap();
        assert_ne!(first.path, second.path);
        let mode = fs::metadata(&first.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::create_dir(first.path.join("left")).unwrap();
        fs::write(first.file(3), "x").unwrap();
        drop((first, second));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
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
