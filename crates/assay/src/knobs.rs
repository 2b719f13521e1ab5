//! Machine settings that are changed for a measurement and always restored afterwards.
//!
//! Three layers ensure that. This process restores the settings when it ends. If it is killed, a
//! small guard process does so. If both are killed, the next run does it from a journal in the
//! state directory. Settings that another run of assay currently holds are left alone, because two
//! runs that change the same setting would undo each other's changes. `assay_measure::machine`
//! defines the settings and how they are written.

use crate::{output, store};
use anyhow::Context;
use assay_data::code;
use assay_data::finding::shared::not_controlled;
use assay_data::{Action, Finding, private};
use assay_measure::Guard;
use assay_measure::machine::{
    Change, Holder, Journal, Knob, KnobError, LeftBehind, Machine, Undone, privileges,
};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Changed settings, which are restored when this is dropped.
pub(crate) struct SettingsGuard {
    machine: Machine,
    /// The requested changes, whether or not they succeeded.
    changes: Vec<Change>,
    journal: Journal,
    /// Restores the settings if this process is killed. Dismissed once this process has restored
    /// them.
    guard: Option<Guard>,
}

impl SettingsGuard {
    /// Restores all settings.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses. The guard process then tries again, and the journal is kept for
    /// the next run.
    pub fn release(mut self) -> anyhow::Result<()> {
        self.put_back()
    }

    fn put_back(&mut self) -> anyhow::Result<()> {
        let changes = std::mem::take(&mut self.changes);
        let guard = self.guard.take();
        let restored: Result<Vec<Undone>, KnobError> =
            self.machine.restore(&changes).into_iter().collect();
        restored.context("a setting of the machine could not be restored")?;
        // The guard process writes without checking, and others may change the settings from now
        // on.
        if let Some(guard) = guard {
            guard.forget();
        }
        self.journal.clear().context("the journal of changed settings could not be cleared")
    }
}

impl Drop for SettingsGuard {
    fn drop(&mut self) {
        if !self.changes.is_empty()
            && let Err(error) = self.put_back()
        {
            output::error(&error);
        }
    }
}

/// Changes settings. A finding reports each setting that the machine does not offer, that the user
/// may not change, or that another run of assay holds; the others are changed regardless. Another
/// finding lists the changes made. Returns `None` if nothing was changed.
///
/// # Errors
///
/// Fails if a value is invalid, or if the changes cannot be protected against a crash.
pub(crate) fn hold(knobs: &[Knob]) -> anyhow::Result<(Option<SettingsGuard>, Vec<Finding>)> {
    hold_on(Machine::here(), store::state_directory(), knobs)
}

fn hold_on(
    machine: Machine,
    directory: Option<PathBuf>,
    knobs: &[Knob],
) -> anyhow::Result<(Option<SettingsGuard>, Vec<Finding>)> {
    let (wanted, findings) = plan(&machine, directory.as_deref(), knobs)?;
    if wanted.is_empty() {
        return Ok((None, findings));
    }
    let directory = directory.context(
        "changed machine settings are recorded in the state directory, so that they can be restored after a crash, but neither XDG_STATE_HOME nor HOME names one",
    )?;
    let failed = || directory.display().to_string();
    private::directory(&directory).with_context(failed)?;
    let _turn = Journal::turn(&directory).with_context(failed)?;
    // Another run may have changed the settings while this one waited for the lock.
    let (wanted, mut findings) = plan(&machine, Some(&directory), knobs)?;
    if wanted.is_empty() {
        return Ok((None, findings));
    }
    let mut journal = Journal::open(&directory).with_context(failed)?;
    journal.record(&wanted).with_context(failed)?;
    let mut guard = Guard::start()?;
    for change in &wanted {
        guard.remember(&change.path, &change.before)?;
    }
    let mut held = SettingsGuard { machine, changes: wanted, journal, guard: Some(guard) };
    let mut made = Vec::new();
    for change in &held.changes {
        match held.machine.apply(std::slice::from_ref(change)) {
            Ok(()) => made.push(change.clone()),
            Err(error) => findings.push(refused(&error)),
        }
    }
    if made.is_empty() {
        held.put_back()?;
        return Ok((None, findings));
    }
    findings.push(set(&made));
    Ok((Some(held), findings))
}

/// Returns the changes needed for the requested settings, and findings about those that are
/// unavailable.
fn plan(
    machine: &Machine,
    directory: Option<&Path>,
    knobs: &[Knob],
) -> anyhow::Result<(Vec<Change>, Vec<Finding>)> {
    let (mut wanted, mut findings) = (Vec::new(), Vec::new());
    let held = match directory {
        Some(directory) if !knobs.is_empty() => {
            Journal::held_by_others(directory).with_context(|| directory.display().to_string())?
        }
        _ => Vec::new(),
    };
    for knob in knobs {
        match machine.plan(knob) {
            Ok(changes) => match holder(machine, knob, &held)? {
                // `assay doctor --fix` has set this, started this process, and waits for it to end.
                Some(other) if other.encloses_us && changes.is_empty() => {}
                // This also applies if the setting already has the wanted value, because the other
                // run will restore a different one.
                Some(other) => findings.push(held_by(knob, other.process)),
                None => wanted.extend(changes),
            },
            Err(error @ KnobError::UnknownValue { .. }) => return Err(error.into()),
            Err(error) => findings.push(refused(&error)),
        }
    }
    Ok((wanted, findings))
}

/// Returns the other process that has changed one of a setting's files, if there is one.
fn holder<'a>(
    machine: &Machine,
    knob: &Knob,
    held: &'a [Holder],
) -> Result<Option<&'a Holder>, KnobError> {
    if held.is_empty() {
        return Ok(None);
    }
    let files = machine.read(knob)?;
    let is_of_knob = |change: &Change| files.iter().any(|(path, _)| *path == change.path);
    Ok(held.iter().find(|other| other.changes.iter().any(is_of_knob)))
}

/// Returns the settings that can be made here, because the machine offers them with these values
/// and the user may change them.
pub(crate) fn mendable(knobs: Vec<Knob>) -> Vec<Knob> {
    mendable_on(&Machine::here(), knobs)
}

fn mendable_on(machine: &Machine, knobs: Vec<Knob>) -> Vec<Knob> {
    knobs.into_iter().filter(|knob| machine.plan(knob).is_ok()).collect()
}

/// Restores the settings that a killed run left changed, and reports them.
pub(crate) fn mend() {
    if let Some(directory) = store::state_directory() {
        for line in mend_on(&Machine::here(), &directory) {
            output::say(&line);
        }
    }
}

/// Restores as much as possible and returns the messages to show. A journal is removed once all of
/// its changes are undone.
fn mend_on(machine: &Machine, directory: &Path) -> Vec<String> {
    let mut said = CleanupReport::default();
    if let Err(error) = put_back_left(machine, directory, &mut said) {
        said.line(format!(
            "warning: the journals of changed settings in {} can't be read: {error}",
            directory.display()
        ));
    }
    said.into_lines(directory)
}

fn put_back_left(machine: &Machine, directory: &Path, said: &mut CleanupReport) -> io::Result<()> {
    // Nearly every run finds no journal. One that another process is about to begin is not a
    // leftover.
    if !Journal::any(directory)? {
        return Ok(());
    }
    let _turn = Journal::turn(directory)?;
    let living = Journal::held_by_others(directory)?;
    // Files that earlier journals must not restore, because a running process, or a run that was
    // killed later and cannot be undone yet, has changed them since.
    let mut above: BTreeSet<PathBuf> =
        living.into_iter().flat_map(|other| other.changes).map(|change| change.path).collect();
    for left in Journal::left_behind(directory)?.iter().rev() {
        let paths = || left.changes.iter().map(|change| change.path.clone());
        if paths().any(|path| above.contains(&path)) || !is_undone(machine, left, said) {
            above.extend(paths());
        } else {
            unless_denied(left.forget())?;
        }
    }
    unless_denied(Journal::sweep(directory))
}

/// Ignores a failure to remove another user's journal that is no longer needed. The journal is
/// harmless, and is removed when that user runs assay.
fn unless_denied(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other,
    }
}

/// Undoes the changes in a journal. Returns false if some of them remain.
fn is_undone(machine: &Machine, left: &LeftBehind, said: &mut CleanupReport) -> bool {
    let mut undone = true;
    // Changes are undone last to first, so report them in that order.
    for (change, result) in left.changes.iter().zip(machine.restore(&left.changes)).rev() {
        match result {
            Ok(Undone::Restored) => said.restored(change),
            Ok(Undone::LeftAlone { .. }) => {}
            // assay never makes such a change, so retrying would not help.
            Err(error @ KnobError::NotOurs { .. }) => said.line(format!("warning: {error}")),
            Err(KnobError::NotPermitted { .. }) if !privileges().root => {
                said.denied.push(change.clone());
                undone = false;
            }
            Err(error) => {
                said.line(format!("warning: a run that was killed has changed a setting: {error}"));
                undone = false;
            }
        }
    }
    undone
}

/// Messages about settings that a killed run left changed, without repetition.
#[derive(Default)]
struct CleanupReport {
    restored: Vec<Change>,
    denied: Vec<Change>,
    lines: Vec<String>,
}

impl CleanupReport {
    fn line(&mut self, line: String) {
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// Records that a change was undone. Changes are undone in reverse order, and several changes
    /// of one file are reported as one: from the last value back to the original one.
    fn restored(&mut self, change: &Change) {
        match self.restored.iter_mut().find(|later| later.path == change.path) {
            Some(later) => later.before.clone_from(&change.before),
            None => self.restored.push(change.clone()),
        }
    }

    fn into_lines(mut self, directory: &Path) -> Vec<String> {
        for change in std::mem::take(&mut self.restored) {
            self.line(format!(
                "note: a run that was killed had left {} at {}; it is {} again",
                change.knob, change.after, change.before
            ));
        }
        if !self.denied.is_empty() {
            let home = directory.parent().unwrap_or(directory).display();
            self.line(format!(
                "warning: a run that was killed has left {}; to restore it, run assay once as root with this state \
                 directory: sudo XDG_STATE_HOME='{home}' assay doctor --quick",
                listed(&self.denied)
            ));
        }
        self.lines
    }
}

fn refused(error: &KnobError) -> Finding {
    not_controlled(&error.to_string())
}

fn held_by(knob: &Knob, process: u32) -> Finding {
    not_controlled(&format!(
        "`{}` is currently set by another run of assay (process {process})",
        knob.name()
    ))
    .advise(Action::text(
        "measure again when the other run has ended; simultaneous runs disturb each other anyway",
    ))
}

fn set(changes: &[Change]) -> Finding {
    Finding::new(
        code::MACHINE_SET,
        format!("set while measuring, and restored: {}", listed(changes)),
    )
}

/// Lists settings with their values; a setting with many files is listed once.
fn listed(changes: &[Change]) -> String {
    let mut told: Vec<String> = Vec::new();
    for change in changes {
        let line = format!("{} {} instead of {}", change.knob, change.after, change.before);
        if !told.contains(&line) {
            told.push(line);
        }
    }
    told.join(", ")
}

#[cfg(test)]
mod tests;
