//! `assay run`: measure one command, or compare several, in blocks and random order.

mod commands;
mod planning;

use crate::args::{JudgeArgs, ShowArgs};
use crate::progress::Progress;
use crate::session::{Obstacle, Record, Session, metrics};
use crate::{Ending, output, present, store};
use anyhow::Context;
use assay_analysis::{Experiment, analyse};
use assay_data::assay_file::{Header, Writer};
use assay_data::{Environment, Finding, Severity, StopReason};
use assay_measure::{environment, interrupt};
use commands::{HowArgs, prepared};
use planning::{CEILING, WhenArgs, fit_to_budget, plan};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay run`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "\
How it decides: every block holds each command once, in an order drawn anew. After every block the differences so far are \
looked at; measuring stops as soon as the answer is clear, or when the budget is spent. The verdict is one of faster, slower, \
equivalent (any difference is smaller than --threshold) and inconclusive (not known yet, and how much longer it would take).

Examples:
  assay run './sort-old data' './sort-new data'
  assay run -N old -N new --threshold 0.5% './a.out' './b.out'
  assay run --shell 'sort < data | uniq -c' 'sort -u < data'
  assay run --prepare 'make clean' 'make' 'make -j2'
  assay run --env 2:MALLOC_ARENA_MAX=1 ./server-bench ./server-bench
  assay run --fail-if slower --time 2min ./old ./new    in a pipeline
  assay run --runs 50 --json ./old ./new | jq .verdict")]
pub(crate) struct Args {
    /// The commands, each in quotes; the first is the reference
    #[arg(required = true, value_name = "COMMAND")]
    commands: Vec<String>,

    #[command(flatten)]
    judge: JudgeArgs,

    #[command(flatten)]
    when: WhenArgs,

    #[command(flatten)]
    how: HowArgs,

    #[command(flatten)]
    keep: KeepArgs,

    #[command(flatten)]
    show: ShowArgs,
}

/// What to keep.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Keeping")]
struct KeepArgs {
    /// Record the run in this file [default: among the last 200 runs in the state directory]
    #[arg(long, value_name = "FILE", conflicts_with = "no_save")]
    save: Option<PathBuf>,

    /// Do not record the run
    #[arg(long)]
    no_save: bool,

    /// Leave host, directories and repository out of the record
    #[arg(long)]
    anonymous: bool,
}

/// Measures, records, decides, shows.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    present::check_exports(&args.show)?;
    if let Some(path) = &args.keep.save {
        store::check_named(path)?;
    }
    let commands = prepared(&args.commands, &args.how)?;
    let mut plan = plan(&args.when, &args.judge, commands.len())?;
    let primary = metrics().iter().position(|m| m.name == plan.primary);
    let primary = primary.with_context(|| {
        let known: Vec<String> = metrics().into_iter().map(|m| m.name).collect();
        format!(
            "--primary {}: there is no such metric; known are {}",
            plan.primary,
            known.join(", ")
        )
    })?;
    let began = jiff::Timestamp::now();
    let mut environment = Environment::from_facts(environment::capture());
    if args.keep.anonymous {
        environment.make_anonymous();
    }
    interrupt::install()?;
    let names = commands.iter().map(|c| c.name.clone()).collect();
    let mut progress = Progress::new(
        args.show.quiet,
        &environment,
        names,
        metrics().swap_remove(primary).unit,
        plan.clone(),
    );
    let timeout = args.how.timeout.map(Duration::from_secs_f64);
    let tolerated = args.how.ignore_failure.clone().unwrap_or_default();
    let mut session = Session::start(&commands, timeout, tolerated, primary)?;
    session.samples.started = Some(began.to_string());
    session.samples.argv = argv(args.keep.anonymous);
    let steal_before = environment::steal_seconds();

    let mut record = None;
    let measured = session.hook("--setup", args.how.setup.as_ref()).and_then(|()| {
        let block_seconds = session.warm_up(plan.warmup, plan.seed, &progress)?;
        if let Some(finding) = fit_to_budget(&mut plan, block_seconds, &args.when, commands.len()) {
            progress.say(&format!("note: {}", finding.message));
            session.samples.findings.push(finding);
        }
        progress.follow(&plan);
        session.samples.plan = Some(plan.clone());
        session.samples.environment = environment.clone();
        record = open_record(args, &began, &mut session);
        let mut experiment = Experiment::new(plan.clone(), commands.len());
        if args.when.time.is_none() {
            experiment = experiment.stretching_to(CEILING);
        }
        session.measure_all(&mut experiment, &mut record, &mut progress)
    });
    progress.end();
    let cleaned = session.hook("--cleanup", args.how.cleanup.as_ref());

    let reason = match &measured {
        Ok(reason) => *reason,
        Err(Obstacle::Interrupted(_)) => StopReason::Interrupted,
        Err(_) => StopReason::Failed,
    };
    close(&mut session, &mut record, reason, steal_before);
    let verdict = decide(args, &session, record.as_ref())?;
    if let Some(failure) = record.as_ref().and_then(|r| r.failure.as_ref())
        && args.keep.save.is_some()
    {
        output::error(&anyhow::anyhow!("the samples could not be saved: {failure}"));
        return Ok(Ending::InputError);
    }
    match measured.and_then(|reason| cleaned.map(|()| reason)) {
        Ok(StopReason::Interrupted) => Ok(Ending::Interrupted),
        Ok(_) => Ok(verdict),
        Err(obstacle) => {
            let ending = match obstacle {
                Obstacle::Failed(_) | Obstacle::Hook(_) => Ending::CommandFailed,
                Obstacle::Interrupted(_) => Ending::Interrupted,
                Obstacle::Measure(_) => Ending::InputError,
            };
            output::error(&obstacle.into());
            Ok(ending)
        }
    }
}

/// Decides and shows what there is; nothing when no block is whole.
fn decide(args: &Args, session: &Session<'_>, record: Option<&Record>) -> anyhow::Result<Ending> {
    if session.samples.is_empty() {
        return Ok(Ending::Fine);
    }
    let analysis = analyse(&session.samples, &assay_analysis::Options::default())?;
    let file = record.filter(|r| r.failure.is_none()).map(|r| r.path.as_path());
    present::present(&analysis, &session.samples, &args.show, file)?;
    Ok(present::judge(&analysis, &args.judge.fail_if))
}

/// Writes the end of the record, and what was found while measuring.
fn close(
    session: &mut Session<'_>,
    record: &mut Option<Record>,
    reason: StopReason,
    steal_before: Option<f64>,
) {
    session.samples.stop = Some(reason);
    let mut findings = session.findings();
    let late_facts = Environment::from_facts(steal_share(session, steal_before));
    session.samples.environment.facts.extend(late_facts.facts.clone());
    let blocks = session.samples.complete_blocks(0).len() as u32;
    if let Some(record) = record {
        for finding in session.samples.findings.iter().chain(&findings) {
            record.write(|writer| writer.finding(finding));
        }
        record.write(|writer| writer.environment(&late_facts));
        record.write(|writer| writer.stop(reason, blocks));
        if let Some(failure) = &record.failure {
            findings.push(
                Finding::new(
                    "NOT_SAVED",
                    Severity::Warning,
                    format!(
                        "the samples could not be saved to {}: {failure}",
                        record.path.display()
                    ),
                )
                .next("make room, or choose another place with --save FILE"),
            );
        }
    }
    session.samples.findings.extend(findings);
}

/// The share of the CPUs' time that the hypervisor gave to others while measuring.
fn steal_share(session: &Session<'_>, before: Option<f64>) -> Option<(String, serde_json::Value)> {
    let stolen = (environment::steal_seconds()? - before?).max(0.0);
    let cpus = session.samples.environment.number("cpus_online")?;
    let seconds = session.samples.observation(session.samples.len().checked_sub(1)?)?.time?;
    let share = stolen / (seconds * cpus);
    share.is_finite().then(|| ("steal_share_of_run".to_owned(), share.into()))
}

/// Opens the record. The state directory may be out of reach: that is told, and measuring goes on.
fn open_record(args: &Args, began: &jiff::Timestamp, session: &mut Session<'_>) -> Option<Record> {
    if args.keep.no_save {
        return None;
    }
    let opened = match &args.keep.save {
        Some(path) => store::open_named(path).map(|file| (path.clone(), file)),
        None => store::open_kept(began),
    };
    let (path, failure, writer) = match opened {
        Ok((path, file)) => {
            let samples = &session.samples;
            let header = Header { tool: Some(present::TOOL.to_owned()), ..Header::of(samples) };
            match Writer::start(
                file,
                &header,
                &samples.environment,
                &samples.subjects,
                &samples.metrics,
            ) {
                Ok(writer) => (path, None, Some(writer)),
                Err(error) => (path, Some(error.to_string()), None),
            }
        }
        Err(error) => {
            (args.keep.save.clone().unwrap_or_default(), Some(format!("{error:#}")), None)
        }
    };
    Some(Record { writer, path, failure })
}

fn argv(anonymous: bool) -> Vec<String> {
    let mut argv: Vec<String> =
        std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    if anonymous && let Some(program) = argv.first_mut() {
        "assay".clone_into(program);
    }
    argv
}
