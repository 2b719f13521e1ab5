//! Output of `assay watch` for a run: the status line, and the failures, each starting with the
//! expected value. Nothing is decided here.

use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::names::width;
use crate::number;
use crate::words::counted;
use assay_data::{Finding, Unit};

/// Maximum number of failures shown.
const MOST_FAILED: usize = 10;
/// Maximum number of message lines per failure.
const MOST_LINES: usize = 14;

/// The overall state after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Light {
    /// All tests that ran passed.
    Green,
    /// Something failed.
    Red,
    /// A source can't be parsed, so nothing ran.
    Broken,
}

impl Light {
    /// Returns the name of the state.
    pub fn name(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Red => "red",
            Self::Broken => "broken",
        }
    }
}

/// A test that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// Name of the test.
    pub name: String,
    /// File that contains the test.
    pub file: Option<String>,
    /// Line of the test in its file.
    pub line: Option<u32>,
    /// Failure message.
    pub message: Option<String>,
}

/// The result of a run for `assay watch`.
#[derive(Clone, Debug, PartialEq)]
pub struct Came {
    /// Number of the run, starting at 1.
    pub run: u64,
    /// Time at which the run started, such as `2026-11-25T20:15:00Z`.
    pub began: String,
    /// The files saved before the run.
    pub changed: Vec<String>,
    /// What ran, and why.
    pub why: String,
    /// True if the run was meant to include all tests.
    pub all: bool,
    /// Overall state after the run.
    pub light: Light,
    /// True if all tests ran and passed and nothing has changed since.
    pub all_green: bool,
    /// Number of passed tests, or `None` if a command was run instead of tests.
    pub passed: Option<usize>,
    /// Number of skipped tests.
    pub skipped: usize,
    /// The failed tests.
    pub failed: Vec<Failed>,
    /// Duration of the run, in seconds.
    pub seconds: f64,
    /// True if the run was a fork of a preloaded process.
    pub warm: bool,
    /// Reason for the red state if no test failed, or the interpreter's message about a source file
    /// that cannot be parsed.
    pub trouble: Option<String>,
    /// The end of the command's output, unless the terminal already shows it.
    pub said: Option<String>,
    /// Findings based on many runs.
    pub findings: Vec<Finding>,
}

/// Returns the status line, which is at most as wide as the terminal.
pub fn state(came: &Came, screen: &Screen) -> String {
    let tone = match came.light {
        Light::Green => Tone::Good,
        Light::Red | Light::Broken => Tone::Bad,
    };
    let failed = came.failed.len();
    let mut told = match (came.light, came.passed) {
        (Light::Broken, _) => "nothing was run".to_owned(),
        (Light::Green, None) => "ended with status 0".to_owned(),
        (Light::Red, None) => came.trouble.clone().unwrap_or_default(),
        (_, Some(passed)) if failed > 0 => {
            format!("{failed} of {} failed", counted(failed + passed, "test"))
        }
        (Light::Green, Some(passed)) => format!("{} passed", counted(passed, "test")),
        (Light::Red, Some(_)) => "the suite did not finish".to_owned(),
    };
    if came.skipped > 0 {
        told += &format!(", {} skipped", came.skipped);
    }
    let mut page = Page::new(screen);
    let time = match came.light {
        Light::Broken => String::new(),
        _ => format!(" · {}", number::rough(came.seconds, &Unit::Second)),
    };
    let all = if came.all_green && came.passed.is_some() { " · all of them" } else { "" };
    let room = page.width().saturating_sub(came.light.name().len() + 3);
    let told = page.spelled(&format!("{told}{time}{all}"));
    let told = page.shortened(&told, room);
    page.line(&vec![
        (tone, came.light.name().to_owned()),
        (Tone::Plain, page.spelled(&format!(" · {told}"))),
    ]);
    page.finish()
}

/// Renders the failures for the terminal. Every line ends with a newline. The text is empty if
/// there are none.
pub fn failures(came: &Came, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    for test in came.failed.iter().take(MOST_FAILED) {
        page.gap();
        page.paragraph(2, &[(Tone::Bad, "failed: ".to_owned()), (Tone::Strong, test.name.clone())]);
        let (first, rest) = parted(test.message.as_deref().unwrap_or_default());
        let lines: Vec<&str> = first.iter().chain(&rest).copied().collect();
        for (place, line) in lines.iter().take(MOST_LINES).enumerate() {
            let tone = if place < first.len() { tone_of(line) } else { Tone::Quiet };
            indented(&mut page, tone, line);
        }
        if lines.len() > MOST_LINES {
            let more =
                format!("and {}: --json has all", counted(lines.len() - MOST_LINES, "more line"));
            indented(&mut page, Tone::Quiet, &more);
        }
        if let Some(file) = &test.file {
            let place = test.line.map_or(file.clone(), |line| format!("{file}:{line}"));
            indented(&mut page, Tone::Quiet, &place);
        }
    }
    if came.failed.len() > MOST_FAILED {
        page.gap();
        let more = counted(came.failed.len() - MOST_FAILED, "more failed test");
        page.paragraph(2, &[(Tone::Quiet, format!("and {more}"))]);
    }
    // For a command, the status line already shows it.
    let is_told = came.light == Light::Broken || came.passed.is_some();
    if let Some(trouble) = came.trouble.as_ref().filter(|_| is_told) {
        page.gap();
        for line in trouble.lines() {
            match width(line) + 2 <= page.width() {
                true => indented(&mut page, Tone::Plain, line),
                false => page.paragraph(2, &[(Tone::Plain, format!("  {line}"))]),
            }
        }
    }
    for line in came.said.as_deref().unwrap_or_default().lines() {
        indented(&mut page, Tone::Quiet, line);
    }
    for finding in &came.findings {
        page.paragraph(2, &[(Tone::Unsure, finding.message.clone())]);
    }
    page.finish()
}

/// Returns the heading of a run in a quiet tone.
pub fn heading(told: &str, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let told = page.spelled(told);
    let told = page.shortened(&told, page.width());
    page.line(&vec![(Tone::Quiet, told)]);
    page.finish()
}

/// Returns a text as one line of at most `width` columns.
pub fn one_line(text: &str, width: usize, unicode: bool) -> String {
    let page = Page::new(&Screen { width, color: false, unicode, whole: false });
    page.shortened(&page.spelled(text), page.width())
}

fn indented(page: &mut Page, tone: Tone, line: &str) {
    // Leading spaces are significant in a diff of two texts.
    let line = page.spelled(&format!("  {}", line.replace('\t', "    ")));
    let line = page.shortened(&line, page.width());
    page.line(&vec![(tone, line)]);
}

/// Splits a message into the lines that show a difference, such as the expected and the actual
/// value, and the other lines. If no line shows a difference, the first line takes their place.
fn parted(message: &str) -> (Vec<&str>, Vec<&str>) {
    let lines: Vec<&str> = message.lines().filter(|line| !line.trim().is_empty()).collect();
    let (first, rest): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| is_difference(line));
    match first.is_empty() && !lines.is_empty() {
        true => (lines[..1].to_vec(), lines[1..].to_vec()),
        false => (first, rest),
    }
}

/// Returns true if a line looks like those with which test frameworks show a difference: an
/// expected or an actual value, or part of a diff.
fn is_difference(line: &str) -> bool {
    const WORDS: [&str; 12] = [
        "expected", "actual", "got:", "got ", "but was", "received", "left:", "right:", "assert ",
        "want:", "want ", "diff:",
    ];
    let text = line.trim_start();
    let text = text.strip_prefix("E ").map_or(text, str::trim_start);
    let lower = text.to_lowercase();
    text.starts_with(['+', '-']) && text.len() > 1
        || text.starts_with("@@")
        || text.starts_with("? ")
        || WORDS.iter().any(|word| lower.starts_with(word))
        || lower.starts_with("assertionerror: ") && lower.contains(" != ")
}

fn tone_of(line: &str) -> Tone {
    let text = line.trim_start();
    let text = text.strip_prefix("E ").map_or(text, str::trim_start);
    match text.chars().next() {
        Some('+') => Tone::Good,
        Some('-') => Tone::Bad,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came() -> Came {
        let message =
            "AssertionError: assert [1, 2] == [1, 3]\n  At index 1 diff: 2 != 3\n  - 3\n  + 2";
        Came {
            run: 3,
            began: "2026-11-25T20:15:00Z".to_owned(),
            changed: vec!["a.py".to_owned()],
            why: String::new(),
            all: false,
            light: Light::Red,
            all_green: false,
            passed: Some(11),
            skipped: 1,
            failed: vec![Failed {
                name: "tests/test_a.py::test_of_a_rather_long_name_that_does_not_fit_into_a_line"
                    .to_owned(),
                file: Some("tests/test_a.py".to_owned()),
                line: Some(7),
                message: Some(message.to_owned()),
            }],
            seconds: 0.8413,
            warm: false,
            trouble: None,
            said: None,
            findings: Vec::new(),
        }
    }

    fn screen(width: usize) -> Screen {
        Screen { width, color: false, unicode: true, whole: false }
    }

    #[test]
    fn the_state_is_one_line_in_sixty_columns() {
        assert_eq!(state(&came(), &screen(60)), "red · 1 of 12 tests failed, 1 skipped · 841 ms\n");
        let green = Came { light: Light::Green, failed: vec![], all_green: true, ..came() };
        assert_eq!(
            state(&green, &screen(60)),
            "green · 11 tests passed, 1 skipped · 841 ms · all of them\n"
        );
        let trouble = Some("a.py: line 1\nSyntaxError".to_owned());
        let broken = Came {
            light: Light::Broken,
            passed: None,
            skipped: 0,
            failed: vec![],
            trouble,
            ..came()
        };
        assert_eq!(failures(&broken, &screen(60)), "  a.py: line 1\n  SyntaxError\n");
        assert_eq!(state(&broken, &screen(60)), "broken · nothing was run\n");
        let trouble = Some("was ended by signal 9".repeat(9));
        let command = Came { passed: None, failed: vec![], skipped: 0, trouble, ..came() };
        let line = state(&command, &screen(40));
        assert!(width(line.trim_end()) <= 40 && line.lines().count() == 1, "{line}");
    }

    #[test]
    fn of_a_failure_the_difference_comes_first() {
        let text = failures(&came(), &screen(60));
        assert!(text.lines().all(|line| width(line) <= 60), "{text}");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let place = |what: &str| lines.iter().position(|line| line.contains(what)).expect(what);
        assert!(place("- 3") < place("At index") && place("+ 2") < place("At index"), "{text}");
        assert_eq!(lines.last(), Some(&"tests/test_a.py:7"));
    }

    #[test]
    fn what_says_no_difference_begins_with_its_first_line() {
        let (first, rest) = parted("ZeroDivisionError: divided by 0\n\nat x\n");
        assert_eq!((first, rest), (vec!["ZeroDivisionError: divided by 0"], vec!["at x"]));
        let (first, _) = parted("Expected: 3\n  Actual: 4");
        assert_eq!(first.len(), 2);
        assert_eq!(parted(""), (vec![], vec![]));
    }
}
