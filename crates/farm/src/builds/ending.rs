//! Records the result of a job, or of a version that was built without a job. Adds one build per
//! key and updates the affected counts in one transaction.

use crate::builds::coded::{self, LEASED, json};
use crate::builds::error::{FarmError, Stop, lost, no_project, no_target, no_version};
use crate::builds::jobs::{self, JobRequest};
use crate::builds::lease::{self, JobColumns, held};
use crate::builds::model::{Kind, State};
use crate::builds::policy::{RETRIES, ROUNDS};
use crate::builds::read::build;
use crate::builds::store::{Store, StoredThing, added};
use crate::builds::things::{project, target, target_of, version};
use crate::builds::wire::{Build, Ending, Evidence, NewBuild, Outcome};
use crate::builds::{names, secrets, sql, stamps, when};
use assay_history::db::{Db, values};

/// Outcome of submitting the result of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionOutcome {
    /// The job ended with this build.
    Ended(Build),
    /// A machine was at fault. The build is kept, and the job is queued again.
    Again(Build),
    /// The result had been submitted before, and nothing changed.
    Known(Build),
    /// The node had lost the lease. The build is kept as evidence, but did not end the job.
    Late(Build),
}

/// A submitted result with its key, node and time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubmittedResult<'a> {
    pub key: &'a str,
    pub node: &'a str,
    pub outcome: &'a Outcome,
    pub log_bytes: i64,
    pub now: i64,
}

impl Store {
    /// Ends a job with its result. The first result submitted for the current lease ends the job.
    /// Submitting the same result again changes nothing.
    ///
    /// # Errors
    /// If the job never belonged to this node, the result is invalid, the key belongs to another
    /// build, or writing to the store fails.
    pub fn hand_in(
        &self,
        node: &str,
        id: i64,
        ending: &Ending,
        log_bytes: u64,
        now: i64,
    ) -> Result<SubmissionOutcome, FarmError> {
        names::plain("a key", &ending.key)?;
        self.beside(|db| {
            let held = held(db, id)?;
            let outcome = believable(&ending.outcome, held.kind)?;
            let handed = SubmittedResult {
                key: &ending.key,
                node,
                outcome: &outcome,
                log_bytes: i64::try_from(log_bytes).unwrap_or(i64::MAX),
                now,
            };
            if let Some(known) = known(db, &handed, Some(id))? {
                return Ok(SubmissionOutcome::Known(known));
            }
            let is_own = held.node.as_deref() == Some(node) && held.is_of(&ending.nonce);
            if !is_own || held.progress != LEASED {
                // Only nodes that once leased the job may report results.
                let nonces = db.rows(sql::LEASES_OF_NODE, values![id, node], |row| {
                    Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<i64>(2)?))
                })?;
                let is_same = |of: &&(i64, String, i64)| {
                    secrets::equal(of.1.as_bytes(), ending.nonce.as_bytes())
                };
                let (lease, _, on) = nonces.iter().find(is_same).ok_or_else(|| lost(id))?;
                let evidence = JobColumns { lease: Some(*lease), target: Some(*on), ..held };
                let build_id = add(db, &evidence, &handed, false)?;
                stamps::changed(db, held.project)?;
                return Ok(SubmissionOutcome::Late(build(db, build_id)?));
            }
            db.execute(sql::END_LEASES, values![id, now, "handed_in"])?;
            if outcome.state.is_retried() && held.retries < RETRIES {
                let build_id = add(db, &held, &handed, false)?;
                let due = lease::due(held.retries, now);
                db.execute(sql::WAIT, values![id, due])?;
                stamps::changed(db, held.project)?;
                return Ok(SubmissionOutcome::Again(build(db, build_id)?));
            }
            let build_id = end(db, &held, &handed)?;
            Ok(SubmissionOutcome::Ended(build(db, build_id)?))
        })
    }

    /// Adds a result of a version on a target that was obtained without a job. Adding the same
    /// result again changes nothing.
    ///
    /// # Errors
    /// If the project, version or target does not exist, the result is invalid, the key belongs to
    /// another build, or writing to the store fails.
    pub fn add_build(
        &self,
        key: &str,
        new: &NewBuild,
        now: i64,
    ) -> Result<StoredThing<Build>, FarmError> {
        names::plain("a key", key)?;
        names::plain("a node", &new.node)?;
        let kind = if new.outcome.comparisons.is_empty() { Kind::Test } else { Kind::Bench };
        let outcome = believable(&new.outcome, kind)?;
        let handed = SubmittedResult { key, node: &new.node, outcome: &outcome, log_bytes: 0, now };
        self.beside(|db| {
            let of = project(db, &new.owner, &new.project)?;
            let of = of.ok_or_else(|| no_project(&new.owner, &new.project))?;
            let version = version(db, &new.owner, &new.project, &new.version)?;
            let version =
                version.ok_or_else(|| no_version(&new.owner, &new.project, &new.version))?;
            let target = target(db, &new.target)?.ok_or_else(|| no_target(&new.target))?;
            if let Some(known) = known(db, &handed, None)? {
                let is_same = known.of.owner == new.owner
                    && known.of.project == new.project
                    && known.of.version == new.version
                    && known.of.target == new.target;
                return match is_same {
                    true => Ok(StoredThing { thing: known, is_new: false }),
                    false => Err(other(key).into()),
                };
            }
            let held = JobColumns {
                id: 0,
                project: of.id,
                version: version.id,
                base: None,
                kind,
                urgency: 0,
                round: 0,
                progress: LEASED,
                retries: RETRIES,
                lease: None,
                node: None,
                target: Some(target.id),
                nonce: None,
                until: None,
            };
            let id = add(db, &held, &handed, true)?;
            sum(db, &held, &handed, id)?;
            Ok(StoredThing { thing: build(db, id)?, is_new: true })
        })
    }

    /// Returns the ID of a build that had no job, so that the length of its log can be stored.
    ///
    /// # Errors
    /// If the build does not exist, had a job or belongs to another node, or reading from the store
    /// fails.
    pub fn build_without_job(&self, key: &str, node: Option<&str>) -> Result<i64, FarmError> {
        self.look(|db| {
            let found = db.rows(sql::BUILD_OF_KEY, values![key], |row| {
                Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(2)?, row.get::<String>(3)?))
            })?;
            let none = || FarmError::NotFound(format!("build `{}`", key.escape_debug()));
            let (id, job, own) = found.into_iter().next().ok_or_else(none)?;
            if job.is_some() {
                let told = "the log of a job's build must be submitted with the job".to_owned();
                return Err(FarmError::Conflict(told).into());
            }
            match node.is_none_or(|node| node == own) {
                true => Ok(id),
                false => {
                    Err(FarmError::Forbidden(format!("build {id} belongs to node {own}")).into())
                }
            }
        })
    }

    /// Stores the length of a build's log, in bytes.
    ///
    /// # Errors
    /// If writing to the store fails.
    pub fn log_of_build(&self, id: i64, bytes: u64) -> Result<(), FarmError> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.beside(|db| Ok(db.execute(sql::BUILD_LOG, values![id, bytes]).map(|_| ())?))
    }

    /// Stores the digest of the history run that contains the samples of a build.
    ///
    /// # Errors
    /// If writing to the store fails.
    pub fn samples_of_build(&self, id: i64, digest: &str) -> Result<(), FarmError> {
        self.beside(|db| Ok(db.execute(sql::BUILD_SAMPLES, values![id, digest]).map(|_| ())?))
    }
}

fn other(key: &str) -> FarmError {
    FarmError::Conflict(format!("`{}` is the key of another build", key.escape_debug()))
}

/// Returns the build that was already submitted with the same key, or `None`.
///
/// # Errors
/// If the build with this key has a different result, job or node.
fn known(db: &Db, handed: &SubmittedResult<'_>, job: Option<i64>) -> Result<Option<Build>, Stop> {
    let found = db.rows(sql::BUILD_OF_KEY, values![handed.key], |row| {
        Ok((
            row.get::<i64>(0)?,
            row.get::<String>(1)?,
            row.get::<Option<i64>>(2)?,
            row.get::<String>(3)?,
        ))
    })?;
    let Some((id, said, of, node)) = found.into_iter().next() else { return Ok(None) };
    match said == json(handed.outcome)? && of == job && node == handed.node {
        true => Ok(Some(build(db, id)?)),
        false => Err(other(handed.key).into()),
    }
}

/// Validates a result. A test job can pass or fail only with evidence that a test ran, and a
/// benchmark job can pass only with comparisons. Otherwise the state becomes [`State::NotTested`].
///
/// # Errors
/// If a time or duration is invalid, the state is [`State::Lost`], or a machine's fault is not
/// named.
fn believable(outcome: &Outcome, kind: Kind) -> Result<Outcome, FarmError> {
    let bad = |why: &str| Err(FarmError::Bad(why.to_owned()));
    when::read(&outcome.began)?;
    if !outcome.seconds.is_finite() || outcome.seconds < 0.0 {
        return bad("seconds: must be a number that is not negative");
    }
    match outcome.state {
        State::Lost => return bad("only the server can declare a job lost"),
        State::Infrastructure if outcome.fault.is_none() => {
            return bad(
                "state `infrastructure`: `fault` must state which part of the machine failed",
            );
        }
        _ => {}
    }
    let mut outcome = outcome.clone();
    let has_evidence = match kind {
        Kind::Test => outcome.evidence.tests > 0,
        Kind::Bench => !outcome.comparisons.is_empty() || outcome.state == State::Failed,
    };
    if matches!(outcome.state, State::Passed | State::Failed) && !has_evidence {
        let what = if kind == Kind::Test { "a test ran" } else { "anything was compared" };
        outcome.reason = format!("there is no evidence that {what}");
        outcome.state = State::NotTested;
    }
    Ok(outcome)
}

/// Returns an empty outcome as a placeholder until the actual outcome has been read.
pub(crate) fn nothing() -> Outcome {
    Outcome {
        state: State::Lost,
        fault: None,
        reason: String::new(),
        began: String::new(),
        seconds: 0.0,
        evidence: Evidence::default(),
        repeat: String::new(),
        log_cut: 0,
        comparisons: Vec::new(),
    }
}

/// Adds a build and returns its ID. If `counts` is false, the build is only evidence and did not
/// end the job.
fn add(
    db: &Db,
    held: &JobColumns,
    handed: &SubmittedResult<'_>,
    counts: bool,
) -> Result<i64, Stop> {
    let SubmittedResult { key, node, outcome, log_bytes, now } = *handed;
    let target = held.target.ok_or_else(|| lost(held.id))?;
    let samples = match held.lease {
        Some(lease) => db.first::<Option<String>>(sql::SAMPLES_OF_LEASE, values![lease])?.flatten(),
        None => None,
    };
    let said = json(outcome)?;
    let new = values![
        key,
        held.project,
        held.version,
        target,
        node,
        Some(held.id).filter(|id| *id > 0),
        held.lease,
        held.base,
        coded::of_kind(held.kind),
        counts,
        coded::of_state(outcome.state),
        outcome.fault.map(coded::of_fault),
        &outcome.reason,
        now,
        outcome.seconds,
        i64::try_from(outcome.evidence.tests).unwrap_or(i64::MAX),
        i64::try_from(outcome.evidence.failed).unwrap_or(i64::MAX),
        &said,
        log_bytes,
        samples.as_deref(),
    ];
    added(db, sql::ADD_BUILD, new)
}

/// Ends a job with a build and updates the counts. If a comparison was inconclusive, queues another
/// round of the benchmark.
pub(crate) fn end(db: &Db, held: &JobColumns, handed: &SubmittedResult<'_>) -> Result<i64, Stop> {
    let id = add(db, held, handed, true)?;
    if db.execute(sql::END, values![held.id, id])? != 1 {
        let told = format!("job {} has ended already", held.id);
        return Err(FarmError::Conflict(told).into());
    }
    sum(db, held, handed, id)?;
    let is_open = held.kind == Kind::Bench
        && handed.outcome.state == State::Passed
        && handed.outcome.comparisons.iter().any(|c| c.verdict == "inconclusive");
    if let Some(target) = held.target.filter(|_| is_open && held.round + 1 < ROUNDS) {
        let digest = target_of(db, target)?.digest;
        let more = JobRequest {
            project: held.project,
            version: held.version,
            base: held.base,
            kind: Kind::Bench,
            demand: jobs::demand_of_target(db, target, &digest)?,
            urgency: held.urgency,
            round: held.round + 1,
        };
        jobs::queue(db, &more, handed.now)?;
    }
    Ok(id)
}

/// The build that represented a version on a target before the submitted build.
struct PreviousBuild {
    kind: Kind,
    state: State,
}

/// Updates the build counts of the version, of the project and in total, in this order.
// Note: all code that changes counts locks rows in one order: job, build, version, project, total.
// Any other order can deadlock.
fn sum(db: &Db, held: &JobColumns, handed: &SubmittedResult<'_>, build: i64) -> Result<(), Stop> {
    let outcome = handed.outcome;
    let state = outcome.state;
    let target = held.target.ok_or_else(|| lost(held.id))?;
    // Locks the version, so that its cells (one per target) do not change concurrently.
    let place: i64 = db
        .first(&sql::locking(db, sql::VERSION_PLACE), values![held.version])?
        .ok_or_else(|| FarmError::NotFound(format!("version {}", held.version)))?;
    let old = db.rows(sql::CELL, values![held.version, target], |row| {
        Ok(PreviousBuild { kind: coded::kind(row.get(0)?), state: coded::state(row.get(1)?) })
    })?;
    let old = old.first();
    let replaces = old.is_none_or(|old| match (held.kind, old.kind) {
        // A machine's fault does not replace a known result of the version.
        (Kind::Test, Kind::Test) | (Kind::Bench, Kind::Bench) => {
            !state.is_retried() || old.state.is_retried()
        }
        (Kind::Test, Kind::Bench) => true,
        (Kind::Bench, Kind::Test) => false,
    });
    let (kind, code) = (coded::of_kind(held.kind), coded::of_state(state));
    let is = |wanted: State| i64::from(held.kind == Kind::Test && state == wanted);
    let (passed, failed) = (is(State::Passed), is(State::Failed));
    let key = (held.version, target);
    if old.is_none() {
        db.execute(sql::ADD_CELL, values![key.0, key.1, build, kind, code, passed, failed])?;
    } else {
        db.execute(sql::COUNT_CELL, values![key.0, key.1, passed, failed])?;
        if replaces {
            db.execute(sql::CHANGE_CELL, values![key.0, key.1, build, kind, code])?;
        }
    }
    if held.kind == Kind::Bench && !outcome.comparisons.is_empty() {
        let compared = json(&outcome.comparisons)?;
        db.execute(sql::BENCH_CELL, values![key.0, key.1, held.base, &compared])?;
    }
    if replaces {
        let mut change = [0; 8];
        change[state as usize] += 1;
        if let Some(old) = old {
            change[old.state as usize] -= 1;
        }
        counted(db, sql::SUM_VERSION, held.version, change)?;
    }
    let mut change = [0; 8];
    change[state as usize] = 1;
    counted(db, sql::SUM_PROJECT, held.project, change)?;
    db.execute(sql::LAST_BUILD, values![held.project, build])?;
    let newest = db.rows(sql::NEWEST_TESTED, values![held.project], |row| {
        Ok((row.get::<i64>(0)?, row.get::<i64>(1)?))
    })?;
    if newest.first().is_none_or(|newest| *newest < (place, held.version)) {
        db.execute(sql::SET_NEWEST, values![held.project, held.version])?;
    }
    // Every transaction changes this row, so it is locked last and as briefly as possible.
    counted(db, sql::SUM_ALL, 1, change)
}

fn counted(
    db: &Db,
    statement: &str,
    id: i64,
    [a, b, c, d, e, f, g, h]: [i64; 8],
) -> Result<(), Stop> {
    db.execute(statement, values![id, a, b, c, d, e, f, g, h])?;
    Ok(())
}
