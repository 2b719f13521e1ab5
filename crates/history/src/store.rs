//! Opens a store: checks its kind and its version, and lets only one writer change it at a time.
//! Other modules read and write its contents.

use crate::db::{Column, Db, DbError, Row, Value, values};
use crate::error::StoreError;
use crate::location::{Server, StoreLocation};
use crate::server::Client;
use crate::sql;
use assay_data::private;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// SQLite application id `assa` in ASCII, stored in the first page of every file.
const APPLICATION: i64 = 0x6173_7361;
/// Maximum time to wait for another writer of a file. For servers, see [`sql::BEGIN_SERVER`].
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of prepared statements that a connection caches. It exceeds the number of
/// statements that a program repeats.
const STATEMENTS: usize = 128;

/// Mode in which a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The store must exist, and is not changed.
    Read,
    /// The store is created if it does not exist.
    Write,
}

/// An open store.
pub struct Store {
    pub(crate) db: Db,
    place: StoreLocation,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({})", self.place)
    }
}

impl Store {
    /// Opens a store. For writing, its directory or database must exist, and a store of an earlier
    /// version is upgraded.
    ///
    /// # Errors
    /// If the store does not exist, is not a history, has a later version, or cannot be reached,
    /// read or written.
    pub fn open(place: &StoreLocation, access: Access) -> Result<Self, StoreError> {
        let db = match place {
            StoreLocation::File(path) => open_file(place, path, access)?,
            StoreLocation::Server(server) => open_server(place, server, access)?,
        };
        let store = Self { db, place: place.clone() };
        let found = store.version()?;
        let known = sql::MIGRATIONS.len() as i64;
        if found > known {
            return Err(StoreError::Newer { place: place.clone(), found, known });
        }
        if access == Access::Read {
            return match found {
                0 => Err(StoreError::None { place: place.clone() }),
                _ => Ok(store),
            };
        }
        if let Db::File(db) = &store.db {
            // Commits do not wait for the disk. The last program to close the file moves the log
            // into it and waits for the disk. After that the file is complete without its log,
            // however it is copied. A power failure loses only what was added by programs that were
            // still running. Keeping the log would save this wait, but every program that opens the
            // file would have to read all of the log first.
            let settings =
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON";
            db.execute_batch(settings).map_err(|error| store.failed(error.into()))?;
        }
        if found < known {
            store.transact(migrate)?;
        }
        Ok(store)
    }

    /// Returns the location of the store.
    pub fn place(&self) -> &StoreLocation {
        &self.place
    }

    /// Returns true if the store has the latest version that this program knows.
    ///
    /// # Errors
    /// If the version cannot be read.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        Ok(self.version()? == sql::MIGRATIONS.len() as i64)
    }

    /// Returns the connection, for other crates that keep their tables in the same store.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Converts an error of the database to an error of this store.
    pub fn failed(&self, error: DbError) -> StoreError {
        StoreError::of(error, &self.place, PATIENCE.as_secs())
    }

    /// Returns the version of the store's schema; 0 if the store is empty.
    fn version(&self) -> Result<i64, StoreError> {
        let is_empty = || -> Result<bool, StoreError> {
            Ok(self.first::<i64>(self.tables(), &[])? == Some(0))
        };
        let foreign = || StoreError::Foreign { place: self.place.clone() };
        match &self.db {
            Db::File(_) => {
                let number =
                    |statement| self.first::<i64>(statement, &[]).map(Option::unwrap_or_default);
                let found = number("PRAGMA user_version")?;
                let is_ours = number("PRAGMA application_id")? == APPLICATION;
                if is_ours || found == 0 && is_empty()? { Ok(found) } else { Err(foreign()) }
            }
            Db::Server(_) => {
                if is_empty()? {
                    return Ok(0);
                }
                if self.first::<i64>(sql::SERVER_HAS_VERSION, &[])? == Some(0) {
                    return Err(foreign());
                }
                Ok(self.first(sql::SERVER_VERSION, &[])?.unwrap_or(0))
            }
        }
    }

    fn tables(&self) -> &'static str {
        match self.db {
            Db::File(_) => sql::FILE_TABLES,
            Db::Server(_) => sql::SERVER_TABLES,
        }
    }

    /// Runs `write` in a transaction. Other writers wait until it ends.
    pub(crate) fn transact<T>(
        &self,
        write: impl FnOnce(&Db) -> Result<T, DbError>,
    ) -> Result<T, StoreError> {
        self.db.transact(write).map_err(|error| self.failed(error))
    }

    pub(crate) fn rows<T>(
        &self,
        statement: &str,
        values: &[Value<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, StoreError> {
        self.db.rows(statement, values, read).map_err(|error| self.failed(error))
    }

    pub(crate) fn first<T: Column>(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Option<T>, StoreError> {
        self.db.first(statement, values).map_err(|error| self.failed(error))
    }

    pub(crate) fn execute(&self, statement: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        self.db.execute(statement, values).map_err(|error| self.failed(error))
    }

    /// Frees the space of removed runs. O(size of the store) for a file; does nothing for a server,
    /// which frees space by itself.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn compact(&self) -> Result<(), StoreError> {
        match &self.db {
            Db::File(_) => self.db.batch(sql::COMPACT).map_err(|error| self.failed(error)),
            Db::Server(_) => Ok(()),
        }
    }

    /// Returns the id of a project; `None` if the store does not contain it.
    pub(crate) fn project(&self, name: &str) -> Result<Option<i64>, StoreError> {
        self.first(sql::PROJECT, values![name])
    }
}

/// Upgrades a store to the latest version within a transaction. Two programs may call this at the
/// same time.
fn migrate(db: &Db) -> Result<(), DbError> {
    let latest = sql::MIGRATIONS.len() as i64;
    let found: Option<i64> = match db {
        Db::File(_) => db.first("PRAGMA user_version", &[])?,
        Db::Server(_) => {
            if db.first::<i64>(sql::SERVER_SCHEMA, &[])? == Some(0) {
                db.batch(sql::SERVER_NEW_SCHEMA)?;
            }
            if db.first::<i64>(sql::SERVER_HAS_VERSION, &[])? == Some(0) {
                db.batch(sql::SERVER_NEW_VERSION)?;
            }
            db.first(sql::SERVER_VERSION, &[])?
        }
    };
    let known = usize::try_from(found.unwrap_or(0)).unwrap_or(0);
    for migration in sql::MIGRATIONS.iter().skip(known) {
        db.migrate(migration)?;
    }
    match db {
        Db::File(_) => db.batch(&format!(
            "PRAGMA user_version = {latest}; PRAGMA application_id = {APPLICATION}"
        )),
        Db::Server(_) => db.execute(sql::SERVER_SET_VERSION, values![latest]).map(|_| ()),
    }
}

fn open_file(place: &StoreLocation, path: &Path, access: Access) -> Result<Db, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::of(error.into(), place, PATIENCE.as_secs());
    if access == Access::Read && !path.exists() {
        return Err(StoreError::None { place: place.clone() });
    }
    if access == Access::Write && !path.exists() {
        // SQLite would create a file that everybody can read. This file is private until its owner
        // changes that.
        let begun = private::options().write(true).create(true).truncate(false).open(path);
        begun.map_err(|error| StoreError::ReadOnly {
            place: place.clone(),
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
        // A write-ahead log needs an index file, which cannot be created in a read-only directory.
        // Without a log no index is needed.
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        if Path::new(&log).metadata().is_ok_and(|log| log.len() > 0) {
            let log = log.to_string_lossy().into_owned();
            return Err(StoreError::UnreadableLog { place: place.clone(), log });
        }
        let place = format!("file:{}?immutable=1", escaped(path));
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        db = Connection::open_with_flags(place, flags).map_err(failed)?;
    }
    db.busy_timeout(PATIENCE).map_err(failed)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(Db::File(db))
}

fn open_server(place: &StoreLocation, server: &Server, access: Access) -> Result<Db, StoreError> {
    let failed = |error| StoreError::of(error, place, PATIENCE.as_secs());
    let db = Db::server(Client::connect(&server.address).map_err(|error| failed(error.into()))?);
    db.batch(sql::SERVER_BEGIN).map_err(failed)?;
    if access == Access::Read {
        db.batch(sql::SERVER_READS).map_err(failed)?;
    }
    Ok(db)
}

/// Returns true if an open file can be read. Opening it does not read anything.
fn can_be_read(db: &Connection) -> bool {
    let read = db.query_row(sql::FILE_TABLES, [], |row| row.get::<_, i64>(0));
    let code = read.err().and_then(|error| error.sqlite_error_code());
    !matches!(code, Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly))
}

/// Escapes a path for use in a URI.
fn escaped(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    bytes.map(|&b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
