//! Creates files and directories that only their owner can access regardless of the umask, because
//! recordings may contain the arguments and output of commands.
//!
//! Everything that assay's programs keep in the user's state, cache or runtime directory is created
//! here. Files that the user names, as with `--export`, are created with the usual permissions.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Returns options that create files accessible only to their owner. On systems without such
/// permissions, access is determined by the directory.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a directory for assay's own files, with missing parents. If the directory already
/// exists, created by an earlier version or by hand, access by others is removed if possible.
///
/// # Errors
///
/// Returns an error if the directory cannot be created.
pub fn directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    close(path);
    Ok(())
}

#[cfg(unix)]
fn close(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(found) = fs::metadata(path) else { return };
    if found.permissions().mode() & 0o077 != 0 {
        // A directory that belongs to another user is left unchanged.
        let _stays = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    }
}

#[cfg(not(unix))]
fn close(_: &Path) {}

/// Creates an empty file, or truncates an existing one.
///
/// # Errors
///
/// Returns an error if the file cannot be created.
pub fn create(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}

/// Replaces the whole contents of a file. If interrupted, either the old or the new contents
/// remain.
///
/// # Errors
///
/// Returns an error if the new file cannot be written. The old one is then unchanged.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = Path::new(&name);
    let written =
        create(new).and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(new, path));
    if written.is_err() {
        let _never_made = fs::remove_file(new);
    }
    written
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_its_owners_alone() {
        let room = tempfile::tempdir().unwrap();
        let deep = room.path().join("state/assay/runs");
        directory(&deep).unwrap();
        assert_eq!(mode(&deep), 0o700);
        assert_eq!(mode(&room.path().join("state")), 0o700);
        let file = deep.join("a");
        for text in ["first", "second"] {
            replace(&file, text.as_bytes()).unwrap();
            assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), (text, 0o600));
        }
        assert_eq!(fs::read_dir(&deep).unwrap().count(), 1);
        drop(create(&file).unwrap());
        assert_eq!(fs::read(&file).unwrap(), b"");
    }

    #[test]
    fn what_an_earlier_version_left_open_is_closed() {
        let room = tempfile::tempdir().unwrap();
        let open = room.path().join("assay");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        directory(&open).unwrap();
        assert_eq!(mode(&open), 0o700);
    }
}
