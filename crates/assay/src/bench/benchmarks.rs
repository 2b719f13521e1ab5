//! Benchmark programs as a source. Each turn is one process that runs one benchmark, or all
//! benchmarks of a program that cannot select one.
//!
//! If a run fails, its unit is no longer measured. Its measurements are kept, and all other units
//! continue.

use super::asker::Question;
use super::code::Codes;
use super::counting::Counting;
use super::trial::{BenchmarkTrial, request};
use super::turns::{self, Pipes};
use super::{Asker, Catalogue, Executed, Ran, Trial, sides};
use crate::run_error::RunError;
use assay_data::code;
use assay_data::list;
use assay_data::samples::ITERATIONS;
use assay_data::source::{self, Layout, Obstacle, OfRow, Purpose, RowResult, Source, Turn, Unit};
use assay_data::{Action, Better, Finding, Metric, Row, Samples, Side, Subject};
use assay_harness::executed::Language;
use assay_harness::{Driver, Effort, Reading, Turns};
use assay_measure::Command;
use assay_measure::environment::allowed_cpus;
use assay_measure::fingerprint::Fingerprints;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Name of the setting that records the CPU of a subject.
const PIN: &str = "pin";
/// Variable that limits the number of CPUs that a Go program uses.
const CPUS_OF_GO: &str = "GOMAXPROCS";
/// Maximum padding of a run, in bytes.
const MOST_PADDING: u16 = 4095;

/// A benchmark that failed in its trial or while it was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Name of the side on which it failed.
    pub side: String,
    /// Description of the failure, as the end of a sentence.
    pub how: String,
    /// Number of blocks measured before the failure.
    pub blocks: usize,
}

impl Failure {
    /// Returns the finding about the failure.
    pub fn finding(&self) -> Finding {
        let kept = match self.blocks {
            0 => "it is left out".to_owned(),
            1 => "it is left out from then on; one block of it is kept".to_owned(),
            n => format!("it is left out from then on; {n} blocks of it are kept"),
        };
        Finding::new(
            code::BENCHMARK_FAILED,
            format!("`{}` on {}: it {}; {kept}", self.benchmark, self.side, self.how),
        )
        .about(&self.benchmark)
        .with("blocks", self.blocks as f64)
        .advise(Action::text("run it by itself and fix it"))
    }
}

/// The requests that measure a unit of benchmarks on each side.
pub(super) struct Runs {
    /// Indices of the benchmarks in the catalog.
    pub(super) benchmarks: Vec<usize>,
    /// For each side, its index, its requests (one per build), and the subjects of the benchmarks.
    pub(super) on: Vec<(usize, Vec<Question>, Vec<usize>)>,
    /// Number of iterations that every run is fixed to.
    pub(super) pinned: Option<u64>,
    /// Requests for measuring the two sides in turns, each side as the first process and as the
    /// second.
    together: Option<[[Question; 2]; 2]>,
}

/// The outcome of a run that was made ahead of its turn. `at` is the unit, place and block of that
/// turn.
struct Ahead {
    at: (usize, usize, u32),
    ran: Ran,
}

/// Returns the command of a side as one line.
fn typed(side: &super::sides::Side) -> String {
    list::line(&side.command.argv)
}

/// Benchmarks that are ready to be measured.
pub(crate) struct Benchmarks<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) asker: &'a mut Asker,
    pub(super) units: Vec<Runs>,
    pub(super) totals: BTreeSet<String>,
    pub(super) metrics: Vec<Metric>,
    /// Sides, rows and subjects.
    pub(super) declared: Samples,
    /// Failures in the trial runs.
    pub failures: Vec<Failure>,
    /// Findings about functions that changed.
    pub changes: Vec<Finding>,
    /// Findings about the smallest slowdown of each changed function that would be detected.
    pub(super) sensitivity: Vec<Finding>,
    pub(super) counting: Counting,
    /// Findings about benchmarks that were measured before they had warmed up.
    cold: Vec<Finding>,
    /// The pipes of processes that measure in turns.
    pipes: Option<Pipes>,
    ahead: Option<Ahead>,
}

impl<'a> Benchmarks<'a> {
    /// Prepares the benchmarks that succeeded in the trial on the reference and, if there are
    /// several sides, on another one. For a resumed run, these are recorded benchmarks, with their
    /// recorded numbers of iterations.
    ///
    /// # Errors
    /// Returns an error if a program cannot be given its request.
    pub fn ready(
        catalogue: &'a Catalogue,
        trial: &Trial,
        seconds: f64,
        asker: &'a mut Asker,
        (recorded, executed): (Option<&Samples>, &Executed),
    ) -> anyhow::Result<Self> {
        let mut all = Self {
            catalogue,
            asker,
            units: Vec::new(),
            totals: trial.totals.clone(),
            metrics: Vec::new(),
            declared: Samples::default(),
            failures: Vec::new(),
            changes: Vec::new(),
            sensitivity: Vec::new(),
            counting: Counting::default(),
            cold: cold(catalogue, trial),
            pipes: None,
            ahead: None,
        };
        for side in &catalogue.sides {
            all.declared.add_side(Side {
                name: side.name.clone(),
                command: Some(typed(side)),
                source: None,
                builds: side.builds.iter().map(|build| build.name.clone()).collect(),
                recordings: Vec::new(),
            });
        }
        let mut files = Fingerprints::default();
        let mut usable: Vec<(usize, Vec<usize>)> = Vec::new();
        for (benchmark, tried) in trial.tried.iter().enumerate() {
            for (side, one) in tried.iter().enumerate() {
                if let Some(how) = &one.failure {
                    all.failures.push(Failure {
                        benchmark: catalogue.benchmarks[benchmark].name.clone(),
                        side: catalogue.sides[side].name.clone(),
                        how: how.clone(),
                        blocks: 0,
                    });
                }
            }
            let sides: Vec<usize> =
                (0..tried.len()).filter(|&side| tried[side].reading.is_some()).collect();
            if comparable(&sides, tried.len()) {
                usable.push((benchmark, sides));
            }
        }
        if let Some(recorded) = recorded {
            // A resumed run keeps the benchmarks that it started with.
            let used: BTreeSet<usize> = usable.iter().flat_map(|(_, on)| on).copied().collect();
            usable.retain_mut(|(benchmark, on)| {
                let row = &catalogue.benchmarks[*benchmark].name;
                on.retain(|&side| subject_of(recorded, row, used.range(..side).count()).is_some());
                comparable(on, catalogue.sides.len())
            });
        }
        for (benchmark, sides) in &usable {
            for &side in sides {
                let reading = trial.tried[*benchmark][side].reading.iter();
                for (metric, _) in reading.flat_map(|reading| &reading.values) {
                    all.metric(metric);
                }
            }
        }
        let counted = trial.tried.iter().flatten().filter_map(|t| t.reading.as_ref());
        if counted.clone().any(|reading| reading.iterations.is_some()) {
            all.metric(&iterations());
        }
        // Benchmarks that share a process form one unit with the others on the same sides.
        let is_one_run = trial.together || !catalogue.isolates();
        let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for (benchmark, sides) in usable {
            let same = groups.iter_mut().find(|(own, _)| is_one_run && *own == sides);
            match same {
                Some((_, group)) => group.push(benchmark),
                None => groups.push((sides, vec![benchmark])),
            }
        }
        for (sides, benchmarks) in groups {
            all.add(&sides, benchmarks, trial, seconds, &mut files, recorded)?;
        }
        all.compare_within_a_side();
        let mut codes = Codes::of(catalogue, &mut files);
        for unit in &all.units {
            for (side, _, subjects) in &unit.on {
                for (&subject, &benchmark) in subjects.iter().zip(&unit.benchmarks) {
                    let own = codes.digest(catalogue, benchmark, *side);
                    all.declared.subjects[subject].code =
                        own.or_else(|| executed.digest(benchmark, *side));
                }
            }
        }
        if recorded.is_none() {
            all.changes = codes.changes(catalogue, &all.declared, executed);
        }
        all.declared.drop_unused_keys();
        Ok(all)
    }

    fn add(
        &mut self,
        sides: &[usize],
        benchmarks: Vec<usize>,
        trial: &Trial,
        seconds: f64,
        files: &mut Fingerprints,
        recorded: Option<&Samples>,
    ) -> anyhow::Result<()> {
        let catalogue = self.catalogue;
        let pinned = (catalogue.pins() && catalogue.isolates() && !trial.together)
            .then(|| {
                let row = &catalogue.benchmarks[benchmarks[0]].name;
                recorded.and_then(|r| iterations_of(r, row)).or(trial.iterations(benchmarks[0]))
            })
            .flatten();
        let effort = pinned.map_or(Effort::Seconds(seconds), Effort::Iterations);
        let mut references: Vec<usize> = Vec::new();
        let first_row = self.declared.rows.len();
        for &benchmark in &benchmarks {
            let mut readings = trial.tried[benchmark].iter().filter_map(|t| t.reading.as_ref());
            self.declared.rows.push(Row {
                name: catalogue.benchmarks[benchmark].name.clone(),
                label: readings.find_map(|reading| reading.label.clone()),
                ..Row::default()
            });
        }
        let cpu = self.cpu(sides, &benchmarks, trial, recorded);
        let is_divisible = effort != Effort::Iterations(1);
        let turns = catalogue.turns(sides, seconds).filter(|_| is_divisible);
        let mut together = Vec::new();
        let mut on = Vec::with_capacity(sides.len());
        // The reference may be measured a second time, as a control.
        let control = catalogue.control.then_some((sides[0], true));
        for (index, is_control) in sides.iter().map(|&side| (side, false)).chain(control) {
            let side = &catalogue.sides[index];
            let scratch = self.asker.directory()?;
            let own = |&benchmark: &usize| catalogue.benchmarks[benchmark].on[index].as_deref();
            let names: Vec<&str> = benchmarks.iter().filter_map(own).collect();
            let driver = &*catalogue.drivers[index];
            let request = request(driver, &names, (effort, trial.together), &scratch);
            let mut questions = Vec::new();
            let mut all_files = Vec::new();
            for build in 0..side.builds.len().max(1) {
                let built = side.of_build(build);
                let command = on_cpu(built.asking(&request), (side, driver), cpu);
                questions.push(self.asker.prepare_command(&command, &request, &scratch)?);
                all_files.extend(files.files_of(&built.command));
            }
            if let Some(count) = turns {
                let pipes = self.pipes()?;
                let asking =
                    [0, 1].map(|side| Turns { directory: &pipes, side, count }.of(request.clone()));
                let [first, second] = asking
                    .map(|request| (on_cpu(side.asking(&request), (side, driver), cpu), request));
                together.push([
                    self.asker.prepare_command(&first.0, &first.1, &scratch)?,
                    self.asker.prepare_second(&second.0, &second.1, &scratch)?,
                ]);
            }
            all_files.extend(side.libraries.clone());
            let mut subjects = Vec::with_capacity(benchmarks.len());
            for (place, &benchmark) in benchmarks.iter().enumerate() {
                let reading = trial.tried[benchmark][index].reading.as_ref();
                let subject = self.declared.subjects.len();
                let against = references.get(place).copied().unwrap_or(subject);
                if references.len() <= place {
                    references.push(subject);
                }
                let mut name = name_on(catalogue, benchmark, index);
                if is_control {
                    name += " (control)";
                }
                self.declared.subjects.push(Subject {
                    side: index,
                    row: first_row + place,
                    name,
                    command: Some(typed(side)),
                    cwd: side.command.cwd.as_ref().map(|path| path.display().to_string()),
                    env: side.command.env.clone(),
                    parameters: reading.map(|r| r.parameters.clone()).unwrap_or_default(),
                    against: Some(if is_control { subject } else { against }),
                    repeats: is_control.then_some(against),
                    files: all_files.clone(),
                    control: cpu.map(|cpu| (PIN.to_owned(), cpu.to_string())).into_iter().collect(),
                    ..Subject::default()
                });
                subjects.push(subject);
            }
            on.push((index, questions, subjects));
        }
        let together = together.try_into().ok();
        self.units.push(Runs { benchmarks, on, pinned, together });
        Ok(())
    }

    /// Returns the CPU to which all runs of a unit are pinned; `None` if they are not pinned. A
    /// resumed run keeps its CPU.
    fn cpu(
        &self,
        sides: &[usize],
        benchmarks: &[usize],
        trial: &Trial,
        recorded: Option<&Samples>,
    ) -> Option<u32> {
        let catalogue = self.catalogue;
        if let Some(recorded) = recorded {
            let subject = subject_of(recorded, &catalogue.benchmarks[benchmarks[0]].name, 0)?;
            let pin = recorded.subjects[subject].control.iter().find(|(name, _)| name == PIN)?;
            return pin.1.parse().ok();
        }
        let is_serial =
            |benchmark: &usize| sides.iter().all(|&side| trial.tried[*benchmark][side].is_serial);
        let is_free = sides.len() > 1 && catalogue.pin && benchmarks.iter().all(is_serial);
        is_free.then(turns::common_cpu).flatten()
    }

    /// Creates the pipes if necessary, and returns their directory.
    fn pipes(&mut self) -> anyhow::Result<PathBuf> {
        if self.pipes.is_none() {
            self.pipes = Some(Pipes::create(&self.asker.directory()?)?);
        }
        Ok(self.pipes.iter().map(|pipes| pipes.directory().to_owned()).collect())
    }

    /// Returns the outcome of a turn. If the benchmark is measured in turns, the first position of
    /// a block runs both sides together, and the second position takes the outcome that was kept
    /// for it.
    fn run(&mut self, turn: &Turn) -> Result<Ran, RunError> {
        let unit = &self.units[turn.unit];
        if let (Some(together), Purpose::Measure, Some(pipes)) =
            (&unit.together, turn.purpose, &self.pipes)
        {
            let at = (turn.unit, turn.place, turn.block);
            if let Some(ahead) = self.ahead.take_if(|ahead| ahead.at == at) {
                return Ok(ahead.ran);
            }
            if turn.position == 0 {
                let other = 1 - turn.place;
                let questions = [&together[turn.place][0], &together[other][1]];
                let paddings = [turn.padding, MOST_PADDING - turn.padding];
                let [own, ran] = self.asker.put_two(questions, paddings, pipes)?;
                self.ahead = Some(Ahead { at: (turn.unit, other, turn.block), ran });
                return Ok(own);
            }
        }
        let questions = &unit.on[turn.place].1;
        self.asker.put(&questions[turn.build as usize % questions.len()], turn.padding)
    }

    /// Returns true if any benchmark is measured in turns.
    pub fn takes_turns(&self) -> bool {
        self.units.iter().any(|unit| unit.together.is_some())
    }

    /// Makes the first benchmark of each group that the program itself compares the reference of
    /// the others in the group. Does nothing if there are several sides, because then the sides are
    /// compared.
    fn compare_within_a_side(&mut self) {
        if self.catalogue.sides.len() > 1 {
            return;
        }
        for group in self.catalogue.drivers[0].compared() {
            let is_own = |unit: &&Runs| {
                let own = self.catalogue.benchmarks[unit.benchmarks[0]].on[0].as_ref();
                own.is_some_and(|own| group.contains(own))
            };
            let subjects: Vec<usize> =
                self.units.iter().filter(is_own).map(|unit| unit.on[0].2[0]).collect();
            for &subject in &subjects {
                self.declared.subjects[subject].against = Some(subjects[0]);
            }
        }
    }

    /// Returns the index of a metric, adding it if it is new. `None` if a metric of this name has
    /// another unit and is therefore a different one.
    pub(super) fn metric(&mut self, metric: &Metric) -> Option<usize> {
        match self.metrics.iter().position(|known| known.name == metric.name) {
            Some(index) => (self.metrics[index].unit == metric.unit).then_some(index),
            None => {
                self.metrics.push(metric.clone());
                Some(self.metrics.len() - 1)
            }
        }
    }

    /// Returns a value for every metric, in order; NaN for those without a value in `known`.
    pub(super) fn row(&mut self, known: impl IntoIterator<Item = (Metric, f64)>) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.metrics.len()];
        for (metric, value) in known {
            if let Some(index) = self.metric(&metric) {
                values.resize(self.metrics.len(), f64::NAN);
                values[index] = value;
            }
        }
        values
    }

    /// Returns the number of benchmarks that are measured.
    pub fn benchmarks(&self) -> usize {
        self.units.iter().map(|unit| unit.benchmarks.len()).sum()
    }

    /// Returns true if one benchmark can be run without the others.
    pub fn isolates(&self) -> bool {
        self.catalogue.isolates()
    }

    /// Returns the number of sides.
    pub fn sides(&self) -> usize {
        self.catalogue.sides.len()
    }

    /// Returns the approximate duration of one block of all benchmarks in seconds, from the trial
    /// runs.
    pub fn round_seconds(&self, trial: &Trial) -> f64 {
        let of_unit = |unit: &Runs| {
            let first = unit.benchmarks[0];
            unit.on.iter().map(|(side, ..)| trial.tried[first][*side].seconds).sum::<f64>()
        };
        self.units.iter().map(of_unit).sum()
    }

    /// Returns the readings of a unit's benchmarks, in order. If one failed, returns the row of
    /// that benchmark and a description of the failure.
    fn read(&self, unit: usize, side: usize, ran: &Ran) -> Result<Vec<Reading>, (usize, String)> {
        let benchmarks = &self.units[unit].benchmarks;
        if let Some(how) = ran.failure() {
            return Err((0, how));
        }
        let readings = self.catalogue.drivers[side].read(&ran.reply);
        let mut readings = readings.map_err(|error| (0, format!("failed: {error}")))?;
        readings.iter_mut().for_each(|reading| reading.divide(&self.totals));
        let wanted = |(row, &benchmark): (usize, &usize)| {
            let own = self.catalogue.benchmarks[benchmark].on[side].as_deref();
            let found = readings.iter().find(|r| Some(r.benchmark.as_str()) == own).cloned();
            match found {
                Some(Reading { error: Some(error), .. }) => Err((row, format!("failed: {error}"))),
                Some(reading) => Ok(reading),
                None => Err((row, "was no longer in its program's output".to_owned())),
            }
        };
        benchmarks.iter().enumerate().map(wanted).collect()
    }
}

impl Source for Benchmarks<'_> {
    type Error = RunError;

    fn layout(&self) -> Layout {
        let is_control = |subject: usize| self.declared.subjects[subject].repeats.is_some();
        let unit = |unit: &Runs| {
            let places = unit.on.iter().map(|(_, _, subjects)| subjects.clone());
            let builds = |(side, ..): &(usize, Vec<Question>, Vec<usize>)| {
                self.catalogue.sides[*side].builds.len().max(1) as u32
            };
            let builds = unit.on.iter().map(builds).collect();
            let mut unit = Unit { builds, ..Unit::against_the_first(places.collect()) };
            for (place, reference) in unit.references.iter_mut().enumerate() {
                *reference = reference.filter(|_| !is_control(unit.places[place][0]));
            }
            unit
        };
        let Samples { sides, rows, subjects, .. } = self.declared.clone();
        Layout { sides, rows, subjects, units: self.units.iter().map(unit).collect() }
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn measure(&mut self, turn: &Turn) -> Result<source::Measured, Obstacle<RunError>> {
        if let Purpose::Count(pass) = turn.purpose {
            return self.count(turn, pass).map_err(RunError::obstacle);
        }
        let ran = self.run(turn).map_err(RunError::obstacle)?;
        let side = self.units[turn.unit].on[turn.place].0;
        let readings = match self.read(turn.unit, side, &ran) {
            Ok(readings) => readings,
            Err((row, how)) => return Ok(source::Measured::failed(row, how)),
        };
        let row = |(row, reading): (usize, Reading)| {
            let iterations = reading.iterations.map(|n| (iterations(), n));
            let values = self.row(reading.values.into_iter().chain(iterations));
            RowResult { row: OfRow::Known(row), values, ..RowResult::default() }
        };
        let rows = readings.into_iter().enumerate().map(row).collect();
        Ok(source::Measured { rows, ..source::Measured::default() })
    }

    fn findings(&self, _: &Samples, failures: &[source::Failure]) -> Vec<Finding> {
        let measured = failures.iter().map(|failure| {
            let unit = &self.units[failure.turn.unit];
            Failure {
                benchmark: self.catalogue.benchmarks[unit.benchmarks[failure.row]].name.clone(),
                side: self.catalogue.sides[unit.on[failure.turn.place].0].name.clone(),
                how: failure.how.clone(),
                blocks: failure.blocks,
            }
        });
        let failures = self.failures.iter().cloned().chain(measured);
        let counting = self.counting.findings.iter().chain(&self.sensitivity).cloned();
        counting
            .chain(self.cold.iter().cloned())
            .chain(failures.map(|failure| failure.finding()))
            .collect()
    }
}

/// Returns a side's command, pinned to `cpu` if that is given. A pinned Go program would see a
/// single CPU and name its benchmarks differently, so [`CPUS_OF_GO`] is set to the number of all
/// allowed CPUs.
fn on_cpu(
    mut command: Command,
    (side, driver): (&sides::Side, &dyn Driver),
    cpu: Option<u32>,
) -> Command {
    let Some(cpu) = cpu else { return command };
    command.control.cpus = vec![cpu];
    if driver.executes() == Some(Language::Go) && side.variable(CPUS_OF_GO).is_none() {
        let all = allowed_cpus().len().max(1).to_string();
        command.env.push((CPUS_OF_GO.to_owned(), all));
    }
    command
}

/// Returns findings about benchmarks that were still getting faster when their warm-up was over.
fn cold(catalogue: &Catalogue, trial: &Trial) -> Vec<Finding> {
    let mut found = Vec::new();
    for (benchmark, tried) in catalogue.benchmarks.iter().zip(&trial.tried) {
        let is_cold =
            |one: &BenchmarkTrial| one.reading.as_ref().is_some_and(|reading| reading.is_cold);
        let sides = catalogue.sides.iter().zip(tried).filter(|(_, one)| is_cold(one));
        let sides: Vec<String> = sides.map(|(side, _)| side.name.clone()).collect();
        if sides.is_empty() {
            continue;
        }
        let message = format!(
            "`{}` on {} was still getting faster when its warm-up ended: its values are cold",
            benchmark.name,
            list::all(&sides)
        );
        let advice = Action::text("give it a longer warm-up, as in x.config(warmup: 2)");
        found.push(Finding::new(code::WARM_UP, message).about(&benchmark.name).advise(advice));
    }
    found
}

/// Returns the displayed name of a benchmark on one side.
fn name_on(catalogue: &Catalogue, benchmark: usize, side: usize) -> String {
    let name = &catalogue.benchmarks[benchmark].name;
    match catalogue.sides.as_slice() {
        [_] => name.clone(),
        sides => format!("{}: {name}", sides[side].name),
    }
}

/// Returns true if a benchmark on these sides can be compared: it is on the reference and, if there
/// are several sides (`of`), on at least one other side.
fn comparable(sides: &[usize], of: usize) -> bool {
    sides.first() == Some(&0) && sides.len() >= of.min(2)
}

/// Returns the recorded subject of a row on the side at this position. Sides are not matched by
/// name, because names are only displayed.
fn subject_of(recorded: &Samples, row: &str, place: usize) -> Option<usize> {
    let is_it = |own: &Subject| own.side == place && recorded.row_of(own).name == row;
    recorded.subjects.iter().position(is_it)
}

/// Returns the number of iterations with which a recorded row was measured.
fn iterations_of(recorded: &Samples, row: &str) -> Option<u64> {
    let subject = subject_of(recorded, row, 0)?;
    let series = recorded.series(subject, recorded.metric_index(ITERATIONS)?);
    series.values.last().map(|&iterations| iterations as u64)
}

fn iterations() -> Metric {
    Metric { better: Better::Higher, ..Metric::lower(ITERATIONS, assay_data::Unit::One) }
}
