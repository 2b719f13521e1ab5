//! The headings that Rails writes into its log before each test: `Class: test_name` between two lines of as many dashes.
//!
//! Three lines are one heading, so up to two are held back until it is known what they are. (ActiveSupport's `TaggedLogging` for
//! tests writes them; the shape was seen in a log of ActiveSupport 6.1.)

/// Fewer dashes underline something else.
const FEWEST_DASHES: usize = 5;

/// Lines that may be the beginning of a heading, trimmed.
#[derive(Default)]
pub(super) struct Heading {
    /// The dashes, then what may be a name.
    held: Vec<Vec<u8>>,
}

/// What a line comes to.
pub(super) enum Seen {
    /// It is held back.
    Held,
    /// It ends a heading: the name of the test.
    Name(Vec<u8>),
    /// These lines were held back, and are none; then comes this one.
    Lines(Vec<Vec<u8>>),
    /// It has nothing to do with headings.
    Line,
}

impl Heading {
    /// Looks at a line that is trimmed.
    pub(super) fn see(&mut self, line: &[u8]) -> Seen {
        match self.held.as_slice() {
            [] if is_dashes(line) => {
                self.held.push(line.to_vec());
                Seen::Held
            }
            [] => Seen::Line,
            [dashes] if dashes.len() == line.len() && is_name(line) => {
                self.held.push(line.to_vec());
                Seen::Held
            }
            [dashes, _] if dashes.as_slice() == line => {
                Seen::Name(named(&std::mem::take(&mut self.held).pop().unwrap_or_default()))
            }
            _ => {
                let lines = std::mem::take(&mut self.held);
                // It may begin a heading itself.
                if is_dashes(line) {
                    self.held.push(line.to_vec());
                    return Seen::Lines(lines);
                }
                Seen::Lines(lines)
            }
        }
    }

    /// Whether the line that was seen last is held back.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// What is held back at the end of the log.
    pub(super) fn rest(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.held)
    }
}

fn is_dashes(line: &[u8]) -> bool {
    line.len() >= FEWEST_DASHES && line.iter().all(|byte| *byte == b'-')
}

/// `Class: test_name`.
fn is_name(line: &[u8]) -> bool {
    colon(line).is_some_and(|at| at > 0) && line.first().is_some_and(u8::is_ascii_uppercase)
}

fn colon(line: &[u8]) -> Option<usize> {
    memchr::memmem::find(line, b": ")
}

/// `Class test_name`, as markers have it.
fn named(line: &[u8]) -> Vec<u8> {
    let at = colon(line).unwrap_or(line.len());
    [&line[..at], &line[(at + 1).min(line.len())..]].concat()
}
