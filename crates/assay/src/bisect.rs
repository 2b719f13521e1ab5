//! Commits as a source: each place is a commit, built when it is first needed, and each turn is one
//! run of its program.
//!
//! The program is a command, or one benchmark of a harness. A commit that does not build or whose
//! program fails is skipped, except for the good and the bad commit. This module computes no
//! statistics and does not choose what is measured.

use crate::bench::{Asker, Question, Ran, Side, driver_of};
use crate::meter;
use crate::output;
use crate::progress::Line;
use crate::revisions::{NO_BUILD, found, staged};
use crate::run_error::RunError;
use assay_data::code;
use assay_data::list;
use assay_data::samples::ITERATIONS;
use assay_data::source::{
    Failure, Layout, Measured, Obstacle, OfRow, RowResult, Source, Turn, Unit,
};
use assay_data::{Action, Finding, Metric, Samples, Subject};
use assay_harness::{Driver, Effort, Reading, Request};
use assay_measure::Command;
use assay_measure::MeasureError;
use assay_measure::git::CommitSummary;
use assay_measure::revisions::{Built, Repository, Revision, RevisionError, Stage};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Number of hex digits of a commit's name in the name of its side.
const DIGITS: usize = 12;

/// What to measure for every commit.
pub(crate) enum What {
    /// The whole command.
    Command,
    /// One benchmark of a program.
    Benchmark {
        /// The benchmark's name.
        name: String,
        /// The harness, if the user names it.
        harness: Option<String>,
        /// Measuring time of one process, in seconds.
        seconds: f64,
        /// Fixed number of iterations of every run, once known.
        iterations: Option<u64>,
    },
}

/// The question to put to a commit's program, and the harness if a benchmark is measured.
type CommitQuestion = (Question, Option<Box<dyn Driver>>);

/// A commit that can be measured.
struct Ready {
    question: Question,
    /// The harness, if a benchmark is measured.
    driver: Option<Box<dyn Driver>>,
    /// Keeps the tree from being removed.
    _built: Built,
}

/// Why a commit cannot be measured.
enum Unusable {
    /// The commit does not build, or does not produce a program of the requested kind.
    Build(String),
    /// The program of the commit fails.
    Run(String),
}

impl Unusable {
    fn why(self) -> String {
        match self {
            Self::Build(why) | Self::Run(why) => why,
        }
    }
}

/// The commits of a search.
pub(crate) struct Commits {
    /// The commits, from the good one (first) to the bad one (last).
    pub commits: Vec<CommitSummary>,
    /// Commits that cannot be measured, by index in `commits`, with the reason.
    pub skipped: BTreeMap<usize, String>,
    /// What to measure for each commit.
    pub what: What,
    repository: Repository,
    line: String,
    command: Command,
    asker: Asker,
    progress: Rc<Line>,
    ready: BTreeMap<usize, Ready>,
    metrics: Vec<Metric>,
    /// Counters of the benchmark that are totals over its iterations.
    totals: BTreeSet<String>,
}

/// How to build and run commits.
pub(crate) struct How {
    /// The shell line that builds a commit.
    pub line: String,
    /// The command to run in the tree of each commit.
    pub command: Command,
    /// What to measure about the command.
    pub what: What,
}

impl Commits {
    /// Creates a search over the commits of a repository; none of them is built yet.
    pub fn new(
        repository: Repository,
        commits: Vec<CommitSummary>,
        how: How,
        asker: Asker,
        progress: Rc<Line>,
    ) -> Self {
        let How { line, command, what } = how;
        let metrics = match what {
            What::Command => meter::of_every_run(),
            What::Benchmark { .. } => Vec::new(),
        };
        Self {
            commits,
            skipped: BTreeMap::new(),
            what,
            repository,
            line,
            command,
            asker,
            progress,
            ready: BTreeMap::new(),
            metrics,
            totals: BTreeSet::new(),
        }
    }

    /// Builds the good and the bad commit and runs each once, unmeasured. The inner error contains
    /// a message, and true if a run failed rather than the build.
    ///
    /// # Errors
    ///
    /// Fails if nothing can be built or run at all, or if the user interrupts.
    pub fn ready_ends(&mut self) -> Result<Result<(), (String, bool)>, RunError> {
        for place in [0, self.commits.len() - 1] {
            if let Some(unusable) = self.prepare(place)? {
                let failed = matches!(unusable, Unusable::Run(_));
                let name = self.name(place);
                return Ok(Err((format!("{name} can't be measured: {}", unusable.why()), failed)));
            }
        }
        Ok(Ok(()))
    }

    /// Returns the name of a commit's side: the beginning of its hash.
    fn name(&self, place: usize) -> String {
        let commit = &self.commits[place].commit;
        commit.get(..DIGITS).unwrap_or(commit).to_owned()
    }

    /// Builds a commit and runs it once, unless that was done before.
    fn prepare(&mut self, place: usize) -> Result<Option<Unusable>, RunError> {
        if self.ready.contains_key(&place) {
            return Ok(None);
        }
        let name = self.name(place);
        let commit = Some(self.commits[place].commit.clone());
        let revision = Revision { written: name.clone(), commit, is_working_tree: false };
        let progress = Rc::clone(&self.progress);
        let built = self.repository.ready(&revision, &self.line, None, &mut |stage| {
            // During a search, neither an existing tree nor a skipped build is worth a message.
            if !matches!(stage, Stage::Kept) && self.line != NO_BUILD {
                progress.say(&staged(&name, stage, None));
            }
        });
        let built = match built {
            Ok(built) => built,
            Err(RevisionError::Interrupted) => {
                return Err(RunError::Interrupted("while a commit was being built".to_owned()));
            }
            Err(RevisionError::Build { line, how, log, .. }) => {
                let why = format!("the build line `{line}` {how} ({})", log.display());
                return Ok(Some(Unusable::Build(why)));
            }
            Err(error @ RevisionError::Git { .. }) => {
                return Ok(Some(Unusable::Build(error.to_string())));
            }
            Err(RevisionError::Measure(error)) => return Err(error.into()),
            Err(error) => return Err(RunError::Reading(error.to_string())),
        };
        let command = match found(&self.command, &built, &revision) {
            Ok(command) => command,
            Err(error) => return Ok(Some(Unusable::Build(output::told(&error)))),
        };
        let side = Side { name, command, versus: None, libraries: Vec::new(), builds: Vec::new() };
        let (question, driver) = match self.question(&side)? {
            Ok(asked) => asked,
            Err(unusable) => return Ok(Some(unusable)),
        };
        // The first run of a program pays for loading it into memory.
        let tried = self.put(&question, 0)?;
        if let Err(why) = self.values(driver.as_deref(), &tried) {
            return Ok(Some(Unusable::Run(why)));
        }
        self.ready.insert(place, Ready { question, driver, _built: built });
        Ok(None)
    }

    /// Returns the question to put to a commit's program, or the reason why there is none.
    fn question(&mut self, side: &Side) -> Result<Result<CommitQuestion, Unusable>, RunError> {
        let told = |error: anyhow::Error| RunError::Reading(output::told(&error));
        let scratch = self.asker.directory().map_err(told)?;
        let What::Benchmark { name, harness, seconds, iterations } = &self.what else {
            let question = self.asker.prepare(side, &Request::default(), &scratch)?;
            return Ok(Ok((question, None)));
        };
        let driver = match driver_of(side, harness.as_deref(), &mut self.asker) {
            Ok(driver) => driver,
            Err(error) => return Ok(Err(Unusable::Build(output::told(&error)))),
        };
        let effort = iterations.map_or(Effort::Seconds(*seconds), Effort::Iterations);
        let (name, first) = (name.clone(), iterations.is_none());
        let request = driver.measure(&name, effort, &scratch);
        let question = self.asker.prepare(side, &request, &scratch)?;
        if !first {
            return Ok(Ok((question, Some(driver))));
        }
        // The good commit determines the number of iterations of a run, so that all commits do the
        // same work.
        let ran = self.put(&question, 0)?;
        let reading = match reading(driver.as_ref(), &name, &ran) {
            Ok(reading) => reading,
            Err(why) => return Ok(Err(Unusable::Run(why))),
        };
        self.totals.extend(reading.divided().map(str::to_owned));
        let count = reading.iterations.filter(|n| (1.0..1e18).contains(n) && driver.pins());
        let (Some(count), What::Benchmark { iterations, .. }) = (count, &mut self.what) else {
            return Ok(Ok((question, Some(driver))));
        };
        let held = *iterations.insert(count as u64);
        let request = driver.measure(&name, Effort::Iterations(held), &scratch);
        Ok(Ok((self.asker.prepare(side, &request, &scratch)?, Some(driver))))
    }

    fn put(&mut self, question: &Question, padding: u16) -> Result<Ran, RunError> {
        loop {
            match self.asker.put(question, padding) {
                Err(RunError::Measure(MeasureError::LostRun { .. })) => {}
                other => return other,
            }
        }
    }

    /// Returns the values of a run in the order of the metrics, or a description of its failure.
    fn values(&mut self, driver: Option<&dyn Driver>, ran: &Ran) -> Result<Vec<f64>, String> {
        let (Some(driver), What::Benchmark { name, .. }) = (driver, &self.what) else {
            return match ran.failure() {
                Some(how) => Err(format!("its program {how}")),
                None => Ok(meter::accounted(std::slice::from_ref(&ran.result)).to_vec()),
            };
        };
        let mut reading = reading(driver, name, ran)?;
        reading.divide(&self.totals);
        let mut values = vec![f64::NAN; self.metrics.len()];
        let iterations = reading.iterations.map(|n| {
            let metric = Metric::lower(ITERATIONS, assay_data::Unit::One);
            (Metric { better: assay_data::Better::Higher, ..metric }, n)
        });
        for (metric, value) in reading.values.into_iter().chain(iterations) {
            match self.metrics.iter().position(|known| known.name == metric.name) {
                Some(index) if self.metrics[index].unit == metric.unit => values[index] = value,
                Some(_) => {}
                None => {
                    self.metrics.push(metric);
                    values.push(value);
                }
            }
        }
        Ok(values)
    }

    /// Handles a failed run: a commit between the ends is skipped, while a failure of the good or
    /// the bad commit ends the search.
    fn failed(&mut self, place: usize, why: &str) -> Result<(), Obstacle<RunError>> {
        if place == 0 || place + 1 == self.commits.len() {
            let name = self.name(place);
            return Err(RunError::Failed(format!("{name} can't be measured: {why}")).obstacle());
        }
        self.skipped.insert(place, why.to_owned());
        Ok(())
    }
}

/// Returns what a run reported for a benchmark, or a description of the failure.
fn reading(driver: &dyn Driver, name: &str, ran: &Ran) -> Result<Reading, String> {
    if let Some(how) = ran.failure() {
        return Err(format!("its program {how}"));
    }
    let readings =
        driver.read(&ran.reply).map_err(|error| format!("its program failed: {error}"))?;
    match readings.into_iter().find(|reading| reading.benchmark == name) {
        Some(Reading { error: Some(error), .. }) => Err(format!("the benchmark failed: {error}")),
        Some(reading) if reading.values.is_empty() => {
            Err("the benchmark reported no value".to_owned())
        }
        Some(reading) => Ok(reading),
        None => Err(format!("its program has no benchmark `{name}`")),
    }
}

impl Source for Commits {
    type Error = RunError;

    fn layout(&self) -> Layout {
        let mut samples = Samples::default();
        let row = samples.row_named(match &self.what {
            What::Command => "",
            What::Benchmark { name, .. } => name,
        });
        let command = Some(list::line(&self.command.argv));
        for place in 0..self.commits.len() {
            let name = self.name(place);
            let side = samples.side_named(&name);
            let against = (place > 0).then_some(0);
            let command = command.clone();
            samples.add(Subject { side, row, name, command, against, ..Subject::default() });
        }
        let mut layout = Layout::one_unit(samples);
        layout.units = layout.units.into_iter().map(|unit| Unit { search: true, ..unit }).collect();
        layout
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn ready(&mut self, turn: &Turn) -> Result<Option<String>, Obstacle<RunError>> {
        let unusable = self.prepare(turn.place).map_err(RunError::obstacle)?;
        let Some(why) = unusable.map(Unusable::why) else { return Ok(None) };
        self.failed(turn.place, &why)?;
        Ok(Some(why))
    }

    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<RunError>> {
        let Some(ready) = self.ready.remove(&turn.place) else {
            return Ok(Measured::failed(0, "was not made ready".to_owned()));
        };
        let ran = self.asker.put(&ready.question, turn.padding);
        let values = ran.map(|ran| self.values(ready.driver.as_deref(), &ran));
        self.ready.insert(turn.place, ready);
        match values.map_err(RunError::obstacle)? {
            Ok(values) => Ok(Measured {
                rows: vec![RowResult { row: OfRow::Known(0), values, ..RowResult::default() }],
                ..Measured::default()
            }),
            Err(why) => {
                self.failed(turn.place, &why)?;
                Ok(Measured::failed(0, why))
            }
        }
    }

    fn findings(&self, _: &Samples, _: &[Failure]) -> Vec<Finding> {
        let finding = |(&place, why): (&usize, &String)| {
            let name = self.name(place);
            Finding::new(code::COMMITS_MISSING, format!("{name} is left out: {why}"))
                .about(&name)
                .advise(Action::text("fix its build line, if the change may lie there"))
        };
        self.skipped.iter().map(finding).collect()
    }
}
