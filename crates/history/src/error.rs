//! Why a store can't be used, and what to do about it.

use rusqlite::ErrorCode;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a store can't be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no file.
    #[error("there is no history at `{}`; `--keep` of run, bench and load begins one, and so does `assay history add FILE`", path.display())]
    None {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("`{}` is no history of assay; `--store` names another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A later assay wrote it.
    #[error(
        "the history `{}` has version {found}, and this assay knows versions up to {known}: use a later assay; nothing was changed", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest that is known here.
        known: i64,
    },
    /// Pages of the file are not what they should be.
    #[error(
        "the history `{}` is damaged ({said}). What can still be read: assay history export --all --store {} --out DIR; \
         then move the file away and add those files to a new one: assay history add DIR/*.assay", path.display(), path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        said: String,
    },
    /// It can only be read.
    #[error("the history `{}` can't be written: {said}; `--store` names another place", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What the system says.
        said: String,
    },
    /// There is no room.
    #[error("there is no room for the history `{}`: make room, or name another place with `--store`; what it held is untouched", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Others write.
    #[error("another program has been writing the history `{}` for {seconds} s: try again when it has ended", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// No run goes by that name.
    #[error("no run of this history begins with `{asked}`; `assay history log` lists them")]
    NoSuchRun {
        /// As it was asked for.
        asked: String,
    },
    /// Several runs do.
    #[error("{count} runs begin with `{asked}`: give more of its digits")]
    Ambiguous {
        /// As it was asked for.
        asked: String,
        /// How many.
        count: usize,
    },
    /// An alias would lead to itself.
    #[error("`{new}` is itself an alias of `{old}`")]
    Circle {
        /// The old name.
        old: String,
        /// The new one.
        new: String,
    },
    /// The samples hold nothing that could be asked for later.
    #[error("there is nothing to keep: no benchmark has a value")]
    Nothing,
    /// A run whose bytes are not those that were put in.
    #[error("the samples of run {run} are damaged: {problem}")]
    BadSamples {
        /// Which run.
        run: String,
        /// What is wrong.
        problem: String,
    },
    /// The samples can't be written as a text.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Anything else, which is a fault of ours.
    #[error("the history `{}`: {source}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// What an error of SQLite means for this file, after so long a wait.
    pub(crate) fn of(source: rusqlite::Error, path: &std::path::Path, seconds: u64) -> Self {
        let path = path.to_owned();
        let said = source.to_string();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { path, seconds }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly { path, said }
            }
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::SystemIoFailure) => {
                Self::Damaged { path, said }
            }
            Some(ErrorCode::NotADatabase) => Self::Foreign { path },
            _ => Self::Other { path, source },
        }
    }
}
