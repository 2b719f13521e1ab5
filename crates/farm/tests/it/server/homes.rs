//! Where servers have their stores: each test of the protocol is made with a file of SQLite, and with a database of PostgreSQL where that is installed.

use super::postgres::Server as Postgres;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use tempfile::TempDir;

/// A directory of a server's, and its database, where it has one.
pub struct Home {
    room: TempDir,
    store: Option<String>,
}

impl Home {
    /// The store is a file in it.
    pub fn file() -> Self {
        Self { room: tempfile::tempdir().unwrap(), store: None }
    }

    /// The store is a new database of the server that all tests share; `None` where PostgreSQL is not installed.
    pub fn database() -> Option<Self> {
        static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
        static MADE: Mutex<u32> = Mutex::new(0);
        let server = SERVER.get_or_init(Postgres::start).as_ref()?;
        let mut made = MADE.lock().unwrap();
        *made += 1;
        Some(Self::of(server.database(&format!("farm{made}"))))
    }

    /// The store is the database of this address.
    pub fn of(address: String) -> Self {
        Self { store: Some(address), ..Self::file() }
    }

    /// What goes with it.
    pub fn room(&self) -> &Path {
        self.room.path()
    }

    /// The directory that the server makes.
    pub fn data(&self) -> PathBuf {
        self.room.path().join("farm")
    }

    /// Words of a command line that say where it is.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = vec!["--data".into(), self.data().into_os_string()];
        if let Some(store) = &self.store {
            words.extend(["--store".into(), store.into()]);
        }
        words
    }

    /// Where the store is.
    pub fn place(&self) -> assay_history::Place {
        let file = self.data().join("farm.sqlite").into_os_string();
        let place = self.store.as_ref().map_or(file, OsString::from);
        assay_history::Place::read(&place, None).unwrap()
    }
}

/// Makes two tests of each of these: with a store in a file, and with one in a database.
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
