//! `assay history serve`: serves the history as web pages, which are generated on request.

use super::server::serve;
use super::site::pages;
use crate::history::StoreArgs;
use crate::{Ending, output};
use anyhow::Context;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

/// Arguments of `assay history serve`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history serve             open the address that it prints; stop it with Ctrl-C
  assay history serve --port 0    listen on any free port

Only this machine can connect, unless --listen is given. Requests from scripts on other web pages are always refused. The history is never changed.")]
pub(crate) struct Args {
    /// Port to listen on; 0 selects a free one
    #[arg(long, value_name = "PORT", default_value_t = 8020)]
    port: u16,

    /// Address to listen on; anyone who can reach it can read the history
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,

    #[command(flatten)]
    of: StoreArgs,
}

/// Prints the address of the pages, and serves them until the user interrupts.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (store, project) = args.of.of_project()?;
    let site = pages(store, &project, true)?;
    let address = SocketAddr::new(args.listen, args.port);
    let listener = TcpListener::bind(address)
        .with_context(|| format!("can't listen on {address}; choose another port with --port"))?;
    output::print(&format!("http://{}/\n", listener.local_addr()?))?;
    serve(&listener, site)?;
    Ok(Ending::Fine)
}
