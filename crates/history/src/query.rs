//! Queries: lists of runs, single runs, and series of a benchmark. The samples of a run are
//! decompressed only when requested.

use crate::add::machine_of;
use crate::db::{DbError, Row, values};
use crate::error::StoreError;
use crate::packed::unpack;
use crate::sql;
use crate::store::Store;
use assay_analysis::history::{
    Benchmark, Compared, Contents, Point, Revision, Run, RunResult, RunSummary, Series, Vanished,
    short_digest,
};
use assay_analysis::{Effect, Interval};
use assay_data::{Better, Environment, Finding, Metric, ParameterValue, Severity, Unit};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Maximum number of later runs that are checked for a missing benchmark.
const LOOKED_AT: i64 = 20;

/// Selection of the series of a benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesSelection<'a> {
    /// Name of the only metric to return; `None` for all metrics.
    pub metric: Option<&'a str>,
    /// Name or fingerprint of the only machine to return; `None` for all machines.
    pub machine: Option<&'a str>,
    /// Maximum number of runs in a series, counted from the latest.
    pub last: Option<usize>,
}

impl Store {
    /// Returns the projects, sorted by name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn projects(&self) -> Result<Vec<String>, StoreError> {
        self.rows(sql::PROJECTS, values![], |row| row.get(0))
    }

    /// Returns the number of runs of a project. O(its runs).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count(&self, project: &str) -> Result<u64, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(0) };
        let counted = self.first::<i64>(sql::HOW_MANY, values![project])?;
        Ok(counted.map_or(0, i64::unsigned_abs))
    }

    /// Returns up to `most` runs of a project, the latest first. O(runs returned).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn log(&self, project: &str, most: usize) -> Result<Vec<Run>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(Vec::new()) };
        let statement = format!("{}{}", sql::RECORDING, sql::LATEST);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.rows(&statement, values![project, most], run)
    }

    /// Returns the run whose digest begins with `asked`. The word `last` selects the run that was
    /// added last, regardless of the clocks.
    ///
    /// # Errors
    /// If no run or several runs match, or the store cannot be read.
    pub fn find(&self, project: &str, asked: &str) -> Result<Run, StoreError> {
        let none = || StoreError::NoSuchRun { asked: asked.to_owned() };
        let id = self.project(project)?.ok_or_else(none)?;
        if asked == "last" {
            let statement = format!("{}{}", sql::RECORDING, sql::LAST_ADDED);
            return self.rows(&statement, values![id], run)?.pop().ok_or_else(none);
        }
        if asked.is_empty() || !asked.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(none());
        }
        let mut found = self.of_digest(id, &asked.to_lowercase())?;
        match found.len() {
            1 => found.pop().ok_or_else(none),
            0 => Err(none()),
            count => Err(StoreError::Ambiguous { asked: asked.to_owned(), count }),
        }
    }

    fn of_digest(&self, project: i64, beginning: &str) -> Result<Vec<Run>, StoreError> {
        let statement = format!("{}{}", sql::RECORDING, sql::BY_DIGEST);
        self.rows(&statement, values![project, beginning, &format!("{beginning}g")], run)
    }

    pub(crate) fn run_of_digest(&self, project: i64, digest: &str) -> Result<Run, StoreError> {
        let none = || StoreError::NoSuchRun { asked: digest.to_owned() };
        self.of_digest(project, digest)?.pop().ok_or_else(none)
    }

    /// Returns the text of a run's `.assay` file.
    ///
    /// # Errors
    /// If the text is missing or damaged, or the store cannot be read.
    pub fn text(&self, run: &Run) -> Result<Vec<u8>, StoreError> {
        let bad = |problem: String| StoreError::BadSamples { run: run.short().to_owned(), problem };
        let packed = self.rows(sql::SAMPLES, values![run.id], |row| {
            Ok((row.get::<i64>(0)?, row.get::<Vec<u8>>(1)?))
        })?;
        let (bytes, deflated) = packed.first().ok_or_else(|| bad("they are gone".to_owned()))?;
        unpack(deflated, bytes.unsigned_abs()).map_err(bad)
    }

    /// Returns everything stored alongside a run's samples.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn contents(&self, run: &Run) -> Result<Contents, StoreError> {
        let results = self.rows(sql::RESULTS, values![run.id], |row| {
            Ok(RunResult {
                benchmark: benchmark(row, 0)?,
                metric: metric(row, 3)?,
                summary: summary(row, 7)?,
            })
        })?;
        let comparisons = self.rows(sql::COMPARISONS, values![run.id], |row| {
            Ok(Compared {
                subject: row.get(0)?,
                reference: row.get(1)?,
                verdict: row.get(2)?,
                ratio: match row.get(3)? {
                    Some(estimate) => Some(Effect { estimate, interval: interval(row, 4)? }),
                    None => None,
                },
            })
        })?;
        let findings = self.rows(sql::FINDINGS, values![run.id], |row| {
            Ok(Finding {
                code: row.get(0)?,
                severity: severity(&row.get::<String>(1)?),
                message: row.get(2)?,
                subject: None,
                evidence: Vec::new(),
                advice: Vec::new(),
            })
        })?;
        Ok(Contents { results, comparisons, findings })
    }

    /// Returns the current names of a project's benchmarks.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn benchmarks(&self, project: &str) -> Result<Vec<String>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(Vec::new()) };
        self.rows(sql::BENCHMARKS, values![project], |row| row.get(0))
    }

    /// Returns the renamed benchmarks of a project as pairs of the old and the new name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn aliases(&self, project: &str) -> Result<Vec<(String, String)>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(Vec::new()) };
        self.aliases_of(project)
    }

    pub(crate) fn aliases_of(&self, project: i64) -> Result<Vec<(String, String)>, StoreError> {
        self.rows(sql::ALIASES, values![project], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns the fingerprint and the name of the machine that this environment describes. `given`
    /// replaces the host name.
    pub fn machine(environment: &Environment, given: Option<&str>) -> (String, String) {
        machine_of(environment, given)
    }

    /// Returns all series of the benchmarks with this name: one for each metric, machine, set of
    /// parameters and role. The most recently measured one comes first. O(results returned).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn series(
        &self,
        project: &str,
        name: &str,
        wanted: SeriesSelection<'_>,
    ) -> Result<Vec<Series>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(Vec::new()) };
        let benchmarks = self.rows(sql::NAMED, values![project, name], |row| {
            let benchmark = Benchmark {
                name: name.to_owned(),
                parameters: parameters(&row.get::<String>(1)?),
                role: row.get::<i64>(2)?.unsigned_abs() as usize,
            };
            Ok((row.get::<i64>(0)?, benchmark))
        })?;
        let most = wanted.last.map_or(i64::MAX, |last| i64::try_from(last).unwrap_or(i64::MAX));
        let mut found: Vec<(i64, String, Series)> = Vec::new();
        for (id, benchmark) in benchmarks {
            let kinds =
                self.rows(sql::KINDS, values![id, wanted.metric, wanted.machine], |row| {
                    let ids = (row.get::<i64>(0)?, row.get::<i64>(5)?);
                    let names = (row.get::<String>(6)?, row.get::<String>(7)?);
                    Ok((ids, metric(row, 1)?, names, row.get::<i64>(8)?))
                })?;
            for ((of, on), metric, (machine, fingerprint), latest) in kinds {
                let points = self.rows(sql::SERIES, values![id, of, on, most], point)?;
                let same = |(_, print, s): &&mut (i64, String, Series)| {
                    *print == fingerprint && s.metric == metric && s.benchmark == benchmark
                };
                // Benchmarks that share a name through an alias form one series.
                match found.iter_mut().find(same) {
                    Some((last, _, series)) => {
                        *last = latest.max(*last);
                        series.points.extend(points);
                        series.points.sort_by_key(|point| std::cmp::Reverse(point.started));
                        series.points.truncate(wanted.last.unwrap_or(usize::MAX));
                    }
                    None => {
                        let benchmark = benchmark.clone();
                        let series = Series { benchmark, metric, machine, points };
                        found.push((latest, fingerprint, series));
                    }
                }
            }
        }
        found.sort_by_key(|(latest, _, _)| std::cmp::Reverse(*latest));
        Ok(found.into_iter().map(|(_, _, series)| series).collect())
    }

    /// Returns the last run of a benchmark that has vanished, and the number of later runs that
    /// lack it. `None` if the benchmark has not vanished, as defined at [`Self::vanished_among`].
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn vanished(&self, project: &str, name: &str) -> Result<Option<Vanished>, StoreError> {
        let found = self.vanished_among(project, std::slice::from_ref(&name.to_owned()))?;
        Ok(found.into_iter().next().map(|(_, vanished)| vanished))
    }

    /// Returns the benchmarks that have vanished. A benchmark has vanished if it is missing from a
    /// later run on the same machine, and that run contains at least half of the other benchmarks
    /// of its last run. A benchmark that was alone in its last run never counts as missing.
    /// O(results of these benchmarks).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn vanished_among(
        &self,
        project: &str,
        names: &[String],
    ) -> Result<Vec<(String, Vanished)>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(Vec::new()) };
        let (mut suites, mut later_than) = (HashMap::new(), HashMap::new());
        let mut found = Vec::new();
        for name in names {
            let own: Vec<i64> = self.rows(sql::NAMED, values![project, name], |row| row.get(0))?;
            let mut last: Option<(i64, i64)> = None;
            for id in &own {
                let found =
                    self.rows(sql::LAST_OF, values![*id], |row| Ok((row.get(0)?, row.get(1)?)))?;
                last = last.max(found.first().copied());
            }
            let Some((_, last)) = last else { continue };
            // Many benchmarks have the same last run, so the runs after it are queried only once.
            if let Entry::Vacant(unknown) = later_than.entry(last) {
                let later = self.rows(sql::LATER, values![last, LOOKED_AT], |row| row.get(0))?;
                unknown.insert(later);
            }
            let later: &Vec<i64> = &later_than[&last];
            if later.is_empty() {
                continue;
            }
            for recording in later.iter().chain([&last]) {
                if let Entry::Vacant(unknown) = suites.entry(*recording) {
                    let suite = self.rows(sql::SUITE, values![*recording], |row| row.get(0))?;
                    unknown.insert(suite.into_iter().collect::<HashSet<i64>>());
                }
            }
            let of_last: &HashSet<i64> = &suites[&last];
            let others = of_last.iter().filter(|benchmark| !own.contains(benchmark));
            let others: Vec<&i64> = others.collect();
            let lacks = |recording: &&i64| {
                let has = others.iter().filter(|other| suites[recording].contains(**other));
                !others.is_empty() && 2 * has.count() >= others.len()
            };
            let runs = later.iter().filter(lacks).count() as u64;
            if runs > 0 {
                let statement = format!("{}{}", sql::RECORDING, sql::BY_ID);
                let last = self.rows(&statement, values![last], run)?.pop();
                found.extend(last.map(|last| (name.clone(), Vanished { last, runs })));
            }
        }
        Ok(found)
    }
}

pub(crate) fn run(row: &Row<'_>) -> Result<Run, DbError> {
    let argv: String = row.get(5)?;
    Ok(Run {
        id: row.get(0)?,
        digest: row.get(1)?,
        started: row.get(2)?,
        changed: row.get(3)?,
        source: row.get(4)?,
        argv: serde_json::from_str(&argv).unwrap_or_default(),
        tool: row.get(6)?,
        results: row.get::<i64>(7)?.unsigned_abs(),
        verdict: row.get(8)?,
        machine: row.get(9)?,
        fingerprint: row.get(10)?,
        revision: revision(row, 11)?,
        metric: row.get(15)?,
    })
}

fn revision(row: &Row<'_>, at: usize) -> Result<Option<Revision>, DbError> {
    let Some(commit) = row.get(at)? else { return Ok(None) };
    let ordinal: Option<i64> = row.get(at + 2)?;
    let (parent, time) = (row.get(at + 1)?, row.get(at + 3)?);
    Ok(Some(Revision { commit, parent, ordinal: ordinal.map(i64::unsigned_abs), time }))
}

fn point(row: &Row<'_>) -> Result<Point, DbError> {
    let digest: String = row.get(0)?;
    Ok(Point {
        recording: short_digest(&digest).to_owned(),
        started: row.get(1)?,
        revision: revision(row, 2)?,
        result: summary(row, 6)?,
    })
}

pub(crate) fn summary(row: &Row<'_>, at: usize) -> Result<RunSummary, DbError> {
    Ok(RunSummary {
        n: row.get::<i64>(at)?.unsigned_abs(),
        units: row.get::<i64>(at + 1)?.unsigned_abs(),
        centre: row.get(at + 2)?,
        interval: interval(row, at + 3)?,
    })
}

fn interval(row: &Row<'_>, at: usize) -> Result<Option<Interval>, DbError> {
    let ends: (Option<f64>, Option<f64>) = (row.get(at)?, row.get(at + 1)?);
    Ok(ends.0.zip(ends.1).map(|(lower, upper)| Interval { lower, upper }))
}

pub(crate) fn metric(row: &Row<'_>, at: usize) -> Result<Metric, DbError> {
    let better = match row.get::<String>(at + 2)?.as_str() {
        "higher" => Better::Higher,
        _ => Better::Lower,
    };
    let name: String = row.get(at)?;
    let unit = Unit::from(row.get::<String>(at + 1)?);
    let undirected = row.get::<String>(at + 2)? == sql::UNDIRECTED;
    Ok(Metric { better, undirected, exact: row.get(at + 3)?, ..Metric::lower(&name, unit) })
}

pub(crate) fn benchmark(row: &Row<'_>, at: usize) -> Result<Benchmark, DbError> {
    Ok(Benchmark {
        name: row.get(at)?,
        parameters: parameters(&row.get::<String>(at + 1)?),
        role: row.get::<i64>(at + 2)?.unsigned_abs() as usize,
    })
}

fn parameters(text: &str) -> Vec<(String, ParameterValue)> {
    let pairs: Vec<(String, String)> = serde_json::from_str(text).unwrap_or_default();
    pairs.into_iter().map(|(name, value)| (name, ParameterValue::from(value))).collect()
}

fn severity(word: &str) -> Severity {
    let all = [Severity::Note, Severity::Warning, Severity::Serious];
    all.into_iter().find(|severity| severity.word() == word).unwrap_or(Severity::Note)
}
