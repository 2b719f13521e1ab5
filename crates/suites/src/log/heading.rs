//! The headings that Rails writes to its log before each test: `Class: test_name` between two lines
//! of equally many dashes.
//!
//! A heading consists of three lines, so up to two lines are held back until they are identified.
//! (ActiveSupport's `TaggedLogging` for tests writes them; the format was taken from a log of
//! ActiveSupport 6.1.)

/// Minimum number of dashes; shorter lines underline something else.
const FEWEST_DASHES: usize = 5;

/// Lines that may be the beginning of a heading, trimmed.
#[derive(Default)]
pub(super) struct Heading {
    /// The dashes, then a possible name.
    held: Vec<Vec<u8>>,
}

/// The classification of a line.
pub(super) enum LineClass {
    /// The line is held back.
    Held,
    /// The line ends a heading with this test name.
    Name(Vec<u8>),
    /// The held-back lines are not a heading; the current line follows them.
    Lines(Vec<Vec<u8>>),
    /// The line is not part of a heading.
    Line,
}

impl Heading {
    /// Classifies a trimmed line.
    pub(super) fn see(&mut self, line: &[u8]) -> LineClass {
        match self.held.as_slice() {
            [] if is_dashes(line) => {
                self.held.push(line.to_vec());
                LineClass::Held
            }
            [] => LineClass::Line,
            [dashes] if dashes.len() == line.len() && is_name(line) => {
                self.held.push(line.to_vec());
                LineClass::Held
            }
            [dashes, _] if dashes.as_slice() == line => {
                LineClass::Name(named(&std::mem::take(&mut self.held).pop().unwrap_or_default()))
            }
            _ => {
                let lines = std::mem::take(&mut self.held);
                // It may begin a heading itself.
                if is_dashes(line) {
                    self.held.push(line.to_vec());
                    return LineClass::Lines(lines);
                }
                LineClass::Lines(lines)
            }
        }
    }

    /// Returns true if the last line is held back.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns the lines that are held back at the end of the log.
    pub(super) fn rest(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.held)
    }
}

fn is_dashes(line: &[u8]) -> bool {
    line.len() >= FEWEST_DASHES && line.iter().all(|byte| *byte == b'-')
}

/// Returns true if a line has the form `Class: test_name`.
fn is_name(line: &[u8]) -> bool {
    colon(line).is_some_and(|at| at > 0) && line.first().is_some_and(u8::is_ascii_uppercase)
}

fn colon(line: &[u8]) -> Option<usize> {
    memchr::memmem::find(line, b": ")
}

/// Returns the name in the form `Class test_name`, as in markers.
fn named(line: &[u8]) -> Vec<u8> {
    let at = colon(line).unwrap_or(line.len());
    [&line[..at], &line[(at + 1).min(line.len())..]].concat()
}
