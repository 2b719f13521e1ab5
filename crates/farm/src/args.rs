//! The command-line arguments of `assay farm`. The arguments of each verb are in its own file in
//! `verbs`.

use crate::verbs::Verb;
use clap::{Command, CommandFactory, Parser};

/// Test and measure every version of a project on many machines
///
/// A server keeps a queue of jobs. Agents on many kinds of machines take jobs from it, build, test
/// and measure in a sandbox, and submit the results. The server's pages show what passes on which
/// platform, and which version broke it.
#[derive(Debug, Parser)]
#[command(
    name = "assay farm",
    bin_name = "assay farm",
    version,
    after_help = "Examples:
  assay farm setup --directory /srv/farm              set up a server with tokens and a systemd unit
  assay farm serve --data farm                        start a server to try it
  assay farm add alice/tidy --git https://git.example/tidy --test 'rake test'
  assay farm status --data farm alice/tidy            results by platform, with the verdict on the newest version

Exit codes: 0 success, 1 something is missing (doctor --strict), 2 usage or input error, 130 interrupted."
)]
pub(crate) struct Args {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
}

impl Args {
    /// Returns the argument parser.
    pub fn asked() -> Command {
        Self::command()
    }
}
