//! The environment of a run: facts about machine, system and settings, by allow-list, in a fixed order.
//!
//! Facts are kept as named JSON values, because files of later versions know more of them and a reader must not lose what
//! it does not understand. What a fact *means* for the measurement is decided in the analysis, from these facts alone, so
//! that a recorded run yields the same findings years later.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Names of the facts that reveal who or where somebody is; `--anonymous` leaves them out, and all that begin with [`REPOSITORY`].
const PERSONAL: [&str; 4] = ["hostname", "user", "cwd", "paths"];
/// How the names of facts about a repository begin: a commit says whose it is as surely as its address.
const REPOSITORY: &str = "git_";

/// Facts about the machine and its settings when a run began, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Environment {
    /// The facts, in the order in which they were recorded.
    pub facts: Map<String, Value>,
}

impl Environment {
    /// An environment from named facts; a later fact of the same name replaces an earlier one.
    pub fn from_facts(facts: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self { facts: facts.into_iter().collect() }
    }

    /// True when nothing is known.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// The fact as a number, if it is there and is one.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.facts.get(name)?.as_f64()
    }

    /// The fact as text, if it is there and is one.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.facts.get(name)?.as_str()
    }

    /// The fact as a truth value, if it is there and is one.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.facts.get(name)?.as_bool()
    }

    /// Records a fact.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.to_owned(), value.into());
    }

    /// Leaves out every fact that reveals who or where somebody is: `hostname`, `user`, `cwd`, `paths`, and all about a repository
    /// (`git_…`). Also those that merged samples carry once per recording, as in `hostname@old`.
    pub fn make_anonymous(&mut self) {
        self.facts.retain(|name, _| {
            let fact = name.split('@').next().unwrap_or(name);
            !PERSONAL.contains(&fact) && !fact.starts_with(REPOSITORY)
        });
    }
}
