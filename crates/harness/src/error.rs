//! What can be wrong with a harness's answer, in words for the user.

use std::path::PathBuf;

/// Why an answer is of no use.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// It has no benchmark.
    #[error("it lists no benchmark{}", .said.as_deref().map_or(String::new(), |s| format!("; it said: {s}")))]
    NoBenchmark {
        /// What it said instead.
        said: Option<String>,
    },
    /// The file of the answer is not there.
    #[error("it left no result in {}: {source}{}", .path.display(), .said.as_deref().map_or(String::new(), |s| format!("; it said: {s}")))]
    NoAnswer {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
        /// What the program said.
        said: Option<String>,
    },
    /// The answer can't be read.
    #[error("its answer is not what {harness} writes: {why}{}", .said.as_deref().map_or(String::new(), |s| format!("; it said: {s}")))]
    Garbage {
        /// The harness.
        harness: &'static str,
        /// What is wrong, from the importer.
        why: String,
        /// What the program said.
        said: Option<String>,
    },
}

/// The last line of what a program said, for messages; errors before output. At most 200 characters.
pub(crate) fn tail(errors: &[u8], output: &[u8]) -> Option<String> {
    let last = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        // Google Benchmark's warnings stand there whatever happens.
        let said = |line: &&str| !line.is_empty() && !line.starts_with("***WARNING***");
        let line = text.lines().rev().map(str::trim).find(said)?;
        Some(format!("`{}`", line.chars().take(200).collect::<String>()))
    };
    last(errors).or_else(|| last(output))
}

/// The same, but where a line of the errors says more than their last one (a trace stands behind it), that line.
pub(crate) fn told(errors: &[u8], output: &[u8], tells: impl Fn(&str) -> bool) -> Option<String> {
    let text = String::from_utf8_lossy(errors);
    match text.lines().find(|line| tells(line)) {
        Some(line) => tail(line.as_bytes(), b""),
        None => tail(errors, output),
    }
}
