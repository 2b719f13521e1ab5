//! Describes the first difference between two outputs in one line.

use super::Part;
use assay_measure::trace::{Region, Trace};

/// Maximum number of characters to quote from each output.
const MOST_QUOTED: usize = 40;
/// Maximum number of characters to quote before the difference.
const BEFORE: usize = 16;

/// Returns a sentence about how a part differs between a command and its reference, and the numbers
/// in that sentence.
pub(in crate::commands) fn described(
    (name, other): (&str, &str),
    what: &str,
    (own, others): (&Part, &Part),
    region: Option<Region>,
    quotes: bool,
) -> (String, Vec<(&'static str, f64)>) {
    match (own, others) {
        (Part::Status(own), Part::Status(others)) => {
            (format!("'{name}' {own}, '{other}' {others}"), Vec::new())
        }
        (Part::Bytes(own), Part::Bytes(others)) => {
            let head = format!("{what} of '{name}' differs from that of '{other}'");
            let Some(region) = region else { return (head, Vec::new()) };
            let Some(spot) = Spot::of(own, others, region) else {
                let message =
                    format!("{head} between bytes {} and {}", region.start + 1, region.end);
                return (message, vec![("byte", (region.start + 1) as f64)]);
            };
            let mut numbers = vec![("byte", spot.byte as f64)];
            numbers.extend(spot.line.map(|line| ("line", line as f64)));
            let place = match spot.line {
                Some(line) => format!("in line {line} (byte {})", spot.byte),
                None => format!("at byte {}", spot.byte),
            };
            let quoted = if quotes { format!(": {}", spot.quoted) } else { String::new() };
            (format!("{head} {place}{quoted}"), numbers)
        }
        (own, others) => {
            let said = |part: &Part| match part {
                Part::Missing => "has no such file",
                Part::Untouched => "does not write to it",
                _ => "writes it",
            };
            (format!("{what}: '{name}' {}, '{other}' {}", said(own), said(others)), Vec::new())
        }
    }
}

/// Where two outputs first differ.
#[derive(Debug, PartialEq, Eq)]
struct Spot {
    /// Position of the first differing byte, counted from 1.
    byte: u64,
    /// Line of the difference, counted from 1; `None` unless both outputs are text.
    line: Option<u64>,
    /// Both outputs, quoted around the difference.
    quoted: String,
}

impl Spot {
    /// Locates the difference in a region; `None` if its bytes were not kept.
    fn of(own: &Trace, others: &Trace, region: Region) -> Option<Self> {
        let base = region.window().start;
        let (own_bytes, other_bytes) = (own.bytes_from(base)?, others.bytes_from(base)?);
        let at = own_bytes.iter().zip(other_bytes).take_while(|(a, b)| a == b).count();
        // The end of the kept bytes need not be the end of the output.
        let is_known = |trace: &Trace, bytes: &[u8]| {
            at < bytes.len() || base + bytes.len() as u64 == trace.length()
        };
        if !is_known(own, own_bytes) || !is_known(others, other_bytes) {
            return None;
        }
        let byte = base + at as u64 + 1;
        let (own, others) = (Side::of(own_bytes, at), Side::of(other_bytes, at));
        let is_text = own.is_text() && others.is_text();
        let skipped = usize::try_from(region.start - base).ok()?;
        let line_breaks = own_bytes.get(skipped..at).unwrap_or_default();
        let line_breaks = line_breaks.iter().filter(|byte| **byte == b'\n').count() as u64;
        let line = is_text.then_some(region.line_breaks + line_breaks + 1);
        let quoted = match (own.is_over, others.is_over) {
            (true, _) => format!("it ends where the other goes on with {}", others.rest(is_text)),
            (_, true) => format!("it goes on with {} where the other ends", own.rest(is_text)),
            _ => format!("{} instead of {}", own.quoted(is_text), others.quoted(is_text)),
        };
        Some(Self { byte, line, quoted })
    }
}

/// A part of one output around the difference.
struct Side<'a> {
    before: &'a [u8],
    after: &'a [u8],
    /// Whether the output continues before `before`, and whether it continues after `after`.
    is_cut: (bool, bool),
    /// True if this output ends where the other continues.
    is_over: bool,
}

impl<'a> Side<'a> {
    fn of(bytes: &'a [u8], at: usize) -> Self {
        let (before, after) = bytes.split_at(at);
        // Allow for whole characters, of up to four bytes in UTF-8.
        let (first, length) = (before.len().saturating_sub(4 * BEFORE), 4 * MOST_QUOTED);
        Self {
            before: &before[first..],
            after: &after[..after.len().min(length)],
            is_cut: (first > 0, after.len() > length),
            is_over: at == bytes.len(),
        }
    }

    fn is_text(&self) -> bool {
        let whole = [self.before, self.after].concat();
        // Only an end that was cut may be in the middle of a character.
        let rest_of_one = if self.is_cut.0 { 3 } else { 0 };
        let is_rest = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        let start = whole.iter().take(rest_of_one).take_while(is_rest).count();
        let is_valid = match std::str::from_utf8(&whole[start..]) {
            Ok(_) => true,
            Err(error) => self.is_cut.1 && error.error_len().is_none(),
        };
        is_valid && !whole.contains(&0)
    }

    /// Quotes the output from the difference on.
    fn rest(&self, is_text: bool) -> String {
        Self { before: &[], ..*self }.quoted(is_text)
    }

    /// Quotes the output around the difference, up to the ends of its line.
    fn quoted(&self, is_text: bool) -> String {
        if !is_text {
            let bytes = &self.after[..self.after.len().min(8)];
            return bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        }
        let line_start = self.before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let before = &self.before[line_start..];
        let in_before = String::from_utf8_lossy(before).chars().count();
        // A line break is quoted if the outputs differ in it.
        let breaks = self.after.iter().position(|byte| *byte == b'\n');
        let line = &self.after[..breaks.map_or(self.after.len(), |at| at.max(1))];
        let text = String::from_utf8_lossy(&[before, line].concat()).into_owned();
        let skipped = in_before.saturating_sub(BEFORE);
        let mut quoted = String::from(if skipped > 0 { "…" } else { "" });
        let mut characters = text.chars().skip(skipped);
        for c in characters.by_ref().take(MOST_QUOTED) {
            match c {
                '\'' => quoted.push(c),
                c => quoted.extend(c.escape_debug()),
            }
        }
        let more = if characters.next().is_some() { "…" } else { "" };
        format!("\"{quoted}{more}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_measure::trace::Window;
    use std::io::Write;

    fn trace(bytes: &[u8]) -> Trace {
        let mut file = tempfile::NamedTempFile::new().expect("a directory for temporary files");
        file.write_all(bytes).expect("room for it");
        Trace::of_file(file.path(), Window::default()).expect("it was just written")
    }

    fn said(own: &[u8], other: &[u8]) -> String {
        let (own, other) = (trace(own), trace(other));
        let region = own.first_difference(&other);
        let parts = (&Part::Bytes(own), &Part::Bytes(other));
        let (message, _) = described(("new", "old"), "standard output", parts, region, true);
        message.replacen("standard output of 'new' differs from that of 'old' ", "", 1)
    }

    #[test]
    fn the_first_difference_is_quoted_with_its_line() {
        assert_eq!(
            said(b"a\nb\ntotal 13\nc\n", b"a\nb\ntotal 12\nc\n"),
            "in line 3 (byte 12): \"total 13\" instead of \"total 12\""
        );
        assert_eq!(
            said("h\u{e9}\t1\n".as_bytes(), "h\u{ea}\t1\n".as_bytes()),
            "in line 1 (byte 3): \"h\u{e9}\\t1\" instead of \"h\u{ea}\\t1\""
        );
        let long =
            |end: char| format!("{}{end}{}\n", "x".repeat(200), "y".repeat(200)).into_bytes();
        assert_eq!(
            said(&long('1'), &long('2')),
            format!(
                "in line 1 (byte 201): \"…{0}1{1}…\" instead of \"…{0}2{1}…\"",
                "x".repeat(16),
                "y".repeat(23)
            )
        );
    }

    #[test]
    fn an_output_that_ends_early_is_one_that_differs() {
        assert_eq!(
            said(b"a\n", b"a\nb\n"),
            "in line 2 (byte 3): it ends where the other goes on with \"b\""
        );
        assert_eq!(
            said(b"a\n", b"a"),
            "in line 1 (byte 2): it goes on with \"\\n\" where the other ends"
        );
        assert_eq!(
            said(b"", b"x"),
            "in line 1 (byte 1): it ends where the other goes on with \"x\""
        );
    }

    #[test]
    fn binary_data_is_quoted_in_bytes() {
        assert_eq!(said(b"\xff\xfe", b"\xfe\xff"), "at byte 1: \\xff\\xfe instead of \\xfe\\xff");
        assert_eq!(said(b"\0\x01\x02", b"\0\x01\x03"), "at byte 3: \\x02 instead of \\x03");
        assert_eq!(
            said(&[0xff; 40], &[0xfe; 40]),
            format!("at byte 1: {} instead of {}", "\\xff".repeat(8), "\\xfe".repeat(8))
        );
    }
}
