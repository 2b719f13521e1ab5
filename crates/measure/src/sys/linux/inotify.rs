//! Reports changes in a directory and those below it, using inotify(7). `files` decides which files
//! are skipped, and interprets the events.

use crate::files::Changes;
use rustix::fs::inotify::{
    CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch,
};
use rustix::fs::statfs;
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Size of the buffer for one read, in bytes; it holds several hundred events.
const BUFFER: usize = 1 << 14;
/// Maximum number of events handled in one call; further events are left for the next call.
const MOST_EVENTS: usize = 100_000;

/// File systems on which the kernel does not see changes made by other writers, by their `f_type`
/// in statfs(2): NFS, SMB, CIFS, 9P, Coda, AFS, those implemented by programs (FUSE), and shared
/// folders of virtual machines.
const DEAF: [u32; 9] = [
    0x6969,
    0x517B,
    0xFF53_4D42,
    0xFE53_4D42,
    0x0102_1997,
    0x7375_7245,
    0x5346_414F,
    0x6573_5546,
    0x786F_4256,
];

/// Reasons why there are no events.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The user's limit of watched directories is reached.
    Watches,
    /// The user's limit of inotify instances is reached.
    Instances,
    /// The file system does not report changes made by other writers.
    Deaf,
    /// The directory does not exist.
    Gone,
    Other(io::Error),
}

/// A directory and those below it, all of which are watched.
#[derive(Debug)]
pub(crate) struct Tree {
    queue: OwnedFd,
    top: PathBuf,
    directories: HashMap<i32, PathBuf>,
    /// Watch on the parent of the top directory.
    above: Option<i32>,
}

/// Returns the inotify limit with this name in `/proc/sys/fs/inotify`.
pub(crate) fn limit(name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
    text.trim().parse().ok()
}

impl Tree {
    /// Watches a directory and those below it that are not skipped.
    pub(crate) fn watch(
        top: &Path,
        skips: &mut dyn FnMut(&Path, bool) -> bool,
    ) -> Result<Self, Trouble> {
        let kind = statfs(top).map(|found| found.f_type as u32);
        if kind.is_ok_and(|kind| DEAF.contains(&kind)) {
            return Err(Trouble::Deaf);
        }
        let queue = match init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK) {
            Ok(queue) => queue,
            Err(Errno::MFILE) => return Err(Trouble::Instances),
            Err(error) => return Err(Trouble::Other(error.into())),
        };
        // A directory that is some process's working directory does not report its own removal.
        let gone = WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::ONLYDIR;
        let above = top.parent().and_then(|above| add_watch(&queue, above, gone).ok());
        let mut tree = Self { queue, top: top.to_owned(), directories: HashMap::new(), above };
        tree.add(top.to_owned(), skips, &mut None)?;
        if tree.directories.is_empty() {
            return Err(Trouble::Gone);
        }
        Ok(tree)
    }

    /// Returns a descriptor that is readable when there are events.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }

    /// Returns the number of watched directories.
    pub(crate) fn directories(&self) -> usize {
        self.directories.len()
    }

    /// Watches a directory and those below it. If `found` is given, also records the files in them,
    /// since they may have been created before the watch.
    fn add(
        &mut self,
        directory: PathBuf,
        skips: &mut dyn FnMut(&Path, bool) -> bool,
        found: &mut Option<&mut Changes>,
    ) -> Result<(), Trouble> {
        let mask = WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::EXCL_UNLINK;
        let mut open = vec![directory];
        while let Some(directory) = open.pop() {
            match add_watch(&self.queue, &directory, mask) {
                Ok(number) => {
                    self.directories.insert(number, directory.clone());
                }
                Err(Errno::NOSPC) => return Err(Trouble::Watches),
                // The directory is gone already, or we have no permission to read it.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => continue,
                Err(error) => return Err(Trouble::Other(error.into())),
            }
            // Read only now, because changes after the watch was added cause events.
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            for entry in entries.flatten() {
                let path = entry.path();
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if skips(&path, is_directory) {
                    continue;
                }
                if is_directory {
                    open.push(path);
                } else if let Some(found) = found.as_mut() {
                    found.paths.insert(path);
                }
            }
        }
        Ok(())
    }

    /// Stops watching a directory that was renamed or moved, and those below it.
    fn forget(&mut self, directory: &Path) {
        let queue = &self.queue;
        self.directories.retain(|number, own| {
            let is_below = own.starts_with(directory);
            if is_below {
                // It may be gone already.
                let _gone = remove_watch(queue, *number);
            }
            !is_below
        });
    }

    /// Processes all available events.
    pub(crate) fn take(
        &mut self,
        skips: &mut dyn FnMut(&Path, bool) -> bool,
        changes: &mut Changes,
    ) -> Result<(), Trouble> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut come = Vec::new();
        let queue = self.queue.try_clone().map_err(Trouble::Other)?;
        let mut reader = Reader::new(queue, &mut buffer);
        loop {
            if come.len() >= MOST_EVENTS && reader.is_buffer_empty() {
                break;
            }
            match reader.next() {
                Ok(event) => {
                    let name = event.file_name().map(|name| name.to_bytes().to_owned());
                    come.push((event.wd(), event.events(), name));
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(Trouble::Other(error.into())),
            }
        }
        for (number, events, name) in come {
            self.event(number, events, name.as_deref(), skips, changes)?;
        }
        Ok(())
    }

    fn event(
        &mut self,
        number: i32,
        events: ReadFlags,
        name: Option<&[u8]>,
        skips: &mut dyn FnMut(&Path, bool) -> bool,
        changes: &mut Changes,
    ) -> Result<(), Trouble> {
        if events.contains(ReadFlags::QUEUE_OVERFLOW) {
            changes.are_unknown = true;
            // Directories may have been created without an event.
            return self.add(self.top.clone(), skips, &mut None);
        }
        if Some(number) == self.above {
            let own = self.top.file_name().map(OsStrExt::as_bytes);
            changes.is_gone |= name.is_some() && name == own && !self.top.is_dir();
            return Ok(());
        }
        let Some(directory) = self.directories.get(&number).cloned() else { return Ok(()) };
        if events.intersects(ReadFlags::DELETE_SELF | ReadFlags::IGNORED | ReadFlags::MOVE_SELF) {
            if directory == self.top {
                changes.is_gone = true;
            }
            if events.contains(ReadFlags::MOVE_SELF) {
                // The new parent reports the destination if it is watched; the directory then
                // already has a watch under its new name.
                let is_moved = !directory.exists();
                if is_moved {
                    self.forget(&directory);
                }
            } else {
                self.directories.remove(&number);
            }
            return Ok(());
        }
        let Some(name) = name else { return Ok(()) };
        let path = directory.join(OsStr::from_bytes(name));
        let is_directory = events.contains(ReadFlags::ISDIR);
        if skips(&path, is_directory) {
            return Ok(());
        }
        if is_directory {
            if events.contains(ReadFlags::MOVED_FROM) {
                self.forget(&path);
                changes.directories = true;
            }
            if events.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
                self.add(path.clone(), skips, &mut Some(changes))?;
            }
            return Ok(());
        }
        // A new file is reported when it is written. Links are never written, so they are reported
        // when they are created.
        let is_only_made = events.contains(ReadFlags::CREATE)
            && fs::symlink_metadata(&path).is_ok_and(|own| own.is_file() && own.nlink() == 1);
        if !is_only_made {
            changes.paths.insert(path);
        }
        Ok(())
    }
}
