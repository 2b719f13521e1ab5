//! Exports without control characters. Names come from outside, and printing a file must not let
//! them control the terminal.
//!
//! In text, control characters become Rust's escapes (`\u{1b}`), which keep names distinct. In
//! JSON, they become JSON's own escapes, which read back to the same name. Line feeds and tabs are
//! kept, because tables use them.

use std::io::{self, Write};

/// How control characters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// Rust's escapes, as in a message: `\u{1b}`.
    Text,
    /// JSON's escapes, as in a JSON string: `\u001b`.
    Json,
}

/// First of the two UTF-8 bytes of a control character beyond ASCII.
const LEAD: u8 = 0xC2;

/// A sink that escapes control characters and passes the text on to another sink. A write may end
/// in the middle of a UTF-8 sequence.
#[derive(Debug)]
pub struct Plain<W> {
    sink: W,
    escapes: Escapes,
    /// True if the last byte was [`LEAD`], which is held back until the next byte is known.
    is_led: bool,
}

impl<W: Write> Plain<W> {
    /// Puts the filter in front of `sink`.
    pub fn new(sink: W, escapes: Escapes) -> Self {
        Self { sink, escapes, is_led: false }
    }

    fn escape(&mut self, byte: u8) -> io::Result<()> {
        match self.escapes {
            Escapes::Text => write!(self.sink, "\\u{{{byte:x}}}"),
            Escapes::Json => write!(self.sink, "\\u{byte:04x}"),
        }
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        if self.is_led
            && let [first, behind @ ..] = rest
        {
            self.is_led = false;
            // The second UTF-8 byte of U+0080 to U+009F equals the code point.
            match first {
                0x80..=0x9F => self.escape(*first)?,
                _ => self.sink.write_all(&[LEAD, *first])?,
            }
            rest = behind;
        }
        let is_odd = |byte: &u8| matches!(*byte, 0..=8 | 11..=31 | 127 | LEAD);
        while let Some(at) = rest.iter().position(is_odd) {
            let (plain, odd) = rest.split_at(at);
            self.sink.write_all(plain)?;
            rest = match odd {
                [] => &[],
                [LEAD, byte @ 0x80..=0x9F, behind @ ..] => {
                    self.escape(*byte)?;
                    behind
                }
                [LEAD] => {
                    self.is_led = true;
                    &[]
                }
                [LEAD, behind @ ..] => {
                    self.sink.write_all(&[LEAD])?;
                    behind
                }
                [byte, behind @ ..] => {
                    self.escape(*byte)?;
                    behind
                }
            };
        }
        self.sink.write_all(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Returns a text with control characters other than line feeds and tabs escaped.
pub fn plain_text(text: &str, escapes: Escapes) -> String {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match escapes {
            _ if !is_odd(c) => plain.push(c),
            Escapes::Text => plain.extend(c.escape_unicode()),
            Escapes::Json => plain += &format!("\\u{:04x}", u32::from(c)),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn through(text: &str, escapes: Escapes, piece: usize) -> String {
        let mut sink = Plain::new(Vec::new(), escapes);
        text.as_bytes().chunks(piece).for_each(|bytes| sink.write_all(bytes).expect("written"));
        String::from_utf8(sink.sink).expect("UTF-8")
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left_however_it_is_cut() {
        let text = "a\u{1b}[31mb\u{7}\u{7f}\u{9b}2J\té£\n\r";
        let expected = "a\\u{1b}[31mb\\u{7}\\u{7f}\\u{9b}2J\té£\n\\u{d}";
        for piece in 1..9 {
            assert_eq!(through(text, Escapes::Text, piece), expected);
        }
    }

    proptest! {
        #[test]
        fn a_sink_and_a_text_are_escaped_alike(text in "\\PC*|[\\x00-\\x{ff}]*", piece in 1..5_usize) {
            for escapes in [Escapes::Text, Escapes::Json] {
                prop_assert_eq!(through(&text, escapes, piece), plain_text(&text, escapes));
            }
        }

        #[test]
        fn json_reads_back_to_the_same_name(name in "[\\x00-\\x{ff}]*", piece in 1..5_usize) {
            let written = serde_json::to_string(&name).expect("a string");
            let plain = through(&written, Escapes::Json, piece);
            prop_assert!(!plain.chars().any(char::is_control));
            prop_assert_eq!(serde_json::from_str::<String>(&plain).expect("JSON"), name);
        }
    }
}
