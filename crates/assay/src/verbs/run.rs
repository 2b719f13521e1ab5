//! `assay run`: measures one command, or compares several, in blocks and random order.

mod again;
mod builds;
mod commands;
mod control;
mod facts;
mod metrics;
mod planning;

use crate::advice::Dialect;
use crate::args::{JudgeArgs, any_words};
use crate::builds::{Builds, any_builds};
use crate::commands::{self as source, COUNTING_RUNS, CommandSession, Prepared, RunSettings};
use crate::commands::{Outputs, are_same, read_where_noticed};
use crate::counted::Counted;
use crate::ending::{close, ending};
use crate::habits::verbs::{is_interpreter, is_wrapper};
use crate::history;
use crate::meter::{CPU_PER_WALL, Meter, Requested};
use crate::planning::{CEILING, check_threshold};
use crate::present::Showing;
use crate::progress::Progress;
use crate::record::Record;
use crate::resume::{self, RecordArgs};
use crate::run_error::RunError;
use crate::scan::Scan;
use crate::{Ending, knobs, output, present, systems};
use anyhow::bail;
use assay_analysis::analyse;
use assay_analysis::engine::Limits;
use assay_data::assay_file;
use assay_data::code::OUTPUT_DIFFERS;
use assay_data::finding::shared::OUTPUTS;
use assay_data::{Environment, Finding, Metric, Plan, Samples, StopReason};
use assay_measure::{Control, interrupt};
use assay_report::benchmarks::DisplayOptions;
use assay_report::shell::quoted;
use builds::of_builds;
use commands::{HowArgs, add_control, prepared};
use control::{ControlArgs, lock_programs, may_drop_caches};
use metrics::{MetricArgs, RequestedMetrics};
use planning::{LengthArgs, extended, plan, too_short};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

pub(crate) use again::{Again, again, recorded_commands};

/// Minimum number of runs per block for which the user must confirm a scan.
const ASK_FROM: usize = 500;
/// Maximum number of commands that the launcher supports.
const MOST_SUBJECTS: usize = 65_536 - 16;

/// Arguments of `assay run`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "\
How it decides: every block runs each command once, in a new random order. After every block, all differences so far are \
evaluated; measuring stops as soon as the verdict is clear, or when the time budget is spent. The verdict is faster, slower, \
equivalent (any difference is smaller than --threshold) or inconclusive (with an estimate of how much longer it would take).

Examples:
  assay run './sort-old data' './sort-new data'
  assay run -n old -n new --threshold 0.5% './a.out' './b.out'
  assay run --shell sh 'sort < data | uniq -c' 'sort -u < data'
  assay run --prepare 'make clean' 'make' 'make -j2'
  assay run --env 2:MALLOC_ARENA_MAX=1 ./server-bench ./server-bench
  assay run --fail-if slower --time 2min ./old ./new    in CI
  assay run --runs 50 --json ./old ./new | jq .verdict
  assay run --metric 'inner:s=took ([0-9.]+)' 'ruby a.rb' 'ruby b.rb'
  assay run -P size=1000..64000*2 './old {size}' './new {size}'
  assay run --pin 1 --fifo --no-aslr ./old ./new        with less noise
  assay run --counters instructions,cache-misses ./old ./new
  assay run --alloc './old data' './new data'           also count allocations
  assay run --count-instructions --primary valgrind_instructions --fail-if slower ./old ./new
  assay run --jobs '{j}' -P j=1,2,4 ./worker            under load
  assay run --builds 'old-*,new-*' '{build} data'       several builds per side: is it the code, or the linker?
  assay run --resume run.assay --time 10min             add more blocks")]
pub(crate) struct Args {
    /// Commands to measure, each in quotes; the first is the reference
    #[arg(required_unless_present_any = ["resume", "builds"], value_name = "COMMAND", value_parser = any_words())]
    commands: Vec<String>,

    /// Measure several builds per side, so that effects of code placement by the linker are not
    /// mistaken for a change
    ///
    /// Give the files of each side, as in 'old-*,new-*'. A single COMMAND is then run with each of
    /// them in place of {build} (docs/guides/layout.md).
    #[arg(long, value_name = "FILES", conflicts_with_all = ["parameter", "list"], value_parser = any_builds())]
    builds: Option<Builds>,

    /// Measure the reference twice in every block, as two sides; any difference between them is
    /// noise, so other differences of that size are not meaningful
    #[arg(long, conflicts_with_all = ["builds", "parameter", "list"])]
    control: bool,

    #[command(flatten)]
    judge: JudgeArgs,

    #[command(flatten)]
    when: LengthArgs,

    #[command(flatten)]
    metrics: MetricArgs,

    #[command(flatten)]
    scan: ScanArgs,

    #[command(flatten)]
    how: HowArgs,

    #[command(flatten)]
    settings: ControlArgs,

    /// Also name the most likely cause of the largest difference, as `assay why` does
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    why: bool,

    #[command(flatten)]
    pub(crate) record: RecordArgs,
}

impl Args {
    /// Returns all settings for running commands and reading their metrics as text, for comparison
    /// with another run.
    fn all_settings(&self) -> String {
        let what = (&self.builds, self.scan.all(), self.control);
        format!("{:?} {what:?} {:?} {:?}", self.metrics, self.how, self.settings)
    }
}

/// Options for parameter scans.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = "Parameters")]
struct ScanArgs {
    /// Values of a parameter, substituted for {NAME}
    ///
    /// The commands are measured for every value: n=1..8, n=0..1+0.25, n=1..1024*2 or
    /// lib=libc,musl. 2:n=... applies only to the second command.
    #[arg(long, short = 'P', value_name = "[N:]NAME=VALUES")]
    parameter: Vec<String>,

    /// Values of a parameter as a list, as in -L lib libc,musl
    #[arg(long = "parameter-list", short = 'L', num_args = 2, value_names = ["NAME", "VALUES"], allow_hyphen_values = true)]
    list: Vec<String>,

    /// Step through several parameters together, instead of combining each value with every other
    #[arg(long)]
    zip: bool,

    /// Do not ask before a very large scan
    #[arg(long)]
    yes: bool,
}

impl ScanArgs {
    /// Checks that the two words of every `-L` are a name and values.
    fn check(&self) -> anyhow::Result<()> {
        for pair in self.list.chunks_exact(2) {
            let (name, values) = (&pair[0], &pair[1]);
            if values.starts_with('-') && !values.contains(',') {
                bail!(
                    "-L {name} {values}: -L takes a name and values, as in -L {name} 1,2; a single value that begins with a dash is given by -P {name}={values}"
                );
            }
            if name.contains('=') {
                bail!(
                    "-L {name}: -L takes a name and values as two words, as in -L n 1,2; in one word they are given by -P {name}"
                );
            }
        }
        Ok(())
    }

    /// Returns all parameters as `[N:]NAME=VALUES`.
    fn all(&self) -> Vec<String> {
        let lists = self.list.chunks_exact(2).map(|pair| format!("{}={}", pair[0], pair[1]));
        self.parameter.iter().cloned().chain(lists).collect()
    }
}

/// Measures the commands, records and decides, and shows the result.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    args.record.check(&[])?;
    let Some(path) = &args.record.earlier.resume else {
        for warning in bare(&args.commands, args.how.input.is_empty()) {
            output::say(&warning);
        }
        return measure(args, Earlier::None, &decide);
    };
    let recorded = assay_file::read(path)?;
    if args.commands.is_empty() && args.builds.is_none() {
        resume::check_given(&args.record.given, path)?;
        let instead = "give the whole command line again after --resume FILE, with the values";
        resume::check_complete(&recorded, path, "resumed", instead)?;
        let mut first: Args = resume::begun(&recorded, path, "run", "resumed")?;
        // The recorded command line determines what is measured; the current one determines the
        // duration and the output.
        first.when.duration.time = args.when.duration.time;
        first.judge.fail_if.clone_from(&args.judge.fail_if);
        first.why = args.why;
        first.record = args.record.after(&first.record);
        // The user confirmed a large scan when the run was first started.
        first.scan.yes = true;
        return measure(&first, Earlier::Resumed(Box::new(recorded)), &decide);
    }
    measure(args, Earlier::Resumed(Box::new(recorded)), &decide)
}

/// Returns warnings about commands that consist only of an interpreter, or of a program that runs
/// another program. The next command was probably meant as an argument. `has_no_input` is true if
/// the commands read empty input.
fn bare(commands: &[String], has_no_input: bool) -> Vec<String> {
    let does_nothing = |command: &str| {
        if command.contains(char::is_whitespace) {
            None
        } else if is_wrapper(command) {
            Some("runs no command")
        } else {
            (has_no_input && is_interpreter(command)).then_some("only reads its empty input")
        }
    };
    let pairs = commands.windows(2).filter_map(|pair| {
        let (program, next) = (pair[0].trim(), pair[1].trim());
        let what = does_nothing(program).filter(|_| does_nothing(next).is_none())?;
        let line = quoted([format!("{program} {next}")]);
        Some(format!(
            "warning: `{program}` without arguments {what}; if `{next}` is its argument: assay run {line}"
        ))
    });
    pairs.collect()
}

/// The earlier run on which this one is based.
enum Earlier {
    /// No earlier run.
    None,
    /// This run resumes the earlier one in the same file.
    Resumed(Box<Samples>),
    /// This run repeats the experiment according to the recorded plan. The recorded command line is
    /// that of the first run.
    Repeated { plan: Plan, argv: Vec<String>, fact: String },
}

/// Decides on the measurements and shows the result.
type Decide<'a> = &'a dyn Fn(&Args, &Samples, Option<&Record>) -> anyhow::Result<Ending>;

/// Everything that is determined before any command runs.
struct Ready {
    commands: Vec<Prepared>,
    asked: RequestedMetrics,
    plan: Plan,
    environment: Environment,
    findings: Vec<Finding>,
}

/// Returns the commands, and findings about them.
fn commands_of(args: &Args) -> anyhow::Result<(Vec<Prepared>, Vec<Finding>)> {
    if let Some(builds) = &args.builds {
        return of_builds(builds, &args.commands, &args.how, &args.settings);
    }
    args.scan.check()?;
    let scan = Scan::parse(&args.scan.all(), args.scan.zip, args.commands.len())?;
    let subjects = scan.combinations().and_then(|c| c.checked_mul(args.commands.len()));
    check_size(subjects, args.scan.yes, scan.fewer())?;
    let mut commands = prepared(&args.commands, &args.how, &args.settings, &scan)?;
    if args.control {
        add_control(&mut commands);
    }
    Ok((commands, Vec::new()))
}

fn ready(
    args: &Args,
    earlier: &Earlier,
    unseen: bool,
    mut findings: Vec<Finding>,
) -> anyhow::Result<Ready> {
    let asked = args.metrics.read()?;
    let (mut commands, found) = commands_of(args)?;
    findings.extend(found);
    let different = commands.iter().filter(|command| command.repeats.is_none()).count();
    // A scan may compare one command with itself at another value of a parameter.
    present::check_fail_if(&args.judge.fail_if, different, "one command", "give a second one")?;
    if args.how.require_same && different < 2 {
        bail!(
            "--require-same: one command, and nothing to compare its output with; give a second one"
        );
    }
    asked.prepare(&mut commands)?;
    findings.extend(read_where_noticed(&mut commands));
    let controlled = commands.iter().any(|c| c.command.control != Control::default());
    let mut plan = plan(&args.when, &args.judge, &asked, controlled, commands.len())?;
    match earlier {
        Earlier::None => {}
        Earlier::Resumed(recorded) if asked.deciding(&begun_primary(recorded)).is_some() => {
            bail!(
                "--resume: nothing was timed in that run, and counts are complete after {COUNTING_RUNS} of each; begin a new run"
            )
        }
        Earlier::Resumed(recorded) => {
            plan = planning::gone_on_with(plan, recorded, &args.when, &args.judge)?;
        }
        Earlier::Repeated { plan: repeated, .. } => plan = repeated.clone(),
    }
    Ok(Ready { commands, asked, plan, environment: facts::of_run(args, unseen), findings })
}

/// Returns the deciding metric of a recorded run.
fn begun_primary(recorded: &Samples) -> String {
    recorded.plan.as_ref().map(|plan| plan.primary.clone()).unwrap_or_default()
}

/// Asks the user to confirm a scan that would take very long. `fewer` is advice on how to make the
/// scan smaller.
fn check_size(subjects: Option<usize>, yes: bool, fewer: &str) -> anyhow::Result<()> {
    let count = match subjects {
        Some(count) if count <= MOST_SUBJECTS => count,
        Some(count) => bail!(
            "the scan makes {count} commands; more than {MOST_SUBJECTS} can't be measured in one run: {fewer}"
        ),
        None => bail!("the scan makes more commands than can be counted: {fewer}"),
    };
    if count < ASK_FROM || yes {
        return Ok(());
    }
    let question = format!(
        "the scan makes {count} commands, and a verdict takes at least 10 runs of each: {} runs",
        count * 10
    );
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        bail!("{question}. If that is what you want, add --yes");
    }
    // Everything else waits for the answer.
    write!(io::stderr(), "{question}. Go on? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { bail!("not measured") }
}

fn measure(args: &Args, earlier: Earlier, decide: Decide<'_>) -> anyhow::Result<Ending> {
    systems::check_options(args.settings.given().into_iter().chain(args.metrics.given()))?;
    interrupt::install()?;
    interrupt::answer_on_stderr(!args.record.show.quiet && io::stderr().is_terminal());
    knobs::mend();
    let (held, set) = knobs::hold(&args.settings.knobs())?;
    let ending = measure_held(args, earlier, set, decide);
    match held.map_or(Ok(()), knobs::SettingsGuard::release) {
        Ok(()) => ending,
        Err(error) => {
            output::error(&error);
            ending.map(|_| Ending::InputError)
        }
    }
}

fn measure_held(
    args: &Args,
    earlier: Earlier,
    set: Vec<Finding>,
    decide: Decide<'_>,
) -> anyhow::Result<Ending> {
    let unseen = facts::are_unseen(args, &earlier);
    // The launcher starts while the facts are read, unless they include the number of processes.
    let early = unseen.then(source::runner).transpose()?;
    let Ready { commands, asked, plan, environment, findings } =
        ready(args, &earlier, unseen, set)?;
    let began = jiff::Timestamp::now();
    let (drop_caches, cold) = may_drop_caches(args.settings.drop_caches)?;
    let locked = args.settings.mlock.then(|| lock_programs(&commands));
    let names = commands.iter().map(|c| c.name.clone()).collect();
    let mut progress = Progress::new(args.record.show.quiet, &environment, names, plan.clone());
    let (counted, deciding) = (asked.counted.clone(), asked.deciding(&plan.primary));
    let settings = RunSettings {
        timeout: args.how.timeout.map(Duration::from_secs_f64),
        tolerated: args.how.ignore_failure.clone().unwrap_or_default(),
        events: asked.events.clone(),
        steal: environment.number("steal_share").is_some(),
        drop_caches,
        counted: asked.counted.clone(),
        outputs: match &earlier {
            // If requested, the outputs were compared by the original run.
            Earlier::Resumed(_) => Outputs::NotCompared,
            _ if args.how.require_same => Outputs::Required,
            _ => Outputs::Compared,
        },
        unidentified: unseen,
    };
    let requested = Requested {
        specs: asked.specs,
        samples: asked.all_samples,
        jobs: commands.iter().any(|c| c.jobs > 1),
        named: plan.secondary.iter().cloned().chain([plan.primary.clone()]).collect(),
        steal: settings.steal,
        counted: asked.counted.clone(),
        counters: Vec::new(),
    };
    let runner = early.map_or_else(source::runner, Ok)?;
    let mut session = source::session(runner, commands, settings, |events| {
        let counters = events.iter().map(|e| Metric::lower(e.name, e.unit())).collect();
        Meter::new(Requested { counters, ..requested })
    })?;
    session.samples.findings.extend(findings);
    session.samples.findings.extend(cold);
    session.samples.findings.extend(locked.iter().flat_map(|(_, findings)| findings.clone()));
    session.samples.started = Some(began.to_string());
    session.samples.argv = present::argv();
    session.samples.environment = environment;
    if let Earlier::Repeated { argv, fact, .. } = &earlier {
        session.samples.argv.clone_from(argv);
        session.samples.environment.set("repeats", fact.as_str());
    }
    let path = args.record.earlier.resume.clone().unwrap_or_default();
    let begun = match &earlier {
        Earlier::Resumed(recorded) => resume::begun::<Args>(recorded, &path, "run", "resumed").ok(),
        _ => None,
    };
    // An anonymous file stays anonymous when it is resumed.
    let anonymous = begun.as_ref().is_some_and(|first| first.record.keep.anonymous);
    if args.record.keep.anonymous || anonymous {
        session.samples.make_anonymous();
    }
    let mut resumption = match &earlier {
        Earlier::Resumed(recorded) => {
            session
                .source
                .adopt_metrics(&recorded.metrics)
                .map_err(|why| anyhow::anyhow!("--resume {}: {why}", path.display()))?;
            // In an anonymous run, both command lines lack the same parts.
            let now =
                anonymous.then(|| resume::begun::<Args>(&session.samples, &path, "run", "resumed"));
            let settings = now.transpose()?.as_ref().unwrap_or(args).all_settings();
            let other = begun.is_some_and(|first| first.all_settings() != settings);
            Some(resume::check(&args.record.earlier, recorded, &session.samples, other)?)
        }
        _ => None,
    };

    let mut late_facts = Environment::default();
    let measured = session.source.hook("--setup", args.how.setup.as_ref()).and_then(|()| {
        let block_seconds = source::warm_up(&mut session, plan.warmup, plan.seed, &progress)?;
        let compares = session.source.compares_outputs();
        // Without a warm-up, there are no outputs to compare before the timed runs.
        let compared_first = compares && plan.warmup > 0;
        if compared_first {
            let fact = compare_outputs(&mut session, args, &progress)?;
            session.samples.environment.facts.extend(fact.facts);
        }
        for metric in deciding.iter().flat_map(|own| own.metrics()) {
            session.samples.add_metric(metric);
        }
        let primary = primary(&session, &plan, &counted)?;
        if matches!(earlier, Earlier::None)
            && let Some(finding) =
                too_short(&plan, block_seconds, args.when.duration.time, &session.samples)
        {
            progress.say(&assay_report::findings::line(&finding));
            session.samples.findings.push(finding);
        }
        if let Some(announced) =
            extended(&plan, block_seconds, args.when.duration.time, &session.samples)
        {
            progress.say(&announced);
        }
        progress.follow(&plan, &session.samples.metrics[primary]);
        let ceiling_seconds = if args.when.duration.time.is_none() { CEILING } else { 0.0 };
        session.begin(&plan, primary, Limits { ceiling_seconds, sharing: 1 });
        let done = match resumption.take() {
            Some(resumption) => resume::go_on(resumption, &mut session, began)?,
            None => {
                session.recorder = Record::open(&args.record.keep, &began, &session.samples);
                None
            }
        };
        let lacks = |own: &Counted| {
            COUNTING_RUNS.saturating_sub(session.samples.next_block(Some(own.pass())))
        };
        let lacking: Vec<(Counted, u32)> = counted
            .iter()
            .map(|own| (*own, lacks(own)))
            .filter(|(_, blocks)| *blocks > 0)
            .collect();
        if done.is_some() && lacking.is_empty() {
            progress
                .say("note: nothing to resume: the run already has its verdict, or all its blocks");
        }
        let reason = match done {
            Some(reason) => reason,
            None if deciding.is_some() => StopReason::Blocks,
            None => {
                let (measured, share) = source::measure(&mut session, &mut progress);
                let share = share.map(|share| ("steal_share_of_run".to_owned(), share.into()));
                late_facts.facts.extend(share);
                measured?
            }
        };
        if reason == StopReason::Interrupted {
            return Ok(reason);
        }
        for (own, blocks) in lacking {
            let counting =
                session.count(own.pass(), blocks, &mut |_| progress.busy(own.doing()))?;
            if counting.reason == StopReason::Interrupted {
                return Err(RunError::Interrupted(format!(
                    "while counting {}: what was timed before is kept",
                    own.what()
                )));
            }
        }
        if compares && !compared_first {
            late_facts.facts.extend(compare_outputs(&mut session, args, &progress)?.facts);
        }
        let discarded = session.source.discarded_outputs(&session.samples)?;
        session.samples.findings.extend(discarded);
        Ok(reason)
    });
    progress.end();
    let cleaned = session.source.hook("--cleanup", args.how.cleanup.as_ref());
    close(&mut session, &measured, late_facts);
    session.source.dismiss();
    let verdict = decide(args, &session.samples, session.recorder.as_ref())?;
    let verdict = match are_same(&session.samples) {
        Some(false) if args.how.require_same => Ending::CommandFailed,
        None if args.how.require_same && verdict == Ending::Fine => Ending::InconclusiveUnderFailIf,
        _ => verdict,
    };
    history::keep(&args.record, &session.samples, session.recorder.as_ref())?;
    let must_save = args.record.names_a_file();
    let named = session.recorder.as_ref().filter(|_| must_save);
    Ok(ending(measured.and_then(|reason| cleaned.map(|()| reason)), verdict, named))
}

/// Compares the outputs of the commands, adds the findings to the samples, and returns the result
/// as a fact.
fn compare_outputs(
    session: &mut CommandSession,
    args: &Args,
    progress: &Progress,
) -> Result<Environment, RunError> {
    progress.busy("comparing outputs");
    let names: Vec<String> = session.samples.subjects.iter().map(|s| s.name.clone()).collect();
    let found = session.source.compare_outputs(&names, !args.record.keep.anonymous)?;
    let differs = found.findings.iter().find(|finding| finding.is(OUTPUT_DIFFERS));
    if let Some(finding) = differs.filter(|_| args.how.require_same && session.samples.is_empty()) {
        return Err(RunError::Failed(format!(
            "{}\nhint: nothing was measured, because of --require-same",
            finding.message
        )));
    }
    session.samples.findings.extend(found.findings);
    Ok(Environment::from_facts(found.fact.map(|fact| (OUTPUTS.to_owned(), fact.into()))))
}

/// Checks that the primary and secondary metrics exist, and returns the index of the primary one.
fn primary(session: &CommandSession, plan: &Plan, counted: &[Counted]) -> Result<usize, RunError> {
    let samples = &session.samples;
    let unknown = |option: &str, name: &str| {
        if let Some(why) = session.source.why_not_counted(name) {
            return RunError::Reading(format!("{option} {name}: it can't be counted here: {why}"));
        }
        let mut known: Vec<&str> = samples.metrics.iter().map(|m| m.name.as_str()).collect();
        // `CPU_PER_WALL` is measured only if it is requested, and counts are added after all timed
        // runs.
        let others = counted.iter().flat_map(|own| own.names()).copied();
        for other in std::iter::once(CPU_PER_WALL).chain(others) {
            if !known.contains(&other) {
                known.push(other);
            }
        }
        RunError::Reading(crate::planning::no_such_metric(option, name, &known))
    };
    // Counts are still missing, because they follow the timed runs.
    let comes = |name: &String| {
        samples.metric_index(name).is_some()
            || Counted::of_metric(name).is_some_and(|own| counted.contains(&own))
    };
    if let Some(name) = plan.secondary.iter().find(|name| !comes(name)) {
        return Err(unknown("--secondary", name));
    }
    let primary =
        samples.metric_index(&plan.primary).ok_or_else(|| unknown("--primary", &plan.primary))?;
    check_threshold(plan, &samples.metrics[primary]).map_err(RunError::Reading)?;
    Ok(primary)
}

/// Decides on the measurements and shows the result. If no block is complete, only a message is
/// shown.
fn decide(args: &Args, samples: &Samples, record: Option<&Record>) -> anyhow::Result<Ending> {
    if samples.is_empty() {
        if samples.stop == Some(StopReason::Interrupted) {
            output::say("interrupted before the first run of every command was complete");
        }
        return Ok(Ending::Fine);
    }
    // Note: the verdict comes from `analyse` on the samples, not from the running state of the
    // experiment, so that `assay compare` on the file prints the same digits.
    let mut analysis = analyse(samples, &assay_analysis::Options::default())?;
    let file = record.filter(|r| r.failure.is_none()).map(|r| r.path.as_path());
    let (dialect, rows) = (Dialect::Run, DisplayOptions::default());
    let how = Showing { dialect, rows, show: &args.record.show, file };
    present::present(how, &mut analysis, samples)?;
    if args.why {
        super::why::print_after(samples, file, args.record.show.color)?;
    }
    Ok(present::judge(&analysis, &args.judge.fail_if))
}
