//! The vocabulary of a farm: states of jobs and builds, targets described by facts, and scopes of
//! tokens. Types that represent rows of the store are elsewhere.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;

pub use assay_data::farm::{Facts, State};

/// Returns the JSON schema of a [`State`]. The crate that defines [`State`] does not depend on a
/// schema library.
#[cfg(feature = "schema")]
pub(crate) fn state_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "string", "enum": State::ALL.map(State::name)})
}

/// The part of a machine that was at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The disk is full or failed.
    Disk,
    /// A download failed.
    Network,
    /// A required program is missing or does not work.
    Toolchain,
    /// The machine ran out of memory, as opposed to the job's limit.
    Memory,
    /// The sandbox could not be created.
    Sandbox,
}

/// The kind of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Runs the tests of a version.
    Test,
    /// Compares the speed of a version with that of its base. Both are measured in the same lease
    /// on the same node.
    Bench,
}

/// The progress of a job. A job ends exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// The job waits for a node, or for the time of its next retry.
    Queued,
    /// The job is leased to a node.
    Leased,
    /// The job has ended with a build.
    Done,
    /// The job was cancelled.
    Cancelled,
}

/// The kind of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VersionKind {
    /// A release with a version number.
    Release,
    /// A commit of a repository.
    Commit,
}

/// The permissions of a token. Every scope includes reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Reads all data.
    Read,
    /// Adds owners, projects, versions, targets, builds and jobs.
    Submit,
    /// Leases jobs for one node, and submits their results.
    Agent,
    /// Creates and revokes tokens, drains nodes, and deletes data.
    Admin,
}

/// Returns the digest of a target: the SHA-256 of its facts in hexadecimal digits. Each fact, in
/// the order of names, contributes two lines: `LENGTH LENGTH` (bytes of name and value) and
/// `name=value`. Targets with equal facts are the same target.
#[must_use]
pub fn digest(facts: &Facts) -> String {
    let mut hash = Sha256::new();
    for (name, value) in facts {
        // The lengths ensure that two different sets of facts never produce the same lines.
        hash.update(format!("{} {}\n{name}={value}\n", name.len(), value.len()));
    }
    let mut digits = String::with_capacity(64);
    for byte in hash.finalize() {
        let _never_fails = write!(digits, "{byte:02x}");
    }
    digits
}

/// Returns true if the facts of a target meet the needs of a job. The target's value of each needed
/// fact must be equal to the needed value, or start with it and continue with a dot. For example,
/// `3.1` is met by `3.1.2`, but not by `3.12`.
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
        // The same text, split differently into name and value.
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
