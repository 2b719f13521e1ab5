//! The map on disk: a SQLite file in the user's cache, one for each project and way of running its
//! tests. The next full run would reproduce all of its contents, so an unreadable file is replaced.

use crate::coverage::blocks::Sum;
use crate::coverage::map::{Map, TestRecord, Use, UseKind};
use crate::coverage::project::FileRecord;
use assay_data::private;
use assay_data::system_error::reason;
use assay_data::test_results::TestStatus;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the tables and of the checksum algorithm.
const VERSION: i64 = 1;
/// Maximum wait for another process to finish writing.
const PATIENCE: Duration = Duration::from_secs(5);
/// Size of a stored use in bytes: path, kind and checksum.
const USE_BYTES: usize = 4 + 1 + 8;

const TABLES: &str = "
    CREATE TABLE path (number INTEGER PRIMARY KEY, path TEXT NOT NULL);
    CREATE TABLE block (sum INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE test (name TEXT PRIMARY KEY, file TEXT, id TEXT, seconds REAL, status INTEGER NOT NULL, always TEXT, uses BLOB);
    CREATE TABLE file (path TEXT PRIMARY KEY, inode INTEGER NOT NULL, size INTEGER NOT NULL, seconds INTEGER NOT NULL, nanoseconds INTEGER NOT NULL,
        content INTEGER NOT NULL);
    CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
";

/// Errors in accessing the file of a map.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file can't be read or written.
    #[error("{path}: {source}")]
    Database {
        /// Path of the file.
        path: PathBuf,
        /// The error from SQLite.
        source: rusqlite::Error,
    },
    /// The directory of the file can't be created.
    #[error("{path}: {reason}", reason = reason(source))]
    Directory {
        /// Path of the directory.
        path: PathBuf,
        /// The error from the system.
        source: std::io::Error,
    },
}

/// A map stored in a file.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
}

impl Store {
    /// Opens the file. It is created if missing, and replaced if it is not a map or has another
    /// version.
    ///
    /// # Errors
    ///
    /// Returns an error if the file can't be written.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(directory) = path.parent() {
            let made = private::directory(directory);
            made.map_err(|source| StoreError::Directory { path: directory.to_owned(), source })?;
        }
        match Self::opened(path) {
            Ok(store) => Ok(store),
            Err(error) if is_damage(&error) => {
                for ending in ["", "-wal", "-shm"] {
                    let mut name = path.as_os_str().to_owned();
                    name.push(ending);
                    let _gone_already = std::fs::remove_file(name);
                }
                Self::opened(path)
                    .map_err(|source| StoreError::Database { path: path.to_owned(), source })
            }
            Err(source) => Err(StoreError::Database { path: path.to_owned(), source }),
        }
    }

    fn opened(path: &Path) -> rusqlite::Result<Self> {
        // SQLite would create the file readable by everybody. If it can't be created here, SQLite
        // reports that as well.
        let _begun = private::options().append(true).create(true).open(path);
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version != VERSION {
            let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for table in ["path", "block", "test", "file", "about"] {
                begun.execute_batch(&format!("DROP TABLE IF EXISTS {table};"))?;
            }
            begun.execute_batch(TABLES)?;
            begun.pragma_update(None, "user_version", VERSION)?;
            begun.commit()?;
        }
        Ok(Self { path: path.to_owned(), connection })
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Database { path: self.path.clone(), source }
    }

    /// Reads the map for tests that are run in the given `way` (framework, versions, other relevant
    /// settings). The map is empty if the file was written for another way of running them.
    ///
    /// # Errors
    ///
    /// Returns an error if the file can't be read.
    pub fn load(&self, way: &str) -> Result<Map, StoreError> {
        self.loaded(way).map_err(|source| self.failed(source))
    }

    fn loaded(&self, way: &str) -> rusqlite::Result<Map> {
        let mut map = Map::default();
        let own: Option<String> = self
            .connection
            .query_row("SELECT value FROM about WHERE key = 'way'", [], |row| row.get(0))
            .optional()?;
        if own.as_deref() != Some(way) {
            return Ok(map);
        }
        let mut paths = self.connection.prepare("SELECT path FROM path ORDER BY number")?;
        for path in paths.query_map([], |row| row.get::<_, String>(0))? {
            map.number_of(&path?);
        }
        let mut blocks = self.connection.prepare("SELECT sum, name FROM block")?;
        let rows =
            blocks.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        for row in rows {
            let (sum, name) = row?;
            map.call(sum.cast_unsigned(), &name);
        }
        let mut files = self
            .connection
            .prepare("SELECT path, inode, size, seconds, nanoseconds, content FROM file")?;
        let rows = files.query_map([], |row| {
            let (inode, size): (i64, i64) = (row.get(1)?, row.get(2)?);
            let stamp = (inode.cast_unsigned(), size.cast_unsigned(), row.get(3)?, row.get(4)?);
            let content: i64 = row.get(5)?;
            Ok((row.get::<_, String>(0)?, FileRecord { stamp, content: content.cast_unsigned() }))
        })?;
        for row in rows {
            let (path, kept) = row?;
            map.files.insert(path, kept);
        }
        let mut tests = self
            .connection
            .prepare("SELECT name, file, id, seconds, status, always, uses FROM test")?;
        let rows = tests.query_map([], |row| {
            let uses: Option<Vec<u8>> = row.get(6)?;
            let known = TestRecord {
                file: row.get(1)?,
                id: row.get(2)?,
                seconds: row.get(3)?,
                status: match row.get(4)? {
                    0 => TestStatus::Passed,
                    1 => TestStatus::Failed,
                    _ => TestStatus::Skipped,
                },
                always: row.get(5)?,
                uses: uses.map(|uses| unpacked(&uses)),
            };
            Ok((row.get::<_, String>(0)?, known))
        })?;
        for row in rows {
            let (name, known) = row?;
            map.tests.insert(name, known);
        }
        Ok(map)
    }

    /// Replaces the stored map atomically. O(map).
    ///
    /// # Errors
    ///
    /// Returns an error if the file can't be written.
    pub fn save(&mut self, map: &Map, way: &str) -> Result<(), StoreError> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let done = begun.and_then(|begun| {
            write(&begun, map, way)?;
            begun.commit()
        });
        done.map_err(|source| StoreError::Database { path: self.path.clone(), source })
    }
}

fn write(begun: &Transaction<'_>, map: &Map, way: &str) -> rusqlite::Result<()> {
    begun.execute_batch(
        "DELETE FROM path; DELETE FROM block; DELETE FROM test; DELETE FROM file; DELETE FROM about;",
    )?;
    begun.execute("INSERT INTO about VALUES ('way', ?)", [way])?;
    let mut path = begun.prepare("INSERT INTO path VALUES (?, ?)")?;
    for (number, own) in map.paths().iter().enumerate() {
        path.execute(params![number as i64, own])?;
    }
    let mut block = begun.prepare("INSERT INTO block VALUES (?, ?)")?;
    for (sum, name) in map.names() {
        block.execute(params![sum.cast_signed(), name])?;
    }
    let mut file = begun.prepare("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?)")?;
    for (path, kept) in &map.files {
        let (inode, size, seconds, nanoseconds) = kept.stamp;
        let (inode, size) = (inode.cast_signed(), size.cast_signed());
        file.execute(params![path, inode, size, seconds, nanoseconds, kept.content.cast_signed()])?;
    }
    let mut test = begun.prepare("INSERT INTO test VALUES (?, ?, ?, ?, ?, ?, ?)")?;
    for (name, known) in &map.tests {
        let status = match known.status {
            TestStatus::Passed => 0,
            TestStatus::Failed => 1,
            TestStatus::Skipped => 2,
        };
        let uses = known.uses.as_deref().map(packed);
        test.execute(params![
            name,
            known.file,
            known.id,
            known.seconds,
            status,
            known.always,
            uses
        ])?;
    }
    Ok(())
}

fn packed(uses: &[Use]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(uses.len() * USE_BYTES);
    for own in uses {
        bytes.extend(own.path.to_le_bytes());
        bytes.push(UseKind::ALL.iter().position(|how| *how == own.how).unwrap_or_default() as u8);
        bytes.extend(own.sum.to_le_bytes());
    }
    bytes
}

/// Unpacks uses. Invalid uses are skipped, as if the test had not used those files; the test's
/// other uses or a full run compensate for that.
fn unpacked(bytes: &[u8]) -> Vec<Use> {
    let (uses, _) = bytes.as_chunks::<USE_BYTES>();
    uses.iter()
        .filter_map(|own| {
            let [a, b, c, d, how, sum @ ..] = *own;
            Some(Use {
                path: u32::from_le_bytes([a, b, c, d]),
                how: *UseKind::ALL.get(usize::from(how))?,
                sum: Sum::from_le_bytes(sum),
            })
        })
        .collect()
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}
