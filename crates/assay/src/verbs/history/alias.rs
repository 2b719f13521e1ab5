//! `assay history alias`: lets a renamed benchmark keep its history.

use crate::args::LookArgs;
use crate::history::StoreArgs;
use crate::{Ending, output};
use anyhow::bail;
use assay_history::Access;
use assay_report::json::{self, StoreChange};

/// Arguments of `assay history alias`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history alias BM_Copy BM_CopyBytes   records of BM_Copy count as BM_CopyBytes
  assay history alias --remove BM_Copy       undo this
  assay history alias                        list all aliases")]
pub(crate) struct Args {
    /// Old name of the benchmark
    #[arg(value_name = "OLD", value_hint = clap::ValueHint::Other, requires = "new")]
    old: Option<String>,

    /// New name of the benchmark
    #[arg(value_name = "NEW", value_hint = clap::ValueHint::Other, conflicts_with = "remove")]
    new: Option<String>,

    /// Remove the alias of this old name
    #[arg(long, value_name = "OLD", value_hint = clap::ValueHint::Other, conflicts_with = "old")]
    remove: Option<String>,

    #[command(flatten)]
    of: StoreArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Adds or removes an alias, then lists all aliases.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (reading, project) = args.of.of_project()?;
    let is_benchmark = |name: &String| -> anyhow::Result<bool> {
        let known = reading.benchmarks(&project)?;
        let aliases = reading.aliases(&project)?;
        Ok(known.contains(name) || aliases.iter().any(|(old, _)| old == name))
    };
    if let Some((old, new)) = args.old.as_ref().zip(args.new.as_ref()) {
        if !is_benchmark(old)? {
            bail!("no run of {project} has a benchmark `{old}`");
        }
        args.of.open(Access::Write)?.set_alias(&project, old, new)?;
    }
    if let Some(old) = &args.remove
        && !args.of.open(Access::Write)?.remove_alias(&project, old)?
    {
        bail!("`{old}` has no alias; list all aliases with `assay history alias`");
    }
    let mut change = StoreChange::new(&reading.place().to_string(), &project);
    change.aliases = reading.aliases(&project)?.into_iter().map(|(old, new)| [old, new]).collect();
    output::print(&if args.look.json {
        json::text(&change)?
    } else {
        change.aliases.iter().map(|[old, new]| format!("{old} is {new} now\n")).collect()
    })?;
    Ok(Ending::Fine)
}
