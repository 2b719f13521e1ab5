//! Terms used in the terminal and on pages, from docs/reference/glossary.md, and findings from
//! their catalog, for `assay help` and for pages. Nothing is explained here.

use crate::names::clean;
use assay_data::code;
use std::collections::BTreeSet;

const GLOSSARY: &str = include_str!("../../../docs/reference/glossary.md");

/// Minimum length, in letters, of a prefix that may stand for a longer word.
const LETTERS: usize = 4;

/// A term and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The term, or the code of a finding.
    pub term: &'static str,
    /// Explanation of the term, in Markdown.
    text: &'static str,
}

impl Entry {
    /// Returns the explanation as plain text. Paragraphs are separated by an empty line, Markdown
    /// markup is removed, and links are replaced with their text.
    pub fn text(&self) -> String {
        let paragraphs = self.text.split("\n\n").map(|paragraph| {
            let one_line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            without_links(&one_line).replace(['*', '`'], "")
        });
        paragraphs.collect::<Vec<_>>().join("\n\n")
    }
}

/// Returns the entries of a document, each consisting of a third-level heading and the text below
/// it.
fn entries(document: &'static str) -> impl Iterator<Item = Entry> {
    document.split("\n### ").skip(1).filter_map(|entry| {
        let (term, text) = entry.split_once('\n')?;
        // A heading of a higher level ends the entry.
        let text = text.split("\n## ").next().unwrap_or(text);
        Some(Entry { term: term.trim_matches('`'), text: text.trim() })
    })
}

/// Returns the entries of all findings.
fn findings() -> impl Iterator<Item = Entry> {
    code::ALL.iter().map(|code| Entry { term: code.name, text: code.text })
}

/// Returns all terms in the order of the glossary.
pub fn terms() -> impl Iterator<Item = &'static str> {
    entries(GLOSSARY).map(|entry| entry.term)
}

/// Finds the entry of a term or of a finding's code by its full name, or by a word or the beginning
/// of a word that matches only one entry.
///
/// # Errors
///
/// Returns the candidates if the name is unknown or ambiguous.
pub fn find(asked: &str) -> Result<Entry, Vec<&'static str>> {
    // Codes match only as written, since a glossary term may have the same name in lower case.
    if let Some(finding) = findings().find(|entry| entry.term == asked.trim()) {
        return Ok(finding);
    }
    let folded = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
    let asked = folded(asked.trim());
    let all = || entries(GLOSSARY).chain(findings());
    if let Some(entry) = all().find(|entry| folded(entry.term) == asked) {
        return Ok(entry);
    }
    // A prefix of one of the term's words; short prefixes are excluded because they match by
    // chance.
    let begins = |term: &str| {
        let term = folded(term);
        has_word(&term, &asked)
            || asked.len() >= LETTERS && format!(" {term}").contains(&format!(" {asked}"))
    };
    let meant: Vec<Entry> = all().filter(|entry| begins(entry.term)).collect();
    // A word that occurs only in the explanation, such as `ESS`.
    let meant = match meant.as_slice() {
        [] => entries(GLOSSARY).filter(|entry| has_word(entry.text, &asked)).collect(),
        _ => meant,
    };
    match meant.as_slice() {
        [only] => Ok(*only),
        several => Err(several.iter().map(|entry| entry.term).collect()),
    }
}

/// Returns the entries of the terms a text uses, in the order of the glossary.
pub(crate) fn used_in(text: &str) -> Vec<Entry> {
    let text = clean(text).to_lowercase();
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let is_used = |term: &str| {
        let term = term.to_lowercase();
        words.contains(term.as_str()) || (term.contains([' ', '-']) && text.contains(&term))
    };
    entries(GLOSSARY).filter(|entry| is_used(entry.term)).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|own| own == word)
}

/// Replaces `[words](place)` by `words`.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, (words, after))) = rest
        .split_once('[')
        .and_then(|(before, link)| Some((before, link.split_once("](")?)))
        .and_then(|(before, (words, link))| Some((before, (words, link.split_once(')')?.1))))
    {
        plain += before;
        plain += words;
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_however_it_is_written_and_a_finding_by_its_code() {
        assert_eq!(find("effective-N").map(|e| e.term), Ok("Effective n"));
        assert_eq!(find("ess").map(|e| e.term), Ok("Effective n"));
        assert_eq!(find("geometric").map(|e| e.term), Ok("Geometric mean"));
        assert_eq!(find("too dependent").map(|e| e.term), Ok("Too dependent"));
        assert_eq!(find("TOO_DEPENDENT").map(|e| e.term), Ok("TOO_DEPENDENT"));
        assert_eq!(find("all_equal").map(|e| e.term), Ok("ALL_EQUAL"));
        assert_eq!(find("no such word at all"), Err(Vec::new()));
        assert!(find("test").is_err_and(|meant| meant.contains(&"Dip test")));
    }

    #[test]
    fn every_entry_explains_its_word_in_plain_text() {
        for entry in entries(GLOSSARY).chain(findings()) {
            let text = entry.text();
            assert!(text.len() > 40 && !text.contains("]("), "{}: {text}", entry.term);
        }
        let terms: Vec<&str> = terms().collect();
        assert!(terms.is_sorted_by_key(|term| term.to_lowercase()), "{terms:?}");
    }

    #[test]
    fn a_page_explains_the_words_that_it_uses() {
        let used = used_in("drift -1 % (the blocks cancel it), effective n 3 of 4");
        let used: Vec<&str> = used.iter().map(|entry| entry.term).collect();
        assert_eq!(used, ["Drift", "Effective n"]);
    }
}
