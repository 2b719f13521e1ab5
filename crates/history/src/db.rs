//! One way to run a statement, whichever database keeps the store. What the two have different words for stands in `sql.rs`.
//!
//! Other crates that keep tables of their own beside those of the history run their statements by it, too.

use crate::server::{self, Client, FromServer, ServerError, ServerRow};
use crate::sql;
use rusqlite::params_from_iter;
use rusqlite::types::{FromSql, ToSqlOutput, ValueRef};
use std::cell::RefCell;
use thiserror::Error;

/// A connection to a store.
pub enum Db {
    /// To a file of SQLite.
    File(rusqlite::Connection),
    /// To a database of PostgreSQL.
    Server(Box<RefCell<Client>>),
}

/// What a database says against a statement.
#[derive(Debug, Error)]
pub enum DbError {
    /// A file of SQLite.
    #[error(transparent)]
    File(#[from] rusqlite::Error),
    /// A server of PostgreSQL.
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// What stands for a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// A text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// One row of an answer.
pub enum Row<'a> {
    /// Of a file.
    File(&'a rusqlite::Row<'a>),
    /// Of a server.
    Server(&'a ServerRow),
}

/// What a column may hold.
pub trait Column: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// When it holds something else.
    fn of(row: &Row<'_>, at: usize) -> Result<Self, DbError>;
}

/// Parameters of a statement, in their order.
#[macro_export]
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::db::Value::from($value)),*] };
}
pub use values;

impl Db {
    /// A connection to a server.
    pub(crate) fn server(client: Client) -> Self {
        Self::Server(Box::new(RefCell::new(client)))
    }

    /// Whether it is a server, which others write at the same time.
    #[must_use]
    pub fn is_server(&self) -> bool {
        matches!(self, Self::Server(_))
    }

    /// All rows of an answer.
    ///
    /// # Errors
    /// Those of the database, and of `read`.
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

    /// The first column of the first row, where there is one.
    ///
    /// # Errors
    /// Those of the database.
    pub fn first<T: Column>(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Option<T>, DbError> {
        let mut rows = self.rows(statement, values, |row| row.get(0))?;
        Ok(if rows.is_empty() { None } else { Some(rows.swap_remove(0)) })
    }

    /// Runs a statement without an answer; how many rows it changed.
    ///
    /// # Errors
    /// Those of the database.
    pub fn execute(&self, statement: &str, values: &[Value<'_>]) -> Result<u64, DbError> {
        match self {
            Self::File(db) => {
                let mut prepared = db.prepare_cached(statement)?;
                Ok(prepared.execute(params_from_iter(values))? as u64)
            }
            Self::Server(client) => Ok(client.borrow_mut().execute(statement, values)?),
        }
    }

    /// Runs statements without parameters, in the words of this database.
    ///
    /// # Errors
    /// Those of the database.
    pub fn batch(&self, statements: &str) -> Result<(), DbError> {
        match self {
            Self::File(db) => Ok(db.execute_batch(statements)?),
            Self::Server(client) => Ok(client.borrow_mut().batch(statements)?),
        }
    }

    /// Runs statements of a migration, which are in the words of SQLite.
    ///
    /// # Errors
    /// Those of the database.
    pub fn migrate(&self, statements: &str) -> Result<(), DbError> {
        match self {
            Self::File(_) => self.batch(statements),
            Self::Server(_) => self.batch(&sql::in_postgres(statements)),
        }
    }

    /// Writes all of it or nothing; other writers wait meanwhile.
    ///
    /// # Errors
    /// Those of `write`, and of the database.
    pub fn transact<T, E: From<DbError>>(
        &self,
        write: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(sql::BEGIN_SERVER, write)
    }

    /// The same, but that on a server other writers go on meanwhile; rows that both change are waited for.
    ///
    /// # Errors
    /// Those of `write`, and of the database.
    pub fn transact_beside<T, E: From<DbError>>(
        &self,
        write: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(sql::BEGIN_BESIDE, write)
    }

    /// From here on, what is read is all of one moment, whoever writes meanwhile; until [`Db::end_moment`].
    ///
    /// # Errors
    /// Those of the database.
    pub fn begin_moment(&self) -> Result<(), DbError> {
        self.batch(match self {
            Self::File(_) => sql::SNAPSHOT_FILE,
            Self::Server(_) => sql::SNAPSHOT_SERVER,
        })
    }

    /// Ends what [`Db::begin_moment`] began; it changed nothing, so that nothing can be lost.
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
            // What it fails for is the same as what failed before.
            let _undone = self.batch(sql::ROLLBACK);
        }
        written
    }
}

impl Row<'_> {
    /// What a column holds.
    ///
    /// # Errors
    /// When it holds something else.
    pub fn get<T: Column>(&self, at: usize) -> Result<T, DbError> {
        T::of(self, at)
    }
}

/// Columns that both databases read by themselves.
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
        // Columns that must hold a text are declared so.
        Ok(Option::<Self>::of(row, at)?.unwrap_or_default())
    }
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Flag(flag) => ValueRef::Integer(i64::from(flag)),
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Real(number) => ValueRef::Real(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

macro_rules! from {
    ($($kind:ty => $variant:ident),*) => {
        $(impl<'a> From<$kind> for Value<'a> {
            fn from(value: $kind) -> Self {
                Self::$variant(value)
            }
        })*
    };
}
from!(bool => Flag, i64 => Integer, f64 => Real, &'a str => Text, &'a [u8] => Bytes);

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(value)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
