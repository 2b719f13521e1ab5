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

/// Run the server: the API that agents and programs ask, and the pages for people
///
/// The first start makes a token of scope `admin` and writes it to DIR/admin-token, which only its owner can read. Only this machine is let in,
/// unless --listen says otherwise; then --tls-cert and --tls-key, or a proxy in front of it, keep tokens secret on their way.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay farm serve --data farm
  assay farm serve --data /var/lib/assay-farm --store postgres:///farm
  assay farm serve --data farm --listen 0.0.0.0:8040 --host farm.example --tls-cert farm.pem --tls-key farm.key")]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,

    /// Address and port to listen on; with port 0 any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8040", value_parser = given::listen)]
    listen: SocketAddr,

    /// Name by which the server may be asked, beside its addresses and localhost; may be given several times
    #[arg(long, value_name = "NAME", value_parser = given::host)]
    host: Vec<String>,

    /// File with the server's certificate and its chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// File with the certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// How long an agent may not be heard of before its job is given to another one [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = durations::read)]
    lease: Option<Duration>,

    /// How long an agent waits that was given nothing [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = durations::read)]
    ask: Option<Duration>,

    /// Requests a second that one token may make
    #[arg(long, value_name = "N", default_value_t = policy::RATE)]
    rate: f64,

    /// Let anybody read: pages, builds and logs need no token; changing anything still does
    #[arg(long)]
    public: bool,

    /// What is logged, to standard error
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: Level,
}

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Level {
    /// Nothing
    Off,
    /// What went wrong on the server
    Error,
    /// Also what was changed and what was refused
    Info,
    /// Also each request
    Debug,
}

/// Runs the server.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let level = match args.log {
        Level::Off => LevelFilter::Off,
        Level::Error => LevelFilter::Error,
        Level::Info => LevelFilter::Info,
        Level::Debug => LevelFilter::Debug,
    };
    logging::begin(level)?;
    anyhow::ensure!(args.rate.is_finite() && args.rate > 0.0, "--rate: a number above 0");
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
