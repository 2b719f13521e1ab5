//! Recognizes replacements that every grammar parses in the same way as the original, so that
//! parsing them can be skipped: one number for another, `true` for `false`, or a quoted text with
//! its contents removed. Parsing takes most of the time of generating mutants, and this saves a
//! third of it.
//!
//! When in doubt, a replacement is parsed. Builds with debug assertions always parse everything.

use std::ops::Range;

/// The kind of a word. A word can be replaced anywhere by another word of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A decimal integer.
    Number,
    /// `true` or `false`.
    Truth,
    /// `True` or `False` (Python).
    PythonTruth,
}

/// Returns the kind of a word, if it has one.
pub(crate) fn word(text: &[u8]) -> Option<Word> {
    match text {
        b"true" | b"false" => Some(Word::Truth),
        b"True" | b"False" => Some(Word::PythonTruth),
        // After a leading 0, other or fewer digits may be allowed.
        [b'0'..=b'9'] | [b'1'..=b'9', ..] if text.iter().all(u8::is_ascii_digit) => {
            Some(Word::Number)
        }
        _ => None,
    }
}

/// Returns true if it is certain that the text parses as before when `range` is replaced with
/// `replacement`.
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

/// Returns true if an equality operator is replaced with its opposite. `===` is left out because it
/// has no opposite in Ruby.
fn is_equality(before: &[u8], replacement: &[u8]) -> bool {
    matches!((before, replacement), (b"==", b"!=") | (b"!=", b"=="))
}

/// Returns true if the replacement removes the contents of a quoted text. In some languages single
/// quotes enclose a character, so a text in single quotes must be longer than a character literal.
/// Three quotes in a row would start another kind of literal, and a following colon makes the text
/// a name.
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
