//! The queue. A job is leased to one node at a time, until the node submits the result or
//! disappears, or the job is cancelled.
//!
//! A lease does not end when its time is over, but when [`Store::sweep`] removes it.
//! [`Store::sweep`] must therefore be called repeatedly. A result that arrives after the lease has
//! expired but before the next sweep is accepted.

use crate::builds::coded::{self, CANCELLED, LEASED};
use crate::builds::ending::{self, SubmittedResult};
use crate::builds::error::{FarmError, Stop, lost};
use crate::builds::jobs::{job, no_job};
use crate::builds::model::{Kind, State};
use crate::builds::policy::{DELAY, MOST_TARGETS, RETRIES, SWEPT};
use crate::builds::store::{Store, added};
use crate::builds::wire::{HeartbeatAnswer, LeaseRequest, LeasedJob, Outcome};
use crate::builds::{nodes, secrets, sql, things, when};
use assay_history::db::{Db, DbError, Row, values};
use std::collections::BTreeMap;

/// Result of a sweep, which handles expired leases and waiting jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepResult {
    /// Number of expired leases whose jobs were queued again.
    pub expired: u64,
    /// Number of jobs that ended with the state `lost`.
    pub lost: u64,
    /// Number of jobs that had waited for a retry and were queued again.
    pub woken: u64,
}

/// The columns of a job that the queue uses.
#[derive(Clone, Debug)]
pub(crate) struct JobColumns {
    pub id: i64,
    pub project: i64,
    pub version: i64,
    pub base: Option<i64>,
    pub kind: Kind,
    pub urgency: i64,
    pub round: i64,
    pub progress: i64,
    pub retries: i64,
    pub lease: Option<i64>,
    pub node: Option<String>,
    pub target: Option<i64>,
    pub nonce: Option<String>,
    pub until: Option<i64>,
}

impl JobColumns {
    fn of(row: &Row<'_>) -> Result<Self, DbError> {
        Ok(Self {
            id: row.get(0)?,
            project: row.get(1)?,
            version: row.get(2)?,
            base: row.get(3)?,
            kind: coded::kind(row.get(4)?),
            urgency: row.get(5)?,
            round: row.get(6)?,
            progress: row.get(7)?,
            retries: row.get(8)?,
            lease: row.get(9)?,
            node: row.get(10)?,
            target: row.get(11)?,
            nonce: row.get(12)?,
            until: row.get(13)?,
        })
    }

    /// Returns true if `nonce` is that of the job's last lease. The comparison takes constant time.
    pub fn is_of(&self, nonce: &str) -> bool {
        self.nonce.as_deref().is_some_and(|own| secrets::equal(own.as_bytes(), nonce.as_bytes()))
    }
}

/// Returns the job with the ID `id`. On a database server, its row is locked until the transaction
/// ends.
pub(crate) fn held(db: &Db, id: i64) -> Result<JobColumns, Stop> {
    let statement = sql::locking(db, sql::HELD);
    let found = db.rows(&statement, values![id], JobColumns::of)?.pop();
    found.ok_or_else(|| no_job(id).into())
}

/// Returns the IDs of the demands that the caller's targets meet, each with the ID of the target. A
/// demand is a requirement of jobs.
fn demands(db: &Db, asking: &LeaseRequest) -> Result<BTreeMap<i64, i64>, Stop> {
    if asking.targets.len() > MOST_TARGETS {
        return Err(FarmError::Bad(format!("at most {MOST_TARGETS} targets")).into());
    }
    let mut found = BTreeMap::new();
    for digest in &asking.targets {
        let fits = db.rows(sql::FITS, values![digest], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (demand, target) in fits {
            // If several targets meet the demand, the first one in the request is used.
            found.entry(demand).or_insert(target);
        }
    }
    Ok(found)
}

/// A queued job that the caller may lease.
struct Candidate {
    urgency: i64,
    id: i64,
    target: i64,
}

/// Returns the most urgent queued job with one of the demands and kinds, as found by `statement`.
fn candidate(
    db: &Db,
    statement: &str,
    demands: &BTreeMap<i64, i64>,
    kinds: &[Kind],
) -> Result<Option<Candidate>, Stop> {
    let mut best: Option<Candidate> = None;
    for (&demand, &target) in demands {
        for &kind in kinds {
            let found = db.rows(statement, values![demand, coded::of_kind(kind)], |row| {
                Ok(Candidate { id: row.get(0)?, urgency: row.get(1)?, target })
            })?;
            for one in found {
                if best.as_ref().is_none_or(|b| (one.urgency, one.id) < (b.urgency, b.id)) {
                    best = Some(one);
                }
            }
        }
    }
    Ok(best)
}

impl Store {
    /// Returns true if [`Store::lease`] may find a job. This method only reads, so that agents can
    /// poll at little cost.
    ///
    /// # Errors
    /// If the request is invalid, the node is unknown, another agent uses its name, or reading from
    /// the store fails.
    pub fn may_lease(&self, node: &str, asking: &LeaseRequest) -> Result<bool, FarmError> {
        self.look(|db| {
            let own = nodes::checked(db, node, &asking.instance, false)?;
            let kinds = own.gets(&asking.kinds);
            if kinds.is_empty() || asking.job.is_some() {
                return Ok(!kinds.is_empty());
            }
            let demands = demands(db, asking)?;
            Ok(candidate(db, sql::NEXT, &demands, &kinds)?.is_some())
        })
    }

    /// Leases the most urgent job that a node can run, for `ms` milliseconds. A node that runs a
    /// benchmark gets no other job, and a node that runs any job gets no benchmark.
    ///
    /// # Errors
    /// If the request is invalid, the node is unknown, another agent uses its name, or writing to
    /// the store fails.
    pub fn lease(
        &self,
        node: &str,
        asking: &LeaseRequest,
        now: i64,
        ms: i64,
    ) -> Result<Option<LeasedJob>, FarmError> {
        let nonce = secrets::fresh()?;
        self.beside(|db| {
            let own = nodes::checked(db, node, &asking.instance, true)?;
            let busy = db.rows(sql::BUSY_WITH, values![own.id], |row| row.get::<i64>(0))?;
            let benchmarks = busy.iter().any(|kind| coded::kind(*kind) == Kind::Bench);
            let mut kinds = own.gets(&asking.kinds);
            if kinds.is_empty() || benchmarks {
                return Ok(None);
            }
            kinds.dedup();
            if !busy.is_empty() {
                kinds.retain(|kind| *kind != Kind::Bench);
            }
            let demands = demands(db, asking)?;
            let found = match asking.job {
                Some(id) => one(db, id, &demands, &kinds)?,
                None => candidate(db, &sql::passing(db, sql::NEXT), &demands, &kinds)?,
            };
            let Some(Candidate { id, target, .. }) = found else { return Ok(None) };
            let new = values![id, own.id, target, &nonce, now];
            let lease = added(db, sql::ADD_LEASE, new)?;
            let until = now.saturating_add(ms);
            let given = values![id, lease, own.id, target, &nonce, until];
            if db.execute(sql::LEASE, given)? != 1 {
                let told = format!("job {id} was leased to another agent in the meantime");
                return Err(FarmError::Conflict(told).into());
            }
            leased(db, id, target, nonce, until).map(Some)
        })
    }

    /// Handles a heartbeat: extends the lease to at least `ms` milliseconds from `now`, or reports
    /// that the job was cancelled.
    ///
    /// # Errors
    /// If the job does not exist, it is not leased to this node, or writing to the store fails.
    pub fn beat(
        &self,
        node: &str,
        id: i64,
        nonce: &str,
        now: i64,
        ms: i64,
    ) -> Result<HeartbeatAnswer, FarmError> {
        self.beside(|db| {
            let held = held(db, id)?;
            if held.node.as_deref() != Some(node) || !held.is_of(nonce) {
                return Err(lost(id).into());
            }
            match held.progress {
                CANCELLED => Ok(HeartbeatAnswer { until: when::text(now), is_cancelled: true }),
                LEASED => {
                    let until = held.until.unwrap_or(now).max(now.saturating_add(ms));
                    db.execute(sql::PROLONG, values![id, until])?;
                    Ok(HeartbeatAnswer { until: when::text(until), is_cancelled: false })
                }
                _ => Err(lost(id).into()),
            }
        })
    }

    /// Removes the leases that expired before `now`, and queues the jobs whose waiting time is
    /// over. A job whose lease expires after its last retry ends as lost.
    ///
    /// # Errors
    /// If writing to the store fails.
    // Note: only a sweep ends expired leases. A server that was down waits before its first sweep,
    // so that agents that could not reach it can submit their results.
    pub fn sweep(&self, now: i64) -> Result<SweepResult, FarmError> {
        let mut swept = SweepResult::default();
        loop {
            let ids = self.look(|db| {
                Ok(db.rows(sql::EXPIRED, values![now, SWEPT], |row| row.get::<i64>(0))?)
            })?;
            for id in &ids {
                // Each lease has its own transaction, so that other programs do not wait long.
                match self.beside(|db| expire(db, *id, now))? {
                    Some(State::Lost) => swept.lost += 1,
                    Some(_) => swept.expired += 1,
                    None => {}
                }
            }
            if (ids.len() as i64) < SWEPT {
                break;
            }
        }
        if self.look(|db| Ok(db.first::<i64>(sql::ANY_DUE, values![now])?))?.is_some() {
            swept.woken = self.beside(|db| Ok(db.execute(sql::WAKE, values![now])?))?;
        }
        Ok(swept)
    }

    /// Returns the ID of the current lease of a job. The log of the job is stored under this ID.
    ///
    /// # Errors
    /// If the job does not belong to this node, was cancelled or has ended, or the nonce is not
    /// that of its last lease.
    pub fn lease_of(&self, node: &str, id: i64, nonce: &str) -> Result<i64, FarmError> {
        self.look(|db| {
            let held = db.rows(sql::HELD, values![id], JobColumns::of)?.pop();
            let held = held.ok_or_else(|| no_job(id))?;
            let is_own = held.node.as_deref() == Some(node) && held.is_of(nonce);
            let lease = held.lease.filter(|_| is_own && held.progress == LEASED);
            lease.ok_or_else(|| lost(id).into())
        })
    }

    /// Stores the digest of the history run that contains the samples of a lease.
    ///
    /// # Errors
    /// If writing to the store fails.
    pub fn has_samples(&self, lease: i64, digest: &str) -> Result<(), FarmError> {
        self.beside(|db| Ok(db.execute(sql::LEASE_SAMPLES, values![lease, digest]).map(|_| ())?))
    }
}

/// Returns the queued job with the ID `id` if it has one of these demands and kinds.
fn one(
    db: &Db,
    id: i64,
    demands: &BTreeMap<i64, i64>,
    kinds: &[Kind],
) -> Result<Option<Candidate>, Stop> {
    let statement = sql::passing(db, sql::ONE_QUEUED);
    let found = db.rows(&statement, values![id], |row| {
        Ok((row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<i64>(2)?))
    })?;
    Ok(found.first().and_then(|&(demand, kind, urgency)| {
        let target = *demands.get(&demand)?;
        kinds.contains(&coded::kind(kind)).then_some(Candidate { urgency, id, target })
    }))
}

fn leased(db: &Db, id: i64, target: i64, nonce: String, until: i64) -> Result<LeasedJob, Stop> {
    let held = held(db, id)?;
    Ok(LeasedJob {
        job: job(db, id)?,
        project: things::project_of(db, held.project)?,
        version: things::version_by_id(db, held.version)?,
        base: held.base.map(|base| things::version_by_id(db, base)).transpose()?,
        target: things::target_of(db, target)?.digest,
        nonce,
        until: when::text(until),
    })
}

/// Removes a lease if it expired before `now`. Returns [`State::Lost`] if the job ended,
/// [`State::Infrastructure`] if it was queued again, and `None` if the lease is still valid.
fn expire(db: &Db, id: i64, now: i64) -> Result<Option<State>, Stop> {
    let held = held(db, id)?;
    if held.progress != LEASED || held.until.is_none_or(|until| until >= now) {
        return Ok(None);
    }
    db.execute(sql::END_LEASES, values![id, now, "expired"])?;
    if held.retries < RETRIES {
        db.execute(sql::QUEUE_AGAIN, values![id])?;
        return Ok(Some(State::Infrastructure));
    }
    let node = held.node.clone().unwrap_or_default();
    let outcome = Outcome {
        reason: format!(
            "the node that held it disappeared {} times; the last one was {node}",
            held.retries + 1
        ),
        began: when::text(now),
        ..ending::nothing()
    };
    let key = format!("lost job {id}");
    let handed = SubmittedResult { key: &key, node: &node, outcome: &outcome, log_bytes: 0, now };
    ending::end(db, &held, &handed)?;
    Ok(Some(State::Lost))
}

/// Returns the time (ms since 1970) at which a job that failed because of its machine is queued
/// again.
pub(crate) fn due(retries: i64, now: i64) -> i64 {
    now.saturating_add(DELAY << retries.clamp(0, 16))
}
