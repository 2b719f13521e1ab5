//! The reasons why a measurement of any kind could not continue.

use crate::Ending;
use assay_data::source::Obstacle;
use assay_measure::MeasureError;
use assay_measure::hooks::HookError;
use assay_measure::machine::KnobError;

/// The reason why measuring could not continue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// A measured command failed.
    #[error("{0}")]
    Failed(String),
    /// A hook failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// The runner cannot continue.
    #[error(transparent)]
    Measure(MeasureError),
    /// Any other failure, described by the message.
    #[error("{0}")]
    Reading(String),
    /// A requested machine setting is not possible.
    #[error(transparent)]
    Knob(#[from] KnobError),
    /// The user interrupted the run before the first complete observation.
    #[error("interrupted {0}")]
    Interrupted(String),
}

impl From<MeasureError> for RunError {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Interrupted => {
                Self::Interrupted("in a run, which is not kept".to_owned())
            }
            other => Self::Measure(other),
        }
    }
}

impl RunError {
    /// Returns the outcome of the process for this error.
    pub fn ending(&self) -> Ending {
        match self {
            Self::Failed(_) | Self::Hook(_) => Ending::CommandFailed,
            Self::Interrupted(_) => Ending::Interrupted,
            Self::Measure(_) | Self::Reading(_) | Self::Knob(_) => Ending::InputError,
        }
    }

    /// Converts the error for the engine, which treats neither an interruption nor a lost run as an
    /// error.
    pub fn obstacle(self) -> Obstacle<Self> {
        match self {
            Self::Interrupted(_) => Obstacle::Interrupted,
            Self::Measure(MeasureError::LostRun { .. }) => Obstacle::Lost,
            other => Obstacle::Broken(other),
        }
    }
}
