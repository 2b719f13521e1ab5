//! The vocabulary of a farm: states of jobs and builds, targets by their facts, scopes of tokens.
//! Contains no rows of a store.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;

pub use assay_data::farm::{Facts, State};

/// Returns the schema of a [`State`], whose crate knows of no schemas.
#[cfg(feature = "schema")]
pub(crate) fn state_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "string", "enum": State::ALL.map(State::name)})
}

/// What of a machine was at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// No room, or the disk refused.
    Disk,
    /// What was to be fetched could not be.
    Network,
    /// A program that is needed is not there or does not work.
    Toolchain,
    /// The machine's memory, not the job's limit.
    Memory,
    /// No sandbox could be made.
    Sandbox,
}

/// What a job is to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Whether the version's tests pass.
    Test,
    /// Whether it is as fast as its base: both in the same lease on the same node.
    Bench,
}

/// How far a job is. It ends once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Nobody has it.
    Queued,
    /// A node has it, until its lease ends.
    Leased,
    /// There is a build of it.
    Done,
    /// It was taken back.
    Cancelled,
}

/// What a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VersionKind {
    /// Published under a number.
    Release,
    /// A commit of a repository.
    Commit,
}

/// What a token allows. Each includes reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// To read.
    Read,
    /// To add owners, projects, versions, targets, builds and jobs.
    Submit,
    /// To take leases under one node's name, and to hand in what came of them.
    Agent,
    /// To make and take back tokens, to drain nodes, to delete.
    Admin,
}

/// The key of a target: SHA-256 of its facts, for each in the order of names two lines, `LENGTH LENGTH` (bytes of name and value) and
/// `name=value`; in hexadecimal digits. Equal facts are one target.
#[must_use]
pub fn digest(facts: &Facts) -> String {
    let mut hash = Sha256::new();
    for (name, value) in facts {
        // Lengths first, so that no two sets of facts have the same lines.
        hash.update(format!("{} {}\n{name}={value}\n", name.len(), value.len()));
    }
    let mut digits = String::with_capacity(64);
    for byte in hash.finalize() {
        let _never_fails = write!(digits, "{byte:02x}");
    }
    digits
}

/// Whether a target meets what a job needs: each fact that is needed has the value, or one that begins with it and goes on behind a dot
/// (`3.1` is met by `3.1.2`, not by `3.12`).
#[must_use]
pub fn meets(facts: &Facts, needs: &Facts) -> bool {
    needs.iter().all(|(name, wanted)| {
        let found = facts.get(name).and_then(|found| found.strip_prefix(wanted.as_str()));
        found.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    fn facts(all: &[(&str, &str)]) -> Facts {
        all.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn a_state_is_written_as_it_is_named() {
        for state in State::ALL {
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{}\"", state.name()));
            assert_eq!(State::of(state.name()), Some(state));
        }
    }

    #[test]
    fn targets_differ_where_their_facts_do() {
        let one = facts(&[("os", "debian 12"), ("runtime.ruby", "3.1.2")]);
        assert_eq!(digest(&one), digest(&one.clone()));
        assert_ne!(digest(&one), digest(&facts(&[("os", "debian 12")])));
        // The same text, split differently.
        assert_ne!(digest(&facts(&[("a", "b=c")])), digest(&facts(&[("a=b", "c")])));
        assert_ne!(digest(&facts(&[("a", "b\nc=d")])), digest(&facts(&[("a", "b"), ("c", "d")])));
    }

    #[test]
    fn a_need_is_met_by_a_longer_version_only_behind_a_dot() {
        let found = facts(&[("runtime.ruby", "3.1.2")]);
        for (wanted, is_met) in
            [("3.1.2", true), ("3.1", true), ("3", true), ("3.1.20", false), ("2", false)]
        {
            assert_eq!(meets(&found, &facts(&[("runtime.ruby", wanted)])), is_met, "{wanted}");
        }
        assert!(!meets(
            &facts(&[("runtime.python", "3.12")]),
            &facts(&[("runtime.python", "3.1")])
        ));
        assert!(!meets(&found, &facts(&[("runtime.python", "3")])));
    }
}
