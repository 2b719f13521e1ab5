//! Settings of the machine that hold while something is measured, and are undone whatever happens.
//!
//! Three layers see to that. This process puts everything back when it ends; a small process that outlives it does so when it is
//! killed; and should both be killed, a journal in the state directory lets the next run do it. What a setting is, and how it is
//! written, belongs to `assay_measure::machine`.

use crate::{output, store};
use anyhow::Context;
use assay_data::{Finding, Severity};
use assay_measure::Guard;
use assay_measure::machine::{Change, Journal, Knob, KnobError, Machine};

/// Settings that are in force.
pub(crate) struct Held {
    machine: Machine,
    changes: Vec<Change>,
    journal: Journal,
    /// Puts everything back should this process be killed; ended after we have done so.
    guard: Option<Guard>,
}

impl Held {
    /// Puts everything back.
    ///
    /// # Errors
    /// When the system refuses; then the guard tries again, and the journal stays for the next run.
    pub fn release(mut self) -> anyhow::Result<()> {
        self.put_back()
    }

    fn put_back(&mut self) -> anyhow::Result<()> {
        let changes = std::mem::take(&mut self.changes);
        let restored = self.machine.restore(&changes);
        self.guard = None;
        restored.context("a setting of the machine could not be put back")?;
        self.journal.clear().context("the journal of changed settings could not be cleared")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.changes.is_empty()
            && let Err(error) = self.put_back()
        {
            output::error(&error);
        }
    }
}

/// Puts settings into force. What the machine does not offer or the user may not set is told in a finding, and the rest goes
/// on; what was set is told too. `None` when nothing had to be changed.
///
/// # Errors
/// When a value is none that can be set, or changes can't be made safe against a crash.
pub(crate) fn hold(knobs: &[Knob]) -> anyhow::Result<(Option<Held>, Vec<Finding>)> {
    let machine = Machine::here();
    let mut findings = Vec::new();
    let mut wanted = Vec::new();
    for knob in knobs {
        match machine.plan(knob) {
            Ok(changes) => wanted.extend(changes),
            Err(error @ KnobError::UnknownValue { .. }) => return Err(error.into()),
            Err(error) => findings.push(refused(&error)),
        }
    }
    if wanted.is_empty() {
        return Ok((None, findings));
    }
    let directory = store::state_directory().context(
        "settings of the machine are journalled in the state directory, so that a crash can't leave them behind; neither \
         XDG_STATE_HOME nor HOME names one",
    )?;
    std::fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
    let mut journal = Journal::open(&directory).with_context(|| directory.display().to_string())?;
    journal.record(&wanted).with_context(|| directory.display().to_string())?;
    let mut guard = Guard::start()?;
    for change in &wanted {
        guard.remember(&change.path, &change.before)?;
    }
    let mut held = Held { machine, changes: Vec::new(), journal, guard: Some(guard) };
    for change in wanted {
        match held.machine.apply(std::slice::from_ref(&change)) {
            Ok(()) => held.changes.push(change),
            Err(error) => findings.push(refused(&error)),
        }
    }
    if held.changes.is_empty() {
        held.put_back()?;
        return Ok((None, findings));
    }
    findings.push(set(&held.changes));
    Ok((Some(held), findings))
}

/// Puts back what a run that was killed has left behind, and says so.
pub(crate) fn mend() {
    let Some(directory) = store::state_directory() else { return };
    let machine = Machine::here();
    let left = match Journal::left_behind(&directory) {
        Ok(left) if left.is_empty() => return,
        Ok(left) => left,
        Err(error) => {
            output::say(&format!(
                "warning: the journal of changed settings in {} can't be read: {error}",
                directory.display()
            ));
            return;
        }
    };
    for change in &left {
        match machine.restore(std::slice::from_ref(change)) {
            Ok(()) => output::say(&format!(
                "note: a run that was killed had left {} at {}; it is {} again",
                change.knob, change.after, change.before
            )),
            Err(error) => output::say(&format!("warning: {error}")),
        }
    }
    if let Err(error) = Journal::forget(&directory) {
        output::say(&format!("warning: {}: {error}", directory.display()));
    }
}

fn refused(error: &KnobError) -> Finding {
    Finding::new("NOT_CONTROLLED", Severity::Warning, format!("{error}: measured without"))
}

fn set(changes: &[Change]) -> Finding {
    let mut told: Vec<String> = Vec::new();
    for change in changes {
        let line = format!("{} {} instead of {}", change.knob, change.after, change.before);
        if !told.contains(&line) {
            told.push(line);
        }
    }
    Finding::new(
        "MACHINE_SET",
        Severity::Note,
        format!("set while measuring, and put back: {}", told.join(", ")),
    )
}
