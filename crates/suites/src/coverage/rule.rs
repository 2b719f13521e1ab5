//! A user's rule stating which tests a change of certain files affects, independent of observed
//! uses. Rules are for dependencies that can't be observed, such as templates that are compiled
//! elsewhere, the data of a service, or conventions among people.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::Path;

/// A rule `PATTERN=TESTS`: a change of a file that matches the first pattern affects all tests in
/// files that match the second. Patterns are written as in `.gitignore`.
#[derive(Clone, Debug)]
pub struct Rule {
    text: String,
    /// Directory to which the patterns are relative, as a prefix of the project's paths.
    prefix: String,
    about: Gitignore,
    tests: Gitignore,
}

impl Rule {
    /// Parses a rule whose patterns are relative to the directory `prefix` of the project, which is
    /// empty or ends in a slash.
    ///
    /// # Errors
    ///
    /// Returns a sentence if the rule is malformed.
    pub fn read(text: &str, prefix: &str) -> Result<Self, String> {
        let both = text.split_once('=').map(|(about, tests)| (about.trim(), tests.trim()));
        let Some((about, tests)) = both.filter(|(a, b)| !a.is_empty() && !b.is_empty()) else {
            return Err(format!(
                "`{text}` is not a rule: write it as PATTERN=TESTS, such as 'app/views/**=spec/features'"
            ));
        };
        Ok(Self {
            text: text.to_owned(),
            prefix: prefix.to_owned(),
            about: pattern(about)?,
            tests: pattern(tests)?,
        })
    }

    /// Returns the rule as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if the rule applies to a change of this file.
    pub fn is_about(&self, path: &str) -> bool {
        self.matches(&self.about, path)
    }

    /// Returns true if the rule selects tests in this file.
    pub fn names(&self, path: &str) -> bool {
        self.matches(&self.tests, path)
    }

    fn matches(&self, pattern: &Gitignore, path: &str) -> bool {
        let own = path.strip_prefix(&self.prefix);
        own.is_some_and(|path| pattern.matched_path_or_any_parents(path, false).is_ignore())
    }
}

fn pattern(text: &str) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new(Path::new(""));
    let told = |error: ignore::Error| format!("`{text}` is not a pattern: {error}");
    builder.add_line(None, text.strip_prefix("./").unwrap_or(text)).map_err(told)?;
    let own = builder.build().map_err(told)?;
    match own.num_ignores() {
        0 => Err(format!("`{text}` is not a pattern of files")),
        _ => Ok(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_about_some_files_and_names_others() {
        let rule = Rule::read("app/views/**=spec/features", "").unwrap();
        assert!(rule.is_about("app/views/users/show.erb") && !rule.is_about("lib/app/views/x"));
        assert!(
            rule.names("spec/features/users/a_spec.rb") && !rule.names("spec/models/a_spec.rb")
        );
        let below = Rule::read("*.sql = test_*.py", "server/").unwrap();
        assert!(below.is_about("server/db/a.sql") && !below.is_about("client/a.sql"));
        assert!(below.names("server/tests/test_a.py"));
        for wrong in ["a", "=b", "a=", "#a=b", "a{=b"] {
            assert!(Rule::read(wrong, "").is_err(), "{wrong}");
        }
    }
}
