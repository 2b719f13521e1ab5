//! The base of the pull request that a continuous-integration job checks, as given by the runner's
//! environment variables.

use serde_json::Value;
use std::env;
use std::fs;

/// A revision that may be the base, and where it was found.
pub(super) struct Candidate {
    /// The revision, as git understands it.
    pub revision: String,
    /// Where the revision comes from, as shown to users.
    pub source: &'static str,
}

/// Returns the candidate base revisions from the runner's variables, best first; empty outside of
/// pull requests.
pub(super) fn candidates() -> Vec<Candidate> {
    let variable = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let mut found = Vec::new();
    if let Some(branch) = variable("GITHUB_BASE_REF") {
        let revision = format!("origin/{branch}");
        found.push(Candidate { revision, source: "GITHUB_BASE_REF" });
    }
    if let Some(commit) = variable("GITHUB_EVENT_PATH").and_then(|path| of_event(&path)) {
        found.push(Candidate { revision: commit, source: "the event of the pull request" });
    }
    if let Some(commit) = variable("CI_MERGE_REQUEST_DIFF_BASE_SHA") {
        found.push(Candidate { revision: commit, source: "CI_MERGE_REQUEST_DIFF_BASE_SHA" });
    }
    found
}

/// Returns `pull_request.base.sha` of GitHub's event.
fn of_event(path: &str) -> Option<String> {
    let event: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    let commit = event["pull_request"]["base"]["sha"].as_str()?;
    commit.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| commit.to_owned())
}
