//! Splits a log into pieces of whole lines while reading it.

use super::looking::Piece;
use memchr::{memchr, memrchr};
use std::io::{self, ErrorKind, Read};

/// A log, read piece by piece.
pub(super) struct Pieces<'a> {
    log: &'a mut dyn Read,
    chunk: usize,
    /// The beginning of a line that has not been read completely.
    kept: Vec<u8>,
    /// True if the next bytes belong to a line that was longer than a chunk and was already
    /// returned.
    goes_on: bool,
    bytes: u64,
}

impl<'a> Pieces<'a> {
    /// Creates a reader that returns pieces of at most `chunk` bytes.
    pub fn of(log: &'a mut dyn Read, chunk: usize) -> Self {
        Self { log, chunk, kept: Vec::new(), goes_on: false, bytes: 0 }
    }

    /// Returns the number of bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the next lines into `piece`; returns `false` at the end of the log. Lines longer than
    /// a chunk are truncated to one chunk.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn next(&mut self, piece: &mut Piece) -> io::Result<bool> {
        piece.empty(self.chunk);
        let buffer = piece.buffer();
        let mut filled = self.kept.len();
        buffer[..filled].copy_from_slice(&self.kept);
        self.kept.clear();
        loop {
            let read = match self.log.read(&mut buffer[filled..]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.bytes += read as u64;
            if read == 0 {
                piece.holds(0..filled);
                return Ok(filled > 0);
            }
            let came = filled..filled + read;
            filled = came.end;
            let mut begin = 0;
            if self.goes_on {
                // The rest of a line that was already returned.
                let Some(end) = memchr(b'\n', &buffer[..filled]) else {
                    filled = 0;
                    continue;
                };
                (begin, self.goes_on) = (end + 1, false);
            }
            if let Some(end) = memrchr(b'\n', &buffer[begin.max(came.start)..filled]) {
                let end = begin.max(came.start) + end + 1;
                self.kept.extend_from_slice(&buffer[end..filled]);
                piece.holds(begin..end);
                return Ok(true);
            }
            if begin > 0 {
                buffer.copy_within(begin..filled, 0);
                filled -= begin;
            }
            if filled == buffer.len() {
                self.goes_on = true;
                piece.holds(0..filled);
                return Ok(true);
            }
        }
    }
}
