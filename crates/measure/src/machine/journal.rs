//! What was changed on this machine, kept in a file until it is put back.
//!
//! One file for each process that changes something, in a directory of the caller's: JSON Lines,
//! the first naming the process and the boot, each other a change. A line is on the disk before
//! its change is made; so a line that is cut off stands for nothing. Settings do not survive a
//! boot, and what is left from an earlier one is no longer true.
//!
//! The file is data from outside for whoever reads it: it may be of anybody's making. It is read
//! without trust, and `Machine` restores only what `Machine` could have changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sys::knobs::{Change, NAMES};
use crate::sys::processes;

const PREFIX: &str = "changed-by-";
const SUFFIX: &str = ".jsonl";
/// A journal of ours has a few lines; what is larger than this is none, B.
const LARGEST: u64 = 1 << 20;

/// The journal of one process.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    directory: PathBuf,
    owner: Owner,
    /// `None` until something is recorded.
    file: Option<File>,
}

/// Who changed something: an id alone may be given to another process later.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    process: u32,
    started: u64,
    boot: String,
}

impl Owner {
    fn this() -> io::Result<Self> {
        let process = std::process::id();
        let unknown = |what| io::Error::other(format!("{what} is not to be learnt from /proc"));
        Ok(Self {
            process,
            started: processes::started(process).ok_or_else(|| unknown("our own start"))?,
            boot: processes::boot_id().ok_or_else(|| unknown("the id of this boot"))?,
        })
    }

    fn is_alive(&self) -> bool {
        processes::started(self.process) == Some(self.started)
    }

    fn to_line(&self) -> String {
        json!({"process": self.process, "started": self.started, "boot": self.boot}).to_string()
    }

    fn from_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(Self {
            process: value["process"].as_u64()?.try_into().ok()?,
            started: value["started"].as_u64()?,
            boot: value["boot"].as_str()?.to_owned(),
        })
    }
}

impl Journal {
    /// A journal of this process in a directory, which must be there. There is no file until
    /// something is recorded.
    ///
    /// # Errors
    ///
    /// Only where `/proc` does not tell who we are.
    pub fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self::of(directory, Owner::this()?))
    }

    fn of(directory: &Path, owner: Owner) -> Self {
        let name = format!("{PREFIX}{}-{}{SUFFIX}", owner.process, owner.started);
        Self { path: directory.join(name), directory: directory.to_owned(), owner, file: None }
    }

    /// Writes down changes that are about to be made. When it returns they are on the disk.
    ///
    /// # Errors
    ///
    /// What the system says; then the changes must not be made. What was recorded before stays.
    pub fn record(&mut self, changes: &[Change]) -> io::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for change in changes {
            text += &to_line(change)?;
            text.push('\n');
        }
        match &mut self.file {
            Some(file) => append(file, &text),
            None => {
                let mut file = create(&self.path)?;
                let text = format!("{}\n{text}", self.owner.to_line());
                // The name, too, has to be on the disk.
                let written =
                    append(&mut file, &text).and_then(|()| File::open(&self.directory)?.sync_all());
                match written {
                    Ok(()) => self.file = Some(file),
                    Err(_) => removed(&self.path)?,
                }
                written
            }
        }
    }

    /// Everything is put back: the file is removed.
    ///
    /// # Errors
    ///
    /// What the system says; that there is no file is none.
    pub fn clear(&mut self) -> io::Result<()> {
        self.file = None;
        removed(&self.path)
    }

    /// Changes of processes that are gone, made in this boot: in the order in which they were made,
    /// so that [`Machine::restore`](super::Machine::restore) can undo them as they are. Empty where
    /// there are none, or no such directory. What is not of a journal's form is left out.
    ///
    /// # Errors
    ///
    /// What the system says of a directory or a file that is there and cannot be read.
    pub fn left_behind(directory: &Path) -> io::Result<Vec<Change>> {
        let boot = processes::boot_id();
        let mut found: Vec<(u64, Vec<Change>)> = Vec::new();
        for path in files(directory)? {
            let text = text(&path)?;
            let mut lines = text.lines();
            let Some(owner) = lines.next().and_then(Owner::from_line) else { continue };
            if Some(&owner.boot) == boot.as_ref() && !owner.is_alive() {
                found.push((owner.started, lines.filter_map(from_line).collect()));
            }
        }
        found.sort_by_key(|&(started, _)| started);
        Ok(found.into_iter().flat_map(|(_, changes)| changes).collect())
    }

    /// Removes the journals of processes that are gone, of earlier boots, and what is no journal
    /// but has the name of one. To be called when what they left behind is put back.
    ///
    /// # Errors
    ///
    /// What the system says of the first that cannot be read or removed.
    pub fn forget(directory: &Path) -> io::Result<()> {
        let boot = processes::boot_id();
        for path in files(directory)? {
            let owner = text(&path)?.lines().next().and_then(Owner::from_line);
            if !owner.is_some_and(|o| Some(&o.boot) == boot.as_ref() && o.is_alive()) {
                removed(&path)?;
            }
        }
        Ok(())
    }
}

/// Everybody may read it: who may not put a setting back can at least be told of it.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o644);
    // The name may be another's link to a file of ours.
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()).open(path)
}

/// Adds all of a text, or nothing of it: half a line would spoil the next one.
fn append(file: &mut File, text: &str) -> io::Result<()> {
    let length = file.metadata()?.len();
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
    }
    written
}

fn removed(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The files in a directory that have a journal's name, in the order of their names.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.starts_with(PREFIX) && n.ends_with(SUFFIX));
        if ours && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Nothing for a file that is gone meanwhile, or that is too large to be a journal.
fn text(path: &Path) -> io::Result<String> {
    let read = || -> io::Result<String> {
        if fs::metadata(path)?.len() > LARGEST {
            return Ok(String::new());
        }
        Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
    };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other,
    }
}

fn to_line(change: &Change) -> io::Result<String> {
    let path = change.path.to_str().ok_or_else(|| {
        let text = format!("`{}` cannot be written down as text", change.path.display());
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })?;
    let Change { knob, before, after, .. } = change;
    Ok(json!({"knob": knob, "path": path, "before": before, "after": after}).to_string())
}

fn from_line(line: &str) -> Option<Change> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let knob = NAMES.into_iter().find(|name| value["knob"] == *name)?;
    Some(Change {
        knob,
        path: PathBuf::from(text("path")?),
        before: text("before")?,
        after: text("after")?,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use proptest::prelude::*;

    use super::*;

    fn change(path: &str, before: &str, after: &str) -> Change {
        let (before, after) = (before.to_owned(), after.to_owned());
        Change { knob: "governor", path: PathBuf::from(path), before, after }
    }

    /// A process that was alive and is no more.
    fn gone(started: u64) -> Owner {
        let mut child = std::process::Command::new("/bin/true").spawn().unwrap();
        child.wait().unwrap();
        Owner { process: child.id(), started, ..Owner::this().unwrap() }
    }

    fn count(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn what_a_living_process_changed_is_not_left_behind() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(directory.path()).unwrap();
        assert_eq!(count(directory.path()), 0);
        journal.record(&[]).unwrap();
        assert_eq!(count(directory.path()), 0);
        journal.record(&[change("/a", "x", "y")]).unwrap();
        journal.record(&[change("/b", "x", "y")]).unwrap();
        assert_eq!(Journal::left_behind(directory.path()).unwrap(), []);
        Journal::forget(directory.path()).unwrap();
        assert_eq!(count(directory.path()), 1);
        journal.clear().unwrap();
        journal.clear().unwrap();
        assert_eq!(count(directory.path()), 0);
    }

    #[test]
    fn what_dead_processes_changed_comes_back_in_the_order_in_which_it_was_made() {
        let directory = tempfile::tempdir().unwrap();
        let later = [change("/a", "y", "z"), change("/b", "\"1\"\n", "\u{1F980}")];
        let earlier = [change("/a", "x", "y")];
        let mut journal = Journal::of(directory.path(), gone(900));
        journal.record(&later[..1]).unwrap();
        journal.record(&later[1..]).unwrap();
        Journal::of(directory.path(), gone(100)).record(&earlier).unwrap();
        let left = Journal::left_behind(directory.path()).unwrap();
        assert_eq!(left, [&earlier[..], &later[..]].concat());
        Journal::forget(directory.path()).unwrap();
        assert_eq!(count(directory.path()), 0);
    }

    #[test]
    fn another_process_under_the_same_number_does_not_count_as_alive() {
        let directory = tempfile::tempdir().unwrap();
        let this = Owner::this().unwrap();
        let before = Owner { started: this.started.saturating_sub(1), ..this };
        Journal::of(directory.path(), before).record(&[change("/a", "x", "y")]).unwrap();
        assert_eq!(Journal::left_behind(directory.path()).unwrap().len(), 1);
    }

    #[test]
    fn changes_of_an_earlier_boot_are_forgotten_and_not_put_back() {
        let directory = tempfile::tempdir().unwrap();
        let old = Owner { boot: "another".to_owned(), ..Owner::this().unwrap() };
        Journal::of(directory.path(), old).record(&[change("/a", "x", "y")]).unwrap();
        assert_eq!(Journal::left_behind(directory.path()).unwrap(), []);
        Journal::forget(directory.path()).unwrap();
        assert_eq!(count(directory.path()), 0);
    }

    #[test]
    fn a_line_that_is_cut_off_stands_for_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::of(directory.path(), gone(5));
        journal.record(&[change("/a", "x", "y"), change("/b", "x", "y")]).unwrap();
        let whole = fs::read_to_string(&journal.path).unwrap();
        for length in 0..whole.len() {
            fs::write(&journal.path, &whole[..length]).unwrap();
            let left = Journal::left_behind(directory.path()).unwrap();
            assert!(left.len() <= 2, "{length}");
        }
        fs::write(&journal.path, &whole[..whole.len() - 3]).unwrap();
        assert_eq!(Journal::left_behind(directory.path()).unwrap(), [change("/a", "x", "y")]);
    }

    #[test]
    fn a_directory_that_is_missing_or_holds_other_things_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        assert_eq!(Journal::left_behind(&missing).unwrap(), []);
        Journal::forget(&missing).unwrap();
        let mut journal = Journal::open(&missing).unwrap();
        assert!(journal.record(&[change("/a", "x", "y")]).is_err());
        fs::write(directory.path().join("runs.assay"), "{}").unwrap();
        fs::write(directory.path().join("changed-by-1-1.jsonl"), [0xff, 0, b'\n']).unwrap();
        assert_eq!(Journal::left_behind(directory.path()).unwrap(), []);
        Journal::forget(directory.path()).unwrap();
        assert_eq!(count(directory.path()), 1);
    }

    proptest! {
        #[test]
        fn no_line_makes_a_reader_panic(line in "\\PC*|\\{\"(knob|path|process)\":(\"governor\"|1)?\\}") {
            let _ = (Owner::from_line(&line), from_line(&line));
        }

        #[test]
        fn what_is_written_is_read(path in "/\\PC{0,20}", before in "\\PC*", after in "\\PC*") {
            let change = change(&path, &before, &after);
            prop_assert_eq!(from_line(&to_line(&change).unwrap()), Some(change));
        }
    }
}
