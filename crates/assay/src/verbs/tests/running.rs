//! `assay tests -- COMMAND`: runs the suite, alternating between several revisions if given,
//! records each of its tests, and shows the result.

use super::options::{OrderOf, SuiteRunArgs as Args};
use super::{sharding, showing};
use crate::changed::{self, ChangeQuery, Selection, Tracked};
use crate::cutting::Cutting;
use crate::planning::{self, BUDGET_ALONE, CEILING, DurationArgs, check_threshold, no_such_metric};
use crate::progress::{Line, share_done};
use crate::record::Record;
use crate::recorded::{self, Recorded};
use crate::revisions::{self, NO_BUILD, Prepared, RevisionRequest as Revisions};
use crate::run_error::RunError;
use crate::tests::{Asker, Limits as TimeLimits, Live, Setting, Side, Suite, polluters};
use crate::toggles::{self, OfSide, Toggled};
use crate::{Ending, output, present};
use anyhow::{Context, bail};
use assay_analysis::engine::{Limits, Session, Standing};
use assay_analysis::testing;
use assay_data::plan::MAX_BLOCKS;
use assay_data::samples::without_secrets;
use assay_data::{Environment, Metric, Plan, Samples, StopReason, StopRule};
use assay_measure::{Command, environment, interrupt};
use assay_report::benchmarks::toggles::TOGETHER;
use assay_suites::frameworks;
use assay_suites::{Call, Framework, Orders, RunRequirements};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Confidence of the intervals. The search for polluters does not use it.
const CONFIDENCE: f64 = 0.95;
/// The budget may be extended to this many runs of each side, or to [`CEILING`] if that is longer.
const FEWEST_RUNS: f64 = 12.0;
/// Secondary metrics if there are several sides: only metrics of the whole run, because secondary
/// metrics of every test would share the error with them.
const SHOWN: [&str; 4] = ["cpu", "max_rss", "boot", "loading"];

/// Runs the suite, records and analyzes the results, and shows them.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    if let Some(option) = args.profiling.by.given() {
        bail!("{option} applies to sampling; add --profile");
    }
    let junit = args.look.junit.as_deref().map(|path| ("--junit", path, "junit.xml"));
    recorded::run(
        &args.record,
        junit.as_slice(),
        || measure(args, None),
        |path| resumed(args, path),
    )
}

/// Resumes a recorded run with its original command line.
fn resumed(args: &Args, path: &Path) -> anyhow::Result<Ending> {
    let (recorded, first) = recorded::begun::<super::Args>(&args.record, path, "tests")?;
    let mut first = first.running;
    first.when.time = args.when.time;
    first.judge.fail_if.clone_from(&args.judge.fail_if);
    first.record = args.record.after(&first.record);
    measure(&first, Some(&recorded))
}

/// Returns the framework that the command runs, or the named one.
pub(super) fn framework_of(args: &Args) -> anyhow::Result<Box<dyn Framework>> {
    Ok(match &args.ask.framework {
        Some(name) => frameworks::by_name(name)?,
        None => frameworks::by_call(&Call::new(&args.command, Path::new("."))),
    })
}

fn measure(args: &Args, recorded: Option<&Samples>) -> anyhow::Result<Ending> {
    let framework = framework_of(args)?;
    let call = Call::new(&args.command, Path::new("."));
    if args.test_timeout.is_some() && !sees_running(framework.as_ref(), &call) {
        bail!(
            "--test-timeout: {} does not report which test is running; rspec, minitest, test-unit, pytest, unittest, go test, cargo test and node --test do. To limit the whole suite, use --timeout",
            framework.name()
        );
    }
    let Sides { sides, prepared, toggled } = sides(args, framework.as_ref())?;
    let instead = "name two revisions (--rev), or a setting (--toggle)";
    present::check_fail_if(&args.judge.fail_if, sides.len(), "one suite", instead)?;
    let plan = plan(args, sides.len(), recorded)?;
    let order = order(args, framework.as_ref(), sides.len())?;
    let environment = Environment::from_facts(environment::capture());
    let line = Rc::new(Line::new(args.record.show.quiet));
    line.machine(&environment);
    let limits = TimeLimits {
        suite: Duration::from_secs_f64(args.timeout),
        test: args.test_timeout.map(Duration::from_secs_f64),
    };
    interrupt::answer_on_stderr(!args.record.show.quiet && std::io::stderr().is_terminal());
    let mut asker = Asker::start(limits)?;
    if sides.len() < 2 {
        let live = Live::new(Rc::clone(&line), !args.record.show.quiet, plan.fixed_blocks());
        asker.attend(live);
    }
    let mut only = (!args.ask.only.is_empty()).then(|| args.ask.only.clone());
    if let Some(shard) = args.ask.shard {
        only = Some(sharding::part(args, shard, framework.as_ref(), &sides[0], &mut asker, &line)?);
    }
    let cutting = Cutting::default();
    let mut tracked = None;
    let mut files = None;
    if let Some(revision) = &args.ask.changed {
        let (mut own, note) =
            Tracked::open(framework.as_ref(), &args.command, &args.ask.rule, &cutting)?;
        note.iter().chain(&cutting.lost()).for_each(|note| line.say(note));
        let selection = select(&mut own, revision, args.ask.explain, &line)?;
        match selection {
            Selection::Nothing(_) => return Ok(Ending::Fine),
            Selection::All(_) => {}
            Selection::Some { only: names, files: whole, .. } => {
                only = Some(names);
                files = Some(whole);
            }
        }
        tracked = Some(own);
    }
    let coverage = tracked.as_ref().map(Tracked::top);
    let wanted =
        RunRequirements { causes: args.ask.causes, only, coverage, ..RunRequirements::default() };
    for side in sides.iter().filter(|side| side.warm) {
        line.draw(0.0, "loading the suite".to_owned());
        if let Err(error) = asker.preload_to_measure(framework.as_ref(), side, &wanted) {
            line.end();
            return failed(error);
        }
    }
    let order = order.then_some(plan.seed);
    let count = sides.len();
    let suite = Suite::new(sides, framework.as_ref(), asker, wanted, order);
    let mut running = Recorded::new(suite);
    let session = &mut running.session;
    describe(&mut session.samples, environment, prepared.as_ref(), &session.source.sides);
    if let Some(toggled) = &toggled {
        describe_settings(&mut session.samples, &toggled.borrow());
    }
    if args.record.keep.anonymous {
        session.samples.make_anonymous();
    }
    // For a single suite, `--runs` is the exact number of runs; a comparison adds a warm-up run.
    let is_asked = args.when.runs.is_some();
    let warmup = args.warmup.unwrap_or(u32::from(count > 1 || several(&plan) && !is_asked));
    let warm = session.warm_up(warmup, plan.seed, &mut |_| {
        if line.is_due() {
            line.draw(0.0, "a run before those that count".to_owned());
        }
    });
    let warm = match warm {
        Ok(phase) if phase.reason == StopReason::Interrupted => {
            line.end();
            return Ok(Ending::Interrupted);
        }
        Ok(phase) => phase,
        Err(error) => {
            line.end();
            return failed(error);
        }
    };
    let deciding = session.samples.metric_index(&plan.primary);
    let deciding = deciding.with_context(|| {
        let known: Vec<&str> = session.samples.metrics.iter().map(|m| m.name.as_str()).collect();
        no_such_metric("--primary", &plan.primary, &known)
    })?;
    check_threshold(&plan, &session.samples.metrics[deciding]).map_err(anyhow::Error::msg)?;
    let block = warm.block_seconds.unwrap_or(0.0);
    let ceiling_seconds = match (count, args.when.time) {
        (2.., None) => CEILING.max(block * FEWEST_RUNS),
        _ => 0.0,
    };
    // The whole suite is a family of its own, which does not share its error with the tests.
    let limits = Limits { ceiling_seconds, sharing: 0 };
    let (keep, earlier) = (&args.record.keep, &args.record.earlier);
    let done = running.begin((keep, earlier), recorded, (&plan, deciding, limits))?;
    let measured = running.measure(done, |standing| progress(&line, &standing, &plan));
    line.end();
    let is_stopped = running.session.source.is_stopped;
    let measured = if is_stopped { Ok(StopReason::Interrupted) } else { measured };
    let session = &mut running.session;
    if measured.is_err() && session.samples.is_empty() {
        return measured.map_or_else(failed, |_| Ok(Ending::Fine));
    }
    if measured.as_ref().is_ok_and(|reason| *reason != StopReason::Interrupted)
        && !args.ask.no_search
    {
        polluters(session, &line);
    }
    if let (Some(tracked), Some(ran)) = (&mut tracked, &session.source.last[0])
        && !is_stopped
        && let Err(error) = tracked.take(&ran.run, ran.trouble().is_some(), files.as_deref())
    {
        line.say(&format!(
            "the record of what tests use could not be saved: {}",
            output::told(&error)
        ));
    }
    if let Some(lost) = cutting.lost() {
        line.say(&lost);
    }
    // The servers are no longer needed while pages are written.
    let restored = toggled.map_or(Ok(()), |own| own.borrow_mut().close());
    // The record already contains these spans.
    session.samples.inner.append(&mut session.source.spans);
    let frameworks = frameworks_of(&session.source);
    let ended = running.end(&args.record, measured, frameworks, |running| {
        showing::show(args, &mut running.session)
    })?;
    Ok(match restored {
        Ok(()) => ended,
        Err(error) => {
            output::error(&error);
            Ending::InputError
        }
    })
}

/// Returns true if the framework reports the current test while the suite runs.
fn sees_running(framework: &dyn Framework, call: &Call) -> bool {
    framework.watch(call, Path::new("")).is_some_and(|watch| watch.sees_running())
}

/// Selects the tests to run, and reports the selection.
fn select(
    tracked: &mut Tracked,
    revision: &str,
    explain: bool,
    line: &Line,
) -> anyhow::Result<Selection> {
    let place = tracked.place().clone();
    let asked = if revision.is_empty() { ChangeQuery::Any } else { ChangeQuery::Since(revision) };
    let choice = tracked.choice(asked, true)?;
    if explain {
        changed::explained(&choice).iter().for_each(|why| output::say(why));
    }
    let selection = Tracked::selection(&choice, &place);
    line.say(&changed::said(&selection));
    Ok(selection)
}

/// Handles an error of a suite before anything was measured.
fn failed(error: RunError) -> anyhow::Result<Ending> {
    let ending = error.ending();
    output::error(&error.into());
    Ok(ending)
}

/// Returns true if a plan has several runs.
fn several(plan: &Plan) -> bool {
    !matches!(plan.stop, StopRule::Fixed { blocks: 1 })
}

/// The sides, with the revisions or the settings and servers that they consist of.
pub(super) struct Sides {
    pub sides: Vec<Side>,
    pub prepared: Option<Prepared>,
    pub toggled: Option<Rc<RefCell<Toggled>>>,
}

pub(super) fn sides(args: &Args, framework: &dyn Framework) -> anyhow::Result<Sides> {
    let variable = |text: &String| -> anyhow::Result<(String, String)> {
        let (name, value) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .with_context(|| format!("--env {text}: write it as NAME=VALUE"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    let env = args.ask.env.iter().map(variable).collect::<anyhow::Result<Vec<_>>>()?;
    let command = Command::new(args.command.clone())?;
    if args.revisions.rev.is_empty() {
        command.resolve()?;
        let side = Side { env, ..Side::new("suite", args.command.clone()) };
        return toggled(args, framework, side);
    }
    if args.toggles.is_asked()? {
        bail!(
            "--rev compares revisions, but --toggle and --with apply to the working tree: leave out one of them"
        );
    }
    let wanted = Revisions {
        revisions: &args.revisions.rev,
        line: args.revisions.build.as_deref().unwrap_or(NO_BUILD),
        program: &command,
        directory: None,
        links: None,
        if_same: (!args.revisions.aa).then_some("--aa"),
        quiet: args.record.show.quiet,
    };
    let prepared = revisions::prepare(&wanted)?;
    let names = match crate::bench::all_differ(&args.revisions.rev) {
        true => args.revisions.rev.clone(),
        false => crate::bench::numbered(args.revisions.rev.iter().cloned()),
    };
    let side = |(name, command): (&String, &Command)| Side {
        env: env.clone(),
        directory: command.cwd.clone(),
        ..Side::new(name.clone(), command.argv.clone())
    };
    let sides = names.iter().zip(&prepared.commands).map(side).collect();
    Ok(Sides { sides, prepared: Some(prepared), toggled: None })
}

/// Returns the sides that settings create from one side, with the means to apply them; the side
/// alone if none are requested.
fn toggled(args: &Args, framework: &dyn Framework, side: Side) -> anyhow::Result<Sides> {
    if !args.toggles.is_asked()? {
        return Ok(Sides { sides: vec![side], prepared: None, toggled: None });
    }
    toggles::mend(&args.toggles.server);
    let language = toggles::language_of(framework.name());
    let toggled = Rc::new(RefCell::new(Toggled::prepare(&args.toggles, language)?));
    let prepared = toggled.borrow();
    let alone = prepared.sides.len() < 2;
    let of_one = |(index, own): (usize, &toggles::Combination)| {
        let setting = OfSide { toggled: Rc::clone(&toggled), side: index };
        let setting: Rc<RefCell<dyn Setting>> = Rc::new(RefCell::new(setting));
        let name = if alone { side.name.clone() } else { own.name.clone() };
        let (added, settings) = (prepared.added(index), vec![setting]);
        Side { name, added, settings, warm: own.is_preloaded(), ..side.clone() }
    };
    let sides = prepared.sides.iter().enumerate().map(of_one).collect();
    drop(prepared);
    Ok(Sides { sides, prepared: None, toggled: Some(toggled) })
}

/// Records the settings that are compared, and those that were unavailable.
fn describe_settings(samples: &mut Samples, toggled: &Toggled) {
    samples.findings.extend(toggled.findings.iter().cloned());
    if let Some(together) = toggled.together() {
        samples.environment.set(TOGETHER, together);
    }
}

/// Returns the plan before the first run.
fn plan(args: &Args, sides: usize, recorded: Option<&Samples>) -> anyhow::Result<Plan> {
    if let Some(begun) = recorded.and_then(|recorded| recorded.plan.clone()) {
        return Ok(planning::resumed(begun, args.when.time));
    }
    let alone = sides < 2;
    if alone && args.judge.threshold.is_some() {
        bail!(
            "--threshold: one suite is not compared with anything; name two revisions (--rev), or a setting (--toggle)"
        );
    }
    let runs = args.when.runs.or((alone && args.when.time.is_none()).then_some(1));
    let primary = args.judge.primary.clone().unwrap_or_else(|| Metric::wall().name);
    let when = DurationArgs { runs, ..args.when.clone() };
    let mut plan = planning::plan(&when, &args.judge, &primary, MAX_BLOCKS);
    if alone {
        // For a single suite, `--runs` is exact and overrides `--time`.
        let time = args.when.time.filter(|_| args.when.runs.is_none());
        let usual = plan.budget_seconds.filter(|_| args.when.runs.is_none());
        plan.budget_seconds = time.or(usual.map(|_| BUDGET_ALONE));
    }
    if plan.secondary.is_empty() {
        let shown = SHOWN.iter().filter(|name| **name != plan.primary);
        plan.secondary = shown.map(|name| (*name).to_owned()).collect();
    }
    Ok(plan)
}

/// Returns true if tests run in random orders.
pub(super) fn order(args: &Args, framework: &dyn Framework, sides: usize) -> anyhow::Result<bool> {
    let can = framework.orders() != Orders::No;
    match args.ask.order {
        Some(OrderOf::Random) if !can => bail!(
            "--order random: assay does not know how to make {} use a random order; leave it out",
            framework.name()
        ),
        Some(order) => Ok(order == OrderOf::Random),
        // Tests given by name run in the given order.
        None if !args.ask.only.is_empty() => Ok(false),
        None => Ok(can && sides < 2 && args.when.runs.is_some_and(|runs| runs > 1)),
    }
}

/// Records the facts about the suites and the machine.
fn describe(
    samples: &mut Samples,
    environment: Environment,
    prepared: Option<&Prepared>,
    sides: &[Side],
) {
    let calibrated = crate::calibrated::facts(&environment);
    samples.environment = environment;
    samples.environment.facts.extend(calibrated.facts);
    if let Some(prepared) = prepared {
        samples.findings.extend(prepared.findings.iter().cloned());
        let names = sides.iter().map(|side| side.name.clone());
        prepared.record(names, &mut samples.environment);
    }
    samples.argv = present::argv().iter().map(|word| without_secrets(word)).collect();
}

/// Returns the frameworks as reported by their runs, as facts for the end of the record; a fact
/// that all sides share is given once.
fn frameworks_of(suite: &Suite<'_>) -> Environment {
    let mut facts = Environment::default();
    for (side, own) in suite.sides.iter().zip(&suite.told) {
        let Some(own) = own else { continue };
        let fact = match Some(own) == suite.told[0].as_ref() {
            true => "test_framework".to_owned(),
            false => format!("test_framework@{}", side.name),
        };
        facts.set(&fact, own.as_str());
    }
    facts
}

/// Searches for dependencies of tests that failed in some orders only. An interruption ends the
/// search, not the run.
fn polluters(session: &mut Session<'_, Suite<'_>, Record>, line: &Line) {
    let Some(found) = testing::of_side(&session.samples, 0, CONFIDENCE) else { return };
    session.source.asker.be_silent();
    let searched = polluters::search(&mut session.source, &session.samples, &found, &mut |test| {
        line.draw(1.0, format!("searching for what `{test}` depends on"));
    });
    line.end();
    session.samples.findings.extend(searched.unwrap_or_default());
}

fn progress(line: &Line, standing: &Standing<'_>, plan: &Plan) {
    if !line.is_due() {
        return;
    }
    let share = share_done(plan, standing);
    let done = standing.experiment.blocks();
    let of = plan.fixed_blocks().map_or_else(String::new, |runs| format!(" of {runs}"));
    line.draw(share, format!("the suite ran {done}{of} times"));
}
