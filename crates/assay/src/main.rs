//! The `assay` binary, which turns arguments into a verdict.
//!
//! Each verb has its own file under [`verbs`]. It measures a source in the order that the design
//! chooses, and passes the analysis to a report. This crate does no arithmetic on samples. Only the
//! programs `assay`, `assay-mutate` and `assay-farm` print or end the process.
//!
//! Exit codes: 0 success · 1 a condition of `--fail-if` is true · 2 usage or input error · 3
//! inconclusive under `--fail-if` · 4 a measured command failed · 130 interrupted, with the
//! measurements kept and reported.
//!
//! Some verbs and modules are compiled only on Linux; see the `cfg` attributes below and in
//! [`verbs`].

#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "what the verbs that are lacking here share with others")
)]

// Modules for every system.
mod about;
mod advice;
mod args;
mod calibrated;
mod completing;
mod essential;
mod glossary;
mod habits;
mod history;
mod others;
mod present;
mod progress;
mod raw_form;
mod seed;
mod store;
#[cfg_attr(not(unix), path = "system/elsewhere.rs")]
mod system;
mod systems;
mod verbs;

// Modules for Unix-like systems, where commands can be run.
#[cfg(unix)]
mod bench;
#[cfg(unix)]
mod bisect;
#[cfg(unix)]
mod builds;
#[cfg(unix)]
mod check;
#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod counted;
#[cfg(unix)]
mod cpus;
#[cfg(unix)]
mod ending;
#[cfg(unix)]
#[cfg_attr(not(target_os = "linux"), path = "knobs/elsewhere.rs")]
mod knobs;
#[cfg(unix)]
mod meter;
#[cfg(unix)]
mod own;
mod patterns;
#[cfg(unix)]
mod planning;
#[cfg(unix)]
mod record;
#[cfg(unix)]
mod recorded;
#[cfg(unix)]
mod resume;
#[cfg(unix)]
mod revisions;
#[cfg(unix)]
mod room;
#[cfg(unix)]
mod run_error;
#[cfg(unix)]
mod scan;

// Modules for Linux only.
#[cfg(target_os = "linux")]
mod changed;
#[cfg(target_os = "linux")]
mod cutting;
#[cfg(target_os = "linux")]
mod known_work;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod preloading;
#[cfg(target_os = "linux")]
mod tests;
#[cfg(target_os = "linux")]
mod toggles;
#[cfg(target_os = "linux")]
mod warm;
#[cfg(target_os = "linux")]
mod watch;

use anyhow::Context;
use assay_data::limits;
use assay_report::console::{output, whole_file};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, CommandFactory, FromArgMatches, Id, Parser};
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

/// Is it really faster, by how much, and how sure can I be?
///
/// `assay` measures commands in blocks: every block runs each command once, in random order. It stops
/// when the verdict is clear, and reports the size of the difference and its uncertainty.
#[derive(Debug, Parser)]
#[command(name = "assay", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  assay run './sort-old data' './sort-new data'   is the new one faster?
  assay run './build.sh'                          how long does it take?
  assay compare old.txt new.txt                   do these numbers differ?

Exit codes: 0 success, 1 a verdict named by --fail-if, 2 usage or input error,
3 inconclusive under --fail-if, 4 a measured command failed, 130 interrupted.

To explain a term or a finding: assay help drift, assay help TOO_DEPENDENT. To list the terms: assay help words.")]
struct Cli {}

/// What `assay` prints without arguments.
const SHORTEST: &str = "Is it really faster, by how much, and how sure can I be?
  assay run './old data' './new data'   is the new one faster?
  assay run ./build.sh                  how long does it take?
  assay compare old.txt new.txt         do these recorded numbers differ?
All commands: assay --help; one of them: assay help run; a word on a screen: assay help drift";

/// A verb. Building its arguments takes a while, so they are built only when needed.
struct Verb {
    name: &'static str,
    about: &'static str,
    /// Adds the arguments that are needed for parsing.
    arguments: fn(Command) -> Command,
    /// Adds the arguments with everything that help, completions and error messages need.
    augment: fn(Command) -> Command,
    run: fn(&Command, &ArgMatches) -> Result<anyhow::Result<Ending>, clap::Error>,
}

macro_rules! verb {
    ($name:ident, $about:literal) => {
        verb!($name, verbs::$name::Args, verbs::$name::run, $about)
    };
    ($name:ident, $args:ty, $run:path, $about:literal) => {
        Verb {
            name: stringify!($name),
            about: $about,
            arguments: <$args>::augment_args,
            // The doc comment of the type is not meant for users.
            augment: |verb| {
                let verb = <$args>::augment_args(verb).about($about).long_about(None);
                completing::hinted(essential::only(stringify!($name), verb))
            },
            run: |_, matches| Ok($run(&<$args>::from_arg_matches(matches)?)),
        }
    };
}

/// The verbs that this system supports, in the order in which the help lists them.
const VERBS: &[Verb] = &[
    #[cfg(unix)]
    Verb {
        run: |verb, matches| {
            let mut args = verbs::run::Args::from_arg_matches(matches)?;
            args.record.given = given(verb, matches);
            Ok(verbs::run::run(&args))
        },
        ..verb!(run, "Measure one command, or compare several")
    },
    #[cfg(unix)]
    Verb {
        run: |verb, matches| {
            let mut args = verbs::bench::Args::from_arg_matches(matches)?;
            args.record.given = given(verb, matches);
            Ok(verbs::bench::run(&args))
        },
        ..verb!(bench, "Compare builds of a benchmark program, with a verdict for every benchmark")
    },
    #[cfg(unix)]
    verb!(check, "Check whether a change makes the benchmarks of a project slower"),
    #[cfg(target_os = "linux")]
    Verb {
        run: |verb, matches| {
            let mut args = verbs::load::Args::from_arg_matches(matches)?;
            args.record.given = given(verb, matches);
            Ok(verbs::load::run(&args))
        },
        ..verb!(load, "Load-test HTTP servers: highest rate, latency, and which is better")
    },
    verb!(compare, "Compare recorded samples and give a verdict"),
    verb!(why, "Name the most likely cause of a difference"),
    verb!(
        describe,
        "Describe each series of samples: distribution, change over time, autocorrelation, outliers"
    ),
    verb!(
        plan,
        "Calculate how many runs are needed, or which difference a given number of runs can detect"
    ),
    verb!(
        convert,
        "Convert samples between formats: assay, CSV, hyperfine, Google Benchmark, Go, plain numbers"
    ),
    #[cfg(target_os = "linux")]
    verb!(
        profile,
        "Show where a program spends its time; compare two programs function by function"
    ),
    verb!(history, "Keep runs, and show how benchmarks changed across revisions"),
    #[cfg(unix)]
    verb!(gate, "Check whether a run is worse than normal runs in the history"),
    #[cfg(target_os = "linux")]
    Verb {
        run: |verb, matches| {
            let mut args = verbs::tests::Args::from_arg_matches(matches)?;
            args.running.record.given = given(verb, matches);
            Ok(verbs::tests::run(&args))
        },
        ..verb!(
            tests,
            "Run a test suite: where its time goes, which tests are flaky, and whether it got faster"
        )
    },
    #[cfg(target_os = "linux")]
    verb!(watch, "Run the affected tests whenever a file is saved"),
    #[cfg(target_os = "linux")]
    verb!(warm, "Run a Ruby or Python command in a process that is kept loaded"),
    #[cfg(unix)]
    Verb {
        run: |verb, matches| {
            let mut args = verbs::bisect::Args::from_arg_matches(matches)?;
            args.given = given(verb, matches);
            Ok(verbs::bisect::run(&args))
        },
        ..verb!(bisect, "Find the commit that made a command or a benchmark slower or faster")
    },
    #[cfg(unix)]
    verb!(repeat, "Measure a recorded run again and report whether its result was confirmed"),
    verb!(
        simulate,
        "Generate synthetic samples with known properties, for learning and for testing tools"
    ),
    #[cfg(target_os = "linux")]
    verb!(doctor, "Check whether this machine is fit for measuring, and suggest fixes"),
    #[cfg(target_os = "linux")]
    verb!(
        calibrate,
        "Measure this machine's false-positive rate and the smallest difference it can detect"
    ),
    verb!(ministat, "Behave like the classic ministat, byte for byte, for existing scripts"),
    verb!(schema, "Print the JSON Schema of a verb's --json output"),
    verb!(
        completions,
        verbs::documents::CompletionsArgs,
        verbs::documents::completions,
        "Print shell completions"
    ),
    verb!(
        man,
        verbs::documents::ManArgs,
        verbs::documents::man,
        "Print the man page, or write the pages of all verbs to a directory"
    ),
];

/// The outcome of a verb that ended without an error.
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
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(args) = verbs::ministat::asked(words.iter().cloned()) {
        return ending_of(verbs::ministat::run(&args));
    }
    let first = words.get(1).map(OsString::as_os_str);
    if let Err(error) = allow_values() {
        return ending_of(Err(error));
    }
    if words.len() == 2 && first.is_some_and(|word| word == "--version" || word == "-V") {
        return ending_of(output::print(&Cli::command().render_version()).map(|()| Ending::Fine));
    }
    if first.is_none() {
        output::say(SHORTEST);
        return Ending::InputError.into();
    }
    if let Some(error) = first.filter(|word| !is_verb(word)).and_then(systems::elsewhere) {
        return ending_of(Err(error));
    }
    if about::is_asked(&words) {
        let text = Cli::command().render_version() + &about::details();
        return ending_of(output::print(&text).map(|()| Ending::Fine));
    }
    if let Some(error) = others::hand_over(&words, is_verb) {
        return ending_of(Err(error));
    }
    if let [_, help, asked @ ..] = words.as_slice()
        && help == "help"
        && let [word, ..] = asked
        && !is_verb(word)
    {
        return ending_of(glossary::explain(asked, VERBS.iter().map(|verb| verb.name)));
    }
    // Note: nearly every command line is valid, so that only the arguments of its verb matter.
    // Defining the other verbs and all help takes a quarter of the instructions of a short run. A
    // command line with an error, or with --help, is parsed again with the complete definition.
    if let Some(verb) = first.and_then(|name| VERBS.iter().find(|verb| name == verb.name)) {
        let command = Command::new(verb.name).defer(verb.arguments);
        let mut command = Cli::command().subcommand_required(true).subcommand(command);
        if let Ok(ended) = ended(&mut command, &words) {
            return ending_with_hint(ended, &command, &words);
        }
    }
    let mut command = match first {
        Some(name) if is_verb(name) && name != "help" => command(),
        Some(name) if !matches!(name.to_str(), Some("help" | "-h" | "--help")) => {
            others::named(command(), is_verb)
        }
        _ => others::listed(command(), is_verb),
    };
    match ended(&mut command, &words) {
        Ok(ended) => ending_with_hint(ended, &command, &words),
        Err(error) => output::clap_ending(habits::advised(error, &mut command, &words)),
    }
}

/// Parses the words of a command line and runs its verb.
fn ended(command: &mut Command, words: &[OsString]) -> Result<anyhow::Result<Ending>, clap::Error> {
    let matches = command.try_get_matches_from_mut(words)?;
    let chosen = matches.subcommand().and_then(|(name, matches)| {
        let verb = VERBS.iter().find(|verb| verb.name == name)?;
        Some((verb, command.find_subcommand(name)?, matches))
    });
    // All other command lines are rejected by the parser.
    let (verb, arguments, matches) =
        chosen.ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))?;
    match systems::check(verb.name) {
        Ok(()) => match habits::taken_for_option(command, words) {
            Some(error) => Ok(Err(error)),
            None => (verb.run)(arguments, matches),
        },
        refused => Ok(refused.map(|()| Ending::Fine)),
    }
}

/// Returns the exit status. An error is reported, with advice if the words typed explain it.
fn ending_with_hint(
    ended: anyhow::Result<Ending>,
    command: &Command,
    words: &[OsString],
) -> ExitCode {
    let failed = ended.is_err();
    let ending = ending_of(ended);
    if failed && let Some(hint) = habits::hint(command, words) {
        output::say(&hint);
    }
    ending
}

/// Sets the maximum number of values in a file from the environment variable, if that is set.
fn allow_values() -> anyhow::Result<()> {
    let Some(given) = std::env::var_os(limits::VARIABLE) else { return Ok(()) };
    let most = given.to_str().and_then(|text| text.parse().ok());
    let most = most.with_context(|| {
        format!("{}={}: give a number above 0", limits::VARIABLE, given.display())
    })?;
    limits::allow_values(most);
    Ok(())
}

fn is_verb(name: &OsStr) -> bool {
    name == "help" || VERBS.iter().any(|verb| name == verb.name)
}

/// Returns the complete command-line definition of this program.
fn command() -> Command {
    let verbs =
        VERBS.iter().map(|verb| Command::new(verb.name).about(verb.about).defer(verb.augment));
    let shipped = others::SHIPPED.map(|(name, about)| Command::new(name).about(about));
    Cli::command().subcommand_required(true).subcommands(verbs).subcommands(shipped)
}

/// Returns the exit status, and reports an error.
fn ending_of(ended: anyhow::Result<Ending>) -> ExitCode {
    match ended {
        Ok(ending) => ending.into(),
        Err(error) => {
            output::error(&error);
            #[cfg(unix)]
            {
                if let Some(why) = room::why_else(&error) {
                    output::say(&why);
                }
                if let Some(run_error::RunError::Interrupted(_)) = error.downcast_ref() {
                    return Ending::Interrupted.into();
                }
            }
            Ending::InputError.into()
        }
    }
}

/// Returns the ids of the verb's arguments that were given on the command line.
fn given(verb: &Command, matches: &ArgMatches) -> Vec<String> {
    let is_given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let given: Vec<&str> = matches.ids().map(Id::as_str).filter(is_given).collect();
    // Ids are in the order of the definition, without groups.
    let ids = verb.get_arguments().map(|argument| argument.get_id().as_str());
    ids.filter(|id| given.contains(id)).map(str::to_owned).collect()
}

#[cfg(test)]
mod arguments {
    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        command().debug_assert();
        for verb in VERBS {
            (verb.arguments)(Command::new(verb.name)).debug_assert();
        }
    }
}
