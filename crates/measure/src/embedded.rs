//! Writes a file embedded in the binary to a place where it can be used, completely or not at all,
//! and never into a file that a program may be using.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Writes the content to this path with mode `mode`, regardless of the umask; an existing file is
/// replaced.
///
/// # Errors
///
/// The system's error; `InvalidInput` if the path has no file name.
pub(crate) fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let Some(name) = path.file_name() else {
        let text = format!("`{}` is not a valid file name", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    };
    let mut fresh = std::ffi::OsString::from(".");
    fresh.push(name);
    fresh.push(format!(".{}", std::process::id()));
    let fresh = path.with_file_name(fresh);
    let written = write_all(&fresh, content, mode).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        // An incomplete file is useless; a failure to remove it can't be handled.
        let _ = fs::remove_file(&fresh);
    }
    written
}

fn write_all(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(mode).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.write_all(content)
}
