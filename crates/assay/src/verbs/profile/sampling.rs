//! Samples a program or a running process: finds the sampler, takes the runs, reads the sampler's
//! output, and shows the result.

use super::files::{CONFIDENCE, by_line};
use super::{Args, HowArgs, SamplerArgs, exporting};
use crate::advice::{Dialect, spell};
use crate::args::JudgeArgs;
use crate::planning::{self, DurationArgs};
use crate::{Ending, output};
use anyhow::{Context, bail};
use assay_analysis::engine::{Limits, Session};
use assay_analysis::{Interval, Options, analyse};
use assay_data::code;
use assay_data::list;
use assay_data::source::{Layout, Measured as Gave, Obstacle, Source, Turn};
use assay_data::{Action, Finding, Metric, Observation, Plan, Samples, Severity, StopRule, Unit};
use assay_measure::sampling::{
    self, CallGraph, InstalledSampler, Language, ProcessEnd, Request, SamplingError,
    SamplingResult, Target, find, language_of_process, language_of_program,
};
use assay_measure::{Command, interrupt};
use assay_profiles::import::ImportError;
use assay_profiles::shares::Shares;
use assay_profiles::{Counted, Profile, checks, import, marked, policy};
use assay_report::number;
use assay_report::profile::{Measured, Overhead, ProfileReport};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Minimum number of blocks for measuring the cost of sampling.
const FEWEST_PAIRS: u32 = 6;

/// CPU time, in sampling periods, after which a program must have been sampled.
const FEW_PERIODS: f64 = 20.0;
/// Share of a program's CPU time below which the sampler is considered to have lost the program.
const HARDLY_SAMPLED: f64 = 0.25;

/// One sampled run.
pub(crate) struct SampledRun {
    pub profile: Profile,
    pub ended: ProcessEnd,
    /// True if the sampler does not report how the program ended.
    pub hides_status: bool,
}

/// Settings for sampling that do not depend on the sampler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub clock: Option<sampling::Clock>,
    pub call_graph: CallGraph,
    pub duration: Option<Duration>,
    pub show_output: bool,
    /// True for a test suite whose processes mark the running test. Only marked samples count then.
    pub suite: bool,
}

impl HowArgs {
    pub(super) fn settings(&self) -> Settings {
        Settings {
            clock: self.by.clock(),
            call_graph: self.call_graph(),
            duration: self.duration.map(Duration::from_secs_f64),
            show_output: self.show_output,
            suite: false,
        }
    }
}

/// A sampler with its rate and settings.
pub(crate) struct Sampling {
    settings: Settings,
    pub place: InstalledSampler,
    pub rate: f64,
}

impl Sampling {
    /// Finds the sampler for a command.
    pub fn of_command(
        by: &SamplerArgs,
        settings: Settings,
        command: &Command,
    ) -> anyhow::Result<Self> {
        let (language, interpreter) = language_of_program(command)?;
        let place = find(language, by.sampler(), Some(&interpreter))?;
        Ok(Self::of(by, settings, place))
    }

    /// Uses a sampler that has been found already.
    pub fn of(by: &SamplerArgs, settings: Settings, place: InstalledSampler) -> Self {
        let rate = by.rate().unwrap_or_else(|| place.sampler.usual_rate());
        Self { settings, place, rate }
    }

    /// Samples one run. `name` is the displayed name of the profile.
    pub fn sample(&self, target: Target<'_>, name: &str) -> anyhow::Result<SampledRun> {
        self.sample_at(self.rate, target, name)
    }

    /// Like [`Sampling::sample`], at a different rate.
    pub fn sample_at(
        &self,
        rate: f64,
        target: Target<'_>,
        name: &str,
    ) -> anyhow::Result<SampledRun> {
        let directory = crate::room::temporary()?;
        let request = Request { rate, ..self.request(directory.path()) };
        let mut sampled = sampling::sample(&self.place, target, &request)?;
        let (mut profiles, mut empty) = self.read(&sampled);
        let was_lost = self.lost(&sampled, &profiles, rate);
        if was_lost {
            let directory = crate::room::temporary()?;
            let request = Request { rate, alone: true, ..self.request(directory.path()) };
            let mut again = sampling::sample(&self.place, target, &request)?;
            let (alone, error) = self.read(&again);
            // If a process started by the command does the work, sampling without such processes
            // sees no more.
            if seen(&alone) > seen(&profiles) || profiles.is_empty() {
                again.ended.outcome = sampled.ended.outcome;
                (sampled, profiles, empty) = (again, alone, error);
            }
        }
        if self.settings.suite {
            profiles = marked::kept(profiles);
        }
        let Some(mut profile) = Profile::merged(&profiles) else {
            return Err(match empty {
                Some(ImportError::Empty { .. }) | None => {
                    SamplingError::too_short(self.place.sampler).into()
                }
                Some(error) => error.into(),
            });
        };
        if was_lost {
            profile.findings.push(run_again(name));
        }
        if !self.settings.suite {
            profile.without_process_frames();
        }
        profile.name = name.to_owned();
        profile.asked_hz = Some(rate);
        profile.seconds = Some(sampled.ended.wall_seconds);
        if self.place.sampler != sampling::Sampler::Stackprof && profile.measure == "wall" {
            // By default, py-spy leaves out waiting threads, but rbspy includes them.
            let all = match self.settings.clock {
                Some(clock) => clock == sampling::Clock::Wall,
                None => self.place.sampler == sampling::Sampler::Rbspy,
            };
            profile.measure = if all { "wall" } else { "cpu" }.to_owned();
        }
        if self.place.sampler == sampling::Sampler::Stackprof && profile.measure == "cpu" {
            // Stackprof runs within the program, so the CPU time does not include a separate
            // sampler.
            profile.knowing_cpu(sampled.ended.cpu_seconds);
        }
        profile.tool = Some(self.place.sampler.name().to_owned());
        if let Some(had) = sampled.had.filter(|_| self.looks_from_outside(&profile)) {
            let claimed = profile.amount();
            let whole = had.cpu_seconds;
            profile.held_against(&Counted { whole, threads: had.threads });
            if profile.stacks.is_empty() {
                bail!(
                    "{name} only waited: the kernel counted {whole:.2} s of CPU time in {:.1} s, and what {} counted as running ({claimed:.2} s) were waiting threads. Sample it while it works, or also count waiting (--clock wall)",
                    sampled.ended.wall_seconds,
                    self.place.sampler.name()
                );
            }
        }
        // In a test suite, only marked samples count, so they cannot add up to the CPU time.
        let whole = sampled.program_cpu_seconds.filter(|_| !self.settings.suite);
        if self.place.sampler == sampling::Sampler::Perf
            && let Some(whole) = whole
        {
            let level = sampling::perf_without_kernel();
            let unseen = unseen(&profile, whole, rate, level);
            // Each process loses half a sampling period on average, which adds up over many short
            // processes.
            let lacks = (whole - profile.amount()) * rate > FEW_PERIODS;
            if lacks && (unseen.is_some() || level.is_none()) {
                profile.filled_up_to(whole);
            }
            profile.findings.extend(unseen);
        }
        if let Some(whole) = whole.filter(|_| self.looks_from_outside(&profile)) {
            profile.held_against_whole(whole);
            if profile.stacks.is_empty() {
                bail!(
                    "{name} only waited: the kernel counted {whole:.2} s of CPU time in {:.1} s. To count waiting as well, use --clock wall",
                    sampled.ended.wall_seconds
                );
            }
        }
        Ok(SampledRun { profile, ended: sampled.ended, hides_status: sampled.hides_status })
    }

    /// Reads the profiles of all processes. Also returns the last error, if any.
    fn read(&self, sampled: &SamplingResult) -> (Vec<Profile>, Option<ImportError>) {
        let (mut profiles, mut empty) = (Vec::new(), None);
        for bytes in &sampled.files {
            match import::load_bytes(bytes, self.place.sampler.name()) {
                Ok(profile) => profiles.push(profile),
                // With several processes, one may have ended before its first sample.
                Err(error) => empty = Some(error),
            }
        }
        (profiles, empty)
    }

    /// Returns true if a program used CPU time but was hardly sampled. This happens if py-spy
    /// samples a program that calls exec.
    fn lost(&self, sampled: &SamplingResult, profiles: &[Profile], rate: f64) -> bool {
        let whole = sampled.program_cpu_seconds.unwrap_or(0.0);
        self.place.sampler == sampling::Sampler::PySpy
            && whole > FEW_PERIODS / rate
            && profiles.len() <= 1
            && seen(profiles) < HARDLY_SAMPLED * whole
            && self.settings.clock != Some(sampling::Clock::Wall)
            && self.settings.duration.is_none()
            && !sampled.ended.interrupted
    }

    /// Returns true if the sampler can only guess which threads are running.
    pub fn looks_from_outside(&self, profile: &Profile) -> bool {
        matches!(self.place.sampler, sampling::Sampler::PySpy | sampling::Sampler::Rbspy)
            && profile.measure == "cpu"
    }

    /// Runs the command without a sampler.
    fn plain(&self, command: &Command) -> anyhow::Result<ProcessEnd> {
        let directory = crate::room::temporary()?;
        Ok(sampling::plain(command, &self.request(directory.path()))?)
    }

    /// Runs the command with a sampler that takes almost no samples.
    fn idle(&self, command: &Command) -> anyhow::Result<ProcessEnd> {
        let directory = crate::room::temporary()?;
        let request = Request { rate: IDLE_RATE, ..self.request(directory.path()) };
        Ok(sampling::unread(&self.place, command, &request)?)
    }

    fn request<'b>(&self, directory: &'b std::path::Path) -> Request<'b> {
        let Settings { clock, call_graph, duration, show_output, suite: _ } = self.settings;
        let rate = self.rate;
        let alone = false;
        Request { rate, clock, call_graph, duration, directory, alone, show_output }
    }
}

/// Returns the total amount of the profiles, in their unit.
fn seen(profiles: &[Profile]) -> f64 {
    profiles.iter().map(Profile::amount).sum()
}

/// Samples a running process.
pub(super) fn process(args: &Args, process: u32) -> anyhow::Result<Ending> {
    exporting::check_single(&args.show.export)?;
    if args.how.overhead || args.how.runs.is_some() {
        bail!(
            "--overhead and --runs start a program several times, but process {process} is already running"
        );
    }
    let language = match args.how.by.sampler() {
        Some(sampling::Sampler::Stackprof) => return Err(SamplingError::NotFromOutside.into()),
        // perf uses the kernel, which may permit this where /proc is not accessible.
        Some(sampling::Sampler::Perf) => Language::Native,
        _ => language_of_process(process)?,
    };
    let place = find(language, args.how.by.sampler(), None)?;
    let source = Sampling::of(&args.how.by, args.how.settings(), place);
    if !args.show.quiet {
        let until = match args.how.duration {
            Some(_) => "",
            None => ", until Ctrl-C",
        };
        output::say(&format!(
            "sampling process {process} by {}{until}",
            source.place.sampler.name()
        ));
    }
    let taken = source.sample(Target::Process(process), &format!("process {process}"))?;
    show(args, vec![taken.profile], Vec::new(), None)?;
    // Ctrl-C is the usual way to stop sampling a process.
    Ok(Ending::Fine)
}

/// Samples a command, once or several times.
pub(super) fn command(args: &Args, command: &Command) -> anyhow::Result<Ending> {
    exporting::check_single(&args.show.export)?;
    let source = Sampling::of_command(&args.how.by, args.how.settings(), command)?;
    let name = list::line(&command.argv);
    let arms = |arms| Arms {
        source: &source,
        command,
        name: &name,
        arms,
        metrics: costs(),
        taken: Vec::new(),
    };
    let (taken, cost) = if args.how.overhead {
        with_and_without(args, arms(&ARMS))?
    } else {
        let plan = plan_of(args.how.seed, &args.judge, args.how.runs.unwrap_or(1), "wall");
        (take(args.show.quiet, arms(&[Arm::With]), &plan)?.source.taken, None)
    };
    let (language, _) = language_of_program(command)?;
    let findings = findings(args, &source, language, &taken);
    let (profiles, endings): (Vec<Profile>, Vec<ProcessEnd>) =
        taken.into_iter().map(|own| (own.profile, own.ended)).unzip();
    show(args, profiles, findings, cost.as_ref())?;
    Ok(ending(args, &endings))
}

/// Returns the ending that follows from those of the runs. Failures do not count with `--duration`.
pub(super) fn ending(args: &Args, endings: &[ProcessEnd]) -> Ending {
    let failed = |ended: &ProcessEnd| !ended.outcome.is_success() && args.how.duration.is_none();
    if interrupt::count() > 0 {
        Ending::Interrupted
    } else if endings.iter().any(failed) {
        Ending::CommandFailed
    } else {
        Ending::Fine
    }
}

/// Returns findings about the runs, which cannot be found in their profiles.
fn findings(
    args: &Args,
    source: &Sampling,
    language: Language,
    taken: &[SampledRun],
) -> Vec<Finding> {
    let mut found = Vec::new();
    if taken.iter().any(|own| own.ended.interrupted) {
        found.push(assay_analysis::checks::interrupted("this is what was sampled until then"));
    }
    let failed = taken.iter().find(|own| {
        !own.ended.outcome.is_success() && !own.ended.interrupted && args.how.duration.is_none()
    });
    if let Some(failed) = failed {
        let how = failed.ended.outcome;
        let told = format!("the program {how}: this is what was sampled until then");
        found.push(
            Finding::new(code::FAILURES, told).at(Severity::Warning).advise(Action::ShowOutput),
        );
    }
    if taken.iter().any(|own| own.hides_status) {
        let told = format!(
            "{} does not report how the program ended: a failure would not be seen here",
            source.place.sampler.name()
        );
        found.push(Finding::new(code::FAILURES, told));
    }
    found.extend(no_collection(source, language));
    found
}

/// Returns the finding that a program was run a second time because its sampler had lost it.
fn run_again(name: &str) -> Finding {
    let told = format!(
        "py-spy hardly saw {name}, as happens when it replaces itself with another program (exec), so it was run a second time, without the processes that it starts"
    );
    Finding::new(code::PROFILE_UNSEEN, told).at(Severity::Warning)
}

/// Returns a finding if perf sampled less of a program than the kernel counted. `level` is the
/// value of `kernel.perf_event_paranoid` if it hides the kernel.
fn unseen(profile: &Profile, whole: f64, rate: f64, level: Option<i64>) -> Option<Finding> {
    let seen = profile.amount();
    let lacks = whole - seen;
    if lacks < policy::UNSEEN * whole || lacks * rate < FEW_PERIODS {
        return None;
    }
    let time = |seconds: f64| number::rough(seconds, &Unit::Second);
    let mut told = format!(
        "of {} of CPU time that the kernel counted {} were sampled",
        time(whole),
        time(seen)
    );
    told += match level {
        Some(_) => {
            "; the rest, in the table as (not sampled), is time within the kernel (system calls, page faults), which is not sampled for this user"
        }
        None => {
            "; the rest, in the table as (not sampled), is of processes that ended within a few milliseconds, that may not be sampled, such as those of another user, or that continued after the program"
        }
    };
    let finding = Finding::new(code::PROFILE_UNSEEN, told).at(Severity::Warning);
    let finding = finding.with("cpu_seconds", whole).with("sampled_seconds", seen);
    Some(match level {
        Some(level) => finding.advise(Action::run(
            &format!("run as root, or lower kernel.perf_event_paranoid, which is {level}"),
            "sudo sysctl kernel.perf_event_paranoid=1",
        )),
        None => finding,
    })
}

/// Returns a finding if a Ruby program was sampled by a sampler that does not see garbage
/// collection.
pub(crate) fn no_collection(source: &Sampling, language: Language) -> Option<Finding> {
    let sampler = source.place.sampler;
    (language == Language::Ruby && sampler != sampling::Sampler::Stackprof).then(|| {
        let told = format!("{} does not see garbage collection", sampler.name());
        Finding::new(code::PROFILE_UNSEEN, told).advise(Action::run(
            "use stackprof, which does (Debian: ruby-stackprof)",
            "gem install stackprof",
        ))
    })
}

/// A kind of run for measuring the cost of sampling.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arm {
    Without,
    With,
    /// The sampler is started and stopped, but takes almost no samples in between.
    Idle,
}

const ARMS: [Arm; 3] = [Arm::Without, Arm::With, Arm::Idle];
/// Rate at which a sampler is practically idle, in Hz; the lowest that all samplers accept.
const IDLE_RATE: f64 = 1.0;

/// Alternates between runs without the sampler, with it, and with an idle one, to measure the cost
/// per run and per sample. For an idle sampler only the CPU time is meaningful, because looking
/// once per second notices the end of the program late.
fn with_and_without(
    args: &Args,
    arms: Arms<'_>,
) -> anyhow::Result<(Vec<SampledRun>, Option<Overhead>)> {
    let blocks = args.how.runs.unwrap_or(FEWEST_PAIRS).max(FEWEST_PAIRS);
    let plan =
        Plan { secondary: Vec::new(), ..plan_of(args.how.seed, &args.judge, blocks, "wall") };
    let Session { source: Arms { taken, .. }, samples: costs, .. } =
        take(args.show.quiet, arms, &plan)?;
    if costs.is_empty() || taken.is_empty() {
        bail!("it was interrupted before there was anything to show");
    }
    let ends = |interval: Option<Interval>| {
        interval.filter(|i| i.is_bounded()).map(|i| (i.lower, i.upper))
    };
    let mut found = Overhead {
        blocks: 0,
        whole: Vec::new(),
        start_and_end: None,
        sample: None,
        samples: taken.iter().map(|own| own.profile.samples()).sum::<u64>() as f64
            / taken.len() as f64,
    };
    // The comparison needs at least one complete block.
    let Some(analysis) = compared(&plan, &costs, [Arm::Without, Arm::With]) else {
        return Ok((taken, None));
    };
    found.blocks = analysis.blocks.unwrap_or(0);
    for comparison in analysis.comparisons.iter().chain(&analysis.secondary) {
        if let Some(ratio) = comparison.ratio {
            let measured = Measured { estimate: ratio.estimate, interval: ends(ratio.interval) };
            found.whole.push((analysis.metrics[comparison.metric].name.clone(), measured));
        }
    }
    let of_cpu = |pair, share: f64| {
        let analysis = compared(&plan, &costs, pair)?;
        let mut all = analysis.comparisons.iter().chain(&analysis.secondary);
        let shift = all.find(|c| analysis.metrics[c.metric].name == "cpu")?.shift;
        let interval = ends(shift.interval).map(|(low, high)| (low * share, high * share));
        Some(Measured { estimate: shift.estimate * share, interval })
    };
    found.start_and_end = of_cpu([Arm::Without, Arm::Idle], 1.0);
    found.sample = of_cpu([Arm::Idle, Arm::With], 1.0 / found.samples.max(1.0));
    Ok((taken, Some(found)))
}

/// Returns the metrics by which the cost of sampling is measured.
fn costs() -> Vec<Metric> {
    vec![Metric::wall(), Metric::lower("cpu", Unit::Second)]
}

/// Compares two kinds of runs, over the blocks that have both.
fn compared(plan: &Plan, costs: &Samples, pair: [Arm; 2]) -> Option<assay_analysis::Analysis> {
    let mut samples = Samples::new(costs.metrics.clone());
    samples.plan = Some(plan.clone());
    for (position, &arm) in pair.iter().enumerate() {
        samples.add_subject(if arm == Arm::Without { "without" } else { "with" });
        for run in costs.observations().filter(|run| ARMS[run.subject] == arm) {
            let position = Some(position as u32);
            samples.push(Observation { subject: samples.subjects.len() - 1, position, ..run });
        }
    }
    analyse(&samples, &Options::default()).ok()
}

/// A program that is run with and without a sampler.
struct Arms<'a> {
    source: &'a Sampling,
    command: &'a Command,
    name: &'a str,
    arms: &'a [Arm],
    metrics: Vec<Metric>,
    taken: Vec<SampledRun>,
}

impl Source for Arms<'_> {
    type Error = anyhow::Error;

    fn layout(&self) -> Layout {
        Layout::of_names(self.arms.iter().map(|_| ""))
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn measure(&mut self, turn: &Turn) -> Result<Gave, Obstacle<anyhow::Error>> {
        let ended = match self.arms[turn.place] {
            Arm::Without => self.source.plain(self.command),
            Arm::Idle => self.source.idle(self.command),
            Arm::With => self.source.sample(Target::Command(self.command), self.name).map(|own| {
                let ended = own.ended.clone();
                self.taken.push(own);
                ended
            }),
        };
        // Samples taken before the user interrupted are shown.
        if interrupt::count() > 0 && !self.taken.is_empty() {
            return Err(Obstacle::Interrupted);
        }
        let ended = ended?;
        Ok(Gave::values(vec![ended.wall_seconds, ended.cpu_seconds]))
    }
}

/// Measures a source according to the plan until the user interrupts, and reports progress between
/// blocks.
pub(crate) fn take<'a, S: Source<Error = anyhow::Error>>(
    quiet: bool,
    source: S,
    plan: &Plan,
) -> anyhow::Result<Session<'a, S>> {
    let began = Instant::now();
    let session = Session::unrecorded(source, move || began.elapsed().as_secs_f64());
    let mut session = session.interrupted_by(|| interrupt::count() > 0);
    session.begin(plan, 0, Limits::default());
    let seen = !quiet && std::io::stderr().is_terminal();
    let told = match plan.stop {
        StopRule::Fixed { blocks } if seen && blocks > 1 => Some(blocks),
        _ => None,
    };
    let measured = session.measure(&mut |standing| {
        let block = standing.experiment.blocks() + 1;
        told.iter().for_each(|blocks| {
            output::say_bytes(format!("\rblock {block} of {blocks}  ").as_bytes());
        });
    });
    told.iter().for_each(|_| output::say_bytes(b"\r                        \r"));
    measured.map(|_| session)
}

/// Returns a plan with exactly `blocks` blocks and the requested settings.
pub(crate) fn plan_of(seed: Option<u64>, judge: &JudgeArgs, blocks: u32, primary: &str) -> Plan {
    let when = DurationArgs { runs: Some(blocks), seed, ..DurationArgs::default() };
    planning::plan(&when, judge, primary, blocks)
}

fn show(
    args: &Args,
    mut profiles: Vec<Profile>,
    more: Vec<Finding>,
    overhead: Option<&Overhead>,
) -> anyhow::Result<()> {
    let confidence = args.judge.confidence.unwrap_or(CONFIDENCE);
    if args.show.lines {
        by_line(&mut profiles)?;
    }
    let merged = Profile::merged(&profiles).context("nothing was sampled")?;
    let mut shares = Shares::of_runs(&profiles, confidence);
    if let Some(text) = &args.show.focus {
        shares.focus(text);
    }
    let mut findings = checks::findings(&merged);
    findings.extend(more);
    spell(Dialect::Profile, &mut findings);
    let report = ProfileReport {
        profile: &merged,
        shares: &shares,
        findings: &findings,
        overhead,
        live: true,
        top: args.show.top,
    };
    exporting::present(&report, &args.show)
}
