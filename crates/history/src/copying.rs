//! Copies a store to lines of text and back, for backups and for moving between the two kinds of
//! database. All tables are copied, including those that other crates keep in the same store.
//!
//! A table begins with `{"table":NAME,"columns":[[NAME,KIND],…]}`. Each of its rows is a JSON list.
//! Bytes are encoded in base64, and numbers that JSON cannot represent are written as strings. The
//! last line is `{"rows":COUNT}`, so that an incomplete copy is recognized. The lines are a
//! consistent snapshot, even if others write simultaneously. Reading applies all lines or none.

use crate::db::{Db, DbError, Row, Value, values};
use crate::error::StoreError;
use crate::sql;
use crate::store::Store;
use assay_data::system_error::reason;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use thiserror::Error;

/// Reasons why a copy cannot be written or read.
#[derive(Debug, Error)]
pub enum CopyError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lines cannot be read or written.
    #[error("the copy: {}", reason(.0))]
    Lines(#[from] io::Error),
    /// A line is invalid.
    #[error("line {number} of the copy: {said}")]
    Line {
        /// Line number, from 1.
        number: u64,
        /// Description of the fault.
        said: String,
    },
}

/// Error that ends a transaction.
#[derive(Debug)]
enum Stop {
    Db(DbError),
    Copy(CopyError),
}

impl From<DbError> for Stop {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Copy(error.into())
    }
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Integer,
    Real,
    Text,
    Bytes,
    Flag,
}

/// First line of a table in a copy.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    table: String,
    columns: Vec<(String, Kind)>,
}

/// Last line of a copy.
#[derive(Debug, Serialize, Deserialize)]
struct Tail {
    rows: u64,
}

impl Store {
    /// Writes all rows as lines. Returns the number of rows.
    ///
    /// # Errors
    /// If the store cannot be read, or the lines cannot be written.
    pub fn copy_out(&self, out: &mut dyn Write) -> Result<u64, CopyError> {
        let db = &self.db;
        let written = db.begin_moment().map_err(Stop::from).and_then(|()| write_all(db, out));
        db.end_moment();
        written.map_err(|stop| self.stopped(stop))
    }

    /// Replaces the contents of a store with the rows in lines that [`Self::copy_out`] wrote.
    /// Returns the number of rows. The store must have the same version as the one that the lines
    /// came from.
    ///
    /// # Errors
    /// If the store cannot be written, or the lines are incomplete or do not fit the store. The
    /// store is then unchanged.
    pub fn copy_in(&self, lines: &mut dyn BufRead) -> Result<u64, CopyError> {
        self.db.transact(|db| read_all(db, lines)).map_err(|stop| self.stopped(stop))
    }

    fn stopped(&self, stop: Stop) -> CopyError {
        match stop {
            Stop::Db(error) => self.failed(error).into(),
            Stop::Copy(error) => error,
        }
    }
}

/// Returns the tables in the order of their creation, so that every table comes after those that it
/// refers to.
fn tables(db: &Db) -> Result<Vec<String>, DbError> {
    let statement = if db.is_server() { sql::TABLES_SERVER } else { sql::TABLES_FILE };
    db.rows(statement, &[], |row| row.get(0))
}

fn columns(db: &Db, table: &str) -> Result<Vec<(String, Kind)>, DbError> {
    let statement = if db.is_server() { sql::COLUMNS_SERVER } else { sql::COLUMNS_FILE };
    let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    let kind = |name: &str| match name.to_lowercase().as_str() {
        "integer" | "bigint" => Kind::Integer,
        "real" | "double precision" => Kind::Real,
        "blob" | "bytea" => Kind::Bytes,
        "boolean" => Kind::Flag,
        _ => Kind::Text,
    };
    let found = db.rows(statement, values![table], read)?;
    Ok(found.into_iter().map(|(name, of)| (name, kind(&of))).collect())
}

fn write_all(db: &Db, out: &mut dyn Write) -> Result<u64, Stop> {
    let mut rows = 0;
    for table in tables(db)? {
        let head = Head { columns: columns(db, &table)?, table };
        write_line(out, &head)?;
        each_row(db, &head, &mut |row| {
            rows += 1;
            write_line(out, &row)
        })?;
    }
    write_line(out, &Tail { rows })?;
    Ok(rows)
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// Passes each row of a table to `take`. On a server the rows are fetched in batches, since a table
/// may be larger than memory.
fn each_row(
    db: &Db,
    head: &Head,
    take: &mut dyn FnMut(Vec<Json>) -> io::Result<()>,
) -> Result<(), Stop> {
    let names: Vec<String> = head.columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let select = format!("SELECT {} FROM \"{}\"", names.join(", "), head.table);
    let mut failed = None;
    let mut read = |row: &Row<'_>| {
        if failed.is_none() {
            let cells = head.columns.iter().enumerate().map(|(at, &(_, kind))| cell(row, at, kind));
            failed = take(cells.collect::<Result<_, _>>()?).err();
        }
        Ok(())
    };
    if db.is_server() {
        // Each table needs its own cursor name: the prepared `FETCH` statement is cached by its
        // text and keeps the columns of its first use.
        let cursor = format!("copy_{}", head.table);
        db.batch(&format!("DECLARE \"{cursor}\" NO SCROLL CURSOR FOR {select}"))?;
        let fetch = format!("FETCH {} FROM \"{cursor}\"", sql::FETCHED);
        while !db.rows(&fetch, &[], &mut read)?.is_empty() {}
    } else {
        db.rows(&select, &[], &mut read)?;
    }
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

fn cell(row: &Row<'_>, at: usize, kind: Kind) -> Result<Json, DbError> {
    let found = match kind {
        Kind::Integer => row.get::<Option<i64>>(at)?.map(Json::from),
        Kind::Flag => row.get::<Option<bool>>(at)?.map(Json::from),
        Kind::Text => row.get::<Option<String>>(at)?.map(Json::from),
        Kind::Bytes => row.get::<Option<Vec<u8>>>(at)?.map(|bytes| STANDARD.encode(bytes).into()),
        Kind::Real => row.get::<Option<f64>>(at)?.map(|number| match number.is_finite() {
            true => Json::from(number),
            false => Json::from(number.to_string()),
        }),
    };
    Ok(found.unwrap_or(Json::Null))
}

/// Owned value of a cell, from which the parameter of a statement is borrowed.
enum OwnedValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
    Flag(bool),
}

impl OwnedValue {
    fn of(cell: Json, kind: Kind) -> Option<Self> {
        Some(match (kind, cell) {
            (_, Json::Null) => Self::Null,
            (Kind::Integer, cell) => Self::Integer(cell.as_i64()?),
            (Kind::Real, Json::String(word)) => Self::Real(word.parse().ok()?),
            (Kind::Real, cell) => Self::Real(cell.as_f64()?),
            (Kind::Text, Json::String(text)) => Self::Text(text),
            (Kind::Bytes, Json::String(text)) => Self::Bytes(STANDARD.decode(text).ok()?),
            (Kind::Flag, cell) => Self::Flag(cell.as_bool()?),
            _ => return None,
        })
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => Value::Integer(*number),
            Self::Real(number) => Value::Real(*number),
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Bytes(bytes),
            Self::Flag(flag) => Value::Flag(*flag),
        }
    }
}

/// Buffered rows of one table. They are inserted by one statement, since each statement takes a
/// round trip to the server.
struct Adding {
    head: Head,
    waiting: Vec<OwnedValue>,
}

impl Adding {
    fn new(head: Head) -> Self {
        Self { head, waiting: Vec::new() }
    }

    /// Adds a row to the buffer, which is written when it is full or by [`Adding::end`]. Returns
    /// `None` if a value does not fit its column.
    fn add(&mut self, db: &Db, cells: Vec<Json>) -> Result<Option<()>, DbError> {
        let kinds = self.head.columns.iter().map(|(_, kind)| *kind);
        let kept: Option<Vec<OwnedValue>> =
            cells.into_iter().zip(kinds).map(|(cell, kind)| OwnedValue::of(cell, kind)).collect();
        let Some(kept) = kept else { return Ok(None) };
        self.waiting.extend(kept);
        if self.waiting.len() >= sql::ADDED * self.head.columns.len() {
            self.end(db)?;
        }
        Ok(Some(()))
    }

    fn end(&mut self, db: &Db) -> Result<(), DbError> {
        if !self.waiting.is_empty() {
            let values: Vec<Value<'_>> = self.waiting.iter().map(OwnedValue::value).collect();
            db.execute(&insert(&self.head, values.len() / self.head.columns.len()), &values)?;
        }
        self.waiting.clear();
        Ok(())
    }
}

fn read_all(db: &Db, lines: &mut dyn BufRead) -> Result<u64, Stop> {
    let there = tables(db)?;
    if !db.is_server() {
        db.batch(sql::DEFER_FILE)?;
    }
    for table in there.iter().rev() {
        db.execute(&format!("DELETE FROM \"{table}\""), &[])?;
    }
    let mut adding: Option<Adding> = None;
    let mut read = BTreeSet::new();
    let (mut number, mut rows) = (0, 0);
    let mut line = String::new();
    loop {
        line.clear();
        number += 1;
        let wrong = |said: &str| Stop::Copy(CopyError::Line { number, said: said.to_owned() });
        if lines.read_line(&mut line)? == 0 {
            return Err(wrong("it ends in the middle"));
        }
        let json: Json = serde_json::from_str(&line).map_err(|error| wrong(&error.to_string()))?;
        match json {
            Json::Array(cells) => {
                let Some(adding) = &mut adding else { return Err(wrong("a row without a table")) };
                if cells.len() != adding.head.columns.len() {
                    return Err(wrong("not as many values as columns"));
                }
                let added = adding.add(db, cells)?;
                added.ok_or_else(|| wrong("a value does not fit its column"))?;
                rows += 1;
            }
            head if head.get("table").is_some() => {
                let head: Head =
                    serde_json::from_value(head).map_err(|error| wrong(&error.to_string()))?;
                if !there.contains(&head.table) || columns(db, &head.table)? != head.columns {
                    return Err(wrong(&format!("this store has no such table `{}`", head.table)));
                }
                if !read.insert(head.table.clone()) {
                    return Err(wrong(&format!("the table `{}` occurs twice", head.table)));
                }
                if let Some(mut before) = adding.replace(Adding::new(head)) {
                    before.end(db)?;
                }
            }
            tail => {
                let tail: Tail =
                    serde_json::from_value(tail).map_err(|error| wrong(&error.to_string()))?;
                if tail.rows != rows {
                    return Err(wrong(&format!(
                        "{} rows were written, but {rows} were found",
                        tail.rows
                    )));
                }
                if let Some(table) = there.iter().find(|table| !read.contains(*table)) {
                    return Err(wrong(&format!("it lacks the table `{table}` of this store")));
                }
                if let Some(mut last) = adding {
                    last.end(db)?;
                }
                break;
            }
        }
    }
    if db.is_server() {
        number_on(db, &there)?;
    }
    Ok(rows)
}

/// Builds the statement that inserts `rows` rows into a table.
fn insert(head: &Head, rows: usize) -> String {
    let names: Vec<String> = head.columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let row = |first: usize| {
        let marks: Vec<String> = (first..first + names.len()).map(|at| format!("?{at}")).collect();
        format!("({})", marks.join(", "))
    };
    let all: Vec<String> = (0..rows).map(|place| row(1 + place * names.len())).collect();
    format!("INSERT INTO \"{}\" ({}) VALUES {}", head.table, names.join(", "), all.join(", "))
}

/// Advances the id counters of the server past the ids that were copied.
fn number_on(db: &Db, tables: &[String]) -> Result<(), DbError> {
    for table in tables {
        if db.first::<i64>(sql::COUNTS_SERVER, values![table])? == Some(1) {
            let largest: Option<i64> =
                db.first(&format!("SELECT coalesce(max(id), 0) FROM \"{table}\""), &[])?;
            let next = largest.unwrap_or(0) + 1;
            db.batch(&format!("ALTER TABLE \"{table}\" ALTER COLUMN id RESTART WITH {next}"))?;
        }
    }
    Ok(())
}
