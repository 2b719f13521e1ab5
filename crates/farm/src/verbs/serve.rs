//! `assay farm serve`: the server, until somebody ends it.

use crate::{Ending, server};
use std::net::SocketAddr;

/// Run the server: its API for agents and programs
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Address and port to listen on; only this machine is let in, unless this says otherwise
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8040")]
    listen: SocketAddr,
}

/// Serves.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    server::serve(args.listen)
}
