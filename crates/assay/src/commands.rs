//! Commands as a source: each turn is one run of a command, with the hooks around it, by the launcher.
//!
//! Nothing here may print or draw. It holds no statistics.

mod counting;
mod ending;
mod prepared;
mod runners;

pub(crate) use counting::RUNS as COUNTING_RUNS;
pub(crate) use prepared::{Prepared, Tolerated};

use crate::counted::Counted;
use crate::meter::{Measured, Meter, Missing, STEAL_FROM_SECONDS};
use crate::progress::Progress;
use crate::record::Record;
use crate::run_error::RunError;
use assay_data::finding::shared::{not_controlled, not_counted};
use assay_data::source::{
    self, Failure, Layout, Obstacle, OfRow, Purpose, RowResult, Source, Turn,
};
use assay_data::{Action, Finding, Metric, Samples, Severity, StopReason};
use assay_experiment::Session;
use assay_measure::counters::{Event, Refusal};
use assay_measure::fingerprint::Fingerprints;
use assay_measure::hooks::HookError;
use assay_measure::machine::Machine;
use assay_measure::{
    LastWords, MeasureError, Output, RunOptions, RunResult, RunnerKind, environment, hooks,
    interrupt,
};
use counting::Passes;
use ending::{failure, failure_message, outcome};
use prepared::control;
use runners::Runners;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Of a command that says so much on standard error in one run, bytes, nothing is kept from then on: it would fill the memory.
const TALKATIVE: usize = 4096;

/// How commands are measured.
#[derive(Debug, Default)]
pub(crate) struct RunSettings {
    /// After so long a run is ended.
    pub timeout: Option<Duration>,
    /// Which failures are no reason to stop.
    pub tolerated: Tolerated,
    /// Events to count.
    pub events: Vec<Event>,
    /// The machine reports how much time is stolen from it.
    pub steal: bool,
    /// Empty the caches of files before every run.
    pub drop_caches: bool,
    /// What is counted afterwards, one pass each.
    pub counted: Vec<Counted>,
}

/// Commands that are ready to be measured.
pub(crate) struct Commands {
    runners: Runners,
    commands: Vec<Prepared>,
    settings: RunSettings,
    meter: Meter,
    passes: Passes,
    left_behind: Vec<u32>,
    /// For each command, true if its last run left processes.
    has_left: Vec<bool>,
    /// After how many runs that had left processes `--conclude` failed.
    needless: Vec<u32>,
    /// How long the last run of each command took, s.
    last_wall: Vec<f64>,
    /// The commands that say so much on standard error that only their first run is listened to.
    talks_much: Vec<bool>,
    /// How often each metric of each command could not be read, and why at first; after it could be read before.
    missing: BTreeMap<(usize, String), (u32, String)>,
    /// Metrics that a command did not give while warming up, and why at first.
    unproved: BTreeMap<(usize, String), String>,
    /// The metrics that each command has given.
    proved: Vec<Vec<String>>,
    refused: Vec<Finding>,
    refusals: Vec<Refusal>,
    /// Whether the commands have run before anything is recorded.
    warmed_up: bool,
    /// Whether anything was recorded: from then on nothing that was set may change.
    recorded: bool,
}

/// A session of commands.
pub(crate) type CommandSession = Session<'static, Commands, Record>;

/// A session that measures these commands. What the machine refuses to count is reported by [`Commands::findings`].
///
/// # Errors
/// When the runners can't be started, or can't be given the commands.
pub(crate) fn session(
    commands: Vec<Prepared>,
    settings: RunSettings,
    meter: impl FnOnce(&[Event]) -> Meter,
) -> Result<CommandSession, RunError> {
    let source = Commands::start(commands, settings, meter)?;
    let began = Instant::now();
    let session = Session::new(source, move || began.elapsed().as_secs_f64());
    Ok(session.interrupted_by(|| interrupt::count() > 0))
}

/// Takes warm-up blocks, and returns the seconds that the quickest took. After that it is known what can be measured.
///
/// # Errors
/// When a command fails, does not give what it has to, or the user stops it.
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
    // A setting may have been refused.
    for (subject, command) in session.samples.subjects.iter_mut().zip(&session.source.commands) {
        subject.control = control(command);
    }
    Ok(phase.block_seconds)
}

/// Measures until there is a reason to stop, and returns also the share of the CPUs' time that the hypervisor gave to others meanwhile.
///
/// # Errors
/// What measuring can't go on from.
pub(crate) fn measure(
    session: &mut CommandSession,
    progress: &mut Progress,
) -> (Result<StopReason, RunError>, Option<f64>) {
    let (began, before) = (Instant::now(), environment::steal_seconds());
    let phase = session.measure(&mut |standing| progress.show(standing));
    let stolen = before.and_then(|b| Some((environment::steal_seconds()? - b).max(0.0)));
    let cpus = session.samples.environment.number("cpus_online");
    let share = stolen.zip(cpus).map(|(s, cpus)| s / (began.elapsed().as_secs_f64() * cpus));
    (phase.map(|phase| phase.reason), share.filter(|share| share.is_finite()))
}

/// What a run gave.
struct Taken {
    measured: Measured,
    outcome: assay_data::Outcome,
    started_seconds: f64,
}

impl Source for Commands {
    type Error = RunError;

    fn layout(&self) -> Layout {
        let mut files = Fingerprints::default();
        let mut samples = Samples::default();
        for command in &self.commands {
            prepared::add(&mut samples, command, &mut files);
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
        let line = self.commands[turn.place].conclude.clone();
        match self.hook("--conclude", line.as_ref()) {
            // Its target was ended together with the run.
            Err(RunError::Hook(HookError::Failed { .. })) if self.has_left[turn.place] => {
                self.needless[turn.place] += 1;
                Ok(())
            }
            other => other.map_err(RunError::obstacle),
        }
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
                Finding::new(
                    "METRIC_MISSING",
                    Severity::Warning,
                    format!("{metric} of '{name}' is missing in {count} runs; the first time: {why}"),
                )
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
        commands: Vec<Prepared>,
        settings: RunSettings,
        meter: impl FnOnce(&[Event]) -> Meter,
    ) -> Result<Self, RunError> {
        let (runners, refusals) = Runners::start(&commands, &settings.events)?;
        let meter = meter(runners.events());
        let mut refused = uncounted(&refusals);
        if runners.counts_user_only() {
            refused.push(
                Finding::new(
                    "COUNTERS_USER_ONLY",
                    Severity::Note,
                    "the counters see only what the programs do themselves, not what the kernel does for them",
                )
                .advise(Action::run("let users count that too", "sysctl kernel.perf_event_paranoid=1"))
                .advise(Action::text("run as root")),
            );
        }
        Ok(Self {
            runners,
            settings,
            meter,
            passes: Passes::default(),
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
            warmed_up: false,
            recorded: false,
            commands,
        })
    }

    /// Why an event is not counted, if it was asked for.
    pub fn why_not_counted(&self, event: &str) -> Option<&str> {
        self.refusals.iter().find(|r| r.event == event).map(|r| r.why.as_str())
    }

    /// Measures the metrics of a run that is resumed.
    ///
    /// # Errors
    /// In words, when they are not those of these commands.
    pub fn adopt_metrics(&mut self, recorded: &[Metric]) -> Result<(), String> {
        self.recorded = true;
        self.meter.adopt(recorded)
    }

    /// Runs a shell line once, unmeasured.
    pub fn hook(&mut self, name: &str, line: Option<&String>) -> Result<(), RunError> {
        let Some(line) = line else { return Ok(()) };
        hooks::run(self.runners.first(), name, line).map_err(|error| match error {
            HookError::NotRun { source, .. } if matches!(*source, MeasureError::Interrupted) => {
                RunError::Interrupted(format!("in the {name} line"))
            }
            other => other.into(),
        })
    }

    /// A metric that a command had to give while warming up, and never gave, is a mistake.
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
                "peak memory below {} KiB can't be seen: that is {whose} own",
                floor / 1024
            );
            Finding::new("MEMORY_FLOOR", Severity::Note, message).with("floor", floor as f64)
        })
    }

    /// What comes before a run.
    fn prepare(&mut self, subject: usize) -> Result<(), RunError> {
        let line = self.commands[subject].prepare.clone();
        self.hook("--prepare", line.as_ref())?;
        if self.settings.drop_caches {
            Machine::here().drop_caches()?;
        }
        Ok(())
    }

    fn run(&mut self, turn: &Turn, first: bool) -> Result<Taken, Obstacle<RunError>> {
        let subject = turn.place;
        // What a program says on its first run is worth a pipe; those that are compared have none.
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
            end_strays: true,
        };
        let (results, mut steal);
        loop {
            self.prepare(subject).map_err(RunError::obstacle)?;
            self.runners.forget_counts();
            // Stolen time is counted in steps: short runs are spared the reading.
            let counts_steal = self.settings.steal && self.last_wall[subject] >= STEAL_FROM_SECONDS;
            let before = counts_steal.then(environment::steal_seconds).flatten();
            let ran = self.runners.run((subject, turn.build), self.commands[subject].jobs, options);
            steal = before.and_then(|b| Some((environment::steal_seconds()? - b).max(0.0)));
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
        let counts = self.runners.take_counts(self.commands[subject].jobs);
        let mut measured = self.meter.read(subject, &results, steal, &counts);
        self.note_missing(turn, &mut measured)?;
        self.last_wall[subject] = measured.values[0];
        let started_seconds = results[0].started_ns as f64 / 1e9;
        Ok(Taken { outcome: outcome(&results), measured, started_seconds })
    }

    /// A failure that the user did not expect ends the session.
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

    /// A metric that was asked for and that a command has never given is a mistake; one that it gives only sometimes is reported in
    /// the end. Warming up decides which it is, if there is any.
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
                // What one command gives of its own accord is not missing from the others.
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

    /// Goes on without a setting that the system refuses.
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
            not_controlled(&format!("{option} is refused ({source}){needs}"))
                .advise(Action::text("run as root"))
                .advise(Action::text("leave the option out")),
        );
        Ok(())
    }
}

/// The finding about a command whose runs left processes; `needless` is the number of runs after which `--conclude` failed.
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
        format!("{command} left processes running after {runs} runs; they were ended{conclude}");
    let advice = match needless {
        0 => "let the command wait for its children: their work is not in its time",
        _ => "leave --conclude out, or let it succeed where nothing is left to end",
    };
    Some(
        Finding::new("LEFT_PROCESSES", Severity::Warning, message)
            .about(command)
            .with("runs", f64::from(runs))
            .with("conclude_failed", f64::from(needless))
            .advise(Action::text(advice)),
    )
}

/// What can't be counted, one finding for every reason.
fn uncounted(refusals: &[Refusal]) -> Vec<Finding> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for refusal in refusals {
        by_reason.entry(&refusal.why).or_default().push(&refusal.event);
    }
    let told = by_reason.iter().map(|(why, events)| not_counted(&events.join(", "), why));
    told.collect()
}
