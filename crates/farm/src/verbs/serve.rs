//! `assay farm serve`: runs the server until it is interrupted.

use crate::data::DataArgs;
use crate::logging;
use crate::policy;
use crate::server::{self, Options};
use crate::{Ending, durations, given};
use log::LevelFilter;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Run the server, with its API for agents and programs and its web pages
///
/// The first start creates a token of scope `admin` and writes it to DIR/admin-token, which only
/// its owner can read. Only this machine can connect, unless --listen allows others. If it does,
/// protect tokens in transit with --tls-cert and --tls-key, or with a proxy in front of the server.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay farm serve --data farm
  assay farm serve --data /var/lib/assay-farm --store postgres:///farm
  assay farm serve --data farm --listen 0.0.0.0:8040 --host farm.example --tls-cert farm.pem --tls-key farm.key")]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,

    /// Address and port to listen on; port 0 selects a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8040", value_parser = given::listen)]
    listen: SocketAddr,

    /// Host name that requests may use, in addition to the server's addresses and localhost; may be
    /// repeated
    #[arg(long, value_name = "NAME", value_parser = given::host)]
    host: Vec<String>,

    /// File with the server's certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// File with the certificate's private key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Time without contact after which an agent's job is given to another agent [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = durations::read)]
    lease: Option<Duration>,

    /// Time that an agent waits before asking again if there was no job [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = durations::read)]
    ask: Option<Duration>,

    /// Maximum number of requests per second for each token
    #[arg(long, value_name = "N", default_value_t = policy::RATE)]
    rate: f64,

    /// Let everyone read pages, builds and logs without a token; changes still need one
    #[arg(long)]
    public: bool,

    /// Level of the log on standard error
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: Level,
}

/// Log levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Level {
    /// Nothing
    Off,
    /// Errors of the server
    Error,
    /// Also changes and refused requests
    Info,
    /// Also every request
    Debug,
}

/// Runs the server until it is interrupted.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let level = match args.log {
        Level::Off => LevelFilter::Off,
        Level::Error => LevelFilter::Error,
        Level::Info => LevelFilter::Info,
        Level::Debug => LevelFilter::Debug,
    };
    logging::begin(level)?;
    anyhow::ensure!(args.rate.is_finite() && args.rate > 0.0, "--rate: must be a number above 0");
    server::serve(Options {
        data: args.data.begin()?,
        listen: args.listen,
        hosts: args.host.clone(),
        lease: args.lease.unwrap_or(policy::LEASE),
        ask: args.ask.unwrap_or(policy::ASK),
        rate: args.rate,
        is_public: args.public,
        tls: args.tls_cert.clone().zip(args.tls_key.clone()),
    })
}
