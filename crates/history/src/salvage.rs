//! Salvages a damaged store: recovers every run whose samples are intact, whatever else is damaged.
//! All pages of the file are searched for rows of samples ([`crate::pages`]). A damaged page
//! therefore costs only the rows on it, and not those on the pages that it points to. SQLite is
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
    /// Number of recovered runs.
    pub runs: u64,
    /// Number of runs that exist in the store but cannot be recovered.
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
    // Looks up the digest of a run in the list of runs. `None` means that the run was removed, and
    // an error that the list is damaged.
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
    // Limits the loop, because a damaged id may have any value. No store has this many runs.
    let lost = (1..=highest.min(10_000_000)).filter(|&id| is_lost(id)).count() as u64;
    Ok(SalvagedStore { runs: saved.len() as u64, lost })
}

/// Returns the name of a run: the short form of its digest or, if that is lost or invalid, its id.
fn name(id: i64, listed: Result<Option<String>, ()>) -> String {
    match listed {
        Ok(Some(digest)) if digest.len() >= 10 && digest.bytes().all(|b| b.is_ascii_hexdigit()) => {
            short_digest(&digest).to_owned()
        }
        _ => format!("{id:010}"),
    }
}
