//! Log output by test, as JSON.

use super::Head;
use super::values::view;
use assay_data::test_log::{self, ByLevel, Level, LineShape};

view! {
    /// Which tests write how much into a log.
    TestLog of (log: &test_log::TestLog, file: &str) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("tests"),
        /// The log that was read; `-`: standard input.
        file: String = file.to_owned(),
        /// Lines, those that begin a test not counted.
        lines: u64 = log.lines,
        /// Bytes, unpacked.
        bytes: u64 = log.bytes,
        /// How many times a test began.
        begun: u64 = log.begun,
        /// The tests, most lines first, then by name.
        tests: Vec<LoggedTest> = log.tests.iter().map(LoggedTest::of).collect(),
        /// Lines of tests beyond those that are counted by name.
        beyond: u64 = log.beyond,
        /// Lines by level.
        levels: Levels = Levels::of(&log.levels),
        /// The most frequent shapes of all tests.
        shapes: Vec<Shape> = log.shapes.iter().map(Shape::of).collect(),
    }
}

view! {
    /// What one test wrote.
    LoggedTest of (test: &test_log::LoggedTest) {
        /// Its name; empty for lines before the first test.
        name: String = test.name.clone(),
        /// How many lines.
        lines: u64 = test.lines,
        /// How many of them look like one large message, such as an e-mail; `null`: none do.
        message: Option<u64> = test.message,
        /// Lines by level.
        levels: Levels = Levels::of(&test.levels),
        /// Its most frequent shapes, most lines first.
        shapes: Vec<Shape> = test.shapes.iter().map(Shape::of).collect(),
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
    /// Lines that differ in their values alone.
    Shape of (shape: &LineShape) {
        /// The line with `#` for numbers and `*` for quoted values.
        text: String = shape.text.clone(),
        /// How many lines, at least.
        lines: u64 = shape.lines,
        /// How many more there may be.
        missed: u64 = shape.missed,
    }
}
