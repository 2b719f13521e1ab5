//! `assay run`: measure one command, or compare several, in blocks and random order.

use crate::args::{JudgeArgs, ShowArgs, seconds};
use crate::progress::Progress;
use crate::session::{Obstacle, Prepared, Record, Session, Tolerated, metrics};
use crate::{Ending, output, present, store};
use anyhow::Context;
use assay_analysis::{Experiment, analyse, design};
use assay_data::assay_file::{Header, Writer};
use assay_data::plan::{MAX_BLOCKS, look_level};
use assay_data::{Environment, Finding, Plan, Severity, StopReason, StopRule, Threshold, Unit};
use assay_measure::{Command, Input, Output, environment, interrupt};
use assay_report::number;
use std::path::PathBuf;
use std::time::Duration;

/// Seconds that a run takes at most by default.
const BUDGET: f64 = 60.0;
/// Seconds to which the default budget stretches while there are too few blocks for a verdict.
const CEILING: f64 = 300.0;
/// Runs of a single command at which it stops even if it is not precise.
const MAX_RUNS_ALONE: u32 = 100_000;

/// Arguments of `assay run`.
#[derive(clap::Args, Debug)]
#[command(
    after_long_help = "How it decides: every block holds each command once, in an order drawn anew. After every block the
differences so far are looked at; measuring stops as soon as the answer is clear, or when the
budget is spent. The verdict is one of faster, slower, equivalent (any difference is smaller than
--threshold) and inconclusive (not known yet, and how much longer it would take).

Examples:
  assay run './sort-old data' './sort-new data'
  assay run -N old -N new --threshold 0.5% './a.out' './b.out'
  assay run --shell 'sort < data | uniq -c' 'sort -u < data'
  assay run --prepare 'sync; echo 3 > /proc/sys/vm/drop_caches' './scan' './scan --mmap'
  assay run --env 2:MALLOC_ARENA_MAX=1 ./server-bench ./server-bench
  assay run --fail-if slower --time 2min ./old ./new     for continuous integration
  assay run --runs 50 --json ./old ./new | jq .verdict"
)]
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

/// How long to measure.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "How long")]
struct WhenArgs {
    /// Take exactly N blocks and look once, instead of stopping when the answer is clear
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// Time budget [default: 60s, stretched up to 5min for the fewest blocks that can decide]
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    time: Option<f64>,

    /// Blocks to run first, not recorded
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    warmup: u32,

    /// Seed of the random order [default: drawn anew, and recorded]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    seed: Option<u64>,
}

/// How to run the commands.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Running")]
struct HowArgs {
    /// Name of a command, in their order; give it once per command
    #[arg(long, short = 'N', value_name = "NAME")]
    name: Vec<String>,

    /// Run every command through a shell (/bin/sh, or the one given); its time is part of the measurement
    #[arg(long, short = 'S', value_name = "SHELL", num_args = 0..=1, require_equals = true, default_missing_value = "/bin/sh")]
    shell: Option<String>,

    /// Shell line to run once before everything
    #[arg(long, value_name = "LINE")]
    setup: Option<String>,

    /// Shell line to run before every run, not measured: once for all commands, or once per command
    #[arg(long, short, value_name = "LINE")]
    prepare: Vec<String>,

    /// Shell line to run after every run, not measured: once for all commands, or once per command
    #[arg(long, value_name = "LINE")]
    conclude: Vec<String>,

    /// Shell line to run once after everything, also after a failure
    #[arg(long, value_name = "LINE")]
    cleanup: Option<String>,

    /// End a run that takes longer; it counts as having taken so long
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    timeout: Option<f64>,

    /// Go on when a command fails: with any status, or only with those given (=1,2)
    #[arg(long, short, value_name = "STATUS", num_args = 0..=1, require_equals = true, default_missing_value = "any", value_parser = tolerated)]
    ignore_failure: Option<Tolerated>,

    /// What the commands read: a file, opened anew for every run ([N:]FILE, N a command's number) [default: nothing]
    #[arg(long, value_name = "[N:]FILE")]
    input: Vec<String>,

    /// Where their output goes: null, inherit, pipe, or a file ([N:]WHERE) [default: null]
    #[arg(long, value_name = "[N:]WHERE")]
    output: Vec<String>,

    /// A variable for all commands, or for the N-th ([N:]NAME=VALUE)
    #[arg(long, value_name = "[N:]NAME=VALUE")]
    env: Vec<String>,

    /// Working directory of all commands, or of the N-th ([N:]DIR)
    #[arg(long, value_name = "[N:]DIR")]
    cwd: Vec<String>,
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
    let commands = prepared(args)?;
    let mut plan = plan(args, commands.len())?;
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
        if let Some(finding) = fit_to_budget(&mut plan, block_seconds, args, commands.len()) {
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

/// The plan, before anything is known about how long a run takes.
fn plan(args: &Args, commands: usize) -> anyhow::Result<Plan> {
    let confidence = args.judge.confidence.unwrap_or(0.95);
    let seed = args.when.seed.unwrap_or_else(new_seed);
    let max_blocks = if commands > 1 { MAX_BLOCKS } else { MAX_RUNS_ALONE };
    let stop = match args.when.runs {
        Some(blocks) => StopRule::Fixed { blocks },
        None => StopRule::Sequential { look_level: look_level(confidence), max_blocks },
    };
    let budget_seconds = args.when.time.or_else(|| args.when.runs.is_none().then_some(BUDGET));
    let threshold = args.judge.threshold.clone().unwrap_or_default();
    let primary = args.judge.primary.clone().unwrap_or_else(|| "wall".to_owned());
    if let Threshold::Absolute { unit, .. } = &threshold
        && let Some(metric) = metrics().iter().find(|m| m.name == primary && m.unit != *unit)
    {
        anyhow::bail!(
            "--threshold is in {}, but {} is measured in {}; give it in that unit or in %",
            unit.symbol(),
            metric.name,
            metric.unit.symbol()
        );
    }
    Ok(Plan {
        confidence,
        threshold,
        stop,
        budget_seconds,
        warmup: args.when.warmup,
        primary,
        seed,
    })
}

/// Where the fewest blocks that can decide one by one do not fit, the number is fixed beforehand: looked at once, fewer
/// suffice. Decided after warming up and before the first block, so that no result can sway it.
fn fit_to_budget(
    plan: &mut Plan,
    block_seconds: Option<f64>,
    args: &Args,
    commands: usize,
) -> Option<Finding> {
    let block_seconds = block_seconds?;
    let StopRule::Sequential { .. } = plan.stop else { return None };
    let limit = args.when.time.unwrap_or(CEILING);
    if commands < 2 || block_seconds * f64::from(design::fewest_blocks(plan, commands)) <= limit {
        return None;
    }
    let blocks = ((limit / block_seconds) as u32).max(1);
    plan.stop = StopRule::Fixed { blocks };
    plan.budget_seconds = Some(limit);
    let needed = design::fewest_blocks(plan, commands);
    let outlook = if blocks < needed {
        format!("; that is too few for a verdict, {needed} are needed")
    } else {
        " and look once".to_owned()
    };
    Some(
        Finding::new(
            "FEW_BLOCKS_PLANNED",
            Severity::Note,
            format!(
                "one block takes about {}: taking {blocks} in {}{outlook}",
                number::rough(block_seconds, &Unit::Second),
                number::chosen(limit, &Unit::Second)
            ),
        )
        .with("block_seconds", block_seconds)
        .with("blocks", f64::from(blocks))
        .next(format!(
            "give it more time: --time {}s, or --runs {needed}",
            (block_seconds * f64::from(needed) * 1.2).ceil()
        )),
    )
}

/// A seed that nobody chose: from the clock's nanoseconds and the process. It only has to differ from run to run.
fn new_seed() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond() as u64;
    (now ^ (u64::from(std::process::id()) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11
}

fn argv(anonymous: bool) -> Vec<String> {
    let mut argv: Vec<String> =
        std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    if anonymous && let Some(program) = argv.first_mut() {
        "assay".clone_into(program);
    }
    argv
}

fn tolerated(text: &str) -> Result<Tolerated, String> {
    if text == "any" {
        return Ok(Tolerated::Anything);
    }
    let status = |part: &str| match part.trim().parse() {
        Ok(status @ 0..=255) => Ok(status),
        _ => Err(format!("`{part}` is no exit status; they go from 0 to 255")),
    };
    text.split(',').map(status).collect::<Result<_, _>>().map(Tolerated::Statuses)
}

fn prepared(args: &Args) -> anyhow::Result<Vec<Prepared>> {
    let count = args.commands.len();
    if args.how.name.len() > count {
        anyhow::bail!(
            "{} names for {count} commands: give --name once per command",
            args.how.name.len()
        );
    }
    let mut commands = Vec::new();
    for text in &args.commands {
        let command = match &args.how.shell {
            Some(shell) => Command::by_shell(shell, text)?,
            None => Command::parse(text, false)?,
        };
        commands.push(command);
    }
    for command in &mut commands {
        command.output = Output::Null;
    }
    assign(&args.how.env, "--env", &mut commands, |command, value| {
        let (name, value) = value
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .with_context(|| format!("--env {value}: write it as NAME=VALUE"))?;
        command.env.push((name.to_owned(), value.to_owned()));
        Ok(())
    })?;
    assign(&args.how.cwd, "--cwd", &mut commands, |command, value| {
        command.cwd = Some(PathBuf::from(value));
        Ok(())
    })?;
    assign(&args.how.input, "--input", &mut commands, |command, value| {
        command.input = if value == "null" { Input::Null } else { Input::File(absolute(value)?) };
        Ok(())
    })?;
    assign(&args.how.output, "--output", &mut commands, |command, value| {
        command.output = match value {
            "null" => Output::Null,
            "inherit" => Output::Inherit,
            "pipe" => Output::Pipe,
            path => Output::File(absolute(path)?),
        };
        Ok(())
    })?;
    // All of them are looked up before any is run: a typing error should not cost a minute.
    for command in &commands {
        command.resolve()?;
    }
    let line_of = |lines: &[String], name: &str, index: usize| match lines.len() {
        0 => Ok(None),
        1 => Ok(Some(lines[0].clone())),
        n if n == count => Ok(Some(lines[index].clone())),
        n => Err(anyhow::anyhow!(
            "{n} times {name} for {count} commands: give it once for all, or once per command"
        )),
    };
    let names = names(&args.commands, &commands, &args.how.name);
    commands
        .into_iter()
        .zip(names)
        .zip(&args.commands)
        .enumerate()
        .map(|(index, ((command, name), text))| {
            Ok(Prepared {
                name,
                text: text.clone(),
                command,
                prepare: line_of(&args.how.prepare, "--prepare", index)?,
                conclude: line_of(&args.how.conclude, "--conclude", index)?,
            })
        })
        .collect()
}

/// A path that the user typed is meant from here, also when the command runs elsewhere.
fn absolute(path: &str) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| path.to_owned())
}

/// Applies values of the form `[N:]VALUE` to the N-th command, or to all.
fn assign(
    values: &[String],
    option: &str,
    commands: &mut [Command],
    apply: impl Fn(&mut Command, &str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for value in values {
        let numbered =
            value.split_once(':').and_then(|(n, rest)| Some((n.parse::<usize>().ok()?, rest)));
        match numbered {
            Some((n, rest)) => {
                let count = commands.len();
                let command = n.checked_sub(1).and_then(|index| commands.get_mut(index));
                let command = command.with_context(|| {
                    format!("{option} {value}: there are {count} commands, counted from 1")
                })?;
                apply(command, rest)?;
            }
            None => commands.iter_mut().try_for_each(|command| apply(command, value))?,
        }
    }
    Ok(())
}

/// What people will read: the names given, else the programs' names where they differ, else the whole commands.
fn names(texts: &[String], commands: &[Command], given: &[String]) -> Vec<String> {
    let program = |command: &Command| {
        let program = PathBuf::from(command.argv.first()?);
        Some(program.file_name()?.to_string_lossy().into_owned())
    };
    let programs: Vec<Option<String>> = commands.iter().map(program).collect();
    let distinct = programs
        .iter()
        .enumerate()
        .all(|(i, name)| name.is_some() && !programs[..i].contains(name));
    let alone = texts.len() == 1;
    let whole = |index: usize| texts[index].split_whitespace().collect::<Vec<_>>().join(" ");
    (0..texts.len())
        .map(|index| match (given.get(index), &programs[index]) {
            (Some(name), _) => name.clone(),
            (None, Some(program)) if distinct && !alone && !commands[index].shell => {
                program.clone()
            }
            _ => whole(index),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(texts: &[&str]) -> Vec<String> {
        let texts: Vec<String> = texts.iter().map(|&t| t.to_owned()).collect();
        let commands: Vec<_> =
            texts.iter().map(|t| Command::parse(t, false).expect("plain")).collect();
        names(&texts, &commands, &[])
    }

    #[test]
    fn commands_are_called_by_their_programs_where_these_differ() {
        assert_eq!(named(&["./sort-old data", "bin/sort-new data"]), ["sort-old", "sort-new"]);
        assert_eq!(named(&["sleep 0.1", "sleep  0.2"]), ["sleep 0.1", "sleep 0.2"]);
        assert_eq!(named(&["./build.sh all"]), ["./build.sh all"]);
    }

    #[test]
    fn an_exit_status_lies_between_0_and_255() {
        assert_eq!(tolerated("any"), Ok(Tolerated::Anything));
        assert_eq!(tolerated("1, 2"), Ok(Tolerated::Statuses(vec![1, 2])));
        assert!(tolerated("256").is_err() && tolerated("").is_err());
    }

    #[test]
    fn values_can_be_meant_for_one_command() {
        let mut commands = vec![
            Command::parse("a", false).expect("plain"),
            Command::parse("b", false).expect("plain"),
        ];
        let set = |command: &mut Command, value: &str| {
            command.cwd = Some(PathBuf::from(value));
            Ok(())
        };
        assign(&["/x".to_owned(), "2:/y".to_owned()], "--cwd", &mut commands, set)
            .expect("both are there");
        assert_eq!(commands[0].cwd, Some(PathBuf::from("/x")));
        assert_eq!(commands[1].cwd, Some(PathBuf::from("/y")));
        assert!(assign(&["3:/z".to_owned()], "--cwd", &mut commands, set).is_err());
    }
}
