//! The results that wait to be submitted: the end of each job with its log and samples, in the
//! order in which jobs ended. Every result is stored here first and sent from here, so none is lost
//! if the server is unreachable or the agent ends. Its key ensures that a result sent twice becomes
//! one build.

use super::log;
use crate::client::{Client, ClientError};
use anyhow::Context;
use assay_data::system_error::reason;
use assay_farm::builds::wire::Ending;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Prefix of the names of entries that are still being written.
const UNFINISHED: &str = "new-";

/// The stored result of one job.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub job: i64,
    pub ending: Ending,
    /// Number of bytes of the log that the server already has.
    pub sent: u64,
}

/// The directory that contains the waiting results.
#[derive(Debug)]
pub(super) struct Spool {
    directory: PathBuf,
}

impl Spool {
    pub fn new(directory: PathBuf) -> Self {
        // Entries that were incomplete when an agent was killed; their jobs end with their leases.
        for own in names(&directory).into_iter().filter(|own| own.starts_with(UNFINISHED)) {
            let _stays = fs::remove_dir_all(directory.join(own));
        }
        Self { directory }
    }

    /// Adds an entry. Once this returns, the entry is not lost.
    ///
    /// # Errors
    /// If the entry cannot be written.
    pub fn put(&self, entry: &Entry, log: &Path, samples: Option<&Path>) -> anyhow::Result<()> {
        let key = &entry.ending.key;
        let unfinished = self.directory.join(format!("{UNFINISHED}{key}"));
        let written = || -> anyhow::Result<()> {
            DirBuilder::new().mode(0o700).create(&unfinished)?;
            fs::copy(log, unfinished.join("log"))?;
            if let Some(samples) = samples {
                fs::copy(samples, unfinished.join("samples"))?;
            }
            let mut file = File::create_new(unfinished.join("entry.json"))?;
            file.write_all(&serde_json::to_vec(entry)?)?;
            file.sync_all()?;
            fs::rename(&unfinished, self.directory.join(format!("{:012}-{key}", self.next())))?;
            File::open(&self.directory)?.sync_all()?;
            Ok(())
        };
        written().with_context(|| self.directory.display().to_string())
    }

    /// Returns a number greater than those of all existing entries.
    fn next(&self) -> u64 {
        let numbers = names(&self.directory).into_iter();
        let numbers = numbers.filter_map(|own| own.split('-').next()?.parse::<u64>().ok());
        numbers.max().unwrap_or(0) + 1
    }

    /// Returns the number of results that wait to be submitted.
    pub fn waiting(&self) -> usize {
        self.entries().len()
    }

    fn entries(&self) -> Vec<PathBuf> {
        let mut all = names(&self.directory);
        all.retain(|own| !own.starts_with(UNFINISHED));
        all.sort();
        all.into_iter().map(|own| self.directory.join(own)).collect()
    }

    /// Submits the waiting entries in order. Entries that the server refuses are reported through
    /// `says` and removed, since it would never accept them.
    ///
    /// # Errors
    /// If the server cannot be reached; the rest then keeps waiting.
    pub fn replay(&self, client: &Client, says: &mut dyn FnMut(&str)) -> Result<(), ClientError> {
        for path in self.entries() {
            let text = fs::read(path.join("entry.json")).unwrap_or_default();
            match serde_json::from_slice::<Entry>(&text) {
                Ok(entry) => match hand(client, &entry, &path) {
                    Ok(()) => {}
                    Err(error) if error.is_away() => return Err(error),
                    Err(error) => {
                        says(&format!("the result of job {} was not accepted: {error}", entry.job))
                    }
                },
                Err(error) => says(&format!("{}: {error}", path.display())),
            }
            if let Err(error) = fs::remove_dir_all(&path) {
                says(&format!("{}: {}", path.display(), reason(&error)));
            }
        }
        Ok(())
    }
}

fn hand(client: &Client, entry: &Entry, path: &Path) -> Result<(), ClientError> {
    let nonce = &entry.ending.nonce;
    let file = path.join("log");
    let length = fs::metadata(&file).map_or(0, |own| own.len());
    let mut sent = entry.sent.min(length);
    let logged = log::send(client, (entry.job, nonce), &file, &mut sent, length);
    if logged.as_ref().is_err_and(ClientError::is_away) {
        return logged;
    }
    let samples = match fs::read(path.join("samples")) {
        Ok(bytes) => client.samples(entry.job, nonce, &bytes),
        Err(_) => Ok(()),
    };
    if samples.as_ref().is_err_and(ClientError::is_away) {
        return samples;
    }
    // The result matters most, even if the log or samples are refused; the server may already have
    // it.
    client.result(entry.job, &entry.ending)?;
    logged.and(samples)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|own| own.file_name().into_string().ok()).collect()
}
