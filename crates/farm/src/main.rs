//! The `assay farm` program: a server that records the results of every version on every platform,
//! and the agents that work for it. `assay` finds it in its own directory and executes it.
//!
//! Exit codes: 0 success · 1 something is missing (`doctor --strict`) · 2 usage or input error ·
//! 130 interrupted.

mod agent;
mod args;
mod backup;
mod data;
mod deploy;
mod doctor;
mod durations;
mod ending;
mod executors;
mod given;
mod logging;
mod policy;
mod server;
mod verbs;

use args::Args;
use assay_farm::{client, plain};
use assay_report::console::{asked, output};
use clap::FromArgMatches;
pub(crate) use ending::Ending;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let answer = asked::answer(&words, Args::asked(), "assay-farm");
    if let Some(answer) = answer {
        return ending_of(output::print(&answer).map(|()| Ending::Fine));
    }
    let parsed = Args::asked().try_get_matches();
    match parsed.and_then(|found| Args::from_arg_matches(&found)) {
        Ok(args) => ending_of(verbs::run(&args.verb)),
        Err(told) => output::clap_ending(told),
    }
}

fn ending_of(ended: anyhow::Result<Ending>) -> ExitCode {
    ExitCode::from(match ended {
        Ok(Ending::Fine) => 0,
        Ok(Ending::Lacking) => 1,
        Ok(Ending::Interrupted) => 130,
        Err(error) => {
            output::error(&error);
            2
        }
    })
}
