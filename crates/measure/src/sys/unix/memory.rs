//! Files that have no name: on the disk, where the system has none that are nowhere but in memory.

use std::fs::{File, OpenOptions, remove_file};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many were made, so that each has another name for a moment.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A new, empty file, this user's alone, whose name is gone again. Not inherited on exec.
pub(crate) fn file(name: &str) -> io::Result<File> {
    let directory = std::env::temp_dir();
    loop {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!(".{name}-{}-{number}", std::process::id()));
        let mut options = OpenOptions::new();
        match options.read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return remove_file(&path).map(|()| file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Gives nothing back: the disk has room.
pub(crate) fn give_back(_file: &File, _from: u64, _length: u64) {}
