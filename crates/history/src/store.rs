//! Opening a store: what it must be, its versions, its one writer. What stands in it is read and written elsewhere.

use crate::error::StoreError;
use crate::sql;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `assa`, which the first page of every store has.
const APPLICATION: i64 = 0x6173_7361;
/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(10);
/// Recordings may hold what commands were given: a store is its owner's alone, unless its owner says otherwise.
const PRIVATE: u32 = 0o600;

/// What is to be done with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is there, and stays as it is.
    Read,
    /// It is made where there is none.
    Write,
}

/// A store that is open.
#[derive(Debug)]
pub struct Store {
    pub(crate) db: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens a store; for writing, its directory must be there, and a store of an earlier version is brought up to this one.
    ///
    /// # Errors
    /// When it is not there, is something else or of a later version, or can't be read or written.
    pub fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        let failed = |error| StoreError::of(error, path, PATIENCE.as_secs());
        if access == Access::Read && !path.exists() {
            return Err(StoreError::None { path: path.to_owned() });
        }
        if access == Access::Write && !path.exists() {
            // SQLite would let everybody read it.
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(PRIVATE);
            let begun = options.open(path);
            begun.map_err(|error| StoreError::ReadOnly {
                path: path.to_owned(),
                said: error.to_string(),
            })?;
        }
        let flags = match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = Connection::open_with_flags(path, flags).map_err(failed)?;
        if access == Access::Read && !can_be_read(&db) {
            // A log of writes needs a place for its index, which a directory that is only read has not; without writers there is no log.
            let place = format!("file:{}?immutable=1", escaped(path));
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            db = Connection::open_with_flags(place, flags).map_err(failed)?;
        }
        let mut store = Self { db, path: path.to_owned() };
        store.prepare(access)?;
        Ok(store)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::of(error, &self.path, PATIENCE.as_secs())
    }

    fn prepare(&mut self, access: Access) -> Result<(), StoreError> {
        let path = self.path.clone();
        let failed = |error| StoreError::of(error, &path, PATIENCE.as_secs());
        self.db.busy_timeout(PATIENCE).map_err(failed)?;
        let number = |db: &Connection, name: &str| {
            db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed)
        };
        let known = sql::MIGRATIONS.len() as i64;
        let is_new = || -> Result<bool, StoreError> {
            let tables = "SELECT count(*) FROM sqlite_master";
            let tables: i64 = self.db.query_row(tables, [], |row| row.get(0)).map_err(failed)?;
            Ok(tables == 0)
        };
        let found = number(&self.db, "user_version")?;
        if number(&self.db, "application_id")? != APPLICATION && !(found == 0 && is_new()?) {
            return Err(StoreError::Foreign { path });
        }
        if found > known {
            return Err(StoreError::Newer { path, found, known });
        }
        if access == Access::Read {
            return match found {
                0 => Err(StoreError::None { path }),
                _ => Ok(()),
            };
        }
        // After a crash of the program nothing is lost; after one of the machine the last runs may be, and the file is whole.
        for (name, value) in [("journal_mode", "WAL"), ("synchronous", "NORMAL")] {
            self.db.pragma_update(None, name, value).map_err(failed)?;
        }
        self.db.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        if found < known {
            self.migrate()?;
        }
        Ok(())
    }

    /// Brings the store up to the latest version; two programs may try at once.
    fn migrate(&mut self) -> Result<(), StoreError> {
        self.transact(|db| {
            let found: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
            let missing = sql::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0));
            for migration in missing {
                db.execute_batch(migration)?;
            }
            db.pragma_update(None, "user_version", sql::MIGRATIONS.len() as i64)?;
            db.pragma_update(None, "application_id", APPLICATION)
        })
    }

    /// Writes all of it or nothing; other writers wait meanwhile.
    pub(crate) fn transact<T>(
        &mut self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let path = &self.path;
        let written = || {
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let written = write(&transaction)?;
            transaction.commit().map(|()| written)
        };
        written().map_err(|error| StoreError::of(error, path, PATIENCE.as_secs()))
    }

    /// The number of a project; `None` for one without runs.
    pub(crate) fn project(&self, name: &str) -> Result<Option<i64>, StoreError> {
        let found = self.db.prepare_cached(sql::PROJECT).and_then(|mut statement| {
            statement.query_row(params![name], |row| row.get(0)).optional()
        });
        found.map_err(|error| self.failed(error))
    }
}

/// Whether a store that was opened can be read; opening itself reads nothing.
fn can_be_read(db: &Connection) -> bool {
    let read = db.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0));
    let code = read.err().and_then(|error| error.sqlite_error_code());
    code != Some(rusqlite::ErrorCode::CannotOpen)
}

/// A path within a URI.
fn escaped(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    bytes.map(|&b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
