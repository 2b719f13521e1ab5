//! The tail of a process's events: lines that it keeps in mapped memory until there are enough of them.

use crate::run::Part;
use std::fs;
use std::path::Path;

/// The last lines of a process that writes seldom, and until then keeps them in a file that it has in its memory.
pub(crate) struct Tail {
    /// Where they belong: behind so many bytes.
    pub behind: u64,
    /// The phase of the test that runs.
    pub phase: Option<Part>,
    /// The lines.
    pub bytes: Vec<u8>,
}

impl Tail {
    /// So long is what stands before the lines: a number, a letter, and the end of a line.
    const HEAD: usize = 20;

    /// That of a process with this file of events; `None` where it has none.
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
