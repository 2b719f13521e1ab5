//! Opens a sample file to continue it, as `--resume` does. An incomplete last record is cut off, so
//! that the next record begins on a new line.

use super::read::{FileContents, read_whole};
use super::write::Writer;
use crate::Samples;
use crate::read_error::ReadError;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Reads a sample file and opens it for further records. The samples are those that
/// [`read`](super::read()) returns, with a finding if an incomplete record was cut off. Nothing
/// prevents another process from writing to the file at the same time.
///
/// # Errors
/// Fails in the same cases as [`read`](super::read()), and if the file cannot be written or is
/// compressed.
pub fn resume(path: &Path) -> Result<(Samples, Writer<File>), ReadError> {
    // The position comes from the reader, because the contents of a file must not determine where
    // it is cut.
    let FileContents { samples, broken_at } = read_whole(path)?;
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
