//! `assay farm backup`: writes all data of a farm to one file while its server is running.

use crate::data::DataArgs;
use crate::{Ending, backup};
use anyhow::Context;
use assay_report::console::output;
use jiff::Timestamp;
use std::path::PathBuf;

/// Write all data of a farm to one file, while its server runs
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay farm backup --data /srv/farm/data farm-monday.tar
  assay farm backup --check farm-monday.tar                  check all checksums

The file contains a consistent snapshot of the store, and the logs and samples, each with its checksum. It can be restored to SQLite and to PostgreSQL.")]
pub(crate) struct Args {
    #[command(flatten)]
    of: Option<DataArgs>,

    /// Check a backup instead of writing one
    #[arg(long, conflicts_with = "DataArgs")]
    check: bool,

    /// Backup file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Writes a backup, or checks an existing one.
///
/// # Errors
/// If the backup cannot be written, or differs from what was written.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let manifest = match args.check {
        true => backup::verify(&args.file)?,
        false => {
            let of = args
                .of
                .as_ref()
                .context("which farm? name the directory of its server's files with --data DIR")?
                .find()?;
            let now = Timestamp::now().to_string();
            backup::write(&of.directory, &of.place, &args.file, now)?
        }
    };
    output::print(&format!(
        "{}: {} rows, {} files, made {} by {}\n",
        args.file.display(),
        manifest.rows,
        manifest.files.len().saturating_sub(1),
        manifest.made,
        manifest.tool
    ))?;
    Ok(Ending::Fine)
}
