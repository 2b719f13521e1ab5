//! Which commit the current directory is at, and whether anything was changed since.
//!
//! The commit is read from `.git` itself, following gitrepository-layout(5); `git` is started only
//! to learn about changes, and only for a short time. Nothing is written: not even the index is
//! refreshed.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::word_of;
use crate::sys::asked::says_anything;

/// What is known of a working tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The commit; `None` before the first one.
    pub(crate) commit: Option<String>,
    /// Whether tracked or new files differ from it; `None` if `git` is absent or too slow.
    pub(crate) dirty: Option<bool>,
}

/// The state of the working tree that a directory is in, or `None` if it is in none. `git` may
/// take so long at most; without patience it is not even started.
pub(crate) fn state(directory: &Path, patience: Duration) -> Option<State> {
    let start = directory.canonicalize().ok()?;
    let git = git_directory_around(&start)?;
    let dirty = if patience.is_zero() { None } else { dirty(&start, patience) };
    Some(State { commit: commit(&git), dirty })
}

/// A commit with its place in the history of its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its full name.
    pub commit: String,
    /// Its first parent; `None` for the first commit of all.
    pub parent: Option<String>,
    /// How many commits lead to it by first parents, itself counted; `None` in a shallow clone, which has not all of them.
    pub ordinal: Option<u64>,
    /// When it was committed, s since 1970.
    pub time: i64,
}

/// The commit that a revision names in the repository of a directory; `None` where there is no repository, no git or no such commit.
/// Where the history has a million commits, this takes a second.
pub fn place(directory: &Path, revision: &str) -> Option<Place> {
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
    // Both questions are asked at once.
    let count = ask(&["rev-list", "--count", "--first-parent"]);
    let commit = told(ask(&["log", "-1", "--no-show-signature", FORMAT]));
    let count = told(count);
    let mut place = read_place(&mut commit?.lines())?;
    let counted = || count?.trim().parse().ok();
    place.ordinal = if is_shallow(directory) { None } else { counted() };
    Some(place)
}

/// How git is asked for a commit, which [`read_place`] reads.
const FORMAT: &str = "--format=%H%n%P%n%ct";

/// A commit from the lines that git gives, without its ordinal.
fn read_place<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<Place> {
    let commit = object_name(lines.next()?)?;
    let parent = lines.next()?.split(' ').next().and_then(object_name);
    let time = lines.next()?.trim().parse().ok()?;
    Some(Place { commit, parent, ordinal: None, time })
}

/// Places of many commits of one repository, of which most lie on its current line: that is asked for once.
#[derive(Debug)]
pub struct Places {
    directory: PathBuf,
    asked: u32,
    line: Option<HashMap<String, Place>>,
}

impl Places {
    /// Of the repository that a directory is in. Nothing is asked yet.
    pub fn of(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), asked: 0, line: None }
    }

    /// As [`place`].
    pub fn place(&mut self, revision: &str) -> Option<Place> {
        self.asked += 1;
        if self.asked <= FEW {
            return place(&self.directory, revision);
        }
        let directory = &self.directory;
        let line = self.line.get_or_insert_with(|| line(directory).unwrap_or_default());
        line.get(revision).cloned().or_else(|| place(directory, revision))
    }
}

/// So many commits are asked for one by one.
const FEW: u32 = 3;

/// The first parents of the current commit, itself included, by their names.
fn line(directory: &Path) -> Option<HashMap<String, Place>> {
    if is_shallow(directory) {
        return None;
    }
    let words = ["log", "--first-parent", "--no-show-signature", FORMAT, "HEAD", "--"];
    let answer = quiet(directory).args(words).output().ok()?;
    let text = String::from_utf8(answer.stdout).ok()?;
    let mut lines = text.lines();
    let mut places: Vec<Place> = std::iter::from_fn(|| read_place(&mut lines)).collect();
    // The last one has no parents, or the answer was cut off.
    if places.last().is_none_or(|last| last.parent.is_some()) {
        return None;
    }
    places.reverse();
    for (before, place) in places.iter_mut().enumerate() {
        place.ordinal = Some(before as u64 + 1);
    }
    Some(places.into_iter().map(|place| (place.commit.clone(), place)).collect())
}

/// Whether one commit leads to another one; `None` where the repository of a directory has not both, or there is none.
pub fn leads_to(directory: &Path, from: &str, to: &str) -> Option<bool> {
    // Names come from files of others: they must not be options.
    let (from, to) = (object_name(from)?, object_name(to)?);
    let status = quiet(directory).args(["merge-base", "--is-ancestor", &from, &to]).status();
    match status.ok()?.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}

/// The first parents of a commit, itself included and the oldest first; with `from`, those that do not lead to that one, by their full names.
/// `None` where git does not answer.
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

/// A commit with what its message says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its full name.
    pub commit: String,
    /// When it was committed, s since 1970.
    pub time: i64,
    /// The first line of its message: any text at all.
    pub subject: String,
}

/// A commit and those that lead from it to another one by first parents, in that order; both names are of commits. What a merge brought
/// in is one commit, the merge, as `git bisect --first-parent` has it. `None` where git can't list them.
pub fn commits_between(directory: &Path, from: &str, to: &str) -> Option<Vec<Described>> {
    let (from, to) = (object_name(from)?, object_name(to)?);
    let format = ["log", "--no-show-signature", "--no-color", "--format=%H %ct %s"];
    let asked = |words: &[&str]| {
        let answer = quiet(directory).args(format).args(words).arg("--").output().ok()?;
        let text = answer.status.success().then(|| String::from_utf8_lossy(&answer.stdout));
        Some(text?.lines().filter_map(described).collect::<Vec<Described>>())
    };
    let mut commits = asked(&["-1", &from])?;
    let between = format!("{from}..{to}");
    commits.extend(asked(&["--first-parent", "--reverse", &between])?);
    (commits.first()?.commit == from && commits.last()?.commit == to).then_some(commits)
}

/// A line of [`commits_between`].
fn described(line: &str) -> Option<Described> {
    let mut parts = line.splitn(3, ' ');
    let commit = object_name(parts.next()?)?;
    let time = parts.next()?.parse().ok()?;
    Some(Described { commit, time, subject: parts.next().unwrap_or_default().to_owned() })
}

/// The files that are not as in a revision, or not known to git though nothing ignores them, by their paths from the top of the working tree; `top` is
/// that. `None` where git does not answer.
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

/// The lines that are not as in a revision, by the path of their file from the top of the working tree, as first and last line; all of a file that git
/// does not know. Where lines are only gone, there are none. `None` where git does not answer.
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

/// The new lines of a diff without context.
fn lines_of_diff(diff: &str) -> BTreeMap<String, Vec<(u32, u32)>> {
    let mut lines: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    let mut path = None;
    // Lines of the texts themselves follow the number that their heading names.
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

/// Whether a clone has only the last commits; by what is there, git is not asked (gitrepository-layout(5), `shallow`).
pub fn is_shallow(directory: &Path) -> bool {
    let start = directory.canonicalize().ok();
    let git = start.as_deref().and_then(git_directory_around);
    git.is_some_and(|git| common(&git).join("shallow").exists())
}

/// `git` in a directory, for questions that read no file of the working tree. This and [`reading`] are the only ways in which `git` is called here.
fn quiet(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.args(POWERLESS).envs(OFFLINE).env_remove("GIT_EXTERNAL_DIFF").current_dir(directory);
    git.stdin(Stdio::null()).stderr(Stdio::null());
    git
}

/// `git` in a directory, for questions that read files of the working tree. `None` where its filters can't be turned off.
fn reading(directory: &Path) -> Option<Command> {
    let mut git = quiet(directory);
    git.args(without_filters(directory)?);
    Some(git)
}

/// The top of the working tree that a directory is in, by what is there; git is not asked.
pub fn top(directory: &Path) -> Option<PathBuf> {
    let start = directory.canonicalize().ok()?;
    let mut above = start.ancestors();
    above.find(|above| git_directory(&above.join(".git")).is_some()).map(Path::to_owned)
}

/// The directory of git of the working tree that a directory is in.
fn git_directory_around(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find_map(|above| git_directory(&above.join(".git")))
}

/// What all linked worktrees share is kept with the main one.
fn common(git: &Path) -> PathBuf {
    match fs::read_to_string(git.join("commondir")) {
        Ok(path) => git.join(path.trim()),
        Err(_) => git.to_owned(),
    }
}

/// `.git` is a directory, or in worktrees and submodules a file that names one.
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

/// A reference in the text of `packed-refs`.
fn packed_ref(packed: &str, name: &str) -> Option<String> {
    packed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find_map(|(object, of)| (of == name).then(|| object_name(object)).flatten())
}

/// The name of an object, by SHA-1 or SHA-256.
fn object_name(text: &str) -> Option<String> {
    let name = text.trim();
    let right = matches!(name.len(), 40 | 64) && name.bytes().all(|b| b.is_ascii_hexdigit());
    right.then(|| name.to_owned())
}

/// Options that keep git from running programs named by the configuration of a repository, which the user has not agreed to run. Filters of contents and
/// drivers of diffs have names of their own: see [`without_filters`] and [`PLAIN_DIFF`]. `core.alternateRefsCommand` stays: only fetching runs it, which is
/// done in repositories of our own, and those need it to know what the lender of their objects has.
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

/// Options of `git diff` that keep it from running drivers of diffs and text conversions, and from asking the git of a submodule.
const PLAIN_DIFF: [&str; 5] =
    ["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--no-renames"];

/// Variables that keep git from fetching absent objects of a partial clone, for which it would run a program that the repository names, and from
/// writing anything. `GIT_NO_LAZY_FETCH` is for versions from 2.44, `GIT_ALLOW_PROTOCOL` for all.
pub(crate) const OFFLINE: [(&str, &str); 4] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Asks `git`, and gives up when it takes too long.
fn dirty(directory: &Path, patience: Duration) -> Option<bool> {
    let deadline = Instant::now() + patience;
    let mut child = reading(directory)?
        .args(["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"])
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let said = child.stdout.take().and_then(|output| says_anything(output, deadline));
    // One byte is an answer: the rest of a long list is not waited for.
    let killed = said != Some(false) && child.kill().is_ok();
    let status = child.wait().ok()?;
    match said {
        Some(false) if !killed && status.success() => Some(false),
        Some(true) => Some(true),
        _ => None,
    }
}

/// Options that keep git from running the filters that the repository itself configures for its files; those of the user's own
/// configuration stay. `None` where git can't tell, or one has a name that no option can carry.
pub(crate) fn without_filters(directory: &Path) -> Option<Vec<String>> {
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
    // Scope and name take turns.
    let fields: Vec<&str> = text.split('\0').collect();
    for pair in fields.chunks_exact(2) {
        let ["local" | "worktree", name] = pair else { continue };
        let (driver, _) = name.rsplit_once('.')?;
        // An option ends its name at the first equals sign.
        if driver.contains(['=', '\n']) {
            return None;
        }
        for option in ["clean=", "smudge=", "process=", "required=false"] {
            options.extend(["-c".to_owned(), format!("{driver}.{option}")]);
        }
    }
    // Without a match git ends with 1 and says nothing.
    (listed.status.success() || text.is_empty()).then_some(options)
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
        let witness = d.path().join("ran");
        let program = d.path().join(".git/monitor");
        fs::write(&program, format!("#!/bin/sh\ntouch {}\n", witness.display())).unwrap();
        let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, runnable).unwrap();
        git(&["config", "core.fsmonitor", program.to_str().unwrap()]);
        fs::write(d.path().join("new"), "x").unwrap();
        assert_eq!(dirty(d.path(), Duration::from_secs(60)), Some(true));
        assert!(!witness.exists());
        // A filter for contents, whatever it is called, of a file whose size is that of the commit.
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
        assert_eq!(place(d.path(), "HEAD"), None);
        for message in ["one", "two"] {
            git(&["commit", "-q", "--allow-empty", "-m", message]);
        }
        git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
        git(&["commit", "-q", "--allow-empty", "-m", "aside"]);
        git(&["checkout", "-q", "main"]);
        git(&["merge", "-q", "--no-ff", "-m", "merged", "side"]);
        let first = place(d.path(), "HEAD~2").unwrap();
        assert_eq!((first.ordinal, first.parent), (Some(1), None));
        let merge = place(d.path(), "main").unwrap();
        let before = place(d.path(), "main^").unwrap();
        // What came from aside adds nothing of its own.
        assert_eq!((merge.ordinal, merge.parent.as_deref()), (Some(3), Some(&*before.commit)));
        assert!(merge.time >= before.time);
        for no in ["nowhere", "--all", "", "HEAD:x"] {
            assert_eq!(place(d.path(), no), None, "{no}");
        }
        assert_eq!(top(&d.path().join(".git")), d.path().canonicalize().ok());
        // Asked for many, the same is said of commits on the line and beside it.
        let mut many = Places::of(d.path());
        let names = ["main", "main^", "HEAD~2", "side"].map(|n| place(d.path(), n).unwrap().commit);
        for name in names.iter().chain(&names) {
            assert_eq!(many.place(name), place(d.path(), name));
        }
        assert!(many.line.as_ref().is_some_and(|line| line.len() == 3));
        assert_eq!(many.place("nowhere"), None);
        let commit = |revision: &str| place(d.path(), revision).unwrap().commit;
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
