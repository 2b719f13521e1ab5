//! Shortens foreign text for messages, and escapes characters that a terminal would interpret.

/// Maximum number of characters of an excerpt, not counting the ellipsis.
const LONGEST: usize = 60;

/// Numbers of characters that are kept at the beginning and at the end of a message that is longer
/// than both together.
const KEPT: (usize, usize) = (1000, 500);

/// Returns the text, cut after 60 characters, with control characters and bidirectional marks
/// escaped.
pub(crate) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            out.push('…');
            break;
        }
        push_visible(&mut out, c);
    }
    out
}

/// Returns a message, which may contain foreign names, with control characters and bidirectional
/// marks escaped. The middle of a very long message is left out.
pub(crate) fn visible(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let (first, last) = KEPT;
    let length = message.chars().count();
    for (at, c) in message.chars().enumerate() {
        if length <= first + last || at < first || at >= length - last {
            push_visible(&mut out, c);
        } else if at == first {
            out.push_str(" … ");
        }
    }
    out
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' | '\r' | '\t' => out.extend(c.escape_default()),
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            out.extend(c.escape_unicode());
        }
        c if c.is_control() => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(excerpt("a\nb\t\u{1b}[31m"), "a\\nb\\t\\u{1b}[31m");
        assert_eq!(excerpt("ab\u{202e}cd"), "ab\\u{202e}cd");
    }

    #[test]
    fn a_message_keeps_its_beginning_and_its_end_and_nothing_that_a_terminal_obeys() {
        assert_eq!(visible("x:1: `\u{1b}[2J`"), "x:1: `\\u{1b}[2J`");
        let long = visible(&format!("a{}z", "é".repeat(100_000)));
        assert_eq!(long.chars().count(), 1503);
        assert!(long.starts_with("aé") && long.ends_with("éz") && long.contains("é … é"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(excerpt(&"é".repeat(100)), format!("{}…", "é".repeat(60)));
        assert_eq!(excerpt(&"é".repeat(60)), "é".repeat(60));
    }
}
