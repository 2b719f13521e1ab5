//! Isolates a function: determines the text needed before and after the function to compile it
//! without the rest of its file, with the same meaning. A process that has already loaded the file
//! can then replace the existing function with a changed one. A function whose meaning might differ
//! when it is isolated gets no such text. This module does not know which files are loaded.

use crate::blocks::grammar;
use crate::mutants::mutant::{Unit, line_starts};
use assay_suites::coverage::Language;
use std::collections::HashSet;
use std::ops::Range;
use tree_sitter::{Node, Parser};

/// The text around a function that is compiled by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsolatedFunction {
    /// Byte range of the function in its file.
    range: Range<usize>,
    before: String,
    after: String,
    /// Line of the file at which the text begins, from 1.
    pub first: u32,
    /// Line by which the language identifies the function, which is the line of its first decorator
    /// if it has any.
    pub known: u32,
}

impl IsolatedFunction {
    /// Returns the text to compile when `changed` is the file's text with a change in this
    /// function, or `None` if the change is elsewhere.
    pub fn text(&self, original: &str, changed: &str) -> Option<String> {
        let (before, after) = (original.get(..self.range.start)?, original.get(self.range.end..)?);
        let rest = changed.strip_prefix(before)?;
        let own = match rest.strip_suffix(after) {
            Some(own) => own,
            // A change after the function does not matter.
            None => rest.strip_prefix(original.get(self.range.clone())?).map(|behind| {
                let end = rest.len() - behind.len();
                &rest[..end]
            })?,
        };
        Some([self.before.as_str(), own, self.after.as_str()].concat())
    }
}

/// Returns the text around each of these functions, or `None` if the function cannot be compiled by
/// itself. All are `None` in languages that do not load functions individually. O(bytes + functions
/// · depth).
pub fn alone(language: Language, text: &[u8], units: &[Unit]) -> Vec<Option<IsolatedFunction>> {
    let nothing = || vec![None; units.len()];
    if !matches!(language, Language::Ruby | Language::Python) {
        return nothing();
    }
    let mut parser = Parser::new();
    let is_known = parser.set_language(&grammar(language)).is_ok();
    let Some(tree) = is_known.then(|| parser.parse(text, None)).flatten() else {
        return nothing();
    };
    let root = tree.root_node();
    if root.has_error() {
        return nothing();
    }
    let lines = line_starts(text);
    let file =
        File { text, lines: &lines, magic: magic(text), passed: passed(language, root, text) };
    let Some(magic) = &file.magic else { return nothing() };
    let of = |unit: &Unit| {
        let mut node = root.descendant_for_byte_range(unit.range.start, unit.range.end)?;
        while node.byte_range() != unit.range || !is_function(node) {
            node = node.parent()?;
        }
        match language {
            Language::Ruby => file.ruby(node, magic),
            _ => file.python(node),
        }
    };
    units.iter().map(of).collect()
}

fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "method" | "singleton_method" | "function_definition")
}

/// Returns the magic comments that tell Ruby how to read the file, or `None` if one of them cannot
/// be repeated.
fn magic(text: &[u8]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for line in text
        .split(|byte| *byte == b'\n')
        .take_while(|line| line.is_empty() || line.starts_with(b"#"))
    {
        let line = String::from_utf8_lossy(line).trim_end().to_owned();
        let small = line.to_ascii_lowercase().replace('-', "_");
        if small.contains("shareable_constant_value") {
            return None;
        }
        if small.contains("coding:") || small.contains("coding=") {
            if !small.contains("utf_8") {
                return None;
            }
        } else if small.contains("frozen_string_literal") {
            found.push(line);
        }
    }
    Some(found)
}

/// Returns true if the meaning of a function could differ when it is compiled without the rest of
/// the file.
fn passed(language: Language, root: Node<'_>, text: &[u8]) -> bool {
    if language != Language::Ruby {
        return false;
    }
    let words: HashSet<&[u8]> = [&b"using"[..], b"ruby2_keywords"].into();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "identifier"
            && text.get(node.byte_range()).is_some_and(|own| words.contains(own))
        {
            return true;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

struct File<'a> {
    text: &'a [u8],
    lines: &'a [usize],
    magic: Option<Vec<String>>,
    passed: bool,
}

impl File<'_> {
    fn words(&self, node: Node<'_>) -> Option<&str> {
        std::str::from_utf8(self.text.get(node.byte_range())?).ok()
    }

    /// Returns the text before a node on its line if it consists only of whitespace.
    fn indentation(&self, node: Node<'_>) -> Option<&str> {
        let start = *self.lines.get(node.start_position().row)?;
        let before = std::str::from_utf8(self.text.get(start..node.start_byte())?).ok()?;
        before.trim().is_empty().then_some(before)
    }

    /// Isolates a method by reopening the enclosing classes and modules, and keeps it on its
    /// original line. A method within a block is defined on the same object as by the original
    /// block. Only the process that has loaded the method knows that object.
    fn ruby(&self, method: Node<'_>, magic: &[String]) -> Option<IsolatedFunction> {
        if self.passed {
            return None;
        }
        if let Some(object) = method.child_by_field_name("object")
            && !matches!(object.kind(), "self" | "constant")
        {
            return None;
        }
        let mut around = Vec::new();
        // `in_block` is true if there is a block between the method and the nearest class. `opened`
        // is false while the class around an enclosing `class << self` has not been reached.
        let (mut in_block, mut opened) = (false, true);
        let mut node = method;
        while let Some(parent) = node.parent() {
            let name = parent.child_by_field_name("name").and_then(|own| self.words(own));
            match parent.kind() {
                "class" | "module" if node.kind() == "body_statement" => {
                    let name = name.filter(|own| is_constant(own))?;
                    around.push(format!("{} {name};", parent.kind()));
                    opened = true;
                }
                "singleton_class" => {
                    let value = self.words(parent.child_by_field_name("value")?)?;
                    if value != "self" && !is_constant(value) {
                        return None;
                    }
                    around.push(format!("class << {value};"));
                    // `self` must refer to the enclosing class or module.
                    opened = value != "self";
                }
                "do_block" | "block" | "lambda" => {
                    if !opened {
                        return None;
                    }
                    in_block |= around.is_empty();
                }
                "call" => {
                    let called =
                        parent.child_by_field_name("method").and_then(|own| self.words(own));
                    if called == Some("refine") {
                        return None;
                    }
                }
                "method" | "singleton_method" | "begin_block" | "end_block" => return None,
                _ => {}
            }
            node = parent;
        }
        if !opened {
            return None;
        }
        let ends = "end;".repeat(around.len());
        around.reverse();
        let (put, end) = match (in_block, method.kind()) {
            (false, _) => ("", ""),
            (true, "method") => ("::AssayMutants.owner.class_exec do ", "end;"),
            (true, _) => ("::AssayMutants.target.class_exec do ", "end;"),
        };
        let line = line(method);
        let first = line.checked_sub(u32::try_from(magic.len()).ok()?).filter(|line| *line > 0)?;
        let comments: String = magic.iter().map(|own| format!("{own}\n")).collect();
        Some(IsolatedFunction {
            range: method.byte_range(),
            before: format!("{comments}{}{put}", around.concat()),
            after: format!("\n{end}{ends}\n"),
            first,
            known: line,
        })
    }

    /// Isolates a function within its enclosing classes, so that private names are mangled as in
    /// the file, after a placeholder for its decorators.
    fn python(&self, function: Node<'_>) -> Option<IsolatedFunction> {
        let indentation = self.indentation(function)?;
        let mut around = Vec::new();
        let mut known = line(function);
        let mut node = function;
        if function.child_by_field_name("type_parameters").is_some() {
            return None;
        }
        while let Some(parent) = node.parent() {
            match parent.kind() {
                "decorated_definition" if node.id() == function.id() => known = line(parent),
                "class_definition" => {
                    if parent.child_by_field_name("type_parameters").is_some() {
                        return None;
                    }
                    let name = self.words(parent.child_by_field_name("name")?)?;
                    around.push(format!("{}class {name}:\n", self.indentation(parent)?));
                }
                "function_definition" | "lambda" => return None,
                _ => {}
            }
            node = parent;
        }
        if around.is_empty() && !indentation.is_empty() {
            around.push("if 1:\n".to_owned());
        }
        let first =
            known.checked_sub(u32::try_from(around.len()).ok()?).filter(|line| *line > 0)?;
        around.reverse();
        let mut before = around.concat();
        if known < line(function) {
            before += &format!("{indentation}@a{}", "\n".repeat((line(function) - known) as usize));
        }
        before += indentation;
        Some(IsolatedFunction {
            range: function.byte_range(),
            before,
            after: "\n".to_owned(),
            first,
            known,
        })
    }
}

fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(1)
}

/// Returns true if the name is a constant, possibly nested. Such a name refers to the same class
/// wherever it is read.
fn is_constant(name: &str) -> bool {
    let name = name.strip_prefix("::").unwrap_or(name);
    name.split("::").all(|part| {
        part.chars().next().is_some_and(char::is_uppercase)
            && part.chars().all(|own| own.is_alphanumeric() || own == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::Generator;

    /// The whole text of a function, its first line, and the line that identifies it.
    type FunctionText = Option<(String, u32, u32)>;

    /// All functions by name.
    fn around(language: Language, text: &str) -> Vec<(String, FunctionText)> {
        let found = Generator::new(language).unwrap().mutants("a", text.as_bytes());
        let all = alone(language, text.as_bytes(), &found.units);
        let shown = |own: IsolatedFunction| {
            let whole = own.text(text, text).unwrap();
            (whole, own.first, own.known)
        };
        let names = found.units.into_iter().map(|unit| unit.name);
        names.zip(all.into_iter().map(|own| own.map(shown))).collect()
    }

    #[test]
    fn a_method_of_ruby_stands_in_its_classes() {
        let text = "# frozen_string_literal: true\nmodule A\n  class B::C < D\n    private def x = y + 1\n    class << self\n      def z; 2; end\n    end\n  end\n  \
            K = Struct.new(:a) do\n    def w; 3; end\n    class << self; def q; 4; end; end\n  end\n  refine(String) { def v; 5; end }\n  class << o; def u; 6; end; end\nend\ndef t; 7; end\n";
        let found = around(Language::Ruby, text);
        let own = |name: &str| found.iter().find(|(own, _)| own == name).unwrap().1.clone();
        let magic = "# frozen_string_literal: true\n";
        let is = |name: &str, before: &str, own_text: &str, after: &str, line: u32| {
            let whole = format!("{magic}{before}{own_text}\n{after}\n");
            assert_eq!(own(name), Some((whole, line - 1, line)));
        };
        is("A.B::C.x", "module A;class B::C;", "def x = y + 1", "end;end;", 4);
        is("A.B::C.z", "module A;class B::C;class << self;", "def z; 2; end", "end;end;end;", 6);
        is("A.w", "module A;::AssayMutants.owner.class_exec do ", "def w; 3; end", "end;end;", 10);
        is("t", "", "def t; 7; end", "", 16);
        for name in ["A.q", "A.v", "A.u"] {
            assert_eq!(own(name), None, "{name}");
        }
        assert!(
            around(Language::Ruby, "using X\ndef a; 1; end").iter().all(|(_, own)| own.is_none())
        );
        assert!(
            around(Language::Ruby, "# using X\ndef a; 1; end").iter().all(|(_, own)| own.is_some())
        );
    }

    #[test]
    fn a_function_of_python_stands_in_its_classes_behind_its_decorators() {
        let text = "if x:\n    def a():\n        return 1\n\nclass A:\n    @b(\n        1)\n    @c\n    def d(self):\n        return 2\n";
        let found = around(Language::Python, text);
        let a = "if 1:\n    def a():\n        return 1\n".to_owned();
        assert_eq!(found[0], ("a".to_owned(), Some((a, 1, 2))));
        let d = "class A:\n    @a\n\n\n    def d(self):\n        return 2\n".to_owned();
        assert_eq!(found[1], ("A.d".to_owned(), Some((d, 5, 6))));
    }

    #[test]
    fn a_change_is_taken_where_it_is_in_the_function() {
        let text = "def a; 1; end\ndef b; 2; end\n";
        let found = Generator::new(Language::Ruby).unwrap().mutants("a", text.as_bytes());
        let all = alone(Language::Ruby, text.as_bytes(), &found.units);
        let [first, second] = [0, 1].map(|unit: usize| all[unit].clone().unwrap());
        let taken = |changed: &str| first.text(text, changed);
        assert_eq!(taken("def a; 15; end\ndef b; 2; end\n"), Some("def a; 15; end\n\n".to_owned()));
        assert_eq!(taken(&format!("{text}# more\n")), Some("def a; 1; end\n\n".to_owned()));
        assert_eq!(second.text(text, "def a; 15; end\ndef b; 2; end\n"), None);
    }
}
