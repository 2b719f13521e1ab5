//! Stores of other tools: directories and files that hold many runs, each of its own revision and moment.
//!
//! What is a store is known by what lies in it. Its runs are named here and read one by one, since there may be thousands. What a tool
//! keeps of a run is read by the importer of its format; only what stands elsewhere in the store, such as the names of parameters, is
//! added here. A directory of criterion's is no store: it holds the last run alone, which [`load`](super::load) reads.

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

/// Deepest directory that is looked into, and most of them; a wrong path must not walk the whole disk.
const MAX_DEPTH: usize = 8;
const MAX_DIRECTORIES: usize = 50_000;

/// A store that was found.
#[derive(Debug)]
pub struct RunStore {
    /// The tool that keeps it, for people.
    pub tool: &'static str,
    runs: Runs,
}

#[derive(Debug)]
enum Runs {
    /// A file each, as the importers read it.
    Files(Vec<PathBuf>),
    /// Results of asv, with what is known of its benchmarks.
    Asv(Vec<PathBuf>, asv::Benchmarks),
    /// Lists within one file of github-action-benchmark's.
    Action(PathBuf, Vec<action::Run>),
}

/// A run of a store.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// Where it stands, for people.
    pub source: String,
    /// What was measured; the revision is a fact of its environment.
    pub samples: Samples,
    /// When it was measured, ms since 1970, where the store says so and the samples don't.
    pub started: Option<i64>,
}

/// The store that a path names; `None` where it is none, and may be a file or a directory that [`load`](super::load) reads.
///
/// # Errors
/// When it is a store, and what it says of all of its runs can't be read.
pub fn open(path: &Path) -> Result<Option<RunStore>, ImportError> {
    if !path.is_dir() {
        return action::open(path);
    }
    for part in ["", "dev/bench"] {
        let file = path.join(part).join("data.js");
        if file.is_file() {
            return action::open(&file);
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
    /// How many runs it has.
    pub fn len(&self) -> usize {
        match &self.runs {
            Runs::Files(files) | Runs::Asv(files, _) => files.len(),
            Runs::Action(_, runs) => runs.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads a run, counted from 0.
    ///
    /// # Errors
    /// When it can't be read, or there are not so many.
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
                action::read(file, run, options)
            }
        }
    }
}

/// When the last file of samples below a directory of criterion's was written.
pub fn last_written(directory: &Path) -> Option<SystemTime> {
    let samples = files(directory, MAX_DEPTH, |path| name_of(path) == "sample.json");
    samples.iter().filter_map(|path| path.metadata().ok()?.modified().ok()).max()
}

/// What is read of one run is filtered as any other input.
fn whole(
    part: super::Part,
    file: &str,
    label: &str,
    options: &ImportOptions,
) -> Result<Samples, ImportError> {
    let part = super::within_limits(part, file.to_owned())?;
    let one = merge::Labelled { file: file.to_owned(), label: label.to_owned(), part };
    let mut samples = merge::merge(vec![one], options)?;
    super::leave_out(&mut samples, options)?;
    Ok(samples)
}

/// An input, and what readers are given beside it.
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

/// Files below a directory that are wanted, in the order of their paths, so deep at most. What can't be listed has none: whether there
/// is anything at all is seen by whoever asks.
fn files(root: &Path, depth: usize, is_wanted: fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut found, mut waiting, mut seen) = (BTreeSet::new(), vec![(root.to_owned(), 0)], 0);
    while let Some((directory, at)) = waiting.pop() {
        seen += 1;
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            // Links are not followed: they may lead in circles.
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

/// `.benchmarks/MACHINE/0001_COMMIT_TIME.json`, which pytest-benchmark numbers by itself.
fn is_of_pytest(path: &Path) -> bool {
    let name = name_of(path);
    let number = name.split('_').next().unwrap_or_default();
    name.ends_with(".json") && number.len() == 4 && number.bytes().all(|b| b.is_ascii_digit())
}

/// `objects/ENGINE/TRIPLE/MACHINE/COMMIT/clean.json`: the run of a commit, or `dirty-….json` of a changed tree.
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
