//! Reads columns of numbers separated by blanks: one number per line, as any script prints it, or
//! several columns from which the options select one.
//!
//! Blank lines and `#` comments are allowed anywhere. A single column may have its name above it.
//! No line is copied, so a million numbers are read in well under a tenth of a second.

use super::comments::Comments;
use super::layout::Gatherer;
use super::number::looks_like_number;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::read_error::{FilePosition, ReadError};

/// Recognizes a file that has only comments, a number below a heading of several words, a first row
/// of numbers, or two rows with the same number of words, at least one of which is a number.
/// Formats that may have such rows must be tried first.
pub(super) fn recognise(head: &Head<'_>) -> bool {
    let words = |line: &str| line.split_ascii_whitespace().count();
    let has_number = |line: &str| line.split_ascii_whitespace().any(looks_like_number);
    let are_numbers = |line: &str| line.split_ascii_whitespace().all(looks_like_number);
    let is_alike = head.second.is_empty() || words(head.first) == words(head.second);
    let is_table = is_alike && (has_number(head.first) || has_number(head.second));
    let is_below_heading =
        !has_number(head.first) && looks_like_number(head.second) && words(head.second) == 1;
    !is_markup(head.first) && (are_numbers(head.first) || is_table || is_below_heading)
}

/// Returns true for JSON, XML and similar formats, which are not tables even if they contain
/// numbers.
pub(super) fn is_markup(first: &str) -> bool {
    first.starts_with(['{', '[', '<'])
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut comments = Comments::default();
    let mut gatherer: Option<Gatherer<'_>> = None;
    // A row of words. The next row shows whether it names one column or several.
    let mut heading: Option<(String, u64)> = None;
    let names_column = context.options.value_column().is_some() || context.options.by.is_some();
    let mut ended = true;
    while let Some(line) = lines.next()? {
        ended = line.ended;
        let text = line.text.trim_ascii();
        if let Some(gatherer) = &mut gatherer
            && gatherer.single_column() == Some(0)
            && gatherer.bare_number(text)
        {
            continue;
        }
        if text.starts_with('#') {
            comments.add(text);
            continue;
        }
        let mut fields = text.split_ascii_whitespace().take_while(|field| !field.starts_with('#'));
        let Some(gatherer) = &mut gatherer else {
            let first: Vec<&str> = fields.collect();
            if first.is_empty() {
                continue;
            }
            if let Some((words, number)) = heading.take() {
                let words: Vec<&str> = words.split_ascii_whitespace().collect();
                let phrase = words.join(" ");
                let names = if first.len() == 1 { vec![phrase.as_str()] } else { words };
                let mut started = Gatherer::start(context, &names, number)?;
                started.row(&first, line.number)?;
                gatherer = Some(started);
            } else if first.len() > 1
                && !names_column
                && !first.iter().any(|f| looks_like_number(f))
            {
                heading = Some((first.join(" "), line.number));
            } else {
                gatherer = Some(Gatherer::start(context, &first, line.number)?);
            }
            continue;
        };
        let Some(single) = gatherer.single_column() else {
            let fields: Vec<&str> = fields.collect();
            if !fields.is_empty() {
                gatherer.row(&fields, line.number)?;
            }
            continue;
        };
        let place = |field: &str| FilePosition {
            file: context.file.to_owned(),
            line: line.number,
            column: Some((field.as_ptr() as usize - line.text.as_ptr() as usize) as u64 + 1),
        };
        let Some(first) = fields.next() else { continue };
        if single == 0 {
            gatherer.single(first, || place(first))?;
        } else if let Some(field) = fields.nth(single - 1) {
            gatherer.single(field, || place(field))?;
        } else {
            let problem = format!("this line has no column {}; fix or remove it", single + 1);
            return Err(ReadError::Line { place: place(first), problem }.into());
        }
        if !names_column && let Some(second) = fields.next() {
            let problem = "a second column, although previous lines have one; name the column of the values with `--column N`";
            let problem = problem.to_owned();
            return Err(ReadError::Line { place: place(second), problem }.into());
        }
    }
    match gatherer {
        Some(gatherer) => gatherer.finish(comments, ended),
        None => {
            let holds = match heading {
                Some(_) => "a header",
                None if comments.is_empty() => "blank lines",
                None => "comments and blank lines",
            };
            Err(ImportError::NoNumbers { file: context.file.to_owned(), holds })
        }
    }
}
