//! The environment of a run: facts about the machine, the system and the settings, from an
//! allow-list and in a fixed order.
//!
//! Facts are stored as named JSON values, because later versions may write more of them, and a
//! reader must not lose facts that it does not understand. The analysis decides what a fact *means*
//! for the measurement, from these facts alone, so that a recorded run yields the same findings
//! years later.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Names of facts that identify a person or a place. `--anonymous` removes them, along with all
/// facts whose names begin with [`REPOSITORY`].
const PERSONAL: [&str; 4] = ["hostname", "user", "cwd", "paths"];
/// Prefix of the names of facts about a repository. These identify a person as well, because a
/// commit reveals its owner as surely as an address does.
const REPOSITORY: &str = "git_";

/// Facts about the machine and its settings during a run, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Environment {
    /// The facts, in the order of recording.
    pub facts: Map<String, Value>,
}

impl Environment {
    /// Makes an environment from named facts; a later fact replaces an earlier one of the same
    /// name.
    pub fn from_facts(facts: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self { facts: facts.into_iter().collect() }
    }

    /// Returns true if there are no facts.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Returns the fact `name` if it is present and a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.facts.get(name)?.as_f64()
    }

    /// Returns the fact `name` if it is present and a string.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.facts.get(name)?.as_str()
    }

    /// Returns the fact `name` if it is present and a boolean.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.facts.get(name)?.as_bool()
    }

    /// Records a fact.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.to_owned(), value.into());
    }

    /// Removes every fact that identifies a person or a place: `hostname`, `user`, `cwd`, `paths`,
    /// and everything about a repository (`git_…`). This includes the facts of single recordings in
    /// merged samples, as in `hostname@old`.
    pub fn make_anonymous(&mut self) {
        self.facts.retain(|name, _| {
            let fact = name.split('@').next().unwrap_or(name);
            !PERSONAL.contains(&fact) && !fact.starts_with(REPOSITORY)
        });
    }
}
