//! Records of changes made on this machine, kept in files until the changes are undone.
//!
//! There is one file per process that changes something, in a directory that the caller chooses. It
//! contains JSON Lines: the first line names the process and the boot, and each further line a
//! change. A line is on disk before its change is made, so a truncated line can be ignored: its
//! change was not made. Settings of the machine do not survive a reboot, so entries from an earlier
//! boot are obsolete. Settings of servers do survive.
//!
//! The file is untrusted input, because anybody may have written it. `Machine` restores only what
//! `Machine` could have changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::sys::knobs::{Change, NAMES};
use crate::sys::processes;

const SUFFIX: &str = ".jsonl";
/// Maximum size of a journal, in bytes. Real journals have a few lines.
const LARGEST: u64 = 1 << 20;

/// The journal of the machine settings one process has changed.
pub type Journal = JournalOf<Change>;

/// A change that can be recorded in a journal.
pub trait Entry: Sized {
    /// Prefix of the file names of journals with this kind of change.
    const PREFIX: &'static str;
    /// True if this kind of change persists after a reboot.
    const SURVIVES_A_BOOT: bool;

    /// Returns the change as a line of JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if the change can't be represented as text.
    fn to_line(&self) -> io::Result<String>;

    /// Parses a change. Returns `None` for a line of another kind.
    fn from_line(line: &Value) -> Option<Self>;
}

/// The journal of one process, for one kind of change.
#[derive(Debug)]
pub struct JournalOf<E> {
    path: PathBuf,
    directory: PathBuf,
    owner: Owner,
    /// `None` until something is recorded.
    file: Option<File>,
    kind: PhantomData<E>,
}

/// The process that made the changes. Its start time is included because a process ID may be
/// reused.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    process: u32,
    started: u64,
    boot: String,
}

impl Owner {
    fn this() -> io::Result<Self> {
        let process = std::process::id();
        let unknown = |what| io::Error::other(format!("{what} cannot be determined from /proc"));
        Ok(Self {
            process,
            started: processes::started(process).ok_or_else(|| unknown("our own start"))?,
            boot: processes::boot_id().ok_or_else(|| unknown("the id of this boot"))?,
        })
    }

    /// Returns true if the process is alive and was started in this boot. `boot` is the ID of this
    /// boot, or `None` if the kernel does not report it.
    fn is_alive(&self, boot: Option<&String>) -> bool {
        Some(&self.boot) == boot && processes::started(self.process) == Some(self.started)
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

impl<E: Entry> JournalOf<E> {
    /// Opens a journal of this process in an existing directory. The file is created when something
    /// is recorded.
    ///
    /// # Errors
    ///
    /// Returns an error only if `/proc` does not identify this process and this boot.
    pub fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self::of(directory, Owner::this()?))
    }

    fn of(directory: &Path, owner: Owner) -> Self {
        let name = format!("{}{}-{}{SUFFIX}", E::PREFIX, owner.process, owner.started);
        let (path, directory) = (directory.join(name), directory.to_owned());
        Self { path, directory, owner, file: None, kind: PhantomData }
    }

    /// Records changes that are about to be made. They are on disk when this function returns.
    ///
    /// # Errors
    ///
    /// Returns the system's error if the changes can't be recorded. They must not be made then.
    /// Earlier records are kept.
    pub fn record(&mut self, changes: &[E]) -> io::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for change in changes {
            text += &change.to_line()?;
            text.push('\n');
        }
        match &mut self.file {
            Some(file) => append(file, &text),
            None => {
                let mut file = create(&self.path)?;
                let text = format!("{}\n{text}", self.owner.to_line());
                // The directory entry has to be on disk as well.
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

    /// Removes the file, after everything has been restored.
    ///
    /// # Errors
    ///
    /// Returns the system's error if the file can't be removed. A missing file is not an error.
    pub fn clear(&mut self) -> io::Result<()> {
        self.file = None;
        removed(&self.path)
    }

    /// Returns the changes that ended processes made and did not undo, earliest first. Changes from
    /// an earlier boot are included only if their kind survives a reboot. The result is empty if
    /// there are no changes or no such directory. Files that are not valid journals are skipped.
    ///
    /// # Errors
    ///
    /// Returns an error if an existing directory or file can't be read.
    pub fn left_behind(directory: &Path) -> io::Result<Vec<LeftBehind<E>>> {
        let boot = processes::boot_id();
        let mut found: Vec<((bool, u64), LeftBehind<E>)> = Vec::new();
        for path in files::<E>(directory)? {
            let Some((owner, changes)) = read(&path)? else { continue };
            let now = Some(&owner.boot) == boot.as_ref();
            if (now || E::SURVIVES_A_BOOT) && !owner.is_alive(boot.as_ref()) {
                found.push(((now, owner.started), LeftBehind { changes, path }));
            }
        }
        found.sort_by_key(|&(started, _)| started);
        Ok(found.into_iter().map(|(_, left)| left).collect())
    }

    /// Returns the changes that other running processes have made, or are about to make. The result
    /// is empty if there are no changes or no such directory.
    ///
    /// # Errors
    ///
    /// Returns an error if an existing directory or file can't be read.
    pub fn held_by_others(directory: &Path) -> io::Result<Vec<Holder<E>>> {
        let boot = processes::boot_id();
        let mut found = Vec::new();
        for path in files::<E>(directory)? {
            let Some((owner, changes)) = read(&path)? else { continue };
            if owner.process != std::process::id() && owner.is_alive(boot.as_ref()) {
                let process = owner.process;
                let encloses_us = processes::is_ancestor(process);
                found.push(Holder { process, encloses_us, changes });
            }
        }
        Ok(found)
    }

    /// Returns true if a directory contains a file that is named like a journal.
    ///
    /// # Errors
    ///
    /// Returns an error if an existing directory can't be read.
    pub fn any(directory: &Path) -> io::Result<bool> {
        Ok(!files::<E>(directory)?.is_empty())
    }

    /// Removes obsolete files: files that are named like a journal but are not one, and journals of
    /// earlier boots, unless their kind of change survives a reboot. Call this only during a
    /// [`turn`](Self::turn), because a journal that another process is about to begin is not valid
    /// yet.
    ///
    /// # Errors
    ///
    /// Returns an error if a file can't be read or removed.
    pub fn sweep(directory: &Path) -> io::Result<()> {
        let boot = processes::boot_id();
        for path in files::<E>(directory)? {
            let is_over = |owner: Owner| !E::SURVIVES_A_BOOT && Some(&owner.boot) != boot.as_ref();
            if read::<E>(&path)?.is_none_or(|(owner, _)| is_over(owner)) {
                removed(&path)?;
            }
        }
        Ok(())
    }

    /// Waits for this process's turn, and takes it. During a turn, no other process may check the
    /// changes of others and record its own. The turn ends when the result is dropped, or with the
    /// process. On a file system without locks, several processes can have their turn at the same
    /// time.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory can't be opened.
    pub fn turn(directory: &Path) -> io::Result<Turn> {
        let opened = File::open(directory)?;
        while let Err(Errno::INTR) = flock(&opened, FlockOperation::LockExclusive) {}
        Ok(Turn { _opened: opened })
    }
}

/// The turn of this process to check the journals of a directory and to add its own.
#[derive(Debug)]
pub struct Turn {
    /// Holds the lock on the directory.
    _opened: File,
}

/// A running process that has changed something, or is about to.
#[derive(Debug, PartialEq, Eq)]
pub struct Holder<E = Change> {
    /// ID of the process.
    pub process: u32,
    /// True if the current process is a descendant of this process. If this process waits for ours,
    /// it holds its changes until ours ends.
    pub encloses_us: bool,
    /// The changes, in the order recorded.
    pub changes: Vec<E>,
}

/// Changes that an ended process did not restore.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftBehind<E = Change> {
    /// The changes in the order recorded, as [`Machine::restore`](super::Machine::restore) expects
    /// them.
    pub changes: Vec<E>,
    path: PathBuf,
}

impl<E> LeftBehind<E> {
    /// Returns true if the journal belongs to this user. Anybody may have created other journals.
    pub fn is_ours(&self) -> bool {
        let user = rustix::process::geteuid().as_raw();
        fs::symlink_metadata(&self.path).is_ok_and(|file| file.is_file() && file.uid() == user)
    }

    /// Removes the journal, after everything in it has been dealt with.
    ///
    /// # Errors
    ///
    /// Returns the system's error if the journal can't be removed. A missing file is not an error.
    pub fn forget(&self) -> io::Result<()> {
        removed(&self.path)
    }
}

/// Creates a file that everybody can read, so that users who can't restore a setting can at least
/// learn about it.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o644);
    // Another user may have created this name as a link to one of our files.
    let file = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)?;
    // The umask may have removed read permission for others.
    file.set_permissions(fs::Permissions::from_mode(0o644))?;
    Ok(file)
}

/// Appends a text completely or not at all, because half a line would corrupt the next one.
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

/// Returns the files in a directory that are named like a journal, sorted by name.
fn files<E: Entry>(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.starts_with(E::PREFIX) && n.ends_with(SUFFIX));
        if ours && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the text of a file; empty if it is gone by now, or too large to be a journal.
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

/// Returns the owner and the valid changes of a journal file, or `None` if it names no owner.
fn read<E: Entry>(path: &Path) -> io::Result<Option<(Owner, Vec<E>)>> {
    let text = text(path)?;
    let mut lines = text.lines();
    let owner = lines.next().and_then(Owner::from_line);
    let change = |line: &str| E::from_line(&serde_json::from_str(line).ok()?);
    Ok(owner.map(|owner| (owner, lines.filter_map(change).collect())))
}

impl Entry for Change {
    const PREFIX: &'static str = "changed-by-";
    const SURVIVES_A_BOOT: bool = false;

    fn to_line(&self) -> io::Result<String> {
        let path = self.path.to_str().ok_or_else(|| {
            let text = format!("`{}` cannot be written as text", self.path.display());
            io::Error::new(io::ErrorKind::InvalidInput, text)
        })?;
        let Self { knob, before, after, .. } = self;
        Ok(json!({"knob": knob, "path": path, "before": before, "after": after}).to_string())
    }

    fn from_line(line: &Value) -> Option<Self> {
        let text = |name: &str| line[name].as_str().map(str::to_owned);
        let knob = NAMES.into_iter().find(|name| line["knob"] == *name)?;
        let (before, after) = (text("before")?, text("after")?);
        Some(Self { knob, path: PathBuf::from(text("path")?), before, after })
    }
}

#[cfg(test)]
mod tests;
