//! Short pieces of foreign text for messages: at most one line, no character that a terminal would obey.

/// Characters of an excerpt, its dots left out.
const LONGEST: usize = 60;

/// The text, cut after 60 characters, with control characters and marks that change the direction of writing escaped.
pub(crate) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => out.extend(c.escape_default()),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.extend(c.escape_unicode());
            }
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
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
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(excerpt(&"é".repeat(100)), format!("{}…", "é".repeat(60)));
        assert_eq!(excerpt(&"é".repeat(60)), "é".repeat(60));
    }
}
