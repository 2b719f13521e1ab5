//! What the log of a test suite holds, counted by test, by level and by shape of line.
//!
//! Whoever reads a log fills it, reports show it. It must not know how logs are read, and nothing is computed here.

/// How much a line of a log matters, as its writer said.
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
    /// `FATAL`, `CRITICAL` and whatever is worse.
    Fatal,
    /// `ANY` and `UNKNOWN`: to be written at every level.
    Unknown,
}

impl Level {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// All, in the order of [`TestLog::levels`].
    pub const ALL: [Self; Self::COUNT] =
        [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Fatal, Self::Unknown];

    /// The word for it.
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

/// Lines by level; the last place counts those that have none.
pub type ByLevel = [u64; Level::COUNT + 1];

/// Everything that one log holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestLog {
    /// Lines, those that mark the beginning of a test not counted.
    pub lines: u64,
    /// Bytes that were read, unpacked.
    pub bytes: u64,
    /// How many times a test began.
    pub begun: u64,
    /// The tests, most lines first, then by name. One without a name wrote before the first began.
    pub tests: Vec<LoggedTest>,
    /// Lines of tests that there was no room to tell apart: only so many names are kept.
    pub beyond: u64,
    /// Lines by level.
    pub levels: ByLevel,
    /// The most frequent shapes of all tests, most lines first.
    pub shapes: Vec<LineShape>,
}

/// What one test wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedTest {
    /// Its name, as the marker has it; empty before the first marker.
    pub name: String,
    /// How many lines.
    pub lines: u64,
    /// Lines by level.
    pub levels: ByLevel,
    /// Lines that look like one large message, such as an e-mail: they say nothing of how much the test does.
    pub message: Option<u64>,
    /// Its most frequent shapes, most lines first.
    pub shapes: Vec<LineShape>,
}

/// A line without what varies from one occurrence to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineShape {
    /// The line with `#` for numbers and `*` for quoted values.
    pub text: String,
    /// How many lines have it, at least.
    pub lines: u64,
    /// How many more may have it: of very many shapes not every line can be counted. 0: the number is exact.
    pub missed: u64,
}
