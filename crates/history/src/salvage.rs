//! What can be saved of a damaged store: every run whose samples are still whole, whatever else is damaged. Their rows are looked for on every
//! page of the file ([`crate::pages`]), so that a damaged page costs what lies on it and nothing that it leads to. SQLite is asked for no more
//! than which runs there should be.

use crate::error::StoreError;
use crate::packed::unpack;
use crate::pages::Pages;
use crate::place::Place;
use crate::sql;
use assay_analysis::history::short_digest;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::collections::HashSet;
use std::path::Path;

/// What came of saving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Runs that were handed over.
    pub runs: u64,
    /// Runs that are there and can't be read.
    pub lost: u64,
}

/// Hands over the name and the text of every run that can be read, of all projects, and changes nothing.
///
/// # Errors
/// When the file can't be read at all, or what `keep` says.
pub fn salvage<E: From<StoreError>>(
    path: &Path,
    mut keep: impl FnMut(&str, &[u8]) -> Result<(), E>,
) -> Result<Saved, E> {
    let place = Place::File(path.to_owned());
    if !path.exists() {
        return Err(StoreError::None { place }.into());
    }
    let pages = Pages::open(path).map_err(StoreError::from)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let index = Connection::open_with_flags(path, flags).ok();
    // What the list of runs says of one: its digest, or nothing where it was removed; an error where the list is damaged there.
    let listed = |id: i64| -> Result<Option<String>, ()> {
        let db = index.as_ref().ok_or(())?;
        let digest = db.query_row(sql::DIGEST_OF, params![id], |row| row.get(0));
        digest.optional().map_err(|_| ())
    };
    let mut saved = HashSet::new();
    let mut broken = HashSet::new();
    pages.rows(|id, packed| -> Result<(), E> {
        if saved.contains(&id) || listed(id) == Ok(None) {
            return Ok(());
        }
        match packed.and_then(|(bytes, deflated)| unpack(&deflated, bytes).ok()) {
            Some(text) => {
                saved.insert(id);
                keep(&name(id, listed(id)), &text)
            }
            None => {
                broken.insert(id);
                Ok(())
            }
        }
    })?;
    let highest = sql::HIGHEST.iter().filter_map(|statement| {
        index.as_ref()?.query_row(statement, [], |row| row.get::<_, Option<i64>>(0)).ok().flatten()
    });
    let seen = saved.iter().chain(&broken).copied();
    let highest = highest.chain(seen).max().unwrap_or(0);
    let is_lost = |id: i64| {
        let can_be_missed = index.is_some() && listed(id) != Ok(None);
        !saved.contains(&id) && (broken.contains(&id) || can_be_missed)
    };
    // A damaged number may be any; nobody has so many runs.
    let lost = (1..=highest.min(10_000_000)).filter(|&id| is_lost(id)).count() as u64;
    Ok(Saved { runs: saved.len() as u64, lost })
}

/// What a run is called: by its digest, or where that is gone or is none, by its number.
fn name(id: i64, listed: Result<Option<String>, ()>) -> String {
    match listed {
        Ok(Some(digest)) if digest.len() >= 10 && digest.bytes().all(|b| b.is_ascii_hexdigit()) => {
            short_digest(&digest).to_owned()
        }
        _ => format!("{id:010}"),
    }
}
