//! Errors of the store, with the wording that clients receive.

use assay_history::StoreError;
use assay_history::db::DbError;
use thiserror::Error;

/// The reason why an operation on the store failed.
#[derive(Debug, Error)]
pub enum FarmError {
    /// The request is invalid.
    #[error("{0}")]
    Bad(String),
    /// The item does not exist.
    #[error("there is no {0}")]
    NotFound(String),
    /// The item exists, but the caller may not change it.
    #[error("{0}")]
    Forbidden(String),
    /// The request conflicts with existing data.
    #[error("{0}")]
    Conflict(String),
    /// The caller no longer has a lease of the job.
    #[error("{0}")]
    LeaseLost(String),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FarmError {
    /// Returns the error code sent to clients.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Bad(_) => "bad_request",
            Self::NotFound(_) => "not_found",
            Self::Forbidden(_) => "forbidden",
            Self::Conflict(_) => "conflict",
            Self::LeaseLost(_) => "lease_lost",
            Self::Store(
                StoreError::Busy { .. } | StoreError::Gone { .. } | StoreError::Full { .. },
            ) => "unavailable",
            Self::Store(_) => "internal",
        }
    }

    /// Returns true if the database connection was lost and must be opened again.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_gone())
    }
}

/// An error that ends a transaction early, so that none of its changes are stored.
#[derive(Debug)]
pub(crate) enum Stop {
    Told(FarmError),
    Db(DbError),
}

impl From<FarmError> for Stop {
    fn from(error: FarmError) -> Self {
        Self::Told(error)
    }
}

impl From<DbError> for Stop {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

pub(crate) fn no_owner(name: &str) -> FarmError {
    FarmError::NotFound(format!("owner `{}`; add it first", name.escape_debug()))
}

pub(crate) fn no_project(owner: &str, name: &str) -> FarmError {
    FarmError::NotFound(format!("project `{}/{}`", owner.escape_debug(), name.escape_debug()))
}

pub(crate) fn no_version(owner: &str, project: &str, name: &str) -> FarmError {
    FarmError::NotFound(format!(
        "version `{}` of {}/{}",
        name.escape_debug(),
        owner.escape_debug(),
        project.escape_debug()
    ))
}

pub(crate) fn no_target(digest: &str) -> FarmError {
    FarmError::NotFound(format!("target `{}`", digest.escape_debug()))
}

pub(crate) fn lost(id: i64) -> FarmError {
    FarmError::LeaseLost(format!(
        "this agent no longer holds job {id}: its lease expired, or the job was withdrawn or leased to another agent"
    ))
}
