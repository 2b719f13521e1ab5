//! How a verb ended.

/// How a verb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It succeeded.
    Fine,
    /// Something is missing, and the exit status is to show it.
    Lacking,
    /// The user interrupted it.
    Interrupted,
}
