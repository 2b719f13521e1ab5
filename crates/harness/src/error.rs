//! Errors in the answer of a benchmark program, with messages for the user.

use assay_data::system_error::reason;
use std::path::PathBuf;

/// Reasons why the answer of a benchmark program cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The program lists no benchmarks.
    #[error("it lists no benchmark{}", .said.as_deref().map_or(String::new(), |s| format!("; it said: {s}")))]
    NoBenchmark {
        /// Last line that the program printed instead of a list.
        said: Option<String>,
    },
    /// The test framework lacks the plugin that measures benchmarks.
    #[error("{plugin} is not installed for this program: {install}")]
    NotInstalled {
        /// Name of the plugin.
        plugin: &'static str,
        /// Command that installs the plugin.
        install: &'static str,
    },
    /// The file that should contain the answer does not exist or cannot be read.
    #[error(
        "it left no result in {}: {reason}{}",
        .path.display(), .said.as_deref().map_or(String::new(), |s| format!("; it said: {s}")), reason = reason(source)
    )]
    NoAnswer {
        /// Path of the missing file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
        /// Message that the program printed, if any.
        said: Option<String>,
    },
    /// The answer cannot be parsed.
    #[error("its output is not what {harness} writes: {why}{}", .said.as_deref().map_or(String::new(), |s| format!("; it said: {s}")))]
    Garbage {
        /// Name of the harness.
        harness: &'static str,
        /// Error message of the importer.
        why: String,
        /// Message that the program printed, if any.
        said: Option<String>,
    },
}

/// Returns the last line that contains words, for use in an error message. Standard error is
/// preferred. The line is returned without color codes and has at most 200 characters.
pub fn last_line(errors: &[u8], output: &[u8]) -> Option<String> {
    let last = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        // Google Benchmark always prints warnings to standard error.
        let said = |line: &String| {
            line.contains(char::is_alphanumeric) && !line.starts_with("***WARNING***")
        };
        let line = text.lines().rev().map(|line| without_colors(line.trim())).find(said)?;
        Some(line.chars().take(200).collect::<String>())
    };
    last(errors).or_else(|| last(output))
}

/// Returns the result of [`last_line`] in backticks.
pub(crate) fn tail(errors: &[u8], output: &[u8]) -> Option<String> {
    last_line(errors, output).map(|line| format!("`{line}`"))
}

/// Removes terminal control sequences such as `ESC [31m`.
fn without_colors(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| {
        part.split_once(|c: char| ('@'..='~').contains(&c)).map_or("", |(_, rest)| rest)
    });
    first + &rest.collect::<String>()
}

/// Returns the first line of standard error that satisfies `tells`, for output that ends in a stack
/// trace. Falls back to [`tail`].
pub(crate) fn message_line(
    errors: &[u8],
    output: &[u8],
    tells: impl Fn(&str) -> bool,
) -> Option<String> {
    let text = String::from_utf8_lossy(errors);
    match text.lines().find(|line| tells(line)) {
        Some(line) => tail(line.as_bytes(), b""),
        None => tail(errors, output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_words_and_no_colors() {
        let colored =
            "a\n\u{1b}[31mUnknown \u{1b}[1mmethod\u{1b}[22m\n\u{1b}[31m⎯⎯⎯⎯\u{1b}[39m\n\n";
        assert_eq!(last_line(colored.as_bytes(), b"b").as_deref(), Some("Unknown method"));
        assert_eq!(last_line(b"---\n\x1b[0m\n", b"b\n***WARNING*** c").as_deref(), Some("b"));
        assert_eq!(last_line(b"\x1b[", b"=="), None);
    }
}
