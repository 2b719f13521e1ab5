//! Settings of the machine: none of them can be had on this system.

/// A setting and the value that is wished for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knob {
    /// By what rule the processors' frequency is chosen.
    Governor(String),
    /// Whether processors may go beyond their nominal frequency.
    Turbo(bool),
    /// How many µs of each period real-time tasks may take; `None`: all.
    RtRuntime(Option<u32>),
    /// Whether each session gets an equal share of the processors.
    Autogroup(bool),
}

/// Why a setting could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum KnobError {
    /// This machine has no such setting.
    #[error("`{knob}` cannot be set on this machine: {why}")]
    NotOffered {
        /// The knob's name.
        knob: &'static str,
        /// In plain words.
        why: String,
    },
    /// This user may not.
    #[error("`{knob}` may not be changed")]
    NotPermitted {
        /// The knob's name.
        knob: &'static str,
    },
    /// Reading or writing failed in another way.
    #[error("`{knob}`: {error}")]
    Io {
        /// The knob's name.
        knob: &'static str,
        /// What the system said.
        error: std::io::Error,
    },
}

/// The machine as something that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        Self
    }

    /// Nothing.
    ///
    /// # Errors
    ///
    /// [`KnobError::NotOffered`], always.
    pub fn drop_caches(&self) -> Result<(), KnobError> {
        let why = "assay sets only machines with Linux".to_owned();
        Err(KnobError::NotOffered { knob: "drop-caches", why })
    }
}
