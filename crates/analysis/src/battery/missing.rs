//! Results of classical tests that may be missing.

/// Reasons for a missing test result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// All observations of both samples are equal.
    AllEqual,
    /// The values, or the paired differences, do not vary, although the samples differ.
    Constant,
    /// There are fewer values than the test needs.
    TooFew,
    /// The samples have different lengths, so they can't be paired.
    NoPairs,
    /// A value is zero or negative.
    NotPositive,
    /// The samples were not taken in blocks.
    NoBlocks,
}

impl Missing {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::AllEqual => "all observations are equal",
            Self::Constant => "the values, or their differences, do not vary",
            Self::TooFew => "too few values",
            Self::NoPairs => "recordings of different lengths have no pairs",
            Self::NotPositive => "a value is zero or negative",
            Self::NoBlocks => "the samples were not taken in blocks",
        }
    }
}

/// A test result, or the reason why it is missing.
pub type Computed<T> = Result<T, Missing>;
