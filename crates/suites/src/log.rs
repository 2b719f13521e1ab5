//! Which test wrote how much into a log: lines by test, by level and by shape, of a log of any length in bounded memory.
//!
//! A line that begins with the marker names the test that starts there ([`Marker`]), and every other line counts for the test that
//! began last. Lines are bytes: a log may hold anything. Here the stream is cut into lines; what a line is, [`line`] knows, its shape
//! [`shape`], and [`tally`] counts.

mod frequent;
mod heading;
mod line;
mod marker;
mod message;
mod shape;
mod tally;

pub use marker::{Marker, MarkerError};

use assay_data::test_log::TestLog;
use memchr::{memchr, memrchr};
use std::io::{self, ErrorKind, Read};
use tally::Tally;

/// Bytes that are read at once. A longer line is one line, of which the beginning is looked at.
const CHUNK: usize = 256 * 1024;

/// Counts the lines of a log, each for the test that began before it. O(bytes); memory does not grow with the log.
///
/// # Errors
/// When the bytes can't be read.
pub fn read(log: impl Read, marker: &Marker) -> io::Result<TestLog> {
    read_in_chunks(log, marker, CHUNK)
}

fn read_in_chunks(mut log: impl Read, marker: &Marker, chunk: usize) -> io::Result<TestLog> {
    let mut tally = Tally::default();
    let mut buffer = vec![0; chunk];
    // Bytes of a line that is not complete yet, at the beginning of the buffer.
    let mut kept = 0;
    // Whether they belong to a line that was longer than the buffer, and is counted.
    let mut is_counted = false;
    loop {
        let read = match log.read(&mut buffer[kept..]) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        tally.bytes(read);
        let filled = kept + read;
        let Some(end) = memrchr(b'\n', &buffer[kept..filled]).map(|end| kept + end + 1) else {
            kept = filled;
            if filled == buffer.len() {
                if !is_counted {
                    lines(&buffer, marker, &mut tally);
                }
                (kept, is_counted) = (0, true);
            }
            continue;
        };
        let mut begin = 0;
        if is_counted {
            begin = memchr(b'\n', &buffer[..end]).map_or(end, |end| end + 1);
            is_counted = false;
        }
        lines(&buffer[begin..end], marker, &mut tally);
        buffer.copy_within(end..filled, 0);
        kept = filled - end;
    }
    if kept > 0 && !is_counted {
        lines(&buffer[..kept], marker, &mut tally);
    }
    Ok(tally.finish())
}

/// Counts the lines of a piece of the log, which begins and ends with a line.
fn lines(piece: &[u8], marker: &Marker, tally: &mut Tally) {
    let mut begin = 0;
    let mut candidate = marker.candidate(piece, 0);
    while begin < piece.len() {
        let end = memchr(b'\n', &piece[begin..]).map_or(piece.len(), |length| begin + length);
        let may_mark = candidate.is_some_and(|at| at <= end);
        tally.line(&piece[begin..end], marker, may_mark);
        begin = end + 1;
        if may_mark && begin < piece.len() {
            candidate = marker.candidate(piece, begin);
        }
    }
}

#[cfg(test)]
mod tests;
