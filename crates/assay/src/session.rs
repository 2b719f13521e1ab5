//! One measuring session: it asks the design whose turn it is, has the runner measure it, records the observation, and feeds
//! it back, until there is a reason to stop.
//!
//! Everything that can go wrong while measuring ends here as an [`Obstacle`] beside what was measured so far; nothing that was
//! measured is ever thrown away. It must not decide anything about samples, nor draw while a run is in flight.

use crate::progress::Progress;
use assay_analysis::{Experiment, Step, Turn};
use assay_data::assay_file::Writer;
use assay_data::{
    Finding, Metric, Observation, Outcome, Plan, Samples, Severity, StopReason, Unit,
};
use assay_measure::hooks::HookError;
use assay_measure::{
    Command, MeasureError, RunOptions, RunResult, Runner, SubjectId, hooks, interrupt,
};
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A command with what belongs to it.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The name that people see.
    pub name: String,
    /// The command as it was typed.
    pub text: String,
    /// What is run.
    pub command: Command,
    /// Shell line before every run, not measured.
    pub prepare: Option<String>,
    /// Shell line after every run, not measured.
    pub conclude: Option<String>,
}

/// Which exit statuses are no reason to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tolerated {
    /// Only success.
    #[default]
    Nothing,
    /// Any status or signal.
    Anything,
    /// These statuses.
    Statuses(Vec<i32>),
}

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
    /// The user stopped it, and no whole observation came of that.
    #[error("interrupted {0}")]
    Interrupted(String),
}

/// The metrics of a command, in the order of [`values`].
pub(crate) fn metrics() -> Vec<Metric> {
    vec![
        Metric::wall(),
        Metric::lower("cpu", Unit::Second),
        Metric::lower("user", Unit::Second),
        Metric::lower("system", Unit::Second),
        Metric::lower("max_rss", Unit::Byte),
        Metric::lower("minor_faults", Unit::One),
        Metric::lower("major_faults", Unit::One),
        Metric::lower("voluntary_switches", Unit::One),
        Metric::lower("involuntary_switches", Unit::One),
        Metric::lower("block_in", Unit::One),
        Metric::lower("block_out", Unit::One),
    ]
}

fn values(result: &RunResult) -> Vec<f64> {
    // The kernel counts whole microseconds: the sum is rounded to them, so that equal times are equal numbers.
    let cpu = ((result.user_seconds + result.system_seconds) * 1e6).round() / 1e6;
    vec![
        result.wall_seconds,
        cpu,
        result.user_seconds,
        result.system_seconds,
        result.max_rss_bytes as f64,
        result.minor_faults as f64,
        result.major_faults as f64,
        result.voluntary_switches as f64,
        result.involuntary_switches as f64,
        result.block_in as f64,
        result.block_out as f64,
    ]
}

/// Where observations are recorded as they are measured.
pub(crate) struct Record {
    /// The file; `None` once writing failed.
    pub writer: Option<Writer<File>>,
    /// Its path.
    pub path: PathBuf,
    /// Why writing failed.
    pub failure: Option<String>,
}

impl Record {
    /// Does something with the writer; after the first failure nothing more is written, and measuring goes on.
    pub fn write(&mut self, step: impl FnOnce(&mut Writer<File>) -> std::io::Result<()>) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = step(writer) {
            self.failure = Some(error.to_string());
            self.writer = None;
        }
    }
}

/// A session that is ready to measure.
pub(crate) struct Session<'a> {
    runner: Runner,
    ids: Vec<SubjectId>,
    commands: &'a [Prepared],
    timeout: Option<Duration>,
    tolerated: Tolerated,
    /// What was measured so far.
    pub samples: Samples,
    /// Bytes below which no peak memory can be seen.
    memory_floor: u64,
    left_behind: Vec<u32>,
    lost: u32,
    primary: usize,
}

impl<'a> Session<'a> {
    /// Starts the launcher and hands it the commands.
    pub fn start(
        commands: &'a [Prepared],
        timeout: Option<Duration>,
        tolerated: Tolerated,
        primary: usize,
    ) -> Result<Self, Obstacle> {
        let mut runner = Runner::start()?;
        let ids = commands.iter().map(|c| runner.add(&c.command)).collect::<Result<_, _>>()?;
        let mut samples = Samples::new(metrics());
        for command in commands {
            samples.add(subject(command));
        }
        Ok(Self {
            memory_floor: runner.memory_floor_bytes(),
            runner,
            ids,
            commands,
            timeout,
            tolerated,
            samples,
            left_behind: vec![0; commands.len()],
            lost: 0,
            primary,
        })
    }

    /// Runs a shell line once, unmeasured.
    pub fn hook(&mut self, name: &str, line: Option<&String>) -> Result<(), Obstacle> {
        let Some(line) = line else { return Ok(()) };
        hooks::run(&mut self.runner, name, line).map_err(|error| match error {
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
        let mut experiment = Experiment::new(plan, self.ids.len());
        let mut quickest: Option<f64> = None;
        let mut began = Instant::now();
        for _ in 0..blocks {
            loop {
                progress.warm_up(experiment.blocks(), blocks);
                let turn = experiment.next_turn();
                let result = self.measure(turn, true).map_err(|obstacle| match obstacle {
                    Obstacle::Interrupted(_) => interrupted_early(),
                    other => other,
                })?;
                if interrupt::count() > 0 {
                    return Err(interrupted_early());
                }
                self.conclude(turn)?;
                experiment.observe(turn, result.wall_seconds, 0.0);
                if turn.position as usize + 1 == self.ids.len() {
                    break;
                }
            }
            let took = began.elapsed().as_secs_f64();
            quickest = Some(quickest.map_or(took, |q| q.min(took)));
            began = Instant::now();
        }
        Ok(quickest)
    }

    /// Measures until there is a reason to stop. What was measured is in `samples`, whatever comes back.
    pub fn measure_all(
        &mut self,
        experiment: &mut Experiment,
        record: &mut Option<Record>,
        progress: &mut Progress,
    ) -> Result<StopReason, Obstacle> {
        let began = Instant::now();
        let mut first_started = None;
        loop {
            progress.show(experiment, began.elapsed());
            let turn = experiment.next_turn();
            let first_of_subject = turn.block == 0;
            let result = match self.measure(turn, first_of_subject) {
                Err(Obstacle::Interrupted(_)) => return Ok(StopReason::Interrupted),
                other => other?,
            };
            let first_started = *first_started.get_or_insert(result.started_seconds);
            let observation = Observation {
                subject: turn.subject,
                block: Some(turn.block),
                position: Some(turn.position),
                level: Vec::new(),
                time: Some(nanoseconds(result.started_seconds - first_started)),
                outcome: outcome(&result),
                values: values(&result),
            };
            if let Some(record) = record {
                record.write(|writer| writer.observe(&observation));
            }
            let value = observation.values[self.primary];
            self.samples.push(observation);
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

    /// Findings about the measuring itself.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
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
        findings.extend(self.memory_floor_reached());
        findings
    }

    fn memory_floor_reached(&self) -> Option<Finding> {
        let floor = self.memory_floor;
        let metric = self.samples.metric_index("max_rss")?;
        let smallest = (0..self.ids.len())
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
        self.hook("--conclude", self.commands[turn.subject].conclude.as_ref())
    }

    fn measure(&mut self, turn: Turn, capture_stderr: bool) -> Result<RunResult, Obstacle> {
        let command = &self.commands[turn.subject];
        self.hook("--prepare", command.prepare.as_ref())?;
        let options = RunOptions { pad: turn.padding, timeout: self.timeout, capture_stderr };
        let mut ran = self.runner.run(self.ids[turn.subject], options);
        // The launcher was killed once: a new one is up, and the run is taken again, prepared like any other.
        if matches!(ran, Err(MeasureError::LostRun { .. })) {
            self.lost += 1;
            self.hook("--prepare", command.prepare.as_ref())?;
            ran = self.runner.run(self.ids[turn.subject], options);
        }
        let result = ran.map_err(|error| match error {
            MeasureError::Interrupted => Obstacle::Interrupted("in the middle of a run".to_owned()),
            other => other.into(),
        })?;
        self.left_behind[turn.subject] += u32::from(result.left_behind);
        match failure(&result, &self.tolerated) {
            Some(how) => Err(Obstacle::Failed(failure_message(command, &how, turn, &result))),
            None => Ok(result),
        }
    }
}

fn interrupted_early() -> Obstacle {
    Obstacle::Interrupted("while warming up: nothing was measured yet".to_owned())
}

fn subject(command: &Prepared) -> assay_data::Subject {
    assay_data::Subject {
        name: command.name.clone(),
        command: Some(command.text.clone()),
        shell: command.command.shell,
        cwd: command.command.cwd.as_ref().map(|path| path.display().to_string()),
        env: command.command.env.clone(),
        ..assay_data::Subject::default()
    }
}

/// Times in files carry nanoseconds, not the noise of a subtraction.
fn nanoseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

fn outcome(result: &RunResult) -> Outcome {
    match result.outcome {
        assay_measure::Outcome::Exited(0) => Outcome::Ok,
        assay_measure::Outcome::Exited(status) => Outcome::Exit(status),
        assay_measure::Outcome::Signalled(signal) => Outcome::Signal(signal),
        assay_measure::Outcome::TimedOut | assay_measure::Outcome::WantedTerminal => {
            Outcome::Timeout
        }
    }
}

/// How a run failed, unless that is tolerated.
fn failure(result: &RunResult, tolerated: &Tolerated) -> Option<String> {
    let how = match result.outcome {
        assay_measure::Outcome::Exited(0) | assay_measure::Outcome::TimedOut => return None,
        assay_measure::Outcome::Exited(status) => {
            if matches!(tolerated, Tolerated::Statuses(known) if known.contains(&status)) {
                return None;
            }
            format!("exited with status {status}")
        }
        assay_measure::Outcome::Signalled(signal) => format!("was ended by signal {signal}"),
        assay_measure::Outcome::WantedTerminal => {
            return Some(
                "wanted to read from the terminal, which a measured command does not have"
                    .to_owned(),
            );
        }
    };
    (*tolerated != Tolerated::Anything).then_some(how)
}

fn failure_message(command: &Prepared, how: &str, turn: Turn, result: &RunResult) -> String {
    let first = result.stderr_tail.is_some();
    let when =
        if first { "on its first run".to_owned() } else { format!("in block {}", turn.block + 1) };
    let mut message = format!("`{}` {how} {when}", command.text);
    match result.stderr_tail.as_deref().map(str::trim_end) {
        Some("") => message.push_str("; it said nothing on standard error"),
        Some(tail) => {
            message.push_str(". It said:");
            for line in tail.lines() {
                message.push_str("\n  ");
                message.push_str(line);
            }
        }
        None => message.push_str("; see what it says with --output inherit"),
    }
    message.push_str(
        "\nhint: if that is meant to be, --ignore-failure counts such runs like any other",
    );
    message
}
