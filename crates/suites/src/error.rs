//! Errors of running a suite. Each message completes a sentence about the suite.

use assay_data::system_error::reason;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Reasons why a run produced no usable results.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The command's framework is unknown, and it printed no report.
    #[error(
        "it printed no test results (it said: {said}), and its framework is not recognized; {cure}"
    )]
    Unknown {
        /// The most informative line of the command's output.
        said: String,
        /// What to do about it.
        cure: String,
    },
    /// No framework has this name.
    #[error("--framework {name}: unknown framework; known are {known}")]
    NoSuchFramework {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The framework does not support what the run requires.
    #[error("{framework} {what}")]
    Unable {
        /// Name of the framework.
        framework: &'static str,
        /// The missing capability and what to do instead; follows the name.
        what: String,
    },
    /// The framework's version is too old.
    #[error("{framework} {needed} or later is needed: {said}")]
    TooOld {
        /// Name of the framework.
        framework: &'static str,
        /// The first supported version.
        needed: &'static str,
        /// The most informative line of the command's output.
        said: String,
    },
    /// No tests were run.
    #[error("it ran no test{}", .said.as_deref().map_or(String::new(), |said| format!("; it said: {said}")))]
    NoTests {
        /// The most informative line of the command's output, if any.
        said: Option<String>,
    },
    /// No test has any of the requested names.
    #[error("no test is named {names}")]
    NotNamed {
        /// The requested names, in backticks.
        names: String,
    },
    /// The command did not write the report file that the user named.
    #[error("it did not write {file} (--framework junit:{file}){}", .said.as_deref().map_or(String::new(), |said| format!("; it said: {said}")))]
    NotWritten {
        /// Path of the file, as the user gave it.
        file: String,
        /// The most informative line of the command's output, if any.
        said: Option<String>,
    },
    /// The command did not write a report.
    #[error("it left no report{}", .said.as_deref().map_or(String::new(), |said| format!("; it said: {said}")))]
    NoReport {
        /// The most informative line of the command's output, if any.
        said: Option<String>,
    },
    /// A report cannot be read.
    #[error("its report {what} can't be read: {why}")]
    Garbage {
        /// The report, such as the path of its file.
        what: String,
        /// The reason why it cannot be read.
        why: String,
    },
    /// A file or directory cannot be read.
    #[error("{}: {reason}", .path.display(), reason = reason(source))]
    Unreadable {
        /// Path of the file or directory.
        path: PathBuf,
        /// The error from the system.
        source: io::Error,
    },
}

impl SuiteError {
    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }
}

/// Returns the most informative line of a command's output, in backticks, limited to 200
/// characters. In order of preference, this is a line that names an exception, one that begins with
/// `error`, one that mentions an error, one that begins with a position in a file (`a.go:9:1:`), or
/// the last line. Lines that begin a summary of the command's options are skipped.
pub(crate) fn message(errors: &[u8], output: &[u8]) -> Option<String> {
    let names_exception = |line: &str| {
        let name = line.split(':').next().unwrap_or_default().trim_start_matches("E ").trim();
        line.contains(':')
            && !name.contains([' ', '/'])
            && (name.ends_with("Error") || name.ends_with("Exception"))
    };
    let begins = |line: &str| line.to_ascii_lowercase().starts_with("error");
    let speaks =
        |line: &str| line.to_ascii_lowercase().contains("error") && !line.starts_with("==");
    // `a/b.go:9:1: undefined: x`
    let points = |line: &str| {
        let mut parts = line.splitn(4, ':');
        let file = parts.next().is_some_and(|file| file.contains('.') && !file.contains(' '));
        let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
        file && is_number(parts.next()) && is_number(parts.next()) && parts.next().is_some()
    };
    // `ERROR: usage: pytest [options]`
    let is_usage = |line: &str| {
        let line = line.to_ascii_lowercase();
        line.strip_prefix("error: ").unwrap_or(&line).starts_with("usage: ")
    };
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (errors, output) = (text(errors), text(output));
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(spoken);
        let lines = lines.map(|line| line.trim().to_owned());
        lines.filter(|line| !line.is_empty() && !is_usage(line)).collect()
    };
    let (errors, output) = (lines(&errors), lines(&output));
    let all = || errors.iter().chain(&output);
    let line = all()
        .find(|line| names_exception(line))
        .or_else(|| all().find(|line| begins(line)))
        .or_else(|| all().find(|line| speaks(line)))
        .or_else(|| all().find(|line| points(line)))
        .or_else(|| errors.last())
        .or_else(|| output.last())?;
    // RSpec prints the message on the next line.
    let next = all().skip_while(|own| *own != line).nth(1).filter(|_| line.ends_with("Error:"));
    let line = line.trim_start_matches("E ").trim();
    let line = next.map_or(line.to_owned(), |next| format!("{line} {next}"));
    Some(format!("`{}`", line.chars().take(200).collect::<String>()))
}

/// Returns what a line of a command's output says: for an event of `go test -json`, the output of
/// the tests or the compiler that it contains, if any.
fn spoken(line: &str) -> Option<Cow<'_, str>> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Event {
        #[serde(rename = "Action")]
        _action: String,
        output: Option<String>,
    }
    match serde_json::from_str::<Event>(line) {
        Ok(event) => event.output.map(Cow::Owned),
        Err(_) => Some(Cow::Borrowed(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of go 1.26 for a package that does not pass `go vet`.
    const BUILD: &str = r##"{"ImportPath":"ex.org/m2 [ex.org/m2.test]","Action":"build-output","Output":"# ex.org/m2\n"}
{"ImportPath":"ex.org/m2 [ex.org/m2.test]","Action":"build-output","Output":"m2/a_test.go:9:1: ExampleX refers to unknown identifier: X\n"}
{"ImportPath":"ex.org/m2 [ex.org/m2.test]","Action":"build-fail"}
{"Time":"2026-11-25T17:34:18.038358744Z","Action":"start","Package":"ex.org/m2"}
{"Time":"2026-11-25T17:34:18.038447826Z","Action":"output","Package":"ex.org/m2","Output":"FAIL\tex.org/m2 [build failed]\n"}
{"Time":"2026-11-25T17:34:18.038458863Z","Action":"fail","Package":"ex.org/m2","Elapsed":0,"FailedBuild":"ex.org/m2 [ex.org/m2.test]"}
"##;

    #[test]
    fn what_go_says_stands_within_its_events() {
        let said = |text: &str| message(b"", text.as_bytes()).unwrap();
        assert_eq!(said(BUILD), "`m2/a_test.go:9:1: ExampleX refers to unknown identifier: X`");
        let last = BUILD.lines().skip(2).collect::<Vec<_>>().join("\n");
        assert_eq!(said(&last), "`FAIL\tex.org/m2 [build failed]`");
        assert_eq!(said("{\"a\": 1}\nplain"), "`plain`");
        let rspec = "Failure/Error: require \"nope\"\n\nLoadError:\n  cannot load such file -- nope\n# ./a.rb:1\n";
        assert_eq!(said(rspec), "`LoadError: cannot load such file -- nope`");
    }

    #[test]
    fn a_summary_of_options_explains_nothing() {
        let pytest = "ERROR: usage: pytest [options] [file_or_dir] [...]\npytest: error: unrecognized arguments: --nosuch\n  inifile: None\n";
        let said = message(pytest.as_bytes(), b"").unwrap();
        assert_eq!(said, "`pytest: error: unrecognized arguments: --nosuch`");
    }
}
