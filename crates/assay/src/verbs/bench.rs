//! `assay bench`: runs the unmodified benchmark programs of one or more builds alternately, and
//! gives a verdict for every benchmark.

mod choose;
mod planning;
mod revisions;
mod telling;

use crate::advice::Dialect;
use crate::args::{JudgeArgs, SameArgs, any_words, seconds};
use crate::bench::{
    Asker, Benchmarks, Catalogue, Executed, Passes, Proof, TIMES, Trial, check_differ,
};
use crate::builds::{self, Builds};
use crate::counted::Counted;
use crate::planning::{BUDGET, DurationArgs};
use crate::present::Showing;
use crate::progress::Line;
use crate::record::Record;
use crate::recorded::{self, Recorded};
use crate::resume::RecordArgs;
use crate::revisions::Prepared;
use crate::run_error::RunError;
use crate::system::is_program;
use crate::verbs::compare::suite::SuiteArgs;
use crate::{Ending, output, present, systems};
use anyhow::{Context, bail};
use assay_analysis::Options;
use assay_analysis::checks::one_side_only;
use assay_analysis::engine::{Limits, Session};
use assay_data::list;
use assay_data::{Environment, Finding, Metric, Plan, Samples, Severity, Source, StopReason, Unit};
use assay_harness::Effort;
use assay_measure::{Command, counters, environment};
use assay_report::shell::quoted;
use choose::{ChooseArgs, SideArgs};
use revisions::RevisionArgs;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use telling::Telling;

/// Name of the fact that records the measuring time of one process, in seconds.
const RUN_TIME: &str = "run_time";
/// Name of the fact that two processes measured in turns.
const TURNS: &str = "measured_in_turns";
/// Name of the fact that one process of each side measured all benchmarks.
const TOGETHER: &str = "measured_in_one_process";

/// Arguments of `assay bench`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "\
How it measures: each run is one process of one benchmark, with the same number of iterations on every side if the harness \
supports that. A round runs every undecided benchmark once on each side, the sides back to back in random order. A benchmark \
with a clear verdict is not measured any further; measuring stops when all verdicts are clear, or when the budget is spent. --confidence \
applies to the whole suite.

Harnesses: assay detects each program's harness from its --help; if that fails, name it with --harness.

Examples:
  assay bench build-old/bm build-new/bm
  assay bench build-old/bm build-new/bm --filter Copy --time 2min
  assay bench ./bm --old-filter BM_memcpy --new-filter BM_mine       two functions in one build
  assay bench ./bm --old-env LD_LIBRARY_PATH=old --new-env LD_LIBRARY_PATH=new
  assay bench --rev main --rev HEAD                                  the build command is detected
  assay bench --rev main --rev HEAD --build 'cmake -B build && cmake --build build' --program build/bm
  assay bench --rev main --rev HEAD --build LINE --program build/bm --builds 5     five links per side, shuffled
  assay bench --builds 'old-*,new-*'                                 several builds per side: is it the code, or the linker?
  assay bench old.test new.test -- -test.cpu 1                       arguments for both programs
  assay bench 'ruby old.rb' 'ruby new.rb' --fail-if slower --export comment.md
  assay bench old/bm new/bm --count-instructions --primary valgrind_instructions --fail-if slower     decide by counts alone
  assay bench --rev main --rev . --sensitivity                       would these benchmarks notice a slower function?
  assay bench --resume suite.assay --time 10min                      add more blocks to a recorded suite
  assay bench build/bm                                               a single build: its numbers only
  assay bench build/bm --list
  assay bench build/bm --smoke                                       does every benchmark still run?")]
pub(crate) struct Args {
    /// Benchmark programs, in quotes if they have arguments; the first is the reference
    ///
    /// For a single program, only its numbers are shown, and a ranking if its script calls `compare!`.
    #[arg(required_unless_present_any = ["rev", "builds", "resume"], value_name = "PROGRAM", value_parser = any_words())]
    programs: Vec<String>,

    /// Arguments for all programs, appended to their own
    #[arg(last = true, value_name = "ARGUMENT")]
    passed: Vec<OsString>,

    #[command(flatten)]
    choose: ChooseArgs,

    #[command(flatten)]
    sides: SideArgs,

    #[command(flatten)]
    revisions: RevisionArgs,

    #[command(flatten)]
    when: DurationArgs,

    /// Approximate measuring time of one process [default: 2ms to 300ms, in proportion to the
    /// time that a process takes to start]
    ///
    /// Many short runs are worth more than a few long ones.
    #[arg(long, value_name = "SPAN", help_heading = "How long", value_parser = seconds)]
    run_time: Option<f64>,

    /// Kill a run that takes longer than this, and drop its benchmark
    #[arg(long, value_name = "SPAN", help_heading = "How long", value_parser = seconds, default_value = "5min")]
    timeout: f64,

    #[command(flatten)]
    count: CountArgs,

    #[command(flatten)]
    judge: JudgeArgs,

    #[command(flatten)]
    same: SameArgs,

    #[command(flatten)]
    suite: SuiteArgs,

    /// Also name the most likely cause of the largest difference, as `assay why` does
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    why: bool,

    #[command(flatten)]
    pub(crate) record: RecordArgs,
}

/// Options for counting in addition to timing.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Counting")]
struct CountArgs {
    /// Count heap allocations after the timed runs; per iteration if the harness can run a fixed
    /// number of iterations
    #[arg(long)]
    alloc: bool,

    /// Count instructions under valgrind (if installed) after the timed runs: almost no noise, good
    /// for CI on shared machines
    ///
    /// To decide by instructions alone, without any timing: assay bench old/bm new/bm
    /// --count-instructions --primary valgrind_instructions --fail-if slower
    /// (docs/guides/instructions.md).
    #[arg(long)]
    count_instructions: bool,

    /// Count hardware or software events, as in instructions,cache-misses or page-faults, after the
    /// timed runs
    ///
    /// Events are read often enough for every benchmark to get a verdict after the
    /// multiple-comparison correction: at least 12 times, and once more for every doubling of the
    /// number of benchmarks or of events.
    #[arg(long, value_name = "LIST")]
    counters: Option<String>,

    /// After the timed runs, find how much slower a call to each changed function must get before
    /// its benchmarks show it
    ///
    /// Delays the calls to one function at a time, and counts how often an iteration calls it.
    /// Works for two revisions in Go (`go test -bench`), Python (pytest-benchmark, pyperf) or Ruby
    /// (benchmark-ips), and covers the five longest functions that changed.
    #[arg(long)]
    sensitivity: bool,
}

impl CountArgs {
    /// Returns the options that only some runners support, and whether each was given.
    fn given(&self) -> [(&'static str, bool); 2] {
        [("--counters", self.counters.is_some()), ("--alloc", self.alloc)]
    }

    /// Returns the requested counting passes.
    fn passes(&self) -> anyhow::Result<Passes> {
        let events = self.counters.as_deref().map(counters::parse).transpose();
        let events = events.with_context(|| "--counters")?.unwrap_or_default();
        Ok(Passes { counted: Counted::asked(self.alloc, self.count_instructions), events })
    }
}

/// Builds, lists and tries the benchmarks, measures them, and shows the verdicts.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    recorded::run(&args.record, &[], || asked(args, None), |path| resumed_run(args, path))
}

/// Resumes a recorded run with its original command line.
fn resumed_run(args: &Args, path: &Path) -> anyhow::Result<Ending> {
    let (recorded, mut first) = recorded::begun::<Args>(&args.record, path, "bench")?;
    // The file determines what is measured. The current command line determines the duration and
    // the output.
    first.when.time = args.when.time;
    first.judge.fail_if.clone_from(&args.judge.fail_if);
    first.why = args.why;
    first.record = args.record.after(&first.record);
    asked(&first, Some(&recorded))
}

fn asked(args: &Args, recorded: Option<&Samples>) -> anyhow::Result<Ending> {
    let alone = args.choose.list || args.choose.smoke;
    systems::check_options(args.count.given())?;
    let passes = args.count.passes()?;
    // Tools are checked before a build, which takes long. Nothing is counted for `--list` and
    // `--smoke`.
    if !alone {
        passes.check_tools()?;
    }
    args.revisions.check()?;
    check_programs(&args.programs)?;
    if args.count.sensitivity && args.revisions.rev.len() < 2 {
        bail!(
            "--sensitivity needs the sources of both sides: name them with --rev, as in --rev main --rev ."
        );
    }
    if args.count.sensitivity && recorded.is_some() {
        bail!("--sensitivity: a resumed run no longer knows what changed; begin a new run");
    }
    let files = args.revisions.builds.as_ref().map(Builds::commands).transpose()?.flatten();
    let named = files.as_ref().map_or(&args.revisions.rev, |(names, _)| names);
    let recipe = args.revisions.recipe()?;
    let commands = match (&recipe, &files) {
        (Some(recipe), _) => vec![recipe.program.clone(); args.revisions.rev.len()],
        (None, Some((_, files))) => files.iter().map(|side| side[0].clone()).collect(),
        (None, None) => args
            .programs
            .iter()
            .map(|text| Command::parse(text, false))
            .collect::<Result<_, _>>()?,
    };
    let mut sides = args.sides.sides(commands, named, &args.passed, &args.choose)?;
    present::check_fail_if(
        &args.judge.fail_if,
        sides.len(),
        "one program",
        "give a second one, or two sets of its benchmarks (--old-filter and --new-filter), or two environments (--old-env and --new-env)",
    )?;
    if args.sides.control && sides.len() < 2 {
        bail!("--control: a single program is not compared with anything; give a second one");
    }
    // A build takes long, so errors in the other arguments are reported before it.
    let prepare =
        |recipe| args.revisions.prepare(recipe, args.sides.aa || alone, args.record.show.quiet);
    let prepared = recipe.as_ref().map(prepare).transpose()?;
    if let Some(prepared) = &prepared {
        revisions::settle(prepared, &mut sides);
    }
    let mut before = Beforehand { prepared, findings: Vec::new() };
    let links = before.prepared.as_mut().and_then(|prepared| prepared.links.take());
    if let Some(all) = links.or(files.map(|(_, files)| files)).filter(|_| !alone) {
        before.findings = builds::settle(&mut sides, all)?;
    }
    if !alone {
        let proof = Proof::of(&mut sides, args.sides.aa)?;
        if !args.sides.aa {
            check_differ(&sides, &proof)?;
        }
        before.findings.extend(proof.findings);
    }
    let mut asker = Asker::start(Duration::from_secs_f64(args.timeout))?;
    let catalogue = Catalogue::of(sides, &args.choose.wanted(&args.sides), &mut asker)?;
    if args.choose.list {
        return telling::list(&catalogue, args.record.show.json).map(|()| Ending::Fine);
    }
    if args.choose.smoke {
        return smoke(args, &catalogue, &mut asker);
    }
    measure(args, &catalogue, &mut asker, before, &passes, recorded)
}

/// Rejects recorded numbers that were given in place of programs.
fn check_programs(programs: &[String]) -> anyhow::Result<()> {
    const RECORDED: [&str; 7] = ["txt", "csv", "tsv", "json", "jsonl", "xml", "assay"];
    let is_recorded = |text: &String| {
        let path = Path::new(text.as_str());
        let extension = path.extension().unwrap_or_default();
        let is_known = RECORDED.iter().any(|known| extension == *known);
        is_known && path.is_file() && !is_program(path)
    };
    if let Some(file) = programs.first().filter(|_| programs.iter().all(is_recorded)) {
        let verb = if programs.len() == 1 { "describe" } else { "compare" };
        bail!(
            "{file}: is not a benchmark program; recorded numbers are shown by: assay {verb} {}",
            quoted(programs)
        );
    }
    Ok(())
}

/// What is known before the programs list their benchmarks.
struct Beforehand {
    /// The revisions, if the sides are revisions. Held until everything is measured.
    prepared: Option<Prepared>,
    /// Findings about the builds and the libraries of the sides.
    findings: Vec<Finding>,
}

/// Runs every benchmark once on every side, to find broken ones.
fn smoke(args: &Args, catalogue: &Catalogue, asker: &mut Asker) -> anyhow::Result<Ending> {
    let all: Vec<usize> = (0..catalogue.benchmarks.len()).collect();
    let telling = Telling { line: Line::new(args.record.show.quiet) };
    let trial = Trial::of(catalogue, &all, (Effort::Once, false), asker, &mut |done, of| {
        telling.trying(done, of);
    });
    telling.line.end();
    let broken = telling::smoke(catalogue, &trial?, args.record.show.json)?;
    Ok(if broken == 0 { Ending::Fine } else { Ending::CommandFailed })
}

fn measure(
    args: &Args,
    catalogue: &Catalogue,
    asker: &mut Asker,
    before: Beforehand,
    passes: &Passes,
    recorded: Option<&Samples>,
) -> anyhow::Result<Ending> {
    let comparable = catalogue.comparable();
    if comparable.is_empty() {
        let of = |side: usize| {
            let own = catalogue.benchmarks.iter().filter_map(|b| b.on[side].as_deref());
            let some: Vec<String> = own.take(3).map(|name| format!("`{name}`")).collect();
            format!("{} has {}", catalogue.sides[side].name, some.join(", "))
        };
        let sides: Vec<String> = (0..catalogue.sides.len()).map(of).collect();
        bail!("the programs have no benchmark in common: {}", sides.join("; "));
    }
    let silent = catalogue.drivers.iter().find(|driver| driver.executes().is_none());
    if let Some(driver) = silent.filter(|_| args.count.sensitivity) {
        bail!(
            "--sensitivity: function calls can be delayed only in benchmarks of Go, pytest-benchmark, pyperf and benchmark-ips, not of {}",
            driver.name()
        );
    }
    let environment = Environment::from_facts(environment::capture());
    let telling = Telling { line: Line::new(args.record.show.quiet) };
    telling.line.machine(&environment);
    let budget = args.when.time.unwrap_or(BUDGET);
    // A resumed run keeps the processes and the run time of its earlier runs.
    let together = match recorded {
        Some(recorded) => recorded.environment.flag(TOGETHER).unwrap_or(false),
        None => passes.is_empty() && !args.count.sensitivity && catalogue.should_share(budget),
    };
    let run_time = recorded
        .and_then(|recorded| recorded.environment.number(RUN_TIME))
        .unwrap_or_else(|| planning::run_time(args.run_time, catalogue, (together, budget)));
    let effort = Effort::Seconds(run_time);
    let mut trial =
        Trial::of(catalogue, &comparable, (effort, together), asker, &mut |done, of| {
            telling.trying(done, of);
        })?;
    let is_fixed =
        args.run_time.is_some() || recorded.is_some() || !catalogue.isolates() || trial.together;
    let run_time = match is_fixed {
        true => run_time,
        false => planning::fit(run_time, &mut trial, catalogue.start_seconds, budget),
    };
    // A resumed run keeps the facts determined at its start.
    let executed = match recorded {
        Some(_) => Executed::default(),
        None => Executed::of(catalogue, &comparable, (asker, budget), &mut |done, of| {
            telling.tracing(done, of);
        })?,
    };
    let suite = Benchmarks::ready(catalogue, &trial, run_time, asker, (recorded, &executed))?;
    if suite.benchmarks() == 0 {
        telling.line.end();
        let failures = suite.failures.iter().take(5);
        let told: Vec<String> = failures.map(|failure| failure.finding().message).collect();
        bail!("no benchmark can be measured on two sides:\n  {}", told.join("\n  "));
    }
    let (primary, counted_alone) = planning::primary(&suite, &args.judge, passes)?;
    let is_time = |metric: &Metric| metric.name == primary && metric.unit == Unit::Second;
    if args.count.sensitivity && !suite.metrics().iter().any(is_time) {
        bail!("--sensitivity needs a time as the deciding metric, not {primary}");
    }
    let (plan, fitted) = match counted_alone {
        true => (planning::counting_plan(&args.when, &args.judge, &primary)?, None),
        false => planning::plan(&args.when, &args.judge, &args.suite, &suite, &trial, &primary)?,
    };
    let plan = match recorded.and_then(|recorded| recorded.plan.clone()) {
        Some(_) if counted_alone => bail!(
            "--resume: nothing was timed in that run, and counts are complete after {TIMES} of each; begin a new run"
        ),
        Some(begun) => crate::planning::resumed(begun, args.when.time),
        None => plan,
    };
    let ceiling_seconds = planning::ceiling(&args.when);
    telling.plan(catalogue, &suite, &trial, (&plan, ceiling_seconds), counted_alone);
    telling.libraries(&before.findings);
    if recorded.is_none() {
        fitted.iter().for_each(|f| telling.line.say(&assay_report::findings::line(f)));
    }
    let limits =
        Limits { ceiling_seconds, sharing: planning::share(&args.suite, suite.benchmarks()) };
    let mut running = Recorded::new(suite);
    let samples = &mut running.session.samples;
    describe(samples, catalogue, environment, &before);
    samples.environment.set(RUN_TIME, run_time);
    if running.session.source.takes_turns() {
        samples.environment.set(TURNS, true);
    }
    if trial.together {
        samples.environment.set(TOGETHER, true);
    }
    if recorded.is_none() {
        samples.findings.extend(debug_builds(catalogue, &trial));
        samples.findings.extend(fitted);
        samples.findings.append(&mut running.session.source.changes);
        if catalogue.sides.len() > 1 {
            samples.findings.extend(unmatched(catalogue));
        }
    }
    if args.record.keep.anonymous {
        samples.make_anonymous();
    }
    let deciding = samples.metric_index(&plan.primary).unwrap_or(0);
    let (keep, earlier) = (&args.record.keep, &args.record.earlier);
    let done = running.begin((keep, earlier), recorded, (&plan, deciding, limits))?;
    let done = done.or(counted_alone.then_some(StopReason::Blocks));
    let measured = running.measure(done, |standing| telling.rounds(standing, &plan));
    let measured = measured.and_then(|reason| match reason {
        StopReason::Interrupted => Ok(reason),
        // All passes come after the timing, so an earlier recording with counts is complete.
        _ if recorded.is_some_and(|r| r.observations().any(|o| o.pass.is_some())) => Ok(reason),
        _ => count(args, &mut running.session, passes, &plan, &telling)
            .and_then(|()| sense(args, &mut running.session, &executed, run_time, &telling))
            .map(|()| reason),
    });
    telling.line.end();
    running.end(&args.record, measured, Environment::default(), |Recorded { session, .. }| {
        let verdict = show(args, &session.samples, session.recorder.as_ref())?;
        let failed = !(session.source.failures.is_empty() && session.failures.is_empty());
        // A verdict that fails the build takes precedence over a benchmark that could not be
        // measured. The latter has been reported.
        let hides = failed && verdict != Ending::FailIfCameTrue;
        Ok(if hides { Ending::CommandFailed } else { verdict })
    })
}

/// Records facts about the programs and the machine.
fn describe(
    samples: &mut Samples,
    catalogue: &Catalogue,
    environment: Environment,
    before: &Beforehand,
) {
    let calibrated = crate::calibrated::facts(&environment);
    samples.environment = environment;
    samples.environment.facts.extend(calibrated.facts);
    let harnesses: Vec<String> = catalogue.drivers.iter().map(|driver| driver.name()).collect();
    for (side, name) in catalogue.sides.iter().zip(&harnesses) {
        // Sides with the same harness as the first one need no fact of their own.
        let fact = match *name == harnesses[0] {
            true => "harness".to_owned(),
            false => format!("harness@{}", side.name),
        };
        samples.environment.set(&fact, name.as_str());
    }
    samples.findings.extend(before.findings.iter().cloned());
    if let Some(prepared) = &before.prepared {
        samples.findings.extend(prepared.findings.iter().cloned());
        let names = catalogue.sides.iter().map(|side| side.name.clone());
        prepared.record(names, &mut samples.environment);
    }
    samples.argv = present::argv();
}

/// Counts the requested events, after all timing.
fn count(
    args: &Args,
    session: &mut Session<'_, Benchmarks<'_>, Record>,
    passes: &Passes,
    plan: &Plan,
    telling: &Telling,
) -> Result<(), RunError> {
    let passes = session.source.begin_counting(passes, plan, args.suite.adjust());
    let places: usize = session.units().iter().map(|unit| unit.places.len()).sum();
    let all = places * passes.iter().map(|(_, blocks)| *blocks as usize).sum::<usize>();
    let mut done = 0;
    for (pass, blocks) in passes {
        let phase = session.count(pass, blocks, &mut |_| {
            telling.counting(done, all);
            done += 1;
        })?;
        if phase.reason == StopReason::Interrupted {
            let why = "while counting: what was timed before is kept";
            return Err(RunError::Interrupted(why.to_owned()));
        }
    }
    Ok(())
}

/// Measures the sensitivity to the functions that changed, if requested.
fn sense(
    args: &Args,
    session: &mut Session<'_, Benchmarks<'_>, Record>,
    executed: &Executed,
    run_time: f64,
    telling: &Telling,
) -> Result<(), RunError> {
    if !args.count.sensitivity {
        return Ok(());
    }
    let Ok(analysis) = assay_analysis::analyse(&session.samples, &options(args, &session.samples))
    else {
        return Ok(());
    };
    session.source.sense(executed, &analysis, run_time, &mut |done, of| telling.delaying(done, of))
}

/// Returns a finding for each reason why builds are slower than necessary, with the sides that it
/// applies to.
fn debug_builds(catalogue: &Catalogue, trial: &Trial) -> Vec<Finding> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for (side, why) in catalogue.sides.iter().zip(&trial.debug_builds) {
        let Some(why) = why else { continue };
        match found.iter_mut().find(|(known, _)| known == why) {
            Some((_, sides)) => sides.push(&side.name),
            None => found.push((why, vec![&side.name])),
        }
    }
    let finding = |(why, sides): (&str, Vec<&str>)| {
        let message = format!("{}: {why}", sides.join(" and "));
        Finding::new(assay_data::code::DEBUG_BUILD, message).at(Severity::Warning)
    };
    found.into_iter().map(finding).collect()
}

/// Returns findings, kept in the record, about benchmarks that exist on one side only.
fn unmatched(catalogue: &Catalogue) -> Vec<Finding> {
    let mut found = Vec::new();
    for (side, own) in catalogue.sides.iter().enumerate() {
        let alone = |on: &[Option<String>]| match side {
            0 => on[0].is_some() && on.iter().skip(1).all(Option::is_none),
            _ => on[side].is_some() && on[0].is_none(),
        };
        let names: Vec<String> = catalogue
            .benchmarks
            .iter()
            .filter(|listed| alone(&listed.on))
            .map(|listed| format!("`{}`", listed.name))
            .collect();
        if names.is_empty() {
            continue;
        }
        let lacks = if side == 0 { "any other side" } else { &catalogue.sides[0].name };
        let what = match names.len() {
            1 => "1 benchmark was not measured: it is".to_owned(),
            n => format!("{n} benchmarks were not measured: they are"),
        };
        found.push(
            one_side_only(&what, &own.name, lacks, &list::first(&names, 10))
                .with("benchmarks", names.len() as f64),
        );
    }
    found
}

/// Returns the options of the analysis.
fn options(args: &Args, samples: &Samples) -> Options {
    let mut options = args.judge.options();
    // The user may have requested a count by its plain name, while the plan contains the full name.
    options.primary = options.primary.and(samples.plan.as_ref().map(|plan| plan.primary.clone()));
    options.adjust = args.suite.adjust();
    options
}

fn show(args: &Args, samples: &Samples, record: Option<&Record>) -> anyhow::Result<Ending> {
    let file = record.filter(|r| r.failure.is_none()).map(|r| r.path.as_path());
    let analysis = assay_analysis::analyse(samples, &options(args, samples));
    if analysis.is_err() && samples.stop == Some(StopReason::Interrupted) {
        output::say("interrupted before any benchmark was measured on both sides");
        return Ok(Ending::Interrupted);
    }
    let mut analysis = analysis.context("nothing was measured on both sides")?;
    let (dialect, rows) = (Dialect::Bench, args.suite.shown());
    let how = Showing { dialect, rows, show: &args.record.show, file };
    if samples.sides.len() < 2 && analysis.comparisons.is_empty() {
        present::numbers(how, &mut analysis, samples)?;
        return Ok(Ending::Fine);
    }
    present::present(how, &mut analysis, samples)?;
    if args.why && samples.sides.len() > 1 {
        super::why::print_after(samples, file, args.record.show.color)?;
    }
    Ok(args.same.ending(&analysis, present::judge(&analysis, &args.judge.fail_if)))
}
