//! Why a number could not be read from what a program printed: what was found, and what to do.

/// Why one run gave no reading of a metric. Excerpts hold at most 60 characters, with control characters escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadingError {
    /// Nothing is there to read.
    #[error(
        "{sought} was looked for, but {seen}; see what the program prints with --output inherit"
    )]
    Nothing {
        /// What was looked for.
        sought: String,
        /// What is there instead.
        seen: String,
    },
    /// There are several values, and the spec does not say what the run comes to.
    #[error(
        "{found} values were found where one was expected; say what to take of them with one of the \
         words first, last, sum, mean, median, min, max or count, as in `NAME::sum=…`"
    )]
    Several {
        /// How many.
        found: usize,
    },
    /// What was found is not a number.
    #[error(
        "`{text}` is not a number; take only its digits, with a point for the fraction and no \
         separators of thousands"
    )]
    NotANumber {
        /// What was found.
        text: String,
    },
    /// The number carries a unit, and the spec names none.
    #[error(
        "`{text}` carries a unit; name the one to keep the numbers in, as in `{name}:{unit}=…`"
    )]
    UnitNotDeclared {
        /// What was found.
        text: String,
        /// Its unit.
        unit: String,
        /// Name of the metric.
        name: String,
    },
    /// The number's unit can't be converted into the metric's.
    #[error(
        "a number in `{found}` can't be converted to `{wanted}`; declare the unit that the program prints"
    )]
    WrongUnit {
        /// The number's unit.
        found: String,
        /// The metric's base unit.
        wanted: String,
    },
    /// The number is infinite, not a number, or beyond a double.
    #[error(
        "the number is not finite; let the program fail, or print nothing, when it has no result"
    )]
    NotFinite,
    /// Stdout is not one JSON document.
    #[error("stdout is not one JSON document ({problem}); it begins with `{seen}`")]
    NotJson {
        /// What the parser says.
        problem: String,
        /// The first line.
        seen: String,
    },
    /// The pointer leads nowhere in the document.
    #[error("stdout has nothing at `{pointer}`; at `{reached}` is {there}")]
    NoSuchPointer {
        /// The pointer.
        pointer: String,
        /// Its longest part that leads somewhere.
        reached: String,
        /// What is there.
        there: String,
    },
    /// The output is too long to be read.
    #[error(
        "{stream} is longer than 16 MiB; let the program print less, or give its numbers by the sample protocol"
    )]
    TooLarge {
        /// The stream.
        stream: &'static str,
    },
}
