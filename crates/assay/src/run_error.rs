//! Why measuring could not go on, whatever is measured.

use crate::Ending;
use assay_data::source::Obstacle;
use assay_measure::MeasureError;
use assay_measure::hooks::HookError;
use assay_measure::machine::KnobError;

/// Why measuring could not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// A measured command failed.
    #[error("{0}")]
    Failed(String),
    /// A hook failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// The runner can't go on.
    #[error(transparent)]
    Measure(MeasureError),
    /// What a metric is to be read from does not hold it.
    #[error("{0}")]
    Reading(String),
    /// The machine can't be set as was asked for.
    #[error(transparent)]
    Knob(#[from] KnobError),
    /// The user stopped it, and no whole observation came of that.
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
    /// How the process ends because of it.
    pub fn ending(&self) -> Ending {
        match self {
            Self::Failed(_) | Self::Hook(_) => Ending::CommandFailed,
            Self::Interrupted(_) => Ending::Interrupted,
            Self::Measure(_) | Self::Reading(_) | Self::Knob(_) => Ending::InputError,
        }
    }

    /// The same for the engine: an interruption is no error to it, nor is a run that was lost.
    pub fn obstacle(self) -> Obstacle<Self> {
        match self {
            Self::Interrupted(_) => Obstacle::Interrupted,
            Self::Measure(MeasureError::LostRun { .. }) => Obstacle::Lost,
            other => Obstacle::Broken(other),
        }
    }
}
