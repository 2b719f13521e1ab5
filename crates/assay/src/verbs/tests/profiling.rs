//! `assay tests --profile`: runs the suite under a sampler, and attributes each sample to a test.
//! The hooks give every test its own stack frame, which the sampler sees. Nothing is computed here.

use super::options::SuiteRunArgs as Args;
use super::running::{Sides, framework_of, order, sides};
use crate::advice::{Dialect, spell};
use crate::run_error::RunError;
use crate::tests::{Side, directory_of, order_of, prepared, told};
use crate::verbs::profile::exporting;
use crate::verbs::profile::sampling::{
    SampledRun, Sampling, Settings, no_collection, plan_of, take,
};
use crate::{Ending, output, present, room};
use anyhow::{Context, bail};
use assay_analysis::checks::interrupted;
use assay_data::list;
use assay_data::source::{Layout, Measured, Obstacle, Source, Turn};
use assay_data::{Action, Metric, Unit};
use assay_measure::clock::now_seconds;
use assay_measure::room::Room;
use assay_measure::sampling::{CallGraph, Language, Sampler, Target, find, language_of_program};
use assay_measure::{Command, interrupt};
use assay_profiles::marked::{self, Attributed, Timed};
use assay_profiles::shares::Shares;
use assay_profiles::{Profile, checks};
use assay_report::profile::ProfileReport;
use assay_report::tests_run::sampled::{self, SampledSuite, title};
use assay_report::{json, number};
use assay_suites::run::TestStatus;
use assay_suites::{Answer, Call, Framework, Order, Run, RunRequirements};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Default confidence.
const CONFIDENCE: f64 = 0.95;

/// Samples the suite and shows the samples by test.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let files = [&args.profiling.output[..], &args.record.show.export].concat();
    exporting::check_single(&files)?;
    exporting::check_files(&files, &[])?;
    let framework = framework_of(args)?;
    let language = language_of(framework.as_ref())?;
    interrupt::install()?;
    let Sides { sides, toggled, .. } = sides(args, framework.as_ref())?;
    let [side] = sides.as_slice() else { bail!("--profile: one suite can be sampled at a time") };
    let suite = suite(args, framework.as_ref(), language, side)?;
    let runs = args.when.runs.unwrap_or(1);
    let plan = plan_of(args.when.seed, &args.judge, runs, "wall");
    let order = order(args, framework.as_ref(), 1)?.then_some(plan.seed);
    let session = take(args.record.show.quiet, Sampled { order, ..suite }, &plan);
    let restored = toggled.map_or(Ok(()), |own| own.borrow_mut().close());
    let ending = match session {
        Ok(session) => show(args, session.source, language, &files)?,
        // Reports the suite's own error in the same way as without a sampler.
        Err(error) => {
            let ending = error.downcast_ref::<RunError>().map(RunError::ending);
            let Some(ending) = ending else { return Err(error) };
            output::error(&error);
            ending
        }
    };
    restored.map(|()| ending)
}

/// Returns the language of a framework's tests.
fn language_of(framework: &dyn Framework) -> anyhow::Result<Language> {
    match framework.name() {
        "rspec" | "minitest" | "test-unit" => Ok(Language::Ruby),
        "pytest" | "unittest" => Ok(Language::Python),
        other => bail!(
            "--profile: samples can be attributed to the tests of rspec, minitest, test-unit, pytest and unittest, but not of {other}. `assay profile` samples one program, such as that of a single test"
        ),
    }
}

/// A suite that is sampled.
struct Sampled<'a> {
    side: &'a Side,
    framework: &'a dyn Framework,
    sampling: Sampling,
    wanted: RunRequirements,
    /// The seed of random orders.
    order: Option<u64>,
    /// Time after which a run is killed, s.
    limit: f64,
    /// True if the sampler attaches from outside, and the command is not itself an interpreter.
    by_shell: bool,
    room: Room,
    name: String,
    metrics: Vec<Metric>,
    taken: Vec<(SampledRun, Run)>,
}

/// Creates the suite, with the sampler that suits it.
fn suite<'a>(
    args: &Args,
    framework: &'a dyn Framework,
    language: Language,
    side: &'a Side,
) -> anyhow::Result<Sampled<'a>> {
    let program = Command { cwd: side.directory.clone(), ..Command::new(side.argv.clone())? };
    let interpreter_of = |word: &OsString| {
        let found = Command::new([word]).ok().and_then(|own| language_of_program(&own).ok());
        found.filter(|(own, _)| *own == language).map(|(_, path)| path)
    };
    let by_shell = interpreter_of(&side.argv[0]).is_none();
    // A launcher such as `env` is followed by another program; any further interpreter has the
    // usual name.
    let words = side.argv.iter().filter(|word| !word.to_string_lossy().starts_with('-'));
    let usual = OsString::from(if language == Language::Ruby { "ruby" } else { "python3" });
    let interpreter = words.chain([&usual]).find_map(interpreter_of);
    let place = find(language, args.profiling.by.sampler(), interpreter.as_deref())?;
    if place.sampler == Sampler::Perf {
        bail!(
            "--sampler perf: it sees the functions of the interpreter, but not which test is running"
        );
    }
    let settings = Settings {
        clock: args.profiling.by.clock(),
        call_graph: CallGraph::FramePointers,
        duration: Some(Duration::from_secs_f64(args.timeout)),
        show_output: false,
        suite: true,
    };
    let only = (!args.ask.only.is_empty()).then(|| args.ask.only.clone());
    Ok(Sampled {
        side,
        framework,
        limit: args.timeout,
        by_shell: by_shell && place.sampler != Sampler::Stackprof,
        sampling: Sampling::of(&args.profiling.by, settings, place),
        wanted: RunRequirements { only, frames: true, ..RunRequirements::default() },
        order: None,
        room: room::temporary()?,
        name: list::line(&program.argv),
        metrics: vec![Metric::wall()],
        taken: Vec::new(),
    })
}

impl Sampled<'_> {
    /// Samples one run, and reads the suite's report on it.
    fn sample(&self, block: u32) -> anyhow::Result<(SampledRun, Run)> {
        let room = self.room.path().join(block.to_string());
        fs::create_dir_all(&room).with_context(|| room.display().to_string())?;
        let order = self.order.map_or(Order::Given, |seed| Order::Random(order_of(seed, block)));
        let wanted = RunRequirements { order, ..self.wanted.clone() };
        let directory = directory_of(self.side);
        let request =
            self.framework.ask(&Call::new(&self.side.argv, &directory), &wanted, &room)?;
        let mut command = prepared(&request, self.side)?;
        (command.keep_output, command.keep_errors) = (false, false);
        if self.by_shell {
            // py-spy gives up if the process that it started is not Python, but it finds the
            // children of a shell.
            let shell = ["/bin/sh", "-c", "\"$@\"; exit $?", "sh"].map(Into::into);
            command.argv = shell.into_iter().chain(command.argv).collect();
        }
        let began = now_seconds();
        let sampled = self.side.under(|| {
            Ok::<_, RunError>(self.sampling.sample(Target::Command(&command), &self.name))
        });
        let taken = sampled??;
        let answer = Answer {
            room: &room,
            directory: &directory,
            output: &[],
            errors: taken.ended.said.as_bytes(),
            began,
            ended: now_seconds(),
            since_1970: 0.0,
        };
        if taken.ended.wall_seconds >= self.limit && interrupt::count() == 0 {
            let limit = number::chosen(self.limit, &Unit::Second);
            let why = format!(
                "the suite took longer than --timeout {limit} and was killed; allow it more time"
            );
            return Err(RunError::Failed(why).into());
        }
        let read = self.framework.read(&answer);
        let run = read.map_err(|error| told(error, taken.ended.outcome))?;
        let _stays = fs::remove_dir_all(&room);
        Ok((taken, run))
    }
}

impl Source for Sampled<'_> {
    type Error = anyhow::Error;

    fn layout(&self) -> Layout {
        Layout::of_names([""])
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<anyhow::Error>> {
        let (taken, run) = self.sample(turn.block)?;
        let wall = taken.ended.wall_seconds;
        self.taken.push((taken, run));
        // If the user interrupts, the samples taken so far are shown.
        if interrupt::count() > 0 {
            return Err(Obstacle::Interrupted);
        }
        Ok(Measured::values(vec![wall]))
    }
}

/// Returns the data that a run reported about its tests: the final names of tests, by the names of
/// their frames, and the times.
fn of_tests(run: &Run) -> (HashMap<String, String>, HashMap<String, Timed>) {
    let (mut names, mut timed) = (HashMap::new(), HashMap::new());
    for test in &run.tests {
        if let Some(started) = &test.started {
            names.insert(started.clone(), test.name.clone());
        }
        if let Some(seconds) = test.seconds {
            timed.insert(test.name.clone(), Timed { seconds, collected: test.gc });
        }
    }
    (names, timed)
}

/// Attributes the samples of a run to tests.
fn attributed(taken: &SampledRun, run: &Run) -> marked::Run {
    let (names, timed) = of_tests(run);
    let mut parts = marked::split(&taken.profile);
    for mark in parts.iter_mut().filter_map(|part| part.mark.as_mut()) {
        if let Some(name) = names.get(&mark.name).filter(|_| mark.kind == marked::TEST) {
            mark.name.clone_from(name);
        }
    }
    marked::Run { parts, timed }
}

/// Shows the samples, and returns the outcome of the verb.
fn show(
    args: &Args,
    source: Sampled<'_>,
    language: Language,
    files: &[PathBuf],
) -> anyhow::Result<Ending> {
    let confidence = args.judge.confidence.unwrap_or(CONFIDENCE);
    let sees_collection = source.sampling.place.sampler == Sampler::Stackprof;
    let runs: Vec<marked::Run> =
        source.taken.iter().map(|(taken, run)| attributed(taken, run)).collect();
    let found = Attributed::of(&runs, sees_collection, confidence);
    let profiles: Vec<Profile> = source.taken.iter().map(|(own, _)| own.profile.clone()).collect();
    let shares = Shares::of_runs(&profiles, confidence);
    let merged = Profile::merged(&profiles).context("nothing was sampled")?;
    let mut findings = checks::findings(&merged);
    findings.extend(checks::of_tests(&found, &runs, &merged));
    findings.extend(no_collection(&source.sampling, language));
    let (_, told) = source.taken.last().context("nothing was sampled")?;
    let is_interrupted = interrupt::count() > 0;
    if is_interrupted {
        findings.push(interrupted("this is what was sampled until then"));
    }
    for finding in &mut findings {
        // The duration of a suite cannot be chosen.
        finding.advice.retain(|own| !matches!(own.action, Action::MeasureLonger { .. }));
    }
    spell(Dialect::Tests, &mut findings);
    let by_test: Vec<Profile> = runs.iter().map(|run| marked::joined(&run.parts, title)).collect();
    let by_test = Profile::merged(&by_test).unwrap_or_default();
    let whole = ProfileReport {
        profile: &by_test,
        shares: &shares,
        findings: &findings,
        overhead: None,
        live: true,
        top: args.profiling.top,
    };
    let failed = told.tests.iter().filter(|test| test.status == TestStatus::Failed).count();
    let suite = SampledSuite {
        framework: &told.framework,
        ran: told.tests.iter().filter(|test| test.status != TestStatus::Skipped).count(),
        failed,
        whole: &whole,
        found: &found,
        tests: args.look.number,
    };
    let show = &args.record.show;
    // A file that cannot be written must not prevent the output to the screen.
    let written = exporting::write(&whole, files, show.quiet);
    if show.json {
        output::print(&json::text(&json::SuiteShares::of(&suite))?)?;
    } else {
        output::print(&sampled::render(&suite, show.remarks(), &present::screen(show.color)))?;
    }
    written?;
    // The exit status of a sampler may not be that of its program, so failure is determined from
    // the suite's report and its tests.
    let is_red = source.taken.iter().any(|(_, run)| run.has_failed() || !run.faults.is_empty());
    Ok(match (is_interrupted, is_red) {
        (true, _) => Ending::Interrupted,
        (false, false) => Ending::Fine,
        (false, true) => Ending::CommandFailed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_suites::run::Test;

    #[test]
    fn a_test_that_got_its_name_late_has_the_samples_of_its_first_one() {
        let test = |name: &str, started: Option<&str>| Test {
            name: name.to_owned(),
            started: started.map(str::to_owned),
            seconds: Some(0.5),
            gc: Some(0.1),
            ..Test::default()
        };
        let run = Run {
            tests: vec![test("a", None), test("A is positive", Some("A "))],
            ..Run::default()
        };
        let (names, timed) = of_tests(&run);
        assert_eq!(names.get("A ").map(String::as_str), Some("A is positive"));
        assert_eq!(timed["A is positive"], Timed { seconds: 0.5, collected: Some(0.1) });
        assert_eq!(timed.len(), 2);
    }
}
