//! `assay warm -- COMMAND`: runs a Ruby or Python command as a fork of a process that has loaded
//! its code.

use crate::args::{ColorWhen, seconds};
use crate::warm::{self, NotRun, ProcessDirectory};
use crate::{Ending, output, present};
use anyhow::Context;
use assay_measure::{Command, Outcome, preloaded};
use assay_report::json::{self, HeldProcesses};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay warm`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
How it works: the first call starts a background process that loads the libraries and the application. The command runs as a fork of this \
process, as do later commands of the same program in the same directory and environment. Files that change are loaded again, with everything \
that depends on them. The command uses this terminal and its own arguments and environment variables, and its exit status is returned. A command \
that cannot run in the process is started normally, and the reason is printed.

Examples:
  assay warm -- bundle exec rake routes
  assay warm -- bin/rails console
  assay warm -- python -m pytest tests/test_a.py
  assay warm --idle 8h -- bin/rails generate model User
  assay warm --status                           list the loaded processes
  assay warm --stop                             stop all of them")]
pub(crate) struct Args {
    /// Command to run, after `--`; with --stop, the command whose process to stop
    #[arg(last = true, required_unless_present_any = ["status", "stop"], value_name = "COMMAND")]
    command: Vec<OsString>,

    /// Stop the process after it has been idle for this long
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "30min")]
    idle: f64,

    /// Run the command without the process if it has not finished loading after this time; loading
    /// continues
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "30s")]
    wait: f64,

    /// Show which processes are kept loaded, and how much memory they use
    #[arg(long, conflicts_with_all = ["stop", "command", "idle", "wait"])]
    status: bool,

    /// Stop the loaded processes, and the commands that are running in them
    #[arg(long, conflicts_with_all = ["idle", "wait"])]
    stop: bool,

    /// With --status, print JSON instead of text
    #[arg(long, requires = "status")]
    json: bool,

    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    color: ColorWhen,

    /// Act as the keeper of a process, in this directory
    #[arg(long, hide = true, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Runs the command, or shows or stops the kept processes.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if args.status {
        return status(args);
    }
    if args.stop && args.command.is_empty() {
        return Ok(stopped(&warm::all()?));
    }
    let command = Command::new(args.command.clone())?;
    if args.stop {
        let place = ProcessDirectory::of(&command).map_err(anyhow::Error::msg)?;
        return Ok(stopped(&[place]));
    }
    let idle = Duration::from_secs_f64(args.idle);
    if let Some(directory) = &args.keep {
        return warm::keep(directory, command, idle);
    }
    // Report a missing program before anything is started.
    command.resolve()?;
    match warm::run(&command, Duration::from_secs_f64(args.wait), idle) {
        Ok(Outcome::Signalled(signal)) => {
            preloaded::end_by(signal);
            Ok(Ending::Of(u8::try_from(128 + signal).unwrap_or(u8::MAX)))
        }
        Ok(Outcome::Exited(status)) => Ok(Ending::Of(u8::try_from(status).unwrap_or(u8::MAX))),
        Ok(_) => Ok(Ending::CommandFailed),
        Err(NotRun::Cold(why)) => Err(warm::run_cold(&command, &why)),
        Err(NotRun::Lost(error)) => {
            let lost = anyhow::Error::new(error);
            output::error(&lost.context(
                "the command was lost on its way to the process, and was not started again",
            ));
            Ok(Ending::CommandFailed)
        }
    }
}

fn status(args: &Args) -> anyhow::Result<Ending> {
    let held: Vec<_> = warm::all()?.iter().filter_map(warm::held).collect();
    let told = match args.json {
        true => json::text(&HeldProcesses::of(&held)).context("JSON")?,
        false => assay_report::preloaded::screen(&held, &present::screen(args.color)),
    };
    output::print(&told)?;
    Ok(Ending::Fine)
}

fn stopped(places: &[ProcessDirectory]) -> Ending {
    let ended = places.iter().filter(|place| place.stop()).count();
    output::say(&match ended {
        0 => "nothing was kept loaded".to_owned(),
        1 => "1 process ended".to_owned(),
        ended => format!("{ended} processes ended"),
    });
    Ending::Fine
}
