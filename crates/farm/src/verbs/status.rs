//! `assay farm status`: how much there is to do, who is there, and what came last, read from the store itself.

use crate::Ending;
use crate::data::DataArgs;
use assay_builds::Store;
use assay_builds::policy::LARGEST_PAGE;
use assay_builds::shown::{Home, Queue};
use assay_builds::wire::Node;
use assay_console::output;
use assay_history::Access;
use serde::Serialize;

/// Show how much there is to do, which nodes are there, and what came last
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    of: DataArgs,

    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Builds that are shown.
const BUILDS: usize = 10;

#[derive(Serialize)]
struct Status {
    home: Home,
    nodes: Vec<Node>,
}

/// Shows it.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let store = Store::open(&args.of.find()?.place, Access::Read)?;
    let status = Status {
        home: store.home(None, LARGEST_PAGE)?,
        nodes: store.nodes(None, LARGEST_PAGE)?.items,
    };
    output::print(&match args.json {
        true => serde_json::to_string_pretty(&status)? + "\n",
        false => screen(&status),
    })?;
    Ok(Ending::Fine)
}

fn screen(status: &Status) -> String {
    let Status { home, nodes } = status;
    let count = |count: u64| match count {
        Queue::MOST.. => format!("{} or more", Queue::MOST),
        count => count.to_string(),
    };
    let mut screen = format!(
        "jobs    {} queued, {} running\nbuilds  {}\n",
        count(home.queue.queued),
        count(home.queue.leased),
        match home.builds.is_empty() {
            true => "none yet".to_owned(),
            false => home
                .builds
                .iter()
                .map(|(state, count)| format!("{count} {}", state.name().replace('_', " ")))
                .collect::<Vec<_>>()
                .join(", "),
        }
    );
    if nodes.is_empty() {
        screen += "nodes   none yet: `assay farm agent` on each machine\n";
    } else {
        let head = ["NODE", "LAST SEEN", "JOBS", "STATE"].map(str::to_owned);
        let rows = nodes.iter().map(|node| {
            let state = node.drained.as_ref().map(|why| format!("drained: {why}"));
            [
                node.name.clone(),
                node.seen.clone(),
                node.jobs.len().to_string(),
                state.unwrap_or_else(|| "ready".to_owned()),
            ]
        });
        screen += "\n";
        screen += &super::table(std::iter::once(head).chain(rows));
    }
    if !home.latest.is_empty() {
        let head = ["BUILD", "STATE", "VERSION", "TARGET", "NODE"].map(str::to_owned);
        let rows = home.latest.iter().take(BUILDS).map(|build| {
            [
                build.id.to_string(),
                build.state.name().replace('_', " "),
                format!("{}/{} {}", build.owner, build.project, build.version),
                build.target_name.clone(),
                build.node.clone(),
            ]
        });
        screen += "\n";
        screen += &super::table(std::iter::once(head).chain(rows));
    }
    screen
}
