//! Removes values of variables, and words of command lines that look like secrets.
//!
//! A secret can be recognized only by what its name is (`--password=…`, `--token …`,
//! `https://user:…@host`) or, for some services, by the first letters of its token. An unnamed
//! secret that looks like an ordinary word is kept because it cannot be recognized.

use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Replacement for removed text.
pub(super) const LEFT_OUT: &str = "…";

/// Pattern for the names of options, variables and headers whose values are secrets.
const NAMES: &str = r"(?:[\w-]*[_-])?(?:\w*pass(?:word|wd|phrase|code)|pass|pwd|secrets?|token|api[-_]?key|access[-_]?key|private[-_]?key|auth|authorization|bearer|credentials?|cookie|session[-_]?id|signature)(?:[_-][\w-]*)?";

fn pattern(text: &str) -> Regex {
    // The patterns are constants, and a test exercises all of them.
    #[expect(clippy::unwrap_used, reason = "a constant pattern either compiles always or never")]
    Regex::new(text).unwrap()
}

/// Matches `--db-password=x`, `TOKEN=x`, `Authorization: Bearer x`, `"token": "x"`.
static GIVEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r#"(?i)(\b{NAMES}["']?\s*[=:]\s*["']?(?:(?:bearer|basic)\s+)?)([^\s"'&;,]+)"#))
});
/// Matches `--password x`.
static FOLLOWING: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?i)((?:^|\s)--?{NAMES}\s+)([^\s-]\S*)")));
/// Matches `https://user:x@host`.
static IN_URL: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\w+://[^\s/:@]*:)([^\s/@]+)(@)"));
/// Matches tokens with a recognizable prefix.
static TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-|AKIA|ASIA|eyJ)[\w.-]{12,}")
});
/// Matches a variable that is set before a command.
static IN_FRONT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^((?:\s*env\s)?\s*[A-Za-z_]\w*=)("[^"]*"|'[^']*'|\S+)"#));
/// Matches an option whose value, the next word, is a secret.
static ANNOUNCES: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"(?i)^--?{NAMES}$")));
/// Matches assay's own options that set variables.
static VARIABLES: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(--(?:old-|new-)?env)(?:=(.*))?$"));

/// Returns the text without anything that looks like a secret. The operation is idempotent.
pub fn without(text: &str) -> String {
    let keep_first = |found: &Captures<'_>| format!("{}{LEFT_OUT}", &found[1]);
    let text = GIVEN.replace_all(text, keep_first);
    let text = FOLLOWING.replace_all(&text, keep_first);
    let text = IN_URL
        .replace_all(&text, |found: &Captures<'_>| format!("{}{LEFT_OUT}{}", &found[1], &found[3]));
    TOKENS.replace_all(&text, LEFT_OUT).into_owned()
}

/// Returns a command's text without secrets, and without the values of variables before it.
pub(super) fn of_command(text: &str) -> String {
    let (mut front, mut rest) = (String::new(), text);
    while let Some(found) = IN_FRONT.captures(rest) {
        front += &found[1];
        front += LEFT_OUT;
        rest = &rest[found[0].len()..];
    }
    front + &without(rest)
}

/// Removes the value of a variable.
pub(super) fn of_variable(value: &mut String) {
    LEFT_OUT.clone_into(value);
}

/// Removes secrets from the words of assay's own command line.
pub(super) fn of_words(words: &mut [String]) {
    let variable = |assignment: &str| match assignment.split_once('=') {
        Some((name, _)) => format!("{name}={LEFT_OUT}"),
        None => assignment.to_owned(),
    };
    for at in 0..words.len() {
        let before = at.checked_sub(1).map(|before| words[before].clone()).unwrap_or_default();
        let own = words[at].clone();
        words[at] = match VARIABLES.captures(&own).and_then(|found| found.get(2).zip(found.get(1)))
        {
            Some((given, option)) => format!("{}={}", option.as_str(), variable(given.as_str())),
            None if VARIABLES.is_match(&before) && !before.contains('=') => variable(&own),
            None if ANNOUNCES.is_match(&before) && !own.starts_with('-') => LEFT_OUT.to_owned(),
            None => of_command(&own),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_a_secret_goes_and_the_rest_stays() {
        for (text, left) in [
            ("curl --password=hunter2 x", "curl --password=… x"),
            ("curl --db-password hunter2 x", "curl --db-password … x"),
            ("mysql -pass hunter2", "mysql -pass …"),
            ("curl -H 'Authorization: Bearer abc.def' /", "curl -H 'Authorization: Bearer …' /"),
            ("app --api_key='k1' --n 4", "app --api_key='…' --n 4"),
            ("psql postgres://joe:hunter2@db/x", "psql postgres://joe:…@db/x"),
            ("gh --as ghp_0123456789abcdefghij", "gh --as …"),
            ("sort -k 1 data", "sort -k 1 data"),
            ("bench --passes 4 --tokenize 3", "bench --passes 4 --tokenize 3"),
            ("run X; PGPASSWORD=x psql", "run X; PGPASSWORD=… psql"),
        ] {
            assert_eq!(without(text), left);
            assert_eq!(without(left), left, "again");
        }
    }

    #[test]
    fn variables_keep_their_names_alone() {
        assert_eq!(of_command("A=1 B='x y' app A=2"), "A=… B=… app A=2");
        assert_eq!(of_command("env A=1 app"), "env A=… app");
        let mut words =
            ["run", "--env", "2:KEY=v", "--old-env=A=b", "--token", "t0", "--runs", "3", "X=1 app"]
                .map(str::to_owned);
        of_words(&mut words);
        assert_eq!(
            words,
            ["run", "--env", "2:KEY=…", "--old-env=A=…", "--token", "…", "--runs", "3", "X=… app"]
        );
        let again = words.clone();
        of_words(&mut words);
        assert_eq!(words, again);
    }
}
