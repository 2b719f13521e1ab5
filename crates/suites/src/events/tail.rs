//! The tail of a process's events: lines that it keeps in mapped memory until there are enough to
//! write.

use crate::run::Part;
use std::fs;
use std::path::Path;

/// The last lines of a process that buffers its events in a memory-mapped file.
pub(crate) struct Tail {
    /// Offset of the lines in the event file, in bytes.
    pub behind: u64,
    /// Phase of the running test.
    pub phase: Option<Part>,
    /// The buffered lines.
    pub bytes: Vec<u8>,
}

impl Tail {
    /// Length of the header before the lines, in bytes: a number, a letter and a newline.
    const HEAD: usize = 20;

    /// Reads the tail that belongs to an event file, or returns `None` if the file has no tail.
    pub fn of(events: &Path) -> Option<Self> {
        let mut bytes = fs::read(events.with_extension("tail")).ok()?;
        let head = std::str::from_utf8(bytes.get(..Self::HEAD)?).ok()?.trim_end_matches('\n');
        let (number, phase) = head.split_at_checked(Self::HEAD - 2)?;
        let behind = number.trim().parse().ok()?;
        let phase = match phase {
            "s" => Some(Part::Setup),
            "b" => Some(Part::Body),
            "t" => Some(Part::Teardown),
            _ => None,
        };
        let end = bytes[Self::HEAD..].iter().position(|byte| *byte == 0);
        bytes.truncate(end.map_or(bytes.len(), |end| end + Self::HEAD));
        bytes.drain(..Self::HEAD);
        Some(Self { behind, phase, bytes })
    }
}
