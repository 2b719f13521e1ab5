//! Renders a log as HTML lines, with terminal colors as classes. Everything else that could control
//! a terminal or a browser is removed.
//!
//! Of the SGR sequences (`ESC [ … m`), bold, faint, italic, underlined, the sixteen colors, and the
//! first sixteen of 256 colors are supported. All other sequences are removed with their contents,
//! following ECMA-48. A carriage return within a line restarts it, as progress bars expect.

use crate::markup::escaped;

/// The style of text.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    colour: Option<u8>,
    bold: bool,
    faint: bool,
    italic: bool,
    underlined: bool,
}

impl Look {
    fn classes(self) -> String {
        let mut classes = Vec::new();
        let marks =
            [(self.bold, "b"), (self.faint, "f"), (self.italic, "i"), (self.underlined, "u")];
        classes.extend(marks.into_iter().filter(|(is, _)| *is).map(|(_, class)| class.to_owned()));
        classes.extend(self.colour.map(|colour| format!("c{colour}")));
        classes.join(" ")
    }

    fn apply(&mut self, parameters: &str) {
        let mut numbers = parameters
            .split([';', ':'])
            .map(|n| if n.is_empty() { Some(0) } else { n.parse::<u16>().ok() });
        while let Some(number) = numbers.next() {
            match number.unwrap_or(u16::MAX) {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.faint = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                22 => (self.bold, self.faint) = (false, false),
                23 => self.italic = false,
                24 => self.underlined = false,
                colour @ 30..=37 => self.colour = Some((colour - 30) as u8),
                colour @ 90..=97 => self.colour = Some((colour - 82) as u8),
                39 => self.colour = None,
                // Other palette colors and RGB colors are not supported, but their parameters are
                // consumed.
                kind @ (38 | 48) => {
                    let mut next = || numbers.next().flatten().unwrap_or(0);
                    let palette = match next() {
                        5 => Some(next()),
                        2 => {
                            let _ = (next(), next(), next());
                            None
                        }
                        _ => None,
                    };
                    if kind == 38 {
                        self.colour = palette.filter(|n| *n < 16).map(|n| n as u8);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A piece of a line.
enum Piece<'a> {
    Text(&'a str),
    Sgr(&'a str),
    /// A carriage return, which restarts the line.
    Return,
}

/// Splits a line at escape sequences and carriage returns.
fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['\u{1b}', '\u{9b}', '\r']) {
        if at > 0 {
            found.push(Piece::Text(&rest[..at]));
        }
        let sequence = &rest[at..];
        if let Some(after) = sequence.strip_prefix('\r') {
            found.push(Piece::Return);
            rest = after;
            continue;
        }
        let (sgr, after) = escape(sequence);
        found.extend(sgr.map(Piece::Sgr));
        rest = after;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest));
    }
    found
}

/// Returns the parameters of a leading SGR sequence, and the text that follows the sequence,
/// whatever its type.
fn escape(sequence: &str) -> (Option<&str>, &str) {
    let control = match sequence.strip_prefix('\u{9b}') {
        Some(control) => Some(control),
        None => sequence.strip_prefix("\u{1b}["),
    };
    if let Some(control) = control {
        // Parameter and intermediate bytes, followed by one final byte.
        let end = control.find(|c: char| !('\u{20}'..='\u{3f}').contains(&c));
        let Some(end) = end else { return (None, "") };
        let last = control[end..].chars().next().unwrap_or(' ');
        let after =
            if last.is_control() { &control[end..] } else { &control[end + last.len_utf8()..] };
        let parameters = &control[..end];
        let is_sgr = last == 'm'
            && parameters.bytes().all(|b| b.is_ascii_digit() || matches!(b, b';' | b':'));
        return (is_sgr.then_some(parameters), after);
    }
    let after = sequence.strip_prefix('\u{1b}').unwrap_or(sequence);
    let mut characters = after.chars();
    match characters.next() {
        // Command strings (such as titles and links), up to BEL or ST.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let body = characters.as_str();
            let bell = body.find('\u{7}').map(|at| at + 1);
            let string = body.find("\u{1b}\\").map(|at| at + 2);
            let end = [bell, string].into_iter().flatten().min();
            (None, end.map_or("", |end| &body[end..]))
        }
        Some(c) if !c.is_control() => (None, characters.as_str()),
        _ => (None, after),
    }
}

/// Returns the lines as HTML, numbered from `first`. O(bytes). The only tags in the result are
/// `span`, whose classes and line numbers are generated by this function.
pub fn html(log: &[u8], first: u64) -> String {
    let text = String::from_utf8_lossy(log);
    let mut html = String::with_capacity(text.len() * 2);
    let mut look = Look::default();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    for (number, line) in (first..).zip(text.split('\n')) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let begin = format!("<span class=\"line\" id=\"L{number}\">");
        html += &begin;
        let start = html.len();
        for piece in pieces(line) {
            match piece {
                Piece::Sgr(parameters) => look.apply(parameters),
                Piece::Return => html.truncate(start),
                Piece::Text(text) if look == Look::default() => html += &escaped(&tabs(text)),
                Piece::Text(text) => {
                    html += &format!("<span class=\"{}\">", look.classes());
                    html += &escaped(&tabs(text));
                    html += "</span>";
                }
            }
        }
        html += "</span>\n";
    }
    html
}

/// Replaces each tab with four spaces.
fn tabs(text: &str) -> String {
    text.replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;
    use proptest::prelude::*;

    fn one(line: &str) -> String {
        let all = html(line.as_bytes(), 1);
        all.strip_prefix("<span class=\"line\" id=\"L1\">")
            .and_then(|rest| rest.strip_suffix("</span>\n"))
            .unwrap_or_else(|| unreachable!("{all}"))
            .to_owned()
    }

    #[test]
    fn colours_become_classes() {
        assert_eq!(one("\u{1b}[1;31mred\u{1b}[0m plain"), "<span class=\"b c1\">red</span> plain");
        assert_eq!(one("\u{1b}[92mok\u{1b}[39m."), "<span class=\"c10\">ok</span>.");
        assert_eq!(
            one("\u{1b}[38;5;3mx\u{1b}[38;2;1;2;3my\u{1b}[m."),
            "<span class=\"c3\">x</span>y."
        );
        // Styles continue on the next line.
        assert!(
            html(b"\x1b[31ma\nb", 7).ends_with("id=\"L8\"><span class=\"c1\">b</span></span>\n")
        );
    }

    #[test]
    fn what_steers_a_terminal_is_gone() {
        assert_eq!(
            one(
                "a\u{1b}[2J\u{1b}[1;1Hb\u{1b}]0;title\u{7}c\u{1b}]8;;http://x\u{1b}\\d\u{1b}(Be\u{9b}31mf"
            ),
            "abcd<?>".replace("<?>", "Be<span class=\"c1\">f</span>")
        );
        assert_eq!(one("10 %\r50 %\rdone"), "done");
        assert_eq!(html(b"a\r\nb\r\n", 1).matches("span class=\"line\"").count(), 2);
        assert_eq!(one("\u{1b}[31"), "");
        assert_eq!(one("\u{1b}]0;never ended <b>"), "");
        assert_eq!(one("a\u{202e}b\u{8}\u{0}"), "a?b??");
    }

    #[test]
    fn what_steers_a_browser_is_text() {
        assert_eq!(one("<b onclick='x'>\"&amp;"), "&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;amp;");
        // Also with a sequence in the middle of a tag.
        assert_eq!(one("<scr\u{1b}[0mipt>"), "&lt;script&gt;");
    }

    /// Returns the text without the tags that a log may contain.
    fn without_spans(html: &str) -> String {
        let mut rest = html.replace("</span>", "");
        while let Some(at) = rest.find("<span class=\"") {
            let end = at + rest[at..].find('>').unwrap();
            let attributes = &rest[at + 13..end];
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '"' | '=');
            assert!(attributes.chars().all(plain), "{attributes}");
            rest.replace_range(at..=end, "");
        }
        rest
    }

    proptest! {
        #[test]
        fn no_byte_gets_out_as_markup(log in proptest::collection::vec(prop_oneof![
            Just(b'<'), Just(b'>'), Just(b'"'), Just(b'\''), Just(b'&'), Just(0x1b), Just(b'['), Just(b']'), Just(b'm'), Just(b';'), Just(b'3'), Just(b'\r'), Just(b'\n'), any::<u8>()
        ], 0..200)) {
            let rest = without_spans(&html(&log, 1));
            prop_assert!(!rest.contains(['<', '>', '"', '\'', '\u{1b}', '\u{9b}', '\r']), "{}", rest);
            prop_assert!(!rest.chars().any(|c| c.is_control() && c != '\n'));
            prop_assert_eq!(rest.matches('\n').count(), 1 + log.strip_suffix(b"\n").unwrap_or(&log).iter().filter(|b| **b == b'\n').count());
        }
    }
}
