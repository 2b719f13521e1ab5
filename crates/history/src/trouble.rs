//! Kinds of errors of a database, whichever reported it.

/// Why a database does not do what it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "postgresql"), expect(dead_code, reason = "only a server reports them"))]
pub(crate) enum Trouble {
    /// Others hold a lock.
    Busy,
    /// Its disk is full.
    Full,
    /// It may not be written.
    ReadOnly,
    /// It cannot be reached.
    Gone,
    /// It does not let this user in.
    Refused,
    /// Anything else.
    Other,
}
