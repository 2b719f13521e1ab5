//! `assay doctor`: finds what disturbs measurements on this machine, measures the cost, and shows
//! how to fix it.
//!
//! Facts come from the environment. Costs come from a short experiment that runs a program of known
//! work, unchanged and under every available setting, in the same blocks. `--fix -- CMD` applies
//! every machine-wide fix, runs a command, and restores all settings.

use crate::advice::{Dialect, spell};
use crate::args::{LookArgs, seconds};
use crate::commands::{self, Prepared};
use crate::cpus::quiet_cpu;
use crate::known_work::{self, SEED};
use crate::progress::Progress;
use crate::run_error::RunError;
use crate::{Ending, knobs, output, present, toggles};
use assay_analysis::engine::Limits;
use assay_analysis::machine::findings;
use assay_analysis::{policy, spread};
use assay_data::code;
use assay_data::{Action, Environment, Finding, Samples, Severity, Source, StopReason};
use assay_measure::machine::{Knob, KnobError, Machine, Privileges, busiest, privileges};
use assay_measure::{Command, Control, Outcome, environment, foreground, interrupt};
use assay_report::doctor::{self as report, Ailment, DoctorReport};
use assay_report::json::{self, Diagnosis};
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// Duration for which other processes are observed.
const WATCH: Duration = Duration::from_millis(500);
/// Maximum number of busy processes that are named.
const MOST_BUSY: usize = 3;

/// Arguments of `assay doctor`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay doctor                                  find disturbances, their cost, and fixes
  assay doctor --fix -- assay run ./old ./new   apply fixes, measure, restore everything
  assay doctor --strict --quick                 for CI: status 1 if something disturbs measuring")]
pub(crate) struct Args {
    /// Apply every available fix, run the command after `--`, and restore all settings afterwards,
    /// even after a crash
    #[arg(long, requires = "command")]
    fix: bool,

    /// Command to run with --fix
    #[arg(last = true, value_name = "COMMAND", requires = "fix")]
    command: Vec<OsString>,

    /// Time to measure the effect of the settings
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "8s", conflicts_with = "fix")]
    time: f64,

    /// Only inspect, without measuring
    #[arg(long, conflicts_with = "fix")]
    quick: bool,

    /// Exit with status 1 if something disturbs measuring
    #[arg(long, conflicts_with = "fix")]
    strict: bool,

    #[command(flatten)]
    look: LookArgs,
}

/// Inspects and measures, or applies fixes and runs a command.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    interrupt::install()?;
    knobs::mend();
    toggles::mend(&[]);
    if args.fix { fix(args) } else { examine(args) }
}

fn fix(args: &Args) -> anyhow::Result<Ending> {
    let (held, findings) = knobs::hold(&knobs::mendable(remedies()))?;
    if !args.look.quiet {
        for finding in &findings {
            let how = if finding.severity == Severity::Note { "note" } else { "warning" };
            // The command is not measured by `assay`, so the end of the message does not apply.
            let message = finding.message.trim_end_matches(": measured without");
            output::say(&format!("{how}: {message}"));
        }
    }
    let ended = foreground::run(&args.command);
    if let Some(held) = held {
        held.release()?;
    }
    Ok(match ended? {
        Outcome::Signalled(_) if interrupt::count() > 0 => Ending::Interrupted,
        Outcome::Exited(status) => Ending::Of(u8::try_from(status).unwrap_or(u8::MAX)),
        Outcome::Signalled(signal) => Ending::Of(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        Outcome::TimedOut | Outcome::WantedTerminal | Outcome::Stopped => Ending::CommandFailed,
    })
}

/// Returns the settings under which the machine measures best.
fn remedies() -> Vec<Knob> {
    vec![
        Knob::Governor("performance".to_owned()),
        Knob::Turbo(false),
        Knob::RtRuntime(None),
        Knob::Autogroup(false),
    ]
}

/// Returns the settings that this user may not change, with the reasons.
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
    let environment = Environment::from_facts(environment::capture_with_share());
    let allowed = privileges();
    let mut ailments = ailments(&environment);
    ailments.extend(others());
    let mut missing = missing(&allowed);
    let mut trials = Trials::default();
    if !args.quick {
        let tried = try_settings(args, &environment, &allowed);
        match tried {
            Ok((found, refused)) => {
                trials = found;
                missing.extend(refused);
            }
            // The disturbances can be reported without the experiment.
            Err(RunError::Reading(why)) => missing.push(why),
            Err(obstacle) => {
                let interrupted = matches!(obstacle, RunError::Interrupted(_));
                output::error(&obstacle.into());
                return Ok(if interrupted { Ending::Interrupted } else { Ending::InputError });
            }
        }
    }
    let disturbed = ailments.iter().any(|a| a.finding.severity > Severity::Note);
    ailments.sort_by_key(|ailment| std::cmp::Reverse(ailment.finding.severity));
    let found = DoctorReport {
        machine: assay_report::progress::machine(&environment),
        disturbs: ailments,
        missing,
        workload: "a loop of 2 ms".to_owned(),
        costs: trials.settings,
        over_time: trials.over_time,
        stolen: trials.stolen,
    };
    if args.look.json {
        output::print(&json::text(&Diagnosis::of(&found))?)?;
    } else {
        output::print(&report::render(&found, &present::screen(args.look.color)))?;
    }
    Ok(if args.strict && disturbed { Ending::FailIfCameTrue } else { Ending::Fine })
}

/// Returns the problems that the recorded facts reveal, and the settings that could be improved.
fn ailments(environment: &Environment) -> Vec<Ailment> {
    let pin = quiet_cpu().map(|cpu| format!("--pin {cpu}"));
    let machine = Machine::here();
    let can = |knob: Knob| machine.plan(&knob).is_ok();
    let of_finding = |finding: Finding| Ailment {
        can_fix: finding.number("follows_load").is_some()
            && can(Knob::Governor("performance".to_owned()))
            || finding.number("turbo").is_some() && can(Knob::Turbo(false)),
        ..Ailment::from(finding)
    };
    let mut disturbs = findings(environment);
    spell(Dialect::Doctor, &mut disturbs);
    let mut found: Vec<Ailment> = disturbs.into_iter().map(of_finding).collect();
    let mut add = |finding: Finding, trial: Option<&str>, remedy: &str, can_fix: bool| {
        let finding = finding.advise(Action::text(remedy));
        found.push(Ailment { finding, trial: trial.map(str::to_owned), can_fix });
    };
    if let Some(us) = environment.number("sched_rt_runtime_us").filter(|&us| us >= 0.0) {
        let message =
            format!("real-time programs are stopped after {:.0} ms of every second", us / 1000.0);
        add(
            Finding::new(code::SYSTEM_SETTINGS, message),
            Some("--fifo"),
            "--rt-runtime unlimited, together with --fifo",
            can(Knob::RtRuntime(None)),
        );
    }
    if environment.flag("sched_autogroup") == Some(true)
        || environment.number("sched_autogroup") == Some(1.0)
    {
        add(
            Finding::new(
                code::SYSTEM_SETTINGS,
                "the CPU is shared by terminal sessions first (autogroup)",
            ),
            None,
            "--autogroup off",
            can(Knob::Autogroup(false)),
        );
    }
    if environment.number("isolated_cpus").is_none()
        && environment.text("isolated_cpus").is_none_or(str::is_empty)
    {
        add(
            Finding::new(code::SYSTEM_SETTINGS, "no CPU is kept free of other work"),
            pin.as_deref(),
            "boot with isolcpus=N, and measure with --pin N",
            false,
        );
    }
    if environment.number("swap_total").is_some_and(|bytes| bytes > 0.0) {
        let finding = Finding::new(code::SYSTEM_SETTINGS, "memory may be swapped out");
        add(finding, None, "swapoff -a while measuring", false);
    }
    found
}

/// Returns other processes that are busy now.
fn others() -> Vec<Ailment> {
    let busy = busiest(WATCH);
    busy.into_iter()
        .filter(|process| process.share > policy::BUSY_PROCESS)
        .take(MOST_BUSY)
        .map(|process| {
            let severity = if process.share > policy::VERY_BUSY_PROCESS {
                Severity::Warning
            } else {
                Severity::Note
            };
            let message = format!(
                "process {} ({}) takes {:.0} % of a CPU",
                process.process,
                process.name,
                process.share * 100.0
            );
            let finding = Finding::new(code::MACHINE_BUSY, message).at(severity);
            finding.advise(Action::text("stop it while measuring")).into()
        })
        .collect()
}

/// Returns messages about the permissions that this user lacks, and what they are for.
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

/// The results of trying the settings.
#[derive(Debug, Default)]
struct Trials {
    settings: Vec<report::Trial>,
    over_time: Option<spread::SpreadOverTime>,
    /// Share of CPU time that the hypervisor took; `None` outside virtual machines.
    stolen: Option<f64>,
}

/// Runs the program of known work unchanged and under every setting, in the same blocks. Also
/// returns messages about settings that were refused.
fn try_settings(
    args: &Args,
    environment: &Environment,
    allowed: &Privileges,
) -> Result<(Trials, Vec<String>), RunError> {
    let room = crate::room::temporary().map_err(|error| RunError::Reading(output::told(&error)))?;
    let program = known_work::program(room.path());
    let program = program.map_err(|error| RunError::Reading(output::told(&error)))?;
    let under = |(name, control): (String, Control)| {
        Prepared::plain(&name, Command { control, ..program.clone() })
    };
    let commands = settings(quiet_cpu(), allowed).into_iter().map(under).collect();
    let plan = known_work::plan(args.time);
    let what = "every setting in turn, block";
    let mut progress = Progress::of_span(args.look.quiet, environment, what, plan.clone());
    let mut session = known_work::session(commands)?;
    // The number of CPUs is needed to express stolen time as a share.
    session.samples.environment = environment.clone();
    // Warm-up removes a refused setting from all trials, so the requested settings are kept here.
    let asked = session.samples.subjects.iter().map(|s| s.control.clone()).collect::<Vec<_>>();
    commands::warm_up(&mut session, plan.warmup, plan.seed, &progress)?;
    session.begin(&plan, 0, Limits::default());
    let began = Instant::now();
    let (measured, stolen) = commands::measure(&mut session, &mut progress);
    let seconds = began.elapsed().as_secs_f64();
    progress.end();
    let reason = measured?;
    if reason == StopReason::Interrupted {
        return Err(RunError::Interrupted("while trying the settings".to_owned()));
    }
    let found = session.source.findings(&session.samples, &[]);
    let refused = found.into_iter().filter(|f| f.is(code::NOT_CONTROLLED));
    let is_virtual = environment.text("virtualisation").is_some();
    let trials = Trials {
        settings: trials(&session.samples, &asked),
        over_time: spread::over_time(&blocks_of(&session.samples, 0), seconds),
        stolen: stolen.filter(|_| is_virtual),
    };
    Ok((trials, refused.map(|f| f.message).collect()))
}

/// Returns the settings worth trying here, of which the first is the unchanged program.
fn settings(pin: Option<u32>, allowed: &Privileges) -> Vec<(String, Control)> {
    let plain = Control::default();
    let pinned = |cpu: u32| Control { cpus: vec![cpu], ..Control::default() };
    let mut settings = vec![("as it is".to_owned(), plain.clone())];
    settings.extend(pin.map(|cpu| (format!("--pin {cpu}"), pinned(cpu))));
    settings.push(("--no-aslr".to_owned(), Control { no_aslr: true, ..plain.clone() }));
    if allowed.sys_nice {
        settings.push(("--nice -20".to_owned(), Control { nice: Some(-20), ..plain.clone() }));
    }
    if allowed.sys_nice || allowed.rtprio_limit >= 10 {
        settings.push(("--fifo".to_owned(), Control { fifo: Some(10), ..plain }));
        settings.extend(
            pin.map(|cpu| {
                (format!("--pin {cpu} --fifo"), Control { fifo: Some(10), ..pinned(cpu) })
            }),
        );
    }
    settings
}

/// Returns a subject's values in the complete blocks, in order.
fn blocks_of(samples: &Samples, subject: usize) -> Vec<f64> {
    samples.complete_blocks(0).iter().map(|row| row.values[subject]).collect()
}

/// Compares the spread under every setting with that of the unchanged program. A trial is left out
/// if one of its settings was refused, because it would show the effect of other settings, or if it
/// has too few blocks.
fn trials(samples: &Samples, asked: &[Vec<(String, String)>]) -> Vec<report::Trial> {
    let of = |subject: usize| blocks_of(samples, subject);
    let in_force = |&s: &usize| asked.get(s) == Some(&samples.subjects[s].control);
    let tried: Vec<usize> = (1..samples.subjects.len()).filter(in_force).collect();
    let confidence = 1.0 - 0.05 / tried.len().max(1) as f64;
    let trial = |&subject: &usize| {
        let found = spread::compare(&of(0), &of(subject), confidence, SEED).ok()?;
        Some(report::Trial { name: samples.subjects[subject].name.clone(), found })
    };
    tried.iter().filter_map(trial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::{Metric, Observation, Outcome, Subject, Unit};

    fn set(names: &[&str]) -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect()
    }

    #[test]
    fn a_trial_counts_only_with_everything_in_force_that_was_asked_for() {
        // Real-time scheduling was refused: two trials lost it, and one of them is still pinned.
        let asked = [set(&[]), set(&["pin"]), set(&["fifo"]), set(&["pin", "fifo"])];
        let recorded = [set(&[]), set(&["pin"]), set(&[]), set(&["pin"])];
        let mut samples = Samples::new(vec![Metric::lower("wall", Unit::Second)]);
        for (name, control) in ["as it is", "pin", "fifo", "both"].iter().zip(recorded) {
            samples.add_command(Subject {
                name: (*name).to_owned(),
                control,
                ..Subject::default()
            });
        }
        for block in 0..60_u32 {
            for subject in 0..4 {
                let value = 1.0 + f64::from((block * 7 + subject as u32 * 3) % 11) * 0.01;
                samples.push(Observation {
                    subject,
                    pass: None,
                    block: Some(block),
                    position: Some(subject as u32),
                    level: Vec::new(),
                    time: None,
                    outcome: Outcome::Ok,
                    values: vec![value],
                });
            }
        }
        let names: Vec<String> = trials(&samples, &asked).into_iter().map(|t| t.name).collect();
        assert_eq!(names, ["pin"]);
    }

    #[test]
    fn who_has_one_cpu_is_not_pinned() {
        let allowed = privileges();
        let pinned = |pin| settings(pin, &allowed).iter().any(|(_, c)| !c.cpus.is_empty());
        assert!(pinned(Some(3)) && !pinned(None));
    }
}
