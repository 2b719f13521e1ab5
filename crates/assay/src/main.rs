//! The `assay` binary: arguments in, verdict out.
//!
//! One file per verb under [`verbs`]; each asks the design what to measure, has a source measure it, and hands the analysis to
//! a report. This crate contains no arithmetic about samples, and it is the only one that prints or ends the process.
//!
//! Exit codes: 0 fine · 1 what `--fail-if` names came true · 2 usage or input error · 3 inconclusive under `--fail-if` ·
//! 4 a measured command failed · 130 interrupted, with what was measured kept and reported.

mod args;
mod bench;
mod calibrated;
mod commands;
mod counted;
mod ending;
mod habits;
mod knobs;
mod meter;
mod output;
mod present;
mod progress;
mod raw_form;
mod record;
mod run_error;
mod seed;
mod store;
mod verbs;
mod whole_file;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Is it really faster, by how much, and how sure can I be?
///
/// `assay` measures commands in blocks: every block runs each command once, in random order. It stops
/// when the verdict is clear, and says how large the difference is and how certain that is.
#[derive(Debug, Parser)]
#[command(name = "assay", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  assay run './sort-old data' './sort-new data'   is the new one faster?
  assay run './build.sh'                          how long does it take?
  assay compare old.txt new.txt                   do these numbers differ?

Exit codes: 0 success, 1 a verdict named by --fail-if, 2 usage or input error,
3 inconclusive under --fail-if, 4 a measured command failed, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure one command, or compare several
    Run(Box<verbs::run::Args>),
    /// Compare builds of a benchmark program, with a verdict for every benchmark
    Bench(Box<verbs::bench::Args>),
    /// Compare recorded samples and give a verdict
    Compare(Box<verbs::compare::Args>),
    /// Describe each series of samples: distribution, change over time, autocorrelation, outliers
    Describe(Box<verbs::describe::Args>),
    /// Calculate how many runs are needed, or which difference a given number of runs can detect
    Plan(Box<verbs::plan::Args>),
    /// Convert samples between formats: assay, CSV, hyperfine, Google Benchmark, Go, plain numbers
    Convert(Box<verbs::convert::Args>),
    /// Show where a program spends its time; compare two programs function by function
    Profile(Box<verbs::profile::Args>),
    /// Measure a recorded run again and report whether its result was confirmed
    Repeat(Box<verbs::repeat::Args>),
    /// Generate synthetic samples with known properties, to learn with and to test tools
    Simulate(Box<verbs::simulate::Args>),
    /// Check whether this machine is fit for measuring, and suggest fixes
    Doctor(Box<verbs::doctor::Args>),
    /// Measure this machine's false-positive rate and the smallest difference it can detect
    Calibrate(Box<verbs::calibrate::Args>),
    /// The classic ministat, byte for byte, for existing scripts
    Ministat(verbs::ministat::Args),
    /// Print shell completions
    Completions(verbs::documents::CompletionsArgs),
    /// Print the man page, or write the pages of all verbs to a directory
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
    if let Some(args) = verbs::ministat::asked(std::env::args_os()) {
        return ending_of(verbs::ministat::run(&args));
    }
    let mut command = Cli::command();
    let parsed = command
        .try_get_matches_from_mut(std::env::args_os())
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, given(&command, &matches))));
    let (cli, given) = match parsed {
        Ok(parsed) => parsed,
        Err(told) => return output::clap_ending(&habits::advised(told)),
    };
    let ended = match cli.verb {
        Verb::Run(mut args) => {
            args.given = given;
            verbs::run::run(&args)
        }
        Verb::Bench(args) => verbs::bench::run(&args),
        Verb::Compare(args) => verbs::compare::run(&args),
        Verb::Describe(args) => verbs::describe::run(&args),
        Verb::Convert(args) => verbs::convert::run(&args),
        Verb::Repeat(args) => verbs::repeat::run(&args),
        Verb::Simulate(args) => verbs::simulate::run(&args),
        Verb::Profile(args) => verbs::profile::run(&args),
        Verb::Plan(args) => verbs::plan::run(&args),
        Verb::Doctor(args) => verbs::doctor::run(&args),
        Verb::Calibrate(args) => verbs::calibrate::run(&args),
        Verb::Ministat(args) => verbs::ministat::run(&args),
        Verb::Completions(args) => verbs::documents::completions(&args, &mut Cli::command()),
        Verb::Man(args) => verbs::documents::man(&args, &Cli::command()),
    };
    ending_of(ended)
}

/// The exit status; an error is told.
fn ending_of(ended: anyhow::Result<Ending>) -> ExitCode {
    match ended {
        Ok(ending) => ending.into(),
        Err(error) => {
            output::error(&error);
            Ending::InputError.into()
        }
    }
}

/// Ids of the verb's arguments that stood on the command line.
fn given(command: &clap::Command, matches: &clap::ArgMatches) -> Vec<String> {
    let Some((name, verb)) = matches.subcommand() else { return Vec::new() };
    let arguments =
        command.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
    let ids = arguments.map(|argument| argument.get_id().as_str());
    // Every command has `help` and `version`, of which a match says nothing.
    let known = ids.filter(|id| verb.try_contains_id(id).is_ok());
    known
        .filter(|id| verb.value_source(id) == Some(ValueSource::CommandLine))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        Cli::command().debug_assert();
    }
}
