//! What can be saved of a damaged store: every run whose samples are still whole. Runs are read one by one by their numbers, so that a
//! damaged page costs those that lie on it and no others.

use crate::error::StoreError;
use crate::packed::unpack;
use crate::sql;
use assay_analysis::history::short_digest;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::path::Path;

/// How far beyond the last run that could be read others are looked for, where no index says how many there are.
const BEYOND: i64 = 1000;

/// What came of saving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Runs that were handed over.
    pub runs: u64,
    /// Runs that are there and can't be read.
    pub lost: u64,
}

/// Hands over the name and the text of every run that can be read, of all projects. It asks nothing of the file but that its tables are
/// found, and changes nothing.
///
/// # Errors
/// When nothing at all can be read, or what `keep` says.
pub fn salvage<E: From<StoreError>>(
    path: &Path,
    mut keep: impl FnMut(&str, &[u8]) -> Result<(), E>,
) -> Result<Saved, E> {
    if !path.exists() {
        return Err(StoreError::None { path: path.to_owned() }.into());
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error| E::from(StoreError::of(error, path, 0));
    let db = Connection::open_with_flags(path, flags).map_err(failed)?;
    let mut samples = db.prepare(sql::SAMPLES).map_err(failed)?;
    let highest = sql::HIGHEST.iter().filter_map(|statement| {
        db.query_row(statement, [], |row| row.get::<_, Option<i64>>(0)).ok().flatten()
    });
    let highest = highest.max();
    let mut saved = Saved::default();
    let mut last = 0;
    let mut id = 0;
    while id < highest.unwrap_or(last + BEYOND) {
        id += 1;
        let packed = samples
            .query_row(params![id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
            .optional();
        match packed {
            // Runs that were removed leave a gap.
            Ok(None) => {}
            Ok(Some((bytes, deflated))) => match unpack(&deflated, bytes.unsigned_abs()) {
                Ok(text) => {
                    let digest = db.query_row(sql::DIGEST_OF, params![id], |row| row.get(0));
                    let digest: String = digest.unwrap_or_else(|_| format!("{id:010}"));
                    keep(short_digest(&digest), &text)?;
                    saved.runs += 1;
                    last = id;
                }
                Err(_) => saved.lost += 1,
            },
            Err(_) if highest.is_some() => saved.lost += 1,
            Err(_) => {}
        }
    }
    Ok(saved)
}
