//! Stub with the items of `knobs.rs`, for systems on which `assay` has no machine settings. Options
//! that request settings are rejected earlier (`systems.rs`).

use assay_data::Finding;
use assay_measure::machine::Knob;

/// Changed settings. There are none on this system.
pub(crate) enum SettingsGuard {}

impl SettingsGuard {
    /// Restores all settings.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn release(self) -> anyhow::Result<()> {
        match self {}
    }
}

/// Changes no settings.
///
/// # Errors
///
/// Never fails.
pub(crate) fn hold(_knobs: &[Knob]) -> anyhow::Result<(Option<SettingsGuard>, Vec<Finding>)> {
    Ok((None, Vec::new()))
}

/// Does nothing, because no setting was changed.
pub(crate) fn mend() {}
