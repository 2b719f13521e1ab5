//! `assay farm restore`: a farm from a backup, where there is none.

use super::storing::StoreArgs;
use crate::{Ending, backup};
use assay_console::output;
use std::path::PathBuf;

/// Make a farm from a backup, where there is none
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay farm restore --data /srv/farm/data farm-monday.tar
  assay farm restore --data /srv/farm/data --store postgres:///farm farm-monday.tar     from SQLite to PostgreSQL

All checksums are checked before anything is written.")]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,

    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Restores it.
///
/// # Errors
/// When there is a farm already, or the backup is damaged.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let place = args.store.place()?;
    let manifest = backup::restore(&args.file, &args.store.data, &place)?;
    output::print(&format!(
        "{place}: {} rows and {} files of {}\n",
        manifest.rows,
        manifest.files.len().saturating_sub(1),
        manifest.made
    ))?;
    Ok(Ending::Fine)
}
