//! Repeats a recorded experiment: the same commands, settings, metrics and plan, with a new seed.
//!
//! The arguments come from the recorded command line. The plan comes from the file itself, because
//! what fits into the budget was decided only after that command line was typed. The caller decides
//! what to do with the two runs.

use super::{Args, Decide, Earlier, commands_of, measure};
use crate::args::KeepInHistoryArgs;
use crate::args::{KeepArgs, ShowArgs};
use crate::commands::Prepared;
use crate::resume::{self, ResumeArgs};
use crate::{Ending, output, seed};
use anyhow::{Context, ensure};
use assay_data::{Plan, Samples, StopRule};
use assay_report::shell::shell_line;
use std::path::Path;

/// A run to repeat, and the settings that override its file's.
#[derive(Debug)]
pub(crate) struct Again<'a> {
    /// The run to be repeated.
    pub recorded: &'a Samples,
    pub path: &'a Path,
    /// Number of blocks, instead of the number in the plan.
    pub runs: Option<u32>,
    /// Time budget, instead of the one in the plan, in seconds.
    pub time: Option<f64>,
    /// Seed of the random order; `None` for a new one.
    pub seed: Option<u64>,
    /// Options for recording the repetition.
    pub keep: KeepArgs,
    pub show: ShowArgs,
}

/// Returns the commands of a recorded run, in the order of its subjects.
///
/// # Errors
///
/// Returns an error if the record is incomplete, or if the commands need `--setup`, `--prepare` or
/// `--conclude`.
pub(crate) fn recorded_commands(recorded: &Samples, path: &Path) -> anyhow::Result<Vec<Prepared>> {
    let instead = "give its commands to `assay profile`";
    resume::check_complete(recorded, path, "sampled", instead)?;
    let args = resume::begun::<Args>(recorded, path, "run", "sampled")?;
    let (commands, _) = commands_of(&args)?;
    let hooks = commands.iter().any(|own| own.prepare.is_some() || own.conclude.is_some());
    ensure!(
        !hooks && args.how.setup.is_none(),
        "{}: its commands need --setup, --prepare or --conclude, which would not run between sampled runs; {instead}",
        path.display()
    );
    ensure!(
        commands.len() == recorded.subjects.len(),
        "{}: its commands are not those of its command line",
        path.display()
    );
    Ok(commands)
}

/// Measures a recorded run again, then decides and shows the result.
pub(crate) fn again(wanted: Again<'_>, decide: Decide<'_>) -> anyhow::Result<Ending> {
    let (recorded, place) = (wanted.recorded, wanted.path.display());
    ensure!(
        recorded.subjects.iter().any(|subject| subject.command.is_some()),
        "{place} contains numbers, not commands, so it can't be measured again. Compare it with another recording using `assay compare`"
    );
    let instead = "give its commands to `assay run`, with the values";
    resume::check_complete(recorded, wanted.path, "repeated", instead)?;
    let mut args = resume::begun::<Args>(recorded, wanted.path, "run", "repeated")?;
    let before = recorded.plan.clone().with_context(|| {
        format!(
            "{place} contains no plan, so it can't be repeated; give its commands to `assay run`"
        )
    })?;
    let stop = wanted.runs.map_or(before.stop.clone(), |blocks| StopRule::Fixed { blocks });
    let budget_seconds = match (wanted.time, wanted.runs) {
        (Some(time), _) => Some(time),
        // A requested number of blocks is measured however long it takes.
        (None, Some(_)) => None,
        (None, None) => before.budget_seconds,
    };
    let until = before.until.clone().filter(|_| wanted.runs.is_none());
    let seed = wanted.seed.unwrap_or_else(seed::fresh);
    let plan = Plan { stop, budget_seconds, until, seed, ..before };
    args.when.duration.time = wanted.time.or(args.when.duration.time);
    args.judge.fail_if.clear();
    args.record.show = wanted.show;
    // The user confirmed a large scan when the recorded run was started.
    args.scan.yes = true;
    args.record.keep = wanted.keep.after(&args.record.keep);
    args.record.earlier = ResumeArgs::default();
    args.record.history = KeepInHistoryArgs::default();
    if !args.record.show.quiet {
        // The command is shown because the author of the file may be someone else.
        output::say(&format!("repeating: {}", shell_line(&recorded.argv)));
    }
    let started = recorded.started.as_deref().unwrap_or("an unknown time");
    let fact = format!("the run of {started}");
    let repeated = Earlier::Repeated { plan, argv: recorded.argv.clone(), fact };
    measure(&args, repeated, decide)
}
