//! Atomic writing of files, such as pages, charts, exports and synthetic data.
//!
//! The content is written to a new file in the same directory, which replaces the target once it is
//! complete. Until then, and after a failure, readers see the old content. Recordings of a run are
//! not written this way, because they are written during the measurement.

use crate::console::output;
use anyhow::Context;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Replaces the content of a file.
///
/// # Errors
///
/// Returns an error if the file can't be written. The old content is then kept.
pub fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write(path, |out| out.write_all(bytes).with_context(|| path.display().to_string()))
}

/// Replaces a file with the output of `fill`, once it is complete. Pipes and terminals cannot be
/// replaced, so they are written to directly.
///
/// # Errors
///
/// Returns an error if `fill` fails or the file can't be written. The old content is then kept.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let named = || path.display().to_string();
    if is_special(path) {
        let out = File::options().write(true).open(path).with_context(named)?;
        return output::while_read(out, fill).with_context(named);
    }
    // A symbolic link is kept, and its target is replaced.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut out = BufWriter::new(new_file(&directory_of(&place)).with_context(named)?);
    fill(&mut out)?;
    let file = out.into_inner().map_err(|error| error.into_error()).with_context(named)?;
    file.persist(&place).map_err(|error| error.error).with_context(named)?;
    Ok(())
}

/// Checks that a file can be created at a path, by creating a temporary one in its directory, which
/// is the only reliable test.
///
/// # Errors
///
/// Returns an error if the path is a directory, or if its directory does not exist or is not
/// writable.
pub(super) fn check(path: &Path, such_as: &str) -> anyhow::Result<()> {
    if path.is_dir() {
        let file = path.join(such_as);
        anyhow::bail!("that is a directory; name a file in it, such as {}", file.display());
    }
    let directory = directory_of(path);
    if !directory.is_dir() {
        anyhow::bail!("the directory {} does not exist", directory.display());
    }
    if !is_special(path) {
        check_directory(&directory)
            .with_context(|| format!("{} can't be written to", directory.display()))?;
    }
    Ok(())
}

/// Checks that files can be created in a directory.
///
/// # Errors
///
/// Returns an error if no file can be created.
pub fn check_directory(directory: &Path) -> std::io::Result<()> {
    new_file(directory).map(drop)
}

/// Creates a temporary file in a directory. The file is deleted unless it is persisted.
///
/// # Errors
///
/// Returns an error if the file can't be created.
pub fn new_file(directory: &Path) -> std::io::Result<NamedTempFile> {
    for_all(Builder::new().prefix(".assay-")).tempfile_in(directory).map_err(without_path)
}

/// Returns an error of the system without the path of the temporary file, which the user does not
/// know.
fn without_path(error: std::io::Error) -> std::io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((reason, _)) => std::io::Error::new(error.kind(), reason),
        None => error,
    }
}

/// Sets the usual permissions: read and write for everyone, restricted by the user's umask.
#[cfg(unix)]
fn for_all<'a, 'b, 'c>(file: &'a mut Builder<'b, 'c>) -> &'a mut Builder<'b, 'c> {
    file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
}

/// Keeps the usual permissions.
#[cfg(not(unix))]
fn for_all<'a, 'b, 'c>(file: &'a mut Builder<'b, 'c>) -> &'a mut Builder<'b, 'c> {
    file
}

fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn directory_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_replaces_the_one_before_and_leaves_nothing_else() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("out.html");
        for text in ["first", "second"] {
            replace(&path, text.as_bytes()).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("readable"), text);
        }
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
        assert!(check(&path, "report.html").is_ok());
        assert!(check(directory.path(), "report.html").is_err());
        assert!(check(&directory.path().join("none/out.html"), "report.html").is_err());
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }

    #[test]
    fn what_fails_half_way_leaves_what_was_there() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("numbers.txt");
        let fails = |out: &mut dyn Write| {
            out.write_all(&[b'1'; 100_000])?;
            anyhow::bail!("no more numbers")
        };
        assert!(write(&path, fails).is_err());
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 0);
        replace(&path, b"before").expect("written");
        assert!(write(&path, fails).is_err());
        assert_eq!(fs::read_to_string(&path).expect("readable"), "before");
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }
}
