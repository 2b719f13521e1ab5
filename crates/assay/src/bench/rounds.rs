//! The measuring loop of a suite: block by block, one process of one benchmark at a time, recorded as it is measured.
//!
//! A run that fails takes its benchmark out; what was measured of it stays, and all others go on.

use super::asker::Question;
use super::{Asker, Catalogue, Ran, Trial};
use crate::session::{Obstacle, Record};
use assay_analysis::Step;
use assay_analysis::design::{Rounds, Unit};
use assay_data::samples::ITERATIONS;
use assay_data::{Better, Finding, Metric, Observation, Outcome, Samples, Severity, StopReason};
use assay_harness::{Effort, Reading};
use assay_measure::fingerprint::Fingerprints;
use assay_measure::interrupt;
use std::collections::BTreeSet;
use std::time::Instant;

/// A benchmark that failed while it was measured, or when it was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Its name.
    pub benchmark: String,
    /// The side on which it failed.
    pub side: String,
    /// How.
    pub how: String,
    /// Blocks that were measured before.
    pub blocks: usize,
}

impl Failure {
    /// The same as a finding.
    pub fn finding(&self) -> Finding {
        let kept = match self.blocks {
            0 => "it is left out".to_owned(),
            1 => "it is left out from there on; one block of it is kept".to_owned(),
            n => format!("it is left out from there on; {n} blocks of it are kept"),
        };
        Finding::new(
            "BENCHMARK_FAILED",
            Severity::Warning,
            format!("`{}` on {}: it {}; {kept}", self.benchmark, self.side, self.how),
        )
        .about(&self.benchmark)
        .with("blocks", self.blocks as f64)
        .next("run it by itself, and mend it")
    }
}

/// What one turn runs, on each of its sides.
pub(super) struct Measured {
    /// Indices of the benchmarks in the catalogue.
    pub(super) benchmarks: Vec<usize>,
    /// Indices of the sides, and for each the request and the subjects of the benchmarks.
    pub(super) on: Vec<(usize, Question, Vec<usize>)>,
    /// The iterations that every run is held to.
    pub(super) pinned: Option<u64>,
}

/// A suite that is ready to be measured.
pub(crate) struct Suite<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) asker: &'a mut Asker,
    pub(super) units: Vec<Measured>,
    pub(super) totals: BTreeSet<String>,
    /// What was measured.
    pub samples: Samples,
    /// What failed.
    pub failures: Vec<Failure>,
}

impl<'a> Suite<'a> {
    /// Readies the benchmarks that were tried with success on two sides at least, the reference among them.
    ///
    /// # Errors
    /// When a program can't be given its request.
    pub fn ready(
        catalogue: &'a Catalogue,
        trial: &Trial,
        seconds: f64,
        asker: &'a mut Asker,
    ) -> anyhow::Result<Self> {
        let mut suite = Self {
            catalogue,
            asker,
            units: Vec::new(),
            totals: trial.totals.clone(),
            samples: Samples::default(),
            failures: Vec::new(),
        };
        let mut files = Fingerprints::default();
        let mut usable: Vec<(usize, Vec<usize>)> = Vec::new();
        for (benchmark, tried) in trial.tried.iter().enumerate() {
            for (side, one) in tried.iter().enumerate() {
                if let Some(how) = &one.failure {
                    suite.failures.push(Failure {
                        benchmark: catalogue.benchmarks[benchmark].name.clone(),
                        side: catalogue.sides[side].name.clone(),
                        how: how.clone(),
                        blocks: 0,
                    });
                }
            }
            let sides: Vec<usize> =
                (0..tried.len()).filter(|&side| tried[side].reading.is_some()).collect();
            if sides.first() == Some(&0) && sides.len() > 1 {
                for &side in &sides {
                    let reading = tried[side].reading.iter();
                    for (metric, _) in reading.flat_map(|reading| &reading.values) {
                        suite.samples.add_metric(metric.clone());
                    }
                }
                usable.push((benchmark, sides));
            }
        }
        let counted = trial.tried.iter().flatten().filter_map(|t| t.reading.as_ref());
        if counted.clone().any(|reading| reading.iterations.is_some()) {
            let iterations = Metric {
                better: Better::Higher,
                ..Metric::lower(ITERATIONS, assay_data::Unit::One)
            };
            suite.samples.add_metric(iterations);
        }
        // Where a program can't be held to one benchmark, all that stand on the same sides are one unit.
        let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for (benchmark, sides) in usable {
            let same = groups.iter_mut().find(|(own, _)| !catalogue.isolates() && *own == sides);
            match same {
                Some((_, group)) => group.push(benchmark),
                None => groups.push((sides, vec![benchmark])),
            }
        }
        for (sides, benchmarks) in groups {
            suite.add(&sides, benchmarks, trial, seconds, &mut files)?;
        }
        Ok(suite)
    }

    fn add(
        &mut self,
        sides: &[usize],
        benchmarks: Vec<usize>,
        trial: &Trial,
        seconds: f64,
        files: &mut Fingerprints,
    ) -> anyhow::Result<()> {
        let catalogue = self.catalogue;
        let pinned = (catalogue.pins() && catalogue.isolates())
            .then(|| trial.iterations(benchmarks[0]))
            .flatten();
        let effort = pinned.map_or(Effort::Seconds(seconds), Effort::Iterations);
        let mut references: Vec<usize> = Vec::new();
        let mut on = Vec::with_capacity(sides.len());
        for &index in sides {
            let side = &catalogue.sides[index];
            let scratch = self.asker.directory()?;
            let first = catalogue.benchmarks[benchmarks[0]].on[index].clone().unwrap_or_default();
            let request = catalogue.drivers[index].measure(&first, effort, &scratch);
            let question = self.asker.prepare(side, &request, &scratch)?;
            let mut subjects = Vec::with_capacity(benchmarks.len());
            for (place, &benchmark) in benchmarks.iter().enumerate() {
                let listed = &catalogue.benchmarks[benchmark];
                let reading = trial.tried[benchmark][index].reading.as_ref();
                let subject = self.samples.subjects.len();
                let against = references.get(place).copied().unwrap_or(subject);
                if references.len() <= place {
                    references.push(subject);
                }
                let words: Vec<_> =
                    side.command.argv.iter().map(|word| word.to_string_lossy()).collect();
                self.samples.subjects.push(assay_data::Subject {
                    name: format!("{}: {}", side.name, listed.name),
                    command: Some(words.join(" ")),
                    cwd: side.command.cwd.as_ref().map(|path| path.display().to_string()),
                    env: side.command.env.clone(),
                    label: reading.and_then(|r| r.label.clone()),
                    parameters: reading.map(|r| r.parameters.clone()).unwrap_or_default(),
                    against: Some(against),
                    benchmark: Some(listed.name.clone()),
                    side: Some(side.name.clone()),
                    files: [files.files_of(&side.command), side.libraries.clone()].concat(),
                    ..assay_data::Subject::default()
                });
                subjects.push(subject);
            }
            on.push((index, question, subjects));
        }
        self.units.push(Measured { benchmarks, on, pinned });
        Ok(())
    }

    /// What the experiment is to go through.
    pub fn units(&self) -> Vec<Unit> {
        let unit =
            |unit: &Measured| Unit { subjects: unit.on.len(), benchmarks: unit.benchmarks.clone() };
        self.units.iter().map(unit).collect()
    }

    /// How many benchmarks are measured.
    pub fn benchmarks(&self) -> usize {
        self.units.iter().map(|unit| unit.benchmarks.len()).sum()
    }

    /// About how long one block of everything takes, s, by how long it took to try it.
    pub fn round_seconds(&self, trial: &Trial) -> f64 {
        let of_unit = |unit: &Measured| {
            let first = unit.benchmarks[0];
            unit.on.iter().map(|(side, ..)| trial.tried[first][*side].seconds).sum::<f64>()
        };
        self.units.iter().map(of_unit).sum()
    }

    /// Measures until there is a reason to stop. What was measured is in `samples`, whatever comes back.
    ///
    /// # Errors
    /// What keeps everything from being run; not the failure of a benchmark.
    pub fn measure(
        &mut self,
        rounds: &mut Rounds,
        primary: &str,
        record: &mut Option<Record>,
        telling: &mut dyn FnMut(&mut Rounds, f64),
    ) -> Result<StopReason, Obstacle> {
        let began = Instant::now();
        loop {
            telling(rounds, began.elapsed().as_secs_f64());
            let Some(at) = rounds.next_turn() else { return Ok(StopReason::Clear) };
            let (side, question, _) = &self.units[at.unit].on[at.turn.subject];
            let (side, question) = (*side, question.clone());
            let started = began.elapsed().as_secs_f64();
            let ran = match self.asker.put(&question, at.turn.padding) {
                Err(Obstacle::Interrupted(_)) => return Ok(StopReason::Interrupted),
                other => other?,
            };
            let found = self.read(at.unit, side, &ran);
            let elapsed = began.elapsed().as_secs_f64();
            let step = match found {
                Ok(readings) => {
                    let values = self.keep(at.unit, at.turn, &readings, started, primary, record);
                    rounds.observe(at, &values, elapsed)
                }
                Err((benchmark, how)) => {
                    self.failures.push(Failure {
                        benchmark: self.catalogue.benchmarks[benchmark].name.clone(),
                        side: self.catalogue.sides[side].name.clone(),
                        how,
                        blocks: rounds.blocks(benchmark),
                    });
                    rounds.give_up(at.unit, elapsed)
                }
            };
            if interrupt::count() > 0 {
                return Ok(StopReason::Interrupted);
            }
            if let Step::Stop(reason) = step {
                return Ok(reason);
            }
        }
    }

    /// The readings of a unit's benchmarks, in their order; or which of them failed, and how.
    fn read(&self, unit: usize, side: usize, ran: &Ran) -> Result<Vec<Reading>, (usize, String)> {
        let benchmarks = &self.units[unit].benchmarks;
        if let Some(how) = ran.failure() {
            return Err((benchmarks[0], how));
        }
        let readings = self.catalogue.drivers[side].read(&ran.reply);
        let mut readings = readings.map_err(|error| (benchmarks[0], format!("failed: {error}")))?;
        readings.iter_mut().for_each(|reading| reading.divide(&self.totals));
        let wanted = |&benchmark: &usize| {
            let own = self.catalogue.benchmarks[benchmark].on[side].as_deref();
            let found = readings.iter().find(|r| Some(r.benchmark.as_str()) == own).cloned();
            match found {
                Some(Reading { error: Some(error), .. }) => {
                    Err((benchmark, format!("failed: {error}")))
                }
                Some(reading) => Ok(reading),
                None => Err((benchmark, "was not in its program's answer any more".to_owned())),
            }
        };
        benchmarks.iter().map(wanted).collect()
    }

    /// Records the observations of a turn, and returns the values of the metric that decides.
    fn keep(
        &mut self,
        unit: usize,
        turn: assay_analysis::Turn,
        readings: &[Reading],
        time: f64,
        primary: &str,
        record: &mut Option<Record>,
    ) -> Vec<f64> {
        let subjects = self.units[unit].on[turn.subject].2.clone();
        let mut decisive = Vec::with_capacity(readings.len());
        for (subject, reading) in subjects.into_iter().zip(readings) {
            let iterations = reading.iterations.map(|n| {
                let metric = Metric::lower(ITERATIONS, assay_data::Unit::One);
                (Metric { better: Better::Higher, ..metric }, n)
            });
            let all = reading.values.iter().cloned().chain(iterations);
            let mut known: Vec<(usize, f64)> = Vec::new();
            for (metric, value) in all {
                let at = Record::add_metric(record, &mut self.samples, &metric);
                // One that changed its unit between two runs is another one.
                if self.samples.metrics[at].unit == metric.unit {
                    known.push((at, value));
                }
            }
            let values = self.samples.row(&known);
            let at = self.samples.metric_index(primary);
            decisive.push(at.map_or(f64::NAN, |at| values[at]));
            let observation = Observation {
                subject,
                block: Some(turn.block),
                position: Some(turn.position),
                level: Vec::new(),
                time: Some((time * 1e9).round() / 1e9),
                outcome: Outcome::Ok,
                values,
            };
            Record::observe(record, &mut self.samples, observation);
        }
        decisive
    }
}
