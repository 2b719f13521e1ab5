//! Errors of the store, with advice to the user.

use crate::db::DbError;
use crate::location::StoreLocation;
use crate::server;
use crate::trouble::Trouble;
use assay_data::system_error::reason;
use rusqlite::ErrorCode;
use std::io;
use thiserror::Error;

/// Reasons why a store cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The text begins like an address, but is not the valid address of a PostgreSQL database.
    #[error(
        "`{shown}` is not the address of a PostgreSQL database ({said}); write postgres://USER@HOST/DATABASE, or for a socket postgres:///DATABASE?host=/run/postgresql"
    )]
    NoAddress {
        /// The address as written, without its password.
        shown: String,
        /// Description of the fault.
        said: String,
    },
    /// This build has no PostgreSQL client.
    #[error(
        "`{shown}` is a PostgreSQL database, but this assay was built without a client for it; build one with `make install` or `cargo build --features postgresql`"
    )]
    NoClient {
        /// The address without its password.
        shown: String,
    },
    /// The store does not exist.
    #[error(
        "there is no history at `{place}`; create one with `--keep` of run, bench, load or tests, or with `assay history add FILE`"
    )]
    None {
        /// Expected location of the store.
        place: StoreLocation,
    },
    /// The location contains something other than a store.
    #[error("`{place}` is not a history of assay; name another one with `--store`")]
    Foreign {
        /// Expected location of the store.
        place: StoreLocation,
    },
    /// The store was written by a later version of assay.
    #[error(
        "the history `{place}` has version {found}, but this assay supports versions up to {known}: use a later assay; nothing was changed"
    )]
    Newer {
        /// Location of the store.
        place: StoreLocation,
        /// Version of the store.
        found: i64,
        /// Latest version that this program supports.
        known: i64,
    },
    /// Pages of the file are damaged.
    #[error(
        "the history `{place}` is damaged ({said}). Export what can still be read: assay history export --all --store {place} --out DIR; then move the file away and add the exported files to a new one: assay history add DIR/*.assay"
    )]
    Damaged {
        /// Location of the store.
        place: StoreLocation,
        /// Message of SQLite.
        said: String,
    },
    /// The store cannot be written, for example because it is read-only.
    #[error("the history `{place}` can't be written: {said}; name another place with `--store`")]
    ReadOnly {
        /// Location of the store.
        place: StoreLocation,
        /// Message of the system or the database.
        said: String,
    },
    /// The store's write-ahead log, without which the file is incomplete, cannot be read.
    #[error(
        "`{log}` contains the last runs of the history `{place}`, but can't be read here: copy both files to a writable place, or make both readable"
    )]
    UnreadableLog {
        /// Location of the store.
        place: StoreLocation,
        /// Path of the log.
        log: String,
    },
    /// There is no space left for the store.
    #[error(
        "there is no space for the history `{place}` ({said}): free some space, raise the limit on file sizes, or name another place with `--store`; its previous contents are unchanged"
    )]
    Full {
        /// Location of the store.
        place: StoreLocation,
        /// Message of the system or the database.
        said: String,
    },
    /// Another program was still writing when the time limit for waiting expired.
    #[error(
        "another program has been writing the history `{place}` for {seconds} s: try again when it has ended"
    )]
    Busy {
        /// Location of the store.
        place: StoreLocation,
        /// Time spent waiting, in seconds.
        seconds: u64,
    },
    /// The server does not respond, or the connection is lost.
    #[error("the server of the history `{place}` can't be reached: {said}")]
    Gone {
        /// Location of the store.
        place: StoreLocation,
        /// Message of the system or the server.
        said: String,
    },
    /// The server rejects the user name or password, or the database does not exist.
    #[error(
        "the server of the history `{place}` refused: {said}. Passwords are read from the address or from PGPASSWORD"
    )]
    Refused {
        /// Location of the store.
        place: StoreLocation,
        /// Message of the server.
        said: String,
    },
    /// No run has a digest that begins with the given digits.
    #[error("no run of this history begins with `{asked}`; list the runs with `assay history log`")]
    NoSuchRun {
        /// Digits as given by the user.
        asked: String,
    },
    /// Several runs have a digest that begins with the given digits.
    #[error("{count} runs begin with `{asked}`: give more digits")]
    Ambiguous {
        /// Digits as given by the user.
        asked: String,
        /// Number of matching runs.
        count: usize,
    },
    /// The new name of a benchmark is already an alias of its old name.
    #[error("`{new}` is itself an alias of `{old}`")]
    Circle {
        /// Old name.
        old: String,
        /// New name.
        new: String,
    },
    /// The samples contain no values, so there is nothing to store.
    #[error("there is nothing to keep: no benchmark has a value")]
    Nothing,
    /// The stored samples of a run are damaged or missing.
    #[error("the samples of run {run} are damaged: {problem}")]
    BadSamples {
        /// Name of the run.
        run: String,
        /// Description of the fault.
        problem: String,
    },
    /// An input or output error outside of the database.
    #[error("{}", reason(.0))]
    Io(#[from] io::Error),
    /// Any other error of the database. It indicates a bug in assay.
    #[error("the history `{place}`: {said}")]
    Other {
        /// Location of the store.
        place: StoreLocation,
        /// Message of the database.
        said: String,
    },
}

impl StoreError {
    /// Returns true if the server is unreachable, in which case the caller may add the run later.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }

    /// Converts an error of the database for the store at `place`. `seconds` is the time limit for
    /// waiting for a lock.
    pub(crate) fn of(error: DbError, place: &StoreLocation, seconds: u64) -> Self {
        match error {
            DbError::File(error) => Self::of_file(&error, place.clone(), seconds),
            DbError::Server(error) => {
                let (place, (trouble, said)) = (place.clone(), server::trouble(&error));
                match trouble {
                    Trouble::Busy => Self::Busy { place, seconds },
                    Trouble::Full => Self::Full { place, said },
                    Trouble::ReadOnly => Self::ReadOnly { place, said },
                    Trouble::Gone => Self::Gone { place, said },
                    Trouble::Refused => Self::Refused { place, said },
                    Trouble::Other => Self::Other { place, said },
                }
            }
        }
    }

    fn of_file(error: &rusqlite::Error, place: StoreLocation, seconds: u64) -> Self {
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
            // SQLite reports an exceeded file size limit or quota as an I/O error and not as a full
            // disk.
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

/// Returns true if an extended error code means that SQLite failed to write.
fn is_writing(code: i32) -> bool {
    [
        rusqlite::ffi::SQLITE_IOERR_WRITE,
        rusqlite::ffi::SQLITE_IOERR_FSYNC,
        rusqlite::ffi::SQLITE_IOERR_TRUNCATE,
        rusqlite::ffi::SQLITE_IOERR_SHMSIZE,
    ]
    .contains(&code)
}
