//! Finds the functions in source files, in as much detail as is needed to determine which of them
//! differ between two trees: where each begins and ends, and its text without that of inner
//! functions.
//!
//! In Python and Ruby, a function ends where its indentation does; in Go, it ends at a brace in the
//! first column. Comments and empty lines are ignored.

use assay_harness::executed::Language;

/// Name that stands for the code of a file outside all functions.
pub(super) const OUTSIDE: &str = "";

/// A function in a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Function {
    /// Name of the function, qualified by its classes and enclosing functions; [`OUTSIDE`] for the
    /// code outside all functions.
    pub name: String,
    /// First and last line of the function, including its decorators. Lines are counted from 1.
    pub lines: (usize, usize),
    /// Lines of the function itself, without inner functions.
    pub text: Vec<String>,
}

/// Returns the functions of a file. The first entry is the code outside all functions.
pub(super) fn functions(language: Language, text: &str) -> Vec<Function> {
    let all = text.lines().count();
    let mut found = vec![Function { lines: (1, all), ..Function::default() }];
    match language {
        Language::Python => python(text, &mut found),
        Language::Ruby => ruby(text, &mut found),
        Language::Go => go(text, &mut found),
    }
    found
}

/// Returns the name of the innermost function that contains a line. Line 0 refers to the file
/// itself.
pub(super) fn at(functions: &[Function], line: usize) -> Option<&str> {
    if line == 0 {
        return Some(OUTSIDE);
    }
    let contains = |own: &&Function| (own.lines.0..=own.lines.1).contains(&line);
    // An inner function comes after the one around it, which may span as few lines.
    let innermost =
        functions.iter().rev().filter(contains).min_by_key(|own| own.lines.1 - own.lines.0);
    innermost.map(|own| own.name.as_str())
}

/// A function or class whose end has not been reached.
struct Open {
    indent: usize,
    name: String,
    /// Index in the list of functions; `None` for a class.
    function: Option<usize>,
}

fn python(text: &str, found: &mut Vec<Function>) {
    let mut open: Vec<Open> = Vec::new();
    let mut scanner = Scanner::default();
    let mut decorated: Option<usize> = None;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let bare = line.trim();
        let begins = scanner.is_between() && !bare.is_empty() && !bare.starts_with('#');
        if begins {
            let indent = line.len() - line.trim_start().len();
            while open.last().is_some_and(|own| indent <= own.indent) {
                open.pop();
            }
            if let Some((name, is_class)) = defined(bare) {
                let above: Vec<&str> = open.iter().map(|own| own.name.as_str()).collect();
                let name = [above, vec![name]].concat().join(".");
                let function = (!is_class).then(|| {
                    let first = decorated.unwrap_or(number);
                    found.push(Function {
                        name: name.clone(),
                        lines: (first, number),
                        text: Vec::new(),
                    });
                    found.len() - 1
                });
                let last = name.rsplit('.').next().unwrap_or_default().to_owned();
                open.push(Open { indent, name: last, function });
                decorated = None;
            } else if bare.starts_with('@') {
                decorated = decorated.or(Some(number));
            } else {
                decorated = None;
            }
        }
        if !bare.is_empty() && (!bare.starts_with('#') || !scanner.is_between()) {
            for own in open.iter().filter_map(|own| own.function) {
                found[own].lines.1 = number;
            }
            let innermost = open.iter().rev().find_map(|own| own.function).unwrap_or(0);
            found[innermost].text.push(bare.to_owned());
        }
        scanner.line(line);
    }
}

/// Returns the name that a line of Python defines, and true if it is the name of a class.
fn defined(line: &str) -> Option<(&str, bool)> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let (rest, is_class) = match line.strip_prefix("def ") {
        Some(rest) => (rest, false),
        None => (line.strip_prefix("class ")?, true),
    };
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some((&rest[..end], is_class))
}

/// Tracks brackets and strings across the lines of a Python file.
#[derive(Default)]
struct Scanner {
    depth: usize,
    /// Quotes that end the current string, if one is open.
    string: Option<&'static str>,
    /// True if the last line ended with a backslash.
    goes_on: bool,
}

impl Scanner {
    /// Returns true if the next line begins a statement.
    fn is_between(&self) -> bool {
        self.depth == 0 && self.string.is_none() && !self.goes_on
    }

    fn line(&mut self, line: &str) {
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            if let Some(quotes) = self.string {
                if rest.starts_with('\\') {
                    rest = rest.get(2..).unwrap_or_default();
                } else if let Some(after) = rest.strip_prefix(quotes) {
                    (rest, self.string) = (after, None);
                } else {
                    rest = &rest[c.len_utf8()..];
                }
                continue;
            }
            let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|own| rest.starts_with(own));
            match (c, quotes) {
                (_, Some(quotes)) => {
                    self.string = Some(quotes);
                    rest = &rest[quotes.len()..];
                    continue;
                }
                ('#', _) => break,
                ('(' | '[' | '{', _) => self.depth += 1,
                (')' | ']' | '}', _) => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            rest = &rest[c.len_utf8()..];
        }
        // Only triple-quoted strings continue on the next line.
        self.string = self.string.filter(|quotes| quotes.len() == 3);
        self.goes_on = line.ends_with('\\');
    }
}

fn ruby(text: &str, found: &mut Vec<Function>) {
    let mut open: Vec<Open> = Vec::new();
    // The word that ends the current heredoc, if one is open.
    let mut heredoc: Option<String> = None;
    let mut is_comment = false;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let bare = line.trim();
        is_comment |= line.starts_with("=begin");
        let is_code =
            heredoc.is_none() && !bare.is_empty() && !bare.starts_with('#') && !is_comment;
        let indent = line.len() - line.trim_start().len();
        let is_end = bare == "end" || bare.starts_with("end.") || bare.starts_with("end ");
        let closes = |own: &Open| match is_end {
            true => indent < own.indent,
            false => indent <= own.indent && !is_clause(bare),
        };
        if is_code {
            while open.last().is_some_and(closes) {
                open.pop();
            }
            if let Some((name, is_module)) = defined_in_ruby(bare) {
                let above: Vec<&str> = open.iter().map(|own| own.name.as_str()).collect();
                let name = [above, vec![name]].concat().join(".");
                let function = (!is_module).then(|| {
                    let lines = (number, number);
                    found.push(Function { name: name.clone(), lines, text: Vec::new() });
                    found.len() - 1
                });
                let last = name.rsplit('.').next().unwrap_or_default().to_owned();
                open.push(Open { indent, name: last, function });
            }
        }
        if !is_comment && !bare.is_empty() && (is_code || heredoc.is_some()) {
            for own in open.iter().filter_map(|own| own.function) {
                found[own].lines.1 = number;
            }
            let innermost = open.iter().rev().find_map(|own| own.function).unwrap_or(0);
            found[innermost].text.push(bare.to_owned());
        }
        match &heredoc {
            Some(word) if bare == word => heredoc = None,
            None if is_code => heredoc = heredoc_begun(bare),
            _ => {}
        }
        is_comment &= !line.starts_with("=end");
    }
}

/// Returns true for a line that belongs to a function although it is indented no further than
/// `def`: a clause such as `rescue` or `else`, or a closing bracket.
fn is_clause(line: &str) -> bool {
    let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    ["rescue", "ensure", "else", ")"].contains(&word) || line.starts_with([')', '}', ']'])
}

/// Returns the name that a line of Ruby defines, and true if it is the name of a module or class.
fn defined_in_ruby(line: &str) -> Option<(&str, bool)> {
    let name_of = |rest: &'_ str| -> usize {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | ';');
        rest.find(is_end).unwrap_or(rest.len())
    };
    for keyword in ["class ", "module "] {
        if let Some(rest) = line.strip_prefix(keyword) {
            let rest = rest.trim_start_matches("<< ").trim_start_matches("<<");
            return Some((&rest[..name_of(rest)], true));
        }
    }
    // The definition may follow another word, as in `private def parse`.
    let rest = match line.strip_prefix("def ") {
        Some(rest) => rest,
        None => line.split_once(" def ").filter(|(word, _)| is_word(word))?.1,
    };
    Some((&rest[..name_of(rest)], false))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns the word that ends a heredoc that begins in this line of Ruby.
fn heredoc_begun(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches(['~', '-']).trim_start_matches(['"', '\'', '`']);
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    rest.starts_with(|c: char| c.is_ascii_uppercase()).then(|| rest[..end].to_owned())
}

fn go(text: &str, found: &mut Vec<Function>) {
    let mut current: Option<usize> = None;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if current.is_none() && line.starts_with("func ") {
            found.push(Function { name: go_name(line), lines: (number, number), text: Vec::new() });
            current = Some(found.len() - 1);
        }
        let bare = line.trim();
        let own = current.unwrap_or(0);
        if !bare.is_empty() && !bare.starts_with("//") {
            found[own].text.push(bare.to_owned());
        }
        if let Some(own) = current {
            found[own].lines.1 = number;
            let is_one_line = number == found[own].lines.0 && line.trim_end().ends_with('}');
            if line.starts_with('}') || is_one_line {
                current = None;
            }
        }
    }
}

/// Returns the name of the function or method that a line of Go defines, such as `Parse` or
/// `Reader.Next`.
fn go_name(line: &str) -> String {
    let rest = line.trim_start_matches("func ");
    let word = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((receiver, rest)) => {
            let of = receiver.rsplit([' ', '*']).next().unwrap_or_default();
            format!("{}.{}", word(of), word(rest.trim_start()))
        }
        None => word(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = r#"import os

LIMIT = 3

@cached
@other(
    1)
def parse(
    text,
) -> int:
    """Text at the left:
def not_a_function():
    """
    # A comment.
    def inner():
        return 1

    return inner() + len(text)

class Reader:
    size = 1

    async def next(self):
        return {
    "x": 1,
}

def last(): return 2
"#;

    #[test]
    fn functions_of_python_have_their_lines() {
        let found = functions(Language::Python, PYTHON);
        let names: Vec<&str> = found.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, [OUTSIDE, "parse", "parse.inner", "Reader.next", "last"]);
        let lines = |name: &str| found.iter().find(|own| own.name == name).map(|own| own.lines);
        assert_eq!(lines("parse"), Some((5, 18)));
        assert_eq!(lines("parse.inner"), Some((15, 16)));
        assert_eq!(lines("Reader.next"), Some((23, 26)));
        assert_eq!(at(&found, 5), Some("parse"));
        assert_eq!(at(&found, 15), Some("parse.inner"));
        assert_eq!(at(&found, 21), Some(OUTSIDE));
        let whole = functions(Language::Python, "def parse():\n    return 1\n");
        assert_eq!(at(&whole, 2), Some("parse"));
        // The text of an inner function is not that of the outer one, and comments do not count as
        // text.
        let text = &found[1].text;
        assert!(!text.iter().any(|line| line == "return 1" || line.starts_with('#')), "{text:?}");
        assert!(found[0].text.contains(&"size = 1".to_owned()));
    }

    #[test]
    fn functions_of_go_have_their_receivers() {
        let text = "package m\n\nfunc (r *Reader) Next() int {\n\treturn 1\n}\n\nfunc One() int { return 1 }\nvar x = 2\nfunc Map[T any](a T) {\n}\n";
        let found = functions(Language::Go, text);
        let names: Vec<&str> = found.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, [OUTSIDE, "Reader.Next", "One", "Map"]);
        assert_eq!(at(&found, 4), Some("Reader.Next"));
        assert_eq!(at(&found, 8), Some(OUTSIDE));
        assert_eq!(found[0].text, ["package m", "var x = 2"]);
    }

    #[test]
    fn methods_of_ruby_have_their_lines() {
        let text = "require 'set'\nmodule Own\n  LIMIT = 3\n\n  class << self\n    def parse(text)\n      # A comment.\n      text.each do |one|\n        puts one\n      end\n    rescue Error\n      sql = <<~SQL\n  SELECT\n      SQL\n      nil\n    end\n\n    private def helper = 2\n  end\n\n  def last; 3; end\n  NAME = 'x'\nend\n";
        let found = functions(Language::Ruby, text);
        let names: Vec<&str> = found.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, [OUTSIDE, "Own.self.parse", "Own.self.helper", "Own.last"]);
        let lines: Vec<(usize, usize)> = found[1..].iter().map(|own| own.lines).collect();
        assert_eq!(lines, [(6, 16), (18, 18), (21, 21)]);
        assert_eq!(
            found[0].text,
            [
                "require 'set'",
                "module Own",
                "LIMIT = 3",
                "class << self",
                "end",
                "NAME = 'x'",
                "end"
            ]
        );
        assert!(found[1].text.contains(&"SELECT".to_owned()));
        assert_eq!((at(&found, 0), at(&found, 9)), (Some(OUTSIDE), Some("Own.self.parse")));
    }
}
