//! Outcomes of observations.

use serde::{Deserialize, Serialize};

/// The outcome of an observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As planned.
    #[default]
    Ok,
    /// The program exited with this nonzero status, and the user chose to continue.
    Exit(i32),
    /// The program was killed by this signal, and the user chose to continue.
    Signal(i32),
    /// The run reached the time limit, so that its time is a lower bound.
    Timeout,
}
