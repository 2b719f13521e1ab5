//! Reads a text line by line into one reused buffer, with line numbers. All readers of text files
//! are built on it.
//!
//! Strips the byte-order mark and carriage returns, checks UTF-8, and refuses excessively long
//! lines, so that no input can make memory grow without bound. It does not depend on what the lines
//! mean.

use crate::limits::{most_values, too_many};
use crate::read_error::{FilePosition, ReadError};
use std::io::{BufRead, ErrorKind, Read};

/// Maximum length of a line including its ending, in bytes.
pub(crate) const MAX_LINE: u64 = 16 * 1024 * 1024;

/// A reader of the lines of a named text.
pub(crate) struct Lines<R> {
    reader: R,
    file: String,
    /// The current line, if it is not entirely in the reader's buffer.
    pieces: Vec<u8>,
    number: u64,
    /// Number of bytes before the current line.
    start: u64,
    /// Number of bytes of the current line, including its ending.
    length: u64,
    /// Number of bytes of the current line that are still in the reader's buffer.
    borrowed: usize,
}

/// A line without its line ending.
#[derive(Clone, Copy)]
pub(crate) struct TextLine<'a> {
    /// The text. If an unterminated line ends in the middle of a character, this excludes that
    /// character.
    pub text: &'a str,
    /// Line number, from 1.
    pub number: u64,
    /// False if the line was not terminated by a line feed, as after a crash.
    pub ended: bool,
    /// Number of bytes before this line.
    pub start: u64,
    /// Number of bytes of this line, including its ending.
    pub bytes: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R, file: &str) -> Self {
        let file = file.to_owned();
        Self { reader, file, pieces: Vec::new(), number: 0, start: 0, length: 0, borrowed: 0 }
    }

    /// Returns the next line, or `None` at the end of the text. A line that is entirely in the
    /// reader's buffer is not copied.
    pub(crate) fn next(&mut self) -> Result<Option<TextLine<'_>>, ReadError> {
        self.reader.consume(self.borrowed);
        self.start += self.length;
        self.pieces.clear();
        let failed = |source| io_error(&self.file, source);
        let in_buffer = self.reader.fill_buf().map(|seen| memchr::memchr(b'\n', seen));
        self.borrowed = match in_buffer {
            Ok(Some(end)) => end + 1,
            Ok(None) => 0,
            // After an interruption by a signal, the slow path reads again.
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) => return Err(failed(error)),
        };
        let raw = if self.borrowed > 0 {
            &self.reader.fill_buf().map_err(failed)?[..self.borrowed]
        } else {
            let mut limited = self.reader.by_ref().take(MAX_LINE + 1);
            if limited.read_until(b'\n', &mut self.pieces).map_err(failed)? == 0 {
                self.length = 0;
                return Ok(None);
            }
            self.pieces.as_slice()
        };
        self.length = raw.len() as u64;
        self.number += 1;
        let place = |column| FilePosition { file: self.file.clone(), line: self.number, column };
        if self.length > MAX_LINE {
            let problem =
                "the line is longer than 16 MiB; no record or row is that long".to_owned();
            return Err(ReadError::Line { place: place(None), problem });
        }
        if self.number > most_values() as u64 {
            let problem = format!("this file {}", too_many("lines"));
            return Err(ReadError::Line { place: place(None), problem });
        }
        let (mut bytes, ended) = match raw.split_last() {
            Some((b'\n', rest)) => (rest, true),
            _ => (raw, false),
        };
        if ended && let Some((b'\r', rest)) = bytes.split_last() {
            bytes = rest;
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if !ended && error.error_len().is_none() => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => {
                let column = Some(error.valid_up_to() as u64 + 1);
                let problem = "this byte is not UTF-8; save the file as UTF-8 text".to_owned();
                return Err(ReadError::Line { place: place(column), problem });
            }
        };
        let text = if self.number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        Ok(Some(TextLine {
            text,
            number: self.number,
            ended,
            start: self.start,
            bytes: self.length,
        }))
    }
}

/// Converts the error of a failed read into one about damaged compressed data or an I/O error.
pub(crate) fn io_error(file: &str, source: std::io::Error) -> ReadError {
    let file = file.to_owned();
    let compressed =
        |problem: &str| ReadError::Compressed { file: file.clone(), problem: problem.to_owned() };
    match source.kind() {
        // Plain readers reach the end without an error. Only a decoder detects that bytes are
        // missing or wrong.
        ErrorKind::UnexpectedEof => compressed("breaks off before its end"),
        ErrorKind::InvalidInput | ErrorKind::InvalidData => compressed("damaged"),
        _ => ReadError::Io { file, source },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lines_are_the_same_however_small_the_pieces_that_arrive() {
        let text = "first\r\n\nthird é\nlast";
        for capacity in 1..30 {
            let pieces = std::io::BufReader::with_capacity(capacity, text.as_bytes());
            let mut lines = Lines::new(pieces, "x");
            let mut seen = Vec::new();
            while let Some(line) = lines.next().unwrap() {
                seen.push((line.text.to_owned(), line.start, line.bytes));
            }
            let expected = [("first", 0, 7), ("", 7, 1), ("third é", 8, 9), ("last", 17, 4)];
            assert_eq!(seen, expected.map(|(text, start, bytes)| (text.to_owned(), start, bytes)));
        }
    }

    #[test]
    fn marks_and_carriage_returns_are_not_part_of_a_line() {
        let mut lines = Lines::new(&b"\xef\xbb\xbf1\r\n2\n3"[..], "x");
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((line.text.to_owned(), line.number, line.ended, line.start));
        }
        let expected = [("1", 1, true, 0), ("2", 2, true, 6), ("3", 3, false, 8)];
        assert_eq!(seen, expected.map(|(text, n, ended, at)| (text.to_owned(), n, ended, at)));
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let endless = std::io::BufReader::new(std::io::repeat(b'1'));
        let error = Lines::new(endless, "zeros").next().err().unwrap();
        assert!(
            error.to_string().starts_with("zeros:1: the line is longer than 16 MiB"),
            "{error}"
        );
    }

    #[test]
    fn a_byte_that_is_not_utf8_is_named_with_its_place() {
        let mut lines = Lines::new(&b"1\n2 \xff\n"[..], "x");
        lines.next().unwrap();
        let error = lines.next().err().unwrap();
        assert!(error.to_string().starts_with("x:2:3: this byte is not UTF-8"), "{error}");
    }
}
