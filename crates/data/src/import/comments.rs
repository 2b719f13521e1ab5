//! Keeps comment lines of foreign files as facts of the environment, because other tools record in
//! them the machine and the build that produced the numbers.
//!
//! `key: value` and `key = value` become facts `file.key`, as text. All other lines become the list
//! `file.comments`.

use crate::Environment;
use serde_json::Value;

/// Maximum number of lines kept. Further lines are only counted, so that a hostile file cannot
/// exhaust memory.
const MAX_LINES: usize = 10_000;

/// Maximum length in bytes of the name of a fact. Anything longer is prose with a colon in it.
const MAX_NAME: usize = 40;

/// Collects comment lines as facts.
#[derive(Default)]
pub(super) struct Comments {
    environment: Environment,
    others: Vec<Value>,
    lines: usize,
}

impl Comments {
    /// Adds one trimmed line that begins with `#`.
    pub(super) fn add(&mut self, line: &str) {
        let text = line.trim_start_matches('#').trim();
        if text.is_empty() {
            return;
        }
        self.lines += 1;
        if self.lines > MAX_LINES {
            return;
        }
        match fact(text) {
            Some((name, value)) => self.environment.set(&format!("file.{name}"), value),
            None => self.others.push(text.into()),
        }
    }

    /// Returns true if there was no comment with text in it.
    pub(super) fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// Returns the facts.
    pub(super) fn into_environment(mut self) -> Environment {
        if !self.others.is_empty() {
            self.environment.set("file.comments", self.others);
        }
        if self.lines > MAX_LINES {
            self.environment.set("file.comments_left_out", self.lines - MAX_LINES);
        }
        self.environment
    }
}

/// Returns the name and the value in a line such as `governor: performance` or `n = 3`.
fn fact(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(": ").or_else(|| text.split_once('='))?;
    let (name, value) = (name.trim(), value.trim());
    let is_name = name.len() <= MAX_NAME
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/'));
    (is_name && !value.is_empty() && !value.starts_with('=')).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_facts_and_the_rest_a_list() {
        let mut comments = Comments::default();
        for line in ["# governor: performance", "#runs = 35000", "##", "# see RFC 3339"] {
            comments.add(line);
        }
        let environment = comments.into_environment();
        assert_eq!(environment.text("file.governor"), Some("performance"));
        assert_eq!(environment.text("file.runs"), Some("35000"));
        assert_eq!(environment.facts["file.comments"], serde_json::json!(["see RFC 3339"]));
    }
}
