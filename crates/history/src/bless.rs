//! Stores, lists and withdraws levels that a user accepted as normal ("blessings").

use crate::db::values;
use crate::error::StoreError;
use crate::sql;
use crate::store::Store;
use assay_analysis::history::Blessing;

impl Store {
    /// Stores that a level is accepted. If the run was blessed before for the same benchmark, the
    /// new reason and time replace the old ones.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn bless(&mut self, project: &str, blessing: &Blessing) -> Result<(), StoreError> {
        let project = self.project_or_new(project)?;
        let Blessing { benchmark, run, started, blessed, reason } = blessing;
        let benchmark = benchmark.as_deref().unwrap_or_default();
        let values = values![project, benchmark, *started, run, *blessed, reason];
        self.execute(sql::BLESS, values).map(|_| ())
    }

    /// Returns the accepted levels of a project, the latest run first, with the current names of
    /// benchmarks.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn blessings(&self, project: &str) -> Result<Vec<Blessing>, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(Vec::new()) };
        self.rows(sql::BLESSINGS, values![project], |row| {
            Ok(Blessing {
                benchmark: Some(row.get(0)?).filter(|name: &String| !name.is_empty()),
                run: row.get(1)?,
                started: row.get(2)?,
                blessed: row.get(3)?,
                reason: row.get(4)?,
            })
        })
    }

    /// Withdraws the blessing that was given at a run to one benchmark or, if `benchmark` is
    /// `None`, to all benchmarks together. Returns the number of blessings withdrawn.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn take_back(
        &mut self,
        project: &str,
        run: &str,
        benchmark: Option<&str>,
    ) -> Result<u64, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(0) };
        self.execute(sql::TAKE_BACK, values![project, run, benchmark.unwrap_or_default()])
    }
}
