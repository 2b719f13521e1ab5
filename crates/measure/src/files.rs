//! Watches the files below a directory for changes: by system events if available, otherwise by
//! scanning all of them periodically.
//!
//! The caller decides which files matter and how to react to a change.

use crate::sys::inotify::{Tree, Trouble, limit};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Returns true if a path, which may be a directory, is to be ignored; nothing below an ignored
/// directory is watched.
pub type Skips<'a> = dyn FnMut(&Path, bool) -> bool + 'a;

/// Changes of files since the last query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files that were written, created or removed.
    pub paths: BTreeSet<PathBuf>,
    /// True if directories were renamed or moved. Files in them may be gone without being listed.
    pub directories: bool,
    /// True if there were more changes than could be reported, so that any file may have changed.
    pub are_unknown: bool,
    /// True if the directory itself is gone.
    pub is_gone: bool,
}

impl Changes {
    /// Returns true if nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Reasons for scanning files periodically instead of waiting for events.
#[derive(Debug)]
pub enum PollingReason {
    /// Polling was requested.
    Wanted,
    /// The user's limit on the number of watched directories, if known, is reached.
    Watches(Option<u64>),
    /// The user's limit on the number of watchers, if known, is reached.
    Instances(Option<u64>),
    /// The file system does not report writes by other machines or programs.
    FileSystem,
    /// The system refused to watch the files.
    Refused(io::Error),
}

/// A watched directory.
#[derive(Debug)]
pub struct Files {
    top: PathBuf,
    by: ChangeSource,
    why: Option<PollingReason>,
}

#[derive(Debug)]
enum ChangeSource {
    Events(Tree),
    Looks(PollingState),
}

/// Metadata that shows that a file has changed: inode, size, modification time and status change
/// time.
type Stamp = (u64, u64, (i64, i64), (i64, i64));

#[derive(Debug)]
struct PollingState {
    every: Duration,
    known: HashMap<PathBuf, Stamp>,
    last: Instant,
}

impl Files {
    /// Watches the files below a directory. With `poll`, they are scanned at this interval, and
    /// events are not used. If events are unavailable, they are scanned every `else_every`.
    ///
    /// # Errors
    ///
    /// If the directory can't be read.
    pub fn watch(
        top: &Path,
        poll: Option<Duration>,
        else_every: Duration,
        skips: &mut Skips<'_>,
    ) -> io::Result<Self> {
        fs::read_dir(top)?;
        let why = match poll {
            Some(_) => PollingReason::Wanted,
            None => match Tree::watch(top, skips) {
                Ok(tree) => {
                    return Ok(Self {
                        top: top.to_owned(),
                        by: ChangeSource::Events(tree),
                        why: None,
                    });
                }
                Err(trouble) => polled(trouble),
            },
        };
        let looks = PollingState::begin(top, poll.unwrap_or(else_every), skips);
        Ok(Self { top: top.to_owned(), by: ChangeSource::Looks(looks), why: Some(why) })
    }

    /// Returns the reason for polling, if polling.
    pub fn why_polled(&self) -> Option<&PollingReason> {
        self.why.as_ref()
    }

    /// Returns a descriptor that becomes readable when files change; `None` when polling.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.by {
            ChangeSource::Events(tree) => Some(tree.descriptor()),
            ChangeSource::Looks(_) => None,
        }
    }

    /// Returns the time until the next scan; `None` if events are used.
    pub fn due_in(&self) -> Option<Duration> {
        match &self.by {
            ChangeSource::Events(_) => None,
            ChangeSource::Looks(looks) => Some(looks.every.saturating_sub(looks.last.elapsed())),
        }
    }

    /// Returns the number of watched directories, if events are used.
    pub fn directories(&self) -> Option<usize> {
        match &self.by {
            ChangeSource::Events(tree) => Some(tree.directories()),
            ChangeSource::Looks(_) => None,
        }
    }

    /// Returns the changes since the last call. If events become unavailable (new directories
    /// exceed a limit), files are scanned every `else_every` from then on, and any file may have
    /// changed.
    pub fn changes(&mut self, else_every: Duration, skips: &mut Skips<'_>) -> Changes {
        let mut changes = Changes::default();
        match &mut self.by {
            ChangeSource::Events(tree) => {
                if let Err(trouble) = tree.take(skips, &mut changes) {
                    self.why = Some(polled(trouble));
                    self.by =
                        ChangeSource::Looks(PollingState::begin(&self.top, else_every, skips));
                    changes.are_unknown = true;
                }
            }
            ChangeSource::Looks(looks) if looks.last.elapsed() < looks.every => {}
            ChangeSource::Looks(looks) => looks.look(&self.top, skips, &mut changes),
        }
        changes.is_gone |= !changes.is_empty() && !self.top.is_dir();
        changes
    }
}

fn polled(trouble: Trouble) -> PollingReason {
    match trouble {
        Trouble::Watches => PollingReason::Watches(limit("max_user_watches")),
        Trouble::Instances => PollingReason::Instances(limit("max_user_instances")),
        Trouble::Deaf => PollingReason::FileSystem,
        Trouble::Gone => PollingReason::Refused(io::ErrorKind::NotFound.into()),
        Trouble::Other(error) => PollingReason::Refused(error),
    }
}

impl PollingState {
    fn begin(top: &Path, every: Duration, skips: &mut Skips<'_>) -> Self {
        Self { every, known: all(top, skips), last: Instant::now() }
    }

    fn look(&mut self, top: &Path, skips: &mut Skips<'_>, changes: &mut Changes) {
        let now = all(top, skips);
        let other = now.iter().filter(|(path, stamp)| self.known.get(*path) != Some(stamp));
        changes.paths.extend(other.map(|(path, _)| path.clone()));
        let gone = self.known.keys().filter(|path| !now.contains_key(*path));
        changes.paths.extend(gone.cloned());
        changes.is_gone = !top.is_dir();
        (self.known, self.last) = (now, Instant::now());
    }
}

/// Returns all files below a directory that are not skipped.
fn all(top: &Path, skips: &mut Skips<'_>) -> HashMap<PathBuf, Stamp> {
    let mut found = HashMap::new();
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(own) = entry.metadata() else { continue };
            if skips(&path, own.is_dir()) {
                continue;
            }
            if own.is_dir() {
                open.push(path);
            } else {
                let (written, changed) =
                    ((own.mtime(), own.mtime_nsec()), (own.ctime(), own.ctime_nsec()));
                found.insert(path, (own.ino(), own.len(), written, changed));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use std::os::unix::fs::symlink;

    const EVERY: Duration = Duration::ZERO;

    /// Performs an action while files are watched by events, and again while they are scanned.
    /// Returns the names reported as changed in each case, with all changes.
    fn seen(
        prepare: impl Fn(&Path),
        act: impl Fn(&Path),
        skipped: &str,
    ) -> Vec<(BTreeSet<String>, Changes)> {
        let of = |poll: Option<Duration>| {
            let room = tempfile::tempdir().unwrap();
            let top = room.path();
            prepare(top);
            let mut skips = |path: &Path, _: bool| path.ends_with(skipped);
            let mut files = Files::watch(top, poll, EVERY, &mut skips).unwrap();
            assert_eq!(files.why_polled().is_some(), poll.is_some());
            assert!(files.changes(EVERY, &mut skips).is_empty());
            act(top);
            let changes = files.changes(EVERY, &mut skips);
            let name = |path: &PathBuf| {
                path.strip_prefix(top).unwrap_or(path).to_string_lossy().into_owned()
            };
            (changes.paths.iter().map(name).collect(), changes)
        };
        vec![of(None), of(Some(EVERY))]
    }

    fn names(of: &[&str]) -> BTreeSet<String> {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_is_written_comes_and_goes_is_seen_wherever_it_is() {
        let prepare = |top: &Path| {
            fs::create_dir_all(top.join("a/b")).unwrap();
            fs::create_dir(top.join("skipped")).unwrap();
            for name in ["a/b/old", "same", "gone"] {
                fs::write(top.join(name), "1").unwrap();
            }
        };
        let act = |top: &Path| {
            fs::write(top.join("a/b/old"), "22").unwrap();
            fs::write(top.join("new"), "").unwrap();
            fs::write(top.join("skipped/x"), "").unwrap();
            fs::remove_file(top.join("gone")).unwrap();
            symlink("same", top.join("link")).unwrap();
        };
        for (found, changes) in seen(prepare, act, "skipped") {
            assert_eq!(found, names(&["a/b/old", "gone", "link", "new"]));
            assert!(!changes.are_unknown && !changes.is_gone);
        }
    }

    #[test]
    fn editors_save_by_renaming_and_new_directories_are_watched_with_what_is_in_them() {
        let prepare = |top: &Path| {
            fs::create_dir(top.join("was")).unwrap();
            fs::write(top.join("was/x"), "1").unwrap();
            fs::write(top.join("file"), "1").unwrap();
        };
        let act = |top: &Path| {
            fs::write(top.join(".file.new"), "2").unwrap();
            fs::rename(top.join(".file.new"), top.join("file")).unwrap();
            fs::create_dir_all(top.join("deep/er")).unwrap();
            fs::write(top.join("deep/er/y"), "1").unwrap();
            fs::rename(top.join("was"), top.join("is")).unwrap();
        };
        let [by_events, by_looks] = seen(prepare, act, "skipped").try_into().unwrap();
        assert_eq!(by_events.0, names(&[".file.new", "deep/er/y", "file", "is/x"]));
        assert!(by_events.1.directories);
        assert_eq!(by_looks.0, names(&["deep/er/y", "file", "is/x", "was/x"]));
    }

    #[test]
    fn a_directory_that_was_renamed_tells_its_files_by_their_new_names() {
        let room = tempfile::tempdir().unwrap();
        let top = room.path();
        fs::create_dir_all(top.join("was/deep")).unwrap();
        let mut skips = |_: &Path, _: bool| false;
        let mut files = Files::watch(top, None, EVERY, &mut skips).unwrap();
        fs::rename(top.join("was"), top.join("is")).unwrap();
        assert!(files.changes(EVERY, &mut skips).directories);
        fs::write(top.join("is/deep/x"), "").unwrap();
        let changes = files.changes(EVERY, &mut skips);
        assert_eq!(changes.paths.into_iter().collect::<Vec<_>>(), [top.join("is/deep/x")]);
        // A new directory replaces the old one.
        fs::create_dir_all(top.join("was")).unwrap();
        files.changes(EVERY, &mut skips);
        fs::write(top.join("was/y"), "").unwrap();
        let changes = files.changes(EVERY, &mut skips);
        assert_eq!(changes.paths.into_iter().collect::<Vec<_>>(), [top.join("was/y")]);
        assert_eq!(files.directories(), Some(4));
    }

    #[test]
    fn that_the_directory_itself_went_is_told() {
        for poll in [None, Some(EVERY)] {
            let room = tempfile::tempdir().unwrap();
            let top = room.path().join("top");
            fs::create_dir(&top).unwrap();
            fs::write(top.join("x"), "").unwrap();
            let mut skips = |_: &Path, _: bool| false;
            let mut files = Files::watch(&top, poll, EVERY, &mut skips).unwrap();
            fs::remove_dir_all(&top).unwrap();
            assert!(files.changes(EVERY, &mut skips).is_gone);
            assert!(Files::watch(&top, poll, EVERY, &mut skips).is_err());
        }
    }

    #[test]
    fn when_there_was_more_than_the_system_keeps_anything_may_have_changed() {
        let most = limit("max_queued_events").unwrap_or(u64::MAX);
        if most > 50_000 {
            return;
        }
        let room = tempfile::tempdir().unwrap();
        let top = room.path();
        let mut skips = |_: &Path, _: bool| false;
        let mut files = Files::watch(top, None, EVERY, &mut skips).unwrap();
        let names = [top.join("a"), top.join("b")];
        for _ in 0..=most / 4 {
            // Each file is created, written and deleted, because consecutive events of the same
            // kind and name would be merged.
            for name in &names {
                fs::write(name, "").unwrap();
                fs::remove_file(name).unwrap();
            }
        }
        fs::create_dir(top.join("unseen")).unwrap();
        assert!(files.changes(EVERY, &mut skips).are_unknown);
        assert!(!files.changes(EVERY, &mut skips).are_unknown);
        fs::write(top.join("unseen/x"), "").unwrap();
        let changes = files.changes(EVERY, &mut skips);
        assert_eq!(changes.paths.into_iter().collect::<Vec<_>>(), [top.join("unseen/x")]);
    }
}
