//! Queries over a whole project, for its web pages: the runs with their results, all benchmarks and
//! metrics, and the states of the machines.

use crate::db::values;
use crate::error::StoreError;
use crate::query::{benchmark, metric, run, summary};
use crate::sql;
use crate::store::Store;
use assay_analysis::history::{Benchmark, Run, RunResult};
use assay_data::Metric;
use std::collections::HashSet;

/// Number that a run recorded about the state of its machine, such as its load.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineState {
    /// Id of the run.
    pub run: i64,
    /// Name of the fact in the run's environment.
    pub name: String,
    /// Value, in the base unit of the fact.
    pub value: f64,
}

impl Store {
    /// Returns a text that changes when runs are added or removed, or benchmarks are renamed or
    /// blessed. O(runs).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn stamp(&self, project: &str) -> Result<String, StoreError> {
        let aliases: Vec<String> = self
            .aliases(project)?
            .into_iter()
            .map(|(old, new)| format!("{old}\n{new}\n"))
            .collect();
        let blessings = format!("{:?}", self.blessings(project)?);
        let Some(id) = self.project(project)? else { return Ok(String::new()) };
        let counted = self.rows(sql::STAMP, values![id], |row| {
            Ok([row.get::<i64>(0)?, row.get(1)?, row.get(2)?])
        })?;
        let runs = counted.first().map_or([0; 3], |counts| *counts);
        let text = format!("{} {} {}\n{}{blessings}", runs[0], runs[1], runs[2], aliases.concat());
        Ok(crate::packed::digest(&text)?[..16].to_owned())
    }

    /// Returns the runs of a project in the order of their addition. A run occurs once for every
    /// revision that it measured, with that revision. O(results).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn measured(&self, project: &str) -> Result<Vec<Run>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(Vec::new()) };
        self.rows(sql::MEASURED, values![project], run)
    }

    /// Returns the commits measured on the machine with this fingerprint. O(results).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn commits(&self, project: &str, fingerprint: &str) -> Result<HashSet<String>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(HashSet::new()) };
        let found = self.rows(sql::COMMITS, values![project, fingerprint], |row| row.get(0))?;
        Ok(found.into_iter().collect())
    }

    /// Returns the results that a run from [`Self::measured`] has for its revision. O(results of
    /// the run).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn contents_of(&self, measured: &Run) -> Result<Vec<RunResult>, StoreError> {
        let commit = measured.revision.as_ref().map(|revision| revision.commit.as_str());
        let results = self.rows(sql::RESULTS_OF, values![measured.id], |row| {
            let (benchmark, metric) = (benchmark(row, 0)?, metric(row, 3)?);
            let result = RunResult { benchmark, metric, summary: summary(row, 7)? };
            Ok((row.get::<Option<String>>(12)?, result))
        })?;
        let own = results.into_iter().filter(|(of, _)| of.as_deref() == commit);
        Ok(own.map(|(_, result)| result).collect())
    }

    /// Returns all metrics, in the order in which they were first stored.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn metrics(&self) -> Result<Vec<Metric>, StoreError> {
        self.rows(sql::METRICS, values![], |row| metric(row, 0))
    }

    /// Returns all benchmarks of a project by their current names, with parameters and roles.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn catalogue(&self, project: &str) -> Result<Vec<Benchmark>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(Vec::new()) };
        self.rows(sql::CATALOGUE, values![project], |row| benchmark(row, 0))
    }

    /// Returns the recorded states of the machines of a project's runs.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn machine_states(&self, project: &str) -> Result<Vec<MachineState>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(Vec::new()) };
        self.rows(sql::MACHINE_STATES, values![project], |row| {
            Ok(MachineState { run: row.get(0)?, name: row.get(1)?, value: row.get(2)? })
        })
    }
}
