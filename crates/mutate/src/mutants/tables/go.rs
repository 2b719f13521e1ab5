//! The mutation table of Go.

use super::*;

const GO_BLOCKS: &[&str] =
    &["block", "statement_list", "expression_case", "default_case", "communication_case"];

pub(super) static GO: Table = Table {
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
