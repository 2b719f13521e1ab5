//! Salvages a damaged store: recovers every run whose samples are intact, whatever else is damaged.
//! Rows of samples are searched for on every page of the file ([`crate::pages`]), so that only the
//! contents of a damaged page itself are lost, not those of the pages that it points to. SQLite is
//! used only to find out which runs should exist.

use crate::error::StoreError;
use crate::location::StoreLocation;
use crate::packed::unpack;
use crate::pages::Pages;
use crate::sql;
use assay_analysis::history::short_digest;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::collections::HashSet;
use std::path::Path;

/// Outcome of salvaging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SalvagedStore {
    /// Number of runs recovered.
    pub runs: u64,
    /// Number of existing runs that cannot be read.
    pub lost: u64,
}

/// Passes the name and the text of every readable run of all projects to `keep`. Changes nothing.
///
/// # Errors
/// If the file cannot be read at all, or `keep` fails.
pub fn salvage<E: From<StoreError>>(
    path: &Path,
    mut keep: impl FnMut(&str, &[u8]) -> Result<(), E>,
) -> Result<SalvagedStore, E> {
    let place = StoreLocation::File(path.to_owned());
    if !path.exists() {
        return Err(StoreError::None { place }.into());
    }
    let pages = Pages::open(path).map_err(StoreError::from)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let index = Connection::open_with_flags(path, flags).ok();
    // The digest of a run according to the list of runs; `None` if the run was removed, and an
    // error if the list is damaged there.
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
    // A damaged number may have any value; no store has that many runs.
    let lost = (1..=highest.min(10_000_000)).filter(|&id| is_lost(id)).count() as u64;
    Ok(SalvagedStore { runs: saved.len() as u64, lost })
}

/// Returns the name of a run: its digest or, if that is lost or invalid, its id.
fn name(id: i64, listed: Result<Option<String>, ()>) -> String {
    match listed {
        Ok(Some(digest)) if digest.len() >= 10 && digest.bytes().all(|b| b.is_ascii_hexdigit()) => {
            short_digest(&digest).to_owned()
        }
        _ => format!("{id:010}"),
    }
}
