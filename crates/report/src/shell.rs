//! Lines to copy into a shell.

use crate::names::clean;

/// Quotes words for a shell where needed and joins them with spaces.
pub fn quoted<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    // Note: `shell_words` would also quote `--runs=5`, `HEAD~3..HEAD` and `old=a.txt`.
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=,+@%~".contains(c);
    let quoted = words.into_iter().map(|word| {
        let word = word.as_ref();
        let needs_none =
            word.starts_with(|c| c != '~' && is_plain(c)) && word.chars().all(is_plain);
        if needs_none { word.to_owned() } else { shell_words::quote(word).into_owned() }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Returns the arguments as they would be typed in a shell, with the program reduced to its name.
pub fn shell_line(argv: &[String]) -> String {
    let Some((_, arguments)) = argv.split_first() else { return String::new() };
    let arguments = arguments.iter().map(|argument| clean(argument));
    quoted(std::iter::once("assay".to_owned()).chain(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let argv = ["/x/assay", "run", "./a b", "it's", "--runs=5", ""].map(str::to_owned);
        assert_eq!(shell_line(&argv), "assay run './a b' 'it'\\''s' --runs=5 ''");
        assert_eq!(shell_line(&[]), "");
    }
}
