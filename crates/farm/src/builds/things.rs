//! Owners, projects, versions and targets. Adding one twice has the effect of adding it once.
//! Adding a version or target queues the jobs that follow from it.

use crate::builds::coded::{from_json, json};
use crate::builds::error::{FarmError, Stop, no_owner, no_project, no_target, no_version};
use crate::builds::jobs::{self, JobRequest};
use crate::builds::model::{Facts, Kind, VersionKind, digest, meets};
use crate::builds::policy::AGAIN;
use crate::builds::store::{Store, StoredThing, added};
use crate::builds::wire::{
    NewProject, NewTarget, NewVersion, Owner, Page, Project, Target, Version,
};
use crate::builds::{names, order, paging, sql, stamps, when};
use assay_history::db::{Db, DbError, Row, values};

impl Store {
    /// Adds an owner, or returns the existing one.
    ///
    /// # Errors
    /// If the name is invalid, or writing to the store fails.
    pub fn add_owner(&self, name: &str) -> Result<StoredThing<Owner>, FarmError> {
        names::plain("an owner", name)?;
        if let Some(owner) = self.look(|db| Ok(owner(db, name)?))? {
            return Ok(StoredThing { thing: owner, is_new: false });
        }
        names::has_pages(name)?;
        self.alone(|db| {
            let is_new = db.execute(sql::ADD_OWNER, values![name])? > 0;
            let thing = owner(db, name)?.ok_or_else(|| no_owner(name))?;
            Ok(StoredThing { thing, is_new })
        })
    }

    /// Returns the owner with this name.
    ///
    /// # Errors
    /// If the owner does not exist, or reading from the store fails.
    pub fn owner(&self, name: &str) -> Result<Owner, FarmError> {
        self.look(|db| owner(db, name)?.ok_or_else(|| no_owner(name).into()))
    }

    /// Returns a page of owners, sorted by name.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn owners(&self, after: Option<&str>, most: i64) -> Result<Page<Owner>, FarmError> {
        let found = self.look(|db| {
            Ok(db.rows(sql::OWNERS, values![after.unwrap_or_default(), most + 1], owner_of)?)
        })?;
        Ok(paging::page(found, most, |owner| owner.name.clone()))
    }

    /// Adds a project, or updates the existing one. If the update changes the recipe or the
    /// required facts, the newest versions are queued again.
    ///
    /// # Errors
    /// If the owner does not exist, the name is invalid, or writing to the store fails.
    pub fn add_project(
        &self,
        owner: &str,
        name: &str,
        said: &NewProject,
        now: i64,
    ) -> Result<StoredThing<Project>, FarmError> {
        names::plain("a project", name)?;
        names::facts(&said.needs)?;
        let found = self.look(|db| project(db, owner, name))?;
        if let Some(found) = found.as_ref().filter(|found| found.of == *said) {
            return Ok(StoredThing { thing: found.clone(), is_new: false });
        }
        let is_another = found.is_some_and(|found| {
            (&found.of.recipe, &found.of.needs) != (&said.recipe, &said.needs)
        });
        let text = json(said)?;
        self.alone(|db| {
            let own = self::owner(db, owner)?.ok_or_else(|| no_owner(owner))?;
            let is_new = db.execute(sql::ADD_PROJECT, values![own.id, name, &text])? > 0;
            if !is_new {
                db.execute(sql::CHANGE_PROJECT, values![own.id, name, &text])?;
            }
            let thing = project(db, owner, name)?.ok_or_else(|| no_project(owner, name))?;
            if is_another {
                let newest = values![thing.id, AGAIN];
                for version in db.rows(sql::NEWEST_VERSIONS, newest, |row| row.get::<i64>(0))? {
                    queue_everywhere(db, &thing, version, now)?;
                }
            }
            stamps::changed(db, thing.id)?;
            Ok(StoredThing { thing, is_new })
        })
    }

    /// Returns the project with this owner and name.
    ///
    /// # Errors
    /// If the project does not exist, or reading from the store fails.
    pub fn project(&self, owner: &str, name: &str) -> Result<Project, FarmError> {
        self.look(|db| project(db, owner, name)?.ok_or_else(|| no_project(owner, name).into()))
    }

    /// Returns a page of an owner's projects, sorted by name.
    ///
    /// # Errors
    /// If the owner does not exist, or reading from the store fails.
    pub fn projects(
        &self,
        owner: &str,
        after: Option<&str>,
        most: i64,
    ) -> Result<Page<Project>, FarmError> {
        let found = self.look(|db| {
            let own = self::owner(db, owner)?.ok_or_else(|| no_owner(owner))?;
            let values = values![own.id, after.unwrap_or_default(), most + 1];
            let rows = db.rows(sql::PROJECTS, values, project_row)?;
            rows.into_iter().map(ProjectRow::read).collect::<Result<Vec<_>, Stop>>()
        })?;
        Ok(paging::page(found, most, |project| project.name.clone()))
    }

    /// Adds a version, or returns the existing one. For a new version, a test job is queued on each
    /// target that meets the project's needs. If the project has benchmarks and an earlier version,
    /// a benchmark job is queued as well.
    ///
    /// If neither a publication time nor an ordinal is given, a release is ordered by its version
    /// number, and a commit by the time at which it is added.
    ///
    /// # Errors
    /// If the project does not exist, the name is invalid, or writing to the store fails.
    pub fn add_version(
        &self,
        (owner, project): (&str, &str),
        name: &str,
        said: &NewVersion,
        now: i64,
    ) -> Result<StoredThing<Version>, FarmError> {
        names::checked("a version", name)?;
        let published = said.published.as_deref().map(when::read).transpose()?;
        let found = self.look(|db| version(db, owner, project, name))?;
        if let Some(found) = found.filter(|found| !found.is_gone) {
            return Ok(StoredThing { thing: found, is_new: false });
        }
        let text = json(said)?;
        self.alone(|db| {
            let of = self::project(db, owner, project)?;
            let of = of.ok_or_else(|| no_project(owner, project))?;
            let place = match said.ordinal.or(published) {
                Some(place) => place,
                None if said.kind == VersionKind::Release => {
                    let others = db.rows(sql::VERSION_PLACES, values![of.id], |row| {
                        Ok((row.get::<String>(0)?, row.get::<i64>(1)?))
                    })?;
                    order::place(name, &others, now)
                }
                None => now,
            };
            let new = values![of.id, name, place, now, &text];
            let is_new = db.execute(sql::ADD_VERSION, new)? > 0;
            if !is_new {
                db.execute(sql::VERSION_IS_THERE, values![of.id, name])?;
            }
            let thing = version(db, owner, project, name)?;
            let thing = thing.ok_or_else(|| no_version(owner, project, name))?;
            if is_new {
                queue_everywhere(db, &of, thing.id, now)?;
            }
            stamps::changed(db, of.id)?;
            Ok(StoredThing { thing, is_new })
        })
    }

    /// Records that a version no longer exists at its origin. Its results are kept. If `cancels` is
    /// true, its jobs that are not leased are cancelled.
    ///
    /// # Errors
    /// If the version does not exist, or writing to the store fails.
    pub fn version_is_gone(
        &self,
        (owner, project): (&str, &str),
        name: &str,
        cancels: bool,
    ) -> Result<Version, FarmError> {
        self.alone(|db| {
            let none = || no_version(owner, project, name);
            let of = self::project(db, owner, project)?.ok_or_else(none)?;
            let found = version(db, owner, project, name)?.ok_or_else(none)?;
            db.execute(sql::VERSION_IS_GONE, values![found.id])?;
            if cancels {
                db.execute(sql::CANCEL_VERSION, values![found.id])?;
            }
            stamps::changed(db, of.id)?;
            version(db, owner, project, name)?.ok_or_else(|| none().into())
        })
    }

    /// Returns the version with this owner, project and name.
    ///
    /// # Errors
    /// If the version does not exist, or reading from the store fails.
    pub fn version_of(&self, owner: &str, project: &str, name: &str) -> Result<Version, FarmError> {
        self.look(|db| {
            version(db, owner, project, name)?
                .ok_or_else(|| no_version(owner, project, name).into())
        })
    }

    /// Returns a page of a project's versions, newest first.
    ///
    /// # Errors
    /// If the project does not exist, or reading from the store fails.
    pub fn versions(
        &self,
        owner: &str,
        project: &str,
        after: Option<&str>,
        most: i64,
    ) -> Result<Page<Version>, FarmError> {
        let (place, id) = paging::pair(after)?;
        let found = self.look(|db| {
            let of = self::project(db, owner, project)?;
            let of = of.ok_or_else(|| no_project(owner, project))?;
            let values = values![of.id, place, id, most + 1];
            let rows =
                db.rows(sql::VERSIONS, values, |row| Ok((version_row(row)?, row.get::<i64>(6)?)))?;
            rows.into_iter()
                .map(|(row, place)| Ok((row.read()?, place)))
                .collect::<Result<Vec<_>, Stop>>()
        })?;
        let page = paging::page(found, most, |(version, place)| format!("{place}.{}", version.id));
        let items = page.items.into_iter().map(|(version, _)| version).collect();
        Ok(Page { items, next: page.next })
    }

    /// Adds a target, or returns the existing one. For a new target, the newest version of each
    /// project whose needs it meets is queued, as are all versions that waited for a suitable
    /// target.
    ///
    /// # Errors
    /// If the digest is not that of the facts, or writing to the store fails.
    pub fn add_target(
        &self,
        key: &str,
        said: &NewTarget,
        now: i64,
    ) -> Result<StoredThing<Target>, FarmError> {
        check_target(said)?;
        if key != digest(&said.facts) {
            return Err(FarmError::Bad(format!(
                "`{}` is not the digest of these facts; it should be {}",
                key.escape_debug(),
                digest(&said.facts)
            )));
        }
        if let Some(found) = self.look(|db| target(db, key))? {
            return Ok(StoredThing { thing: found, is_new: false });
        }
        self.alone(|db| target_or_new(db, key, said, now))
    }

    /// Returns the target with this digest.
    ///
    /// # Errors
    /// If the target does not exist, or reading from the store fails.
    pub fn target(&self, digest: &str) -> Result<Target, FarmError> {
        self.look(|db| target(db, digest)?.ok_or_else(|| no_target(digest).into()))
    }

    /// Returns a page of targets, in the order in which they were added.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn targets(&self, after: Option<&str>, most: i64) -> Result<Page<Target>, FarmError> {
        let after = paging::number(after)?.unwrap_or(0);
        let found = self.look(|db| {
            let rows = db.rows(sql::TARGETS, values![after, most + 1], target_row)?;
            rows.into_iter().map(TargetRow::read).collect::<Result<Vec<_>, Stop>>()
        })?;
        Ok(paging::page(found, most, |target| target.id.to_string()))
    }
}

/// Queues the jobs of a version on every target that meets the project's needs.
fn queue_everywhere(db: &Db, project: &Project, version: i64, now: i64) -> Result<(), Stop> {
    let targets = db.rows(sql::ALL_TARGETS, &[], |row| {
        Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<String>(2)?))
    })?;
    for (target, digest, facts) in targets {
        if meets(&from_json(&facts)?, &project.of.needs) {
            queue(db, project, version, (target, &digest), now)?;
        }
    }
    Ok(())
}

/// Queues the jobs of a version on one target.
fn queue(
    db: &Db,
    project: &Project,
    version: i64,
    (target, digest): (i64, &str),
    now: i64,
) -> Result<(), Stop> {
    let demand = jobs::demand_of_target(db, target, digest)?;
    let tests = JobRequest {
        project: project.id,
        version,
        base: None,
        kind: Kind::Test,
        demand,
        urgency: 0,
        round: 0,
    };
    jobs::queue(db, &tests, now)?;
    if project.of.recipe.bench.is_some()
        && let Some(base) = db.first::<i64>(sql::VERSION_BEFORE, values![project.id, version])?
    {
        jobs::queue(db, &JobRequest { base: Some(base), kind: Kind::Bench, ..tests }, now)?;
    }
    Ok(())
}

pub(crate) fn check_target(said: &NewTarget) -> Result<(), FarmError> {
    names::checked("a target", &said.name)?;
    names::facts(&said.facts)
}

/// Returns the target with these facts, and adds it if it is new. For a new target, the demands
/// that it meets are recorded. The newest version of each project whose needs it meets is queued,
/// as are all versions that waited for a suitable target.
pub(crate) fn target_or_new(
    db: &Db,
    key: &str,
    said: &NewTarget,
    now: i64,
) -> Result<StoredThing<Target>, Stop> {
    if let Some(thing) = target(db, key)? {
        return Ok(StoredThing { thing, is_new: false });
    }
    let id = added(db, sql::ADD_TARGET, values![key, &said.name, &json(&said.facts)?])?;
    let demands =
        db.rows(sql::DEMANDS_OF_FACTS, &[], |row| Ok((row.get::<i64>(0)?, row.get::<String>(1)?)))?;
    for (demand, wanted) in demands {
        if meets(&said.facts, &from_json(&wanted)?) {
            db.execute(sql::ADD_FIT, values![id, demand])?;
        }
    }
    for row in db.rows(sql::ALL_PROJECTS, &[], project_row)? {
        let project = row.read()?;
        if !meets(&said.facts, &project.of.needs) {
            continue;
        }
        let waiting = db.rows(sql::WAITING_VERSIONS, values![project.id], |row| row.get(0))?;
        let newest = db.first::<i64>(sql::NEWEST_VERSION, values![project.id])?;
        for version in newest.into_iter().chain(waiting) {
            queue(db, &project, version, (id, key), now)?;
        }
    }
    let thing = target(db, key)?.ok_or_else(|| no_target(key))?;
    Ok(StoredThing { thing, is_new: true })
}

fn owner_of(row: &Row<'_>) -> Result<Owner, DbError> {
    Ok(Owner { id: row.get(0)?, name: row.get(1)? })
}

pub(crate) fn owner(db: &Db, name: &str) -> Result<Option<Owner>, DbError> {
    Ok(db.rows(sql::OWNER, values![name], owner_of)?.pop())
}

/// A row of the table of projects.
pub(crate) struct ProjectRow {
    id: i64,
    owner: String,
    name: String,
    said: String,
}

impl ProjectRow {
    pub(crate) fn read(self) -> Result<Project, Stop> {
        let of = from_json(&self.said)?;
        Ok(Project { id: self.id, owner: self.owner, name: self.name, of })
    }
}

fn project_row(row: &Row<'_>) -> Result<ProjectRow, DbError> {
    Ok(ProjectRow { id: row.get(0)?, owner: row.get(1)?, name: row.get(2)?, said: row.get(3)? })
}

pub(crate) fn project(db: &Db, owner: &str, name: &str) -> Result<Option<Project>, Stop> {
    db.rows(sql::PROJECT, values![owner, name], project_row)?
        .pop()
        .map(ProjectRow::read)
        .transpose()
}

pub(crate) fn project_of(db: &Db, id: i64) -> Result<Project, Stop> {
    let row = db.rows(sql::PROJECT_OF, values![id], project_row)?.pop();
    row.ok_or_else(|| FarmError::NotFound(format!("project {id}")))?.read()
}

/// A row of the table of versions.
pub(crate) struct VersionRow {
    id: i64,
    owner: String,
    project: String,
    name: String,
    is_gone: bool,
    said: String,
}

impl VersionRow {
    pub(crate) fn read(self) -> Result<Version, Stop> {
        Ok(Version {
            id: self.id,
            owner: self.owner,
            project: self.project,
            name: self.name,
            is_gone: self.is_gone,
            of: from_json(&self.said)?,
        })
    }
}

pub(crate) fn version_row(row: &Row<'_>) -> Result<VersionRow, DbError> {
    Ok(VersionRow {
        id: row.get(0)?,
        owner: row.get(1)?,
        project: row.get(2)?,
        name: row.get(3)?,
        is_gone: row.get(4)?,
        said: row.get(5)?,
    })
}

pub(crate) fn version(
    db: &Db,
    owner: &str,
    project: &str,
    name: &str,
) -> Result<Option<Version>, Stop> {
    let rows = db.rows(sql::VERSION, values![owner, project, name], version_row)?;
    rows.into_iter().next().map(VersionRow::read).transpose()
}

pub(crate) fn version_by_id(db: &Db, id: i64) -> Result<Version, Stop> {
    let row = db.rows(sql::VERSION_OF, values![id], version_row)?.pop();
    row.ok_or_else(|| FarmError::NotFound(format!("version {id}")))?.read()
}

/// A row of the table of targets.
pub(crate) struct TargetRow {
    id: i64,
    digest: String,
    name: String,
    facts: String,
}

impl TargetRow {
    pub(crate) fn read(self) -> Result<Target, Stop> {
        let facts: Facts = from_json(&self.facts)?;
        Ok(Target { id: self.id, digest: self.digest, of: NewTarget { name: self.name, facts } })
    }
}

pub(crate) fn target_row(row: &Row<'_>) -> Result<TargetRow, DbError> {
    Ok(TargetRow { id: row.get(0)?, digest: row.get(1)?, name: row.get(2)?, facts: row.get(3)? })
}

pub(crate) fn target(db: &Db, digest: &str) -> Result<Option<Target>, Stop> {
    db.rows(sql::TARGET, values![digest], target_row)?.pop().map(TargetRow::read).transpose()
}

pub(crate) fn target_of(db: &Db, id: i64) -> Result<Target, Stop> {
    let row = db.rows(sql::TARGET_OF, values![id], target_row)?.pop();
    row.ok_or_else(|| FarmError::NotFound(format!("target {id}")))?.read()
}
