//! Adding a run, taking one away, and calling benchmarks by another name: all that changes a store.

use crate::error::StoreError;
use crate::packed::{digest, fingerprint, pack};
use crate::sql;
use crate::store::Store;
use assay_analysis::history::{
    Benchmark, Revision, Run, Summarised, fingerprint_facts, machine_name, machine_state,
    of_samples,
};
use assay_analysis::{Analysis, Options, analyse};
use assay_data::{Better, Metric, Samples, assay_file};
use rusqlite::{OptionalExtension, Transaction, params};
use std::collections::HashMap;

/// A run that is to be kept.
#[derive(Clone, Debug)]
pub struct NewRun<'a> {
    /// The project that it belongs to.
    pub project: &'a str,
    /// What was measured.
    pub samples: &'a Samples,
    /// What the machine is called, where its host name means nothing.
    pub machine: Option<&'a str>,
    /// The revision that was measured.
    pub revision: Option<Revision>,
    /// The revisions of sides that have their own, by the facts `git_commit@SIDE`.
    pub of_sides: Vec<Revision>,
    /// Whether the tree had changes that are in no commit.
    pub changed: bool,
    /// When it was measured, ms since 1970.
    pub started: i64,
    /// When it is added, ms since 1970.
    pub added: i64,
    /// The file that it was read from, for people.
    pub source: &'a str,
}

/// What came of adding a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Added {
    /// It is kept now.
    New(Run),
    /// It was there before.
    Known(Run),
}

impl Added {
    /// The run, whichever way.
    pub fn run(&self) -> &Run {
        match self {
            Self::New(run) | Self::Known(run) => run,
        }
    }
}

impl Store {
    /// Keeps a run, with all that belongs to it, or nothing of it. O(its size · log).
    ///
    /// # Errors
    /// When it holds no result, or the store can't be written.
    pub fn add(&mut self, new: &NewRun<'_>) -> Result<Added, StoreError> {
        let mut samples = new.samples.clone();
        // The same numbers from another directory are the same run.
        samples.sides.iter_mut().for_each(|side| side.source = None);
        let mut text = Vec::new();
        assay_file::write(&samples, &mut text)?;
        let digest = digest(&text, new.revision.as_ref().map(|r| r.commit.as_str()));
        let project = self.project(new.project)?;
        if let Some(project) = project
            && let Some(known) = self.known(project, &digest)?
        {
            return Ok(Added::Known(known));
        }
        let summaries = of_samples(&samples);
        if summaries.is_empty() {
            return Err(StoreError::Nothing);
        }
        // Benchmarks of one side are no rivals.
        let analysis = analyse(&samples, &Options::default()).ok();
        let compares = samples.sides.len() > 1;
        let deflated = pack(&text)?;
        let parts = Parts {
            new,
            digest: &digest,
            bytes: text.len(),
            deflated: &deflated,
            summaries: &summaries,
            analysis: analysis.as_ref(),
            compares,
        };
        let written = self.transact(|transaction| parts.write(transaction))?;
        let run = self.known(written.project, &digest)?;
        let run = run.ok_or(StoreError::NoSuchRun { asked: digest })?;
        // Another program may have been quicker.
        Ok(if written.is_new { Added::New(run) } else { Added::Known(run) })
    }

    fn known(&self, project: i64, digest: &str) -> Result<Option<Run>, StoreError> {
        let found = self.db.prepare_cached(sql::KNOWN_RECORDING).and_then(|mut statement| {
            statement.query_row(params![project, digest], |row| row.get(0)).optional()
        });
        let found: Option<i64> = found.map_err(|error| self.failed(error))?;
        found.map(|_| self.run_of_digest(project, digest)).transpose()
    }

    /// Takes a run away. Its benchmarks, revision and machine stay, for others.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove(&mut self, run: &Run) -> Result<(), StoreError> {
        let removed = self.db.execute(sql::REMOVE_RECORDING, params![run.id]);
        removed.map(|_| ()).map_err(|error| self.failed(error))
    }

    /// Calls a benchmark by a new name, in all that was recorded and in all that will be.
    ///
    /// # Errors
    /// When the new name is an alias of the old one, or the store can't be written.
    pub fn set_alias(&mut self, project: &str, old: &str, new: &str) -> Result<(), StoreError> {
        let project = self.project_or_new(project)?;
        let aliases: HashMap<String, String> = self.aliases_of(project)?.into_iter().collect();
        let new = aliases.get(new).map_or(new, String::as_str);
        if new == old {
            return Err(StoreError::Circle { old: old.to_owned(), new: new.to_owned() });
        }
        self.transact(|transaction| {
            transaction.execute(sql::MOVE_ALIASES, params![project, old, new])?;
            transaction.execute(sql::SET_ALIAS, params![project, old, new])?;
            Ok(())
        })
    }

    /// Calls a benchmark by its own name again; false where it had no other.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove_alias(&mut self, project: &str, old: &str) -> Result<bool, StoreError> {
        let Some(project) = self.project(project)? else { return Ok(false) };
        let removed = self.db.execute(sql::REMOVE_ALIAS, params![project, old]);
        removed.map(|rows| rows > 0).map_err(|error| self.failed(error))
    }

    fn project_or_new(&self, name: &str) -> Result<i64, StoreError> {
        if let Some(project) = self.project(name)? {
            return Ok(project);
        }
        let added = self.db.execute(sql::ADD_PROJECT, params![name]);
        added.map_err(|error| self.failed(error))?;
        Ok(self.db.last_insert_rowid())
    }
}

/// All that is written of a run.
struct Parts<'a> {
    new: &'a NewRun<'a>,
    digest: &'a str,
    bytes: usize,
    deflated: &'a [u8],
    summaries: &'a [Summarised],
    analysis: Option<&'a Analysis>,
    /// Whether sides were compared.
    compares: bool,
}

struct Written {
    project: i64,
    is_new: bool,
}

impl Parts<'_> {
    fn write(&self, db: &Transaction<'_>) -> rusqlite::Result<Written> {
        let new = self.new;
        let project = id_of(db, sql::PROJECT, sql::ADD_PROJECT, params![new.project])?;
        let mut known = db.prepare_cached(sql::KNOWN_RECORDING)?;
        if known.exists(params![project, self.digest])? {
            return Ok(Written { project, is_new: false });
        }
        let machine = machine(db, new)?;
        let revision = new.revision.as_ref().map(|r| revision(db, project, r)).transpose()?;
        let metrics = new.samples.metrics.iter().map(|metric| metric_of(db, metric));
        let metrics: Vec<i64> = metrics.collect::<rusqlite::Result<_>>()?;
        let primary = self.analysis.map_or(0, |analysis| analysis.primary);
        let primary = Some(primary).filter(|p| self.summaries.iter().any(|s| s.metric == *p));
        let primary = primary.or(self.summaries.first().map(|s| s.metric));
        let worst = self.compared().and_then(Analysis::worst);
        let argv = serde_json::Value::from(new.samples.argv.clone()).to_string();
        db.prepare_cached(sql::ADD_RECORDING)?.execute(params![
            project,
            machine,
            revision,
            self.digest,
            new.started,
            new.added,
            new.changed,
            new.source,
            argv,
            new.samples.tool,
            self.summaries.len() as i64,
            primary.map(|primary| metrics[primary]),
            worst.map(|verdict| verdict.word()),
        ])?;
        let recording = db.last_insert_rowid();
        db.prepare_cached(sql::ADD_SAMPLES)?.execute(params![
            recording,
            self.bytes as i64,
            self.deflated
        ])?;
        self.results(db, Ids { project, machine, revision, recording }, &metrics)?;
        self.verdicts(db, recording, &metrics)?;
        self.findings(db, recording)?;
        self.state(db, recording)?;
        Ok(Written { project, is_new: true })
    }

    fn compared(&self) -> Option<&Analysis> {
        self.analysis.filter(|_| self.compares)
    }

    fn results(&self, db: &Transaction<'_>, ids: Ids, metrics: &[i64]) -> rusqlite::Result<()> {
        let mut statement = db.prepare_cached(sql::ADD_RESULT)?;
        for (place, of) in self.summaries.iter().enumerate() {
            let known = |commit: &String| self.new.of_sides.iter().find(|r| r.commit == *commit);
            let bare = |commit: &String| Revision { commit: commit.clone(), ..Revision::default() };
            let own = of.commit.as_ref().map(|c| known(c).cloned().unwrap_or_else(|| bare(c)));
            let own = own.map(|own| revision(db, ids.project, &own)).transpose()?;
            let result = &of.result;
            statement.execute(params![
                benchmark(db, ids.project, &of.benchmark)?,
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
            ])?;
        }
        Ok(())
    }

    fn verdicts(
        &self,
        db: &Transaction<'_>,
        recording: i64,
        metrics: &[i64],
    ) -> rusqlite::Result<()> {
        let Some(analysis) = self.compared() else { return Ok(()) };
        let mut statement = db.prepare_cached(sql::ADD_COMPARISON)?;
        for (place, c) in analysis.comparisons.iter().enumerate() {
            let ends = c.ratio.and_then(|ratio| ratio.interval);
            statement.execute(params![
                recording,
                place as i64,
                analysis.subjects[c.of].name,
                analysis.subjects[c.against].name,
                metrics[c.metric],
                c.decision.verdict.word(),
                c.ratio.map(|ratio| ratio.estimate),
                ends.map(|ends| ends.lower),
                ends.map(|ends| ends.upper),
            ])?;
        }
        Ok(())
    }

    fn findings(&self, db: &Transaction<'_>, recording: i64) -> rusqlite::Result<()> {
        let findings = self.analysis.map_or(&self.new.samples.findings, |a| &a.findings);
        let mut statement = db.prepare_cached(sql::ADD_FINDING)?;
        for (place, finding) in findings.iter().enumerate() {
            let (code, severity) = (&finding.code, finding.severity.word());
            statement.execute(params![recording, place as i64, code, severity, finding.message])?;
        }
        Ok(())
    }

    fn state(&self, db: &Transaction<'_>, recording: i64) -> rusqlite::Result<()> {
        let mut statement = db.prepare_cached(sql::ADD_STATE)?;
        for (name, value) in machine_state(&self.new.samples.environment) {
            statement.execute(params![recording, name, value])?;
        }
        Ok(())
    }
}

/// Numbers of what a result belongs to.
#[derive(Clone, Copy)]
struct Ids {
    project: i64,
    machine: i64,
    revision: Option<i64>,
    recording: i64,
}

/// The number of a row, which is added if it is new.
fn id_of(
    db: &Transaction<'_>,
    select: &str,
    insert: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<i64> {
    let found = db.prepare_cached(select)?.query_row(values, |row| row.get(0)).optional()?;
    if let Some(id) = found {
        return Ok(id);
    }
    db.prepare_cached(insert)?.execute(values)?;
    Ok(db.last_insert_rowid())
}

fn machine(db: &Transaction<'_>, new: &NewRun<'_>) -> rusqlite::Result<i64> {
    let environment = &new.samples.environment;
    let (fingerprint, name) = machine_of(environment, new.machine);
    let mut find = db.prepare_cached(sql::MACHINE)?;
    if let Some(id) = find.query_row(params![fingerprint], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    db.prepare_cached(sql::ADD_MACHINE)?.execute(params![fingerprint, name])?;
    Ok(db.last_insert_rowid())
}

/// A machine's fingerprint and its name. A name that is given stands for the host name.
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

fn revision(db: &Transaction<'_>, project: i64, revision: &Revision) -> rusqlite::Result<i64> {
    let Revision { commit, parent, ordinal, time } = revision;
    let ordinal = ordinal.and_then(|ordinal| i64::try_from(ordinal).ok());
    let mut find = db.prepare_cached(sql::REVISION)?;
    let found = find
        .query_row(params![project, commit], |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?)))
        .optional()?;
    match found {
        Some((id, None)) if ordinal.is_some() => {
            db.prepare_cached(sql::PLACE_REVISION)?.execute(params![id, parent, ordinal, time])?;
            Ok(id)
        }
        Some((id, _)) => Ok(id),
        None => {
            db.prepare_cached(sql::ADD_REVISION)?
                .execute(params![project, commit, parent, ordinal, time])?;
            Ok(db.last_insert_rowid())
        }
    }
}

fn metric_of(db: &Transaction<'_>, metric: &Metric) -> rusqlite::Result<i64> {
    let better = match metric.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    };
    let values = params![metric.name, metric.unit.symbol(), better, metric.exact];
    id_of(db, sql::METRIC, sql::ADD_METRIC, values)
}

fn benchmark(db: &Transaction<'_>, project: i64, of: &Benchmark) -> rusqlite::Result<i64> {
    let pairs = of.parameters.iter().map(|(name, value)| [name.as_str(), value.as_str()]);
    let parameters = serde_json::Value::from_iter(pairs.map(|pair| pair.to_vec())).to_string();
    let values = params![project, of.name, parameters, of.role as i64];
    id_of(db, sql::BENCHMARK, sql::ADD_BENCHMARK, values)
}
