//! `assay farm upgrade`: upgrades the tables of a farm to this program's version, after writing a
//! backup.

use crate::data::DataArgs;
use crate::{Ending, backup};
use anyhow::Context;
use assay_farm::builds::Store;
use assay_history::{Access, StoreLocation};
use assay_report::console::output;
use jiff::Timestamp;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Upgrade a farm's store to this version, after a backup
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay farm upgrade --data farm
  assay farm upgrade --data /var/lib/assay-farm --store postgres:///farm

Stop the server first. A missing store is created. A store of an earlier version is first saved in the directory `backups` of the data directory; if a step of
the upgrade fails, the store is left unchanged.")]
pub(crate) struct Args {
    #[command(flatten)]
    of: DataArgs,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The result of an upgrade.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
struct UpgradeResult {
    /// Version of the store before the upgrade; 0 if there was no store.
    from: i64,
    /// Version of the store after the upgrade.
    to: i64,
    /// True if anything was changed.
    is_changed: bool,
    /// Path of the backup, if one was made.
    backup: Option<PathBuf>,
}

/// Upgrades the store and prints the result.
///
/// # Errors
/// If a step fails. If the upgrade itself fails, the message names the backup from which the store
/// can be restored.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let of = args.of.begin()?;
    let done = upgrade(&of.directory, &of.place)?;
    let place = &of.place;
    output::print(&match (args.json, &done) {
        (true, done) => serde_json::to_string(done)? + "\n",
        (false, UpgradeResult { is_changed: false, to, .. }) => {
            format!("{place}: already at version {to}\n")
        }
        (false, UpgradeResult { from: 0, to, .. }) => {
            format!("{place}: created with version {to}\n")
        }
        (false, UpgradeResult { from, to, backup, .. }) => {
            let backup = backup.as_ref().map(|file| format!("; backup: {}", file.display()));
            format!("{place}: upgraded from version {from} to {to}{}\n", backup.unwrap_or_default())
        }
    })?;
    Ok(Ending::Fine)
}

fn upgrade(data: &Path, place: &StoreLocation) -> anyhow::Result<UpgradeResult> {
    private_directory(data)?;
    let to = Store::VERSION;
    let Some(store) = Store::look_at(place)? else {
        Store::open(place, Access::Write)?;
        return Ok(UpgradeResult { from: 0, to, is_changed: true, backup: None });
    };
    let from = store.version()?;
    if store.is_current()? {
        return Ok(UpgradeResult { from, to, is_changed: false, backup: None });
    }
    drop(store);
    let now = Timestamp::now();
    let file = data.join(format!("backups/before-version-{to}-{}.tar", now.as_millisecond()));
    private_directory(&data.join("backups"))?;
    backup::write(data, place, &file, now.to_string()).context("the backup before the upgrade")?;
    Store::open(place, Access::Write).with_context(|| {
        format!(
            "the upgrade failed; if something was changed, restore the backup {}",
            file.display()
        )
    })?;
    Ok(UpgradeResult { from, to, is_changed: true, backup: Some(file) })
}

fn private_directory(path: &Path) -> anyhow::Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_store_is_made_once() {
        let room = tempfile::tempdir().unwrap();
        let data = room.path().join("data");
        let place = StoreLocation::File(data.join("farm.sqlite"));
        let to = Store::VERSION;
        let made = upgrade(&data, &place).unwrap();
        assert_eq!(made, UpgradeResult { from: 0, to, is_changed: true, backup: None });
        let again = upgrade(&data, &place).unwrap();
        assert_eq!(again, UpgradeResult { from: to, to, is_changed: false, backup: None });
    }

    #[test]
    fn a_store_of_runs_becomes_a_farms_with_a_backup_before() {
        let room = tempfile::tempdir().unwrap();
        let place = StoreLocation::File(room.path().join("farm.sqlite"));
        assay_history::Store::open(&place, Access::Write).unwrap();
        let done = upgrade(room.path(), &place).unwrap();
        assert_eq!((done.from, done.is_changed), (0, true));
        backup::verify(&done.backup.unwrap()).unwrap();
    }
}
