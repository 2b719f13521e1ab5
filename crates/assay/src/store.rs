//! The store of recent runs: its location in the state directory, its file names, and how many runs
//! are kept.
//!
//! Every run that measures is kept automatically, so that a surprising result can be examined
//! again. The location is `$XDG_STATE_HOME/assay/runs` (`~/.local/state/assay/runs`). This module
//! does not read or write the file format.

use crate::{system, whole_file};
use anyhow::Context;
use assay_data::private;
use assay_data::system_error::reason;
pub(crate) use assay_measure::directories::state_directory;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum number of runs that are kept.
const KEEP: usize = 200;

/// Returns the directory of kept runs.
fn directory() -> Option<PathBuf> {
    Some(state_directory()?.join("runs"))
}

/// Creates a file for a run, named after its start time, among the kept runs. Removes the oldest
/// runs beyond `KEEP`.
///
/// # Errors
/// Fails if the directory is unknown, or the file cannot be written.
pub(crate) fn open_kept(began: &jiff::Timestamp) -> anyhow::Result<(PathBuf, File)> {
    let directory = directory().context("neither XDG_STATE_HOME nor HOME names a directory")?;
    private::directory(&directory).with_context(|| directory.display().to_string())?;
    let name = format!("{}-{}.assay", began.strftime("%Y-%m-%dT%H-%M-%S%.3fZ"), std::process::id());
    let path = directory.join(name);
    let file = private::options()
        .write(true)
        .create_new(true)
        .open(&path)
        .with_context(|| path.display().to_string())?;
    prune(&directory, KEEP, &path);
    Ok((path, file))
}

/// Checks before measuring whether the file that the user named with `option` can become the
/// record.
///
/// # Errors
/// Fails if the file is something else that must not be overwritten, or cannot be created.
pub(crate) fn check_named(option: &str, path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        anyhow::bail!("{option} {}: that is a directory; name a file in it", path.display());
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        anyhow::bail!(
            "{option} {}: the directory {} does not exist",
            path.display(),
            directory.display()
        );
    }
    // Opening a pipe waits for its reader, possibly forever.
    if path.metadata().is_ok_and(|found| system::is_pipe(&found)) {
        anyhow::bail!("{option} {}: that is a pipe; name a file", path.display());
    }
    if path.is_file() && !looks_like_samples(path) {
        anyhow::bail!(
            "{} exists and is not an .assay file, so it is not overwritten; remove it, or give another name to {option}",
            path.display()
        );
    }
    let is_device = path.exists() && !path.is_file();
    let directory = directory.unwrap_or(Path::new("."));
    if !is_device && let Err(error) = whole_file::check_directory(directory) {
        match error.kind() {
            io::ErrorKind::PermissionDenied => anyhow::bail!(
                "{option} {}: no permission to write to {}",
                path.display(),
                directory.display()
            ),
            _ => anyhow::bail!("{option} {}: {}", path.display(), reason(&error)),
        }
    }
    Ok(())
}

/// A file that the user named for a record.
pub(crate) struct RecordFile {
    /// The new, empty file.
    pub file: File,
    /// Path at which an earlier record is kept until the new one is complete.
    pub earlier: Option<PathBuf>,
}

/// Opens the file that the user named with `option`, if [`check_named`] accepts it. An earlier
/// record is kept next to it.
///
/// # Errors
/// Fails as [`check_named`] does, or if the file cannot be written.
pub(crate) fn open_named(option: &str, path: &Path) -> anyhow::Result<RecordFile> {
    check_named(option, path)?;
    let failed = || format!("cannot write {}", path.display());
    let is_record = path.metadata().is_ok_and(|found| found.is_file() && found.len() > 0);
    let earlier = is_record.then(|| aside(path));
    if let Some(earlier) = &earlier {
        fs::rename(path, earlier).with_context(failed)?;
    }
    let file = private::options().write(true).create(true).truncate(true).open(path);
    Ok(RecordFile { file: file.with_context(failed)?, earlier })
}

/// Returns an unused path in the same directory, for an earlier record.
fn aside(path: &Path) -> PathBuf {
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 0 { ".earlier".to_owned() } else { format!(".earlier{number}") });
        PathBuf::from(name)
    };
    let free = (0..).map(named).find(|path| path.symlink_metadata().is_err());
    free.unwrap_or_else(|| named(0))
}

fn looks_like_samples(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(9).read_to_end(&mut start));
    read.is_ok() && (start.is_empty() || start.starts_with(b"{\"assay\":"))
}

/// Returns the path of the kept run that was started last.
pub(crate) fn newest() -> Option<PathBuf> {
    runs(&directory()?).into_iter().max()
}

/// Returns the paths of the kept runs in no particular order. There are none if the directory
/// cannot be read.
fn runs(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|e| e == "assay")).collect()
}

/// Removes the oldest runs beyond `keep`, but never the run that was just started, whose name may
/// be the oldest if the clock is behind. Names sort by time. A file that cannot be removed stays,
/// because keeping too much must not make a measurement fail.
fn prune(directory: &Path, keep: usize, begun: &Path) {
    let mut runs = runs(directory);
    runs.retain(|path| path != begun);
    runs.sort();
    let too_many = (runs.len() + 1).saturating_sub(keep).min(runs.len());
    for path in &runs[..too_many] {
        let _stays = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_runs_go_and_other_files_stay() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for name in ["2026-01-03.assay", "2026-01-01.assay", "2026-01-02.assay", "notes.txt"] {
            fs::write(directory.path().join(name), "").expect("written");
        }
        // The clock is behind, so the new run has the oldest name.
        let begun = directory.path().join("1986-01-01.assay");
        fs::write(&begun, "").expect("written");
        prune(directory.path(), 3, &begun);
        let mut left: Vec<_> = fs::read_dir(directory.path())
            .expect("readable")
            .map(|entry| entry.expect("readable").file_name().into_string().expect("plain names"))
            .collect();
        left.sort();
        assert_eq!(left, ["1986-01-01.assay", "2026-01-02.assay", "2026-01-03.assay", "notes.txt"]);
    }

    #[test]
    fn an_earlier_record_is_kept_beside_the_new_one() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.assay");
        assert_eq!(open_named("--save", &path).expect("opened").earlier, None);
        // An empty file is not a record.
        assert_eq!(open_named("--save", &path).expect("opened").earlier, None);
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &fs::metadata(&path).expect("there").permissions(),
        );
        assert_eq!(mode & 0o077, 0, "nobody else reads what commands were given");
        for (record, name) in
            [("{\"assay\":1}", "a.assay.earlier"), ("{\"assay\":2}", "a.assay.earlier1")]
        {
            fs::write(&path, record).expect("written");
            let earlier = open_named("--save", &path).expect("opened").earlier.expect("kept");
            assert_eq!(earlier, directory.path().join(name));
            assert_eq!(fs::read_to_string(earlier).expect("readable"), record);
        }
    }

    #[test]
    fn a_file_of_something_else_is_not_overwritten() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let precious = directory.path().join("thesis.tex");
        fs::write(&precious, "years of work").expect("written");
        assert!(open_named("--save", &precious).is_err());
        assert_eq!(fs::read_to_string(&precious).expect("readable"), "years of work");
    }
}
