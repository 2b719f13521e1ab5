//! Contents of the log of a test suite, counted by test, by level and by shape of line.
//!
//! Filled by log readers and shown by reports. It must not know how logs are read, and nothing is
//! computed here.

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
    /// `ANY` and `UNKNOWN`: written at every level.
    Unknown,
}

impl Level {
    /// Number of levels.
    pub const COUNT: usize = 7;

    /// All levels, in the order of [`TestLog::levels`].
    pub const ALL: [Self; Self::COUNT] =
        [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Fatal, Self::Unknown];

    /// Lower-case name.
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

/// Numbers of lines by level; the last element counts lines without one.
pub type ByLevel = [u64; Level::COUNT + 1];

/// Contents of one log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestLog {
    /// Number of lines, not counting those that mark the start of a test.
    pub lines: u64,
    /// Number of bytes read, after decompression.
    pub bytes: u64,
    /// Number of times a test started.
    pub begun: u64,
    /// The tests, by descending number of lines, then by name. The entry without a name has the
    /// lines before the start of the first test.
    pub tests: Vec<LoggedTest>,
    /// Number of lines of further tests, whose names are not kept because there are too many.
    pub beyond: u64,
    /// Lines by level.
    pub levels: ByLevel,
    /// The most frequent shapes over all tests, by descending number of lines.
    pub shapes: Vec<LineShape>,
}

/// Log output of one test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedTest {
    /// Name as given by the marker; empty before the first marker.
    pub name: String,
    /// Number of lines.
    pub lines: u64,
    /// Lines by level.
    pub levels: ByLevel,
    /// Number of lines that look like one large message, such as an e-mail: they do not reflect the
    /// amount of work in the test.
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
