//! Recognizes mutants that are the same program as another mutant of their function, so that both
//! have the same outcome. That a change merely looks milder than another is not enough, since a
//! test may detect the milder change and miss the more severe one.
//!
//! Each pair of operators in [`SAME`] is listed with its proof. The tests of `assay mutate` run
//! both mutants of every pair.

use crate::mutants::mutant::{Mutant, Unit};
use crate::mutants::operator::Operator;
use std::ops::Range;

/// Pairs of operators for which the second gives the same program as the first, under a condition
/// on the text of the function.
const SAME: [(Operator, Operator, IsSame); 2] = [
    // If the body is a single statement, removing it leaves an empty body. Both mutants return the
    // value of a function without a `return`.
    (Operator::Body, Operator::Statement, only_statement),
    // If the body is a single `return`, replacing its expression with the empty value of its type
    // leaves nothing to evaluate in the function.
    (Operator::Body, Operator::Return, only_return),
];

type IsSame = fn(&str, Range<usize>) -> bool;

/// Returns true if two mutants of a function are provably the same program. `text` is the file that
/// both change.
pub fn is_same(text: &[u8], unit: &Unit, harsher: &Mutant, milder: &Mutant) -> bool {
    let Some(body) = unit.body.clone() else { return false };
    let pair = SAME
        .iter()
        .find(|(first, second, _)| (*first, *second) == (harsher.operator, milder.operator));
    let (Some((_, _, proof)), Some(text)) =
        (pair, text.get(body.clone()).and_then(|own| std::str::from_utf8(own).ok()))
    else {
        return false;
    };
    let is_within = body.start <= milder.range.start && milder.range.end <= body.end;
    is_within && proof(text, milder.range.start - body.start..milder.range.end - body.start)
}

/// Returns true if the range is the only statement of a body.
fn only_statement(body: &str, range: Range<usize>) -> bool {
    around(body, range).is_some_and(|(before, after)| before.is_empty() && after.is_empty())
}

/// Returns true if the range is the value of the only statement of a body, and that statement is a
/// `return`.
fn only_return(body: &str, range: Range<usize>) -> bool {
    around(body, range).is_some_and(|(before, after)| before == "return" && after.is_empty())
}

/// Returns the text of a body before and after a range, without braces, whitespace and semicolons.
fn around(body: &str, range: Range<usize>) -> Option<(&str, &str)> {
    let (before, after) = (body.get(..range.start)?.trim(), body.get(range.end..)?.trim());
    let (before, after) = match (before.strip_prefix('{'), after.strip_suffix('}')) {
        (Some(before), Some(after)) => (before.trim(), after.trim()),
        (None, _) => (before, after),
        (Some(_), None) => return None,
    };
    Some((before, after.trim_matches(|c: char| c == ';' || c.is_whitespace())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::Generator;
    use assay_suites::coverage::Language;

    /// The operators of the mutants that are the same program as the empty body of the first
    /// function.
    fn same(language: Language, text: &str) -> Vec<String> {
        let found = Generator::new(language).unwrap().mutants("a", text.as_bytes());
        let body = found.all.iter().find(|own| own.operator == Operator::Body).unwrap();
        let own = found.all.iter().filter(|own| own.operator != Operator::Body);
        own.filter(|own| is_same(text.as_bytes(), &found.units[own.unit], body, own))
            .map(|own| own.operator.name().to_owned())
            .collect()
    }

    #[test]
    fn only_the_same_program_shares_a_fate() {
        for (language, text, expected) in [
            (Language::Python, "def a(x):\n    return x + 1\n", vec!["return"]),
            // Both have the same text there, so they are a single mutant.
            (Language::Python, "def a(x):\n    x.go()\n", vec![]),
            (Language::Python, "def a(x):\n    x.go()\n    x.go()\n", vec![]),
            (Language::Python, "def a(x):\n    if x: return 1\n", vec![]),
            (Language::Python, "def a(x):\n    y = x\n    return y\n", vec![]),
            (Language::JavaScript, "function a(x) { return x + 1; }", vec!["return"]),
            (Language::JavaScript, "function a(x) { go(x); }", vec!["statement"]),
            (Language::JavaScript, "function a(x) { if (x) { return 1; } return 2; }", vec![]),
            (Language::Go, "package p\nfunc a(x int) int {\n\treturn x + 1\n}\n", vec!["return"]),
            (Language::C, "int a(int x) { return x + 1; }", vec!["return"]),
            (Language::C, "int a(int x) { if (x) return 1; return 2; }", vec![]),
        ] {
            assert_eq!(same(language, text), expected, "{text}");
        }
    }
}
