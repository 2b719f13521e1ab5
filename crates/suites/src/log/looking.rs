//! Analysis of single lines, independent of other lines: level, message, shape, and whether the
//! line may begin a test.
//!
//! This is most of the work on a log, so separate threads do it, piece by piece. Nothing is counted
//! here.

use super::line::{self, Parts};
use super::marker::Marker;
use super::shape::Shape;
use assay_data::test_log::Level;
use assay_data::threads;
use memchr::memchr;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

/// A trimmed line.
pub(super) struct LogLine<'a> {
    /// The whole line.
    pub text: &'a [u8],
    /// The level; if there is one, the line begins a logger record.
    pub level: Option<Level>,
    /// The text after the level.
    pub message: &'a [u8],
    /// Hash of the message's shape.
    pub shape: u64,
    /// True if the line may contain the marker.
    pub may_mark: bool,
}

impl<'a> LogLine<'a> {
    /// Analyses a line.
    pub fn of(line: &'a [u8], may_mark: bool, shape: &mut Shape) -> Self {
        let text = line::trimmed(line);
        let Parts { level, message } = line::parts(text);
        Self { text, level, message, shape: shape.find(message), may_mark }
    }
}

/// Position of a line in its piece. Its message extends to the end of the line.
struct LinePosition {
    begin: u32,
    length: u32,
    message: u32,
    level: Option<Level>,
    may_mark: bool,
    shape: u64,
}

/// A piece of a log: whole lines and, after analysis, what is known of each.
#[derive(Default)]
pub(super) struct Piece {
    bytes: Vec<u8>,
    held: Range<usize>,
    places: Vec<LinePosition>,
}

impl Piece {
    /// Clears the piece and resizes its buffer to `room` bytes.
    pub fn empty(&mut self, room: usize) {
        self.bytes.resize(room, 0);
        self.places.clear();
    }

    /// Returns the buffer for the bytes of the piece.
    pub fn buffer(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Sets the range of bytes that contains the lines.
    pub fn holds(&mut self, range: Range<usize>) {
        self.held = range;
    }

    /// Returns the analyzed lines.
    pub fn lines(&self) -> impl Iterator<Item = LogLine<'_>> {
        self.places.iter().map(|place| {
            let begin = place.begin as usize;
            let text = &self.bytes[begin..begin + place.length as usize];
            let message = &text[text.len() - place.message as usize..];
            let &LinePosition { level, shape, may_mark, .. } = place;
            LogLine { text, level, message, shape, may_mark }
        })
    }

    fn look(&mut self, marker: &Marker, shape: &mut Shape) {
        let Self { bytes, held, places } = self;
        let lines = &bytes[held.clone()];
        let mut begin = 0;
        let mut candidate = marker.candidate(lines, 0);
        while begin < lines.len() {
            let end = memchr(b'\n', &lines[begin..]).map_or(lines.len(), |length| begin + length);
            let may_mark = candidate.is_some_and(|at| at <= end);
            let line = LogLine::of(&lines[begin..end], may_mark, shape);
            // A piece is far smaller than 4 GiB, and the trimmed line is within it.
            let from = line.text.as_ptr().addr() - bytes.as_ptr().addr();
            places.push(LinePosition {
                begin: from as u32,
                length: line.text.len() as u32,
                message: line.message.len() as u32,
                level: line.level,
                may_mark,
                shape: line.shape,
            });
            begin = end + 1;
            if may_mark && begin < lines.len() {
                candidate = marker.candidate(lines, begin);
            }
        }
    }
}

/// A thread that analyses pieces and returns them in the order in which it received them.
pub(super) struct LineAnalyser {
    to: Sender<Piece>,
    from: Receiver<Piece>,
}

impl LineAnalyser {
    /// Starts a thread, which ends when this value is dropped.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        marker: &'scope Marker,
    ) -> io::Result<Self> {
        let (to, pieces) = channel::<Piece>();
        let (looked_at, from) = channel();
        threads::start_in(scope, move || {
            let mut shape = Shape::default();
            for mut piece in pieces {
                piece.look(marker, &mut shape);
                if looked_at.send(piece).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { to, from })
    }

    /// Sends a piece to the thread.
    ///
    /// # Errors
    /// If the thread has ended.
    pub fn give(&self, piece: Piece) -> io::Result<()> {
        self.to.send(piece).map_err(io::Error::other)
    }

    /// Receives the piece that was sent first.
    ///
    /// # Errors
    /// If the thread has ended.
    pub fn take(&self) -> io::Result<Piece> {
        self.from.recv().map_err(io::Error::other)
    }
}
