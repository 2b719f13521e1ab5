//! Parses a filter into an expression. Errors have a position.
//!
//! The parser is written by hand and takes one pass because the language has only five rules. Depth
//! is bounded, so that no text can exhaust the stack.

use super::{Expression, Key, Pattern};
use regex::RegexBuilder;
use std::str::FromStr;

/// Maximum nesting of parentheses and negations.
const MAX_DEPTH: usize = 50;
/// Maximum size of a compiled regular expression, in bytes.
const MAX_REGEX: usize = 1 << 20;

/// A syntax error in a filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: {problem}; write it like `Copy -n:8`, `.name:(BM_A OR BM_B)`, `.metric:wall` or `/^BM_/`",
    place(.rest)
)]
pub struct SyntaxError {
    /// The beginning of the text at the error, as quoted in messages. Empty at the end of the
    /// filter.
    pub rest: String,
    /// Description of the error.
    pub problem: String,
}

/// Returns the position of the error, for the start of the message.
fn place(rest: &str) -> String {
    if rest.is_empty() { "at the end".to_owned() } else { format!("at `{rest}`") }
}

/// Parses a complete filter. An empty text accepts everything.
pub(super) fn expression(text: &str) -> Result<Expression, SyntaxError> {
    let mut parser = Parser { rest: text, depth: 0 };
    let found = parser.any()?;
    parser.blanks();
    if parser.rest.is_empty() { Ok(found) } else { Err(parser.wrong("there is no `(` for this")) }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn wrong(&self, problem: impl Into<String>) -> SyntaxError {
        let rest = crate::read_error::quoted_start(self.rest);
        SyntaxError { rest, problem: problem.into() }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// If the next word is `word` (`AND` or `OR`), consumes it and returns true.
    fn word(&mut self, word: &str) -> bool {
        self.blanks();
        let ends = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '(', ')']);
        let found = self.rest.strip_prefix(word).filter(|rest| ends(rest));
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn any(&mut self) -> Result<Expression, SyntaxError> {
        let mut found = vec![self.all()?];
        while self.word("OR") {
            let next = self.all()?;
            if matches!(&next, Expression::All(terms) if terms.is_empty()) {
                return Err(self.wrong("a term is missing here"));
            }
            found.push(next);
        }
        Ok(if found.len() == 1 { found.remove(0) } else { Expression::Any(found) })
    }

    fn all(&mut self) -> Result<Expression, SyntaxError> {
        let mut found = Vec::new();
        loop {
            let joined = self.word("AND");
            self.blanks();
            let ends = self.rest.is_empty() || self.rest.starts_with(')') || self.peeks_or();
            if !ends {
                found.push(self.one()?);
            } else if joined || (found.is_empty() && !self.rest.is_empty()) {
                return Err(self.wrong("a term is missing here"));
            } else {
                return Ok(Expression::All(found));
            }
        }
    }

    fn peeks_or(&self) -> bool {
        Parser { rest: self.rest, depth: 0 }.word("OR")
    }

    fn one(&mut self) -> Result<Expression, SyntaxError> {
        if self.depth == MAX_DEPTH {
            return Err(self.wrong(format!("nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let found = if self.takes("-") {
            Ok(Expression::Not(Box::new(self.one()?)))
        } else if self.takes("(") {
            let inner = self.any()?;
            self.blanks();
            if self.takes(")") { Ok(inner) } else { Err(self.wrong("a `)` is missing")) }
        } else {
            self.term()
        };
        self.depth -= 1;
        found
    }

    fn term(&mut self) -> Result<Expression, SyntaxError> {
        // A key is followed by a colon. A term without a key is searched for in the name.
        let word = &self.rest
            [..self.rest.find([' ', '\t', '\n', '(', ')', '"']).unwrap_or(self.rest.len())];
        let is_regex = word.len() > 1 && word.starts_with('/') && word.ends_with('/');
        let colon = word.find(':').filter(|_| !is_regex && !word.starts_with(':'));
        let Some(colon) = colon else {
            return Ok(Expression::Term(Key::FullName, vec![self.value(true)?]));
        };
        let key = Key::from_str(&word[..colon]).map_err(|problem| self.wrong(problem))?;
        self.rest = &self.rest[colon + 1..];
        if !self.takes("(") {
            return Ok(Expression::Term(key, vec![self.value(false)?]));
        }
        let mut values = Vec::new();
        loop {
            self.blanks();
            values.push(self.value(false)?);
            self.blanks();
            if self.takes(")") {
                return Ok(Expression::Term(key, values));
            }
            if !self.word("OR") {
                return Err(self.wrong("expected `OR` or `)` between the values"));
            }
        }
    }

    /// Parses a value. In a term without a key (`alone`), a plain word matches any text that
    /// contains it.
    fn value(&mut self, alone: bool) -> Result<Pattern, SyntaxError> {
        if self.rest.starts_with('"') {
            let text = self.delimited('"')?;
            return Ok(if alone { Pattern::Contains(text) } else { Pattern::Exactly(text) });
        }
        if self.rest.starts_with('/') {
            let before = self.rest;
            let source = self.delimited('/')?;
            return self.regex(&source, before);
        }
        let end = self.rest.find([' ', '\t', '\n', '(', ')']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(self.wrong("a value is missing here"));
        }
        let before = std::mem::replace(&mut self.rest, rest);
        if word.contains('*') {
            let pieces: Vec<_> = word.split('*').map(regex::escape).collect();
            return self.regex(&format!("^{}$", pieces.join(".*")), before);
        }
        let word = word.to_owned();
        Ok(if alone { Pattern::Contains(word) } else { Pattern::Exactly(word) })
    }

    /// Parses text between two occurrences of `mark`, which can be escaped by a backslash in the
    /// text.
    fn delimited(&mut self, mark: char) -> Result<String, SyntaxError> {
        let mut found = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            if c == mark {
                self.rest = &self.rest[at + mark.len_utf8()..];
                return Ok(found);
            }
            if c != '\\' {
                found.push(c);
                continue;
            }
            match chars.next() {
                Some((_, next)) if next == mark => found.push(mark),
                Some((_, next)) => found.extend(['\\', next]),
                None => break,
            }
        }
        Err(self.wrong(format!("the closing `{mark}` is missing")))
    }

    fn regex(&self, source: &str, before: &'a str) -> Result<Pattern, SyntaxError> {
        let built = RegexBuilder::new(source).size_limit(MAX_REGEX).build();
        built.map(Pattern::Matches).map_err(|error| {
            let said = error.to_string();
            let said =
                said.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Parser { rest: before, depth: 0 }.wrong(format!("not a regular expression: {said}"))
        })
    }
}
