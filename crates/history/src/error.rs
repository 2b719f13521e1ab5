//! Why a store can't be used, and what to do about it.

use crate::db::DbError;
use crate::place::Place;
use crate::server;
use rusqlite::ErrorCode;
use std::io;
use thiserror::Error;

/// Why a store can't be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// What begins like an address of PostgreSQL is none.
    #[error(
        "`{shown}` is no address of a PostgreSQL database ({said}); write postgres://USER@HOST/DATABASE, or for a socket postgres:///DATABASE?host=/run/postgresql"
    )]
    NoAddress {
        /// As it was written, without a password.
        shown: String,
        /// What is wrong with it.
        said: String,
    },
    /// This build has no client for PostgreSQL.
    #[error(
        "`{shown}` is a PostgreSQL database, and this assay was built without a client for it; `make install` builds one with it, \
         and so does `cargo build --features postgresql`"
    )]
    NoClient {
        /// The address without its password.
        shown: String,
    },
    /// There is nothing.
    #[error(
        "there is no history at `{place}`; `--keep` of run, bench, load and tests begins one, and so does `assay history add FILE`"
    )]
    None {
        /// Where it should be.
        place: Place,
    },
    /// What is there is something else.
    #[error("`{place}` is no history of assay; `--store` names another one")]
    Foreign {
        /// Where it should be.
        place: Place,
    },
    /// A later assay wrote it.
    #[error(
        "the history `{place}` has version {found}, and this assay knows versions up to {known}: use a later assay; nothing was changed"
    )]
    Newer {
        /// Where it is.
        place: Place,
        /// Its version.
        found: i64,
        /// The latest that is known here.
        known: i64,
    },
    /// Pages of the file are not what they should be.
    #[error(
        "the history `{place}` is damaged ({said}). What can still be read: assay history export --all --store {place} --out DIR; \
         then move the file away and add those files to a new one: assay history add DIR/*.assay"
    )]
    Damaged {
        /// Where it is.
        place: Place,
        /// What SQLite says.
        said: String,
    },
    /// It can only be read.
    #[error("the history `{place}` can't be written: {said}; `--store` names another place")]
    ReadOnly {
        /// Where it is.
        place: Place,
        /// What the system says.
        said: String,
    },
    /// The file alone is not the store.
    #[error(
        "`{log}` has the last runs of the history `{place}`, and can't be read here: copy both files to a place that can be written, or give its \
         reader the right to read both"
    )]
    UnreadableLog {
        /// Where the store is.
        place: Place,
        /// The file of its log.
        log: String,
    },
    /// There is no room.
    #[error(
        "there is no room for the history `{place}` ({said}): make room, lift the limit on the size of files, or name another place \
         with `--store`; what it held is untouched"
    )]
    Full {
        /// Where it is.
        place: Place,
        /// What the system says.
        said: String,
    },
    /// Others write.
    #[error(
        "another program has been writing the history `{place}` for {seconds} s: try again when it has ended"
    )]
    Busy {
        /// Where it is.
        place: Place,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The server does not answer, or not any more.
    #[error("the server of the history `{place}` can't be reached: {said}")]
    Gone {
        /// Where it is.
        place: Place,
        /// What the system or the server says.
        said: String,
    },
    /// The server lets nobody in by that name and password, or has no such database.
    #[error(
        "the server of the history `{place}` refuses: {said}. A password is taken from the address or from PGPASSWORD"
    )]
    Refused {
        /// Where it is.
        place: Place,
        /// What the server says.
        said: String,
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
    #[error("the history `{place}`: {said}")]
    Other {
        /// Where it is.
        place: Place,
        /// What the database says.
        said: String,
    },
}

impl StoreError {
    /// Whether the server is gone, so that what was to be written has to wait for it.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }

    /// What an error of the database means for this store, after so long a wait.
    pub(crate) fn of(error: DbError, place: &Place, seconds: u64) -> Self {
        match error {
            DbError::File(error) => Self::of_file(&error, place.clone(), seconds),
            DbError::Server(error) => server::store_error(&error, place.clone(), seconds),
        }
    }

    fn of_file(error: &rusqlite::Error, place: Place, seconds: u64) -> Self {
        let said = error.to_string();
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { place, seconds }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly { place, said }
            }
            Some(ErrorCode::DiskFull) => Self::Full { place, said },
            // Limits of files and quotas are no full disk to SQLite.
            Some(ErrorCode::SystemIoFailure) if extended.is_some_and(is_writing) => {
                Self::Full { place, said }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::SystemIoFailure) => {
                Self::Damaged { place, said }
            }
            Some(ErrorCode::NotADatabase) => Self::Foreign { place },
            _ => Self::Other { place, said },
        }
    }
}

/// Whether SQLite failed at writing, by its extended code.
fn is_writing(code: i32) -> bool {
    [
        rusqlite::ffi::SQLITE_IOERR_WRITE,
        rusqlite::ffi::SQLITE_IOERR_FSYNC,
        rusqlite::ffi::SQLITE_IOERR_TRUNCATE,
        rusqlite::ffi::SQLITE_IOERR_SHMSIZE,
    ]
    .contains(&code)
}
