//! Escaping of text in HTML, SVG and XML, both between tags and in quotes.

use crate::names::clean;

/// Returns a text as one line of markup. Characters that XML 1.0 can't represent become question
/// marks.
pub(crate) fn escaped(text: &str) -> String {
    replaced(&clean(text), Some('?'))
}

/// Escapes a text of several lines as an attribute value. Characters that XML 1.0 can't represent
/// are left out.
pub(crate) fn escaped_lines(text: &str) -> String {
    replaced(text, None)
}

fn replaced(text: &str, unknown: Option<char>) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '"' => plain.push_str("&quot;"),
            '\'' => plain.push_str("&#39;"),
            '\n' => plain.push_str("&#10;"),
            '\t' => plain.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => plain.extend(unknown),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_taken_for_markup() {
        assert_eq!(escaped("<script>\"&\u{1}\u{ffff}"), "&lt;script&gt;&quot;&amp;??");
        assert_eq!(escaped("a\nb's"), "a b&#39;s");
        let text = "a<b>&\"c\"\n\u{1b}[0m";
        assert_eq!(escaped_lines(text), "a&lt;b&gt;&amp;&quot;c&quot;&#10;[0m");
    }
}
