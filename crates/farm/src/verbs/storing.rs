//! Where a farm has its store and what stands beside it, for verbs that open them by themselves.

use assay_history::Place;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Names the store where an option does not, as in the environment file of `assay farm setup`.
const STORE: &str = "ASSAY_FARM_STORE";

/// Where the store is.
#[derive(clap::Args, Debug)]
pub(crate) struct StoreArgs {
    /// Directory of the server's data
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub data: PathBuf,

    /// Database of PostgreSQL, also in ASSAY_FARM_STORE; otherwise a file of SQLite in the directory
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
}

impl StoreArgs {
    /// Where the store is.
    ///
    /// # Errors
    /// When that can't be an address.
    pub fn place(&self) -> anyhow::Result<Place> {
        let named = self
            .store
            .clone()
            .or_else(|| std::env::var(STORE).ok().filter(|named| !named.is_empty()));
        Ok(match named {
            Some(named) => {
                Place::read(OsStr::new(&named), std::env::var("PGPASSWORD").ok().as_deref())?
            }
            None => Place::File(self.data.join("farm.sqlite")),
        })
    }
}
