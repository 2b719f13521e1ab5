//! Opening a farm's store: its tables are next to those of the history, in the same file or
//! database, and have their own migrations.

use crate::builds::error::{FarmError, Stop};
use crate::builds::sql;
use assay_history::db::{Db, DbError, values};
use assay_history::{Access, StoreError, StoreLocation};
use std::fmt;

/// An open store of a farm.
pub struct Store {
    history: assay_history::Store,
}

/// A stored thing, after an attempt to add it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredThing<T> {
    /// The thing as it is now.
    pub thing: T,
    /// True if it is new.
    pub is_new: bool,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.history.place())
    }
}

impl Store {
    /// Version of the tables that this program supports.
    pub const VERSION: i64 = sql::MIGRATIONS.len() as i64;

    /// Opens a store; with write access, a missing one is created, and one of an earlier version is
    /// migrated.
    ///
    /// # Errors
    /// If it does not exist, is something else or of a later version, or cannot be reached, read or
    /// written.
    pub fn open(place: &StoreLocation, access: Access) -> Result<Self, FarmError> {
        let none =
            || FarmError::NotFound(format!("farm at `{place}`; `assay farm serve` creates one"));
        let history = assay_history::Store::open(place, access);
        let history = history.map_err(|error| match error {
            StoreError::None { .. } => none(),
            error => FarmError::Store(error),
        })?;
        let store = Self { history };
        let found = store.version()?;
        if found > Self::VERSION {
            let (place, known) = (place.clone(), Self::VERSION);
            return Err(StoreError::Newer { place, found, known }.into());
        }
        match access {
            Access::Read if found == 0 => return Err(none()),
            Access::Read if found < Self::VERSION => {
                return Err(FarmError::Conflict(format!(
                    "the farm at `{place}` has version {found}: `assay farm upgrade` upgrades it to version {}",
                    Self::VERSION
                )));
            }
            Access::Write if found < Self::VERSION => store.migrate(&sql::MIGRATIONS)?,
            _ => {}
        }
        Ok(store)
    }

    /// Opens a store for reading as it is, even of an earlier version; returns `None` if it does
    /// not exist.
    ///
    /// # Errors
    /// If it is something else or of a later version, or cannot be reached or read.
    pub fn look_at(place: &StoreLocation) -> Result<Option<Self>, FarmError> {
        let history = match assay_history::Store::open(place, Access::Read) {
            Err(StoreError::None { .. }) => return Ok(None),
            history => history?,
        };
        let store = Self { history };
        let found = store.version()?;
        match found > Self::VERSION {
            true => {
                let (place, known) = (place.clone(), Self::VERSION);
                Err(StoreError::Newer { place, found, known }.into())
            }
            false => Ok(Some(store)),
        }
    }

    /// Returns true if the farm's tables and those of the history have the versions that this
    /// program supports.
    ///
    /// # Errors
    /// If the version cannot be read.
    pub fn is_current(&self) -> Result<bool, FarmError> {
        Ok(self.version()? == Self::VERSION && self.history.is_current()?)
    }

    /// Returns the accompanying history, for reading.
    #[must_use]
    pub fn history_read(&self) -> &assay_history::Store {
        &self.history
    }

    /// Returns the accompanying history, which keeps the samples.
    pub fn history(&mut self) -> &mut assay_history::Store {
        &mut self.history
    }

    /// Returns the location of the store.
    #[must_use]
    pub fn place(&self) -> &StoreLocation {
        self.history.place()
    }

    /// Returns the version of the farm's tables; 0 if there are none.
    ///
    /// # Errors
    /// If the version cannot be read.
    pub fn version(&self) -> Result<i64, FarmError> {
        self.look(|db| Ok(version(db)?))
    }

    /// Migrates the tables to the last of these versions, or leaves them unchanged.
    pub(crate) fn migrate(&self, migrations: &[&str]) -> Result<(), FarmError> {
        self.alone(|db| {
            // Another program may have been faster.
            let found = usize::try_from(version(db)?).unwrap_or(0);
            if found == 0 {
                db.migrate(sql::NEW_SCHEMA)?;
            }
            for migration in migrations.iter().skip(found) {
                db.migrate(migration)?;
            }
            db.execute(sql::SET_SCHEMA, values![migrations.len() as i64])?;
            Ok(())
        })
    }

    /// Reads from a consistent snapshot, even while others write.
    ///
    /// # Errors
    /// Errors of `read`, and if reading from the store fails.
    pub fn at_one_moment<T, E: From<FarmError>>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.look(|db| Ok(db.begin_moment()?))?;
        let found = read(self);
        self.history.db().end_moment();
        found
    }

    /// Runs a read.
    pub(crate) fn look<T>(
        &self,
        read: impl FnOnce(&Db) -> Result<T, Stop>,
    ) -> Result<T, FarmError> {
        read(self.history.db()).map_err(|stop| self.farm_error(stop))
    }

    /// Writes in one transaction, while others may write other rows.
    pub(crate) fn beside<T>(
        &self,
        write: impl FnOnce(&Db) -> Result<T, Stop>,
    ) -> Result<T, FarmError> {
        self.history.db().transact_beside(write).map_err(|stop| self.farm_error(stop))
    }

    /// Writes in one transaction, while no one else adds anything: for operations that examine all
    /// targets, versions or demands.
    pub(crate) fn alone<T>(
        &self,
        write: impl FnOnce(&Db) -> Result<T, Stop>,
    ) -> Result<T, FarmError> {
        self.history.db().transact(write).map_err(|stop| self.farm_error(stop))
    }

    fn farm_error(&self, stop: Stop) -> FarmError {
        match stop {
            Stop::Told(error) => error,
            Stop::Db(error) => FarmError::Store(self.history.failed(error)),
        }
    }
}

fn version(db: &Db) -> Result<i64, DbError> {
    let there = if db.is_server() { sql::SERVER_HAS_SCHEMA } else { sql::FILE_HAS_SCHEMA };
    match db.first::<i64>(there, &[])? {
        Some(0) | None => Ok(0),
        Some(_) => Ok(db.first(sql::SCHEMA, &[])?.unwrap_or(0)),
    }
}

/// Runs a statement that adds a row and returns its number; returns that number.
pub(crate) fn added(
    db: &Db,
    insert: &str,
    values: &[assay_history::db::Value<'_>],
) -> Result<i64, Stop> {
    let id = db.first(insert, values)?;
    id.ok_or_else(|| FarmError::Conflict("the database added nothing".to_owned()).into())
}
