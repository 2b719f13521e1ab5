//! The mutation table of Python.

use super::*;

const PYTHON_IFS: &[&str] = &["if_statement", "elif_clause"];

pub(super) static PYTHON: Table = Table {
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
