//! Reading of builds: one in full, or pages of summaries, filtered by their properties. The number
//! of rows examined for a page is bounded.

use crate::builds::coded::{self, from_json, of_state};
use crate::builds::error::{FarmError, Stop};
use crate::builds::model::State;
use crate::builds::policy::LOOKED_AT;
use crate::builds::shown::BuildLine;
use crate::builds::store::Store;
use crate::builds::wire::{Build, NewBuild, Page};
use crate::builds::{paging, sql, when};
use assay_history::db::{Db, DbError, Row, Value, values};

/// A filter for builds. All conditions that are set must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter<'a> {
    /// Only builds of this owner.
    pub owner: Option<&'a str>,
    /// Only builds of this project. Requires `owner`.
    pub project: Option<&'a str>,
    /// Only builds of this version. Requires `project`.
    pub version: Option<&'a str>,
    /// Only builds on the target with this digest.
    pub target: Option<&'a str>,
    /// Only builds that ran on the node with this name.
    pub node: Option<&'a str>,
    /// Only builds in this state.
    pub state: Option<State>,
}

/// How to find the builds that match a filter: one index and further conditions on the rows.
struct AccessPath {
    /// The condition that selects a range of the index, in which `?1` is the value of `of`.
    along: &'static str,
    of: Key,
    /// Further conditions on the rows found through the index, each with its value.
    and: Vec<(&'static str, i64)>,
}

enum Key {
    All,
    Number(i64),
    Name(String),
}

impl Key {
    fn value(&self) -> Value<'_> {
        match self {
            Self::All => Value::from(0_i64),
            Self::Number(number) => Value::from(*number),
            Self::Name(name) => Value::from(name),
        }
    }
}

impl Store {
    /// Returns the build with the number `id`.
    ///
    /// # Errors
    /// If the build does not exist, or reading from the store fails.
    pub fn build(&self, id: i64) -> Result<Build, FarmError> {
        self.look(|db| build(db, id))
    }

    /// Returns a page of summaries of builds, latest first. If few of the examined builds match the
    /// filter, the page may have fewer than `most` items although more pages follow.
    ///
    /// # Errors
    /// If the filter is invalid, or reading from the store fails.
    pub fn lines(
        &self,
        filter: &Filter<'_>,
        after: Option<&str>,
        most: i64,
    ) -> Result<Page<BuildLine>, FarmError> {
        self.found(filter, after, most, sql::lines, line_row, |line| line.id)
    }

    /// Returns a page of whole builds, latest first. It is filtered and paged as by
    /// [`Self::lines`].
    ///
    /// # Errors
    /// If the filter is invalid, or reading from the store fails.
    pub fn builds(
        &self,
        filter: &Filter<'_>,
        after: Option<&str>,
        most: i64,
    ) -> Result<Page<Build>, FarmError> {
        let found = self.found(filter, after, most, sql::builds, build_row, |row| row.0.id)?;
        let items = self.look(|_| found.items.into_iter().map(whole).collect())?;
        Ok(Page { items, next: found.next })
    }

    /// Returns a page of the builds that match a filter. `statement` builds the SQL statement and
    /// `read` reads one row.
    fn found<T>(
        &self,
        filter: &Filter<'_>,
        after: Option<&str>,
        most: i64,
        statement: fn(&str, &[&str]) -> String,
        read: fn(&Row<'_>) -> Result<T, DbError>,
        id: fn(&T) -> i64,
    ) -> Result<Page<T>, FarmError> {
        let before = paging::number(after)?.unwrap_or(i64::MAX);
        self.look(|db| {
            let Some(way) = way(db, filter)? else {
                return Ok(Page { items: Vec::new(), next: None });
            };
            let looked_at = if way.and.is_empty() { most + 1 } else { LOOKED_AT };
            let mut values =
                vec![way.of.value(), Value::from(before), looked_at.into(), (most + 1).into()];
            values.extend(way.and.iter().map(|(_, value)| Value::from(*value)));
            let conditions: Vec<&str> = way.and.iter().map(|(condition, _)| *condition).collect();
            let found = db.rows(&statement(way.along, &conditions), &values, read)?;
            let mut page = paging::page(found, most, |one| id(one).to_string());
            if page.next.is_none() && !way.and.is_empty() {
                // The limit of examined rows was reached, so that later rows may match.
                let ends = db.rows(&sql::looked_at(way.along), &values[..3], |row| {
                    Ok((row.get::<Option<i64>>(0)?, row.get::<i64>(1)?))
                })?;
                if let Some(&(Some(last), LOOKED_AT)) = ends.first() {
                    page.next = Some(last.to_string());
                }
            }
            Ok(page)
        })
    }

    /// Returns the number of the lease under which a build ran, which identifies its log. `None` if
    /// the build had no lease.
    ///
    /// # Errors
    /// If the build does not exist, or reading from the store fails.
    pub fn lease_of_build(&self, id: i64) -> Result<Option<i64>, FarmError> {
        self.look(|db| {
            let found = db.first::<Option<i64>>(sql::LEASE_OF_BUILD, values![id])?;
            found.ok_or_else(|| no_build(id).into())
        })
    }

    /// Returns the number of the last lease of a job, and true if that lease is active.
    ///
    /// # Errors
    /// If the job does not exist, or reading from the store fails.
    pub fn last_lease(&self, job: i64) -> Result<(Option<i64>, bool), FarmError> {
        self.look(|db| {
            let found = db.rows(sql::LAST_LEASE, values![job], |row| {
                Ok((row.get::<Option<i64>>(0)?, row.get::<i64>(1)? == coded::LEASED))
            })?;
            found.first().copied().ok_or_else(|| crate::builds::jobs::no_job(job).into())
        })
    }

    /// Returns where the samples of a build are in the history: the name of the project there, and
    /// the digest of the run.
    ///
    /// # Errors
    /// If the build does not exist, it has no samples, or reading from the store fails.
    pub fn samples_of(&self, id: i64) -> Result<(String, String), FarmError> {
        self.look(|db| {
            let found = db.rows(sql::SAMPLES_OF_BUILD, values![id], |row| {
                Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<Option<String>>(2)?))
            })?;
            let (owner, project, digest) = found.into_iter().next().ok_or_else(|| no_build(id))?;
            let none = || FarmError::NotFound(format!("sample file of build {id}"));
            Ok((history_project(&owner, &project), digest.ok_or_else(none)?))
        })
    }
}

/// Returns the name under which the history keeps a project of the farm.
#[must_use]
pub fn history_project(owner: &str, project: &str) -> String {
    format!("{owner}/{project}")
}

pub(crate) fn no_build(id: i64) -> FarmError {
    FarmError::NotFound(format!("build {id}"))
}

/// Returns the access path for a filter, or `None` if the filter names something that does not
/// exist.
fn way(db: &Db, filter: &Filter<'_>) -> Result<Option<AccessPath>, Stop> {
    let bad = |told: &str| Err(FarmError::Bad(told.to_owned()).into());
    let mut and = Vec::new();
    let mut along = None;
    if let Some(state) = filter.state {
        and.push((sql::IN_STATE, of_state(state)));
    }
    let target = match filter.target {
        Some(digest) => match db.first::<i64>(sql::TARGET_ID, values![digest])? {
            Some(id) => Some(id),
            None => return Ok(None),
        },
        None => None,
    };
    match (filter.owner, filter.project, filter.version) {
        (None, None, None) => {}
        (Some(owner), None, None) => match db.first::<i64>(sql::OWNER_ID, values![owner])? {
            Some(id) => and.push((sql::OF_OWNER, id)),
            None => return Ok(None),
        },
        (Some(owner), Some(project), None) => {
            match db.first::<i64>(sql::PROJECT_ID, values![owner, project])? {
                Some(id) => along = Some((sql::ALONG_PROJECT, Key::Number(id))),
                None => return Ok(None),
            }
        }
        (Some(owner), Some(project), Some(version)) => {
            match db.first::<i64>(sql::VERSION_ID, values![owner, project, version])? {
                Some(id) => along = Some((sql::ALONG_VERSION, Key::Number(id))),
                None => return Ok(None),
            }
        }
        _ => {
            return bad(
                "a filter by version needs the project, and one by project needs the owner",
            );
        }
    }
    if let (Some(_), Some(_)) = (filter.node, &along) {
        return bad("filter builds either by node, or by project and version");
    }
    if let Some(node) = filter.node {
        along = Some((sql::ALONG_NODE, Key::Name(node.to_owned())));
    }
    match (target, &along) {
        (Some(id), None) => along = Some((sql::ALONG_TARGET, Key::Number(id))),
        (Some(id), Some(_)) => and.push((sql::ON_TARGET, id)),
        (None, _) => {}
    }
    let (along, of) = along.unwrap_or((sql::ALONG_ALL, Key::All));
    Ok(Some(AccessPath { along, of, and }))
}

/// Returns the latest builds that satisfy the condition `along`.
pub(crate) fn latest(
    db: &Db,
    along: &str,
    of: Value<'_>,
    most: i64,
) -> Result<Vec<BuildLine>, Stop> {
    let values = [of, Value::from(i64::MAX), Value::from(most), Value::from(most)];
    Ok(db.rows(&sql::lines(along, &[]), &values, line_row)?)
}

/// Returns the summary of one build.
pub(crate) fn line(db: &Db, id: i64) -> Result<Option<BuildLine>, Stop> {
    Ok(db.rows(&sql::line(), values![id], line_row)?.pop())
}

pub(crate) fn line_row(row: &Row<'_>) -> Result<BuildLine, DbError> {
    line_at(row, 0)
}

/// Reads the summary of a build, starting at column index `at`.
pub(crate) fn line_at(row: &Row<'_>, at: usize) -> Result<BuildLine, DbError> {
    Ok(BuildLine {
        id: row.get(at)?,
        owner: row.get(at + 1)?,
        project: row.get(at + 2)?,
        version: row.get(at + 3)?,
        target: row.get(at + 4)?,
        target_name: row.get(at + 5)?,
        node: row.get(at + 6)?,
        kind: coded::kind(row.get(at + 7)?),
        state: coded::state(row.get(at + 8)?),
        fault: row.get::<Option<i64>>(at + 9)?.and_then(coded::fault),
        reason: row.get(at + 10)?,
        added: when::text(row.get(at + 11)?),
        seconds: row.get(at + 12)?,
        tests: row.get::<i64>(at + 13)?.unsigned_abs(),
        failed: row.get::<i64>(at + 14)?.unsigned_abs(),
        is_evidence: !row.get::<bool>(at + 15)?,
    })
}

/// Returns the whole build with the number `id`.
pub(crate) fn build(db: &Db, id: i64) -> Result<Build, Stop> {
    let row = db.rows(&sql::build(), values![id], build_row)?.pop();
    whole(row.ok_or_else(|| no_build(id))?)
}

/// A row of a whole build, and its outcome as JSON text.
type BuildRow = (Build, String);

fn build_row(row: &Row<'_>) -> Result<BuildRow, DbError> {
    let samples: Option<String> = row.get(10)?;
    let build = Build {
        id: row.get(0)?,
        key: row.get(1)?,
        job: row.get(2)?,
        added: when::text(row.get(3)?),
        log_bytes: row.get::<i64>(4)?.unsigned_abs(),
        has_samples: samples.is_some(),
        is_evidence: !row.get::<bool>(11)?,
        of: NewBuild {
            owner: row.get(5)?,
            project: row.get(6)?,
            version: row.get(7)?,
            target: row.get(8)?,
            node: row.get(9)?,
            outcome: crate::builds::ending::nothing(),
        },
    };
    Ok((build, row.get(12)?))
}

fn whole((mut build, said): BuildRow) -> Result<Build, Stop> {
    build.of.outcome = from_json(&said)?;
    Ok(build)
}
