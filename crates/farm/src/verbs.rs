//! The verbs of `assay farm`, a file each: its arguments, and what it does with them. Only those that do something are listed.

mod serve;

use crate::Ending;
use clap::Subcommand;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Serve(serve::Args),
}

/// Does what was asked for.
///
/// # Errors
/// Those of the verb.
pub(crate) fn run(verb: &Verb) -> anyhow::Result<Ending> {
    match verb {
        Verb::Serve(args) => serve::run(args),
    }
}
