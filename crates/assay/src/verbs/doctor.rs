//! `assay doctor`: what disturbs measuring on this machine, how much it costs here as measured, and what would mend it.
//!
//! Facts come from the environment, costs from a short experiment: a program of known work as it is and under every setting that
//! can be had, in the same blocks. `--fix -- CMD` applies what mends the whole machine, runs a command, and puts everything back.

use crate::args::{LookArgs, seconds};
use crate::progress::Progress;
use crate::session::{Manner, Obstacle, Prepared, Session};
use crate::{Ending, knobs, meter, output, present};
use assay_analysis::{Experiment, machine, spread};
use assay_data::{Environment, Finding, Plan, Samples, Severity, StopReason, StopRule, Threshold};
use assay_measure::machine::{Knob, KnobError, Machine, Privileges, busiest, privileges};
use assay_measure::{Command, Control, Outcome, Output, environment, escort, interrupt, workload};
use assay_report::doctor::{self as report, Ailment, DoctorReport};
use std::ffi::OsString;
use std::time::Duration;

/// How long a run of the program of known work takes, s.
const RUN_SECONDS: f64 = 0.002;
/// How long other processes are watched.
const WATCH: Duration = Duration::from_millis(500);
/// A process that takes less of a CPU disturbs nobody.
const BUSY_FROM: f64 = 0.02;
/// Processes that are named.
const MOST_BUSY: usize = 3;
/// A fixed seed: the order of the blocks is all that depends on it.
const SEED: u64 = 1;

/// Arguments of `assay doctor`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay doctor                                  what disturbs here, what it costs, what would mend it
  assay doctor --fix -- assay run ./old ./new   mend what can be mended, measure, put everything back
  assay doctor --strict --quick                 status 1 if something disturbs, in a pipeline")]
pub(crate) struct Args {
    /// Mend what can be mended on this machine, run the command behind `--`, and put everything back, also after a crash
    #[arg(long, requires = "command")]
    fix: bool,

    /// The command to run with --fix
    #[arg(last = true, value_name = "COMMAND", requires = "fix")]
    command: Vec<OsString>,

    /// How long to measure what the settings bring
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "8s", conflicts_with = "fix")]
    time: f64,

    /// Only look, measure nothing
    #[arg(long, conflicts_with = "fix")]
    quick: bool,

    /// End with status 1 if something disturbs
    #[arg(long, conflicts_with = "fix")]
    strict: bool,

    #[command(flatten)]
    look: LookArgs,
}

/// Looks and measures, or mends and runs.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    interrupt::install()?;
    knobs::mend();
    if args.fix { fix(args) } else { examine(args) }
}

fn fix(args: &Args) -> anyhow::Result<Ending> {
    let (held, findings) = knobs::hold(&knobs::mendable(remedies()))?;
    if !args.look.quiet {
        for finding in &findings {
            // What a machine does not offer needs no mending.
            if finding.severity == Severity::Note {
                output::say(&format!("note: {}", finding.message));
            }
        }
        for (what, error) in refused() {
            output::say(&format!("warning: {what}: {error}"));
        }
    }
    let ended = escort::run(&args.command);
    if let Some(held) = held {
        held.release()?;
    }
    Ok(match ended? {
        Outcome::Exited(status) => Ending::Of(u8::try_from(status).unwrap_or(u8::MAX)),
        Outcome::Signalled(signal) => Ending::Of(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        Outcome::TimedOut | Outcome::WantedTerminal => Ending::CommandFailed,
    })
}

/// The settings of the machine under which it measures best.
fn remedies() -> Vec<Knob> {
    vec![
        Knob::Governor("performance".to_owned()),
        Knob::Turbo(false),
        Knob::RtRuntime(None),
        Knob::Autogroup(false),
    ]
}

/// The settings that this user may not have, and why.
fn refused() -> Vec<(String, KnobError)> {
    let machine = Machine::here();
    let why = |knob: Knob| match machine.plan(&knob) {
        Err(error @ KnobError::NotPermitted { .. }) => Some((remedy(&knob).to_owned(), error)),
        _ => None,
    };
    remedies().into_iter().filter_map(why).collect()
}

fn remedy(knob: &Knob) -> &'static str {
    match knob {
        Knob::Governor(_) => "--governor performance",
        Knob::Turbo(_) => "--turbo off",
        Knob::RtRuntime(_) => "--rt-runtime unlimited",
        Knob::Autogroup(_) => "--autogroup off",
    }
}

fn examine(args: &Args) -> anyhow::Result<Ending> {
    let environment = Environment::from_facts(environment::capture());
    let allowed = privileges();
    let mut ailments = ailments(&environment);
    ailments.extend(others());
    let mut missing = missing(&allowed);
    let mut trials = Vec::new();
    if !args.quick {
        let tried = try_settings(args, &environment, &allowed);
        match tried {
            Ok((found, refused)) => {
                trials = found;
                missing.extend(refused);
            }
            Err(obstacle) => {
                let interrupted = matches!(obstacle, Obstacle::Interrupted(_));
                output::error(&obstacle.into());
                return Ok(if interrupted { Ending::Interrupted } else { Ending::InputError });
            }
        }
    }
    let disturbed = ailments.iter().any(|a| a.severity > Severity::Note);
    ailments.sort_by_key(|ailment| std::cmp::Reverse(ailment.severity));
    let found = DoctorReport {
        machine: assay_report::progress::machine(&environment),
        disturbs: ailments,
        missing,
        workload: "a loop of 2 ms".to_owned(),
        costs: trials,
    };
    if args.look.json {
        output::print(&format!("{:#}\n", report::json(&found)))?;
    } else {
        output::print(&report::render(&found, &present::screen(args.look.color)))?;
    }
    Ok(if args.strict && disturbed { Ending::FailIfCameTrue } else { Ending::Fine })
}

/// What the facts say, and what could be set otherwise.
fn ailments(environment: &Environment) -> Vec<Ailment> {
    let pin = format!("--pin {}", last_cpu(environment));
    let of_finding = |finding: &Finding| Ailment {
        can_fix: matches!(finding.code.as_str(), "GOVERNOR" | "TURBO"),
        ..Ailment::from(finding)
    };
    let mut found: Vec<Ailment> = machine::findings(environment).iter().map(of_finding).collect();
    let mut add = |code: &str, title: String, cost: Option<&str>, remedy: &str, can_fix: bool| {
        found.push(Ailment {
            code: code.to_owned(),
            title,
            severity: Severity::Note,
            cost: cost.map(str::to_owned),
            remedy: Some(remedy.to_owned()),
            can_fix,
        });
    };
    if let Some(us) = environment.number("sched_rt_runtime_us").filter(|&us| us >= 0.0) {
        add(
            "RT_LIMIT",
            format!("real-time programs are stopped after {:.0} ms of every second", us / 1000.0),
            Some("--fifo"),
            "--rt-runtime unlimited, together with --fifo",
            true,
        );
    }
    if environment.flag("sched_autogroup") == Some(true)
        || environment.number("sched_autogroup") == Some(1.0)
    {
        add(
            "AUTOGROUP",
            "the CPU is shared by terminal sessions first (autogroup)".to_owned(),
            None,
            "--autogroup off",
            true,
        );
    }
    if environment.number("isolated_cpus").is_none()
        && environment.text("isolated_cpus").is_none_or(str::is_empty)
    {
        add(
            "NO_ISOLATED_CPU",
            "no CPU is kept free of other work".to_owned(),
            Some(&pin),
            "boot with isolcpus=N, and measure with --pin N",
            false,
        );
    }
    if environment.number("swap_total").is_some_and(|bytes| bytes > 0.0) {
        let title = "memory may be swapped out".to_owned();
        add("SWAP", title, None, "swapoff -a while measuring", false);
    }
    found
}

/// Other processes that are at work now.
fn others() -> Vec<Ailment> {
    let busy = busiest(WATCH);
    busy.into_iter()
        .filter(|process| process.share > BUSY_FROM)
        .take(MOST_BUSY)
        .map(|process| Ailment {
            code: "BUSY_PROCESS".to_owned(),
            cost: None,
            title: format!(
                "process {} ({}) takes {:.0} % of a CPU",
                process.process,
                process.name,
                process.share * 100.0
            ),
            severity: if process.share > 0.2 { Severity::Warning } else { Severity::Note },
            remedy: Some("stop it while measuring".to_owned()),
            can_fix: false,
        })
        .collect()
}

/// What this user may not do, and what that would be good for.
fn missing(allowed: &Privileges) -> Vec<String> {
    let mut missing = Vec::new();
    if !allowed.sys_nice && allowed.rtprio_limit == 0 {
        missing.push(
            "--fifo and --nice below 0 need CAP_SYS_NICE (sudo), or an rtprio limit (ulimit -r)"
                .to_owned(),
        );
    }
    missing.extend(refused().into_iter().map(|(what, error)| format!("{what}: {error}")));
    missing
}

/// The program of known work as it is and under every setting, in the same blocks. What was refused comes back in words.
fn try_settings(
    args: &Args,
    environment: &Environment,
    allowed: &Privileges,
) -> Result<(Vec<report::Trial>, Vec<String>), Obstacle> {
    let told = |error: &dyn std::fmt::Display| {
        Obstacle::Reading(format!("the program of known work: {error}"))
    };
    let room = tempfile::tempdir().map_err(|e| told(&e))?;
    let program = workload::unpack(room.path(), "spin").map_err(|e| told(&e))?;
    let steps = workload::iterations_for(&program, RUN_SECONDS).map_err(|e| told(&e))?;
    let mut commands = Vec::new();
    for (name, control) in settings(environment, allowed) {
        let words = [program.clone().into_os_string(), "spin".into(), steps.to_string().into()];
        let mut command = Command::new(words).map_err(|e| told(&e))?;
        command.output = Output::Null;
        command.control = control;
        commands.push(Prepared::plain(&name, command));
    }
    let names: Vec<String> = commands.iter().map(|c| c.name.clone()).collect();
    let plan = Plan {
        stop: StopRule::Fixed { blocks: u32::MAX },
        budget_seconds: Some(args.time),
        ..Plan::sequential(0.95, Threshold::default(), SEED)
    };
    let mut progress = Progress::new(args.look.quiet, environment, names.clone(), plan.clone());
    let mut session = Session::start(commands, Manner::default(), |_| {
        meter::Meter::new(meter::Wishes::default())
    })?;
    session.warm_up(plan.warmup, plan.seed, &progress)?;
    session.learn_metrics();
    let mut experiment = Experiment::new(plan, names.len());
    let reason = session.measure_all(&mut experiment, 0, &mut None, &mut progress)?;
    progress.end();
    if reason == StopReason::Interrupted {
        return Err(Obstacle::Interrupted("while trying the settings".to_owned()));
    }
    let refused = session.findings().into_iter().filter(|f| f.code == "NOT_CONTROLLED");
    let trials = trials(&session.samples);
    Ok((trials, refused.map(|f| f.message).collect()))
}

/// The CPU to pin to: the last, since the system's own work gathers on the first.
fn last_cpu(environment: &Environment) -> u32 {
    environment.number("cpus_online").map_or(0, |cpus| (cpus as u32).saturating_sub(1))
}

/// The settings that are worth trying here; the first is none.
fn settings(environment: &Environment, allowed: &Privileges) -> Vec<(String, Control)> {
    let plain = Control::default();
    let last = last_cpu(environment);
    let pinned = Control { cpus: vec![last], ..plain.clone() };
    let mut settings = vec![
        ("as it is".to_owned(), plain.clone()),
        (format!("--pin {last}"), pinned.clone()),
        ("--no-aslr".to_owned(), Control { no_aslr: true, ..plain.clone() }),
    ];
    if allowed.sys_nice {
        settings.push(("--nice -20".to_owned(), Control { nice: Some(-20), ..plain.clone() }));
    }
    if allowed.sys_nice || allowed.rtprio_limit >= 10 {
        settings.push(("--fifo".to_owned(), Control { fifo: Some(10), ..plain }));
        settings.push((format!("--pin {last} --fifo"), Control { fifo: Some(10), ..pinned }));
    }
    settings
}

/// How the spread under every setting compares with that of the program as it is. A setting that was refused is none, and too
/// few blocks say nothing.
fn trials(samples: &Samples) -> Vec<report::Trial> {
    let plain = samples.subjects.first().map(|s| s.control.clone()).unwrap_or_default();
    let rows = samples.complete_blocks(0);
    let of = |subject: usize| -> Vec<f64> { rows.iter().map(|row| row.values[subject]).collect() };
    let tried: Vec<usize> =
        (1..samples.subjects.len()).filter(|&s| samples.subjects[s].control != plain).collect();
    let confidence = 1.0 - 0.05 / tried.len().max(1) as f64;
    let trial = |&subject: &usize| {
        let found = spread::compare(&of(0), &of(subject), confidence, SEED).ok()?;
        Some(report::Trial { name: samples.subjects[subject].name.clone(), found })
    };
    tried.iter().filter_map(trial).collect()
}
