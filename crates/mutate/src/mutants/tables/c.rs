//! The mutation tables of C, C++ and Java.

use super::*;

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

pub(super) static C: Table = Table {
    entries: &[
        C_OWN,
        // In C, `true` and `false` require a header, so they are not used.
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

pub(super) static CPP: Table = Table {
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

pub(super) static JAVA: Table = Table {
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
