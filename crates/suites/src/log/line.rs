//! The beginning of a log line before its message: whitespace, a time, a level.
//!
//! Three formats are recognized:
//!
//! - Ruby's `Logger`, and hence Rails: `D, [2026-01-31T10:00:00.000000 #42] DEBUG -- app: message`.
//! - A level preceded only by times, numbers and words in brackets:
//!   `2026-01-31 10:00:00,000 [main] INFO  message`, `[WARN] message`.
//! - Python's `INFO:root:message`.
//!
//! A line in any other format has no level and is all message.

use assay_data::test_log::Level;

/// Maximum number of bytes before a level.
const LONGEST_BEFORE_LEVEL: usize = 64;

/// A parsed line.
pub(super) struct Parts<'a> {
    /// The level; if there is one, the line begins a logger record.
    pub level: Option<Level>,
    /// The rest of the line, trimmed.
    pub message: &'a [u8],
}

/// Returns the line without surrounding whitespace. As in Ruby, zero bytes count as whitespace.
pub(super) fn trimmed(mut line: &[u8]) -> &[u8] {
    let is_blank = |byte: u8| byte <= b' ' && matches!(byte, b' ' | b'\t'..=b'\r' | 0);
    while let [first, rest @ ..] = line
        && is_blank(*first)
    {
        line = rest;
    }
    while let [rest @ .., last] = line
        && is_blank(*last)
    {
        line = rest;
    }
    line
}

/// Parses a trimmed line.
pub(super) fn parts(line: &[u8]) -> Parts<'_> {
    let begins = match line {
        [b'A'..=b'Z', b',', b' ', b'[', ..] => of_logger(line),
        [
            b'0'..=b'9'
            | b'['
            | b'('
            | b'A'
            | b'C'
            | b'D'
            | b'E'
            | b'F'
            | b'I'
            | b'N'
            | b'T'
            | b'U'
            | b'W',
            ..,
        ] => of_others(line),
        _ => None,
    };
    match begins {
        Some((level, message)) => Parts { level: Some(level), message },
        None => Parts { level: None, message: line },
    }
}

fn of_logger(line: &[u8]) -> Option<(Level, &[u8])> {
    let behind_time = memchr::memchr(b']', &line[..line.len().min(LONGEST_BEFORE_LEVEL)])? + 1;
    let (level, behind) = level_at(trimmed(&line[behind_time..]))?;
    let behind = trimmed(behind).strip_prefix(b"--")?;
    // The name of the program may be missing, but not the colon after it.
    let colon = memchr::memchr(b':', &behind[..behind.len().min(LONGEST_BEFORE_LEVEL)])?;
    Some((level, trimmed(&behind[colon + 1..])))
}

fn of_others(line: &[u8]) -> Option<(Level, &[u8])> {
    let near = &line[..line.len().min(LONGEST_BEFORE_LEVEL)];
    let mut at = 0;
    let mut in_brackets = false;
    while let Some(&byte) = near.get(at) {
        if let Some((level, behind)) = level_at(&line[at..]) {
            let is_end =
                |byte: &u8| matches!(byte, b' ' | b':' | b']' | b'-' | b'|' | b'\t' | b')');
            let ends = behind.iter().take_while(|byte| is_end(byte)).count();
            // `ERROR 404` is a message; a logger separates its level from the message.
            let is_apart = at > 0
                || matches!(behind, [b':' | b' ', b':' | b' ' | b'-' | b'|', ..])
                || is_python(behind);
            return is_apart.then(|| (level, &behind[ends..]));
        }
        match byte {
            b'[' | b'(' => in_brackets = true,
            b']' | b')' => in_brackets = false,
            b'0'..=b'9'
            | b'T'
            | b'Z'
            | b':'
            | b'.'
            | b','
            | b'+'
            | b'-'
            | b'/'
            | b'#'
            | b' '
            | b'\t'
            | b'|' => {}
            _ if in_brackets => {}
            _ => return None,
        }
        at += 1;
    }
    None
}

/// Returns true if the text after a level continues as in Python's `INFO:root:message`.
fn is_python(behind: &[u8]) -> bool {
    matches!(behind, [b':', next, ..] if !next.is_ascii_whitespace())
}

const WORDS: [(&[u8], Level); 13] = [
    (b"TRACE", Level::Trace),
    (b"DEBUG", Level::Debug),
    (b"INFO", Level::Info),
    (b"NOTICE", Level::Info),
    (b"WARNING", Level::Warn),
    (b"WARN", Level::Warn),
    (b"ERROR", Level::Error),
    (b"FATAL", Level::Fatal),
    (b"CRITICAL", Level::Fatal),
    (b"ALERT", Level::Fatal),
    (b"EMERGENCY", Level::Fatal),
    (b"ANY", Level::Unknown),
    (b"UNKNOWN", Level::Unknown),
];

/// Returns the level word that a text begins with, and the text after it.
fn level_at(text: &[u8]) -> Option<(Level, &[u8])> {
    let first = *text.first()?;
    if !first.is_ascii_uppercase() {
        return None;
    }
    WORDS.iter().find_map(|(word, level)| {
        let behind = text.strip_prefix(*word)?;
        let goes_on =
            behind.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        (!goes_on).then_some((*level, behind))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> (Option<Level>, String) {
        let Parts { level, message } = parts(trimmed(line.as_bytes()));
        (level, String::from_utf8_lossy(message).into_owned())
    }

    #[test]
    fn a_level_is_known_by_its_shape_and_what_follows_is_the_message() {
        let known = [
            (
                "D, [2026-01-31T10:00:00.000000 #42] DEBUG -- : RUNNING A test_b",
                Level::Debug,
                "RUNNING A test_b",
            ),
            ("E, [2026-01-31T10:00:00.000000 #42] ERROR -- app: a: b", Level::Error, "a: b"),
            ("A, [2026-01-31T10:00:00.000000 #42]   ANY -- : x", Level::Unknown, "x"),
            (
                "2026-01-31 10:00:00,123 [main] INFO  com.x.Y - started",
                Level::Info,
                "com.x.Y - started",
            ),
            ("[WARN] slow", Level::Warn, "slow"),
            ("INFO:root:hello", Level::Info, "root:hello"),
            ("WARNING: odd", Level::Warn, "odd"),
        ];
        for (line, level, message) in known {
            assert_eq!(of(line), (Some(level), message.to_owned()), "{line}");
        }
        for line in [
            "ERROR 404",
            "INFORMATION: x",
            "a DEBUG b",
            "D, [no end",
            "RUNNING A",
            "",
            "[a] b INFO c",
        ] {
            assert_eq!(of(line), (None, line.to_owned()));
        }
    }
}
