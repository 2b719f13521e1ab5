//! Jobs: requested work with its requirements on the target. At most one unfinished job exists for
//! the same work.

use crate::builds::coded::{self, CANCELLED, DONE, from_json, json};
use crate::builds::error::{FarmError, Stop, no_project, no_target, no_version};
use crate::builds::model::{self, Facts, Kind, meets};
use crate::builds::store::{Store, StoredThing, added};
use crate::builds::things::{project, target, version};
use crate::builds::wire::{Job, NewJob, Page};
use crate::builds::{names, paging, sql};
use assay_history::db::{Db, DbError, Row, Value, values};

/// A request to queue a job, with the IDs of the rows that it refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobRequest {
    pub project: i64,
    pub version: i64,
    pub base: Option<i64>,
    pub kind: Kind,
    pub demand: i64,
    /// Urgency of the job. Smaller numbers are more urgent.
    pub urgency: i64,
    pub round: i64,
}

impl Store {
    /// Queues a job, or returns the existing one if an unfinished job for the same work exists.
    ///
    /// # Errors
    /// If the project, version or target does not exist, the request is invalid, or writing to the
    /// store fails.
    pub fn add_job(&self, new: &NewJob, now: i64) -> Result<StoredThing<Job>, FarmError> {
        names::facts(&new.needs)?;
        if (new.kind == Kind::Bench) != new.base.is_some() {
            return Err(FarmError::Bad(
                "a job of kind `bench` needs a base to compare with, and one of kind `test` must not have one"
                    .to_owned(),
            ));
        }
        self.alone(|db| {
            let of = project(db, &new.owner, &new.project)?;
            let of = of.ok_or_else(|| no_project(&new.owner, &new.project))?;
            let version = |name: &str| -> Result<i64, Stop> {
                let found = version(db, &new.owner, &new.project, name)?;
                let found = found.ok_or_else(|| no_version(&new.owner, &new.project, name))?;
                Ok(found.id)
            };
            let demand = match &new.target {
                Some(digest) => {
                    let target = target(db, digest)?.ok_or_else(|| no_target(digest))?;
                    demand_of_target(db, target.id, digest)?
                }
                None => demand_of_facts(db, &new.needs)?,
            };
            let asked = JobRequest {
                project: of.id,
                version: version(&new.version)?,
                base: new.base.as_deref().map(version).transpose()?,
                kind: new.kind,
                demand,
                urgency: new.priority.saturating_neg(),
                round: i64::from(new.round),
            };
            let (id, is_new) = queue(db, &asked, now)?;
            Ok(StoredThing { thing: job(db, id)?, is_new })
        })
    }

    /// Returns the job with the ID `id`.
    ///
    /// # Errors
    /// If the job does not exist, or reading from the store fails.
    pub fn job(&self, id: i64) -> Result<Job, FarmError> {
        self.look(|db| job(db, id))
    }

    /// Returns the queued jobs, most urgent first.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn queued(&self, after: Option<&str>, most: i64) -> Result<Page<Job>, FarmError> {
        let (urgency, id) = match after {
            Some(_) => paging::pair(after)?,
            None => (i64::MIN, 0),
        };
        let values = values![urgency, id, most + 1];
        let found = self.listed(sql::QUEUED_JOBS, values)?;
        Ok(paging::page(found, most, |job| format!("{}.{}", -job.of.priority, job.id)))
    }

    /// Returns the unfinished jobs, in the order in which they were added.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn jobs(&self, after: Option<&str>, most: i64) -> Result<Page<Job>, FarmError> {
        let after = paging::number(after)?.unwrap_or(0);
        let found = self.listed(sql::LIVE_JOBS, values![after, most + 1])?;
        Ok(paging::page(found, most, |job| job.id.to_string()))
    }

    fn listed(&self, which: &str, values: &[Value<'_>]) -> Result<Vec<Job>, FarmError> {
        self.look(|db| {
            let rows = db.rows(&format!("{}{which}", sql::JOB), values, job_row)?;
            rows.into_iter().map(JobRow::read).collect()
        })
    }

    /// Cancels a job. The node that has leased the job is notified in the answer to its next
    /// heartbeat.
    ///
    /// # Errors
    /// If the job does not exist or has ended with a build, or writing to the store fails.
    pub fn cancel(&self, id: i64, now: i64) -> Result<Job, FarmError> {
        self.beside(|db| {
            let state = progress_locked(db, id)?;
            if state == DONE {
                let told = format!("job {id} has ended with a build and cannot be cancelled");
                return Err(FarmError::Conflict(told).into());
            }
            if state != CANCELLED {
                db.execute(sql::CANCEL, values![id])?;
                db.execute(sql::END_LEASES, values![id, now, "cancelled"])?;
            }
            job(db, id)
        })
    }
}

fn progress_locked(db: &Db, id: i64) -> Result<i64, Stop> {
    let found = db.first(&sql::locking(db, sql::PROGRESS), values![id])?;
    found.ok_or_else(|| no_job(id).into())
}

pub(crate) fn no_job(id: i64) -> FarmError {
    FarmError::NotFound(format!("job {id}"))
}

/// Queues a job unless an unfinished job for the same work exists. Returns the ID of the job, and
/// true if the job is new.
pub(crate) fn queue(db: &Db, asked: &JobRequest, now: i64) -> Result<(i64, bool), Stop> {
    let JobRequest { project, version, base, kind, demand, urgency, round } = *asked;
    let kind = coded::of_kind(kind);
    let key = format!("{version} {} {kind} {demand} {round}", base.unwrap_or(0));
    let new = values![&key, project, version, base, kind, demand, urgency, round, now];
    // Another program may end the existing job between the two statements.
    for _ in 0..3 {
        if let Some(id) = db.first(sql::ADD_JOB, new)? {
            return Ok((id, true));
        }
        if let Some(id) = db.first(sql::LIVE_JOB, values![&key])? {
            return Ok((id, false));
        }
    }
    Err(FarmError::Conflict(format!("job `{key}` keeps appearing and disappearing: try again"))
        .into())
}

/// Returns the ID of the demand that only this target meets, and adds the demand if necessary. A
/// demand is a requirement of jobs.
pub(crate) fn demand_of_target(db: &Db, target: i64, digest: &str) -> Result<i64, Stop> {
    let key = format!("target {digest}");
    if let Some(known) = db.first(sql::DEMAND, values![&key])? {
        return Ok(known);
    }
    let Some(id) = db.first(sql::ADD_DEMAND, values![&key, target, "{}"])? else {
        // Another program has added the demand in the meantime.
        let known = db.first(sql::DEMAND, values![&key])?;
        return known.ok_or_else(|| no_target(digest).into());
    };
    db.execute(sql::ADD_FIT, values![target, id])?;
    Ok(id)
}

/// Returns the ID of the demand for targets with these facts. If the demand is new, all targets
/// that meet it are recorded.
fn demand_of_facts(db: &Db, facts: &Facts) -> Result<i64, Stop> {
    let key = format!("facts {}", model::digest(facts));
    if let Some(known) = db.first(sql::DEMAND, values![&key])? {
        return Ok(known);
    }
    let id = added(db, sql::ADD_DEMAND, values![&key, None::<i64>, &json(facts)?])?;
    let targets =
        db.rows(sql::ALL_TARGETS, &[], |row| Ok((row.get::<i64>(0)?, row.get::<String>(2)?)))?;
    for (target, found) in targets {
        if meets(&from_json(&found)?, facts) {
            db.execute(sql::ADD_FIT, values![target, id])?;
        }
    }
    Ok(id)
}

/// A job as read from the database, with the names of the items that it refers to.
pub(crate) struct JobRow {
    id: i64,
    owner: String,
    project: String,
    version: String,
    kind: i64,
    base: Option<String>,
    target: Option<String>,
    needs: String,
    urgency: i64,
    round: i64,
    progress: i64,
    attempts: i64,
    node: Option<String>,
    build: Option<i64>,
}

impl JobRow {
    pub(crate) fn read(self) -> Result<Job, Stop> {
        Ok(Job {
            id: self.id,
            of: NewJob {
                owner: self.owner,
                project: self.project,
                version: self.version,
                kind: coded::kind(self.kind),
                base: self.base,
                target: self.target,
                needs: from_json(&self.needs)?,
                priority: self.urgency.saturating_neg(),
                round: u32::try_from(self.round).unwrap_or(0),
            },
            progress: coded::progress(self.progress),
            attempts: u32::try_from(self.attempts).unwrap_or(u32::MAX),
            node: self.node,
            build: self.build,
        })
    }
}

pub(crate) fn job_row(row: &Row<'_>) -> Result<JobRow, DbError> {
    Ok(JobRow {
        id: row.get(0)?,
        owner: row.get(1)?,
        project: row.get(2)?,
        version: row.get(3)?,
        kind: row.get(4)?,
        base: row.get(5)?,
        target: row.get(6)?,
        needs: row.get(7)?,
        urgency: row.get(8)?,
        round: row.get(9)?,
        progress: row.get(10)?,
        attempts: row.get(11)?,
        node: row.get(12)?,
        build: row.get(13)?,
    })
}

pub(crate) fn job(db: &Db, id: i64) -> Result<Job, Stop> {
    let statement = format!("{}{}", sql::JOB, sql::JOB_OF);
    let row = db.rows(&statement, values![id], job_row)?.pop();
    row.ok_or_else(|| no_job(id))?.read()
}
