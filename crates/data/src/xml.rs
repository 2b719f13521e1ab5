//! Reads the tags of an XML file one after another, in bounded memory. All readers of XML use this
//! code.
//!
//! A file is read as a stream of tags. Of the text between them only the beginning is kept.
//! Comments are kept if they contain no `>`, and CDATA sections are skipped. Test reports may have
//! whole logs on one line, so lines matter only for the positions in errors. Every tag must be
//! closed by its own end tag. Namespaces, custom entities and document types are ignored.

use crate::excerpt::excerpt;
use crate::lines::io_error;
use crate::read_error::{FilePosition, ReadError};
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;
use std::io::BufRead;

/// Maximum length of a tag, in bytes.
const MAX_TAG: usize = 1024 * 1024;
/// Maximum depth of nested elements.
const MAX_DEPTH: usize = 1000;
/// Number of bytes kept of the text before a tag.
const MAX_TEXT: usize = 64 * 1024;

/// A tag or a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag<'a> {
    /// Start of an element. For an empty element, its end follows.
    Open {
        /// The name of the element.
        name: &'a str,
        /// Attributes of the element, as written in the file.
        text: &'a str,
    },
    /// End of an element.
    Close {
        /// The name of the element.
        name: &'a str,
        /// The beginning of the text between the previous tag or comment and this end tag.
        before: &'a str,
    },
    /// A comment that contains no `>`. Other comments are skipped.
    Comment {
        /// The text of the comment, trimmed.
        text: &'a str,
    },
}

/// A reader of the tags of a named file.
pub struct Xml<R> {
    reader: R,
    file: String,
    /// Number of the line up to which the file has been read, counted from 1.
    line: u64,
    /// The tag, without its brackets.
    tag: Vec<u8>,
    /// The beginning of the text before the tag.
    text: Vec<u8>,
    /// The first bytes of a character of the text, if its remaining bytes have not been read yet.
    begun: Vec<u8>,
    /// Concatenated names of the open elements.
    open: String,
    /// Start of each name in `open`.
    begins: Vec<usize>,
    /// True if the last tag was an empty element of which only the start has been returned.
    is_empty: bool,
}

impl<R: BufRead> Xml<R> {
    /// Returns the tags of a file; `file` names it in errors.
    pub fn new(reader: R, file: &str) -> Self {
        Self {
            reader,
            file: file.to_owned(),
            line: 1,
            tag: Vec::new(),
            text: Vec::new(),
            begun: Vec::new(),
            open: String::new(),
            begins: Vec::new(),
            is_empty: false,
        }
    }

    /// Returns the number of the line on which the last tag ended, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the number of open elements.
    pub fn depth(&self) -> usize {
        self.begins.len()
    }

    /// Returns the next tag, or `None` at the end of the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, is not UTF-8 or is truncated, if text is
    /// outside of all elements, if an end tag does not match the open element, or if a tag is too
    /// long or elements are nested too deep.
    pub fn next_tag(&mut self) -> Result<Option<Tag<'_>>, ReadError> {
        if std::mem::take(&mut self.is_empty) {
            self.text.clear();
            return self.close_last().map(Some);
        }
        loop {
            self.text.clear();
            let goes_on = self.until(b'<', ScanPurpose::Text)?;
            if !self.begun.is_empty() {
                return Err(self.not_utf_8());
            }
            if self.begins.is_empty() && !is_blank(&self.text) {
                let text = String::from_utf8_lossy(&self.text);
                return Err(self
                    .wrong(format!("`{}` stands outside of all elements", excerpt(text.trim()))));
            }
            if !goes_on {
                return match self.begins.last() {
                    Some(&begin) => {
                        let within = self.open[begin..].to_owned();
                        Err(self.wrong(format!("the file breaks off within `<{within}>`")))
                    }
                    None => Ok(None),
                };
            }
            if self.read_tag()? {
                break;
            }
            if let Some((from, to)) = self.comment() {
                let text = std::str::from_utf8(&self.tag[from..to]).unwrap_or_default().trim();
                return Ok(Some(Tag::Comment { text }));
            }
        }
        if let Some(name) = self.tag.strip_prefix(b"/") {
            let expected = self.begins.last().map(|&begin| &self.open[begin..]);
            if expected.map(str::as_bytes) != Some(name.trim_ascii()) {
                let expected = expected.map(|e| format!("; `<{e}>` is open")).unwrap_or_default();
                let name = String::from_utf8_lossy(name);
                return Err(self.wrong(format!("`</{}>` closes nothing{expected}", excerpt(&name))));
            }
            return self.close_last().map(Some);
        }
        let Ok(text) = std::str::from_utf8(&self.tag) else {
            return Err(self.wrong("a tag that is not UTF-8; save the file as UTF-8".to_owned()));
        };
        let text = text.trim_end();
        if self.begins.len() >= MAX_DEPTH {
            return Err(self.wrong(format!("elements nested more than {MAX_DEPTH} deep")));
        }
        let (text, is_empty) = match text.strip_suffix('/') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        self.is_empty = is_empty;
        self.begins.push(self.open.len());
        self.open.push_str(name);
        Ok(Some(Tag::Open { name, text: rest }))
    }

    /// Returns the range of the text of a comment in `tag`. `None` if `tag` is something else, or a
    /// comment that contains `>`.
    fn comment(&self) -> Option<(usize, usize)> {
        let text = self.tag.strip_prefix(b"!--")?.strip_suffix(b"--")?;
        (!text.contains(&b'>')).then_some((3, 3 + text.len()))
    }

    /// Closes the element that was opened last.
    fn close_last(&mut self) -> Result<Tag<'_>, ReadError> {
        let begin = self.begins.pop().unwrap_or_default();
        // The name remains readable until the next tag replaces it.
        self.tag.clear();
        self.tag.extend_from_slice(&self.open.as_bytes()[begin..]);
        self.open.truncate(begin);
        let name = std::str::from_utf8(&self.tag).unwrap_or_default();
        let before = std::str::from_utf8(&self.text).unwrap_or_default();
        Ok(Tag::Close { name, before })
    }

    /// Reads a tag after its `<`. Returns false for anything that is skipped, such as a comment.
    fn read_tag(&mut self) -> Result<bool, ReadError> {
        self.tag.clear();
        loop {
            let found = self.until(b'>', ScanPurpose::Tag)?;
            let ends_with = |end: &[u8]| found && self.tag.ends_with(end);
            let is_whole = match self.tag.as_slice() {
                [b'!', b'-', b'-', ..] => ends_with(b"--") && self.tag.len() >= 5,
                [b'!', b'[', b'C', ..] => ends_with(b"]]"),
                [b'?', ..] => ends_with(b"?"),
                [b'!', ..] => found,
                tag => found && !is_in_quotes(tag),
            };
            if is_whole {
                return Ok(!matches!(self.tag.first(), Some(b'!' | b'?')));
            }
            if !found && self.tag.len() < MAX_TAG {
                return Err(self.wrong("the file breaks off within a tag".to_owned()));
            }
            match self.tag.first() {
                // Only the start and the possible end of skipped text need to be kept.
                Some(b'!' | b'?') => {
                    let last = self.tag.len().saturating_sub(2).max(8).min(self.tag.len());
                    self.tag.drain(8.min(last)..last);
                }
                _ if self.tag.len() >= MAX_TAG => {
                    return Err(self.wrong(format!("a tag of more than {MAX_TAG} bytes")));
                }
                _ => {}
            }
            if found {
                // This `>` does not end the tag.
                self.tag.push(b'>');
            }
        }
    }

    /// Reads up to and including the byte `end`. Returns false at the end of the file, or if a tag
    /// reaches its maximum length.
    fn until(&mut self, end: u8, kept: ScanPurpose) -> Result<bool, ReadError> {
        loop {
            let seen = match self.reader.fill_buf() {
                Ok([]) => return Ok(false),
                Ok(seen) => seen,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(io_error(&self.file, error)),
            };
            let found = memchr(end, seen);
            let piece = &seen[..found.unwrap_or(seen.len())];
            if matches!(kept, ScanPurpose::Text)
                && let Err(before) = go_on_as_utf_8(&mut self.begun, piece)
            {
                self.line += memchr_iter(b'\n', &piece[..before]).count() as u64;
                return Err(self.not_utf_8());
            }
            let (into, most) = match kept {
                ScanPurpose::Text => (&mut self.text, MAX_TEXT),
                ScanPurpose::Tag => (&mut self.tag, MAX_TAG),
            };
            let room = piece.len().min(most.saturating_sub(into.len()));
            into.extend_from_slice(&piece[..room]);
            let is_full = matches!(kept, ScanPurpose::Tag) && into.len() >= most;
            // The remainder of a tag that is too long is read later.
            let used = if is_full { room } else { piece.len() + usize::from(found.is_some()) };
            self.line += memchr_iter(b'\n', &seen[..used]).count() as u64;
            self.reader.consume(used);
            if is_full {
                return Ok(false);
            }
            if found.is_some() {
                return Ok(true);
            }
        }
    }

    fn not_utf_8(&self) -> ReadError {
        self.wrong("text that is not UTF-8; save the file as UTF-8".to_owned())
    }

    /// Returns an error at the line up to which the file has been read.
    pub fn wrong(&self, problem: String) -> ReadError {
        let place = FilePosition { file: self.file.clone(), line: self.line, column: None };
        ReadError::Line { place, problem }
    }
}

/// The kind of content being read.
#[derive(Clone, Copy)]
enum ScanPurpose {
    Text,
    Tag,
}

/// Checks that this piece continues the preceding UTF-8 text. `begun` contains the bytes of a
/// character that the previous piece left incomplete, and receives those that this piece leaves
/// incomplete.
///
/// # Errors
///
/// Returns the number of bytes of the piece before the error if the text is not UTF-8.
fn go_on_as_utf_8(begun: &mut Vec<u8>, piece: &[u8]) -> Result<(), usize> {
    let mut rest = piece;
    while !begun.is_empty() {
        let Some((&byte, behind)) = rest.split_first() else { return Ok(()) };
        begun.push(byte);
        rest = behind;
        match std::str::from_utf8(begun) {
            Ok(_) => begun.clear(),
            Err(error) if error.error_len().is_some() => return Err(0),
            Err(_) => {}
        }
    }
    match std::str::from_utf8(rest) {
        Ok(_) => Ok(()),
        Err(error) if error.error_len().is_some() => {
            Err(piece.len() - rest.len() + error.valid_up_to())
        }
        Err(error) => {
            begun.extend_from_slice(&rest[error.valid_up_to()..]);
            Ok(())
        }
    }
}

/// Returns true if text outside of all elements is empty, apart from whitespace and the byte-order
/// mark at the start of the file.
fn is_blank(text: &[u8]) -> bool {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii().is_empty()
}

fn is_in_quotes(tag: &[u8]) -> bool {
    let mut within = None;
    for &byte in tag {
        match within {
            Some(quote) if byte == quote => within = None,
            None if matches!(byte, b'"' | b'\'') => within = Some(byte),
            _ => {}
        }
    }
    within.is_some()
}

/// Returns the attributes in a tag's text, with entities resolved.
pub fn attributes(text: &str) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (before, behind) = rest.split_at(rest.find('=')?);
        let name = before.trim_end().rsplit([' ', '\n', '\t', '\r']).next().unwrap_or_default();
        let behind = behind[1..].trim_start();
        let quote = behind.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, behind) = behind[1..].split_once(quote)?;
        rest = behind;
        Some((name, unescaped(value)))
    })
}

/// Returns the value of the attribute with this name.
pub fn attribute(text: &str, name: &str) -> Option<String> {
    attributes(text).find(|(own, _)| *own == name).map(|(_, value)| value.into_owned())
}

/// Returns the text with its entities resolved. Unknown entities are left unchanged.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let (before, mut rest) = text.split_at(first);
    out.push_str(before);
    while let Some(behind) = rest.strip_prefix('&') {
        let entity =
            behind.split_once(';').and_then(|(name, after)| Some((character(name)?, after)));
        let after = match entity {
            Some((character, after)) => {
                out.push(character);
                after
            }
            None => {
                out.push('&');
                behind
            }
        };
        let next = memchr(b'&', after.as_bytes()).unwrap_or(after.len());
        out.push_str(&after[..next]);
        rest = &after[next..];
    }
    Cow::Owned(out)
}

fn character(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "amp" => Some('&'),
        _ => {
            let code = name.strip_prefix('#')?;
            let number = match code.strip_prefix(['x', 'X']) {
                Some(code) => u32::from_str_radix(code, 16),
                None => code.parse(),
            };
            char::from_u32(number.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tags(text: &str, capacity: usize) -> Result<Vec<String>, String> {
        let reader = std::io::BufReader::with_capacity(capacity, text.as_bytes());
        let mut xml = Xml::new(reader, "x.xml");
        let mut seen = Vec::new();
        while let Some(tag) = xml.next_tag().map_err(|error| error.to_string())? {
            seen.push(match tag {
                Tag::Open { name, text } => format!("<{name}{text}>"),
                Tag::Close { name, before } => format!("{before}</{name}>"),
                Tag::Comment { text } => format!("<!--{text}-->"),
            });
        }
        Ok(seen)
    }

    #[test]
    fn tags_are_read_however_small_the_pieces() {
        let text = "<?xml a='>'?><!DOCTYPE a><!-- <x> -- --><!-- fail 4\n--><!----><a b=\"1 > 0\">\n<c/>t<![CDATA[<d>]]]]>u</a>\n";
        for capacity in 1..40 {
            let expected = ["<!--fail 4-->", "<!---->", "<a b=\"1 > 0\">", "<c>", "</c>", "u</a>"];
            assert_eq!(tags(text, capacity).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = [
            ("<a>\n<b>\n</a>", "x.xml:3: `</a>` closes nothing; `<b>` is open"),
            ("<a>\n<b c=\"", "x.xml:2: the file breaks off within a tag"),
            ("<a>\n", "x.xml:2: the file breaks off within `<a>`"),
            ("</a>", "x.xml:1: `</a>` closes nothing"),
        ];
        for (text, problem) in wrong {
            assert_eq!(tags(text, 64).unwrap_err(), problem, "{text}");
        }
        let outside = "x.xml:2: `b c` stands outside of all elements";
        assert_eq!(tags("<a>\n</a> b c", 64).unwrap_err(), outside);
        assert_eq!(tags("<a>\n</a> b c<d/>", 64).unwrap_err(), outside);
        for capacity in 1..9 {
            let seen = tags("\u{feff}<a>\u{e4}\u{20ac}\u{1f600}</a>\n", capacity);
            assert_eq!(seen.unwrap(), ["<a>", "\u{e4}\u{20ac}\u{1f600}</a>"]);
            for broken in [&b"<a>\n\xe4 b</a>"[..], b"<a>\n\xe2\x82</a>", b"<a>\n</a>\xe4"] {
                let reader = std::io::BufReader::with_capacity(capacity, broken);
                let mut xml = Xml::new(reader, "x.xml");
                let error = loop {
                    match xml.next_tag() {
                        Ok(Some(_)) => {}
                        other => break other.unwrap_err().to_string(),
                    }
                };
                assert_eq!(error, "x.xml:2: text that is not UTF-8; save the file as UTF-8");
            }
        }
        assert!(tags(&"<a>".repeat(2000), 64).unwrap_err().ends_with("nested more than 1000 deep"));
        let long = format!("<a b=\"{}\">", "x".repeat(2 << 20));
        assert!(tags(&long, 4096).unwrap_err().contains("a tag of more than"));
        let comment = format!(
            "<a><!-- {} --><![CDATA[{}]]></a>",
            "> -".repeat(1 << 20),
            "x>]".repeat(1 << 20)
        );
        assert_eq!(tags(&comment, 4096).unwrap(), ["<a>", "</a>"]);
    }

    #[test]
    fn attributes_are_found_outside_of_other_values_and_resolved() {
        let text = " name=\"a samples=&quot;1&quot; &amp;lt;\" samples='20' q = \"&#65;&#x42;&x;\"";
        assert_eq!(attribute(text, "name").as_deref(), Some("a samples=\"1\" &lt;"));
        assert_eq!(attribute(text, "samples").as_deref(), Some("20"));
        assert_eq!(attribute(text, "q").as_deref(), Some("AB&x;"));
        assert_eq!(attribute(text, "ci"), None);
        assert_eq!(attribute("<B name=\"a", "name"), None);
    }
}
