//! The mutation table of JavaScript and TypeScript.

use super::*;

pub(super) static JAVASCRIPT: Table = Table {
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
