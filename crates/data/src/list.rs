//! Formats lists of names for sentences, and commands on one line.

use std::ffi::OsString;

/// Returns all names, as in `a`, `a and b` or `a, b and c`.
pub fn all<S: AsRef<str>>(names: &[S]) -> String {
    joined(names, "and")
}

/// Returns alternatives, as in `a`, `a or b` or `a, b or c`.
pub fn either<S: AsRef<str>>(names: &[S]) -> String {
    joined(names, "or")
}

/// Returns the first `most` names and the number of the others, as in `a, b and 9 more`.
pub fn first<S: AsRef<str>>(names: &[S], most: usize) -> String {
    counted(&names[..names.len().min(most)], names.len())
}

/// Returns `names`, which are some of `count` names, and the number of the others.
pub fn counted<S: AsRef<str>>(names: &[S], count: usize) -> String {
    let known = with_commas(names);
    match count.saturating_sub(names.len()) {
        0 => known,
        more => format!("{known} and {more} more"),
    }
}

/// Returns the words of a command on one line, for display only.
pub fn line(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn joined<S: AsRef<str>>(names: &[S], word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => format!("{} {word} {}", with_commas(first), last.as_ref()),
    }
}

fn with_commas<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_as_part_of_a_sentence() {
        assert_eq!(all::<&str>(&[]), "");
        assert_eq!(all(&["a"]), "a");
        assert_eq!(all(&["a", "b"]), "a and b");
        assert_eq!(either(&["a", "b", "c"]), "a, b or c");
    }

    #[test]
    fn a_command_is_shown_on_one_line() {
        assert_eq!(line(&["make", "-j", "2"].map(OsString::from)), "make -j 2");
        assert_eq!(line(&[]), "");
    }

    #[test]
    fn a_long_list_ends_with_the_number_of_the_others() {
        let names = ["a", "b", "c"];
        assert_eq!(first(&names, 3), "a, b, c");
        assert_eq!(first(&names, 2), "a, b and 1 more");
        assert_eq!(counted(&names, 12), "a, b, c and 9 more");
        assert_eq!(first::<String>(&[], 2), "");
    }
}
