//! Log output by test, as JSON.

use super::Head;
use super::values::view;
use assay_data::test_log::{self, ByLevel, Level, LineShape};

view! {
    /// Number of lines that each test writes to a log.
    TestLog of (log: &test_log::TestLog, file: &str) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("tests"),
        /// The log that was read; `-` is standard input.
        file: String => file,
        /// Number of lines, not counting those that mark the start of a test.
        lines: u64,
        /// Number of bytes read, after decompression.
        bytes: u64,
        /// Number of times that a test was started.
        begun: u64,
        /// The tests, most lines first, then by name.
        tests: Vec<LoggedTest>,
        /// Number of lines of further tests, which are too many to list.
        beyond: u64,
        /// Lines by level.
        levels: Levels,
        /// The most frequent shapes of all tests.
        shapes: Vec<Shape>,
    }
}

view! {
    /// The lines of one test.
    LoggedTest of (test: &test_log::LoggedTest) {
        /// Name of the test; empty for lines before the first test.
        name: String,
        /// Number of lines.
        lines: u64,
        /// Number of lines that look like one large message, such as an e-mail; `null` if there are
        /// none.
        message: Option<u64>,
        /// Lines by level.
        levels: Levels,
        /// Most frequent shapes, most lines first.
        shapes: Vec<Shape>,
    }
}

view! {
    /// Lines by level.
    Levels of (levels: &ByLevel) {
        /// `TRACE`.
        trace: u64 = levels[Level::Trace as usize],
        /// `DEBUG`.
        debug: u64 = levels[Level::Debug as usize],
        /// `INFO` and `NOTICE`.
        info: u64 = levels[Level::Info as usize],
        /// `WARN` and `WARNING`.
        warn: u64 = levels[Level::Warn as usize],
        /// `ERROR`.
        error: u64 = levels[Level::Error as usize],
        /// `FATAL`, `CRITICAL` and worse.
        fatal: u64 = levels[Level::Fatal as usize],
        /// `ANY` and `UNKNOWN`.
        unknown: u64 = levels[Level::Unknown as usize],
        /// Lines without a level.
        none: u64 = levels[Level::COUNT],
    }
}

view! {
    /// Lines that differ only in their values.
    Shape of (shape: &LineShape) {
        /// The line with `#` for numbers and `*` for quoted values.
        text: String,
        /// Minimum number of lines with this shape.
        lines: u64,
        /// Number of lines by which `lines` may be too low.
        missed: u64,
    }
}
