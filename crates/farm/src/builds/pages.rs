//! Contents of the farm's pages. They are read from stored sums, so the cost of a page depends only
//! on what it shows, not on the number of builds.

use crate::builds::coded::{self, from_json, states};
use crate::builds::error::{FarmError, Stop, no_project, no_version};
use crate::builds::jobs::{job, job_row};
use crate::builds::nodes::node;
use crate::builds::policy::{LARGEST_PAGE, LATEST};
use crate::builds::read::{build, latest, line, line_at, no_build};
use crate::builds::shown::{
    BuildPage, Home, JobPage, LeaseLine, NodePage, ProjectLine, ProjectPage, Queue,
    TargetBenchmarks, VersionLine, Waterfall,
};
use crate::builds::stamps::queue;
use crate::builds::store::Store;
use crate::builds::things::{
    TargetRow, project, target, target_of, target_row, version, version_by_id,
};
use crate::builds::wire::{
    Calibration, Matrix, MatrixCell, NewVersion, Outcome, Page, Target, Version,
};
use crate::builds::{paging, sql, when};
use assay_history::db::{Db, DbError, Row, Value, values};
use std::collections::{BTreeMap, HashMap};

impl Store {
    /// Returns the contents of the home page. Projects are sorted by their last build, latest
    /// first.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn home(&self, after: Option<&str>, most: i64) -> Result<Home, FarmError> {
        let (last_build, id) = paging::pair(after)?;
        self.look(|db| {
            let builds = db.rows(sql::TOTAL, &[], |row| states(row, 0))?.pop().unwrap_or_default();
            let rows = db.rows(sql::PROJECT_LINES, values![last_build, id, most + 1], |row| {
                let newest = match row.get::<Option<i64>>(12)? {
                    Some(_) => Some(version_line(row, 12)?),
                    None => None,
                };
                let line = ProjectLine {
                    id: row.get(0)?,
                    owner: row.get(1)?,
                    name: row.get(2)?,
                    builds: states(row, 4)?,
                    newest: None,
                    last: match row.get::<Option<i64>>(26)? {
                        Some(_) => Some(line_at(row, 26)?),
                        None => None,
                    },
                };
                Ok((line, row.get::<i64>(3)?, newest))
            })?;
            let page = paging::page(rows, most, |(line, last, _)| format!("{last}.{}", line.id));
            let mut projects = Vec::new();
            for (mut project, _, newest) in page.items {
                project.newest = newest.map(VersionRow::read).transpose()?;
                projects.push(project);
            }
            let latest = latest(db, sql::ALONG_ALL, Value::from(0_i64), LATEST)?;
            Ok(Home { builds, queue: queue(db)?, projects, next: page.next, latest })
        })
    }

    /// Returns the numbers of queued and leased jobs.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn queue(&self) -> Result<Queue, FarmError> {
        self.look(queue)
    }

    /// Returns the contents of a project's page, with versions newest first.
    ///
    /// # Errors
    /// If the project does not exist, or reading from the store fails.
    pub fn project_page(
        &self,
        owner: &str,
        name: &str,
        after: Option<&str>,
        most: i64,
    ) -> Result<ProjectPage, FarmError> {
        let (place, id) = paging::pair(after)?;
        self.look(|db| {
            let project = project(db, owner, name)?.ok_or_else(|| no_project(owner, name))?;
            let sums = db.rows(sql::PROJECT_SUMS, values![project.id], |row| states(row, 0))?;
            let values = values![project.id, place, id, most + 1];
            let rows = db.rows(sql::VERSION_LINES, values, |row| version_line(row, 0))?;
            let page = paging::page(rows, most, |row| format!("{}.{}", row.place, row.id));
            let versions = page.items.into_iter().map(VersionRow::read);
            let versions = versions.collect::<Result<_, Stop>>()?;
            let latest = latest(db, sql::ALONG_PROJECT, Value::from(project.id), LATEST)?;
            let jobs = format!("{}{}", sql::JOB, sql::JOBS_OF_PROJECT);
            let jobs = db.rows(&jobs, values![project.id, LATEST], job_row)?;
            let jobs = jobs.into_iter().map(|row| row.read()).collect::<Result<_, Stop>>()?;
            let builds = sums.into_iter().next().unwrap_or_default();
            Ok(ProjectPage { project, builds, versions, next: page.next, latest, jobs })
        })
    }

    /// Returns the results of a project's versions on its targets, newest versions first, and the
    /// cursor for older versions.
    ///
    /// # Errors
    /// If the project does not exist, or reading from the store fails.
    pub fn matrix(
        &self,
        owner: &str,
        name: &str,
        after: Option<&str>,
        most: i64,
    ) -> Result<(Matrix, Option<String>), FarmError> {
        let (place, id) = paging::pair(after)?;
        self.look(|db| {
            let project = project(db, owner, name)?.ok_or_else(|| no_project(owner, name))?;
            let values = values![project.id, place, id, most + 1];
            let rows = db.rows(sql::VERSION_LINES, values, |row| version_line(row, 0))?;
            let page = paging::page(rows, most, |row| format!("{}.{}", row.place, row.id));
            let mut versions = Vec::new();
            for row in page.items {
                let of: NewVersion = from_json(&row.said)?;
                versions.push(Version {
                    id: row.id,
                    owner: owner.to_owned(),
                    project: name.to_owned(),
                    name: row.name,
                    is_gone: row.is_gone,
                    of,
                });
            }
            let shown = values![project.id, place, id, most];
            let rows = db.rows(sql::TARGETS_OF_CELLS, shown, target_row)?;
            let targets = rows.into_iter().map(TargetRow::read);
            let mut targets: Vec<Target> = targets.collect::<Result<_, Stop>>()?;
            let digests: HashMap<i64, String> =
                targets.iter().map(|target| (target.id, target.digest.clone())).collect();
            let found = db.rows(sql::CELLS, shown, |row| {
                let compared: Option<String> = row.get(8)?;
                let cell = MatrixCell {
                    build: row.get(2)?,
                    state: coded::state(row.get(3)?),
                    builds: row.get::<i64>(4)?.unsigned_abs(),
                    passed: row.get::<i64>(5)?.unsigned_abs(),
                    failed: row.get::<i64>(6)?.unsigned_abs(),
                    base: row.get(7)?,
                    comparisons: Vec::new(),
                };
                Ok((row.get::<String>(0)?, row.get::<i64>(1)?, cell, compared))
            })?;
            let mut cells: BTreeMap<String, BTreeMap<String, MatrixCell>> = BTreeMap::new();
            for (version, target, mut cell, compared) in found {
                if let Some(compared) = compared {
                    cell.comparisons = from_json(&compared)?;
                }
                // A target that was added between the two statements is missing here. The next
                // request shows it.
                let Some(digest) = digests.get(&target) else { continue };
                cells.entry(version).or_default().insert(digest.clone(), cell);
            }
            targets.sort_by(|a, b| (&a.of.name, a.id).cmp(&(&b.of.name, b.id)));
            Ok((Matrix { versions, targets, cells }, page.next))
        })
    }

    /// Returns all benchmark results of a version, in order of arrival.
    ///
    /// # Errors
    /// If the version does not exist, or reading from the store fails.
    pub fn benched(
        &self,
        owner: &str,
        project: &str,
        name: &str,
        after: Option<&str>,
        most: i64,
    ) -> Result<Page<TargetBenchmarks>, FarmError> {
        let after = paging::number(after)?.unwrap_or(0);
        let found = self.look(|db| {
            let of = version(db, owner, project, name)?;
            let of = of.ok_or_else(|| no_version(owner, project, name))?;
            let rows = db.rows(sql::BENCHED, values![of.id, after, most + 1], |row| {
                let benched = TargetBenchmarks {
                    build: row.get(0)?,
                    version: row.get(1)?,
                    base: row.get(2)?,
                    target: row.get(3)?,
                    node: row.get(4)?,
                    comparisons: Vec::new(),
                };
                Ok((benched, row.get::<String>(5)?))
            })?;
            let read = |(mut benched, said): (TargetBenchmarks, String)| {
                benched.comparisons = from_json::<Outcome>(&said)?.comparisons;
                Ok(benched)
            };
            rows.into_iter().map(read).collect::<Result<Vec<_>, Stop>>()
        })?;
        Ok(paging::page(found, most, |benched| benched.build.to_string()))
    }

    /// Returns the contents of a build's page.
    ///
    /// # Errors
    /// If the build does not exist, or reading from the store fails.
    pub fn build_page(&self, id: i64) -> Result<BuildPage, FarmError> {
        self.look(|db| {
            let build = build(db, id)?;
            let line = line(db, id)?.ok_or_else(|| no_build(id))?;
            let place = db.rows(sql::PLACE_OF_BUILD, values![id], |row| {
                Ok((row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<Option<i64>>(2)?))
            })?;
            let (of, on, base) = place.first().copied().ok_or_else(|| no_build(id))?;
            let conditions =
                [Value::from(of), i64::MAX.into(), LARGEST_PAGE.into(), LATEST.into(), on.into()];
            let statement = sql::lines(sql::ALONG_VERSION, &[sql::ON_TARGET]);
            let mut others = db.rows(&statement, &conditions, crate::builds::read::line_row)?;
            others.retain(|other| other.id != id);
            Ok(BuildPage {
                facts: target_of(db, on)?.of.facts,
                version: version_by_id(db, of)?,
                base: base.map(|base| version_by_id(db, base)).transpose()?.map(|base| base.name),
                leases: build.job.map_or(Ok(Vec::new()), |job| leases(db, job))?,
                build,
                line,
                others,
            })
        })
    }

    /// Returns the contents of a job's page.
    ///
    /// # Errors
    /// If the job does not exist, or reading from the store fails.
    pub fn job_page(&self, id: i64) -> Result<JobPage, FarmError> {
        self.look(|db| {
            let job = job(db, id)?;
            Ok(JobPage { progress: job.progress, job, leases: leases(db, id)? })
        })
    }

    /// Returns the contents of a node's page.
    ///
    /// # Errors
    /// If the node does not exist, or reading from the store fails.
    pub fn node_page(&self, name: &str) -> Result<NodePage, FarmError> {
        let calibrations: Vec<Calibration> = self.calibrations(name, LARGEST_PAGE)?;
        self.look(|db| {
            let node = node(db, name)?;
            let mut targets = BTreeMap::new();
            for digest in &node.targets {
                if let Some(target) = target(db, digest)? {
                    targets.insert(target.digest, target.of.name);
                }
            }
            let latest = latest(db, sql::ALONG_NODE, Value::from(name), LATEST)?;
            Ok(NodePage { node, targets, calibrations, latest })
        })
    }

    /// Returns a page of builds in order of arrival, latest first.
    ///
    /// # Errors
    /// If [`Store::lines`] fails.
    pub fn waterfall(
        &self,
        filter: &crate::builds::read::Filter<'_>,
        after: Option<&str>,
        most: i64,
    ) -> Result<Waterfall, FarmError> {
        let Page { items: builds, next } = self.lines(filter, after, most)?;
        Ok(Waterfall { builds, next })
    }
}

fn leases(db: &Db, job: i64) -> Result<Vec<LeaseLine>, Stop> {
    Ok(db.rows(sql::LEASES, values![job], |row| {
        Ok(LeaseLine {
            id: row.get(0)?,
            node: row.get(1)?,
            began: when::text(row.get(2)?),
            ended: row.get::<Option<i64>>(3)?.map(when::text),
            how: row.get(4)?,
        })
    })?)
}

/// A row of the table of versions, with its stored sums.
struct VersionRow {
    id: i64,
    name: String,
    place: i64,
    is_gone: bool,
    added: i64,
    states: crate::builds::shown::States,
    said: String,
}

/// Reads the columns of a version, starting at column index `at`.
fn version_line(row: &Row<'_>, at: usize) -> Result<VersionRow, DbError> {
    Ok(VersionRow {
        id: row.get(at)?,
        name: row.get(at + 1)?,
        place: row.get(at + 2)?,
        is_gone: row.get(at + 3)?,
        added: row.get(at + 4)?,
        states: states(row, at + 5)?,
        said: row.get(at + 13)?,
    })
}

impl VersionRow {
    fn read(self) -> Result<VersionLine, Stop> {
        let said: NewVersion = from_json(&self.said)?;
        Ok(VersionLine {
            id: self.id,
            name: self.name,
            time: said.published.unwrap_or_else(|| when::text(self.added)),
            is_gone: self.is_gone,
            states: self.states,
        })
    }
}
