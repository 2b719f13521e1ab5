//! The words of a farm: states of jobs and builds, targets by their facts, tokens' scopes. Only what has no rows of a store in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What came of a version on a target.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Tests ran, and all passed.
    Passed,
    /// Tests ran, and some failed.
    Failed,
    /// Tests began, and could not be run to the end.
    Errored,
    /// There is no evidence that a test ran.
    NotTested,
    /// It, or something that it needs, could not be installed or compiled.
    InstallFailed,
    /// It took longer than it may.
    TimedOut,
    /// The machine was at fault, not the version: see [`Fault`].
    Infrastructure,
    /// Whoever had it was not heard of again, several times.
    Lost,
}

impl State {
    /// All states, in the order of their meaning.
    pub const ALL: [Self; 8] = [
        Self::Passed,
        Self::Failed,
        Self::Errored,
        Self::NotTested,
        Self::InstallFailed,
        Self::TimedOut,
        Self::Infrastructure,
        Self::Lost,
    ];

    /// As in the store and over the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Errored => "errored",
            Self::NotTested => "not_tested",
            Self::InstallFailed => "install_failed",
            Self::TimedOut => "timed_out",
            Self::Infrastructure => "infrastructure",
            Self::Lost => "lost",
        }
    }

    /// The state of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether another try may come to something else, since it says nothing about the version.
    #[must_use]
    pub const fn is_retried(self) -> bool {
        matches!(self, Self::Infrastructure | Self::Lost)
    }
}

/// What of a machine was at fault.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Whether the version's tests pass.
    Test,
    /// Whether it is as fast as its base: both in the same lease on the same node.
    Bench,
}

/// How far a job is. It ends once.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum VersionKind {
    /// Published under a number.
    Release,
    /// A commit of a repository.
    Commit,
}

/// What a token allows. Each includes reading.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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

/// What a platform is, by name: `os`, `kernel`, `libc`, `cpu`, `microcode`, `arch`, `runtime.ruby`, `setting.governor`, …
pub type Facts = BTreeMap<String, String>;

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
        // The same text, cut elsewhere.
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
