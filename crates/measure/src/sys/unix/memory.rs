//! Files without a name. They are on the disk, because these systems have no files that exist only
//! in memory.

use std::fs::{File, OpenOptions, remove_file};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of files created so far, which gives each file a different name until that name is
/// removed.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Creates an empty file that only this user can access, and removes its name. The file is closed
/// on exec.
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

/// Does nothing: the file is on the disk, so it takes no memory.
pub(crate) fn give_back(_file: &File, _from: u64, _length: u64) {}
