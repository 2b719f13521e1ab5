//! Stub for systems on which `assay` has no machine settings, with the same names as `knobs.rs`.
//! The options that request settings are rejected earlier (`systems.rs`).

use assay_data::Finding;
use assay_measure::machine::Knob;

/// Settings that are in force: always empty.
pub(crate) enum SettingsGuard {}

impl SettingsGuard {
    /// Restores everything.
    ///
    /// # Errors
    /// Never.
    pub fn release(self) -> anyhow::Result<()> {
        match self {}
    }
}

/// Puts no settings into force.
///
/// # Errors
/// Never.
pub(crate) fn hold(_knobs: &[Knob]) -> anyhow::Result<(Option<SettingsGuard>, Vec<Finding>)> {
    Ok((None, Vec::new()))
}

/// Does nothing, since nothing was set.
pub(crate) fn mend() {}
