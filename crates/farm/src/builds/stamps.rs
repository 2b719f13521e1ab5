//! Stamps of pages. A stamp is a few numbers that change whenever the rows change that a page
//! depends on. While the stamp is unchanged, an answer that was computed before is still valid.
//!
//! All code that changes rows shown on pages either calls [`changed`] in the same transaction, or
//! updates the sums, which changes the stamps as well.

use crate::builds::error::{FarmError, Stop, no_project};
use crate::builds::policy::LATEST;
use crate::builds::shown::Queue;
use crate::builds::sql;
use crate::builds::store::Store;

use assay_history::db::{Db, DbError, Row, values};

/// Stamp of a page. If two stamps of a page are equal, so are the rows that it shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(Vec<i64>);

impl Store {
    /// Returns the stamp of the home page.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn home_stamp(&self) -> Result<Stamp, FarmError> {
        self.look(|db| {
            let stamp = db.first::<i64>(sql::ALL_STAMP, &[])?.unwrap_or(0);
            let queue = queue(db)?;
            Ok(Stamp(vec![stamp, queue.queued.cast_signed(), queue.leased.cast_signed()]))
        })
    }

    /// Returns the stamp of a project's pages.
    ///
    /// # Errors
    /// If the project does not exist, or reading from the store fails.
    pub fn project_stamp(&self, owner: &str, name: &str) -> Result<Stamp, FarmError> {
        self.look(|db| {
            let two = |row: &Row<'_>| Ok([row.get(0)?, row.get::<i64>(1)?]);
            let found = db.rows(sql::PROJECT_STAMP, values![owner, name], two)?.pop();
            let [id, stamp] = found.ok_or_else(|| no_project(owner, name))?;
            let jobs = db.rows(sql::JOBS_STAMP, values![id, LATEST], |row| {
                (0..4).map(|at| row.get::<i64>(at)).collect::<Result<Vec<_>, DbError>>()
            })?;
            Ok(Stamp([id, stamp].into_iter().chain(jobs.into_iter().flatten()).collect()))
        })
    }
}

/// Records that something shown on a project's pages has changed. Call it last in a transaction:
/// every transaction locks these rows, so calling it earlier would make others wait longer.
pub(crate) fn changed(db: &Db, project: i64) -> Result<(), Stop> {
    db.execute(sql::STAMP_PROJECT, values![project])?;
    db.execute(sql::STAMP_ALL, &[])?;
    Ok(())
}

pub(crate) fn queue(db: &Db) -> Result<Queue, Stop> {
    let most = i64::try_from(Queue::MOST).unwrap_or(i64::MAX);
    let count = |statement| -> Result<u64, Stop> {
        Ok(db.first::<i64>(statement, values![most])?.unwrap_or(0).unsigned_abs())
    };
    Ok(Queue { queued: count(sql::QUEUE_LENGTH)?, leased: count(sql::LEASE_COUNT)? })
}
