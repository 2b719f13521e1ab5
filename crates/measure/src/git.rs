//! Queries the git repository that contains a directory: its commits, and what has changed since a
//! commit.
//!
//! `state` reads the commit directly from `.git`, following gitrepository-layout(5), and starts
//! `git` only to detect changes, with a time limit. Nothing is written; not even the index is
//! refreshed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use memchr::memmem;

use crate::command::word_of;
use crate::sys::asked::says_anything;

/// The state of a working tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The current commit, or `None` before the first one.
    pub(crate) commit: Option<String>,
    /// True if tracked files differ from the commit, or if there are untracked files. `None` if
    /// `git` is absent or too slow.
    pub(crate) dirty: Option<bool>,
}

/// Returns the state of the working tree that contains a directory, or `None` if there is none.
/// `git` may take at most `patience`; if that is zero, it is not started.
pub(crate) fn state(directory: &Path, patience: Duration) -> Option<State> {
    let start = directory.canonicalize().ok()?;
    let git = git_directory_around(&start)?;
    let dirty = if patience.is_zero() { None } else { dirty(&start, patience) };
    Some(State { commit: commit(&git), dirty })
}

/// A commit with its position in the history of its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPosition {
    /// Full hash.
    pub commit: String,
    /// First parent of the commit; `None` for the root commit.
    pub parent: Option<String>,
    /// Number of commits in the first-parent history of the commit, including itself. `None` in a
    /// shallow clone, which lacks some of them.
    pub ordinal: Option<u64>,
    /// Commit time, in seconds since 1970.
    pub time: i64,
}

/// Returns the commit that a revision names in the repository that contains a directory, or `None`
/// if there is no repository, no git or no such commit. This takes about a second with a history of
/// a million commits.
pub fn position(directory: &Path, revision: &str) -> Option<CommitPosition> {
    let ask = |words: &[&str]| {
        let mut git = quiet(directory);
        git.args(words)
            .arg("--end-of-options")
            .arg(word_of(revision))
            .arg("--")
            .stdout(Stdio::piped())
            .spawn()
    };
    let told = |asked: std::io::Result<Child>| {
        let answer = asked.and_then(Child::wait_with_output).ok();
        String::from_utf8(answer.filter(|answer| answer.status.success())?.stdout).ok()
    };
    // The two queries run in parallel.
    let count = ask(&["rev-list", "--count", "--first-parent"]);
    let commit = told(ask(&["log", "-1", "--no-show-signature", FORMAT]));
    let count = told(count);
    let mut place = read_position(&mut commit?.lines())?;
    let counted = || count?.trim().parse().ok();
    place.ordinal = if is_shallow(directory) { None } else { counted() };
    Some(place)
}

/// Output format of git for a commit, parsed by [`read_position`].
const FORMAT: &str = "--format=%H%n%P%n%ct";

/// Parses a commit, without its ordinal, from git's output in [`FORMAT`].
fn read_position<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<CommitPosition> {
    let commit = object_name(lines.next()?)?;
    let parent = lines.next()?.split(' ').next().and_then(object_name);
    let time = lines.next()?.trim().parse().ok()?;
    Some(CommitPosition { commit, parent, ordinal: None, time })
}

/// Looks up the positions of many commits of one repository. Most of them are expected in the
/// first-parent history of the current commit, which is read only once.
#[derive(Debug)]
pub struct CommitPositions {
    directory: PathBuf,
    asked: u32,
    line: Option<HashMap<String, CommitPosition>>,
}

impl CommitPositions {
    /// Prepares lookups in the repository that contains a directory. Nothing is queried yet.
    pub fn of(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), asked: 0, line: None }
    }

    /// Like the function [`position`].
    pub fn position(&mut self, revision: &str) -> Option<CommitPosition> {
        self.asked += 1;
        if self.asked <= FEW {
            return position(&self.directory, revision);
        }
        let directory = &self.directory;
        let line = self.line.get_or_insert_with(|| line(directory).unwrap_or_default());
        line.get(revision).cloned().or_else(|| position(directory, revision))
    }
}

/// Number of commits that are queried individually before the whole first-parent history is read.
const FEW: u32 = 3;

/// Returns the first-parent history of the current commit, including the commit itself, by hash.
fn line(directory: &Path) -> Option<HashMap<String, CommitPosition>> {
    if is_shallow(directory) {
        return None;
    }
    let words = ["log", "--first-parent", "--no-show-signature", FORMAT, "HEAD", "--"];
    let answer = quiet(directory).args(words).output().ok()?;
    let text = String::from_utf8(answer.stdout).ok()?;
    let mut lines = text.lines();
    let mut places: Vec<CommitPosition> =
        std::iter::from_fn(|| read_position(&mut lines)).collect();
    // The last commit listed has no parent, unless the output was truncated.
    if places.last().is_none_or(|last| last.parent.is_some()) {
        return None;
    }
    places.reverse();
    for (before, place) in places.iter_mut().enumerate() {
        place.ordinal = Some(before as u64 + 1);
    }
    Some(places.into_iter().map(|place| (place.commit.clone(), place)).collect())
}

/// Returns true if `from` is `to` or an ancestor of it. `None` if there is no repository, or if it
/// lacks one of these commits.
pub fn leads_to(directory: &Path, from: &str, to: &str) -> Option<bool> {
    // Names come from untrusted files and must not be interpreted as options.
    let (from, to) = (object_name(from)?, object_name(to)?);
    let status = quiet(directory).args(["merge-base", "--is-ancestor", &from, &to]).status();
    match status.ok()?.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}

/// Returns the first-parent history of `to`, including `to` itself, oldest first. With `from`, that
/// commit and its ancestors are left out. Both are full hashes. `None` if git fails.
pub fn first_parents(directory: &Path, from: Option<&str>, to: &str) -> Option<Vec<String>> {
    let mut git = quiet(directory);
    git.args(["rev-list", "--first-parent", "--reverse", object_name(to)?.as_str()]);
    if let Some(from) = from {
        git.arg(format!("^{}", object_name(from)?));
    }
    let answer = git.arg("--").output().ok().filter(|answer| answer.status.success())?;
    let text = String::from_utf8(answer.stdout).ok()?;
    Some(text.lines().filter_map(object_name).collect())
}

/// A commit with the first line of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSummary {
    /// Full hash.
    pub commit: String,
    /// Commit time, in seconds since 1970.
    pub time: i64,
    /// First line of the message, which may be arbitrary text.
    pub subject: String,
}

/// Returns the commit `from`, followed by the first-parent history that leads from it to `to`. Both
/// are given by hash. A merge counts as a single commit, as in `git bisect --first-parent`. `None`
/// if git can't list the commits.
pub fn commits_between(directory: &Path, from: &str, to: &str) -> Option<Vec<CommitSummary>> {
    let (from, to) = (object_name(from)?, object_name(to)?);
    let format = ["log", "--no-show-signature", "--no-color", "--format=%H %ct %s"];
    let asked = |words: &[&str]| {
        let answer = quiet(directory).args(format).args(words).arg("--").output().ok()?;
        let text = answer.status.success().then(|| String::from_utf8_lossy(&answer.stdout));
        Some(text?.lines().filter_map(described).collect::<Vec<CommitSummary>>())
    };
    let mut commits = asked(&["-1", &from])?;
    let between = format!("{from}..{to}");
    commits.extend(asked(&["--first-parent", "--reverse", &between])?);
    (commits.first()?.commit == from && commits.last()?.commit == to).then_some(commits)
}

/// Parses a line of [`commits_between`].
fn described(line: &str) -> Option<CommitSummary> {
    let mut parts = line.splitn(3, ' ');
    let commit = object_name(parts.next()?)?;
    let time = parts.next()?.parse().ok()?;
    Some(CommitSummary { commit, time, subject: parts.next().unwrap_or_default().to_owned() })
}

/// Returns the files in git's index, including those of submodules, by their paths relative to
/// `top`, the root of the working tree. `None` if git fails.
pub fn tracked(top: &Path) -> Option<BTreeSet<String>> {
    let answer = quiet(top).args(["ls-files", "--recurse-submodules", "-z"]).output().ok();
    let answer = answer.filter(|answer| answer.status.success())?;
    let text = String::from_utf8_lossy(&answer.stdout);
    Some(text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// Returns the files that differ from a revision, and the untracked files that are not ignored, by
/// their paths relative to `top`, the root of the working tree. `None` if git fails.
pub fn changed_since(top: &Path, revision: &str) -> Option<Vec<String>> {
    if revision.starts_with('-') {
        return None;
    }
    let asked = |words: &[&str]| {
        let answer = reading(top)?.args(words.iter().map(|word| word_of(word))).output().ok();
        let answer = answer.filter(|answer| answer.status.success())?;
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        Some(
            text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect::<Vec<_>>(),
        )
    };
    let mut paths =
        asked(&[&["diff", "--name-only", "-z"], &PLAIN_DIFF[..], &[revision, "--"]].concat())?;
    paths.extend(asked(&["ls-files", "--others", "--exclude-standard", "-z"])?);
    Some(paths)
}

/// Returns the lines that differ from a revision, as ranges of first and last line, by file path
/// relative to the root of the working tree. Every line of an untracked file differs. Deleted lines
/// give no range. `None` if git fails.
pub fn changed_lines(top: &Path, revision: &str) -> Option<BTreeMap<String, Vec<(u32, u32)>>> {
    if revision.starts_with('-') {
        return None;
    }
    let asked = |words: &[&str]| {
        let answer = reading(top)?.args(words.iter().map(|word| word_of(word))).output().ok();
        let answer = answer.filter(|answer| answer.status.success())?;
        Some(String::from_utf8_lossy(&answer.stdout).into_owned())
    };
    let shape = ["-c", "core.quotePath=false", "diff", "--unified=0"];
    let names = ["--src-prefix=a/", "--dst-prefix=b/", revision, "--"];
    let diff = asked(&[&shape[..], &PLAIN_DIFF[..], &names[..]].concat())?;
    let mut lines = lines_of_diff(&diff);
    let others = asked(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    for path in others.split('\0').filter(|path| !path.is_empty()) {
        lines.insert(path.to_owned(), vec![(1, u32::MAX)]);
    }
    Some(lines)
}

/// Returns the added and changed lines of a diff that has no context lines, by file.
fn lines_of_diff(diff: &str) -> BTreeMap<String, Vec<(u32, u32)>> {
    let mut lines: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    let mut path = None;
    // Number of text lines left in the hunk, which its header announces.
    let mut texts = 0_u32;
    for line in diff.lines() {
        if texts > 0 && line.starts_with(['+', '-']) {
            texts -= 1;
        } else if let Some(own) = line.strip_prefix("+++ ") {
            path = own.strip_prefix("b/").map(|own| own.trim_end_matches('\t').to_owned());
        } else if let Some(heading) = line.strip_prefix("@@ -") {
            let span = |text: &str| {
                let (at, count) = text.split_once(',').unwrap_or((text, "1"));
                Some((at.parse::<u32>().ok()?, count.parse::<u32>().ok()?))
            };
            let mut words = heading.split(' ');
            let old = words.next().and_then(span);
            let new = words.next().and_then(|own| span(own.strip_prefix('+')?));
            let (Some((_, gone)), Some((first, count))) = (old, new) else { continue };
            texts = gone.saturating_add(count);
            if let Some(path) = path.clone().filter(|_| count > 0) {
                lines.entry(path).or_default().push((first, first.saturating_add(count - 1)));
            }
        }
    }
    lines
}

/// Returns true if a directory is in a shallow clone. Only files are read (gitrepository-layout(5),
/// `shallow`); git is not run.
pub fn is_shallow(directory: &Path) -> bool {
    let start = directory.canonicalize().ok();
    let git = start.as_deref().and_then(git_directory_around);
    git.is_some_and(|git| common(&git).join("shallow").exists())
}

/// Returns a `git` command in a directory, for queries that read no files of the working tree. This
/// module runs `git` only through this function or [`reading`].
fn quiet(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.args(POWERLESS).envs(OFFLINE).env_remove("GIT_EXTERNAL_DIFF").current_dir(directory);
    git.stdin(Stdio::null()).stderr(Stdio::null());
    git
}

/// Returns a `git` command in a directory, for queries that read files of the working tree. `None`
/// if its filters can't be disabled.
fn reading(directory: &Path) -> Option<Command> {
    let mut git = quiet(directory);
    git.args(without_filters(directory)?);
    Some(git)
}

/// Returns the root of the working tree that contains a directory. Only files are read; git is not
/// run.
pub fn top(directory: &Path) -> Option<PathBuf> {
    let start = directory.canonicalize().ok()?;
    let mut above = start.ancestors();
    above.find(|above| git_directory(&above.join(".git")).is_some()).map(Path::to_owned)
}

/// Returns the git directory of the working tree that contains a directory.
fn git_directory_around(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find_map(|above| git_directory(&above.join(".git")))
}

/// Returns the git directory that all linked worktrees share, which is that of the main worktree.
fn common(git: &Path) -> PathBuf {
    match fs::read_to_string(git.join("commondir")) {
        Ok(path) => git.join(path.trim()),
        Err(_) => git.to_owned(),
    }
}

/// Returns the git directory, which is `.git` itself or, in worktrees and submodules, the directory
/// that the file `.git` names.
fn git_directory(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return dot_git.join("HEAD").exists().then(|| dot_git.to_owned());
    }
    let text = fs::read_to_string(dot_git).ok()?;
    Some(dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim()))
}

fn commit(git: &Path) -> Option<String> {
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else {
        return object_name(&head);
    };
    let common = common(git);
    let loose = fs::read_to_string(common.join(name)).ok();
    loose.and_then(|text| object_name(&text)).or_else(|| {
        let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
        packed_ref(&packed, name)
    })
}

/// Returns the object that a reference names in the text of `packed-refs`.
fn packed_ref(packed: &str, name: &str) -> Option<String> {
    packed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find_map(|(object, of)| (of == name).then(|| object_name(object)).flatten())
}

/// Parses an object name, SHA-1 or SHA-256.
fn object_name(text: &str) -> Option<String> {
    let name = text.trim();
    let right = matches!(name.len(), 40 | 64) && name.bytes().all(|b| b.is_ascii_hexdigit());
    right.then(|| name.to_owned())
}

/// Options that keep git from running programs that the configuration of a repository names and
/// that the user has not agreed to run. Content filters and diff drivers have arbitrary names, so
/// [`without_filters`] and [`PLAIN_DIFF`] deal with them. `core.alternateRefsCommand` is not
/// overridden, because only fetching runs it, and our own repositories, which are the only ones
/// that fetch, need it to learn which objects they can borrow.
pub const POWERLESS: [&str; 38] = [
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "core.sshCommand=false",
    "-c",
    "core.askPass=",
    "-c",
    "core.editor=false",
    "-c",
    "core.gitProxy=",
    "-c",
    "credential.helper=",
    "-c",
    "diff.external=",
    "-c",
    "diff.submodule=short",
    "-c",
    "diff.trustExitCode=false",
    "-c",
    "gpg.program=false",
    "-c",
    "gpg.ssh.program=false",
    "-c",
    "gpg.x509.program=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "status.submoduleSummary=false",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "gc.auto=0",
    "-c",
    "submodule.recurse=false",
];

/// Options of `git diff` that keep it from running diff drivers and text conversions, and from
/// running git in submodules.
const PLAIN_DIFF: [&str; 5] =
    ["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--no-renames"];

/// Variables that keep git from writing anything and from fetching missing objects of a partial
/// clone, for which it would run a program named by the repository. `GIT_NO_LAZY_FETCH` works from
/// version 2.44 on, `GIT_ALLOW_PROTOCOL` in all versions.
pub(crate) const OFFLINE: [(&str, &str); 4] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Returns true if tracked files differ from the commit, or if there are untracked files. `None` if
/// `git` can't be queried or takes too long.
fn dirty(directory: &Path, patience: Duration) -> Option<bool> {
    let deadline = Instant::now() + patience;
    let mut child = reading(directory)?
        .args(["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"])
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let said = child.stdout.take().and_then(|output| says_anything(output, deadline));
    // A single byte answers the question, so the rest of a long list is not read.
    let killed = said != Some(false) && child.kill().is_ok();
    let status = child.wait().ok()?;
    match said {
        Some(false) if !killed && status.success() => Some(false),
        Some(true) => Some(true),
        _ => None,
    }
}

/// Returns options that keep git from running the filters that the repository itself configures for
/// its files. Filters of the user's own configuration still run. `None` if git can't list them, or
/// if a filter has a name that no option can contain.
pub(crate) fn without_filters(directory: &Path) -> Option<Vec<String>> {
    if has_no_filters(directory) {
        return Some(Vec::new());
    }
    let listed = quiet(directory)
        .args([
            "config",
            "-z",
            "--show-scope",
            "--name-only",
            "--get-regexp",
            r"^filter\..*\.(clean|smudge|process)$",
        ])
        .output()
        .ok()?;
    let text = String::from_utf8(listed.stdout).ok()?;
    let mut options = Vec::new();
    // Scope and name alternate.
    let fields: Vec<&str> = text.split('\0').collect();
    for pair in fields.chunks_exact(2) {
        let ["local" | "worktree", name] = pair else { continue };
        let (driver, _) = name.rsplit_once('.')?;
        // In an option, the name ends at the first equals sign.
        if driver.contains(['=', '\n']) {
            return None;
        }
        for option in ["clean=", "smudge=", "process=", "required=false"] {
            options.extend(["-c".to_owned(), format!("{driver}.{option}")]);
        }
    }
    // Without a match git exits with 1. Any other status means that nothing is known, as from a git
    // before 2.26, which has no `--show-scope`.
    matches!(listed.status.code(), Some(0 | 1)).then_some(options)
}

/// Returns true if the configurations of all repositories that a directory can belong to mention no
/// filters, so that git need not be started to list them.
///
/// *Note:* git may skip an incomplete repository and use one further up, or a bare one, so the
/// configurations of all of them are read.
fn has_no_filters(directory: &Path) -> bool {
    let elsewhere = ["GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE"];
    let Ok(start) = directory.canonicalize() else { return false };
    let is_silent = |path: PathBuf| match fs::read(path) {
        Ok(text) => {
            let text = text.to_ascii_lowercase();
            ["filter", "include"].iter().all(|word| memmem::find(&text, word.as_bytes()).is_none())
        }
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    let repositories = start.ancestors().flat_map(|above| {
        let bare = above.join("HEAD").exists().then(|| above.to_owned());
        [git_directory(&above.join(".git")), bare].into_iter().flatten()
    });
    let mut files = repositories.flat_map(|git| {
        [common(&git).join("config"), git.join("config"), git.join("config.worktree")]
    });
    elsewhere.iter().all(|name| env::var_os(name).is_none()) && files.all(is_silent)
}

#[cfg(test)]
mod diffs {
    use super::lines_of_diff;

    #[test]
    fn new_lines_are_read_from_a_diff_without_context() {
        let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@ def x\n-a\n--- b\n+++ c\n@@ -9,0 +10,3 @@\n+1\n+2\n+3\n\
            @@ -20 +23,0 @@\n-x\ndiff --git a/b b/b\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n";
        let lines = lines_of_diff(diff);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(lines["a"], [(1, 1), (10, 12)]);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    const NAME: &str = "0123456789abcdef0123456789abcdef01234567";

    fn repository(head: &str) -> tempfile::TempDir {
        let d = tempfile::tempdir().unwrap();
        fs::create_dir_all(d.path().join(".git/refs/heads")).unwrap();
        fs::create_dir_all(d.path().join("sub/deeper")).unwrap();
        fs::write(d.path().join(".git/HEAD"), head).unwrap();
        d
    }

    #[test]
    fn a_repository_runs_no_program_of_its_own() {
        let d = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            let done = Command::new("git").args(words).current_dir(d.path()).output().unwrap();
            assert!(done.status.success(), "{words:?}");
        };
        git(&["init", "-q"]);
        assert!(has_no_filters(d.path()));
        let witness = d.path().join("ran");
        let program = d.path().join(".git/monitor");
        fs::write(&program, format!("#!/bin/sh\ntouch {}\n", witness.display())).unwrap();
        let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, runnable).unwrap();
        git(&["config", "core.fsmonitor", program.to_str().unwrap()]);
        fs::write(d.path().join("new"), "x").unwrap();
        assert_eq!(dirty(d.path(), Duration::from_secs(60)), Some(true));
        assert!(!witness.exists());
        // A content filter with any name, of a file whose size is that of the commit.
        git(&["config", "core.fsmonitor", "false"]);
        fs::write(d.path().join(".gitattributes"), "* filter=some.own\n").unwrap();
        git(&["add", "."]);
        let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
        git(&[&author[..], &["commit", "-qm", "first"]].concat());
        for kind in ["clean", "process"] {
            git(&["config", &format!("filter.some.own.{kind}"), program.to_str().unwrap()]);
        }
        fs::write(d.path().join("new"), "y").unwrap();
        assert_eq!(dirty(d.path(), Duration::from_secs(60)), Some(true));
        assert!(!witness.exists());
        // git skips an incomplete repository, and uses the one above.
        let below = d.path().join("below");
        fs::create_dir_all(below.join(".git")).unwrap();
        fs::write(below.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(dirty(&below, Duration::from_secs(60)), Some(true));
        assert!(!witness.exists());
    }

    #[test]
    fn the_commit_is_found_from_a_directory_below() {
        let d = repository("ref: refs/heads/main\n");
        let below = d.path().join("sub/deeper");
        let commit = || state(&below, Duration::ZERO).unwrap().commit;
        assert_eq!(commit(), None);
        fs::write(
            d.path().join(".git/packed-refs"),
            format!("# pack-refs with: peeled\n{NAME} refs/heads/main\n^{NAME}\n"),
        )
        .unwrap();
        assert_eq!(commit().as_deref(), Some(NAME));
        let newer = NAME.replace('0', "f");
        fs::write(d.path().join(".git/refs/heads/main"), format!("{newer}\n")).unwrap();
        assert_eq!(commit(), Some(newer));
    }

    #[test]
    fn a_detached_head_and_a_linked_worktree_are_read() {
        let d = repository(&format!("{NAME}\n"));
        assert_eq!(state(d.path(), Duration::ZERO).unwrap().commit.as_deref(), Some(NAME));
        let linked = d.path().join(".git/worktrees/w");
        fs::create_dir_all(&linked).unwrap();
        fs::write(linked.join("HEAD"), "ref: refs/heads/w\n").unwrap();
        fs::write(linked.join("commondir"), "../..\n").unwrap();
        fs::write(d.path().join(".git/refs/heads/w"), NAME).unwrap();
        let tree = tempfile::tempdir().unwrap();
        fs::write(tree.path().join(".git"), format!("gitdir: {}\n", linked.display())).unwrap();
        assert_eq!(state(tree.path(), Duration::ZERO).unwrap().commit.as_deref(), Some(NAME));
    }

    #[test]
    fn a_commit_has_its_place_by_first_parents() {
        let d = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
            let done = Command::new("git").args(author).args(words).current_dir(d.path()).output();
            assert!(done.unwrap().status.success(), "{words:?}");
        };
        git(&["init", "-q", "-b", "main"]);
        assert_eq!(position(d.path(), "HEAD"), None);
        for message in ["one", "two"] {
            git(&["commit", "-q", "--allow-empty", "-m", message]);
        }
        git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
        git(&["commit", "-q", "--allow-empty", "-m", "aside"]);
        git(&["checkout", "-q", "main"]);
        git(&["merge", "-q", "--no-ff", "-m", "merged", "side"]);
        let first = position(d.path(), "HEAD~2").unwrap();
        assert_eq!((first.ordinal, first.parent), (Some(1), None));
        let merge = position(d.path(), "main").unwrap();
        let before = position(d.path(), "main^").unwrap();
        // Merged commits do not count.
        assert_eq!((merge.ordinal, merge.parent.as_deref()), (Some(3), Some(&*before.commit)));
        assert!(merge.time >= before.time);
        for no in ["nowhere", "--all", "", "HEAD:x"] {
            assert_eq!(position(d.path(), no), None, "{no}");
        }
        assert_eq!(top(&d.path().join(".git")), d.path().canonicalize().ok());
        // `CommitPositions` returns the same for commits on and off the line.
        let mut many = CommitPositions::of(d.path());
        let names =
            ["main", "main^", "HEAD~2", "side"].map(|n| position(d.path(), n).unwrap().commit);
        for name in names.iter().chain(&names) {
            assert_eq!(many.position(name), position(d.path(), name));
        }
        assert!(many.line.as_ref().is_some_and(|line| line.len() == 3));
        assert_eq!(many.position("nowhere"), None);
        let commit = |revision: &str| position(d.path(), revision).unwrap().commit;
        let listed = commits_between(d.path(), &first.commit, &merge.commit).unwrap();
        let subjects: Vec<&str> = listed.iter().map(|own| own.subject.as_str()).collect();
        assert_eq!(subjects, ["one", "two", "merged"]);
        let aside = commits_between(d.path(), &commit("side"), &merge.commit).unwrap();
        assert_eq!(aside.len(), 3);
        assert_eq!(commits_between(d.path(), &merge.commit, &first.commit), None);
        assert_eq!(commits_between(d.path(), "--all", &merge.commit), None);
    }

    #[test]
    fn what_is_no_repository_or_no_commit_is_nothing() {
        let d = tempfile::tempdir().unwrap();
        assert_eq!(state(d.path(), Duration::ZERO), None);
        let broken = repository("garbage");
        assert_eq!(state(broken.path(), Duration::ZERO).unwrap().commit, None);
    }

    #[test]
    fn no_patience_means_not_known() {
        let d = repository(NAME);
        assert_eq!(state(d.path(), Duration::ZERO).unwrap().dirty, None);
    }
}
