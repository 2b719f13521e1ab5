//! `assay calibrate`: determines the false-positive rate of this machine, and the smallest
//! difference that it can detect.
//!
//! One long series of runs of one program is measured, or read from a file. The analysis then
//! labels the runs as each measuring method would have assigned them to two programs. Finally, two
//! byte-identical copies of the program are compared. The result is kept for later runs.

use crate::args::{LookArgs, any_words, seconds};
use crate::commands::{self, Prepared};
use crate::known_work::{self, SEED};
use crate::progress::Progress;
use crate::record::Record;
use crate::run_error::RunError;
use crate::{Ending, calibrated, knobs, output, present, store};
use anyhow::{Context, bail};
use assay_analysis::analyse;
use assay_analysis::calibration::{Calibration, Layout, Series, calibrate};
use assay_analysis::engine::Limits;
use assay_analysis::policy::CALIBRATED_FROM;
use assay_data::assay_file;
use assay_data::{Environment, Plan, Samples, StopReason};
use assay_measure::{Command, Output, environment, interrupt};
use assay_report::calibration as report;
use assay_report::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Share of the time that is spent on the series. The rest is for the copies.
const SERIES_SHARE: f64 = 0.8;

/// Arguments of `assay calibrate`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
How it works: one program is run many times, and its runs are labeled A or B afterwards. A and B are the same program, so every \
difference that a way of measuring finds is a false positive. Then the recorded times of B are reduced slightly, to determine the \
smallest difference that is still detected. Later runs warn if their threshold is smaller.

Examples:
  assay calibrate                                 calibrate this machine, in half a minute
  assay calibrate --time 5min -- ./server --once  use your own command
  assay calibrate --record series.assay           only measure
  assay calibrate --from series.assay             evaluate a recorded series")]
pub(crate) struct Args {
    /// Program to run [default: a built-in one that computes for 2 ms]
    #[arg(value_name = "COMMAND", conflicts_with = "from", value_parser = any_words())]
    command: Option<String>,

    /// The program and its arguments as separate words, after `--`
    #[arg(value_name = "WORD", last = true, conflicts_with_all = ["from", "command"])]
    words: Vec<OsString>,

    /// Time to measure
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "30s")]
    time: f64,

    /// Only record the series in this file, without evaluating it
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Evaluate a recorded series: a sample file with one subject
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    from: Option<PathBuf>,

    /// Do not keep the result for later runs
    #[arg(long)]
    no_save: bool,

    #[command(flatten)]
    look: LookArgs,
}

/// Measures or reads a series, labels its runs, and shows and keeps the result.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if let Some(path) = &args.from {
        let samples = assay_file::read(path)?;
        let calibration = label(&samples).with_context(|| path.display().to_string())?;
        tell(args, &calibration, None, (&samples.environment, &samples))?;
        let here = Environment::from_facts(environment::capture());
        if calibrated::same_machine(&samples.environment, &here) {
            keep(args, &calibration, &here, samples.started.as_deref());
        } else if !args.no_save {
            output::say(
                "note: not kept for later runs: the series is from another machine, or does not name its machine",
            );
        }
        return Ok(Ending::Fine);
    }
    if let Some(path) = &args.record {
        store::check_named("--record", path)?;
    }
    interrupt::install()?;
    knobs::mend();
    let environment = Environment::from_facts(environment::capture());
    let room = crate::room::temporary()?;
    let original = original(args, room.path())?;
    let began = jiff::Timestamp::now().to_string();
    let plan = known_work::plan(args.time * share(args));
    let what = "runs of one program:";
    let mut progress = Progress::of_span(args.look.quiet, &environment, what, plan.clone());
    let series = vec![Prepared::plain("calibration", original.clone())];
    let record = args.record.as_deref();
    let (samples, ending) = match measure(series, &environment, plan, record, &mut progress) {
        Ok(found) => found,
        Err(obstacle) => return failed(obstacle),
    };
    if let Some(path) = &args.record {
        output::say(&format!("recorded {} runs in {}", samples.len(), path.display()));
        if let Some(few) = too_few(args, &samples, ending) {
            output::say(&format!("warning: {few}"));
        }
        return Ok(ending);
    }
    if let Some(few) = too_few(args, &samples, ending) {
        if ending == Ending::Interrupted {
            output::say(&few);
            return Ok(ending);
        }
        bail!(few);
    }
    progress.busy("evaluating every way of measuring");
    let calibration = label(&samples);
    progress.end();
    let calibration = calibration?;
    if ending == Ending::Interrupted {
        tell(args, &calibration, None, (&environment, &samples))?;
        output::say("note: interrupted, so this is not kept for later runs");
        return Ok(ending);
    }
    let (layout, ending) = match layout(args, &original, room.path(), &environment, &mut progress) {
        Ok(layout) => (layout, Ending::Fine),
        Err(why) => {
            output::say(&format!(
                "note: without the comparison with a byte-identical copy at another path: {}",
                in_one_line(&output::told(&why))
            ));
            let interrupted = interrupt::count() > 0;
            (None, if interrupted { Ending::Interrupted } else { Ending::Fine })
        }
    };
    tell(args, &calibration, layout, (&environment, &samples))?;
    keep(args, &calibration, &environment, Some(&began));
    Ok(ending)
}

/// Returns a message if there are too few runs to label, with the time that enough runs would take.
fn too_few(args: &Args, samples: &Samples, ending: Ending) -> Option<String> {
    let runs = samples.len();
    if runs >= CALIBRATED_FROM {
        return None;
    }
    let seconds = seconds_per_run(samples) * CALIBRATED_FROM as f64 / share(args);
    let what =
        if ending == Ending::Interrupted { "interrupted after" } else { "there was time for" };
    Some(format!(
        "{what} {runs} run{} of the program; a calibration needs at least {CALIBRATED_FROM}: --time {}",
        if runs == 1 { "" } else { "s" },
        enough(seconds)
    ))
}

/// Returns a duration for `--time`, 10 % longer than needed because the durations of runs vary.
fn enough(seconds: f64) -> String {
    let seconds = seconds * 1.1;
    if seconds <= 99.0 {
        format!("{}s", seconds.ceil())
    } else {
        format!("{}min", (seconds / 60.0).ceil())
    }
}

/// Returns the average time from the start of one run to the start of the next, in seconds.
fn seconds_per_run(samples: &Samples) -> f64 {
    let last = samples.len().checked_sub(1).and_then(|index| samples.observation(index));
    let wall = samples.metric_index("wall");
    let took = last.as_ref().zip(wall).and_then(|(o, wall)| o.values.get(wall).copied());
    let began = last.and_then(|o| o.time).unwrap_or(0.0);
    (began + took.unwrap_or(0.0)) / samples.len().max(1) as f64
}

/// Compares the program with its copy at another path.
///
/// # Errors
/// Fails if the copy cannot run there, or the user interrupts.
fn layout(
    args: &Args,
    original: &Command,
    room: &Path,
    environment: &Environment,
    progress: &mut Progress,
) -> anyhow::Result<Option<Layout>> {
    let plan = known_work::plan(args.time * (1.0 - SERIES_SHARE));
    progress.next_span("the program and its copy, block", plan.clone());
    let copies = copies(original, room)?;
    let (samples, ending) = measure(copies, environment, plan, None, progress)?;
    if ending == Ending::Interrupted {
        bail!("interrupted");
    }
    let analysis = analyse(&samples, &assay_analysis::Options::default())?;
    Ok(analysis.comparisons.first().and_then(Layout::of))
}

/// Removes hints from a message, because they mention options that `run` has and `calibrate` lacks.
fn without_hints(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with("hint: ")).collect()
}

fn in_one_line(text: &str) -> String {
    without_hints(text).into_iter().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Returns the share of the time that is spent on the series, which is 1 for `--record`.
fn share(args: &Args) -> f64 {
    if args.record.is_some() { 1.0 } else { SERIES_SHARE }
}

fn failed(obstacle: RunError) -> anyhow::Result<Ending> {
    let ending = obstacle.ending();
    output::error(&match obstacle {
        RunError::Failed(told) => anyhow::anyhow!(without_hints(&told).join("\n")),
        other => other.into(),
    });
    Ok(ending)
}

/// Returns the program whose runs are labeled.
fn original(args: &Args, room: &Path) -> anyhow::Result<Command> {
    let mut command = match &args.command {
        Some(text) => Command::parse(text, false)?,
        None if !args.words.is_empty() => Command::new(args.words.clone())?,
        None => known_work::program(room)?,
    };
    command.output = Output::Null;
    command.resolve()?;
    Ok(command)
}

/// Returns the program at its own path, and a copy of it with the same name in another directory.
fn copies(original: &Command, room: &Path) -> anyhow::Result<Vec<Prepared>> {
    let program = original.resolve()?;
    let name = program.file_name().context("a program has a name")?;
    // The directory's name differs in length, so that path and stack move as they do between build
    // directories.
    let directory = room.join("a-byte-identical-copy");
    std::fs::create_dir(&directory).with_context(|| directory.display().to_string())?;
    let copy = directory.join(name);
    std::fs::copy(&program, &copy)
        .with_context(|| format!("{} to {}", program.display(), copy.display()))?;
    let mut elsewhere = original.clone();
    elsewhere.argv[0] = copy.into_os_string();
    Ok(vec![Prepared::plain("original", original.clone()), Prepared::plain("copy", elsewhere)])
}

/// Measures as long as planned, whatever the results.
fn measure(
    commands: Vec<Prepared>,
    environment: &Environment,
    plan: Plan,
    file: Option<&Path>,
    progress: &mut Progress,
) -> Result<(Samples, Ending), RunError> {
    let mut session = known_work::session(commands)?;
    session.samples.started = Some(jiff::Timestamp::now().to_string());
    session.samples.argv = present::argv();
    commands::warm_up(&mut session, plan.warmup, plan.seed, progress)?;
    session.samples.environment = environment.clone();
    session.begin(&plan, 0, Limits::default());
    if let Some(path) = file {
        let record = Record::named("--record", path, &session.samples);
        session.recorder = Some(record.map_err(|e| RunError::Reading(output::told(&e)))?);
    }
    let (measured, _) = commands::measure(&mut session, progress);
    progress.end();
    let reason = measured?;
    session.close(reason, Environment::default());
    if let Some(Record { failure: Some(failure), path, .. }) = &session.recorder {
        return Err(RunError::Reading(format!("{}: {failure}", path.display())));
    }
    let ending = if reason == StopReason::Interrupted { Ending::Interrupted } else { Ending::Fine };
    Ok((session.samples, ending))
}

fn label(samples: &Samples) -> anyhow::Result<Calibration> {
    if samples.subjects.len() != 1 {
        bail!(
            "a calibration needs runs of one program, but there are {} subjects",
            samples.subjects.len()
        );
    }
    let values = |name: &str| {
        let metric =
            samples.metric_index(name).with_context(|| format!("there is no metric `{name}`"))?;
        Ok::<_, anyhow::Error>(samples.series(0, metric).values)
    };
    let (wall, cpu) = (values("wall")?, values("cpu")?);
    let seconds_per_run = seconds_per_run(samples);
    Ok(calibrate(&Series { wall: &wall, cpu: &cpu, seconds_per_run }, SEED)?)
}

fn tell(
    args: &Args,
    calibration: &Calibration,
    layout: Option<Layout>,
    (environment, samples): (&Environment, &Samples),
) -> anyhow::Result<()> {
    // The recording contains the command that was run. The built-in program is not a command of the
    // user.
    let told = samples.sides.first().and_then(|side| side.command.clone());
    let own = args.from.is_none() && args.command.is_none() && args.words.is_empty();
    let program = told.filter(|told| !own && !known_work::is_own(told));
    let program = program.as_deref();
    let found = report::CalibrationReport { calibration, layout, environment, program };
    if args.look.json {
        output::print(&json::text(&json::Calibrated::of(&found))?)
    } else {
        output::print(&report::render(&found, &present::screen(args.look.color)))
    }
}

/// Keeps the result for later runs, unless the user opted out. The displayed result is valid even
/// if it cannot be written.
fn keep(args: &Args, calibration: &Calibration, environment: &Environment, at: Option<&str>) {
    if args.no_save {
        return;
    }
    let facts = calibration.facts();
    let fact = |name: &str| facts.iter().find(|(n, _)| *n == name).map(|&(_, value)| value);
    // The date is precise enough for display.
    let day = at.map(|at| at.chars().take(10).collect::<String>()).unwrap_or_default();
    let (wall, cpu) = (fact("calibrated_wall_60s"), fact("calibrated_cpu_60s"));
    match calibrated::keep(environment, &day, wall, cpu) {
        Ok(path) if !args.look.quiet => {
            output::say(&format!("kept for later runs in {}", path.display()));
        }
        Ok(_) => {}
        Err(error) => {
            output::say(&format!("warning: not kept for later runs: {}", output::told(&error)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_that_would_be_enough_can_be_given_as_it_is_told() {
        for (seconds, told) in [(20.5, "23s"), (80.5, "89s"), (100.0, "2min"), (7100.0, "131min")] {
            assert_eq!(enough(seconds), told);
            assert!(crate::args::seconds(told).is_ok_and(|span| span >= seconds), "{told}");
        }
    }
}
