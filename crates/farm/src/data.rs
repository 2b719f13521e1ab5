//! The location of a server's files: its directory, and the store, which is in the directory or in
//! a database.

use anyhow::{Context, bail};
use assay_history::StoreLocation;
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const PRIVATE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;

/// Options that select a server's files.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct DataArgs {
    /// Directory of the server's files: store, logs, and the first token
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,

    /// Database for the store: postgres://USER@HOST/DATABASE [default: DIR/farm.sqlite]
    ///
    /// If the address has no password, PGPASSWORD is used.
    #[arg(long, value_name = "PLACE")]
    pub store: Option<PathBuf>,
}

impl DataArgs {
    /// Returns the location of the files, and creates the directory if necessary.
    ///
    /// # Errors
    /// If the directory cannot be created, or the store's location is invalid.
    pub fn begin(&self) -> anyhow::Result<Data> {
        // Nothing is created if the store's location is invalid.
        let place = self.place()?;
        let shown = self.data.display();
        if self.data.exists() && !self.data.is_dir() {
            bail!(
                "--data {shown}: not a directory; name a directory, or a path that does not exist yet"
            );
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(PRIVATE_DIRECTORY);
        builder.create(&self.data).with_context(|| format!("cannot create --data {shown}"))?;
        Ok(Data { directory: self.data.clone(), place })
    }

    /// Returns the location of the files.
    ///
    /// # Errors
    /// If the directory does not exist, or the store's location is invalid.
    pub fn find(&self) -> anyhow::Result<Data> {
        if !self.data.is_dir() {
            bail!(
                "--data {}: no such directory; `assay farm serve` creates it",
                self.data.display()
            );
        }
        Ok(Data { directory: self.data.clone(), place: self.place()? })
    }

    fn place(&self) -> anyhow::Result<StoreLocation> {
        Ok(match &self.store {
            Some(store) => {
                let password = std::env::var("PGPASSWORD").ok();
                StoreLocation::read(store.as_os_str(), password.as_deref()).context("--store")?
            }
            None => StoreLocation::read(OsStr::new(&self.data.join("farm.sqlite")), None)?,
        })
    }
}

/// The files of a server.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    /// The directory.
    pub directory: PathBuf,
    /// The store.
    pub place: StoreLocation,
}

/// Held while a server uses a directory; the system releases it, however the server ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Data {
    /// Returns the directory of the logs.
    pub fn logs(&self) -> PathBuf {
        self.directory.join("logs")
    }

    /// Returns the path of the first token's file.
    pub fn token_file(&self) -> PathBuf {
        self.directory.join("admin-token")
    }

    /// Writes the first token.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_token(&self, secret: &str) -> io::Result<()> {
        let file = self.token_file();
        // An existing file belongs to a store that was never completed.
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut written = private(&file, true)?;
        writeln!(written, "{secret}")?;
        written.sync_all()
    }

    /// Locks the directory, so that no other server can use it.
    ///
    /// # Errors
    /// If another server uses it.
    pub fn lock(&self) -> anyhow::Result<Lock> {
        let path = self.directory.join("lock");
        let file = private(&path, false).with_context(|| path.display().to_string())?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            bail!("--data {}: another server is using this directory", self.directory.display());
        }
        Ok(Lock { _file: file })
    }
}

fn private(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).mode(PRIVATE);
    if is_new {
        options.create_new(true)
    } else {
        options.create(true).truncate(false)
    };
    options.open(path)
}
