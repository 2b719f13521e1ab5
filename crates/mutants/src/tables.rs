//! What is changed in each language, and into what: one table a language, one entry a change. Names of nodes are those of the grammars. Each language has
//! a file of its own; here is what an entry is, and what languages share.
//!
//! An entry that makes something its grammar does not read makes no mutant, so an entry need not know all that may stand around its node.

mod c;
mod go;
mod javascript;
mod python;
mod ruby;
mod rust;

use crate::operator::Operator::{self, *};
use assay_coverage::Language;

/// What is changed of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// One of its own words or signs becomes another one.
    Word(&'static [(&'static str, &'static str)]),
    /// All of it becomes another text, by what it says.
    Same(&'static [(&'static str, &'static str)]),
    /// All of it.
    Whole(&'static str),
    /// What is in this field. `{}` in the new text is what stood there, `{NAME}` what is in another field.
    Field(&'static str, &'static str),
    /// The child of this number, of those with a name.
    Child(usize, &'static str),
    /// The last child of those with a name.
    Last(&'static str),
    /// What a sign or a negation stands before takes the place of both.
    Unwrap,
    /// A number is one more.
    Increment,
    /// A text in quotes is empty, or is one.
    Quoted,
    /// What is returned becomes what the function's type has for nothing.
    Returned,
}

/// One entry of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub operator: Operator,
    /// Kinds of nodes.
    pub kinds: &'static [&'static str],
    pub change: Change,
    /// Only where the parent, or, with one, the first child of those with a name, is of such a kind; empty: wherever.
    pub within: &'static [&'static str],
    pub of: &'static [&'static str],
    /// Not where that first child is.
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

/// A language as mutants see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub entries: &'static [&'static [Entry]],
    /// Nodes in which nothing is changed: what is no behaviour (types, attributes), and what is there for whoever reads (assertions).
    pub passed: &'static [&'static str],
    /// Nodes that call something, with the field that says what.
    pub calls: &'static [(&'static str, &'static str)],
    /// By what a comment begins.
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

// What the languages share. Only those signs of a table are looked for that a language has.

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

/// What JavaScript, C, C++ and Java write alike.
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

/// What those among them write alike that have words for true and false.
const WITH_TRUTH: &[Entry] = &[
    entry(Loop, &["while_statement"], Change::Field("condition", "(false)")),
    entry(Loop, &["for_statement"], Change::Field("condition", "false")),
    entry(Condition, &["if_statement"], Change::Field("condition", "(true)")),
    entry(Condition, &["if_statement"], Change::Field("condition", "(false)")),
];
