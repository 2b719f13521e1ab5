//! `assay farm doctor`: reports what a machine needs in order to be a farm's server or one of its
//! agents, and how to fix what is missing.

use crate::client::{Client, Token};
use crate::doctor::{Check, State, agents, servers};
use crate::{Ending, given};
use assay_history::StoreLocation;
use assay_report::console::output;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Check whether this machine can be a server or an agent, and what it lacks
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay farm doctor                                        check for an agent
  assay farm doctor --data /srv/farm/data                  check for a server
  assay farm doctor --server http://farm:8040 --strict     for scripts: status 1 if something is missing")]
pub(crate) struct Args {
    /// Directory of an agent; its disk is checked
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Directory of a server's data
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Database of the server, if it is not a file in the data directory
    #[arg(long, value_name = "URL", value_parser = place, requires = "data")]
    store: Option<StoreLocation>,

    /// Address and port that a server is to listen on
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = given::listen)]
    listen: Option<SocketAddr>,

    /// Address of the server that an agent is to use
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// File with the agent's token [default: the token in ASSAY_FARM_TOKEN]
    #[arg(long, value_name = "FILE", requires = "server")]
    token_file: Option<PathBuf>,

    /// Exit with status 1 if something is missing
    #[arg(long)]
    strict: bool,
}

fn place(text: &str) -> Result<StoreLocation, String> {
    let password = std::env::var("PGPASSWORD").ok();
    StoreLocation::read(OsStr::new(text), password.as_deref()).map_err(|error| error.to_string())
}

/// Runs the checks and prints their results.
///
/// # Errors
/// If an option is invalid. A failed check is not an error.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let is_server = args.data.is_some() || args.listen.is_some();
    let mut checks = Vec::new();
    if !is_server || args.server.is_some() || args.directory.is_some() {
        checks.extend(agents::sandbox());
        checks.extend(agents::tools());
        checks.extend(args.directory.iter().map(|directory| agents::room(directory)));
    }
    if let Some(server) = &args.server {
        let client = Client::new(server, Token::find(args.token_file.as_deref())?)?.once();
        checks.extend(agents::server(&client));
    }
    if let Some(data) = &args.data {
        checks.extend(servers::data(data));
        checks.push(servers::store(data, args.store.as_ref()));
    }
    checks.extend(args.listen.map(servers::port));
    output::print(&checks.iter().map(Check::to_string).collect::<String>())?;
    let is_lacking = checks.iter().any(|check| check.state == State::Lacks);
    Ok(if args.strict && is_lacking { Ending::Lacking } else { Ending::Fine })
}
