//! Settings of the machine: none are supported on this system.

use assay_data::system_error::reason;

/// A setting and its requested value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knob {
    /// The frequency governor.
    Governor(String),
    /// True if processors may exceed their nominal frequency.
    Turbo(bool),
    /// Time of each period that real-time tasks may use, in µs; `None` if there is no limit.
    RtRuntime(Option<u32>),
    /// True if each session gets an equal share of the processors.
    Autogroup(bool),
}

/// Reasons why a setting could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum KnobError {
    /// This machine has no such setting.
    #[error("`{knob}` cannot be set on this machine: {why}")]
    NotOffered {
        /// The knob's name.
        knob: &'static str,
        /// The reason, in plain words.
        why: String,
    },
    /// The user lacks the permission.
    #[error("`{knob}` may not be changed")]
    NotPermitted {
        /// The knob's name.
        knob: &'static str,
    },
    /// Reading or writing failed for another reason.
    #[error("`{knob}`: {reason}", reason = reason(error))]
    Io {
        /// The knob's name.
        knob: &'static str,
        /// The system's error.
        error: std::io::Error,
    },
}

/// The machine and its settings.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl Machine {
    /// Returns this machine.
    pub fn here() -> Self {
        Self
    }

    /// Always fails.
    ///
    /// # Errors
    ///
    /// Always returns [`KnobError::NotOffered`].
    pub fn drop_caches(&self) -> Result<(), KnobError> {
        let why = "assay changes machine settings only on Linux".to_owned();
        Err(KnobError::NotOffered { knob: "drop-caches", why })
    }
}
