//! Why something can't be done, in the words of the wire.

use assay_history::StoreError;
use assay_history::db::DbError;
use thiserror::Error;

/// Why something can't be done.
#[derive(Debug, Error)]
pub enum FarmError {
    /// What was said makes no sense.
    #[error("{0}")]
    Bad(String),
    /// There is no such thing.
    #[error("there is no {0}")]
    NotFound(String),
    /// It is, but not for whoever asks.
    #[error("{0}")]
    Forbidden(String),
    /// It does not go together with what is there.
    #[error("{0}")]
    Conflict(String),
    /// Whoever asks has the job no more.
    #[error("{0}")]
    LeaseLost(String),
    /// The store can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FarmError {
    /// Its code over the wire.
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

    /// Whether the database went away, so that it has to be connected with again.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_gone())
    }
}

/// What ends a transaction early: nothing of it is written.
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
