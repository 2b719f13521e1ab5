//! Common interface for running statements on either kind of database. Where the two need different
//! statements, both versions are in `sql.rs`.
//!
//! Other crates use it to keep their own tables in the same store.

use crate::server::{self, Client, FromServer, ServerError, ServerRow};
use crate::sql;
pub use crate::value::{Value, values};
use rusqlite::params_from_iter;
use rusqlite::types::FromSql;
use std::cell::RefCell;
use thiserror::Error;

/// A connection to a store.
pub enum Db {
    /// An SQLite file.
    File(rusqlite::Connection),
    /// A PostgreSQL database.
    Server(Box<RefCell<Client>>),
}

/// Error of the database.
#[derive(Debug, Error)]
pub enum DbError {
    /// Error of an SQLite file.
    #[error(transparent)]
    File(#[from] rusqlite::Error),
    /// Error of a PostgreSQL server.
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// One row of a result.
pub enum Row<'a> {
    /// A row from a file.
    File(&'a rusqlite::Row<'a>),
    /// A row from a server.
    Server(&'a ServerRow),
}

/// A type that a column can be read as.
pub trait Column: Sized {
    /// Reads the value of a column.
    ///
    /// # Errors
    /// If the column contains another type.
    fn of(row: &Row<'_>, at: usize) -> Result<Self, DbError>;
}

impl Db {
    /// Wraps a connection to a server.
    pub(crate) fn server(client: Client) -> Self {
        Self::Server(Box::new(RefCell::new(client)))
    }

    /// Returns true if the store is on a server.
    #[must_use]
    pub fn is_server(&self) -> bool {
        matches!(self, Self::Server(_))
    }

    /// Runs a query and returns its rows, each converted by `read`.
    ///
    /// # Errors
    /// If the database or `read` fails.
    pub fn rows<T>(
        &self,
        statement: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        match self {
            Self::File(db) => {
                let mut prepared = db.prepare_cached(statement)?;
                let mut rows = prepared.query(params_from_iter(values))?;
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    all.push(read(&Row::File(row))?);
                }
                Ok(all)
            }
            Self::Server(client) => {
                let rows = client.borrow_mut().rows(statement, values)?;
                rows.iter().map(|row| read(&Row::Server(row))).collect()
            }
        }
    }

    /// Runs a query and returns the first column of its first row; `None` if there are no rows.
    ///
    /// # Errors
    /// If the database fails.
    pub fn first<T: Column>(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Option<T>, DbError> {
        let mut rows = self.rows(statement, values, |row| row.get(0))?;
        Ok(if rows.is_empty() { None } else { Some(rows.swap_remove(0)) })
    }

    /// Runs a statement without a result. Returns the number of rows that it changed.
    ///
    /// # Errors
    /// If the database fails.
    pub fn execute(&self, statement: &str, values: &[Value<'_>]) -> Result<u64, DbError> {
        match self {
            Self::File(db) => {
                let mut prepared = db.prepare_cached(statement)?;
                Ok(prepared.execute(params_from_iter(values))? as u64)
            }
            Self::Server(client) => Ok(client.borrow_mut().execute(statement, values)?),
        }
    }

    /// Runs statements without parameters, in the dialect of this database.
    ///
    /// # Errors
    /// If the database fails.
    pub fn batch(&self, statements: &str) -> Result<(), DbError> {
        match self {
            Self::File(db) => Ok(db.execute_batch(statements)?),
            Self::Server(client) => Ok(client.borrow_mut().batch(statements)?),
        }
    }

    /// Runs the statements of a migration, which are in the dialect of SQLite.
    ///
    /// # Errors
    /// If the database fails.
    pub fn migrate(&self, statements: &str) -> Result<(), DbError> {
        match self {
            Self::File(_) => self.batch(statements),
            Self::Server(_) => self.batch(&sql::in_postgres(statements)),
        }
    }

    /// Runs `write` in a transaction. Other writers wait until it ends.
    ///
    /// # Errors
    /// If `write` or the database fails.
    pub fn transact<T, E: From<DbError>>(
        &self,
        write: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(sql::BEGIN_SERVER, write)
    }

    /// Like [`Db::transact`], but on a server, other writers wait only if they change the same
    /// rows.
    ///
    /// # Errors
    /// If `write` or the database fails.
    pub fn transact_beside<T, E: From<DbError>>(
        &self,
        write: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(sql::BEGIN_BESIDE, write)
    }

    /// Begins a snapshot: everything read until [`Db::end_moment`] is consistent, even if others
    /// write.
    ///
    /// # Errors
    /// If the database fails.
    pub fn begin_moment(&self) -> Result<(), DbError> {
        self.batch(match self {
            Self::File(_) => sql::SNAPSHOT_FILE,
            Self::Server(_) => sql::SNAPSHOT_SERVER,
        })
    }

    /// Ends the snapshot of [`Db::begin_moment`]. Nothing was changed, so a failure loses nothing.
    pub fn end_moment(&self) {
        let _nothing_to_undo = self.batch(sql::ROLLBACK);
    }

    fn within<T, E: From<DbError>>(
        &self,
        begin_server: &str,
        write: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let begin = match self {
            Self::File(_) => sql::BEGIN_FILE,
            Self::Server(_) => begin_server,
        };
        let written = self.batch(begin).map_err(E::from).and_then(|()| write(self));
        let written =
            written.and_then(|written| self.batch(sql::COMMIT).map(|()| written).map_err(E::from));
        if written.is_err() {
            // If the rollback fails too, it is for the reason that is already being returned.
            let _undone = self.batch(sql::ROLLBACK);
        }
        written
    }
}

impl Row<'_> {
    /// Returns the value of a column.
    ///
    /// # Errors
    /// If the column contains another type.
    pub fn get<T: Column>(&self, at: usize) -> Result<T, DbError> {
        T::of(self, at)
    }
}

/// Reads a value of a type that both database clients support.
fn plain<T>(row: &Row<'_>, at: usize) -> Result<T, DbError>
where
    T: FromSql + FromServer,
{
    match row {
        Row::File(row) => Ok(row.get(at)?),
        Row::Server(row) => Ok(T::from_server(row, at)?),
    }
}

macro_rules! columns {
    ($($kind:ty),*) => {
        $(impl Column for $kind {
            fn of(row: &Row<'_>, at: usize) -> Result<Self, DbError> {
                plain(row, at)
            }
        })*
    };
}
columns!(bool, i64, f64, Vec<u8>, Option<bool>, Option<i64>, Option<f64>, Option<Vec<u8>>);

impl Column for Option<String> {
    fn of(row: &Row<'_>, at: usize) -> Result<Self, DbError> {
        match row {
            Row::File(row) => Ok(row.get(at)?),
            Row::Server(row) => Ok(server::text(row, at)?),
        }
    }
}

impl Column for String {
    fn of(row: &Row<'_>, at: usize) -> Result<Self, DbError> {
        // A column that is read as a `String` is declared NOT NULL, so the default is never used.
        Ok(Option::<Self>::of(row, at)?.unwrap_or_default())
    }
}
