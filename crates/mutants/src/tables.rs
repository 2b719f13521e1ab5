//! What is changed in each language, and into what: one table a language, one entry a change. Names of nodes are those of the grammars.
//!
//! An entry that makes something its grammar does not read makes no mutant, so an entry need not know all that may stand around its node.

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
        Language::Ruby => &RUBY,
        Language::Python => &PYTHON,
        Language::JavaScript | Language::TypeScript | Language::Tsx => &JAVASCRIPT,
        Language::Go => &GO,
        Language::Rust => &RUST,
        Language::C => &C,
        Language::Cpp => &CPP,
        Language::Java => &JAVA,
    }
}

// What the languages share. Only those signs of a table are looked for that a language has. -----------------------------------------------------

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

// Ruby -------------------------------------------------------------------------------------------------------------------------------------------

const RUBY_IFS: &[&str] =
    &["if", "unless", "elsif", "if_modifier", "unless_modifier", "conditional"];
const RUBY_BODIES: &[&str] = &[
    "body_statement",
    "then",
    "else",
    "ensure",
    "block_body",
    "do",
    "begin",
    "if_modifier",
    "unless_modifier",
];

static RUBY: Table = Table {
    entries: &[&[
        entry(Statement, &["call", "operator_assignment", "yield"], Change::Whole("nil"))
            .within(RUBY_BODIES),
        entry(Loop, &["while", "while_modifier"], Change::Field("condition", "false")),
        entry(Loop, &["until", "until_modifier"], Change::Field("condition", "true")),
        entry(Loop, &["while", "until"], Change::Word(&[("while", "until"), ("until", "while")])),
        entry(Handler, &["rescue"], Change::Field("body", "\nraise\n")),
        entry(Handler, &["rescue_modifier"], Change::Field("handler", "raise")),
        entry(Return, &["return"], Change::Child(0, " nil")).not_of(&["nil"]),
        entry(Value, &["assignment"], Change::Field("right", "nil")),
        entry(Call, &["call"], Change::Whole("nil")).within(&["argument_list", "array", "binary"]),
        entry(Condition, RUBY_IFS, Change::Field("condition", "true")),
        entry(Condition, RUBY_IFS, Change::Field("condition", "false")),
        entry(Negation, RUBY_IFS, Change::Field("condition", "!({})")),
        entry(Boolean, &["true", "false"], BOOLEAN),
        entry(Logic, &["binary"], LOGIC),
        entry(Comparison, &["binary"], COMPARISON),
        entry(Arithmetic, &["binary", "operator_assignment"], ARITHMETIC),
        entry(Sign, &["unary"], Change::Unwrap),
        entry(Jump, &["break", "next"], Change::Word(&[("break", "next"), ("next", "break")])),
        entry(Text, &["string"], Change::Quoted),
        entry(Text, &["regex"], Change::Whole("/(?!)/")),
        entry(Text, &["simple_symbol"], Change::Whole(":assay_other")),
        entry(Number, &["integer", "float"], Change::Increment),
        entry(Boundary, &["binary"], BOUNDARY),
        entry(Boundary, &["range"], RANGE),
    ]],
    passed: &["comment", "heredoc_body", "superclass", "alias", "undef"],
    calls: &[("call", "receiver"), ("call", "method")],
    comment: "#",
};

// Python -----------------------------------------------------------------------------------------------------------------------------------------

const PYTHON_IFS: &[&str] = &["if_statement", "elif_clause"];

static PYTHON: Table = Table {
    entries: &[&[
        entry(Statement, &["expression_statement"], Change::Whole("pass")).of(&[
            "call",
            "augmented_assignment",
            "await",
        ]),
        entry(Statement, &["delete_statement"], Change::Whole("pass")),
        entry(Raise, &["raise_statement"], Change::Whole("pass")),
        entry(Loop, &["while_statement"], Change::Field("condition", "False")),
        entry(Loop, &["for_statement"], Change::Field("right", "()")),
        entry(Handler, &["except_clause"], Change::Last("raise")),
        entry(Return, &["return_statement"], Change::Child(0, "None"))
            .not_of(&["none", "true", "false"]),
        entry(Value, &["assignment"], Change::Field("right", "None")),
        entry(Call, &["call"], Change::Whole("None")).within(&[
            "argument_list",
            "list",
            "tuple",
            "pair",
            "keyword_argument",
        ]),
        entry(Condition, PYTHON_IFS, Change::Field("condition", "True")),
        entry(Condition, PYTHON_IFS, Change::Field("condition", "False")),
        entry(Negation, PYTHON_IFS, Change::Field("condition", "not ({})")),
        entry(Negation, &["conditional_expression"], Change::Child(1, "not ({})")),
        entry(Negation, &["if_clause"], Change::Child(0, "not ({})")),
        entry(Boolean, &["true", "false"], BOOLEAN),
        entry(Logic, &["boolean_operator"], LOGIC),
        entry(Comparison, &["comparison_operator"], COMPARISON),
        entry(Arithmetic, &["binary_operator", "augmented_assignment"], ARITHMETIC),
        entry(Sign, &["not_operator", "unary_operator"], Change::Unwrap),
        entry(Jump, &["break_statement", "continue_statement"], LEAVE),
        entry(Text, &["string"], Change::Quoted),
        entry(Number, &["integer", "float"], Change::Increment),
        entry(Boundary, &["comparison_operator"], BOUNDARY),
    ]],
    passed: &[
        "comment",
        "decorator",
        "type",
        "assert_statement",
        "import_statement",
        "import_from_statement",
        "future_import_statement",
        "global_statement",
        "nonlocal_statement",
    ],
    calls: &[("call", "function")],
    comment: "#",
};

// JavaScript and TypeScript ----------------------------------------------------------------------------------------------------------------------

static JAVASCRIPT: Table = Table {
    entries: &[
        &[
            entry(Statement, &["expression_statement"], Change::Whole(";")).of(&[
                "call_expression",
                "assignment_expression",
                "augmented_assignment_expression",
                "update_expression",
                "await_expression",
                "unary_expression",
            ]),
            entry(Loop, &["for_in_statement"], Change::Field("right", "[]")),
            entry(Handler, &["catch_clause"], Change::Field("body", "{ throw {parameter}; }")),
            entry(Return, &["return_statement"], Change::Child(0, "undefined")).not_of(&[
                "undefined",
                "true",
                "false",
                "null",
            ]),
            entry(Value, &["variable_declarator"], Change::Field("value", "undefined"))
                .not_of(&["object_pattern", "array_pattern"]),
            entry(Call, &["call_expression"], Change::Whole("undefined")).within(&[
                "arguments",
                "array",
                "pair",
            ]),
            entry(Negation, &["ternary_expression"], Change::Field("condition", "!({})")),
            entry(Text, &["regex"], Change::Whole("/(?!)/")),
            entry(Text, &["template_string"], Change::Quoted),
        ],
        WITH_TRUTH,
        C_LIKE,
    ],
    passed: &[
        "comment",
        "import_statement",
        "type_annotation",
        "type_arguments",
        "type_parameters",
        "interface_declaration",
        "type_alias_declaration",
        "decorator",
        "satisfies_expression",
    ],
    calls: &[("call_expression", "function")],
    comment: "//",
};

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

// Go ---------------------------------------------------------------------------------------------------------------------------------------------

const GO_BLOCKS: &[&str] =
    &["block", "statement_list", "expression_case", "default_case", "communication_case"];

static GO: Table = Table {
    entries: &[&[
        entry(
            Statement,
            &[
                "expression_statement",
                "inc_statement",
                "dec_statement",
                "send_statement",
                "assignment_statement",
                "defer_statement",
                "go_statement",
            ],
            Change::Whole(""),
        )
        .within(GO_BLOCKS),
        entry(Loop, &["for_clause"], Change::Field("condition", "false")),
        entry(Return, &["return_statement"], Change::Returned),
        entry(Condition, &["if_statement"], Change::Field("condition", "true")),
        entry(Condition, &["if_statement"], Change::Field("condition", "false")),
        entry(Negation, &["if_statement"], Change::Field("condition", "!({})")),
        entry(Boolean, &["true", "false"], BOOLEAN),
        entry(Logic, &["binary_expression"], LOGIC),
        entry(Comparison, &["binary_expression"], COMPARISON),
        entry(
            Arithmetic,
            &["binary_expression", "assignment_statement", "inc_statement", "dec_statement"],
            ARITHMETIC,
        ),
        entry(Sign, &["unary_expression"], Change::Unwrap),
        entry(Jump, &["break_statement", "continue_statement"], LEAVE),
        entry(Text, &["interpreted_string_literal", "raw_string_literal"], Change::Quoted),
        entry(Number, &["int_literal", "float_literal"], Change::Increment),
        entry(Boundary, &["binary_expression"], BOUNDARY),
    ]],
    passed: &[
        "comment",
        "type_arguments",
        "type_declaration",
        "struct_type",
        "interface_type",
        "array_type",
    ],
    calls: &[("call_expression", "function")],
    comment: "//",
};

// Rust -------------------------------------------------------------------------------------------------------------------------------------------

static RUST: Table = Table {
    entries: &[&[
        entry(Statement, &["expression_statement"], Change::Whole(";")).of(&[
            "call_expression",
            "assignment_expression",
            "compound_assignment_expr",
            "await_expression",
            "try_expression",
        ]),
        entry(Loop, &["while_expression"], Change::Field("condition", "false")),
        entry(Return, &["return_expression"], Change::Returned),
        entry(Condition, &["if_expression"], Change::Field("condition", "true")),
        entry(Condition, &["if_expression"], Change::Field("condition", "false")),
        entry(Negation, &["if_expression"], Change::Field("condition", "!({})")),
        entry(Negation, &["match_pattern"], Change::Field("condition", "!({})")),
        entry(Boolean, &["boolean_literal"], BOOLEAN),
        entry(Logic, &["binary_expression"], LOGIC),
        entry(Comparison, &["binary_expression"], COMPARISON),
        entry(Arithmetic, &["binary_expression", "compound_assignment_expr"], ARITHMETIC),
        entry(Sign, &["unary_expression"], Change::Unwrap),
        entry(Jump, &["break_expression", "continue_expression"], LEAVE),
        entry(Text, &["string_literal"], Change::Quoted),
        entry(Number, &["integer_literal", "float_literal"], Change::Increment),
        entry(Boundary, &["binary_expression"], BOUNDARY),
        entry(Boundary, &["range_expression"], Change::Word(&[("..", "..="), ("..=", "..")])),
    ]],
    passed: &[
        "line_comment",
        "block_comment",
        "attribute_item",
        "inner_attribute_item",
        "macro_invocation",
        "macro_definition",
        "type_arguments",
        "array_type",
        "use_declaration",
        "const_item",
    ],
    calls: &[("call_expression", "function")],
    comment: "//",
};

// C, C++, Java -----------------------------------------------------------------------------------------------------------------------------------

const PREPROCESSOR: &[&str] = &[
    "comment",
    "preproc_include",
    "preproc_def",
    "preproc_function_def",
    "preproc_call",
    "gnu_asm_expression",
    "attribute_specifier",
    "attribute_declaration",
    "sizeof_expression",
    "alignof_expression",
    "static_assert_declaration",
    "array_declarator",
    "template_argument_list",
];

const C_STATEMENTS: &[&str] =
    &["call_expression", "assignment_expression", "update_expression", "method_invocation"];

const C_OWN: &[Entry] = &[
    entry(Statement, &["expression_statement"], Change::Whole(";")).of(C_STATEMENTS),
    entry(Return, &["return_statement"], Change::Returned),
    entry(
        Negation,
        &["conditional_expression", "ternary_expression"],
        Change::Field("condition", "!({})"),
    ),
];

static C: Table = Table {
    entries: &[
        C_OWN,
        // Words for true and false need a header.
        &[
            entry(Loop, &["while_statement"], Change::Field("condition", "(0)")),
            entry(Loop, &["for_statement"], Change::Field("condition", "0")),
            entry(Condition, &["if_statement"], Change::Field("condition", "(1)")),
            entry(Condition, &["if_statement"], Change::Field("condition", "(0)")),
        ],
        C_LIKE,
    ],
    passed: PREPROCESSOR,
    calls: &[("call_expression", "function")],
    comment: "//",
};

static CPP: Table = Table {
    entries: &[
        C_OWN,
        &[entry(Handler, &["catch_clause"], Change::Field("body", "{ throw; }"))],
        WITH_TRUTH,
        C_LIKE,
    ],
    passed: PREPROCESSOR,
    calls: &[("call_expression", "function")],
    comment: "//",
};

static JAVA: Table = Table {
    entries: &[C_OWN, WITH_TRUTH, C_LIKE],
    passed: &[
        "line_comment",
        "block_comment",
        "annotation",
        "marker_annotation",
        "assert_statement",
        "import_declaration",
        "package_declaration",
        "type_arguments",
        "explicit_constructor_invocation",
    ],
    calls: &[("method_invocation", "object"), ("method_invocation", "name")],
    comment: "//",
};
