//! Branches, tags and commits of a repository. `git` runs with only our configuration and without
//! hooks, and uses only network protocols: `ext::` would run a command, and `file:` would read what
//! others may not.

use crate::agent::policy::FETCHING;
use anyhow::{Context, bail};
use assay_measure::git::POWERLESS;
use assay_measure::{Command, Outcome, RunOptions, Runner, Watching};
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::chown;
use std::path::Path;

/// The protocols that git may use, unless the user allows repositories on this machine.
const PROTOCOLS: &str = "https:http:ssh:git";
/// Maximum number of characters of a message that are quoted.
const SAID: usize = 400;

/// Maximum number of commits requested by one command, as command lines have a maximum length.
const AT_ONCE: usize = 1_000;

/// A branch or tag, and its commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) struct NamedCommit {
    /// Name of the branch or tag, such as `main` or `v1.2`.
    pub name: String,
    pub commit: String,
    pub is_tag: bool,
}

impl NamedCommit {
    /// Returns the name of the version: the tag, or the commit of a branch.
    pub fn version(&self) -> &str {
        if self.is_tag { &self.name } else { &self.commit }
    }
}

/// Runs git, and returns its standard output.
fn git(
    words: &[&str],
    at: Option<&Path>,
    allows_files: bool,
    ends: &mut dyn FnMut() -> bool,
) -> anyhow::Result<String> {
    let mut argv: Vec<OsString> = vec!["git".into()];
    argv.extend(POWERLESS.map(Into::into));
    argv.extend(["-c", "advice.detachedHead=false"].map(Into::into));
    argv.extend(words.iter().map(OsString::from));
    let protocols = match allows_files {
        true => format!("{PROTOCOLS}:file"),
        false => PROTOCOLS.to_owned(),
    };
    let env = [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ALLOW_PROTOCOL", &protocols),
        ("GIT_LFS_SKIP_SMUDGE", "1"),
        ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
    ];
    let env = env.iter().map(|(name, own)| ((*name).to_owned(), (*own).to_owned())).collect();
    let command = Command::new(argv).map_err(|error| anyhow::anyhow!("{error}"))?;
    let cwd = Some(at.unwrap_or(Path::new("/")).to_owned());
    let command = Command { env, cwd, keep_output: true, keep_errors: true, ..command };
    let mut runner = Runner::start()?;
    let subject = runner.add(&command)?;
    let options = RunOptions { timeout: Some(FETCHING), end_strays: true, ..RunOptions::default() };
    let mut looks = |_: &assay_measure::OutputSoFar<'_>| ends();
    let watching = Watching { every: crate::agent::policy::LOOK, also: &[], ends: &mut looks };
    let ran = runner.run_watched(subject, options, Some(watching))?;
    let text = |kept: Option<assay_measure::KeptOutput>| {
        String::from_utf8_lossy(&kept.map(|own| own.bytes).unwrap_or_default()).into_owned()
    };
    match ran.outcome {
        Outcome::Exited(0) => Ok(text(ran.output)),
        outcome => {
            let said = crate::plain::line(&text(ran.errors));
            let said: String = said.chars().take(SAID).collect();
            bail!("git {} {outcome}: {said}", words.first().unwrap_or(&""))
        }
    }
}

/// Rejects addresses that git would take for an option or a program.
fn checked(url: &str) -> anyhow::Result<()> {
    // `ext::COMMAND`, which the protocol list also forbids.
    let is_helper = url
        .split_once("::")
        .is_some_and(|(first, _)| first.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if url.starts_with('-') || is_helper || url.chars().any(char::is_control) {
        bail!("`{}` is not the address of a repository", crate::plain::line(url));
    }
    Ok(())
}

/// Returns all branches and tags.
///
/// # Errors
/// If the repository cannot be queried.
pub(in crate::agent) fn named(url: &str, allows_files: bool) -> anyhow::Result<Vec<NamedCommit>> {
    checked(url)?;
    let said =
        git(&["ls-remote", "--heads", "--tags", "--", url], None, allows_files, &mut || false)?;
    Ok(listed(&said))
}

fn listed(said: &str) -> Vec<NamedCommit> {
    let mut all: Vec<NamedCommit> = Vec::new();
    for line in said.lines() {
        let Some((commit, name)) = line.split_once('\t') else { continue };
        if commit.len() < 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            continue;
        }
        // In git's list, an annotated tag is followed by its target, which has the suffix `^{}`.
        let (name, is_peeled) = match name.strip_suffix("^{}") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let (name, is_tag) =
            match (name.strip_prefix("refs/tags/"), name.strip_prefix("refs/heads/")) {
                (Some(tag), _) => (tag, true),
                (None, Some(branch)) => (branch, false),
                (None, None) => continue,
            };
        let commit = commit.to_owned();
        match all.iter_mut().find(|own| own.is_tag == is_tag && own.name == name) {
            Some(own) if is_peeled => own.commit = commit,
            Some(_) => {}
            None => all.push(NamedCommit { name: name.to_owned(), commit, is_tag }),
        }
    }
    all
}

/// Returns the time (s since 1970) of each of these commits that the repository provides. Only the
/// commits are fetched, into a temporary repository in `beside`; a server that does not support
/// this also sends their files.
///
/// # Errors
/// If they cannot be fetched.
pub(in crate::agent) fn dated(
    url: &str,
    commits: &[&str],
    beside: &Path,
    allows_files: bool,
) -> anyhow::Result<HashMap<String, i64>> {
    checked(url)?;
    // The common case: there is nothing new.
    if commits.is_empty() {
        return Ok(HashMap::new());
    }
    let room = tempfile::Builder::new().prefix("dates").tempdir_in(beside)?;
    let at = Some(room.path());
    let mut all = HashMap::new();
    git(&["init", "--quiet", "--bare", "."], at, allows_files, &mut || false)?;
    // Filters require a named remote.
    git(&["remote", "add", "--", "origin", url], at, allows_files, &mut || false)?;
    for some in commits.chunks(AT_ONCE) {
        let fetch = ["fetch", "--quiet", "--depth", "1", "--filter=tree:0", "--no-tags", "origin"];
        git(&[&fetch[..], some].concat(), at, allows_files, &mut || false)?;
        let log = ["log", "--no-walk=unsorted", "--format=%H %ct"];
        let said = git(&[&log[..], some, &["--"]].concat(), at, allows_files, &mut || false)?;
        let lines = said.lines().filter_map(|line| line.split_once(' '));
        all.extend(
            lines.filter_map(|(commit, time)| Some((commit.to_owned(), time.parse().ok()?))),
        );
    }
    Ok(all)
}

/// Fetches a commit, branch or tag into an existing empty directory, and returns its commit.
///
/// # Errors
/// If it cannot be fetched.
pub(in crate::agent) fn fetch(
    url: &str,
    revision: &str,
    to: &Path,
    allows_files: bool,
    ends: &mut dyn FnMut() -> bool,
) -> anyhow::Result<String> {
    checked(url)?;
    if revision.starts_with('-') || revision.contains([':', '\\', ' ', '^', '~']) {
        bail!("`{}` is not the name of a revision", crate::plain::line(revision));
    }
    // git refuses to work in a directory of another user. It is given to the user of the sandbox
    // afterwards, with all its contents.
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    chown(to, Some(user.as_raw()), Some(group.as_raw()))
        .with_context(|| to.display().to_string())?;
    git(&["init", "--quiet", "."], Some(to), allows_files, ends)?;
    let shallow = ["fetch", "--quiet", "--depth", "1", "--no-tags", "--", url, revision];
    let one = git(&shallow, Some(to), allows_files, ends);
    if let Err(error) = one {
        // Servers may refuse to send a commit by its id; in that case everything with a name is
        // fetched.
        let all = ["fetch", "--quiet", "--tags", "--", url, "+refs/heads/*:refs/remotes/from/*"];
        git(&all, Some(to), allows_files, ends).map_err(|_| error)?;
        git(&["checkout", "--quiet", "--detach", revision, "--"], Some(to), allows_files, ends)
            .with_context(|| format!("{} does not exist", crate::plain::line(revision)))?;
    } else {
        git(
            &["checkout", "--quiet", "--detach", "FETCH_HEAD", "--"],
            Some(to),
            allows_files,
            ends,
        )?;
    }
    Ok(git(&["rev-parse", "HEAD"], Some(to), allows_files, ends)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn tags_are_the_commits_that_they_point_at() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let said = format!(
            "{a}\trefs/heads/main\n{a}\trefs/tags/v1\n{b}\trefs/tags/v1^{{}}\n{a}\trefs/pull/1/head\nx\ty\n"
        );
        let expected = [
            NamedCommit { name: "main".into(), commit: a, is_tag: false },
            NamedCommit { name: "v1".into(), commit: b, is_tag: true },
        ];
        assert_eq!(listed(&said), expected);
    }

    #[test]
    fn a_commit_is_fetched_into_what_was_given_to_the_user_of_the_sandbox() {
        let room = tempfile::tempdir().unwrap();
        let (from, to) = (room.path().join("from"), room.path().join("to"));
        for own in [&from, &to] {
            std::fs::create_dir(own).unwrap();
        }
        std::fs::write(from.join("mark"), "1").unwrap();
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let commit = [&author[..], &["commit", "--quiet", "-m", "one"]].concat();
        for words in [&["init", "--quiet", "."][..], &["add", "mark"], &commit, &["tag", "v1"]] {
            git(words, Some(&from), true, &mut || false).unwrap();
        }
        // Only root can change the owner; for other users, the file remains their own.
        if rustix::process::geteuid().is_root() {
            chown(&to, Some(65_534), Some(65_534)).unwrap();
        }
        let url = format!("file://{}", from.display());
        let fetched = fetch(&url, "v1", &to, true, &mut || false).unwrap();
        assert_eq!(fetched.len(), 40);
        assert_eq!(std::fs::read_to_string(to.join("mark")).unwrap(), "1");
    }

    #[test]
    fn a_commit_has_the_date_that_it_was_made_at() {
        let room = tempfile::tempdir().unwrap();
        let from = room.path().join("from");
        std::fs::create_dir(&from).unwrap();
        git(&["init", "--quiet", "."], Some(&from), true, &mut || false).unwrap();
        for (tag, date) in
            [("v1.2", "2024-03-01T12:00:00 +0100"), ("v1.10", "2025-03-01T12:00:00Z")]
        {
            let commit = std::process::Command::new("git")
                .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
                .args(["commit", "--quiet", "--allow-empty", "-m", tag])
                .env("GIT_COMMITTER_DATE", date)
                .current_dir(&from)
                .status();
            assert!(commit.unwrap().success());
            // In a test repository with an annotated tag, the tag is a separate object.
            let words =
                ["-c", "user.name=a", "-c", "user.email=a@example.org", "tag", "-m", tag, tag];
            git(&words, Some(&from), true, &mut || false).unwrap();
        }
        let url = format!("file://{}", from.display());
        let named = named(&url, true).unwrap();
        let commits: Vec<&str> = named.iter().map(|own| own.commit.as_str()).collect();
        let dates = dated(&url, &commits, room.path(), true).unwrap();
        let mut tags: Vec<_> = named.iter().filter(|own| own.is_tag).collect();
        tags.sort_by_key(|own| dates[&own.commit]);
        let tags: Vec<_> = tags.iter().map(|own| (own.name.as_str(), dates[&own.commit])).collect();
        assert_eq!(tags, [("v1.2", 1_709_290_800), ("v1.10", 1_740_830_400)]);
        assert_eq!(std::fs::read_dir(room.path()).unwrap().count(), 1, "nothing is left behind");
        assert!(
            dated(&url, &["0123456789012345678901234567890123456789"], room.path(), true).is_err()
        );
    }

    #[test]
    fn what_would_be_run_is_no_address() {
        for url in ["--upload-pack=x", "ext::sh -c id", "a\nb"] {
            assert!(checked(url).is_err(), "{url}");
        }
        assert!(checked("https://git.example/p.git").is_ok());
    }
}
