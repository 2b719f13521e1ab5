//! Generates mutants whose outcome is known in advance: one that every test that runs the function
//! must detect, and one that no test may detect. If the outcome differs, either the tests do not
//! run the changed code or something is left over from one change to the next, so no other result
//! can be trusted.

use crate::mutants::mutant::Unit;
use crate::mutants::tables::table;
use assay_suites::coverage::Language;
use std::ops::Range;

/// Returns the text with a function changed so that it fails as soon as it is called, or `None` if
/// it has no body.
pub fn certain_killer(language: Language, unit: &Unit, text: &[u8]) -> Option<Vec<u8>> {
    let (body, own) = certain_body(language, unit, text)?;
    Some([&text[..body.start], &own, &text[body.end..]].concat())
}

/// Returns the byte range of a function's body, and a replacement that fails as soon as the
/// function is called. `None` if the function has no body.
pub fn certain_body(
    language: Language,
    unit: &Unit,
    text: &[u8],
) -> Option<(Range<usize>, Vec<u8>)> {
    let body = unit.body.clone()?;
    let own = text.get(body.clone())?;
    // Rust and Go reject unused code, so the original body is kept.
    let (before, after) = match language {
        Language::Rust => ("{ if true { panic!(\"assay\") } ", " }"),
        Language::Go => ("{ if true { panic(\"assay\") }; ", " }"),
        _ => {
            let error = error(language, own.starts_with(b"{"));
            return Some((body, error.as_bytes().to_vec()));
        }
    };
    Some((body, [before.as_bytes(), own, after.as_bytes()].concat()))
}

/// Returns a function body that fails as soon as the function is called. `is_block` selects the
/// form with braces in languages that have both forms.
pub fn error(language: Language, is_block: bool) -> &'static str {
    match language {
        Language::Ruby => "raise 'assay'",
        Language::Python => "raise RuntimeError('assay')",
        Language::JavaScript | Language::TypeScript | Language::Tsx if is_block => {
            "{ throw new Error('assay'); }"
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            "(() => { throw new Error('assay'); })()"
        }
        Language::Go => "{ panic(\"assay\") }",
        Language::Rust => "{ panic!(\"assay\") }",
        Language::C | Language::Cpp => "{ __builtin_trap(); }",
        Language::Java => "{ throw new IllegalStateException(\"assay\"); }",
    }
}

/// Returns the text with an added comment, which does not change its meaning.
pub fn certain_survivor(language: Language, text: &[u8]) -> Vec<u8> {
    const WORDS: &str = "A comment changes nothing.";
    let feed: &[u8] = if text.ends_with(b"\n") { b"" } else { b"\n" };
    let comment = match language {
        // C90 has no line comments.
        Language::C => format!("/* {WORDS} */\n"),
        _ => format!("{} {WORDS}\n", table(language).comment),
    };
    [text, feed, comment.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::Generator;

    #[test]
    fn both_are_read_in_every_language() {
        for (language, text) in [
            (Language::Ruby, "def a\n  1\nend"),
            (Language::Python, "def a():\n    return 1"),
            (Language::JavaScript, "function a() { return 1 }"),
            (Language::JavaScript, "const a = () => 1"),
            (Language::Go, "package p\nfunc a() int { return 1 }"),
            (Language::Rust, "fn a() -> i32 { 1 }"),
            (Language::C, "int a(void) { return 1; }"),
            (Language::Cpp, "int a() { return 1; }"),
            (Language::Java, "class A { int a() { return 1; } }"),
        ] {
            let mut generator = Generator::new(language).unwrap();
            let found = generator.mutants("a", text.as_bytes());
            let killer = certain_killer(language, &found.units[0], text.as_bytes()).unwrap();
            let survivor = certain_survivor(language, text.as_bytes());
            assert_eq!(survivor.ends_with(b" */\n"), language == Language::C, "C90");
            for (changed, units) in [(killer, 0), (survivor, 1)] {
                let again = generator.mutants("a", &changed);
                assert!(!again.is_broken, "{}", String::from_utf8_lossy(&changed));
                assert!(again.units.len() >= units);
            }
        }
    }
}
