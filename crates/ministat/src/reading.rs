//! Reads points from files. Lines, columns, comments and numbers are treated exactly as in the
//! original, at the speed of the disk.
//!
//! A line has at most 8191 bytes, as in the original's buffer, and the rest of a longer one is
//! treated as the next line. Most lines contain one plain number in the first column; these are
//! read in one pass over their bytes. A line with any unusual byte is left to a slow path, which
//! follows the rules one by one.

use crate::c_number::{EXACT_POWERS, is_space, strtod};
use crate::complaint::Complaint;
use crate::dataset::Dataset;
use crate::options::Options;
use crate::{Flavour, Opened, Source, Surroundings};
use memchr::memchr;
use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::sync::mpsc::channel;
use std::thread;

/// Maximum length of a line in bytes, including its end.
const LONGEST_LINE: usize = 8191;

/// Size of the buffer for reading, in bytes.
const CHUNK: usize = 128 * 1024;

/// Minimum number of points in a set.
const FEWEST_POINTS: usize = 3;

/// The rules by which lines are read.
#[derive(Clone, Copy)]
struct Rules<'a> {
    column: usize,
    delimiters: &'a [u8],
    flavour: Flavour,
    /// True if a line may consist only of a plain number, because the first column is read and no
    /// delimiter can be part of such a line.
    has_plain_lines: bool,
}

/// Reads all requested sets.
///
/// # Errors
///
/// Returns the first error, in the order of the operands.
pub(crate) fn read_all(
    options: &Options,
    around: &Surroundings,
) -> Result<Vec<Dataset>, Complaint> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'\r' | b'\n');
    let rules = Rules {
        column: options.column,
        delimiters: &options.delimiters,
        flavour: around.flavour,
        has_plain_lines: options.column == 1 && !options.delimiters.iter().any(is_part),
    };
    let dash = [OsString::from("-")];
    let operands = if options.operands.is_empty() { &dash[..] } else { &options.operands };
    let is_dash = |operand: &OsString| operand.as_encoded_bytes() == b"-";
    let name_of = |operand: &OsString| {
        let is_shown = around.flavour == Flavour::Of2025 && !options.operands.is_empty();
        if is_dash(operand) && !is_shown {
            b"<stdin>".to_vec()
        } else {
            operand.as_encoded_bytes().to_vec()
        }
    };
    let open = |place: usize| {
        let operand = &operands[place];
        let opened = if !is_dash(operand) {
            (around.open)(Source::File(operand))
        } else if operands[..place].iter().any(is_dash) {
            // Standard input has already been read and closed.
            Ok(Opened { reader: Box::new(std::io::empty()), is_regular: true })
        } else {
            (around.open)(Source::StandardInput)
        };
        opened.map_err(|error| Complaint::CannotOpen {
            name: operand.as_encoded_bytes().to_vec(),
            reason: reason_of(&error),
        })
    };
    match around.flavour {
        Flavour::Of2015 => read_in_order(
            (0..operands.len()).map(|place| (name_of(&operands[place]), open(place))),
            rules,
        ),
        Flavour::Of2025 => {
            // All inputs are opened before any is read.
            let opened = (0..operands.len()).map(open).collect::<Result<Vec<_>, _>>()?;
            let named = operands.iter().map(name_of);
            read_in_order(named.zip(opened.into_iter().map(Ok)), rules)
        }
    }
}

/// Reads the opened inputs, and returns their sets in order. Each regular file is read in a thread,
/// while the next inputs are opened and read.
fn read_in_order(
    opened: impl Iterator<Item = (Vec<u8>, Result<Opened, Complaint>)>,
    rules: Rules,
) -> Result<Vec<Dataset>, Complaint> {
    enum Work<'scope> {
        Done(Result<Dataset, Complaint>),
        Going(thread::ScopedJoinHandle<'scope, Option<Result<Dataset, Complaint>>>),
    }
    thread::scope(|scope| {
        let mut all = Vec::new();
        for (name, opened) in opened {
            let work = match opened {
                Ok(opened) if opened.is_regular => {
                    let (give, take) = channel();
                    let reads = move || take.recv().ok().map(|(name, own)| read(name, own, rules));
                    match thread::Builder::new().spawn_scoped(scope, reads) {
                        Ok(reading) => {
                            let _it_waits = give.send((name, opened.reader));
                            Work::Going(reading)
                        }
                        // The system allows no further threads.
                        Err(_) => Work::Done(read(name, opened.reader, rules)),
                    }
                }
                Ok(opened) => Work::Done(read(name, opened.reader, rules)),
                Err(complaint) => Work::Done(Err(complaint)),
            };
            let has_failed = matches!(work, Work::Done(Err(_)));
            all.push(work);
            if has_failed {
                break;
            }
        }
        let results = all.into_iter().map(|work| match work {
            Work::Done(result) => result,
            Work::Going(handle) => handle.join().ok().flatten().expect("reading does not panic"),
        });
        results.collect()
    })
}

/// Returns the system's message for an error, without the number that Rust appends.
fn reason_of(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Reads the set in one input.
fn read(name: Vec<u8>, reader: Box<dyn Read + Send>, rules: Rules) -> Result<Dataset, Complaint> {
    match points_of(reader, rules) {
        Ok(points) if points.len() < FEWEST_POINTS => Err(Complaint::TooFew { name }),
        Ok(points) => Ok(Dataset::new(name, points, rules.flavour)),
        Err((line, Fault::NoNumber)) => Err(Complaint::NoNumber { name, line }),
        Err((line, Fault::NotFinite)) => Err(Complaint::NotFinite { name, line }),
    }
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    NoNumber,
    NotFinite,
}

/// Returns all points in order, or the number and the fault of the first invalid line.
fn points_of(mut reader: impl Read, rules: Rules) -> Result<Vec<f64>, (u64, Fault)> {
    let mut points = Vec::new();
    let mut buffer = vec![0; CHUNK];
    let (mut start, mut end, mut is_at_end) = (0, 0, false);
    let mut line: u64 = 0;
    loop {
        if end - start < LONGEST_LINE && !is_at_end {
            buffer.copy_within(start..end, 0);
            (start, end) = (0, end - start);
            match reader.read(&mut buffer[end..]) {
                Ok(0) => is_at_end = true,
                Ok(more) => end += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => is_at_end = true,
            }
            continue;
        }
        // The buffer has at least one whole line here, or the rest of the file.
        let mut rest = &buffer[start..end];
        if rest.is_empty() {
            return Ok(points);
        }
        let enough = if is_at_end { 0 } else { LONGEST_LINE };
        while !rest.is_empty() && rest.len() >= enough {
            line += 1;
            let plain = if rules.has_plain_lines { plain_line(rest) } else { None };
            let length = match plain {
                Some((value, length)) => {
                    points.push(value);
                    length
                }
                None => {
                    let longest = &rest[..rest.len().min(LONGEST_LINE)];
                    let length = memchr(b'\n', longest).map_or(longest.len(), |place| place + 1);
                    let found = value_of(&rest[..length], rules).map_err(|fault| (line, fault))?;
                    points.extend(found);
                    length
                }
            };
            rest = &rest[length..];
        }
        start = end - rest.len();
    }
}

/// Parses a line that consists of up to 15 digits, with an optional minus and point, and the line
/// ending. Returns the number and the length of the line; `None` for any other line, valid or not.
#[inline]
fn plain_line(text: &[u8]) -> Option<(f64, usize)> {
    let is_negative = text[0] == b'-';
    let first = usize::from(is_negative);
    let (mut number, mut place, mut point) = (0_u64, first, None);
    let end = loop {
        let byte = *text.get(place)?;
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            number = number * 10 + u64::from(digit);
        } else if byte == b'.' && point.is_none() {
            point = Some(place);
        } else {
            break byte;
        }
        place += 1;
        // At most 15 digits and a point are accepted. With more digits, the number might not be
        // exact.
        if place > first + 16 {
            return None;
        }
    };
    let length = match end {
        b'\n' => place + 1,
        b'\r' if text.get(place + 1) == Some(&b'\n') => place + 2,
        _ => return None,
    };
    let fraction = point.map_or(0, |point| place - point - 1);
    let digits = place - first - usize::from(point.is_some());
    if digits == 0 || digits > 15 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "fifteen digits are below 2^53")]
    let size = number as f64 / EXACT_POWERS[fraction];
    Some((if is_negative { -size } else { size }, length))
}

/// Returns the number in the requested column of a line; `None` if the line has no such column, or
/// a comment begins at or before it.
fn value_of(line: &[u8], rules: Rules) -> Result<Option<f64>, Fault> {
    // In C a NUL ends a string.
    let text = &line[..memchr(0, line).unwrap_or(line.len())];
    let spaces = text.iter().rev().take_while(|byte| is_space(**byte)).count();
    let text = &text[..text.len() - spaces];
    let is_delimiter = |byte: &u8| rules.delimiters.contains(byte);
    // Consecutive delimiters count as one, so fields are never empty.
    let fields = text.split(is_delimiter).filter(|field| !field.is_empty());
    let mut field = None;
    let mut count = 0;
    for found in fields.take(rules.column) {
        if found[0] == b'#' {
            return Ok(None);
        }
        field = Some(found);
        count += 1;
    }
    let Some(field) = field.filter(|_| count == rules.column) else { return Ok(None) };
    let (value, taken) = strtod(field);
    if taken < field.len() {
        return Err(Fault::NoNumber);
    }
    if rules.flavour == Flavour::Of2025 && !value.is_finite() {
        return Err(Fault::NotFinite);
    }
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules(delimiters: &[u8], column: usize, has_plain_lines: bool) -> Rules<'_> {
        Rules { column, delimiters, flavour: Flavour::Of2015, has_plain_lines }
    }

    fn points(text: &[u8]) -> Result<Vec<f64>, (u64, Fault)> {
        points_of(text, rules(b" \t", 1, true))
    }

    #[test]
    fn lines_are_cut_where_the_original_s_buffer_ends() {
        let long = format!("1{}2\n3\n", " ".repeat(8190));
        assert_eq!(points(long.as_bytes()), Ok(vec![1.0, 2.0, 3.0]));
        let comment = format!("#{}x\n", "c".repeat(8190));
        assert_eq!(points(comment.as_bytes()), Err((2, Fault::NoNumber)));
    }

    #[test]
    fn fields_are_found_as_strtok_finds_them() {
        let value = |line: &str, column| value_of(line.as_bytes(), rules(b",", column, false));
        assert_eq!(value("4,,6\n", 2), Ok(Some(6.0)));
        assert_eq!(value(",5\n", 1), Ok(Some(5.0)));
        assert_eq!(value("4,#,6\n", 3), Ok(None));
        assert_eq!(value("4,6,#\n", 2), Ok(Some(6.0)));
        assert_eq!(value("4\n", 2), Ok(None));
        assert_eq!(value("4 ,5\n", 1), Err(Fault::NoNumber));
        assert_eq!(value("\u{0}5\n", 1), Ok(None));
    }

    /// A reader that returns its bytes a few at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    proptest! {
        #[test]
        fn the_quick_way_reads_what_the_slow_way_reads(
            lines in proptest::collection::vec("-?[0-9]{0,17}(\\.[0-9]{0,9})?[\r #]{0,1}", 0..60),
            piece in 1_usize..50,
        ) {
            let text = lines.join("\n");
            let slow = points_of(text.as_bytes(), rules(b" \t", 1, false));
            prop_assert_eq!(points(text.as_bytes()), slow.clone());
            prop_assert_eq!(points_of(Dripping(text.as_bytes(), piece), rules(b" \t", 1, true)), slow);
        }
    }
}
