//! Whether most of what a test wrote is one large message, such as an e-mail that was logged: its lines say nothing of its work.
//!
//! Two signs. With a logger that puts something before each record, lines without that belong to the record before them. Otherwise: lines
//! that stand together, of several shapes that no other test has, and that look like no record of Rails. It is a guess, and shown as one.

/// Fewer lines are no large message.
const FEWEST_LINES: u64 = 10;
/// Fewer shapes that no other test has are a statement of its own, not a text.
const FEWEST_SHAPES: usize = 3;

/// Lines of one shape within one test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// How many.
    pub lines: u64,
    /// Place of the first within the test.
    pub first: u32,
    /// Place of the last.
    pub last: u32,
    /// Whether no other test has this shape.
    pub is_own: bool,
    /// Whether it looks like a record of a logger.
    pub is_record: bool,
    /// Whether there is nothing in it.
    pub is_blank: bool,
}

/// How many of a test's lines look like one message, if that is most of them. `longest` is the longest record of a logger in lines.
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
    // Hardly anything else between them.
    (is_most(span) && 10 * within >= 9 * span).then_some(span)
}

/// Whether a line of this shape looks like what Rails writes of a request or a statement: it begins with a word of Rails, or has a time in
/// brackets.
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
