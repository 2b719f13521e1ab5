//! The marker: the format of the lines that announce a test.
//!
//! It is searched for at the beginning of a line's message, after whitespace and the logger's
//! prefix, so that a message that quotes the marker does not begin a test. Since very few lines
//! match, whole pieces of the log are first searched for possible matches with `regex`, which uses
//! the literals of the pattern; only the lines found this way are examined closely.

use regex::bytes::{Regex, RegexBuilder};

/// The format of the lines that announce a test.
#[derive(Clone, Debug)]
pub struct Marker {
    /// The pattern at the beginning of a message.
    exact: Regex,
    /// The pattern anywhere; `None` if it contains assertions about its surroundings, such as `^`,
    /// which may hold in a line but not in a whole piece.
    anywhere: Option<Regex>,
    /// True if a heading between two lines of dashes, as written by Rails, also begins a test.
    pub(super) takes_headings: bool,
}

/// The error for a pattern that cannot be a marker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "--marker: {problem}; give a regular expression whose first group is the name of the test, as in `{}`",
    Marker::USUAL
)]
pub struct MarkerError {
    problem: String,
}

impl Marker {
    /// The default pattern.
    pub const USUAL: &str = "RUNNING (.*)";

    /// Creates a marker that matches messages beginning with this regular expression. Its first
    /// group is the name of the test, or the whole match if it has no groups. With [`Self::USUAL`]
    /// the headings of Rails begin tests as well.
    ///
    /// # Errors
    /// If the pattern is not a valid regular expression.
    pub fn new(pattern: &str) -> Result<Self, MarkerError> {
        let takes_headings = pattern == Self::USUAL;
        // The pattern is anchored anyway.
        let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
        // Match bytes: a name may not be UTF-8.
        let built = |pattern: &str| {
            RegexBuilder::new(pattern).unicode(false).build().map_err(|error| MarkerError {
                // The first lines of the message show the pattern with a mark below it.
                problem: last_line(&error.to_string()),
            })
        };
        let anywhere = built(pattern)?;
        let exact = built(&format!("^(?:{pattern})"))?;
        let looks_around = ["^", "$", "\\b", "\\B", "\\A", "\\z", "\\<", "\\>"];
        let anywhere =
            (!looks_around.iter().any(|mark| pattern.contains(mark))).then_some(anywhere);
        Ok(Self { exact, anywhere, takes_headings })
    }

    /// Returns the position at or after `from` where the next match may begin; the line containing
    /// it may begin a test.
    pub(super) fn candidate(&self, piece: &[u8], from: usize) -> Option<usize> {
        match &self.anywhere {
            Some(anywhere) => anywhere.find_at(piece, from).map(|found| found.start()),
            None => Some(from),
        }
    }

    /// Returns the name of the test that this message begins.
    pub(super) fn name<'a>(&self, message: &'a [u8]) -> Option<&'a [u8]> {
        let found = self.exact.captures(message)?;
        let name = found.get(1).or_else(|| found.get(0))?;
        Some(name.as_bytes())
    }
}

/// Returns the last line of an error message, without the pattern shown before it.
fn last_line(said: &str) -> String {
    let last = said.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_group_is_the_name_or_all_of_it() {
        let name = |pattern: &str, text: &str| {
            Marker::new(pattern)
                .unwrap()
                .name(text.as_bytes())
                .map(|name| String::from_utf8_lossy(name).into_owned())
        };
        assert_eq!(name("RUNNING (.*)", "RUNNING A test_b").as_deref(), Some("A test_b"));
        assert_eq!(name("^test_\\w+", "test_a took 3 s").as_deref(), Some("test_a"));
        assert_eq!(name("=== RUN +(\\S+)$", "=== RUN   TestX"), Some("TestX".to_owned()));
        assert_eq!(name("RUNNING (.*)", "not RUNNING x"), None);
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_a_pattern_that_works() {
        let error = Marker::new("RUNNING (").unwrap_err().to_string();
        assert!(error.starts_with("--marker: unclosed group; give a regular"), "{error}");
    }
}
