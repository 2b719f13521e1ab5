//! Commands as a source: each turn is one run of a command by the launcher, with hooks before and
//! after it.
//!
//! This module prints nothing and computes no statistics.

mod comparing;
mod counting;
mod ending;
mod passes;
mod prepared;
mod runners;
mod same;

pub(crate) use counting::RUNS as COUNTING_RUNS;
pub(crate) use prepared::{Prepared, Tolerated};
pub(crate) use same::{Outputs, are_same, read_where_noticed};

use crate::counted::Counted;
use crate::meter::{Measured, Meter, Missing, STEAL_FROM_SECONDS};
use crate::progress::Progress;
use crate::record::Record;
use crate::run_error::RunError;
use assay_analysis::engine::Session;
use assay_data::code;
use assay_data::finding::shared::{not_controlled, not_counted};
use assay_data::source::{
    self, Failure, Layout, Obstacle, OfRow, Purpose, RowResult, Source, Turn,
};
use assay_data::system_error::reason;
use assay_data::{Action, Finding, Metric, Samples, StopReason};
use assay_measure::counters::{Event, Refusal};
use assay_measure::environment::StolenTime;
use assay_measure::fingerprint::Fingerprints;
use assay_measure::hooks::HookError;
use assay_measure::machine::Machine;
use assay_measure::trace::Window;
use assay_measure::{
    LastWords, MeasureError, Output, RunOptions, RunResult, Runner, RunnerKind, hooks, interrupt,
};
use ending::{failure, failure_message, outcome};
use passes::Passes;
use prepared::control;
use runners::Runners;
use same::Same;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Number of bytes that a command may write to standard error in one run before later runs are no
/// longer captured, because its output could fill the memory.
const TALKATIVE: usize = 4096;

/// The settings for measuring commands.
#[derive(Debug, Default)]
pub(crate) struct RunSettings {
    /// Time after which a run is killed.
    pub timeout: Option<Duration>,
    /// Failures that do not stop the measurement.
    pub tolerated: Tolerated,
    /// Hardware and software events to count.
    pub events: Vec<Event>,
    /// True if stolen time is to be read, because the machine reports it.
    pub steal: bool,
    /// True if the file caches are emptied before every run.
    pub drop_caches: bool,
    /// Kinds of counts to take after the timed runs, in one pass each.
    pub counted: Vec<Counted>,
    /// Whether outputs are compared.
    pub outputs: Outputs,
    /// True if the digests of the commands' files are not recorded, so that the files need not be
    /// read.
    pub unidentified: bool,
}

/// Commands that are ready to be measured.
pub(crate) struct Commands {
    runners: Runners,
    commands: Vec<Prepared>,
    settings: RunSettings,
    meter: Meter,
    passes: Passes,
    same: Same,
    left_behind: Vec<u32>,
    /// For each command, true if its last run left processes behind.
    has_left: Vec<bool>,
    /// For each command, the number of runs that left processes behind and whose `--conclude`
    /// failed.
    needless: Vec<u32>,
    /// Wall time of the last run of each command, in seconds.
    last_wall: Vec<f64>,
    /// For each command, true if it writes so much to standard error that only its first run is
    /// captured.
    talks_much: Vec<bool>,
    /// Number of runs in which a command lacked a metric that it had provided before, with the
    /// first reason.
    missing: BTreeMap<(usize, String), (u32, String)>,
    /// Metrics that a command did not provide during warm-up, with the first reason.
    unproved: BTreeMap<(usize, String), String>,
    /// For each command, the metrics that it has provided at least once.
    proved: Vec<Vec<String>>,
    refused: Vec<Finding>,
    refusals: Vec<Refusal>,
    /// True once warm-up runs have been made.
    warmed_up: bool,
    /// True once anything is recorded, after which no setting may change.
    recorded: bool,
}

/// A session that measures commands.
pub(crate) type CommandSession = Session<'static, Commands, Record>;

/// Starts the runner of a session, which gets ready while the caller prepares the commands.
///
/// # Errors
///
/// Fails if the runner cannot be started.
pub(crate) fn runner() -> Result<Runner, RunError> {
    Ok(Runner::start()?)
}

/// Starts a session that measures these commands. [`Commands::findings`] reports what the machine
/// refuses to count.
///
/// # Errors
///
/// Fails if the runners cannot be started or given the commands.
pub(crate) fn session(
    runner: Runner,
    commands: Vec<Prepared>,
    settings: RunSettings,
    meter: impl FnOnce(&[Event]) -> Meter,
) -> Result<CommandSession, RunError> {
    let source = Commands::start(runner, commands, settings, meter)?;
    let began = Instant::now();
    let session = Session::new(source, move || began.elapsed().as_secs_f64());
    Ok(session.interrupted_by(|| interrupt::count() > 0))
}

/// Runs warm-up blocks and returns the duration of the fastest one in seconds. Afterwards it is
/// known which metrics can be measured.
///
/// # Errors
///
/// Fails if a command fails or lacks a required metric, or if the user interrupts.
pub(crate) fn warm_up(
    session: &mut CommandSession,
    blocks: u32,
    seed: u64,
    progress: &Progress,
) -> Result<Option<f64>, RunError> {
    let phase = session.warm_up(blocks, seed, &mut |standing| {
        progress.warm_up(standing.experiment.blocks(), blocks);
    })?;
    if phase.reason == StopReason::Interrupted {
        let why = "while warming up: nothing was measured yet";
        return Err(RunError::Interrupted(why.to_owned()));
    }
    session.source.end_warm_up()?;
    // A setting may have been refused during warm-up.
    for (subject, command) in session.samples.subjects.iter_mut().zip(&session.source.commands) {
        subject.control = control(command);
    }
    Ok(phase.block_seconds)
}

/// Measures until there is a reason to stop. Also returns the fraction of CPU time that the
/// hypervisor stole meanwhile.
///
/// # Errors
///
/// The inner result is an error if measuring cannot continue.
pub(crate) fn measure(
    session: &mut CommandSession,
    progress: &mut Progress,
) -> (Result<StopReason, RunError>, Option<f64>) {
    let (began, stolen) = (Instant::now(), StolenTime::start());
    let phase = session.measure(&mut |standing| progress.show(standing));
    let stolen = stolen.and_then(StolenTime::seconds);
    let cpus = session.samples.environment.number("cpus_online");
    let share = stolen.zip(cpus).map(|(s, cpus)| s / (began.elapsed().as_secs_f64() * cpus));
    (phase.map(|phase| phase.reason), share.filter(|share| share.is_finite()))
}

/// The result of one turn of a command.
struct CommandRun {
    measured: Measured,
    outcome: assay_data::Outcome,
    started_seconds: f64,
}

impl Source for Commands {
    type Error = RunError;

    fn layout(&self) -> Layout {
        let mut files = (!self.settings.unidentified).then(Fingerprints::default);
        let mut samples = Samples::default();
        for command in &self.commands {
            prepared::add(&mut samples, command, files.as_mut());
        }
        let mut layout = Layout::one_unit(samples);
        if self.commands.iter().any(|command| !command.builds.is_empty()) {
            let builds = |command: &Prepared| command.every().len() as u32;
            layout.units[0].builds = self.commands.iter().map(builds).collect();
        }
        layout
    }

    fn metrics(&self) -> &[Metric] {
        self.meter.metrics()
    }

    fn measure(&mut self, turn: &Turn) -> Result<source::Measured, Obstacle<RunError>> {
        if let Purpose::Count(pass) = turn.purpose {
            return self.count(turn.place, pass);
        }
        let warming_up = turn.purpose == Purpose::WarmUp;
        let first_of_subject = warming_up || (turn.block == 0 && !self.warmed_up);
        let taken = self.run(turn, first_of_subject)?;
        self.warmed_up |= warming_up;
        self.recorded |= !warming_up;
        Ok(source::Measured {
            rows: vec![RowResult {
                row: OfRow::Known(0),
                values: taken.measured.values,
                inner: taken.measured.inner,
                ended: taken.outcome,
                ..RowResult::default()
            }],
            failed: None,
            started_seconds: Some(taken.started_seconds),
        })
    }

    fn conclude(&mut self, turn: &Turn) -> Result<(), Obstacle<RunError>> {
        if matches!(turn.purpose, Purpose::Count(_)) && !self.passes.ran {
            return Ok(());
        }
        self.conclude_run(turn.place).map_err(RunError::obstacle)
    }

    fn findings(&self, samples: &Samples, _: &[Failure]) -> Vec<Finding> {
        let mut findings = self.refused.clone();
        let counts = self.left_behind.iter().zip(&self.needless);
        for (command, (&left, &needless)) in self.commands.iter().zip(counts) {
            findings.extend(left_processes(&command.name, left, needless));
        }
        for ((subject, metric), (count, why)) in &self.missing {
            let name = &self.commands[*subject].name;
            findings.push(
                Finding::new(code::SAMPLES_PROBLEM, format!("{metric} of '{name}' is missing in {count} runs; the first time: {why}"))
                .about(name)
                .with("runs", f64::from(*count))
                .advise(Action::text("find out why the program does not give it each time; blocks without it don't count for it")),
            );
        }
        let names: Vec<String> = self.commands.iter().map(|c| c.name.clone()).collect();
        findings.extend(self.meter.findings(&names));
        findings.extend(self.memory_floor_reached(samples));
        findings.extend(self.passes.findings(&names));
        findings
    }
}

impl Commands {
    fn start(
        runner: Runner,
        commands: Vec<Prepared>,
        settings: RunSettings,
        meter: impl FnOnce(&[Event]) -> Meter,
    ) -> Result<Self, RunError> {
        let (runners, refusals) = Runners::start(runner, &commands, &settings.events)?;
        let meter = meter(runners.events());
        let mut refused = uncounted(&refusals);
        if runners.counts_user_only() {
            refused.push(
                Finding::new(code::COUNTS_INCOMPLETE, "the counters see only what the programs do themselves, not what the kernel does for them")
                .advise(Action::run("let users count that too", "sysctl kernel.perf_event_paranoid=1"))
                .advise(Action::text("run as root")),
            );
        }
        Ok(Self {
            runners,
            meter,
            passes: Passes::default(),
            same: Same::new(&commands, settings.outputs),
            left_behind: vec![0; commands.len()],
            has_left: vec![false; commands.len()],
            needless: vec![0; commands.len()],
            last_wall: vec![0.0; commands.len()],
            talks_much: vec![false; commands.len()],
            missing: BTreeMap::new(),
            unproved: BTreeMap::new(),
            proved: vec![Vec::new(); commands.len()],
            refused,
            refusals,
            settings,
            warmed_up: false,
            recorded: false,
            commands,
        })
    }

    /// Returns the reason why a requested event is not counted.
    pub fn why_not_counted(&self, event: &str) -> Option<&str> {
        self.refusals.iter().find(|r| r.event == event).map(|r| r.why.as_str())
    }

    /// Adopts the metrics of a run that is resumed.
    ///
    /// # Errors
    ///
    /// Returns a message if they are not the metrics of these commands.
    pub fn adopt_metrics(&mut self, recorded: &[Metric]) -> Result<(), String> {
        self.recorded = true;
        self.meter.adopt(recorded)
    }

    /// Lets the launchers exit in the background. Nothing can be run afterwards.
    pub fn dismiss(&mut self) {
        self.runners.dismiss();
    }

    /// Runs the shell line of a hook once, unmeasured, if there is one.
    pub fn hook(&mut self, name: &str, line: Option<&String>) -> Result<(), RunError> {
        let Some(line) = line else { return Ok(()) };
        hooks::run(self.runners.first(), name, line).map_err(|error| match error {
            HookError::NotRun { source, .. } if matches!(*source, MeasureError::Interrupted) => {
                RunError::Interrupted(format!("in the {name} line"))
            }
            other => other.into(),
        })
    }

    /// Ends the warm-up, which fails if a command never provided a required metric.
    fn end_warm_up(&mut self) -> Result<(), RunError> {
        self.meter.forget_problems();
        let proved = &self.proved;
        self.unproved.retain(|(subject, metric), _| !proved[*subject].contains(metric));
        match self.unproved.pop_first() {
            Some(((subject, metric), why)) => Err(self.never_given(subject, &metric, &why)),
            None => Ok(()),
        }
    }

    fn memory_floor_reached(&self, samples: &Samples) -> Option<Finding> {
        let floor = self.runners.memory_floor_bytes();
        let metric = samples.metric_index("max_rss")?;
        let smallest = (0..self.commands.len())
            .flat_map(|subject| samples.series(subject, metric).values)
            .min_by(f64::total_cmp)?;
        (smallest <= floor as f64).then(|| {
            let whose = match self.runners.kind() {
                RunnerKind::Launcher => "the launcher's",
                RunnerKind::Portable => "assay's",
            };
            let message = format!(
                "peak memory below {} KiB can't be measured: that is {whose} own",
                floor / 1024
            );
            Finding::new(code::MEMORY_FLOOR, message).with("floor", floor as f64)
        })
    }

    /// Runs the `--prepare` line of a command, and empties the file caches if requested.
    fn prepare(&mut self, subject: usize) -> Result<(), RunError> {
        let line = self.commands[subject].prepare.clone();
        self.hook("--prepare", line.as_ref())?;
        if self.settings.drop_caches {
            Machine::here().drop_caches()?;
        }
        Ok(())
    }

    /// Runs the `--conclude` line of a command.
    fn conclude_run(&mut self, subject: usize) -> Result<(), RunError> {
        let line = self.commands[subject].conclude.clone();
        match self.hook("--conclude", line.as_ref()) {
            // The process that the hook was to end was killed together with the run.
            Err(RunError::Hook(HookError::Failed { .. })) if self.has_left[subject] => {
                self.needless[subject] += 1;
                Ok(())
            }
            other => other,
        }
    }

    fn run(&mut self, turn: &Turn, first: bool) -> Result<CommandRun, Obstacle<RunError>> {
        let subject = turn.place;
        let observes = turn.purpose == Purpose::WarmUp && self.same.observes(subject);
        // Standard error is captured through a pipe only in first runs, because runs that are
        // compared have no pipe.
        let last_words = match self.commands[subject].command.output {
            _ if first => LastWords::Piped,
            Output::Inherit => LastWords::Unheard,
            _ if self.talks_much[subject] => LastWords::Unheard,
            _ => LastWords::Filed,
        };
        let options = RunOptions {
            pad: turn.padding,
            timeout: self.settings.timeout,
            last_words,
            trace_output: observes.then(Window::default),
            end_strays: true,
        };
        let (mut results, mut steal, mut files);
        loop {
            self.prepare(subject).map_err(RunError::obstacle)?;
            files = if observes { self.files_before(subject) } else { Vec::new() };
            self.runners.forget_counts();
            // Stolen time is counted in coarse ticks, so it is not read for short runs.
            let counts_steal = self.settings.steal && self.last_wall[subject] >= STEAL_FROM_SECONDS;
            let stolen = counts_steal.then(StolenTime::start).flatten();
            let ran = self.runners.run((subject, turn.build), self.commands[subject].jobs, options);
            steal = stolen.and_then(StolenTime::seconds);
            results = match ran {
                Err(MeasureError::Control { setting, source, needs, .. }) if !self.recorded => {
                    self.do_without(setting, &source, needs)?;
                    continue;
                }
                other => other.map_err(|error| RunError::from(error).obstacle())?,
            };
            break;
        }
        let tails = results.iter().filter_map(|result| result.stderr_tail.as_ref());
        self.talks_much[subject] |= tails.into_iter().any(|tail| tail.len() >= TALKATIVE);
        self.judge(turn, &results, first)?;
        if observes {
            self.observe(subject, &mut results, &files, &[]);
        }
        let counts = self.runners.take_counts(self.commands[subject].jobs);
        let mut measured = self.meter.read(subject, &results, steal, &counts);
        self.note_missing(turn, &mut measured)?;
        self.last_wall[subject] = measured.values[0];
        let started_seconds = results[0].started_ns as f64 / 1e9;
        Ok(CommandRun { outcome: outcome(&results), measured, started_seconds })
    }

    /// Returns an error, which ends the session, if a run failed in a way that the user does not
    /// tolerate.
    fn judge(&mut self, turn: &Turn, results: &[RunResult], first: bool) -> Result<(), RunError> {
        self.has_left[turn.place] = results.iter().any(|result| result.left_behind);
        for result in results {
            self.left_behind[turn.place] += u32::from(result.left_behind);
            if let Some(how) = failure(result, &self.settings.tolerated) {
                let command = &self.commands[turn.place];
                return Err(RunError::Failed(failure_message(
                    command,
                    &how,
                    (turn, first),
                    result,
                )));
            }
        }
        Ok(())
    }

    /// Records missing metrics. A metric that was requested but never provided is an error. One
    /// that is missing only in some runs is reported at the end. If there are warm-up runs, they
    /// decide between the two.
    fn note_missing(&mut self, turn: &Turn, measured: &mut Measured) -> Result<(), RunError> {
        let subject = turn.place;
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
                // A metric that one command reports without being requested is not missing from the
                // others.
                continue;
            }
            if turn.purpose == Purpose::WarmUp {
                self.unproved.entry((subject, metric)).or_insert(why);
            } else if is_proved {
                self.missing.entry((subject, metric)).or_insert((0, why)).0 += 1;
            } else {
                return Err(self.never_given(subject, &metric, &why));
            }
        }
        Ok(())
    }

    fn never_given(&self, subject: usize, metric: &str, why: &str) -> RunError {
        let command = &self.commands[subject].text;
        RunError::Reading(format!("--metric {metric}: `{command}`: {why}"))
    }

    /// Removes a setting that the system refuses, and continues.
    fn do_without(
        &mut self,
        setting: assay_measure::Setting,
        source: &std::io::Error,
        needs: &str,
    ) -> Result<(), RunError> {
        let option = runners::option_of(setting);
        runners::without(&mut self.commands, setting);
        self.runners.teach(&self.commands)?;
        let needs = if needs.is_empty() { String::new() } else { format!("; it needs {needs}") };
        self.refused.push(
            not_controlled(&format!("{option} is refused ({}){needs}", reason(source)))
                .advise(Action::text("run as root"))
                .advise(Action::text("leave the option out")),
        );
        Ok(())
    }
}

/// Returns the finding about a command whose runs left processes behind. `needless` is the number
/// of runs after which `--conclude` failed.
fn left_processes(command: &str, runs: u32, needless: u32) -> Option<Finding> {
    if runs == 0 {
        return None;
    }
    let conclude = match needless {
        0 => String::new(),
        n => format!(
            " before --conclude began, which failed {n} times: perhaps it found nothing left to end"
        ),
    };
    let message =
        format!("{command} left processes running after {runs} runs; they were killed{conclude}");
    let advice = match needless {
        0 => "let the command wait for its children: their work is not in its time",
        _ => "leave --conclude out, or let it succeed where nothing is left to end",
    };
    Some(
        Finding::new(code::LEFT_PROCESSES, message)
            .about(command)
            .with("runs", f64::from(runs))
            .with("conclude_failed", f64::from(needless))
            .advise(Action::text(advice)),
    )
}

/// Returns findings about events that cannot be counted, one per reason.
fn uncounted(refusals: &[Refusal]) -> Vec<Finding> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for refusal in refusals {
        by_reason.entry(&refusal.why).or_default().push(&refusal.event);
    }
    let told = by_reason.iter().map(|(why, events)| not_counted(&events.join(", "), why));
    told.collect()
}
