//! The results of `assay calibrate` for this machine, which are kept in the state directory and
//! added to later runs.
//!
//! The file contains only the time, the machine, and the smallest differences that can be trusted
//! after a minute. Later runs record these as facts, which the analysis interprets. A file that is
//! broken or describes another machine is ignored.

use crate::store;
use anyhow::Context;
use assay_data::{Environment, private};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Facts that identify a machine, by their names in the file.
pub(crate) const MACHINE: [&str; 3] = ["hostname", "cpu_model", "cpus_online"];
/// Facts that later runs record.
const KEPT: [&str; 3] = ["calibrated_at", "calibrated_wall_60s", "calibrated_cpu_60s"];

fn file() -> Option<PathBuf> {
    Some(store::state_directory()?.join("calibration.json"))
}

/// Returns true if there is a calibration file.
pub(crate) fn are_kept() -> bool {
    file().is_some_and(|path| path.exists())
}

/// Returns the facts of the last calibration, to be added to those of a machine; empty if there are
/// none for this machine.
pub(crate) fn facts(environment: &Environment) -> Environment {
    let kept = file().and_then(|path| std::fs::read(path).ok());
    let kept: Option<Value> = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(kept) = kept else { return Environment::default() };
    if !is_of(environment, |fact| &kept[fact]) {
        return Environment::default();
    }
    let facts = KEPT.iter().filter(|fact| !kept[**fact].is_null());
    Environment::from_facts(facts.map(|fact| ((*fact).to_owned(), kept[*fact].clone())))
}

/// Returns true if two environments describe the same machine: the facts in [`MACHINE`] are equal,
/// or missing from both.
pub(crate) fn same_machine(one: &Environment, other: &Environment) -> bool {
    is_of(one, |fact| other.facts.get(fact).unwrap_or(&Value::Null))
}

fn is_of<'a>(environment: &Environment, told: impl Fn(&str) -> &'a Value) -> bool {
    MACHINE.iter().all(|fact| environment.facts.get(*fact).unwrap_or(&Value::Null) == told(fact))
}

/// Stores the smallest differences that can be trusted after a minute, as fractions.
///
/// # Errors
///
/// Fails if there is no state directory, or if it cannot be written.
pub(crate) fn keep(
    environment: &Environment,
    at: &str,
    wall: Option<f64>,
    cpu: Option<f64>,
) -> anyhow::Result<PathBuf> {
    let path = file().context("neither XDG_STATE_HOME nor HOME names a directory")?;
    let mut kept = json!({
        "calibrated_at": at,
        "calibrated_wall_60s": wall,
        "calibrated_cpu_60s": cpu,
    });
    for fact in MACHINE {
        kept[fact] = environment.facts.get(fact).cloned().unwrap_or(Value::Null);
    }
    let directory = path.parent().context("a file stands in a directory")?;
    private::directory(directory).with_context(|| directory.display().to_string())?;
    private::replace(&path, format!("{kept:#}\n").as_bytes())
        .with_context(|| path.display().to_string())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_differ_by_name_model_or_number_of_cpus_and_by_nothing_else() {
        let machine = |host: &str, cpus: u32, load: f64| {
            Environment::from_facts([
                ("hostname".to_owned(), host.into()),
                ("cpu_model".to_owned(), "synthetic".into()),
                ("cpus_online".to_owned(), cpus.into()),
                ("load_1m".to_owned(), load.into()),
            ])
        };
        let here = machine("here", 4, 0.1);
        assert!(same_machine(&here, &machine("here", 4, 3.0)));
        assert!(!same_machine(&here, &machine("there", 4, 0.1)));
        assert!(!same_machine(&here, &machine("here", 8, 0.1)));
        assert!(!same_machine(&here, &Environment::default()));
    }
}
