//! The changes in each language: one table per language, and one entry per change. Node names are
//! those of the grammars. Each language has its own file. This file defines entries, and those that
//! languages share.
//!
//! An entry whose result the grammar rejects produces no mutant, so an entry need not know all
//! possible contexts of its node.

mod c;
mod go;
mod javascript;
mod python;
mod ruby;
mod rust;

use crate::mutants::operator::Operator::{self, *};
use assay_suites::coverage::Language;

/// Change to a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// Replaces one of the node's own words or operators with another.
    Word(&'static [(&'static str, &'static str)]),
    /// Replaces the whole node with a text that depends on the node's text.
    Same(&'static [(&'static str, &'static str)]),
    /// Replaces the whole node.
    Whole(&'static str),
    /// Replaces the named field. In the new text, `{}` stands for the old text, and `{parameter}`
    /// for the text of the node's `parameter` field.
    Field(&'static str, &'static str),
    /// Replaces the named child with this index.
    Child(usize, &'static str),
    /// Replaces the last named child.
    Last(&'static str),
    /// Removes a sign or a negation, leaving its operand.
    Unwrap,
    /// Increments a number.
    Increment,
    /// Empties a string, or fills an empty one.
    Quoted,
    /// Replaces the returned value with the empty value of the function's type.
    Returned,
}

/// An entry of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub operator: Operator,
    /// Node kinds to which the entry applies.
    pub kinds: &'static [&'static str],
    pub change: Change,
    /// Allowed kinds of the parent node. If this is empty, any kind is allowed.
    pub within: &'static [&'static str],
    /// Allowed kinds of the first named child. If this is empty, any kind is allowed.
    pub of: &'static [&'static str],
    /// Kinds that the first named child must not have.
    pub not_of: &'static [&'static str],
}

impl Entry {
    const fn within(mut self, kinds: &'static [&'static str]) -> Self {
        self.within = kinds;
        self
    }

    const fn of(mut self, kinds: &'static [&'static str]) -> Self {
        self.of = kinds;
        self
    }

    const fn not_of(mut self, kinds: &'static [&'static str]) -> Self {
        self.not_of = kinds;
        self
    }
}

const fn entry(operator: Operator, kinds: &'static [&'static str], change: Change) -> Entry {
    Entry { operator, kinds, change, within: &[], of: &[], not_of: &[] }
}

/// The changes and properties of a language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub entries: &'static [&'static [Entry]],
    /// Kinds of nodes in which nothing is changed, because they have no behavior (types,
    /// attributes) or are assertions.
    pub passed: &'static [&'static str],
    /// Kinds of nodes that are calls, each with the field that contains the called function.
    pub calls: &'static [(&'static str, &'static str)],
    /// The sign with which a comment begins.
    pub comment: &'static str,
}

pub(crate) fn table(language: Language) -> &'static Table {
    match language {
        Language::Ruby => &ruby::RUBY,
        Language::Python => &python::PYTHON,
        Language::JavaScript | Language::TypeScript | Language::Tsx => &javascript::JAVASCRIPT,
        Language::Go => &go::GO,
        Language::Rust => &rust::RUST,
        Language::C => &c::C,
        Language::Cpp => &c::CPP,
        Language::Java => &c::JAVA,
    }
}

// Changes that languages share. Operators that a language lacks are never found.

const LOGIC: Change =
    Change::Word(&[("&&", "||"), ("||", "&&"), ("and", "or"), ("or", "and"), ("??", "||")]);
const COMPARISON: Change = Change::Word(&[
    ("==", "!="),
    ("!=", "=="),
    ("===", "!=="),
    ("!==", "==="),
    ("<", ">="),
    (">", "<="),
    ("<=", ">"),
    (">=", "<"),
    ("is", "is not"),
    ("is not", "is"),
    ("in", "not in"),
    ("not in", "in"),
    ("=~", "!~"),
    ("!~", "=~"),
]);
const BOUNDARY: Change = Change::Word(&[("<", "<="), (">", ">="), ("<=", "<"), (">=", ">")]);
const RANGE: Change = Change::Word(&[("..", "..."), ("...", "..")]);
const ARITHMETIC: Change = Change::Word(&[
    ("+", "-"),
    ("-", "+"),
    ("*", "/"),
    ("/", "*"),
    ("//", "/"),
    ("%", "*"),
    ("**", "*"),
    ("&", "|"),
    ("|", "&"),
    ("^", "&"),
    ("&^", "&"),
    ("<<", ">>"),
    (">>", "<<"),
    (">>>", "<<"),
    ("+=", "-="),
    ("-=", "+="),
    ("*=", "/="),
    ("/=", "*="),
    ("//=", "/="),
    ("%=", "*="),
    ("**=", "*="),
    ("&=", "|="),
    ("|=", "&="),
    ("^=", "&="),
    ("<<=", ">>="),
    (">>=", "<<="),
    ("++", "--"),
    ("--", "++"),
    ("||=", "&&="),
    ("&&=", "||="),
]);
const BOOLEAN: Change =
    Change::Same(&[("true", "false"), ("false", "true"), ("True", "False"), ("False", "True")]);
const LEAVE: Change = Change::Word(&[("break", "continue"), ("continue", "break")]);

/// Entries shared by JavaScript, C, C++ and Java.
const C_LIKE: &[Entry] = &[
    entry(Raise, &["throw_statement"], Change::Whole(";")),
    entry(Negation, &["if_statement"], Change::Field("condition", "(!{})")),
    entry(Boolean, &["true", "false"], BOOLEAN),
    entry(Logic, &["binary_expression"], LOGIC),
    entry(Comparison, &["binary_expression"], COMPARISON),
    entry(
        Arithmetic,
        &[
            "binary_expression",
            "assignment_expression",
            "augmented_assignment_expression",
            "update_expression",
        ],
        ARITHMETIC,
    ),
    entry(Sign, &["unary_expression"], Change::Unwrap),
    entry(Jump, &["break_statement", "continue_statement"], LEAVE),
    entry(Text, &["string", "string_literal"], Change::Quoted),
    entry(
        Number,
        &[
            "number",
            "number_literal",
            "decimal_integer_literal",
            "hex_integer_literal",
            "decimal_floating_point_literal",
        ],
        Change::Increment,
    ),
    entry(Boundary, &["binary_expression"], BOUNDARY),
];

/// Entries shared by JavaScript, C++ and Java, which have keywords for true and false.
const WITH_TRUTH: &[Entry] = &[
    entry(Loop, &["while_statement"], Change::Field("condition", "(false)")),
    entry(Loop, &["for_statement"], Change::Field("condition", "false")),
    entry(Condition, &["if_statement"], Change::Field("condition", "(true)")),
    entry(Condition, &["if_statement"], Change::Field("condition", "(false)")),
];
