//! A record of a stream of bytes, which takes little memory however long the stream is. It shows
//! whether two streams are equal, and where they begin to differ.
//!
//! A stream is cut into pieces of equal size. Only the digest and the number of line breaks of each
//! piece are kept, and the beginning of the stream. When there are too many pieces, pairs of them
//! are merged, so a digest is the root of a tree over leaves of 64 KiB. A comparison of two traces
//! gives the first piece that differs. To keep the bytes of that piece, the same stream is traced
//! again with a [`Window`] on it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Size of a leaf, and of the part that is kept from the beginning of a stream, in bytes.
const LEAF: usize = 1 << 16;
/// Maximum number of pieces; even, so that all of them can be merged in pairs.
const MOST_PIECES: usize = 1 << 14;
/// Maximum number of bytes of a piece that a window includes.
const MOST_IN_WINDOW: u64 = 1 << 20;
/// Number of additional bytes that a window includes before and after a piece, so that the lines in
/// it are complete.
const AROUND: u64 = 512;

/// The part of a stream whose bytes are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Offset of the first byte.
    pub start: u64,
    /// Number of bytes.
    pub length: u64,
}

/// The first piece in which two streams differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Offset of the first byte of the piece.
    pub start: u64,
    /// Offset of the first byte after it.
    pub end: u64,
    /// Number of line breaks before the piece.
    pub line_breaks: u64,
}

impl Region {
    /// Returns the window that shows the difference. If the piece is larger than a window, returns
    /// the window at its beginning.
    pub fn window(&self) -> Window {
        let start = self.start.saturating_sub(AROUND);
        Window { start, length: (self.end.min(self.start + MOST_IN_WINDOW) + AROUND) - start }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    digest: [u8; 16],
    line_breaks: u64,
}

/// The record of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pieces: Vec<Piece>,
    /// Binary logarithm of the number of leaves in each piece.
    power: u32,
    length: u64,
    beginning: Vec<u8>,
    window: Window,
    in_window: Vec<u8>,
}

impl Trace {
    /// Reads a file to its end, and returns its trace.
    ///
    /// # Errors
    ///
    /// Returns an error if the file can't be read.
    pub fn of_file(path: &Path, window: Window) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut tracer = Tracer::new(window);
        let mut buffer = vec![0; LEAF];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(tracer.finish()),
                Ok(n) => tracer.add(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the number of bytes in the stream.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the first differing piece; `None` if they are equal.
    pub fn first_difference(&self, other: &Self) -> Option<Region> {
        let power = self.power.max(other.power);
        let (own, others) = (self.pieces_of(power), other.pieces_of(power));
        let same = own.iter().zip(&others).take_while(|(a, b)| a.digest == b.digest).count();
        if self.length == other.length && same == own.len() {
            return None;
        }
        let size = (LEAF as u64) << power;
        // The shorter stream may end with a complete piece and be the beginning of the other.
        let start = (same as u64 * size).min(self.length).min(other.length);
        let end = (start + size).min(self.length.max(other.length));
        let line_breaks = own.iter().take(same).map(|piece| piece.line_breaks).sum();
        Some(Region { start, end, line_breaks })
    }

    /// Returns the contiguous bytes that were kept from an offset on; empty at or after the end of
    /// the stream, and `None` if the stream has bytes there that were not kept.
    pub fn bytes_from(&self, offset: u64) -> Option<&[u8]> {
        let part = |bytes: &'_ [u8], start: u64| {
            let skipped = usize::try_from(offset.checked_sub(start)?).ok()?;
            (skipped < bytes.len()).then_some(skipped)
        };
        if let Some(skipped) = part(&self.in_window, self.window.start) {
            return Some(&self.in_window[skipped..]);
        }
        if let Some(skipped) = part(&self.beginning, 0) {
            return Some(&self.beginning[skipped..]);
        }
        (offset >= self.length).then_some(&[])
    }

    fn pieces_of(&self, power: u32) -> Vec<Piece> {
        (self.power..power).fold(self.pieces.clone(), |pieces, _| merged(&pieces))
    }
}

/// Merges pairs of pieces; if the last one has no partner, it stays as it is.
fn merged(pieces: &[Piece]) -> Vec<Piece> {
    let pair = |pair: &[Piece]| match pair {
        [first, second] => {
            let mut hash = Sha256::new();
            hash.update(first.digest);
            hash.update(second.digest);
            Piece { digest: shortened(hash), line_breaks: first.line_breaks + second.line_breaks }
        }
        others => others[0].clone(),
    };
    pieces.chunks(2).map(pair).collect()
}

/// Returns the first 128 bits of a digest, which suffice because nobody constructs outputs that
/// collide.
fn shortened(hash: Sha256) -> [u8; 16] {
    let mut digest = [0; 16];
    digest.copy_from_slice(&hash.finalize()[..16]);
    digest
}

/// Computes the trace of a stream as it arrives.
#[derive(Debug)]
pub(crate) struct Tracer {
    trace: Trace,
    leaf: Sha256,
    in_leaf: usize,
    line_breaks: u64,
    /// The complete leaves of the current piece.
    leaves: Vec<Piece>,
}

impl Tracer {
    pub(crate) fn new(window: Window) -> Self {
        Self {
            trace: Trace { window, ..Trace::default() },
            leaf: Sha256::new(),
            in_leaf: 0,
            line_breaks: 0,
            leaves: Vec::new(),
        }
    }

    /// Adds the next bytes of the stream.
    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        self.keep(bytes);
        self.trace.length += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(LEAF - self.in_leaf));
            self.leaf.update(now);
            self.in_leaf += now.len();
            self.line_breaks += memchr::memchr_iter(b'\n', now).count() as u64;
            bytes = later;
            if self.in_leaf == LEAF {
                self.end_leaf();
                if self.leaves.len() == 1 << self.trace.power {
                    self.end_piece();
                }
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let at = self.trace.length;
        let beginning = &mut self.trace.beginning;
        beginning.extend(&bytes[..bytes.len().min(LEAF - beginning.len())]);
        let Window { start, length } = self.trace.window;
        let place = |offset: u64| offset.saturating_sub(at).min(bytes.len() as u64) as usize;
        self.trace.in_window.extend(&bytes[place(start)..place(start + length)]);
    }

    fn end_leaf(&mut self) {
        let digest = shortened(std::mem::take(&mut self.leaf));
        self.leaves.push(Piece { digest, line_breaks: std::mem::take(&mut self.line_breaks) });
        self.in_leaf = 0;
    }

    fn end_piece(&mut self) {
        let leaves = std::mem::take(&mut self.leaves);
        let piece = (0..self.trace.power).fold(leaves, |pieces, _| merged(&pieces));
        self.trace.pieces.extend(piece);
        if self.trace.pieces.len() == MOST_PIECES {
            self.trace.pieces = merged(&self.trace.pieces);
            self.trace.power += 1;
        }
    }

    /// Ends the stream and returns its trace.
    pub(crate) fn finish(mut self) -> Trace {
        if self.in_leaf > 0 {
            self.end_leaf();
        }
        if !self.leaves.is_empty() {
            self.end_piece();
        }
        self.trace
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn traced(bytes: &[u8], window: Window) -> Trace {
        let mut tracer = Tracer::new(window);
        // Uneven parts, as from a pipe.
        bytes.chunks(40_001).for_each(|part| tracer.add(part));
        tracer.finish()
    }

    fn text(lines: usize) -> Vec<u8> {
        (0..lines).flat_map(|line| format!("line {line}\n").into_bytes()).collect()
    }

    #[test]
    fn equal_streams_have_equal_traces_however_they_arrive() {
        let text = text(100_000);
        let mut whole = Tracer::new(Window::default());
        whole.add(&text);
        assert_eq!(traced(&text, Window::default()).first_difference(&whole.finish()), None);
        assert_eq!(traced(&[], Window::default()).first_difference(&Trace::default()), None);
    }

    #[test]
    fn the_first_piece_that_differs_is_found_and_its_bytes_are_kept_by_a_second_trace() {
        let one = text(100_000);
        for changed in [0, 5, LEAF - 1, LEAF, 3 * LEAF + 7, one.len() - 1] {
            let mut other = one.clone();
            other[changed] ^= 1;
            let before = one[..changed / LEAF * LEAF].iter().filter(|b| **b == b'\n').count();
            let (a, b) = (traced(&one, Window::default()), traced(&other, Window::default()));
            let region = a.first_difference(&b).unwrap();
            assert_eq!(region, b.first_difference(&a).unwrap());
            assert!((region.start..region.end).contains(&(changed as u64)), "{changed}");
            assert_eq!(region.line_breaks, before as u64);
            let again = traced(&other, region.window());
            let kept = again.bytes_from(region.start).unwrap();
            assert_eq!(kept[changed - region.start as usize], other[changed]);
        }
    }

    #[test]
    fn a_stream_that_is_the_beginning_of_another_differs_from_it() {
        let long = vec![b'x'; 3 * LEAF];
        for short in [0, 1, LEAF, LEAF + 1, 2 * LEAF] {
            let (a, b) =
                (traced(&long, Window::default()), traced(&long[..short], Window::default()));
            let region = a.first_difference(&b).unwrap();
            assert!(region.start <= short as u64 && short as u64 <= region.end, "{short}");
            assert_eq!(b.bytes_from(short as u64), Some(&[][..]));
        }
    }

    #[test]
    fn a_long_stream_takes_bounded_memory_and_a_late_byte_is_still_found() {
        // Enough pieces to be merged twice.
        let leaf = vec![b'x'; LEAF];
        let long = |last: u8| {
            let mut tracer = Tracer::new(Window::default());
            // The digests of equal leaves need not be computed each time.
            let mut hash = Sha256::new();
            hash.update(&leaf);
            let piece = Piece { digest: shortened(hash), line_breaks: 0 };
            for _ in 0..3 * MOST_PIECES {
                tracer.leaves.push(piece.clone());
                tracer.trace.length += LEAF as u64;
                if tracer.leaves.len() == 1 << tracer.trace.power {
                    tracer.end_piece();
                }
            }
            tracer.add(&[last]);
            tracer.finish()
        };
        let (a, b) = (long(b'1'), long(b'2'));
        assert!(a.pieces.len() <= MOST_PIECES && a.power > 0);
        let region = a.first_difference(&b).unwrap();
        assert_eq!(region.end, a.length());
        assert!(region.start >= a.length() - ((LEAF as u64) << a.power));
        // A short stream is compared with a long one at the size of the long one's pieces.
        let short = traced(&leaf, Window::default());
        assert_eq!(a.first_difference(&short).unwrap().start, 0);
    }
}
