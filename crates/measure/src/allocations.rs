//! Counts the allocations of a program: calls and bytes of malloc and related functions, and the
//! peak of live bytes, for every process of a run.
//!
//! A library that the program is made to load does the counting (documented in `c/alloc.c`). It is
//! embedded, and unpacked into the user's cache. Each process leaves a file in a directory of the
//! run; this module creates the directory, provides the environment variables that point to it, and
//! reads the files. [`refusal`] determines before the run whether a program can be counted at all;
//! [`notes`] describes the memory that a program's runtime hides from malloc; and [`Executed`] is a
//! program that a counted process ran, and that may itself not have been counted. Nothing is run
//! here. Counting slows a program down, so such runs must not be timed.
//!
//! ```
//! use assay_measure::{Command, RunOptions, Runner, allocations::Counting};
//!
//! let counting = Counting::start()?;
//! let mut command = Command::parse("sort /dev/null", false)?;
//! command.env.extend(counting.environment(&command)?);
//! let mut runner = Runner::start()?;
//! let subject = runner.add(&command)?;
//! runner.run(subject, RunOptions::default())?;
//! let records = counting.read()?;
//! assert!(records[0].counts.is_some_and(|counts| counts.allocations > 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod executed;
mod programs;
mod record;
mod refusal;

use crate::directories::cache_directory;
use assay_data::system_error::reason;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay_data::private;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::command::Command;
use crate::embedded;
use crate::room::Room;

pub use executed::Executed;
pub use record::{Counts, Record};
pub use refusal::{Note, Refusal, RefusalReason, notes, refusal};

const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/alloc.so"));
/// The environment variable that passes the directory to the library.
const DIRECTORY: &str = "ASSAY_ALLOC";
/// The dynamic linker's list of libraries to load first.
const PRELOAD: &str = "LD_PRELOAD";
/// File extension of the processes' files.
const EXTENSION: &str = "alloc";
/// Name of the file that lists the programs that were run.
const EXECUTED: &str = "executed";
/// Maximum size of a record in bytes; larger files are not records.
const MOST_BYTES: u64 = 1 << 20;

/// Errors of counting allocations, or of reading the counts.
#[derive(Debug, Error)]
pub enum CountingError {
    /// The library or the files of the processes can't be created.
    #[error(
        "cannot create files for counting allocations in `{}`: {reason}.\nSet XDG_RUNTIME_DIR or TMPDIR to another directory.",
        path.display(),
        reason = reason(source)
    )]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The library's path can't be passed to the dynamic linker.
    #[error(
        "the counting library in `{}` cannot be preloaded: for the dynamic linker, names end at blanks and colons, and must be UTF-8. Name another directory in XDG_CACHE_HOME.",
        path.display()
    )]
    Name {
        /// Path of the library.
        path: PathBuf,
    },
    /// Other libraries must be preloaded as well, but can't be passed on.
    #[error("LD_PRELOAD is not UTF-8, so the counting library cannot be put before it: change it")]
    Preload,
    /// A file of a process cannot be read.
    #[error("cannot read the counts in `{}`: {reason}", path.display(), reason = reason(source))]
    Read {
        /// The file, or the directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file that was not written by a counting library of this version.
    #[error("the counts in `{}` cannot be used: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The defect.
        why: &'static str,
    },
}

/// One run to be counted: its own directory, removed on drop, and the library.
#[derive(Debug)]
pub struct Counting {
    directory: Room,
    library: PathBuf,
}

impl Counting {
    /// Creates the directory, and unpacks the library unless it is there already.
    ///
    /// # Errors
    ///
    /// [`CountingError::Directory`], [`CountingError::Name`].
    pub fn start() -> Result<Self, CountingError> {
        let directory = Room::of_session()
            .map_err(|(path, source)| CountingError::Directory { path, source })?;
        // The cache may be inaccessible, or have a name that can't be preloaded: then the library
        // is put into the directory of the run.
        let cached = cache_directory().filter(|path| can_be_preloaded(path));
        let library = match cached.and_then(|cache| unpack(&cache).ok()) {
            Some(library) => library,
            None => {
                let path = directory.path();
                unpack(path)
                    .map_err(|source| CountingError::Directory { path: path.to_owned(), source })?
            }
        };
        if can_be_preloaded(&library) && directory.path().to_str().is_some() {
            Ok(Self { directory, library })
        } else {
            Err(CountingError::Name { path: library })
        }
    }

    /// Returns the variables that a command needs so that it and its descendants are counted.
    /// Libraries that it already preloads are kept, after this one.
    ///
    /// # Errors
    ///
    /// [`CountingError::Preload`].
    pub fn environment(&self, command: &Command) -> Result<[(String, String); 2], CountingError> {
        let mut preload = self.library.display().to_string();
        if let Some(others) = command.variable(PRELOAD).filter(|others| !others.is_empty()) {
            preload.push(':');
            preload.push_str(others.to_str().ok_or(CountingError::Preload)?);
        }
        let directory = self.directory.path().display().to_string();
        Ok([(PRELOAD.to_owned(), preload), (DIRECTORY.to_owned(), directory)])
    }

    /// Returns the current counts of the run's processes, in the order of their start. A forked
    /// child that never called an allocator has no record. Running processes continue counting.
    ///
    /// # Errors
    ///
    /// [`CountingError::Read`]; [`CountingError::Damaged`] for a file that is named like a record
    /// but is not one.
    pub fn read(&self) -> Result<Vec<Record>, CountingError> {
        let found = read(self.directory.path())?;
        Ok(found.into_iter().map(|(_, record)| record).collect())
    }

    /// Like [`Counting::read`], and prepares for another run: records that were read are removed.
    /// Processes still running continue counting, but their counts are lost.
    ///
    /// # Errors
    ///
    /// As [`Counting::read`]; [`CountingError::Read`] also for a file that can't be removed.
    pub fn take(&self) -> Result<Vec<Record>, CountingError> {
        let mut records = Vec::new();
        for (path, record) in read(self.directory.path())? {
            fs::remove_file(&path).map_err(|source| CountingError::Read { path, source })?;
            records.push(record);
        }
        Ok(records)
    }

    /// Returns the programs that the counted processes have run since the last call, each once;
    /// [`Executed::uncounted`] returns the reason if one was not counted.
    ///
    /// # Errors
    ///
    /// [`CountingError::Read`].
    pub fn take_executed(&self) -> Result<BTreeSet<Executed>, CountingError> {
        let path = self.directory.path().join(EXECUTED);
        match fs::read(&path).and_then(|bytes| fs::remove_file(&path).map(|()| bytes)) {
            Ok(bytes) => Ok(executed::parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
            Err(source) => Err(CountingError::Read { path, source }),
        }
    }
}

fn can_be_preloaded(path: &Path) -> bool {
    path.to_str().is_some_and(|path| !path.contains([' ', ':', '\t', '\n', '$']))
}

/// Writes the library into a directory, which is created if necessary, under a name determined by
/// its content; an existing file is reused if it is identical.
fn unpack(directory: &Path) -> io::Result<PathBuf> {
    let digest = Sha256::digest(LIBRARY);
    let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let path = directory.join(format!("alloc-{digest}.so"));
    if fs::read(&path).is_ok_and(|found| found == LIBRARY) {
        return Ok(path);
    }
    private::directory(directory)?;
    // Write a new file, since a program may be loading the old one.
    embedded::write(&path, LIBRARY, 0o600)?;
    Ok(path)
}

/// Returns the records of a directory with their files.
fn read(directory: &Path) -> Result<Vec<(PathBuf, Record)>, CountingError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| CountingError::Read { path, source }
    };
    let mut records = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed(directory))? {
        let path = entry.map_err(failed(directory))?.path();
        let hidden = path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
        // Hidden files were not finished when their process ended.
        if hidden || path.extension() != Some(OsStr::new(EXTENSION)) {
            continue;
        }
        let about = fs::metadata(&path).map_err(failed(&path))?;
        if !about.is_file() || about.len() > MOST_BYTES {
            return Err(CountingError::Damaged { path, why: "it is not a record" });
        }
        let bytes = fs::read(&path).map_err(failed(&path))?;
        match Record::parse(&bytes) {
            Ok(record) => records.push((path, record)),
            Err(why) => return Err(CountingError::Damaged { path, why }),
        }
    }
    records.sort_by_key(|(_, record)| (record.started_ns, record.pid));
    Ok(records)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_library_is_written_once_and_again_when_it_is_not_the_same() {
        let room = tempfile::tempdir().unwrap();
        let deep = room.path().join("a/b");
        let path = unpack(&deep).unwrap();
        assert_eq!(fs::read(&path).unwrap(), LIBRARY);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o111, 0);
        let changed = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(unpack(&deep).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), changed);
        fs::write(&path, "half").unwrap();
        assert_eq!(unpack(&deep).unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), LIBRARY);
        assert_eq!(fs::read_dir(&deep).unwrap().count(), 1);
    }

    #[test]
    fn names_at_which_the_linker_would_break_off_are_known() {
        assert!(can_be_preloaded(Path::new("/home/ada/.cache/assay")));
        for name in ["/home/ada l/x", "/a:b", "/a\tb", "/$ORIGIN/x"] {
            assert!(!can_be_preloaded(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn a_file_that_is_no_record_is_an_error_and_other_files_are_none_of_ours() {
        let room = tempfile::tempdir().unwrap();
        for name in ["readme", ".1-2.alloc", "1-2.alloc.bak"] {
            fs::write(room.path().join(name), "x").unwrap();
        }
        assert_eq!(read(room.path()).unwrap(), []);
        for content in [&b""[..], b"ASSAYALC", &[0; 8192], &vec![1; 2 << 20]] {
            fs::write(room.path().join("1-2.alloc"), content).unwrap();
            match read(room.path()) {
                Err(CountingError::Damaged { path, .. }) => assert!(path.ends_with("1-2.alloc")),
                other => panic!("{other:?}"),
            }
        }
        fs::remove_file(room.path().join("1-2.alloc")).unwrap();
        fs::create_dir(room.path().join("1-2.alloc")).unwrap();
        assert!(matches!(read(room.path()), Err(CountingError::Damaged { .. })));
        assert!(matches!(read(&room.path().join("gone")), Err(CountingError::Read { .. })));
    }
}
