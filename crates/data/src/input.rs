//! Opens the user's input: a file, which may be compressed (recognized by content, not by name), or
//! standard input.
//!
//! Errors about names are as helpful as possible. For a missing file, similar names are suggested.
//! The contents are not examined beyond the compression.

use crate::limits::Unpacked;
use crate::lines::io_error;
use crate::read_error::ReadError;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

/// Number of bytes read at first, for recognition; [`Input::extend_head`] reads more if necessary.
pub(crate) const HEAD: u64 = 64 * 1024;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns the bytes of a file, or of standard input for `-`, decompressed if necessary. There is
/// no size limit, because this function is for readers that keep little of the data.
///
/// # Errors
/// Returns an error if the file cannot be opened, or if its first bytes cannot be read.
pub fn stream(path: &Path) -> Result<Box<dyn Read>, ReadError> {
    if path.as_os_str() == "-" {
        return unpacked(std::io::stdin(), "stdin");
    }
    unpacked(open(path)?, &path.display().to_string())
}

fn unpacked(mut stream: impl Read + 'static, file: &str) -> Result<Box<dyn Read>, ReadError> {
    let mut head = Vec::new();
    let read = stream.by_ref().take(GZIP.len() as u64).read_to_end(&mut head);
    read.map_err(|source| failed(file, source))?;
    let is_packed = head == GZIP;
    let all = Cursor::new(head).chain(stream);
    Ok(if is_packed { Box::new(flate2::read::MultiGzDecoder::new(all)) } else { Box::new(all) })
}

/// Converts an I/O error that occurred while reading from [`stream`].
pub fn failed(file: &str, error: std::io::Error) -> ReadError {
    io_error(file, error)
}

/// Opens a file for reading. If it is missing, the error suggests similar names.
fn open(path: &Path) -> Result<File, ReadError> {
    let file = path.display().to_string();
    if path.is_dir() {
        return Err(ReadError::Directory { file });
    }
    File::open(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => ReadError::Missing { file, similar: similar_files(path) },
        _ => ReadError::Io { file, source },
    })
}

/// A named, uncompressed stream of bytes whose head has been read.
pub(crate) struct Input {
    /// Name of the input in messages.
    pub file: String,
    /// The first bytes: [`HEAD`] bytes until the head is extended, or all if there are fewer.
    pub head: Vec<u8>,
    rest: Box<dyn BufRead>,
}

impl Input {
    /// Opens the file at `path`, and decompresses it if necessary.
    pub(crate) fn open(path: &Path) -> Result<Self, ReadError> {
        Self::of(open(path)?, &path.display().to_string())
    }

    /// Reads from a stream, which messages call `file`, and decompresses it if necessary.
    pub(crate) fn of(stream: impl Read + 'static, file: &str) -> Result<Self, ReadError> {
        let mut plain = Self::with_head(stream, file)?;
        if plain.head.starts_with(&GZIP) {
            let packed = plain.into_reader();
            let unpacked = Unpacked::of(flate2::bufread::MultiGzDecoder::new(packed));
            plain = Self::with_head(unpacked, file)?;
        }
        Ok(plain)
    }

    fn with_head(mut stream: impl Read + 'static, file: &str) -> Result<Self, ReadError> {
        let mut head = Vec::new();
        let read = stream.by_ref().take(HEAD).read_to_end(&mut head);
        read.map_err(|source| io_error(file, source))?;
        let rest = Box::new(BufReader::with_capacity(HEAD as usize, stream));
        Ok(Self { file: file.to_owned(), head, rest })
    }

    /// Doubles the length of the head, for a text whose beginning is inconclusive. Returns false if
    /// there are no more bytes.
    pub(crate) fn extend_head(&mut self) -> Result<bool, ReadError> {
        let more = self.rest.by_ref().take(self.head.len() as u64).read_to_end(&mut self.head);
        Ok(more.map_err(|source| io_error(&self.file, source))? > 0)
    }

    /// Returns all bytes, including the head.
    pub(crate) fn into_reader(self) -> impl BufRead + 'static {
        Cursor::new(self.head).chain(self.rest)
    }
}

/// Returns at most three names in the same directory that are similar to a missing file, closest
/// first.
fn similar_files(path: &Path) -> Vec<String> {
    let Some(wanted) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else {
        return Vec::new();
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    // A directory that cannot be listed gives no suggestions, because the error is still that the
    // file is missing.
    let Ok(entries) = std::fs::read_dir(parent.unwrap_or(Path::new("."))) else {
        return Vec::new();
    };
    let mut near: Vec<(usize, String)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let lower = name.to_lowercase();
            let distance = strsim::damerau_levenshtein(&wanted, &lower);
            let extends = lower.starts_with(&wanted) || wanted.starts_with(&lower);
            let close = distance <= 1 + wanted.chars().count() / 4 || extends;
            let shown =
                parent.map_or(name.clone(), |parent| parent.join(&name).display().to_string());
            close.then_some((distance, shown))
        })
        .collect();
    near.sort();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}
