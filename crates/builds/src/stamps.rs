//! Stamps: all that an answer may change with, in few numbers. While the stamp stands, so does what was made of the rows behind it.
//!
//! Whatever changes rows that pages show calls [`changed`] in the same transaction, or changes the sums, which have the stamps beside them.

use crate::error::{FarmError, Stop};
use crate::pages::queue;
use crate::policy::LATEST;
use crate::sql;
use crate::store::Store;
use crate::things::no_project;
use assay_history::db::{Db, DbError, Row, values};

/// Equal ones are of equal rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(Vec<i64>);

impl Store {
    /// What the first page changes with.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn home_stamp(&self) -> Result<Stamp, FarmError> {
        self.look(|db| {
            let stamp = db.first::<i64>(sql::ALL_STAMP, &[])?.unwrap_or(0);
            let queue = queue(db)?;
            Ok(Stamp(vec![stamp, queue.queued.cast_signed(), queue.leased.cast_signed()]))
        })
    }

    /// What the pages of a project change with.
    ///
    /// # Errors
    /// When there is none, or the store can't be read.
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

/// Notes that something changed that pages show of a project. It is the last thing of a transaction, since everybody changes these rows.
pub(crate) fn changed(db: &Db, project: i64) -> Result<(), Stop> {
    db.execute(sql::STAMP_PROJECT, values![project])?;
    db.execute(sql::STAMP_ALL, &[])?;
    Ok(())
}
