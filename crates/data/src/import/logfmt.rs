//! Lines of `key=value` pairs, as in logs (logfmt): a table whose columns are the keys.
//!
//! As for CSV, `--value KEY` selects the values and `--by KEY` the subjects. Neither is needed if
//! only one key has a number as its value. Values may be quoted, and may have a unit (`12.3ms`).
//! Words without `=` are skipped, and so are lines that lack a requested key.

use super::line_values::LineValues;
use super::number::looks_like_number;
use super::{ColumnRef, Context, Head, ImportError, Part, layout};
use crate::input::Input;
use crate::lines::Lines;
use crate::read_error::FilePosition;
use std::borrow::Cow;

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let is_of_pairs = |line: &str| {
        let pairs = pairs(line);
        let words = line.split_ascii_whitespace().count();
        let has_number = pairs.iter().any(|(_, value)| looks_like_number(value));
        has_number && (pairs.len() >= 2 || pairs.len() == words && !line.contains([',', ';']))
    };
    // The attributes of XML look like pairs.
    !head.first.starts_with('<')
        && is_of_pairs(head.first)
        && (head.second.is_empty() || pairs(head.second).len() >= 2 || is_of_pairs(head.second))
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut values: Option<(Columns, LineValues<'_>)> = None;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let pairs = pairs(text);
        let (columns, values) = match &mut values {
            Some(values) => values,
            None => {
                let columns = Columns::of(context, &pairs, line.number)?;
                let gatherer = LineValues::new(context, &columns.value);
                values.insert((columns, gatherer))
            }
        };
        let of = |key: &str| pairs.iter().find(|(known, _)| *known == key).map(|(_, v)| v.as_ref());
        let name = columns.by.as_deref().map_or(Some(""), of);
        let (Some(value), Some(name)) = (of(&columns.value), name) else {
            values.skip(line.number, text);
            continue;
        };
        if !line.ended && text.matches('"').count() % 2 == 1 {
            let problem = "the file breaks off here, within quotes";
            return Err(values.recorder.at(line.number, problem));
        }
        let taken = values.take(name, &[], value, None);
        taken.map_err(|problem| {
            values.recorder.at(line.number, format!("`{}`: {problem}", columns.value))
        })?;
    }
    match values {
        Some((columns, values)) => {
            let by = columns.by.map(|by| format!(" or `{by}`")).unwrap_or_default();
            values.finish(&format!("without `{}`{by}", columns.value))
        }
        None => Err(ImportError::NoNumbers { file: context.file.to_owned(), holds: "blank lines" }),
    }
}

/// The keys that are used.
struct Columns {
    value: String,
    by: Option<String>,
}

impl Columns {
    /// Determines the keys from the options and the first line.
    fn of(context: &Context<'_>, first: &[Pair<'_>], line: u64) -> Result<Self, ImportError> {
        let keys: Vec<&str> = first.iter().map(|(key, _)| *key).collect();
        let place = || FilePosition { file: context.file.to_owned(), line, column: None };
        let resolve = |wanted: &ColumnRef| match wanted {
            // A key may be missing in the first line and occur in later ones.
            ColumnRef::Name(name) => Ok(name.clone()),
            ColumnRef::Number(number) => {
                let key = number.checked_sub(1).and_then(|index| keys.get(index));
                key.map(|&key| key.to_owned()).ok_or_else(|| ImportError::NoSuchColumn {
                    place: place(),
                    wanted: wanted.clone(),
                    available: layout::available(&keys),
                })
            }
        };
        let by = context.options.by.as_ref().map(resolve).transpose()?;
        if let Some(value) = context.options.value_column() {
            return Ok(Self { value: resolve(&value)?, by });
        }
        let is_candidate =
            |(key, value): &&Pair<'_>| by.as_deref() != Some(*key) && looks_like_number(value);
        let candidates: Vec<&str> =
            first.iter().filter(is_candidate).map(|(key, _)| *key).collect();
        match candidates[..] {
            [value] => Ok(Self { value: value.to_owned(), by }),
            _ => Err(ImportError::WhichColumn {
                advice: None,
                place: place(),
                problem: format!(
                    "which key holds the values? Give `--value`, and `--by` for the key that names the subjects; there are {}",
                    layout::available(&keys)
                ),
            }),
        }
    }
}

/// A key and its value.
type Pair<'a> = (&'a str, Cow<'a, str>);

/// Returns the pairs of a line. Words without `=` are skipped.
fn pairs(line: &str) -> Vec<Pair<'_>> {
    let mut pairs = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (key, behind) = rest.split_at(end);
        let Some(value) = behind.strip_prefix('=') else {
            rest = behind.trim_start();
            continue;
        };
        let (value, after) = value_at_start(value);
        if is_key(key) {
            pairs.push((key, value));
        }
        rest = after.trim_start();
    }
    pairs
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/'))
}

/// Splits off a value, and returns it with the remaining text. A quoted value may have characters
/// escaped by `\`; any other value extends to the next blank.
fn value_at_start(text: &str) -> (Cow<'_, str>, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        return (Cow::Borrowed(&text[..end]), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (Cow::Owned(value), &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, protected)| protected)),
            other => value.push(other),
        }
    }
    (Cow::Owned(value), "")
}
