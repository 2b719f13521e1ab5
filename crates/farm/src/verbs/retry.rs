//! `assay farm retry`: queues the tests of builds that did not pass again, through the API of a
//! server.

use crate::client::{Client, Token};
use crate::{Ending, given};
use assay_farm::builds::model::{Facts, Kind, State};
use assay_farm::builds::wire::NewJob;
use assay_farm::plain::counted;
use assay_report::console::output;
use std::path::PathBuf;

/// Repeat the tests that did not pass
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay farm retry alice/tidy --token-file farm/admin-token    on every platform where a version failed
  assay farm retry alice/tidy --version 1.2.0                  only this version

When `assay farm add` changes a project, its twenty newest versions are built again automatically.")]
pub(crate) struct Args {
    /// Project to test
    #[arg(value_name = "OWNER/PROJECT")]
    project: String,

    /// Test only this version [default: the fifty newest]
    #[arg(long, value_name = "VERSION", value_parser = given::words)]
    version: Option<String>,

    /// Address of the server
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8040")]
    server: String,

    /// File with a token of scope `submit` [default: the token in ASSAY_FARM_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Queues the builds again, and prints their number.
///
/// # Errors
/// If the server refuses the requests or cannot be reached, or the given version has no build.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (owner, name) = given::project(&args.project)?;
    let client = Client::new(&args.server, Token::find(args.token_file.as_deref())?)?.once();
    let matrix = client.matrix(owner, name)?;
    let is_meant = |version: &str| args.version.as_ref().is_none_or(|asked| asked == version);
    let cells = matrix.cells.iter().filter(|(version, _)| is_meant(version));
    let cells: Vec<_> =
        cells.flat_map(|(version, on)| on.iter().map(move |own| (version, own))).collect();
    if cells.is_empty()
        && let Some(version) = &args.version
    {
        anyhow::bail!("{owner}/{name} {version} has no build yet, so there is nothing to retry");
    }
    let mut jobs = 0;
    for (version, (target, cell)) in cells {
        if cell.state == State::Passed {
            continue;
        }
        client.add_job(&NewJob {
            owner: owner.to_owned(),
            project: name.to_owned(),
            version: version.clone(),
            kind: Kind::Test,
            base: None,
            target: Some(target.clone()),
            needs: Facts::new(),
            priority: 0,
            round: 0,
        })?;
        jobs += 1;
    }
    output::print(&match jobs {
        0 => format!("{owner}/{name}: all builds passed, so nothing is retried\n"),
        jobs => format!("{owner}/{name}: {} queued\n", counted(jobs, "job")),
    })?;
    Ok(Ending::Fine)
}
