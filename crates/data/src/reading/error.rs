//! Errors of reading a number from a program's output: the text found, and advice.

/// The reason why a run gave no value for a metric. Excerpts of the output are cut after 60
/// characters, with control characters escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadingError {
    /// There is nothing to read.
    #[error(
        "{sought} was looked for, but {seen}; see what the program prints with --output inherit"
    )]
    Nothing {
        /// Description of what was sought.
        sought: String,
        /// Description of what was found instead.
        seen: String,
    },
    /// There are several values, and the spec does not specify how to reduce them to one.
    #[error(
        "{found} values were found where one was expected; say what to take of them with one of the \
         words first, last, sum, mean, median, min, max or count, as in `NAME::sum=…`"
    )]
    Several {
        /// Number of values.
        found: usize,
    },
    /// The text found is not a number.
    #[error(
        "`{text}` is not a number; take only its digits, with a point for the fraction and no \
         separators of thousands"
    )]
    NotANumber {
        /// The text found.
        text: String,
    },
    /// The match of a regular expression without groups has a number among other text.
    #[error("`{text}` is not a number; put the number in parentheses: `{pattern}`")]
    NoGroup {
        /// The text found.
        text: String,
        /// The regular expression with a group.
        pattern: String,
    },
    /// The number has a unit, and the spec states none.
    #[error(
        "`{text}` carries a unit; name the one to keep the numbers in, as in `{name}:{unit}=…`"
    )]
    UnitNotDeclared {
        /// The text found.
        text: String,
        /// Unit of the number.
        unit: String,
        /// Name of the metric.
        name: String,
    },
    /// The number's unit cannot be converted to that of the metric.
    #[error(
        "a number in `{found}` can't be converted to `{wanted}`; declare the unit that the program prints"
    )]
    WrongUnit {
        /// The number's unit.
        found: String,
        /// The metric's base unit.
        wanted: String,
    },
    /// The number is infinite, not a number, or beyond the range of a double.
    #[error(
        "the number is not finite; let the program fail, or print nothing, when it has no result"
    )]
    NotFinite,
    /// Stdout is not a single JSON document.
    #[error("stdout is not one JSON document ({problem}); it begins with `{seen}`")]
    NotJson {
        /// The parser's message.
        problem: String,
        /// The first line of stdout.
        seen: String,
    },
    /// The JSON pointer does not match the document.
    #[error("stdout has nothing at `{pointer}`; {there}")]
    NoSuchPointer {
        /// The JSON pointer.
        pointer: String,
        /// Description of the longest prefix of the pointer that matches, and of the value there.
        there: String,
    },
    /// The output is longer than [`MAX_OUTPUT`](super::MAX_OUTPUT).
    #[error(
        "{stream} is longer than 16 MiB; let the program print less, or give its numbers by the sample protocol"
    )]
    TooLarge {
        /// Name of the stream.
        stream: &'static str,
    },
}
