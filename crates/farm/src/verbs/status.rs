//! `assay farm status`: shows the number of open jobs, the nodes, and the latest results. For a
//! project, it shows the versions on their targets with the verdicts. Reads the store directly,
//! without the server.

use crate::data::DataArgs;
use crate::server::pages;
use crate::{Ending, given};
use anyhow::anyhow;
use assay_farm::builds::Store;
use assay_farm::builds::policy::LARGEST_PAGE;
use assay_farm::builds::shown::{Home, Queue};
use assay_farm::builds::wire::Node;
use assay_history::Access;
use assay_report::console::output;
use assay_report::farm as report;
use serde::Serialize;

/// Show queued jobs, nodes, and the latest builds
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay farm status --data farm                  jobs, nodes and the latest builds
  assay farm status --data farm alice/tidy       a project with its versions, targets and verdict
  assay farm status --data /var/lib/assay-farm --store postgres:///farm --json")]
pub(crate) struct Args {
    /// Project whose versions, targets and verdict to show instead
    #[arg(value_name = "OWNER/PROJECT")]
    project: Option<String>,

    #[command(flatten)]
    of: DataArgs,

    /// Number of versions to show for a project
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(i64).range(1..=500))]
    versions: i64,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Maximum number of builds shown.
const BUILDS: usize = 10;

#[derive(Serialize)]
struct Status {
    home: Home,
    nodes: Vec<Node>,
}

/// Prints the status of the farm, or of a project if one is given.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let store = Store::open(&args.of.find()?.place, Access::Read)?;
    if let Some(project) = &args.project {
        return of_project(&store, project, args);
    }
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

/// Prints a project's versions on its targets with their verdicts.
fn of_project(store: &Store, project: &str, args: &Args) -> anyhow::Result<Ending> {
    let (owner, name) = given::project(project)?;
    let told = |failure: pages::Failure| anyhow!("{project}: {}", failure.message);
    if args.json {
        let verdicts =
            pages::verdicts::of(store, owner, name, None, args.versions).map_err(told)?;
        output::print(&(serde_json::to_string_pretty(&verdicts)? + "\n"))?;
        return Ok(Ending::Fine);
    }
    let found = pages::judged(store, owner, name, None, args.versions).map_err(told)?;
    let (_, known, judged, _) = found;
    let matrix = report::Matrix {
        project: &known.project,
        notes: &known.notes,
        judged: &judged,
        builds: &known.builds,
    };
    output::print(&report::screen(&matrix, &output::screen(output::ColorWhen::Auto)))?;
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
        screen += "nodes   none yet: run `assay farm agent` on each machine\n";
    } else {
        let head = ["NODE", "LAST SEEN", "JOBS", "STATE"].map(str::to_owned);
        let rows = nodes.iter().map(|node| {
            let drained = node.drained.as_ref().map(|why| format!("drained: {why}"));
            let unfit = node.calibration.as_ref().filter(|own| !own.is_fit);
            let state = drained.or(unfit.map(|own| format!("no benchmarks: {}", own.reason)));
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
