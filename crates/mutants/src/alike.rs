//! Texts that any grammar reads in the same way, so that nobody has to try: one number in place of another, `true` in place of `false`, a text in quotes without
//! what is between them. Most of the time that mutants take goes into trying; what is known here is a third of it.
//!
//! In doubt nothing is known. Whoever builds with assertions has all of it tried all the same.

use std::ops::Range;

/// What kind of word a text is; words of one kind can stand in each other's place wherever one of them does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Digits of a whole number.
    Number,
    /// `true`, `false`.
    Truth,
    /// The same in Python.
    PythonTruth,
}

/// The kind of a text.
pub(crate) fn word(text: &[u8]) -> Option<Word> {
    match text {
        b"true" | b"false" => Some(Word::Truth),
        b"True" | b"False" => Some(Word::PythonTruth),
        // Behind a 0 other digits may stand, or fewer.
        [b'0'..=b'9'] | [b'1'..=b'9', ..] if text.iter().all(u8::is_ascii_digit) => {
            Some(Word::Number)
        }
        _ => None,
    }
}

/// Whether a text with a replacement in this place is read as it was.
pub(crate) fn is_read(text: &[u8], range: &Range<usize>, replacement: &[u8]) -> bool {
    let Some(before) = text.get(range.clone()) else { return false };
    let kind = word(before);
    if kind.is_some() {
        return kind == word(replacement);
    }
    let beside = [range.start.checked_sub(1), Some(range.end)].map(|at| text.get(at?).copied());
    is_equality(before, replacement) && beside == [Some(b' '); 2]
        || is_emptied(before, replacement, beside)
}

/// Whether both say that two things are equal, or not. Ruby has `===`, and no opposite of it.
fn is_equality(before: &[u8], replacement: &[u8]) -> bool {
    matches!((before, replacement), (b"==", b"!=") | (b"!=", b"=="))
}

/// Whether a text in quotes loses what is between them: one between simple quotes, which are a character's in some languages, if it is longer than such a one.
/// Three quotes in a row would begin something else, and a colon behind them makes a name of them.
fn is_emptied(before: &[u8], replacement: &[u8], beside: [Option<u8>; 2]) -> bool {
    let [first, second, .., last] = before else { return false };
    let is_quoted = match replacement {
        b"\"\"" => *first == b'"',
        b"''" => *first == b'\'' && before.len() > 4 && *second != b'\\',
        _ => false,
    };
    let is_odd = |own: Option<u8>| own.is_some_and(|own| b"\"'`:\\".contains(&own));
    is_quoted && first == last && second != first && !beside.into_iter().any(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_one_kind_is_read_in_the_same_way() {
        let read = |text: &str, from: &str, to: &str| {
            let start = text.find(from).unwrap();
            is_read(text.as_bytes(), &(start..start + from.len()), to.as_bytes())
        };
        assert!(read("a = 9", "9", "10") && read("a = 0", "0", "1"));
        assert!(read("a = true", "true", "false") && read("a == b", "==", "!="));
        assert!(read("f(\"b\")", "\"b\"", "\"\"") && read("f('bcd')", "'bcd'", "''"));
        for (text, from, to) in [
            ("a = 9", "9", "x"),
            ("a = 017", "017", "18"),
            ("a = 1.5", "1.5", "2.5"),
            ("a = True", "True", "false"),
            ("a==b", "==", "!="),
            ("a === b", "===", "!=="),
            ("a < b", "<", "<="),
            ("\"a\" \"b\"\"c\"", "\"b\"", "\"\""),
            ("{\"a\": 1}", "\"a\"", "\"\""),
            ("f(\"\")", "\"\"", "\"assay\""),
            ("f('b')", "'b'", "''"),
        ] {
            assert!(!read(text, from, to), "{text}");
        }
    }
}
