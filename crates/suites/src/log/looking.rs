//! What a line is, as far as it takes no other line to know it: its level, its message, its shape, whether it may begin a test.
//!
//! That is most of the work on a log, so it is done by threads of their own, piece by piece. Nothing is counted here.

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

/// A line, without blanks around it.
pub(super) struct Line<'a> {
    /// All of it.
    pub text: &'a [u8],
    /// Its level, if it has one: then it begins a record of a logger.
    pub level: Option<Level>,
    /// What stands behind that.
    pub message: &'a [u8],
    /// The hash of the message's shape.
    pub shape: u64,
    /// Whether the marker may be in it.
    pub may_mark: bool,
}

impl<'a> Line<'a> {
    /// Looks at a line.
    pub fn of(line: &'a [u8], may_mark: bool, shape: &mut Shape) -> Self {
        let text = line::trimmed(line);
        let Parts { level, message } = line::parts(text);
        Self { text, level, message, shape: shape.find(message), may_mark }
    }
}

/// Where a line stands in its piece. Its message ends where it ends.
struct Place {
    begin: u32,
    length: u32,
    message: u32,
    level: Option<Level>,
    may_mark: bool,
    shape: u64,
}

/// A piece of a log: whole lines, and once it was looked at what they are.
#[derive(Default)]
pub(super) struct Piece {
    bytes: Vec<u8>,
    held: Range<usize>,
    places: Vec<Place>,
}

impl Piece {
    /// Empties it, with room for so many bytes.
    pub fn empty(&mut self, room: usize) {
        self.bytes.resize(room, 0);
        self.places.clear();
    }

    /// The room for its bytes.
    pub fn buffer(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// These of its bytes are the lines.
    pub fn holds(&mut self, range: Range<usize>) {
        self.held = range;
    }

    /// What its lines are.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.places.iter().map(|place| {
            let begin = place.begin as usize;
            let text = &self.bytes[begin..begin + place.length as usize];
            let message = &text[text.len() - place.message as usize..];
            let &Place { level, shape, may_mark, .. } = place;
            Line { text, level, message, shape, may_mark }
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
            let line = Line::of(&lines[begin..end], may_mark, shape);
            // A piece is far shorter than 4 GiB, and the trimmed line lies within it.
            let from = line.text.as_ptr().addr() - bytes.as_ptr().addr();
            places.push(Place {
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

/// A thread that looks at pieces, and gives them back in the order in which it got them.
pub(super) struct Looker {
    to: Sender<Piece>,
    from: Receiver<Piece>,
}

impl Looker {
    /// Starts one; it ends when it is dropped.
    ///
    /// # Errors
    /// When no thread can be started.
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

    /// Gives it a piece.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn give(&self, piece: Piece) -> io::Result<()> {
        self.to.send(piece).map_err(io::Error::other)
    }

    /// Takes back the piece that it got first.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn take(&self) -> io::Result<Piece> {
        self.from.recv().map_err(io::Error::other)
    }
}
