//! `assay farm restore`: creates a new farm from a backup.

use crate::data::DataArgs;
use crate::{Ending, backup};
use assay_report::console::output;
use std::path::PathBuf;

/// Create a farm from a backup
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay farm restore --data /srv/farm/data farm-monday.tar
  assay farm restore --data /srv/farm/data --store postgres:///farm farm-monday.tar     move from SQLite to PostgreSQL

The destination must not contain a farm yet. All checksums are verified before anything is written.")]
pub(crate) struct Args {
    #[command(flatten)]
    of: DataArgs,

    /// Backup file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Restores a backup.
///
/// # Errors
/// If a farm already exists at the target, or the backup is damaged.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    // The backup is checked first, so that an invalid one creates nothing.
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
