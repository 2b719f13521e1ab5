//! Parses the language of `--metric`, `[NAME[:UNIT][:WORD…]=]SOURCE`, into a [`MetricSpec`].
//!
//! Regular expressions may contain `=` and `:`, so a spec is split at its first `=`, and only if
//! the text before it looks like a name with qualifiers. A spec that a reader could misunderstand
//! is refused rather than interpreted: in `stderr:real=(.+)`, `stderr` could be a source or the
//! name of a metric.

use super::take::WORDS;
use super::{MetricSpec, Source, Stream, Take};
use crate::declared_unit::{DeclaredUnit, UnitError, is_unit_character};
use crate::excerpt::excerpt;
use crate::{Better, Metric, Unit};
use regex::RegexBuilder;

/// Maximum length of a metric's name, in characters.
pub(crate) const MAX_NAME: usize = 100;

/// Words that begin a source, so that metrics cannot have these names.
const SOURCES: [&str; 3] = ["stdout", "stderr", "json"];

/// Reasons why a metric spec is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The spec is empty.
    #[error(
        "the metric is empty; write it like `time:ms=took ([0-9.]+)`, `stdout` or the name of a value that the program gives"
    )]
    Empty,
    /// A source without a name.
    #[error("`{0}` has no name in front; write it like `NAME={0}`, or `NAME:UNIT={0}`")]
    NoName(String),
    /// The name is one of the words that begin a source.
    #[error(
        "a metric can't be called `{name}`, since sources begin so; write it like `NAME={name}:…`"
    )]
    SourceAsName {
        /// The name.
        name: String,
    },
    /// The name is too long.
    #[error("`{0}` is longer than the 100 characters that a name may have")]
    LongName(String),
    /// There is nothing after the `=`.
    #[error(
        "`{0}=` lacks its source; behind the `=` stands `stdout`, a regular expression, `stderr:` \
         with a regular expression, or `json:` with a pointer"
    )]
    NoSource(String),
    /// The unit is misspelled or not a unit.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A qualifier is unknown.
    #[error(
        "`{found}` is not known behind the unit{}; known are lower, higher, first, last, sum, mean, median, min, max and count",
        near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
    )]
    UnknownWord {
        /// The unknown qualifier.
        found: String,
        /// A similar known word.
        near: Option<&'static str>,
    },
    /// Two qualifiers exclude each other.
    #[error("`{second}` is one word too many: {what} is said already")]
    Duplicate {
        /// The later word.
        second: String,
        /// The property stated by the earlier word.
        what: &'static str,
    },
    /// A unit was given for a count.
    #[error("a count has no unit; write `{0}::count=…`")]
    CountWithUnit(String),
    /// All of stdout is read as one number, so there is nothing to reduce.
    #[error(
        "`stdout` is one number, of which nothing can be taken; for several give a regular expression, as in `NAME::{0}=[0-9.]+`"
    )]
    TakeOfOne(&'static str),
    /// The regular expression is invalid.
    #[error("{0}")]
    Regex(String),
    /// The JSON pointer is invalid.
    #[error("`{0}` is not a JSON pointer; write it like `json:/results/0/mean` (RFC 6901)")]
    Pointer(String),
}

/// The part of a spec before the `=`.
struct Head<'a> {
    name: &'a str,
    declared: Option<DeclaredUnit>,
    better: Option<Better>,
    take: Option<(&'static str, Take)>,
}

pub(super) fn parse(text: &str) -> Result<MetricSpec, SpecError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(SpecError::Empty);
    }
    if let Some((before, source)) = text.split_once('=')
        && looks_like_head(before)
    {
        let head = Head::parse(before)?;
        if SOURCES.contains(&head.name) {
            return Err(SpecError::SourceAsName { name: head.name.to_owned() });
        }
        let source = self::source(source.trim_start(), head.name)?;
        return head.spec(source);
    }
    let begins_source = SOURCES.iter().any(|s| text.split(':').next() == Some(s));
    let is_stdout = text.split(':').next() == Some("stdout");
    if !looks_like_head(text) || (begins_source && !is_stdout) {
        return Err(SpecError::NoName(excerpt(text)));
    }
    let source = if is_stdout { Source::Stdout } else { Source::Protocol };
    Head::parse(text)?.spec(source)
}

/// Returns true if the text is a name, possibly followed by units or qualifiers, each after a
/// colon.
fn looks_like_head(text: &str) -> bool {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let named = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    begins && named && parts.all(|part| part.chars().all(is_unit_character))
}

impl<'a> Head<'a> {
    fn parse(text: &'a str) -> Result<Self, SpecError> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        if name.chars().count() > MAX_NAME {
            return Err(SpecError::LongName(excerpt(name)));
        }
        let mut head = Self { name, declared: None, better: None, take: None };
        for (index, part) in parts.enumerate() {
            // Directly after the name, `min` is the unit; a later `min` is the minimum.
            if index == 0 && part == "min" || index == 0 && !part.is_empty() && !is_word(part) {
                head.declared = Some(DeclaredUnit::parse(part)?);
            } else if !(index == 0 && part.is_empty()) {
                head.word(part)?;
            }
        }
        Ok(head)
    }

    fn word(&mut self, word: &str) -> Result<(), SpecError> {
        let twice = |what| Err(SpecError::Duplicate { second: word.to_owned(), what });
        let better = match word {
            "lower" => Some(Better::Lower),
            "higher" => Some(Better::Higher),
            _ => None,
        };
        if better.is_some() {
            return match self.better {
                Some(_) => twice("which direction is better"),
                None => {
                    self.better = better;
                    Ok(())
                }
            };
        }
        let Some(&take) = WORDS.iter().find(|(known, _)| *known == word) else {
            let near = ["lower", "higher"].into_iter().chain(WORDS.map(|(known, _)| known));
            let near = near.into_iter().find(|known| strsim::osa_distance(known, word) <= 2);
            return Err(SpecError::UnknownWord { found: excerpt(word), near });
        };
        if self.take.replace(take).is_some() {
            return twice("what to take");
        }
        Ok(())
    }

    fn spec(self, source: Source) -> Result<MetricSpec, SpecError> {
        let taken = self.take.map(|(_, take)| take).unwrap_or_default();
        if taken == Take::Count && self.declared.is_some() {
            return Err(SpecError::CountWithUnit(self.name.to_owned()));
        }
        if let (Source::Stdout, Some((word, _))) = (&source, self.take) {
            return Err(SpecError::TakeOfOne(word));
        }
        let unit = self.declared.as_ref().map_or(Unit::One, |declared| declared.unit.clone());
        Ok(MetricSpec {
            metric: Metric::of_unit(self.name, unit).directed(self.better),
            source,
            take: taken,
            declared: self.declared,
            says_better: self.better.is_some(),
        })
    }
}

fn is_word(part: &str) -> bool {
    matches!(part, "lower" | "higher") || Take::from_word(part).is_some()
}

fn source(text: &str, name: &str) -> Result<Source, SpecError> {
    let no_source = || SpecError::NoSource(name.to_owned());
    let of_stream = |stream, pattern: &str| {
        if pattern.is_empty() {
            return Err(no_source());
        }
        // Users think in lines, so `^` and `$` match at each line, as in grep.
        let regex = RegexBuilder::new(pattern).multi_line(true).build().map_err(regex_error)?;
        Ok(Source::Text { stream, regex })
    };
    match text.split_once(':') {
        None if text == "stdout" => Ok(Source::Stdout),
        None if SOURCES.contains(&text) => Err(no_source()),
        Some(("stdout", pattern)) => of_stream(Stream::Stdout, pattern),
        Some(("stderr", pattern)) => of_stream(Stream::Stderr, pattern),
        Some(("json", pointer)) => {
            let pointer = pointer.trim();
            if !is_pointer(pointer) {
                return Err(SpecError::Pointer(excerpt(pointer)));
            }
            Ok(Source::Json { pointer: pointer.to_owned() })
        }
        _ => of_stream(Stream::Stdout, text),
    }
}

/// Returns true if the text is a JSON pointer: empty or beginning with a slash, with `~` only in
/// `~0` and `~1`.
fn is_pointer(text: &str) -> bool {
    let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && escapes
}

/// Converts an error of the regular-expression library. Its message has several lines, which show
/// the pattern with a mark below the error.
fn regex_error(error: regex::Error) -> SpecError {
    SpecError::Regex(match error {
        regex::Error::CompiledTooBig(_) => {
            "the regular expression is too large; use fewer or smaller repetitions".to_owned()
        }
        other => format!(
            "{other}\nhint: the syntax is that of Rust's regex library; write `\\(` for a bracket in the text"
        ),
    })
}
