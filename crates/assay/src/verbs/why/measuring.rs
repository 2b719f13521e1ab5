//! Samples the two commands of a recorded difference, alternately.

use super::{Measured, code};
use crate::args::JudgeArgs;
use crate::verbs::profile::SamplerArgs;
use crate::verbs::profile::comparing::{Alternated, BLOCKS, alternately, samplers};
use crate::verbs::profile::sampling::{Settings, plan_of};
use crate::verbs::run;
use crate::{Ending, output};
use anyhow::{bail, ensure};
use assay_data::Samples;
use assay_measure::interrupt;
use assay_measure::sampling::CallGraph;
use assay_report::shell::quoted;
use std::path::Path;

/// Options for sampling the commands of a record.
#[derive(clap::Args, Debug)]
pub(super) struct MeasureArgs {
    /// Run both commands again under a sampling profiler, and name the functions that account for
    /// the difference
    ///
    /// The commands come from the RECORD and run with your privileges. They are printed before they
    /// run.
    #[arg(long, help_heading = "Sampling")]
    measure: bool,

    /// Number of sampled runs of each command
    #[arg(long, short = 'r', value_name = "N", default_value_t = BLOCKS, requires = "measure", help_heading = "Sampling", value_parser = clap::value_parser!(u32).range(3..=10_000))]
    runs: u32,

    #[command(flatten)]
    by: SamplerArgs,
}

impl MeasureArgs {
    /// Returns true if sampling was requested.
    pub fn is_asked(&self) -> bool {
        self.measure
    }

    /// Rejects options for sampling without `--measure`.
    pub fn check(&self) -> anyhow::Result<()> {
        match self.by.given().filter(|_| !self.measure) {
            Some(option) => bail!("{option} applies to sampling; add --measure"),
            None => Ok(()),
        }
    }
}

/// Samples two subjects of a recorded run. Returns `None` if the user interrupts before both are
/// sampled.
pub(super) fn measure(
    args: &MeasureArgs,
    recorded: &Samples,
    file: &Path,
    pair: [usize; 2],
    quiet: bool,
) -> anyhow::Result<Option<Measured>> {
    let verb = recorded.argv.get(1).map(String::as_str);
    ensure!(
        verb == Some("run"),
        "--measure: {} was not recorded by `assay run`, so it contains no commands to sample; give them to `assay profile`",
        file.display()
    );
    interrupt::install()?;
    let commands = run::recorded_commands(recorded, file)?;
    let of = |subject: usize| &commands[subject].command;
    let both = pair.map(of);
    let names = pair.map(|subject| recorded.subjects[subject].name.clone());
    if !quiet {
        for command in both {
            let words: Vec<String> =
                command.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            output::say(&format!("sampling: {}", quoted(words)));
        }
    }
    let settings = Settings {
        clock: args.by.clock(),
        call_graph: CallGraph::FramePointers,
        duration: None,
        show_output: false,
        suite: false,
    };
    let samplers = samplers(&args.by, settings, both, &names)?;
    let plan = plan_of(None, &JudgeArgs::default(), args.runs, "self");
    let Some(sampled) = alternately(samplers, both, &names, &plan, quiet)? else {
        return Ok(None);
    };
    let Alternated { samples: runs, files, endings, .. } = sampled;
    let functions: Vec<String> = runs.rows.iter().map(|row| row.name.clone()).collect();
    let code = code::changes(both, &files, &functions);
    let has_failed = endings.iter().any(|ended| !ended.outcome.is_success());
    let ending = match interrupt::count() > 0 {
        true => Ending::Interrupted,
        false if has_failed => Ending::CommandFailed,
        false => Ending::Fine,
    };
    Ok(Some(Measured { runs, code, ending }))
}
