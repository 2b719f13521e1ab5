//! Kinds of database errors, regardless of which database reported them.

/// Reasons why a database fails a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "postgresql"), expect(dead_code, reason = "only a server reports them"))]
pub(crate) enum Trouble {
    /// Another process holds a lock.
    Busy,
    /// The disk of the database is full.
    Full,
    /// The database is read-only.
    ReadOnly,
    /// The database cannot be reached.
    Gone,
    /// The database rejects this user.
    Refused,
    /// Anything else.
    Other,
}
