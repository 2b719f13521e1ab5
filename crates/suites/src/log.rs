//! Which test wrote how much into a log: lines by test, by level and by shape, of a log of any length in bounded memory.
//!
//! A line that begins with the marker names the test that starts there ([`Marker`]), and every other line counts for the test that
//! began last. Lines are bytes: a log may hold anything. [`pieces`] cuts the log into pieces of whole lines, [`looking`] finds what a line is, for
//! which it needs no other ([`line`], [`shape`]), on as many processors as help; [`tally`] counts, in the order of the log.

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
use looking::Looker;
use pieces::Pieces;
use std::io::{self, Read};
use std::thread;
use tally::Tally;

/// Bytes that are read at once. A longer line is one line, of which the beginning is looked at.
const CHUNK: usize = 256 * 1024;
/// More threads than these would wait for the one that counts.
const MOST_LOOKERS: usize = 3;
/// Pieces that are under way for each thread: one that it looks at, one that waits.
const UNDER_WAY: usize = 2;

/// Counts the lines of a log, each for the test that began before it. O(bytes); memory does not grow with the log.
///
/// # Errors
/// When the bytes can't be read.
pub fn read(mut log: impl Read, marker: &Marker) -> io::Result<TestLog> {
    read_in_chunks(&mut log, marker, CHUNK)
}

/// No generic function: that would be compiled with the crate that calls it, and as small as that one rather than as fast as this.
fn read_in_chunks(log: &mut dyn Read, marker: &Marker, chunk: usize) -> io::Result<TestLog> {
    let mut tally = Tally::default();
    let mut pieces = Pieces::of(log, chunk);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        // One is enough where the system allows no second.
        let mut lookers = vec![Looker::start(scope, marker)?];
        let others =
            (1..processors.min(MOST_LOOKERS)).map_while(|_| Looker::start(scope, marker).ok());
        lookers.extend(others);
        // Each in its turn, so that pieces come back in their order.
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
