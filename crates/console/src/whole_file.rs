//! Files that appear whole or not at all: pages, pictures, exports, synthetic data.
//!
//! What is written goes into a new file beside its place, which takes the place when it is complete. Whoever looks meanwhile sees
//! what was there before, and so does whoever comes after a failure. Recordings of a run are no business of this room: they are
//! written as they are measured.

use crate::output;
use anyhow::Context;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Puts a whole new file in the place of what was there.
///
/// # Errors
/// When it can't be written; then what was there stays.
pub fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write(path, |out| out.write_all(bytes).with_context(|| path.display().to_string()))
}

/// Puts what `fill` writes in the place of what was there, once all of it is written. A pipe or a terminal has no place to put a
/// file: there it is written as it comes.
///
/// # Errors
/// Those of `fill`, and when the file can't be written; then what was there stays.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let named = || path.display().to_string();
    if is_special(path) {
        let out = File::options().write(true).open(path).with_context(named)?;
        return output::while_read(out, fill).with_context(named);
    }
    // A link stays a link, and what it names is replaced.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut out = BufWriter::new(new_file(&directory_of(&place)).with_context(named)?);
    fill(&mut out)?;
    let file = out.into_inner().map_err(|error| error.into_error()).with_context(named)?;
    file.persist(&place).map_err(|error| error.error).with_context(named)?;
    Ok(())
}

/// Finds out whether a file can be made in the place of this one: one is made and goes away again, the only sure proof.
///
/// # Errors
/// When the place is a directory, or in none that can be written to.
pub fn check(path: &Path, such_as: &str) -> anyhow::Result<()> {
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

/// Finds out whether files can be made in this directory.
///
/// # Errors
/// When they can't.
pub fn check_directory(directory: &Path) -> std::io::Result<()> {
    new_file(directory).map(drop)
}

/// A file without a place yet, which goes away unless it is given one.
///
/// # Errors
/// When it can't be made.
pub fn new_file(directory: &Path) -> std::io::Result<NamedTempFile> {
    for_all(Builder::new().prefix(".assay-")).tempfile_in(directory)
}

/// As any program makes its files: for all, less what the user's mask takes away.
#[cfg(unix)]
fn for_all<'a, 'b, 'c>(file: &'a mut Builder<'b, 'c>) -> &'a mut Builder<'b, 'c> {
    file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
}

/// As any program makes its files.
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
