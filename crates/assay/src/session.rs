//! The measuring loop: it asks the experiment whose turn it is, has the runner run it, keeps the observation, and hands its
//! value back. It holds no statistics.
//!
//! An observation is recorded the moment it is measured. Nothing here may print or draw while a run is in flight.

mod counting;
mod crew;
mod ending;
mod prepared;
mod record;

pub(crate) use counting::RUNS as COUNTING_RUNS;
pub(crate) use prepared::{Prepared, Tolerated};
pub(crate) use record::Record;

use crate::meter::{Measured, Meter, Missing, STEAL_FROM_SECONDS};
use crate::progress::Progress;
use assay_analysis::{Experiment, Step, Turn};
use assay_data::{Finding, Inner, Observation, Outcome, Plan, Samples, Severity, StopReason};
use assay_measure::counters::{Event, Refusal};
use assay_measure::fingerprint::Fingerprints;
use assay_measure::hooks::HookError;
use assay_measure::machine::{KnobError, Machine};
use assay_measure::{MeasureError, RunOptions, RunResult, environment, hooks, interrupt};
use crew::Crew;
use ending::{failure, failure_message, outcome};
use prepared::{control, subject};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Why measuring could not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Obstacle {
    /// A measured command failed.
    #[error("{0}")]
    Failed(String),
    /// A hook failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// The runner can't go on.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// What a metric is to be read from does not hold it.
    #[error("{0}")]
    Reading(String),
    /// The machine can't be set as was asked for.
    #[error(transparent)]
    Knob(#[from] KnobError),
    /// The user stopped it, and no whole observation came of that.
    #[error("interrupted {0}")]
    Interrupted(String),
}

/// How a session measures.
#[derive(Debug, Default)]
pub(crate) struct Manner {
    /// After so long a run is ended.
    pub timeout: Option<Duration>,
    /// Which failures are no reason to stop.
    pub tolerated: Tolerated,
    /// Events to count.
    pub events: Vec<Event>,
    /// The machine tells how much time is stolen from it.
    pub steal: bool,
    /// Empty the caches of files before every run.
    pub drop_caches: bool,
}

/// A session that is ready to measure.
pub(crate) struct Session {
    crew: Crew,
    commands: Vec<Prepared>,
    manner: Manner,
    meter: Meter,
    /// What was measured so far.
    pub samples: Samples,
    /// Seconds between the start of the run and the first observation of this session: not 0 for one that goes on.
    since_start: f64,
    /// Blocks that were taken before to count: they stand between those of the experiment.
    blocks_between: u32,
    left_behind: Vec<u32>,
    lost: u32,
    /// How long the last run of each command took, s.
    last_wall: Vec<f64>,
    /// How often each metric of each command could not be read, and why at first; after it could be read before.
    missing: BTreeMap<(usize, String), (u32, String)>,
    /// Metrics that a command did not give while warming up, and why at first.
    unproved: BTreeMap<(usize, String), String>,
    /// The metrics that each command has given.
    proved: Vec<Vec<String>>,
    refused: Vec<Finding>,
    refusals: Vec<Refusal>,
    warming_up: bool,
    /// Whether the commands have run before anything is recorded.
    warmed_up: bool,
    /// The share of the CPUs' time that the hypervisor gave to others while measuring.
    pub steal_share: Option<f64>,
}

/// One turn's outcome.
struct Taken {
    measured: Measured,
    outcome: Outcome,
    started_seconds: f64,
    wall_seconds: f64,
}

impl Session {
    /// Starts the runners and hands them the commands. What the machine refuses to count is told in [`Session::findings`].
    pub fn start(
        commands: Vec<Prepared>,
        manner: Manner,
        meter: impl FnOnce(&[Event]) -> Meter,
    ) -> Result<Self, Obstacle> {
        let (crew, refusals) = Crew::start(&commands, &manner.events)?;
        let meter = meter(crew.events());
        let mut samples = Samples::new(meter.metrics().to_vec());
        let mut files = Fingerprints::default();
        for command in &commands {
            samples.add(subject(command, &mut files));
        }
        let mut refused = not_counted(&refusals);
        if crew.counts_user_only() {
            refused.push(
                Finding::new(
                    "COUNTERS_USER_ONLY",
                    Severity::Note,
                    "the counters see only what the programs do themselves, not what the kernel does for them",
                )
                .next("sysctl kernel.perf_event_paranoid=1, or run as root"),
            );
        }
        Ok(Self {
            crew,
            manner,
            meter,
            samples,
            since_start: 0.0,
            blocks_between: 0,
            left_behind: vec![0; commands.len()],
            lost: 0,
            last_wall: vec![0.0; commands.len()],
            missing: BTreeMap::new(),
            unproved: BTreeMap::new(),
            proved: vec![Vec::new(); commands.len()],
            refused,
            refusals,
            warming_up: false,
            warmed_up: false,
            steal_share: None,
            commands,
        })
    }

    /// Goes on with what was measured before, so many seconds after its start.
    pub fn go_on_with(&mut self, samples: Samples, since_start: f64) {
        self.blocks_between = samples.counting_blocks().len() as u32;
        self.samples = samples;
        self.since_start = since_start;
    }

    /// Why an event is not counted, if it was asked for.
    pub fn why_not_counted(&self, event: &str) -> Option<&str> {
        self.refusals.iter().find(|r| r.event == event).map(|r| r.why.as_str())
    }

    /// Measures the metrics of a run that is gone on with.
    ///
    /// # Errors
    /// In words, when they are not those of this session.
    pub fn adopt_metrics(&mut self, recorded: &[assay_data::Metric]) -> Result<(), String> {
        self.meter.adopt(recorded)
    }

    /// All metrics known so far; more may come with the first runs of a program that gives some.
    pub fn learn_metrics(&mut self) -> &[assay_data::Metric] {
        for metric in self.meter.metrics() {
            self.samples.add_metric(metric.clone());
        }
        &self.samples.metrics
    }

    /// Runs a shell line once, unmeasured.
    pub fn hook(&mut self, name: &str, line: Option<&String>) -> Result<(), Obstacle> {
        let Some(line) = line else { return Ok(()) };
        hooks::run(self.crew.first(), name, line).map_err(|error| match error {
            HookError::NotRun { source, .. } if matches!(*source, MeasureError::Interrupted) => {
                Obstacle::Interrupted(format!("in the {name} line"))
            }
            other => other.into(),
        })
    }

    /// Takes warm-up blocks, not recorded, and returns the seconds that the quickest took.
    pub fn warm_up(
        &mut self,
        blocks: u32,
        seed: u64,
        progress: &Progress,
    ) -> Result<Option<f64>, Obstacle> {
        let plan = Plan {
            stop: assay_data::StopRule::Fixed { blocks },
            budget_seconds: None,
            // Another stream than the experiment's own, so that warming up does not shift its order.
            ..Plan::sequential(0.95, assay_data::Threshold::default(), seed ^ 1)
        };
        let mut experiment = Experiment::new(plan, self.commands.len());
        self.warming_up = true;
        let mut quickest: Option<f64> = None;
        let mut began = Instant::now();
        for _ in 0..blocks {
            loop {
                progress.warm_up(experiment.blocks(), blocks);
                let turn = experiment.next_turn();
                let taken = self.measure(turn, true).map_err(|obstacle| match obstacle {
                    Obstacle::Interrupted(_) => interrupted_early(),
                    other => other,
                })?;
                if interrupt::count() > 0 {
                    return Err(interrupted_early());
                }
                self.conclude(turn)?;
                experiment.observe(turn, taken.wall_seconds, 0.0);
                if turn.position as usize + 1 == self.commands.len() {
                    break;
                }
            }
            let took = began.elapsed().as_secs_f64();
            quickest = Some(quickest.map_or(took, |q| q.min(took)));
            began = Instant::now();
        }
        self.warmed_up = blocks > 0;
        self.warming_up = false;
        self.meter.forget_problems();
        let proved = &self.proved;
        self.unproved.retain(|(subject, metric), _| !proved[*subject].contains(metric));
        match self.unproved.pop_first() {
            Some(((subject, metric), why)) => Err(self.never_given(subject, &metric, &why)),
            None => Ok(quickest),
        }
    }

    /// Measures until there is a reason to stop. What was measured is in `samples`, whatever comes back.
    pub fn measure_all(
        &mut self,
        experiment: &mut Experiment,
        primary: usize,
        record: &mut Option<Record>,
        progress: &mut Progress,
    ) -> Result<StopReason, Obstacle> {
        let (began, steal_before) = (Instant::now(), environment::steal_seconds());
        let reason = self.measure_until_stop(experiment, primary, record, progress, began);
        let stolen = steal_before.and_then(|b| Some((environment::steal_seconds()? - b).max(0.0)));
        let cpus = self.samples.environment.number("cpus_online");
        let share = stolen.zip(cpus).map(|(s, cpus)| s / (began.elapsed().as_secs_f64() * cpus));
        self.steal_share = share.filter(|share| share.is_finite());
        reason
    }

    fn measure_until_stop(
        &mut self,
        experiment: &mut Experiment,
        primary: usize,
        record: &mut Option<Record>,
        progress: &mut Progress,
        began: Instant,
    ) -> Result<StopReason, Obstacle> {
        let mut first_started = None;
        loop {
            progress.show(experiment, began.elapsed());
            let turn = experiment.next_turn();
            // What a program says on its first run is worth a pipe; those that are compared have none.
            let first_of_subject = turn.block == 0 && !self.warmed_up;
            let taken = match self.measure(turn, first_of_subject) {
                Err(Obstacle::Interrupted(_)) => return Ok(StopReason::Interrupted),
                other => other?,
            };
            let first_started = *first_started.get_or_insert(taken.started_seconds);
            let time = self.since_start + taken.started_seconds - first_started;
            let value = self.keep(turn, taken, nanoseconds(time), primary, record);
            self.conclude(turn)?;
            let step = experiment.observe(turn, value, began.elapsed().as_secs_f64());
            if interrupt::count() > 0 {
                return Ok(StopReason::Interrupted);
            }
            if let Step::Stop(reason) = step {
                return Ok(reason);
            }
        }
    }

    /// Records an observation and keeps it; returns its value of the metric that decides.
    fn keep(
        &mut self,
        turn: Turn,
        taken: Taken,
        time: f64,
        primary: usize,
        record: &mut Option<Record>,
    ) -> f64 {
        let known = self.samples.metrics.len();
        for metric in self.meter.metrics().iter().skip(known).cloned().collect::<Vec<_>>() {
            Record::add_metric(record, &mut self.samples, &metric);
        }
        let block = turn.block + self.blocks_between;
        let observation = Observation {
            subject: turn.subject,
            block: Some(block),
            position: Some(turn.position),
            level: Vec::new(),
            time: Some(time),
            outcome: taken.outcome,
            values: taken.measured.values,
        };
        let inner = taken.measured.inner.into_iter().map(|(metric, mut values)| {
            values.retain(|value| value.is_finite());
            Inner { subject: turn.subject, block, metric, values }
        });
        let inner: Vec<Inner> = inner.collect();
        let value = observation.values.get(primary).copied().unwrap_or(f64::NAN);
        Record::observe(record, &mut self.samples, observation);
        // They stand in the record alone: nothing that decides or shows reads them, and there may be millions.
        if let Some(record) = record {
            for inner in &inner {
                record.write(|writer| writer.inner(inner));
            }
        }
        value
    }

    /// Findings about the measuring itself.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = self.refused.clone();
        for (command, &count) in self.commands.iter().zip(&self.left_behind) {
            if count > 0 {
                findings.push(
                    Finding::new(
                        "LEFT_PROCESSES",
                        Severity::Warning,
                        format!(
                            "{} left processes running after {count} runs; they were ended",
                            command.name
                        ),
                    )
                    .about(&command.name)
                    .with("runs", f64::from(count))
                    .next("let the command wait for its children: their work is not in its time"),
                );
            }
        }
        if self.lost > 0 {
            findings.push(
                Finding::new(
                    "LOST_RUN",
                    Severity::Warning,
                    format!("{} runs were lost and taken again", self.lost),
                )
                .with("runs", f64::from(self.lost))
                .next("find out who kills processes on this machine: dmesg"),
            );
        }
        for ((subject, metric), (count, why)) in &self.missing {
            let name = &self.commands[*subject].name;
            findings.push(
                Finding::new(
                    "METRIC_MISSING",
                    Severity::Warning,
                    format!("{metric} of '{name}' is missing in {count} runs; the first time: {why}"),
                )
                .about(name)
                .with("runs", f64::from(*count))
                .next("blocks without it don't count for it; see why the program does not give it each time"),
            );
        }
        let names: Vec<String> = self.commands.iter().map(|c| c.name.clone()).collect();
        findings.extend(self.meter.findings(&names));
        findings.extend(self.memory_floor_reached());
        findings
    }

    fn memory_floor_reached(&self) -> Option<Finding> {
        let floor = self.crew.memory_floor_bytes();
        let metric = self.samples.metric_index("max_rss")?;
        let smallest = (0..self.commands.len())
            .flat_map(|subject| self.samples.series(subject, metric).values)
            .min_by(f64::total_cmp)?;
        (smallest <= floor as f64).then(|| {
            let message = format!(
                "peak memory below {} KiB can't be seen: that is the launcher's own",
                floor / 1024
            );
            Finding::new("MEMORY_FLOOR", Severity::Note, message).with("floor", floor as f64)
        })
    }

    /// What comes after a run, once the run is recorded.
    fn conclude(&mut self, turn: Turn) -> Result<(), Obstacle> {
        let line = self.commands[turn.subject].conclude.clone();
        self.hook("--conclude", line.as_ref())
    }

    /// What comes before a run.
    fn prepare(&mut self, turn: Turn) -> Result<(), Obstacle> {
        let line = self.commands[turn.subject].prepare.clone();
        self.hook("--prepare", line.as_ref())?;
        if self.manner.drop_caches {
            Machine::here().drop_caches()?;
        }
        Ok(())
    }

    fn measure(&mut self, turn: Turn, capture_stderr: bool) -> Result<Taken, Obstacle> {
        let options =
            RunOptions { pad: turn.padding, timeout: self.manner.timeout, capture_stderr };
        let (results, mut steal);
        loop {
            self.prepare(turn)?;
            self.crew.forget_counts();
            // Stolen time is counted in steps: short runs are spared the reading.
            let counts_steal =
                self.manner.steal && self.last_wall[turn.subject] >= STEAL_FROM_SECONDS;
            let before = counts_steal.then(environment::steal_seconds).flatten();
            let ran = self.crew.run(turn.subject, self.commands[turn.subject].jobs, options);
            steal = before.and_then(|b| Some((environment::steal_seconds()? - b).max(0.0)));
            results = match ran {
                // The launcher was killed once: a new one is up, and the run is taken again, prepared like any other.
                Err(MeasureError::LostRun { .. }) => {
                    self.lost += 1;
                    continue;
                }
                Err(MeasureError::Control { setting, source, needs, .. })
                    if self.samples.is_empty() =>
                {
                    self.do_without(setting, &source, needs)?;
                    continue;
                }
                Err(MeasureError::Interrupted) => {
                    return Err(Obstacle::Interrupted("in the middle of a run".to_owned()));
                }
                other => other?,
            };
            break;
        }
        self.judge(turn, &results)?;
        let counts = self.crew.take_counts(self.commands[turn.subject].jobs);
        let mut measured = self.meter.read(turn.subject, &results, steal, &counts);
        self.note_missing(turn.subject, &mut measured)?;
        let wall_seconds = measured.values[0];
        self.last_wall[turn.subject] = wall_seconds;
        let started_seconds = results[0].started_ns as f64 / 1e9;
        Ok(Taken { outcome: outcome(&results), measured, started_seconds, wall_seconds })
    }

    /// A failure that the user did not expect ends the session.
    fn judge(&mut self, turn: Turn, results: &[RunResult]) -> Result<(), Obstacle> {
        for result in results {
            self.left_behind[turn.subject] += u32::from(result.left_behind);
            if let Some(how) = failure(result, &self.manner.tolerated) {
                let command = &self.commands[turn.subject];
                return Err(Obstacle::Failed(failure_message(command, &how, turn, result)));
            }
        }
        Ok(())
    }

    /// A metric that was asked for and that a command has never given is a mistake; one that it gives only sometimes is told in
    /// the end. Warming up decides which it is, if there is any.
    fn note_missing(&mut self, subject: usize, measured: &mut Measured) -> Result<(), Obstacle> {
        let proved = &mut self.proved[subject];
        let metrics = self.meter.metrics().iter().zip(&measured.values);
        for (metric, _) in metrics.filter(|(_, value)| value.is_finite()) {
            if !proved.contains(&metric.name) {
                proved.push(metric.name.clone());
            }
        }
        for Missing { metric, why, must } in measured.missing.drain(..) {
            let is_proved = proved.contains(&metric);
            if !is_proved && !must {
                // What one command gives of its own accord is not missing from the others.
                continue;
            }
            if self.warming_up {
                self.unproved.entry((subject, metric)).or_insert(why);
            } else if is_proved {
                self.missing.entry((subject, metric)).or_insert((0, why)).0 += 1;
            } else {
                return Err(self.never_given(subject, &metric, &why));
            }
        }
        Ok(())
    }

    fn never_given(&self, subject: usize, metric: &str, why: &str) -> Obstacle {
        let command = &self.commands[subject].text;
        Obstacle::Reading(format!("--metric {metric}: `{command}`: {why}"))
    }

    /// Goes on without a setting that the system refuses.
    fn do_without(
        &mut self,
        setting: assay_measure::Setting,
        source: &std::io::Error,
        needs: &str,
    ) -> Result<(), Obstacle> {
        let option = crew::option_of(setting);
        crew::without(&mut self.commands, setting);
        self.crew.teach(&self.commands)?;
        for (subject, command) in self.samples.subjects.iter_mut().zip(&self.commands) {
            subject.control = control(command);
        }
        let needs = if needs.is_empty() { String::new() } else { format!("; it needs {needs}") };
        self.refused.push(
            Finding::new(
                "NOT_CONTROLLED",
                Severity::Warning,
                format!("{option} is refused ({source}){needs}: measured without"),
            )
            .next("run as root, or leave the option out"),
        );
        Ok(())
    }
}

/// What can't be counted, one finding for every reason.
fn not_counted(refusals: &[Refusal]) -> Vec<Finding> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for refusal in refusals {
        by_reason.entry(&refusal.why).or_default().push(&refusal.event);
    }
    let told = by_reason.iter().map(|(why, events)| {
        let message = format!("{} can't be counted: {why}", events.join(", "));
        Finding::new("NOT_COUNTED", Severity::Warning, message)
    });
    told.collect()
}

fn interrupted_early() -> Obstacle {
    Obstacle::Interrupted("while warming up: nothing was measured yet".to_owned())
}

/// Times in files carry nanoseconds, not the noise of a subtraction.
fn nanoseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}
