//! Stores of other tools: directories and files that contain many runs, each with its own revision
//! and time.
//!
//! A store is recognized by its contents. Its runs are listed first and then read one by one,
//! because there may be thousands. The importer of the tool's format reads the file of a run. Only
//! information from elsewhere in the store, such as the names of parameters, is added here.
//! criterion's directory is not a store, because it contains only the last run, which
//! [`load`](super::load) reads.

pub(super) mod action;
mod asv;

use super::{Context, ImportError, ImportOptions, load, merge};
use crate::input::Input;
use crate::number::Marks;
use crate::samples::Samples;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum depth of directories, so that a wrong path does not lead to a walk of the whole disk.
const MAX_DEPTH: usize = 8;
/// Maximum number of directories read.
const MAX_DIRECTORIES: usize = 50_000;

/// A store that was found.
#[derive(Debug)]
pub struct RunStore {
    /// Display name of the tool that keeps the store.
    pub tool: &'static str,
    runs: Runs,
}

#[derive(Debug)]
enum Runs {
    /// One file per run, which the importers can read.
    Files(Vec<PathBuf>),
    /// Results of asv, with the descriptions of its benchmarks.
    Asv(Vec<PathBuf>, asv::Benchmarks),
    /// Lists within one file of github-action-benchmark.
    Action(PathBuf, Vec<action::Run>),
}

/// A run of a store.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// Where the run is stored, for display.
    pub source: String,
    /// The samples; the revision is a fact of their environment.
    pub samples: Samples,
    /// Time of the measurement in milliseconds since 1970, if it is known to the store but not to
    /// the samples.
    pub started: Option<i64>,
}

/// Opens the store at a path. Returns `None` if the path is not a store, although
/// [`load`](super::load) may be able to read it.
///
/// # Errors
/// Returns an error if the path is a store whose list of runs or benchmarks cannot be read.
pub fn open(path: &Path) -> Result<Option<RunStore>, ImportError> {
    let of_action = |path: &Path| -> Result<Option<RunStore>, ImportError> {
        let of = |runs| RunStore { tool: action::TOOL, runs: Runs::Action(path.to_owned(), runs) };
        Ok(action::runs_of(path)?.map(of))
    };
    if !path.is_dir() {
        return of_action(path);
    }
    for part in ["", "dev/bench"] {
        let file = path.join(part).join("data.js");
        if file.is_file() {
            return of_action(&file);
        }
    }
    for part in ["", "results", ".asv/results"] {
        if let Some(store) = asv::open(&path.join(part))? {
            return Ok(Some(store));
        }
    }
    let found = |tool, files: Vec<PathBuf>| {
        (!files.is_empty()).then_some(RunStore { tool, runs: Runs::Files(files) })
    };
    let own = path.join(".benchmarks");
    let of_pytest = if own.is_dir() { own.as_path() } else { path };
    let store = found("pytest-benchmark", files(of_pytest, 1, is_of_pytest));
    let store = store.or_else(|| found("cargo-bench-history", files(path, MAX_DEPTH, is_object)));
    Ok(store.or_else(|| found("assay", files(path, 0, is_sample_file))))
}

impl RunStore {
    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        match &self.runs {
            Runs::Files(files) | Runs::Asv(files, _) => files.len(),
            Runs::Action(_, runs) => runs.len(),
        }
    }

    /// Returns true if there are no runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the run with the index `number`, counted from 0.
    ///
    /// # Errors
    /// Returns an error if the run does not exist or cannot be read.
    pub fn read(&self, number: usize, options: &ImportOptions) -> Result<StoredRun, ImportError> {
        match &self.runs {
            Runs::Files(files) => {
                let path = files.get(number).ok_or(ImportError::NoInput)?;
                let samples = load(std::slice::from_ref(path), options)?;
                Ok(StoredRun { source: path.display().to_string(), samples, started: None })
            }
            Runs::Asv(files, benchmarks) => {
                let path = files.get(number).ok_or(ImportError::NoInput)?;
                asv::read(path, benchmarks, options)
            }
            Runs::Action(file, runs) => {
                let run = runs.get(number).ok_or(ImportError::NoInput)?;
                let (source, part, started) = action::read(file, run, options)?;
                let samples = whole(part, &source, action::TOOL, options)?;
                Ok(StoredRun { source, samples, started })
            }
        }
    }
}

/// Returns the modification time of the most recent `sample.json` in criterion's directory, if
/// there is any.
pub fn last_written(directory: &Path) -> Option<SystemTime> {
    let samples = files(directory, MAX_DEPTH, |path| name_of(path) == "sample.json");
    samples.iter().filter_map(|path| path.metadata().ok()?.modified().ok()).max()
}

/// Applies the filter to one run, as to any other input.
fn whole(
    part: super::Part,
    file: &str,
    label: &str,
    options: &ImportOptions,
) -> Result<Samples, ImportError> {
    let part = super::within_limits(part, file.to_owned())?;
    let one = merge::LabelledInput { file: file.to_owned(), label: label.to_owned(), part };
    let mut samples = merge::merge(vec![one], options)?;
    super::leave_out(&mut samples, options)?;
    Ok(samples)
}

/// Opens an input and passes it to `read` with its context.
fn with_context<T>(
    path: &Path,
    label: &str,
    options: &ImportOptions,
    read: impl FnOnce(Input, &Context<'_>) -> Result<T, ImportError>,
) -> Result<T, ImportError> {
    let input = Input::open(path)?;
    let file = input.file.clone();
    read(input, &Context { options, label, file: &file, tests: None, marks: &Marks::default() })
}

/// Returns the wanted files in a directory and its subdirectories, up to the given depth and sorted
/// by path. A directory that cannot be listed counts as empty, because callers notice if nothing is
/// found at all.
fn files(root: &Path, depth: usize, is_wanted: fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut found, mut waiting, mut seen) = (BTreeSet::new(), vec![(root.to_owned(), 0)], 0);
    while let Some((directory, at)) = waiting.pop() {
        seen += 1;
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            // Symbolic links are not followed, because they may form cycles.
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_file() && is_wanted(&path) {
                found.insert(path);
            } else if kind.is_dir() && at < depth && seen + waiting.len() < MAX_DIRECTORIES {
                waiting.push((path, at + 1));
            }
        }
    }
    found.into_iter().collect()
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Recognizes `.benchmarks/MACHINE/0001_COMMIT_TIME.json`, which pytest-benchmark numbers itself.
fn is_of_pytest(path: &Path) -> bool {
    let name = name_of(path);
    let number = name.split('_').next().unwrap_or_default();
    name.ends_with(".json") && number.len() == 4 && number.bytes().all(|b| b.is_ascii_digit())
}

/// Recognizes `objects/ENGINE/TRIPLE/MACHINE/COMMIT/clean.json`, the run of a commit, or
/// `dirty-….json` of a modified tree.
fn is_object(path: &Path) -> bool {
    let name = name_of(path);
    let is_run = name.starts_with("clean.json") || name.starts_with("dirty-");
    is_run && path.components().any(|part| part.as_os_str() == "objects")
}

fn is_sample_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "assay")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn files_of_stores_are_known_by_their_names() {
        let is = |known: fn(&Path) -> bool, name: &str| known(Path::new(name));
        assert!(is(is_of_pytest, ".benchmarks/Linux/0001_ab12_20260101.json"));
        assert!(!is(is_of_pytest, "a/1_x.json") && !is(is_of_pytest, "a/0001_x.txt"));
        assert!(is(is_object, "v1/p/objects/criterion/t/m/c/clean.json"));
        assert!(!is(is_object, "v1/p/objects/criterion/t/m/c/bless-7.json"));
        assert!(!is(is_object, "src/clean.json"));
    }

    #[test]
    fn an_empty_directory_is_no_store() {
        let home = tempfile::tempdir().unwrap();
        assert!(open(home.path()).unwrap().is_none());
        assert!(open(&home.path().join("missing")).unwrap().is_none());
    }
}
