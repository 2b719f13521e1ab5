//! Opens a farm's store. Its tables are in the same file or database as those of the history, but
//! have their own version and migrations.

use crate::builds::error::{FarmError, Stop};
use crate::builds::sql;
use assay_history::db::{Db, DbError, values};
use assay_history::{Access, StoreError, StoreLocation};
use std::fmt;

/// An open store of a farm.
pub struct Store {
    history: assay_history::Store,
}

/// A stored item, as returned by a function that adds it unless it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredThing<T> {
    /// The item as it is now stored.
    pub thing: T,
    /// True if the item did not exist before.
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

    /// Opens a store. With write access, a missing store is created, and a store of an earlier
    /// version is migrated.
    ///
    /// # Errors
    /// If the store is missing or of an earlier version and access is read-only, if it is of a
    /// later version or not a store, or if it cannot be reached, read or written.
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

    /// Opens a store for reading without migrating it, even if it is of an earlier version. Returns
    /// `None` if it does not exist.
    ///
    /// # Errors
    /// If it is not a store or is of a later version, or cannot be reached or read.
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

    /// Returns the history in the same file or database, for reading.
    #[must_use]
    pub fn history_read(&self) -> &assay_history::Store {
        &self.history
    }

    /// Returns the history in the same file or database, which keeps the samples.
    pub fn history(&mut self) -> &mut assay_history::Store {
        &mut self.history
    }

    /// Returns the location of the store.
    #[must_use]
    pub fn place(&self) -> &StoreLocation {
        self.history.place()
    }

    /// Returns the version of the farm's tables, or 0 if they do not exist.
    ///
    /// # Errors
    /// If the version cannot be read.
    pub fn version(&self) -> Result<i64, FarmError> {
        self.look(|db| Ok(version(db)?))
    }

    /// Applies the migrations that are still missing in one transaction. If one fails, the tables
    /// remain unchanged.
    pub(crate) fn migrate(&self, migrations: &[&str]) -> Result<(), FarmError> {
        self.alone(|db| {
            // The version is read inside the transaction, because another program may have migrated
            // the tables.
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

    /// Runs `read` on a consistent snapshot of the store, even while others write.
    ///
    /// # Errors
    /// If `read` fails, or reading from the store fails.
    pub fn at_one_moment<T, E: From<FarmError>>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.look(|db| Ok(db.begin_moment()?))?;
        let found = read(self);
        self.history.db().end_moment();
        found
    }

    /// Runs a read on the database.
    pub(crate) fn look<T>(
        &self,
        read: impl FnOnce(&Db) -> Result<T, Stop>,
    ) -> Result<T, FarmError> {
        read(self.history.db()).map_err(|stop| self.farm_error(stop))
    }

    /// Runs `write` in one transaction. Others may write other rows at the same time.
    pub(crate) fn beside<T>(
        &self,
        write: impl FnOnce(&Db) -> Result<T, Stop>,
    ) -> Result<T, FarmError> {
        self.history.db().transact_beside(write).map_err(|stop| self.farm_error(stop))
    }

    /// Runs `write` in one transaction that excludes all others of its kind. For operations that
    /// must see all targets, versions or demands.
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

/// Runs an `INSERT … RETURNING id` and returns the number of the new row.
pub(crate) fn added(
    db: &Db,
    insert: &str,
    values: &[assay_history::db::Value<'_>],
) -> Result<i64, Stop> {
    let id = db.first(insert, values)?;
    id.ok_or_else(|| FarmError::Conflict("the database added nothing".to_owned()).into())
}
