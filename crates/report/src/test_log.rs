//! The terminal report of `assay tests log`, with the tests that write most to a log. Nothing is
//! read or counted here.

use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number;
use crate::words::counted;
use assay_data::Unit;
use assay_data::test_log::{Level, LineShape, LoggedTest, TestLog};

/// Limits on the length of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLimits {
    /// Maximum number of tests shown.
    pub tests: usize,
    /// Maximum number of message shapes shown per test, most frequent first.
    pub shapes: usize,
}

/// Renders the report for the terminal. Every line ends with a newline. Each test has the format
/// `%5d NAME` of the original script, with details in a quiet tone after and below it. O(tests
/// shown).
pub fn render(log: &TestLog, shown: LogLimits, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let named = log.tests.iter().filter(|test| !test.name.is_empty()).count();
    let size = number::value(log.bytes as f64, &Unit::Byte);
    let head = format!("{} in {size}, {}", lines(log.lines), counted(named, "test"));
    page.paragraph(2, &[(Tone::Strong, head)]);
    page.gap();
    for test in log.tests.iter().take(shown.tests) {
        row(&mut page, log, test);
        shapes(&mut page, &test.shapes, shown.shapes);
    }
    let left = log.tests.len().saturating_sub(shown.tests);
    if left > 0 {
        let more = format!("      {}: -n 0 shows all", counted(left, "more test"));
        page.paragraph(6, &[(Tone::Quiet, more)]);
    }
    if log.beyond > 0 {
        page.gap();
        let more = format!(
            "{} belong to further tests: only the first {} are counted by name",
            lines(log.beyond),
            number::grouped(named as u64)
        );
        page.paragraph(2, &[(Tone::Unsure, more)]);
    }
    if named == 0 && log.lines > 0 {
        page.gap();
        let advice = "no line begins a test: name one by --marker, as in --marker '=== RUN +(.*)'";
        page.paragraph(2, &[(Tone::Unsure, advice.to_owned())]);
    }
    if shown.shapes > 0 && named > 1 {
        page.gap();
        page.paragraph(2, &[(Tone::Strong, "of all tests".to_owned())]);
        shapes(&mut page, &log.shapes, MOST_OF_ALL);
    }
    if log.levels[..Level::COUNT].iter().any(|lines| *lines > 0) {
        page.gap();
        page.paragraph(2, &[(Tone::Plain, by_level(log))]);
    }
    page.finish()
}

/// Maximum number of message shapes shown for all tests together.
const MOST_OF_ALL: usize = 5;

fn row(page: &mut Page, log: &TestLog, test: &LoggedTest) {
    let name = match test.name.as_str() {
        "" => "(before the first test)",
        name => name,
    };
    let mut behind = String::new();
    if log.lines > 0 {
        behind += &format!("   {}", number::share(test.lines as f64, log.lines as f64));
    }
    if let Some(part) = test.message {
        behind += &format!("   {} look like one message", number::grouped(part));
    }
    let tone = if test.message.is_some() { Tone::Quiet } else { Tone::Plain };
    page.paragraph(6, &[(tone, format!("{:5} {name}", test.lines)), (Tone::Quiet, behind)]);
}

fn shapes(page: &mut Page, shapes: &[LineShape], most: usize) {
    for shape in shapes.iter().filter(|shape| !shape.text.is_empty()).take(most) {
        let least = if shape.missed > 0 { "at least " } else { "" };
        let line = format!("      {least}{} × {}", number::grouped(shape.lines), shape.text);
        let line = page.spelled(&line);
        let line = page.shortened(&line, page.width());
        page.line(&vec![(Tone::Quiet, line)]);
    }
}

fn lines(n: u64) -> String {
    counted(usize::try_from(n).unwrap_or(usize::MAX), "line")
}

/// Returns `by level: debug 1,204 · info 33 · 12 without`.
fn by_level(log: &TestLog) -> String {
    let levels = Level::ALL.iter().zip(&log.levels).filter(|(_, lines)| **lines > 0);
    let mut parts: Vec<String> = levels
        .map(|(level, lines)| format!("{} {}", level.name(), number::grouped(*lines)))
        .collect();
    let without = log.levels[Level::COUNT];
    if without > 0 {
        parts.push(format!("{} without a level", number::grouped(without)));
    }
    format!("by level: {}", parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_without_a_marker_says_how_to_name_one() {
        let log = TestLog {
            lines: 3,
            bytes: 7,
            tests: vec![LoggedTest { lines: 3, ..LoggedTest::default() }],
            ..TestLog::default()
        };
        let screen = Screen { width: 80, color: false, unicode: true, whole: false };
        let text = render(&log, LogLimits { tests: 10, shapes: 1 }, &screen);
        assert!(text.contains("    3 (before the first test)   100"), "{text}");
        assert!(text.contains("no line begins a test: name one by --marker"), "{text}");
    }
}
