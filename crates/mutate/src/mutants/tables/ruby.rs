//! The mutation table of Ruby.

use super::*;

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

pub(super) static RUBY: Table = Table {
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
