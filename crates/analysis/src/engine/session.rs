//! The session: the only loop that asks an experiment for its next turn.

use crate::Step;
use crate::design::{Experiment, ReplayError};
use crate::engine::discovered::Discovered;
use crate::engine::recorder::{Recorder, Unrecorded};
use assay_data::code;
use assay_data::samples::InPass;
use assay_data::samples::{Buckets, Counts};
use assay_data::source::{Failure, Measured, Obstacle, OfRow, Purpose, Source, Turn, Unit};
use assay_data::{
    Action, Environment, Finding, Inner, Observation, Pass, Plan, Samples, Severity, StopReason,
    StopRule, Threshold,
};
use std::collections::HashSet;

/// Limits that are not part of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Seconds to which the plan's budget is extended while there are too few blocks for any
    /// verdict; 0 for no extension.
    pub ceiling_seconds: f64,
    /// Number of rows of the layout that share the error rate, together with discovered rows; 0 if
    /// each has its own error rate.
    pub sharing: usize,
}

/// The outcome of a phase of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// The reason why the phase ended.
    pub reason: StopReason,
    /// Duration of the phase's quickest block, in seconds; `None` if no block was finished.
    pub block_seconds: Option<f64>,
}

/// The state of a session before a turn.
#[derive(Debug)]
pub struct Standing<'a> {
    /// The experiment with its current state.
    pub experiment: &'a mut Experiment,
    /// Seconds since the start of the phase, excluding the source's preparations.
    pub seconds: f64,
}

/// Callback that displays the state of a session. It is called between turns, never during one.
pub type Observer<'a> = &'a mut dyn FnMut(Standing<'_>);

/// A measurement of a source: warm-up, measuring, counting, closing. All but the last are optional.
pub struct Session<'a, S: Source, R: Recorder = Unrecorded> {
    /// The measured source.
    pub source: S,
    /// The values measured so far.
    pub samples: Samples,
    /// The recorder; `None` if nothing is recorded.
    pub recorder: Option<R>,
    /// Failed runs so far, including those of warm-up and counting passes.
    pub failures: Vec<Failure>,
    clock: Box<dyn Fn() -> f64 + 'a>,
    interrupted: Box<dyn Fn() -> bool + 'a>,
    units: Vec<Unit>,
    discovered: Discovered,
    experiment: Option<Experiment>,
    /// Index of the deciding metric in the samples.
    primary: usize,
    /// For each metric of the source, its index in the samples.
    columns: Vec<usize>,
    /// Seconds between the start of the run and the first observation of this session; nonzero for
    /// a resumed run.
    since_start: f64,
    /// Number of lost runs that were repeated.
    lost: u32,
    /// Number of findings already recorded.
    findings_recorded: usize,
}

impl<'a, S: Source> Session<'a, S> {
    /// Creates a session without a recorder; otherwise like [`Session::new`].
    pub fn unrecorded(source: S, clock: impl Fn() -> f64 + 'a) -> Self {
        Self::new(source, clock)
    }
}

impl<'a, S: Source, R: Recorder> Session<'a, S, R> {
    /// Creates a session with a clock in seconds, of which only differences are used.
    pub fn new(source: S, clock: impl Fn() -> f64 + 'a) -> Self {
        let layout = source.layout();
        let mut samples = Samples::default();
        (samples.sides, samples.rows) = (layout.sides, layout.rows);
        for subject in layout.subjects {
            samples.add(subject);
        }
        let mut session = Self {
            samples,
            recorder: None,
            failures: Vec::new(),
            clock: Box::new(clock),
            interrupted: Box::new(|| false),
            units: layout.units,
            discovered: Discovered::default(),
            experiment: None,
            primary: 0,
            columns: Vec::new(),
            since_start: 0.0,
            lost: 0,
            findings_recorded: 0,
            source,
        };
        session.learn_metrics();
        session
    }

    /// Sets a callback that is polled after every turn and stops the session if it returns true.
    #[must_use]
    pub fn interrupted_by(mut self, interrupted: impl Fn() -> bool + 'a) -> Self {
        self.interrupted = Box::new(interrupted);
        self
    }

    /// Returns the units. Each is measured as a whole, with comparisons only within it.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Runs unrecorded blocks, which do not count towards the experiment's time. New metrics are
    /// added to the samples.
    ///
    /// # Errors
    /// Returns an error if the source reports an unrecoverable error.
    pub fn warm_up(
        &mut self,
        blocks: u32,
        seed: u64,
        observer: Observer<'_>,
    ) -> Result<Phase, S::Error> {
        // The stream is separate from the experiment's, so that the warm-up does not change its
        // order.
        let phase = self.fixed(blocks, seed ^ 1, Purpose::WarmUp, observer);
        self.learn_metrics();
        phase
    }

    /// Adds the metrics that the source provides so far; more may appear during measuring.
    fn learn_metrics(&mut self) {
        for index in self.columns.len()..self.source.metrics().len() {
            let metric = &self.source.metrics()[index];
            let known = self.samples.metric_index(&metric.name);
            let column = known.unwrap_or_else(|| {
                if let Some(recorder) = &mut self.recorder {
                    recorder.metric(metric);
                }
                self.samples.add_metric(metric.clone())
            });
            self.columns.push(column);
        }
    }

    /// Starts the experiment with this plan; `primary` is the index of the deciding metric in the
    /// samples.
    pub fn begin(&mut self, plan: &Plan, primary: usize, limits: Limits) {
        self.samples.plan = Some(plan.clone());
        self.primary = primary;
        let mut experiment = Experiment::of_units(plan.clone(), &self.units)
            .stretching_to(limits.ceiling_seconds)
            .among(limits.sharing);
        if let Some(metric) = self.samples.metrics.get(primary) {
            experiment = experiment.of_metric(metric);
        }
        self.experiment = Some(experiment);
    }

    /// Replays a recording into an experiment that was just started. `since_start_seconds` is the
    /// time since the start of the recording. Returns the reason for stopping if there is nothing
    /// left to measure.
    ///
    /// # Errors
    /// Returns an error if the recording does not belong to this experiment.
    pub fn resume(
        &mut self,
        recorded: Samples,
        since_start_seconds: f64,
    ) -> Result<Option<StopReason>, ReplayError> {
        let deciding = self.samples.metrics.get(self.primary);
        let primary = deciding.and_then(|metric| recorded.metric_index(&metric.name));
        let primary = primary.unwrap_or(recorded.metrics.len());
        let done = match &mut self.experiment {
            Some(experiment) => experiment.replay(&recorded, primary)?,
            None => None,
        };
        self.findings_recorded = recorded.findings.len();
        self.since_start = since_start_seconds;
        self.primary = primary;
        let (plan, findings) =
            (self.samples.plan.take(), std::mem::take(&mut self.samples.findings));
        self.samples = recorded;
        self.samples.plan = plan;
        if done.is_none() {
            self.samples.findings.extend(findings);
        }
        self.columns.clear();
        self.learn_metrics();
        Ok(done)
    }

    /// Measures until there is a reason to stop. Values are stored in `samples`, even after an
    /// error.
    ///
    /// # Errors
    /// Returns an error if the source reports an unrecoverable error.
    pub fn measure(&mut self, observer: Observer<'_>) -> Result<Phase, S::Error> {
        let Some(mut experiment) = self.experiment.take() else {
            return Ok(Phase { reason: StopReason::Blocks, block_seconds: None });
        };
        let phase = self.take_turns(&mut experiment, observer);
        self.experiment = Some(experiment);
        phase
    }

    /// Runs blocks of one of the source's counting passes, which are recorded separately from
    /// measurements.
    ///
    /// # Errors
    /// Returns an error if the source reports an unrecoverable error.
    pub fn count(
        &mut self,
        pass: Pass,
        blocks: u32,
        observer: Observer<'_>,
    ) -> Result<Phase, S::Error> {
        let seed = self.samples.plan.as_ref().map_or(0, |plan| plan.seed);
        // The stream is separate from those of warm-up and measuring.
        self.fixed(blocks, seed ^ (pass as u64 + 2), Purpose::Count(pass), observer)
    }

    fn fixed(
        &mut self,
        blocks: u32,
        seed: u64,
        purpose: Purpose,
        observer: Observer<'_>,
    ) -> Result<Phase, S::Error> {
        if blocks == 0 {
            return Ok(Phase { reason: StopReason::Blocks, block_seconds: None });
        }
        let plan = Plan {
            stop: StopRule::Fixed { blocks },
            budget_seconds: None,
            ..Plan::sequential(0.95, Threshold::default(), seed)
        };
        let mut experiment = Experiment::of_units(plan, &self.units).with_purpose(purpose);
        self.take_turns(&mut experiment, observer)
    }

    /// Runs turns of an experiment until there is a reason to stop.
    fn take_turns(
        &mut self,
        experiment: &mut Experiment,
        observer: Observer<'_>,
    ) -> Result<Phase, S::Error> {
        let began = (self.clock)();
        let (mut seconds, mut block_began) = (0.0, 0.0);
        // Seconds the source spent on preparations.
        let mut preparing = 0.0;
        let mut first_started = None;
        let pass = match experiment.purpose() {
            Purpose::Count(pass) => Some(pass),
            Purpose::WarmUp | Purpose::Measure => None,
        };
        // An interrupted pass continues after its last block.
        let first_block = pass.map_or(0, |_| self.samples.next_block(pass));
        let mut phase = Phase { reason: StopReason::Clear, block_seconds: None };
        loop {
            observer(Standing { experiment: &mut *experiment, seconds });
            let Some(turn) = experiment.next_turn() else { return Ok(phase) };
            let before = (self.clock)();
            let taken = match self.source.ready(&turn) {
                Ok(None) => None,
                Ok(Some(how)) => Some(Ok(Measured::failed(0, how))),
                Err(obstacle) => Some(Err(obstacle)),
            };
            preparing += (self.clock)() - before;
            let measured = match taken.unwrap_or_else(|| self.take_turn(&turn)) {
                Err(obstacle) => return Ok(Phase { reason: reason_of(obstacle)?, ..phase }),
                Ok(measured) => measured,
            };
            let time = measured
                .started_seconds
                .map_or(seconds, |started| started - *first_started.get_or_insert(started));
            let failed = measured.failed.clone();
            let values = match (turn.purpose, &failed) {
                (Purpose::WarmUp, _) | (_, Some(_)) => Vec::new(),
                (Purpose::Measure | Purpose::Count(_), None) => {
                    self.keep(&turn, measured, (pass, first_block + turn.block), time, experiment)
                }
            };
            if let Err(obstacle) = self.source.conclude(&turn) {
                return Ok(Phase { reason: reason_of(obstacle)?, ..phase });
            }
            seconds = (self.clock)() - began - preparing;
            let blocks = experiment.blocks_of(turn.unit);
            let step = match failed {
                Some((row, how)) => {
                    self.failures.push(Failure { turn, row, how, blocks });
                    block_began = seconds;
                    experiment.fail(turn, seconds)
                }
                None => experiment.observe(turn, &values, seconds),
            };
            if experiment.blocks_of(turn.unit) > blocks {
                let took = seconds - block_began;
                block_began = seconds;
                phase.block_seconds = Some(phase.block_seconds.map_or(took, |q| q.min(took)));
            }
            if (self.interrupted)() {
                return Ok(Phase { reason: StopReason::Interrupted, ..phase });
            }
            if let Step::Stop(reason) = step {
                return Ok(Phase { reason, ..phase });
            }
        }
    }

    /// Runs a turn, repeating it if it is lost.
    fn take_turn(&mut self, turn: &Turn) -> Result<Measured, Obstacle<S::Error>> {
        loop {
            match self.source.measure(turn) {
                Err(Obstacle::Lost) => self.lost += 1,
                other => return other,
            }
        }
    }

    /// Stores and records the result of a turn, and returns the values of the deciding metric by
    /// row.
    fn keep(
        &mut self,
        turn: &Turn,
        measured: Measured,
        (pass, block): InPass,
        time: f64,
        experiment: &mut Experiment,
    ) -> Vec<f64> {
        self.learn_metrics();
        let unit = &self.units[turn.unit];
        let mut deciding = vec![f64::NAN; unit.rows()];
        let mut given = HashSet::new();
        let several = unit.builds.get(turn.place).is_some_and(|&builds| builds > 1);
        for result in measured.rows {
            let subject = match &result.row {
                OfRow::Known(row) => unit.places[turn.place].get(*row).copied(),
                OfRow::Discovered(row) => {
                    let (samples, recorder) = (&mut self.samples, &mut self.recorder);
                    self.discovered.subject((turn.unit, unit), row, turn.place, samples, recorder)
                }
            };
            let Some(subject) = subject.filter(|&subject| given.insert(subject)) else { continue };
            let mut values = vec![f64::NAN; self.samples.metrics.len()];
            for (&column, value) in self.columns.iter().zip(result.values) {
                values[column] = value;
            }
            match result.row {
                OfRow::Known(row) => {
                    deciding[row] = values.get(self.primary).copied().unwrap_or(f64::NAN);
                }
                OfRow::Discovered(_) => experiment.discover(self.samples.subjects[subject].row),
            }
            let time = pass.is_none().then(|| nanoseconds(self.since_start + time));
            let observation = Observation {
                subject,
                pass,
                block: Some(block),
                position: Some(turn.position),
                level: if several { vec![turn.build] } else { Vec::new() },
                time,
                outcome: result.ended,
                values,
            };
            if let Some(recorder) = &mut self.recorder {
                recorder.observation(&observation);
                // These values are kept only in the recording, since there may be millions.
                for (metric, mut values) in result.inner {
                    values.retain(|value| value.is_finite());
                    recorder.inner(&Inner { subject, block, metric, values });
                }
            }
            self.samples.push(observation);
            for own in result.histograms {
                let own = Buckets { subject, block, ..own };
                if let Some(recorder) = &mut self.recorder {
                    recorder.histogram(&own);
                }
                self.samples.histograms.push(own);
            }
            for own in result.counts {
                let own = Counts { subject, block, ..own };
                if let Some(recorder) = &mut self.recorder {
                    recorder.counts(&own);
                }
                self.samples.counts.push(own);
            }
        }
        deciding
    }

    /// Ends the session: stores and records findings, facts known only at the end, and the reason
    /// for stopping.
    pub fn close(&mut self, reason: StopReason, late_facts: Environment) {
        self.samples.stop = Some(reason);
        let mut found = self.source.findings(&self.samples, &self.failures);
        found.extend(self.lost_runs());
        for finding in found {
            if !self.samples.findings.contains(&finding) {
                self.samples.findings.push(finding);
            }
        }
        self.samples.environment.facts.extend(late_facts.facts.clone());
        let blocks = match self.units.as_slice() {
            // Any block may lack discovered rows, or places of a search, so these need not be
            // complete.
            [unit] if !unit.discovers && !unit.search => {
                self.samples.complete_blocks(self.primary).len() as u32
            }
            _ => self.samples.next_block(None),
        };
        if let Some(recorder) = &mut self.recorder {
            for finding in self.samples.findings.iter().skip(self.findings_recorded) {
                recorder.finding(finding);
            }
            recorder.end(&late_facts, reason, blocks);
        }
    }

    fn lost_runs(&self) -> Option<Finding> {
        let finding = Finding::new(
            code::INCOMPLETE_BLOCKS,
            format!("{} runs were lost and repeated", self.lost),
        )
        .at(Severity::Warning)
        .with("runs", f64::from(self.lost))
        .advise(Action::run("find out what kills processes on this machine", "dmesg"));
        (self.lost > 0).then_some(finding)
    }
}

/// Converts an obstacle to the reason for stopping, or to the source's error if it is broken.
fn reason_of<E>(obstacle: Obstacle<E>) -> Result<StopReason, E> {
    match obstacle {
        Obstacle::Broken(error) => Err(error),
        Obstacle::OutOfTime => Ok(StopReason::Budget),
        Obstacle::Interrupted | Obstacle::Lost => Ok(StopReason::Interrupted),
    }
}

/// Rounds seconds to nanoseconds, the precision of times in files, which removes the rounding
/// errors of a subtraction.
fn nanoseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}
