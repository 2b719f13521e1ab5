//! `assay farm restore`: creates a farm from a backup, where there is none yet.

use crate::data::DataArgs;
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
    of: DataArgs,

    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Restores a backup.
///
/// # Errors
/// If a farm already exists, or the backup is damaged.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    // Nothing is created for an invalid backup.
    backup::verify(&args.file)?;
    let of = args.of.begin()?;
    let manifest = backup::restore(&args.file, &of.directory, &of.place)?;
    output::print(&format!(
        "{}: {} rows and {} files of {}\n",
        of.place,
        manifest.rows,
        manifest.files.len().saturating_sub(1),
        manifest.made
    ))?;
    Ok(Ending::Fine)
}
