//! Reads foreign CSV, separated by `,`, `;` or tabs, which is either wide (a header of names, one
//! subject per column) or long (a column of names and a column of values). `#` comments are allowed
//! anywhere.
//!
//! Quoting follows RFC 4180, as implemented by the `csv` crate. [`layout`](super::layout) decides
//! what the rows mean.

use super::columns::is_markup;
use super::comments::Comments;
use super::layout::Gatherer;
use super::number::looks_like_number;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::limits::MOST_COLUMNS;
use crate::lines::{Lines, io_error};
use crate::number::plain;
use crate::read_error::ReadError;
use std::io::{self, BufRead, Read};

const SEPARATORS: [u8; 3] = [b'\t', b';', b','];

/// Returns true if the first row has a separator or begins with a quote, and one of the first two
/// rows has a number or there is only one row.
pub(super) fn recognise(head: &Head<'_>) -> bool {
    let quoted = || head.first.starts_with('"').then_some(b',');
    let Some(separator) = separator(head).or_else(quoted) else { return false };
    let has_number =
        |line: &str| line.split(separator as char).any(|cell| looks_like_number(unquoted(cell)));
    !is_markup(head.first)
        && (head.second.is_empty() || has_number(head.first) || has_number(head.second))
}

/// Removes blanks and quotes around a cell.
fn unquoted(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(cell)
}

/// Returns a separator that occurs equally often in the first two rows, or else one that occurs in
/// the first.
fn separator(head: &Head<'_>) -> Option<u8> {
    let count = |line: &str, separator| line.bytes().filter(|&b| b == separator).count();
    let present = || SEPARATORS.iter().copied().filter(|&s| count(head.first, s) > 0);
    present().find(|&s| count(head.first, s) == count(head.second, s)).or_else(|| present().next())
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let text = String::from_utf8_lossy(&input.head);
    let separator = separator(&Head::of(&text)).unwrap_or(b',');
    drop(text);
    let rows = Uncommented {
        lines: Lines::new(input.into_reader(), context.file),
        comments: Comments::default(),
        line: Vec::new(),
        taken: 0,
        ended: true,
        error: None,
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(rows);
    let mut record = csv::StringRecord::new();
    let mut gatherer: Option<Gatherer<'_>> = None;
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(own_error(&mut reader, error, context.file)),
        }
        // The reader is already past the record, so the record ends on the previous line. Lone
        // carriage returns end records, but not lines.
        let line = reader.position().line().saturating_sub(1).max(1);
        if record.len() > MOST_COLUMNS {
            let problem = format!("has {} columns; at most {MOST_COLUMNS} are read", record.len());
            return Err(ImportError::TooMany { file: context.file.to_owned(), problem });
        }
        let fields: Vec<&str> = record.iter().map(str::trim).collect();
        match &mut gatherer {
            Some(gatherer) => gatherer.row(&fields, line)?,
            None => {
                let started = Gatherer::start(context, &fields, line);
                gatherer = Some(started.map_err(|error| suspect_comma(error, separator, &fields))?);
            }
        }
    }
    let Uncommented { comments, ended, .. } = reader.into_inner();
    match gatherer {
        Some(gatherer) => gatherer.finish(comments, ended),
        None => Err(ImportError::NoNumbers {
            file: context.file.to_owned(),
            holds: "comments and blank lines",
        }),
    }
}

/// Adds advice to an error if two columns may actually be one, whose numbers contain commas.
fn suspect_comma(error: ImportError, separator: u8, first: &[&str]) -> ImportError {
    let advice = match first {
        &[before, after] if separator == b',' => one_number(before, after),
        _ => None,
    };
    match (error, advice) {
        (ImportError::WhichColumn { place, problem, .. }, Some(advice)) => {
            let problem = format!("{problem}; {advice}");
            ImportError::WhichColumn { place, problem, advice: None }
        }
        (error, _) => error,
    }
}

/// Returns advice if these cells may be one number that contains a comma.
fn one_number(before: &str, after: &str) -> Option<String> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if plain(before).is_some() && is_digits(after) {
        let whole = match before.split_once('.') {
            // The point separates thousands.
            Some((first, rest)) if rest.len() == 3 => format!("{first}{rest}"),
            Some(_) => return None,
            None => before.to_owned(),
        };
        return Some(format!(
            "if this is one number with a decimal comma, write it with a point: `{whole}.{after}`"
        ));
    }
    let (group, fraction) = after.split_once('.')?;
    let is_grouped = is_digits(before) && before.len() <= 3 && is_digits(group) && group.len() == 3;
    (is_grouped && is_digits(fraction)).then(|| {
        format!(
            "if this is one number whose comma separates thousands, leave the comma out: `{before}{after}`"
        )
    })
}

fn own_error<R: BufRead>(
    reader: &mut csv::Reader<Uncommented<R>>,
    error: csv::Error,
    file: &str,
) -> ImportError {
    match reader.get_mut().error.take() {
        Some(own) => own.into(),
        None => io_error(file, io::Error::other(error)).into(),
    }
}

/// The text without its comment lines, which are kept separately. Each leaves an empty line, so
/// that line numbers stay correct.
struct Uncommented<R> {
    lines: Lines<R>,
    comments: Comments,
    line: Vec<u8>,
    taken: usize,
    /// True if the last line that was read has a line ending.
    ended: bool,
    error: Option<ReadError>,
}

impl<R: BufRead> Read for Uncommented<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.line.len() {
            self.line.clear();
            self.taken = 0;
            match self.lines.next() {
                Ok(None) => return Ok(0),
                Ok(Some(line)) => {
                    self.ended = line.ended;
                    let text = line.text.trim();
                    if text.starts_with('#') {
                        self.comments.add(text);
                    } else if !text.is_empty() {
                        self.line.extend_from_slice(line.text.as_bytes());
                    }
                    self.line.push(b'\n');
                }
                Err(error) => {
                    self.error = Some(error);
                    return Err(io::Error::other("see the error kept aside"));
                }
            }
        }
        let length = out.len().min(self.line.len() - self.taken);
        out[..length].copy_from_slice(&self.line[self.taken..self.taken + length]);
        self.taken += length;
        Ok(length)
    }
}
