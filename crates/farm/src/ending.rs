//! Outcomes of verbs.

/// The outcome of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The verb succeeded.
    Fine,
    /// Something is missing, which the exit status must show.
    Lacking,
    /// The user interrupted the verb.
    Interrupted,
}
