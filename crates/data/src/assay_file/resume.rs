//! Opens a sample file to go on with it, as `--resume` does: what broke off at its end is cut away, so that the next record
//! begins on a line of its own.

use super::read::{Whole, read_whole};
use super::write::Writer;
use crate::Samples;
use crate::read_error::ReadError;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Reads a sample file and opens it for further records. The samples are those of [`read`](super::read()): a finding says so when a broken
/// record was cut away. Two writers at once are not prevented.
///
/// # Errors
/// As for [`read`](super::read()); when the file cannot be written; when it is compressed.
pub fn resume(path: &Path) -> Result<(Samples, Writer<File>), ReadError> {
    // The place is the reader's own: what a file says of itself must not decide where it is cut.
    let Whole { samples, broken_at } = read_whole(path)?;
    let failed = |source| ReadError::Io { file: path.display().to_string(), source };
    let file = open_at_end(path, broken_at).map_err(failed)?;
    let writer = Writer::resume(file, &samples);
    Ok((samples, writer))
}

fn open_at_end(path: &Path, broken_at: Option<u64>) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut first = [0];
    file.read_exact(&mut first)?;
    if first == [0x1f] {
        let problem = "a compressed file cannot be continued; unpack it first";
        return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
    }
    if let Some(whole) = broken_at {
        file.set_len(whole)?;
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(file)
}
