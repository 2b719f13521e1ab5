//! Operations that change a store: adding and removing runs, and renaming benchmarks.

use crate::db::{Db, DbError, Value, values};
use crate::error::StoreError;
use crate::packed::{digest_of_packed, fingerprint, pack};
use crate::sql;
use crate::store::Store;
use assay_analysis::history::{
    Benchmark, Revision, Run, Summarised, fingerprint_facts, machine_name, machine_state,
    of_samples,
};
use assay_analysis::{Analysis, Options, analyse};
use assay_data::{Better, Finding, Metric, Samples, assay_file};
use std::collections::HashMap;
use std::rc::Rc;

/// A run to be added to a store.
#[derive(Clone, Debug)]
pub struct NewRun<'a> {
    /// Name of the project to which the run belongs.
    pub project: &'a str,
    /// Measurements of the run.
    pub samples: &'a Samples,
    /// Name of the machine, if its host name is meaningless.
    pub machine: Option<&'a str>,
    /// Revision that was measured.
    pub revision: Option<Revision>,
    /// Revisions of sides that were measured at a revision of their own. Each entry is the value of
    /// a fact `git_commit@SIDE` with the revision it names.
    pub of_sides: Vec<(String, Revision)>,
    /// True if the working tree had uncommitted changes.
    pub changed: bool,
    /// Time of the measurement, in ms since 1970.
    pub started: i64,
    /// Time at which the run is added, in ms since 1970.
    pub added: i64,
    /// Name of the file that the run was read from, for display.
    pub source: &'a str,
}

/// Outcome of adding a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Added {
    /// The run was added.
    New(Run),
    /// The run was already in the store.
    Known(Run),
}

impl Added {
    /// Returns the run, whether it was added now or before.
    pub fn run(&self) -> &Run {
        match self {
            Self::New(run) | Self::Known(run) => run,
        }
    }
}

impl Store {
    /// Adds a run with everything that belongs to it, or nothing at all. Takes O(n log N) time for
    /// a run of size n in a store of size N.
    ///
    /// # Errors
    /// If the run contains no result, or the store cannot be written.
    pub fn add(&mut self, new: &NewRun<'_>) -> Result<Added, StoreError> {
        let samples = new.samples;
        // The text is compressed while it is written, because the text of a large suite may not fit
        // into memory.
        let (bytes, deflated) = pack(|sink| assay_file::write_without_sources(samples, sink))?;
        let commit = new.revision.as_ref().map(|r| r.commit.as_str());
        let digest = digest_of_packed(&deflated, bytes, commit)?;
        let project = self.project(new.project)?;
        if let Some(project) = project
            && let Some(known) = self.known(project, &digest)?
        {
            return Ok(Added::Known(known));
        }
        // Benchmarks of a single side are not compared with each other.
        let alone = samples.sides.len() < 2;
        let analysis = analyse(samples, &Options { alone, ..Options::default() }).ok();
        let found = analysis.map(|analysis| StoredAnalysis {
            primary: analysis.primary,
            findings: analysis.findings.clone(),
            compared: Some(analysis).filter(|_| !alone),
        });
        let summaries = of_samples(samples);
        if summaries.is_empty() {
            return Err(StoreError::Nothing);
        }
        let parts = Parts {
            new,
            digest: &digest,
            bytes,
            deflated: &deflated,
            summaries: &summaries,
            found: found.as_ref(),
        };
        let written = self.transact(|transaction| parts.write(transaction))?;
        let run = self.known(written.project, &digest)?;
        let run = run.ok_or(StoreError::NoSuchRun { asked: digest })?;
        // Another program may have added the run since it was looked up above.
        Ok(if written.is_new { Added::New(run) } else { Added::Known(run) })
    }

    fn known(&self, project: i64, digest: &str) -> Result<Option<Run>, StoreError> {
        let found: Option<i64> = self.first(sql::KNOWN_RECORDING, values![project, digest])?;
        found.map(|_| self.run_of_digest(project, digest)).transpose()
    }

    /// Removes a run. Its benchmarks, revision and machine are kept, since other runs may refer to
    /// them.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn remove(&mut self, run: &Run) -> Result<(), StoreError> {
        self.execute(sql::REMOVE_RECORDING, values![run.id]).map(|_| ())
    }

    /// Renames a benchmark in all existing and future runs.
    ///
    /// # Errors
    /// If the new name is an alias of the old one, or the store cannot be written.
    pub fn set_alias(&mut self, project: &str, old: &str, new: &str) -> Result<(), StoreError> {
        let project = self.project_or_new(project)?;
        let aliases: HashMap<String, String> = self.aliases_of(project)?.into_iter().collect();
        let new = aliases.get(new).map_or(new, String::as_str);
        if new == old {
            return Err(StoreError::Circle { old: old.to_owned(), new: new.to_owned() });
        }
        self.transact(|db| {
            db.execute(sql::MOVE_ALIASES, values![project, old, new])?;
            db.execute(sql::SET_ALIAS, values![project, old, new]).map(|_| ())
        })
    }

    /// Restores the original name of a benchmark. Returns false if it was not renamed.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn remove_alias(&mut self, project: &str, old: &str) -> Result<bool, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(false) };
        Ok(self.execute(sql::REMOVE_ALIAS, values![project, old])? > 0)
    }

    pub(crate) fn project_or_new(&self, name: &str) -> Result<i64, StoreError> {
        self.transact(|db| id_of(db, sql::PROJECT, sql::ADD_PROJECT, values![name]))
    }
}

/// Parts of an analysis that are stored.
struct StoredAnalysis {
    primary: usize,
    findings: Vec<Finding>,
    /// The whole analysis, if sides were compared.
    compared: Option<Analysis>,
}

/// Data to be written for a run.
struct Parts<'a> {
    new: &'a NewRun<'a>,
    digest: &'a str,
    bytes: u64,
    deflated: &'a [u8],
    summaries: &'a [Summarised],
    found: Option<&'a StoredAnalysis>,
}

struct Written {
    project: i64,
    is_new: bool,
}

impl Parts<'_> {
    fn write(&self, db: &Db) -> Result<Written, DbError> {
        let new = self.new;
        let project = id_of(db, sql::PROJECT, sql::ADD_PROJECT, values![new.project])?;
        if db.first::<i64>(sql::KNOWN_RECORDING, values![project, self.digest])?.is_some() {
            return Ok(Written { project, is_new: false });
        }
        let machine = machine(db, new)?;
        let revision = new.revision.as_ref().map(|r| revision(db, project, r)).transpose()?;
        let metrics = new.samples.metrics.iter().map(|metric| metric_of(db, metric));
        let metrics: Vec<i64> = metrics.collect::<Result<_, DbError>>()?;
        let primary = self.found.map_or(0, |found| found.primary);
        let primary = Some(primary).filter(|p| self.summaries.iter().any(|s| s.metric == *p));
        let primary = primary.or(self.summaries.first().map(|s| s.metric));
        let worst = self.compared().and_then(Analysis::worst);
        let argv = serde_json::Value::from(new.samples.argv.clone()).to_string();
        let about = values![
            project,
            machine,
            revision,
            self.digest,
            new.started,
            new.added,
            new.changed,
            new.source,
            &argv,
            new.samples.tool.as_deref(),
            self.summaries.len() as i64,
            primary.map(|primary| metrics[primary]),
            worst.map(|verdict| verdict.word()),
        ];
        let recording = added(db, sql::ADD_RECORDING, about)?;
        db.execute(sql::ADD_SAMPLES, values![recording, self.bytes as i64, self.deflated])?;
        self.results(db, Ids { project, machine, revision, recording }, &metrics)?;
        self.verdicts(db, recording, &metrics)?;
        self.findings(db, recording)?;
        self.state(db, recording)?;
        Ok(Written { project, is_new: true })
    }

    fn compared(&self) -> Option<&Analysis> {
        self.found?.compared.as_ref()
    }

    fn results(&self, db: &Db, ids: Ids, metrics: &[i64]) -> Result<(), DbError> {
        // The results of a benchmark are consecutive, so its id is looked up only once.
        let mut last: Option<(&Rc<Benchmark>, i64)> = None;
        for (place, of) in self.summaries.iter().enumerate() {
            let benchmark = match last {
                Some((own, id)) if Rc::ptr_eq(own, &of.benchmark) => id,
                _ => benchmark(db, ids.project, &of.benchmark)?,
            };
            last = Some((&of.benchmark, benchmark));
            let known = |commit: &String| self.new.of_sides.iter().find(|(said, _)| said == commit);
            let bare = |commit: &String| Revision { commit: commit.clone(), ..Revision::default() };
            let own = of
                .commit
                .as_ref()
                .map(|c| known(c).map_or_else(|| bare(c), |(_, own)| own.clone()));
            let own = own.map(|own| revision(db, ids.project, &own)).transpose()?;
            let result = &of.result;
            let row = values![
                benchmark,
                metrics[of.metric],
                ids.machine,
                self.new.started,
                ids.recording,
                place as i64,
                own.or(ids.revision),
                result.n as i64,
                result.units as i64,
                result.centre,
                result.interval.map(|interval| interval.lower),
                result.interval.map(|interval| interval.upper),
            ];
            db.execute(sql::ADD_RESULT, row)?;
        }
        Ok(())
    }

    fn verdicts(&self, db: &Db, recording: i64, metrics: &[i64]) -> Result<(), DbError> {
        let Some(analysis) = self.compared() else { return Ok(()) };
        for (place, c) in analysis.comparisons.iter().enumerate() {
            let ends = c.ratio.and_then(|ratio| ratio.interval);
            let row = values![
                recording,
                place as i64,
                &analysis.subjects[c.of].name,
                &analysis.subjects[c.against].name,
                metrics[c.metric],
                c.decision.verdict.word(),
                c.ratio.map(|ratio| ratio.estimate),
                ends.map(|ends| ends.lower),
                ends.map(|ends| ends.upper),
            ];
            db.execute(sql::ADD_COMPARISON, row)?;
        }
        Ok(())
    }

    fn findings(&self, db: &Db, recording: i64) -> Result<(), DbError> {
        let findings = self.found.map_or(&self.new.samples.findings, |found| &found.findings);
        for (place, finding) in findings.iter().enumerate() {
            let (code, severity) = (&finding.code, finding.severity.word());
            let row = values![recording, place as i64, code, severity, &finding.message];
            db.execute(sql::ADD_FINDING, row)?;
        }
        Ok(())
    }

    fn state(&self, db: &Db, recording: i64) -> Result<(), DbError> {
        for (name, value) in machine_state(&self.new.samples.environment) {
            db.execute(sql::ADD_STATE, values![recording, name, value])?;
        }
        Ok(())
    }
}

/// Row ids that a result refers to.
#[derive(Clone, Copy)]
struct Ids {
    project: i64,
    machine: i64,
    revision: Option<i64>,
    recording: i64,
}

/// Returns the id of a row, which is inserted first if it does not exist.
fn id_of(db: &Db, select: &str, insert: &str, values: &[Value<'_>]) -> Result<i64, DbError> {
    match db.first(select, values)? {
        Some(id) => Ok(id),
        None => added(db, insert, values),
    }
}

/// Inserts a row and returns its id. The statement must end with `RETURNING id`.
fn added(db: &Db, insert: &str, values: &[Value<'_>]) -> Result<i64, DbError> {
    let id = db.first(insert, values)?;
    id.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
}

fn machine(db: &Db, new: &NewRun<'_>) -> Result<i64, DbError> {
    let (fingerprint, name) = machine_of(&new.samples.environment, new.machine);
    match db.first(sql::MACHINE, values![&fingerprint])? {
        Some(id) => Ok(id),
        None => added(db, sql::ADD_MACHINE, values![&fingerprint, &name]),
    }
}

/// Returns the fingerprint and the name of a machine. If `given` is set, it replaces the host name.
pub(crate) fn machine_of(
    environment: &assay_data::Environment,
    given: Option<&str>,
) -> (String, String) {
    let mut facts = fingerprint_facts(environment);
    if let Some(given) = given {
        facts.retain(|(name, _)| *name != "hostname");
        facts.insert(0, ("hostname", given.to_owned()));
    }
    let name = given.or(machine_name(environment)).unwrap_or("unknown");
    (fingerprint(&facts), name.to_owned())
}

fn revision(db: &Db, project: i64, revision: &Revision) -> Result<i64, DbError> {
    let Revision { commit, parent, ordinal, time } = revision;
    let (parent, time) = (parent.as_deref(), *time);
    let ordinal = ordinal.and_then(|ordinal| i64::try_from(ordinal).ok());
    let found = db.rows(sql::REVISION, values![project, commit], |row| {
        Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?))
    })?;
    match found.first() {
        Some(&(id, None)) if ordinal.is_some() => {
            db.execute(sql::PLACE_REVISION, values![id, parent, ordinal, time])?;
            Ok(id)
        }
        Some(&(id, _)) => Ok(id),
        None => added(db, sql::ADD_REVISION, values![project, commit, parent, ordinal, time]),
    }
}

fn metric_of(db: &Db, metric: &Metric) -> Result<i64, DbError> {
    let better = match metric.better {
        _ if metric.undirected => sql::UNDIRECTED,
        Better::Lower => "lower",
        Better::Higher => "higher",
    };
    let values = values![&metric.name, metric.unit.symbol(), better, metric.exact];
    id_of(db, sql::METRIC, sql::ADD_METRIC, values)
}

fn benchmark(db: &Db, project: i64, of: &Benchmark) -> Result<i64, DbError> {
    let pairs = of.parameters.iter().map(|(name, value)| [name.as_str(), value.as_str()]);
    let parameters = serde_json::Value::from_iter(pairs.map(|pair| pair.to_vec())).to_string();
    let values = values![project, &of.name, &parameters, of.role as i64];
    id_of(db, sql::BENCHMARK, sql::ADD_BENCHMARK, values)
}
