//! Selects the numbers that `--metric` specifies from the output of a run, and parses them.
//!
//! A spec consists of the name of a metric, the location of its numbers (all of stdout, matches of
//! a regular expression, a position in JSON, or the [sample protocol](crate::protocol)), and how
//! several values of a run are reduced to one. Reading is strict: a missing number, several where
//! one was expected, or a number in another unit is an error that shows what was found. Nothing is
//! guessed, because a wrong number would silently affect a verdict. Nothing here runs programs.

mod error;
mod number;
mod spec;
mod take;
#[cfg(test)]
mod tests;

pub use crate::declared_unit::{UnitError, check_unit};
pub use error::ReadingError;
pub use spec::SpecError;
pub(crate) use take::reading;
pub use take::{Reading, Take, take};

use crate::declared_unit::DeclaredUnit;
use crate::excerpt::excerpt;
use crate::protocol::Report;
use crate::{Metric, Unit};
use number::{Parsed, parse};
use regex::{Captures, Regex};
use serde_json::Value;
use std::borrow::Cow;

/// Maximum length of the output that is read, in bytes. Longer output is refused, so a recorder
/// need not keep more.
pub const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// Regular expressions for digits, as people write them.
const DIGITS: [&str; 6] =
    ["[0-9.]+", "[0-9]+\\.[0-9]+", "[0-9]+", "[\\d.]+", "\\d+\\.\\d+", "\\d+"];

/// A number to read from a program's output, as specified by `--metric`.
#[derive(Clone, Debug)]
pub struct MetricSpec {
    /// The metric, in its base unit. For a value from the sample protocol the program may state
    /// unit and direction: see [`MetricSpec::given`].
    pub metric: Metric,
    /// Location of the numbers.
    pub source: Source,
    /// The way in which several values of a run are reduced to one.
    pub take: Take,
    /// The unit stated by the spec.
    declared: Option<DeclaredUnit>,
    /// True if the spec states which direction is better.
    says_better: bool,
}

/// Location of the numbers of a metric.
#[derive(Clone, Debug)]
pub enum Source {
    /// The whole of stdout is one number.
    Stdout,
    /// Every match of a regular expression in one stream; `^` and `$` match at every line.
    Text {
        /// The stream.
        stream: Stream,
        /// The number is the group `value`, otherwise the first group that matched, otherwise the
        /// whole match; a group `unit` is its unit.
        regex: Regex,
    },
    /// A position in the JSON document on stdout.
    Json {
        /// JSON pointer (RFC 6901); empty for the whole document. A list there gives several
        /// values.
        pointer: String,
    },
    /// The sample protocol, under the metric's name.
    Protocol,
}

/// An output stream of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

impl MetricSpec {
    /// Parses `[NAME[:UNIT][:WORD…]=]SOURCE`, as specified in `docs/reference/metrics.md`.
    ///
    /// # Errors
    /// If the text is not such a spec. The error explains the correct form.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        spec::parse(text)
    }

    /// Returns true if the program's stdout must be kept for reading.
    pub fn wants_stdout(&self) -> bool {
        match &self.source {
            Source::Stdout | Source::Json { .. } => true,
            Source::Text { stream, .. } => *stream == Stream::Stdout,
            Source::Protocol => false,
        }
    }

    /// Returns true if the program's stderr must be kept for reading.
    pub fn wants_stderr(&self) -> bool {
        matches!(&self.source, Source::Text { stream: Stream::Stderr, .. })
    }

    /// Reads the metric from the output of one run. Bytes that are not UTF-8 are read as the
    /// replacement character. O(output), times the size of the regular expression. A metric of the
    /// sample protocol cannot be read here: see [`MetricSpec::given`].
    ///
    /// # Errors
    /// If the number, the count of numbers, or their unit does not match the spec.
    pub fn read(&self, stdout: &[u8], stderr: &[u8]) -> Result<Reading, ReadingError> {
        let text = |stream: Stream| {
            let bytes = if stream == Stream::Stdout { stdout } else { stderr };
            if bytes.len() > MAX_OUTPUT {
                return Err(ReadingError::TooLarge { stream: stream.name() });
            }
            Ok(String::from_utf8_lossy(bytes))
        };
        match &self.source {
            Source::Stdout => self.whole(&text(Stream::Stdout)?),
            Source::Text { stream, regex } => self.matches(regex, *stream, &text(*stream)?),
            Source::Json { pointer } => self.json(pointer, &text(Stream::Stdout)?),
            Source::Protocol => Err(self.not_given()),
        }
    }

    /// Returns the metric and its reading from a program's report by the sample protocol. Unit,
    /// direction and reduction are those of the spec where it states them, otherwise those of the
    /// program. O(metrics + values).
    ///
    /// # Errors
    /// If the program reported nothing under this name, or in a unit of another dimension than that
    /// of the spec.
    pub fn given(&self, report: &Report) -> Result<(Metric, Reading), ReadingError> {
        let found = report.given.iter().find(|given| given.metric.name == self.metric.name);
        let given = found.ok_or_else(|| self.not_given())?;
        let mut metric = given.metric.clone();
        if self.says_better {
            metric = metric.directed(Some(self.metric.better));
        }
        let mut values = Cow::Borrowed(&given.values);
        if let Some(declared) = &self.declared
            && metric.unit != declared.unit
        {
            if metric.unit != Unit::One {
                let found = metric.unit.symbol().to_owned();
                return Err(ReadingError::WrongUnit { found, wanted: self.unit_wanted() });
            }
            // The program stated no unit: its numbers are in the unit that the spec states.
            values = Cow::Owned(given.values.iter().map(|&v| declared.to_base(v)).collect());
            metric.unit = declared.unit.clone();
        }
        let kind = if self.take == Take::One { given.take } else { self.take };
        if kind == Take::Count {
            metric.unit = Unit::One;
        }
        Ok((metric, reading(values.into_owned(), kind)?))
    }

    fn whole(&self, text: &str) -> Result<Reading, ReadingError> {
        if text.trim().is_empty() {
            return Err(self.nothing(Stream::Stdout, text));
        }
        reading(vec![self.value(text, None)?], self.take)
    }

    fn matches(&self, regex: &Regex, stream: Stream, text: &str) -> Result<Reading, ReadingError> {
        if self.take == Take::Count {
            let value = regex.find_iter(text).count() as f64;
            return Ok(Reading { value, all: Vec::new() });
        }
        let mut values = Vec::new();
        for captures in regex.captures_iter(text) {
            let unit = captures.name("unit").map(|unit| unit.as_str());
            let value = self.value(captured(&captures), unit);
            values.push(value.map_err(|error| with_group(error, regex))?);
        }
        if values.is_empty() {
            return Err(self.nothing(stream, text));
        }
        reading(values, self.take)
    }

    fn json(&self, pointer: &str, text: &str) -> Result<Reading, ReadingError> {
        if text.trim().is_empty() {
            return Err(self.nothing(Stream::Stdout, text));
        }
        let document: Value = serde_json::from_str(text).map_err(|error| {
            ReadingError::NotJson { problem: error.to_string(), seen: first_line(text) }
        })?;
        let Some(place) = document.pointer(pointer) else {
            return Err(no_such_pointer(&document, pointer));
        };
        let several = match place {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        if self.take == Take::Count {
            return Ok(Reading { value: several.len() as f64, all: Vec::new() });
        }
        if several.is_empty() {
            return Err(ReadingError::Nothing {
                sought: format!("a number at `{pointer}`"),
                seen: "in stdout is an empty list".to_owned(),
            });
        }
        let values = several.iter().map(|item| self.json_value(item));
        reading(values.collect::<Result<_, _>>()?, self.take)
    }

    fn json_value(&self, item: &Value) -> Result<f64, ReadingError> {
        match item {
            Value::Number(number) => {
                let value = number.as_f64().ok_or(ReadingError::NotFinite)?;
                self.finite(self.declared.as_ref().map_or(value, |unit| unit.to_base(value)))
            }
            Value::String(text) => self.value(text, None),
            Value::Object(_) => Err(ReadingError::NotANumber { text: "{…}".to_owned() }),
            Value::Array(_) => Err(ReadingError::NotANumber { text: "[…]".to_owned() }),
            other => Err(ReadingError::NotANumber { text: other.to_string() }),
        }
    }

    /// Returns the number in a piece of text, in the metric's base unit; a separately captured unit
    /// takes precedence over one after the number.
    fn value(&self, text: &str, apart: Option<&str>) -> Result<f64, ReadingError> {
        let (value, behind) = match parse(text) {
            Parsed::Number(value, unit) => (value, unit),
            Parsed::NotFinite => return Err(ReadingError::NotFinite),
            Parsed::Nothing => return Err(ReadingError::NotANumber { text: excerpt(text.trim()) }),
        };
        let symbol = apart.map(str::trim).filter(|unit| !unit.is_empty()).unwrap_or(behind);
        if symbol.is_empty() {
            let declared = self.declared.as_ref();
            return self.finite(declared.map_or(value, |unit| unit.to_base(value)));
        }
        let Some(declared) = &self.declared else {
            let (text, name) = (excerpt(text.trim()), self.metric.name.clone());
            return Err(ReadingError::UnitNotDeclared { text, unit: excerpt(symbol), name });
        };
        let wrong =
            || ReadingError::WrongUnit { found: excerpt(symbol), wanted: self.unit_wanted() };
        let own = DeclaredUnit::parse(symbol).map_err(|_| wrong())?;
        if own.unit != declared.unit {
            return Err(wrong());
        }
        self.finite(own.to_base(value))
    }

    fn finite(&self, value: f64) -> Result<f64, ReadingError> {
        if value.is_finite() { Ok(value) } else { Err(ReadingError::NotFinite) }
    }

    fn unit_wanted(&self) -> String {
        self.metric.unit.symbol().to_owned()
    }

    fn nothing(&self, stream: Stream, text: &str) -> ReadingError {
        let sought = match &self.source {
            Source::Text { regex, .. } => format!("a match of `{}`", excerpt(regex.as_str())),
            _ => "a number".to_owned(),
        };
        let stream = stream.name();
        let seen = match first_line(text) {
            line if line.is_empty() => format!("{stream} is empty"),
            line => format!("{stream} begins with `{line}`"),
        };
        ReadingError::Nothing { sought, seen }
    }

    fn not_given(&self) -> ReadingError {
        ReadingError::Nothing {
            sought: format!("a value named `{}`", excerpt(&self.metric.name)),
            seen: "the program gave none by the sample protocol".to_owned(),
        }
    }
}

/// Returns the error for a match that is not a number. If the match has digits and the regular
/// expression has no group, the error suggests an expression with a group for the number.
fn with_group(error: ReadingError, regex: &Regex) -> ReadingError {
    match error {
        ReadingError::NotANumber { text }
            if regex.captures_len() == 1 && text.contains(|c: char| c.is_ascii_digit()) =>
        {
            let pattern = regex.as_str();
            let digits = DIGITS.into_iter().find(|digits| pattern.contains(*digits));
            let pattern = match digits {
                Some(digits) => pattern.replacen(digits, &format!("({digits})"), 1),
                None => "([0-9.]+)".to_owned(),
            };
            ReadingError::NoGroup { text, pattern: excerpt(&pattern) }
        }
        error => error,
    }
}

/// Returns the part of a match that is the number.
fn captured<'t>(captures: &Captures<'t>) -> &'t str {
    let unit = captures.name("unit").map(|unit| unit.range());
    let first = || captures.iter().skip(1).flatten().find(|group| Some(group.range()) != unit);
    let found = captures.name("value").or_else(first).or_else(|| captures.get(0));
    found.map_or("", |group| group.as_str())
}

/// Returns the error for a pointer that does not match, with the part of it that does.
fn no_such_pointer(document: &Value, pointer: &str) -> ReadingError {
    let mut ends = pointer.match_indices('/').map(|(at, _)| at).rev();
    let reached = ends.find(|&at| document.pointer(&pointer[..at]).is_some()).unwrap_or(0);
    let there = match document.pointer(&pointer[..reached]) {
        Some(Value::Object(members)) if reached == 0 && members.len() == 1 => {
            let name = members.keys().next().map_or("", String::as_str);
            let part = name.replace('~', "~0").replace('/', "~1");
            return ReadingError::NoSuchPointer {
                pointer: excerpt(pointer),
                there: format!(
                    "the top level has only `{}`: write `json:/{}`",
                    excerpt(name),
                    excerpt(&part)
                ),
            };
        }
        Some(Value::Object(members)) => {
            let names: Vec<_> = members.keys().take(10).map(String::as_str).collect();
            format!(
                "an object with {}",
                if names.is_empty() { "no members".to_owned() } else { names.join(", ") }
            )
        }
        Some(Value::Array(items)) => format!("a list of {}", items.len()),
        Some(other) => other.to_string(),
        None => "nothing".to_owned(),
    };
    let place = match reached {
        0 => "the top level".to_owned(),
        _ => format!("at `{}`", excerpt(&pointer[..reached])),
    };
    ReadingError::NoSuchPointer {
        pointer: excerpt(pointer),
        there: format!("{place} is {}", excerpt(&there)),
    }
}

/// Returns the first nonblank line, as an excerpt.
fn first_line(text: &str) -> String {
    excerpt(text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default())
}
