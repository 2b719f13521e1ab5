//! The stores of servers: each test of the protocol is run with an SQLite file, and with a
//! PostgreSQL database if PostgreSQL is installed.

use super::postgres::Server as Postgres;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use tempfile::TempDir;

/// The directory of a server, and its database, if it has one.
pub struct Home {
    room: TempDir,
    store: Option<String>,
}

impl Home {
    /// Creates a directory with the store in a file.
    pub fn file() -> Self {
        Self { room: tempfile::tempdir().unwrap(), store: None }
    }

    /// Creates a directory whose store is a new database of the server that all tests share; `None`
    /// if PostgreSQL is not installed.
    pub fn database() -> Option<Self> {
        static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
        static MADE: Mutex<u32> = Mutex::new(0);
        let server = SERVER.get_or_init(Postgres::start).as_ref()?;
        let mut made = MADE.lock().unwrap();
        *made += 1;
        Some(Self::of(server.database(&format!("farm{made}"))))
    }

    /// Creates a directory whose store is the database at this address.
    pub fn of(address: String) -> Self {
        Self { store: Some(address), ..Self::file() }
    }

    /// Returns a directory that is removed with it.
    pub fn room(&self) -> &Path {
        self.room.path()
    }

    /// Returns the directory that the server creates.
    pub fn data(&self) -> PathBuf {
        self.room.path().join("farm")
    }

    /// Returns the command line options for the location.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = vec!["--data".into(), self.data().into_os_string()];
        if let Some(store) = &self.store {
            words.extend(["--store".into(), store.into()]);
        }
        words
    }

    /// Returns the location of the store.
    pub fn place(&self) -> assay_history::StoreLocation {
        let file = self.data().join("farm.sqlite").into_os_string();
        let place = self.store.as_ref().map_or(file, OsString::from);
        assay_history::StoreLocation::read(&place, None).unwrap()
    }
}

/// Creates two tests from each of these functions: one with a store in a file, and one with a
/// database.
macro_rules! on_both {
    ($($test:ident),* $(,)?) => {
        mod file {
            $(
                #[test]
                fn $test() {
                    super::$test(crate::server::Home::file());
                }
            )*
        }
        mod database {
            $(
                #[test]
                fn $test() {
                    if let Some(home) = crate::server::Home::database() {
                        super::$test(home);
                    }
                }
            )*
        }
    };
}
