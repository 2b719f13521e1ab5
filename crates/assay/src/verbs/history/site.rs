//! `assay history site`: writes the history as web pages to a directory.

use super::directory::write;
use super::{narrowing, narrowing_of_event};
use crate::history::StoreArgs;
use crate::present::TOOL;
use crate::progress::Line;
use crate::{Ending, output};
use assay_history::Store;
use assay_history::site::{Narrow, Site, SiteSubject};
use std::path::PathBuf;

/// Arguments of `assay history site`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history site public/             write the pages, to open public/index.html
  assay history site public/ --store /srv/ci.db --project parser

The pages are an overview, one page for each benchmark, a comparison of any two
runs, and a page on the machines. They need no server and load nothing from the
network. Writing them again replaces them.")]
pub(crate) struct Args {
    /// Directory to write to, created if missing
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: PathBuf,

    /// Keep absolute paths and possible secrets in names [default: both are removed]
    #[arg(long)]
    unredacted: bool,

    #[command(flatten)]
    of: StoreArgs,

    /// Print nothing to standard error except errors
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

/// Writes the pages, and prints the path of the start page.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (store, project) = args.of.of_project()?;
    let mut site = pages(store, &project, args.unredacted)?;
    let line = Line::new(args.quiet);
    let written = write(&mut site, &args.out, &mut |done, all| {
        if line.is_due() {
            let words = format!("writing pages: benchmark {} of {all}", done + 1);
            line.draw(done as f64 / all as f64, words);
        }
    });
    line.end();
    let written = written?;
    if !args.quiet {
        output::say(&format!(
            "{} files, {:.1} MB: {}",
            written.files,
            written.bytes as f64 / 1e6,
            args.out.join("index.html").display()
        ));
    }
    Ok(Ending::Fine)
}

/// Returns the pages of a project. Changes are narrowed down with the repository of the current
/// directory.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub(super) fn pages(store: Store, project: &str, unredacted: bool) -> anyhow::Result<Site<Store>> {
    let narrow = Narrow { change: narrowing, event: narrowing_of_event };
    Site::of(store, &SiteSubject { project, tool: TOOL, part_of: None, unredacted, narrow })
}
