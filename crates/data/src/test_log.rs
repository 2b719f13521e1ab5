//! Contents of a test suite's log, counted by test, by level and by the shape of lines.
//!
//! Filled in by log readers and shown by reports. This module must not know how logs are read, and
//! computes nothing.

/// Severity of a log line, as stated by its writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `TRACE`.
    Trace,
    /// `DEBUG`.
    Debug,
    /// `INFO` and `NOTICE`.
    Info,
    /// `WARN` and `WARNING`.
    Warn,
    /// `ERROR`.
    Error,
    /// `FATAL`, `CRITICAL` and anything more severe.
    Fatal,
    /// `ANY` and `UNKNOWN`, which are logged whatever the log level.
    Unknown,
}

impl Level {
    /// Number of levels.
    pub const COUNT: usize = 7;

    /// All levels, in the order of [`TestLog::levels`].
    pub const ALL: [Self; Self::COUNT] =
        [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Fatal, Self::Unknown];

    /// Returns the name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Fatal => "fatal",
            Self::Unknown => "unknown",
        }
    }
}

/// Number of lines of each level. The last element counts lines without a level.
pub type ByLevel = [u64; Level::COUNT + 1];

/// The contents of one log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestLog {
    /// Number of lines, not counting those that mark the start of a test.
    pub lines: u64,
    /// Number of bytes read, after decompression.
    pub bytes: u64,
    /// Number of markers for the start of a test.
    pub begun: u64,
    /// The tests, by descending number of lines, then by name. The entry without a name has the
    /// lines before the start of the first test.
    pub tests: Vec<LoggedTest>,
    /// Number of lines of further tests, whose names are not kept because there are too many of
    /// them.
    pub beyond: u64,
    /// Number of lines by level.
    pub levels: ByLevel,
    /// The most frequent shapes over all tests, by descending number of lines.
    pub shapes: Vec<LineShape>,
}

/// Log output of one test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedTest {
    /// Name as stated by the marker. Empty for the lines before the first marker.
    pub name: String,
    /// Number of lines.
    pub lines: u64,
    /// Number of lines by level.
    pub levels: ByLevel,
    /// Number of lines that look like one large message, such as an e-mail, and so do not reflect
    /// the amount of work in the test. `None` unless these are most of the lines.
    pub message: Option<u64>,
    /// The most frequent shapes, by descending number of lines.
    pub shapes: Vec<LineShape>,
}

/// A line without the parts that vary between occurrences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineShape {
    /// The line with `#` for numbers and `*` for quoted values.
    pub text: String,
    /// Minimum number of lines with this shape.
    pub lines: u64,
    /// Number of lines by which `lines` may be too low: with very many shapes, not every line can
    /// be counted. 0 means that the number is exact.
    pub missed: u64,
}
