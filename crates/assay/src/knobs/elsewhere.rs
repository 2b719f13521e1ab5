//! Settings of the machine, where `assay` has none: by the names of the other file of this name, with nothing behind them. The options that
//! ask for settings are refused before (`systems.rs`).

use assay_data::Finding;
use assay_measure::machine::Knob;

/// Settings that are in force: there are none.
pub(crate) enum SettingsGuard {}

impl SettingsGuard {
    /// Puts everything back.
    ///
    /// # Errors
    /// None.
    pub fn release(self) -> anyhow::Result<()> {
        match self {}
    }
}

/// Puts no setting into force.
///
/// # Errors
/// None.
pub(crate) fn hold(_knobs: &[Knob]) -> anyhow::Result<(Option<SettingsGuard>, Vec<Finding>)> {
    Ok((None, Vec::new()))
}

/// Puts back nothing: nothing was set.
pub(crate) fn mend() {}
