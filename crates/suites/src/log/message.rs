//! Detects whether most of what a test wrote is one large message, such as a logged e-mail, whose
//! lines say nothing about the test's work.
//!
//! There are two signs. If a logger prefixes each record, lines without a prefix belong to the
//! previous record. Otherwise: adjacent lines of several shapes that no other test has, and that do
//! not look like Rails records. This is a guess, and is presented as one.

/// Minimum number of lines of a large message.
const FEWEST_LINES: u64 = 10;
/// Minimum number of shapes unique to the test; fewer indicate an unusual statement rather than a
/// text.
const FEWEST_SHAPES: usize = 3;

/// Lines of one shape within one test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Number of lines.
    pub lines: u64,
    /// Position of the first line within the test.
    pub first: u32,
    /// Position of the last line within the test.
    pub last: u32,
    /// True if no other test has this shape.
    pub is_own: bool,
    /// True if the lines look like logger records.
    pub is_record: bool,
    /// True if the lines are blank.
    pub is_blank: bool,
}

/// Returns the number of a test's lines that look like one message, if that is most of them.
/// `longest` is the length of the longest logger record in lines.
pub(super) fn large(lines: u64, longest: u64, groups: &[Group]) -> Option<u64> {
    let is_most = |part: u64| part >= FEWEST_LINES && 2 * part >= lines;
    if is_most(longest) {
        return Some(longest);
    }
    let own: Vec<&Group> =
        groups.iter().filter(|g| g.is_own && !g.is_record && !g.is_blank).collect();
    if own.len() < FEWEST_SHAPES {
        return None;
    }
    let first = own.iter().map(|group| group.first).min()?;
    let last = own.iter().map(|group| group.last).max()?;
    let span = u64::from(last - first) + 1;
    let blank: u64 = groups.iter().filter(|group| group.is_blank).map(|group| group.lines).sum();
    let within = own.iter().map(|group| group.lines).sum::<u64>() + blank;
    // At least nine tenths of the lines in between belong to it.
    (is_most(span) && 10 * within >= 9 * span).then_some(span)
}

/// Returns true if a line of this shape looks like a Rails record of a request or a statement: it
/// begins with a typical word or contains a time in brackets.
pub(super) fn looks_like_record(shape: &[u8]) -> bool {
    const WORDS: [&[u8]; 8] = [
        b"Started ",
        b"Processing ",
        b"Completed ",
        b"Rendering ",
        b"Rendered ",
        b"Redirected ",
        b"Parameters: ",
        b"Sent ",
    ];
    let has = |part: &[u8]| memchr::memmem::find(shape, part).is_some();
    WORDS.iter().any(|word| shape.starts_with(word)) || has(b"(#)") || has(b"(#ms)")
}
