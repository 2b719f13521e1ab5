//! The command-line arguments of `assay farm`. The arguments of each verb are in its own file in
//! `verbs`.

use crate::verbs::Verb;
use clap::{Command, CommandFactory, Parser};

/// Test and measure every version of a project on many machines
///
/// A server keeps a queue of jobs; agents on machines of every kind ask it for work, build, test and measure in a sandbox, and hand in what came of
/// it. What passes where, and since which version it does not, stands on the server's pages.
#[derive(Debug, Parser)]
#[command(
    name = "assay farm",
    bin_name = "assay farm",
    version,
    after_help = "Examples:
  assay farm setup --directory /srv/farm              a server, with its tokens and a unit of systemd
  assay farm serve --data farm                        one to try it
  assay farm add alice/tidy --git https://git.example/tidy --test 'rake test'
  assay farm status --data farm alice/tidy            what passes where, and what is said of the newest version

Exit codes: 0 success, 1 something is missing (doctor --strict), 2 usage or input error, 130 interrupted."
)]
pub(crate) struct Args {
    /// What is to be done.
    #[command(subcommand)]
    pub verb: Verb,
}

impl Args {
    /// Returns the argument parser.
    pub fn asked() -> Command {
        Self::command()
    }
}
