//! The `assay` binary: arguments in, verdict out.
//!
//! One file per verb under [`verbs`]; each asks the design what to measure, has a source measure it, and hands the analysis to
//! a report. This crate contains no arithmetic about samples, and it is the only one that prints or ends the process.
//!
//! Exit codes: 0 fine · 1 what `--fail-if` names came true · 2 usage or input error · 3 inconclusive under `--fail-if` ·
//! 4 a measured command failed · 130 interrupted, with what was measured kept and reported.

mod args;
mod calibrated;
mod knobs;
mod meter;
mod output;
mod present;
mod progress;
mod session;
mod store;
mod verbs;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Is it really faster, by how much, and how sure can I be?
///
/// `assay` measures commands in blocks, every command once per block in random order, until it knows; then it says what it
/// knows, and what it does not.
#[derive(Debug, Parser)]
#[command(name = "assay", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  assay run './sort-old data' './sort-new data'   is the new one faster?
  assay run './build.sh'                          how long does it take?
  assay compare old.txt new.txt                   do these numbers differ?

Exit codes: 0 fine, 1 what --fail-if names came true, 2 usage or input error,
3 inconclusive under --fail-if, 4 a measured command failed, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure one command, or compare several
    Run(Box<verbs::run::Args>),
    /// Decide between recorded samples
    Compare(Box<verbs::compare::Args>),
    /// Say whether this machine is fit to measure on, and what would mend it
    Doctor(Box<verbs::doctor::Args>),
    /// Find out how often this machine would lie, and how small a difference one can believe here
    Calibrate(Box<verbs::calibrate::Args>),
    /// Print the completions for a shell
    Completions(verbs::documents::CompletionsArgs),
    /// Print the man page, or write that of every verb into a directory
    Man(verbs::documents::ManArgs),
}

/// How a verb ended, when nothing went wrong that was not the verb's to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Fine,
    FailIfCameTrue,
    InputError,
    InconclusiveUnderFailIf,
    CommandFailed,
    Interrupted,
    /// The status of a command that was run for the user.
    Of(u8),
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        Self::from(match ending {
            Ending::Fine => 0,
            Ending::FailIfCameTrue => 1,
            Ending::InputError => 2,
            Ending::InconclusiveUnderFailIf => 3,
            Ending::CommandFailed => 4,
            Ending::Interrupted => 130,
            Ending::Of(status) => status,
        })
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) => return output::clap_ending(&told),
    };
    let ended = match cli.verb {
        Verb::Run(args) => verbs::run::run(&args),
        Verb::Compare(args) => verbs::compare::run(&args),
        Verb::Doctor(args) => verbs::doctor::run(&args),
        Verb::Calibrate(args) => verbs::calibrate::run(&args),
        Verb::Completions(args) => verbs::documents::completions(&args, &mut Cli::command()),
        Verb::Man(args) => verbs::documents::man(&args, &Cli::command()),
    };
    match ended {
        Ok(ending) => ending.into(),
        Err(error) => {
            output::error(&error);
            Ending::InputError.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        Cli::command().debug_assert();
    }
}
