//! What was changed on this machine, kept in a file until it is restored.
//!
//! One file for each process that changes something, in a directory of the caller's: JSON Lines,
//! the first naming the process and the boot, each other a change. A line is on the disk before
//! its change is made; so a line that is cut off stands for nothing. Settings of the machine do not
//! survive a boot, and what is left from an earlier one is no longer true; those of servers do.
//!
//! The file is data from outside for whoever reads it: it may be of anybody's making. It is read
//! without trust, and `Machine` restores only what `Machine` could have changed.

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
/// A journal of ours has a few lines; what is larger than this is none, B.
const LARGEST: u64 = 1 << 20;

/// The journal of what one process has changed of the machine.
pub type Journal = JournalOf<Change>;

/// A change that a journal can hold.
pub trait Entry: Sized {
    /// What the names of its journals begin with.
    const PREFIX: &'static str;
    /// Whether such a change is still there after the machine was started anew.
    const SURVIVES_A_BOOT: bool;

    /// As a line of JSON.
    ///
    /// # Errors
    /// When it can't be written down as text.
    fn to_line(&self) -> io::Result<String>;

    /// Reads it back; `None` for a line that is none of its kind.
    fn from_line(line: &Value) -> Option<Self>;
}

/// The journal of one process, of one kind of changes.
#[derive(Debug)]
pub struct JournalOf<E> {
    path: PathBuf,
    directory: PathBuf,
    owner: Owner,
    /// `None` until something is recorded.
    file: Option<File>,
    kind: PhantomData<E>,
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

    /// In this boot, which is `None` where the kernel does not say.
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
    /// A journal of this process in a directory, which must be there. There is no file until
    /// something is recorded.
    ///
    /// # Errors
    ///
    /// Only where `/proc` does not say who we are.
    pub fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self::of(directory, Owner::this()?))
    }

    fn of(directory: &Path, owner: Owner) -> Self {
        let name = format!("{}{}-{}{SUFFIX}", E::PREFIX, owner.process, owner.started);
        let (path, directory) = (directory.join(name), directory.to_owned());
        Self { path, directory, owner, file: None, kind: PhantomData }
    }

    /// Writes down changes that are about to be made. When it returns they are on the disk.
    ///
    /// # Errors
    ///
    /// What the system says; then the changes must not be made. What was recorded before stays.
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

    /// Everything is restored: the file is removed.
    ///
    /// # Errors
    ///
    /// What the system says; that there is no file is none.
    pub fn clear(&mut self) -> io::Result<()> {
        self.file = None;
        removed(&self.path)
    }

    /// What processes that are gone changed and did not restore, the earliest first; of an earlier boot only what survives one.
    /// Empty where there is nothing, or no such directory. What is not of a journal's form is left
    /// out.
    ///
    /// # Errors
    ///
    /// What the system says of a directory or a file that is there and cannot be read.
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

    /// What other processes that are alive have changed, or are about to. Empty where there is nothing, or no such directory.
    ///
    /// # Errors
    ///
    /// What the system says of a directory or a file that is there and cannot be read.
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

    /// Removes what says nothing any more: journals of earlier boots, and what is no journal but
    /// has the name of one. To be called in one's [`turn`](Self::turn), for a journal that somebody
    /// is about to begin is none yet.
    ///
    /// # Errors
    ///
    /// What the system says of the first that cannot be read or removed.
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

    /// Waits until nobody else has the turn, and takes it: from looking at what others hold to
    /// having recorded what oneself will change, no other may do the same. It ends when it is
    /// dropped, and with the process. On a file system without locks everybody has it at once.
    ///
    /// # Errors
    ///
    /// What the system says of a directory that cannot be opened.
    pub fn turn(directory: &Path) -> io::Result<Turn> {
        let opened = File::open(directory)?;
        while let Err(Errno::INTR) = flock(&opened, FlockOperation::LockExclusive) {}
        Ok(Turn { _opened: opened })
    }
}

/// The turn of this process to look at the journals of a directory and to add its own.
#[derive(Debug)]
pub struct Turn {
    /// The lock goes with it.
    _opened: File,
}

/// A living process that has changed something, or is about to.
#[derive(Debug, PartialEq, Eq)]
pub struct Holder<E = Change> {
    /// Its id.
    pub process: u32,
    /// Whether this process is its child, or a child's child: what it holds is then held until we
    /// end, if it waits for us.
    pub encloses_us: bool,
    /// In the order in which they were made.
    pub changes: Vec<E>,
}

/// What a process that is gone did not restored.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftBehind<E = Change> {
    /// In the order in which they were made, as [`Machine::restore`](super::Machine::restore) takes
    /// them.
    pub changes: Vec<E>,
    path: PathBuf,
}

impl<E> LeftBehind<E> {
    /// Whether this user has written it. Anybody may have made another's.
    pub fn is_ours(&self) -> bool {
        let user = rustix::process::geteuid().as_raw();
        fs::symlink_metadata(&self.path).is_ok_and(|file| file.is_file() && file.uid() == user)
    }

    /// Removes the journal: everything in it is dealt with.
    ///
    /// # Errors
    ///
    /// What the system says; that the file is gone is none.
    pub fn forget(&self) -> io::Result<()> {
        removed(&self.path)
    }
}

/// Everybody may read it: who may not put a setting back can at least be told of it.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o644);
    // The name may be another's link to a file of ours.
    let file = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)?;
    // Our umask may have taken it from the others.
    file.set_permissions(fs::Permissions::from_mode(0o644))?;
    Ok(file)
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

/// Whose journal a file is, and its changes; `None` if it is none.
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
            let text = format!("`{}` cannot be written down as text", self.path.display());
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
