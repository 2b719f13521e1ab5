//! Kinds of database errors that SQLite and PostgreSQL have in common.

/// Reasons why a database fails a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "postgresql"), expect(dead_code, reason = "only a server reports them"))]
pub(crate) enum Trouble {
    /// The time limit for waiting for a lock of another process expired.
    Busy,
    /// The disk of the database is full.
    Full,
    /// The database is read-only, or the user is not permitted to write.
    ReadOnly,
    /// The database server cannot be reached, is shutting down, or accepts no more connections.
    Gone,
    /// The database rejects this user, or does not exist.
    Refused,
    /// Any other reason.
    Other,
}
