//! Attributes the lines of a log to tests: lines by test, by level and by shape, for logs of any
//! length in bounded memory.
//!
//! A line that begins with the marker names the test that starts there ([`Marker`]), and every
//! other line counts for the test that began last. Lines are bytes, since a log may contain
//! anything. [`pieces`] splits the log into pieces of whole lines, [`looking`] analyzes each line
//! independently ([`line`], [`shape`]) on several processors, and [`tally`] counts the lines in the
//! order of the log.

mod frequent;
mod heading;
mod line;
mod looking;
mod marker;
mod message;
mod pieces;
mod shape;
mod tally;

pub use marker::{Marker, MarkerError};

use assay_data::test_log::TestLog;
use looking::LineAnalyser;
use pieces::Pieces;
use std::io::{self, Read};
use std::thread;
use tally::Tally;

/// Number of bytes per read. Of longer lines, only the beginning is analyzed.
const CHUNK: usize = 256 * 1024;
/// Maximum number of threads that analyze lines. More would only wait for the thread that counts.
const MOST_LOOKERS: usize = 3;
/// Maximum number of pieces in flight per thread: one being analyzed, and one waiting.
const UNDER_WAY: usize = 2;

/// Counts the lines of a log, each for the test that began before it. O(bytes); memory does not
/// grow with the log.
///
/// # Errors
/// Returns an error if the log cannot be read.
pub fn read(mut log: impl Read, marker: &Marker) -> io::Result<TestLog> {
    read_in_chunks(&mut log, marker, CHUNK)
}

/// Like [`read`], but with chunks of `chunk` bytes. It is not generic, since a generic function
/// would be compiled in the calling crate, which is optimized for size rather than speed.
fn read_in_chunks(log: &mut dyn Read, marker: &Marker, chunk: usize) -> io::Result<TestLog> {
    let mut tally = Tally::default();
    let mut pieces = Pieces::of(log, chunk);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        // One thread suffices if the system does not allow more.
        let mut lookers = vec![LineAnalyser::start(scope, marker)?];
        let others = (1..processors.min(MOST_LOOKERS))
            .map_while(|_| LineAnalyser::start(scope, marker).ok());
        lookers.extend(others);
        // Pieces are distributed round-robin, so they come back in order.
        let (mut given, mut counted) = (0, 0);
        let mut spare = Vec::new();
        let mut is_end = false;
        while !is_end || counted < given {
            if !is_end && given - counted < UNDER_WAY * lookers.len() {
                let mut piece = spare.pop().unwrap_or_default();
                is_end = !pieces.next(&mut piece)?;
                if !is_end {
                    lookers[given % lookers.len()].give(piece)?;
                    given += 1;
                }
                continue;
            }
            let piece = lookers[counted % lookers.len()].take()?;
            piece.lines().for_each(|line| tally.line(&line, marker));
            counted += 1;
            spare.push(piece);
        }
        io::Result::Ok(())
    })?;
    tally.bytes(pieces.bytes());
    Ok(tally.finish())
}

#[cfg(test)]
mod tests;
